/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits: model/blocking.c and recent.c on hand-built events, and the table blocking. */
#include "unit.h"

#include <fcntl.h>

#include "events.h"
#include "model/files.h"
#include "model/interval.h"
#include "model/recent.h"
#include "view/rows.h"

enum { BEGIN = 1000, SLEEP = 1, RUNNABLE = 0, PREEMPTED = 0x100, STOPPED = 4 };
enum { A = 5, B = 6 };

static void begin(struct events *e)
{
	events_init(e);
	model_begin(e->m, BEGIN);
}

static void wake(struct events *e, uint64_t t, unsigned cpu, int64_t by, int64_t tid)
{
	EVENT(e, t, cpu, by, SCHED_WAKING, wakeup, .tid = tid);
}

/* tid is switched in on CPU 0 at t, after the idle task. */
static void run(struct events *e, uint64_t t, int64_t tid, const char *comm)
{
	events_switch(e, t, 0, 0, RUNNABLE, tid, comm);
}

static void sleep_at(struct events *e, uint64_t t, int64_t tid)
{
	events_switch(e, t, 0, tid, SLEEP, 0, "swapper/0");
}

/* The sum of the thread's rows for waits in that call (NULL: in none); *row: the last of them. */
static struct dist waits(struct events *e, int64_t tid, const char *call, const struct blocking_row **row)
{
	const struct state_table *t = &e->m->state.tables[TABLE_BLOCKING];
	strid name = call ? strpool_intern_z(call) : STRID_NONE;
	struct dist sum = { 0 };

	*row = NULL;
	for (uint32_t i = NO_ROW; (i = state_next(t, i)) != NO_ROW;) {
		const struct blocking_row *r = STATE_ROW(&e->m->state, BLOCKING, blocking, i);

		if (r->thread_uid != events_thread(e, tid)->uid || r->syscall != name)
			continue;
		*row = r;
		sum.count += r->time.count;
		sum.sum += r->time.sum;
		sum.max = MAX(sum.max, r->time.max);
		sum.max_at = r->time.max_at;
	}
	return sum;
}

static unsigned rows(struct events *e)
{
	return e->m->state.tables[TABLE_BLOCKING].n_alive;
}

START_TEST(test_from_switch_to_wakeup)
{
	const struct blocking_row *r;
	struct events e;
	struct dist d;

	begin(&e);
	run(&e, 1100, A, "five");
	SYSCALL_ENTRY(&e, 1110, 0, A, "openat", .path = str(&rec, "/data"));
	SYSCALL_EXIT(&e, 1120, 0, A, "openat", .ret = 3);
	SYSCALL_ENTRY(&e, 1130, 0, A, "read", .fd = 3);
	sleep_at(&e, 1200, A);
	ck_assert_uint_eq(rows(&e), 0); /* a wait counts when it ends */
	events_switch(&e, 1150, 1, 0, RUNNABLE, B, "waker");
	wake(&e, 1500, 1, B, A);
	wake(&e, 1600, 1, B, A); /* ready already */
	run(&e, 1700, A, "five");
	SYSCALL_EXIT(&e, 1710, 0, A, "read", .ret = 10);
	d = waits(&e, A, "read", &r);
	ck_assert_uint_eq(d.count, 1);
	ck_assert_uint_eq(d.sum, 300);
	ck_assert_uint_eq(d.max, 300);
	ck_assert_uint_eq(d.max_at, 1500);
	ck_assert_uint_eq(r->state, WAIT_BLOCKED);
	ck_assert_int_eq((int64_t)r->fd, 3);
	ck_assert_str_eq(strpool_text((strid)r->object), "/data");
	ck_assert_str_eq(strpool_text((strid)r->cause), "waker");
	/* the next wait of the same kind joins it */
	SYSCALL_ENTRY(&e, 1730, 0, A, "read", .fd = 3);
	sleep_at(&e, 1800, A);
	wake(&e, 2300, 1, B, A);
	d = waits(&e, A, "read", &r);
	ck_assert_uint_eq(rows(&e), 1);
	ck_assert_uint_eq(d.count, 2);
	ck_assert_uint_eq(d.sum, 800);
	ck_assert_uint_eq(d.max, 500);
	events_release(&e);
}
END_TEST

