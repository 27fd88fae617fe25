/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_RESOLVE_H
#define LT_WAITS_RESOLVE_H

#include "waits/path.h"

/*
 * What explains one wait: the walk backwards from the link that ended it, as in
 * the bounded critical path algorithm of Giraldeau and Dagenais (graph.h) and
 * Trace Compass.
 *
 *	resolve(wait [a, b], bound):
 *	    take the link that ends at b; none: the wait stays as it is
 *	    cur := the link's source; limit := max(bound, a)
 *	    while cur > limit:
 *	        the edge before cur was a wait for work (graph_idle()): take the link to cur, cur := its source;
 *	            none: the rest is the wait itself, stop
 *	        a link ends at cur that starts at or before limit: take it, stop   (a packet older than the wait)
 *	        a link ends at cur, the edge before cur is no wait: remember cur
 *	        the edge before cur is a wait: resolve it with bound limit, else take it; cur := its start
 *	        none is before cur (the row begins): go back to the vertex remembered last, undo what was
 *	            taken after it, take its link, cur := its source; nothing remembered: stop
 *
 * Depth and effort are bounded; what is left out then becomes a fill.
 */

/* How often the rules were applied, since the graph was made; older, rewinds and gaps make prefix sums differ. */
struct resolve_info {
	uint64_t waits;   /* resolved, nested ones too */
	uint64_t pieces;  /* edges and links taken */
	uint64_t bounded; /* depth or effort was at its bound */
	uint64_t older;   /* packets older than the wait */
	uint64_t rewinds; /* went back to a remembered vertex, other than from a row's birth to what made it */
	uint64_t gaps;    /* stopped at a gap in a row, nothing remembered */
	uint64_t covered; /* an unexplained wait, and the next piece not where it ended: elsewhere shown otherwise */
};

struct resolve_info resolve_info(const struct wait_graph *g);

#endif
