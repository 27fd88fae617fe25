/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Switches, wake-ups and migrations: which thread runs, is ready or blocked, since when, and how long it took from its
 * wake-up to the CPU.
 */
#include "base/nstime.h"
#include "event/task_state.h"
#include "model/context.h"
#include "model/parts_internal.h"
#include "model/mounts.h"
#include "model/received.h"

#include <string.h>

static enum thread_state state_after_switch(enum task_state left)
{
	switch (left) {
	case TASK_READY:
		return THREAD_READY;
	case TASK_BLOCKED:
	case TASK_IDLING:
	case TASK_PARKED:
		return THREAD_BLOCKED;
	case TASK_STOPPED:
	case TASK_TRACED:
		return THREAD_STOPPED;
	case TASK_ENDED:
		return THREAD_ZOMBIE;
	}
	return THREAD_UNKNOWN;
}

/* Why a slice ended. */
static strid why_left(enum task_state left)
{
	static const char *const words[] = {
		[TASK_READY] = "preempted", [TASK_BLOCKED] = "blocked", [TASK_IDLING] = "blocked",
		[TASK_PARKED] = "blocked",  [TASK_STOPPED] = "stopped", [TASK_TRACED] = "stopped",
		[TASK_ENDED] = "exited",
	};

	return strpool_intern_z(words[left]);
}

/* Which thread held the CPU until the switch; STRID_NONE: none. */
static strid who_ran(const struct ev_sched_switch *p)
{
	return p->prev_tid ? strpool_intern_padded(p->prev_comm, sizeof(p->prev_comm)) : STRID_NONE;
}

static void switch_out(struct model *m, uint32_t row, const struct ev_sched_switch *p)
{
	struct thread_row *r = THREAD_ROW(m, row);
	const enum task_state left = task_state_of(p->prev_state, r->exited_ns);
	const enum thread_state state = state_after_switch(left);
	struct thread *t = thread_info(m, row);

	/* only if the start of the slice was seen */
	if (r->state == THREAD_RUNNING && t->slice_ns > m->lost_ns && t->slice_ns == r->since_ns)
		DIST_ADD(m, THREAD, thread, row, slice, m->now_ns - t->slice_ns, row, why_left(left));
	preemption_place(m, row, (int64_t)r->cpu);
	t->uninterruptible = left == TASK_BLOCKED && task_state_is_uninterruptible(p->prev_state);
	thread_set_state(m, row, state);
	if (state == THREAD_BLOCKED)
		mode_has_waited(thread_info(m, row));
	thread_set_comm(m, row, p->prev_comm);
	r->prio = (uint64_t)p->prev_prio;
	if (state == THREAD_READY)
		r->flags |= THREAD_PREEMPTED;
	if (left == TASK_IDLING)
		r->flags |= THREAD_IDLES;
	else
		r->flags &= ~(uint64_t)THREAD_IDLES;
	if (state == THREAD_ZOMBIE)
		thread_end(m, row);
}

/*
 * The kernel reports sched_waking before it waits for the thread, which is about to sleep, to be switched out on its
 * CPU. A thread that sleeps is switched in only once it is woken: if that was not seen meanwhile, though no events were
 * lost and those of all processes are recorded, it was woken then. A wake-up while it ran means nothing otherwise: it
 * may have come before it was about to sleep. This is known only now: meanwhile it was blocked, and frames and
 * intervals that show it so have ended.
 */
bool sched_was_ready(struct model *m, uint32_t thread)
{
	const struct thread_row *r = THREAD_ROW(m, thread);
	const uint64_t early_ns = thread_info(m, thread)->early_ns;
	/* in a record of some processes, CPUs run threads without a switch all the time */
	const bool all_recorded = !m->unexplained_ns || early_ns > m->unexplained_ns + NS_PER_S;

	return (r->state == THREAD_BLOCKED || r->state == THREAD_STOPPED) && early_ns > m->lost_ns && !lost_in_gap(m) &&
	       all_recorded;
}

/*
 * A thread that executed a program has taken over the TID of its process' first thread, which has exited, and runs.
 * Before Linux 5.8, the first one is then switched out elsewhere with the same TID; since then, with that of the other.
 */
