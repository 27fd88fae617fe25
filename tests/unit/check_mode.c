/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The modes in which threads spend CPU time: model/mode.c on hand-built events. */
#include "unit.h"

#include "events.h"

enum { BEGIN = 1000, SLEEP = 1, RUNNABLE = 0 };

static struct events e;

static void begin(void)
{
	events_init(&e);
	model_begin(e.m, BEGIN);
}

static void end(void)
{
	events_release(&e);
}

struct parts {
	uint64_t user, system, interrupted;
};

/* The parts of the thread's time at any time after its last event. */
static struct parts parts(int64_t tid, uint64_t t)
{
	const struct thread_row *r = events_thread(&e, tid);
	struct parts p;

	p.system = EVENTS_VALUE(THREAD, thread, r, system_ns, t);
	p.interrupted = EVENTS_VALUE(THREAD, thread, r, interrupted_ns, t);
	p.user = EVENTS_VALUE(THREAD, thread, r, cpu_ns, t) - p.system - p.interrupted;
	return p;
}

#define ASSERT_PARTS(tid, t, user_, system_, interrupted_)        \
	do {                                                      \
		const struct parts got = parts(tid, t);           \
                                                                  \
		ck_assert_uint_eq(got.user, user_);               \
		ck_assert_uint_eq(got.system, system_);           \
		ck_assert_uint_eq(got.interrupted, interrupted_); \
	} while (0)

/* Thread 7 is known to be in user mode and runs on CPU 0 from 1100 on, with no time counted yet. */
static void begin_in_program(void)
{
	begin();
	events_switch(&e, 1000, 0, 0, RUNNABLE, 7, "seven");
	SYSCALL_EXIT(&e, 1000, 0, 7, "getpid", .ret = 7);
	events_switch(&e, 1000, 0, 7, RUNNABLE, 0, "swapper/0");
	events_switch(&e, 1100, 0, 0, RUNNABLE, 7, "seven");
}

#define IRQ(t, what, nr) EVENT(&e, t, 0, 7, IRQ_##what, irq, .irq = nr)
#define SOFTIRQ(t, what, nr) EVENT(&e, t, 0, 7, SOFTIRQ_##what, softirq, .vec = nr)

START_TEST(test_call)
{
	begin_in_program();
	SYSCALL_ENTRY(&e, 1110, 0, 7, "read", .fd = 3);
	ASSERT_PARTS(7, 1115, 10, 5, 0); /* an interval ends within the call */
	SYSCALL_EXIT(&e, 1130, 0, 7, "read", .ret = 5);
	ASSERT_PARTS(7, 1135, 15, 20, 0);
	events_switch(&e, 1140, 0, 7, RUNNABLE, 0, "swapper/0");
	ASSERT_PARTS(7, 1200, 20, 20, 0);
	end();
}
END_TEST

/* However handlers are nested, their time counts once. */
START_TEST(test_interrupts)
{
	begin_in_program();
	IRQ(1110, ENTRY, 5); /* in user mode */
	ASSERT_PARTS(7, 1112, 10, 0, 2);
	IRQ(1115, EXIT, 5);
	SYSCALL_ENTRY(&e, 1120, 0, 7, "read", .fd = 3);
	SOFTIRQ(1130, ENTRY, 3); /* in the call */
	IRQ(1135, ENTRY, 6);     /* in the softirq */
	IRQ(1140, EXIT, 6);
	ASSERT_PARTS(7, 1142, 15, 10, 17);
	SOFTIRQ(1145, EXIT, 3);
	ASSERT_PARTS(7, 1150, 15, 15, 20);
	SYSCALL_EXIT(&e, 1150, 0, 7, "read", .ret = 5);
	ASSERT_PARTS(7, 1160, 25, 15, 20);
	end();
}
END_TEST

/* A call continues when its thread runs again, even on another CPU. */
START_TEST(test_preempted_and_blocked_in_a_call)
{
	begin_in_program();
	SYSCALL_ENTRY(&e, 1110, 0, 7, "read", .fd = 3);
	events_switch(&e, 1120, 0, 7, RUNNABLE, 8, "eight");
	ASSERT_PARTS(7, 1200, 10, 10, 0);
	events_switch(&e, 1200, 1, 0, RUNNABLE, 7, "seven");
	ASSERT_PARTS(7, 1210, 10, 20, 0);
	events_switch(&e, 1210, 1, 7, SLEEP, 0, "swapper/1");
	EVENT(&e, 1220, 1, 0, SCHED_WAKING, wakeup, .tid = 7);
	events_switch(&e, 1230, 1, 0, RUNNABLE, 7, "seven");
	SYSCALL_EXIT(&e, 1240, 1, 7, "read", .ret = 5);
	ASSERT_PARTS(7, 1250, 20, 30, 0);
	/* preempted in user mode, it continues in user mode */
	events_switch(&e, 1250, 1, 7, RUNNABLE, 0, "swapper/1");
	events_switch(&e, 1300, 1, 0, RUNNABLE, 7, "seven");
	ASSERT_PARTS(7, 1310, 30, 30, 0);
	end();
}
END_TEST

