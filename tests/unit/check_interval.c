/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "model/interval.h"
#include "unit.h"

enum { BEGIN_NS = 1000, END_NS = 2000 };

static struct thread_row *thread(struct host_state *s, uint32_t row)
{
	return STATE_ROW(s, THREAD, thread, row);
}

/* As the model does it. */
static void thread_change(struct host_state *s, uint32_t row, enum thread_state state, uint64_t t_ns)
{
	struct thread_row *t = thread(s, row);

	if (t->state == THREAD_RUNNING)
		t->cpu_ns += t_ns - t->since_ns;
	if (t->state == THREAD_READY)
		t->ready_ns += t_ns - t->since_ns;
	t->state = state;
	t->since_ns = t_ns;
	state_touch(s, TABLE_THREAD, row);
}

#define VALUE(iv, uid, member) INTERVAL_VALUE(iv, THREAD, thread, interval_find(iv, TABLE_THREAD, uid), member)

/* Accruals are cut at the ends of the interval, whatever state the row is in there. */
START_TEST(test_accruals_are_cut)
{
	struct host_state s;
	struct interval iv;
	uint32_t on, off, ready;

	state_init(&s);
	interval_init(&iv);
	on = state_add(&s, TABLE_THREAD);
	off = state_add(&s, TABLE_THREAD);
	ready = state_add(&s, TABLE_THREAD);
	thread_change(&s, on, THREAD_RUNNING, 400);
	thread_change(&s, off, THREAD_BLOCKED, 100);
	thread_change(&s, ready, THREAD_READY, 990);
	interval_begin(&iv, &s, BEGIN_NS, STATE_ALL_TABLES);
	state_frame_begin(&s);
	thread_change(&s, ready, THREAD_RUNNING, 1700);
	interval_end(&iv, &s, END_NS);
	ck_assert_uint_eq(iv.tables[TABLE_THREAD].n_rows, 3);
	ck_assert_uint_eq(VALUE(&iv, 1, cpu_ns), 1000);
	ck_assert_uint_eq(VALUE(&iv, 2, cpu_ns), 0);
	ck_assert_uint_eq(VALUE(&iv, 2, blocked_ns), 1000);
	ck_assert_uint_eq(VALUE(&iv, 3, ready_ns), 700);
	ck_assert_uint_eq(VALUE(&iv, 3, cpu_ns), 300);
	ck_assert_uint_eq(VALUE(&iv, 3, state), THREAD_RUNNING);
	/* the same state continues */
	thread_change(&s, on, THREAD_BLOCKED, 2500);
	interval_end(&iv, &s, 3000);
	ck_assert_uint_eq(VALUE(&iv, 1, cpu_ns), 1500);
	ck_assert_uint_eq(VALUE(&iv, 1, blocked_ns), 500);
	ck_assert_uint_eq(VALUE(&iv, 3, cpu_ns), 1300);
	interval_release(&iv);
	state_release(&s);
}
END_TEST

/* Rows that started, ended or both, and rows whose number was reused. */
START_TEST(test_lives)
{
	struct host_state s;
	struct interval iv;
	uint32_t before, ends, brief, reused;
	const struct interval_row *r;

	state_init(&s);
	interval_init(&iv);
	before = state_add(&s, TABLE_THREAD);
	ends = state_add(&s, TABLE_THREAD);
	thread(&s, ends)->syscalls = 10;
	state_end(&s, TABLE_THREAD, before);
	state_reap(&s, NULL, NULL);
	interval_begin(&iv, &s, BEGIN_NS, STATE_ALL_TABLES);
	state_frame_begin(&s);

	brief = state_add(&s, TABLE_THREAD);
	ck_assert_uint_eq(brief, before);
	thread(&s, brief)->syscalls = 3;
	state_end(&s, TABLE_THREAD, brief);
	thread(&s, ends)->syscalls = 14;
	state_end(&s, TABLE_THREAD, ends);
	state_reap(&s, interval_retire, &iv);
	state_frame_begin(&s);
	reused = state_add(&s, TABLE_THREAD);
	ck_assert(reused == ends || reused == brief);
	thread(&s, reused)->syscalls = 5;
	interval_end(&iv, &s, END_NS);

	ck_assert_uint_eq(iv.tables[TABLE_THREAD].n_rows, 3);
	ck_assert_ptr_null(interval_find(&iv, TABLE_THREAD, 1));
	r = interval_find(&iv, TABLE_THREAD, 2);
	ck_assert_ptr_nonnull(r->a);
	ck_assert_uint_eq(VALUE(&iv, 2, syscalls), 4);
	ck_assert_ptr_null(interval_find(&iv, TABLE_THREAD, 3)->a);
	ck_assert_uint_eq(VALUE(&iv, 3, syscalls), 3);
	ck_assert_ptr_null(interval_find(&iv, TABLE_THREAD, 4)->a);
	ck_assert_uint_eq(VALUE(&iv, 4, syscalls), 5);
	/* ended rows come first */
	ck_assert_ptr_eq(interval_find(&iv, TABLE_THREAD, 4), &iv.tables[TABLE_THREAD].rows[2]);
	interval_release(&iv);
	state_release(&s);
}
END_TEST

