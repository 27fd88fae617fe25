/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The wait events that the model logs: which thread is woken, in which context, for what reason. */
#include "unit.h"

#include "events.h"
#include "model/waitlog.h"

struct fixture {
	struct events e;
	struct wait_log log;
};

static void begin(struct fixture *f)
{
	events_init(&f->e);
	wait_log_init(&f->log);
	model_set_wait_log(f->e.m, &f->log);
}

static void end(struct fixture *f)
{
	events_release(&f->e);
	wait_log_release(&f->log);
}

static const struct wait_event *last(const struct fixture *f, enum wait_event_kind kind)
{
	const struct wait_event *e;

	ck_assert_uint_gt(f->log.n_events, 0);
	e = &f->log.events[f->log.n_events - 1];
	ck_assert_int_eq(e->kind, kind);
	return e;
}

/* Thread 7 is woken on CPU 0, which runs tid, at t: in this context, for this reason, by the thing with this name. */
static void wake_by(struct fixture *f, uint64_t t, int tid, enum wait_context context, enum wait_state state,
		    const char *cause)
{
	const struct wait_event *e;

	EVENT(&f->e, t, 0, tid, SCHED_WAKING, wakeup, .tid = 7, .comm = "seven");
	e = last(f, WAIT_EVENT_WAKE);
	ck_assert_int_eq(e->tid, 7);
	ck_assert_int_eq(e->from_tid, tid);
	ck_assert_int_eq(e->context, context);
	ck_assert_str_eq(wait_state_name((enum wait_state)e->state), wait_state_name(state));
	ck_assert_str_eq(strpool_text(e->cause), cause);
}

static void wake(struct fixture *f, uint64_t t, enum wait_context context, enum wait_state state, const char *cause)
{
	wake_by(f, t, 5, context, state, cause);
}

static void lost(struct fixture *f, uint64_t t)
{
	struct ev_lost p = { .events = 3 };
	struct record r;

	record_init(&r, t, 0, EVENT_NO_TID, EVENT_LOST);
	events_apply(&f->e, &r, &p, sizeof(p));
}

/* What a CPU runs, from its first event or known when the log begins, and since when. */
START_TEST(test_what_runs_at_first)
{
	const struct wait_event *e;
	struct fixture f;

	begin(&f);
	model_begin(f.e.m, 5);
	EVENT(&f.e, 10, 1, 7, SCHED_WAKING, wakeup, .tid = 9, .comm = "nine");
	ck_assert_uint_eq(f.log.n_events, 2);
	e = &f.log.events[0];
	ck_assert_int_eq(e->kind, WAIT_EVENT_RUNS);
	ck_assert_int_eq(e->tid, 7);
	ck_assert_uint_eq(e->cpu, 1);
	ck_assert_uint_eq(e->since_ns, 5);
	ck_assert_uint_eq(e->ts_ns, 10);
	wait_log_clear(&f.log);
	model_set_wait_log(f.e.m, NULL);
	EVENT(&f.e, 20, 1, 7, SCHED_SWITCH, sched_switch, .prev_tid = 7, .prev_state = 1, .next_tid = 8,
	      .next_comm = "eight");
	model_set_wait_log(f.e.m, &f.log);
	ck_assert_uint_eq(f.log.n_events, 1); /* nothing is known of CPU 0 */
	e = last(&f, WAIT_EVENT_RUNS);
	ck_assert_int_eq(e->tid, 8);
	ck_assert_str_eq(strpool_text(e->comm), "eight");
	ck_assert_uint_eq(e->since_ns, 20);
	end(&f);
}
END_TEST

