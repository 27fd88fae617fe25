/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_FEED_SLICE_H
#define LT_FEED_SLICE_H

#include <stdbool.h>

#include "feed/recording.h"

/*
 * An interval of a recording as a recording of its own: the packets that lie in it as they are, those at its edges cut
 * at event boundaries (feed/cut.h), with the clocks in the metadata set to another time.
 *
 *   recorded   [. . . . .][. . . . .][. . . . .]
 *   interval          begin├────────────┤end
 *   slice             [. .][. . . . .][. .]
 */
struct slice_range {
	uint64_t begin_ns, end_ns; /* [begin, end[ by the recording's own clock; UINT64_MAX: to its end */
	int64_t shift_ns;          /* the slice's clocks are ahead of the recording's by so much */
};

struct slice_sum {
	uint64_t packets, bytes;
	uint64_t uncut;   /* packets that could not be cut: they hold events outside the interval, too */
	uint64_t damaged; /* packets that could not be read */
};

/*
 * Writes the streams into a directory that exists, then its metadata, without which it is no trace. Nothing is
 * written where no packet lies in the interval. Adds to *sum. LT_INTERRUPTED: *stop became true. LT_ERROR: a file could
 * not be written (error chain). What was written until then is the caller's to remove.
 */
enum lt_status slice_write(const struct recording *r, const char *directory, const struct slice_range *range,
			   const volatile bool *stop, struct slice_sum *sum);

#endif