/* Ended but not reaped at the end of the interval: still in it. */
START_TEST(test_ended_at_the_end)
{
	struct host_state s;
	struct interval iv;
	uint32_t row;

	state_init(&s);
	interval_init(&iv);
	row = state_add(&s, TABLE_THREAD);
	interval_begin(&iv, &s, BEGIN_NS, STATE_ALL_TABLES);
	state_frame_begin(&s);
	thread_change(&s, row, THREAD_RUNNING, 1200);
	thread_change(&s, row, THREAD_DEAD, 1250);
	state_end(&s, TABLE_THREAD, row);
	interval_end(&iv, &s, END_NS);
	ck_assert_uint_eq(iv.tables[TABLE_THREAD].n_rows, 1);
	ck_assert_uint_eq(VALUE(&iv, 1, cpu_ns), 50);
	/* reaped later while the interval continues: counted once */
	state_reap(&s, interval_retire, &iv);
	interval_end(&iv, &s, 3000);
	ck_assert_uint_eq(iv.tables[TABLE_THREAD].n_rows, 1);
	ck_assert_uint_eq(VALUE(&iv, 1, cpu_ns), 50);
	interval_release(&iv);
	state_release(&s);
}
END_TEST

/* A thread that ended before the interval is a row of it only if something was written back for it. */
START_TEST(test_ended_before)
{
	struct host_state s;
	struct interval iv;
	uint32_t quiet, gone, charged;

	state_init(&s);
	interval_init(&iv);
	quiet = state_add(&s, TABLE_THREAD);
	gone = state_add(&s, TABLE_THREAD);
	charged = state_add(&s, TABLE_THREAD);
	thread_change(&s, quiet, THREAD_DEAD, 400);
	thread_change(&s, gone, THREAD_DEAD, 400);
	thread_change(&s, charged, THREAD_DEAD, 400);
	interval_begin(&iv, &s, BEGIN_NS, STATE_ALL_TABLES);
	state_frame_begin(&s);
	thread(&s, charged)->disk_write_bytes += 4096;
	state_touch(&s, TABLE_THREAD, charged);
	state_end(&s, TABLE_THREAD, gone);
	state_reap(&s, interval_retire, &iv);
	interval_end(&iv, &s, END_NS);
	ck_assert_uint_eq(iv.tables[TABLE_THREAD].n_rows, 1);
	ck_assert_uint_eq(VALUE(&iv, 3, disk_write_bytes), 4096);
	interval_release(&iv);
	state_release(&s);
}
END_TEST

