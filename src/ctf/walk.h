/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_WALK_H
#define LT_CTF_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "ctf/layout.h"

/*
 * Steps through the bits of a packet, type by type, event by event, without
 * decoding more than lengths, tags, event ids and times.
 */
struct walk {
	const uint8_t *data; /* the packet, borrowed */
	uint64_t at, end;    /* bits from the packet's begin */
	uint64_t clock;      /* the last time seen; fields of fewer bits continue it */
	uint64_t *slots;     /* values others need: an array of layout->n_slots */
};

/* *w must be released; it starts at bit 0 of data[0..end/8[. */
void walk_init(struct walk *w, const struct layout *l, const uint8_t *data, uint64_t end);
void walk_release(struct walk *w);

/* Behind a value of this type (NULL: nothing). False: it does not fit, or cannot be. */
bool walk_type(struct walk *w, const struct type *t);

/* Behind an integer or enum, which is read. */
bool walk_integer(struct walk *w, const struct type *t, uint64_t *value);

/* What the value of its tag, which was walked over, chooses of a variant; NULL: nothing. */
const struct type_case *walk_choose(const struct walk *w, const struct type *variant);

/*
 * Behind the next event; *event is its class. w->clock is then its time. False:
 * it does not fit, has no known id or no bits, or its layout was not understood.
 */
bool walk_event(struct walk *w, const struct layout_stream *s, const struct layout_event **event);

/* Where the next event begins: w->at and the event header's alignment. */
uint64_t walk_event_begin(const struct walk *w, const struct layout_stream *s);

#endif
