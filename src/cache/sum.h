/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CACHE_SUM_H
#define LT_CACHE_SUM_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * A checksum over blocks, to detect accidental damage; not secure against forgery. Four lanes of 64 bits, each a chain
 * of multiplications, so that a changed, missing or exchanged word affects all that follows; several bytes per cycle.
 * Its mix is not map64_mix(): files depend on it.
 */
static inline uint64_t cache_sum_mix(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return sum ^ sum >> 32;
}

static inline uint64_t cache_sum_load(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return le64toh(word);
}

/* Adds a block to the sum, which starts as 0. */
static inline uint64_t cache_sum(uint64_t sum, const void *data, size_t len)
{
	uint64_t lanes[4] = { sum, 1, 2, 3 }, last = 0;
	const uint8_t *p = data;
	size_t left = len;

	for (; left >= sizeof(lanes); left -= sizeof(lanes))
		for (unsigned i = 0; i < 4; i++, p += sizeof(uint64_t))
			lanes[i] = cache_sum_mix(lanes[i], cache_sum_load(p));
	for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), p += sizeof(uint64_t))
		lanes[0] = cache_sum_mix(lanes[0], cache_sum_load(p));
	if (left)
		memcpy(&last, p, left);
	sum = cache_sum_mix(lanes[0], le64toh(last));
	sum = cache_sum_mix(sum, len);
	for (unsigned i = 1; i < 4; i++)
		sum = cache_sum_mix(sum, lanes[i]);
	return sum;
}

#endif
