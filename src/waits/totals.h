/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_TOTALS_H
#define LT_WAITS_TOTALS_H

#include "waits/path.h"

/*
 * Time per state along the critical path of every row, from prefix sums. F(row, t) is the vector of ns per state along
 * the row's path from its start to t. Over an edge whose state explains itself, it grows by the length of the edge;
 * over a wait [a, b] that a link from (w, s) ended,
 *
 *	F(row, b) = F(row, a) + F(w, s) - F(w, a) + link(max(a, s) .. b)
 *
 * so a wake-up costs two look-ups and no path is expanded. A window is F(end) - F(begin).
 * This equals the sums over the expanded path, except in a few cases in which the rules
 * of the path look at more than one edge (struct resolve_info in resolve.h).
 */
struct wait_totals {
	uint64_t ns[WAIT_STATES]; /* without wire_ns */
	uint64_t wire_ns;
	uint64_t own_ns; /* the part of these on the row itself */
};

/* Adds a segment of the path of row. */
void wait_totals_add(struct wait_totals *totals, wait_row row, const struct wait_segment *segment);

/*
 * The totals for the part of the window that the graph holds (begin_ns, end_ns in struct wait_path). Takes
 * O(length of the chain of waits x log vertices of a row), plus one step for each vertex added since the last
 * call: sums are computed on demand. They take about as much memory as the vertices, which may leave room for
 * fewer of those, and are discarded if no call is made for as long as the graph reaches back.
 */
void wait_totals_window(struct wait_graph *g, wait_row row, uint64_t begin_ns, uint64_t end_ns,
			struct wait_totals *out);

#endif
