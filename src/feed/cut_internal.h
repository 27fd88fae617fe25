/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_FEED_CUT_INTERNAL_H
#define LT_FEED_CUT_INTERNAL_H

#include "feed/cut.h"

/*
 *   cut.c          a packet's events, and pieces of consecutive ones
 *   cut_chosen.c   pieces of chosen events
 */

/* An event; padding may follow it. */
struct cut_mark {
	uint64_t at, end; /* in bits */
	uint64_t clock;
};

static inline const struct cut_mark *cut_mark(const struct cutter *c, guint i)
{
	return &g_array_index(c->marks, struct cut_mark, i);
}

/*
 * Whether a packet may start with this event: its position must be congruent to the first event's modulo every
 * alignment.
 */
static inline bool cut_may_begin(const struct cutter *c, guint i)
{
	return (cut_mark(c, i)->at - cut_mark(c, 0)->at) % c->head.stream->align == 0;
}

/* Starts a walk at the packet's first event, which must be ended. */
void cutter_begin_walk(const struct cutter *c, struct walk *w, uint64_t content_bits);
void cutter_end_walk(struct cutter *c, struct walk *w);

/*
 * Makes c->out a piece: sets the remaining members, and the fields of its head. is_last: it reports what was lost in
 * the packet.
 */
void cutter_label(struct cutter *c, struct cut_piece *piece, bool is_last);

#endif
