/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs, threads and time: model/{cpu,sched,process,lost}.c on hand-built events. */
#include "unit.h"

#include "base/nstime.h"
#include "threads.h"

START_TEST(test_time_from_begin_to_end)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, 5, SLEEP, 0, "swapper/0");
	events_switch(&e, 1300, 0, 0, RUNNABLE, 6, "six");
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, cpu_ns, 1300), 100);
	ck_assert_uint_eq(CPU_VALUE(&e, 0, idle_ns, 1300), 200);
	/* the last thread switched in runs on until any later time */
	ck_assert_uint_eq(THREAD_VALUE(&e, 6, cpu_ns, 1350), 50);
	ck_assert_uint_eq(CPU_VALUE(&e, 0, online_ns, 1350), 350);
	ck_assert_uint_eq(events_thread(&e, 5)->switches, 0);
	ck_assert_uint_eq(events_thread(&e, 6)->switches, 1);
	ck_assert_uint_eq(cpu_row(&e, 0)->switches, 2);
	assert_sums(&e, 1350);
	events_release(&e);
}
END_TEST

/* A recording can be read ahead: a cut before the first switch already credits the running thread. */
START_TEST(test_cpu_start_credits_before_first_switch)
{
	struct ev_cpu_start p = { .tid = 5, .comm = "five" };
	struct events e;
	struct record r;

	events_init(&e);
	record_init(&r, 0, 0, EVENT_NO_TID, EVENT_CPU_START);
	events_apply(&e, &r, &p, sizeof(p));
	model_begin(e.m, BEGIN);
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, cpu_ns, 1040), 40);
	events_switch(&e, 1100, 0, 5, SLEEP, 0, "swapper/0");
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, cpu_ns, 1100), 100);
	ck_assert_str_eq(strpool_text((strid)events_thread(&e, 5)->comm), "five");
	assert_sums(&e, 1100);
	events_release(&e);
}
END_TEST

/* A snapshot has a CPU's data only from its oldest packet on: what ran then is not known to have run before. */
START_TEST(test_cpu_start_of_later_data)
{
	struct ev_cpu_start p = { .tid = 5, .comm = "five" };
	struct events e;
	struct record r;

	begin(&e);
	events_switch(&e, 1100, 0, 7, RUNNABLE, 5, "five");
	events_switch(&e, 1150, 0, 5, SLEEP, 7, "seven");
	EVENT(&e, 1200, 0, 7, SCHED_WAKEUP, wakeup, .tid = 5, .target_cpu = 1);
	record_init(&r, 1500, 1, EVENT_NO_TID, EVENT_CPU_START);
	events_apply(&e, &r, &p, sizeof(p));
	events_switch(&e, 1600, 1, 5, SLEEP, 0, "swapper/1");
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, cpu_ns, 1600), 50 + 100);
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, ready_ns, 1600), 300);
	ck_assert_uint_eq(CPU_VALUE(&e, 1, online_ns, 1600), 100);
	assert_sums(&e, 1600);
	events_release(&e);
}
END_TEST

/*
 * Until its data begins, threads may run on that CPU: which of them are ready is not known. Nothing was lost. A second
 * stream of the CPU says nothing new.
 */
START_TEST(test_awaited_cpu)
{
	struct ev_cpu_start p = { .tid = 5, .comm = "five" };
	struct events e;
	struct record r;

	begin(&e);
	model_await_cpu(e.m, 1);
	events_switch(&e, 1100, 0, 7, SLEEP, 5, "five");
	EVENT(&e, 1110, 0, 5, SCHED_WAKING, wakeup, .tid = 5);
	EVENT(&e, 1120, 0, 5, SCHED_WAKING, wakeup, .tid = 7, .target_cpu = 1);
	events_switch(&e, 1150, 0, 5, RUNNABLE, 7, "seven");
	EVENT(&e, 1200, 0, 7, SCHED_WAKING, wakeup, .tid = 8, .target_cpu = 1);
	events_switch(&e, 1300, 0, 7, SLEEP, 9, "nine");
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, ready_ns, 1400), 0);
	ck_assert_uint_eq(THREAD_VALUE(&e, 8, ready_ns, 1400), 0);
	ck_assert_uint_eq(HOST_ROW(e.m)->cpus, 2);
	ck_assert_uint_eq(HOST_ROW(e.m)->gap_end_ns, 0);
	record_init(&r, 1500, 1, EVENT_NO_TID, EVENT_CPU_START);
	events_apply(&e, &r, &p, sizeof(p));
	ck_assert(events_thread(&e, 7)->flags & THREAD_UNSURE); /* it may have run, and sleep again */
	events_switch(&e, 1600, 1, 5, RUNNABLE, 0, "swapper/1");
	EVENT(&e, 1650, 0, 9, SCHED_WAKING, wakeup, .tid = 8, .target_cpu = 1);
	record_init(&r, 1700, 1, EVENT_NO_TID, EVENT_CPU_START);
	events_apply(&e, &r, &p, sizeof(p));
	model_await_cpu(e.m, 1);
	events_switch(&e, 1800, 1, 0, 0, 8, "eight");
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, cpu_ns, 1800), 50 + 100);
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, ready_ns, 1800), 200);
	ck_assert_uint_eq(THREAD_VALUE(&e, 8, ready_ns, 1800), 150);
	ck_assert_uint_eq(events_thread(&e, 8)->latency.count, 1);
	ck_assert_uint_eq(events_thread(&e, 7)->latency.count, 0);
	ck_assert_uint_eq(CPU_VALUE(&e, 1, online_ns, 1800), 300);
	ck_assert_uint_eq(HOST_ROW(e.m)->lost_events + HOST_ROW(e.m)->lost_packets, 0);
	assert_sums(&e, 1800);
	events_release(&e);
}
END_TEST

