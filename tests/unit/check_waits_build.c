/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From wait events to the graph: what threads and CPUs do. */
#include "waits_events.h"

START_TEST(test_wake_up_by_a_task)
{
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 7, 1, 8);
	woken(&t, 0, 20, 0, 7);
	woken(&t, 0, 22, 0, 7); /* it is already ready */
	woken(&t, 0, 23, 0, 8); /* it is running */
	switched(&t, 0, 30, 0, 8, 0x100, 7);
	finish(&t, 1);
	check(&t, 0, 7, "10 B<8@20 20 P 30");
	check(&t, 0, 8, "10 R 30"); /* a link may start within an edge that is running */
	ck_assert_uint_eq(waits_now(t.w), 31);
	end(&t);
}
END_TEST

/* It was woken as it was switched out: it has been ready, also if it had no work. */
START_TEST(test_ready_since_switched_out)
{
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 7, 1, 8);
	switched(&t, 0, 30, 0, 8, 0x402, 7);
	t.log[0].events[1].was_ready = true;
	switched(&t, 0, 40, 0, 7, 1, 8);
	t.log[0].events[2].was_ready = true;
	switched(&t, 0, 50, 0, 8, 1, 7);
	finish(&t, 1);
	check(&t, 0, 7, "10 P 30 R 40 B 50");
	check(&t, 0, 8, "10 R 30 P 40 R 50");
	end(&t);
}
END_TEST

/* An idle task wakes nobody: it was an interrupt that was not recorded. */
START_TEST(test_woken_on_an_idle_cpu)
{
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 7, 1, 0);
	woken(&t, 0, 20, 0, 7);
	switched(&t, 0, 30, 0, 0, 0, 7);
	switched(&t, 0, 40, 0, 7, 0x80, 0);
	woken(&t, 0, 50, 0, 7);
	switched(&t, 0, 60, 0, 0, 0, 7);
	finish(&t, 1);
	check(&t, 0, 7, "10 B 20 P 30 R 40 i 50 P 60");
	end(&t);
}
END_TEST

/* The state of a thread that was switched out, by prev_state. */
START_TEST(test_states_when_switched_out)
{
	static const struct {
		int prev_state;
		const char *state;
	} cases[] = {
		{ 0, "P" },     { 1, "B" },    { 2, "B" },     { 0x100, "P" },
		{ 0x101, "P" }, { 0x80, "i" }, { 0x402, "i" }, { 0x40, "B" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char want[32];
		struct test t;

		begin(&t, 1);
		switched(&t, 0, 10, 0, 7, cases[i].prev_state, 8);
		switched(&t, 0, 30, 0, 8, 1, 7);
		finish(&t, 1);
		g_snprintf(want, sizeof(want), "10 %s 30", cases[i].state);
		check(&t, 0, 7, want);
		end(&t);
	}
}
END_TEST

/* Stopped and traced are not waits. */
START_TEST(test_stopped)
{
	static const unsigned stopped[] = { 1, 3, 6 };
	const struct wait_graph *g;
	const struct graph_row *r;
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 7, 4, 8);
	switched(&t, 0, 20, 0, 8, 8, 7);
	switched(&t, 0, 30, 0, 7, 4, 8);
	woken(&t, 0, 40, 0, 7); /* by a shell, with SIGCONT */
	switched(&t, 0, 50, 0, 8, 4, 7);
	switched(&t, 0, 60, 0, 7, 4, 9);
	woken_by_softirq(&t, 0, 70, 0, 7, 1, WAIT_TIMER);
	finish(&t, 1);
	check(&t, 0, 7, "10 B 20 R 30 B 40 P 50 R 60 B 70");
	g = waits_graph(t.w);
	r = &g->rows[waits_find(t.w, 0, 7, UINT64_MAX)];
	for (unsigned i = 0; i < G_N_ELEMENTS(stopped); i++)
		ck_assert_str_eq(strpool_text(causes_get(&g->causes, row_vertex(r, stopped[i])->cause)->name),
				 "stopped");
	r = &g->rows[waits_find(t.w, 0, 8, UINT64_MAX)];
	ck_assert_str_eq(strpool_text(causes_get(&g->causes, row_vertex(r, 2)->cause)->name), "traced");
	ck_assert_str_eq(strpool_text(r->present_cause.name), "stopped"); /* and still is */
	end(&t);
}
END_TEST

