/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_HISTORY_STORE_H
#define LT_HISTORY_STORE_H

#include "base/pack.h"
#include "history/history.h"

/*
 * Serialises a history that is no longer appended to: first everything except the contents of its frames, which is
 * small, then those contents in parts, so that the caller can do other work in between.
 *
 *   history_pack()     grid, masks, tracks: where their chunks and frames start and end
 *   history_part() …   the bytes of one chunk each
 *
 * Strings remain numbers in the string pool. Main thread only.
 */

/* False: it has more rows than history_load() accepts. */
bool history_pack(const struct history *h, GByteArray *out);

/*
 * Rebuilds a packed history with room for its parts, which must be filled in before it is used; nothing can be appended
 * to it. The parts are checked when they are read: history_load() returns LT_ERROR if they are damaged. NULL: not a
 * packed history whose parts have `bytes` bytes in total.
 */
struct history *history_unpack(struct unpack *in, size_t limit_bytes, uint64_t bytes);

/* The total size of all parts. */
uint64_t history_parts_bytes(const struct history *h);

/* A part and the position of the next one; zero-initialise it before the first. */
struct history_part {
	unsigned track, chunk;
	uint8_t *data;
	size_t len;
};

/* Gets the next part, borrowed; false: there are no more. */
bool history_part(const struct history *h, struct history_part *part);

#endif