/* The peer for which connect() waits is shown although the socket has none yet; another peer gets another row. */
START_TEST(test_connect)
{
	static const char *const peers[] = { "10.0.0.1:80", "10.0.0.2:80" };
	const struct blocking_row *r;
	struct events e;

	begin(&e);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t t = 1100 + 1000 * i;

		run(&e, t, A, "wget");
		SYSCALL_ENTRY(&e, t + 10, 0, A, "connect", .fd = 3, .family = 2, .port = 80,
			      .addr = { GUINT64_TO_BE(UINT64_C(0x0a00000000000000) + ((uint64_t)(i + 1) << 32)) });
		sleep_at(&e, t + 100, A);
		wake(&e, t + 300, 1, B, A);
		run(&e, t + 400, A, "wget");
		SYSCALL_EXIT(&e, t + 410, 0, A, "connect", .ret = -111);
		events_switch(&e, t + 500, 0, A, RUNNABLE, 0, "swapper/0");
	}
	ck_assert_uint_eq(rows(&e), 2);
	for (uint32_t i = NO_ROW, n = 0; (i = state_next(&e.m->state.tables[TABLE_BLOCKING], i)) != NO_ROW;) {
		r = STATE_ROW(&e.m->state, BLOCKING, blocking, i);
		ck_assert_uint_eq(r->time.count, 1);
		ck_assert_str_eq(strpool_text((strid)r->object), peers[n++]);
	}
	events_release(&e);
}
END_TEST

/* A worker without work (TASK_IDLE) does not wait for the timer that brings some; a worker with work may. */
START_TEST(test_no_work)
{
	const struct blocking_row *r;
	struct events e;

	begin(&e);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t t = 1100 + 1000 * i;

		run(&e, t, A, "kworker/0:1");
		events_switch(&e, t + 100, 0, A, i ? 0x02 : 0x80, 0, "swapper/0");
		EVENT(&e, t + 200, 0, 0, SOFTIRQ_ENTRY, softirq, .vec = 1);
		wake(&e, t + 210, 0, 0, A);
		EVENT(&e, t + 220, 0, 0, SOFTIRQ_EXIT, softirq, .vec = 1);
		ck_assert_uint_eq(waits(&e, A, NULL, &r).count, i + 1);
		ck_assert_uint_eq(r->state, i ? WAIT_TIMER : WAIT_BLOCKED);
		run(&e, t + 300, A, "kworker/0:1");
		events_switch(&e, t + 400, 0, A, RUNNABLE, 0, "swapper/0");
	}
	events_release(&e);
}
END_TEST

START_TEST(test_what_is_no_wait)
{
	struct events e;

	begin(&e);
	run(&e, 1100, B, "six");
	events_switch(&e, 1300, 0, B, PREEMPTED, 0, "swapper/0");
	wake(&e, 1350, 1, 0, B);
	ck_assert_uint_eq(events_thread(&e, B)->state, THREAD_READY);
	run(&e, 1400, B, "six");
	events_switch(&e, 1500, 0, B, STOPPED, 0, "swapper/0");
	wake(&e, 1600, 1, 0, B);
	ck_assert_uint_eq(rows(&e), 0);
	/* the wait of a thread that slept before the recording started has no known start */
	wake(&e, 1700, 1, 0, 77);
	ck_assert_uint_eq(rows(&e), 0);
	events_release(&e);
}
END_TEST

