/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads in the state dump: what it says of them, and which have ended when events were lost. */
#include "unit.h"

#include "threads.h"

START_TEST(test_state_dump)
{
	struct events e;

	begin(&e);
	EVENT(&e, 1100, 0, 0, DUMP_PROCESS, dump_process, .tid = 5, .pid = 4, .ppid = 1, .type = 1, .status = 5,
	      .name = "five");
	ck_assert_uint_eq(events_thread(&e, 5)->pid, 4);
	ck_assert_uint_eq(events_thread(&e, 5)->ppid, 1);
	ck_assert(events_thread(&e, 5)->flags & THREAD_KERNEL);
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, blocked_ns, 1150), 50);
	/* levels of PID namespaces: the innermost one stays, in any order */
	EVENT(&e, 1101, 0, 0, DUMP_PID_NS, dump_ns, .tid = 5, .vtid = 2, .vpid = 2, .ns_level = 1, .ns_inum = 77);
	EVENT(&e, 1102, 0, 0, DUMP_PID_NS, dump_ns, .tid = 5, .vtid = 5, .vpid = 4, .ns_level = 0, .ns_inum = 7);
	ck_assert_uint_eq(events_thread(&e, 5)->vtid, 2);
	ck_assert_uint_eq(events_thread(&e, 5)->pid_ns, 77);
	/* the running thread is known more reliably from switches */
	events_switch(&e, 1200, 0, 0, RUNNABLE, 5, "five");
	EVENT(&e, 1300, 0, 5, DUMP_PROCESS, dump_process, .tid = 5, .pid = 4, .ppid = 1, .status = 2, .name = "five");
	ck_assert_uint_eq(events_thread(&e, 5)->state, THREAD_RUNNING);
	events_release(&e);
}
END_TEST

/* One that exited before the recording started, and is waited for during it. */
START_TEST(test_zombie_of_the_state_dump)
{
	struct events e;

	begin(&e);
	EVENT(&e, 1100, 0, 0, DUMP_PROCESS, dump_process, .tid = 5, .pid = 5, .ppid = 1, .type = 1, .status = 4,
	      .name = "five");
	EVENT(&e, 1110, 0, 0, DUMP_PROCESS, dump_process, .tid = 6, .pid = 6, .ppid = 1, .status = 5, .name = "six");
	ck_assert_uint_eq(events_thread(&e, 5)->state, THREAD_ZOMBIE);
	ck_assert_uint_eq(events_thread(&e, 5)->flags & THREAD_KERNEL, 0);
	EVENT(&e, 1200, 0, 0, FREE, task, .tid = 5);
	EVENT(&e, 1210, 0, 0, FREE, task, .tid = 6); /* of a thread that had this TID before */
	ck_assert_uint_eq(thread_find(e.m, 5), NO_ROW);
	ck_assert_uint_ne(thread_find(e.m, 6), NO_ROW);
	ck_assert_uint_eq(HOST_ROW(e.m)->threads, 1);
	events_release(&e);
}
END_TEST

/* ---- state dumps after losses ---- */

/* A state dump of the trace that names a single thread. */
static void dump_in(struct events *e, unsigned trace, uint64_t t, enum event_kind kind, int64_t tid)
{
	struct ev_dump_process p = { .tid = tid, .pid = tid, .status = 5 };
	struct record r;

	record_init(&r, t, 0, 0, kind);
	r.ev.trace = (uint8_t)trace;
	events_add(e, &r, &p, sizeof(p));
}

/* 5 to 8 wait, and 4 runs, when events are lost; a dump names 5. */
static void lose_then_dump(struct events *e)
{
	begin(e);
	events_switch(e, 1010, 1, 0, RUNNABLE, 4, "four");
	for (int tid = 5; tid <= 8; tid++)
		EVENT(e, 1100, 0, 0, SCHED_WAKING, wakeup, .tid = tid);
	events_lose(e, 1200, 1, 1150);
	dump_in(e, 0, 1300, EVENT_DUMP_START, 0);
	dump_in(e, 0, 1310, EVENT_DUMP_PROCESS, 5);
}

static bool lives(struct events *e, int64_t tid)
{
	return thread_find(e->m, tid) != NO_ROW;
}

/* Its exit was lost: the state dump does not name it. */
START_TEST(test_missed_by_the_state_dump)
{
	struct events e;

	lose_then_dump(&e);
	EVENT(&e, 1320, 0, 0, SCHED_WAKING, wakeup, .tid = 6);
	fork_child(&e, 1330, 6, 9, 9);
	dump_in(&e, 0, 1400, EVENT_DUMP_END, 0);
	EVENT(&e, 1410, 0, 0, SCHED_WAKING, wakeup, .tid = 7);
	events_lose(&e, 1450, 1, 1420);
	ck_assert_uint_eq(HOST_ROW(e.m)->threads, 6);
	dump_in(&e, 0, 1500, EVENT_DUMP_START, 0);
	ck_assert_uint_eq(thread_find(e.m, 8), NO_ROW);
	for (int tid = 4; tid <= 7; tid++)
		ck_assert(lives(&e, tid));
	ck_assert(lives(&e, 9));
	ck_assert_uint_eq(HOST_ROW(e.m)->threads, 5);
	ck_assert_uint_eq(HOST_ROW(e.m)->threads_gone, 1);
	assert_sums(&e, 1500);
	events_release(&e);
}
END_TEST