START_TEST(test_contexts)
{
	struct fixture f;

	begin(&f);
	events_switch(&f.e, 10, 0, 1, 1, 5, "five");
	wake(&f, 20, WAIT_CONTEXT_TASK, WAIT_BLOCKED, "");
	EVENT(&f.e, 30, 0, 5, IRQ_ENTRY, irq, .irq = 24, .name = str(&rec, "eth0-rx"));
	wake(&f, 31, WAIT_CONTEXT_IRQ, WAIT_BLOCKED, "eth0-rx");
	EVENT(&f.e, 32, 0, 5, HRTIMER_ENTRY, none);
	wake(&f, 33, WAIT_CONTEXT_HRTIMER, WAIT_TIMER, "");
	EVENT(&f.e, 34, 0, 5, IRQ_EXIT, irq, .irq = 24); /* not the innermost one: no effect */
	wake(&f, 35, WAIT_CONTEXT_HRTIMER, WAIT_TIMER, "");
	EVENT(&f.e, 36, 0, 5, HRTIMER_EXIT, none);
	EVENT(&f.e, 37, 0, 5, IRQ_EXIT, irq, .irq = 24);
	wake(&f, 38, WAIT_CONTEXT_TASK, WAIT_BLOCKED, "");
	EVENT(&f.e, 40, 0, 5, IRQ_ENTRY, irq, .irq = 0, .name = str(&rec, "timer"));
	wake(&f, 41, WAIT_CONTEXT_IRQ, WAIT_INTERRUPTED, "timer");
	EVENT(&f.e, 42, 0, 5, IRQ_EXIT, irq, .irq = 0);
	EVENT(&f.e, 43, 0, 5, IRQ_ENTRY, irq, .irq = 1, .name = str(&rec, "i8042"));
	wake(&f, 44, WAIT_CONTEXT_IRQ, WAIT_USER_INPUT, "i8042");
	EVENT(&f.e, 45, 0, 5, IRQ_EXIT, irq, .irq = 1);
	EVENT(&f.e, 50, 0, 5, IPI_ENTRY, none);
	wake(&f, 51, WAIT_CONTEXT_IPI, WAIT_IPI, "");
	EVENT(&f.e, 52, 0, 5, IPI_EXIT, none);
	EVENT(&f.e, 52, 0, 5, LOCAL_TIMER_ENTRY, none);
	wake(&f, 52, WAIT_CONTEXT_HRTIMER, WAIT_TIMER, "");
	EVENT(&f.e, 52, 0, 5, LOCAL_TIMER_EXIT, none);
	EVENT(&f.e, 53, 0, 5, DO_IRQ_ENTRY, probe);
	wake(&f, 54, WAIT_CONTEXT_DO_IRQ, WAIT_UNKNOWN, "");
	EVENT(&f.e, 55, 0, 5, DO_IRQ_EXIT, probe);
	wake(&f, 56, WAIT_CONTEXT_TASK, WAIT_BLOCKED, "");
	end(&f);
}
END_TEST

START_TEST(test_softirqs)
{
	static const struct {
		uint64_t vec;
		enum wait_state state;
		const char *name;
	} cases[] = {
		{ 0, WAIT_BLOCKED, "HI" },
		{ 1, WAIT_TIMER, "TIMER" },
		{ 2, WAIT_NETWORK, "NET_TX" },
		{ 3, WAIT_NETWORK, "NET_RX" },
		{ 4, WAIT_BLOCK_DEVICE, "BLOCK" },
		{ 6, WAIT_BLOCKED, "TASKLET" },
		{ 5, WAIT_BLOCK_DEVICE, "IRQ_POLL" },
		{ 7, WAIT_INTERRUPTED, "SCHED" },
		{ 8, WAIT_TIMER, "HRTIMER" },
		{ 9, WAIT_BLOCKED, "RCU" },
	};
	struct fixture f;

	begin(&f);
	events_switch(&f.e, 5, 0, 1, 1, 5, "five");
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		uint64_t t = 10 * (i + 1);

		EVENT(&f.e, t, 0, 5, SOFTIRQ_ENTRY, softirq, .vec = cases[i].vec);
		if (cases[i].vec == 2 || cases[i].vec == 3)
			ck_assert_uint_eq(last(&f, WAIT_EVENT_NET_SOFTIRQ)->vec, cases[i].vec);
		wake(&f, t + 1, WAIT_CONTEXT_SOFTIRQ, cases[i].state, cases[i].name);
		ck_assert_uint_eq(last(&f, WAIT_EVENT_WAKE)->vec, cases[i].vec);
		EVENT(&f.e, t + 2, 0, 5, SOFTIRQ_EXIT, softirq, .vec = cases[i].vec);
	}
	end(&f);
}
END_TEST

