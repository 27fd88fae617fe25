/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work items: a thread of a work queue works for the thread that queued the item.
 *
 *   dd       ──running──●──running──▶ blocked …                    queued at ●
 *                       ╰────────────────╮
 *   kworker  ──running (another item)────●──running──▶             started at ●
 *
 * An item that is queued in an interrupt has no such thread, but a time, and what the interrupt brought.
 *
 * The vertex where it starts is marked as one that ends a wait for work (graph_idle()): what the thread did before the
 * item was queued does not explain why others wait for it. If it was idle and the thread that queued the item woke it,
 * the wake-up already says so, and more exactly.
 */
#include "waits/build_internal.h"

/* NULL: it is not known by which thread and when it was queued. */
static const struct queued_work *work_at(const struct build_host *h, int32_t number)
{
	return h->works && number >= 0 && number < WORKS_MAX ? &h->works[number] : NULL;
}

void build_work_queued(struct build *b, unsigned host, const struct wait_event *e)
{
	struct build_thread *t = e->context == WAIT_CONTEXT_TASK ? build_current(b, host, e) : NULL;
	struct build_host *h = build_host(b, host);
	struct queued_work *q;

	if (e->work < 0 || e->work >= WORKS_MAX)
		return;
	if (!h->works) {
		h->works = g_new0(struct queued_work, WORKS_MAX);
		for (unsigned i = 0; i < WORKS_MAX; i++)
			h->works[i].row = WAIT_NO_ROW;
	}
	q = &h->works[e->work];
	*q = (struct queued_work){ .row = WAIT_NO_ROW, .t_ns = b->now_ns };
	if (e->context != WAIT_CONTEXT_TASK)
		q->by = build_brought_by(e);
	if (!t || t->tid <= 0)
		return;
	build_source(b, t);
	q->row = t->row;
	q->life = t->life;
}

/* Whether the thread's last wake-up was for this item. */
static bool was_woken_for(const struct build_thread *t, const struct queued_work *q)
{
	return t->given_ns && (!q || (q->row == t->giver && q->t_ns <= t->given_ns));
}

/* The thread that executes the item; NULL: unknown, or none, as it is executed in a softirq (Linux 6.9). */
static struct build_thread *worker(struct build *b, unsigned host, const struct wait_event *e)
{
	struct build_thread *t = e->context == WAIT_CONTEXT_TASK ? build_current(b, host, e) : NULL;

	return t && t->tid > 0 && t->status == STATUS_RUN && build_row(b, t->row)->first_ns ? t : NULL;
}

void build_work_start(struct build *b, unsigned host, const struct wait_event *e)
{
	struct build_thread *t = worker(b, host, e);
	const struct queued_work *q = work_at(build_host(b, host), e->work);

	if (!t)
		return;
	build_extend(b, t);
	if (!was_woken_for(t, q)) {
		if (q && q->row != WAIT_NO_ROW && q->row != t->row && build_row(b, q->row)->life == q->life)
			graph_link(b->graph, q->row, q->t_ns, t->row, b->now_ns, WAIT_LINK_WORK);
		graph_idle(b->graph, t->row, b->now_ns, q && q->t_ns ? q->t_ns : b->now_ns, q ? &q->by : NULL);
	}
	t->given_ns = 0;
	t->work = e->cause;
	if (t->work)
		graph_present(b->graph, t->row, WAIT_RUNNING, &(struct wait_cause){ .name = t->work, .fd = -1 });
}

void build_work_end(struct build *b, unsigned host, const struct wait_event *e)
{
	struct build_thread *t = worker(b, host, e);

	if (!t || !t->work)
		return;
	build_extend(b, t);
	t->work = STRID_NONE;
	graph_present(b->graph, t->row, WAIT_RUNNING, NULL);
}
