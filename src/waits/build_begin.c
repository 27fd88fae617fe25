/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How rows begin that have no event of their own yet: from what is known of the time before the first one.
 */
#include "waits/build_internal.h"

static void begin_row(struct build *b, const struct build_thread *t, uint64_t t_ns)
{
	graph_gap(b->graph, t->row, t_ns);
	build_row(b, t->row)->first_ns = t_ns;
}

void build_runs(struct build *b, unsigned host, const struct wait_event *e)
{
	struct build_cpu *cpu = build_cpu(b, host, e->cpu);
	struct build_thread *t;
	bool is_new;

	/* after lost events, the next one on the CPU says more */
	if (cpu->lost || cpu->tid != TID_NOBODY)
		return;
	cpu->tid = e->tid;
	t = build_thread_get(b, host, e->tid, e->cpu, &is_new);
	build_thread_name(b, t, e->comm, e->pid);
	if (build_row(b, t->row)->first_ns)
		return;
	build_thread_sure(b, t);
	build_thread_set(t, STATUS_RUN);
	begin_row(b, t, e->since_ns);
	graph_present(b->graph, t->row, WAIT_RUNNING, NULL);
}

void build_begin_midway(struct build *b, unsigned host, uint64_t t_ns)
{
	build_host(b, host)->midway_ns = t_ns;
}

void build_since_begin(struct build *b, struct build_thread *t, enum status status)
{
	const struct build_host *h = build_host(b, t->host);
	const struct build_row *r = build_row(b, t->row);

	if (!h->midway_ns || h->interrupts || r->first_ns || r->older != WAIT_NO_ROW)
		return;
	build_thread_set(t, status);
	begin_row(b, t, h->midway_ns);
}

void build_begin_blocked(struct build *b, struct build_thread *t)
{
	build_thread_asleep(b, t);
	if (build_row(b, t->row)->first_ns)
		return;
	begin_row(b, t, b->now_ns);
	graph_present(b->graph, t->row, WAIT_BLOCKED, NULL);
}
