/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/build.h"

#include <string.h>

#include "event/task_state.h"
#include "waits/build_internal.h"

/* Softirq vectors of the network. */
enum { VEC_NET_TX = 2, VEC_NET_RX = 3 };

struct build *build_create(struct wait_graph *g, size_t packet_bytes, size_t row_bytes)
{
	struct build *b = g_new0(struct build, 1);

	b->graph = g;
	b->idling = strpool_intern_z("idle");
	build_rows_create(b, row_bytes);
	build_packets_create(b, packet_bytes);
	return b;
}

void build_destroy(struct build *b)
{
	if (!b)
		return;
	build_packets_destroy(b);
	build_rows_destroy(b);
	g_free(b);
}

static void build_host_restart(struct build_host *h)
{
	h->lost_ns = h->midway_ns = 0;
	g_array_set_size(h->received, 0);
	g_clear_pointer(&h->works, g_free);
}

void build_restart(struct build *b)
{
	for (guint i = 0; i < b->rows->len; i++) {
		build_row(b, i)->pending.set = false;
		build_row(b, i)->first_ns = 0;
		build_row(b, i)->n_earlier = 0;
	}
	/* earlier times are not comparable with those to come */
	for (guint i = 0; i < b->threads->len; i++)
		((struct build_thread *)g_ptr_array_index(b->threads, i))->ran_ns = 0;
	for (guint i = 0; i < b->hosts->len; i++)
		build_host_restart(build_host(b, i));
	build_packets_restart(b);
	b->now_ns = 0;
}

uint64_t build_links(const struct build *b)
{
	return b->links;
}

/* ---- vertices ---- */

static enum wait_state state_of(enum status status)
{
	switch (status) {
	case STATUS_RUN:
	case STATUS_EXIT:
		return WAIT_RUNNING;
	case STATUS_BLOCKED:
		return WAIT_BLOCKED;
	case STATUS_WAIT_CPU:
	case STATUS_WAIT_FORK:
		return WAIT_PREEMPTED;
	default:
		return WAIT_UNKNOWN;
	}
}

static void vertex_at(struct build *b, wait_row row, uint64_t t_ns, enum wait_state state,
		      const struct wait_cause *cause)
{
	struct build_row *r = build_row(b, row);

	build_packets_settle(b, row);
	graph_vertex(b->graph, row, t_ns, state, cause);
	if (!r->first_ns)
		r->first_ns = t_ns;
}

static void vertex(struct build *b, wait_row row, enum wait_state state, const struct wait_cause *cause)
{
	vertex_at(b, row, b->now_ns, state, cause);
}

/* Sets what the thread does from now on. Not for an exiting one: its row has ended, as its last switch may be lost. */
static void present(struct build *b, const struct build_thread *t, enum wait_state state,
		    const struct wait_cause *cause)
{
	if (!t->exiting)
		graph_present(b->graph, t->row, state, cause);
}

/*
 * The thread is seen for the first time since events were lost. What it did until the end of the loss is
 * unknown, but since then no event was lost, so it has been in the state `since`.
 */
static void recover(struct build *b, struct build_thread *t, enum status since)
{
	if (t->sure)
		return;
	build_thread_sure(b, t);
	if (since == STATUS_BLOCKED)
		build_thread_asleep(b, t);
	t->status = t->old = (uint8_t)since;
	if (build_row(b, t->row)->first_ns) {
		const struct build_host *h = build_host(b, t->host);

		vertex_at(b, t->row, h->in_gap ? b->now_ns : h->lost_ns, WAIT_UNKNOWN, NULL);
		present(b, t, state_of(since), NULL);
	}
}

struct build_thread *build_current(struct build *b, unsigned host, const struct wait_event *e)
{
	struct build_cpu *cpu = build_cpu(b, host, e->cpu);
	struct build_thread *t;
	bool is_new;

	if (cpu->lost && e->from_tid > 0) {
		/* its switch was lost; the event's own context says which thread it is */
		t = build_thread_get(b, host, e->from_tid, e->cpu, &is_new);
		build_thread_name(b, t, e->from_comm, e->from_pid);
		recover(b, t, STATUS_RUN);
		if (is_new)
			build_thread_set(t, STATUS_RUN);
		cpu->tid = e->from_tid;
		cpu->lost = false;
	}
	return build_thread_current(b, host, e->cpu);
}

