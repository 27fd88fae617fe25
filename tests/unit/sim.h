/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulator in place of the model: it creates, changes and ends rows at random and keeps a full copy of every frame.
 * Whatever the history returns for an interval must agree with these copies.
 */
#ifndef LT_SIM_H
#define LT_SIM_H

#include <glib.h>
#include <string.h>

#include "history/history.h"
#include "history/internal.h"
#include "unit.h"

enum { SECOND = 1000000000 };
#define ORIGIN_NS UINT64_C(1700000000000000000)

struct seen_row {
	uint32_t row;
	bool ended;
	uint64_t cells[]; /* extremes: in that frame */
};

struct sim {
	struct host_state state;
	uint64_t rng;
	uint64_t now_ns;
	unsigned churn;  /* rows created and ended per table and frame, in 1/16 */
	unsigned rows;   /* about this many per table */
	unsigned tables; /* 1 << enum table_id: tables with rows */
	GArray *edges;   /* uint64_t */
	GPtrArray *seen; /* per frame a GHashTable *[TABLES]: uid -> struct seen_row; seen[0] is the first edge */
};

static inline uint64_t sim_random(struct sim *sim, uint64_t below)
{
	sim->rng ^= sim->rng << 13;
	sim->rng ^= sim->rng >> 7;
	sim->rng ^= sim->rng << 17;
	return sim->rng % below;
}

static inline void table_set_free(void *data)
{
	GHashTable **tables = data;

	for (int i = 0; i < TABLES; i++)
		if (tables[i])
			g_hash_table_destroy(tables[i]);
	g_free(tables);
}

static inline void sim_record(struct sim *sim)
{
	GHashTable **tables = g_new0(GHashTable *, TABLES);

	for (int i = 0; i < TABLES; i++) {
		const struct state_table *t = &sim->state.tables[i];

		if (!(sim->tables >> i & 1))
			continue;
		tables[i] = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
		for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;) {
			size_t size = t->desc->n_cells * sizeof(uint64_t);
			struct seen_row *seen = g_malloc(sizeof(*seen) + size);

			seen->row = row;
			seen->ended = t->flags[row] & ROW_ENDED;
			memcpy(seen->cells, state_cells(t, row), size);
			g_hash_table_insert(tables[i], &seen->cells[0], seen);
		}
	}
	g_ptr_array_add(sim->seen, tables);
	g_array_append_val(sim->edges, sim->now_ns);
}

static inline void sim_init(struct sim *sim, uint64_t seed)
{
	*sim = (struct sim){ .rng = seed,
			     .now_ns = ORIGIN_NS,
			     .churn = 32,
			     .rows = 20,
			     /* instances are only logged for reports */
			     .tables = STATE_ALL_TABLES & ~(1u << TABLE_INSTANCE) };
	state_init(&sim->state);
	sim->edges = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	sim->seen = g_ptr_array_new_with_free_func(table_set_free);
}

static inline void sim_release(struct sim *sim)
{
	state_release(&sim->state);
	g_array_free(sim->edges, TRUE);
	g_ptr_array_free(sim->seen, TRUE);
}

static inline uint64_t sim_edge(const struct sim *sim, unsigned i)
{
	return g_array_index(sim->edges, uint64_t, i);
}

/* A number of random size, small ones being more frequent. */
static inline uint64_t any_size(struct sim *sim)
{
	uint64_t any = sim_random(sim, UINT64_MAX);

	return any >> sim_random(sim, 64);
}

static inline bool is_dist(const struct table_desc *desc, unsigned cell)
{
	return cell + 6 < desc->n_cells && desc->cells[cell].kind == CELL_COUNTER &&
	       desc->cells[cell + 2].kind == CELL_SQ_LO;
}

