/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/memory.h"

#include <stdlib.h>

#include "base/nstime.h"
#include "model/connections.h"
#include "model/dirty.h"
#include "model/fdtable.h"
#include "model/interval.h"
#include "model/parts_internal.h"

enum {
	ROW_OVERHEAD = 256,    /* per row shown, roughly: its entries in lists and hashes */
	LOOKS_UNTIL_FULL = 64, /* number of looks at the memory used while the room fills */
	FORGET_SHARE = 8,      /* one in this many threads is forgotten at a time */
	LEAST_STEP = 64 * 1024,
};

void model_set_memory(struct model *m, struct model_memory *memory)
{
	if (m->memory) {
		m->memory->used -= m->used;
		m->memory->ending -= m->ending;
	}
	m->memory = memory;
	m->used = m->ending = 0;
	m->room_from = m->room = 0;
}

const char *model_shortage(const struct model *m)
{
	if (m->unlogged)
		return "instances did not fit into --model-memory and are left out: pass --min with a longer time";
	return m->folded ? "rows did not fit into --model-memory: the longest inactive are summed up as 'other'" : NULL;
}

/* ---- how much is used ---- */

static size_t row_bytes(const struct model *m, enum table_id table)
{
	size_t bytes = (size_t)table_descs[table].n_cells * sizeof(uint64_t) * MAX(m->memory->copies, 1) + ROW_OVERHEAD;

	return table == TABLE_THREAD ? bytes + sizeof(struct thread) : bytes;
}

/* Updates this model's part of the memory that all use. */
static void look(struct model *m)
{
	size_t used = m->fds_bytes + m->retired_bytes, ending = 0;

	for (int i = 0; i < TABLES; i++) {
		const struct state_table *t = &m->state.tables[i];

		used += t->n_alive * row_bytes(m, i);
		ending += t->n_ended * row_bytes(m, i);
	}
	m->memory->used += used - m->used;
	m->memory->ending += ending - m->ending;
	m->used = used;
	m->ending = ending;
}

static bool is_full(const struct model *m)
{
	return m->memory->limit && m->memory->used > m->memory->limit;
}

/* Whether it is full even without the rows that have ended, which will soon be gone. */
static bool stays_full(const struct model *m)
{
	return is_full(m) && m->memory->used - m->memory->ending > m->memory->limit;
}

/* ---- the rows "other" ---- */

static uint32_t other_file(struct model *m)
{
	struct file_row *r;

	if (m->other_file != NO_ROW)
		return m->other_file;
	m->other_file = state_add(&m->state, TABLE_FILE);
	r = FILE_ROW(m, m->other_file);
	r->pid = r->fd = (uint64_t)-1;
	r->path = strpool_intern_z("other");
	return m->other_file;
}

static uint32_t other_connection(struct model *m)
{
	struct connection_row *r;

	if (m->other_connection != NO_ROW)
		return m->other_connection;
	m->other_connection = state_add(&m->state, TABLE_CONNECTION);
	r = STATE_ROW(&m->state, CONNECTION, connection, m->other_connection);
	r->thread_uid = THREAD_ROW(m, thread_other(m))->uid;
	r->pid = (uint64_t)-1;
	r->comm = r->local = r->peer = strpool_intern_z("other");
	return m->other_connection;
}

static uint32_t other_netif(struct model *m)
{
	if (m->other_netif != NO_ROW)
		return m->other_netif;
	m->other_netif = state_add(&m->state, TABLE_NETIF);
	STATE_ROW(&m->state, NETIF, netif, m->other_netif)->name = strpool_intern_z("other");
	return m->other_netif;
}

/* Waits that ended alike; threads, calls and files are not distinguished. */
static uint32_t other_wait(struct model *m, uint64_t state)
{
	struct blocking_row *r;

	if (m->other_waits[state] != NO_ROW)
		return m->other_waits[state];
	m->other_waits[state] = state_add(&m->state, TABLE_BLOCKING);
	r = STATE_ROW(&m->state, BLOCKING, blocking, m->other_waits[state]);
	r->thread_uid = THREAD_ROW(m, thread_other(m))->uid;
	r->state = state;
	r->fd = (uint64_t)-1;
	return m->other_waits[state];
}

