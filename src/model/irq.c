/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupt and softirq handlers: which are active on each CPU, innermost last, and how long each took.
 *
 *   irq entry 5 ─ irq exit 5 ─ softirq entry ─ irq entry 6 ─ irq exit 6 ─ softirq exit
 *   |── HARD ──|              |──── SOFT ────|─── HARD ───|──── SOFT ────|
 *
 * A handler's time lasts from its entry to its exit, including nested handlers; the CPU's irq_ns and softirq_ns follow
 * the innermost handler. A handler whose entry was not seen counts without its time, one whose exit was not seen does
 * not count.
 */
#include "model/parts_internal.h"

enum {
	SOFTIRQS_MAX = G_N_ELEMENTS(((struct cpu *)NULL)->raised_ns),
	IRQ_NUMBERS_MAX = 1 << 24, /* higher numbers are damage */
	IRQ_ROWS_MAX = 16384,      /* further interrupts cannot be distinguished: they count in a row "other" */
	IRQ_NAMES_MAX = 16384,
};

/* Softirq vectors, as in the kernel's include/linux/interrupt.h. */
static const char *const softirq_names[] = {
	"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
};

#define IRQ_ROW(m, row) STATE_ROW(&(m)->state, IRQ, irq, row)

static bool handler_valid(bool soft, uint64_t nr)
{
	return nr < (soft ? (uint64_t)SOFTIRQS_MAX : (uint64_t)IRQ_NUMBERS_MAX);
}

static uint64_t handler_key(const struct cpu *cpu, bool soft, uint32_t nr)
{
	return (uint64_t)cpu->row << 32 | (uint64_t)soft << 31 | nr;
}

static strid softirq_name(uint32_t nr)
{
	char text[16];

	if (nr < G_N_ELEMENTS(softirq_names))
		return strpool_intern_z(softirq_names[nr]);
	g_snprintf(text, sizeof(text), "%u", nr);
	return strpool_intern_z(text);
}

static strid irq_name(const struct model *m, uint32_t nr)
{
	strid name = map64_get(&m->irq_names, nr);

	return name == MAP64_NONE ? STRID_NONE : name;
}

static uint32_t other_irq(struct model *m)
{
	struct irq_row *r;

	if (m->other_irq != NO_ROW)
		return m->other_irq;
	m->other_irq = state_add(&m->state, TABLE_IRQ);
	r = IRQ_ROW(m, m->other_irq);
	r->nr = r->cpu = (uint64_t)-1;
	r->name = strpool_intern_z("other");
	return m->other_irq;
}

static uint32_t handler_row(struct model *m, const struct cpu *cpu, bool soft, uint32_t nr)
{
	uint64_t key = handler_key(cpu, soft, nr);
	uint32_t row = map64_get(&m->irqs, key);
	struct irq_row *r;

	if (row != MAP64_NONE)
		return row;
	if (!soft && m->irqs.count >= IRQ_ROWS_MAX)
		return other_irq(m);
	row = state_add(&m->state, TABLE_IRQ);
	map64_put(&m->irqs, key, row);
	r = IRQ_ROW(m, row);
	r->soft = soft;
	r->nr = nr;
	r->cpu = CPU_ROW(m, cpu->row)->cpu;
	r->name = soft ? softirq_name(nr) : irq_name(m, nr);
	return row;
}

/* Credits the time since the last change to the previous innermost handler, and notes the current one. */
static void innermost_changed(struct model *m, const struct cpu *cpu)
{
	struct cpu_row *r = CPU_ROW(m, cpu->row);
	uint64_t ns = m->now_ns > r->irq_since_ns ? m->now_ns - r->irq_since_ns : 0;

	if (r->irq_state == CPU_IRQ_HARD)
		r->irq_ns += ns;
	else if (r->irq_state == CPU_IRQ_SOFT)
		r->softirq_ns += ns;
	r->irq_since_ns = m->now_ns;
	if (!cpu->irq_depth)
		r->irq_state = CPU_IRQ_NONE;
	else
		r->irq_state = cpu->irqs[cpu->irq_depth - 1].soft ? CPU_IRQ_SOFT : CPU_IRQ_HARD;
	state_touch(&m->state, TABLE_CPU, cpu->row);
	mode_handlers_changed(m, cpu);
}

void irq_reset_cpu(struct model *m, struct cpu *cpu)
{
	if (!cpu->irq_depth)
		return;
	cpu->irq_depth = 0;
	innermost_changed(m, cpu);
}

/* How many of the handlers on the stack are still active when this one is entered. */
static unsigned depth_below(const struct cpu *cpu, bool soft, uint32_t nr)
{
	/* a softirq does not interrupt handlers: those on the stack have ended unseen */
	if (soft)
		return 0;
	for (unsigned i = 0; i < cpu->irq_depth; i++)
		if (!cpu->irqs[i].soft && cpu->irqs[i].nr == nr)
			return i;
	return MIN(cpu->irq_depth, IRQ_DEPTH_MAX - 1);
}

