/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_PACK_H
#define LT_BASE_PACK_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Values one behind the other in bytes, for files of our own. What is written is any C value; what is read may be
 * anything, so reading is bounded: past the end, or once something was wrong, every value is 0 and `failed` is set.
 * Who reads checks it once at the end, and whatever it uses as an index or a length before.
 */
void pack_u64(GByteArray *out, uint64_t v);
void pack_bytes(GByteArray *out, const void *data, size_t len);

/* NULL is kept apart from "". */
void pack_text(GByteArray *out, const char *text);

struct unpack {
	const uint8_t *at, *end;
	bool failed;
};

uint64_t unpack_u64(struct unpack *in);

/* At most `most`, else it fails. */
uint64_t unpack_upto(struct unpack *in, uint64_t most);

/* How many things follow, each of least_bytes at least: no more than there is room for. */
size_t unpack_count(struct unpack *in, size_t least_bytes);

/* Copies len bytes, zeros if there are fewer. */
void unpack_bytes(struct unpack *in, void *data, size_t len);

/* A sanitised text, to be freed with g_free(); NULL: it was, or there is none. */
char *unpack_text(struct unpack *in);

#endif