/* The context of a wake-up shows what the thread waited for. */
START_TEST(test_states)
{
	static const struct {
		const char *call;
		enum wait_state state;
	} cases[] = { { "nanosleep", WAIT_TIMER }, { "recvfrom", WAIT_NETWORK }, { "fsync", WAIT_BLOCK_DEVICE } };
	const struct blocking_row *r;
	struct events e;
	uint64_t t = 2000;

	begin(&e);
	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++, t += 1000) {
		run(&e, t, A, "five");
		SYSCALL_ENTRY(&e, t + 10, 0, A, cases[i].call, .fd = 3);
		sleep_at(&e, t + 100, A);
		switch (cases[i].state) {
		case WAIT_TIMER:
			EVENT(&e, t + 200, 0, 0, HRTIMER_ENTRY, none);
			wake(&e, t + 210, 0, 0, A);
			EVENT(&e, t + 220, 0, 0, HRTIMER_EXIT, none);
			break;
		case WAIT_NETWORK:
			EVENT(&e, t + 200, 0, 0, SOFTIRQ_ENTRY, softirq, .vec = 3);
			wake(&e, t + 210, 0, 0, A);
			EVENT(&e, t + 220, 0, 0, SOFTIRQ_EXIT, softirq, .vec = 3);
			break;
		default:
			EVENT(&e, t + 200, 0, 0, SOFTIRQ_ENTRY, softirq, .vec = 4);
			wake(&e, t + 210, 0, 0, A);
			EVENT(&e, t + 220, 0, 0, SOFTIRQ_EXIT, softirq, .vec = 4);
		}
		run(&e, t + 300, A, "five");
		SYSCALL_EXIT(&e, t + 310, 0, A, cases[i].call, .ret = 0);
		ck_assert_uint_eq(waits(&e, A, cases[i].call, &r).sum, 110);
		ck_assert_uint_eq(r->state, cases[i].state);
		events_switch(&e, t + 400, 0, A, RUNNABLE, 0, "swapper/0");
	}
	/* no wake-up was seen: the wait lasts until the thread runs */
	run(&e, t, A, "five");
	sleep_at(&e, t + 100, A);
	run(&e, t + 500, A, "five");
	ck_assert_uint_eq(waits(&e, A, NULL, &r).sum, 400);
	ck_assert_uint_eq(r->state, WAIT_UNKNOWN);
	ck_assert_int_eq((int64_t)r->fd, -1);
	events_release(&e);
}
END_TEST

/*
 * Five sleeps from 1200 until it is woken at 1500 and switched in at 1600. Among lost events it may have run, and have
 * blocked on something else.
 */
START_TEST(test_lost_events)
{
	enum { NONE, BEFORE_IT, IN_IT, IN_IT_AND_UNWOKEN, GAP_FROM_BEFORE, GAP_IN_IT, WAYS };
	const struct blocking_row *r;
	struct events e;

	for (unsigned way = 0; way < WAYS; way++) {
		begin(&e);
		events_switch(&e, 1010, 1, 0, RUNNABLE, B, "six");
		run(&e, 1100, A, "five");
		if (way == BEFORE_IT)
			events_lose(&e, 1150, 1, 1140);
		if (way == GAP_FROM_BEFORE)
			events_gap(&e, 1150, 1, 1900);
		sleep_at(&e, 1200, A);
		if (way == GAP_IN_IT)
			events_gap(&e, 1300, 1, 1900);
		if (way == IN_IT || way == IN_IT_AND_UNWOKEN)
			events_lose(&e, 1400, 1, 1390);
		if (way != IN_IT_AND_UNWOKEN)
			wake(&e, 1500, 0, 0, A);
		run(&e, 1600, A, "five");
		ck_assert_msg(waits(&e, A, NULL, &r).count == (way == NONE || way == BEFORE_IT), "way %u", way);
		/* the next wait is like any other */
		if (way >= GAP_FROM_BEFORE)
			events_lose(&e, 1900, 1, 1150);
		sleep_at(&e, 2000, A);
		wake(&e, 2400, 0, 0, A);
		ck_assert_uint_eq(waits(&e, A, NULL, &r).max_at, 2400);
		events_release(&e);
	}
}
END_TEST

/* What woke it came as it was switched out: it was ready since, and only waited for a CPU. */
START_TEST(test_woken_while_it_is_switched_out)
{
	const struct blocking_row *r;
	struct events e;

	begin(&e);
	events_switch(&e, 1010, 1, 0, RUNNABLE, B, "six");
	run(&e, 1100, A, "five");
	wake(&e, 1190, 1, B, A);
	sleep_at(&e, 1200, A);
	run(&e, 1600, A, "five");
	ck_assert_uint_eq(rows(&e), 0);
	sleep_at(&e, 1700, A);
	wake(&e, 1800, 1, B, A);
	ck_assert_uint_eq(waits(&e, A, NULL, &r).sum, 100);
	events_release(&e);
}
END_TEST