/* What ran as a CPU's data begins may be unknown: that it begins is known. */
START_TEST(test_awaited_cpu_without_switch)
{
	struct ev_cpu_start p = { .tid = EVENT_NO_TID };
	struct events e;
	struct record r;

	begin(&e);
	model_await_cpu(e.m, 1);
	events_switch(&e, 1100, 0, 7, SLEEP, 9, "nine");
	record_init(&r, 1500, 1, EVENT_NO_TID, EVENT_CPU_START);
	events_apply(&e, &r, &p, sizeof(p));
	EVENT(&e, 1600, 0, 9, SCHED_WAKING, wakeup, .tid = 7, .target_cpu = 1);
	EVENT(&e, 1700, 1, 6, IRQ_ENTRY, irq, .irq = 1);
	ck_assert_uint_eq(THREAD_VALUE(&e, 7, ready_ns, 1700), 100);
	ck_assert_uint_eq(THREAD_VALUE(&e, 6, cpu_ns, 1700), 200);
	assert_sums(&e, 1700);
	events_release(&e);
}
END_TEST

static void stream(struct events *e, unsigned cpu, uint64_t begin_ns)
{
	struct ev_stream p = { .begin_ns = begin_ns };
	struct record r;

	record_init(&r, 0, cpu, EVENT_NO_TID, EVENT_STREAM);
	events_apply(e, &r, &p, sizeof(p));
}

/* Live: what a CPU ran is credited from its first packet on, announced before the record begins or later. */
START_TEST(test_streams_that_begin_later)
{
	enum { MS = NS_PER_MS };
	struct events e;

	events_init(&e);
	stream(&e, 0, 100 * MS);
	stream(&e, 1, 106 * MS); /* of another channel */
	stream(&e, 1, 103 * MS);
	model_begin(e.m, 100 * MS);
	EVENT(&e, 100 * MS, 0, 5, IRQ_ENTRY, irq, .irq = 1);
	stream(&e, 2, 105 * MS);
	stream(&e, 3, 101 * MS);
	stream(&e, 4, 109 * MS);
	stream(&e, 0, 107 * MS);
	for (unsigned cpu = 1; cpu <= 4; cpu++)
		EVENT(&e, 108 * MS, cpu, 5 + cpu, IRQ_ENTRY, irq, .irq = 1);
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, cpu_ns, 110 * MS), 10 * MS);
	ck_assert_uint_eq(THREAD_VALUE(&e, 6, cpu_ns, 110 * MS), 7 * MS);
	ck_assert_uint_eq(THREAD_VALUE(&e, 7, cpu_ns, 110 * MS), 5 * MS);
	ck_assert_uint_eq(THREAD_VALUE(&e, 8, cpu_ns, 110 * MS), 10 * MS); /* as good as from the start */
	ck_assert_uint_eq(THREAD_VALUE(&e, 9, cpu_ns, 110 * MS), 2 * MS);  /* a packet that claims to begin later */
	ck_assert_uint_eq(CPU_VALUE(&e, 1, online_ns, 110 * MS), 7 * MS);
	assert_sums(&e, 110 * MS);
	events_release(&e);
}
END_TEST

/* Without that, any event's TID identifies the running thread, which is credited from the start. */
START_TEST(test_context_tid_tells_who_runs)
{
	struct events e;

	begin(&e);
	EVENT(&e, 1050, 0, 7, IRQ_ENTRY, irq, .irq = 1);
	ck_assert_uint_eq(THREAD_VALUE(&e, 7, cpu_ns, 1060), 60);
	assert_sums(&e, 1060);
	events_release(&e);
}
END_TEST

