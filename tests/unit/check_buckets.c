/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The buckets of distributions: the values they hold, and the rows they belong to. */
#include "unit.h"

#include "events.h"
#include "model/buckets.h"

static void check_value(uint64_t value)
{
	const unsigned bucket = bucket_of(value);
	const uint64_t middle = bucket_middle(bucket), error = middle > value ? middle - value : value - middle;

	ck_assert_uint_lt(bucket, BUCKETS);
	ck_assert_uint_ge(value, bucket_first(bucket));
	ck_assert_uint_lt(value - bucket_first(bucket), bucket_width(bucket));
	ck_assert_uint_le(error, value / 16);
}

START_TEST(test_every_value_has_a_bucket)
{
	uint64_t next = 0;

	for (unsigned i = 0; i < BUCKETS; i++) {
		/* no gaps, up to the last value */
		ck_assert_uint_eq(bucket_first(i), next);
		next += bucket_width(i);
		check_value(bucket_first(i));
		check_value(bucket_first(i) + bucket_width(i) / 2);
		check_value(next - 1);
		ck_assert_uint_eq(bucket_of(next - 1), i);
	}
	ck_assert_uint_eq(next, 0);
	/* as in the drawing in the header */
	ck_assert_uint_eq(bucket_of(31), 23);
	ck_assert_uint_eq(bucket_of(32), 24);
	ck_assert_uint_eq(bucket_of(35), 24);
	ck_assert_uint_eq(bucket_first(495), UINT64_MAX - (UINT64_C(1) << 60) + 1);
}
END_TEST

/* The number of values of a distribution in a bucket, over living and ended rows. */
static uint64_t in_bucket(const struct events *e, uint64_t owner_uid, uint64_t dist, unsigned bucket)
{
	const struct state_table *t = &e->m->state.tables[TABLE_BUCKET];

	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;) {
		const struct bucket_row *r = STATE_ROW(&e->m->state, BUCKET, bucket, row);

		if (!(t->flags[row] & ROW_ENDED) && r->owner_uid == owner_uid && r->dist == dist &&
		    r->part == bucket / BUCKETS_IN_ROW)
			return (&r->first)[bucket % BUCKETS_IN_ROW];
	}
	return 0;
}

static void wake_and_run(struct events *e, uint64_t *t, int64_t tid, uint64_t latency_ns, uint64_t slice_ns)
{
	EVENT(e, *t, 0, 0, SCHED_WAKING, wakeup, .tid = tid);
	*t += latency_ns;
	events_switch(e, *t, 0, 0, 0, tid, "task");
	*t += slice_ns;
	events_switch(e, *t, 0, tid, 1, 0, "swapper/0");
}

START_TEST(test_latencies_and_slices)
{
	const uint64_t latency = bucket_dist(TABLE_THREAD, CELL(thread, latency.count));
	const uint64_t slice = bucket_dist(TABLE_THREAD, CELL(thread, slice.count));
	uint64_t t = 1000, five, six;
	struct events e;

	events_init(&e);
	model_begin(e.m, t);
	for (int i = 0; i < 10; i++) {
		wake_and_run(&e, &t, 5, 1000, 40);
		wake_and_run(&e, &t, 5, 1000000, 41);
		wake_and_run(&e, &t, 6, 7, 1000);
	}
	five = events_thread(&e, 5)->uid;
	six = events_thread(&e, 6)->uid;
	/* 1000 is in 960–1023, 1000000 in 983040–1048575, 40 and 41 in 40–43 */
	ck_assert_uint_eq(in_bucket(&e, five, latency, 63), 10);
	ck_assert_uint_eq(bucket_first(63), 960);
	ck_assert_uint_eq(in_bucket(&e, five, latency, 143), 10);
	ck_assert_uint_eq(bucket_first(143), 983040);
	ck_assert_uint_eq(in_bucket(&e, five, slice, 26), 20);
	ck_assert_uint_eq(bucket_first(26), 40);
	ck_assert_uint_eq(in_bucket(&e, six, latency, 7), 10);
	ck_assert_uint_eq(in_bucket(&e, six, slice, 63), 10);
	ck_assert_uint_eq(e.m->state.tables[TABLE_BUCKET].n_alive, 5);
	ck_assert_uint_eq(events_thread(&e, 5)->slice.count, 20);
	ck_assert_uint_eq(events_thread(&e, 5)->slice.sum, 810);
	events_release(&e);
}
END_TEST

/* A thread that ran when the recording started, or before events were lost, has no known start of its time slice. */
START_TEST(test_slices_without_begin)
{
	struct events e;

	events_init(&e);
	model_begin(e.m, 1000);
	events_switch(&e, 1100, 0, 5, 1, 6, "six");
	ck_assert_uint_eq(events_thread(&e, 5)->cpu_ns, 100);
	ck_assert_uint_eq(events_thread(&e, 5)->slice.count, 0);
	events_switch(&e, 1150, 0, 6, 1, 5, "five");
	ck_assert_uint_eq(events_thread(&e, 6)->slice.sum, 50);
	events_lose(&e, 1160, 3, 0);
	events_switch(&e, 1200, 0, 5, 1, 6, "six");
	ck_assert_uint_eq(events_thread(&e, 5)->slice.count, 0);
	events_release(&e);
}
END_TEST

/* The rows end with the thread's row, and the next thread with that row number starts without any. */
START_TEST(test_buckets_end_with_their_thread)
{
	uint64_t t = 1000;
	struct events e;

	events_init(&e);
	model_begin(e.m, t);
	for (int i = 0; i < 3; i++) {
		wake_and_run(&e, &t, 5, 1000, 40);
		SYSCALL_ENTRY(&e, t, 0, 5, "read", .fd = -1, .fd2 = -1);
		SYSCALL_EXIT(&e, t + 9, 0, 5, "read", .ret = 0);
		t += 9;
		ck_assert_uint_eq(e.m->state.tables[TABLE_BUCKET].n_alive, 3);
		EVENT(&e, t, 0, 5, EXIT, task, .tid = 5);
		EVENT(&e, t, 0, 0, FREE, task, .tid = 5);
		ck_assert_uint_eq(e.m->state.tables[TABLE_BUCKET].n_ended, 3);
		state_reap(&e.m->state, NULL, NULL);
		state_frame_begin(&e.m->state);
		ck_assert_uint_eq(e.m->state.tables[TABLE_BUCKET].n_alive, 0);
	}
	events_release(&e);
}
END_TEST

START_TEST(test_only_wanted_tables)
{
	uint64_t t = 1000;
	struct events e;

	events_init(&e);
	model_set_buckets(e.m, 1u << TABLE_SYSCALL);
	model_begin(e.m, t);
	wake_and_run(&e, &t, 5, 1000, 40);
	ck_assert_uint_eq(e.m->state.tables[TABLE_BUCKET].n_alive, 0);
	ck_assert_uint_eq(events_thread(&e, 5)->latency.count, 1);
	SYSCALL_ENTRY(&e, t, 0, 5, "read", .fd = -1, .fd2 = -1);
	SYSCALL_EXIT(&e, t + 9, 0, 5, "read", .ret = 0);
	ck_assert_uint_eq(e.m->state.tables[TABLE_BUCKET].n_alive, 1);
	events_release(&e);
}
END_TEST

UNIT_MAIN("buckets", test_every_value_has_a_bucket, test_latencies_and_slices, test_slices_without_begin,
	  test_buckets_end_with_their_thread, test_only_wanted_tables)
