/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which threads of a host a filter wants by where they are: in which container, below which process. */
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "view/internal.h"

/* ---- containers ---- */

static const struct view_container *container_at(const struct view_index *index, guint i)
{
	return &g_array_index(index->containers, struct view_container, i);
}

/* exact: the host has a container of just that name, so that no other one is meant. */
static bool names(const struct view_container_term *term, bool exact, const struct view_container *c)
{
	if (term->number)
		return c->row->inode == term->number;
	return exact ? strcmp(c->name, term->name) == 0 : text_glob(term->glob, c->name);
}

static bool is_name(const struct view_container_term *term, const struct view_index *index)
{
	for (guint i = 0; term->name && i < index->containers->len; i++)
		if (strcmp(container_at(index, i)->name, term->name) == 0)
			return true;
	return false;
}

/* Traces may nest containers in a circle. */
static bool wants_container(const struct view_container_term *term, bool exact, const struct view_index *index,
			    const struct view_container *c)
{
	if (term->host_itself)
		return term->nested;
	for (unsigned i = 0; i < PID_LEVELS_MAX; i++) {
		if (names(term, exact, c))
			return true;
		if (!term->nested || c->parent == VIEW_HOST_ITSELF)
			return false;
		c = container_at(index, c->parent);
	}
	return false;
}

static void find_containers(struct view_index *index, const struct view_filter *f)
{
	index->wants_host_itself = false;
	g_array_set_size(index->wanted_containers, index->containers->len);
	for (guint i = 0; i < index->containers->len; i++)
		g_array_index(index->wanted_containers, bool, i) = false;
	for (guint k = 0; k < f->containers->len; k++) {
		const struct view_container_term *term =
			&g_array_index(f->containers, struct view_container_term, k);
		const bool exact = is_name(term, index);

		index->wants_host_itself |= term->host_itself || term->number == HOST_PID_NS;
		for (guint i = 0; i < index->containers->len; i++)
			g_array_index(index->wanted_containers, bool, i) |=
				wants_container(term, exact, index, container_at(index, i));
	}
}

bool view_filter_container(const struct view_filter *f, const struct view_index *index, uint32_t place)
{
	if (!f->containers->len)
		return true;
	return place == VIEW_HOST_ITSELF ? index->wants_host_itself :
					   g_array_index(index->wanted_containers, bool, place);
}

/* By the number of a namespace also who is in one that does not make it a container. */
static bool is_in_namespace(const struct view_filter *f, const struct thread_row *t)
{
	for (guint i = 0; i < f->containers->len; i++) {
		const uint64_t number = g_array_index(f->containers, struct view_container_term, i).number;

		if (number && (t->pid_ns == number || t->cgroup_ns == number))
			return true;
	}
	return false;
}

/* ---- trees ---- */

enum { OUTSIDE, IN_TREE };

static bool is_root(const struct view_filter *f, uint64_t pid)
{
	for (guint i = 0; i < f->trees->len; i++)
		if (g_array_index(f->trees, uint64_t, i) == pid)
			return true;
	return false;
}

/* -1: not known. A process that is younger has its parent's pid again. */
static uint64_t parent_of(const struct view_index *index, const struct interval *iv, uint64_t pid)
{
	const struct interval_row *row = view_main_thread(index, iv, pid);
	const struct thread_row *t = row ? INTERVAL_ROW(thread, row) : NULL;
	const struct interval_row *parent = t ? view_main_thread(index, iv, t->ppid) : NULL;

	if (!t || (parent && INTERVAL_ROW(thread, parent)->born_ns > t->born_ns))
		return (uint64_t)-1;
	return t->ppid;
}

/* Up to a process of which it is known; parents come from a trace and may go in a circle. */
static void find_ancestors(struct view_index *index, const struct interval *iv, const struct view_filter *f,
			   uint64_t pid, GArray *path)
{
	uint32_t found = MAP64_NONE;

	g_array_set_size(path, 0);
	while (found == MAP64_NONE) {
		found = map64_get(&index->trees, pid);
		if (found != MAP64_NONE)
			break;
		map64_put(&index->trees, pid, OUTSIDE);
		g_array_append_val(path, pid);
		if (is_root(f, pid))
			found = IN_TREE;
		else if ((int64_t)pid <= 0)
			found = OUTSIDE;
		else
			pid = parent_of(index, iv, pid);
	}
	for (guint i = 0; i < path->len && found == IN_TREE; i++)
		map64_put(&index->trees, g_array_index(path, uint64_t, i), IN_TREE);
}

bool view_filter_tree(const struct view_filter *f, const struct view_index *index, uint64_t pid)
{
	return !f->trees->len || map64_get(&index->trees, pid) == IN_TREE || is_root(f, pid);
}

/* ---- both ---- */

void view_filter_find_places(const struct view_filter *f, struct view_index *index, const struct interval *iv)
{
	const struct interval_table *t = &iv->tables[TABLE_THREAD];
	GArray *path;

	if (f->containers->len)
		find_containers(index, f);
	map64_clear(&index->trees);
	if (!f->trees->len || !(iv->tables_mask & USES(THREAD)))
		return;
	path = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	for (uint32_t i = 0; i < t->n_rows; i++)
		find_ancestors(index, iv, f, INTERVAL_ROW(thread, &t->rows[i])->pid, path);
	g_array_free(path, TRUE);
}

bool view_filter_place(const struct view_filter *f, const struct view_index *index, const struct thread_row *t)
{
	const struct view_container *c;

	if (!view_filter_tree(f, index, t->pid))
		return false;
	if (!f->containers->len)
		return true;
	c = view_container_of(index, t);
	return view_filter_container(f, index, c ? (uint32_t)(c - container_at(index, 0)) : VIEW_HOST_ITSELF) ||
	       is_in_namespace(f, t);
}