START_TEST(test_ready_and_blocked)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, 5, RUNNABLE, 6, "six"); /* 5 preempted */
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, ready_ns, 1150), 50);
	events_switch(&e, 1200, 0, 6, 0x100, 5, "five"); /* 6 preempted, in the form of kernels since 4.14 */
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, ready_ns, 1300), 100);
	ck_assert_uint_eq(THREAD_VALUE(&e, 6, ready_ns, 1300), 100);
	events_switch(&e, 1400, 0, 5, 0x80, 6, "six"); /* TASK_IDLE is a wait */
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, blocked_ns, 1450), 50);
	EVENT(&e, 1500, 0, 6, SCHED_WAKING, wakeup, .tid = 5);
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, blocked_ns, 1600), 100);
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, ready_ns, 1600), 200);
	/* preemption is not a wake-up: no latency */
	events_switch(&e, 1700, 0, 6, SLEEP, 5, "five");
	ck_assert_uint_eq(events_thread(&e, 5)->latency.count, 1);
	ck_assert_uint_eq(events_thread(&e, 5)->latency.sum, 200);
	ck_assert_uint_eq(events_thread(&e, 6)->latency.count, 0);
	events_release(&e);
}
END_TEST

/* In the state dump it waits: blocked until it is woken, then ready. */
START_TEST(test_waiting_ends_with_the_wake_up)
{
	struct events e;

	begin(&e);
	EVENT(&e, 1100, 0, 6, DUMP_PROCESS, dump_process, .tid = 5, .pid = 5, .status = 5, .name = "five");
	ck_assert_uint_eq(events_thread(&e, 5)->state, THREAD_WAITING);
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, blocked_ns, 1150), 50);
	EVENT(&e, 1200, 0, 6, SCHED_WAKING, wakeup, .tid = 5);
	ck_assert_uint_eq(events_thread(&e, 5)->state, THREAD_READY);
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, blocked_ns, 1300), 100);
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, ready_ns, 1300), 100);
	events_switch(&e, 1400, 0, 6, SLEEP, 5, "five");
	ck_assert_uint_eq(events_thread(&e, 5)->latency.count, 1);
	ck_assert_uint_eq(events_thread(&e, 5)->latency.sum, 200);
	events_release(&e);
}
END_TEST

START_TEST(test_stopped_is_neither_ready_nor_blocked)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, 5, 4, 0, "swapper/0");
	ck_assert_uint_eq(events_thread(&e, 5)->state, THREAD_STOPPED);
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, blocked_ns, 1200), 0);
	events_release(&e);
}
END_TEST

START_TEST(test_first_wakeup_counts)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, 5, SLEEP, 6, "six");
	EVENT(&e, 1200, 0, 6, SCHED_WAKING, wakeup, .tid = 5);
	EVENT(&e, 1250, 0, 6, SCHED_WAKING, wakeup, .tid = 5);
	EVENT(&e, 1260, 0, 6, SCHED_WAKING, wakeup, .tid = 6); /* itself: it is running */
	events_switch(&e, 1300, 0, 6, SLEEP, 5, "five");
	ck_assert_uint_eq(events_thread(&e, 5)->latency.sum, 100);
	ck_assert_uint_eq(events_thread(&e, 5)->latency.min, 100);
	ck_assert_uint_eq(events_thread(&e, 5)->latency.max_at, 1300);
	events_release(&e);
}
END_TEST

START_TEST(test_sched_wakeup_counts_only_without_waking)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, 5, SLEEP, 6, "six");
	EVENT(&e, 1200, 0, 6, SCHED_WAKEUP, wakeup, .tid = 5);
	ck_assert_uint_eq(events_thread(&e, 5)->state, THREAD_READY);
	events_switch(&e, 1300, 0, 6, SLEEP, 5, "five");
	events_switch(&e, 1400, 0, 5, SLEEP, 6, "six");
	events_class(&e, "sched_waking");
	EVENT(&e, 1500, 0, 6, SCHED_WAKEUP, wakeup, .tid = 5);
	ck_assert_uint_eq(events_thread(&e, 5)->state, THREAD_BLOCKED);
	events_release(&e);
}
END_TEST

START_TEST(test_migrations)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, 0, RUNNABLE, 5, "five");
	events_switch(&e, 1200, 0, 5, SLEEP, 0, "swapper/0");
	events_switch(&e, 1300, 1, 0, RUNNABLE, 5, "five");
	ck_assert_uint_eq(events_thread(&e, 5)->migrations, 1); /* without the tracepoint: seen on another CPU */
	EVENT(&e, 1400, 1, 5, SCHED_MIGRATE, task, .tid = 5, .orig_cpu = 1, .dest_cpu = 0);
	ck_assert_uint_eq(events_thread(&e, 5)->migrations, 2);
	events_switch(&e, 1500, 1, 5, SLEEP, 0, "swapper/1");
	events_switch(&e, 1600, 0, 0, RUNNABLE, 5, "five");
	ck_assert_uint_eq(events_thread(&e, 5)->migrations, 2); /* the tracepoint counted it */
	EVENT(&e, 1700, 1, 5, SCHED_MIGRATE, task, .tid = 8, .orig_cpu = 1, .dest_cpu = 0);
	ck_assert_uint_eq(events_thread(&e, 8)->migrations, 1); /* the first event that names it */
	events_release(&e);
}
END_TEST

