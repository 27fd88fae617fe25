/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of view/ as differences from another interval. */
#include "unit.h"

#include <errno.h>

#include "base/strpool.h"
#include "view/dist.h"
#include "view/rows.h"

/* The baseline is one second long, the compared interval two. */
enum { MS = 1000000, BASE = 1000 * MS };
#define BEGIN (UINT64_C(3000) * MS)
#define END (UINT64_C(5000) * MS)

/* The baseline's state must stay unchanged: intervals point into it. */
static struct host_state baseline_state, state;
static struct interval baseline_iv, iv;
static struct view_host baseline_host, host;
static struct view_rows baseline, rows;

static struct thread_row *add_thread(struct host_state *s, int64_t tid, const char *comm)
{
	struct thread_row *row = STATE_ROW(s, THREAD, thread, state_add(s, TABLE_THREAD));

	row->tid = row->pid = (uint64_t)tid;
	row->ppid = 1;
	row->comm = strpool_intern_z(comm);
	return row;
}

static void setup(void)
{
	state_init(&baseline_state);
	state_init(&state);
	interval_init(&baseline_iv);
	interval_init(&iv);
	baseline_host = (struct view_host){ .name = "db", .iv = &baseline_iv };
	host = (struct view_host){ .name = "db", .iv = &iv };
	state_add(&baseline_state, TABLE_HOST);
	view_rows_init(&baseline);
	view_rows_init(&rows);
}

static void teardown(void)
{
	view_rows_release(&rows);
	view_rows_release(&baseline);
	interval_release(&baseline_iv);
	interval_release(&iv);
	state_release(&baseline_state);
	state_release(&state);
}

static void baseline_begins(void)
{
	interval_begin(&baseline_iv, &baseline_state, BASE, STATE_ALL_TABLES);
}

static void baseline_ends(void)
{
	interval_end(&baseline_iv, &baseline_state, BASE + 1000 * MS);
	state_copy(&state, &baseline_state, STATE_ALL_TABLES);
}

static void begins(void)
{
	interval_begin(&iv, &state, BEGIN, STATE_ALL_TABLES);
}

static void ends(void)
{
	interval_end(&iv, &state, END);
}

static struct thread_row *thread(uint32_t row)
{
	return STATE_ROW(&state, THREAD, thread, row);
}

static struct view_query compare(const char *table, const char *sort)
{
	struct view_query q = { .table = view_table_find(table) };

	view_rows_build(&baseline, &q, &baseline_host, 1);
	q.baseline = &baseline;
	q.sort = view_column_find(q.table->columns, q.table->n_columns, sort);
	view_rows_build(&rows, &q, &host, 1);
	return q;
}

static struct value get(unsigned i, const char *name)
{
	struct value v;

	ck_assert_uint_lt(i, rows.n);
	view_rows_value(&rows, i, view_rows_column(&rows, name), &v);
	return v;
}

#define ASSERT_INT(row, name, expected)                \
	do {                                           \
		struct value got = get(row, name);     \
                                                       \
		ck_assert_int_eq(got.kind, VALUE_INT); \
		ck_assert_int_eq(got.i, expected);     \
	} while (0)

/*
 * switches: "more" has 10 in a second, then 50 in two: 30 more than 20; "same" 3, then 6: no difference; "less" 8,
 * then 0; "new" 0, then 4.
 */
START_TEST(test_threads)
{
	struct thread_row *more = add_thread(&baseline_state, 10, "more"),
			  *same = add_thread(&baseline_state, 11, "same");
	struct thread_row *less = add_thread(&baseline_state, 12, "less"), *later;
	struct value v;

	baseline_begins();
	more->switches += 10;
	more->cpu_ns += 100 * MS;
	same->switches += 3;
	less->switches += 8;
	baseline_ends();
	more = thread(0);
	same = thread(1);
	later = add_thread(&state, 13, "new");
	begins();
	more->switches += 50;
	more->cpu_ns += 100 * MS;
	more->comm = strpool_intern_z("renamed");
	same->switches += 6;
	later->switches += 4;
	ends();
	compare("cpu", "switches");
	ck_assert_uint_eq(rows.n, 3);
	ASSERT_INT(0, "switches", 30);
	ASSERT_INT(0, "tid", 10);
	ASSERT_INT(0, "cpu_ns", -100 * MS);
	v = get(0, "cpu_percent"); /* 5 % now, 10 % then */
	ck_assert_int_eq(v.kind, VALUE_REAL);
	ck_assert_double_eq_tol(v.real, -5, 1e-9);
	ck_assert_str_eq(get(0, "comm").text, "renamed");
	ASSERT_INT(1, "tid", 13);
	ASSERT_INT(1, "switches", 4);
	ASSERT_INT(2, "tid", 12);
	ASSERT_INT(2, "switches", -16);
	ck_assert(!rows.rows[2].of_baseline);
}
END_TEST