/* A handler whose exit was not recorded has ended by the time the CPU switches threads. */
START_TEST(test_handler_without_exit)
{
	const struct blocking_row *r;
	struct events e;

	begin(&e);
	run(&e, 1100, A, "five");
	EVENT(&e, 1110, 0, A, IRQ_ENTRY, irq, .irq = 26, .name = str(&rec, "disk"));
	EVENT(&e, 1120, 0, A, SOFTIRQ_ENTRY, softirq, .vec = 4);
	events_switch(&e, 1200, 0, A, SLEEP, B, "six");
	wake(&e, 1300, 0, B, A);
	ck_assert_uint_eq(waits(&e, A, NULL, &r).sum, 100);
	ck_assert_uint_eq(r->state, WAIT_BLOCKED);
	ck_assert_str_eq(strpool_text((strid)r->cause), "six");
	events_release(&e);
}
END_TEST

/* It is not known which of several descriptors it was. */
START_TEST(test_one_of_several)
{
	static const char *const calls[] = { "epoll_wait", "poll", "futex" };
	const struct blocking_row *r;
	struct events e;
	uint64_t t = 2000;

	begin(&e);
	for (unsigned i = 0; i < G_N_ELEMENTS(calls); i++, t += 1000) {
		run(&e, t, A, "five");
		e.present = i == 0 ? ~0u : 0; /* only the first has a member fd */
		SYSCALL_ENTRY(&e, t + 10, 0, A, calls[i], .fd = 4);
		e.present = ~0u;
		sleep_at(&e, t + 100, A);
		wake(&e, t + 200, 1, 0, A);
		run(&e, t + 300, A, "five");
		SYSCALL_EXIT(&e, t + 310, 0, A, calls[i], .ret = 1);
		events_switch(&e, t + 400, 0, A, RUNNABLE, 0, "swapper/0");
		ck_assert_uint_eq(waits(&e, A, calls[i], &r).count, 1);
		ck_assert_int_eq((int64_t)r->fd, -1);
		ck_assert_uint_eq(r->object, STRID_NONE);
	}
	events_release(&e);
}
END_TEST

static unsigned count_rows(struct events *e, strid call)
{
	const struct state_table *t = &e->m->state.tables[TABLE_BLOCKING];
	unsigned n = 0;

	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;)
		n += STATE_ROW(&e->m->state, BLOCKING, blocking, row)->syscall == call;
	return n;
}

/* Three locks in turn: each has its own row, whether it was the last one or not. */
START_TEST(test_futexes)
{
	static const uint64_t addresses[] = { 0x7f0012345678, 0x7f0012345680, 0x10, 0x7f0012345678, 0x10, 0x10 };
	const struct blocking_row *r;
	struct events e;
	uint64_t t = 2000;
	char text[32];

	begin(&e);
	for (unsigned i = 0; i < G_N_ELEMENTS(addresses); i++, t += 1000) {
		run(&e, t, A, "five");
		e.present = 1u << ENTRY_ARG;
		SYSCALL_ENTRY(&e, t + 10, 0, A, "futex", .arg = addresses[i]);
		e.present = ~0u;
		sleep_at(&e, t + 100, A);
		wake(&e, t + 200, 1, 0, A);
		run(&e, t + 300, A, "five");
		SYSCALL_EXIT(&e, t + 310, 0, A, "futex", .ret = 0);
		events_switch(&e, t + 400, 0, A, RUNNABLE, 0, "swapper/0");
		g_snprintf(text, sizeof(text), "0x%llx", (unsigned long long)addresses[i]);
		if (i == 0) {
			waits(&e, A, "futex", &r);
			ck_assert_str_eq(strpool_text((strid)r->object), text);
		}
		ck_assert_uint_eq(count_rows(&e, strpool_intern_z("futex")), MIN(i + 1, 3));
	}
	events_release(&e);
}
END_TEST

