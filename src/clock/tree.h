/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_TREE_H
#define LT_CLOCK_TREE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Connects the hosts by a forest of least uncertainty: a minimum spanning forest of the pairs whose clocks are related,
 * weighted by their bounds. Bounds add up along a path, so the best reference is the centre: the host whose farthest
 * host is nearest. After Jabbarifar and Dagenais, "LIANA: Live incremental time synchronization of traces", JNCA 45,
 * 2014.
 */
struct clock_edge {
	unsigned a, b;
	double weight; /* half width of the bound in ns */
	unsigned id;   /* the caller's */
};

/*
 * Moves the edges of the forest to the front and returns their number. Edges of equal weight are in order of a, then b.
 */
unsigned clock_tree_span(unsigned n_hosts, struct clock_edge *edges, unsigned n_edges);

/* tree[h]: a number common to all hosts of h's tree: the lowest host in it. */
void clock_tree_mark(unsigned n_hosts, const struct clock_edge *forest, unsigned n_edges, unsigned *tree);

/* The centre of h's tree; of several, the host of lowest rank. */
unsigned clock_tree_centre(unsigned n_hosts, const struct clock_edge *forest, unsigned n_edges, unsigned h,
			   const unsigned *rank);

/*
 * Lists the hosts of root's tree in order, nearest first, starting with root; edge receives for each host its edge
 * towards root (index into forest; UINT_MAX for root). Returns their number. Entries of edge for other hosts are
 * untouched.
 */
unsigned clock_tree_walk(unsigned n_hosts, const struct clock_edge *forest, unsigned n_edges, unsigned root,
			 unsigned *order, unsigned *edge);

#endif
