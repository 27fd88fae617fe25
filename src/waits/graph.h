/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_GRAPH_H
#define LT_WAITS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strpool.h"
#include "model/waitlog.h"

/*
 * The wake-up graph: rows (a thread; the packets received by a CPU; an idle
 * task) of vertices in time, an edge from each vertex to the next of its row with
 * the state in between, and links from row to row: because of that.
 *
 *   waker  ──running──●──running──▶            ● vertex (row, time)
 *                     │ wake-up
 *   woken  ──blocked──●──preempted──●──running──▶
 *
 * Times are reference ns (clock/map.h), input in time order. What is older than the retention or
 * beyond the memory is dropped: O(1) per vertex, amortised. After Giraldeau and Dagenais, "Wait
 * analysis of distributed systems using kernel tracing", IEEE TPDS 27(8), 2016. Main thread only.
 */
struct wait_graph;

typedef uint32_t wait_row; /* a number; reused only after graph_row_free() and after its vertices are gone */

#define WAIT_NO_ROW UINT32_MAX

enum wait_link {
	WAIT_LINK_NONE = 0,
	WAIT_LINK_WAKEUP,
	WAIT_LINK_FORK,
	WAIT_LINK_NETWORK,
	WAIT_LINK_TIMER, /* within a row: it set the timer that wakes it; the time between is WAIT_TIMER */
};

/* Waits that are to be explained further; other states explain themselves. */
static inline bool wait_state_blocks(enum wait_state state)
{
	return state == WAIT_BLOCKED || state == WAIT_NETWORK;
}

/* Why an edge has its state, as far as the trace tells: names, all may be STRID_NONE. */
struct wait_cause {
	strid name;   /* device, irq … */
	strid call;   /* system call it was blocked in */
	strid object; /* path or peer of fd */
	int32_t fd;   /* -1: none */
	uint8_t role; /* enum wait_role, of a wait that another thread ended */
};

struct wait_graph *graph_create(uint64_t retention_ns, size_t memory_bytes); /* 0: no bound */
void graph_destroy(struct wait_graph *g);
void graph_clear(struct wait_graph *g);

wait_row graph_row_add(struct wait_graph *g);

/* Its thread is gone, its path ends with its last vertex: the number is free long after that is not kept any more. */
void graph_row_free(struct wait_graph *g, wait_row row);

/* A vertex whose row has no edge to it: nothing is known of the time since the row's last one. */
void graph_gap(struct wait_graph *g, wait_row row, uint64_t t_ns);

/*
 * A vertex that ends an edge of this state; of a row's first vertex there is
 * none. A second one at the row's last time is the same vertex and changes nothing (returns
 * false). Times before the row's last are refused and counted. cause: copied, NULL none.
 */
bool graph_vertex(struct wait_graph *g, wait_row row, uint64_t t_ns, enum wait_state state,
		  const struct wait_cause *cause);

/*
 * What the row does since its last vertex, as far as is known yet; forgotten at
 * its next one. It is the path's open end, and what a waker does whose edge is
 * still open: call it at least for running. WAIT_STATES: not known, as at first. cause: copied, NULL none.
 */
void graph_present(struct wait_graph *g, wait_row row, enum wait_state state, const struct wait_cause *cause);

/*
 * A link to the vertex at to_ns, as a rule the last of `to`. Of several to one
 * vertex, the one that starts first is kept. The source is a vertex, or any time of
 * an edge that is running (make a vertex first for others: what they are is
 * only known at their end). A link to a vertex that is not its row's last, or where time has passed it (a packet
 * that is matched late), is possible while it is kept, but followed rows may have passed it: it is counted
 * as `behind`. Links that start after their end, or at the same vertex, are refused and counted as `late`.
 */
void graph_link(struct wait_graph *g, wait_row from, uint64_t from_ns, wait_row to, uint64_t to_ns,
		enum wait_link kind);

/*
 * Everything up to and including t_ns is final: followed rows are expanded (follow.h),
 * old vertices dropped. As seldom as one likes, but memory is bounded by the input between two calls,
 * where it is not by memory_bytes.
 */
void graph_advance(struct wait_graph *g, uint64_t t_ns);

/* The row's last vertex; false: it has none. */
bool graph_last(const struct wait_graph *g, wait_row row, uint64_t *t_ns);

/*
 * The edge that ends at the row's vertex at t_ns, its last one, was a wait for work: nothing before it
 * explains what others waited for after it. That goes on where the link to this vertex leads (who gave it the
 * work), without one stays with who waited. Not of a gap.
 */
void graph_idle(struct wait_graph *g, wait_row row, uint64_t t_ns);

struct wait_graph_info {
	uint64_t horizon_ns; /* nothing before this is kept */
	uint64_t vertices;
	size_t bytes;
	uint64_t late;         /* vertices and links that came too late, were left out */
	uint64_t behind;       /* vertices where time had passed, and links to such: followed rows do not know them */
	uint64_t behind_ns;    /* none of these is later; 0: there are none */
	uint64_t uncaused;     /* vertices that lost their cause: too many different ones */
	uint64_t cut;          /* vertices that the memory, not the retention, ended */
	uint64_t retention_ns; /* effective: now - horizon */
};

/* Tells the string pool which paths its causes hold: strpool_round_begin(). */
void graph_keep_paths(const struct wait_graph *g);

struct wait_graph_info graph_info(const struct wait_graph *g);

#endif
