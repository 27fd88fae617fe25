/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of all hosts and their rows: which has a TID now, and which had it before. Those whose end was not seen
 * are taken for gone when there are too many, the ones that were idle longest first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nstime.h"
#include "waits/build_internal.h"

enum {
	/* Memory of a row and its thread, with their entries in lists and hashes. */
	ROW_BYTES = sizeof(struct build_row) + sizeof(struct build_thread) + 64,
	LIVING_LEAST = 2048, /* threads, however little memory there is */
	END_SHARE = 8,       /* one in this many threads is ended at a time */
};

void build_rows_create(struct build *b, size_t memory_bytes)
{
	const size_t living_max = memory_bytes / (ROW_BYTES + graph_row_bytes());

	b->hosts = g_array_new(FALSE, TRUE, sizeof(struct build_host));
	b->rows = g_array_new(FALSE, TRUE, sizeof(struct build_row));
	b->threads = g_ptr_array_new_with_free_func(g_free);
	b->spare = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	b->living_max = memory_bytes ? (uint32_t)CLAMP(living_max, LIVING_LEAST, UINT32_MAX) : 0;
	graph_set_owned(b->graph, ROW_BYTES);
}

void build_rows_destroy(struct build *b)
{
	for (guint i = 0; i < b->hosts->len; i++) {
		g_array_free(build_host(b, i)->cpus, TRUE);
		g_ptr_array_free(build_host(b, i)->sure, TRUE);
		g_array_free(build_host(b, i)->received, TRUE);
		g_free(build_host(b, i)->works);
	}
	g_array_free(b->hosts, TRUE);
	g_array_free(b->rows, TRUE);
	g_ptr_array_free(b->threads, TRUE);
	g_array_free(b->spare, TRUE);
	map64_release(&b->tids);
	map64_release(&b->idles);
	map64_release(&b->kernels);
}

void build_add_host(struct build *b)
{
	struct build_host h = {
		.cpus = g_array_new(FALSE, FALSE, sizeof(struct build_cpu)),
		.sure = g_ptr_array_new(),
		.received = g_array_new(FALSE, TRUE, sizeof(struct build_received)),
	};

	g_array_append_val(b->hosts, h);
}

struct build_cpu *build_cpu(struct build *b, unsigned host, unsigned cpu)
{
	GArray *cpus = build_host(b, host)->cpus;

	while (cpu >= cpus->len) {
		struct build_cpu none = { .tid = TID_NOBODY };

		g_array_append_val(cpus, none);
	}
	return &g_array_index(cpus, struct build_cpu, cpu);
}

/* ---- rows ---- */

static uint64_t key_of(unsigned host, uint32_t low)
{
	return (uint64_t)host << 32 | low;
}

static struct build_thread *thread_at(const struct build *b, uint32_t i)
{
	return i == MAP64_NONE ? NULL : g_ptr_array_index(b->threads, i);
}

/* Forgets the thread that had the row if it is gone: nothing leads to what it did any more. */
static void forget_owner(struct build *b, wait_row row)
{
	const struct build_row *r = build_row(b, row);
	const uint64_t key = key_of(r->who.host, (uint32_t)r->who.tid);
	const uint32_t i = r->who.tid > 0 ? map64_get(&b->tids, key) : MAP64_NONE;
	const struct build_thread *t = thread_at(b, i);

	if (!t || !t->gone || t->row != row || t->life != r->life)
		return;
	map64_del(&b->tids, key);
	g_array_append_val(b->spare, i);
}

static wait_row row_add(struct build *b, unsigned host, int32_t tid, int32_t cpu)
{
	wait_row row = graph_row_add(b->graph);
	struct build_row *r;

	if (row >= b->rows->len)
		g_array_set_size(b->rows, row + 1);
	forget_owner(b, row);
	r = build_row(b, row);
	*r = (struct build_row){
		.who = { .host = host, .tid = tid, .pid = -1, .cpu = cpu },
		.life = r->life + 1,
		.older = WAIT_NO_ROW,
	};
	return row;
}

struct wait_who build_who(const struct build *b, wait_row row)
{
	const struct wait_who nobody = { .tid = -1, .pid = -1, .cpu = -1 };

	return row < b->rows->len ? build_row(b, row)->who : nobody;
}

struct wait_who build_who_at(const struct build *b, wait_row row, uint64_t t_ns)
{
	struct wait_who who = build_who(b, row);

	for (unsigned i = row < b->rows->len ? build_row(b, row)->n_earlier : 0; i-- > 0;)
		if (t_ns < build_row(b, row)->earlier[i].until_ns)
			who.comm = build_row(b, row)->earlier[i].comm;
	return who;
}

uint64_t build_first_ns(const struct build *b, wait_row row)
{
	return row < b->rows->len ? build_row(b, row)->first_ns : 0;
}

