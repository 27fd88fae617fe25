/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_EXTENT_H
#define LT_SOURCE_EXTENT_H

#include <stdint.h>

/*
 * The amount of data in trace directories. The parent measures it when it finds them, and a worker measures it again
 * after the library has listed the files; the difference is the data deleted in between. Files that are still being
 * written only grow.
 */
struct extent {
	uint64_t files; /* data files with contents */
	uint64_t bytes;
};

/* Adds a trace directory; adds nothing if it cannot be listed. */
void extent_add(struct extent *extent, const char *directory);

#endif
