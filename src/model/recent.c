/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/recent.h"

enum { LOOKS = 4, LOOKS_WHEN_FULL = 64 };

void recent_init(struct recent *r, enum table_id table, uint32_t limit)
{
	*r = (struct recent){ .table = table, .limit = limit };
	r->uses = g_array_new(FALSE, TRUE, sizeof(struct recent_use));
}

void recent_release(struct recent *r)
{
	map64_release(&r->rows);
	g_array_free(r->uses, TRUE);
}

static struct recent_use *use_of(const struct recent *r, uint32_t row)
{
	return &g_array_index(r->uses, struct recent_use, row);
}

static void end_row(struct model *m, struct recent *r, uint32_t row)
{
	map64_del(&r->rows, use_of(r, row)->key);
	use_of(r, row)->in_use = false;
	state_end(&m->state, r->table, row);
	r->n--;
}

/* Moves on by one, and notes whether that row was used since the frame began. */
static struct recent_use *turn_hand(const struct model *m, struct recent *r)
{
	struct recent_use *use;

	r->hand = r->hand + 1 < r->uses->len ? r->hand + 1 : 0;
	use = use_of(r, r->hand);
	if (use->in_use && m->state.tables[r->table].flags[r->hand] & ROW_DIRTY)
		use->used_ns = m->now_ns;
	return use;
}

/* Looks at more rows than are added at a time: old rows go faster than new ones come. */
static void end_old_rows(struct model *m, struct recent *r)
{
	for (int i = 0; i < LOOKS; i++) {
		const struct recent_use *use = turn_hand(m, r);

		if (use->in_use && m->now_ns - use->used_ns > RECENT_AGE_NS)
			end_row(m, r, r->hand);
	}
}

bool recent_has_room(struct model *m, struct recent *r)
{
	if (r->n >= r->limit)
		end_old_rows(m, r);
	return r->n < r->limit;
}

/* Ends the least recently used of a few. */
static void end_one_row(struct model *m, struct recent *r)
{
	uint32_t oldest = NO_ROW;

	for (int i = 0; i < LOOKS_WHEN_FULL; i++) {
		const struct recent_use *use = turn_hand(m, r);

		if (use->in_use && (oldest == NO_ROW || use->used_ns < use_of(r, oldest)->used_ns))
			oldest = r->hand;
	}
	if (oldest != NO_ROW)
		end_row(m, r, oldest);
}

static uint32_t add_row(struct model *m, struct recent *r, uint64_t key)
{
	uint32_t row;

	if (r->n > r->few)
		end_old_rows(m, r);
	if (r->n && r->n >= r->limit)
		end_one_row(m, r);
	row = state_add(&m->state, r->table);
	if (row >= r->uses->len)
		g_array_set_size(r->uses, row + 1);
	*use_of(r, row) = (struct recent_use){ .key = key, .used_ns = m->now_ns, .in_use = true };
	map64_put(&r->rows, key, row);
	r->n++;
	return row;
}

uint32_t recent_row(struct model *m, struct recent *r, uint64_t key, bool *made)
{
	uint32_t row = map64_get(&r->rows, key);

	*made = row == MAP64_NONE;
	if (*made)
		row = add_row(m, r, key);
	use_of(r, row)->used_ns = m->now_ns;
	recent_again(m, r, row);
	return row;
}