START_TEST(test_distributions)
{
	struct host_state s;
	struct interval iv;
	const struct interval_row *r;
	uint32_t row;

	state_init(&s);
	interval_init(&iv);
	row = state_add(&s, TABLE_THREAD);
	dist_add(&thread(&s, row)->latency, UINT64_MAX, 500);
	dist_add(&thread(&s, row)->latency, 1, 600);
	interval_begin(&iv, &s, BEGIN_NS, STATE_ALL_TABLES);
	interval_end(&iv, &s, BEGIN_NS);
	ck_assert_uint_eq(VALUE(&iv, 1, latency.count), 0);
	ck_assert_uint_eq(VALUE(&iv, 1, latency.min), UINT64_MAX);
	ck_assert_uint_eq(VALUE(&iv, 1, latency.max), 0);
	dist_add(&thread(&s, row)->latency, 7, 1500);
	dist_add(&thread(&s, row)->latency, UINT64_C(1) << 40, 1600);
	interval_end(&iv, &s, END_NS);
	r = interval_find(&iv, TABLE_THREAD, 1);
	ck_assert_uint_eq(VALUE(&iv, 1, latency.count), 2);
	ck_assert_uint_eq(VALUE(&iv, 1, latency.sum), (UINT64_C(1) << 40) + 7);
	ck_assert_uint_eq(VALUE(&iv, 1, latency.min), 7);
	ck_assert_uint_eq(VALUE(&iv, 1, latency.max), UINT64_C(1) << 40);
	ck_assert_uint_eq(VALUE(&iv, 1, latency.max_at), 1600);
	ck_assert(interval_square(&iv, TABLE_THREAD, r, CELL(thread, latency.sq_lo)) ==
		  ((unsigned __int128)1 << 80) + 49);
	interval_release(&iv);
	state_release(&s);
}
END_TEST

START_TEST(test_active)
{
	struct host_state s;
	struct interval iv;
	uint32_t row;

	state_init(&s);
	interval_init(&iv);
	for (unsigned i = 0; i < 4; i++)
		thread(&s, row = state_add(&s, TABLE_THREAD))->syscalls = 5;
	thread_change(&s, 2, THREAD_RUNNING, 10);
	interval_begin(&iv, &s, BEGIN_NS, STATE_ALL_TABLES);
	thread(&s, 0)->prio = 3;
	thread(&s, 1)->syscalls = 6;
	thread(&s, 3)->syscalls = 4; /* a decrease, which counters never have */
	interval_end(&iv, &s, END_NS);
	ck_assert(!interval_row_active(&iv, TABLE_THREAD, interval_find(&iv, TABLE_THREAD, 1)));
	ck_assert(interval_row_active(&iv, TABLE_THREAD, interval_find(&iv, TABLE_THREAD, 2)));
	ck_assert(interval_row_active(&iv, TABLE_THREAD, interval_find(&iv, TABLE_THREAD, 3)));
	ck_assert(!interval_row_active(&iv, TABLE_THREAD, interval_find(&iv, TABLE_THREAD, 4)));
	ck_assert_uint_eq(VALUE(&iv, 4, syscalls), 0);
	interval_release(&iv);
	state_release(&s);
}
END_TEST

/* An interval that is reused for fewer tables has none of its old contents. */
START_TEST(test_again)
{
	struct host_state s, other;
	struct interval iv;

	state_init(&s);
	state_init(&other);
	interval_init(&iv);
	state_add(&s, TABLE_THREAD);
	state_add(&s, TABLE_CPU);
	state_end(&s, TABLE_CPU, state_add(&s, TABLE_CPU));
	interval_begin(&iv, &other, BEGIN_NS, STATE_ALL_TABLES);
	state_reap(&s, interval_retire, &iv);
	interval_end(&iv, &s, END_NS);
	ck_assert_uint_eq(iv.tables[TABLE_CPU].n_rows, 2);
	ck_assert_ptr_nonnull(interval_find(&iv, TABLE_THREAD, 1));
	interval_begin(&iv, &s, END_NS, 1u << TABLE_CPU);
	ck_assert_ptr_null(interval_find(&iv, TABLE_CPU, 1));
	state_end(&s, TABLE_THREAD, 0);
	state_reap(&s, interval_retire, &iv);
	interval_end(&iv, &s, 3000);
	ck_assert_uint_eq(iv.tables[TABLE_CPU].n_rows, 1);
	ck_assert_uint_eq(iv.tables[TABLE_THREAD].n_rows, 0);
	ck_assert_ptr_null(interval_find(&iv, TABLE_THREAD, 1));
	ck_assert_ptr_null(interval_find(&iv, TABLE_CPU, 2));
	interval_release(&iv);
	state_release(&other);
	state_release(&s);
}
END_TEST

UNIT_MAIN("interval", test_accruals_are_cut, test_lives, test_ended_at_the_end, test_ended_before, test_distributions,
	  test_active, test_again)
