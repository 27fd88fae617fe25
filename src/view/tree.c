/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stddef.h>
#include <string.h>

#include "view/internal.h"

#define NONE UINT32_MAX

/*
 * The tree of the rows, which are in the order that brothers shall have: a
 * thread hangs on its process's main thread, a main thread on that of its
 * parent process; rows that are none of the model's name their parents.
 *
 *   first_child[i] ──▶ child ──next[child]──▶ its brother ──▶ … NONE
 */
struct tree {
	uint32_t *parent, *first_child, *last_child, *next;
};

static const struct thread_row *thread_at(const GArray *rows, guint i)
{
	return INTERVAL_ROW(thread, &g_array_index(rows, struct view_row, i).row);
}

/*
 * The main thread of process pid that lived when a thread born at born_ns was
 * made: the youngest one born before. Rows with the same pid are chained.
 */
static uint32_t find_main(const GArray *rows, const struct map64 *mains, const uint32_t *chain, int64_t pid,
			  uint64_t born_ns, guint self)
{
	uint32_t best = NONE;

	for (uint32_t i = map64_get(mains, (uint64_t)pid); i != NONE; i = chain[i]) {
		const struct thread_row *row = thread_at(rows, i);

		if (i != self && row->born_ns <= born_ns &&
		    (best == NONE || row->born_ns > thread_at(rows, best)->born_ns))
			best = i;
	}
	return best;
}

/* Finds the parents of the rows [first, end[, all of one host. */
static void find_parents(const GArray *rows, struct tree *tree, guint first, guint end)
{
	struct map64 mains = { 0 };
	uint32_t *chain = g_new(uint32_t, rows->len);

	for (guint i = first; i < end; i++) {
		const struct thread_row *row = thread_at(rows, i);

		if (row->tid != row->pid)
			continue;
		chain[i] = map64_get(&mains, row->tid);
		map64_put(&mains, row->tid, i);
	}
	for (guint i = first; i < end; i++) {
		const struct thread_row *row = thread_at(rows, i);
		int64_t pid = (int64_t)(row->tid == row->pid ? row->ppid : row->pid);

		if (pid > 0)
			tree->parent[i] = find_main(rows, &mains, chain, pid, row->born_ns, i);
	}
	map64_release(&mains);
	g_free(chain);
}

/* Parents come from a trace and may go in a circle: it is cut where it closes. */
static void cut_circles(struct tree *tree, guint n)
{
	uint32_t *seen = g_new0(uint32_t, n); /* by which round, 0 not yet */

	for (guint i = 0; i < n; i++) {
		for (uint32_t k = i; !seen[k]; k = tree->parent[k]) {
			uint32_t up = tree->parent[k];

			seen[k] = i + 1;
			if (up != NONE && seen[up] == i + 1)
				tree->parent[k] = NONE;
			if (tree->parent[k] == NONE)
				break;
		}
	}
	g_free(seen);
}

/* Chains the children of each parent, and the roots, in the order of the rows; returns the first root. */
static uint32_t link_children(struct tree *tree, guint n)
{
	uint32_t first_root = NONE, last_root = NONE;

	for (guint i = 0; i < n; i++) {
		uint32_t up = tree->parent[i];
		uint32_t *first = up == NONE ? &first_root : &tree->first_child[up];
		uint32_t *last = up == NONE ? &last_root : &tree->last_child[up];

		if (*first == NONE)
			*first = i;
		else
			tree->next[*last] = i;
		*last = i;
	}
	return first_root;
}

/* Depth first, without recursion: a chain of forks may be as long as there are pids. */
static GArray *walk(const GArray *rows, const struct tree *tree, uint32_t root, GHashTable *collapsed)
{
	GArray *out = g_array_sized_new(FALSE, FALSE, sizeof(struct view_row), rows->len);
	struct view_row *branch = NULL; /* the collapsed one we are in, in out */
	unsigned depth = 0, branch_depth = 0;

	for (uint32_t i = root; i != NONE;) {
		struct view_row row = g_array_index(rows, struct view_row, i);

		if (branch && depth > branch_depth) {
			branch->hidden++;
		} else {
			row.depth = (uint16_t)MIN(depth, UINT16_MAX);
			row.has_children = tree->first_child[i] != NONE;
			row.last = tree->next[i] == NONE;
			g_array_append_val(out, row);
			branch = NULL;
			if (collapsed && g_hash_table_contains(collapsed, &row.key)) {
				branch = &g_array_index(out, struct view_row, out->len - 1);
				branch_depth = depth;
			}
		}
		if (tree->first_child[i] != NONE) {
			i = tree->first_child[i];
			depth++;
			continue;
		}
		while (i != NONE && tree->next[i] == NONE) {
			i = tree->parent[i];
			depth--;
		}
		if (i != NONE)
			i = tree->next[i];
	}
	return out;
}

static uint32_t *links_new(guint n)
{
	uint32_t *links = g_new(uint32_t, MAX(n, 1));

	memset(links, 0xff, n * sizeof(*links)); /* NONE, MAP64_NONE */
	return links;
}

/* Own rows name their parents, wherever those are. */
static void find_named_parents(const GArray *rows, struct tree *tree, unsigned cell)
{
	struct map64 uids = { 0 };

	for (guint i = 0; i < rows->len; i++)
		map64_put(&uids, g_array_index(rows, struct view_row, i).key.uid, i);
	for (guint i = 0; i < rows->len; i++) {
		uint64_t uid = g_array_index(rows, struct view_row, i).row.b[cell];

		if (uid)
			tree->parent[i] = map64_get(&uids, uid);
	}
	map64_release(&uids);
}

void view_tree_rows(struct view_rows *r, const struct view_query *q)
{
	GArray *rows = r->internal->rows;
	guint n = rows->len, end;
	struct tree tree = { links_new(n), links_new(n), links_new(n), links_new(n) };

	if (q->table->parent)
		find_named_parents(rows, &tree, q->table->parent);
	for (guint first = 0; first < n && !q->table->parent; first = end) {
		uint32_t host = g_array_index(rows, struct view_row, first).key.host;

		for (end = first; end < n; end++)
			if (g_array_index(rows, struct view_row, end).key.host != host)
				break;
		find_parents(rows, &tree, first, end);
	}
	cut_circles(&tree, n);
	r->internal->rows = walk(rows, &tree, link_children(&tree, n), q->collapsed);
	g_array_free(rows, TRUE);
	g_free(tree.parent);
	g_free(tree.first_child);
	g_free(tree.last_child);
	g_free(tree.next);
}
