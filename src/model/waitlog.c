/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/waitlog.h"

#include <string.h>

#include "model/context.h"
#include "model/files.h"
#include "model/parts_internal.h"
#include "model/received.h"

static const char *const state_names[WAIT_STATES] = {
	[WAIT_RUNNING] = "running",           [WAIT_PREEMPTED] = "preempted",
	[WAIT_INTERRUPTED] = "interrupted",   [WAIT_TIMER] = "timer",
	[WAIT_BLOCK_DEVICE] = "block_device", [WAIT_NETWORK] = "network",
	[WAIT_USER_INPUT] = "user_input",     [WAIT_IPI] = "ipi",
	[WAIT_BLOCKED] = "blocked",           [WAIT_UNKNOWN] = "unknown",
};

const char *wait_state_name(enum wait_state state)
{
	return (unsigned)state < WAIT_STATES ? state_names[state] : state_names[WAIT_UNKNOWN];
}

const char *wait_state_label(enum wait_state state)
{
	switch (state) {
	case WAIT_PREEMPTED:
		return "ready"; /* after a wake-up, too */
	case WAIT_BLOCK_DEVICE:
		return "disk";
	case WAIT_USER_INPUT:
		return "input";
	case WAIT_BLOCKED:
		return "unexplained";
	default:
		return wait_state_name(state);
	}
}

void wait_log_init(struct wait_log *log)
{
	memset(log, 0, sizeof(*log));
}

void wait_log_release(struct wait_log *log)
{
	g_free(log->events);
	g_free(log->packets);
	wait_log_init(log);
}

void wait_log_clear(struct wait_log *log)
{
	log->n_events = 0;
	log->n_packets = 0;
}

/* ---- creating events ---- */

static struct wait_event *add(struct model *m, enum wait_event_kind kind, const struct cpu *cpu)
{
	struct wait_log *log = m->wait_log;
	struct wait_event *e;

	if (log->n_events == log->events_capacity) {
		log->events_capacity = log->events_capacity ? 2 * log->events_capacity : 1024;
		log->events = g_renew(struct wait_event, log->events, log->events_capacity);
	}
	e = &log->events[log->n_events++];
	*e = (struct wait_event){
		.ts_ns = m->now_ns,
		.kind = (uint8_t)kind,
		.cpu = cpu ? (uint16_t)CPU_ROW(m, cpu->row)->cpu : WAIT_ALL_CPUS,
		.tid = TID_UNKNOWN,
		.pid = -1,
		.from_tid = TID_UNKNOWN,
		.from_pid = -1,
		.by_tid = -1,
		.fd = -1,
		.packet = WAIT_NO_PACKET,
		.place = WAIT_NO_PLACE,
	};
	return e;
}

static void set_context(const struct model *m, struct wait_event *e, const struct cpu *cpu)
{
	struct context c = context_now(m, cpu);

	e->context = (uint8_t)c.kind;
	e->below = (uint8_t)c.below;
	e->vec = c.below == WAIT_CONTEXT_SOFTIRQ ? (uint8_t)MIN(c.nr, UINT8_MAX) : 0;
	e->state = (uint8_t)context_explains(&c);
	e->cause = c.cause;
}

static int32_t pid_of(const struct model *m, uint32_t row)
{
	return row == NO_ROW ? -1 : (int32_t)THREAD_ROW(m, row)->pid;
}

/* The ID of a name from an event: usually the one its thread already has. */
static strid comm_of(struct model *m, uint32_t row, const char comm[16])
{
	if (row != NO_ROW && (!comm[0] || memcmp(thread_info(m, row)->comm, comm, 16) == 0))
		return (strid)THREAD_ROW(m, row)->comm;
	return strpool_intern_padded(comm, 16);
}

static uint32_t row_of(const struct model *m, int64_t tid)
{
	return tid > 0 ? thread_find(m, tid) : NO_ROW;
}

static bool valid_tid(int64_t tid)
{
	return tid >= 0 && tid <= INT32_MAX;
}

/* What the thread waits for, from its own point of view: the call it is in and what that works on. */
static void set_call(struct model *m, struct wait_event *e, uint32_t row)
{
	const struct thread *t = row == NO_ROW ? NULL : thread_info(m, row);
	uint32_t file;

	if (!t || !t->call.active)
		return;
	e->call = t->call.name;
	e->object = t->call.peer ? t->call.peer : syscalls_path(m, row);
	if (t->call.fd < 0 || t->call.fd > INT32_MAX || !t->call.desc)
		return;
	file = files_resolve(m, t->call.file);
	e->fd = (int32_t)t->call.fd;
	if (file != NO_ROW && !e->object)
		e->object = (strid)(FILE_ROW(m, file)->peer ? FILE_ROW(m, file)->peer : FILE_ROW(m, file)->path);
}

