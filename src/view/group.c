/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "view/internal.h"

enum { BLOCK_CELLS = 16384 };

uint64_t *view_cells_alloc(struct view_rows_internal *in, unsigned n)
{
	uint64_t *cells;

	if (in->block < in->blocks->len && in->block_used + n > BLOCK_CELLS) {
		in->block++;
		in->block_used = 0;
	}
	if (in->block == in->blocks->len)
		g_ptr_array_add(in->blocks, g_new(uint64_t, BLOCK_CELLS));
	cells = (uint64_t *)g_ptr_array_index(in->blocks, in->block) + in->block_used;
	in->block_used += n;
	return cells;
}

/* ---- the process of each thread ---- */

uint64_t view_owner(const struct view_index *index, uint64_t thread_uid)
{
	uint32_t i = map64_get(&index->owners, thread_uid);

	return i == MAP64_NONE ? thread_uid : g_array_index(index->owner_uids, uint64_t, i);
}

/* Groups threads by PID namespace and pid, older ones first; of the same age, a main thread first. */
static int compare_threads(const void *pa, const void *pb)
{
	const struct thread_row *a = *(const struct thread_row *const *)pa;
	const struct thread_row *b = *(const struct thread_row *const *)pb;
	const uint64_t a_ns = view_pids_of(a), b_ns = view_pids_of(b);
	bool a_main = a->tid == a->pid, b_main = b->tid == b->pid;

	if (a_ns != b_ns)
		return a_ns < b_ns ? -1 : 1;
	if (a->pid != b->pid)
		return (int64_t)a->pid < (int64_t)b->pid ? -1 : 1;
	if (a->born_ns != b->born_ns)
		return a->born_ns < b->born_ns ? -1 : 1;
	if (a_main != b_main)
		return a_main ? -1 : 1;
	return a->uid < b->uid ? -1 : a->uid > b->uid;
}

/*
 * A pid may be used by several processes in succession: each main thread starts one, and other threads belong to the
 * last one started before them.
 */
void view_index_processes(struct view_index *index, const struct interval *iv)
{
	const struct interval_table *t = &iv->tables[TABLE_THREAD];
	const struct thread_row **threads = g_new(const struct thread_row *, t->n_rows);
	uint64_t owner = 0;

	map64_clear(&index->owners);
	g_array_set_size(index->owner_uids, 0);
	for (uint32_t i = 0; i < t->n_rows; i++)
		threads[i] = INTERVAL_ROW(thread, &t->rows[i]);
	if (t->n_rows)
		qsort(threads, t->n_rows, sizeof(*threads), compare_threads);
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct thread_row *row = threads[i];
		bool first =
			i == 0 || threads[i - 1]->pid != row->pid || view_pids_of(threads[i - 1]) != view_pids_of(row);

		if (first || (int64_t)row->pid < 0 || row->tid == row->pid) {
			owner = row->uid;
			continue;
		}
		map64_put(&index->owners, row->uid, index->owner_uids->len);
		g_array_append_val(index->owner_uids, owner);
	}
	g_free(threads);
}

/* ---- merging ---- */

/* A row's figures in the interval, as cells that need no start value; accruals are settled. */
static void figures(const struct interval *iv, enum table_id table, const struct interval_row *row, uint64_t *cells)
{
	const struct table_desc *desc = &table_descs[table];

	for (unsigned i = 0; i < desc->n_cells; i++) {
		unsigned __int128 sq;

		switch (desc->cells[i].kind) {
		case CELL_SQ_LO:
			sq = interval_square(iv, table, row, i);
			cells[i] = (uint64_t)sq;
			cells[i + 1] = (uint64_t)(sq >> 64);
			break;
		case CELL_SQ_HI:
			break;
		default:
			cells[i] = interval_value(iv, table, row, i);
		}
	}
	for (unsigned i = 0; i < desc->n_cells; i++)
		if (desc->cells[i].kind == CELL_ACCRUAL)
			cells[desc->cells[i].since] = UINT64_MAX;
	if (table == TABLE_DISK)
		cells[CELL(disk, queue_max)] = view_queue_max(row);
}

static bool is_less(enum cell_type type, uint64_t a, uint64_t b)
{
	return type == TYPE_SPAN ? (int64_t)a < (int64_t)b : a < b;
}

/* Adds the counters, accruals and distributions of b to a; both come from figures(), or are derived. */
static void add_figures(const struct table_desc *desc, uint64_t *a, const uint64_t *b)
{
	for (unsigned i = 0; i < desc->n_cells; i++) {
		unsigned __int128 sq;

		switch (desc->cells[i].kind) {
		case CELL_COUNTER:
		case CELL_ACCRUAL:
			a[i] += b[i];
			break;
		case CELL_SQ_LO:
			sq = ((unsigned __int128)a[i + 1] << 64 | a[i]) + ((unsigned __int128)b[i + 1] << 64 | b[i]);
			a[i] = (uint64_t)sq;
			a[i + 1] = (uint64_t)(sq >> 64);
			break;
		case CELL_MIN:
			if (is_less(desc->cells[i].type, b[i], a[i]))
				a[i] = b[i];
			break;
		case CELL_MAX:
			if (is_less(desc->cells[i].type, b[i], a[i]))
				break;
			a[i] = b[i];
			if (i + 1 < desc->n_cells && desc->cells[i + 1].kind == CELL_MAX_AT)
				a[i + 1] = b[i + 1];
			break;
		default:
			break;
		}
	}
}