/* The cause of an edge in which the thread runs: the work that it executes; NULL: none. */
static const struct wait_cause *work_cause(const struct build_thread *t, enum wait_state state,
					   struct wait_cause *cause)
{
	*cause = (struct wait_cause){ .name = t->work, .fd = -1 };
	return state == WAIT_RUNNING && t->work ? cause : NULL;
}

wait_row build_extend(struct build *b, const struct build_thread *t)
{
	const enum wait_state state = state_of((enum status)t->status);
	struct wait_cause work;

	vertex(b, t->row, state, work_cause(t, state, &work));
	present(b, t, state, work_cause(t, state, &work));
	return t->row;
}

/* Adds a vertex now; the edge that ends there has the state from before the thread's status was set. */
static void change(struct build *b, const struct build_thread *t, const struct wait_cause *before,
		   const struct wait_cause *now)
{
	const struct wait_cause stop = { .name = t->stop, .fd = -1 };
	const enum wait_state state = state_of((enum status)t->old), after = state_of((enum status)t->status);
	struct wait_cause work;

	if (state == WAIT_BLOCKED && t->stop)
		before = &stop;
	else if (state != WAIT_PREEMPTED)
		before = work_cause(t, state, &work);
	vertex(b, t->row, state, before);
	if (state == WAIT_BLOCKED && t->stop == b->idling)
		graph_idle(b->graph, t->row, b->now_ns, b->now_ns, NULL);
	if (after == WAIT_RUNNING)
		now = work_cause(t, after, &work);
	present(b, t, after, now);
}

/* The status of a thread that is ready: while a CPU is in a gap, it may run there. */
static enum status ready_status(const struct build *b, const struct build_thread *t)
{
	return build_host(b, t->host)->in_gap ? STATUS_UNKNOWN : STATUS_WAIT_CPU;
}

/* ---- switches ---- */

/* Why a thread is blocked, if it is not a wait that a wake-up explains. */
static strid stop_of(const struct build *b, enum task_state left)
{
	switch (left) {
	case TASK_IDLING:
		return b->idling;
	case TASK_STOPPED:
		return strpool_intern_z("stopped");
	case TASK_TRACED:
		return strpool_intern_z("traced");
	default:
		return STRID_NONE;
	}
}

static void switch_out(struct build *b, unsigned host, const struct wait_event *e)
{
	struct wait_cause wait = { .call = e->call, .object = e->object, .fd = e->fd };
	struct build_thread *prev;
	enum task_state left;
	bool is_new;

	prev = build_thread_get(b, host, e->from_tid, e->cpu, &is_new);
	if (is_new)
		build_since_begin(b, prev, STATUS_RUN);
	recover(b, prev, STATUS_RUN);
	build_thread_name(b, prev, e->from_comm, e->from_pid);
	left = task_state_of(e->prev_state, prev->exiting);
	build_thread_set(prev, left == TASK_READY ? ready_status(b, prev) : STATUS_BLOCKED);
	wait.name = stop_of(b, left);
	change(b, prev, NULL, left == TASK_READY ? NULL : &wait);
	prev->stop = wait.name;
	if (prev->tid > 0 && left == TASK_ENDED)
		build_thread_gone(b, prev);
}

static void build_switch(struct build *b, unsigned host, const struct wait_event *e)
{
	const struct wait_cause ready = { .name = e->by_comm, .tid = MAX(e->by_tid, 0), .fd = -1 };
	struct build_thread *next;
	bool is_new;

	*build_cpu(b, host, e->cpu) = (struct build_cpu){ .tid = e->tid };
	next = build_thread_get(b, host, e->tid, e->cpu, &is_new);
	if (is_new)
		build_since_begin(b, next, STATUS_WAIT_CPU);
	recover(b, next, STATUS_WAIT_CPU);
	if (e->was_ready && next->status == STATUS_BLOCKED)
		build_thread_set(next, STATUS_WAIT_CPU);
	build_thread_set(next, STATUS_RUN);
	build_thread_name(b, next, e->comm, e->pid);
	if (e->from_tid >= 0)
		switch_out(b, host, e);
	change(b, next, &ready, NULL);
	next->stop = STRID_NONE;
}

/* ---- wake-ups ---- */