static void log_switch(struct model *m, const struct apply *a)
{
	const struct ev_sched_switch *p = event_payload(a->ev, ev_sched_switch);
	const uint32_t next = row_of(m, p->next_tid), prev = row_of(m, p->prev_tid);
	struct wait_event *e;

	if (!valid_tid(p->prev_tid) || !valid_tid(p->next_tid))
		return;
	e = add(m, WAIT_EVENT_SWITCH, a->cpu);
	e->tid = (int32_t)p->next_tid;
	e->pid = pid_of(m, next);
	e->comm = comm_of(m, next, p->next_comm);
	e->was_ready = next != NO_ROW && sched_was_ready(m, next);
	if (a->cpu->tid != p->prev_tid)
		return; /* of another thread with that TID */
	e->from_tid = (int32_t)p->prev_tid;
	e->from_pid = pid_of(m, prev);
	e->from_comm = comm_of(m, prev, p->prev_comm);
	e->prev_state = (int32_t)p->prev_state;
	set_call(m, e, prev);
}

/*
 * Only one family of wake-ups counts, depending on what the trace declares, so that no wake-up counts twice:
 * sched_ttwu; else sched_waking, which comes first and from the waker's CPU; else sched_wakeup.
 */
static bool counts(const struct apply *a)
{
	if (a->trace->ttwu)
		return a->ev->kind == EVENT_SCHED_WAKEUP && a->class && a->class->name == a->trace->ttwu;
	return a->ev->kind != EVENT_SCHED_WAKEUP || !a->trace->has_waking;
}

/* The thread that runs on the CPU, from the event's own context, without relying on earlier events. */
static void set_runner(const struct model *m, struct wait_event *e, const struct apply *a)
{
	if (!a->trace->has_tid || a->ev->tid < 0)
		return;
	e->from_tid = a->ev->tid;
	e->from_pid = pid_of(m, a->thread);
	e->from_comm = a->thread == NO_ROW ? STRID_NONE : (strid)THREAD_ROW(m, a->thread)->comm;
}

static enum socket_side side_of_call(struct model *m, uint32_t thread)
{
	const struct thread *t = thread == NO_ROW ? NULL : thread_info(m, thread);
	uint32_t file = t && t->call.active ? files_resolve(m, t->call.file) : NO_ROW;

	return file == NO_ROW ? SIDE_UNKNOWN : (enum socket_side)FILE_ROW(m, file)->side;
}

static bool is_kernel_thread(const struct model *m, uint32_t thread)
{
	return thread != NO_ROW && THREAD_ROW(m, thread)->flags & THREAD_KERNEL;
}

/* In a record that starts midway, only the number of some threads is known: they may be either. */
static bool is_user_thread(const struct model *m, uint32_t thread)
{
	return thread != NO_ROW && !is_kernel_thread(m, thread) && (int64_t)THREAD_ROW(m, thread)->ppid >= 0;
}

/*
 * Which of the two the woken thread is: by the socket that its waker writes to; else by the one it reads from; kernel
 * threads work for all others. A parent that waits for its child is not a client, nor is a kernel thread that is to
 * carry on with what its waker does (ksoftirqd, when a packet is sent).
 */
static enum wait_role role_of_wake(struct model *m, uint32_t waker, uint32_t woken)
{
	enum socket_side side;

	if (is_kernel_thread(m, woken))
		return WAIT_ROLE_NONE;
	side = side_of_call(m, waker);
	if (side != SIDE_UNKNOWN)
		return side == SIDE_ACCEPTED ? WAIT_ROLE_CLIENT : WAIT_ROLE_SERVER;
	side = side_of_call(m, woken);
	if (side != SIDE_UNKNOWN)
		return side == SIDE_CONNECTED ? WAIT_ROLE_CLIENT : WAIT_ROLE_SERVER;
	return is_kernel_thread(m, waker) && is_user_thread(m, woken) ? WAIT_ROLE_CLIENT : WAIT_ROLE_NONE;
}