/* A wait is attributed to the disk whose request completed there, or to the interface that received there. */
START_TEST(test_names_of_devices)
{
	struct fixture f;

	begin(&f);
	EVENT(&f.e, 5, 0, 5, DUMP_DISK, dump_disk, .dev = 254 << 20, .name = str(&rec, "vda"));
	events_switch(&f.e, 10, 0, 1, 1, 5, "five");
	EVENT(&f.e, 20, 0, 5, IRQ_ENTRY, irq, .irq = 24, .name = str(&rec, "virtio1"));
	wake(&f, 21, WAIT_CONTEXT_IRQ, WAIT_BLOCKED, "virtio1");
	EVENT(&f.e, 22, 0, 5, BLOCK_COMPLETE, block_rq, .dev = 254 << 20, .sector = 8, .nr_sector = 8);
	wake(&f, 23, WAIT_CONTEXT_IRQ, WAIT_BLOCK_DEVICE, "vda");
	EVENT(&f.e, 24, 0, 5, IRQ_EXIT, irq, .irq = 24);
	EVENT(&f.e, 30, 0, 5, SOFTIRQ_ENTRY, softirq, .vec = 3);
	EVENT(&f.e, 31, 0, 5, RECEIVING_ENTRY, none);
	EVENT(&f.e, 32, 0, 5, RECEIVING_ENTRY, none);
	EVENT(&f.e, 33, 0, 5, NET_RECEIVE, net, .len = 60, .name = str(&rec, "eth0"));
	ck_assert_int_eq(last(&f, WAIT_EVENT_RECEIVE)->context, WAIT_CONTEXT_RECEIVING);
	ck_assert_int_eq(last(&f, WAIT_EVENT_RECEIVE)->below, WAIT_CONTEXT_SOFTIRQ);
	ck_assert_uint_eq(last(&f, WAIT_EVENT_RECEIVE)->packet, WAIT_NO_PACKET);
	wake(&f, 34, WAIT_CONTEXT_RECEIVING, WAIT_NETWORK, "eth0");
	ck_assert_int_eq(last(&f, WAIT_EVENT_WAKE)->below, WAIT_CONTEXT_SOFTIRQ);
	EVENT(&f.e, 34, 0, 5, WORK_QUEUE, work, .work = 0xffff8b21);
	ck_assert_int_eq(last(&f, WAIT_EVENT_WORK_QUEUED)->state, WAIT_NETWORK);
	ck_assert_str_eq(strpool_text(last(&f, WAIT_EVENT_WORK_QUEUED)->cause), "eth0");
	/* a disk behind the network: what was received completes its request */
	EVENT(&f.e, 34, 0, 5, BLOCK_COMPLETE, block_rq, .dev = 254 << 20, .sector = 8, .nr_sector = 8);
	wake(&f, 34, WAIT_CONTEXT_RECEIVING, WAIT_NETWORK, "vda");
	EVENT(&f.e, 35, 0, 5, RECEIVING_EXIT, none);
	EVENT(&f.e, 36, 0, 5, RECEIVING_EXIT, none);
	wake(&f, 37, WAIT_CONTEXT_SOFTIRQ, WAIT_NETWORK, "NET_RX");
	end(&f);
}
END_TEST

/*
 * Before Linux 5.10, the CPU that got the disk's interrupt completes requests of other CPUs there, by an IPI; drivers
 * without interrupts use a timer.
 */
START_TEST(test_completed_elsewhere)
{
	struct fixture f;

	begin(&f);
	EVENT(&f.e, 5, 0, 5, DUMP_DISK, dump_disk, .dev = 254 << 20, .name = str(&rec, "vda"));
	events_switch(&f.e, 10, 0, 1, 1, 5, "five");
	EVENT(&f.e, 20, 0, 5, IPI_ENTRY, none);
	EVENT(&f.e, 21, 0, 5, BLOCK_COMPLETE, block_rq, .dev = 254 << 20, .sector = 8, .nr_sector = 8);
	wake(&f, 22, WAIT_CONTEXT_IPI, WAIT_BLOCK_DEVICE, "vda");
	EVENT(&f.e, 23, 0, 5, IPI_EXIT, none);
	EVENT(&f.e, 30, 0, 5, HRTIMER_ENTRY, none);
	wake(&f, 31, WAIT_CONTEXT_HRTIMER, WAIT_TIMER, "");
	EVENT(&f.e, 32, 0, 5, BLOCK_COMPLETE, block_rq, .dev = 254 << 20, .sector = 16, .nr_sector = 8);
	wake(&f, 33, WAIT_CONTEXT_HRTIMER, WAIT_BLOCK_DEVICE, "vda");
	EVENT(&f.e, 34, 0, 5, HRTIMER_EXIT, none);
	wake(&f, 35, WAIT_CONTEXT_TASK, WAIT_BLOCKED, "");
	end(&f);
}
END_TEST

