/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stddef.h>
#include <string.h>

#include "view/internal.h"

#define NONE UINT32_MAX

/*
 * The tree of the rows: a thread is a child of its process's main thread, a main thread a child of that of its parent
 * process; derived rows name their parents.
 *
 *   first_child[i] ──▶ child ──next[child]──▶ its sibling ──▶ … NONE
 */
struct tree {
	uint32_t *parent, *first_child, *last_child, *next;
	uint32_t *descendants; /* their number, shown or not */
};

static const struct thread_row *thread_at(const GArray *rows, guint i)
{
	return INTERVAL_ROW(thread, &g_array_index(rows, struct view_row, i).row);
}

/* A process of a host. */
static uint64_t process_key(const GArray *rows, guint i, uint64_t pid)
{
	return (uint64_t)g_array_index(rows, struct view_row, i).key.host << 32 | (pid & UINT32_MAX);
}

/*
 * The main thread of process pid at the time thread self was created: the youngest one born before. Rows of the same
 * process are chained.
 */
static uint32_t find_main(const GArray *rows, const struct map64 *mains, const uint32_t *chain, int64_t pid, guint self)
{
	const uint64_t born_ns = thread_at(rows, self)->born_ns, pids = view_pids_of(thread_at(rows, self));
	uint32_t best = NONE;

	for (uint32_t i = map64_get(mains, process_key(rows, self, (uint64_t)pid)); i != NONE; i = chain[i]) {
		const struct thread_row *row = thread_at(rows, i);

		if (i != self && (int64_t)row->pid == pid && view_pids_of(row) == pids && row->born_ns <= born_ns &&
		    (best == NONE || row->born_ns > thread_at(rows, best)->born_ns))
			best = i;
	}
	return best;
}

static void find_parents(const GArray *rows, struct tree *tree)
{
	struct map64 mains = { 0 };
	uint32_t *chain = g_new(uint32_t, MAX(rows->len, 1));

	for (guint i = 0; i < rows->len; i++) {
		const struct thread_row *row = thread_at(rows, i);

		if (row->tid != row->pid)
			continue;
		chain[i] = map64_get(&mains, process_key(rows, i, row->pid));
		map64_put(&mains, process_key(rows, i, row->pid), i);
	}
	for (guint i = 0; i < rows->len; i++) {
		const struct thread_row *row = thread_at(rows, i);
		int64_t pid = (int64_t)(row->tid == row->pid ? row->ppid : row->pid);

		if (pid > 0)
			tree->parent[i] = find_main(rows, &mains, chain, pid, i);
	}
	map64_release(&mains);
	g_free(chain);
}

