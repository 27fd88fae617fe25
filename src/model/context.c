/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/context.h"

#include <string.h>

#define IRQ_NAME(m, row) ((strid)STATE_ROW(&(m)->state, IRQ, irq, row)->name)

enum { HANDLER_NS = 100 * 1000 }; /* no disk's interrupt takes longer */

enum softirq_vector { VEC_TIMER = 1, VEC_NET_TX, VEC_NET_RX, VEC_BLOCK, VEC_IRQ_POLL, VEC_SCHED = 7, VEC_HRTIMER };

/* Interrupts of keyboard and mouse controllers, by name. */
static const char *const input_irqs[] = { "i8042", "keyboard", "mouse" };

static void push(struct cpu *cpu, enum wait_context kind, uint32_t nr)
{
	struct context_stack *s = &cpu->contexts;
	struct context_level *level;

	if (s->depth == CONTEXT_DEPTH_MAX) {
		memmove(s->levels, s->levels + 1, sizeof(s->levels) - sizeof(s->levels[0]));
		s->depth--;
	}
	level = &s->levels[s->depth++];
	*level = (struct context_level){ .kind = kind, .nr = nr, .row = NO_ROW };
}

/* The same for a handler that irq.c has just entered: its row has the name. */
static void push_handler(const struct apply *a, enum wait_context kind, uint32_t nr)
{
	const struct cpu *cpu = a->cpu;
	struct context_level *level;

	push(a->cpu, kind, nr);
	if (!cpu->irq_depth || cpu->irqs[cpu->irq_depth - 1].nr != nr)
		return; /* its number is impossible */
	level = &a->cpu->contexts.levels[cpu->contexts.depth - 1];
	level->named_by = CONTEXT_IRQ_ROW;
	level->row = cpu->irqs[cpu->irq_depth - 1].row;
}

static void pop(const struct apply *a, enum wait_context kind)
{
	struct context_stack *s = &a->cpu->contexts;

	if (s->depth && s->levels[s->depth - 1].kind == kind)
		s->depth--;
}

void context_apply(const struct apply *a)
{
	if (!a->cpu)
		return;
	switch (a->ev->kind) {
	case EVENT_IRQ_ENTRY:
		push_handler(a, WAIT_CONTEXT_IRQ, (uint32_t)event_payload(a->ev, ev_irq)->irq);
		break;
	case EVENT_IRQ_EXIT:
		pop(a, WAIT_CONTEXT_IRQ);
		break;
	case EVENT_SOFTIRQ_ENTRY:
		push_handler(a, WAIT_CONTEXT_SOFTIRQ, (uint32_t)event_payload(a->ev, ev_softirq)->vec);
		break;
	case EVENT_SOFTIRQ_EXIT:
		pop(a, WAIT_CONTEXT_SOFTIRQ);
		break;
	case EVENT_HRTIMER_ENTRY:
	case EVENT_LOCAL_TIMER_ENTRY:
		push(a->cpu, WAIT_CONTEXT_HRTIMER, 0);
		break;
	case EVENT_HRTIMER_EXIT:
	case EVENT_LOCAL_TIMER_EXIT:
		pop(a, WAIT_CONTEXT_HRTIMER);
		break;
	case EVENT_IPI_ENTRY:
		push(a->cpu, WAIT_CONTEXT_IPI, 0);
		break;
	case EVENT_IPI_EXIT:
		pop(a, WAIT_CONTEXT_IPI);
		break;
	case EVENT_DO_IRQ_ENTRY:
		push(a->cpu, WAIT_CONTEXT_DO_IRQ, 0);
		break;
	case EVENT_DO_IRQ_EXIT:
		pop(a, WAIT_CONTEXT_DO_IRQ);
		break;
	case EVENT_RECEIVING_ENTRY:
	case EVENT_RECEIVING_PROBE_ENTRY:
		push(a->cpu, WAIT_CONTEXT_RECEIVING, 0);
		break;
	case EVENT_RECEIVING_EXIT:
	case EVENT_RECEIVING_PROBE_EXIT:
		pop(a, WAIT_CONTEXT_RECEIVING);
		break;
	default:
		break;
	}
}

static void note(struct cpu *cpu, enum context_named_by what, uint32_t row)
{
	struct context_stack *s;

	if (!cpu || !cpu->contexts.depth)
		return;
	s = &cpu->contexts;
	s->levels[s->depth - 1].named_by = (uint8_t)what;
	s->levels[s->depth - 1].row = row;
}

/* The thread of an interrupt: on real-time kernels, and with threadirqs, all handlers run in such threads. */
static bool is_irq_thread(const struct model *m, const struct cpu *cpu)
{
	const struct thread *t = cpu->thread == NO_ROW ? NULL : g_ptr_array_index(m->threads, cpu->thread);

	return t && strncmp(t->comm, "irq/", 4) == 0;
}

