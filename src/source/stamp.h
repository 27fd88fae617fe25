/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_STAMP_H
#define LT_SOURCE_STAMP_H

#include "source/source.h"

/*
 * Adds to the checksum what identifies a recording, and its current state: the names, inodes, sizes and times of its
 * files, and its metadata, up to a size. Not its data, because that would take as long as reading it.
 */
void source_stamp(const struct source_spec *spec, GChecksum *sum);

#endif
