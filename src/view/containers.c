/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/containers.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "sidecar/cgroup.h"
#include "sidecar/sidecar.h"
#include "view/internal.h"

enum { NAME_MAX_BYTES = 128 };

static struct view_container *container_at(const struct view_index *index, guint i)
{
	return &g_array_index(index->containers, struct view_container, i);
}

static struct view_container *container_of_uid(const struct view_index *index, uint64_t uid)
{
	uint32_t i = uid ? map64_get(&index->container_places, uid) : MAP64_NONE;

	return i == MAP64_NONE ? NULL : container_at(index, i);
}

const struct view_container *view_container_of(const struct view_index *index, const struct thread_row *thread)
{
	return container_of_uid(index, thread->container);
}

/*
 * The kernel reuses an inode only once nothing is nested in its namespace: the parent's own row counts if the interval
 * has it. That row may have ended before, with the last thread known to be in it: then another has its inode.
 */
static void find_parents(struct view_index *index)
{
	struct map64 inodes = { 0 };

	for (guint i = 0; i < index->containers->len; i++)
		if (!container_at(index, i)->row->of_cgroup)
			map64_put(&inodes, container_at(index, i)->row->inode, i);
	for (guint i = 0; i < index->containers->len; i++) {
		struct view_container *c = container_at(index, i);
		uint32_t parent = MAP64_NONE;

		if (c->row->parent_uid)
			parent = map64_get(&index->container_places, c->row->parent_uid);
		if (parent == MAP64_NONE && c->row->parent)
			parent = map64_get(&inodes, c->row->parent);
		c->parent = parent == MAP64_NONE ? VIEW_HOST_ITSELF : parent;
		c->parent_known = parent != MAP64_NONE || c->row->of_cgroup || c->row->level == 1 ||
				  c->row->parent == HOST_PID_NS;
	}
	map64_release(&inodes);
}

/* ---- names ---- */

static bool name_of_process(const struct view_index *index, const struct view_host *host, const struct thread_row *t,
			    char *name)
{
	const struct interval_row *main_thread = view_main_of(index, host->iv, t);
	const struct sidecar_process *p =
		view_process_of(host, t, main_thread ? INTERVAL_ROW(thread, main_thread) : NULL);

	return p && p->cgroup && cgroup_container_name(p->cgroup, name, NAME_MAX_BYTES);
}

/* Whether the container's first process was created in the record. */
static bool is_new(const struct view_index *index, const struct view_host *host, const struct container_row *c)
{
	const struct interval_row *row = view_main_thread(index, host->iv, c->pid);
	const struct thread_row *first = row ? INTERVAL_ROW(thread, row) : NULL;

	return first && first->uid == c->first_uid && first->vtid == 1 && first->born_ns;
}

/*
 * By the inode of the namespace, for containers whose processes are unknown. The side-car may have it from one that
 * ended, and whose inode the kernel then gave to a new one.
 */
static void name_by_namespaces(struct view_index *index, const struct view_host *host)
{
	char name[NAME_MAX_BYTES];

	for (guint i = 0; i < index->containers->len; i++) {
		struct view_container *c = container_at(index, i);
		const char *path =
			c->name || is_new(index, host, c->row) ? NULL : sidecar_cgroup(host->sidecar, c->row->inode);

		if (path && cgroup_container_name(path, name, sizeof(name)))
			c->name = g_string_chunk_insert(index->container_names, name);
	}
}

/* Takes the name given by whoever started the container, preferably from its first process, otherwise from any. */
static void name_by_cgroups(struct view_index *index, const struct view_host *host)
{
	const struct interval_table *t = &host->iv->tables[TABLE_THREAD];
	char name[NAME_MAX_BYTES];

	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct thread_row *thread = INTERVAL_ROW(thread, &t->rows[i]);
		struct view_container *c = container_of_uid(index, thread->container);

		if (c && (!c->name || c->row->first_uid == thread->uid) && name_of_process(index, host, thread, name))
			c->name = g_string_chunk_insert(index->container_names, name);
	}
}

/* A container created inside another one by other means is in the same cgroup, whose name is not its own. */
static bool has_name_of_parent(const struct view_index *index, const struct view_container *c)
{
	const char *of_parent = c->parent == VIEW_HOST_ITSELF ? NULL : container_at(index, c->parent)->name;

	return of_parent && strcmp(c->name, of_parent) == 0;
}

static void name_by_number(struct view_index *index, struct view_container *c)
{
	char name[NAME_MAX_BYTES];

	g_snprintf(name, sizeof(name), "%s:%" PRIu64, c->row->comm ? strpool_text((strid)c->row->comm) : "?",
		   c->row->inode);
	c->name = g_string_chunk_insert(index->container_names, name);
}