/* Processes and objects are not distinguished. */
static uint32_t other_relation(struct model *m, uint64_t kind)
{
	struct relation_row *r;

	if (m->other_relations[kind] != NO_ROW)
		return m->other_relations[kind];
	m->other_relations[kind] = state_add(&m->state, TABLE_RELATION);
	r = STATE_ROW(&m->state, RELATION, relation, m->other_relations[kind]);
	r->kind = kind;
	r->from_uid = r->to_uid = THREAD_ROW(m, thread_other(m))->uid;
	r->from_pid = r->to_pid = (uint64_t)-1;
	r->from_comm = r->to_comm = THREAD_ROW(m, thread_other(m))->comm;
	return m->other_relations[kind];
}

/* Neither the threads that waited nor those that ran are distinguished. */
static uint32_t other_preemption(struct model *m)
{
	struct preemption_row *r;

	if (m->other_preemption != NO_ROW)
		return m->other_preemption;
	m->other_preemption = state_add(&m->state, TABLE_PREEMPTION);
	r = STATE_ROW(&m->state, PREEMPTION, preemption, m->other_preemption);
	r->thread_uid = THREAD_ROW(m, thread_other(m))->uid;
	r->by_uid = BY_OTHER;
	r->by_tid = r->by_pid = (uint64_t)-1;
	r->by_comm = THREAD_ROW(m, thread_other(m))->comm;
	return m->other_preemption;
}

/* The buckets of the row "other" that corresponds to the owner of a row of buckets. */
static uint32_t other_buckets(struct model *m, const uint64_t *cells)
{
	const uint64_t dist = cells[CELL(bucket, dist)];
	const enum table_id table = bucket_dist_table(dist);
	uint32_t row = thread_other(m);

	if (table == TABLE_SYSCALL)
		row = syscalls_row(m, row, (strid)cells[CELL(bucket, call)]);
	return buckets_row(m, table, row, bucket_dist_cell(dist), (unsigned)cells[CELL(bucket, part)]);
}

static uint32_t other_row(struct model *m, enum table_id table, const uint64_t *cells)
{
	switch (table) {
	case TABLE_THREAD:
		return thread_other(m);
	case TABLE_FILE:
		return other_file(m);
	case TABLE_SYSCALL:
		return syscalls_row(m, thread_other(m), (strid)cells[CELL(syscall, name)]);
	case TABLE_SYSERR:
		return syscalls_error_row(m, thread_other(m), (strid)cells[CELL(syserr, name)],
					  (int64_t)cells[CELL(syserr, error)]);
	case TABLE_BLOCKING:
		return other_wait(m, cells[CELL(blocking, state)]);
	case TABLE_RELATION:
		return other_relation(m, cells[CELL(relation, kind)]);
	case TABLE_PREEMPTION:
		return other_preemption(m);
	case TABLE_CONNECTION:
		return other_connection(m);
	case TABLE_NETIF:
		return other_netif(m);
	case TABLE_BUCKET:
		return other_buckets(m, cells);
	case TABLE_PAGES:
		return pages_row(m, cells[CELL(pages, thread_uid)] ? thread_other(m) : NO_ROW);
	default:
		return perf_row(m, thread_other(m), (strid)cells[CELL(perf, counter)]);
	}
}

/* Adds what a row has counted since a, at a_ns (NULL: since it was created), to the row "other" of its table. */
static void fold(struct model *m, enum table_id table, const uint64_t *a, uint64_t a_ns, const uint64_t *b)
{
	uint32_t row = other_row(m, table, b);

	cells_add(&table_descs[table], state_cells(&m->state.tables[table], row), a, a_ns, b);
	state_touch(&m->state, table, row);
	m->folded++;
}

/* The tables with a row "other": their rows come from threads, or from what threads do; or they end when unused. */
static const enum table_id folded_tables[] = { TABLE_THREAD,     TABLE_FILE,       TABLE_SYSCALL,  TABLE_SYSERR,
					       TABLE_PERF,       TABLE_PAGES,      TABLE_BLOCKING, TABLE_RELATION,
					       TABLE_PREEMPTION, TABLE_CONNECTION, TABLE_NETIF,    TABLE_BUCKET };

/* Whether rows of the table end on their own; those of the others go with their thread. */
static bool ends_alone(enum table_id table)
{
	return table == TABLE_THREAD || table == TABLE_FILE || table == TABLE_BLOCKING || table == TABLE_RELATION ||
	       table == TABLE_PREEMPTION || table == TABLE_CONNECTION || table == TABLE_NETIF;
}

static void fold_new(void *data, enum table_id table, const uint64_t *cells)
{
	fold(data, table, NULL, 0, cells);
}

