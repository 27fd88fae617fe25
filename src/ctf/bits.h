/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_BITS_H
#define LT_CTF_BITS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/*
 * Integers inside a packet, laid out as in CTF 1.8: `at` counts bits from the start of the packet; a little-endian
 * integer starts at the low bits of a byte, a big-endian one at the high bits. size is 1..64. The caller checks bounds.
 */
enum bits_order { BITS_LITTLE, BITS_BIG };

/* The order of this machine. */
#define BITS_HOST (__BYTE_ORDER == __LITTLE_ENDIAN ? BITS_LITTLE : BITS_BIG)

/* Loads an integer of a C type from bytes in this machine's order, aligned or not. */
#define BITS_LOAD(type, bytes)                            \
	({                                                \
		type loaded;                              \
		memcpy(&loaded, (bytes), sizeof(loaded)); \
		loaded;                                   \
	})

static inline unsigned bits_in_byte(uint64_t at, unsigned left)
{
	unsigned room = 8 - at % 8;

	return left < room ? left : room;
}

static inline uint64_t bits_read(const uint8_t *data, uint64_t at, unsigned size, enum bits_order order)
{
	uint64_t value = 0;

	for (unsigned got = 0, n; got < size; got += n, at += n) {
		uint64_t part = data[at / 8];

		n = bits_in_byte(at, size - got);
		if (order == BITS_LITTLE)
			value |= (part >> at % 8 & ((1u << n) - 1)) << got;
		else
			value = value << n | (part >> (8 - at % 8 - n) & ((1u << n) - 1));
	}
	return value;
}

static inline void bits_write(uint8_t *data, uint64_t at, unsigned size, enum bits_order order, uint64_t value)
{
	for (unsigned done = 0, n; done < size; done += n, at += n) {
		unsigned shift, mask;
		uint64_t part;

		n = bits_in_byte(at, size - done);
		shift = order == BITS_LITTLE ? at % 8 : 8 - at % 8 - n;
		part = order == BITS_LITTLE ? value >> done : value >> (size - done - n);
		mask = ((1u << n) - 1) << shift;
		data[at / 8] = (uint8_t)((data[at / 8] & ~mask) | (part << shift & mask));
	}
}

#endif
