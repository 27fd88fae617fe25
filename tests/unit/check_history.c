/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <string.h>

#include "history/history.h"
#include "history/internal.h"
#include "history/store.h"
#include "unit.h"

/*
 * A simulator plays the model: it makes, changes and ends rows at random, and
 * keeps a full copy of every frame. What the history gives back of any interval must
 * be what these copies say.
 */
enum { SECOND = 1000000000 };
#define ORIGIN_NS UINT64_C(1700000000000000000)

struct seen_row {
	uint32_t row;
	bool ended;
	uint64_t cells[]; /* extremes: of the one frame */
};

struct sim {
	struct host_state state;
	uint64_t rng;
	uint64_t now_ns;
	unsigned churn;     /* rows made and ended per table and frame, in 1/16 */
	unsigned rows;      /* about so many per table */
	unsigned tables;    /* 1 << enum table_id: those that have any */
	GArray *edges;      /* uint64_t */
	GPtrArray *seen;    /* per frame GHashTable *[TABLES]: uid -> struct seen_row; seen[0] is the first edge */
};

static uint64_t sim_random(struct sim *sim, uint64_t below)
{
	sim->rng ^= sim->rng << 13;
	sim->rng ^= sim->rng >> 7;
	sim->rng ^= sim->rng << 17;
	return sim->rng % below;
}

static void table_set_free(void *data)
{
	GHashTable **tables = data;

	for (int i = 0; i < TABLES; i++)
		if (tables[i])
			g_hash_table_destroy(tables[i]);
	g_free(tables);
}

static void sim_record(struct sim *sim)
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

static void sim_init(struct sim *sim, uint64_t seed)
{
	*sim = (struct sim){ .rng = seed, .now_ns = ORIGIN_NS, .churn = 32, .rows = 20,
			      .tables = STATE_ALL_TABLES };
	state_init(&sim->state);
	sim->edges = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	sim->seen = g_ptr_array_new_with_free_func(table_set_free);
}

static void sim_release(struct sim *sim)
{
	state_release(&sim->state);
	g_array_free(sim->edges, TRUE);
	g_ptr_array_free(sim->seen, TRUE);
}

static uint64_t sim_edge(const struct sim *sim, unsigned i)
{
	return g_array_index(sim->edges, uint64_t, i);
}

/* A number of any size, small ones more often. */
static uint64_t any_size(struct sim *sim)
{
	uint64_t any = sim_random(sim, UINT64_MAX);

	return any >> sim_random(sim, 64);
}

static bool is_dist(const struct table_desc *desc, unsigned cell)
{
	return cell + 6 < desc->n_cells && desc->cells[cell].kind == CELL_COUNTER &&
	       desc->cells[cell + 2].kind == CELL_SQ_LO;
}

