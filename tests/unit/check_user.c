/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads of user-space events: model/user.c on hand-built events, with and without the kernel's. */
#include "unit.h"

#include <time.h>

#include "events.h"

enum { KERNEL_TRACE, USER_TRACE, OTHER_TRACE, BEGIN = 1000, SLEEP = 1 };

#define FIRST_NS UINT64_C(0xeffffffc)
#define NS_OF_A UINT64_C(0xf0000001)
#define NS_OF_B UINT64_C(0xf0000002)
#define LATER UINT64_C(200000000) /* when a thread that was not found is looked up again */

static void begin(struct events *e, bool kernel)
{
	events_init_empty(e);
	if (kernel)
		events_trace(e, KERNEL_TRACE, DOMAIN_KERNEL);
	events_trace(e, USER_TRACE, DOMAIN_UST);
	events_trace(e, OTHER_TRACE, DOMAIN_UST);
	model_begin(e->m, BEGIN);
}

static void context(struct events *e, uint64_t t, unsigned trace, int64_t vtid, int64_t vpid, uint64_t pid_ns,
		    const char *comm)
{
	struct ev_context p = { .vtid = vtid, .vpid = vpid, .pid_ns = pid_ns };
	struct record r;

	record_init(&r, t, 0, vtid, EVENT_CONTEXT);
	r.ev.trace = (uint16_t)trace;
	r.ev.present = 1 << CTX_VTID | 1 << CTX_VPID | (pid_ns ? 1 << CTX_PID_NS : 0);
	g_strlcpy(p.procname, comm, sizeof(p.procname));
	events_apply(e, &r, &p, sizeof(p));
}

static void emit(struct events *e, uint64_t t, unsigned trace, int64_t vtid, unsigned n)
{
	struct record r;

	for (unsigned i = 0; i < n; i++) {
		record_init(&r, t, 0, vtid, EVENT_OTHER);
		r.ev.trace = (uint16_t)trace;
		ck_assert_ptr_null(event_check(&r.ev, sizeof(r)));
		model_apply(e->m, 0, &r.ev);
	}
}

/* A thread that runs on CPU 0 until t, with its context in the kernel's events. */
static void kernel_thread(struct events *e, uint64_t t, int64_t tid, int64_t pid, int64_t vtid, int64_t vpid,
			  uint64_t pid_ns, const char *comm)
{
	struct ev_context p = { .pid = pid, .ppid = 1, .vtid = vtid, .vpid = vpid, .pid_ns = pid_ns };
	struct record r;

	events_switch(e, t - 100, 0, 0, 0, tid, comm);
	record_init(&r, t - 50, 0, tid, EVENT_CONTEXT);
	g_strlcpy(p.procname, comm, sizeof(p.procname));
	events_apply(e, &r, &p, sizeof(p));
	events_switch(e, t, 0, tid, SLEEP, 0, "swapper/0");
}

static uint64_t emitted(struct events *e, int64_t tid)
{
	return events_thread(e, tid)->user_events;
}

/* The number of events of all rows with that name. */
static uint64_t emitted_by(struct events *e, const char *comm, unsigned *n)
{
	const struct state_table *t = &e->m->state.tables[TABLE_THREAD];
	uint64_t sum = 0;

	*n = 0;
	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;) {
		if (strcmp(strpool_text((strid)THREAD_ROW(e->m, row)->comm), comm) != 0)
			continue;
		sum += THREAD_ROW(e->m, row)->user_events;
		++*n;
	}
	return sum;
}

