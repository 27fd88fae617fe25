/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_PATH_H
#define LT_WAITS_PATH_H

#include "waits/graph.h"

/*
 * The critical path of a row over a window: what it waited for, and for whom,
 * all the way, as segments that tile the window exactly, oldest first. Neighbours
 * that differ in nothing are one segment.
 */

/* What stands where the graph knows the two ends but not what was between. Trace Compass draws … */
enum wait_fill {
	WAIT_FILL_NONE = 0, /* not that: an edge of the graph, or a link with a duration */
	WAIT_FILL_FIRST,    /* before the first known piece of what explains a wait: … an UNKNOWN edge of the row */
	WAIT_FILL_STITCH,   /* between two pieces of one row: … a DEFAULT edge of the row */
	WAIT_FILL_ACROSS,   /* between pieces of two rows, on the later one's: … a DEFAULT link with a duration */
};

struct wait_segment {
	uint64_t begin_ns, end_ns; /* reference time */
	wait_row row;              /* on whom; a network link (wire time): the receiver's */
	enum wait_state state;     /* of a fill: blocked where the row is known to be, else unknown */
	bool wire;                 /* a packet under way, between two rows; state is network, link too */
	enum wait_fill fill;
	enum wait_link link; /* how the path came to this segment from the one before; of the first: none */
	wait_row from;       /* from which row that link comes, WAIT_NO_ROW */
	bool cut;            /* begins where the graph's memory does, not where the wait did */
	uint8_t role;        /* enum wait_role of the row in its own wait, which this explains; else none */
	struct wait_cause cause;
};

struct wait_path {
	struct wait_segment *segments;
	uint32_t n, capacity;
	bool open;                 /* the last segment is a wait that has not ended: nobody knows by whom yet */
	bool partial;              /* a chain of waits was too long to follow to its end; that part is a fill */
	uint64_t begin_ns, end_ns; /* what was answered: the window, less what is not kept and when the row was not */
};

void wait_path_init(struct wait_path *p);
void wait_path_release(struct wait_path *p);

/*
 * By walking the graph as far as it is kept: any row, any window within the
 * retention. Each wait is explained as a whole and then cut at the window, so that
 * the answers for two windows agree where they overlap. Where the row's past ends (a thread's
 * exit) the path does, unless graph_present() says what it does now. *out is reused.
 */
void wait_path_resolve(const struct wait_graph *g, wait_row row, uint64_t begin_ns, uint64_t end_ns,
		       struct wait_path *out);

#endif