static inline void sim_change_cell(struct sim *sim, const struct table_desc *desc, uint64_t *cells, unsigned i,
				   uint64_t at_ns)
{
	if (is_dist(desc, i)) {
		for (uint64_t n = 1 + sim_random(sim, 3); n; n--)
			dist_add((struct dist *)(void *)(cells + i), sim_random(sim, 3) ? sim_random(sim, SECOND) : 0,
				 at_ns);
		return;
	}
	switch (desc->cells[i].kind) {
	case CELL_GAUGE:
		if (desc->cells[i].type == TYPE_TIME)
			cells[i] = sim_random(sim, 4) ? at_ns : 0;
		else
			cells[i] = sim_random(sim, 8) ? any_size(sim) : UINT64_MAX;
		break;
	case CELL_COUNTER:
		if (!(i >= 1 && is_dist(desc, i - 1)))
			cells[i] += any_size(sim) >> 8;
		break;
	case CELL_ACCRUAL:
		cells[i] += sim_random(sim, SECOND);
		break;
	case CELL_MAX:
		if (desc->cells[i - 1].kind != CELL_MIN)
			cells[i] = MAX(cells[i], any_size(sim));
		break;
	default:
		break;
	}
}

static inline void sim_change_row(struct sim *sim, enum table_id table, uint32_t row, uint64_t begin_ns,
				  uint64_t end_ns)
{
	const struct table_desc *desc = &table_descs[table];
	uint64_t *cells = state_cells(&sim->state.tables[table], row);
	uint64_t at_ns = begin_ns + sim_random(sim, end_ns - begin_ns);

	state_touch(&sim->state, table, row);
	for (uint64_t n = sim_random(sim, 6); n; n--)
		sim_change_cell(sim, desc, cells, 1 + sim_random(sim, desc->n_cells - 1), at_ns);
	/* like the model: time in the old state is credited when the state changes */
	if (table == TABLE_THREAD && sim_random(sim, 2)) {
		struct thread_row *t = STATE_ROW(&sim->state, THREAD, thread, row);

		t->state = sim_random(sim, THREAD_STATES);
		if (at_ns >= t->since_ns && t->since_ns) {
			uint64_t cpu_ns = sim_random(sim, at_ns - t->since_ns + 1);

			t->cpu_ns += cpu_ns;
			t->blocked_ns += at_ns - t->since_ns - cpu_ns;
		}
		t->since_ns = at_ns;
	}
}

/* Ends the row: nothing in it grows any more. */
static inline void sim_end_row(struct sim *sim, enum table_id table, uint32_t row)
{
	if (table == TABLE_THREAD) {
		STATE_ROW(&sim->state, THREAD, thread, row)->state = THREAD_DEAD;
		STATE_ROW(&sim->state, THREAD, thread, row)->mode = MODE_USER;
	}
	if (table == TABLE_CPU) {
		STATE_ROW(&sim->state, CPU, cpu, row)->state = CPU_OFFLINE;
		STATE_ROW(&sim->state, CPU, cpu, row)->irq_state = CPU_IRQ_NONE;
	}
	state_end(&sim->state, table, row);
}

static inline void sim_play(struct sim *sim, uint64_t end_ns)
{
	for (int i = 0; i < TABLES; i++) {
		struct state_table *t = &sim->state.tables[i];

		if (!(sim->tables >> i & 1))
			continue;
		for (uint64_t n = sim_random(sim, 2 * sim->churn / 16 + 1); n; n--) {
			uint32_t row = state_add(&sim->state, i);
			uint64_t *cells = state_cells(t, row);

			for (unsigned k = 1; k < t->desc->n_cells; k++)
				if (t->desc->cells[k].kind == CELL_KEY)
					cells[k] = any_size(sim);
			if (sim_random(sim, 2))
				sim_change_row(sim, i, row, sim->now_ns, end_ns);
			if (sim_random(sim, 3) == 0)
				sim_end_row(sim, i, row);
		}
		for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;) {
			if (sim_random(sim, 100) < 15 && !(t->flags[row] & ROW_ENDED))
				sim_change_row(sim, i, row, sim->now_ns, end_ns);
			if (sim_random(sim, sim->rows * 16) < sim->churn * t->n_alive / (2 * sim->rows) &&
			    !(t->flags[row] & ROW_ENDED))
				sim_end_row(sim, i, row);
		}
	}
	sim->now_ns = end_ns;
}

static inline void sim_next_frame(struct sim *sim)
{
	state_extremes_clear_dirty(&sim->state);
	state_reap(&sim->state, NULL, NULL);
	state_frame_begin(&sim->state);
}

