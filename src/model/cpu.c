/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each CPU runs, and for how long. On every CPU and at any time busy + idle = online, and busy is the sum of its
 * threads' time: both sides of the equation change only here, at the same instants.
 */
#include "base/nstime.h"
#include "model/parts_internal.h"

static void cpu_init(struct model *m, struct cpu *cpu, unsigned number)
{
	struct cpu_row *r;

	*cpu = (struct cpu){ .tid = TID_UNKNOWN, .thread = NO_ROW };
	cpu->row = state_add(&m->state, TABLE_CPU);
	r = CPU_ROW(m, cpu->row);
	r->cpu = number;
	r->state = CPU_UNKNOWN;
	r->since_ns = MIN(m->begin_ns, m->now_ns);
	HOST_ROW(m)->cpus++;
	touch_host(m);
}

struct cpu *cpu_make(struct model *m, unsigned number)
{
	struct cpu *cpu;

	while (number >= m->cpus->len) {
		struct cpu none = { .row = NO_ROW };

		g_array_append_val(m->cpus, none);
	}
	cpu = &g_array_index(m->cpus, struct cpu, number);
	if (cpu->row == NO_ROW)
		cpu_init(m, cpu, number);
	return cpu;
}

/* Credits the time since the last change to the CPU's state, and enters another. */
static void enter_state(struct model *m, struct cpu *cpu, enum cpu_state state)
{
	struct cpu_row *r = CPU_ROW(m, cpu->row);
	uint64_t grown = m->now_ns > r->since_ns ? m->now_ns - r->since_ns : 0;

	state_touch(&m->state, TABLE_CPU, cpu->row);
	if (r->state == CPU_BUSY)
		r->busy_ns += grown;
	if (r->state == CPU_IDLE)
		r->idle_ns += grown;
	if (r->state == CPU_BUSY || r->state == CPU_IDLE)
		r->online_ns += grown;
	if ((r->state == CPU_OFFLINE) != (state == CPU_OFFLINE)) {
		HOST_ROW(m)->cpus += state == CPU_OFFLINE ? -1 : 1;
		touch_host(m);
	}
	r->state = state;
	r->since_ns = m->now_ns;
}

void cpu_run(struct model *m, struct cpu *cpu, int64_t tid, uint32_t thread)
{
	if (thread != NO_ROW && thread != cpu->thread)
		cpu_lose_thread(m, thread);
	enter_state(m, cpu, tid == 0 ? CPU_IDLE : CPU_BUSY);
	cpu->tid = tid;
	cpu->thread = thread;
	cpu->held_tid = 0;
	CPU_ROW(m, cpu->row)->thread_uid = thread == NO_ROW ? 0 : THREAD_ROW(m, thread)->uid;
	if (thread != NO_ROW) {
		thread_set_state(m, thread, THREAD_RUNNING);
		/* even if its switch-in was not seen */
		thread_info(m, thread)->woken_ns = thread_info(m, thread)->early_ns = 0;
		THREAD_ROW(m, thread)->cpu = CPU_ROW(m, cpu->row)->cpu;
		thread_info(m, thread)->cpus |= cpu_bit(m, cpu);
		mode_update(m, cpu);
	}
	if (m->preemption)
		preemption_runs(m, cpu);
}

/* The CPU and its thread have been in this state since a time from which nothing was credited yet. */
static void credit_since(struct model *m, struct cpu *cpu, uint64_t since_ns)
{
	struct thread_row *r;

	CPU_ROW(m, cpu->row)->since_ns = since_ns;
	if (m->preemption)
		preemption_ran_since(m, cpu, since_ns);
	if (cpu->thread == NO_ROW)
		return;
	r = THREAD_ROW(m, cpu->thread);
	r->since_ns = since_ns;
	if (r->mode != MODE_USER)
		r->mode_ns = since_ns;
}

void cpu_settle_anew(struct model *m, struct cpu *cpu, int64_t tid)
{
	const struct cpu_row *r = CPU_ROW(m, cpu->row);
	const bool unknown = r->state == CPU_UNKNOWN && (!cpu->held_tid || cpu->held_tid == tid);
	const uint32_t thread = tid > 0 ? thread_of_tid(m, tid) : NO_ROW;
	const bool was_ready = thread != NO_ROW && THREAD_ROW(m, thread)->state == THREAD_READY;
	uint64_t since_ns = r->since_ns;

	if (cpu->stream_ns > since_ns && cpu->stream_ns - since_ns > CPU_START_SKEW_NS)
		since_ns = MIN(cpu->stream_ns, m->now_ns); /* nothing is known of the time before */
	/* in a record of some processes, again and again; or a loss is reported later: see apply_lost() */
	if ((r->state == CPU_BUSY || r->state == CPU_IDLE) && r->since_ns > m->lost_ns)
		m->unexplained_ns = m->now_ns;
	if (r->state == CPU_UNKNOWN && !unknown)
		cpu_offline(m, cpu); /* another thread after migration/N: it was offline; or not recorded */
	else if (cpu->thread != NO_ROW)
		thread_set_state(m, cpu->thread, THREAD_UNKNOWN);
	cpu_run(m, cpu, tid, thread);
	if (!unknown)
		return;
	if (!was_ready) /* else it was ready until now: that time has been counted */
		credit_since(m, cpu, since_ns);
	if (m->wait_log)
		waitlog_runs(m, cpu);
}

