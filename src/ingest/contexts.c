/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/contexts.h"

#include <glib.h>
#include <string.h>

#include "base/map64.h"
#include "event/payload.h"

enum {
	BYTES = sizeof(struct event) + sizeof(struct ev_context), /* of a context */
	HELD_MAX = 16384,
};

struct contexts {
	struct map64 places; /* TID -> place in held */
	GByteArray *held;    /* BYTES for each */
	uint64_t taken[BYTES / sizeof(uint64_t)];
};

struct contexts *contexts_create(void)
{
	struct contexts *c = g_new0(struct contexts, 1);

	c->held = g_byte_array_new();
	return c;
}

void contexts_destroy(struct contexts *c)
{
	if (!c)
		return;
	map64_release(&c->places);
	g_byte_array_free(c->held, TRUE);
	g_free(c);
}

void contexts_clear(struct contexts *c)
{
	map64_clear(&c->places);
	g_byte_array_set_size(c->held, 0);
}

static struct event *held_at(const struct contexts *c, uint32_t place)
{
	return (struct event *)(void *)(c->held->data + (size_t)place * BYTES);
}

void contexts_hold(struct contexts *c, const struct event *ev)
{
	uint32_t place = map64_get(&c->places, (uint64_t)ev->tid);
	struct event *at;

	if (place == MAP64_NONE) {
		if (c->places.count == HELD_MAX)
			contexts_clear(c);
		place = c->places.count;
		g_byte_array_set_size(c->held, (guint)(place + 1) * BYTES);
		map64_put(&c->places, (uint64_t)ev->tid, place);
	}
	at = held_at(c, place);
	memcpy(at, ev, BYTES);
	at->size = BYTES;
	at->n_perf = 0;
}

const struct event *contexts_take(struct contexts *c, int32_t tid)
{
	const uint32_t place = map64_get(&c->places, (uint64_t)tid);
	uint32_t last;

	if (place == MAP64_NONE)
		return NULL;
	memcpy(c->taken, held_at(c, place), BYTES);
	map64_del(&c->places, (uint64_t)tid);
	last = c->places.count;
	if (place != last) {
		memcpy(held_at(c, place), held_at(c, last), BYTES);
		map64_put(&c->places, (uint64_t)held_at(c, place)->tid, place);
	}
	g_byte_array_set_size(c->held, (guint)last * BYTES);
	return (const struct event *)(const void *)c->taken;
}
