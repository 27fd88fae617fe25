/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the reference of each host: the forest of pairs, its references, and the hosts whose offset was given by
 * hand, which are attached to the reference that the offset is relative to.
 */
#include "clock/internal.h"

int clock_sync_chosen(const struct clock_sync *s)
{
	for (unsigned n = 0; s->options.ref && n < s->hosts->len; n++)
		if (strcmp(clock_host_at(s, n)->name, s->options.ref) == 0)
			return (int)n;
	return NO_HOST;
}

struct forest {
	struct clock_edge *edges;
	unsigned n_edges, n_hosts;
	unsigned *tree, *rank;
};

static int by_name(const void *a, const void *b, void *data)
{
	const struct clock_sync *s = data;
	const unsigned *x = a, *y = b;
	int order = strcmp(clock_host_at(s, *x)->name, clock_host_at(s, *y)->name);

	return order ? order : (int)*x - (int)*y;
}

static void rank_by_name(const struct clock_sync *s, unsigned *rank)
{
	unsigned n = s->hosts->len, *sorted = g_new(unsigned, n);

	for (unsigned h = 0; h < n; h++)
		sorted[h] = h;
	g_qsort_with_data(sorted, n, sizeof(*sorted), by_name, (void *)s);
	for (unsigned i = 0; i < n; i++)
		rank[sorted[i]] = i;
	g_free(sorted);
}

static bool is_by_hand(const struct clock_sync *s, unsigned h, int chosen)
{
	return clock_host_at(s, h)->by_hand && (int)h != chosen;
}

/*
 * The spanning forest of the pairs: without hosts whose offset is given by hand, or with each of them tied to hand_ref.
 */
static void span(const struct clock_sync *s, const double *bounds, int chosen, int hand_ref, struct forest *f)
{
	f->n_edges = 0;
	for (unsigned n = 0; n < s->pairs->len; n++) {
		const struct clock_pair *p = clock_pair_at(s, n);

		if (bounds[n] >= 0 &&
		    (hand_ref != NO_HOST || (!is_by_hand(s, p->a, chosen) && !is_by_hand(s, p->b, chosen))))
			f->edges[f->n_edges++] = (struct clock_edge){ p->a, p->b, bounds[n], n };
	}
	for (unsigned h = 0; hand_ref != NO_HOST && h < f->n_hosts; h++)
		if (is_by_hand(s, h, chosen))
			f->edges[f->n_edges++] = (struct clock_edge){ (unsigned)hand_ref, h, -1, UINT_MAX };
	f->n_edges = clock_tree_span(f->n_hosts, f->edges, f->n_edges);
	clock_tree_mark(f->n_hosts, f->edges, f->n_edges, f->tree);
}

static unsigned root_of(const struct clock_sync *s, const struct forest *f, unsigned tree, int chosen, bool keep_roots)
{
	const int common = clock_shift_common(s);
	int best = NO_HOST;
	unsigned most = 0;

	if (chosen != NO_HOST && f->tree[chosen] == tree)
		return (unsigned)chosen;
	/* all times shown so far are in its time */
	if (keep_roots && common != NO_HOST && f->tree[common] == tree)
		return (unsigned)common;
	for (unsigned h = 0; keep_roots && h < f->n_hosts; h++) {
		unsigned followers;

		if (f->tree[h] != tree || clock_host_at(s, h)->ref != (int)h)
			continue;
		followers = clock_count_followers(s, h);
		if (followers > most || (followers == most && f->rank[h] < f->rank[best])) {
			most = followers;
			best = (int)h;
		}
	}
	return best != NO_HOST ? (unsigned)best : clock_tree_centre(f->n_hosts, f->edges, f->n_edges, tree, f->rank);
}

/* The reference of the offsets given by hand: the chosen host, or the reference of the largest tree. */
static int reference_of_hands(const struct clock_sync *s, const struct forest *f, int chosen, bool keep_roots)
{
	int best = NO_HOST;
	unsigned most = 0;

	if (chosen != NO_HOST)
		return chosen;
	for (unsigned h = 0; h < f->n_hosts; h++) {
		unsigned size = 0, root;

		if (f->tree[h] != h || is_by_hand(s, h, chosen))
			continue;
		for (unsigned i = 0; i < f->n_hosts; i++)
			size += f->tree[i] == h;
		root = root_of(s, f, h, chosen, keep_roots);
		if (size > most || (size == most && f->rank[root] < f->rank[best])) {
			most = size;
			best = (int)root;
		}
	}
	return best;
}

unsigned clock_relate(struct clock_sync *s, const double *bounds, bool keep_roots, unsigned *order)
{
	unsigned n = s->hosts->len, related = 0;
	struct forest f = {
		.edges = g_new(struct clock_edge, s->pairs->len + n),
		.n_hosts = n,
		.tree = g_new(unsigned, n),
		.rank = g_new(unsigned, n),
	};
	unsigned *edge = g_new(unsigned, n), *roots = g_new(unsigned, n), n_roots = 0;
	int chosen = clock_sync_chosen(s), hand_ref;

	rank_by_name(s, f.rank);
	span(s, bounds, chosen, NO_HOST, &f);
	hand_ref = reference_of_hands(s, &f, chosen, keep_roots);
	if (hand_ref != NO_HOST)
		span(s, bounds, chosen, hand_ref, &f);
	for (unsigned h = 0; h < n; h++) {
		if (f.tree[h] != h)
			continue;
		if (hand_ref != NO_HOST && f.tree[hand_ref] == h)
			roots[n_roots++] = (unsigned)hand_ref;
		else
			roots[n_roots++] = root_of(s, &f, h, chosen, keep_roots);
	}
	for (unsigned h = 0; h < n; h++) {
		clock_host_at(s, h)->ref = clock_host_at(s, h)->up = NO_HOST;
		clock_host_at(s, h)->pair = NULL;
	}
	for (unsigned i = 0; i < n_roots; i++) {
		unsigned count = clock_tree_walk(n, f.edges, f.n_edges, roots[i], order + related, edge);

		if (count == 1 && n > 1 && (int)roots[i] != chosen)
			continue;
		for (unsigned k = 0; k < count; k++) {
			struct clock_host *h = clock_host_at(s, order[related + k]);
			const struct clock_edge *e = k ? &f.edges[edge[order[related + k]]] : NULL;

			h->ref = (int)roots[i];
			if (!e)
				continue;
			h->up = (int)(e->a == order[related + k] ? e->b : e->a);
			h->pair = e->id != UINT_MAX ? clock_pair_at(s, e->id) : NULL;
		}
		related += count;
	}
	g_free(f.edges);
	g_free(f.tree);
	g_free(f.rank);
	g_free(edge);
	g_free(roots);
	return related;
}