static void sim_change_cell(struct sim *sim, const struct table_desc *desc, uint64_t *cells, unsigned i, uint64_t at_ns)
{
	if (is_dist(desc, i)) {
		for (uint64_t n = 1 + sim_random(sim, 3); n; n--)
			dist_add((struct dist *)(void *)(cells + i),
				 sim_random(sim, 3) ? sim_random(sim, SECOND) : 0, at_ns);
		return;
	}
	switch (desc->cells[i].kind) {
	case CELL_GAUGE:
	case CELL_STRING:
		cells[i] = sim_random(sim, 8) ? any_size(sim) : UINT64_MAX;
		break;
	case CELL_TIME:
		cells[i] = sim_random(sim, 4) ? at_ns : 0;
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

static void sim_change_row(struct sim *sim, enum table_id table, uint32_t row, uint64_t begin_ns, uint64_t end_ns)
{
	const struct table_desc *desc = &table_descs[table];
	uint64_t *cells = state_cells(&sim->state.tables[table], row);
	uint64_t at_ns = begin_ns + sim_random(sim, end_ns - begin_ns);

	state_touch(&sim->state, table, row);
	for (uint64_t n = sim_random(sim, 6); n; n--)
		sim_change_cell(sim, desc, cells, 1 + sim_random(sim, desc->n_cells - 1), at_ns);
	/* what a model does: time in the old state is credited as the state changes */
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

/* It ends: nothing of it grows any more. */
static void sim_end_row(struct sim *sim, enum table_id table, uint32_t row)
{
	if (table == TABLE_THREAD)
		STATE_ROW(&sim->state, THREAD, thread, row)->state = THREAD_DEAD;
	if (table == TABLE_CPU) {
		STATE_ROW(&sim->state, CPU, cpu, row)->state = CPU_OFFLINE;
		STATE_ROW(&sim->state, CPU, cpu, row)->irq_state = CPU_IRQ_NONE;
	}
	state_end(&sim->state, table, row);
}

static void sim_play(struct sim *sim, uint64_t end_ns)
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

static void sim_next_frame(struct sim *sim)
{
	state_extremes_clear_dirty(&sim->state);
	state_reap(&sim->state, NULL, NULL);
	state_frame_begin(&sim->state);
}

/* One more frame, into the history and into the copies. */
static void sim_frame(struct sim *sim, struct history *h, unsigned track, uint64_t len_ns)
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

static void merge_seen(const struct table_desc *desc, struct expected *e, const uint64_t *cells, bool first)
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

static GHashTable *sim_expect(const struct sim *sim, enum table_id table, unsigned first, unsigned last)
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

static bool is_extreme(enum cell_kind kind)
{
	return kind == CELL_MIN || kind == CELL_MAX || kind == CELL_MAX_AT;
}

static bool counted_nothing(const struct table_desc *desc, const uint64_t *cells)
{
	for (unsigned i = 0; i < desc->n_cells; i++)
		if ((desc->cells[i].kind == CELL_COUNTER || desc->cells[i].kind == CELL_ACCRUAL) && cells[i])
			return false;
	return true;
}

static void assert_same_rows(const struct sim *sim, enum table_id table, unsigned first, unsigned last,
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
	ck_assert_uint_eq(alive, end->n_alive);
	g_hash_table_iter_init(&iter, rows);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&e))
		ck_assert(e->found || (!e->a && e->ended && counted_nothing(desc, e->b)));
	g_hash_table_destroy(rows);
}

static void assert_load(const struct sim *sim, const struct history *h, unsigned track, unsigned first, unsigned last,
			struct history_load *load)
{
	uint64_t begin_ns = sim_edge(sim, first), end_ns = sim_edge(sim, last);

	ck_assert_int_eq(history_load(h, track, begin_ns, end_ns, STATE_ALL_TABLES, load), LT_OK);
	ck_assert_uint_eq(load->interval.begin_ns, begin_ns);
	ck_assert_uint_eq(load->interval.end_ns, end_ns);
	for (int i = 0; i < TABLES; i++)
		if (sim->tables >> i & 1)
			assert_same_rows(sim, i, first, last, load);
}

/* Which recorded edges the history still has; all of its edges must be recorded ones. */
static GArray *remaining_edges(const struct sim *sim, const struct history *h, unsigned track)
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

static void assert_random_loads(struct sim *sim, const struct history *h, unsigned track, unsigned n)
{
	GArray *edges = remaining_edges(sim, h, track);
	struct history_load load;

	history_load_init(&load);
	for (; n; n--) {
		unsigned first = sim_random(sim, edges->len - 1);
		unsigned last = first + 1 + sim_random(sim, sim_random(sim, 4) ? MIN(3, edges->len - 1 - first) :
										 edges->len - 1 - first);

		assert_load(sim, h, track, g_array_index(edges, unsigned, first), g_array_index(edges, unsigned, last),
			    &load);
	}
	history_load_release(&load);
	g_array_free(edges, TRUE);
}

/* Whatever was merged, each frame that is kept holds exactly what was appended for its time. */
static void assert_every_frame(struct sim *sim, const struct history *h, unsigned track)
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

/* ---- tests ---- */

START_TEST(test_random_intervals)
{
	struct history *h = history_create(256 << 20);
	struct sim sim;

	sim_init(&sim, 1);
	ck_assert_uint_eq(history_add_track(h), 0);
	for (int i = 0; i < 150; i++)
		sim_frame(&sim, h, 0, SECOND);
	ck_assert_uint_eq(history_frames(h, 0), 150);
	assert_random_loads(&sim, h, 0, 150);
	sim_release(&sim);
	history_destroy(h);
}
END_TEST

/* Every interval between edges that remain is what it was, whatever was merged or dropped. */
START_TEST(test_thinned_intervals)
{
	static const size_t limits[] = { 1300000, 1120000 };

	for (unsigned l = 0; l < G_N_ELEMENTS(limits); l++) {
		struct history *h = history_create(limits[l]);
		struct sim sim;
		unsigned n;

		sim_init(&sim, 77 + l);
		history_add_track(h);
		for (int i = 0; i < 700; i++) {
			sim_frame(&sim, h, 0, SECOND);
			ck_assert_uint_le(history_bytes(h), history_limit(h));
			if (i % 175 == 174)
				assert_random_loads(&sim, h, 0, 15);
		}
		n = history_frames(h, 0);
		ck_assert_uint_lt(n, 700);
		assert_every_frame(&sim, h, 0);
		sim_release(&sim);
		history_destroy(h);
	}
}
END_TEST

/* Less than one state needs: it keeps going with what it must have. */
START_TEST(test_no_room)
{
	struct history *h = history_create(1000);
	struct sim sim[2];

	for (unsigned i = 0; i < 2; i++) {
		sim_init(&sim[i], 5 + i);
		history_add_track(h);
	}
	for (int i = 0; i < 100; i++) {
		for (unsigned k = 0; k < 2; k++) {
			sim_frame(&sim[k], h, k, SECOND);
			ck_assert_uint_ge(history_frames(h, k), 1);
			ck_assert_uint_le(history_frames(h, k), 2);
			assert_random_loads(&sim[k], h, k, 1);
		}
	}
	for (unsigned k = 0; k < 2; k++)
		sim_release(&sim[k]);
	history_destroy(h);
}
END_TEST

/* Tracks that begin at different times keep the same edges where both are thinned, the oldest of both goes first. */
START_TEST(test_tracks_share_edges)
{
	struct history *h = history_create(2150000);
	struct sim sim[3];
	uint64_t begin[3], end_ns;

	history_set_grid(h, ORIGIN_NS, SECOND);
	for (unsigned k = 0; k < 3; k++) {
		sim_init(&sim[k], 50 + k);
		sim[k].now_ns += k * 7 * (uint64_t)SECOND;
		history_add_track(h);
	}
	for (int i = 0; i < 450; i++)
		for (unsigned k = 0; k < 3; k++)
			sim_frame(&sim[k], h, k, SECOND);
	ck_assert_uint_le(history_bytes(h), history_limit(h));
	for (unsigned k = 0; k < 3; k++) {
		struct frame_summary f[450];
		unsigned n;

		ck_assert(history_range(h, k, &begin[k], &end_ns));
		n = history_summaries(h, k, 0, UINT64_MAX, f, 450);
		ck_assert_uint_eq(n, history_frames(h, k));
		ck_assert_uint_lt(n, 440);
		for (unsigned i = 1; i + 1 < n; i++) {
			uint64_t len_s = (f[i].end_ns - f[i].begin_ns) / SECOND;

			ck_assert_uint_eq(f[i].begin_ns, f[i - 1].end_ns);
			ck_assert(len_s == 1 || len_s == 10 || len_s == 60);
			ck_assert_uint_eq((f[i].begin_ns - ORIGIN_NS) / SECOND % len_s, 0);
		}
		assert_random_loads(&sim[k], h, k, 30);
	}
	for (unsigned k = 0; k < 3; k++)
		sim_release(&sim[k]);
	history_destroy(h);
}
END_TEST

static uint64_t total(const struct history_load *load, unsigned table, unsigned cell)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < load->interval.tables[table].n_rows; i++)
		sum += interval_value(&load->interval, table, &load->interval.tables[table].rows[i], cell);
	return sum;
}