static void enter(struct model *m, struct cpu *cpu, bool soft, uint32_t nr, uint32_t row)
{
	cpu->irq_depth = depth_below(cpu, soft, nr);
	cpu->irqs[cpu->irq_depth++] = (struct irq_frame){
		.soft = soft,
		.nr = nr,
		.row = row,
		.entry_ns = m->now_ns,
	};
	innermost_changed(m, cpu);
}

static void leave(struct model *m, struct cpu *cpu, bool soft, uint32_t nr)
{
	unsigned depth = cpu->irq_depth;
	uint32_t row;

	while (depth && (cpu->irqs[depth - 1].soft != soft || cpu->irqs[depth - 1].nr != nr))
		depth--;
	if (depth) {
		const struct irq_frame *frame = &cpu->irqs[depth - 1];

		row = frame->row;
		DIST_ADD(m, IRQ, irq, row, time, m->now_ns - frame->entry_ns, cpu->thread, IRQ_ROW(m, row)->name);
		cpu->irq_depth = depth - 1;
		innermost_changed(m, cpu);
	} else {
		row = handler_row(m, cpu, soft, nr);
	}
	IRQ_ROW(m, row)->count++;
	state_touch(&m->state, TABLE_IRQ, row);
}

void apply_irq_entry(struct model *m, const struct apply *a)
{
	const struct ev_irq *p = event_payload(a->ev, ev_irq);
	uint32_t row;

	if (!a->cpu || !handler_valid(false, (uint64_t)p->irq))
		return;
	row = handler_row(m, a->cpu, false, (uint32_t)p->irq);
	if (!IRQ_ROW(m, row)->name && p->name.len) {
		IRQ_ROW(m, row)->name = strpool_intern(event_text(a->ev, p->name), p->name.len);
		state_touch(&m->state, TABLE_IRQ, row);
	}
	enter(m, a->cpu, false, (uint32_t)p->irq, row);
}

void apply_irq_exit(struct model *m, const struct apply *a)
{
	const struct ev_irq *p = event_payload(a->ev, ev_irq);

	if (a->cpu && handler_valid(false, (uint64_t)p->irq))
		leave(m, a->cpu, false, (uint32_t)p->irq);
}

/* The first raise since the last entry counts: the softirq runs once for all of them. */
void apply_softirq_raise(struct model *m, const struct apply *a)
{
	const struct ev_softirq *p = event_payload(a->ev, ev_softirq);

	if (!a->cpu || !handler_valid(true, p->vec))
		return;
	if (!a->cpu->raised_ns[p->vec] || a->cpu->raised_ns[p->vec] <= m->lost_ns)
		a->cpu->raised_ns[p->vec] = m->now_ns;
}

void apply_softirq_entry(struct model *m, const struct apply *a)
{
	const struct ev_softirq *p = event_payload(a->ev, ev_softirq);
	uint64_t raised_ns;
	uint32_t row;

	if (!a->cpu || !handler_valid(true, p->vec))
		return;
	row = handler_row(m, a->cpu, true, (uint32_t)p->vec);
	raised_ns = a->cpu->raised_ns[p->vec];
	a->cpu->raised_ns[p->vec] = 0;
	/* not if raised before a loss: entries since then may be among the lost events */
	if (raised_ns && raised_ns > m->lost_ns) {
		DIST_ADD(m, IRQ, irq, row, raise, m->now_ns - raised_ns, a->thread, IRQ_ROW(m, row)->name);
		state_touch(&m->state, TABLE_IRQ, row);
	}
	enter(m, a->cpu, true, (uint32_t)p->vec, row);
}

void apply_softirq_exit(struct model *m, const struct apply *a)
{
	const struct ev_softirq *p = event_payload(a->ev, ev_softirq);

	if (a->cpu && handler_valid(true, p->vec))
		leave(m, a->cpu, true, (uint32_t)p->vec);
}

/* A shared interrupt is named after its first action, or after the first handler entered. */
void apply_dump_irq(struct model *m, const struct apply *a)
{
	const struct ev_dump_irq *p = event_payload(a->ev, ev_dump_irq);
	struct event_str s = p->action.len ? p->action : p->name;
	strid name = strpool_intern(event_text(a->ev, s), s.len);

	if (name && m->irq_names.count < IRQ_NAMES_MAX && handler_valid(false, (uint64_t)p->irq) &&
	    map64_get(&m->irq_names, (uint64_t)p->irq) == MAP64_NONE)
		map64_put(&m->irq_names, (uint64_t)p->irq, name);
}