/* TASK_IDLE: a worker without work, whichever thread brings it some; it did not wait for a disk or a timer. */
START_TEST(test_idle)
{
	const struct wait_graph *g;
	const struct graph_row *r;
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 7, 0x80, 8);
	woken(&t, 0, 20, 0, 7);
	switched(&t, 0, 30, 0, 8, 0, 7);
	switched(&t, 0, 40, 0, 7, 0x402, 8); /* the form before 4.14 */
	woken_by_softirq(&t, 0, 50, 0, 7, 4, WAIT_BLOCK_DEVICE);
	switched(&t, 0, 60, 0, 8, 0, 7);
	switched(&t, 0, 70, 0, 7, 2, 8); /* in the middle of its work, it waits like any other thread */
	woken_by_softirq(&t, 0, 80, 0, 7, 4, WAIT_BLOCK_DEVICE);
	switched(&t, 0, 90, 0, 8, 0, 7);
	switched(&t, 0, 100, 0, 7, 0x80, 8);
	switched(&t, 0, 110, 0, 8, 0, 7); /* its wake-up was not seen */
	finish(&t, 1);
	check(&t, 0, 7, "10 i<8@20 20 P 30 R 40 i 50 P 60 R 70 D 80 P 90 R 100 i 110");
	g = waits_graph(t.w);
	r = &g->rows[waits_find(t.w, 0, 7, UINT64_MAX)];
	ck_assert_str_eq(strpool_text(causes_get(&g->causes, row_vertex(r, 4)->cause)->name), "idle");
	end(&t);
}
END_TEST

/*
 * A sleep whose start was not seen: what the state dump saw waiting, what began before this part of a recording, and
 * what began where events were lost. A kworker had no work, whatever woke it; others waited for what woke them.
 */
START_TEST(test_asleep_already)
{
	enum { DUMPED, MIDWAY, LOST, WAYS };
	static const struct {
		const char *comm, *want[WAYS];
	} cases[] = {
		{ "kworker/0:2H", { "10 i 20 P 30", "10 i 20 P 30", "3 R 5 ? 10 i 20 P 30" } },
		{ "kworkers", { "10 D 20 P 30", "10 D 20 P 30", "3 R 5 ? 10 D 20 P 30" } },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		for (unsigned way = 0; way < WAYS; way++) {
			struct wait_event *e;
			struct test t;

			begin(&t, 1);
			if (way == DUMPED) {
				e = add(&t, 0, 10, WAIT_EVENT_STATUS, 0);
				e->tid = 7;
				e->status = 5;
				e->comm = strpool_intern_z(cases[i].comm);
			} else if (way == MIDWAY) {
				waits_begin_midway(t.w, 0, 10);
			} else {
				switched(&t, 0, 3, 1, 9, 1, 7);
				e = add(&t, 0, 4, WAIT_EVENT_RENAME, 1);
				e->tid = 7;
				e->comm = strpool_intern_z(cases[i].comm);
				switched(&t, 0, 5, 1, 7, 1, 9);
				add(&t, 0, 10, WAIT_EVENT_INTERRUPT, WAIT_ALL_CPUS);
			}
			e = woken_by_softirq(&t, 0, 20, 0, 7, 4, WAIT_BLOCK_DEVICE);
			e->comm = strpool_intern_z(cases[i].comm);
			switched(&t, 0, 30, 0, 8, 1, 7);
			finish(&t, 1);
			check(&t, 0, 7, cases[i].want[way]);
			end(&t);
		}
	}
}
END_TEST

/* A part of a recording: its first switch shows what has run and what has waited for a CPU since the part began. */
START_TEST(test_switched_midway)
{
	struct test t;

	begin(&t, 1);
	waits_begin_midway(t.w, 0, 10);
	switched(&t, 0, 20, 0, 7, 1, 8);
	switched(&t, 0, 30, 0, 8, 1, 7);
	finish(&t, 1);
	check(&t, 0, 7, "10 R 20 B 30");
	check(&t, 0, 8, "10 P 20 R 30");
	end(&t);
}
END_TEST

