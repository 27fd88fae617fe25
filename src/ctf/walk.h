/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_WALK_H
#define LT_CTF_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "ctf/layout.h"

/*
 * Steps through the bits of a packet, type by type and event by event, decoding only lengths, tags, event ids and
 * times.
 */
struct walk {
	const uint8_t *data; /* the packet, borrowed */
	uint64_t at, end;    /* bits from the start of the packet */
	uint64_t clock;      /* the last time seen; times of fewer bits continue it */
	uint64_t *slots;     /* values that other types need: an array of layout->n_slots */
	uint64_t steps;      /* taken so far in this packet; their number is limited, see walk_failure() */
	uint64_t most_steps; /* 0: in proportion to the packet's bits, and those of WALK_STEPS_FREE not yet .spent */
	uint64_t spent;      /* by the stream's packets before, see walk_spent() */
};

/* Real packets need less than one step per bit, and most have thousands of bits. */
enum { WALK_STEPS_PER_BIT = 64, WALK_STEPS_FREE = 1 << 18 };

/* Whether the packet has taken too many steps. */
static inline bool walk_is_endless(const struct walk *w)
{
	return w->steps > (w->most_steps ? w->most_steps : WALK_STEPS_FREE - w->spent + WALK_STEPS_PER_BIT * w->end);
}

/* To be called for what may take time, but no bits. false: there were too many steps. */
static inline bool walk_take_steps(struct walk *w, uint64_t n)
{
	w->steps += n;
	return !walk_is_endless(w);
}

/*
 * How many of the free steps the packet and those before it have taken. A stream has them once, however many packets it
 * has; a packet that needs fewer steps than its bits allow gives some back.
 */
static inline uint64_t walk_spent(const struct walk *w)
{
	const uint64_t steps = w->spent + w->steps, allowed = WALK_STEPS_PER_BIT * w->end;

	return steps <= allowed ? 0 : steps - allowed < WALK_STEPS_FREE ? steps - allowed : WALK_STEPS_FREE;
}

/* Starts at bit 0 of the stream's next packet, data[0..end/8[. */
static inline void walk_next_packet(struct walk *w, const uint8_t *data, uint64_t end, uint64_t *slots)
{
	*w = (struct walk){ .data = data, .end = end, .slots = slots, .spent = walk_spent(w) };
}

/* Starts at bit 0 of data[0..end/8[, the first packet. *w must be released. */
void walk_init(struct walk *w, const struct layout *l, const uint8_t *data, uint64_t end);
void walk_release(struct walk *w);

/* Moves past a value of this type (NULL: nothing). False: see walk_failure(). */
bool walk_type(struct walk *w, const struct type *t);

/*
 * Why a walk past an event failed: it does not fit into the packet or is impossible, or the packet has taken too many
 * steps: millions of empty fields take time, but no bits.
 */
const char *walk_failure(const struct walk *w);

/* Moves past an integer or enum and reads it. */
bool walk_integer(struct walk *w, const struct type *t, uint64_t *value);

/* The option that the variant's tag, walked over before, selects; NULL: none, or there were too many steps. */
const struct type_case *walk_choose(struct walk *w, const struct type *variant);

/*
 * Moves past the next event; *event is its class. w->clock is its time afterwards. False: it does not fit, its id is
 * unknown, it has no bits, or its layout is not understood.
 */
bool walk_event(struct walk *w, const struct layout_stream *s, const struct layout_event **event);

/* The start of the next event: w->at with the event header's alignment. */
uint64_t walk_event_begin(const struct walk *w, const struct layout_stream *s);

#endif