/* play = seek + play: the figures of an interval are the sum of its parts'. */
START_TEST(test_parts_sum_up)
{
	struct history *h = history_create(256 << 20);
	struct history_load whole, part;
	struct sim sim;

	sim_init(&sim, 3);
	history_add_track(h);
	for (int i = 0; i < 130; i++)
		sim_frame(&sim, h, 0, SECOND);
	history_load_init(&whole);
	history_load_init(&part);
	ck_assert_int_eq(history_load(h, 0, sim_edge(&sim, 10), sim_edge(&sim, 125), STATE_ALL_TABLES, &whole), LT_OK);
	for (int i = 0; i < TABLES; i++) {
		for (unsigned k = 1; k < table_descs[i].n_cells; k++) {
			uint64_t sum = 0;

			if (table_descs[i].cells[k].kind != CELL_COUNTER)
				continue;
			for (unsigned edge = 10; edge < 125; edge += 23) {
				ck_assert_int_eq(history_load(h, 0, sim_edge(&sim, edge), sim_edge(&sim, edge + 23),
							      1u << i, &part), LT_OK);
				sum += total(&part, i, k);
			}
			ck_assert_uint_eq(sum, total(&whole, i, k));
		}
	}
	history_load_release(&part);
	history_load_release(&whole);
	sim_release(&sim);
	history_destroy(h);
}
END_TEST

