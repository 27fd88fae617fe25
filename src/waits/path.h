/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_PATH_H
#define LT_WAITS_PATH_H

#include "waits/graph.h"

/*
 * The critical path of a row over a window: what it did and what it waited for,
 * followed through all the threads involved, as segments that tile the window exactly,
 * oldest first. Adjacent segments that are the same in everything but time are merged.
 */

/* Segments that fill a time about which the graph knows only its two ends. Trace Compass draws … */
enum wait_fill {
	WAIT_FILL_NONE = 0, /* not a fill: an edge of the graph, or a link with a duration */
	WAIT_FILL_FIRST,    /* before the first known piece that explains a wait: … an UNKNOWN edge of the row */
	WAIT_FILL_STITCH,   /* between two pieces of one row: … a DEFAULT edge of the row */
	WAIT_FILL_ACROSS,   /* between pieces of two rows, on the later one: … a DEFAULT link with a duration */
};

struct wait_segment {
	uint64_t begin_ns, end_ns; /* reference time */
	wait_row row;              /* which row did this; for a packet in transit, the receiver's */
	enum wait_state state;     /* for a fill: blocked where the row is known to be, else unknown */
	bool wire;                 /* a packet in transit between two rows; state and link are both "network" */
	enum wait_fill fill;
	enum wait_link link; /* how the path came to this segment; for the first that is not a packet: none */
	wait_row from;       /* the row where that link starts, or WAIT_NO_ROW */
	bool cut;            /* starts where the graph does, not where the wait did */
	uint8_t role;        /* enum wait_role of the path's row in the wait that this segment explains, else none */
	struct wait_cause cause;
};

struct wait_path {
	struct wait_segment *segments;
	uint32_t n, capacity;
	bool open;                 /* the last segment is a wait that has not ended, so its cause is not known yet */
	bool partial;              /* a chain of waits was too long to be followed to its end; the rest is a fill */
	uint32_t undone;           /* pieces that the walk took and undid, which are limited for each path */
	uint64_t begin_ns, end_ns; /* the part of the window that the graph holds and in which the row existed */
};

void wait_path_init(struct wait_path *p);
void wait_path_release(struct wait_path *p);

/* Extends the path to all of [begin, end[: what is missing at its ends is unknown, on this row. */
void wait_path_fill(struct wait_path *p, wait_row row, uint64_t begin_ns, uint64_t end_ns);

/*
 * Computes the path of any row, over any window within the retention, by walking the graph. Each wait is explained as a
 * whole and then cut at the window, so the results for two windows agree where they overlap, unless one is partial. The
 * path ends at the row's last vertex (a thread's exit), unless graph_present() has set what the row does now. *out must
 * be initialised; its memory is reused.
 */
void wait_path_resolve(const struct wait_graph *g, wait_row row, uint64_t begin_ns, uint64_t end_ns,
		       struct wait_path *out);

#endif