/* A thread that blocks outside calls waits in a page fault, which counts as user mode. */
START_TEST(test_blocked_in_the_program)
{
	begin_in_program();
	events_switch(&e, 1110, 0, 7, SLEEP, 0, "swapper/0");
	EVENT(&e, 1120, 0, 0, SCHED_WAKING, wakeup, .tid = 7);
	events_switch(&e, 1130, 0, 0, RUNNABLE, 7, "seven");
	ASSERT_PARTS(7, 1140, 20, 0, 0);
	end();
}
END_TEST

START_TEST(test_exit)
{
	begin_in_program();
	SYSCALL_ENTRY(&e, 1110, 0, 7, "exit_group", .fd = -1);
	EVENT(&e, 1120, 0, 7, EXIT, task, .tid = 7);
	IRQ(1125, ENTRY, 5);
	IRQ(1126, EXIT, 5);
	ASSERT_PARTS(7, 1130, 10, 19, 1);
	events_switch(&e, 1130, 0, 7, 64, 0, "swapper/0");
	ck_assert_int_eq(thread_find(e.m, 7), NO_ROW);
	end();
}
END_TEST

/* A child returns from its parent's call. */
START_TEST(test_fork)
{
	begin_in_program();
	SYSCALL_ENTRY(&e, 1110, 0, 7, "clone", .fd = -1);
	EVENT(&e, 1120, 0, 7, FORK, new_task, .parent_tid = 7, .parent_pid = 7, .child_tid = 9, .child_pid = 9);
	events_switch(&e, 1130, 1, 0, RUNNABLE, 9, "seven");
	ASSERT_PARTS(9, 1140, 0, 10, 0);
	SYSCALL_EXIT(&e, 1140, 1, 9, "clone", .ret = 0);
	ASSERT_PARTS(9, 1155, 15, 10, 0);
	SYSCALL_EXIT(&e, 1160, 0, 7, "clone", .ret = 9);
	ASSERT_PARTS(7, 1170, 20, 50, 0);
	end();
}
END_TEST

/* A thread's first exec: another thread of the process gets its TID within the call. */
START_TEST(test_exec_of_another_thread)
{
	begin_in_program();
	EVENT(&e, 1100, 0, 7, FORK, new_task, .parent_tid = 7, .parent_pid = 7, .child_tid = 9, .child_pid = 7);
	events_switch(&e, 1110, 0, 7, RUNNABLE, 9, "nine");
	SYSCALL_ENTRY(&e, 1120, 0, 9, "execve", .fd = -1);
	EVENT(&e, 1130, 0, 9, EXEC, exec, .tid = 7, .old_tid = 9);
	SYSCALL_EXIT(&e, 1140, 0, 7, "execve", .ret = 0);
	ASSERT_PARTS(7, 1145, 15, 10, 0);
	end();
}
END_TEST

/* The return from a signal handler has an entry and no exit. */
START_TEST(test_return_from_a_signal)
{
	begin_in_program();
	SYSCALL_ENTRY(&e, 1110, 0, 7, "rt_sigreturn", .fd = -1);
	ASSERT_PARTS(7, 1130, 30, 0, 0);
	ck_assert_uint_eq(events_thread(&e, 7)->syscall, STRID_NONE);
	end();
}
END_TEST

/* ---- before the first call seen ---- */

START_TEST(test_unknown_at_begin)
{
	begin();
	events_switch(&e, 1100, 0, 5, RUNNABLE, 6, "six"); /* 5 has run since the start */
	ASSERT_PARTS(5, 1100, 100, 0, 0);
	/* it waits: from here on it is known to be in the kernel */
	events_switch(&e, 1120, 0, 6, SLEEP, 5, "five");
	ASSERT_PARTS(6, 1120, 20, 0, 0);
	EVENT(&e, 1130, 0, 5, SCHED_WAKING, wakeup, .tid = 6);
	events_switch(&e, 1140, 0, 5, RUNNABLE, 6, "six");
	SYSCALL_EXIT(&e, 1150, 0, 6, "read", .ret = 0);
	ASSERT_PARTS(6, 1160, 30, 10, 0);
	ASSERT_PARTS(5, 1160, 120, 0, 0);
	end();
}
END_TEST