void cpu_unsettle(struct model *m, struct cpu *cpu)
{
	enter_state(m, cpu, CPU_UNKNOWN);
	CPU_ROW(m, cpu->row)->thread_uid = 0;
	cpu->tid = TID_UNKNOWN;
	cpu->thread = NO_ROW;
	cpu->held_tid = 0;
	if (m->preemption)
		preemption_runs(m, cpu);
}

void cpu_interrupt(struct model *m, struct cpu *cpu)
{
	if (CPU_ROW(m, cpu->row)->state == CPU_OFFLINE)
		return;
	cpu_unsettle(m, cpu);
	cpu->held_tid = HELD_BY_NONE;
}

void cpu_offline(struct model *m, struct cpu *cpu)
{
	cpu_unsettle(m, cpu);
	enter_state(m, cpu, CPU_OFFLINE);
}

bool model_is_busy(const struct model *m)
{
	for (guint i = 0; i < m->cpus->len; i++) {
		const struct cpu *cpu = &g_array_index(m->cpus, struct cpu, i);

		if (cpu->row != NO_ROW && CPU_ROW(m, cpu->row)->state == CPU_BUSY)
			return true;
	}
	return false;
}

void cpus_begin(struct model *m, uint64_t begin_ns)
{
	for (guint i = 0; i < m->cpus->len; i++) {
		struct cpu *cpu = &g_array_index(m->cpus, struct cpu, i);

		if (cpu->row != NO_ROW)
			credit_since(m, cpu, begin_ns);
	}
}

void apply_stream(struct model *m, const struct apply *a)
{
	const uint64_t begin_ns = event_payload(a->ev, ev_stream)->begin_ns;

	/* it may lack a part of the dump */
	if (begin_ns > m->dump.start_ns)
		lost_of_dump(m, 0);
	a->cpu->stream_ns = a->cpu->stream_ns ? MIN(a->cpu->stream_ns, begin_ns) : begin_ns;
}

void cpu_lose_thread(struct model *m, uint32_t thread)
{
	int64_t number = (int64_t)THREAD_ROW(m, thread)->cpu;
	struct cpu *cpu;

	if (THREAD_ROW(m, thread)->state != THREAD_RUNNING || number < 0 || number >= m->cpus->len)
		return;
	cpu = &g_array_index(m->cpus, struct cpu, number);
	if (cpu->thread == thread) {
		thread_set_state(m, thread, THREAD_UNKNOWN);
		cpu_unsettle(m, cpu);
	}
}

void apply_cpu_start(struct model *m, const struct apply *a)
{
	const struct ev_cpu_start *p = event_payload(a->ev, ev_cpu_start);

	lost_cpu_begins(m, a->cpu);
	if (a->cpu->tid != TID_UNKNOWN)
		return;
	if (m->begin_ns < m->now_ns)
		cpu_unsettle(m, a->cpu); /* its data begins later: nothing is known of the time before */
	cpu_settle(m, a->cpu, p->tid);
	if (a->cpu->thread != NO_ROW) {
		thread_set_comm(m, a->cpu->thread, p->comm);
		THREAD_ROW(m, a->cpu->thread)->prio = (uint64_t)p->prio;
		if (p->in_call)
			mode_set_inside(m, a->cpu, a->cpu->thread,
					p->in_call == FIRST_CALL_YES ? INSIDE_KERNEL : INSIDE_PROGRAM);
	}
}

/*
 * cpuhp_exit reports every step of a CPU going up or down; the CPU is gone when it has reached state 0 (CPUHP_OFFLINE).
 * Its first event shows that it is back.
 */
void apply_cpu_hotplug(struct model *m, const struct apply *a)
{
	const struct ev_cpu_hotplug *p = event_payload(a->ev, ev_cpu_hotplug);
	struct cpu *gone;

	if (p->state != 0 || p->cpu < 0 || p->cpu >= EVENT_CPU_MAX || p->cpu == a->ev->cpu)
		return;
	gone = cpu_of_number(m, (unsigned)p->cpu);
	if (CPU_ROW(m, gone->row)->state == CPU_OFFLINE)
		return;
	if (gone->thread != NO_ROW)
		thread_set_state(m, gone->thread, THREAD_UNKNOWN);
	cpu_offline(m, gone);
}

/* kHz and us: an hour at 4 GHz adds up to 1.5e16. Fractions of a microsecond are lost at each change. */
void apply_cpu_frequency(struct model *m, const struct apply *a)
{
	enum { KHZ_MAX = 1 << 28 };
	const struct ev_cpu_frequency *p = event_payload(a->ev, ev_cpu_frequency);
	struct cpu_row *r;
	struct cpu *cpu;

	if (p->cpu < 0 || p->cpu >= EVENT_CPU_MAX || !p->khz || p->khz > KHZ_MAX)
		return;
	cpu = cpu_of_number(m, (unsigned)p->cpu);
	r = CPU_ROW(m, cpu->row);
	if (r->khz)
		r->khz_us += r->khz * ((m->now_ns - r->khz_since_ns) / NS_PER_US);
	else
		r->khz_first_ns = m->now_ns;
	r->khz = p->khz;
	r->khz_since_ns = m->now_ns;
	state_touch(&m->state, TABLE_CPU, cpu->row);
}
