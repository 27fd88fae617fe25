/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Discarded events and packets: counted for the host and the CPU, at their time. Everything that those of the kernel
 * may have changed is uncertain from here on: each thread is marked until it is seen again, and the CPU's handlers are
 * forgotten.
 */
#include "model/context.h"
#include "model/parts_internal.h"

void lost_seen(struct model *m, uint32_t thread)
{
	g_array_append_val(m->sure, thread);
	thread_info(m, thread)->sure = m->sure->len;
	thread_info(m, thread)->missed = false;
}

void lost_thread_end(struct model *m, uint32_t thread)
{
	const uint32_t place = thread_info(m, thread)->sure;
	uint32_t last;

	if (!place)
		return;
	last = g_array_index(m->sure, uint32_t, m->sure->len - 1);
	g_array_index(m->sure, uint32_t, place - 1) = last;
	thread_info(m, last)->sure = place;
	thread_info(m, thread)->sure = 0;
	g_array_set_size(m->sure, m->sure->len - 1);
}

/* Not the others, which are marked already: there may be many threads, and as many losses. */
static void mark_threads_unsure(struct model *m)
{
	for (guint i = 0; i < m->sure->len; i++) {
		const uint32_t row = g_array_index(m->sure, uint32_t, i);

		thread_info(m, row)->sure = 0;
		THREAD_ROW(m, row)->flags |= THREAD_UNSURE;
		if (m->preemption && THREAD_ROW(m, row)->state == THREAD_READY) {
			preemption_charge(m, row);
			preemption_place(m, row, -1);
		}
		pressure_changed(m, row);
		state_touch(&m->state, TABLE_THREAD, row);
	}
	g_array_set_size(m->sure, 0);
}

/* ---- calls ---- */

static void pass_time(struct loss_times *t, uint64_t now_ns)
{
	if (t->next_ns > now_ns)
		return;
	t->last_ns = MAX(t->last_ns, t->next_ns);
	t->next_ns = UINT64_MAX;
}

/*
 * The last loss of a recording's stream is reported before it is over, that of a live one afterwards: until then it
 * counts in neither.
 */
static void add_loss(struct model *m, struct loss_times *t, uint64_t end_ns)
{
	pass_time(t, m->now_ns);
	if (end_ns <= m->now_ns)
		t->last_ns = MAX(t->last_ns, end_ns);
	else
		t->next_ns = MIN(t->next_ns, end_ns);
	m->lost_until_ns = MAX(m->lost_until_ns, end_ns);
}

/* An event at the end of a loss comes after it: with it the tracer ends a packet and begins the next one. */
static bool has_lost_since(struct model *m, struct loss_times *t, uint64_t since_ns)
{
	pass_time(t, m->now_ns);
	return t->last_ns > since_ns;
}

bool lost_in_call(struct model *m, uint32_t thread)
{
	const struct thread *t = thread_info(m, thread);

	for (guint i = 0; i < m->cpus->len; i++)
		if (t->cpus >> i % 64 & 1 &&
		    has_lost_since(m, &g_array_index(m->cpus, struct cpu, i).lost, t->call.entry_ns))
			return true;
	return has_lost_since(m, &m->lost, t->call.entry_ns);
}

/* ---- losses ---- */

enum { LOSSES_MAX = 1 << 20 }; /* times of further ones are not kept: they count as the last one */

void model_keep_losses(struct model *m)
{
	m->losses = g_array_new(FALSE, FALSE, sizeof(struct loss));
}

static void keep_loss(struct model *m)
{
	const struct host_row *host = HOST_ROW(m);
	const struct loss loss = { m->now_ns, host->lost_events, host->lost_packets, host->gap_end_ns };
	struct loss *last;

	if (m->losses->len < LOSSES_MAX) {
		g_array_append_val(m->losses, loss);
	} else {
		last = &g_array_index(m->losses, struct loss, m->losses->len - 1);
		last->events = loss.events;
		last->packets = loss.packets;
		last->gap_end_ns = loss.gap_end_ns;
	}
}

/* What was lost before t_ns, and until when more is. */
static struct loss lost_before(const struct model *m, uint64_t t_ns)
{
	guint from = 0, to = m->losses->len;

