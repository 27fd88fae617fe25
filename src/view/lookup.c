/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "view/internal.h"

uint64_t view_pids_of(const struct thread_row *t)
{
	return t->flags & THREAD_VIRTUAL && t->pid_ns != HOST_PID_NS ? t->pid_ns : 0;
}

/* A pid in a PID namespace; 0: the host's. */
static uint64_t process_key(uint64_t pid_ns, uint64_t pid)
{
	return pid_ns << 32 ^ pid;
}

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
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct thread_row *row = INTERVAL_ROW(thread, &t->rows[i]);

		put_thread(&index->processes, process_key(view_pids_of(row), row->pid), t, i);
	}
}

static const struct interval_row *find_main(const struct view_index *index, const struct interval *iv, uint64_t pid_ns,
					    uint64_t pid)
{
	/* pid < 0: unknown */
	uint32_t i = (int64_t)pid < 0 ? MAP64_NONE : map64_get(&index->processes, process_key(pid_ns, pid));

	return i == MAP64_NONE ? NULL : &iv->tables[TABLE_THREAD].rows[i];
}

const struct interval_row *view_main_thread(const struct view_index *index, const struct interval *iv, uint64_t pid)
{
	return find_main(index, iv, 0, pid);
}

const struct interval_row *view_main_of(const struct view_index *index, const struct interval *iv,
					const struct thread_row *t)
{
	return find_main(index, iv, view_pids_of(t), t->pid);
}

strid view_last_comm(const struct interval *iv, uint64_t uid, uint64_t comm)
{
	const struct interval_row *thread = interval_find(iv, TABLE_THREAD, uid);
	const strid last = thread ? (strid)INTERVAL_ROW(thread, thread)->comm : STRID_NONE;

	return last ? last : (strid)comm;
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