bool sched_is_of_another(const struct model *m, const struct cpu *cpu, const struct ev_sched_switch *p)
{
	const uint32_t row = cpu->tid == TID_UNKNOWN && p->prev_tid > 0 ? thread_find(m, p->prev_tid) : NO_ROW;
	const struct thread_row *r;

	if (row == NO_ROW)
		return false;
	r = THREAD_ROW(m, row);
	return r->state == THREAD_RUNNING && !r->exited_ns && !(r->flags & THREAD_UNSURE) &&
	       task_state_of(p->prev_state, true) == TASK_ENDED;
}

/* Whether a thread that is blocked has been ever since it was switched out. Among lost events it may have run. */
static bool has_slept_on(const struct model *m, uint32_t thread)
{
	const struct thread_row *r = THREAD_ROW(m, thread);

	return r->state == THREAD_BLOCKED && !(r->flags & THREAD_UNSURE) && !lost_in_gap(m);
}

static void switch_in(struct model *m, struct cpu *cpu, uint32_t row, const struct ev_sched_switch *p)
{
	struct thread_row *r = THREAD_ROW(m, row);
	struct thread *t = thread_info(m, row);
	const int64_t last_cpu = (int64_t)r->cpu;
	const bool sure = !(r->flags & THREAD_UNSURE); /* among lost events it may have run and blocked since */
	const bool was_ready = sched_was_ready(m, row);

	if (was_ready)
		DIST_ADD(m, THREAD, thread, row, latency, m->now_ns - r->since_ns, row, who_ran(p));
	else if (t->woken_ns && r->state == THREAD_READY && sure)
		DIST_ADD(m, THREAD, thread, row, latency, m->now_ns - t->woken_ns, row, who_ran(p));
	/* the wake-up named the CPU it had been on: if moves are not recorded, it was most likely moved then */
	if (t->woken_ns && sure && !m->declared[EVENT_SCHED_MIGRATE])
		preemption_place(m, row, (int64_t)CPU_ROW(m, cpu->row)->cpu);
	if (t->woken_ns)
		mode_has_waited(t);
	if (has_slept_on(m, row) && !was_ready)
		blocking_wait_ended(m, row, WAIT_UNKNOWN, STRID_NONE); /* no wake-up was seen */
	r->flags &= ~(uint64_t)THREAD_PREEMPTED;
	cpu_run(m, cpu, p->next_tid, row);
	t->slice_ns = m->now_ns;
	thread_set_comm(m, row, p->next_comm);
	r->prio = (uint64_t)p->next_prio;
	r->switches++;
	if (!m->declared[EVENT_SCHED_MIGRATE] && last_cpu >= 0 && last_cpu != (int64_t)r->cpu)
		r->migrations++;
}

/* The stopper thread of a CPU: after it, the CPU may be offline. */
static bool is_migration(const char comm[16])
{
	return memcmp(comm, "migration/", 10) == 0;
}

void apply_switch(struct model *m, const struct apply *a)
{
	const struct ev_sched_switch *p = event_payload(a->ev, ev_sched_switch);
	struct cpu *cpu = a->cpu;

	if (!cpu || p->prev_tid < 0 || p->next_tid < 0)
		return;
	CPU_ROW(m, cpu->row)->switches++;
	irq_reset_cpu(m, cpu);
	context_reset(cpu);
	cpu->waking_tid = 0;
	if (cpu->thread != NO_ROW)
		switch_out(m, cpu->thread, p);
	cpu->thread = NO_ROW;
	if (p->next_tid == 0)
		cpu_run(m, cpu, 0, NO_ROW);
	else
		switch_in(m, cpu, thread_of_tid(m, p->next_tid), p);
	if (cpu->thread == NO_ROW || !is_migration(p->next_comm))
		return;
	if (p->offline_until_ns) {
		thread_set_state(m, cpu->thread, THREAD_UNKNOWN);
		cpu_offline(m, cpu);
	} else if (!event_has(a->ev, SWITCH_OFFLINE_UNTIL)) {
		thread_set_state(m, cpu->thread, THREAD_UNKNOWN);
		cpu_unsettle(m, cpu);
		cpu->held_tid = p->next_tid;
	}
}

/*
 * Whether the kernel's part of a network file system ends the wait: one of its threads, or a packet. If a program's
 * thread ends it, that may only have held a lock.
 */
