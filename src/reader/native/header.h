/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_HEADER_H
#define LT_READER_NATIVE_HEADER_H

#include "reader/native/internal.h"

/*
 * Reading the header of an event, inline for speed: native_header_recognise() has checked that groups with a known
 * shape have the layout described in header.c.
 */
enum { COMPACT_ID = 5, COMPACT_TIME = 27, LARGE_ID = 16, LARGE_TIME = 32, LONG_ID = 32, LONG_TIME = 64 };

/* ---- header.c ---- */

/*
 * Reads the header of the event at w, of any shape; *c receives its class, w->clock its time. Returns NULL, or else a
 * static text that describes the error; then *fits: the header was read, but the metadata does not declare a readable
 * class.
 */
const char *native_read_header(struct native_trace *t, struct native_group *g, struct walk *w, struct native_class **c,
			       bool *fits);

/* Advances the time to the next value with these low bits: the high bits go up by one if the low bits went down. */
static inline void native_move_clock(struct walk *w, uint64_t low, uint64_t mask)
{
	w->clock += (low - w->clock) & mask;
}

/* Reads a header of a known shape. false: it does not fit. */
static inline bool native_read_known_header(const struct native_group *g, struct walk *w, uint64_t *id)
{
	const uint64_t at = type_align(w->at, g->header_align);
	uint64_t max, mask, low;
	const uint8_t *p;

	if (at + g->short_bits > w->end)
		return false;
	p = w->data + at / 8;
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
 * Reads the header of the event at w in the usual case: a known shape, and a class that has occurred before. NULL: use
 * native_read_header(); the position of w is then undefined.
 */
static inline struct native_class *native_read_usual_header(const struct native_group *g, struct walk *w)
{
	uint64_t id;

	if (g->shape == HEADER_OTHER || !native_read_known_header(g, w, &id) || id >= g->n_ids)
		return NULL;
	return g->by_id[id];
}

#endif