/* The tables whose rows only describe threads that are gone by then. */
static const enum table_id dropped_tables[] = { TABLE_CONTAINER, TABLE_PRESSURE, TABLE_VTID };

static void drop_new(void *data, enum table_id table, const uint64_t *cells)
{
	(void)data;
	(void)table;
	(void)cells;
}

static void drop_instance(void *data, enum table_id table, const uint64_t *cells)
{
	struct model *m = data;

	(void)table;
	(void)cells;
	m->unlogged++;
}

static void fold_brief_rows(struct model *m)
{
	for (size_t i = 0; i < G_N_ELEMENTS(folded_tables); i++)
		state_reap_new(&m->state, folded_tables[i], fold_new, m);
	for (size_t i = 0; i < G_N_ELEMENTS(dropped_tables); i++)
		state_reap_new(&m->state, dropped_tables[i], drop_new, NULL);
	state_reap_new(&m->state, TABLE_INSTANCE, drop_instance, m);
}

/* ---- threads ---- */

static bool may_be_forgotten(const struct model *m, uint32_t row)
{
	const struct thread *t = g_ptr_array_index(m->threads, row);

	return t && t->in_use && row != m->other_thread && THREAD_ROW(m, row)->state != THREAD_RUNNING;
}

static uint64_t last_active(const struct model *m, uint32_t row)
{
	const struct thread *t = g_ptr_array_index(m->threads, row);

	return MAX(THREAD_ROW(m, row)->since_ns, t->call.entry_ns);
}

static void forget_threads(struct model *m)
{
	uint64_t *times = g_new(uint64_t, m->threads->len), until_ns;
	uint32_t n = 0, left;

	for (uint32_t row = 0; row < m->threads->len; row++)
		if (may_be_forgotten(m, row))
			times[n++] = last_active(m, row);
	left = n / FORGET_SHARE;
	qsort(times, n, sizeof(*times), nstime_compare);
	until_ns = left ? times[left - 1] : 0;
	for (uint32_t row = 0; left && row < m->threads->len; row++) {
		if (!may_be_forgotten(m, row) || last_active(m, row) > until_ns)
			continue;
		thread_forget(m, row);
		m->folded++;
		left--;
	}
	g_free(times);
}

/* ---- between events ---- */

void memory_make_room(struct model *m)
{
	size_t step, bytes;

	if (!m->memory || !m->memory->limit) {
		m->room_from = 0;
		m->room = SIZE_MAX;
		return;
	}
	look(m);
	if (is_full(m)) {
		fold_brief_rows(m);
		look(m);
	}
	if (stays_full(m)) {
		m->folded += dirty_forget_kept(m);
		forget_threads(m);
		m->folded += connections_forget(m);
		fold_brief_rows(m);
		look(m);
	}
	step = m->memory->limit / LOOKS_UNTIL_FULL / MAX(m->memory->copies, 1);
	step = MAX(step, LEAST_STEP);
	bytes = m->state.bytes + m->fds_bytes;
	m->room_from = bytes > step ? bytes - step : 0;
	m->room = bytes + step - m->room_from;
}

bool memory_has_room(struct model *m, enum table_id table, uint32_t n)
{
	if (!m->memory || !m->memory->limit)
		return true;
	look(m);
	if (m->memory->used + n * row_bytes(m, table) <= m->memory->limit)
		return true;
	other_row(m, table, NULL);
	m->folded += n;
	return false;
}

/* ---- the ended rows of an interval ---- */

struct folding {
	struct model *m;
	enum table_id table;
	uint64_t begin_ns;       /* of the interval */
	uint32_t half;           /* number of rows that go, the first ones */
	struct map64 threads;    /* uids of the threads that went */
	struct map64 calls;      /* the same for their rows of TABLE_SYSCALL */
	struct map64 containers; /* uids of those that some remaining threads were in */
};

static bool fold_first(void *data, uint32_t i, const uint64_t *a, const uint64_t *b)
{
	struct folding *f = data;

	if (i >= f->half)
		return false;
	fold(f->m, f->table, a, f->begin_ns, b);
	if (f->table == TABLE_THREAD)
		map64_put(&f->threads, b[0], 0);
	return true;
}