static bool waits_for_server(struct model *m, const struct apply *a, uint32_t row, const struct context *c)
{
	if (!m->mounts->n || !thread_info(m, row)->call.active)
		return false;
	if (c->kind == WAIT_CONTEXT_TASK)
		return a->thread != NO_ROW && THREAD_ROW(m, a->thread)->flags & THREAD_KERNEL;
	return context_explains(c) == WAIT_NETWORK;
}

/*
 * Counts the wait that the wake-up ends. A thread that waits for work does not wait for the disk or timer that brings
 * it.
 */
static void end_wait(struct model *m, const struct apply *a, uint32_t row)
{
	struct context c = context_now(m, a->cpu);
	const bool idles = THREAD_ROW(m, row)->flags & THREAD_IDLES;
	strid cause = c.cause;

	if (c.kind == WAIT_CONTEXT_TASK && a->thread != NO_ROW)
		cause = (strid)THREAD_ROW(m, a->thread)->comm;
	if (waits_for_server(m, a, row, &c))
		cause = files_server(m, row, cause);
	blocking_wait_ended(m, row, idles ? WAIT_BLOCKED : context_explains(&c), cause);
	relations_wake(m, a, row, &c, m->now_ns - THREAD_ROW(m, row)->since_ns);
}

/* Sets the CPU that the woken thread was on, or is put on: it waits there. */
static void wait_on_target(struct model *m, const struct apply *a, uint32_t row, const struct ev_wakeup *p)
{
	const bool names_it = event_has(a->ev, WAKEUP_TARGET_CPU), waits = THREAD_ROW(m, row)->state == THREAD_READY;

	/* it has waited for another one until now, or has run unseen */
	if (m->preemption && names_it && waits)
		preemption_charge(m, row);
	if (names_it || !waits)
		preemption_place(m, row, names_it ? p->target_cpu : -1);
	if (a->ev->kind == EVENT_SCHED_WAKING && (names_it || !waits))
		preemption_wakes(m, a, row);
}

/* Whether a wake-up makes the thread ready. */
static bool starts_ready(const struct thread_row *r)
{
	switch (r->state) {
	case THREAD_UNKNOWN:
	case THREAD_BLOCKED:
	case THREAD_WAITING:
	case THREAD_STOPPED:
	case THREAD_NEW:
		return true;
	case THREAD_READY:
		return r->flags & THREAD_UNSURE; /* it has run and blocked: only then is a thread woken */
	default:
		return false; /* running, or gone */
	}
}

/*
 * sched_waking always comes first, sched_wakeup later and possibly from another CPU: where a trace declares the former,
 * the latter is mostly ignored.
 */
void apply_wakeup(struct model *m, const struct apply *a)
{
	const struct ev_wakeup *p = event_payload(a->ev, ev_wakeup);
	struct thread_row *r;
	uint32_t row;

	if (a->ev->kind == EVENT_SCHED_WAKEUP && a->trace->has_waking) {
		if (m->preemption)
			preemption_woken(m, a, p);
		return;
	}
	if (m->relations)
		received_wakes(m, a);
	if (p->tid <= 0)
		return;
	row = thread_of_tid(m, p->tid);
	r = THREAD_ROW(m, row);
	if (has_slept_on(m, row))
		end_wait(m, a, row);
	if (!starts_ready(r)) {
		if (r->state == THREAD_READY)
			wait_on_target(m, a, row, p);
		if (r->state == THREAD_RUNNING && row != a->thread)
			thread_info(m, row)->early_ns = m->now_ns;
		return;
	}
	thread_info(m, row)->woken_ns = m->now_ns;
	wait_on_target(m, a, row, p);
	thread_set_state(m, row, THREAD_READY);
	r->flags &= ~(uint64_t)THREAD_PREEMPTED;
	thread_set_comm(m, row, p->comm);
	r->prio = (uint64_t)p->prio;
}

void apply_migrate(struct model *m, const struct apply *a)
{
	const struct ev_task *p = event_payload(a->ev, ev_task);
	uint32_t row;

	if (p->tid <= 0)
		return;
	row = thread_of_tid(m, p->tid);
	thread_set_comm(m, row, p->comm);
	THREAD_ROW(m, row)->migrations++;
	if (m->preemption && THREAD_ROW(m, row)->state == THREAD_READY)
		preemption_move(m, a, row, p->dest_cpu);
	state_touch(&m->state, TABLE_THREAD, row);
}