/* Parents come from a trace and may form a circle, which is cut where it closes. */
static void cut_circles(struct tree *tree, guint n)
{
	uint32_t *seen = g_new0(uint32_t, n); /* by which pass; 0: not yet */

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

/* All rows, children before their parents. */
static uint32_t *order_upwards(const struct tree *tree, guint n)
{
	uint32_t *children = g_new0(uint32_t, MAX(n, 1)); /* of each row, not yet in the order */
	uint32_t *order = g_new(uint32_t, MAX(n, 1));
	guint n_ordered = 0;

	for (guint i = 0; i < n; i++)
		if (tree->parent[i] != NONE)
			children[tree->parent[i]]++;
	for (guint i = 0; i < n; i++)
		if (!children[i])
			order[n_ordered++] = i;
	for (guint k = 0; k < n_ordered; k++) {
		uint32_t up = tree->parent[order[k]];

		if (up != NONE && !--children[up])
			order[n_ordered++] = up;
	}
	g_free(children);
	return order;
}

static void count_descendants(struct tree *tree, const uint32_t *upwards, guint n)
{
	memset(tree->descendants, 0, n * sizeof(*tree->descendants));
	for (guint k = 0; k < n; k++) {
		uint32_t up = tree->parent[upwards[k]];

		if (up != NONE)
			tree->descendants[up] += 1 + tree->descendants[upwards[k]];
	}
}

/*
 * What each row shows when collapsed: itself with the figures of its whole branch: a row is added to its parent once
 * all its own descendants have been added to it. Rows that only the baseline has are empty in this interval.
 */
static GArray *sum_branches(struct view_rows *r, const GArray *rows, const struct tree *tree, const uint32_t *upwards)
{
	GArray *branches = g_array_sized_new(FALSE, FALSE, sizeof(struct view_row), rows->len);

	g_array_append_vals(branches, rows->data, rows->len);
	for (guint i = 0; i < rows->len; i++) {
		struct view_row *row = &g_array_index(branches, struct view_row, i);

		if (tree->descendants[i] && !row->of_baseline)
			view_derived_cells(r, row);
	}
	for (guint k = 0; k < rows->len; k++) {
		const struct view_row *row = &g_array_index(branches, struct view_row, upwards[k]);
		uint32_t up = tree->parent[upwards[k]];
		struct view_row *into;

		if (up == NONE)
			continue;
		into = &g_array_index(branches, struct view_row, up);
		if (!into->of_baseline && !row->of_baseline)
			view_add_figures(r, into, row);
	}
	return branches;
}

static bool is_shown(const GArray *rows, guint i, GHashTable *only)
{
	return !only || g_hash_table_contains(only, &g_array_index(rows, struct view_row, i).key);
}

/* Children of rows that are not shown become those of the nearest ancestor that is. */
static void skip_others(struct tree *tree, const GArray *rows, GHashTable *only)
{
	for (guint i = 0; i < rows->len; i++)
		while (is_shown(rows, i, only) && tree->parent[i] != NONE && !is_shown(rows, tree->parent[i], only))
			tree->parent[i] = tree->parent[tree->parent[i]];
}

/* Chains the shown children of each parent, and the roots, in the given order; returns the first root. */
static uint32_t link_children(struct tree *tree, const GArray *rows, const uint32_t *order, GHashTable *only)
{
	uint32_t first_root = NONE, last_root = NONE;

	for (guint k = 0; k < rows->len; k++) {
		uint32_t i = order[k];
		uint32_t up = tree->parent[i];
		uint32_t *first = up == NONE ? &first_root : &tree->first_child[up];
		uint32_t *last = up == NONE ? &last_root : &tree->last_child[up];

		if (!is_shown(rows, i, only))
			continue;
		if (*first == NONE)
			*first = i;
		else
			tree->next[*last] = i;
		*last = i;
	}
	return first_root;
}

/* Depth first, without recursion: a chain of forks may be as long as there are pids. */
static GArray *walk(const GArray *rows, const GArray *branches, const struct tree *tree, uint32_t root,
		    GHashTable *collapsed)
{
	GArray *out = g_array_sized_new(FALSE, FALSE, sizeof(struct view_row), rows->len);
	unsigned depth = 0;

	for (uint32_t i = root; i != NONE;) {
		bool folded =
			collapsed && g_hash_table_contains(collapsed, &g_array_index(rows, struct view_row, i).key);
		struct view_row row = g_array_index(folded ? branches : rows, struct view_row, i);

		row.depth = (uint16_t)MIN(depth, UINT16_MAX);
		row.has_children = tree->descendants[i] > 0;
		row.hidden = folded ? tree->descendants[i] : 0;
		row.last = tree->next[i] == NONE;
		g_array_append_val(out, row);
		if (!folded && tree->first_child[i] != NONE) {
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

	memset(links, 0xff, n * sizeof(*links)); /* to NONE and MAP64_NONE */
	return links;
}

/* Derived rows name their parents, wherever these are in the list. */
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
	GArray *rows = r->internal->rows, *branches;
	guint n = rows->len;
	struct tree tree = { links_new(n), links_new(n), links_new(n), links_new(n), links_new(n) };
	uint32_t *upwards, *order;

	if (q->table->parent)
		find_named_parents(rows, &tree, q->table->parent);
	else
		find_parents(rows, &tree);
	cut_circles(&tree, n);
	upwards = order_upwards(&tree, n);
	count_descendants(&tree, upwards, n);
	/* a derived row that names its parent is already included in its figures */
	branches = q->table->supply.needs ? g_array_ref(rows) : sum_branches(r, rows, &tree, upwards);
	/* differences are per row: the baseline has no sum of an expanded branch */
	order = view_order_rows(r, q, r->baseline ? rows : branches);
	if (q->only)
		skip_others(&tree, rows, q->only);
	r->internal->rows = walk(rows, branches, &tree, link_children(&tree, rows, order, q->only), q->collapsed);
	g_free(upwards);
	g_free(order);
	g_array_unref(branches);
	g_array_unref(rows);
	g_free(tree.parent);
	g_free(tree.first_child);
	g_free(tree.last_child);
	g_free(tree.next);
	g_free(tree.descendants);
}
