/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_CAUSES_H
#define LT_WAITS_CAUSES_H

#include "waits/graph.h"

/*
 * The different causes of the edges kept, each once and counted, so that a
 * vertex names its cause by a small number. 0 is the cause that says nothing.
 * Bounded: what does not fit becomes 0.
 */
enum { CAUSES_MAX = 1 << 18 };

struct cause_entry {
	struct wait_cause cause;
	uint32_t uses;
	uint32_t next; /* of its bucket, or of the free ones; 0: none */
};

struct causes {
	struct cause_entry *entries; /* [0]: the one that says nothing */
	uint32_t n, capacity;        /* entries ever used */
	uint32_t *buckets;           /* capacity of them: a power of two */
	uint32_t free;
	uint64_t refused;
};

extern const struct wait_cause cause_none;

void causes_init(struct causes *c);
void causes_release(struct causes *c);

/* One more use of this cause (NULL: none); its number. */
uint32_t causes_take(struct causes *c, const struct wait_cause *cause);

/* One use less. */
void causes_give(struct causes *c, uint32_t number);

static inline const struct wait_cause *causes_get(const struct causes *c, uint32_t number)
{
	return number ? &c->entries[number].cause : &cause_none;
}

static inline bool cause_equal(const struct wait_cause *a, const struct wait_cause *b)
{
	return a->name == b->name && a->call == b->call && a->object == b->object && a->fd == b->fd &&
	       a->role == b->role;
}

size_t causes_bytes(const struct causes *c);

#endif