struct wait_cause build_brought_by(const struct wait_event *e)
{
	const bool explains = e->state == WAIT_BLOCK_DEVICE || e->state == WAIT_NETWORK || e->state == WAIT_TIMER;

	return (struct wait_cause){ .name = e->cause, .fd = -1, .rest = explains ? e->state : WAIT_RUNNING };
}

/* A wait for work ends: the waker (NULL: what e says) brings work, but is not the reason why the thread waited. */
static void wait_for_work(struct build *b, struct build_thread *t, const struct build_thread *waker,
			  const struct wait_event *e)
{
	const struct wait_cause idle = { .name = b->idling, .fd = -1 }, by = build_brought_by(e);

	t->given_ns = b->now_ns;
	t->giver = waker ? waker->row : WAIT_NO_ROW;
	vertex(b, t->row, WAIT_BLOCKED, &idle);
	graph_idle(b->graph, t->row, b->now_ns, b->now_ns, waker ? NULL : &by);
}

/*
 * A thread of the kernel may serve (nfsd), but is not a client: it waits for the replies to what others asked for
 * (cifsd), who are the clients.
 */
static enum wait_role role_of_packet(const struct wait_event *e, const struct pending_link *packet)
{
	return e->of_kernel && packet->role == WAIT_ROLE_CLIENT ? WAIT_ROLE_NONE : packet->role;
}

/* Woken in a context in which the current task cannot be the reason. */
static void wake_in_context(struct build *b, unsigned host, const struct wait_event *e, struct build_thread *t)
{
	struct wait_cause cause = { .name = e->cause, .call = e->call, .object = e->object, .fd = e->fd };
	const struct build_thread *receiver = NULL;
	const struct pending_link *packet = NULL;
	const bool idle = t->stop == b->idling, waited = !idle && wait_state_blocks((enum wait_state)e->state);
	uint64_t asleep_ns;

	if (!graph_last(b->graph, t->row, &asleep_ns))
		asleep_ns = 0;
	if (e->context == WAIT_CONTEXT_RECEIVING) {
		receiver = build_receiver(b, host, e);
		if (receiver && receiver->tid > 0)
			cause.name = build_row(b, receiver->row)->who.comm;
	} else if (e->context == WAIT_CONTEXT_SOFTIRQ && (e->vec == VEC_NET_TX || e->vec == VEC_NET_RX)) {
		receiver = build_thread_kernel(b, host, e->cpu);
	}
	if (receiver)
		packet = build_packets_waking(b, host, e, receiver->row);
	if (packet)
		cause.role = (uint8_t)role_of_packet(e, packet);
	if (idle)
		wait_for_work(b, t, NULL, e);
	else
		vertex(b, t->row, (enum wait_state)e->state, &cause);
	present(b, t, WAIT_PREEMPTED, NULL);
	if (packet)
		build_packets_redirect(b, packet, t->row, asleep_ns, waited);
}

void build_source(struct build *b, struct build_thread *t)
{
	if (t->exiting || t->status != STATUS_RUN || !build_row(b, t->row)->first_ns) {
		build_extend(b, t);
		return;
	}
	build_packets_settle(b, t->row);
	t->ran_ns = b->now_ns;
}

static void wake_in_task(struct build *b, const struct wait_event *e, struct build_thread *t,
			 struct build_thread *waker, enum wait_link link)
{
	const struct wait_cause cause = { .call = e->call, .object = e->object, .fd = e->fd, .role = e->role };

	if (t->old == STATUS_BLOCKED && t->stop == b->idling)
		wait_for_work(b, t, waker, e);
	else
		vertex(b, t->row, state_of((enum status)t->old), t->old == STATUS_BLOCKED ? &cause : NULL);
	present(b, t, state_of((enum status)t->status), NULL);
	if (!waker)
		return;
	build_source(b, waker);
	graph_link(b->graph, waker->row, b->now_ns, t->row, b->now_ns, link);
}