static void runs(struct test *t, uint64_t t_ns, unsigned cpu, int tid, uint64_t since_ns)
{
	struct wait_event *e = add(t, 0, t_ns, WAIT_EVENT_RUNS, cpu);

	e->tid = tid;
	e->since_ns = since_ns;
}

/*
 * What CPUs run when their record begins, known at once or from a later event; whom it wakes waited for it. A thread
 * that has events already, and a CPU that lost some, are not changed.
 */
START_TEST(test_runs_at_first)
{
	struct wait_path path;
	struct test t;

	wait_path_init(&path);
	begin(&t, 1);
	runs(&t, 10, 0, 7, 10);
	runs(&t, 12, 1, 9, 10);
	runs(&t, 13, 4, 5, 11);
	woken(&t, 0, 20, 0, 8);
	switched(&t, 0, 30, 0, 7, 1, 8);
	runs(&t, 31, 2, 7, 31);
	add(&t, 0, 32, WAIT_EVENT_INTERRUPT, 3);
	runs(&t, 33, 3, 6, 32);
	switched(&t, 0, 40, 1, 9, 1, 7);
	switched(&t, 0, 50, 3, 6, 1, 0);
	finish(&t, 1);
	check(&t, 0, 7, "10 R 30 B 40");
	check(&t, 0, 8, "<7@20 20 P 30");
	check(&t, 0, 9, "10 R 40");
	check(&t, 0, 6, "50");
	waits_path(t.w, waits_find(t.w, 0, 5, UINT64_MAX), 0, 50, &path); /* it runs all the time */
	ck_assert_uint_eq(path.n, 1);
	ck_assert_uint_eq(path.segments[0].begin_ns, 11);
	ck_assert_uint_eq(path.segments[0].end_ns, 50);
	ck_assert_int_eq(path.segments[0].state, WAIT_RUNNING);
	wait_path_release(&path);
	end(&t);
}
END_TEST

START_TEST(test_fork_and_reuse_of_a_tid)
{
	struct wait_event *e;
	wait_row first;
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 5, 1, 7);
	add(&t, 0, 12, WAIT_EVENT_EXIT, 0)->tid = 7;
	switched(&t, 0, 20, 0, 7, 0x20, 8);
	e = add(&t, 0, 30, WAIT_EVENT_FORK, 0);
	e->tid = 7;
	e->from_tid = 8;
	e->comm = strpool_intern_z("second");
	woken(&t, 0, 31, 0, 7)->new_task = true;
	switched(&t, 0, 40, 0, 8, 1, 7);
	finish(&t, 1);
	check(&t, 0, 7, "+8@31 31 P 40");
	first = waits_find(t.w, 0, 7, 25);
	check_row(&t, first, "10 R 12 R 20");
	ck_assert_str_eq(strpool_text(waits_who(t.w, waits_find(t.w, 0, 7, UINT64_MAX)).comm), "second");
	ck_assert_uint_eq(waits_find(t.w, 0, 9, UINT64_MAX), WAIT_NO_ROW);
	end(&t);
}
END_TEST

/* Thread 5 waits from 10 to 40 for what 9 does, which becomes 7 at 30. */
static void check_path_across_exec(struct test *t)
{
	struct wait_path path;

	wait_path_init(&path);
	waits_path(t->w, waits_find(t->w, 0, 5, UINT64_MAX), 0, 40, &path);
	ck_assert_uint_eq(path.n, 2);
	ck_assert_int_eq(waits_who(t->w, path.segments[0].row).tid, 9);
	ck_assert_uint_eq(path.segments[0].begin_ns, 10);
	ck_assert_uint_eq(path.segments[0].end_ns, 30);
	ck_assert_int_eq(waits_who(t->w, path.segments[1].row).tid, 7);
	ck_assert_uint_eq(path.segments[1].end_ns, 40);
	wait_path_release(&path);
}