	while (from < to) {
		const guint middle = from + (to - from) / 2;

		if (g_array_index(m->losses, struct loss, middle).t_ns < t_ns)
			from = middle + 1;
		else
			to = middle;
	}
	return from ? g_array_index(m->losses, struct loss, from - 1) : (struct loss){ 0 };
}

void model_lost(const struct model *m, uint64_t begin_ns, uint64_t end_ns, uint64_t *events, uint64_t *packets,
		bool *goes_on)
{
	const struct loss before = lost_before(m, begin_ns), all = lost_before(m, MAX(begin_ns, end_ns));

	*events = all.events - before.events;
	*packets = all.packets - before.packets;
	*goes_on = all.gap_end_ns >= end_ns;
}

/* Kernel events of [begin_ns, end_ns[ are missing; cpu NULL: it is not known of which. */
static void end_loss(struct model *m, struct cpu *cpu, uint64_t begin_ns, uint64_t end_ns)
{
	m->lost_ns = m->now_ns;
	add_loss(m, cpu ? &cpu->lost : &m->lost, end_ns);
	if (begin_ns <= m->unexplained_ns)
		m->unexplained_ns = 0; /* that switch was among them: other streams of the CPU lost nothing */
	if (cpu) {
		irq_reset_cpu(m, cpu);
		context_reset(cpu);
	}
	lost_of_dump(m, begin_ns);
	if (m->wait_log)
		waitlog_interrupt(m, cpu);
	mark_threads_unsure(m);
}

void apply_lost(struct model *m, const struct apply *a)
{
	const struct ev_lost *p = event_payload(a->ev, ev_lost);

	HOST_ROW(m)->lost_events += p->events;
	HOST_ROW(m)->lost_packets += p->packets;
	if (m->losses)
		keep_loss(m);
	touch_host(m);
	if (a->cpu) {
		CPU_ROW(m, a->cpu->row)->lost_events += p->events;
		state_touch(&m->state, TABLE_CPU, a->cpu->row);
	}
	if (a->trace->domain == DOMAIN_KERNEL) /* others would have changed nothing of this */
		end_loss(m, a->cpu, p->begin_ns, p->end_ns);
}

/*
 * Nothing is known of the CPU from now on. The time of the thread that ran there ends, and that of all that were ready,
 * as any of them may run there now.
 */
static void enter_gap(struct model *m, struct cpu *cpu)
{
	irq_reset_cpu(m, cpu);
	context_reset(cpu);
	if (cpu->thread != NO_ROW)
		thread_set_state(m, cpu->thread, THREAD_UNKNOWN);
	cpu_interrupt(m, cpu);
	if (m->wait_log)
		waitlog_interrupt(m, cpu);
	for (guint i = 0; i < m->sure->len; i++) {
		const uint32_t row = g_array_index(m->sure, uint32_t, i);

		if (THREAD_ROW(m, row)->state == THREAD_READY)
			thread_set_state(m, row, THREAD_UNKNOWN);
	}
	mark_threads_unsure(m);
}

void apply_gap(struct model *m, const struct apply *a)
{
	const uint64_t end_ns = event_payload(a->ev, ev_gap)->end_ns;

	a->cpu->gap_end_ns = MAX(a->cpu->gap_end_ns, end_ns);
	HOST_ROW(m)->gap_end_ns = MAX(HOST_ROW(m)->gap_end_ns, end_ns);
	if (m->losses)
		keep_loss(m);
	touch_host(m);
	enter_gap(m, a->cpu);
}

/* ---- CPUs whose data begins later: a gap in which nothing was lost ---- */

void model_await_cpu(struct model *m, unsigned number)
{
	struct cpu *cpu = number == EVENT_NO_CPU ? NULL : cpu_of_number(m, number);

	/* an earlier stream of the CPU, or another session, has shown it */
	if (!cpu || cpu->begun || cpu->awaited || CPU_ROW(m, cpu->row)->state != CPU_UNKNOWN)
		return;
	cpu->awaited = true;
	m->awaited++;
	enter_gap(m, cpu);
}

void lost_cpu_begins(struct model *m, struct cpu *cpu)
{
	cpu->begun = true;
	if (!cpu->awaited)
		return;
	cpu->awaited = false;
	m->awaited--;
	end_loss(m, cpu, 0, m->now_ns);
}

