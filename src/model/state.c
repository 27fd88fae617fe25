/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/state.h"

#include <glib.h>
#include <string.h>

void state_init(struct host_state *s)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < TABLES; i++) {
		const struct table_desc *desc = &table_descs[i];

		s->tables[i].desc = desc;
		for (unsigned c = 0; c < desc->n_cells; c++)
			s->tables[i].minima |= (uint64_t)(desc->cells[c].kind == CELL_MIN) << c;
	}
}

static void table_release(struct state_table *t)
{
	for (uint32_t i = 0; i < t->capacity / STATE_CHUNK_ROWS; i++)
		g_free(t->chunks[i]);
	g_free(t->chunks);
	g_free(t->flags);
	g_free(t->free);
	g_free(t->dirty);
	g_free(t->ended);
}

void state_release(struct host_state *s)
{
	for (int i = 0; i < TABLES; i++)
		table_release(&s->tables[i]);
	state_init(s);
}

/* Makes room for at least n rows. */
static void table_reserve(struct state_table *t, uint32_t n)
{
	uint32_t old = t->capacity, wanted = MAX(2 * old, STATE_CHUNK_ROWS);

	if (n <= old)
		return;
	while (wanted < n)
		wanted *= 2;
	t->chunks = g_renew(uint64_t *, t->chunks, wanted / STATE_CHUNK_ROWS);
	for (uint32_t i = old / STATE_CHUNK_ROWS; i < wanted / STATE_CHUNK_ROWS; i++)
		t->chunks[i] = g_new(uint64_t, (size_t)STATE_CHUNK_ROWS * t->desc->n_cells);
	t->flags = g_renew(uint8_t, t->flags, wanted);
	memset(t->flags + old, 0, wanted - old);
	t->free = g_renew(uint32_t, t->free, wanted);
	t->dirty = g_renew(uint32_t, t->dirty, wanted);
	t->ended = g_renew(uint32_t, t->ended, wanted);
	t->capacity = wanted;
}

/* The cells of a table that start over with each interval. */
struct extremes {
	unsigned n;
	struct {
		uint8_t cell;
		uint64_t empty;
	} list[CELLS_MAX];
};

static void find_extremes(struct extremes *e, const struct table_desc *desc)
{
	e->n = 0;
	for (unsigned i = 0; i < desc->n_cells; i++) {
		uint8_t kind = desc->cells[i].kind;

		if (kind != CELL_MIN && kind != CELL_MAX && kind != CELL_MAX_AT)
			continue;
		e->list[e->n].cell = i;
		e->list[e->n++].empty = kind == CELL_MIN ? UINT64_MAX : 0;
	}
}

static void clear_extremes(const struct extremes *e, uint64_t *cells)
{
	for (unsigned i = 0; i < e->n; i++)
		cells[e->list[i].cell] = e->list[i].empty;
}

static size_t row_size(const struct state_table *t)
{
	return t->desc->n_cells * sizeof(uint64_t);
}

static void row_init(struct state_table *t, uint32_t row, uint64_t uid)
{
	uint64_t *cells = state_cells(t, row);

	memset(cells, 0, t->desc->n_cells * sizeof(*cells));
	for (uint64_t m = t->minima; m; m &= m - 1)
		cells[__builtin_ctzll(m)] = UINT64_MAX;
	cells[0] = uid;
	if (!(t->flags[row] & ROW_DIRTY))
		t->dirty[t->n_dirty++] = row;
	t->flags[row] = ROW_ALIVE | ROW_NEW | ROW_DIRTY;
	t->n_alive++;
}

uint32_t state_add(struct host_state *s, enum table_id table)
{
	struct state_table *t = &s->tables[table];
	uint32_t row;

	if (t->n_free) {
		row = t->free[--t->n_free];
	} else {
		row = t->n_rows++;
		table_reserve(t, t->n_rows);
	}
	s->bytes += row_size(t);
	row_init(t, row, ++t->last_uid);
	return row;
}

void state_add_at(struct host_state *s, enum table_id table, uint32_t row, uint64_t uid)
{
	struct state_table *t = &s->tables[table];

	if (row >= t->n_rows) {
		t->n_rows = row + 1;
		table_reserve(t, t->n_rows);
	}
	g_assert(!(t->flags[row] & ROW_ALIVE));
	t->placed = true;
	row_init(t, row, uid);
	t->last_uid = MAX(t->last_uid, uid);
}

void state_remove_at(struct host_state *s, enum table_id table, uint32_t row)
{
	struct state_table *t = &s->tables[table];

	g_assert(t->placed && state_alive(t, row) && !(t->flags[row] & ROW_ENDED));
	t->flags[row] &= ROW_DIRTY;
	t->n_alive--;
}

void state_mark(struct state_table *t, uint32_t row)
{
	t->flags[row] |= ROW_DIRTY;
	t->dirty[t->n_dirty++] = row;
}

void state_end(struct host_state *s, enum table_id table, uint32_t row)
{
	struct state_table *t = &s->tables[table];

	g_assert(state_alive(t, row));
	if (t->flags[row] & ROW_ENDED)
		return;
	state_touch(s, table, row);
	t->flags[row] |= ROW_ENDED;
	t->ended[t->n_ended++] = row;
}

