/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys of hash tables that come from traces. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/keyhash.h"
#include "unit.h"

enum { PAIRS = 12, KEYS = 1 << PAIRS };

/* One of KEYS texts with the same g_str_hash(). */
static void make_text(unsigned number, char *text)
{
	for (unsigned i = 0; i < PAIRS; i++)
		memcpy(text + 2 * i, number >> i & 1 ? "Ez" : "FY", 2);
	text[2 * PAIRS] = '\0';
}

/* How many keys share the hash of another one. */
static unsigned count_shared(GHashFunc *hash, bool is_text)
{
	GHashTable *hashes = g_hash_table_new(NULL, NULL);
	char text[2 * PAIRS + 1];
	unsigned shared;

	for (unsigned i = 0; i < KEYS; i++) {
		const uint64_t number = (uint64_t)i << 32 | i;

		make_text(i, text);
		g_hash_table_add(hashes, GUINT_TO_POINTER((*hash)(is_text ? (gconstpointer)text : &number)));
	}
	shared = KEYS - g_hash_table_size(hashes);
	g_hash_table_destroy(hashes);
	return shared;
}

START_TEST(test_colliding_keys)
{
	GHashFunc str = g_str_hash, text = keyhash_text, number = keyhash_number;

	ck_assert_uint_eq(count_shared(&str, true), KEYS - 1);
	/* by chance, 2^24 / 2^33 of them */
	ck_assert_uint_le(count_shared(&text, true), 8);
	ck_assert_uint_le(count_shared(&number, false), 8);
}
END_TEST

START_TEST(test_equal_keys)
{
	const char texts[] = "sched_switch\0sched_switch";
	const uint64_t a = 7, b = 7;

	ck_assert_uint_eq(keyhash_text(texts), keyhash_text(texts + strlen(texts) + 1));
	ck_assert_uint_eq(keyhash_number(&a), keyhash_number(&b));
	ck_assert_uint_ne(keyhash_text("sched_switch"), keyhash_text("sched_switch2"));
	ck_assert_uint_ne(keyhash_text(""), keyhash_text("a"));
}
END_TEST

UNIT_MAIN("keyhash", test_colliding_keys, test_equal_keys)
