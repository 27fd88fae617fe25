/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/interval.h"

#include <string.h>

#include "model/keep.h"

struct ended_row {
	const uint64_t *a;
	uint64_t *b;
};

void interval_init(struct interval *iv)
{
	memset(iv, 0, sizeof(*iv));
	state_init(&iv->a);
	for (int i = 0; i < TABLES; i++)
		iv->tables[i].ended = g_array_new(FALSE, FALSE, sizeof(struct ended_row));
}

/* The cells of ended rows are copies. */
static void free_ended(struct interval_table *t)
{
	for (guint i = 0; i < t->ended->len; i++)
		g_free(g_array_index(t->ended, struct ended_row, i).b);
	g_array_set_size(t->ended, 0);
}

void interval_release(struct interval *iv)
{
	for (int i = 0; i < TABLES; i++) {
		free_ended(&iv->tables[i]);
		g_array_free(iv->tables[i].ended, TRUE);
		g_free(iv->tables[i].rows);
		map64_release(&iv->tables[i].by_uid);
	}
	state_release(&iv->a);
}

void interval_begin(struct interval *iv, struct host_state *s, uint64_t begin_ns, uint32_t tables_mask)
{
	iv->begin_ns = begin_ns;
	iv->end_ns = begin_ns;
	iv->tables_mask = tables_mask;
	for (int i = 0; i < TABLES; i++) {
		free_ended(&iv->tables[i]);
		iv->tables[i].n_rows = 0;
		map64_clear(&iv->tables[i].by_uid);
	}
	state_extremes_clear(s);
	state_copy(&iv->a, s, tables_mask);
}

/* The cells that the row with this number and uid had at the start of the interval. */
static const uint64_t *cells_at_begin(const struct interval *iv, enum table_id table, uint32_t row, uint64_t uid)
{
	const struct state_table *t = &iv->a.tables[table];
	const uint64_t *cells;

	if (!state_alive(t, row))
		return NULL;
	cells = state_cells(t, row);
	return cells[0] == uid ? cells : NULL;
}

void interval_retire(void *data, enum table_id table, uint32_t row, const uint64_t *cells)
{
	struct interval *iv = data;
	struct ended_row ended;

	if (!(iv->tables_mask >> table & 1))
		return;
	ended.b = g_memdup2(cells, table_descs[table].n_cells * sizeof(*cells));
	ended.a = cells_at_begin(iv, table, row, cells[0]);
	g_array_append_val(iv->tables[table].ended, ended);
}

uint32_t interval_ended(const struct interval *iv, enum table_id table)
{
	return iv->tables[table].ended->len;
}

size_t interval_ended_bytes(const struct interval *iv, size_t more)
{
	size_t bytes = 0;

	for (int i = 0; i < TABLES; i++)
		bytes += iv->tables[i].ended->len * (table_descs[i].n_cells * sizeof(uint64_t) + more);
	return bytes;
}

void interval_take_ended(struct interval *iv, enum table_id table, interval_take_fn *fn, void *data)
{
	GArray *ended = iv->tables[table].ended;
	guint n = 0;

	for (guint i = 0; i < ended->len; i++) {
		struct ended_row e = g_array_index(ended, struct ended_row, i);

		if (fn(data, i, e.a, e.b))
			g_free(e.b);
		else
			g_array_index(ended, struct ended_row, n++) = e;
	}
	g_array_set_size(ended, n);
}

/* Whether it is a thread that had ended before the interval, and was charged nothing in it (model/dirty.h). */
static bool is_past(const struct interval *iv, enum table_id table, const struct interval_row *row)
{
	if (table != TABLE_THREAD || !row->a || row->a[CELL(thread, state)] != THREAD_DEAD)
		return false;
	return row->b[CELL(thread, state)] == THREAD_DEAD && !interval_row_active(iv, table, row);
}

