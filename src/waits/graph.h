/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_GRAPH_H
#define LT_WAITS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strpool.h"
#include "model/waitlog.h"

/*
 * The wake-up graph. A row (a thread, an idle task, or the packets received by a
 * CPU) is a sequence of vertices in time. An edge joins each vertex to the next of
 * its row and has the state in between. A link from one row to another is the reason for a change of state.
 *
 *   waker  ──running──●──running──▶            ● vertex (row, time)
 *                     │ wake-up
 *   woken  ──blocked──●──preempted──●──running──▶
 *
 * Times are reference time (clock/map.h) in ns; the input must be in time order. The oldest vertices are
 * dropped when they are older than the retention or the memory is full: O(1) per vertex, amortised. After
 * Giraldeau and Dagenais, "Wait analysis of distributed systems using kernel tracing", IEEE TPDS 27(8), 2016.
 * Main thread only.
 */
struct wait_graph;

typedef uint32_t wait_row; /* a number, reused only after graph_row_free() and when its vertices are gone */

#define WAIT_NO_ROW UINT32_MAX

enum wait_link {
	WAIT_LINK_NONE = 0,
	WAIT_LINK_WAKEUP,
	WAIT_LINK_FORK,
	WAIT_LINK_NETWORK,
	WAIT_LINK_WORK, /* it starts a work item that the other queued; what it did in between delayed it */
	/* a packet of the other, since it was queued or the wait began; before that, the row explains itself */
	WAIT_LINK_TRANSIT,
};

/* Whether the state is a wait that needs an explanation; other states explain themselves. */
static inline bool wait_state_blocks(enum wait_state state)
{
	return state == WAIT_BLOCKED || state == WAIT_NETWORK;
}

/* Why an edge has its state, if that is known. Each name may be STRID_NONE. */
struct wait_cause {
	strid name;   /* device, IRQ …; of WAIT_PREEMPTED: the thread that ran longest meanwhile, "idle" */
	strid call;   /* system call in which the thread was blocked */
	strid object; /* path or peer of fd */
	int32_t fd;   /* -1: none */
	int32_t tid;  /* of WAIT_PREEMPTED: that thread; 0: name is not a thread's */
	uint8_t role; /* enum wait_role, for a wait that another thread ended */
	uint8_t rest; /* for graph_idle(): enum wait_state */
};

struct wait_graph *graph_create(uint64_t retention_ns, size_t memory_bytes); /* 0: no limit */
void graph_destroy(struct wait_graph *g);
void graph_clear(struct wait_graph *g);

/* The caller keeps so much memory for each row in use, which counts as the graph's. */
void graph_set_owned(struct wait_graph *g, size_t row_bytes);

/* Memory of a row without vertices. */
size_t graph_row_bytes(void);

wait_row graph_row_add(struct wait_graph *g);

/*
 * The row's thread is gone, and its path ends at its last vertex. The number becomes free some time after that
 * vertex has been dropped.
 */
void graph_row_free(struct wait_graph *g, wait_row row);

/* Adds a vertex with no edge to it: nothing is known about the time since the row's last one. */
void graph_gap(struct wait_graph *g, wait_row row, uint64_t t_ns);

/*
 * Adds a vertex; the edge that ends there has this state and cause. A row's first vertex has no such edge. Returns
 * false, and changes nothing, if the row's last vertex is at t_ns already, or if it is later, or if t_ns is no longer
 * kept; the last two are counted as `late`. cause is copied; NULL: unknown.
 */
bool graph_vertex(struct wait_graph *g, wait_row row, uint64_t t_ns, enum wait_state state,
		  const struct wait_cause *cause);

/*
 * Sets what the row has been doing since its last vertex, as far as is known; its next vertex resets it. It
 * becomes the open end of the row's path, and says what a waker does whose edge is still open, so call it at least for
 * running. WAIT_STATES, the initial value: unknown. cause is copied; NULL: unknown.
 */
void graph_present(struct wait_graph *g, wait_row row, enum wait_state state, const struct wait_cause *cause);

/*
 * Links the row `from` at from_ns to the vertex of `to` at to_ns, usually its last. If a vertex gets several links, the
 * one that starts first is kept. The source may be a vertex, or any time within an edge that is running; add a vertex
 * first to start a link from any other edge, because its state is known only at its end. The vertex at to_ns may be one
 * that is no longer the last of its row or whose time is final, if it is still kept (a packet that was matched late).
 * Followed rows may have been expanded past it, so such a link counts as `behind`. A link that starts after its end, at
 * its own vertex, or whose vertex does not exist is refused and counts as `late`.
 */
void graph_link(struct wait_graph *g, wait_row from, uint64_t from_ns, wait_row to, uint64_t to_ns,
		enum wait_link kind);

/*
 * Makes everything up to and including t_ns final: expands followed rows (follow.h) and drops old vertices. How often
 * it is called does not matter to the result; but between two calls only memory_bytes limits how much the graph grows.
 */
void graph_advance(struct wait_graph *g, uint64_t t_ns);

/* Nothing before t_ns will be asked for again: graph_advance() drops it, whatever the retention. */
void graph_forget(struct wait_graph *g, uint64_t t_ns);

/* The time of the row's last vertex; false: it has had none. */
bool graph_last(const struct wait_graph *g, wait_row row, uint64_t *t_ns);

/*
 * Marks the edge that ends at the row's last vertex, at t_ns, as a wait for work; ignored for a gap. What
 * the row did before that vertex does not explain why others wait for it afterwards. Such an explanation continues
 * at the source of the link to this vertex, the thread that gave the row its work. Without a link, an interrupt brought
 * the work at came_ns, at most t_ns: what the row did from then on still explains the wait. The rest of the wait stays
 * with the thread that waited: in state by->rest, for the reason by->name, if the work came from a disk, the network or
 * a timer; otherwise (by NULL or its rest WAIT_RUNNING) it is unexplained. by is copied; its other fields are unset.
 */
void graph_idle(struct wait_graph *g, wait_row row, uint64_t t_ns, uint64_t came_ns, const struct wait_cause *by);

struct wait_graph_info {
	uint64_t horizon_ns; /* nothing before this is kept */
	uint64_t vertices;
	size_t bytes;
	uint64_t late;         /* vertices and links that came too late and were refused */
	uint64_t behind;       /* vertices at times already final, and links to earlier vertices: graph_link() */
	uint64_t behind_ns;    /* followed rows may lack these up to here; 0: there were none */
	uint64_t uncaused;     /* vertices without their cause, because there were too many different causes */
	uint64_t cut;          /* vertices dropped because memory was full, not because of their age */
	uint64_t retention_ns; /* effective: now - horizon */
};

/* Keeps the paths and short-lived names in its causes in the string pool: see strpool_round_begin(). */
void graph_keep_paths(const struct wait_graph *g);

struct wait_graph_info graph_info(const struct wait_graph *g);

#endif
