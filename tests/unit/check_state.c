/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <string.h>

#include "model/state.h"
#include "unit.h"

static struct thread_row *thread(struct host_state *s, uint32_t row)
{
	return STATE_ROW(s, THREAD, thread, row);
}

static void next_frame(struct host_state *s)
{
	state_reap(s, NULL, NULL);
	state_frame_begin(s);
}

static unsigned count_alive(const struct state_table *t)
{
	unsigned n = 0;

	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;)
		n++;
	return n;
}

START_TEST(test_new_row)
{
	struct host_state s;
	const struct state_table *t = &s.tables[TABLE_THREAD];
	uint32_t row;

	state_init(&s);
	ck_assert_uint_eq(state_next(t, STATE_NO_ROW), STATE_NO_ROW);
	ck_assert(!state_alive(t, 0));
	ck_assert(!state_alive(t, STATE_NO_ROW));
	row = state_add(&s, TABLE_THREAD);
	ck_assert(state_alive(t, row));
	ck_assert_uint_eq(t->flags[row], ROW_ALIVE | ROW_NEW | ROW_DIRTY);
	ck_assert_uint_eq(thread(&s, row)->uid, 1);
	ck_assert_uint_eq(thread(&s, row)->cpu_ns, 0);
	ck_assert_uint_eq(thread(&s, row)->latency.min, UINT64_MAX);
	ck_assert_uint_eq(thread(&s, row)->latency.max, 0);
	state_release(&s);
}
END_TEST

START_TEST(test_rows_do_not_move)
{
	struct host_state s;
	uint64_t *first;

	state_init(&s);
	first = state_cells(&s.tables[TABLE_THREAD], state_add(&s, TABLE_THREAD));
	for (unsigned i = 0; i < 5000; i++)
		state_add(&s, TABLE_THREAD);
	ck_assert_ptr_eq(state_cells(&s.tables[TABLE_THREAD], 0), first);
	ck_assert_uint_eq(s.tables[TABLE_THREAD].n_alive, 5001);
	ck_assert_uint_eq(count_alive(&s.tables[TABLE_THREAD]), 5001);
	ck_assert_uint_gt(state_bytes(&s), 5001 * sizeof(struct thread_row));
	state_release(&s);
	ck_assert_uint_eq(state_bytes(&s), sizeof(s));
}
END_TEST

START_TEST(test_frame_flags)
{
	struct host_state s;
	struct state_table *t = &s.tables[TABLE_THREAD];
	uint32_t a, b;

	state_init(&s);
	a = state_add(&s, TABLE_THREAD);
	b = state_add(&s, TABLE_THREAD);
	ck_assert_uint_eq(t->n_dirty, 2);
	next_frame(&s);
	ck_assert_uint_eq(t->n_dirty, 0);
	ck_assert_uint_eq(t->flags[a], ROW_ALIVE);
	state_touch(&s, TABLE_THREAD, b);
	state_touch(&s, TABLE_THREAD, b);
	ck_assert_uint_eq(t->n_dirty, 1);
	ck_assert_uint_eq(t->dirty[0], b);
	ck_assert_uint_eq(t->flags[b], ROW_ALIVE | ROW_DIRTY);
	next_frame(&s);
	ck_assert_uint_eq(t->flags[b], ROW_ALIVE);
	state_release(&s);
}
END_TEST

/* An ended row stays readable until it is reaped; then its number is free, but its uid is never reused. */
START_TEST(test_end_and_reuse)
{
	struct host_state s;
	struct state_table *t = &s.tables[TABLE_THREAD];
	uint32_t a, b;

	state_init(&s);
	a = state_add(&s, TABLE_THREAD);
	thread(&s, a)->tid = 7;
	next_frame(&s);
	state_end(&s, TABLE_THREAD, a);
	state_end(&s, TABLE_THREAD, a);
	ck_assert_uint_eq(t->n_ended, 1);
	ck_assert_uint_eq(t->n_dirty, 1);
	ck_assert(state_alive(t, a));
	ck_assert_uint_eq(thread(&s, a)->tid, 7);
	b = state_add(&s, TABLE_THREAD);
	ck_assert_uint_ne(a, b);
	ck_assert_uint_eq(t->n_alive, 2);
	next_frame(&s);
	ck_assert(!state_alive(t, a));
	ck_assert_uint_eq(t->n_alive, 1);
	ck_assert_uint_eq(state_add(&s, TABLE_THREAD), a);
	ck_assert_uint_eq(thread(&s, a)->uid, 3);
	ck_assert_uint_eq(thread(&s, a)->tid, 0);
	state_release(&s);
}
END_TEST

