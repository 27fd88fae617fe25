/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/map64.h"

#include <glib.h>

#include "base/keyhash.h"

enum { MAP64_FIRST_SLOTS = 64 };

static void fill_free(struct map64 *m)
{
	for (uint32_t i = 0; i <= m->mask; i++)
		m->slots[i].value = MAP64_NONE;
}

static void grow(struct map64 *m)
{
	struct map64 old = *m;
	uint32_t n = old.slots ? 2 * (old.mask + 1) : MAP64_FIRST_SLOTS;

	if (!m->salt)
		m->salt = keyhash_seed();
	m->slots = g_new(struct map64_slot, n);
	m->mask = n - 1;
	m->count = 0;
	fill_free(m);
	for (uint32_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].value != MAP64_NONE)
			map64_put(m, old.slots[i].key, old.slots[i].value);
	g_free(old.slots);
}

void map64_put(struct map64 *m, uint64_t key, uint32_t value)
{
	uint32_t i;

	g_assert(value != MAP64_NONE);
	if (!m->slots || 2 * (m->count + 1) > m->mask + 1)
		grow(m);
	for (i = map64_place(m, key); m->slots[i].value != MAP64_NONE; i = (i + 1) & m->mask) {
		if (m->slots[i].key == key) {
			m->slots[i].value = value;
			return;
		}
	}
	m->slots[i].key = key;
	m->slots[i].value = value;
	m->count++;
}

bool map64_del(struct map64 *m, uint64_t key)
{
	uint32_t hole, i, home;

	if (!m->slots)
		return false;
	for (hole = map64_place(m, key);; hole = (hole + 1) & m->mask) {
		if (m->slots[hole].value == MAP64_NONE)
			return false;
		if (m->slots[hole].key == key)
			break;
	}
	/* Move back every later entry of the cluster whose home is not after the hole. */
	for (i = (hole + 1) & m->mask; m->slots[i].value != MAP64_NONE; i = (i + 1) & m->mask) {
		home = map64_place(m, m->slots[i].key);
		if (((i - home) & m->mask) >= ((i - hole) & m->mask)) {
			m->slots[hole] = m->slots[i];
			hole = i;
		}
	}
	m->slots[hole].value = MAP64_NONE;
	m->count--;
	return true;
}

void map64_clear(struct map64 *m)
{
	if (m->slots)
		fill_free(m);
	m->count = 0;
}

void map64_release(struct map64 *m)
{
	g_free(m->slots);
	*m = (struct map64){ 0 };
}
