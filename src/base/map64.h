/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_MAP64_H
#define LT_BASE_MAP64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A hash map from 64-bit keys to 32-bit values for the per-event path: open addressing, linear probing, deletion by
 * backward shift (no tombstones), load at most 1/2. Every key is allowed; MAP64_NONE is the only value that is not.
 * Elsewhere GLib's GHashTable is used, whose look-ups cost several times as much (tests/bench/bench_map64.c).
 *
 * Keys come from traces, and many with neighbouring places would make each look-up pass them all. So the places, and
 * the order of the slots, depend on a random number of the process.
 *
 * Zero-initialised is a valid empty map. Not thread-safe.
 */
#define MAP64_NONE UINT32_MAX

struct map64_slot {
	uint64_t key;
	uint32_t value; /* MAP64_NONE: free */
};

struct map64 {
	struct map64_slot *slots;
	uint64_t salt; /* 0: chosen with the first key */
	uint32_t mask; /* number of slots - 1; slots == NULL: 0 */
	uint32_t count;
};

/* A fixed hash for other tables: keys with the same one are easily made. */
static inline uint64_t map64_hash(uint64_t key)
{
	key ^= key >> 32;
	key *= UINT64_C(0x9e3779b97f4a7c15);
	return key ^ key >> 29;
}

/*
 * The first slot that may have the key. Of the product's 128 bits, the lower half depends on the key's low bits only,
 * the upper half on all of them.
 */
static inline uint32_t map64_place(const struct map64 *m, uint64_t key)
{
	const unsigned __int128 product = (unsigned __int128)(key ^ m->salt) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)((uint64_t)product ^ (uint64_t)(product >> 64)) & m->mask;
}

/*
 * Adds a word to the hash of a key that is longer than 64 bits; starts with 0 or the key's first word. Not commutative,
 * and small numbers spread as well. Two different keys collide with a probability of 2^-64.
 */
static inline uint64_t map64_mix(uint64_t hash, uint64_t word)
{
	hash = (map64_hash(hash + 1) ^ word) * UINT64_C(0xd6e8feb86659fd93);
	return hash ^ hash >> 32;
}

/* The value of key, MAP64_NONE if absent. */
static inline uint32_t map64_get(const struct map64 *m, uint64_t key)
{
	if (!m->slots)
		return MAP64_NONE;
	for (uint32_t i = map64_place(m, key);; i = (i + 1) & m->mask) {
		if (m->slots[i].value == MAP64_NONE)
			return MAP64_NONE;
		if (m->slots[i].key == key)
			return m->slots[i].value;
	}
}

/* Inserts or replaces. value must not be MAP64_NONE. Aborts when out of memory, as GLib does. */
void map64_put(struct map64 *m, uint64_t key, uint32_t value);

/* Removes key if present; returns whether it was. */
bool map64_del(struct map64 *m, uint64_t key);

/* Removes everything, keeps the memory. */
void map64_clear(struct map64 *m);

/* Frees the memory; the map is empty and valid afterwards. */
void map64_release(struct map64 *m);

#endif
