/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which rows of TABLE_BUCKET a row has, as a list; the one that was used last is the first, as the next value
 * mostly falls near the one before:
 *
 *   heads[table][row] ──▶ link, by row of TABLE_BUCKET ──▶ link ──▶ NO_ROW
 */
#include "model/buckets.h"

#include "model/internal.h"

struct bucket_link {
	uint32_t next;
	uint32_t which; /* cell and part */
};

struct buckets {
	GArray *heads[TABLES]; /* uint32_t, by row of the table; NULL: none of its rows has any */
	GArray *links;         /* struct bucket_link, by row of TABLE_BUCKET */
};

static uint32_t which_of(unsigned cell, unsigned part)
{
	return cell << 8 | part;
}

void buckets_create(struct model *m)
{
	m->buckets = g_new0(struct buckets, 1);
	m->buckets->links = g_array_new(FALSE, FALSE, sizeof(struct bucket_link));
}

void buckets_destroy(struct model *m)
{
	for (int i = 0; i < TABLES; i++)
		if (m->buckets->heads[i])
			g_array_free(m->buckets->heads[i], TRUE);
	g_array_free(m->buckets->links, TRUE);
	g_free(m->buckets);
}

static struct bucket_link *link_of(const struct buckets *b, uint32_t row)
{
	return &g_array_index(b->links, struct bucket_link, row);
}

static uint32_t *head_of(struct buckets *b, enum table_id table, uint32_t row)
{
	const uint32_t none = NO_ROW;

	if (!b->heads[table])
		b->heads[table] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	while (row >= b->heads[table]->len)
		g_array_append_val(b->heads[table], none);
	return &g_array_index(b->heads[table], uint32_t, row);
}

static uint32_t make_row(struct model *m, enum table_id table, uint32_t row, unsigned cell, unsigned part)
{
	const uint32_t made = state_add(&m->state, TABLE_BUCKET);
	struct bucket_row *r = STATE_ROW(&m->state, BUCKET, bucket, made);
	const uint64_t *owner = state_cells(&m->state.tables[table], row);

	r->owner_uid = owner[0];
	r->dist = bucket_dist(table, cell);
	r->part = part;
	if (table == TABLE_SYSCALL)
		r->call = owner[CELL(syscall, name)];
	if (made >= m->buckets->links->len)
		g_array_set_size(m->buckets->links, made + 1);
	return made;
}

/* The row becomes the first of the list; before: the one that points to it, NO_ROW: it is the first, or new. */
static void move_first(const struct buckets *b, uint32_t *head, uint32_t before, uint32_t row)
{
	if (*head == row)
		return;
	if (before != NO_ROW)
		link_of(b, before)->next = link_of(b, row)->next;
	link_of(b, row)->next = *head;
	*head = row;
}

uint32_t buckets_row(struct model *m, enum table_id table, uint32_t row, unsigned cell, unsigned part)
{
	struct buckets *b = m->buckets;
	uint32_t *head = head_of(b, table, row), at = *head, before = NO_ROW;
	const uint32_t which = which_of(cell, part);

	while (at != NO_ROW && link_of(b, at)->which != which) {
		before = at;
		at = link_of(b, at)->next;
	}
	if (at == NO_ROW) {
		before = NO_ROW;
		at = make_row(m, table, row, cell, part);
		link_of(b, at)->which = which;
	}
	move_first(b, head, before, at);
	return at;
}

void buckets_count(struct model *m, enum table_id table, uint32_t row, unsigned cell, uint64_t value)
{
	const unsigned bucket = bucket_of(value), part = bucket / BUCKETS_IN_ROW;
	const struct buckets *b = m->buckets;
	uint32_t at = NO_ROW;

	if (b->heads[table] && row < b->heads[table]->len)
		at = g_array_index(b->heads[table], uint32_t, row);
	if (at == NO_ROW || link_of(b, at)->which != which_of(cell, part))
		at = buckets_row(m, table, row, cell, part);
	(&STATE_ROW(&m->state, BUCKET, bucket, at)->first)[bucket % BUCKETS_IN_ROW]++;
	state_touch(&m->state, TABLE_BUCKET, at);
}

/* ---- each value by itself ---- */

void model_set_log(struct model *m, uint64_t dist, uint64_t min_ns)
{
	m->log_dist = dist;
	m->log_min_ns = min_ns;
}

void model_log_instance(struct model *m, uint64_t value, uint32_t thread, strid cause)
{
	struct instance_row *r;
	uint32_t row;

	if (value < m->log_min_ns)
		return;
	row = state_add(&m->state, TABLE_INSTANCE);
	r = STATE_ROW(&m->state, INSTANCE, instance, row);
	r->thread_uid = thread == NO_ROW ? 0 : THREAD_ROW(m, thread)->uid;
	r->begin_ns = m->now_ns - value;
	r->length_ns = value;
	r->cause = cause;
	state_end(&m->state, TABLE_INSTANCE, row);
}

void buckets_end(struct model *m, enum table_id table, uint32_t row)
{
	GArray *heads = m->buckets->heads[table];
	uint32_t at;

	if (!heads || row >= heads->len)
		return;
	for (at = g_array_index(heads, uint32_t, row); at != NO_ROW; at = link_of(m->buckets, at)->next)
		state_end(&m->state, TABLE_BUCKET, at);
	g_array_index(heads, uint32_t, row) = NO_ROW;
}
