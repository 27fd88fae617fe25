/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_FOLLOW_H
#define LT_WAITS_FOLLOW_H

#include "waits/path.h"
#include "waits/totals.h"

/*
 * Rows whose paths are kept: each of their edges is expanded once, when time has
 * passed its end, and never again. That this equals the walk over the whole graph rests
 * on three facts: the explanation of a wait reads nothing outside it, nothing up to the time
 * that has passed changes any more, and a path is its edges' expansions in a row.
 *
 * Belongs to a graph, which calls it in graph_advance(). Main thread only.
 */
struct wait_follow;

/* max_segments: of each row, 0: 65536. Destroy it before the graph; graph_clear() forgets segments, not rows. */
struct wait_follow *follow_create(struct wait_graph *g, uint32_t max_segments);
void follow_destroy(struct wait_follow *f);

/* Begins with what the graph still has of it. Idempotent. */
void follow_add(struct wait_follow *f, wait_row row);
void follow_remove(struct wait_follow *f, wait_row row);
bool follow_has(const struct wait_follow *f, wait_row row);

/*
 * As wait_path_resolve(), from the kept segments and, past the time that is
 * final, from the graph. false: the row is not followed, *out untouched.
 */
bool follow_path(const struct wait_follow *f, wait_row row, uint64_t begin_ns, uint64_t end_ns, struct wait_path *out);

struct wait_follow_info {
	uint32_t segments;
	uint64_t since_ns;         /* the segments begin here: the graph's horizon, or later if they are too many */
	uint64_t final_ns;         /* and end here */
	struct wait_totals folded; /* of all before since_ns while it was followed */
	size_t bytes;
};

/* false: not followed. */
bool follow_info(const struct wait_follow *f, wait_row row, struct wait_follow_info *out);

#endif