static void build_wake(struct build *b, unsigned host, const struct wait_event *e)
{
	struct build_thread *current = build_current(b, host, e);
	/* an idle task wakes nobody: it was an interrupt that was not recorded */
	struct build_thread *waker = current && current->tid > 0 ? current : NULL;
	bool is_new, counts;
	struct build_thread *t;

	t = build_thread_get(b, host, e->tid, e->cpu, &is_new);
	if (is_new) {
		build_thread_name(b, t, e->comm, e->pid);
		if (!e->new_task)
			build_since_begin(b, t, STATUS_BLOCKED);
		build_thread_asleep(b, t);
	} else if (t != current) {
		recover(b, t, STATUS_BLOCKED);
	}
	counts = t != current &&
		 (t->status == STATUS_BLOCKED || t->status == STATUS_WAIT_FORK || t->status == STATUS_UNKNOWN);
	if (!counts)
		return;
	build_thread_set(t, ready_status(b, t));
	if (t->old == STATUS_WAIT_FORK)
		wake_in_task(b, e, t, waker, WAIT_LINK_FORK);
	else if (t->old == STATUS_BLOCKED && t->stop && t->stop != b->idling)
		change(b, t, NULL, NULL);
	else if (t->old == STATUS_BLOCKED && e->context == WAIT_CONTEXT_TASK)
		wake_in_task(b, e, t, waker, WAIT_LINK_WAKEUP);
	else if (t->old == STATUS_BLOCKED)
		wake_in_context(b, host, e, t);
	t->stop = STRID_NONE;
}

/* ---- threads start and end ---- */

static void build_fork(struct build *b, unsigned host, const struct wait_event *e)
{
	struct build_thread *t = build_thread_find(b, host, e->tid, e->cpu);
	bool is_new;

	/* the thread that had the TID before is gone, even if its exit was not recorded */
	if (t && t->tid > 0)
		build_thread_gone(b, t);
	t = build_thread_get(b, host, e->tid, e->cpu, &is_new);
	if (is_new)
		build_thread_name(b, t, e->comm, e->pid);
	build_thread_set(t, STATUS_WAIT_FORK);
}

static void build_exit(struct build *b, unsigned host, const struct wait_event *e)
{
	struct build_thread *t = build_thread_find(b, host, e->tid, e->cpu);

	if (!t)
		return;
	recover(b, t, STATUS_RUN);
	t->exiting = true;
	build_thread_set(t, STATUS_EXIT);
	vertex(b, t->row, WAIT_RUNNING, NULL);
	graph_present(b->graph, t->row, WAIT_STATES, NULL);
}

/*
 * The thread executes a program, and takes over the TID of its process' first thread, which has exited: its row ends,
 * and it continues in a new one, which is linked to the old one as if that had created it.
 */
static void take_over_tid(struct build *b, unsigned host, const struct wait_event *e)
{
	struct build_thread *first = build_thread_find(b, host, e->tid, e->cpu);
	struct build_thread *t = build_thread_find(b, host, e->from_tid, e->cpu);
	wait_row before = WAIT_NO_ROW;
	bool is_new;

	if (first)
		build_thread_gone(b, first);
	if (t) {
		recover(b, t, STATUS_RUN);
		before = build_extend(b, t);
		build_thread_gone(b, t);
	}
	t = build_thread_get(b, host, e->tid, e->cpu, &is_new);
	build_thread_set(t, STATUS_RUN);
	build_extend(b, t);
	if (before != WAIT_NO_ROW)
		graph_link(b->graph, before, b->now_ns, t->row, b->now_ns, WAIT_LINK_FORK);
	*build_cpu(b, host, e->cpu) = (struct build_cpu){ .tid = e->tid };
}

static void build_rename(struct build *b, unsigned host, const struct wait_event *e)
{
	const struct build_thread *t;

	if (e->from_tid > 0)
		take_over_tid(b, host, e);
	t = build_thread_find(b, host, e->tid, e->cpu);
	if (t)
		build_thread_name(b, t, e->comm, e->pid);
}

static enum status status_of_dump(int32_t status)
{
	static const uint8_t known[] = {
		STATUS_UNKNOWN, STATUS_WAIT_FORK, STATUS_WAIT_CPU, STATUS_EXIT,
		STATUS_ZOMBIE,  STATUS_BLOCKED,   STATUS_RUN,      STATUS_DEAD,
	};

	return status >= 0 && status < (int32_t)G_N_ELEMENTS(known) ? (enum status)known[status] : STATUS_UNKNOWN;
}