/* With threadirqs and on real-time kernels, an interrupt's thread completes requests: until it is switched out. */
START_TEST(test_thread_of_an_interrupt)
{
	struct fixture f;

	begin(&f);
	EVENT(&f.e, 5, 0, 5, DUMP_DISK, dump_disk, .dev = 254 << 20, .name = str(&rec, "vda"));
	events_switch(&f.e, 10, 0, 1, 1, 5, "irq/24-virtio1");
	wake(&f, 11, WAIT_CONTEXT_TASK, WAIT_BLOCKED, "");
	EVENT(&f.e, 20, 0, 5, BLOCK_COMPLETE, block_rq, .dev = 254 << 20, .sector = 8, .nr_sector = 8);
	wake(&f, 21, WAIT_CONTEXT_IRQ, WAIT_BLOCK_DEVICE, "vda");
	EVENT(&f.e, 22, 0, 5, IRQ_ENTRY, irq, .irq = 25, .name = str(&rec, "eth0"));
	wake(&f, 23, WAIT_CONTEXT_IRQ, WAIT_BLOCKED, "eth0");
	EVENT(&f.e, 24, 0, 5, IRQ_EXIT, irq, .irq = 25);
	EVENT(&f.e, 25, 0, 5, BLOCK_COMPLETE, block_rq, .dev = 254 << 20, .sector = 16, .nr_sector = 8);
	wake(&f, 26, WAIT_CONTEXT_IRQ, WAIT_BLOCK_DEVICE, "vda");
	events_switch(&f.e, 30, 0, 5, 1, 6, "six");
	events_switch(&f.e, 40, 0, 6, 1, 5, "irq/24-virtio1");
	wake(&f, 41, WAIT_CONTEXT_TASK, WAIT_BLOCKED, "");
	/* any other thread, such as one that polls */
	events_switch(&f.e, 50, 0, 5, 1, 5, "five");
	EVENT(&f.e, 51, 0, 5, BLOCK_COMPLETE, block_rq, .dev = 254 << 20, .sector = 24, .nr_sector = 8);
	wake(&f, 52, WAIT_CONTEXT_TASK, WAIT_BLOCKED, "");
	end(&f);
}
END_TEST

/* On an idle CPU only an interrupt can complete a request, and wakes threads soon: one that was not recorded. */
START_TEST(test_completed_on_an_idle_cpu)
{
	struct fixture f;

	begin(&f);
	EVENT(&f.e, 5, 0, 0, DUMP_DISK, dump_disk, .dev = 254 << 20, .name = str(&rec, "vda"));
	events_switch(&f.e, 10, 0, 5, 1, 0, "swapper/0");
	EVENT(&f.e, 20, 0, 0, BLOCK_COMPLETE, block_rq, .dev = 254 << 20, .sector = 8, .nr_sector = 8);
	wake_by(&f, 21, 0, WAIT_CONTEXT_IRQ, WAIT_BLOCK_DEVICE, "vda");
	EVENT(&f.e, 22, 0, 0, IPI_ENTRY, none);
	wake_by(&f, 23, 0, WAIT_CONTEXT_IPI, WAIT_IPI, "");
	EVENT(&f.e, 24, 0, 0, IPI_EXIT, none);
	wake_by(&f, 25, 0, WAIT_CONTEXT_IRQ, WAIT_BLOCK_DEVICE, "vda");
	wake_by(&f, 1000 * 1000, 0, WAIT_CONTEXT_TASK, WAIT_BLOCKED, ""); /* another interrupt */
	EVENT(&f.e, 1000 * 1001, 0, 0, BLOCK_COMPLETE, block_rq, .dev = 254 << 20, .sector = 16, .nr_sector = 8);
	events_switch(&f.e, 1000 * 1001, 0, 0, 0, 5, "five");
	wake(&f, 1000 * 1001, WAIT_CONTEXT_TASK, WAIT_BLOCKED, "");
	end(&f);
}
END_TEST