static void log_wake(struct model *m, const struct apply *a)
{
	const struct ev_wakeup *p = event_payload(a->ev, ev_wakeup);
	struct wait_event *e;
	uint32_t row;

	if (!valid_tid(p->tid) || !counts(a))
		return;
	row = row_of(m, p->tid);
	e = add(m, WAIT_EVENT_WAKE, a->cpu);
	e->tid = (int32_t)p->tid;
	e->pid = pid_of(m, row);
	e->comm = comm_of(m, row, p->comm);
	e->new_task = a->ev->kind == EVENT_SCHED_WAKEUP_NEW;
	e->of_kernel = is_kernel_thread(m, row);
	set_context(m, e, a->cpu);
	set_runner(m, e, a);
	set_call(m, e, row);
	e->place = received_place_waking(m, a);
	if (e->context == WAIT_CONTEXT_TASK)
		e->role = (uint8_t)role_of_wake(m, a->cpu ? a->cpu->thread : NO_ROW, row);
}

static void log_fork(struct model *m, const struct apply *a)
{
	const struct ev_new_task *p = event_payload(a->ev, ev_new_task);
	struct wait_event *e;

	if (!valid_tid(p->child_tid))
		return;
	e = add(m, WAIT_EVENT_FORK, a->cpu);
	e->tid = (int32_t)p->child_tid;
	e->pid = p->child_pid > 0 ? (int32_t)p->child_pid : -1;
	e->comm = comm_of(m, NO_ROW, p->child_comm);
	e->from_tid = (int32_t)p->parent_tid;
	e->from_pid = p->parent_pid > 0 ? (int32_t)p->parent_pid : -1;
	e->from_comm = comm_of(m, row_of(m, p->parent_tid), p->parent_comm);
}

static void log_exit(struct model *m, const struct apply *a)
{
	const struct ev_task *p = event_payload(a->ev, ev_task);
	struct wait_event *e;

	if (!valid_tid(p->tid))
		return;
	e = add(m, WAIT_EVENT_EXIT, a->cpu);
	e->tid = (int32_t)p->tid;
}

static void log_status(struct model *m, const struct apply *a)
{
	const struct ev_dump_process *p = event_payload(a->ev, ev_dump_process);
	struct wait_event *e;

	if (!valid_tid(p->tid))
		return;
	e = add(m, WAIT_EVENT_STATUS, a->cpu);
	e->tid = (int32_t)p->tid;
	e->pid = (int32_t)p->pid;
	e->comm = comm_of(m, row_of(m, p->tid), p->name);
	e->status = (int32_t)p->status;
}

static void log_softirq(struct model *m, const struct apply *a)
{
	const struct ev_softirq *p = event_payload(a->ev, ev_softirq);
	enum { NET_TX = 2, NET_RX = 3 };

	if (p->vec == NET_TX || p->vec == NET_RX)
		add(m, WAIT_EVENT_NET_SOFTIRQ, a->cpu)->vec = (uint8_t)p->vec;
}

static uint32_t keep_packet(struct wait_log *log, const struct clock_packet *packet)
{
	if (log->n_packets == log->packets_capacity) {
		log->packets_capacity = log->packets_capacity ? 2 * log->packets_capacity : 256;
		log->packets = g_renew(struct clock_packet, log->packets, log->packets_capacity);
	}
	log->packets[log->n_packets] = *packet;
	return log->n_packets++;
}

static void log_packet(struct model *m, const struct apply *a, bool sent, bool sock)
{
	const struct ev_net *p = event_payload(a->ev, ev_net);
	enum clock_packet_layout layout = sock            ? CLOCK_PACKET_SOCK_LOCAL
					  : p->ip_version ? CLOCK_PACKET_NET_DEV
							  : CLOCK_PACKET_TRANSPORT;
	struct clock_packet packet;
	struct wait_event *e = add(m, sent ? WAIT_EVENT_SEND : WAIT_EVENT_RECEIVE, a->cpu);

	set_context(m, e, a->cpu);
	set_runner(m, e, a);
	if (clock_packet_of_event(p, layout, &packet))
		e->packet = keep_packet(m->wait_log, &packet);
}

void waitlog_before(struct model *m, const struct apply *a)
{
	if (!a->cpu)
		return;
	switch (a->ev->kind) {
	case EVENT_SCHED_SWITCH:
		log_switch(m, a);
		break;
	case EVENT_SCHED_WAKING:
	case EVENT_SCHED_WAKEUP:
	case EVENT_SCHED_WAKEUP_NEW:
		log_wake(m, a);
		break;
	case EVENT_FORK:
		log_fork(m, a);
		break;
	case EVENT_EXIT:
		log_exit(m, a);
		break;
	case EVENT_DUMP_PROCESS:
		log_status(m, a);
		break;
	case EVENT_SOFTIRQ_ENTRY:
		log_softirq(m, a);
		break;
	case EVENT_NET_QUEUE:
	case EVENT_SOCK_SEND:
		log_packet(m, a, true, a->ev->kind == EVENT_SOCK_SEND);
		break;
	case EVENT_NET_RECEIVE:
	case EVENT_SOCK_RECEIVE:
		log_packet(m, a, false, a->ev->kind == EVENT_SOCK_RECEIVE);
		break;
	default:
		break;
	}
}

