/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_FOLLOW_H
#define LT_WAITS_FOLLOW_H

#include "waits/path.h"
#include "waits/totals.h"

/*
 * Rows whose paths are kept: each edge is expanded only once, when its end is final. The result equals a walk over the
 * whole graph, for three reasons: the explanation of a wait reads nothing outside that wait; nothing up to the
 * final time changes any more; and a path is the concatenation of its edges' expansions.
 *
 * Attached to a graph, whose graph_advance() drives it. Main thread only.
 */
struct wait_follow;

/*
 * max_segments: per row; 0: 65536. Destroy it before the graph. graph_clear() discards the segments, but the rows
 * remain followed.
 */
struct wait_follow *follow_create(struct wait_graph *g, uint32_t max_segments);
void follow_destroy(struct wait_follow *f);

/* Starts with the edges of the row that the graph still holds. Idempotent. */
void follow_add(struct wait_follow *f, wait_row row);
void follow_remove(struct wait_follow *f, wait_row row);

/* For tests. */
bool follow_has(const struct wait_follow *f, wait_row row);

/*
 * The same as wait_path_resolve(), from the segments kept and, after the time that
 * is final, from the graph. false: the row is not followed, and *out is untouched.
 */
bool follow_path(const struct wait_follow *f, wait_row row, uint64_t begin_ns, uint64_t end_ns, struct wait_path *out);

/* For tests. */
struct wait_follow_info {
	uint32_t segments;
	uint64_t since_ns;         /* the segments start here: the graph's horizon, or later if there are too many */
	uint64_t final_ns;         /* and end here */
	struct wait_totals folded; /* totals of the segments before since_ns */
	size_t bytes;
};

/* false: not followed. */
bool follow_info(const struct wait_follow *f, wait_row row, struct wait_follow_info *out);

#endif
