/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_RESOLVE_H
#define LT_WAITS_RESOLVE_H

#include "waits/path.h"

/*
 * Explains one wait by walking backwards from the link that ended it, as in the
 * bounded critical path algorithm of Giraldeau and Dagenais (graph.h) and of
 * Trace Compass.
 *
 *	resolve(wait [a, b], bound):
 *	    take the link that ends at b; if there is none, the wait stays as it is
 *	    cur := the link's source (of a packet's transit: that time in this row); limit := max(bound, a)
 *	    while cur > limit:
 *	        if the edge before cur was a wait for work (graph_idle()): take the link to cur, cur := its source; if
 *	            that is where an item was queued, first take what the row (before its start: its creator) did from
 *	            then on; if there is no link, take what it did since an interrupt brought the work; the rest is the
 *	            wait itself; stop
 *	        if a link that starts at or before limit ends at cur: take it, stop   (a packet older than the wait)
 *	        if a link ends at cur, and the edge before cur is not a wait: remember cur
 *	        if the edge before cur is a wait: resolve it with bound limit, else take it; cur := its start
 *	        if there is no edge before cur (start of the row): go back to the last vertex remembered, undo
 *	            everything taken after it, take its link, cur := its source; if none is remembered, stop
 *
 * The depth, the pieces taken and undone, and the links without duration one after another are limited; the part that
 * is not explained becomes a fill.
 */

/*
 * How often each rule was applied since the graph was created, for tests. Older, rewinds and gaps make prefix sums
 * differ.
 */
struct resolve_info {
	uint64_t waits;   /* waits resolved, nested ones included */
	uint64_t pieces;  /* edges and links taken */
	uint64_t bounded; /* a limit was reached */
	uint64_t older;   /* packets older than the wait */
	uint64_t rewinds; /* went back to a remembered vertex, not counting from a row's first vertex to its creator */
	uint64_t gaps;    /* stopped at a gap in a row with no vertex remembered */
	uint64_t covered; /* unexplained waits after which the path continues elsewhere; Trace Compass omits them */
};

struct resolve_info resolve_info(const struct wait_graph *g);

#endif
