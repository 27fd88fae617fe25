/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_TREE_H
#define LT_CLOCK_TREE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The hosts as a forest of least uncertainty: of all pairs whose clocks are
 * related those are kept that span the hosts with the least sum of bounds; bounds add along a
 * path, so the best reference is the centre: the host whose farthest one is nearest. After Jabbarifar and
 * Dagenais, "LIANA: Live incremental time synchronization of traces", JNCA 45, 2014.
 */
struct clock_edge {
	unsigned a, b;
	double weight; /* half width of the bound in ns */
	unsigned id;   /* the caller's */
};

/* Moves the edges of the forest to the front; returns their number. Equal weights: in the order of a, then b. */
unsigned clock_tree_span(unsigned n_hosts, struct clock_edge *edges, unsigned n_edges);

/* tree[h]: a number that is the same for all hosts of h's tree, the least host in it. */
void clock_tree_mark(unsigned n_hosts, const struct clock_edge *forest, unsigned n_edges, unsigned *tree);

/* The centre of h's tree; ties to the host of least rank. */
unsigned clock_tree_centre(unsigned n_hosts, const struct clock_edge *forest, unsigned n_edges, unsigned h,
			   const unsigned *rank);

/*
 * The hosts of root's tree, nearest first, root itself in front: into order, their edge towards it into edge (index
 * into forest; of the root UINT_MAX). Returns how many. Entries of other hosts are untouched.
 */
unsigned clock_tree_walk(unsigned n_hosts, const struct clock_edge *forest, unsigned n_edges, unsigned root,
			 unsigned *order, unsigned *edge);

#endif
