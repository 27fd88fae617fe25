/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Perf counters that events carry as context. A counter of the CPU (perf_cpu_*) grows for whichever thread runs: the
 * difference between two events of the CPU goes to the thread that ran in between, and is dropped if that was idle or
 * unknown. A counter of the thread (perf_thread_*) grows for the thread of the event.
 *
 * The first value of each only sets the starting point. Values are 64 bits and wrap; a difference of 2^63 or more means
 * that the counter was created again, and starts over. Every trace has its own counters: last values are kept per
 * trace, and start over if it is declared again.
 *
 * Counters of one name in several traces of a host, as of several sessions, count the same. Each value places its trace
 * on the way of the CPU's or thread's common total; only what leads beyond that total is credited. No trace is behind
 * the first one's last value: one that started after a value of the first would else stay behind by the growth that it
 * missed. The first one keeps its place: differences of when traces read must not add up.
 *
 *   thread.perfs ─▶ row ─▶ row ─▶ none      TABLE_PERF: the chain serves to end a thread's rows along with it
 */
#include "model/parts_internal.h"

struct perf_value {
	struct perf_value *first; /* of the first trace with a counter of this name; null until a value was seen */
	uint64_t total;           /* of all traces; kept in the first one */
	uint64_t at;              /* what this trace's last value means on the way of the total */
	uint64_t value;
};

struct perf_last {
	const struct trace_info *trace;
	struct perf_last *next;
	struct perf_value values[EVENT_PERF_MAX];
};

#define PERF_ROW(m, row) STATE_ROW(&(m)->state, PERF, perf, row)
#define COUNTS_BACK (UINT64_C(1) << 63)

static void list_free(struct perf_last **list)
{
	while (*list) {
		struct perf_last *last = *list;

		*list = last->next;
		g_free(last);
	}
}

/* The trace's last values in the list; created on first use. */
static struct perf_last *last_of_trace(struct perf_last **list, const struct trace_info *trace)
{
	struct perf_last *last = *list;

	while (last && last->trace != trace)
		last = last->next;
	if (!last) {
		last = g_new0(struct perf_last, 1);
		last->trace = trace;
		last->next = *list;
		*list = last;
	}
	return last;
}

/* The first trace's value of what the trace of last counts as its counter i. */
static struct perf_value *first_value(struct perf_last *list, struct perf_last *last, unsigned i)
{
	const strid name = last->trace->perf_names[i];

	for (; list; list = list->next)
		for (unsigned j = 0; j < list->trace->n_perf; j++)
			if (list->values[j].first && list->trace->perf_names[j] == name)
				return list->values[j].first;
	return &last->values[i];
}

/* How much the counter has grown since any trace in the list has last shown it. */
static uint64_t growth(struct perf_last *list, struct perf_last *last, unsigned i, uint64_t value)
{
	struct perf_value *v = &last->values[i];
	uint64_t by = value - v->value;

	v->value = value;
	if (!v->first || by >= COUNTS_BACK) {
		if (!v->first)
			v->first = first_value(list, last, i);
		v->at = v->first->total;
		return 0;
	}
	v->at = MAX(v->at + by, v->first->at);
	if (v->at <= v->first->total)
		return 0;
	by = v->at - v->first->total;
	v->first->total = v->at;
	return by;
}

static uint64_t counter_key(uint32_t thread, strid counter)
{
	return (uint64_t)thread << 32 | counter;
}

uint32_t perf_row(struct model *m, uint32_t thread, strid counter)
{
	uint64_t key = counter_key(thread, counter);
	uint32_t row = map64_get(&m->perfs, key);

	if (row != MAP64_NONE)
		return row;
	row = state_add(&m->state, TABLE_PERF);
	map64_put(&m->perfs, key, row);
	if (row >= m->perf_links->len)
		g_array_set_size(m->perf_links, row + 1);
	g_array_index(m->perf_links, uint32_t, row) = thread_info(m, thread)->perfs;
	thread_info(m, thread)->perfs = row + 1;
	PERF_ROW(m, row)->thread_uid = THREAD_ROW(m, thread)->uid;
	PERF_ROW(m, row)->counter = counter;
	return row;
}

static void credit(struct model *m, uint32_t thread, strid counter, uint64_t by)
{
	uint32_t row = perf_row(m, thread, counter);

	PERF_ROW(m, row)->value += by;
	state_touch(&m->state, TABLE_PERF, row);
}

void perf_apply(struct model *m, const struct apply *a)
{
	const unsigned n = MIN(a->ev->n_perf, a->trace->n_perf);
	const uint64_t *values = event_perf(a->ev);
	struct thread *thread = a->thread == NO_ROW ? NULL : thread_info(m, a->thread);
	struct perf_last *of_cpu = a->cpu ? last_of_trace(&a->cpu->perf, a->trace) : NULL;
	struct perf_last *of_thread = NULL;

	if (thread && !thread->in_use)
		thread = NULL;
	for (unsigned i = 0; i < n; i++) {
		struct perf_last *last = of_cpu;
		uint64_t by;

		if (values[i] == EVENT_PERF_NONE)
			continue;
		if (a->trace->perf_per_thread[i]) {
			if (thread && !of_thread)
				of_thread = last_of_trace(&thread->perf, a->trace);
			last = of_thread;
		}
		if (!last)
			continue;
		by = growth(last == of_cpu ? a->cpu->perf : thread->perf, last, i, values[i]);
		if (by && thread)
			credit(m, a->thread, a->trace->perf_names[i], by);
	}
}

void perf_thread_end(struct model *m, uint32_t thread)
{
	struct thread *t = thread_info(m, thread);

	list_free(&t->perf);
	while (t->perfs) {
		const uint32_t row = t->perfs - 1;

		t->perfs = g_array_index(m->perf_links, uint32_t, row);
		map64_del(&m->perfs, counter_key(thread, (strid)PERF_ROW(m, row)->counter));
		state_end(&m->state, TABLE_PERF, row);
	}
}

void perf_forget(struct model *m)
{
	for (guint i = 0; i < m->cpus->len; i++)
		list_free(&g_array_index(m->cpus, struct cpu, i).perf);
	for (guint i = 0; i < m->threads->len; i++)
		if (g_ptr_array_index(m->threads, i))
			list_free(&thread_info(m, i)->perf);
}

void perf_create(struct model *m)
{
	m->perf_links = g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

void perf_destroy(struct model *m)
{
	perf_forget(m);
	map64_release(&m->perfs);
	g_array_free(m->perf_links, TRUE);
}