static void switch_to_migration(struct events *e, uint64_t t, uint64_t offline_until_ns, bool looked_ahead)
{
	struct ev_sched_switch p = { .prev_tid = 5,
				     .prev_state = RUNNABLE,
				     .next_tid = 17,
				     .next_comm = "migration/0",
				     .offline_until_ns = offline_until_ns };
	struct record r;

	record_init(&r, t, 0, 5, EVENT_SCHED_SWITCH);
	e->present = looked_ahead ? ~0u : ~(1u << 7);
	events_add(e, &r, &p, sizeof(p));
	e->present = ~0u;
}

START_TEST(test_offline_with_look_ahead)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, 0, RUNNABLE, 5, "five");
	switch_to_migration(&e, 1200, 2000, true);
	ck_assert_uint_eq(CPU_VALUE(&e, 0, online_ns, 1700), 200); /* known immediately */
	ck_assert_uint_eq(HOST_ROW(e.m)->cpus, 0);
	EVENT(&e, 2000, 0, 0, IRQ_ENTRY, irq, .irq = 1);
	ck_assert_uint_eq(CPU_VALUE(&e, 0, online_ns, 2100), 300);
	ck_assert_uint_eq(CPU_VALUE(&e, 0, idle_ns, 2100), 200);
	ck_assert_uint_eq(HOST_ROW(e.m)->cpus, 1);
	ck_assert_uint_eq(THREAD_VALUE(&e, 17, cpu_ns, 2100), 0);
	assert_sums(&e, 2100);
	events_release(&e);
}
END_TEST

START_TEST(test_migration_that_stays_online)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, 0, RUNNABLE, 5, "five");
	switch_to_migration(&e, 1200, 0, true);
	ck_assert_uint_eq(THREAD_VALUE(&e, 17, cpu_ns, 1250), 50);
	events_switch(&e, 1300, 0, 17, SLEEP, 5, "five");
	ck_assert_uint_eq(THREAD_VALUE(&e, 17, cpu_ns, 1400), 100);
	assert_sums(&e, 1400);
	events_release(&e);
}
END_TEST

/* A live source cannot be read ahead: nothing is credited until the next event. */
START_TEST(test_offline_held_until_next_event)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, 0, RUNNABLE, 5, "five");
	switch_to_migration(&e, 1200, 0, false);
	ck_assert_uint_eq(CPU_VALUE(&e, 0, online_ns, 1700), 200);
	events_switch(&e, 1800, 0, 17, SLEEP, 5, "five"); /* it was migration/0 all the time */
	ck_assert_uint_eq(THREAD_VALUE(&e, 17, cpu_ns, 1800), 600);
	ck_assert_uint_eq(CPU_VALUE(&e, 0, online_ns, 1800), 800);
	assert_sums(&e, 1800);
	switch_to_migration(&e, 1900, 0, false);
	EVENT(&e, 2500, 0, 0, IRQ_ENTRY, irq, .irq = 1); /* another thread: the CPU was offline */
	ck_assert_uint_eq(CPU_VALUE(&e, 0, online_ns, 2500), 900);
	ck_assert_uint_eq(CPU_VALUE(&e, 0, online_ns, 2600), 1000);
	assert_sums(&e, 2600);
	events_release(&e);
}
END_TEST

START_TEST(test_hotplug_tracepoint)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 1, 0, RUNNABLE, 5, "five");
	EVENT(&e, 1200, 0, 0, CPU_HOTPLUG, cpu_hotplug, .cpu = 1, .state = 30);
	ck_assert_uint_eq(cpu_row(&e, 1)->state, CPU_BUSY);
	EVENT(&e, 1300, 0, 0, CPU_HOTPLUG, cpu_hotplug, .cpu = 1, .state = 0);
	ck_assert_uint_eq(CPU_VALUE(&e, 1, online_ns, 1900), 300);
	assert_sums(&e, 1900);
	events_release(&e);
}
END_TEST

