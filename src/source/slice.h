/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_SLICE_H
#define LT_SOURCE_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "source/packets.h"

/*
 * A data file's part for a range of time: a copy of those packets that overlap it, so
 * that a second of an hour costs a second. The packets around them come along without their events:
 *
 *   file    │ P0 │ P1 │ P2 │ P3 │ P4 │ P5 │
 *                        ├ range ┤
 *   slice   │ P1, empty │ P2 │ P3 │ P4, empty │
 *
 * From these is known what was lost before P2 and P4, and that there is such a stream at all.
 */
struct slice_range {
	uint64_t begin_ns, end_ns; /* [begin, end[, by the trace's clock, ns since the epoch */
};

/* Everything. */
static const struct slice_range slice_all = { 0, UINT64_MAX };

static inline bool slice_is_all(const struct slice_range *range)
{
	return range->begin_ns == slice_all.begin_ns && range->end_ns == slice_all.end_ns;
}

/*
 * Writes the slice of the file to the new file `to`. false: nothing was written: the
 * file is to be read as it is, since all of it is in the range, its packets are not
 * known, or there is no room.
 */
bool slice_write(const struct packet_layout *layout, const struct slice_range *range, const char *file,
		 const char *to);

#endif
