/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clock/tree.h"

static int by_weight(const void *a, const void *b)
{
	const struct clock_edge *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

static unsigned find(unsigned *parent, unsigned h)
{
	while (parent[h] != h)
		h = parent[h] = parent[parent[h]];
	return h;
}

/* Kruskal's algorithm. */
unsigned clock_tree_span(unsigned n_hosts, struct clock_edge *edges, unsigned n_edges)
{
	unsigned *parent = g_new(unsigned, n_hosts), kept = 0;

	for (unsigned h = 0; h < n_hosts; h++)
		parent[h] = h;
	if (n_edges)
		qsort(edges, n_edges, sizeof(*edges), by_weight);
	for (unsigned e = 0; e < n_edges; e++) {
		unsigned a = find(parent, edges[e].a), b = find(parent, edges[e].b);
		struct clock_edge edge = edges[e];

		if (a == b)
			continue;
		parent[MAX(a, b)] = MIN(a, b);
		edges[e] = edges[kept];
		edges[kept++] = edge;
	}
	g_free(parent);
	return kept;
}

void clock_tree_mark(unsigned n_hosts, const struct clock_edge *forest, unsigned n_edges, unsigned *tree)
{
	for (unsigned h = 0; h < n_hosts; h++)
		tree[h] = h;
	for (unsigned e = 0; e < n_edges; e++) {
		unsigned a = find(tree, forest[e].a), b = find(tree, forest[e].b);

		tree[MAX(a, b)] = MIN(a, b);
	}
	for (unsigned h = 0; h < n_hosts; h++)
		tree[h] = find(tree, h);
}

unsigned clock_tree_walk(unsigned n_hosts, const struct clock_edge *forest, unsigned n_edges, unsigned root,
			 unsigned *order, unsigned *edge)
{
	bool *reached = g_new0(bool, n_hosts);
	unsigned n = 1;

	order[0] = root;
	edge[root] = UINT_MAX;
	reached[root] = true;
	for (unsigned i = 0; i < n; i++) {
		for (unsigned e = 0; e < n_edges; e++) {
			unsigned other;

			if (forest[e].a != order[i] && forest[e].b != order[i])
				continue;
			other = forest[e].a == order[i] ? forest[e].b : forest[e].a;
			if (reached[other])
				continue;
			reached[other] = true;
			edge[other] = e;
			order[n++] = other;
		}
	}
	g_free(reached);
	return n;
}

/* The greatest sum of weights from h to any host in its tree. */
static double reach(unsigned n_hosts, const struct clock_edge *forest, unsigned n_edges, unsigned h)
{
	unsigned *order = g_new(unsigned, n_hosts), *edge = g_new(unsigned, n_hosts);
	double *distance = g_new0(double, n_hosts), farthest = 0;
	unsigned n = clock_tree_walk(n_hosts, forest, n_edges, h, order, edge);

	for (unsigned i = 1; i < n; i++) {
		const struct clock_edge *e = &forest[edge[order[i]]];

		distance[order[i]] = distance[e->a == order[i] ? e->b : e->a] + e->weight;
		farthest = MAX(farthest, distance[order[i]]);
	}
	g_free(order);
	g_free(edge);
	g_free(distance);
	return farthest;
}

unsigned clock_tree_centre(unsigned n_hosts, const struct clock_edge *forest, unsigned n_edges, unsigned h,
			   const unsigned *rank)
{
	unsigned *order = g_new(unsigned, n_hosts), *edge = g_new(unsigned, n_hosts), centre = h;
	unsigned n = clock_tree_walk(n_hosts, forest, n_edges, h, order, edge);
	double least = reach(n_hosts, forest, n_edges, h);

	for (unsigned i = 1; i < n; i++) {
		double farthest = reach(n_hosts, forest, n_edges, order[i]);

		if (farthest < least || (farthest == least && rank[order[i]] < rank[centre])) {
			least = farthest;
			centre = order[i];
		}
	}
	g_free(order);
	g_free(edge);
	return centre;
}