START_TEST(test_lost_events_make_unsure)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, 5, SLEEP, 6, "six");
	events_lose(&e, 1200, 3, 0);
	ck_assert(events_thread(&e, 5)->flags & THREAD_UNSURE);
	ck_assert(events_thread(&e, 6)->flags & THREAD_UNSURE);
	ck_assert_uint_eq(HOST_ROW(e.m)->lost_events, 3);
	ck_assert_uint_eq(cpu_row(&e, 0)->lost_events, 3);
	/* a switch was lost: 7 runs now, and 6's time ends when 7 is first seen */
	EVENT(&e, 1300, 0, 7, SCHED_WAKING, wakeup, .tid = 5);
	ck_assert_uint_eq(THREAD_VALUE(&e, 6, cpu_ns, 1400), 200);
	ck_assert_uint_eq(THREAD_VALUE(&e, 7, cpu_ns, 1400), 100);
	ck_assert(!(events_thread(&e, 5)->flags & THREAD_UNSURE)); /* seen again */
	ck_assert(events_thread(&e, 6)->flags & THREAD_UNSURE);
	assert_sums(&e, 1400);
	events_release(&e);
}
END_TEST

/*
 * What ran on a CPU among lost events is not known, nor whether threads that are ready run there: their time ends with
 * the last event before.
 */
static void assert_gap_is_unknown(struct events *e, uint64_t t, uint64_t known_again_ns)
{
	ck_assert_uint_eq(THREAD_VALUE(e, 6, cpu_ns, t), 100 + known_again_ns);
	ck_assert_uint_eq(CPU_VALUE(e, 0, online_ns, t), 200 + known_again_ns);
	ck_assert_uint_eq(THREAD_VALUE(e, 9, cpu_ns, t), t - 1000); /* on the other CPU */
	ck_assert_uint_eq(CPU_VALUE(e, 1, online_ns, t), t - 1000);
	ck_assert_uint_eq(THREAD_VALUE(e, 5, ready_ns, t), 50);
	ck_assert_uint_eq(THREAD_VALUE(e, 3, ready_ns, t), 0);
	assert_sums(e, t);
}

START_TEST(test_time_of_a_gap_is_unknown)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1000, 1, 0, 0, 9, "nine");
	events_switch(&e, 1100, 0, 0, 0, 6, "six");
	EVENT(&e, 1150, 0, 6, SCHED_WAKING, wakeup, .tid = 5);
	events_gap(&e, 1200, 0, 1900);
	ck_assert_uint_eq(cpu_row(&e, 0)->state, CPU_UNKNOWN);
	ck_assert_uint_eq(HOST_ROW(e.m)->cpus, 2); /* it is not offline */
	ck_assert(events_thread(&e, 6)->flags & THREAD_UNSURE);
	ck_assert_uint_eq(events_thread(&e, 6)->state, THREAD_UNKNOWN);
	EVENT(&e, 1300, 1, 9, SCHED_WAKING, wakeup, .tid = 3);
	assert_gap_is_unknown(&e, 1600, 0);
	events_lose(&e, 1900, 3, 1200);
	assert_gap_is_unknown(&e, 1900, 0);
	EVENT(&e, 1900, 0, 6, IRQ_ENTRY, irq, .irq = 1);
	assert_gap_is_unknown(&e, 2000, 100);
	ck_assert_uint_eq(HOST_ROW(e.m)->cpus, 2);
	EVENT(&e, 2010, 1, 9, SCHED_WAKING, wakeup, .tid = 3);
	ck_assert_uint_eq(THREAD_VALUE(&e, 3, ready_ns, 2050), 40);
	events_release(&e);
}
END_TEST

/* A thread that was ready until it is seen on a CPU of which nothing was known has not also run there meanwhile. */
START_TEST(test_no_time_counts_twice)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1000, 1, 0, 0, 8, "eight");
	events_switch(&e, 1000, 0, 0, 0, 7, "seven");
	events_switch(&e, 1100, 0, 7, RUNNABLE, 0, "swapper/0");
	events_switch(&e, 1200, 0, 0, 0, 8, "eight"); /* what CPU 1 runs is not known from here on */
	EVENT(&e, 1400, 1, 7, IRQ_ENTRY, irq, .irq = 1);
	ck_assert_uint_eq(THREAD_VALUE(&e, 7, cpu_ns, 1500), 100 + 100);
	ck_assert_uint_eq(THREAD_VALUE(&e, 7, ready_ns, 1500), 300);
	ck_assert_uint_eq(CPU_VALUE(&e, 1, busy_ns, 1500), 200 + 100);
	ck_assert_uint_eq(CPU_VALUE(&e, 1, online_ns, 1500), 200 + 100);
	assert_sums(&e, 1500);
	events_release(&e);
}
END_TEST