START_TEST(test_losses)
{
	struct fixture f;

	begin(&f);
	events_switch(&f.e, 10, 0, 1, 1, 5, "five");
	EVENT(&f.e, 20, 0, 5, IRQ_ENTRY, irq, .irq = 24, .name = str(&rec, "virtio1"));
	lost(&f, 30);
	ck_assert_uint_eq(last(&f, WAIT_EVENT_INTERRUPT)->cpu, 0);
	wake(&f, 31, WAIT_CONTEXT_TASK, WAIT_BLOCKED, "");
	model_interrupt(f.e.m, 0);
	ck_assert_uint_eq(last(&f, WAIT_EVENT_INTERRUPT)->cpu, WAIT_ALL_CPUS);
	end(&f);
}
END_TEST

/* A loss in another stream of the CPU, or one that is reported before its end, does not end the gap. */
START_TEST(test_gap)
{
	struct fixture f;

	begin(&f);
	events_switch(&f.e, 10, 0, 1, 1, 5, "five");
	events_gap(&f.e, 20, 0, 100);
	ck_assert_int_eq(last(&f, WAIT_EVENT_INTERRUPT)->goes_on, 1);
	lost(&f, 20);
	ck_assert_int_eq(last(&f, WAIT_EVENT_INTERRUPT)->goes_on, 1);
	lost(&f, 50);
	ck_assert_int_eq(last(&f, WAIT_EVENT_INTERRUPT)->goes_on, 1);
	lost(&f, 100);
	ck_assert_int_eq(last(&f, WAIT_EVENT_INTERRUPT)->goes_on, 0);
	end(&f);
}
END_TEST

/* More levels than there is room for: the innermost ones count. */
START_TEST(test_depth)
{
	struct fixture f;
	unsigned i;

	begin(&f);
	events_switch(&f.e, 10, 0, 1, 1, 5, "five");
	for (i = 0; i < 3 * CONTEXT_DEPTH_MAX; i++)
		EVENT(&f.e, 20 + i, 0, 5, HRTIMER_ENTRY, none);
	EVENT(&f.e, 100, 0, 5, IPI_ENTRY, none);
	wake(&f, 101, WAIT_CONTEXT_IPI, WAIT_IPI, "");
	EVENT(&f.e, 102, 0, 5, IPI_EXIT, none);
	for (i = 0; i < CONTEXT_DEPTH_MAX - 1; i++) {
		wake(&f, 200 + i, WAIT_CONTEXT_HRTIMER, WAIT_TIMER, "");
		EVENT(&f.e, 200 + i, 0, 5, HRTIMER_EXIT, none);
	}
	wake(&f, 300, WAIT_CONTEXT_TASK, WAIT_BLOCKED, "");
	end(&f);
}
END_TEST

/* The number of wake-ups logged for one wake-up seen by each tracepoint, with these tracepoints declared. */
static unsigned counted(const char *const *declared)
{
	struct fixture f;
	unsigned n = 0;

	begin(&f);
	for (unsigned i = 0; declared[i]; i++)
		events_class(&f.e, declared[i]);
	for (unsigned i = 0; declared[i]; i++) {
		struct ev_wakeup p = { .tid = 7 };
		struct record r;

		record_init(&r, 10 + i, 0, 5, tracepoint_find(declared[i], NULL));
		r.ev.class_id = events_class(&f.e, declared[i]);
		events_apply(&f.e, &r, &p, sizeof(p));
	}
	for (unsigned i = 0; i < f.log.n_events; i++)
		n += f.log.events[i].kind == WAIT_EVENT_WAKE;
	end(&f);
	return n;
}

START_TEST(test_families_of_wake_ups)
{
	static const char *const old[] = { "sched_wakeup", "sched_wakeup_new", NULL };
	static const char *const now[] = { "sched_waking", "sched_wakeup", "sched_wakeup_new", NULL };
	static const char *const ttwu[] = { "sched_ttwu", "sched_wakeup", "sched_waking", "sched_wakeup_new", NULL };

	ck_assert_uint_eq(counted(old), 2);
	ck_assert_uint_eq(counted(now), 2);
	ck_assert_uint_eq(counted(ttwu), 1);
}
END_TEST

