/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads and processes from their creation to their end: src/model/process.c. */
#include "unit.h"

#include "threads.h"

START_TEST(test_birth_to_death)
{
	const struct thread_row *r;
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, 0, RUNNABLE, 5, "sh");
	fork_child(&e, 1200, 5, 9, 9);
	r = events_thread(&e, 9);
	ck_assert_uint_eq(r->born_ns, 1200);
	ck_assert_uint_eq(r->pid, 9);
	ck_assert_uint_eq(r->ppid, 5);
	ck_assert_uint_eq(r->vpid, 2);
	EVENT(&e, 1300, 0, 5, SCHED_WAKEUP_NEW, wakeup, .tid = 9);
	events_switch(&e, 1400, 0, 5, SLEEP, 9, "sh");
	ck_assert_uint_eq(r->latency.sum, 100);
	EVENT(&e, 1450, 0, 9, EXEC, exec, .tid = 9, .old_tid = 9, .filename = str(&rec, "/usr/bin/a-rather-long-name"));
	ck_assert_str_eq(strpool_text((strid)r->comm), "a-rather-long-n");
	EVENT(&e, 1500, 0, 9, EXIT, task, .tid = 9, .comm = "a-rather-long-n");
	ck_assert_uint_eq(r->exited_ns, 1500);
	ck_assert_uint_eq(r->state, THREAD_RUNNING);
	events_switch(&e, 1510, 0, 9, RUNNABLE, 5, "sh"); /* preempted while it exits */
	events_switch(&e, 1550, 0, 5, SLEEP, 9, "a-rather-long-n");
	events_switch(&e, 1600, 0, 9, 0x20, 5, "sh");
	ck_assert_uint_eq(r->cpu_ns, 160);
	ck_assert_uint_eq(r->switches, 2);
	ck_assert_uint_eq(thread_find(e.m, 9), NO_ROW);
	ck_assert_uint_eq(HOST_ROW(e.m)->threads_new, 1);
	ck_assert_uint_eq(HOST_ROW(e.m)->threads_gone, 1);
	/* the TID is used again, by another thread */
	fork_child(&e, 1700, 5, 9, 9);
	ck_assert_ptr_ne(events_thread(&e, 9), r);
	ck_assert_uint_ne(events_thread(&e, 9)->uid, r->uid);
	ck_assert_uint_eq(events_thread(&e, 9)->cpu_ns, 0);
	events_release(&e);
}
END_TEST

/* Its exit was lost: the fork with the same TID ends the old thread. */
START_TEST(test_tid_reused_without_exit)
{
	struct events e;
	uint64_t uid;

	begin(&e);
	events_switch(&e, 1100, 0, 0, RUNNABLE, 9, "old");
	uid = events_thread(&e, 9)->uid;
	fork_child(&e, 1200, 5, 9, 9);
	ck_assert_uint_ne(events_thread(&e, 9)->uid, uid);
	assert_sums(&e, 1300);
	events_release(&e);
}
END_TEST

/* Only a damaged trace says so: a thread that no TID leads to could never end. */
START_TEST(test_thread_that_creates_itself)
{
	struct events e;
	uint64_t uid;
	uint32_t n;

	begin(&e);
	events_switch(&e, 1100, 0, 0, RUNNABLE, 9, "nine");
	uid = events_thread(&e, 9)->uid;
	n = e.m->state.tables[TABLE_THREAD].n_alive;
	fork_child(&e, 1200, 9, 9, 9);
	ck_assert_uint_eq(e.m->state.tables[TABLE_THREAD].n_alive, n);
	ck_assert_uint_eq(events_thread(&e, 9)->uid, uid);
	ck_assert_uint_eq(HOST_ROW(e.m)->threads_new, 0);
	events_release(&e);
}
END_TEST

START_TEST(test_thread_of_a_process)
{
	struct events e;

	begin(&e);
	EVENT(&e, 1100, 0, 5, FORK, new_task, .parent_tid = 5, .parent_pid = 5, .child_tid = 6, .child_pid = 5);
	ck_assert_uint_eq(events_thread(&e, 6)->pid, 5);
	ck_assert_int_eq((int64_t)events_thread(&e, 6)->ppid, -1); /* its process' parent, which is unknown here */
	events_release(&e);
}
END_TEST

/* exec by a thread that is not the first one: it takes over the process' TID. */
START_TEST(test_exec_takes_over_tid)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, 0, RUNNABLE, 6, "worker");
	EVENT(&e, 1200, 0, 6, EXEC, exec, .tid = 5, .old_tid = 6, .filename = str(&rec, "/bin/cat"));
	ck_assert_uint_eq(thread_find(e.m, 6), NO_ROW);
	ck_assert_str_eq(strpool_text((strid)events_thread(&e, 5)->comm), "cat");
	events_switch(&e, 1300, 0, 5, SLEEP, 0, "swapper/0");
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, cpu_ns, 1300), 100);
	assert_sums(&e, 1300);
	events_release(&e);
}
END_TEST

