/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_INTERNAL_H
#define LT_WAITS_INTERNAL_H

#include "waits/causes.h"
#include "waits/follow.h"
#include "waits/graph.h"
#include "waits/path.h"
#include "waits/resolve.h"
#include "waits/totals.h"

/*
 * How the graph lies in memory, for the files that walk it.
 *
 *   row ──▶ ring of vertices, a power of two, by sequence number & mask:
 *
 *            … dropped │ head ─────────── kept ─────────── │ end
 *                 ▲
 *                 before_ns: the last one dropped, where the edge to head begins
 *
 * A vertex stands for itself, the edge that ends at it and the link that ends at
 * it. Vertices are dropped in the order they came, from all rows: one queue of row numbers,
 * as the oldest of a row is the first of it in the queue.
 */
struct vertex {
	uint64_t t_ns;
	uint64_t from_ns; /* the link's source, if link is not WAIT_LINK_NONE */
	wait_row from;
	uint32_t cause : 22; /* causes.h */
	uint32_t state : 4;  /* enum wait_state, of the edge */
	uint32_t link : 3;   /* enum wait_link */
	uint32_t gap : 1;    /* no edge ends here: a row's first one, or nothing is known of the time before */
	uint32_t idle : 1;   /* graph_idle() */
	uint32_t summed : 1; /* a prefix sum is kept of this one */
};

/* Prefix sums modulo 2^64: only differences count. */
enum {
	SUM_WIRE = WAIT_STATES,
	SUM_KINDS, /* those that a waker's are added of */
	SUM_OWN = SUM_KINDS,
	SUM_WIDTH
};

struct sum {
	uint64_t seq;  /* of its vertex */
	uint64_t idle; /* the sequence number of the last idle one up to there + 1, 0: none */
	uint64_t ns[SUM_WIDTH];
};

/* A row's sums: at waits that are explained, and at every SUM_STRIDE-th vertex. */
struct row_sums {
	struct sum *ring;
	uint32_t mask, head, n;   /* mask + 1: capacity; head: index of the oldest */
	uint64_t next;            /* sequence number of the first vertex not summed up yet */
	uint64_t base[SUM_WIDTH]; /* at before_ns; 0 if nothing was dropped */
};

struct graph_row {
	struct vertex *ring;
	struct row_sums *sums;
	uint32_t mask;   /* capacity - 1, if there is a ring */
	uint8_t present; /* enum wait_state, WAIT_STATES: not known */
	bool used, freed;
	bool idles;         /* it has had idle vertices */
	uint32_t followed;  /* its number in follow.c + 1, 0: not */
	uint64_t head, end; /* sequence numbers: the oldest kept, and after the last */
	uint64_t before_ns; /* if head > 0 */
	uint64_t last_ns;   /* if end > 0 */
	uint64_t born_ns;   /* links from before this are another's, who had the number */
	struct wait_cause present_cause;
};

/* The queue of rows, one entry per vertex kept. */
enum { CHUNK_ROWS = 16 * 1024 - 4 };

struct graph_chunk {
	struct graph_chunk *next;
	uint32_t n;
	wait_row rows[CHUNK_ROWS];
};

struct queue_place {
	struct graph_chunk *chunk;
	uint32_t index;
};

struct freed_row {
	wait_row row;
	uint64_t t_ns;
};

struct walker; /* resolve.c */

struct wait_graph {
	struct graph_row *rows;
	uint32_t n_rows, rows_capacity;
	wait_row *free_rows;
	uint32_t n_free, free_capacity;
	struct freed_row *freed; /* a ring, oldest first: waiting to be free */
	uint32_t freed_mask, freed_head, n_freed;
	struct causes causes;

	struct queue_place oldest, summed, newest; /* summed: the first not summed up yet; newest: behind the last */
	uint64_t n_vertices;

	uint64_t retention_ns;
	size_t memory_bytes;
	size_t bytes;                          /* of vertices, sums, the queue; causes count for themselves */
	uint64_t first_ns, now_ns, horizon_ns; /* first_ns: UINT64_MAX before anything came */
	uint64_t late, behind, cut;
	bool totals;        /* sums are kept: they were asked for, and not so long ago */
	uint64_t final_ns;  /* of the last graph_advance() */
	uint64_t behind_ns; /* .final_ns when .behind was counted last */

	struct wait_follow *follow;
	struct walker *walker;
};

static inline uint64_t row_count(const struct graph_row *r)
{
	return r->end - r->head;
}

static inline struct vertex *row_vertex(const struct graph_row *r, uint64_t seq)
{
	return &r->ring[seq & r->mask];
}

/* Where the edge to vertex seq begins; the vertex must be kept and no gap. */
static inline uint64_t row_left_ns(const struct graph_row *r, uint64_t seq)
{
	return seq > r->head ? row_vertex(r, seq - 1)->t_ns : r->before_ns;
}

/* The first kept vertex at or after t_ns; r->end: none. Near the end is found fast. */
uint64_t row_find(const struct graph_row *r, uint64_t t_ns);

/* Nothing of the row before this is known: what was dropped, or its first vertex. r->end > 0. */
uint64_t row_begin_ns(const struct wait_graph *g, const struct graph_row *r);

/* Its path ends here: now if it is known what it does, else its last vertex. r->end > 0. */
static inline uint64_t row_end_ns(const struct graph_row *r)
{
	return r->present == WAIT_STATES ? r->last_ns : UINT64_MAX;
}

/* resolve.c */

/*
 * Appends what the row did over the edge to vertex seq, cut at the window of
 * *path (path_open()): the edge itself, or what explains it. The walk goes no further back than the horizon.
 */
void resolve_edge(const struct wait_graph *g, wait_row row, uint64_t seq, struct wait_path *path);

/* The same for what the row does since its last vertex. */
void resolve_present(const struct wait_graph *g, wait_row row, struct wait_path *path);

struct walker *walker_create(void);
void walker_destroy(struct walker *w);

/* path.c */

/* Empties the path, for a window; segments are then appended in order and cut at it. */
void path_open(struct wait_path *p, uint64_t begin_ns, uint64_t end_ns);

/* A window's first segment has no link; what differs in nothing from the last segment lengthens it. */
void path_append(struct wait_path *p, const struct wait_segment *s);

/*
 * Appends the row's edges from the one to vertex seq on (not a row's first
 * vertex) and its present; in the place of waits what explains them.
 */
void path_append_row(const struct wait_graph *g, wait_row row, uint64_t seq, struct wait_path *out);

/* graph.c */

/* Drops the oldest vertices until what is kept fits into the memory. */
void graph_fit(struct wait_graph *g);

/* follow.c */
void follow_advance(struct wait_follow *f, uint64_t t_ns);
void follow_clear(struct wait_follow *f);

/* totals.c */

/* Not one vertex that is kept is summed up: no more sums until they are asked for again. */
void totals_forget(struct wait_graph *g);

/* The row's oldest vertex is about to be dropped. */
void totals_drop(struct wait_graph *g, struct graph_row *r);
void totals_release(struct wait_graph *g, struct graph_row *r);

#endif
