/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Look-ups in a map64 and in a GHashTable of the same keys: why the former
 * exists. Prints `name value unit`.
 */
#include <glib.h>
#include <stdio.h>
#include <time.h>

#include "base/map64.h"

enum { KEYS = 1000, LOOKUPS = 10000000 };

static uint64_t keys[KEYS];

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t look_up_map64(const struct map64 *map)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < LOOKUPS; i++)
		sum += map64_get(map, keys[i * 7919u % KEYS]);
	return sum;
}

static uint64_t look_up_glib(GHashTable *table)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < LOOKUPS; i++)
		sum += GPOINTER_TO_UINT(g_hash_table_lookup(table, &keys[i * 7919u % KEYS]));
	return sum;
}

int main(void)
{
	GHashTable *table = g_hash_table_new(g_int64_hash, g_int64_equal);
	struct map64 map = {0};
	double begin, middle, end;
	uint64_t a, b;

	for (uint32_t i = 0; i < KEYS; i++) {
		keys[i] = (uint64_t)i * 37 + 1000;
		map64_put(&map, keys[i], i);
		g_hash_table_insert(table, &keys[i], GUINT_TO_POINTER(i));
	}
	begin = now_s();
	a = look_up_map64(&map);
	middle = now_s();
	b = look_up_glib(table);
	end = now_s();
	g_assert(a == b);
	printf("map64_get %.1f ns\n", (middle - begin) * 1e9 / LOOKUPS);
	printf("map64_against_glib %.1f times\n", (end - middle) / (middle - begin));
	map64_release(&map);
	g_hash_table_destroy(table);
	return 0;
}