/* A mean is not scaled, and not compared with a missing one. */
START_TEST(test_levels)
{
	struct thread_row *both = add_thread(&baseline_state, 10, "both"),
			  *one = add_thread(&baseline_state, 11, "one");

	baseline_begins();
	dist_add(&both->latency, 100, BASE + 1);
	dist_add(&one->latency, 40, BASE + 1);
	baseline_ends();
	both = thread(0);
	begins();
	dist_add(&both->latency, 70, BEGIN + 1);
	dist_add(&both->latency, 90, BEGIN + 1);
	dist_add(&both->latency, 80, BEGIN + 1);
	ends();
	compare("sched", "tid");
	ck_assert_uint_eq(rows.n, 2);
	ASSERT_INT(0, "avg_ns", -20);
	ASSERT_INT(0, "min_ns", -30);
	ASSERT_INT(0, "count", 1);
	ASSERT_INT(0, "total_ns", 40);
	ASSERT_INT(1, "count", -2);
	ASSERT_INT(1, "total_ns", -80);
	ck_assert_int_eq(get(1, "avg_ns").kind, VALUE_NULL);
}
END_TEST

/*
 * A thread that ended before the later interval is a row of the baseline, with its texts; it is found, sorted and
 * filtered.
 */
START_TEST(test_rows_of_baseline)
{
	struct thread_row *gone = add_thread(&baseline_state, 10, "gone"),
			  *here = add_thread(&baseline_state, 11, "here");
	struct view_filter filter;
	struct view_query q;

	baseline_begins();
	gone->switches += 5;
	here->switches += 1;
	baseline_ends();
	state_end(&state, TABLE_THREAD, 0);
	state_reap(&state, NULL, NULL);
	here = thread(1);
	begins();
	here->switches += 10;
	ends();
	q = compare("cpu", "switches");
	ck_assert_uint_eq(rows.n, 2);
	ASSERT_INT(0, "switches", 8);
	ck_assert(!rows.rows[0].of_baseline);
	ck_assert(rows.rows[1].of_baseline);
	ASSERT_INT(1, "switches", -10);
	ASSERT_INT(1, "tid", 10);
	ck_assert_str_eq(get(1, "comm").text, "gone");
	for (unsigned i = 0; i < rows.n_columns; i++)
		get(1, rows.columns[i].name);
	ck_assert(!get(1, "tracing").flag);
	ck_assert_ptr_eq(view_row_host(&rows, &rows.rows[1])->iv, &baseline_iv);
	ck_assert_uint_eq(view_rows_search(&rows, 0, "gone", false), 1);
	view_filter_init(&filter);
	ck_assert_int_eq(view_filter_parse(&filter, "comm:here", NULL), LT_OK);
	q.baseline = NULL;
	q.filter = &filter;
	view_rows_build(&baseline, &q, &baseline_host, 1);
	q.baseline = &baseline;
	view_rows_build(&rows, &q, &host, 1);
	ck_assert_uint_eq(rows.n, 1);
	ASSERT_INT(0, "switches", 8);
	view_filter_release(&filter);
	/* nothing is known about the host now: as if the interval were as long, and empty */
	host.iv = NULL;
	compare("cpu", "switches");
	ck_assert_uint_eq(rows.n, 2);
	ASSERT_INT(0, "switches", -1);
	ASSERT_INT(1, "switches", -5);
	/* the same interval twice */
	host.iv = &baseline_iv;
	compare("cpu", "switches");
	ck_assert_uint_eq(rows.n, 0);
}
END_TEST

/* Perf counters are columns that come with the rows: they are matched by name. */
START_TEST(test_counters)
{
	struct thread_row *sh = add_thread(&baseline_state, 10, "sh");
	struct perf_row *a, *b;

	baseline_begins();
	b = STATE_ROW(&baseline_state, PERF, perf, state_add(&baseline_state, TABLE_PERF));
	b->thread_uid = sh->uid;
	b->counter = strpool_intern_z("perf_cpu_b");
	b->value = 7;
	baseline_ends();
	begins();
	a = STATE_ROW(&state, PERF, perf, state_add(&state, TABLE_PERF));
	b = STATE_ROW(&state, PERF, perf, 0);
	a->thread_uid = sh->uid;
	a->counter = strpool_intern_z("perf_cpu_a");
	a->value = 5;
	b->value += 20;
	ends();
	compare("counters", "tid");
	ck_assert_uint_eq(rows.n, 1);
	ASSERT_INT(0, "perf_cpu_a", 5);
	ASSERT_INT(0, "perf_cpu_b", 6);
}
END_TEST

static void add_call(struct host_state *s, uint64_t thread_uid, const char *name)
{
	struct syscall_row *row = STATE_ROW(s, SYSCALL, syscall, state_add(s, TABLE_SYSCALL));

	row->thread_uid = thread_uid;
	row->name = strpool_intern_z(name);
}

static void add_error(struct host_state *s, uint64_t thread_uid, const char *name, unsigned error)
{
	struct syserr_row *row = STATE_ROW(s, SYSERR, syserr, state_add(s, TABLE_SYSERR));

	row->thread_uid = thread_uid;
	row->name = strpool_intern_z(name);
	row->error = error;
}