/* The first thread has exited, but was not switched out for the last time: what comes of it has the other TID then. */
START_TEST(test_exec_takes_over_tid_of_a_zombie)
{
	uint64_t first;
	struct events e;

	for (unsigned seen = 0; seen < 2; seen++) {
		begin(&e);
		events_switch(&e, 1100, 0, 0, RUNNABLE, 5, "first");
		first = events_thread(&e, 5)->uid;
		EVENT(&e, 1110, 0, 5, EXIT, task, .tid = 5);
		events_switch(&e, 1120, 0, 5, 0x100, 6, "worker");
		EVENT(&e, 1200, 0, seen ? 5 : 6, EXEC, exec, .tid = 5, .old_tid = 6, .filename = str(&rec, "/bin/cat"));
		ck_assert_uint_ne(events_thread(&e, 5)->uid, first);
		ck_assert_uint_eq(events_thread(&e, 5)->exited_ns, 0);
		ck_assert_uint_eq(events_thread(&e, 5)->pid, 5);
		ck_assert_ptr_nonnull(thread_info(e.m, thread_find(e.m, 5))->files);
		events_switch(&e, 1300, 0, 5, SLEEP, 6, "first");
		ck_assert_uint_eq(THREAD_VALUE(&e, 5, cpu_ns, 1300), 100);
		events_switch(&e, 1310, 0, 6, DEAD, 0, "swapper/0");
		ck_assert_uint_eq(thread_find(e.m, 6), NO_ROW);
		EVENT(&e, 1320, 0, 0, FREE, task, .tid = 5); /* before Linux 5.8 */
		EVENT(&e, 1330, 0, 0, SCHED_WAKING, wakeup, .tid = 5);
		ck_assert_uint_eq(events_thread(&e, 5)->state, THREAD_READY);
		ck_assert_uint_eq(HOST_ROW(e.m)->threads, 1);
		ck_assert_uint_eq(HOST_ROW(e.m)->threads_gone, 3);
		assert_sums(&e, 1340);
		events_release(&e);
	}
}
END_TEST

/* Before Linux 5.8, the first thread keeps its TID until it has been switched out, which another thread has by then. */
START_TEST(test_exec_while_the_first_thread_runs)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1000, 0, 0, RUNNABLE, 6, "worker");
	events_switch(&e, 1000, 1, 0, RUNNABLE, 5, "first");
	EVENT(&e, 1110, 1, 5, EXIT, task, .tid = 5);
	EVENT(&e, 1200, 0, 6, EXEC, exec, .tid = 5, .old_tid = 6, .filename = str(&rec, "/bin/cat"));
	events_switch(&e, 1210, 1, 5, DEAD, 7, "seven");
	EVENT(&e, 1220, 1, 7, FREE, task, .tid = 5);
	ck_assert_uint_eq(events_thread(&e, 5)->state, THREAD_RUNNING);
	ck_assert_uint_eq(events_thread(&e, 7)->state, THREAD_RUNNING);
	events_switch(&e, 1300, 0, 5, SLEEP, 0, "swapper/0");
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, cpu_ns, 1300), 100);
	ck_assert_uint_eq(HOST_ROW(e.m)->threads_gone, 2);
	assert_sums(&e, 1340);
	/* its exit was among lost events, or it ends as any other */
	events_switch(&e, 1400, 0, 0, RUNNABLE, 5, "cat");
	events_lose(&e, 1450, 1, 0);
	events_switch(&e, 1500, 1, 5, DEAD, 7, "seven");
	ck_assert_uint_eq(thread_find(e.m, 5), NO_ROW);
	events_release(&e);
}
END_TEST

START_TEST(test_context_of_a_thread)
{
	struct ev_context alive = {
		.pid = 4,
		.ppid = 1,
		.prio = 20,
		.vtid = 2,
		.vpid = 2,
		.pid_ns = 77,
		.procname = "x",
	};
	struct ev_context exiting = { .pid = 4, .ppid = 1, .prio = 20 };
	struct events e;
	struct record r;

	begin(&e);
	record_init(&r, 1100, 0, 5, EVENT_CONTEXT);
	events_apply(&e, &r, &alive, sizeof(alive));
	ck_assert_uint_eq(events_thread(&e, 5)->pid, 4);
	ck_assert_uint_eq(events_thread(&e, 5)->ppid, 1);
	ck_assert_uint_eq(events_thread(&e, 5)->vtid, 2);
	ck_assert_str_eq(strpool_text((strid)events_thread(&e, 5)->comm), "x");
	/* the old container stays known after the thread has left its namespaces */
	record_init(&r, 1200, 0, 5, EVENT_CONTEXT);
	events_apply(&e, &r, &exiting, sizeof(exiting));
	ck_assert_uint_eq(events_thread(&e, 5)->vtid, 2);
	ck_assert_uint_eq(events_thread(&e, 5)->vpid, 2);
	ck_assert_uint_eq(events_thread(&e, 5)->pid_ns, 77);
	events_release(&e);
}
END_TEST

/* Priorities come with the sched events: no context for them is recorded. */
START_TEST(test_priority_of_sched_events)
{
	struct events e;

	begin(&e);
	EVENT(&e, 1100, 0, 5, SCHED_SWITCH, sched_switch, .prev_tid = 5, .prev_prio = 20, .prev_state = SLEEP,
	      .next_tid = 6, .next_prio = -2, .prev_comm = "five", .next_comm = "six");
	ck_assert_int_eq((int64_t)events_thread(&e, 5)->prio, 20);
	ck_assert_int_eq((int64_t)events_thread(&e, 6)->prio, -2);
	EVENT(&e, 1200, 0, 6, SCHED_WAKING, wakeup, .tid = 5, .prio = 39, .target_cpu = 0, .comm = "five");
	ck_assert_int_eq((int64_t)events_thread(&e, 5)->prio, 39);
	EVENT(&e, 1300, 0, 6, SCHED_SETPRIO, task, .tid = 5, .prio = 0, .comm = "five");
	ck_assert_int_eq((int64_t)events_thread(&e, 5)->prio, 0);
	events_release(&e);
}
END_TEST

UNIT_MAIN("process", test_birth_to_death, test_tid_reused_without_exit, test_thread_that_creates_itself,
	  test_thread_of_a_process, test_exec_takes_over_tid, test_exec_takes_over_tid_of_a_zombie,
	  test_exec_while_the_first_thread_runs, test_context_of_a_thread, test_priority_of_sched_events)
