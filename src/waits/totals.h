/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_TOTALS_H
#define LT_WAITS_TOTALS_H

#include "waits/path.h"

/*
 * Time per state along the critical path of every row, by prefix sums. F(row, t)
 * is the vector of ns per state along the row's own path from its beginning to
 * t. Over an edge of a state that explains itself it grows by the edge; over a wait [a, b] ended
 * by a link from (w, s)
 *
 *	F(row, b) = F(row, a) + F(w, s) - F(w, a) + link(max(a, s) .. b)
 *
 * so that a wake-up costs two look-ups and no path is expanded; a window is
 * F(end) - F(begin). It equals the sums of the expanded path but for corners in which the
 * path's rules look at more than one edge (resolve.h, struct resolve_info).
 */
struct wait_totals {
	uint64_t ns[WAIT_STATES]; /* without wire_ns */
	uint64_t wire_ns;
	uint64_t own_ns; /* of all this, on the row's own thread */
};

/* Adds what a segment is. row: whose path it is part of. */
void wait_totals_add(struct wait_totals *totals, wait_row row, const struct wait_segment *segment);

/*
 * The window's totals, as far as it is kept (path.h: begin_ns, end_ns). O(length of the chain of waits x log
 * vertices of a row), and once for each vertex that has come since it was last asked: sums are made for who
 * wants them. They take about as much memory as the vertices, of which there may be fewer afterwards, and are
 * forgotten when nobody has asked for as long as the graph reaches back.
 */
void wait_totals_window(struct wait_graph *g, wait_row row, uint64_t begin_ns, uint64_t end_ns,
			struct wait_totals *out);

#endif