wait_row build_next(const struct build *b, wait_row row, bool threads_only)
{
	uint64_t last_ns;

	for (row = row == WAIT_NO_ROW ? 0 : row + 1; row < b->rows->len; row++)
		if ((!threads_only || build_row(b, row)->who.tid > 0) && graph_last(b->graph, row, &last_ns))
			return row;
	return WAIT_NO_ROW;
}

/* ---- threads ---- */

/* Idle tasks and kernel rows belong to a CPU. */
static wait_row thread_row(struct build *b, unsigned host, int32_t tid, unsigned cpu)
{
	return row_add(b, host, tid, tid > 0 ? -1 : (int32_t)cpu);
}

static uint32_t thread_add(struct build *b, unsigned host, int32_t tid, unsigned cpu)
{
	const wait_row row = thread_row(b, host, tid, cpu);
	struct build_thread *t;
	uint32_t i;

	if (b->spare->len) {
		i = g_array_index(b->spare, uint32_t, b->spare->len - 1);
		g_array_set_size(b->spare, b->spare->len - 1);
	} else {
		i = b->threads->len;
		g_ptr_array_add(b->threads, g_new(struct build_thread, 1));
	}
	t = thread_at(b, i);
	*t = (struct build_thread){
		.host = host,
		.tid = tid,
		.row = row,
		.life = build_row(b, row)->life,
	};
	b->living++;
	if (tid != TID_KERNEL)
		build_thread_sure(b, t);
	return i;
}

/* The last thread that had the TID, gone or not; NULL: it is not remembered. */
static struct build_thread *thread_last(struct build *b, unsigned host, int32_t tid, unsigned cpu)
{
	uint32_t i = tid == TID_IDLE ? map64_get(&b->idles, key_of(host, cpu))
				     : map64_get(&b->tids, key_of(host, (uint32_t)tid));

	return thread_at(b, i);
}

struct build_thread *build_thread_find(struct build *b, unsigned host, int32_t tid, unsigned cpu)
{
	struct build_thread *t = thread_last(b, host, tid, cpu);

	return t && !t->gone ? t : NULL;
}

/* A new thread has the TID: gives it a new row. */
static void thread_renew(struct build *b, struct build_thread *t)
{
	const wait_row older = t->row;
	const uint32_t older_life = t->life;
	struct build_row *r;

	t->exiting = t->gone = false;
	t->status = t->old = STATUS_UNKNOWN;
	t->stop = t->work = STRID_NONE;
	t->given_ns = 0;
	t->row = thread_row(b, t->host, t->tid, 0);
	r = build_row(b, t->row);
	t->life = r->life;
	b->living++;
	build_thread_sure(b, t);
	if (older != t->row && build_row(b, older)->life == older_life) {
		r->older = older;
		r->older_life = older_life;
	}
}

struct build_thread *build_thread_get(struct build *b, unsigned host, int32_t tid, unsigned cpu, bool *is_new)
{
	struct build_thread *t = thread_last(b, host, tid, cpu);
	char name[32];
	uint32_t i;

	*is_new = !t || t->gone;
	if (!*is_new)
		return t;
	if (t) {
		thread_renew(b, t);
		return t;
	}
	i = thread_add(b, host, tid, cpu);
	t = thread_at(b, i);
	if (tid == TID_IDLE) {
		map64_put(&b->idles, key_of(host, cpu), i);
		snprintf(name, sizeof(name), "swapper/%u", cpu);
		build_row(b, t->row)->who.comm = strpool_intern_z(name);
		return t;
	}
	map64_put(&b->tids, key_of(host, (uint32_t)tid), i);
	return t;
}

struct build_thread *build_thread_kernel(struct build *b, unsigned host, unsigned cpu)
{
	uint32_t i = map64_get(&b->kernels, key_of(host, cpu));
	struct build_thread *t = thread_at(b, i);
	char name[32];

	if (t)
		return t;
	i = thread_add(b, host, TID_KERNEL, cpu);
	map64_put(&b->kernels, key_of(host, cpu), i);
	t = thread_at(b, i);
	t->status = STATUS_RUN;
	snprintf(name, sizeof(name), "kernel/%u", cpu);
	build_row(b, t->row)->who.comm = strpool_intern_z(name);
	return t;
}

struct build_thread *build_thread_current(struct build *b, unsigned host, unsigned cpu)
{
	int32_t tid = build_cpu(b, host, cpu)->tid;

	return tid == TID_NOBODY ? NULL : build_thread_find(b, host, tid, cpu);
}

void build_thread_gone(struct build *b, struct build_thread *t)
{
	if (t->gone)
		return;
	t->gone = true;
	build_thread_unsure(b, t);
	b->living--;
	build_row(b, t->row)->pending.set = false;
	graph_row_free(b->graph, t->row);
}

/* ---- whose state is known ---- */

void build_thread_sure(struct build *b, struct build_thread *t)
{
	GPtrArray *sure = build_host(b, t->host)->sure;

	if (t->sure)
		return;
	g_ptr_array_add(sure, t);
	t->sure = sure->len;
}

