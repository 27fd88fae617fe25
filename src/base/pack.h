/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_PACK_H
#define LT_BASE_PACK_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Values packed into bytes one after the other, for our own files. Writers may pack any C value. The bytes read may be
 * anything, so reading is bounded: past the end, or after an error, every value is 0 and `failed` is set. Readers check
 * `failed` once at the end, but check each value they use as an index or a length before they use it.
 */
void pack_u64(GByteArray *out, uint64_t v);
void pack_bytes(GByteArray *out, const void *data, size_t len);

/* NULL and "" are distinguished. */
void pack_text(GByteArray *out, const char *text);

struct unpack {
	const uint8_t *at, *end;
	bool failed;
};

uint64_t unpack_u64(struct unpack *in);

/* Fails if the value is greater than `most`. */
uint64_t unpack_upto(struct unpack *in, uint64_t most);

/* A number of items that follow, each at least least_bytes long; fails if they cannot fit into the remaining bytes. */
size_t unpack_count(struct unpack *in, size_t least_bytes);

/* Copies len bytes; zeros if fewer are left. */
void unpack_bytes(struct unpack *in, void *data, size_t len);

/* A sanitised text, to be freed with g_free(). NULL: NULL was packed, or the data is damaged. */
char *unpack_text(struct unpack *in);

#endif
