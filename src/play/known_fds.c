/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "play/known_fds.h"

#include <glib.h>

struct known_fd {
	uint64_t files_id;
	int64_t fd;
	uint64_t opened_ns, closed_ns; /* 0: before the trace starts; not yet */
	struct model_fd file;
};

struct known_fds {
	GHashTable *tables; /* tid → files_id, for all threads */
	GArray *fds;        /* struct known_fd, from the tables of the wanted threads */
};

static uint64_t table_of(const struct known_fds *k, int32_t tid)
{
	const uint64_t *files_id = g_hash_table_lookup(k->tables, GINT_TO_POINTER(tid));

	return files_id ? *files_id : 0;
}

static void take_threads(struct known_fds *k, const struct interval_table *t)
{
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct thread_row *thread = INTERVAL_ROW(thread, &t->rows[i]);
		const uint64_t files_id = thread->files_id;

		/* an ended thread may come after the one that has its TID now */
		if (thread->state == THREAD_DEAD && table_of(k, (int32_t)thread->tid))
			continue;
		g_hash_table_insert(k->tables, GINT_TO_POINTER((int32_t)thread->tid),
				    g_memdup2(&files_id, sizeof(files_id)));
	}
}

static bool is_wanted(const struct known_fds *k, uint64_t files_id, const int32_t *tids, unsigned n_tids)
{
	for (unsigned i = 0; i < n_tids; i++)
		if (files_id && table_of(k, tids[i]) == files_id)
			return true;
	return false;
}

static void take_files(struct known_fds *k, const struct interval_table *t, const int32_t *tids, unsigned n_tids)
{
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct file_row *row = INTERVAL_ROW(file, &t->rows[i]);
		const struct known_fd known = {
			.files_id = row->files_id,
			.fd = (int64_t)row->fd,
			.opened_ns = row->opened_ns,
			.closed_ns = row->closed_ns,
			.file = { .path = (strid)row->path, .peer = (strid)row->peer, .kind = (enum fd_kind)row->kind },
		};

		if (is_wanted(k, known.files_id, tids, n_tids))
			g_array_append_val(k->fds, known);
	}
}

struct known_fds *known_fds_create(const struct history *h, unsigned track, uint64_t begin_ns, uint64_t end_ns,
				   const int32_t *tids, unsigned n_tids)
{
	struct known_fds *k = g_new0(struct known_fds, 1);
	struct history_load load;

	k->tables = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	k->fds = g_array_new(FALSE, FALSE, sizeof(struct known_fd));
	history_load_init(&load);
	if (history_load(h, track, begin_ns, end_ns, 1u << TABLE_THREAD | 1u << TABLE_FILE, &load) == LT_OK) {
		take_threads(k, &load.interval.tables[TABLE_THREAD]);
		take_files(k, &load.interval.tables[TABLE_FILE], tids, n_tids);
	}
	history_load_release(&load);
	return k;
}

void known_fds_destroy(struct known_fds *k)
{
	if (!k)
		return;
	g_hash_table_destroy(k->tables);
	g_array_free(k->fds, TRUE);
	g_free(k);
}

bool known_fds_look(const struct known_fds *k, int32_t tid, int64_t fd, uint64_t t_ns, struct model_fd *out)
{
	const uint64_t files_id = table_of(k, tid);

	for (guint i = 0; i < k->fds->len; i++) {
		const struct known_fd *known = &g_array_index(k->fds, struct known_fd, i);

		if (known->fd != fd || known->files_id != files_id || known->opened_ns > t_ns ||
		    (known->closed_ns && known->closed_ns < t_ns))
			continue;
		*out = known->file;
		return true;
	}
	return false;
}
