/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_HEADER_H
#define LT_READER_NATIVE_HEADER_H

#include "reader/native/internal.h"

/*
 * Reading the header of an event, here for the speed: native_header_recognise() has seen to it that what has a shape is
 * laid out as header.c says.
 */
enum { COMPACT_ID = 5, COMPACT_TIME = 27, LARGE_ID = 16, LARGE_TIME = 32, LONG_ID = 32, LONG_TIME = 64 };

/* ---- header.c ---- */

/* Over a header of no known shape. false: it does not fit. */
bool native_walk_header(const struct native_group *g, struct walk *w, uint64_t *id);

/* The class of an id of .n_ids or more, NULL: none. */
struct native_class *native_rare_class(const struct native_group *g, uint64_t id);

/* Why there is no class of that id (static text). */
const char *native_no_class(const struct native_group *g, uint64_t id);

/* The time goes on with these low bits: one step of the high bits if they went down. */
static inline void native_move_clock(struct walk *w, uint64_t low, uint64_t mask)
{
	if (low < (w->clock & mask))
		w->clock += mask + 1;
	w->clock = (w->clock & ~mask) | low;
}

/* false: it does not fit. */
static inline bool native_read_known_header(const struct native_group *g, struct walk *w, uint64_t *id)
{
	const uint64_t at = type_align(w->at, g->header_align);
	const uint8_t *p = w->data + at / 8;
	uint64_t max, mask, low;

	if (at > w->end || g->short_bits > w->end - at)
		return false;
	if (g->shape == HEADER_COMPACT) {
		const uint32_t word = BITS_LOAD(uint32_t, p);

		max = (1u << COMPACT_ID) - 1;
		mask = (1u << COMPACT_TIME) - 1;
		*id = BITS_HOST == BITS_LITTLE ? word & max : word >> COMPACT_TIME;
		low = BITS_HOST == BITS_LITTLE ? word >> COMPACT_ID : word & mask;
	} else {
		max = (1u << LARGE_ID) - 1;
		mask = UINT32_MAX;
		*id = BITS_LOAD(uint16_t, p);
		low = BITS_LOAD(uint32_t, p + g->short_bits / 8 - 4);
	}
	if (G_LIKELY(*id != max)) {
		w->at = at + g->short_bits;
		native_move_clock(w, low, mask);
		return true;
	}
	if (g->long_bits > w->end - at)
		return false;
	*id = BITS_LOAD(uint32_t, p + g->long_id / 8);
	w->clock = BITS_LOAD(uint64_t, p + g->long_time / 8);
	w->at = at + g->long_bits;
	return true;
}

/*
 * Over the header of the event at w; *c is its class, w->clock its time. NULL: fine, else what is wrong: *fits, the
 * metadata does not declare it so that it could be read.
 */
static inline const char *native_read_header(const struct native_group *g, struct walk *w, struct native_class **c,
					     bool *fits)
{
	uint64_t id = 0;

	*fits = G_LIKELY(g->shape != HEADER_OTHER) ? native_read_known_header(g, w, &id) :
						     native_walk_header(g, w, &id);
	if (!*fits)
		return "an event is larger than its packet";
	*c = G_LIKELY(id < g->n_ids) ? g->by_id[id] : native_rare_class(g, id);
	return G_LIKELY(*c) ? NULL : native_no_class(g, id);
}

#endif