/* Among the lost events a ready thread may have run and blocked: what was seen before tells nothing of its wait. */
START_TEST(test_wait_for_cpu_after_loss)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1000, 0, 0, 0, 6, "six");
	EVENT(&e, 1100, 0, 0, SCHED_WAKING, wakeup, .tid = 5, .comm = "five");
	EVENT(&e, 1100, 0, 0, SCHED_WAKING, wakeup, .tid = 7, .comm = "seven");
	events_lose(&e, 1200, 1, 0);
	EVENT(&e, 1300, 0, 0, SCHED_WAKING, wakeup, .tid = 5, .comm = "five");
	events_switch(&e, 1350, 0, 6, 1, 5, "five");
	events_switch(&e, 1400, 0, 5, 1, 7, "seven");
	ck_assert_uint_eq(events_thread(&e, 5)->latency.count, 1);
	ck_assert_uint_eq(events_thread(&e, 5)->latency.sum, 50);
	ck_assert_uint_eq(events_thread(&e, 7)->latency.count, 0);
	events_release(&e);
}
END_TEST

/*
 * Thread 5 is switched out at 1200 to sleep, and in at 1500 though nothing has woken it since: what woke it while it
 * ran came as it was switched out. Unless it was the thread itself, or a wake-up may be lost. That is only known at its
 * switch-in: in all figures but the latency it was blocked until then.
 */
START_TEST(test_woken_while_it_is_switched_out)
{
	enum { NOT, BY_ANOTHER, BY_ITSELF, BEFORE_A_SLICE, BEFORE_A_LOSS, AND_AFTERWARDS, WAYS };
	struct events e;

	for (unsigned way = 0; way < WAYS; way++) {
		const uint64_t ready_ns = way == AND_AFTERWARDS ? 200 : 0,
			       waited_ns = way == BY_ANOTHER ? 300 : ready_ns;

		begin(&e);
		events_switch(&e, 1000, 0, 0, 0, 5, "five");
		events_switch(&e, 1000, 1, 0, 0, 6, "six");
		if (way != NOT)
			EVENT(&e, 1190, way != BY_ITSELF, way == BY_ITSELF ? 5 : 6, SCHED_WAKING, wakeup, .tid = 5);
		if (way == BEFORE_A_SLICE) {
			events_switch(&e, 1191, 0, 5, 0x100, 7, "seven");
			events_switch(&e, 1191, 0, 7, 0x100, 5, "five");
		}
		if (way == BEFORE_A_LOSS)
			events_lose(&e, 1195, 1, 0);
		events_switch(&e, 1200, 0, 5, SLEEP, 7, "seven");
		if (way == AND_AFTERWARDS)
			EVENT(&e, 1300, 1, 6, SCHED_WAKING, wakeup, .tid = 5);
		events_switch(&e, 1500, 0, 7, SLEEP, 5, "five");
		ck_assert_uint_eq(THREAD_VALUE(&e, 5, ready_ns, 1500), ready_ns);
		ck_assert_uint_eq(THREAD_VALUE(&e, 5, blocked_ns, 1500), 300 - ready_ns);
		ck_assert_uint_eq(events_thread(&e, 5)->latency.count, waited_ns > 0);
		ck_assert_uint_eq(events_thread(&e, 5)->latency.sum, waited_ns);
		/* the next wait is like any other */
		events_switch(&e, 1600, 0, 5, SLEEP, 7, "seven");
		events_switch(&e, 1700, 0, 7, SLEEP, 5, "five");
		ck_assert_uint_eq(events_thread(&e, 5)->latency.count, waited_ns > 0);
		assert_sums(&e, 1700);
		events_release(&e);
	}
}
END_TEST

/*
 * A record of chosen processes has the switches and wake-ups of their threads alone: CPU 1 shows thread 6 after it was
 * switched to 9. Thread 5 may have slept until another process woke it. In other records, too, this occurs once: where
 * a session was stopped for a while, or the first thread's TID was taken over.
 */
START_TEST(test_woken_in_a_record_of_some_processes)
{
	enum { NONE, EARLIER, REPORTED_LATER, LONG_AGO, WAYS };
	struct events e;

	for (unsigned way = 0; way < WAYS; way++) {
		const uint64_t t = way == LONG_AGO ? 2 * NS_PER_S : 1190;

		begin(&e);
		events_switch(&e, 1000, 0, 0, 0, 5, "five");
		events_switch(&e, 1000, 1, 0, 0, 6, "six");
		events_switch(&e, 1100, 1, 6, SLEEP, 9, "nine");
		if (way == EARLIER)
			events_lose(&e, 1110, 1, 0);
		EVENT(&e, 1150, 1, 6, IRQ_ENTRY, irq, .irq = 3);
		if (way == REPORTED_LATER)
			events_lose(&e, 1160, 1, 1140); /* known only now, as another stream of the CPU lost nothing */
		EVENT(&e, t, 1, 6, SCHED_WAKING, wakeup, .tid = 5);
		events_switch(&e, t + 10, 0, 5, SLEEP, 7, "seven");
		events_switch(&e, t + 300, 0, 7, SLEEP, 5, "five");
		ck_assert_uint_eq(events_thread(&e, 5)->latency.count, way != NONE);
		events_release(&e);
	}
}
END_TEST