START_TEST(test_snapping)
{
	struct history *h = history_create(1 << 20);
	struct history_load load;
	struct sim sim;
	uint64_t begin_ns, end_ns;

	sim_init(&sim, 9);
	history_add_track(h);
	history_load_init(&load);
	ck_assert(!history_range(h, 0, &begin_ns, &end_ns));
	ck_assert_uint_eq(history_edge_floor(h, 0, 5), 0);
	ck_assert_uint_eq(history_edge_ceil(h, 0, 5), 0);
	ck_assert_int_eq(history_load(h, 0, 0, UINT64_MAX, 1, &load), LT_END);
	for (int i = 0; i < 5; i++)
		sim_frame(&sim, h, 0, SECOND);
	ck_assert(history_range(h, 0, &begin_ns, &end_ns));
	ck_assert_uint_eq(begin_ns, ORIGIN_NS);
	ck_assert_uint_eq(end_ns, ORIGIN_NS + 5 * (uint64_t)SECOND);
	ck_assert_uint_eq(history_edge_floor(h, 0, 5), begin_ns);
	ck_assert_uint_eq(history_edge_ceil(h, 0, UINT64_MAX), end_ns);
	ck_assert_uint_eq(history_edge_ceil(h, 0, begin_ns + 1), begin_ns + SECOND);
	ck_assert_uint_eq(history_edge_floor(h, 0, end_ns - 1), end_ns - SECOND);

	/* before and after the record there is nothing */
	ck_assert_int_eq(history_load(h, 0, 0, begin_ns, 1, &load), LT_END);
	ck_assert_int_eq(history_load(h, 0, end_ns, UINT64_MAX, 1, &load), LT_END);
	/* inside a frame: the one before */
	ck_assert_int_eq(history_load(h, 0, begin_ns + SECOND + 5, begin_ns + SECOND + 6, 1, &load), LT_OK);
	ck_assert_uint_eq(load.interval.begin_ns, begin_ns);
	ck_assert_uint_eq(load.interval.end_ns, begin_ns + SECOND);
	/* inside the first frame: itself */
	ck_assert_int_eq(history_load(h, 0, begin_ns, begin_ns + 6, 1, &load), LT_OK);
	ck_assert_uint_eq(load.interval.end_ns, begin_ns + SECOND);
	/* both down, cut at the record's ends */
	ck_assert_int_eq(history_load(h, 0, 0, begin_ns + 5 * (uint64_t)SECOND / 2, 1, &load), LT_OK);
	ck_assert_uint_eq(load.interval.begin_ns, begin_ns);
	ck_assert_uint_eq(load.interval.end_ns, begin_ns + 2 * (uint64_t)SECOND);
	/* only the tables wanted */
	ck_assert_uint_eq(load.interval.tables[TABLE_THREAD].n_rows, 0);
	ck_assert_uint_eq(load.end.tables[TABLE_THREAD].n_alive, 0);
	history_load_release(&load);
	sim_release(&sim);
	history_destroy(h);
}
END_TEST

