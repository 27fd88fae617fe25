/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of TABLE_BUCKET that a distribution has, as a list; usually there are two or three:
 *
 *   heads[table][row, distribution] ──▶ link, by row of TABLE_BUCKET ──▶ link ──▶ NO_ROW
 *
 * The row used last comes first, and its head says which part it is: most values need no link.
 */
#include "model/buckets.h"

#include <string.h>

#include "model/parts_internal.h"

struct bucket_link {
	uint32_t next;
	uint32_t part;
};

struct bucket_head {
	uint32_t first; /* row of TABLE_BUCKET, NO_ROW: none */
	uint32_t part;  /* of the first one */
};

/* For the rows of a table. */
struct bucket_heads {
	struct bucket_head *list; /* n for each row; NULL: no row has buckets yet */
	uint32_t rows;
	uint8_t n;                 /* distributions in a row */
	uint8_t number[CELLS_MAX]; /* by cell: which of them starts there */
};

struct buckets {
	struct bucket_heads heads[TABLES];
	GArray *links; /* struct bucket_link, by row of TABLE_BUCKET */
};

/* The sum of squares of a distribution comes after its count and sum. */
static void find_distributions(struct bucket_heads *h, const struct table_desc *desc)
{
	for (unsigned i = 2; i < desc->n_cells; i++)
		if (desc->cells[i].kind == CELL_SQ_LO)
			h->number[i - 2] = h->n++;
}

void buckets_create(struct model *m)
{
	m->buckets = g_new0(struct buckets, 1);
	m->buckets->links = g_array_new(FALSE, FALSE, sizeof(struct bucket_link));
	for (int i = 0; i < TABLES; i++)
		find_distributions(&m->buckets->heads[i], &table_descs[i]);
}

void buckets_destroy(struct model *m)
{
	for (int i = 0; i < TABLES; i++)
		g_free(m->buckets->heads[i].list);
	g_array_free(m->buckets->links, TRUE);
	g_free(m->buckets);
}

static inline struct bucket_link *link_of(const struct buckets *b, uint32_t row)
{
	return &g_array_index(b->links, struct bucket_link, row);
}

static LT_COLD void add_heads(struct bucket_heads *h, uint32_t rows)
{
	rows = MAX(rows, 2 * h->rows);
	h->list = g_renew(struct bucket_head, h->list, (size_t)rows * h->n);
	memset(h->list + (size_t)h->rows * h->n, 0xff, (size_t)(rows - h->rows) * h->n * sizeof(*h->list)); /* NO_ROW */
	h->rows = rows;
}

static LT_COLD uint32_t make_row(struct model *m, enum table_id table, uint32_t row, unsigned cell, unsigned part)
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

static LT_COLD uint32_t add_row(struct model *m, enum table_id table, uint32_t row, unsigned cell, unsigned part)
{
	struct bucket_heads *h = &m->buckets->heads[table];
	struct bucket_head *head;
	uint32_t made;

	if (row >= h->rows)
		add_heads(h, row + 1);
	made = make_row(m, table, row, cell, part);
	head = &h->list[(size_t)row * h->n + h->number[cell]];
	*link_of(m->buckets, made) = (struct bucket_link){ head->first, part };
	*head = (struct bucket_head){ made, part };
	return made;
}

/* Looks behind the first one, and moves what it finds to the front. */
static uint32_t find_link(struct buckets *b, struct bucket_head *head, unsigned part)
{
	uint32_t before = head->first, at = link_of(b, before)->next;

	while (at != NO_ROW && link_of(b, at)->part != part) {
		before = at;
		at = link_of(b, at)->next;
	}
	if (at == NO_ROW)
		return NO_ROW;
	link_of(b, before)->next = link_of(b, at)->next;
	link_of(b, at)->next = head->first;
	*head = (struct bucket_head){ at, part };
	return at;
}

/* NO_ROW: there is none yet. */
static inline uint32_t find_row(struct model *m, enum table_id table, uint32_t row, unsigned cell, unsigned part)
{
	const struct bucket_heads *h = &m->buckets->heads[table];
	struct bucket_head *head;

	if (row >= h->rows)
		return NO_ROW;
	head = &h->list[(size_t)row * h->n + h->number[cell]];
	if (head->first == NO_ROW || head->part == part)
		return head->first;
	return find_link(m->buckets, head, part);
}

uint32_t buckets_row(struct model *m, enum table_id table, uint32_t row, unsigned cell, unsigned part)
{
	const uint32_t at = find_row(m, table, row, cell, part);

	return at == NO_ROW ? add_row(m, table, row, cell, part) : at;
}

void buckets_count(struct model *m, enum table_id table, uint32_t row, unsigned cell, uint64_t value)
{
	const unsigned bucket = bucket_of(value), part = bucket / BUCKETS_IN_ROW;
	uint32_t at = find_row(m, table, row, cell, part);

	if (at == NO_ROW)
		at = add_row(m, table, row, cell, part);
	(&STATE_ROW(&m->state, BUCKET, bucket, at)->first)[bucket % BUCKETS_IN_ROW]++;
	state_touch(&m->state, TABLE_BUCKET, at);
}

/* ---- logging single values ---- */

void model_set_log(struct model *m, uint64_t dist, uint64_t min_ns)
{
	m->log_dist = dist;
	m->log_min_ns = min_ns;
}

void model_pass_log(struct model *m, model_logged_fn *logged, void *data)
{
	m->logged = logged;
	m->log_data = data;
}

/* wait: which of a thread's waits it is; NULL: it is something else. */
static void add_instance(struct model *m, const struct model_logged *value, const struct blocking_row *wait)
{
	const uint32_t row = state_add(&m->state, TABLE_INSTANCE);
	struct instance_row *r = STATE_ROW(&m->state, INSTANCE, instance, row);

	r->thread_uid = value->thread ? value->thread->uid : 0;
	r->begin_ns = value->begin_ns;
	r->length_ns = value->length_ns;
	r->cause = value->cause;
	r->fd = UINT64_MAX;
	if (wait) {
		r->syscall = wait->syscall;
		r->fd = wait->fd;
		r->object = wait->object;
	}
	state_end(&m->state, TABLE_INSTANCE, row);
}

void model_log_instance(struct model *m, enum table_id table, uint32_t row, uint64_t value, uint32_t thread,
			strid cause)
{
	const struct model_logged logged = {
		.cells = state_cells(&m->state.tables[table], row),
		.thread = thread == NO_ROW ? NULL : THREAD_ROW(m, thread),
		.begin_ns = m->now_ns - value,
		.length_ns = value,
		.cause = cause,
	};

	if (value < m->log_min_ns)
		return;
	if (m->logged)
		m->logged(m->log_data, &logged);
	else
		add_instance(m, &logged,
			     table == TABLE_BLOCKING ? STATE_ROW(&m->state, BLOCKING, blocking, row) : NULL);
}

void buckets_end(struct model *m, enum table_id table, uint32_t row)
{
	struct bucket_heads *h = &m->buckets->heads[table];
	struct bucket_head *head;

	if (row >= h->rows)
		return;
	head = &h->list[(size_t)row * h->n];
	for (unsigned i = 0; i < h->n; i++, head++) {
		for (uint32_t at = head->first; at != NO_ROW; at = link_of(m->buckets, at)->next)
			state_end(&m->state, TABLE_BUCKET, at);
		head->first = NO_ROW;
	}
}