/* Without the kernel's events, threads are created from their contexts. */
START_TEST(test_alone)
{
	struct events e;
	unsigned n;

	begin(&e, false);
	emit(&e, 1100, USER_TRACE, 10, 5); /* no thread known yet */
	context(&e, 1200, USER_TRACE, 10, 10, 0, "server");
	emit(&e, 1200, USER_TRACE, 10, 3);
	context(&e, 1300, USER_TRACE, 11, 10, 0, "worker");
	emit(&e, 1300, USER_TRACE, 11, 2);
	emit(&e, 1310, USER_TRACE, 10, 1);
	context(&e, 1400, USER_TRACE, 10, 10, 0, "renamed");
	emit(&e, 1400, USER_TRACE, 10, 1);
	ck_assert_uint_eq(emitted(&e, 10), 5);
	ck_assert_uint_eq(emitted(&e, 11), 2);
	ck_assert_uint_eq(events_thread(&e, 11)->pid, 10);
	ck_assert_str_eq(strpool_text((strid)events_thread(&e, 10)->comm), "renamed");
	ck_assert_uint_eq(HOST_ROW(e.m)->events, 12);
	ck_assert_uint_eq(HOST_ROW(e.m)->threads, 2);
	/* the same numbers in two containers are two threads, in whatever order they emit events */
	for (unsigned i = 0; i < 3; i++) {
		context(&e, 1500, USER_TRACE, 1, 1, NS_OF_A, "a");
		emit(&e, 1500, USER_TRACE, 1, 4);
		context(&e, 1500, USER_TRACE, 1, 1, NS_OF_B, "b");
		emit(&e, 1500, USER_TRACE, 1, 2);
	}
	ck_assert_uint_eq(emitted_by(&e, "a", &n), 12);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(emitted_by(&e, "b", &n), 6);
	ck_assert_uint_eq(n, 1);
	events_release(&e);
}
END_TEST

/* Each trace has its own contexts; a thread in both is one thread. */
START_TEST(test_two_traces)
{
	struct events e;

	begin(&e, false);
	context(&e, 1100, USER_TRACE, 10, 10, 0, "one");
	context(&e, 1100, OTHER_TRACE, 20, 20, 0, "two");
	emit(&e, 1110, OTHER_TRACE, 10, 7); /* that trace has not said yet which thread it is */
	emit(&e, 1120, OTHER_TRACE, 20, 2);
	context(&e, 1130, OTHER_TRACE, 10, 10, 0, "one");
	emit(&e, 1140, OTHER_TRACE, 10, 3);
	emit(&e, 1150, USER_TRACE, 10, 1);
	ck_assert_uint_eq(emitted(&e, 10), 4);
	ck_assert_uint_eq(emitted(&e, 20), 2);
	ck_assert_uint_eq(HOST_ROW(e.m)->threads, 2);
	events_release(&e);
}
END_TEST

/* With the kernel's events, it is one of its threads, which is otherwise not changed. */
START_TEST(test_beside_the_kernel)
{
	struct events e;

	begin(&e, true);
	kernel_thread(&e, 2000, 7, 7, 7, 7, FIRST_NS, "app");
	context(&e, 2100, USER_TRACE, 7, 7, 0, "app-old");
	emit(&e, 2100, USER_TRACE, 7, 6);
	ck_assert_uint_eq(emitted(&e, 7), 6);
	ck_assert_uint_eq(EVENTS_VALUE(THREAD, thread, events_thread(&e, 7), cpu_ns, 2100), 100);
	ck_assert_str_eq(strpool_text((strid)events_thread(&e, 7)->comm), "app");
	/* a thread that the kernel's events show only later */
	context(&e, 2200, USER_TRACE, 8, 8, 0, "late");
	emit(&e, 2200, USER_TRACE, 8, 2);
	kernel_thread(&e, 3000, 8, 8, 8, 8, FIRST_NS, "late");
	emit(&e, 3100, USER_TRACE, 8, 1);
	ck_assert_uint_eq(emitted(&e, 8), 3);
	ck_assert_uint_eq(EVENTS_VALUE(THREAD, thread, events_thread(&e, 8), cpu_ns, 3100), 100);
	events_release(&e);
}
END_TEST