/* What happens later does not change what was. */
START_TEST(test_past_stays)
{
	struct history *h = history_create(256 << 20);
	struct history_load load;
	struct sim sim;

	sim_init(&sim, 21);
	history_add_track(h);
	history_load_init(&load);
	for (int i = 0; i < 90; i++) {
		sim_frame(&sim, h, 0, SECOND);
		assert_load(&sim, h, 0, MIN(i, 40), MIN(i, 40) + 1, &load);
	}
	for (unsigned i = 90; i-- > 0;)
		assert_load(&sim, h, 0, i, i + 1, &load);
	history_load_release(&load);
	sim_release(&sim);
	history_destroy(h);
}
END_TEST

/* Detached for a while, during which the model goes on unseen. */
START_TEST(test_gap)
{
	struct history *h = history_create(256 << 20);
	struct frame_summary f[200];
	struct history_load load;
	struct sim sim;

	sim_init(&sim, 33);
	history_add_track(h);
	for (int i = 0; i < 30; i++)
		sim_frame(&sim, h, 0, SECOND);
	for (int i = 0; i < 10; i++) {
		sim_play(&sim, sim.now_ns + SECOND);
		sim_next_frame(&sim);
	}
	sim_play(&sim, sim.now_ns + SECOND);
	history_append(h, 0, &sim.state, sim.now_ns - SECOND, sim.now_ns);
	sim_record(&sim);
	sim_next_frame(&sim);
	for (int i = 0; i < 30; i++)
		sim_frame(&sim, h, 0, SECOND);
	ck_assert_uint_eq(history_frames(h, 0), 62);
	ck_assert_uint_eq(history_summaries(h, 0, 0, UINT64_MAX, f, 200), 62);
	for (unsigned i = 0; i < 62; i++) {
		ck_assert_int_eq(f[i].gap, i == 30);
		ck_assert_uint_eq(f[i].end_ns - f[i].begin_ns, i == 30 ? 10 * (uint64_t)SECOND : SECOND);
	}
	history_load_init(&load);
	for (unsigned i = 31; i < 61; i++)
		assert_load(&sim, h, 0, i, i + 1, &load);
	assert_load(&sim, h, 0, 31, 61, &load);
	history_load_release(&load);
	sim_release(&sim);
	history_destroy(h);
}
END_TEST

/*
 * Of a long past: long frames at first, shorter and shorter ones, at last as they were appended. Counts them by their
 * length: 1, 10, 60, 600, 3600.
 */
static void count_lengths(const struct history *h, unsigned track, unsigned of[5])
{
	static const uint64_t lengths_s[] = { 1, 10, 60, 600, 3600 };
	unsigned n = history_frames(h, track);
	struct frame_summary *f = g_new(struct frame_summary, n);
	uint64_t last_s = 3600;

	ck_assert_uint_eq(history_summaries(h, track, 0, UINT64_MAX, f, n), n);
	/* the oldest one may have been cut by what was dropped, and those between two kinds by the grid */
	for (unsigned i = 1; i < n; i++) {
		uint64_t length_s = (f[i].end_ns - f[i].begin_ns) / SECOND;

		ck_assert_uint_eq(f[i].begin_ns, f[i - 1].end_ns);
		ck_assert_uint_le(length_s, 3600);
		for (unsigned k = 0; k < G_N_ELEMENTS(lengths_s); k++) {
			if (length_s != lengths_s[k])
				continue;
			of[k]++;
			ck_assert_uint_le(length_s, last_s);
			last_s = length_s;
		}
	}
	g_free(f);
}

/* A day's kinds of frames: whatever they were merged to, intervals between edges that remain are what they were. */
START_TEST(test_long_past)
{
	enum { FRAMES_MAX = 30000, ALL = (1 << 5) - 1 };
	struct history *h = history_create(400000);
	unsigned of[5] = { 0 }, seen = 0;
	struct sim sim;

	sim_init(&sim, 4711);
	sim.rows = 4;
	sim.tables = 1u << TABLE_THREAD | 1u << TABLE_DISK;
	history_add_track(h);
	for (int i = 0; i < FRAMES_MAX && seen != ALL; i++) {
		/* after the first rows few come and go: lives inside a frame are kept, which keeps it from merging */
		sim.churn = i < 3 ? 16 : i % 1000 == 999 ? 8 : 0;
		sim_frame(&sim, h, 0, SECOND);
		ck_assert_uint_le(history_bytes(h), history_limit(h));
		if (i % 1200 != 1199)
			continue;
		assert_random_loads(&sim, h, 0, 5);
		count_lengths(h, 0, of);
		for (unsigned k = 0; k < G_N_ELEMENTS(of); k++)
			seen |= (of[k] > 0) << k;
	}
	ck_assert_uint_eq(seen, ALL);
	assert_every_frame(&sim, h, 0);
	sim_release(&sim);
	history_destroy(h);
}
END_TEST