/*
 * Thread 9 executes a program: it continues as 7, with a row of its own. The first thread has exited, whether its last
 * switch has been seen by then or comes later, under the other TID.
 */
START_TEST(test_exec_takes_over_tid)
{
	struct wait_event *e;
	struct test t;

	for (unsigned seen = 0; seen < 2; seen++) {
		begin(&t, 1);
		switched(&t, 0, 10, 0, 5, 1, 7);
		switched(&t, 0, 10, 1, 0, 0, 9);
		add(&t, 0, 12, WAIT_EVENT_EXIT, 0)->tid = 7;
		if (seen)
			switched(&t, 0, 20, 0, 7, 0x20, 6);
		e = add(&t, 0, 30, WAIT_EVENT_RENAME, 1);
		e->tid = 7;
		e->from_tid = 9;
		if (!seen)
			switched(&t, 0, 35, 0, 9, 0x20, 6);
		woken(&t, 0, 40, 1, 5);
		switched(&t, 0, 50, 1, 7, 1, 8);
		finish(&t, 1);
		check_row(&t, waits_find(t.w, 0, 7, 25), seen ? "10 R 12 R 20" : "10 R 12");
		check_row(&t, waits_find(t.w, 0, 9, 30), "10 R 30");
		check(&t, 0, 7, "+9@30 30 R 50");
		check(&t, 0, 5, "10 B<7@40 40");
		check_path_across_exec(&t);
		end(&t);
	}
}
END_TEST

/* Which thread is switched out is not known: that does not concern those that run elsewhere. */
START_TEST(test_switched_from_nobody)
{
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 0, 0, 7);
	switched(&t, 0, 20, 1, -1, 0x20, 8);
	switched(&t, 0, 30, 0, 7, 1, 0);
	switched(&t, 0, 40, 1, 8, 1, 0);
	finish(&t, 1);
	check(&t, 0, 7, "10 R 30");
	check(&t, 0, 8, "20 R 40");
	ck_assert_uint_eq(row_of_cpu(&t, 0, -1, 1), WAIT_NO_ROW);
	end(&t);
}
END_TEST

/* Before 4.14 a thread that exits shows TASK_DEAD; parked threads and idle sleepers show the same bits. */
/* Its path ends with its exit, whether its last switch is seen or not; events in between count. */
START_TEST(test_path_ends_with_the_exit)
{
	struct wait_path path;
	struct test t;

	wait_path_init(&path);
	for (unsigned seen = 0; seen < 2; seen++) {
		begin(&t, 1);
		switched(&t, 0, 10, 0, 5, 1, 7);
		add(&t, 0, 12, WAIT_EVENT_EXIT, 0)->tid = 7;
		woken(&t, 0, 15, 0, 5);
		if (seen)
			switched(&t, 0, 20, 0, 7, 0x10, 8);
		woken(&t, 0, 90, 1, 9);
		finish(&t, 1);
		check(&t, 0, 7, seen ? "10 R 12 R 15 R 20" : "10 R 12 R 15");
		check(&t, 0, 5, "10 B<7@15 15");
		waits_path(t.w, waits_find(t.w, 0, 7, UINT64_MAX), 0, 100, &path);
		ck_assert_uint_eq(path.end_ns, seen ? 20 : 15);
		end(&t);
	}
	wait_path_release(&path);
}
END_TEST

START_TEST(test_end_of_old_kernels)
{
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 5, 1, 7);
	add(&t, 0, 12, WAIT_EVENT_EXIT, 0)->tid = 7;
	switched(&t, 0, 20, 0, 7, 0x40, 8);
	switched(&t, 0, 30, 0, 8, 0x40, 7);
	switched(&t, 0, 40, 0, 7, 1, 8);
	finish(&t, 1);
	check(&t, 0, 7, "30 R 40");
	check_row(&t, waits_find(t.w, 0, 7, 25), "10 R 12 R 20");
	check(&t, 0, 8, "20 R 30 B 40");
	end(&t);
}
END_TEST