/* Reports reap within a frame: a reused number is dirty once. */
START_TEST(test_reuse_within_frame)
{
	struct host_state s;
	struct state_table *t = &s.tables[TABLE_THREAD];

	state_init(&s);
	for (unsigned i = 0; i < 1000; i++) {
		uint32_t row = state_add(&s, TABLE_THREAD);

		ck_assert_uint_eq(row, 0);
		ck_assert_uint_eq(t->n_dirty, 1);
		state_end(&s, TABLE_THREAD, row);
		state_reap(&s, NULL, NULL);
		ck_assert_uint_eq(t->n_alive, 0);
		ck_assert_uint_eq(t->n_ended, 0);
	}
	ck_assert_uint_eq(t->last_uid, 1000);
	state_frame_begin(&s);
	ck_assert_uint_eq(t->flags[0], 0);
	state_release(&s);
}
END_TEST

struct retired {
	unsigned n;
	enum table_id table;
	uint64_t uids;
};

static void note_retired(void *data, enum table_id table, uint32_t row, const uint64_t *cells)
{
	struct retired *r = data;

	(void)row;
	ck_assert_int_ge(table, r->table);
	r->table = table;
	r->uids += cells[0];
	r->n++;
}

START_TEST(test_retire_in_table_order)
{
	struct retired r = { 0 };
	struct host_state s;

	state_init(&s);
	for (int i = TABLES - 1; i >= 0; i--) {
		for (unsigned k = 0; k < 3; k++) {
			uint32_t row = state_add(&s, i);

			if (k)
				state_end(&s, i, row);
		}
	}
	state_reap(&s, note_retired, &r);
	ck_assert_uint_eq(r.n, 2 * TABLES);
	ck_assert_uint_eq(r.uids, 5 * TABLES);
	for (int i = 0; i < TABLES; i++)
		ck_assert_uint_eq(s.tables[i].n_alive, 1);
	state_release(&s);
}
END_TEST

START_TEST(test_extremes)
{
	struct host_state s;
	uint32_t a, b, disk;

	state_init(&s);
	a = state_add(&s, TABLE_THREAD);
	b = state_add(&s, TABLE_THREAD);
	disk = state_add(&s, TABLE_DISK);
	next_frame(&s);
	dist_add(&thread(&s, a)->latency, 5, 100);
	dist_add(&thread(&s, a)->latency, 9, 200);
	dist_add(&thread(&s, b)->latency, 3, 300);
	STATE_ROW(&s, DISK, disk, disk)->queue_max = 4;
	state_touch(&s, TABLE_THREAD, a);
	state_extremes_clear_dirty(&s);
	ck_assert_uint_eq(thread(&s, a)->latency.count, 2);
	ck_assert_uint_eq(thread(&s, a)->latency.sum, 14);
	ck_assert_uint_eq(thread(&s, a)->latency.sq_lo, 106);
	ck_assert_uint_eq(thread(&s, a)->latency.min, UINT64_MAX);
	ck_assert_uint_eq(thread(&s, a)->latency.max, 0);
	ck_assert_uint_eq(thread(&s, a)->latency.max_at, 0);
	ck_assert_uint_eq(thread(&s, b)->latency.min, 3);
	state_extremes_clear(&s);
	ck_assert_uint_eq(thread(&s, b)->latency.min, UINT64_MAX);
	ck_assert_uint_eq(thread(&s, b)->latency.count, 1);
	ck_assert_uint_eq(STATE_ROW(&s, DISK, disk, disk)->queue_max, 0);
	state_release(&s);
}
END_TEST

START_TEST(test_dist)
{
	struct dist d = { .min = UINT64_MAX };

	dist_add(&d, UINT64_MAX, 1);
	dist_add(&d, UINT64_MAX, 2);
	dist_add(&d, 0, 3);
	ck_assert_uint_eq(d.count, 3);
	ck_assert_uint_eq(d.min, 0);
	ck_assert_uint_eq(d.max, UINT64_MAX);
	ck_assert_uint_eq(d.max_at, 2);
	/* 2 * (2^64 - 1)^2 = 2^129 - 2^66 + 2, in 128 bits */
	ck_assert_uint_eq(d.sq_lo, 2);
	ck_assert_uint_eq(d.sq_hi, UINT64_MAX - 3);
}
END_TEST