/* Its place is known when it was received. */
static void complete_receive(struct model *m, const struct apply *a)
{
	if (a->cpu) /* else it was not logged */
		m->wait_log->events[m->wait_log->n_events - 1].place = received_place(a);
}

/* Who ran instead is known when the thread that is switched in no longer waits. */
static void complete_switch(struct model *m, const struct apply *a)
{
	const int64_t tid = event_payload(a->ev, ev_sched_switch)->next_tid;
	struct wait_event *e = m->wait_log->n_events ? &m->wait_log->events[m->wait_log->n_events - 1] : NULL;
	struct ran_instead most;

	if (!e || e->kind != WAIT_EVENT_SWITCH || e->tid != tid || !a->cpu || a->cpu->thread == NO_ROW)
		return;
	most = preemption_most(m, a->cpu->thread);
	if (!most.ns || most.tid < 0)
		return;
	e->by_tid = most.tid;
	e->by_comm = most.comm;
}

struct wait_event *waitlog_named(struct model *m, const struct apply *a, uint32_t row)
{
	struct wait_event *e = add(m, WAIT_EVENT_RENAME, a->cpu);

	e->tid = (int32_t)THREAD_ROW(m, row)->tid;
	e->pid = pid_of(m, row);
	e->comm = (strid)THREAD_ROW(m, row)->comm;
	return e;
}

void waitlog_behind(struct model *m, const struct apply *a)
{
	int64_t tid, old_tid = TID_UNKNOWN;
	struct wait_event *e;
	uint32_t row;

	if (a->ev->kind == EVENT_SCHED_SWITCH) {
		complete_switch(m, a);
		return;
	}
	if (a->ev->kind == EVENT_NET_RECEIVE || a->ev->kind == EVENT_SOCK_RECEIVE) {
		complete_receive(m, a);
		return;
	}
	if (a->ev->kind == EVENT_EXEC) {
		tid = event_payload(a->ev, ev_exec)->tid;
		old_tid = event_payload(a->ev, ev_exec)->old_tid;
	} else if (a->ev->kind == EVENT_RENAME) {
		tid = event_payload(a->ev, ev_task)->tid;
	} else {
		return;
	}
	row = row_of(m, tid);
	if (row == NO_ROW || !valid_tid(tid))
		return;
	e = waitlog_named(m, a, row);
	if (a->cpu && old_tid > 0 && old_tid != tid && valid_tid(old_tid))
		e->from_tid = (int32_t)old_tid;
}

void waitlog_runs(struct model *m, const struct cpu *cpu)
{
	struct wait_event *e;

	if (!valid_tid(cpu->tid))
		return;
	e = add(m, WAIT_EVENT_RUNS, cpu);
	e->tid = (int32_t)cpu->tid;
	e->pid = pid_of(m, cpu->thread);
	e->comm = cpu->thread == NO_ROW ? STRID_NONE : (strid)THREAD_ROW(m, cpu->thread)->comm;
	e->since_ns = CPU_ROW(m, cpu->row)->since_ns;
}

void waitlog_work(struct model *m, const struct apply *a, enum wait_event_kind kind, int32_t number, strid function)
{
	struct wait_event *e = add(m, kind, a->cpu);

	set_context(m, e, a->cpu);
	set_runner(m, e, a);
	e->work = number;
	if (kind != WAIT_EVENT_WORK_QUEUED)
		e->cause = function;
}

static bool is_in_gap(const struct model *m, const struct cpu *cpu)
{
	return cpu->awaited || m->now_ns < cpu->gap_end_ns;
}

void waitlog_interrupt(struct model *m, const struct cpu *cpu)
{
	add(m, WAIT_EVENT_INTERRUPT, cpu)->goes_on = cpu && is_in_gap(m, cpu);
}

void model_set_wait_log(struct model *m, struct wait_log *log)
{
	m->wait_log = log;
	if (!log)
		return;
	if (!m->preemption)
		preemption_create(m);
	for (guint i = 0; i < m->cpus->len; i++) {
		const struct cpu *cpu = &g_array_index(m->cpus, struct cpu, i);

		if (cpu->row == NO_ROW)
			continue;
		if (is_in_gap(m, cpu))
			waitlog_interrupt(m, cpu);
		else
			waitlog_runs(m, cpu);
	}
}