/* Its switch-in was among the lost events: it was preempted since, and not woken. */
START_TEST(test_switched_in_unseen)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1000, 0, 0, 0, 6, "six");
	EVENT(&e, 1100, 0, 0, SCHED_WAKING, wakeup, .tid = 5, .comm = "five");
	events_lose(&e, 1200, 1, 0);
	events_switch(&e, 1500, 0, 5, 0x100, 6, "six");
	events_switch(&e, 1510, 0, 6, SLEEP, 5, "five");
	ck_assert_uint_eq(events_thread(&e, 5)->latency.count, 0);
	events_release(&e);
}
END_TEST

/* A second loss concerns only those threads that were seen since the first: there may be many others. */
START_TEST(test_losses_with_many_threads)
{
	enum { THREADS = 1000 };
	const struct state_table *threads;
	struct events e;

	begin(&e);
	threads = &e.m->state.tables[TABLE_THREAD];
	for (int tid = 1; tid <= THREADS; tid++)
		EVENT(&e, 1100, 0, 0, SCHED_WAKING, wakeup, .tid = tid);
	events_lose(&e, 1200, 1, 0);
	for (int tid = 1; tid <= THREADS; tid++)
		ck_assert(events_thread(&e, tid)->flags & THREAD_UNSURE);
	for (int tid = 5; tid <= 8; tid++)
		events_switch(&e, 1300, 0, tid, tid <= 6 ? DEAD : SLEEP, 0, "swapper/0");
	ck_assert(!(events_thread(&e, 7)->flags & THREAD_UNSURE));
	state_reap(&e.m->state, NULL, NULL);
	state_frame_begin(&e.m->state);
	events_lose(&e, 1400, 1, 0);
	ck_assert(events_thread(&e, 7)->flags & THREAD_UNSURE);
	ck_assert(events_thread(&e, 8)->flags & THREAD_UNSURE);
	ck_assert_uint_le(threads->n_dirty, 3); /* and the idle task, which ran */
	EVENT(&e, 1500, 0, 0, SCHED_WAKING, wakeup, .tid = 7);
	ck_assert(!(events_thread(&e, 7)->flags & THREAD_UNSURE));
	ck_assert(events_thread(&e, 8)->flags & THREAD_UNSURE);
	events_release(&e);
}
END_TEST

/* A live session breaks off and comes back: the time in between belongs to no thread, and no count is lost. */
START_TEST(test_interrupted_session)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, 0, RUNNABLE, 5, "five");
	SYSCALL_ENTRY(&e, 1150, 0, 5, "read", .fd = 3);
	events_switch(&e, 1200, 1, 6, SLEEP, 0, "swapper/1");
	model_interrupt(e.m, 0);
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, cpu_ns, 5000), 100);
	ck_assert_uint_eq(THREAD_VALUE(&e, 6, blocked_ns, 5000), 0);
	ck_assert_uint_eq(CPU_VALUE(&e, 0, online_ns, 5000), 200);
	ck_assert_uint_eq(EVENTS_VALUE(HOST, host, HOST_ROW(e.m), unrecorded_ns, 5000), 3800);
	ck_assert_uint_eq(HOST_ROW(e.m)->cpus, 2); /* not recorded, but not offline */
	ck_assert_uint_eq(cpu_row(&e, 0)->state, CPU_UNKNOWN);
	ck_assert(events_thread(&e, 5)->flags & THREAD_UNSURE);
	ck_assert_uint_eq(events_thread(&e, 5)->syscall, STRID_NONE);
	EVENT(&e, 6000, 0, 5, IRQ_ENTRY, irq, .irq = 1);
	ck_assert_uint_eq(EVENTS_VALUE(HOST, host, HOST_ROW(e.m), unrecorded_ns, 6100), 4800);
	ck_assert_uint_eq(HOST_ROW(e.m)->record_since_ns, 6000);
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, cpu_ns, 6100), 200);
	ck_assert_uint_eq(CPU_VALUE(&e, 0, online_ns, 6100), 300);
	ck_assert_uint_eq(HOST_ROW(e.m)->cpus, 2);
	ck_assert(!(events_thread(&e, 5)->flags & THREAD_UNSURE));
	ck_assert(events_thread(&e, 6)->flags & THREAD_UNSURE);
	/* of a CPU seen only now, nothing is known before */
	events_switch(&e, 6050, 2, 8, RUNNABLE, 9, "nine");
	ck_assert_uint_eq(CPU_VALUE(&e, 2, online_ns, 6100), 50);
	ck_assert_uint_eq(THREAD_VALUE(&e, 8, cpu_ns, 6100), 0);
	assert_sums(&e, 6100);
	events_release(&e);
}
END_TEST