/* A recording can be read ahead. */
START_TEST(test_in_a_call_at_begin)
{
	struct ev_cpu_start p = { .tid = 5, .comm = "five", .in_call = FIRST_CALL_YES };
	struct record r;

	events_init(&e);
	record_init(&r, 900, 0, EVENT_NO_TID, EVENT_CPU_START);
	events_apply(&e, &r, &p, sizeof(p));
	model_begin(e.m, BEGIN);
	ASSERT_PARTS(5, 1040, 0, 40, 0);
	SYSCALL_EXIT(&e, 1050, 0, 5, "ioctl", .ret = 0);
	ASSERT_PARTS(5, 1060, 10, 50, 0);
	end();
}
END_TEST

/* A live session cannot, but the state dump that starts it is written in a call. */
START_TEST(test_dumps_at_begin)
{
	begin();
	events_switch(&e, 1000, 0, 0, RUNNABLE, 5, "five");
	EVENT(&e, 1010, 0, 5, DUMP_START, none);
	ASSERT_PARTS(5, 1040, 10, 30, 0);
	SYSCALL_EXIT(&e, 1050, 0, 5, "ioctl", .ret = 0);
	ASSERT_PARTS(5, 1060, 20, 40, 0);
	/* one that is known to be in its program stays there: the dump has lost the call's entry */
	EVENT(&e, 1070, 0, 5, DUMP_START, none);
	ASSERT_PARTS(5, 1080, 40, 40, 0);
	end();
}
END_TEST

START_TEST(test_first_woken_then_seen)
{
	begin();
	EVENT(&e, 1100, 0, 0, SCHED_WAKING, wakeup, .tid = 6);
	events_switch(&e, 1110, 0, 0, RUNNABLE, 6, "six");
	ASSERT_PARTS(6, 1130, 0, 20, 0);
	SYSCALL_ENTRY(&e, 1130, 0, 6, "read", .fd = 3);
	SYSCALL_EXIT(&e, 1140, 0, 6, "read", .ret = 0);
	ASSERT_PARTS(6, 1150, 10, 30, 0);
	end();
}
END_TEST

/* According to the state dump it waits; wake-ups are not recorded. */
START_TEST(test_waits_in_state_dump)
{
	begin();
	EVENT(&e, 1050, 1, 4, DUMP_PROCESS, dump_process, .tid = 6, .pid = 6, .status = 5);
	events_switch(&e, 1110, 0, 0, RUNNABLE, 6, "six");
	ASSERT_PARTS(6, 1130, 0, 20, 0);
	end();
}
END_TEST

START_TEST(test_gap_in_a_session)
{
	begin_in_program();
	SYSCALL_ENTRY(&e, 1110, 0, 7, "read", .fd = 3);
	model_interrupt(e.m, 1120);
	ASSERT_PARTS(7, 1300, 10, 10, 0);
	events_switch(&e, 1400, 0, 0, RUNNABLE, 7, "seven");
	ASSERT_PARTS(7, 1410, 20, 10, 0); /* the call is no longer known */
	end();
}
END_TEST

/* ---- kernel threads ---- */

START_TEST(test_kernel_thread)
{
	begin();
	events_switch(&e, 1100, 0, 0, RUNNABLE, 7, "kworker/0:1");
	/* known a little late */
	EVENT(&e, 1110, 0, 7, DUMP_PROCESS, dump_process, .tid = 7, .pid = 7, .type = 1);
	IRQ(1120, ENTRY, 5);
	SOFTIRQ(1130, ENTRY, 3);
	SOFTIRQ(1135, EXIT, 3);
	ASSERT_PARTS(7, 1140, 10, 15, 15);
	end();
}
END_TEST

/* Softirqs are ksoftirqd's work, interrupts are not. */
START_TEST(test_ksoftirqd)
{
	begin();
	EVENT(&e, 1090, 0, 0, DUMP_PROCESS, dump_process, .tid = 7, .pid = 7, .type = 1);
	events_switch(&e, 1100, 0, 0, RUNNABLE, 7, "ksoftirqd/0");
	SOFTIRQ(1110, ENTRY, 3);
	IRQ(1120, ENTRY, 5);
	IRQ(1130, EXIT, 5);
	SOFTIRQ(1140, EXIT, 3);
	ASSERT_PARTS(7, 1150, 0, 40, 10);
	end();
}
END_TEST

