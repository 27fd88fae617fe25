/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reason for base/map64: look-ups of 64-bit keys against GHashTable. Prints `name value unit`. */
#include <glib.h>
#include <stdio.h>
#include <time.h>

#include "base/map64.h"

enum { KEYS = 10000, ROUNDS = 500 };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A TID in the upper half and a call's number in the lower one, like the model's keys. */
static uint64_t key(unsigned i)
{
	return (uint64_t)(i % 1000 + 1) << 32 | i / 1000;
}

/* GLib's own hash of 64-bit integers ignores the upper half. */
static guint hash(gconstpointer k)
{
	return (guint)map64_hash(*(const uint64_t *)k);
}

int main(void)
{
	GHashTable *table = g_hash_table_new(hash, g_int64_equal);
	uint64_t *keys = g_new(uint64_t, KEYS);
	struct map64 map = { 0 };
	uint64_t sum = 0;
	double begin, map_ns, table_ns;

	for (unsigned i = 0; i < KEYS; i++) {
		keys[i] = key(i);
		map64_put(&map, keys[i], i);
		g_hash_table_insert(table, &keys[i], GUINT_TO_POINTER(i));
	}
	begin = now_ns();
	for (unsigned r = 0; r < ROUNDS; r++)
		for (unsigned i = 0; i < KEYS; i++)
			sum += map64_get(&map, keys[i]);
	map_ns = (now_ns() - begin) / KEYS / ROUNDS;
	begin = now_ns();
	for (unsigned r = 0; r < ROUNDS; r++)
		for (unsigned i = 0; i < KEYS; i++)
			sum += GPOINTER_TO_UINT(g_hash_table_lookup(table, &keys[i]));
	table_ns = (now_ns() - begin) / KEYS / ROUNDS;
	if (sum != 2 * (uint64_t)ROUNDS * KEYS * (KEYS - 1) / 2) {
		fprintf(stderr, "bench_map64: wrong values\n");
		return 1;
	}
	printf("map64_lookup %.1f ns\n", map_ns);
	printf("map64_vs_ghashtable %.1f ratio\n", table_ns / map_ns);
	map64_release(&map);
	g_hash_table_unref(table);
	g_free(keys);
	return 0;
}
