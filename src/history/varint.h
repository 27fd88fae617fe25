/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_HISTORY_VARINT_H
#define LT_HISTORY_VARINT_H

#include <stdint.h>

/*
 * Numbers in as few bytes as they need: seven bits each, the lowest first, the
 * top bit tells that more follow. The caller has room for VARINT_MAX bytes, and
 * for VARINT128_MAX of the 128-bit form.
 */
enum { VARINT_MAX = 10, VARINT128_MAX = 19 };

static inline uint8_t *varint_put(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = v | 0x80;
		v >>= 7;
	}
	*p++ = v;
	return p;
}

static inline uint64_t varint_get(const uint8_t **at)
{
	const uint8_t *p = *at;
	uint64_t v = *p++;

	if (v >= 0x80) {
		v &= 0x7f;
		for (unsigned shift = 7;; shift += 7) {
			uint64_t byte = *p++;

			v |= (byte & 0x7f) << shift;
			if (byte < 0x80)
				break;
		}
	}
	*at = p;
	return v;
}

static inline uint8_t *varint128_put(uint8_t *p, unsigned __int128 v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)v | 0x80;
		v >>= 7;
	}
	*p++ = v;
	return p;
}

static inline unsigned __int128 varint128_get(const uint8_t **at)
{
	const uint8_t *p = *at;
	uint64_t low = 0;
	unsigned __int128 v;
	unsigned shift = 0;

	/* Nearly all fit into 64 bits. */
	for (; *p >= 0x80 && shift < 56; shift += 7)
		low |= (uint64_t)(*p++ & 0x7f) << shift;
	v = low;
	for (; *p >= 0x80; shift += 7)
		v |= (unsigned __int128)(*p++ & 0x7f) << shift;
	v |= (unsigned __int128)*p++ << shift;
	*at = p;
	return v;
}

/* Signed differences as small numbers whatever their sign: 0, -1, 1, -2, … */
static inline uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ (uint64_t)((int64_t)v >> 63);
}

static inline uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

#endif
