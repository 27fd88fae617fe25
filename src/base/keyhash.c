/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/keyhash.h"

#include <string.h>
#include <sys/auxv.h>

#include "base/map64.h"

/*
 * The key's bytes, 7 at a time, are the coefficients of a polynomial, whose value at a random place is the hash, modulo
 * the prime 2^61 - 1: two keys of n such parts have the same value in at most n of its places.
 */
enum { PRIME_BITS = 61, PART_BYTES = 7 };

#define PRIME ((UINT64_C(1) << PRIME_BITS) - 1)

/* Without a system call, which a confined process may lack. */
uint64_t keyhash_seed(void)
{
	const void *bytes = (const void *)getauxval(AT_RANDOM);
	uint64_t word = 0;

	if (bytes)
		memcpy(&word, bytes, sizeof(word));
	return map64_mix(0, word);
}

static uint64_t random_place(void)
{
	static gsize place;

	if (g_once_init_enter(&place))
		g_once_init_leave(&place, (gsize)(keyhash_seed() % (PRIME - 2) + 2));
	return place;
}

static uint64_t add_part(uint64_t value, uint64_t part, uint64_t place)
{
	const unsigned __int128 product = (unsigned __int128)(value + part) * place;

	value = (uint64_t)(product & PRIME) + (uint64_t)(product >> PRIME_BITS);
	return value >= PRIME ? value - PRIME : value;
}

static guint hash(const char *key, size_t len)
{
	const uint64_t place = random_place();
	uint64_t value = 0;

	for (size_t n; len; len -= n, key += n) {
		uint64_t part = 0;

		n = MIN(len, (size_t)PART_BYTES);
		memcpy(&part, key, n);
		value = add_part(value, GUINT64_FROM_LE(part) + 1, place);
	}
	return (guint)(value ^ value >> 32);
}

guint keyhash_text(gconstpointer text)
{
	return hash(text, strlen(text));
}

guint keyhash_number(gconstpointer number)
{
	return hash(number, sizeof(uint64_t));
}