/* A wait of 100 ns in read(fd), starting at t, that a thread on CPU 1 ends. */
static void wait_in_read_for(struct events *e, uint64_t t, int64_t fd, int64_t by)
{
	run(e, t, A, "five");
	SYSCALL_ENTRY(e, t + 10, 0, A, "read", .fd = fd);
	sleep_at(e, t + 100, A);
	wake(e, t + 200, 1, by, A);
	run(e, t + 300, A, "five");
	SYSCALL_EXIT(e, t + 310, 0, A, "read", .ret = 0);
	events_switch(e, t + 400, 0, A, RUNNABLE, 0, "swapper/0");
}

static void wait_in_read(struct events *e, uint64_t t, int64_t fd)
{
	wait_in_read_for(e, t, fd, 0);
}

/* /dir is open as 3. */
static void begin_with_directory(struct events *e)
{
	begin(e);
	run(e, 2000, A, "five");
	SYSCALL_ENTRY(e, 2010, 0, A, "openat", .fd = AT_FDCWD, .path = str(&rec, "/dir"));
	SYSCALL_EXIT(e, 2020, 0, A, "openat", .ret = 3);
	events_switch(e, 2030, 0, A, RUNNABLE, 0, "swapper/0");
}

/* The call waits for what was expected; all its waits in a test have different paths. */
static void expect_path(struct events *e, const char *call, int64_t fd, const char *given, int64_t want_fd,
			const char *want)
{
	const struct state_table *table = &e->m->state.tables[TABLE_BLOCKING];
	const uint64_t t = e->m->now_ns;
	unsigned found = 0;

	run(e, t + 100, A, "five");
	SYSCALL_ENTRY(e, t + 110, 0, A, call, .fd = fd, .path = str(&rec, given));
	sleep_at(e, t + 200, A);
	wake(e, t + 300, 1, 0, A);
	run(e, t + 400, A, "five");
	SYSCALL_EXIT(e, t + 410, 0, A, call, .ret = 0);
	events_switch(e, t + 500, 0, A, RUNNABLE, 0, "swapper/0");
	for (uint32_t i = NO_ROW; (i = state_next(table, i)) != NO_ROW;) {
		const struct blocking_row *r = STATE_ROW(&e->m->state, BLOCKING, blocking, i);

		found += r->syscall == strpool_intern_z(call) && (int64_t)r->fd == want_fd &&
			 strcmp(strpool_text((strid)r->object), want) == 0;
	}
	ck_assert_msg(found == 1, "%u waits in %s for '%s' as %d", found, call, want, (int)want_fd);
}

/* What a call waits for is the path that it was given, from its directory if that is known; not the directory's fd. */
START_TEST(test_paths)
{
	static const char *const calls[] = { "openat", "unlinkat", "newfstatat", "statx", "faccessat2", "readlinkat" };
	struct events e;

	for (unsigned i = 0; i < G_N_ELEMENTS(calls); i++) {
		begin_with_directory(&e);
		expect_path(&e, calls[i], 3, "one", -1, "/dir/one");
		expect_path(&e, calls[i], AT_FDCWD, "two", -1, "two");
		expect_path(&e, calls[i], AT_FDCWD, "/three/3", -1, "/three/3");
		expect_path(&e, calls[i], 3, "/four", -1, "/four");
		expect_path(&e, "newfstat", 3, "", 3, "/dir");
		events_release(&e);
	}
	begin_with_directory(&e);
	expect_path(&e, "execve", -1, "/bin/sh", -1, "/bin/sh");
	expect_path(&e, "execveat", 3, "sh", -1, "/dir/sh");
	expect_path(&e, "llistxattr", -1, "/a", -1, "/a");
	expect_path(&e, "newfstatat", 3, "", 3, "/dir"); /* of the fd itself: AT_EMPTY_PATH */
	expect_path(&e, "chdir", -1, "/dir", -1, "/dir");
	expect_path(&e, "rmdir", AT_FDCWD, "sub", -1, "/dir/sub");
	expect_path(&e, "memfd_create", -1, "name", -1, "name");
	events_release(&e);
}
END_TEST

static void frame(struct events *e)
{
	state_reap(&e->m->state, NULL, NULL);
	state_frame_begin(&e->m->state);
}