/* In a container: found by the IDs it has there, not by the TID of a thread outside. */
START_TEST(test_container)
{
	struct events e;

	begin(&e, true);
	kernel_thread(&e, 2000, 7, 7, 7, 7, FIRST_NS, "other");
	kernel_thread(&e, 3000, 907, 907, 7, 7, NS_OF_A, "app");
	context(&e, 3100, USER_TRACE, 7, 7, NS_OF_A, "app");
	emit(&e, 3100, USER_TRACE, 7, 4);
	ck_assert_uint_eq(emitted(&e, 907), 4);
	ck_assert_uint_eq(emitted(&e, 7), 0);
	/* without the namespace, the name decides */
	context(&e, 3200, OTHER_TRACE, 7, 7, 0, "app");
	emit(&e, 3200, OTHER_TRACE, 7, 2);
	ck_assert_uint_eq(emitted(&e, 907), 6);
	/* a thread of another container, which the kernel's events show later; until then it is unknown */
	context(&e, 3300, USER_TRACE, 7, 7, NS_OF_B, "app");
	emit(&e, 3300, USER_TRACE, 7, 3);
	ck_assert_uint_eq(emitted(&e, 907) + emitted(&e, 7), 6);
	kernel_thread(&e, LATER, 1007, 1007, 7, 7, NS_OF_B, "app");
	emit(&e, LATER + 10, USER_TRACE, 7, 5);
	ck_assert_uint_eq(emitted(&e, 1007), 5);
	ck_assert_uint_eq(HOST_ROW(e.m)->threads, 3);
	events_release(&e);
}
END_TEST

/* The next thread with the TID of one that has ended is another thread. */
START_TEST(test_tid_used_again)
{
	struct events e;

	begin(&e, true);
	kernel_thread(&e, 2000, 7, 7, 7, 7, FIRST_NS, "app");
	context(&e, 2100, USER_TRACE, 7, 7, 0, "app");
	emit(&e, 2100, USER_TRACE, 7, 6);
	EVENT(&e, 2200, 0, 1, FORK, new_task, .parent_tid = 1, .parent_pid = 1, .child_tid = 7, .child_pid = 7,
	      .child_vtids = { 7 }, .child_ns = FIRST_NS, .child_comm = "new");
	emit(&e, LATER, USER_TRACE, 7, 2);
	ck_assert_uint_eq(emitted(&e, 7), 2);
	events_release(&e);
}
END_TEST

/* Kernel threads emit no such events, and invalid ones do no harm. */
START_TEST(test_nonsense)
{
	struct events e;

	begin(&e, true);
	events_switch(&e, 1100, 0, 0, 0, 2, "kthreadd");
	EVENT(&e, 1200, 0, 2, FORK, new_task, .parent_tid = 2, .parent_pid = 2, .child_tid = 15, .child_pid = 15,
	      .child_comm = "rcu");
	context(&e, 1300, USER_TRACE, 15, 15, 0, "app");
	emit(&e, 1300, USER_TRACE, 15, 4);
	ck_assert_uint_eq(emitted(&e, 15), 0);
	context(&e, 1400, USER_TRACE, -3, 0, 0, "");
	emit(&e, 1400, USER_TRACE, -3, 4);
	emit(&e, 1400, USER_TRACE, 0, 4);
	ck_assert_uint_eq(HOST_ROW(e.m)->events, 14);
	events_release(&e);
}
END_TEST

/*
 * Programs come and go in a container that the kernel's events have not shown: each trace number is reused by the
 * next.
 */
START_TEST(test_programs_leave_nothing_behind)
{
	enum { PROGRAMS = 40000, EARLY = 10000 };
	struct events e;
	size_t early = 0;

	begin(&e, true);
	for (int64_t pid = 1; pid <= PROGRAMS; pid++) {
		events_trace(&e, USER_TRACE, DOMAIN_UST);
		context(&e, BEGIN + (uint64_t)pid, USER_TRACE, pid, pid, NS_OF_A, "short");
		emit(&e, BEGIN + (uint64_t)pid, USER_TRACE, pid, 1);
		if (pid == EARLY)
			early = unit_allocated();
	}
	ck_assert_uint_le(unit_allocated(), early + 64 * 1024);
	events_release(&e);
}
END_TEST

/* A long-lived program among them stays known. */
START_TEST(test_long_program_among_short_ones)
{
	enum { PROGRAMS = 5000 };
	struct events e;

	begin(&e, false);
	context(&e, BEGIN, OTHER_TRACE, 7, 7, 0, "long");
	for (int64_t pid = 100; pid < 100 + PROGRAMS; pid++) {
		events_trace(&e, USER_TRACE, DOMAIN_UST);
		context(&e, BEGIN + (uint64_t)pid, USER_TRACE, pid, pid, 0, "short");
		emit(&e, BEGIN + (uint64_t)pid, OTHER_TRACE, 7, 1);
	}
	ck_assert_uint_eq(emitted(&e, 7), PROGRAMS);
	events_release(&e);
}
END_TEST