/* Adds a frame to the history and to the copies. */
static inline void sim_frame(struct sim *sim, struct history *h, unsigned track, uint64_t len_ns)
{
	uint64_t begin_ns = sim->now_ns;

	if (!sim->edges->len)
		sim_record(sim);
	sim_play(sim, begin_ns + len_ns);
	history_append(h, track, &sim->state, begin_ns, sim->now_ns);
	sim_record(sim);
	sim_next_frame(sim);
}

/* ---- the interval from the copies ---- */

struct expected {
	const uint64_t *a;
	uint64_t b[CELLS_MAX];
	bool ended;
	uint32_t row;
	bool found;
};

static inline void merge_seen(const struct table_desc *desc, struct expected *e, const uint64_t *cells, bool first)
{
	for (unsigned i = 0; i < desc->n_cells; i++) {
		enum cell_kind kind = desc->cells[i].kind;

		if (kind == CELL_MIN) {
			e->b[i] = first ? cells[i] : MIN(e->b[i], cells[i]);
		} else if (kind == CELL_MAX) {
			bool at = i + 1 < desc->n_cells && desc->cells[i + 1].kind == CELL_MAX_AT;

			if (at && (first || cells[i] > e->b[i] || (cells[i] == e->b[i] && cells[i + 1])))
				e->b[i + 1] = cells[i + 1];
			e->b[i] = first ? cells[i] : MAX(e->b[i], cells[i]);
		} else if (kind != CELL_MAX_AT) {
			e->b[i] = cells[i];
		}
	}
}

static inline GHashTable *sim_expect(const struct sim *sim, enum table_id table, unsigned first, unsigned last)
{
	GHashTable *rows = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	GHashTable **begin = g_ptr_array_index(sim->seen, first);

	for (unsigned k = first + 1; k <= last; k++) {
		GHashTable **tables = g_ptr_array_index(sim->seen, k);
		struct seen_row *seen;
		GHashTableIter it;

		g_hash_table_iter_init(&it, tables[table]);
		while (g_hash_table_iter_next(&it, NULL, (void **)&seen)) {
			struct expected *e = g_hash_table_lookup(rows, seen->cells);
			bool new = !e;

			if (new) {
				struct seen_row *a = g_hash_table_lookup(begin[table], seen->cells);

				e = g_new0(struct expected, 1);
				e->a = a ? a->cells : NULL;
				e->row = seen->row;
			}
			merge_seen(&table_descs[table], e, seen->cells, new);
			e->ended = seen->ended;
			if (new)
				g_hash_table_insert(rows, &e->b[0], e);
		}
	}
	return rows;
}

static inline bool is_extreme(enum cell_kind kind)
{
	return kind == CELL_MIN || kind == CELL_MAX || kind == CELL_MAX_AT;
}

static inline bool counted_nothing(const struct table_desc *desc, const uint64_t *cells)
{
	for (unsigned i = 0; i < desc->n_cells; i++)
		if ((desc->cells[i].kind == CELL_COUNTER || desc->cells[i].kind == CELL_ACCRUAL) && cells[i])
			return false;
	return true;
}

/* It ended before the interval and was charged nothing: the interval may lack it. */
static inline bool is_past(const struct table_desc *desc, const struct expected *e)
{
	const unsigned state = CELL(thread, state);

	if (desc != &table_descs[TABLE_THREAD] || !e->a || e->a[state] != THREAD_DEAD || e->b[state] != THREAD_DEAD)
		return false;
	for (unsigned i = 0; i < desc->n_cells; i++)
		if (desc->cells[i].kind == CELL_COUNTER && e->a[i] != e->b[i])
			return false;
	return true;
}

