/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a thread spends its time on a CPU: in its program, in the kernel on its behalf, in interrupts.
 *
 *   switch-in ─ entry read ─ irq entry ─ softirq entry ─ … ─ exit ─ switch-out ─ switch-in ─ exit read ─ switch-out
 *   |─ user ──|── system ──|────── interrupted ────────────|─ sys ─|           |─ system ──|── user ───|
 *
 * A thread is inside the kernel from the entry of a call to its exit, whether it runs in between or not, and a kernel
 * thread always is. A page fault counts as part of what it interrupts: its single event does not show how long it
 * takes. Until the first entry or exit of a thread is seen, it is assumed to be
 *
 *   in the kernel     if it was forked in the record, as it returns from its parent's call, or once it was seen to
 *                     wait or to be woken: it waits there
 *   as they show      if it ran when a recording started: the reader looks ahead, but not in live sessions
 *   in the kernel     if it writes the state dump, in a call of the session daemon
 *   in its program    otherwise: it was preempted, or nothing is known
 *
 * Interrupts and softirqs count once, however they are nested, and whoever raised them: a packet that a thread sends to
 * its own host is received in a softirq inside the call. For ksoftirqd, softirqs are its work.
 */
#include "model/parts_internal.h"

static bool is_interrupted(const struct cpu *cpu, const struct thread *t, const struct thread_row *r)
{
	if (!cpu->irq_depth)
		return false;
	/* a softirq does not interrupt handlers: the innermost one decides */
	return !(t->runs_softirqs && r->flags & THREAD_KERNEL && cpu->irqs[cpu->irq_depth - 1].soft);
}

static void enter_mode(struct model *m, struct thread_row *r, enum thread_mode mode)
{
	const uint64_t grown = m->now_ns > r->mode_ns ? m->now_ns - r->mode_ns : 0;

	if (r->mode == MODE_SYSTEM)
		r->system_ns += grown;
	else if (r->mode == MODE_INTERRUPTED)
		r->interrupted_ns += grown;
	r->mode = mode;
	r->mode_ns = mode == MODE_USER ? 0 : m->now_ns;
}

void mode_leave(struct model *m, struct thread_row *r)
{
	if (r->mode != MODE_USER)
		enter_mode(m, r, MODE_USER);
}

void mode_update(struct model *m, const struct cpu *cpu)
{
	struct thread_row *r;
	const struct thread *t;
	enum thread_mode mode = MODE_USER;

	if (cpu->thread == NO_ROW)
		return;
	r = THREAD_ROW(m, cpu->thread);
	t = thread_info(m, cpu->thread);
	if (cpu->irq_depth > 1 && r->mode == MODE_INTERRUPTED && !t->runs_softirqs)
		return; /* one more nested handler */
	if (is_interrupted(cpu, t, r))
		mode = MODE_INTERRUPTED;
	else if (t->inside == INSIDE_KERNEL || r->flags & THREAD_KERNEL)
		mode = MODE_SYSTEM;
	if (r->mode == mode)
		return;
	enter_mode(m, r, mode);
	state_touch(&m->state, TABLE_THREAD, cpu->thread);
}

void mode_update_thread(struct model *m, uint32_t row)
{
	const struct thread_row *r = THREAD_ROW(m, row);
	const struct cpu *cpu;

	if (r->state != THREAD_RUNNING || r->cpu >= m->cpus->len)
		return;
	cpu = &g_array_index(m->cpus, struct cpu, r->cpu);
	if (cpu->thread == row)
		mode_update(m, cpu);
}

void apply_dump_start(struct model *m, const struct apply *a)
{
	if (a->thread != NO_ROW && thread_info(m, a->thread)->inside == INSIDE_UNKNOWN)
		mode_set_inside(m, a->cpu, a->thread, INSIDE_KERNEL);
	lost_dump_start(m, a);
}