/* How many keys stand inside of chunks. */
static unsigned inner_keys(const struct history *h, unsigned track)
{
	const struct track *t = history_track(h, track);
	unsigned n = 0;

	for (unsigned i = 0; i < t->chunks->len; i++)
		for (unsigned k = 1; k < track_chunk(t, i)->n_frames; k++)
			n += track_chunk(t, i)->frames[k].data_begin != track_chunk(t, i)->frames[k - 1].data_end;
	return n;
}

/* A chunk that must go on to the end of a longer frame has keys inside: reading starts at any of them. */
START_TEST(test_inner_keys)
{
	struct history *h = history_create(700000);
	unsigned seen = 0;
	struct sim sim;

	sim_init(&sim, 99);
	sim.tables = 1u << TABLE_THREAD | 1u << TABLE_IRQ;
	sim.rows = 60;
	history_add_track(h);
	for (int i = 0; i < 2400; i++) {
		sim.churn = i < 40 ? 32 : i % 100 == 99 ? 8 : 0;
		sim_frame(&sim, h, 0, SECOND);
		if (i % 300 != 299)
			continue;
		seen += inner_keys(h, 0);
		assert_random_loads(&sim, h, 0, 30);
	}
	ck_assert_uint_gt(seen, 0);
	assert_every_frame(&sim, h, 0);
	sim_release(&sim);
	history_destroy(h);
}
END_TEST

/* Brief lives: kept with their counters, also merged; those that counted nothing are not kept. */
START_TEST(test_brief_lives)
{
	struct history *h = history_create(900000);
	struct history_load load;
	struct host_state s;
	uint64_t t = ORIGIN_NS, begin_ns, end_ns;
	unsigned n = 0, of[5] = { 0 };

	state_init(&s);
	history_add_track(h);
	for (int i = 0; i < 8000; i++, t += SECOND) {
		for (int k = 0; k < 20; k++) {
			uint32_t row = state_add(&s, TABLE_THREAD);

			STATE_ROW(&s, THREAD, thread, row)->tid = 1000 + k;
			STATE_ROW(&s, THREAD, thread, row)->cpu_ns = k;
			state_end(&s, TABLE_THREAD, row);
		}
		history_append(h, 0, &s, t, t + SECOND);
		state_extremes_clear_dirty(&s);
		state_reap(&s, NULL, NULL);
		state_frame_begin(&s);
	}
	ck_assert_uint_le(history_bytes(h), 900000);
	ck_assert_uint_lt(history_frames(h, 0), 8000);
	ck_assert(history_range(h, 0, &begin_ns, &end_ns));
	count_lengths(h, 0, of);
	for (unsigned k = 0; k < 3; k++)
		ck_assert_uint_gt(of[k], 5);
	history_load_init(&load);
	ck_assert_int_eq(history_load(h, 0, begin_ns, end_ns, STATE_ALL_TABLES, &load), LT_OK);
	n = (end_ns - begin_ns) / SECOND;
	ck_assert_uint_eq(load.interval.tables[TABLE_THREAD].n_rows, 19 * n);
	ck_assert_uint_eq(total(&load, TABLE_THREAD, CELL(thread, cpu_ns)), 190 * (uint64_t)n);
	ck_assert_uint_eq(load.end.tables[TABLE_THREAD].n_alive, 0);
	history_load_release(&load);
	state_release(&s);
	history_destroy(h);
}
END_TEST

