/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_HISTORY_SIZED_H
#define LT_HISTORY_SIZED_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/*
 * Numbers in as few bytes as they need, little-endian, with their sizes stored apart, four bits each:
 *
 *   sizes   2,1 | 0,4 | …          bytes   xx xx | yy | | zz zz zz zz | …
 *
 * So the start of a number does not depend on the bytes of the previous one, and a processor can read several at once.
 * Sizes above 8 are those of 128-bit numbers: 10, 12, 14, 16 bytes. A writer needs room for SIZED_MAX bytes per number;
 * a reader may read up to SIZED_PAD bytes past the last one.
 */
enum { SIZED_MAX = 16, SIZED_PAD = 8, SIZED_LONG = 8 };

/* A writer stores each size in a byte of its own; sized_pack() packs them in pairs once all are known. */
struct sized_put {
	uint8_t *bytes, *sizes;
};

struct sized_get {
	const uint8_t *bytes, *sizes;
	uint32_t n; /* numbers read */
};

static inline void sized_put(struct sized_put *put, uint64_t v)
{
	unsigned size = v ? (unsigned)(71 - __builtin_clzll(v)) / 8 : 0;

	v = htole64(v);
	memcpy(put->bytes, &v, sizeof(v));
	put->bytes += size;
	*put->sizes++ = size;
}

static inline void sized_put128(struct sized_put *put, unsigned __int128 v)
{
	uint64_t low = htole64((uint64_t)v), high = (uint64_t)(v >> 64);
	unsigned pairs;

	if (!high) {
		sized_put(put, (uint64_t)v);
		return;
	}
	pairs = (unsigned)(79 - __builtin_clzll(high)) / 16;
	high = htole64(high);
	memcpy(put->bytes, &low, sizeof(low));
	memcpy(put->bytes + sizeof(low), &high, sizeof(high));
	put->bytes += 8 + 2 * pairs;
	*put->sizes++ = SIZED_LONG + pairs;
}

/* The packed length of n sizes, in bytes. */
static inline size_t sized_packed(uint32_t n)
{
	return (n + (size_t)1) / 2;
}

/* Packs n sizes in place; may write one byte more than there are sizes. */
static inline void sized_pack(uint8_t *sizes, uint32_t n)
{
	sizes[n] = 0;
	for (uint32_t i = 0; i < n; i += 2)
		sizes[i / 2] = (uint8_t)(sizes[i] | sizes[i + 1] << 4);
}

static inline unsigned sized_next(struct sized_get *get)
{
	unsigned size = get->sizes[get->n / 2] >> (get->n % 2 * 4) & 15;

	get->n++;
	return size;
}

static inline uint64_t sized_load(const uint8_t *bytes, unsigned size)
{
	static const uint64_t masks[] = { 0,
					  0xff,
					  0xffff,
					  0xffffff,
					  UINT32_MAX,
					  UINT64_C(0xffffffffff),
					  UINT64_C(0xffffffffffff),
					  UINT64_C(0xffffffffffffff),
					  UINT64_MAX };
	uint64_t v;

	memcpy(&v, bytes, sizeof(v));
	return le64toh(v) & masks[size];
}

/* For a size above 8, the low half. */
static inline uint64_t sized_get(struct sized_get *get)
{
	unsigned size = sized_next(get);
	uint64_t v;

	size = size < SIZED_LONG ? size : SIZED_LONG;
	v = sized_load(get->bytes, size);
	get->bytes += size;
	return v;
}

static inline unsigned __int128 sized_get128(struct sized_get *get)
{
	unsigned size = sized_next(get), more;
	unsigned __int128 v;

	if (__builtin_expect(size <= SIZED_LONG, 1)) {
		v = sized_load(get->bytes, size);
		get->bytes += size;
		return v;
	}
	more = 2 * (size - SIZED_LONG);
	more = more < 8 ? more : 8;
	v = (unsigned __int128)sized_load(get->bytes + 8, more) << 64 | sized_load(get->bytes, 8);
	get->bytes += 8 + more;
	return v;
}

#endif
