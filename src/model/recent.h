/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_RECENT_H
#define LT_MODEL_RECENT_H

/*
 * Rows of a table that come and go with their use: found by a key, created on first use, and ended when others are
 * created, there are more than few, and they have not been used for RECENT_AGE_NS of the host's time; or sooner if
 * there are more than limit.
 * Whatever comes back after that is a new row with the same key: readers add the two up (view_table.same).
 *
 *   rows: │ used 3 s ago │ used 12 s ago │ free │ used just now │ …
 *                             ▲ hand: looks at the next few whenever a row is created
 */
#include "base/nstime.h"
#include "model/internal.h"

#define RECENT_AGE_NS (10 * NS_PER_S)

struct recent_use {
	uint64_t key;
	uint64_t used_ns; /* last use; of those by a hint, when the hand noticed one: it may miss some */
	bool in_use;
};

struct recent {
	enum table_id table;
	uint32_t limit;
	uint32_t few; /* up to this number they stay, used or not; 0 at first */
	uint32_t n;
	uint32_t hand;     /* row the hand is at */
	struct map64 rows; /* key -> row */
	GArray *uses;      /* struct recent_use, by row */
};

void recent_init(struct recent *r, enum table_id table, uint32_t limit);
void recent_release(struct recent *r);

/* Whether a row can be created without ending one that is still in use. Ends some that are not. */
bool recent_has_room(struct model *m, struct recent *r);

/*
 * The row with that key, touched; *made: it is new, and the caller has to set its cells. Keys are hashes of everything
 * that distinguishes rows (map64_mix()): two collide with a chance of 1 in 2^64.
 */
uint32_t recent_row(struct model *m, struct recent *r, uint64_t key, bool *made);

/* Whether the row that a hint remembers is still in the set: then its cells may be read. */
static inline bool recent_knows(const struct model *m, const struct recent *r, const struct recent_hint *hint)
{
	const struct state_table *t = &m->state.tables[r->table];

	return hint->uid && (t->flags[hint->row] & (ROW_ALIVE | ROW_ENDED)) == ROW_ALIVE &&
	       state_cells(t, hint->row)[0] == hint->uid;
}

/* A row known to be in the set is used: the hand will see that it was touched. */
static inline void recent_again(struct model *m, struct recent *r, uint32_t row)
{
	state_touch(&m->state, r->table, row);
}

#endif