/* Its end is seen before the next dump starts: it ends once. */
START_TEST(test_missed_and_seen_to_end)
{
	struct events e;

	lose_then_dump(&e);
	dump_in(&e, 0, 1400, EVENT_DUMP_END, 0);
	EVENT(&e, 1410, 0, 0, EXIT, task, .tid = 8);
	EVENT(&e, 1420, 0, 0, FREE, task, .tid = 8);
	ck_assert(!lives(&e, 8));
	ck_assert_uint_eq(HOST_ROW(e.m)->threads_gone, 1);
	dump_in(&e, 0, 1500, EVENT_DUMP_START, 0);
	ck_assert(!lives(&e, 7));
	ck_assert_uint_eq(HOST_ROW(e.m)->threads_gone, 3); /* 6 and 7, too */
	ck_assert_uint_eq(HOST_ROW(e.m)->threads, 2);
	assert_sums(&e, 1500);
	events_release(&e);
}
END_TEST

/* What a dump does not name has ended only if the dump is complete; a later loss may have begun in it. */
START_TEST(test_incomplete_state_dump)
{
	static const struct {
		uint64_t t, begin_ns;
		bool complete;
	} losses[] = { { 1350, 1340, false }, { 1450, 1390, false }, { 1450, 0, false }, { 1450, 1420, true } };
	struct events e;

	for (size_t i = 0; i < G_N_ELEMENTS(losses); i++) {
		lose_then_dump(&e);
		if (losses[i].t < 1400)
			events_lose(&e, losses[i].t, 1, losses[i].begin_ns);
		dump_in(&e, 0, 1400, EVENT_DUMP_END, 0);
		if (losses[i].t > 1400)
			events_lose(&e, losses[i].t, 1, losses[i].begin_ns);
		dump_in(&e, 0, 1500, EVENT_DUMP_START, 0);
		ck_assert(lives(&e, 8) != losses[i].complete);
		events_release(&e);
	}
}
END_TEST

/* A recording may start in a dump, contain dumps without threads, or late events. */
START_TEST(test_part_of_a_state_dump)
{
	struct events e;

	lose_then_dump(&e);
	model_late(e.m, 1, true);
	dump_in(&e, 0, 1400, EVENT_DUMP_END, 0);
	dump_in(&e, 0, 1500, EVENT_DUMP_START, 0);
	dump_in(&e, 0, 1600, EVENT_DUMP_END, 0);
	dump_in(&e, 0, 1700, EVENT_DUMP_START, 0);
	dump_in(&e, 0, 1710, EVENT_DUMP_PROCESS, 6);
	model_interrupt(e.m, 1720);
	dump_in(&e, 0, 1730, EVENT_DUMP_END, 0);
	dump_in(&e, 0, 1800, EVENT_DUMP_START, 0);
	for (int tid = 4; tid <= 8; tid++)
		ck_assert(lives(&e, tid));
	events_release(&e);
}
END_TEST

/* Events of another time, which were left out, are not missing in the dump. */
START_TEST(test_events_left_out_of_a_state_dump)
{
	struct events e;

	lose_then_dump(&e);
	model_late(e.m, 1, false);
	dump_in(&e, 0, 1400, EVENT_DUMP_END, 0);
	dump_in(&e, 0, 1500, EVENT_DUMP_START, 0);
	ck_assert(!lives(&e, 8));
	events_release(&e);
}
END_TEST

/* The end of a session's dump says nothing of another session's, which started later. */
START_TEST(test_state_dumps_of_two_sessions)
{
	struct events e;

	lose_then_dump(&e);
	events_trace(&e, 1, DOMAIN_KERNEL);
	dump_in(&e, 1, 1320, EVENT_DUMP_START, 0);
	dump_in(&e, 1, 1330, EVENT_DUMP_PROCESS, 6);
	dump_in(&e, 0, 1340, EVENT_DUMP_PROCESS, 7);
	dump_in(&e, 0, 1350, EVENT_DUMP_END, 0);
	dump_in(&e, 1, 1360, EVENT_DUMP_PROCESS, 5);
	dump_in(&e, 1, 1400, EVENT_DUMP_END, 0);
	dump_in(&e, 0, 1500, EVENT_DUMP_START, 0);
	for (int tid = 4; tid <= 7; tid++)
		ck_assert(lives(&e, tid));
	ck_assert(!lives(&e, 8));
	events_release(&e);
}
END_TEST

UNIT_MAIN("dump_threads", test_state_dump, test_zombie_of_the_state_dump, test_missed_by_the_state_dump,
	  test_missed_and_seen_to_end, test_incomplete_state_dump, test_part_of_a_state_dump,
	  test_events_left_out_of_a_state_dump, test_state_dumps_of_two_sessions)
