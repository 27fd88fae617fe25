/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_EXTENT_H
#define LT_SOURCE_EXTENT_H

#include <stdint.h>

/*
 * How much data trace directories hold. The parent measures what it finds, a worker measures again once the
 * library has listed the files: what has gone in between is missing in the figures. Files that are still being written
 * only grow.
 */
struct extent {
	uint64_t files; /* data files with contents */
	uint64_t bytes;
};

/* Adds those of a trace directory; nothing if it cannot be listed. */
void extent_add(struct extent *extent, const char *directory);

#endif