static void add_row(struct interval *iv, enum table_id table, const uint64_t *a, const uint64_t *b)
{
	struct interval_table *t = &iv->tables[table];
	const struct interval_row row = { a, b };

	if (!is_past(iv, table, &row))
		t->rows[t->n_rows++] = row;
}

static void end_table(struct interval *iv, enum table_id table, const struct state_table *s)
{
	struct interval_table *t = &iv->tables[table];

	t->rows = g_renew(struct interval_row, t->rows, t->ended->len + s->n_alive);
	t->n_rows = 0;
	map64_clear(&t->by_uid);
	for (guint i = 0; i < t->ended->len; i++) {
		const struct ended_row *e = &g_array_index(t->ended, struct ended_row, i);

		add_row(iv, table, e->a, e->b);
	}
	for (uint32_t row = STATE_NO_ROW; (row = state_next(s, row)) != STATE_NO_ROW;) {
		const uint64_t *cells = state_cells(s, row);

		add_row(iv, table, cells_at_begin(iv, table, row, cells[0]), cells);
	}
	for (uint32_t i = 0; i < t->n_rows; i++)
		map64_put(&t->by_uid, t->rows[i].b[0], i);
}

void interval_end(struct interval *iv, const struct host_state *s, uint64_t end_ns)
{
	iv->end_ns = end_ns;
	for (int i = 0; i < TABLES; i++)
		if (iv->tables_mask >> i & 1)
			end_table(iv, i, &s->tables[i]);
}

uint64_t interval_value(const struct interval *iv, enum table_id table, const struct interval_row *row, unsigned cell)
{
	const struct cell_desc *cells = table_descs[table].cells;
	uint64_t a, b;

	switch (cells[cell].kind) {
	case CELL_COUNTER:
	case CELL_ACCRUAL:
		a = row->a ? cell_value(cells, row->a, cell, iv->begin_ns) : 0;
		b = cell_value(cells, row->b, cell, iv->end_ns);
		return b > a ? b - a : 0;
	default:
		return row->b[cell];
	}
}

uint64_t interval_recorded_ns(const struct interval *iv)
{
	const struct interval_table *t = &iv->tables[TABLE_HOST];
	uint64_t recorded_ns = iv->end_ns - iv->begin_ns;

	for (uint32_t i = 0; i < t->n_rows; i++)
		recorded_ns -= MIN(INTERVAL_VALUE(iv, HOST, host, &t->rows[i], unrecorded_ns), recorded_ns);
	return recorded_ns;
}

unsigned __int128 interval_square(const struct interval *iv, enum table_id table, const struct interval_row *row,
				  unsigned cell)
{
	unsigned __int128 b = (unsigned __int128)row->b[cell + 1] << 64 | row->b[cell];

	(void)iv;
	(void)table;
	if (row->a)
		b -= (unsigned __int128)row->a[cell + 1] << 64 | row->a[cell];
	return b;
}

const struct interval_row *interval_find(const struct interval *iv, enum table_id table, uint64_t uid)
{
	uint32_t i = map64_get(&iv->tables[table].by_uid, uid);

	return i == MAP64_NONE ? NULL : &iv->tables[table].rows[i];
}

bool interval_row_active(const struct interval *iv, enum table_id table, const struct interval_row *row)
{
	const struct table_desc *desc = &table_descs[table];

	for (unsigned i = 1; i < desc->n_cells; i++)
		if ((desc->cells[i].kind == CELL_COUNTER || desc->cells[i].kind == CELL_ACCRUAL) &&
		    interval_value(iv, table, row, i))
			return true;
	return false;
}

void interval_keep_paths(const struct interval *iv)
{
	state_keep_paths(&iv->a);
	for (int i = 0; i < TABLES; i++)
		for (guint k = 0; k < iv->tables[i].ended->len; k++)
			row_keep_paths((enum table_id)i, g_array_index(iv->tables[i].ended, struct ended_row, k).b);
}