void context_note_disk(const struct model *m, struct cpu *cpu, uint32_t row)
{
	/* until it is switched out, what it does is the handler's work */
	if (cpu && !cpu->contexts.depth && is_irq_thread(m, cpu))
		push(cpu, WAIT_CONTEXT_IRQ, 0);
	if (cpu && !cpu->contexts.depth && cpu->tid == 0) {
		cpu->contexts.completed_ns = m->now_ns;
		cpu->contexts.completed_by = row;
	}
	note(cpu, CONTEXT_DISK_ROW, row);
}

void context_note_netif(struct cpu *cpu, uint32_t row)
{
	note(cpu, CONTEXT_NETIF_ROW, row);
}

void context_reset(struct cpu *cpu)
{
	cpu->contexts.depth = 0;
	cpu->contexts.completed_ns = 0;
}

static strid level_name(const struct model *m, const struct context_level *level)
{
	switch (level->named_by) {
	case CONTEXT_IRQ_ROW:
		return IRQ_NAME(m, level->row);
	case CONTEXT_DISK_ROW:
		return (strid)STATE_ROW(&m->state, DISK, disk, level->row)->name;
	case CONTEXT_NETIF_ROW:
		return (strid)STATE_ROW(&m->state, NETIF, netif, level->row)->name;
	default:
		return STRID_NONE;
	}
}

/* The idle CPU has just completed a request: it is still in that interrupt, which was not recorded. */
static bool completes_unseen(const struct model *m, const struct cpu *cpu)
{
	return cpu && !cpu->contexts.depth && cpu->tid == 0 && cpu->contexts.completed_ns &&
	       m->now_ns - cpu->contexts.completed_ns <= HANDLER_NS;
}

struct context context_now(const struct model *m, const struct cpu *cpu)
{
	const struct context_stack *s = cpu ? &cpu->contexts : NULL;
	struct context c = { .kind = WAIT_CONTEXT_TASK, .below = WAIT_CONTEXT_TASK };

	if (completes_unseen(m, cpu)) {
		const strid name = (strid)STATE_ROW(&m->state, DISK, disk, cpu->contexts.completed_by)->name;

		return (struct context){ WAIT_CONTEXT_IRQ, WAIT_CONTEXT_IRQ, 0, true, name };
	}
	if (!s || !s->depth)
		return c;
	c.kind = (enum wait_context)s->levels[s->depth - 1].kind;
	/* nested receptions are one: GRO passes its packets on */
	for (unsigned i = s->depth; i-- > 0;) {
		const struct context_level *level = &s->levels[i];

		if (!c.cause)
			c.cause = level_name(m, level);
		c.disk = c.disk || level->named_by == CONTEXT_DISK_ROW;
		if (level->kind == WAIT_CONTEXT_RECEIVING)
			continue;
		c.below = (enum wait_context)level->kind;
		c.nr = level->nr;
		break;
	}
	return c;
}

static bool is_input(strid irq_name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(input_irqs); i++)
		if (strcmp(strpool_text(irq_name), input_irqs[i]) == 0)
			return true;
	return false;
}

static enum wait_state softirq_explains(uint32_t vec)
{
	switch (vec) {
	case VEC_TIMER:
	case VEC_HRTIMER:
		return WAIT_TIMER;
	case VEC_BLOCK:
	case VEC_IRQ_POLL:
		return WAIT_BLOCK_DEVICE;
	case VEC_NET_TX:
	case VEC_NET_RX:
		return WAIT_NETWORK;
	case VEC_SCHED:
		return WAIT_INTERRUPTED;
	default:
		return WAIT_BLOCKED;
	}
}

enum wait_state context_explains(const struct context *c)
{
	/* whatever completed the request: the disk's interrupt, an IPI of the CPU that got it, a timer that polls */
	if (c->disk && c->kind != WAIT_CONTEXT_RECEIVING)
		return WAIT_BLOCK_DEVICE;
	switch (c->kind) {
	case WAIT_CONTEXT_RECEIVING:
		return WAIT_NETWORK;
	case WAIT_CONTEXT_HRTIMER:
		return WAIT_TIMER;
	case WAIT_CONTEXT_IPI:
		return WAIT_IPI;
	case WAIT_CONTEXT_DO_IRQ:
		return WAIT_UNKNOWN;
	case WAIT_CONTEXT_SOFTIRQ:
		return softirq_explains(c->nr);
	case WAIT_CONTEXT_IRQ:
		if (is_input(c->cause))
			return WAIT_USER_INPUT;
		return c->nr == 0 ? WAIT_INTERRUPTED : WAIT_BLOCKED;
	case WAIT_CONTEXT_TASK:
		break;
	}
	return WAIT_BLOCKED;
}
