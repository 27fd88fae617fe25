/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/causes.h"

#include <glib.h>

#include "base/map64.h"

const struct wait_cause cause_none = { .fd = -1 };

enum { CAUSES_FIRST = 256 };

static uint32_t *bucket_of(const struct causes *c, const struct wait_cause *cause)
{
	uint64_t key = (uint64_t)cause->name << 32 ^ cause->call;

	key = map64_mix(key, (uint64_t)cause->object << 32 | (uint32_t)cause->tid);
	key = map64_mix(key, (uint64_t)cause->rest << 40 | (uint64_t)cause->role << 32 | (uint32_t)cause->fd);
	return &c->buckets[map64_hash(key) & (c->capacity - 1)];
}

void causes_init(struct causes *c)
{
	*c = (struct causes){ .n = 1, .capacity = CAUSES_FIRST };
	c->entries = g_new0(struct cause_entry, c->capacity);
	c->buckets = g_new0(uint32_t, c->capacity);
}

void causes_release(struct causes *c)
{
	g_free(c->entries);
	g_free(c->buckets);
	*c = (struct causes){ 0 };
}

static void grow(struct causes *c)
{
	c->capacity *= 2;
	c->entries = g_renew(struct cause_entry, c->entries, c->capacity);
	g_free(c->buckets);
	c->buckets = g_new0(uint32_t, c->capacity);
	for (uint32_t i = 1; i < c->n; i++) { /* all are in use: it grows only when the free list is empty */
		uint32_t *bucket = bucket_of(c, &c->entries[i].cause);

		c->entries[i].next = *bucket;
		*bucket = i;
	}
}

uint32_t causes_take(struct causes *c, const struct wait_cause *cause)
{
	uint32_t *bucket, number;

	if (!cause || cause_equal(cause, &cause_none))
		return 0;
	bucket = bucket_of(c, cause);
	for (number = *bucket; number; number = c->entries[number].next) {
		if (cause_equal(&c->entries[number].cause, cause)) {
			c->entries[number].uses++;
			return number;
		}
	}
	if (c->free) {
		number = c->free;
		c->free = c->entries[number].next;
	} else {
		if (c->n == CAUSES_MAX) {
			c->refused++;
			return 0;
		}
		if (c->n == c->capacity) {
			grow(c);
			bucket = bucket_of(c, cause);
		}
		number = c->n++;
	}
	c->entries[number] = (struct cause_entry){ .cause = *cause, .uses = 1, .next = *bucket };
	*bucket = number;
	return number;
}

void causes_give(struct causes *c, uint32_t number)
{
	struct cause_entry *e = &c->entries[number];
	uint32_t *place;

	if (!number || --e->uses)
		return;
	for (place = bucket_of(c, &e->cause); *place != number; place = &c->entries[*place].next)
		;
	*place = e->next;
	e->next = c->free;
	c->free = number;
}

size_t causes_bytes(const struct causes *c)
{
	return c->capacity * (sizeof(*c->entries) + sizeof(*c->buckets));
}