void view_index_containers(struct view_index *index, const struct view_host *host)
{
	const struct interval_table *t = &host->iv->tables[TABLE_CONTAINER];
	bool *same;

	g_array_set_size(index->containers, 0);
	map64_clear(&index->container_places);
	g_string_chunk_clear(index->container_names);
	for (uint32_t i = 0; i < t->n_rows; i++) {
		struct view_container c = { .row = INTERVAL_ROW(container, &t->rows[i]) };

		map64_put(&index->container_places, c.row->uid, i);
		g_array_append_val(index->containers, c);
	}
	find_parents(index);
	if (host->sidecar && host->iv->tables_mask & USES(THREAD))
		name_by_cgroups(index, host);
	if (host->sidecar)
		name_by_namespaces(index, host);
	same = g_new0(bool, index->containers->len + 1);
	for (guint i = 0; i < index->containers->len; i++)
		same[i] = container_at(index, i)->name && has_name_of_parent(index, container_at(index, i));
	for (guint i = 0; i < index->containers->len; i++)
		if (same[i] || !container_at(index, i)->name)
			name_by_number(index, container_at(index, i));
	g_free(same);
}

void view_term_of_threads(const struct view_node *term, const struct view_host *host, const struct thread_row *thread,
			  view_term_held_fn *held, void *data)
{
	const struct interval_table *t = &host->iv->tables[TABLE_THREAD];
	struct view_index index;

	view_index_init(&index);
	view_index_mains(&index, host->iv);
	view_index_containers(&index, host);
	view_term_find_place(term, &index, host->iv);
	held(data, thread, view_term_has_place(term, &index, thread));
	for (uint32_t i = 0; i < t->n_rows; i++) {
		thread = INTERVAL_ROW(thread, &t->rows[i]);
		held(data, thread, view_term_has_place(term, &index, thread));
	}
	view_index_release(&index);
}

/* ---- levels ---- */

static void clear_level(void *level)
{
	g_free(((struct view_level *)level)->name);
}

/*
 * Finds the ids of the thread with that uid at the intermediate levels, indexed by level; 0: unknown. Returns the
 * innermost level.
 */
static unsigned find_vtids(const struct interval *iv, uint64_t uid, int64_t vtids[PID_LEVELS_MAX])
{
	const struct interval_table *t = &iv->tables[TABLE_VTID];
	unsigned innermost = 0;

	memset(vtids, 0, PID_LEVELS_MAX * sizeof(*vtids));
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct vtid_row *row = INTERVAL_ROW(vtid, &t->rows[i]);

		if (row->thread_uid != uid || row->level >= PID_LEVELS_MAX)
			continue;
		vtids[row->level] = (int64_t)row->vtid;
		innermost = MAX(innermost, (unsigned)row->level);
	}
	return innermost;
}

static void add_level(GArray *levels, const char *name, int64_t tid, int64_t pid)
{
	const struct view_level level = { g_strdup(name), tid > 0 ? tid : -1, pid > 0 ? pid : -1 };

	g_array_append_val(levels, level);
}

/* The names of the containers at each level up to c's, where known. */
static void find_names(const struct view_index *index, const struct view_container *c, unsigned level,
		       const char *names[PID_LEVELS_MAX])
{
	memset(names, 0, PID_LEVELS_MAX * sizeof(*names));
	for (; level; level--) {
		names[level] = c->name;
		if (c->parent == VIEW_HOST_ITSELF)
			break;
		c = container_at(index, c->parent);
	}
}

GArray *view_thread_levels(const struct view_host *host, const struct thread_row *t)
{
	GArray *levels = g_array_new(FALSE, FALSE, sizeof(struct view_level));
	int64_t vtids[PID_LEVELS_MAX], vpids[PID_LEVELS_MAX];
	const char *names[PID_LEVELS_MAX];
	const struct interval_row *main_thread;
	const struct view_container *c;
	struct view_index index;
	unsigned own;

	g_array_set_clear_func(levels, clear_level);
	view_index_init(&index);
	view_index_mains(&index, host->iv);
	view_index_containers(&index, host);
	c = view_container_of(&index, t);
	main_thread = view_main_of(&index, host->iv, t);
	add_level(levels, VIEW_HOST_NAME, (int64_t)t->tid, (int64_t)t->pid);
	if (c && c->row->of_cgroup) {
		add_level(levels, c->name, -1, -1);
	} else if (c) {
		own = MIN(find_vtids(host->iv, t->uid, vtids) + 1, PID_LEVELS_MAX - 1);
		find_vtids(host->iv, main_thread ? main_thread->b[0] : 0, vpids);
		find_names(&index, c, own, names);
		for (unsigned i = 1; i < own; i++)
			add_level(levels, names[i], vtids[i], vpids[i]);
		add_level(levels, c->name, (int64_t)t->vtid, (int64_t)t->vpid);
	}
	view_index_release(&index);
	return levels;
}