/* Rows that belong to a thread go with it. */
static bool fold_of_thread(void *data, uint32_t i, const uint64_t *a, const uint64_t *b)
{
	struct folding *f = data;

	(void)i;
	if (map64_get(&f->threads, b[1]) == MAP64_NONE)
		return false;
	fold(f->m, f->table, a, f->begin_ns, b);
	if (f->table == TABLE_SYSCALL)
		map64_put(&f->calls, b[0], 0);
	return true;
}

/* Buckets go with their owner. */
static bool fold_buckets(void *data, uint32_t i, const uint64_t *a, const uint64_t *b)
{
	const struct folding *f = data;
	const bool of_call = bucket_dist_table(b[CELL(bucket, dist)]) == TABLE_SYSCALL;

	(void)i;
	if (map64_get(of_call ? &f->calls : &f->threads, b[CELL(bucket, owner_uid)]) == MAP64_NONE)
		return false;
	fold(f->m, TABLE_BUCKET, a, f->begin_ns, b);
	return true;
}

static bool drop_of_thread(void *data, uint32_t i, const uint64_t *a, const uint64_t *b)
{
	const struct folding *f = data;

	(void)i;
	(void)a;
	return map64_get(&f->threads, b[1]) != MAP64_NONE;
}

static bool note_container(void *data, uint32_t i, const uint64_t *a, const uint64_t *b)
{
	struct folding *f = data;

	(void)i;
	(void)a;
	map64_put(&f->containers, b[CELL(thread, container)], 0);
	return false;
}

/* The instances logged last are left out. */
static bool drop_last(void *data, uint32_t i, const uint64_t *a, const uint64_t *b)
{
	const struct folding *f = data;

	(void)a;
	(void)b;
	if (i < f->half)
		return false;
	f->m->unlogged++;
	return true;
}

static bool drop_empty(void *data, uint32_t i, const uint64_t *a, const uint64_t *b)
{
	const struct folding *f = data;

	(void)i;
	(void)a;
	return map64_get(&f->containers, b[0]) == MAP64_NONE;
}

static bool drop_of_empty(void *data, uint32_t i, const uint64_t *a, const uint64_t *b)
{
	const struct folding *f = data;

	(void)i;
	(void)a;
	return map64_get(&f->containers, b[CELL(pressure, container)]) == MAP64_NONE;
}

_Static_assert(CELL(syscall, thread_uid) == 1 && CELL(syserr, thread_uid) == 1 && CELL(perf, thread_uid) == 1 &&
		       CELL(pages, thread_uid) == 1 && CELL(vtid, thread_uid) == 1,
	       "the thread's uid follows the row's");

static interval_take_fn *take_of(enum table_id table)
{
	if (table == TABLE_BUCKET)
		return fold_buckets;
	return ends_alone(table) ? fold_first : fold_of_thread;
}

static void fold_oldest(struct model *m, struct interval *iv)
{
	struct folding f = { .m = m, .begin_ns = iv->begin_ns };

	for (size_t i = 0; i < G_N_ELEMENTS(folded_tables); i++) {
		f.table = folded_tables[i];
		f.half = (interval_ended(iv, f.table) + 1) / 2;
		interval_take_ended(iv, f.table, take_of(f.table), &f);
	}
	interval_take_ended(iv, TABLE_VTID, drop_of_thread, &f);
	f.half = interval_ended(iv, TABLE_INSTANCE) / 2;
	interval_take_ended(iv, TABLE_INSTANCE, drop_last, &f);
	interval_take_ended(iv, TABLE_THREAD, note_container, &f);
	interval_take_ended(iv, TABLE_CONTAINER, drop_empty, &f);
	interval_take_ended(iv, TABLE_PRESSURE, drop_of_empty, &f);
	map64_release(&f.threads);
	map64_release(&f.calls);
	map64_release(&f.containers);
}

static bool any_ended(const struct interval *iv)
{
	bool any = interval_ended(iv, TABLE_INSTANCE) > 0;

	for (size_t i = 0; i < G_N_ELEMENTS(folded_tables); i++)
		any = any || (ends_alone(folded_tables[i]) && interval_ended(iv, folded_tables[i]));
	return any;
}

void model_bound_interval(struct model *m, struct interval *iv)
{
	if (!m->memory || !m->memory->limit)
		return;
	m->retired_bytes = interval_ended_bytes(iv, ROW_OVERHEAD);
	look(m);
	while (is_full(m) && any_ended(iv)) {
		fold_oldest(m, iv);
		m->retired_bytes = interval_ended_bytes(iv, ROW_OVERHEAD);
		look(m);
	}
}
