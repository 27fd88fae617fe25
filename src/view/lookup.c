/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "view/internal.h"

/* An fd table as used by a process. */
static uint64_t file_key(uint64_t files_id, uint64_t pid)
{
	return files_id << 32 | (pid & UINT32_MAX);
}

/* A main thread replaces other threads, a later thread an earlier one. */
static void put_thread(struct map64 *map, uint64_t key, const struct interval_table *t, uint32_t i)
{
	uint32_t old = map64_get(map, key);
	const struct thread_row *a, *b;

	if (old != MAP64_NONE) {
		a = INTERVAL_ROW(thread, &t->rows[old]);
		b = INTERVAL_ROW(thread, &t->rows[i]);
		if (a->tid == a->pid && (b->tid != b->pid || b->uid < a->uid))
			return;
	}
	map64_put(map, key, i);
}

void view_index_mains(struct view_index *index, const struct interval *iv)
{
	const struct interval_table *t = &iv->tables[TABLE_THREAD];

	map64_clear(&index->processes);
	for (uint32_t i = 0; i < t->n_rows; i++)
		put_thread(&index->processes, INTERVAL_ROW(thread, &t->rows[i])->pid, t, i);
}

const struct interval_row *view_main_thread(const struct view_index *index, const struct interval *iv, uint64_t pid)
{
	uint32_t i = (int64_t)pid < 0 ? MAP64_NONE : map64_get(&index->processes, pid); /* < 0: unknown */

	return i == MAP64_NONE ? NULL : &iv->tables[TABLE_THREAD].rows[i];
}

void view_index_files(struct view_index *index, const struct interval *iv, const struct view_filter *filter)
{
	const struct interval_table *t = &iv->tables[TABLE_THREAD];

	map64_clear(&index->fd_owners);
	map64_clear(&index->tid_files);
	view_index_mains(index, iv);
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct thread_row *row = INTERVAL_ROW(thread, &t->rows[i]);

		put_thread(&index->fd_owners, file_key(row->files_id, row->pid), t, i);
		if (filter && view_filter_asks(filter, VIEW_FACT_TID))
			map64_put(&index->tid_files, file_key(row->files_id, row->tid), 0);
	}
}

bool view_file_has_tid(const struct view_index *index, uint64_t files_id, uint64_t tid)
{
	return map64_get(&index->tid_files, file_key(files_id, tid)) != MAP64_NONE;
}

const struct interval_row *view_file_thread(const struct view_index *index, const struct interval *iv,
					    const struct interval_row *file)
{
	const struct file_row *row = INTERVAL_ROW(file, file);
	uint32_t i = map64_get(&index->fd_owners, file_key(row->files_id, row->pid));

	return i == MAP64_NONE ? view_main_thread(index, iv, row->pid) : &iv->tables[TABLE_THREAD].rows[i];
}

static uint64_t pivot_key(uint64_t owner, strid counter)
{
	return owner << 32 | counter;
}

void view_index_pivot(struct view_rows *r, unsigned host)
{
	struct view_rows_internal *in = r->internal;
	struct view_index *index = &in->indexes[host];
	const struct interval *iv = r->hosts[host].iv;
	const struct interval_table *t = &iv->tables[TABLE_PERF];

	map64_clear(&index->pivot);
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct perf_row *row = INTERVAL_ROW(perf, &t->rows[i]);
		uint64_t value = INTERVAL_VALUE(iv, PERF, perf, &t->rows[i], value);
		uint64_t key = pivot_key(view_owner(index, row->thread_uid), (strid)row->counter);
		uint32_t at = map64_get(&index->pivot, key);
		strid counter = (strid)row->counter;
		guint k;

		for (k = 0; k < in->counters->len; k++)
			if (g_array_index(in->counters, strid, k) == counter)
				break;
		if (k == in->counters->len)
			g_array_append_val(in->counters, counter);
		if (at == MAP64_NONE) {
			map64_put(&index->pivot, key, in->pivot_values->len);
			g_array_append_val(in->pivot_values, value);
		} else {
			g_array_index(in->pivot_values, uint64_t, at) += value;
		}
	}
}

uint64_t view_pivot_value(const struct view_rows *r, unsigned host, uint64_t owner, unsigned counter)
{
	strid name = g_array_index(r->internal->counters, strid, counter);
	uint32_t at = map64_get(&r->internal->indexes[host].pivot, pivot_key(owner, name));

	return at == MAP64_NONE ? 0 : g_array_index(r->internal->pivot_values, uint64_t, at);
}