/* How much a thread's state says about its process. */
static unsigned state_rank(uint64_t state)
{
	return state == THREAD_RUNNING ? 2 : state == THREAD_READY ? 1 : 0;
}

/* Updates a process from one of its threads, for what the main thread alone does not determine. */
static void add_thread(struct thread_row *process, const struct thread_row *thread)
{
	if (state_rank(thread->state) > state_rank(process->state)) {
		process->state = thread->state;
		process->cpu = thread->cpu;
	}
	if (thread->exited_ns == 0)
		process->exited_ns = 0;
	else if (process->exited_ns)
		process->exited_ns = MAX(process->exited_ns, thread->exited_ns);
}

void view_derived_cells(struct view_rows *r, struct view_row *row)
{
	enum table_id table = r->table->source;
	unsigned n = r->table->cells ? r->table->n_cells : table_descs[table].n_cells;
	uint64_t *cells = view_cells_alloc(r->internal, n);

	if (r->table->cells) {
		row->row.b = memcpy(cells, row->row.b, n * sizeof(*cells));
		return;
	}
	figures(r->hosts[row->key.host].iv, table, &row->row, cells);
	row->row = (struct interval_row){ NULL, cells };
	if (row->counters) {
		uint64_t *counters = view_cells_alloc(r->internal, r->internal->counters->len);

		memcpy(counters, row->counters, r->internal->counters->len * sizeof(*counters));
		row->counters = counters;
	}
}

void view_add_figures(struct view_rows *r, struct view_row *into, const struct view_row *from)
{
	enum table_id table = r->table->source;
	uint64_t cells[CELLS_MAX];

	view_spread_add(r, into, from);
	if (r->table->cells) {
		const struct table_desc desc = { r->table->name, r->table->cells, r->table->n_cells };

		add_figures(&desc, (uint64_t *)into->row.b, from->row.b);
		return;
	}
	view_errors_add(r, into, from);
	figures(r->hosts[from->key.host].iv, table, &from->row, cells);
	add_figures(&table_descs[table], (uint64_t *)into->row.b, cells);
	for (guint i = 0; into->counters && i < r->internal->counters->len; i++)
		into->counters[i] += from->counters[i];
	into->members += from->members;
}

/* A row that was not used for long ends, and the same wait gets a new one: the last wait is that of the newest row. */
static void add_wait(struct blocking_row *into, const struct blocking_row *from)
{
	if (from->uid < into->uid)
		return;
	into->uid = from->uid;
	into->cause = from->cause;
}

static void merge_rows(struct view_rows *r, struct view_row *into, const struct view_row *from)
{
	if (into->members == 1)
		view_derived_cells(r, into);
	view_add_figures(r, into, from);
	if (r->table->source == TABLE_THREAD)
		add_thread((struct thread_row *)(void *)into->row.b, INTERVAL_ROW(thread, &from->row));
	else
		into->key.uid = MIN(into->key.uid, from->key.uid);
	if (r->table->source == TABLE_BLOCKING)
		add_wait((struct blocking_row *)(void *)into->row.b, INTERVAL_ROW(blocking, &from->row));
}

/* Puts main threads first: their names and states become those of their processes. */
static void mains_first(struct view_rows *r, guint first)
{
	GArray *rows = r->internal->rows;

	for (guint i = first; i < rows->len; i++) {
		struct view_row *row = &g_array_index(rows, struct view_row, i), *to, swap;

		if (view_owner(&r->internal->indexes[row->key.host], row->key.uid) != row->key.uid)
			continue;
		to = &g_array_index(rows, struct view_row, first++);
		swap = *to;
		*to = *row;
		*row = swap;
	}
}

static uint64_t group_key(const struct view_rows *r, const struct view_row *row, bool processes)
{
	const uint16_t *group = r->table->group;
	const uint64_t *b = row->row.b;
	const struct interval_row *thread;
	uint64_t owner;

	if (r->table->same) {
		owner = r->table->thread ? b[r->table->thread] : 0;
		if (processes)
			owner = view_owner(&r->internal->indexes[row->key.host], owner);
		return map64_mix(r->table->same(r, row), owner);
	}
	if (!processes)
		return b[group[0]] << 32 | (b[group[1]] & UINT32_MAX);
	thread = view_row_thread(r, row);
	owner = thread ? view_owner(&r->internal->indexes[row->key.host], thread->b[0]) : 0;
	return owner << 32 | (group[0] ? b[group[0]] & UINT32_MAX : 0);
}

void view_group_rows(struct view_rows *r, const struct view_query *q, unsigned first)
{
	GArray *rows = r->internal->rows;
	struct map64 groups = { 0 };
	bool processes = q->processes && view_table_sums_threads(r->table);
	guint n = first;

	if (!processes && !r->table->same && (q->per_cpu || !(r->table->flags & VIEW_PER_CPU)))
		return;
	if (r->table->source == TABLE_THREAD)
		mains_first(r, first);
	for (guint i = first; i < rows->len; i++) {
		struct view_row *row = &g_array_index(rows, struct view_row, i);
		uint64_t key = group_key(r, row, processes);
		uint32_t at = map64_get(&groups, key);

		if (at != MAP64_NONE) {
			merge_rows(r, &g_array_index(rows, struct view_row, at), row);
			continue;
		}
		map64_put(&groups, key, n);
		g_array_index(rows, struct view_row, n++) = *row;
	}
	g_array_set_size(rows, n);
	map64_release(&groups);
}