START_TEST(test_summaries)
{
	struct history *h = history_create(1 << 20);
	struct frame_summary f[8];
	struct host_state s;
	uint64_t t = ORIGIN_NS;
	uint32_t cpu[2], host;

	state_init(&s);
	history_add_track(h);
	host = state_add(&s, TABLE_HOST);
	for (int k = 0; k < 2; k++) {
		cpu[k] = state_add(&s, TABLE_CPU);
		STATE_ROW(&s, CPU, cpu, cpu[k])->state = k ? CPU_BUSY : CPU_IDLE;
		STATE_ROW(&s, CPU, cpu, cpu[k])->since_ns = t;
	}
	for (int i = 0; i < 3; i++, t += SECOND) {
		if (i == 1) {
			STATE_ROW(&s, HOST, host, host)->lost_events += 5;
			state_touch(&s, TABLE_HOST, host);
		}
		if (i == 2) {
			/* idle CPU goes offline in the middle */
			struct cpu_row *c = STATE_ROW(&s, CPU, cpu, cpu[0]);

			c->idle_ns += 2 * (uint64_t)SECOND + SECOND / 2;
			c->online_ns += 2 * (uint64_t)SECOND + SECOND / 2;
			c->since_ns = t + SECOND / 2;
			c->state = CPU_OFFLINE;
			state_touch(&s, TABLE_CPU, cpu[0]);
		}
		history_append(h, 0, &s, t, t + SECOND);
		state_extremes_clear_dirty(&s);
		state_reap(&s, NULL, NULL);
		state_frame_begin(&s);
	}
	ck_assert_uint_eq(history_summaries(h, 0, ORIGIN_NS, t, f, 8), 3);
	ck_assert_uint_eq(f[0].busy_permille, 500);
	ck_assert_uint_eq(f[1].busy_permille, 500);
	ck_assert_uint_eq(f[2].busy_permille, 667);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(f[i].lost, i == 1);
		ck_assert(!f[i].gap);
	}
	ck_assert_uint_eq(history_summaries(h, 0, ORIGIN_NS, t, f, 2), 2);
	ck_assert_uint_eq(history_summaries(h, 0, ORIGIN_NS + SECOND, ORIGIN_NS + SECOND + 1, f, 8), 1);
	ck_assert_uint_eq(f[0].begin_ns, ORIGIN_NS + SECOND);
	ck_assert_uint_eq(history_summaries(h, 0, t, t + SECOND, f, 8), 0);
	state_release(&s);
	history_destroy(h);
}
END_TEST

/* ---- packed ---- */

/* The history's bytes: its head in *head, its parts one behind the other in the result. */
static GByteArray *pack(const struct history *h, GByteArray *head)
{
	GByteArray *parts = g_byte_array_new();
	struct history_part part = { 0 };

	ck_assert(history_pack(h, head));
	while (history_part(h, &part))
		pack_bytes(parts, part.data, part.len);
	ck_assert_uint_eq(parts->len, history_parts_bytes(h));
	return parts;
}

/* NULL: the head is wrong, or more follows it. */
static struct history *unpack(const GByteArray *head, size_t head_len, const GByteArray *parts)
{
	/* a copy of its own, so that reading past it is seen */
	uint8_t *bytes = g_memdup2(head->data, head_len);
	struct unpack in = { .at = bytes, .end = bytes + head_len };
	struct history *h = history_unpack(&in, 256 << 20, parts->len);
	struct history_part part = { 0 };
	size_t at = 0;

	if (h)
		ck_assert_ptr_eq(in.at, in.end);
	g_free(bytes);
	for (; h && history_part(h, &part); at += part.len)
		memcpy(part.data, parts->data + at, part.len);
	return h;
}

static struct history *sim_history(struct sim *sim, size_t limit, unsigned frames)
{
	struct history *h = history_create(limit);

	sim_init(sim, 4711);
	history_add_track(h);
	for (unsigned i = 0; i < frames; i++)
		sim_frame(sim, h, 0, SECOND);
	return h;
}

