/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_FEED_SLICE_H
#define LT_FEED_SLICE_H

#include <stdbool.h>

#include "base/stop.h"
#include "feed/recording.h"

/*
 * Writes an interval of a recording as a recording of its own: packets within it unchanged, except for the end of
 * those that have later events (cutter_extend()), those at its edges cut at event boundaries (feed/cut.h), the clocks
 * in the metadata shifted.
 *
 *   recorded   [. . . . .][. . . . .][. . . . .]
 *   interval          begin├────────────┤end
 *   slice             [. .][. . . . .][. .]
 */
struct slice_range {
	uint64_t begin_ns, end_ns; /* [begin, end[ on the recording's own clock; UINT64_MAX: to its end */
	int64_t shift_ns;          /* added to the slice's clocks */
};

struct slice_sum {
	uint64_t packets, bytes;
	uint64_t lost_events, lost_packets; /* by the tracer, in the interval */
	bool losing;                        /* at its end, packets were being lost that are not among these */
	uint64_t uncut;   /* packets that could not be cut: they contain events outside the interval, too */
	uint64_t damaged; /* packets that could not be read */
	uint64_t unknown; /* chosen events that are not in the recording */
	bool any;         /* an event was written, or a packet whose events are not known */
};

/*
 * Writes the streams into an existing directory, then the metadata, without which it is not a trace. Writes nothing if
 * no packet lies in the interval. Adds to *sum. LT_INTERRUPTED: *stop was set. LT_ERROR: a file could not be
 * written, see the error chain. After an error the caller removes what was written.
 */
enum lt_status slice_write(const struct recording *r, const char *directory, const struct slice_range *range,
			   const stop_flag *stop, struct slice_sum *sum);

/*
 * The same with chosen events only, for several recordings, whose packets are read again as their events are chosen.
 * Holds one packet of each stream.
 *
 *   recorded   [. . x . .][. . . . .][. x x . .]
 *   slice      [x]                   [x x]
 */
struct slice_chosen;

/* stop: borrowed. */
struct slice_chosen *slice_chosen_create(const stop_flag *stop, struct slice_sum *sum);
void slice_chosen_destroy(struct slice_chosen *c);

/* Adds a recording, borrowed, and the existing directory that its slice is written into. */
struct slice_trace *slice_chosen_add(struct slice_chosen *c, const struct recording *r, const char *directory,
				     const struct slice_range *range);

/*
 * Chooses an event, which lies in the interval: file, packet and at as in ev_fields. Those of a stream come in its
 * order. LT_ERROR: a file could not be written, see the error chain.
 */
enum lt_status slice_chosen_take(struct slice_chosen *c, uint64_t file, uint64_t packet, uint64_t at);

/*
 * Writes what is left, and the metadata if any event of the recording was written; nothing more of it is chosen.
 * Returns as slice_write().
 */
enum lt_status slice_chosen_finish(struct slice_chosen *c, struct slice_trace *t, bool *is_written);

#endif