static inline void assert_same_rows(const struct sim *sim, enum table_id table, unsigned first, unsigned last,
				    const struct history_load *load)
{
	GHashTable *rows = sim_expect(sim, table, first, last);
	const struct interval_table *it = &load->interval.tables[table];
	const struct table_desc *desc = &table_descs[table];
	const struct state_table *end = &load->end.tables[table];
	uint32_t alive = 0;
	GHashTableIter iter;
	struct expected *e;

	for (uint32_t i = 0; i < it->n_rows; i++) {
		const struct interval_row *r = &it->rows[i];

		e = g_hash_table_lookup(rows, r->b);
		ck_assert_ptr_nonnull(e);
		ck_assert(!e->found);
		e->found = true;
		ck_assert_ptr_eq(interval_find(&load->interval, table, r->b[0]), r);
		ck_assert_msg(!e->a == !r->a, "%s %lu", desc->name, r->b[0]);
		for (unsigned k = 0; k < desc->n_cells; k++) {
			ck_assert_msg(r->b[k] == e->b[k], "%s.%s of row %u frames %u-%u is %lu not %lu", desc->name,
				      desc->cells[k].name, e->row, first, last, r->b[k], e->b[k]);
			if (r->a && !is_extreme(desc->cells[k].kind))
				ck_assert_uint_eq(r->a[k], e->a[k]);
		}
		if (!e->ended) {
			alive++;
			ck_assert(state_alive(end, e->row));
			ck_assert_ptr_eq(state_cells(end, e->row), r->b);
		}
	}
	g_hash_table_iter_init(&iter, rows);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&e)) {
		ck_assert(e->found || is_past(desc, e) || (!e->a && e->ended && counted_nothing(desc, e->b)));
		alive += !e->found && !e->ended;
	}
	ck_assert_uint_eq(alive, end->n_alive);
	g_hash_table_destroy(rows);
}

static inline void assert_load(const struct sim *sim, const struct history *h, unsigned track, unsigned first,
			       unsigned last, struct history_load *load)
{
	uint64_t begin_ns = sim_edge(sim, first), end_ns = sim_edge(sim, last);

	ck_assert_int_eq(history_load(h, track, begin_ns, end_ns, STATE_ALL_TABLES, load), LT_OK);
	ck_assert_uint_eq(load->interval.begin_ns, begin_ns);
	ck_assert_uint_eq(load->interval.end_ns, end_ns);
	for (int i = 0; i < TABLES; i++)
		if (sim->tables >> i & 1)
			assert_same_rows(sim, i, first, last, load);
}

/* The recorded edges that the history still has; each of its edges must be a recorded one. */
static inline GArray *remaining_edges(const struct sim *sim, const struct history *h, unsigned track)
{
	GArray *numbers = g_array_new(FALSE, FALSE, sizeof(unsigned));
	uint64_t begin_ns, end_ns, t;
	unsigned i = 0;

	ck_assert(history_range(h, track, &begin_ns, &end_ns));
	for (t = begin_ns;; t = history_edge_ceil(h, track, t + 1)) {
		while (i < sim->edges->len && sim_edge(sim, i) < t)
			i++;
		ck_assert_uint_eq(sim_edge(sim, i), t);
		ck_assert_uint_eq(history_edge_floor(h, track, t), t);
		ck_assert_uint_eq(history_edge_ceil(h, track, t), t);
		g_array_append_val(numbers, i);
		if (t == end_ns)
			break;
		ck_assert_uint_eq(history_edge_floor(h, track, t + 1), t);
	}
	ck_assert_uint_eq(history_frames(h, track) + 1, numbers->len);
	return numbers;
}

static inline void assert_random_loads(struct sim *sim, const struct history *h, unsigned track, unsigned n)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	n = (n + 4) / 5; /* all of them are checked without sanitizers, ten times as fast */
#endif
	GArray *edges = remaining_edges(sim, h, track);
	struct history_load load;

	history_load_init(&load);
	for (; n; n--) {
		unsigned first = sim_random(sim, edges->len - 1);
		unsigned last =
			first + 1 +
			sim_random(sim, sim_random(sim, 4) ? MIN(3, edges->len - 1 - first) : edges->len - 1 - first);

		assert_load(sim, h, track, g_array_index(edges, unsigned, first), g_array_index(edges, unsigned, last),
			    &load);
	}
	history_load_release(&load);
	g_array_free(edges, TRUE);
}

/* Whatever was merged, each remaining frame must contain exactly what was appended for its time. */
static inline void assert_every_frame(struct sim *sim, const struct history *h, unsigned track)
{
	GArray *edges = remaining_edges(sim, h, track);
	struct history_load load;

	history_load_init(&load);
	for (unsigned i = 1; i < edges->len; i++)
		assert_load(sim, h, track, g_array_index(edges, unsigned, i - 1), g_array_index(edges, unsigned, i),
			    &load);
	history_load_release(&load);
	g_array_free(edges, TRUE);
}

#endif