void build_thread_unsure(struct build *b, struct build_thread *t)
{
	GPtrArray *sure = build_host(b, t->host)->sure;
	struct build_thread *last;

	if (!t->sure)
		return;
	last = g_ptr_array_steal_index_fast(sure, sure->len - 1);
	if (last != t) {
		g_ptr_array_index(sure, t->sure - 1) = last;
		last->sure = t->sure;
	}
	t->sure = 0;
}

/* ---- too many threads ---- */

/* The time of each thread's last vertex, by number; UINT64_MAX: it must stay. */
static uint64_t *last_times(const struct build *b)
{
	uint64_t *times = g_new(uint64_t, b->threads->len);

	for (guint i = 0; i < b->threads->len; i++) {
		const struct build_thread *t = thread_at(b, i);

		if (t->gone || t->tid <= 0)
			times[i] = UINT64_MAX;
		else if (!graph_last(b->graph, t->row, &times[i]))
			times[i] = 0;
	}
	/* those that run may have had no vertex for long */
	for (guint h = 0; h < b->hosts->len; h++) {
		const GArray *cpus = build_host(b, h)->cpus;

		for (guint c = 0; c < cpus->len; c++) {
			const int32_t tid = g_array_index(cpus, struct build_cpu, c).tid;
			const uint32_t i = tid > 0 ? map64_get(&b->tids, key_of(h, (uint32_t)tid)) : MAP64_NONE;

			if (i != MAP64_NONE)
				times[i] = UINT64_MAX;
		}
	}
	return times;
}

void build_rows_limit(struct build *b)
{
	uint64_t *times, *sorted, until_ns;
	uint32_t n = 0, left;

	if (!b->living_max || b->living <= b->living_max)
		return;
	times = last_times(b);
	sorted = g_new(uint64_t, b->living);
	for (guint i = 0; i < b->threads->len; i++)
		if (times[i] != UINT64_MAX)
			sorted[n++] = times[i];
	left = n / END_SHARE;
	qsort(sorted, n, sizeof(*sorted), nstime_compare);
	until_ns = left ? sorted[left - 1] : 0;
	for (guint i = 0; left && i < b->threads->len; i++) {
		if (times[i] > until_ns)
			continue;
		build_thread_gone(b, thread_at(b, i));
		left--;
	}
	g_free(sorted);
	g_free(times);
	/* a thread seen for the first time may be one of these: its state has not lasted since the start */
	for (guint h = 0; h < b->hosts->len; h++)
		build_host(b, h)->midway_ns = 0;
}

void build_thread_set(struct build_thread *t, enum status status)
{
	t->old = t->status;
	t->status = (uint8_t)status;
}

void build_thread_asleep(struct build *b, struct build_thread *t)
{
	const bool is_worker = g_str_has_prefix(strpool_text(build_row(b, t->row)->who.comm), "kworker/");

	build_thread_set(t, STATUS_BLOCKED);
	t->stop = is_worker ? b->idling : STRID_NONE;
}

static void keep_name(struct build_row *r, uint64_t until_ns)
{
	if (r->n_earlier == EARLIER_NAMES)
		memmove(&r->earlier[0], &r->earlier[1], --r->n_earlier * sizeof(r->earlier[0]));
	r->earlier[r->n_earlier++] = (struct earlier_name){ r->who.comm, until_ns };
}

void build_thread_name(struct build *b, const struct build_thread *t, strid comm, int32_t pid)
{
	struct build_row *r = build_row(b, t->row);

	if (t->tid <= 0)
		return;
	if (comm && comm != r->who.comm) {
		if (r->who.comm)
			keep_name(r, b->now_ns);
		r->who.comm = comm;
	}
	if (pid >= 0)
		r->who.pid = pid;
}

void build_keep_paths(const struct build *b)
{
	for (guint row = 0; row < b->rows->len; row++) {
		const struct build_row *r = build_row(b, row);

		strpool_keep(r->who.comm);
		for (unsigned i = 0; i < r->n_earlier; i++)
			strpool_keep(r->earlier[i].comm);
	}
}

uint32_t build_threads(const struct build *b)
{
	return b->threads->len - b->spare->len;
}

wait_row build_find(const struct build *b, unsigned host, int32_t tid, uint64_t t_ns)
{
	const struct build_thread *t = thread_at(b, map64_get(&b->tids, key_of(host, (uint32_t)tid)));
	wait_row row;

	if (!t || tid <= 0 || build_row(b, t->row)->life != t->life)
		return WAIT_NO_ROW;
	for (row = t->row; build_row(b, row)->first_ns > t_ns;) {
		const struct build_row *r = build_row(b, row);

		if (r->older == WAIT_NO_ROW || build_row(b, r->older)->life != r->older_life)
			break;
		row = r->older;
	}
	return row;
}