/* Whatever was asked of the one is asked of the other: thinned frames, keys inside of chunks, an open last chunk. */
START_TEST(test_packed)
{
	struct sim sim;
	struct history *h = sim_history(&sim, 1300000, 500), *again;
	GByteArray *head = g_byte_array_new(), *parts = pack(h, head);
	struct frame_summary f[2][8];

	again = unpack(head, head->len, parts);
	ck_assert_ptr_nonnull(again);
	ck_assert_uint_eq(history_frames(again, 0), history_frames(h, 0));
	assert_every_frame(&sim, again, 0);
	assert_random_loads(&sim, again, 0, 30);
	memset(f, 0, sizeof(f));
	ck_assert_uint_eq(history_summaries(again, 0, 0, UINT64_MAX, f[0], 8),
			  history_summaries(h, 0, 0, UINT64_MAX, f[1], 8));
	for (unsigned i = 0; i < 8; i++) {
		ck_assert_uint_eq(f[0][i].end_ns, f[1][i].end_ns);
		ck_assert_uint_eq(f[0][i].busy_permille, f[1][i].busy_permille);
	}
	history_destroy(again);
	history_destroy(h);
	sim_release(&sim);
	g_byte_array_unref(parts);
	g_byte_array_unref(head);
}
END_TEST

/* Every frame, whatever it says. Returns how often the history called its bytes damaged. */
static unsigned load_all(const struct history *h)
{
	struct history_load load;
	uint64_t begin_ns, end_ns;
	unsigned damaged = 0;

	history_load_init(&load);
	for (unsigned i = 0; i < h->tracks->len; i++) {
		if (!history_range(h, i, &begin_ns, &end_ns))
			continue;
		damaged += history_load(h, i, begin_ns, end_ns, STATE_ALL_TABLES, &load) == LT_ERROR;
		for (uint64_t t = begin_ns; t < end_ns; t = history_edge_ceil(h, i, t + 1))
			damaged += history_load(h, i, t, t + 1, STATE_ALL_TABLES, &load) == LT_ERROR;
	}
	history_load_release(&load);
	return damaged;
}

/* Bytes that anything has happened to are refused or read as something; under a sanitizer nothing else happens. */
START_TEST(test_damaged_parts)
{
	struct sim sim;
	struct history *h = sim_history(&sim, 256 << 20, 25), *again;
	GByteArray *head = g_byte_array_new(), *parts = pack(h, head);
	unsigned damaged = 0;

	for (unsigned round = 0; round < 300; round++) {
		GByteArray *bad = g_byte_array_new();

		g_byte_array_append(bad, parts->data, parts->len);
		for (uint64_t n = 1 + sim_random(&sim, 4); n; n--)
			bad->data[sim_random(&sim, bad->len)] = (uint8_t)any_size(&sim);
		again = unpack(head, head->len, bad);
		ck_assert_ptr_nonnull(again);
		damaged += load_all(again) != 0;
		history_destroy(again);
		g_byte_array_unref(bad);
	}
	ck_assert_uint_gt(damaged, 30);
	history_destroy(h);
	sim_release(&sim);
	g_byte_array_unref(parts);
	g_byte_array_unref(head);
}
END_TEST

START_TEST(test_damaged_head)
{
	struct sim sim;
	struct history *h = sim_history(&sim, 256 << 20, 25), *again;
	GByteArray *head = g_byte_array_new(), *parts = pack(h, head);
	unsigned refused = 0;

	for (size_t len = 0; len < head->len; len++)
		ck_assert_ptr_null(unpack(head, len, parts));
	g_byte_array_set_size(parts, parts->len - 1);
	ck_assert_ptr_null(unpack(head, head->len, parts));
	g_byte_array_set_size(parts, parts->len + 1);
	for (unsigned round = 0; round < 2000; round++) {
		size_t at = sim_random(&sim, head->len);
		uint8_t was = head->data[at];

		head->data[at] = (uint8_t)sim_random(&sim, 256);
		again = unpack(head, head->len, parts);
		refused += !again;
		if (again)
			load_all(again);
		history_destroy(again);
		head->data[at] = was;
	}
	ck_assert_uint_gt(refused, 200);
	history_destroy(h);
	sim_release(&sim);
	g_byte_array_unref(parts);
	g_byte_array_unref(head);
}
END_TEST

UNIT_MAIN("history", test_random_intervals, test_thinned_intervals, test_no_room, test_tracks_share_edges,
	  test_parts_sum_up, test_snapping, test_past_stays, test_gap, test_long_past,
	  test_inner_keys, test_brief_lives, test_summaries, test_packed, test_damaged_parts, test_damaged_head)