/* Whatever runs from here on, the model does not know it. */
static void forget_what_runs(struct model *m)
{
	const struct state_table *t = &m->state.tables[TABLE_THREAD];

	m->awaited = 0;
	for (guint i = 0; i < m->cpus->len; i++) {
		struct cpu *cpu = &g_array_index(m->cpus, struct cpu, i);

		if (cpu->row == NO_ROW)
			continue;
		cpu->begun = cpu->awaited = false;
		irq_reset_cpu(m, cpu);
		context_reset(cpu);
		cpu_interrupt(m, cpu);
	}
	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;) {
		if (t->flags[row] & ROW_ENDED || thread_info(m, row)->kept)
			continue;
		thread_set_state(m, row, THREAD_UNKNOWN);
		thread_info(m, row)->woken_ns = 0;
		syscalls_forget(m, row);
		thread_info(m, row)->inside = INSIDE_UNKNOWN;
	}
}

void lost_record_resumes(struct model *m)
{
	struct host_row *r = HOST_ROW(m);

	r->unrecorded_ns += m->now_ns - MIN(r->record_since_ns, m->now_ns);
	r->record = HOST_RECORDED;
	r->record_since_ns = m->now_ns;
}

void model_interrupt(struct model *m, uint64_t t_ns)
{
	/* figures that were passed on stay as they were */
	m->now_ns = MAX(m->now_ns, MAX(m->cut_ns, t_ns));
	if (HOST_ROW(m)->record != HOST_UNRECORDED) {
		HOST_ROW(m)->record = HOST_UNRECORDED;
		HOST_ROW(m)->record_since_ns = m->now_ns;
		touch_host(m);
	}
	m->lost_ns = m->now_ns;
	m->begin_ns = UINT64_MAX; /* CPUs that are seen later have not run since the start */
	forget_what_runs(m);
	lost_of_dump(m, 0);
	if (m->wait_log)
		waitlog_interrupt(m, NULL);
	mark_threads_unsure(m);
	perf_forget(m);
}

/* ---- threads whose ends were lost ---- */

/*
 * A state dump names each living thread. One that it does not name, and that no event has shown since the last loss,
 * has ended. But that another CPU lost events during the dump may be found out only later: such threads are marked at
 * the end of the dump, and end when the next one starts.
 */
static bool is_missed(const struct model *m, uint32_t row)
{
	const struct thread *t = g_ptr_array_index(m->threads, row);
	const struct thread_row *r = THREAD_ROW(m, row);

	/* one that runs may have exited since the dump started, and has yet to be switched out */
	return r->flags & THREAD_UNSURE && r->state != THREAD_RUNNING && t->dumped_ns < m->dump.start_ns;
}

void lost_dump_start(struct model *m, const struct apply *a)
{
	const bool complete = m->dump.start_ns && m->dump.end_ns != UINT64_MAX;

	for (guint row = 0; complete && row < m->threads->len; row++) {
		const struct thread *t = g_ptr_array_index(m->threads, row);

		if (t && t->in_use && t->missed)
			thread_end(m, row);
	}
	m->dump.trace = a->trace;
	m->dump.start_ns = m->now_ns;
	m->dump.end_ns = UINT64_MAX;
}

void lost_dump_end(struct model *m, const struct apply *a)
{
	struct last_dump *d = &m->dump;

	/* it is another session's, its start was not recorded, or it does not name threads */
	if (d->trace != a->trace || d->end_ns != UINT64_MAX || d->named_ns < d->start_ns)
		return;
	d->end_ns = m->now_ns;
	for (guint row = 0; row < m->threads->len; row++) {
		struct thread *t = g_ptr_array_index(m->threads, row);

		if (t && t->in_use)
			t->missed = is_missed(m, row);
	}
}

void lost_of_dump(struct model *m, uint64_t begin_ns)
{
	if (begin_ns <= m->dump.end_ns)
		m->dump.start_ns = 0;
}

void apply_backward(struct model *m, const struct apply *a)
{
	(void)a;
	HOST_ROW(m)->backward_steps++;
	touch_host(m);
}
