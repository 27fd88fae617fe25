/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_BLOCKS_H
#define LT_CTF_BLOCKS_H

#include "base/status.h"
#include "ctf/layout.h"

/*
 * CTF 1.8 metadata as blocks: NAME { key = value; key := type; typealias …; … };
 *
 * Fills an empty layout, to be bound next (ctf/bind.h). LT_ERROR: the text is malformed outside event blocks; the error
 * chain names the line.
 */
enum lt_status blocks_parse(const char *text, struct layout *l);

#endif