static void failed(struct host_state *s, uint32_t call, uint32_t error, uint64_t count)
{
	STATE_ROW(s, SYSCALL, syscall, call)->count += count;
	STATE_ROW(s, SYSCALL, syscall, call)->errors += count;
	STATE_ROW(s, SYSERR, syserr, error)->count += count;
}

static void expect_item(const struct value *v, unsigned i, const char *name, int64_t count)
{
	ck_assert_uint_lt(i, v->list.n);
	ck_assert_str_eq(v->list.items[i].name, name);
	ck_assert_int_eq(v->list.items[i].count, count);
}

/*
 * Errors are differences, too, scaled like the counts. Of "read" and "open", the one has 3 EAGAIN and an EINTR in a
 * second, then 8 EAGAIN and an EIO in two; the other 2 ENOENT, then 4: nothing differs. "stat" has no calls at first,
 * "close" none later.
 */
START_TEST(test_errors)
{
	enum { READ, OPEN, CLOSE, STAT };
	enum { READ_EAGAIN, READ_EINTR, OPEN_ENOENT, CLOSE_EBADF, READ_EIO, STAT_ENOENT };
	const uint64_t uid = add_thread(&baseline_state, 10, "sh")->uid;
	struct value v;

	add_call(&baseline_state, uid, "read");
	add_call(&baseline_state, uid, "open");
	add_call(&baseline_state, uid, "close");
	add_error(&baseline_state, uid, "read", EAGAIN);
	add_error(&baseline_state, uid, "read", EINTR);
	add_error(&baseline_state, uid, "open", ENOENT);
	add_error(&baseline_state, uid, "close", EBADF);
	baseline_begins();
	failed(&baseline_state, READ, READ_EAGAIN, 3);
	failed(&baseline_state, READ, READ_EINTR, 1);
	failed(&baseline_state, OPEN, OPEN_ENOENT, 2);
	failed(&baseline_state, CLOSE, CLOSE_EBADF, 5);
	baseline_ends();
	add_call(&state, uid, "stat");
	add_error(&state, uid, "read", EIO);
	add_error(&state, uid, "stat", ENOENT);
	begins();
	failed(&state, READ, READ_EAGAIN, 8);
	failed(&state, READ, READ_EIO, 1);
	failed(&state, OPEN, OPEN_ENOENT, 4);
	failed(&state, STAT, STAT_ENOENT, 7);
	ends();
	compare("syscalls", "count");
	ck_assert_uint_eq(rows.n, 3);
	ck_assert_str_eq(get(0, "name").text, "stat");
	v = get(0, "errors");
	ck_assert_int_eq(v.kind, VALUE_OBJECT);
	ck_assert_uint_eq(v.list.n, 1);
	expect_item(&v, 0, "ENOENT", 7);
	ck_assert_str_eq(get(1, "name").text, "read");
	ASSERT_INT(1, "failed", 1);
	v = get(1, "errors");
	ck_assert_uint_eq(v.list.n, 3);
	expect_item(&v, 0, "EIO", 1);
	expect_item(&v, 1, "EAGAIN", 2);
	expect_item(&v, 2, "EINTR", -2);
	ck_assert_str_eq(get(2, "name").text, "close");
	v = get(2, "errors");
	ck_assert_uint_eq(v.list.n, 1);
	expect_item(&v, 0, "EBADF", -10);
	/* the same interval twice */
	host.iv = &baseline_iv;
	compare("syscalls", "count");
	ck_assert_uint_eq(rows.n, 0);
	/* nothing is known of the host then */
	host.iv = &iv;
	baseline_host.iv = NULL;
	compare("syscalls", "count");
	ck_assert_uint_eq(rows.n, 3);
	ck_assert_int_eq(get(0, "errors").kind, VALUE_NULL);
}
END_TEST

/* A host that has no data in the baseline: its rows are there, but nothing says how their figures differ. */
START_TEST(test_no_baseline)
{
	struct thread_row *sh = add_thread(&baseline_state, 10, "sh");
	struct view_query q = { .table = view_table_find("cpu") };

	baseline_begins();
	baseline_ends();
	sh = thread(0);
	begins();
	sh->switches += 50;
	sh->cpu_ns += 100 * MS;
	ends();
	baseline_host.iv = NULL;
	compare("cpu", "switches");
	ck_assert_uint_eq(rows.n, 1);
	ASSERT_INT(0, "tid", 10);
	ck_assert_str_eq(get(0, "comm").text, "sh");
	ck_assert_int_eq(get(0, "switches").kind, VALUE_NULL);
	ck_assert_int_eq(get(0, "cpu_ns").kind, VALUE_NULL);
	ck_assert_int_eq(get(0, "cpu_percent").kind, VALUE_NULL);
	/* nor if the host was added later */
	view_rows_build(&baseline, &q, &baseline_host, 0);
	q.baseline = &baseline;
	view_rows_build(&rows, &q, &host, 1);
	ck_assert_uint_eq(rows.n, 1);
	ck_assert_int_eq(get(0, "switches").kind, VALUE_NULL);
}
END_TEST

UNIT_MAIN_AROUND("view differences", setup, teardown, test_threads, test_levels, test_rows_of_baseline,
		 test_no_baseline, test_counters, test_errors)