/* The call and object of the woken thread. */
START_TEST(test_call_and_object)
{
	const struct wait_event *e;
	struct fixture f;

	begin(&f);
	events_switch(&f.e, 10, 0, 1, 1, 7, "seven");
	SYSCALL_ENTRY(&f.e, 20, 0, 7, "openat", .path = str(&rec, "/etc/passwd"));
	SYSCALL_EXIT(&f.e, 21, 0, 7, "openat", .ret = 3);
	SYSCALL_ENTRY(&f.e, 30, 0, 7, "read", .fd = 3);
	events_switch(&f.e, 31, 0, 7, 2, 5, "five");
	e = last(&f, WAIT_EVENT_SWITCH);
	ck_assert_int_eq(e->from_tid, 7);
	ck_assert_str_eq(strpool_text(e->from_comm), "seven");
	ck_assert_int_eq(e->fd, 3);
	wake(&f, 40, WAIT_CONTEXT_TASK, WAIT_BLOCKED, "");
	e = last(&f, WAIT_EVENT_WAKE);
	ck_assert_str_eq(strpool_text(e->call), "read");
	ck_assert_str_eq(strpool_text(e->object), "/etc/passwd");
	ck_assert_int_eq(e->fd, 3);
	end(&f);
}
END_TEST

/*
 * A server that answers wakes its client, and also ksoftirqd, which has to pass the packet on and is not a client.
 */
START_TEST(test_roles)
{
	const struct wait_event *e;
	struct fixture f;

	begin(&f);
	events_switch(&f.e, 10, 0, 1, 1, 5, "rpcd");
	EVENT(&f.e, 11, 0, 5, DUMP_PROCESS, dump_process, .tid = 14, .pid = 14, .type = 1, .status = 5,
	      .name = "ksoftirqd/0");
	SYSCALL_ENTRY(&f.e, 20, 0, 5, "accept4", .fd = 3);
	SYSCALL_EXIT(&f.e, 21, 0, 5, "accept4", .ret = 4);
	SYSCALL_ENTRY(&f.e, 30, 0, 5, "sendto", .fd = 4);
	wake(&f, 31, WAIT_CONTEXT_TASK, WAIT_BLOCKED, "");
	ck_assert_int_eq(last(&f, WAIT_EVENT_WAKE)->role, WAIT_ROLE_CLIENT);
	ck_assert(!last(&f, WAIT_EVENT_WAKE)->of_kernel);
	EVENT(&f.e, 32, 0, 5, SCHED_WAKING, wakeup, .tid = 14, .comm = "ksoftirqd/0");
	e = last(&f, WAIT_EVENT_WAKE);
	ck_assert_int_eq(e->tid, 14);
	ck_assert(e->of_kernel);
	ck_assert_int_eq(e->role, WAIT_ROLE_NONE);
	end(&f);
}
END_TEST

/* Thread 7 is woken as it is switched out, on another CPU: it is ready until it is switched in. */
START_TEST(test_ready_since_switched_out)
{
	struct fixture f;

	begin(&f);
	events_switch(&f.e, 5, 0, 1, 1, 7, "seven");
	events_switch(&f.e, 6, 1, 1, 1, 5, "five");
	EVENT(&f.e, 10, 1, 5, SCHED_WAKING, wakeup, .tid = 7, .comm = "seven");
	events_switch(&f.e, 11, 0, 7, 1, 8, "eight");
	ck_assert(!last(&f, WAIT_EVENT_SWITCH)->was_ready);
	events_switch(&f.e, 20, 0, 8, 1, 7, "seven");
	ck_assert(last(&f, WAIT_EVENT_SWITCH)->was_ready);
	ck_assert_int_lt(last(&f, WAIT_EVENT_SWITCH)->by_tid, 0); /* in the model, it was blocked */
	events_switch(&f.e, 30, 0, 7, 1, 8, "eight");
	events_switch(&f.e, 40, 0, 8, 1, 7, "seven");
	ck_assert(!last(&f, WAIT_EVENT_SWITCH)->was_ready);
	end(&f);
}
END_TEST

/* Before Linux 5.8 the first thread is then switched out under its TID, which is another's by now. */
START_TEST(test_exec_while_the_first_thread_runs)
{
	struct fixture f;

	begin(&f);
	events_switch(&f.e, 5, 0, 1, 1, 6, "six");
	events_switch(&f.e, 6, 1, 1, 1, 7, "seven");
	EVENT(&f.e, 10, 1, 7, EXIT, task, .tid = 7);
	EVENT(&f.e, 20, 0, 6, EXEC, exec, .tid = 7, .old_tid = 6, .filename = str(&rec, "/usr/bin/tar"));
	events_switch(&f.e, 30, 1, 7, 0x20, 8, "eight");
	ck_assert_int_eq(last(&f, WAIT_EVENT_SWITCH)->tid, 8);
	ck_assert_int_lt(last(&f, WAIT_EVENT_SWITCH)->from_tid, 0);
	end(&f);
}
END_TEST