/* A copy has the same rows with the same numbers, and is independent. */
START_TEST(test_copy)
{
	struct host_state s, copy;
	uint32_t rows[600];

	state_init(&s);
	state_init(&copy);
	for (unsigned i = 0; i < 600; i++) {
		rows[i] = state_add(&s, TABLE_FILE);
		STATE_ROW(&s, FILE, file, rows[i])->fd = i;
	}
	state_add(&s, TABLE_THREAD);
	for (unsigned i = 0; i < 600; i += 3)
		state_end(&s, TABLE_FILE, rows[i]);
	next_frame(&s);
	state_copy(&copy, &s, 1u << TABLE_FILE);
	ck_assert_uint_eq(copy.tables[TABLE_THREAD].n_alive, 0);
	ck_assert_uint_eq(copy.tables[TABLE_FILE].n_alive, 400);
	for (unsigned i = 0; i < 600; i++) {
		ck_assert_int_eq(state_alive(&copy.tables[TABLE_FILE], rows[i]), i % 3 != 0);
		if (i % 3)
			ck_assert_uint_eq(STATE_ROW(&copy, FILE, file, rows[i])->fd, i);
	}
	ck_assert_uint_eq(state_add(&copy, TABLE_FILE), state_add(&s, TABLE_FILE));
	ck_assert_uint_eq(copy.tables[TABLE_FILE].last_uid, 601);

	/* overwrites a state with more rows; none of those remain */
	next_frame(&s);
	for (unsigned i = 1; i < 600; i++)
		if (state_alive(&s.tables[TABLE_FILE], i) && i > 10)
			state_end(&s, TABLE_FILE, i);
	next_frame(&s);
	state_copy(&copy, &s, STATE_ALL_TABLES);
	ck_assert_uint_eq(count_alive(&copy.tables[TABLE_FILE]), count_alive(&s.tables[TABLE_FILE]));
	ck_assert_uint_eq(copy.tables[TABLE_FILE].n_dirty, 0);
	state_clear(&copy);
	for (int i = 0; i < TABLES; i++)
		ck_assert_uint_eq(count_alive(&copy.tables[i]), 0);
	ck_assert_uint_eq(state_add(&copy, TABLE_FILE), 0);
	ck_assert_uint_eq(STATE_ROW(&copy, FILE, file, 0)->uid, 1);
	state_release(&copy);
	state_release(&s);
}
END_TEST

START_TEST(test_placed_rows)
{
	struct host_state s;
	struct state_table *t = &s.tables[TABLE_IRQ];

	state_init(&s);
	state_add_at(&s, TABLE_IRQ, 700, 9);
	state_add_at(&s, TABLE_IRQ, 3, 12);
	ck_assert_uint_eq(t->n_alive, 2);
	ck_assert_uint_eq(state_next(t, STATE_NO_ROW), 3);
	ck_assert_uint_eq(state_next(t, 3), 700);
	ck_assert_uint_eq(state_next(t, 700), STATE_NO_ROW);
	ck_assert(!state_alive(t, 4));
	state_remove_at(&s, TABLE_IRQ, 3);
	ck_assert_uint_eq(t->n_alive, 1);
	state_add_at(&s, TABLE_IRQ, 3, 13);
	ck_assert_uint_eq(t->n_dirty, 2);
	ck_assert_uint_eq(STATE_ROW(&s, IRQ, irq, 3)->uid, 13);
	state_end(&s, TABLE_IRQ, 700);
	next_frame(&s);
	ck_assert_uint_eq(count_alive(t), 1);
	state_release(&s);
}
END_TEST

/* In any order, the flags, lists and numbers of rows agree. */
START_TEST(test_random)
{
	struct host_state s;
	struct state_table *t = &s.tables[TABLE_PERF];
	GRand *rand = g_rand_new_with_seed(4);
	GHashTable *uids = g_hash_table_new(NULL, NULL);

	state_init(&s);
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t row = t->n_rows ? g_rand_int_range(rand, 0, t->n_rows) : 0;

		switch (g_rand_int_range(rand, 0, 8)) {
		case 0:
		case 1:
		case 2:
			row = state_add(&s, TABLE_PERF);
			ck_assert(g_hash_table_add(uids, GSIZE_TO_POINTER(state_cells(t, row)[0])));
			break;
		case 3:
		case 4:
			if (state_alive(t, row))
				state_end(&s, TABLE_PERF, row);
			break;
		case 5:
			if (state_alive(t, row))
				state_touch(&s, TABLE_PERF, row);
			break;
		case 6:
			if (i % 5 == 0)
				state_reap(&s, NULL, NULL);
			break;
		default:
			if (i % 5 == 0)
				next_frame(&s);
		}
		if (i % 100 == 0) {
			uint32_t alive = 0, dirty = 0, ended = 0;

			for (row = 0; row < t->n_rows; row++) {
				alive += !!(t->flags[row] & ROW_ALIVE);
				dirty += !!(t->flags[row] & ROW_DIRTY);
				ended += !!(t->flags[row] & ROW_ENDED);
			}
			ck_assert_uint_eq(alive, t->n_alive);
			ck_assert_uint_eq(dirty, t->n_dirty);
			ck_assert_uint_eq(ended, t->n_ended);
			ck_assert_uint_eq(alive + t->n_free, t->n_rows);
		}
	}
	g_hash_table_destroy(uids);
	g_rand_free(rand);
	state_release(&s);
}
END_TEST

UNIT_MAIN("state", test_new_row, test_rows_do_not_move, test_frame_flags, test_end_and_reuse, test_reuse_within_frame,
	  test_retire_in_table_order, test_extremes, test_dist, test_copy, test_placed_rows, test_random)