START_TEST(test_old_rows_end)
{
	struct events e;
	uint64_t t = 2000;

	begin(&e);
	wait_in_read(&e, t, 3);
	wait_in_read(&e, t += 1000, 4);
	frame(&e);
	ck_assert_uint_eq(rows(&e), 2);
	t += RECENT_AGE_NS + 1000;
	wait_in_read(&e, t, 5);
	frame(&e);
	ck_assert_uint_eq(rows(&e), 1);
	wait_in_read(&e, t += 1000, 3); /* a new row again */
	frame(&e);
	ck_assert_uint_eq(rows(&e), 2);
	events_release(&e);
}
END_TEST

START_TEST(test_rows_are_bounded)
{
	enum { MANY = 20000, LIMIT = 8192 };
	struct events e;

	begin(&e);
	for (unsigned i = 0; i < MANY; i++) {
		wait_in_read(&e, 2000 + i * 1000, 3 + i);
		ck_assert_uint_le(rows(&e) - e.m->state.tables[TABLE_BLOCKING].n_ended, LIMIT);
		if (i % 100 == 0)
			frame(&e);
	}
	ck_assert_uint_ge(rows(&e), LIMIT / 2);
	events_release(&e);
}
END_TEST

/* Within an interval, two rows of the same wait are merged: no time is lost, and the cause is that of the newest. */
START_TEST(test_table_adds_up)
{
	const struct view_table *table = view_table_find("blocking");
	struct view_query query = { .table = table };
	struct view_host host = { .name = "h" };
	struct view_rows view;
	struct interval iv;
	struct events e;
	struct value v;
	uint64_t t = 2000;

	begin(&e);
	interval_init(&iv);
	interval_begin(&iv, &e.m->state, BEGIN, view_query_tables(&query));
	events_switch(&e, t - 10, 1, 0, RUNNABLE, B, "first");
	wait_in_read_for(&e, t, 3, B);
	state_frame_begin(&e.m->state);
	t += RECENT_AGE_NS + 1000;
	wait_in_read_for(&e, t, 4, B);
	state_reap(&e.m->state, interval_retire, &iv);
	state_frame_begin(&e.m->state);
	ck_assert_uint_eq(rows(&e), 1);
	t += 1000;
	events_switch(&e, t - 10, 1, B, SLEEP, B + 1, "last");
	wait_in_read_for(&e, t, 3, B + 1);
	interval_end(&iv, &e.m->state, t + 1000);
	host.iv = &iv;
	view_rows_init(&view);
	view_rows_build(&view, &query, &host, 1);
	ck_assert_uint_eq(view.n, 2);
	for (unsigned i = 0; i < view.n; i++) {
		view_rows_value(&view, i, view_rows_column(&view, "fd"), &v);
		ck_assert_int_eq(v.i, 3 + i);
		view_rows_value(&view, i, view_rows_column(&view, "count"), &v);
		ck_assert_uint_eq(v.u, i == 0 ? 2 : 1);
		view_rows_value(&view, i, view_rows_column(&view, "total_ns"), &v);
		ck_assert_uint_eq(v.u, i == 0 ? 200 : 100);
		view_rows_value(&view, i, view_rows_column(&view, "max_ns"), &v);
		ck_assert_uint_eq(v.u, 100);
		view_rows_value(&view, i, view_rows_column(&view, "state"), &v);
		ck_assert_str_eq(v.text, "blocked");
		view_rows_value(&view, i, view_rows_column(&view, "syscall"), &v);
		ck_assert_str_eq(v.text, "read");
		view_rows_value(&view, i, view_rows_column(&view, "cause"), &v);
		ck_assert_str_eq(v.text, i == 0 ? "last" : "first");
	}
	view_rows_release(&view);
	interval_release(&iv);
	events_release(&e);
}
END_TEST

UNIT_MAIN("blocking", test_from_switch_to_wakeup, test_connect, test_no_work, test_what_is_no_wait, test_states,
	  test_lost_events, test_woken_while_it_is_switched_out, test_handler_without_exit, test_one_of_several,
	  test_futexes, test_paths, test_old_rows_end, test_rows_are_bounded, test_table_adds_up)
