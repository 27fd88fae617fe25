/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_HISTORY_STORE_H
#define LT_HISTORY_STORE_H

#include "base/pack.h"
#include "history/history.h"

/*
 * A history that nothing is appended to any more, as bytes and back: first all but the contents of its frames, small,
 * then these in parts, so that whoever writes or reads them can rest in between.
 *
 *   history_pack()     grid, masks, tracks: where their chunks and frames begin and end
 *   history_part() …   the bytes of a chunk each
 *
 * Strings stay the numbers they are in the string pool. Main thread only.
 */

/* False: it has more rows than would be accepted again. */
bool history_pack(const struct history *h, GByteArray *out);

/*
 * A history as it was packed, with room for its parts, which are to be filled in before it is used; nothing can be
 * appended to it. Their contents are checked when they are read: history_load() says LT_ERROR. NULL: these are not
 * the bytes of a history whose parts take `bytes` together.
 */
struct history *history_unpack(struct unpack *in, size_t limit_bytes, uint64_t bytes);

/* The bytes of all parts. */
uint64_t history_parts_bytes(const struct history *h);

/* A part, and which one is next: zero-initialised before the first. */
struct history_part {
	unsigned track, chunk;
	uint8_t *data;
	size_t len;
};

/* The next part, borrowed; false: that was the last. */
bool history_part(const struct history *h, struct history_part *part);

#endif
