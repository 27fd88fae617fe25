/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Terms about a thread's place: its container, the processes above it. */
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "view/internal.h"

/* A term resolved for a host. */
struct view_place {
	bool host_itself;   /* matches threads outside any container */
	GArray *containers; /* bool, by index: matches threads in these */
	struct map64 trees; /* pid -> whether it is the process or a descendant */
};

static void clear_place(void *p)
{
	struct view_place *place = p;

	/* a term before the only one that was resolved has none */
	g_clear_pointer(&place->containers, g_array_unref);
	map64_release(&place->trees);
}

GArray *view_places_new(void)
{
	GArray *places = g_array_new(FALSE, TRUE, sizeof(struct view_place));

	g_array_set_clear_func(places, clear_place);
	return places;
}

static struct view_place *place_of(const struct view_index *index, const struct view_node *term)
{
	return &g_array_index(index->places, struct view_place, term->place);
}

/* ---- containers ---- */

static const struct view_container *container_at(const struct view_index *index, guint i)
{
	return &g_array_index(index->containers, struct view_container, i);
}

static bool names(const struct view_node *term, const struct view_container *c)
{
	if (term->number_given)
		return c->row->inode == (uint64_t)term->number;
	return term->exact ? strcmp(c->name, term->text) == 0 : text_glob(term->glob, c->name);
}

/* A trace can make containers nest in a circle. */
static bool wants_container(const struct view_node *term, const struct view_index *index,
			    const struct view_container *c)
{
	if (term->host_itself)
		return term->nested;
	for (unsigned i = 0; i < PID_LEVELS_MAX; i++) {
		if (names(term, c))
			return true;
		if (!term->nested || c->parent == VIEW_HOST_ITSELF)
			return false;
		c = container_at(index, c->parent);
	}
	return false;
}

static void find_containers(const struct view_index *index, const struct view_node *term)
{
	struct view_place *place = place_of(index, term);

	place->host_itself = term->host_itself || (term->number_given && term->number == HOST_PID_NS);
	g_array_set_size(place->containers, index->containers->len);
	for (guint i = 0; i < index->containers->len; i++)
		g_array_index(place->containers, bool, i) = wants_container(term, index, container_at(index, i));
}

bool view_term_has_container(const struct view_node *term, const struct view_index *index, uint32_t container)
{
	const struct view_place *place = place_of(index, term);

	return container == VIEW_HOST_ITSELF ? place->host_itself : g_array_index(place->containers, bool, container);
}

static bool is_in_container(const struct view_node *term, const struct view_index *index, const struct thread_row *t)
{
	const struct view_container *c = view_container_of(index, t);

	if (view_term_has_container(term, index, c ? (uint32_t)(c - container_at(index, 0)) : VIEW_HOST_ITSELF))
		return true;
	/* a namespace's number also matches threads in it that do not count as in a container */
	return term->number_given && term->number &&
	       (t->pid_ns == (uint64_t)term->number || t->cgroup_ns == (uint64_t)term->number);
}

/* ---- trees ---- */

enum { OUTSIDE, IN_TREE };

/* -1: unknown. A parent younger than the process means that the pid has been reused. */
static uint64_t parent_of(const struct view_index *index, const struct interval *iv, uint64_t pid)
{
	const struct interval_row *row = view_main_thread(index, iv, pid);
	const struct thread_row *t = row ? INTERVAL_ROW(thread, row) : NULL;
	const struct interval_row *parent = t ? view_main_thread(index, iv, t->ppid) : NULL;

	if (!t || (parent && INTERVAL_ROW(thread, parent)->born_ns > t->born_ns))
		return (uint64_t)-1;
	return t->ppid;
}

/* Walks up to a process whose answer is known; parents come from a trace and may form a circle. */
static void find_ancestors(const struct view_index *index, const struct interval *iv, const struct view_node *term,
			   uint64_t pid, GArray *path)
{
	struct map64 *trees = &place_of(index, term)->trees;
	uint32_t found = MAP64_NONE;

	g_array_set_size(path, 0);
	while (found == MAP64_NONE) {
		found = map64_get(trees, pid);
		if (found != MAP64_NONE)
			break;
		map64_put(trees, pid, OUTSIDE);
		g_array_append_val(path, pid);
		if (pid == (uint64_t)term->number)
			found = IN_TREE;
		else if ((int64_t)pid <= 0)
			found = OUTSIDE;
		else
			pid = parent_of(index, iv, pid);
	}
	for (guint i = 0; i < path->len && found == IN_TREE; i++)
		map64_put(trees, g_array_index(path, uint64_t, i), IN_TREE);
}

static void find_tree(const struct view_index *index, const struct interval *iv, const struct view_node *term)
{
	const struct interval_table *t = &iv->tables[TABLE_THREAD];
	GArray *path = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	for (uint32_t i = 0; i < t->n_rows; i++)
		find_ancestors(index, iv, term, INTERVAL_ROW(thread, &t->rows[i])->pid, path);
	g_array_free(path, TRUE);
}

bool view_term_has_process(const struct view_node *term, const struct view_index *index, uint64_t pid)
{
	return pid == (uint64_t)term->number || map64_get(&place_of(index, term)->trees, pid) == IN_TREE;
}

/* ---- both ---- */

struct finder {
	struct view_index *index;
	const struct interval *iv;
};

void view_term_find_place(const struct view_node *term, struct view_index *index, const struct interval *iv)
{
	struct view_place *place;

	if (index->places->len <= term->place)
		g_array_set_size(index->places, term->place + 1);
	place = place_of(index, term);
	if (!place->containers)
		place->containers = g_array_new(FALSE, TRUE, sizeof(bool));
	map64_clear(&place->trees);
	if (term->fact == VIEW_FACT_CONTAINER)
		find_containers(index, term);
	else if (term->fact == VIEW_FACT_TREE && iv->tables_mask & USES(THREAD))
		find_tree(index, iv, term);
}

static enum view_truth find_place(void *data, const struct view_node *term)
{
	const struct finder *finder = data;

	view_term_find_place(term, finder->index, finder->iv);
	return VIEW_UNTOUCHED; /* left to the other terms */
}

void view_filter_find_places(const struct view_filter *f, struct view_index *index, const struct interval *iv)
{
	struct finder finder = { index, iv };

	if (view_filter_asks_place(f))
		view_filter_wants(f, find_place, &finder);
}

bool view_term_has_place(const struct view_node *term, const struct view_index *index, const struct thread_row *t)
{
	return term->fact == VIEW_FACT_TREE ? view_term_has_process(term, index, t->pid)
					    : is_in_container(term, index, t);
}