/* Seen on a second CPU: the first one runs an unknown thread, which is credited once it is seen. */
START_TEST(test_thread_seen_on_two_cpus)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, 0, RUNNABLE, 5, "five");
	events_switch(&e, 1200, 1, 0, RUNNABLE, 5, "five");
	assert_sums(&e, 1300);
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, cpu_ns, 1300), 200);
	events_switch(&e, 1400, 0, 8, SLEEP, 0, "swapper/0");
	ck_assert_uint_eq(THREAD_VALUE(&e, 8, cpu_ns, 1400), 200);
	assert_sums(&e, 1400);
	events_release(&e);
}
END_TEST

/* A damaged record. */
START_TEST(test_idle_task_with_a_stoppers_name)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, 0, RUNNABLE, 5, "five");
	events_switch(&e, 1200, 0, 5, SLEEP, 0, "migration/0");
	e.present = ~(1u << SWITCH_OFFLINE_UNTIL);
	events_switch(&e, 1300, 0, 0, RUNNABLE, 5, "five");
	events_switch(&e, 1400, 0, 5, SLEEP, 0, "migration/0");
	ck_assert_uint_eq(THREAD_VALUE(&e, 5, cpu_ns, 1500), 200);
	ck_assert_uint_eq(CPU_VALUE(&e, 0, online_ns, 1500), 500);
	assert_sums(&e, 1500);
	events_release(&e);
}
END_TEST

/* The sums hold for any events. */
START_TEST(test_sums_hold_whatever_comes)
{
	GRand *rand = g_rand_new_with_seed(4711);
	struct ev_lost lost = { .events = 1 };
	struct record r;
	struct events e;
	uint64_t t = BEGIN;

	begin(&e);
	for (int i = 0; i < 20000; i++) {
		unsigned cpu = (unsigned)g_rand_int_range(rand, 0, 3);
		int64_t a = g_rand_int_range(rand, 0, 8), b = g_rand_int_range(rand, 0, 8);

		t += (uint64_t)g_rand_int_range(rand, 0, 50);
		switch (g_rand_int_range(rand, 0, 10)) {
		case 0:
			EVENT(&e, t, cpu, a, EXIT, task, .tid = a);
			break;
		case 1:
			fork_child(&e, t, a, b + 1, b + 1);
			break;
		case 2:
			EVENT(&e, t, cpu, a, EXEC, exec, .tid = b, .old_tid = a);
			break;
		case 3:
			record_init(&r, t, cpu, EVENT_NO_TID, EVENT_LOST);
			events_apply(&e, &r, &lost, sizeof(lost));
			break;
		case 4:
			EVENT(&e, t, cpu, a, SCHED_WAKING, wakeup, .tid = b);
			break;
		case 5:
			EVENT(&e, t, cpu, a, FREE, task, .tid = b);
			break;
		case 6:
			EVENT(&e, t, cpu, a, CPU_HOTPLUG, cpu_hotplug, .cpu = b % 3, .state = 0);
			break;
		case 7:
			events_gap(&e, t, cpu, t + 100);
			break;
		default:
			events_switch(&e, t, cpu, a, g_rand_int_range(rand, 0, 64), b,
				      g_rand_boolean(rand) ? "x" : "migration/1");
			break;
		}
		assert_sums(&e, t + 10);
		/* ended rows take their time with them: the sums are over the remaining rows */
		if (i % 100 == 99) {
			uint64_t busy = 0;

			for (guint c = 0; c < e.m->cpus->len; c++)
				if (g_array_index(e.m->cpus, struct cpu, c).row != NO_ROW)
					busy += CPU_VALUE(&e, c, busy_ns, t);
			ck_assert_uint_le(busy, 3 * (t - BEGIN));
		}
	}
	g_rand_free(rand);
	events_release(&e);
}
END_TEST

UNIT_MAIN("sched", test_time_from_begin_to_end, test_cpu_start_credits_before_first_switch,
	  test_cpu_start_of_later_data, test_awaited_cpu, test_awaited_cpu_without_switch,
	  test_streams_that_begin_later, test_context_tid_tells_who_runs, test_ready_and_blocked,
	  test_waiting_ends_with_the_wake_up, test_stopped_is_neither_ready_nor_blocked, test_first_wakeup_counts,
	  test_sched_wakeup_counts_only_without_waking, test_migrations, test_offline_with_look_ahead,
	  test_migration_that_stays_online, test_offline_held_until_next_event, test_hotplug_tracepoint,
	  test_lost_events_make_unsure, test_time_of_a_gap_is_unknown, test_no_time_counts_twice,
	  test_wait_for_cpu_after_loss, test_switched_in_unseen, test_losses_with_many_threads,
	  test_interrupted_session, test_thread_seen_on_two_cpus, test_woken_while_it_is_switched_out,
	  test_woken_in_a_record_of_some_processes, test_idle_task_with_a_stoppers_name, test_sums_hold_whatever_comes)
