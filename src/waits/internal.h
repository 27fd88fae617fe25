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
 * The graph's layout in memory, for the files that walk it.
 *
 *   row ──▶ ring of vertices, its size a power of two, indexed by sequence number & mask:
 *
 *            … dropped │ head ─────────── kept ─────────── │ end
 *                 ▲
 *                 before_ns: time of the last one dropped, where the edge to head starts
 *
 * A vertex also holds the edge and the link that end at it. Vertices of all rows are dropped in the order in which they
 * came. A single queue of row numbers is enough for that, because the first entry of a row in the queue always stands
 * for its oldest vertex.
 */
struct vertex {
	uint64_t t_ns;
	union {
		uint64_t from_ns; /* the link's source, if link is not WAIT_LINK_NONE */
		uint64_t came_ns; /* if it is: see graph_idle(); 0: it is not idle */
	};
	union {
		wait_row from;
		uint32_t brought_by; /* causes.h; 0: unknown */
	};
	uint32_t cause : 22; /* causes.h */
	uint32_t state : 4;  /* enum wait_state of the edge */
	uint32_t link : 3;   /* enum wait_link */
	uint32_t gap : 1;    /* no edge ends here: the row's first vertex, or the time before is unknown */
	uint32_t idle : 1;   /* graph_idle() */
	uint32_t summed : 1; /* there is a prefix sum for this vertex */
};

/* Prefix sums modulo 2^64: only differences count. */
enum {
	SUM_WIRE = WAIT_STATES,
	SUM_KINDS, /* number of those that are also added from a waker's sums */
	SUM_OWN = SUM_KINDS,
	SUM_WIDTH
};

struct sum {
	uint64_t seq;  /* of its vertex */
	uint64_t idle; /* 1 + the sequence number of the last idle vertex up to there; 0: none */
	uint64_t ns[SUM_WIDTH];
};

/* A row's sums: at waits with an explanation, and at every SUM_STRIDE-th vertex. */
struct row_sums {
	struct sum *ring;
	uint32_t mask, head, n;   /* mask + 1: capacity; head: index of the oldest */
	uint64_t next;            /* sequence number of the first vertex not summed yet */
	uint64_t base[SUM_WIDTH]; /* the sum at before_ns; 0 if no vertex was dropped */
};

struct graph_row {
	struct vertex *ring;
	struct row_sums *sums;
	uint32_t mask;   /* capacity - 1, if there is a ring */
	uint8_t present; /* enum wait_state; WAIT_STATES: unknown */
	bool used, freed;
	bool idles;         /* it has had idle vertices */
	uint32_t followed;  /* 1 + its number in follow.c; 0: not followed */
	uint64_t head, end; /* sequence numbers: the oldest vertex kept, and one past the last */
	uint64_t before_ns; /* if head > 0 */
	uint64_t last_ns;   /* if end > 0 */
	uint64_t born_ns;   /* links that start earlier are from a row that had the number before */
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
	struct freed_row *freed; /* ring of rows that are not free for reuse yet, oldest first */
	uint32_t freed_mask, freed_head, n_freed;
	struct causes causes;

	struct queue_place oldest, summed, newest; /* summed: the first not summed yet; newest: after the last */
	uint64_t n_vertices;

	uint64_t retention_ns;
	uint64_t forgotten_ns; /* graph_forget() */
	size_t memory_bytes;
	size_t owned_bytes;                    /* of each row, by its owner */
	size_t bytes;                          /* of vertices, sums and the queue; causes_bytes() has the causes' */
	uint64_t first_ns, now_ns, horizon_ns; /* first_ns: UINT64_MAX before the first vertex */
	uint64_t late, behind, cut;
	bool totals;        /* sums are kept, because they were used recently */
	uint64_t final_ns;  /* of the last graph_advance() */
	uint64_t behind_ns; /* .final_ns when .behind was last counted */

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

/* What a thread that waits for an idle row without a link waits in until the work came. */
static inline enum wait_state vertex_rest(const struct wait_graph *g, const struct vertex *v)
{
	const enum wait_state rest = (enum wait_state)causes_get(&g->causes, v->brought_by)->rest;

	return rest == WAIT_RUNNING ? WAIT_BLOCKED : rest;
}

/* The start of the edge to vertex seq, which must be kept and not be a gap. */
static inline uint64_t row_left_ns(const struct graph_row *r, uint64_t seq)
{
	return seq > r->head ? row_vertex(r, seq - 1)->t_ns : r->before_ns;
}

/* The row is known from here on: the horizon if vertices were dropped, else its first vertex. Needs r->end > 0. */
uint64_t row_begin_ns(const struct wait_graph *g, const struct graph_row *r);

/* Its path ends here: UINT64_MAX (now) if its present state is known, else its last vertex. Needs r->end > 0. */
static inline uint64_t row_end_ns(const struct graph_row *r)
{
	return r->present == WAIT_STATES ? r->last_ns : UINT64_MAX;
}

/* resolve.c */

/*
 * Appends the edge to vertex seq, or its explanation if it is a wait that has one, cut at
 * the window of *path (path_open()). The walk stops at the horizon.
 */
void resolve_edge(const struct wait_graph *g, wait_row row, uint64_t seq, struct wait_path *path);

/* The same for the row's present state, from its last vertex on. */
void resolve_present(const struct wait_graph *g, wait_row row, struct wait_path *path);

struct walker *walker_create(void);
void walker_destroy(struct walker *w);

/* path.c */

/* The first kept vertex at or after t_ns; r->end: none. Fast near the end. */
uint64_t row_find(const struct graph_row *r, uint64_t t_ns);

/* Empties the path and sets its window; segments are then appended in order and cut at the window. */
void path_open(struct wait_path *p, uint64_t begin_ns, uint64_t end_ns);

/* Appends a segment, or extends the last one if they differ only in time. A window's first segment has no link. */
void path_append(struct wait_path *p, const struct wait_segment *s);

/*
 * Appends the row's edges, starting with the one to vertex seq (not the row's first
 * vertex), and its present state; explanations replace the waits that have one.
 */
void path_append_row(const struct wait_graph *g, wait_row row, uint64_t seq, struct wait_path *out);

/* graph.c */

/* Drops the oldest vertices until the rest fits into the memory. */
void graph_fit(struct wait_graph *g);

/* follow.c */
void follow_advance(struct wait_follow *f, uint64_t t_ns);
void follow_clear(struct wait_follow *f);

/* totals.c */

/* Discards all sums; none are computed until the next wait_totals_window(). */
void totals_forget(struct wait_graph *g);

/* Call it before the row's oldest vertex is dropped. */
void totals_drop(struct wait_graph *g, struct graph_row *r);
void totals_release(struct wait_graph *g, struct graph_row *r);

#endif
