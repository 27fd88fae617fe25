/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pressure: the time during which threads of a host or of a container were kept from working, in the sense of "some"
 * and "full" in the kernel's Documentation/accounting/psi.rst.
 *
 *            some: while at least one thread           full: and meanwhile
 *   CPU      is ready: it could run and has no CPU     not one of them runs
 *   I/O      waits for a disk request                  not one of them runs or is ready
 *
 * A thread waits for a disk while it is in uninterruptible sleep and a request that it started, as attributed in table
 * io, is not done. It starts when the thread gets it, as a write may wait for a flush before it is queued. The kernel
 * marks such sleeps by in_iowait, which no tracepoint shows: that also covers requests that other threads started, such
 * as read-ahead.
 *
 * After a loss of events, threads do not count until they are seen again. A host counts all its threads, a container
 * those whose innermost container it is. The first such time creates a row: where nothing ever waited there is none.
 */
#include "model/parts_internal.h"

#define PRESSURE_ROW(m, row) STATE_ROW(&(m)->state, PRESSURE, pressure, row)

static enum pressure_kind kind_now(const struct thread_row *r, const struct thread *t)
{
	if (r->flags & THREAD_UNSURE)
		return PRESSURE_IDLE;
	switch (r->state) {
	case THREAD_RUNNING:
		return PRESSURE_RUNS;
	case THREAD_READY:
		return PRESSURE_READY;
	case THREAD_BLOCKED:
		return t->uninterruptible && t->requests ? PRESSURE_IO : PRESSURE_IDLE;
	default:
		return PRESSURE_IDLE;
	}
}

static uint64_t state_of(const struct pressure_group *g)
{
	uint64_t state = 0;

	if (g->n[PRESSURE_READY]) {
		state |= PRESSURE_CPU_SOME;
		if (g->container && !g->n[PRESSURE_RUNS])
			state |= PRESSURE_CPU_FULL;
	}
	if (g->n[PRESSURE_IO]) {
		state |= PRESSURE_IO_SOME;
		if (!g->n[PRESSURE_RUNS] && !g->n[PRESSURE_READY])
			state |= PRESSURE_IO_FULL;
	}
	return state;
}

static void enter_state(struct model *m, struct pressure_group *g, uint64_t state)
{
	struct pressure_row *r;
	uint64_t ns;

	if (g->row == NO_ROW) {
		g->row = state_add(&m->state, TABLE_PRESSURE);
		r = PRESSURE_ROW(m, g->row);
		r->container = g->container;
	}
	r = PRESSURE_ROW(m, g->row);
	ns = m->now_ns > r->since_ns ? m->now_ns - r->since_ns : 0;
	if (r->state & PRESSURE_CPU_SOME)
		r->cpu_some_ns += ns;
	if (r->state & PRESSURE_CPU_FULL)
		r->cpu_full_ns += ns;
	if (r->state & PRESSURE_IO_SOME)
		r->io_some_ns += ns;
	if (r->state & PRESSURE_IO_FULL)
		r->io_full_ns += ns;
	r->state = g->state = state;
	r->since_ns = m->now_ns;
	state_touch(&m->state, TABLE_PRESSURE, g->row);
}

static void count(struct model *m, struct pressure_group *g, enum pressure_kind from, enum pressure_kind to)
{
	uint64_t state;

	g->n[from]--;
	g->n[to]++;
	if (g->n[from] && g->n[to] > 1)
		return; /* the state depends on whether there are any */
	state = state_of(g);
	if (state != g->state)
		enter_state(m, g, state);
}

static struct pressure_group *group_of_container(struct model *m, uint32_t container)
{
	return &g_array_index(m->pressures, struct pressure_group, container);
}

void pressure_changed(struct model *m, uint32_t thread)
{
	struct thread *t = thread_info(m, thread);
	enum pressure_kind from, to;

	if (!m->pressures)
		return;
	from = t->pressure;
	to = kind_now(THREAD_ROW(m, thread), t);
	if (from == to)
		return;
	t->pressure = to;
	count(m, &m->pressure, from, to);
	if (t->container != NO_ROW)
		count(m, group_of_container(m, t->container), from, to);
}

void pressure_request(struct model *m, uint32_t thread, int by)
{
	struct thread *t = thread_info(m, thread);

	if (by < 0 && !t->requests)
		return;
	t->requests += (uint32_t)by;
	pressure_changed(m, thread);
}

void pressure_forget_requests(struct model *m, uint32_t thread)
{
	thread_info(m, thread)->requests = 0;
	pressure_changed(m, thread);
}

void pressure_container_begins(struct model *m, uint32_t container, uint64_t uid)
{
	if (!m->pressures)
		return;
	if (container >= m->pressures->len)
		g_array_set_size(m->pressures, container + 1);
	*group_of_container(m, container) = (struct pressure_group){ .row = NO_ROW, .container = uid };
}

void pressure_container_ends(struct model *m, uint32_t container)
{
	const uint32_t row = m->pressures ? group_of_container(m, container)->row : NO_ROW;

	if (row != NO_ROW)
		state_end(&m->state, TABLE_PRESSURE, row);
}

void pressure_enter(struct model *m, uint32_t thread, uint32_t container)
{
	if (m->pressures)
		count(m, group_of_container(m, container), PRESSURE_IDLE, thread_info(m, thread)->pressure);
}

void pressure_leave(struct model *m, uint32_t thread, uint32_t container)
{
	if (m->pressures)
		count(m, group_of_container(m, container), thread_info(m, thread)->pressure, PRESSURE_IDLE);
}

void pressure_create(struct model *m)
{
	m->pressure = (struct pressure_group){ .row = NO_ROW };
	m->pressures = g_array_new(FALSE, TRUE, sizeof(struct pressure_group));
}

void pressure_destroy(struct model *m)
{
	g_array_free(m->pressures, TRUE);
	m->pressures = NULL;
}