/* Processes that come and go, each with a TID of its own: none is remembered for longer than its row. */
START_TEST(test_many_tids)
{
	enum { MEMORY_BYTES = 1 << 20, THREADS = 100000, FIRST = 1000, STEP_NS = 10, TURN = 1000 };
	struct wait_event *e;
	struct test t;

	begin_with(&t, 1, MEMORY_BYTES);
	switched(&t, 0, 1, 0, 5, 1, 7);
	for (int n = 0; n < THREADS; n++) {
		const uint64_t t_ns = 100 + (uint64_t)n * STEP_NS;

		e = add(&t, 0, t_ns, WAIT_EVENT_FORK, 0);
		e->tid = FIRST + n;
		e->from_tid = 7;
		woken(&t, 0, t_ns + 1, 0, FIRST + n)->new_task = true;
		switched(&t, 0, t_ns + 2, 0, 7, 1, FIRST + n);
		add(&t, 0, t_ns + 3, WAIT_EVENT_EXIT, 0)->tid = FIRST + n;
		switched(&t, 0, t_ns + 4, 0, FIRST + n, 0x10, 7);
		if (n % TURN == 0)
			take(&t, 0, t_ns), waits_run(t.w);
	}
	finish(&t, 1);
	ck_assert_uint_gt(waits_info(t.w).graph.cut, 0);
	ck_assert_uint_lt(waits_info(t.w).threads, THREADS / 10);
	ck_assert_uint_eq(waits_find(t.w, 0, FIRST, UINT64_MAX), WAIT_NO_ROW);
	ck_assert_uint_ne(waits_find(t.w, 0, FIRST + THREADS - 1, UINT64_MAX), WAIT_NO_ROW);
	/* a TID that was forgotten is a new thread */
	e = add(&t, 0, 100 + THREADS * STEP_NS, WAIT_EVENT_FORK, 0);
	e->tid = FIRST;
	e->from_tid = 7;
	woken(&t, 0, 101 + THREADS * STEP_NS, 0, FIRST)->new_task = true;
	switched(&t, 0, 102 + THREADS * STEP_NS, 0, 7, 1, FIRST);
	finish(&t, 1);
	check(&t, 0, FIRST, "+7@1000101 1000101 P 1000102");
	end(&t);
}
END_TEST

/* A thread has the name that it had then, or, if it had too many since, the oldest that is remembered. */
START_TEST(test_names)
{
	static const char *const names[] = { "bash", "sh", "env", "python3", "worker" };
	static const struct {
		uint64_t t_ns;
		const char *want;
	} cases[] = { { 1, "sh" }, { 15, "sh" }, { 29, "sh" }, { 30, "env" }, { 49, "python3" }, { 50, "worker" } };
	struct test t;
	wait_row row;

	begin(&t, 1);
	switched(&t, 0, 1, 0, 0, 0, 7);
	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
		for (unsigned again = 0; again < 2; again++) {
			struct wait_event *e = add(&t, 0, 10 * (i + 1) + again, WAIT_EVENT_RENAME, 0);

			e->tid = 7;
			e->comm = strpool_intern_z(names[i]);
		}
	}
	switched(&t, 0, 90, 0, 7, 1, 0);
	finish(&t, 1);
	row = waits_find(t.w, 0, 7, UINT64_MAX);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		ck_assert_str_eq(strpool_text(waits_who_at(t.w, row, cases[i].t_ns).comm), cases[i].want);
	ck_assert_str_eq(strpool_text(waits_who(t.w, row).comm), "worker");
	ck_assert_uint_eq(waits_who_at(t.w, WAIT_NO_ROW, 10).comm, STRID_NONE);
	end(&t);
}
END_TEST

