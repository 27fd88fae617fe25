/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_HISTORY_VARINT_H
#define LT_HISTORY_VARINT_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/*
 * Numbers in as few bytes as they need: seven bits per byte, the lowest first; the top bit means that more follow. A
 * writer needs room for VARINT_MAX bytes; a reader may read up to VARINT_PAD bytes past the number.
 */
enum { VARINT_MAX = 10, VARINT_PAD = 8 };

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
	uint64_t v, ends;

	/* Up to eight bytes at once, without branches that depend on their number. */
	memcpy(&v, p, sizeof(v));
	v = le64toh(v);
	ends = ~v & UINT64_C(0x8080808080808080);
	if (__builtin_expect(ends != 0, 1)) {
		v &= ends ^ (ends - 1);
		*at = p + ((__builtin_ctzll(ends) + 1) >> 3);
		v = (v & UINT64_C(0x007f007f007f007f)) | (v & UINT64_C(0x7f007f007f007f00)) >> 1;
		v = (v & UINT64_C(0x00003fff00003fff)) | (v & UINT64_C(0x3fff00003fff0000)) >> 2;
		return (v & UINT64_C(0x000000000fffffff)) | (v & UINT64_C(0x0fffffff00000000)) >> 4;
	}
	v = 0;
	for (unsigned shift = 0; shift < 7 * VARINT_MAX; shift += 7) {
		uint64_t byte = *p++;

		v |= (byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	*at = p;
	return v;
}

/* Maps signed differences to small numbers whatever their sign: 0, -1, 1, -2, … */
static inline uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ (uint64_t)((int64_t)v >> 63);
}

static inline uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

#endif
