/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_PATH_H
#define LT_WAITS_PATH_H

#include "waits/graph.h"

/*
 * The critical path of a row over a window: what it waited for, and for whom,
 * all the way, as segments that tile the window exactly, oldest first.
 */
struct wait_segment {
	uint64_t begin_ns, end_ns;  /* reference time */
	wait_row row;               /* on whom; a network link (wire time): the receiver's */
	enum wait_state state;
	bool wire;                  /* between two hosts: a packet under way; state is network */
	enum wait_link link;        /* how the path came to this segment from the one before */
	wait_row from;              /* from which row that link comes, WAIT_NO_ROW */
	bool cut;                   /* begins where the graph's memory does, not where the wait did */
	struct wait_cause cause;
};

struct wait_path {
	struct wait_segment *segments;
	uint32_t n, capacity;
	bool open;                  /* the last segment is a wait that has not ended: nobody knows by whom yet */
	uint64_t begin_ns, end_ns;  /* what was answered: the window, less what is not kept */
};

void wait_path_init(struct wait_path *p);
void wait_path_release(struct wait_path *p);

/* By walking the graph as far as it is kept: any row, any window within the retention. */
void wait_path_resolve(const struct wait_graph *g, wait_row row, uint64_t begin_ns, uint64_t end_ns,
		       struct wait_path *out);

#endif