static void context(struct fixture *f, uint64_t t, int tid, const char *comm)
{
	struct ev_context p = { .pid = tid };
	struct record r;

	record_init(&r, t, 0, tid, EVENT_CONTEXT);
	g_strlcpy(p.procname, comm, sizeof(p.procname));
	events_apply(&f->e, &r, &p, sizeof(p));
}

/* Each event of a thread may come with its name: only another one is logged, and not the first. */
START_TEST(test_names_in_contexts)
{
	struct fixture f;
	uint32_t before;

	begin(&f);
	events_switch(&f.e, 10, 0, 1, 1, 5, "");
	before = f.log.n_events;
	context(&f, 20, 5, "five");
	context(&f, 30, 5, "five");
	ck_assert_uint_eq(f.log.n_events, before);
	context(&f, 40, 5, "six");
	ck_assert_uint_eq(f.log.n_events, before + 1);
	ck_assert_str_eq(strpool_text(last(&f, WAIT_EVENT_RENAME)->comm), "six");
	end(&f);
}
END_TEST

START_TEST(test_lives)
{
	const struct wait_event *e;
	struct fixture f;

	begin(&f);
	EVENT(&f.e, 10, 0, 5, FORK, new_task, .parent_tid = 5, .parent_pid = 5, .child_tid = 7, .child_pid = 7,
	      .child_comm = "child");
	e = last(&f, WAIT_EVENT_FORK);
	ck_assert(e->tid == 7 && e->pid == 7 && e->from_tid == 5);
	ck_assert_str_eq(strpool_text(e->comm), "child");
	EVENT(&f.e, 20, 0, 7, EXEC, exec, .tid = 7, .old_tid = 7, .filename = str(&rec, "/usr/bin/wget"));
	e = last(&f, WAIT_EVENT_RENAME);
	ck_assert_str_eq(strpool_text(e->comm), "wget");
	ck_assert_int_lt(e->from_tid, 0);
	/* by another thread of its process, which takes over its TID */
	EVENT(&f.e, 25, 0, 6, EXEC, exec, .tid = 7, .old_tid = 6, .filename = str(&rec, "/usr/bin/tar"));
	e = last(&f, WAIT_EVENT_RENAME);
	ck_assert(e->tid == 7 && e->from_tid == 6 && e->cpu == 0);
	EVENT(&f.e, 30, 0, 7, EXIT, task, .tid = 7);
	ck_assert_int_eq(last(&f, WAIT_EVENT_EXIT)->tid, 7);
	EVENT(&f.e, 40, 0, 5, DUMP_PROCESS, dump_process, .tid = 9, .pid = 8, .status = 5, .name = "nine");
	e = last(&f, WAIT_EVENT_STATUS);
	ck_assert(e->tid == 9 && e->pid == 8 && e->status == 5);
	wait_log_clear(&f.log);
	ck_assert_uint_eq(f.log.n_events, 0);
	end(&f);
}
END_TEST

/* Which packets have headers, and in which layout. */
START_TEST(test_packets)
{
	const struct clock_packet *p;
	struct fixture f;

	begin(&f);
	events_switch(&f.e, 5, 0, 1, 1, 5, "five");
	EVENT(&f.e, 10, 0, 5, NET_QUEUE, net, .ip_version = 4, .protocol = 6, .sport = 1000, .dport = 80, .seq = 11,
	      .ack_seq = 12, .flags = 0x18, .tot_len = 140, .header_words = 0x505, .name = str(&rec, "eth0"));
	ck_assert_uint_eq(last(&f, WAIT_EVENT_SEND)->packet, 0);
	p = &f.log.packets[0];
	ck_assert(p->layout == CLOCK_PACKET_NET_DEV && p->seq == 11 && p->ack_seq == 12 && p->payload_len == 100);
	EVENT(&f.e, 20, 0, 5, SOCK_RECEIVE, net, .seq = 21, .ack_seq = 22, .flags = 0x5010);
	ck_assert_uint_eq(last(&f, WAIT_EVENT_RECEIVE)->packet, 1);
	p = &f.log.packets[1];
	ck_assert(p->layout == CLOCK_PACKET_SOCK_LOCAL && p->seq == 21 && p->flags == 0x5010);
	EVENT(&f.e, 30, 0, 5, NET_QUEUE, net, .seq = 31, .ack_seq = 32, .flags = 0x5018, .name = str(&rec, "eth0"));
	ck_assert_uint_eq(last(&f, WAIT_EVENT_SEND)->packet, 2);
	ck_assert_int_eq(f.log.packets[2].layout, CLOCK_PACKET_TRANSPORT);
	EVENT(&f.e, 40, 0, 5, NET_QUEUE, net, .len = 42, .name = str(&rec, "eth0"));
	ck_assert_uint_eq(last(&f, WAIT_EVENT_SEND)->packet, WAIT_NO_PACKET);
	end(&f);
}
END_TEST