/* A program may have any name. */
START_TEST(test_name_of_ksoftirqd)
{
	begin_in_program();
	events_switch(&e, 1100, 0, 7, RUNNABLE, 7, "ksoftirqd/0");
	SOFTIRQ(1110, ENTRY, 3);
	ASSERT_PARTS(7, 1150, 10, 0, 40);
	end();
}
END_TEST

/* ---- random events in any order ---- */

static void random_event(GRand *rand, uint64_t t, unsigned cpu, int64_t a, int64_t b)
{
	switch (g_rand_int_range(rand, 0, 12)) {
	case 0:
		EVENT(&e, t, cpu, a, FORK, new_task, .parent_tid = a, .child_tid = b, .child_pid = b);
		break;
	case 1:
		EVENT(&e, t, cpu, a, EXEC, exec, .tid = a, .old_tid = b);
		break;
	case 2:
		SYSCALL_ENTRY(&e, t, cpu, a, "read", .fd = 3);
		break;
	case 3:
		SYSCALL_EXIT(&e, t, cpu, a, "read", .ret = 3);
		break;
	case 4:
		EVENT(&e, t, cpu, a, IRQ_ENTRY, irq, .irq = b % 3);
		break;
	case 5:
		EVENT(&e, t, cpu, a, IRQ_EXIT, irq, .irq = b % 3);
		break;
	case 6:
		EVENT(&e, t, cpu, a, SOFTIRQ_ENTRY, softirq, .vec = (uint64_t)b % 3);
		break;
	case 7:
		EVENT(&e, t, cpu, a, SOFTIRQ_EXIT, softirq, .vec = (uint64_t)b % 3);
		break;
	case 8:
		EVENT(&e, t, cpu, a, SCHED_WAKING, wakeup, .tid = b);
		break;
	case 9:
		EVENT(&e, t, cpu, a, DUMP_PROCESS, dump_process, .tid = b, .pid = b, .type = b % 2, .status = 5);
		break;
	case 10:
		EVENT(&e, t, cpu, a, CPU_HOTPLUG, cpu_hotplug, .cpu = b % 3, .state = 0);
		break;
	default:
		events_switch(&e, t, cpu, a, g_rand_int_range(rand, 0, 3), b,
			      g_rand_boolean(rand) ? "x" : "ksoftirqd/1");
		break;
	}
}

/* The parts never exceed the CPU time, and no part decreases, nor does the rest. */
START_TEST(test_parts_hold_whatever_comes)
{
	GRand *rand = g_rand_new_with_seed(20261123);
	struct parts last[8] = { { 0 } };
	uint64_t uids[8] = { 0 }, t = BEGIN;

	begin();
	for (int i = 0; i < 20000; i++) {
		t += (uint64_t)g_rand_int_range(rand, 0, 20);
		random_event(rand, t, (unsigned)g_rand_int_range(rand, 0, 3), g_rand_int_range(rand, 0, 8),
			     g_rand_int_range(rand, 1, 8));
		for (int64_t tid = 1; tid < 8; tid++) {
			const uint32_t row = thread_find(e.m, tid);
			struct parts p;

			if (row == NO_ROW)
				continue;
			if (THREAD_ROW(e.m, row)->uid != uids[tid])
				last[tid] = (struct parts){ 0 };
			uids[tid] = THREAD_ROW(e.m, row)->uid;
			p = parts(tid, t + 5);
			ck_assert_uint_lt(p.user, UINT64_MAX / 2);
			p = parts(tid, t);
			ck_assert_uint_ge(p.user, last[tid].user);
			ck_assert_uint_ge(p.system, last[tid].system);
			ck_assert_uint_ge(p.interrupted, last[tid].interrupted);
			last[tid] = p;
		}
	}
	g_rand_free(rand);
	end();
}
END_TEST

UNIT_MAIN("mode", test_call, test_interrupts, test_preempted_and_blocked_in_a_call, test_blocked_in_the_program,
	  test_exit, test_fork, test_exec_of_another_thread, test_return_from_a_signal, test_unknown_at_begin,
	  test_in_a_call_at_begin, test_dumps_at_begin, test_first_woken_then_seen, test_waits_in_state_dump,
	  test_gap_in_a_session, test_kernel_thread, test_ksoftirqd, test_name_of_ksoftirqd,
	  test_parts_hold_whatever_comes)
