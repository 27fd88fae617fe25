/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_HISTORY_BYTES_H
#define LT_HISTORY_BYTES_H

#include <stddef.h>
#include <stdint.h>

/*
 * A growing byte buffer with readable padding at its end, for varint.h and sized.h. Zero-initialised: empty. Only
 * bytes.c allocates data and sets the capacity.
 */
struct bytes {
	uint8_t *data; /* owned; initialised up to the capacity */
	size_t len, capacity;
};

void bytes_reserve(struct bytes *b, size_t more);
void bytes_append(struct bytes *b, const void *data, size_t len);
/* Releases what is not used. */
void bytes_fit(struct bytes *b);
void bytes_release(struct bytes *b);

#endif