static void build_status(struct build *b, unsigned host, const struct wait_event *e)
{
	bool is_new;
	struct build_thread *t = build_thread_get(b, host, e->tid, e->cpu, &is_new);
	const enum status status = status_of_dump(e->status);

	build_thread_name(b, t, e->comm, e->pid);
	/* a state known from other events is more reliable */
	if (t->status != STATUS_UNKNOWN || !t->sure)
		return;
	/* the dump reports every ready thread as "wait fork" */
	if (status == STATUS_BLOCKED)
		build_begin_blocked(b, t);
	else
		build_thread_set(t, status == STATUS_WAIT_FORK ? STATUS_WAIT_CPU : status);
}

static void build_net_softirq(struct build *b, unsigned host, const struct wait_event *e)
{
	wait_row row = build_thread_kernel(b, host, e->cpu)->row;

	build_packets_settle(b, row);
	build_packets_forget(b, host, e->cpu);
	graph_gap(b->graph, row, b->now_ns);
	if (!build_row(b, row)->first_ns)
		build_row(b, row)->first_ns = b->now_ns;
}

/* The thread's state is no longer known, from the last event on that showed it: see recover(). */
static void interrupt(struct build *b, struct build_thread *t)
{
	uint64_t last_ns;

	if (build_row(b, t->row)->first_ns && !t->exiting) {
		if (graph_last(b->graph, t->row, &last_ns) && t->ran_ns > last_ns)
			vertex_at(b, t->row, t->ran_ns, WAIT_RUNNING, NULL);
		present(b, t, WAIT_UNKNOWN, NULL);
	}
	t->status = t->old = STATUS_UNKNOWN;
	t->stop = t->work = STRID_NONE;
	t->given_ns = 0;
	t->exiting = false;
	build_thread_unsure(b, t);
}

/*
 * The states of the host's threads are no longer known, except for those that run on CPUs which lost no events. Threads
 * whose states were not known before are not visited: there may be many, and as many losses.
 */
static void build_interrupt(struct build *b, unsigned host, const struct wait_event *e)
{
	struct build_host *h = build_host(b, host);

	if (e->cpu != WAIT_ALL_CPUS)
		build_cpu(b, host, e->cpu); /* creates it if need be */
	h->interrupts++;
	h->lost_ns = b->now_ns;
	h->in_gap = false;
	for (guint i = 0; i < h->cpus->len; i++) {
		struct build_thread *t = build_thread_current(b, host, i);

		if (e->cpu == WAIT_ALL_CPUS || i == e->cpu)
			*build_cpu(b, host, i) =
				(struct build_cpu){ .tid = TID_NOBODY, .lost = true, .in_gap = e->goes_on > 0 };
		else if (t)
			t->spared = h->interrupts;
		h->in_gap |= build_cpu(b, host, i)->in_gap;
	}
	for (guint i = h->sure->len; i-- > 0;) {
		struct build_thread *t = g_ptr_array_index(h->sure, i);

		if (t->spared != h->interrupts)
			interrupt(b, t);
	}
	g_clear_pointer(&h->works, g_free);
}

void build_event(struct build *b, unsigned host, uint64_t t_ns, const struct wait_event *e,
		 const struct clock_packet *packet)
{
	b->now_ns = t_ns;
	build_rows_limit(b);
	switch ((enum wait_event_kind)e->kind) {
	case WAIT_EVENT_RUNS:
		build_runs(b, host, e);
		break;
	case WAIT_EVENT_SWITCH:
		build_switch(b, host, e);
		break;
	case WAIT_EVENT_WAKE:
		build_wake(b, host, e);
		break;
	case WAIT_EVENT_FORK:
		build_fork(b, host, e);
		break;
	case WAIT_EVENT_EXIT:
		build_exit(b, host, e);
		break;
	case WAIT_EVENT_RENAME:
		build_rename(b, host, e);
		break;
	case WAIT_EVENT_STATUS:
		build_status(b, host, e);
		break;
	case WAIT_EVENT_NET_SOFTIRQ:
		build_net_softirq(b, host, e);
		break;
	case WAIT_EVENT_SEND:
	case WAIT_EVENT_RECEIVE:
		build_packet(b, host, e, packet);
		break;
	case WAIT_EVENT_WORK_QUEUED:
		build_work_queued(b, host, e);
		break;
	case WAIT_EVENT_WORK_START:
		build_work_start(b, host, e);
		break;
	case WAIT_EVENT_WORK_END:
		build_work_end(b, host, e);
		break;
	case WAIT_EVENT_INTERRUPT:
		build_interrupt(b, host, e);
		break;
	}
}