/* A name that may be forgotten is kept while a thread has it. */
START_TEST(test_names_stay)
{
	struct wait_event *e;
	char name[32];
	struct test t;

	strpool_set_limit(1000, 1 << 16);
	begin(&t, 1);
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "other-%d", i);
		strpool_intern_brief(name, strlen(name));
		if (i == 100) {
			switched(&t, 0, 10, 0, 0, 0, 7);
			switched(&t, 0, 20, 0, 7, 0, 8);
			e = &t.log[0].events[1];
			e->comm = strpool_intern_brief("eight", 5);
			e->from_comm = strpool_intern_brief("seven", 5);
			switched(&t, 0, 30, 0, 8, 1, 7);
			e = &t.log[0].events[2];
			e->by_tid = 8;
			e->by_comm = strpool_intern_brief("eight", 5);
			switched(&t, 0, 40, 0, 7, 1, 0);
			finish(&t, 1);
		}
		if (!strpool_round_due())
			continue;
		strpool_round_begin();
		waits_keep_paths(t.w);
		strpool_round_end();
	}
	ck_assert_uint_gt(strpool_forgotten(), 10000);
	ck_assert_str_eq(strpool_text(waits_who(t.w, waits_find(t.w, 0, 7, UINT64_MAX)).comm), "seven");
	ck_assert_str_eq(strpool_text(waits_who(t.w, waits_find(t.w, 0, 8, UINT64_MAX)).comm), "eight");
	end(&t);
	strpool_release();
	strpool_set_limit(64 << 20, 256 << 20);
}
END_TEST

/* Threads with ever new TIDs whose ends are not seen: those that were idle longest are taken for gone. */
START_TEST(test_threads_without_end)
{
	enum { MEMORY_BYTES = 4 << 20, THREADS = 100000, FIRST = 1000, STEP_NS = 10, TURN = 1000 };
	const uint64_t end_ns = 100 + (uint64_t)THREADS * STEP_NS;
	struct test t;

	begin_with(&t, 1, MEMORY_BYTES);
	switched(&t, 0, 1, 1, 0, 0, 7); /* runs all the time */
	for (int n = 0; n < THREADS; n++) {
		const uint64_t t_ns = 100 + (uint64_t)n * STEP_NS;

		switched(&t, 0, t_ns, 0, n ? FIRST + n - 1 : 0, n ? 1 : 0, FIRST + n);
		if (n % TURN == 0)
			take(&t, 0, t_ns), waits_run(t.w);
	}
	finish(&t, 1);
	ck_assert_uint_lt(waits_info(t.w).threads, THREADS / 8);
	ck_assert_uint_lt(waits_info(t.w).graph.bytes, MEMORY_BYTES);
	/* there is room for vertices, and time does not stand still: rows are used again */
	ck_assert_uint_gt(waits_info(t.w).graph.vertices, 3000);
	ck_assert_uint_eq(waits_find(t.w, 0, FIRST, UINT64_MAX), WAIT_NO_ROW);
	/* a TID that was forgotten is a new thread; those that run, or ran recently, are still known */
	woken(&t, 0, end_ns, 1, FIRST);
	woken(&t, 0, end_ns + 1, 1, FIRST + THREADS - 2);
	finish(&t, 1);
	check(&t, 0, FIRST, "<7@1000100 1000100");
	check(&t, 0, FIRST + THREADS - 2, "1000080 R 1000090 B<7@1000101 1000101");
	end(&t);
}
END_TEST

START_TEST(test_idle_rows)
{
	struct test t;

	begin(&t, 2);
	switched(&t, 0, 10, 0, 7, 1, 0);
	switched(&t, 1, 20, 0, 9, 1, 0);
	switched(&t, 0, 30, 1, 8, 1, 0);
	switched(&t, 1, 40, 0, 0, 0, 9);
	finish(&t, 2);
	check_row(&t, row_of_cpu(&t, 0, 0, 0), "10");
	check_row(&t, row_of_cpu(&t, 0, 0, 1), "30");
	check_row(&t, row_of_cpu(&t, 1, 0, 0), "20 R 40");
	end(&t);
}
END_TEST

UNIT_MAIN("waits_build", test_wake_up_by_a_task, test_states_when_switched_out, test_stopped, test_woken_on_an_idle_cpu,
	  test_idle, test_asleep_already, test_switched_midway, test_runs_at_first, test_fork_and_reuse_of_a_tid,
	  test_path_ends_with_the_exit, test_end_of_old_kernels, test_many_tids, test_threads_without_end, test_names,
	  test_names_stay, test_idle_rows, test_exec_takes_over_tid, test_switched_from_nobody,
	  test_ready_since_switched_out)
