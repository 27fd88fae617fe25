/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_CAUSES_H
#define LT_WAITS_CAUSES_H

#include "waits/graph.h"

/*
 * The distinct causes of the edges kept, each stored once with a use count, so
 * that a vertex names its cause by a small number. 0 is the empty cause, which also
 * stands for causes that did not fit.
 */
enum { CAUSES_MAX = 1 << 18 };

struct cause_entry {
	struct wait_cause cause;
	uint32_t uses;
	uint32_t next; /* in its bucket or in the free list; 0: none */
};

struct causes {
	struct cause_entry *entries; /* [0]: the empty cause */
	uint32_t n, capacity;        /* n: entries ever used */
	uint32_t *buckets;           /* `capacity` of them, a power of two */
	uint32_t free;
	uint64_t refused;
};

extern const struct wait_cause cause_none;

void causes_init(struct causes *c);
void causes_release(struct causes *c);

/* Adds a use of this cause (NULL: the empty one) and returns its number. */
uint32_t causes_take(struct causes *c, const struct wait_cause *cause);

/* Removes a use. */
void causes_give(struct causes *c, uint32_t number);

static inline const struct wait_cause *causes_get(const struct causes *c, uint32_t number)
{
	return number ? &c->entries[number].cause : &cause_none;
}

static inline bool cause_equal(const struct wait_cause *a, const struct wait_cause *b)
{
	return a->name == b->name && a->call == b->call && a->object == b->object && a->fd == b->fd &&
	       a->tid == b->tid && a->role == b->role && a->rest == b->rest;
}

size_t causes_bytes(const struct causes *c);

#endif