void state_reap(struct host_state *s, state_retire_fn *retire, void *data)
{
	for (int i = 0; i < TABLES; i++) {
		struct state_table *t = &s->tables[i];

		for (uint32_t k = 0; k < t->n_ended; k++)
			if (retire)
				retire(data, i, t->ended[k], state_cells(t, t->ended[k]));
	}
	for (int i = 0; i < TABLES; i++) {
		struct state_table *t = &s->tables[i];

		for (uint32_t k = 0; k < t->n_ended; k++) {
			t->flags[t->ended[k]] &= ROW_DIRTY;
			if (!t->placed)
				t->free[t->n_free++] = t->ended[k];
		}
		if (!t->placed)
			s->bytes -= t->n_ended * row_size(t);
		t->n_alive -= t->n_ended;
		t->n_ended = 0;
	}
}

void state_reap_new(struct host_state *s, enum table_id table, state_fold_fn *fold, void *data)
{
	struct state_table *t = &s->tables[table];
	uint32_t n = 0;

	for (uint32_t k = 0; k < t->n_ended; k++) {
		uint32_t row = t->ended[k];

		if (!(t->flags[row] & ROW_NEW)) {
			t->ended[n++] = row;
			continue;
		}
		fold(data, table, state_cells(t, row));
		t->flags[row] &= ROW_DIRTY;
		t->free[t->n_free++] = row;
		t->n_alive--;
		s->bytes -= row_size(t);
	}
	t->n_ended = n;
}

void state_frame_begin(struct host_state *s)
{
	for (int i = 0; i < TABLES; i++) {
		struct state_table *t = &s->tables[i];

		g_assert(t->n_ended == 0);
		for (uint32_t k = 0; k < t->n_dirty; k++)
			t->flags[t->dirty[k]] &= ROW_ALIVE;
		t->n_dirty = 0;
	}
}

void state_extremes_clear(struct host_state *s)
{
	for (int i = 0; i < TABLES; i++) {
		struct state_table *t = &s->tables[i];
		struct extremes e;

		find_extremes(&e, t->desc);
		if (!e.n)
			continue;
		for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;)
			clear_extremes(&e, state_cells(t, row));
	}
}

void state_extremes_clear_dirty(struct host_state *s)
{
	for (int i = 0; i < TABLES; i++) {
		struct state_table *t = &s->tables[i];
		struct extremes e;

		find_extremes(&e, t->desc);
		if (!e.n)
			continue;
		for (uint32_t k = 0; k < t->n_dirty; k++)
			clear_extremes(&e, state_cells(t, t->dirty[k]));
	}
}

static void table_copy(struct state_table *dst, const struct state_table *src)
{
	g_assert(src->n_ended == 0);
	table_reserve(dst, src->n_rows);
	for (uint32_t row = 0; row < src->n_rows; row += STATE_CHUNK_ROWS) {
		uint32_t n = MIN(STATE_CHUNK_ROWS, src->n_rows - row);

		memcpy(state_cells(dst, row), state_cells(src, row), (size_t)n * dst->desc->n_cells * 8);
	}
	for (uint32_t row = 0; row < src->n_rows; row++)
		dst->flags[row] = src->flags[row] & ROW_ALIVE;
	for (uint32_t row = src->n_rows; row < dst->n_rows; row++)
		dst->flags[row] = 0;
	if (src->n_free)
		memcpy(dst->free, src->free, src->n_free * sizeof(*dst->free));
	dst->n_free = src->n_free;
	dst->n_rows = src->n_rows;
	dst->n_alive = src->n_alive;
	dst->n_dirty = 0;
	dst->n_ended = 0;
	dst->placed = src->placed;
	dst->last_uid = src->last_uid;
}

void state_copy(struct host_state *dst, const struct host_state *src, uint32_t tables_mask)
{
	static const struct state_table empty;

	for (int i = 0; i < TABLES; i++)
		table_copy(&dst->tables[i], tables_mask >> i & 1 ? &src->tables[i] : &empty);
}

void state_copy_table(struct host_state *dst, const struct host_state *src, enum table_id table)
{
	table_copy(&dst->tables[table], &src->tables[table]);
}

void state_clear(struct host_state *s)
{
	state_copy(s, s, 0);
}

size_t state_bytes(const struct host_state *s)
{
	size_t bytes = sizeof(*s);

	for (int i = 0; i < TABLES; i++) {
		const struct state_table *t = &s->tables[i];
		size_t row = t->desc->n_cells * sizeof(uint64_t) + sizeof(*t->flags) + sizeof(*t->free) +
			     sizeof(*t->dirty) + sizeof(*t->ended);

		bytes += t->capacity * row + t->capacity / STATE_CHUNK_ROWS * sizeof(*t->chunks);
	}
	return bytes;
}

uint32_t state_next(const struct state_table *t, uint32_t row)
{
	for (row++; row < t->n_rows; row++)
		if (t->flags[row] & ROW_ALIVE)
			return row;
	return STATE_NO_ROW;
}
