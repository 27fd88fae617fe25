/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/recent.h"

void recent_init(struct recent *r, enum table_id table, uint32_t limit)
{
	*r = (struct recent){ .table = table, .limit = limit, .head = NO_ROW, .tail = NO_ROW };
	r->links = g_array_new(FALSE, FALSE, sizeof(struct recent_link));
}

void recent_release(struct recent *r)
{
	map64_release(&r->rows);
	g_array_free(r->links, TRUE);
}

static struct recent_link *link_of(const struct recent *r, uint32_t row)
{
	return &g_array_index(r->links, struct recent_link, row);
}

static void unlink_row(struct recent *r, uint32_t row)
{
	const struct recent_link *link = link_of(r, row);

	if (link->newer == NO_ROW)
		r->head = link->older;
	else
		link_of(r, link->newer)->older = link->older;
	if (link->older == NO_ROW)
		r->tail = link->newer;
	else
		link_of(r, link->older)->newer = link->newer;
}

static void link_first(struct recent *r, uint32_t row)
{
	struct recent_link *link = link_of(r, row);

	link->newer = NO_ROW;
	link->older = r->head;
	if (r->head == NO_ROW)
		r->tail = row;
	else
		link_of(r, r->head)->newer = row;
	r->head = row;
}

static void end_last(struct model *m, struct recent *r)
{
	uint32_t row = r->tail;

	map64_del(&r->rows, link_of(r, row)->key);
	unlink_row(r, row);
	state_end(&m->state, r->table, row);
	r->n--;
}

static uint32_t add(struct model *m, struct recent *r, uint64_t key)
{
	uint32_t row = state_add(&m->state, r->table);

	if (row >= r->links->len)
		g_array_set_size(r->links, row + 1);
	link_of(r, row)->key = key;
	map64_put(&r->rows, key, row);
	r->n++;
	return row;
}

uint32_t recent_use(struct model *m, struct recent *r, uint64_t key, bool *made)
{
	uint32_t row = map64_get(&r->rows, key);

	*made = row == MAP64_NONE;
	if (*made)
		row = add(m, r, key);
	else if (row != r->head)
		unlink_row(r, row);
	if (row != r->head)
		link_first(r, row);
	link_of(r, row)->used_ns = m->now_ns;
	state_touch(&m->state, r->table, row);
	/* each use ends two at most: the work stays even, and rows go twice as fast as they come */
	for (int i = 0; i < 2 && r->tail != row; i++)
		if (r->n > r->limit || m->now_ns - link_of(r, r->tail)->used_ns > RECENT_AGE_NS)
			end_last(m, r);
	return row;
}
