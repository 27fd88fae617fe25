/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_RECENT_H
#define LT_MODEL_RECENT_H

/*
 * Rows of a table that come and go with their use: found by a key, made on
 * first use, ended when nobody has used them for RECENT_AGE_NS of the host's
 * time or when there are more than limit. What comes back after that is a new row
 * of the same key: readers add them up (view_table.merge).
 *
 *   head ─▶ used last ─▶ … ─▶ unused longest ◀─ tail
 */
#include "model/internal.h"

#define RECENT_AGE_NS UINT64_C(10000000000)

struct recent_link {
	uint64_t key;
	uint64_t used_ns;
	uint32_t newer, older; /* rows; NO_ROW at the ends */
};

struct recent {
	enum table_id table;
	uint32_t limit;
	uint32_t n;
	uint32_t head, tail;
	struct map64 rows; /* key -> row */
	GArray *links;     /* struct recent_link, by row */
};

void recent_init(struct recent *r, enum table_id table, uint32_t limit);
void recent_release(struct recent *r);

/*
 * The row of that key, from now on the one used last; *made: it is a new one,
 * whose cells the caller has to set. It is touched. Keys are hashes of all that
 * tells rows apart (recent_mix()): two meet by chance 1 in 2^64.
 */
uint32_t recent_use(struct model *m, struct recent *r, uint64_t key, bool *made);

/* The two change places with different results, small numbers too. */
static inline uint64_t recent_mix(uint64_t hash, uint64_t value)
{
	hash = (map64_hash(hash + 1) ^ value) * UINT64_C(0xd6e8feb86659fd93);
	return hash ^ hash >> 32;
}

#endif