#define WORK(f, t, tid, KIND, address, at) EVENT(&(f)->e, t, 0, tid, WORK_##KIND, work, .work = address, .function = at)

static const char *symbol(const void *data, uint64_t address)
{
	ck_assert_str_eq(data, "symbols");
	return address == 0xffffffffbc894050 ? "wb_workfn" : NULL;
}

/* Work items: numbered from when they are queued until they start. */
START_TEST(test_work_items)
{
	const struct wait_event *e;
	struct fixture f;
	int32_t first;

	begin(&f);
	model_set_symbols(f.e.m, symbol, "symbols");
	WORK(&f, 1000, 5, QUEUE, 0xffff8b21, 0xffffffffbc894050);
	e = last(&f, WAIT_EVENT_WORK_QUEUED);
	ck_assert_int_eq(e->from_tid, 5);
	ck_assert_int_eq(e->context, WAIT_CONTEXT_TASK);
	first = e->work;
	WORK(&f, 1010, 5, QUEUE, 0xffff8b22, 0xffffffffbc894050);
	ck_assert_int_ne(last(&f, WAIT_EVENT_WORK_QUEUED)->work, first);
	WORK(&f, 1020, 6, START, 0xffff8b21, 0xffffffffbc894050);
	e = last(&f, WAIT_EVENT_WORK_START);
	ck_assert_int_eq(e->work, first);
	ck_assert_str_eq(strpool_text(e->cause), "wb_workfn");
	WORK(&f, 1030, 6, END, 0xffff8b21, 0);
	last(&f, WAIT_EVENT_WORK_END);
	/* the same address again: not queued since */
	WORK(&f, 1040, 6, START, 0xffff8b21, 0xffffffffbc894060);
	e = last(&f, WAIT_EVENT_WORK_START);
	ck_assert_int_eq(e->prev_state, NO_WORK);
	ck_assert_str_eq(strpool_text(e->cause), "0xffffffffbc894060");
	/* more than are remembered: the oldest is forgotten, and its number is another's */
	for (uint64_t i = 0; i < WORKS_MAX; i++) {
		WORK(&f, 2000 + i, 5, QUEUE, 0x10000 + i, 0);
		e = last(&f, WAIT_EVENT_WORK_QUEUED);
		ck_assert_int_ge(e->prev_state, 0);
		ck_assert_int_lt(e->prev_state, WORKS_MAX);
	}
	WORK(&f, 9000, 6, START, 0xffff8b22, 0);
	ck_assert_int_eq(last(&f, WAIT_EVENT_WORK_START)->prev_state, NO_WORK);
	ck_assert_uint_eq(last(&f, WAIT_EVENT_WORK_START)->cause, STRID_NONE);
	WORK(&f, 9010, 6, START, 0x10000, 0);
	ck_assert_int_ge(last(&f, WAIT_EVENT_WORK_START)->prev_state, 0);
	end(&f);
}
END_TEST

UNIT_MAIN("waitlog", test_work_items, test_contexts, test_what_runs_at_first, test_softirqs, test_names_of_devices,
	  test_thread_of_an_interrupt, test_completed_elsewhere, test_completed_on_an_idle_cpu, test_losses, test_gap,
	  test_depth, test_families_of_wake_ups, test_call_and_object, test_roles, test_ready_since_switched_out,
	  test_lives, test_names_in_contexts, test_exec_while_the_first_thread_runs, test_packets)