/*
 * As many threads as a host may have, and as many emitters in a container that the kernel's events have not shown,
 * which are looked up again and again: to compare each with each takes 40 s.
 */
START_TEST(test_many_threads)
{
	enum { THREADS = 40000, ROUNDS = 3, FIRST = 100, IN_CONTAINER = 1000000 };
	const clock_t start = clock();
	struct events e;

	begin(&e, true);
	for (unsigned i = 0; i < THREADS; i++)
		kernel_thread(&e, 2000 + i, FIRST + i, FIRST + i, IN_CONTAINER + i, IN_CONTAINER + i, NS_OF_A, "app");
	for (unsigned round = 1; round <= ROUNDS; round++)
		for (unsigned i = 0; i < THREADS; i++) {
			context(&e, round * LATER + i, USER_TRACE, FIRST + i, FIRST + i, NS_OF_B, "app");
			emit(&e, round * LATER + i, USER_TRACE, FIRST + i, 1);
		}
	ck_assert_uint_eq(emitted(&e, FIRST), 0);
	context(&e, (ROUNDS + 1) * LATER, USER_TRACE, IN_CONTAINER + 77, IN_CONTAINER + 77, NS_OF_A, "app");
	emit(&e, (ROUNDS + 1) * LATER, USER_TRACE, IN_CONTAINER + 77, 5);
	ck_assert_uint_eq(emitted(&e, FIRST + 77), 5);
	ck_assert_int_lt((clock() - start) / CLOCKS_PER_SEC, 10);
	events_release(&e);
}
END_TEST

/* Several threads with the same ID in their namespaces, some of which have ended or have another by now. */
START_TEST(test_same_vtid)
{
	struct events e;

	begin(&e, true);
	for (unsigned i = 0; i < 5; i++)
		kernel_thread(&e, 2000 + i, 100 + i, 100 + i, 7, 7, NS_OF_A + i, "app");
	kernel_thread(&e, 2010, 102, 102, 8, 8, NS_OF_A + 2, "app");
	thread_end(e.m, thread_find(e.m, 104));
	thread_end(e.m, thread_find(e.m, 100));
	for (unsigned i = 0; i < 5; i++) {
		context(&e, LATER, USER_TRACE, i == 2 ? 8 : 7, -1, NS_OF_A + i, "app");
		emit(&e, LATER, USER_TRACE, i == 2 ? 8 : 7, 10 + i);
	}
	ck_assert_uint_eq(emitted(&e, 101), 11);
	ck_assert_uint_eq(emitted(&e, 102), 12);
	ck_assert_uint_eq(emitted(&e, 103), 13);
	events_release(&e);
}
END_TEST

/* Any two of them end, and their rows are those of threads with other IDs: the rest are found. */
START_TEST(test_same_vtid_ends)
{
	for (unsigned both = 0; both < 25; both++) {
		const unsigned first = both / 5, second = both % 5;
		struct events e;

		begin(&e, true);
		for (unsigned i = 0; i < 5; i++)
			kernel_thread(&e, 2000 + i, 100 + i, 100 + i, 7, 7, NS_OF_A + i, "app");
		thread_end(e.m, thread_find(e.m, 100 + first));
		if (second != first)
			thread_end(e.m, thread_find(e.m, 100 + second));
		state_reap(&e.m->state, NULL, NULL);
		state_frame_begin(&e.m->state);
		for (unsigned i = 0; i < 2; i++)
			kernel_thread(&e, 2010 + i, 200 + i, 200 + i, 8, 8, NS_OF_A, "new");
		for (unsigned i = 0; i < 5; i++) {
			context(&e, LATER, USER_TRACE, 7, -1, NS_OF_A + i, "app");
			emit(&e, LATER, USER_TRACE, 7, 10 + i);
			if (i != first && i != second)
				ck_assert_uint_eq(emitted(&e, 100 + i), 10 + i);
		}
		events_release(&e);
	}
}
END_TEST

UNIT_MAIN("user", test_alone, test_two_traces, test_beside_the_kernel, test_container, test_tid_used_again,
	  test_programs_leave_nothing_behind, test_long_program_among_short_ones, test_nonsense, test_many_threads,
	  test_same_vtid, test_same_vtid_ends)
