/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/totals.h"

#include <glib.h>
#include <string.h>

#include "waits/internal.h"

enum {
	SUM_STRIDE = 16,
	SUMS_LEAST = 4,
	DEPTH_MAX = 512,
	STEPS_MAX = 1 << 16, /* where there is no memory for sums, chains of waits have very many branches */
};

/* One computation, and its sums so far. */
struct adder {
	const struct wait_graph *g;
	uint64_t *ns; /* SUM_WIDTH sums */
	unsigned steps;
};

void wait_totals_add(struct wait_totals *totals, wait_row row, const struct wait_segment *s)
{
	uint64_t ns = s->end_ns - s->begin_ns;

	if (s->wire)
		totals->wire_ns += ns;
	else
		totals->ns[s->state] += ns;
	if (s->row == row && !s->wire)
		totals->own_ns += ns;
}

static void add_at(struct adder *a, wait_row row, uint64_t t_ns, int sign, unsigned depth);
static void add_explained(struct adder *a, wait_row row, const struct vertex *v, uint64_t from_ns, uint64_t to_ns,
			  int sign, unsigned depth, unsigned waiter);

/* Depth 0 is the row itself, and counts as its own time. It may occur again at a greater depth, among its wakers. */
static void add_state(struct adder *a, unsigned kind, uint64_t ns, int sign, unsigned depth)
{
	a->ns[kind] += sign < 0 ? -ns : ns;
	if (!depth && kind != SUM_WIRE)
		a->ns[SUM_OWN] += sign < 0 ? -ns : ns;
}

static struct sum *sum_get(const struct row_sums *s, uint32_t index)
{
	return &s->ring[(s->head + index) & s->mask];
}

/* The number of the row's sums that are at or before vertex seq. */
static uint32_t sums_until(const struct row_sums *s, uint64_t seq)
{
	uint32_t low = 0, high = s->n;

	if (high && sum_get(s, high - 1)->seq <= seq)
		return high;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sum_get(s, middle)->seq <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* 1 + the sequence number of the last vertex at or before t_ns that ended a wait for work; 0: none is kept. */
static uint64_t last_idle(const struct graph_row *r, uint64_t t_ns)
{
	uint64_t seq, first = r->head, idle = 0;
	uint32_t n;

	if (!r->idles)
		return 0;
	seq = row_find(r, t_ns);
	if (seq == r->end || row_vertex(r, seq)->t_ns > t_ns) {
		if (seq == r->head)
			return 0;
		seq--;
	}
	n = r->sums ? sums_until(r->sums, seq) : 0;
	if (n) {
		first = sum_get(r->sums, n - 1)->seq + 1;
		idle = sum_get(r->sums, n - 1)->idle;
	}
	for (uint64_t at = seq + 1; at-- > first;)
		if (row_vertex(r, at)->idle)
			return at + 1;
	return idle > r->head ? idle : 0;
}

/* F(row, until) - F(row, since) */
static void add_between(struct adder *a, wait_row row, uint64_t since_ns, uint64_t until_ns, int sign, unsigned depth)
{
	if (until_ns <= since_ns)
		return;
	add_at(a, row, until_ns, sign, depth);
	add_at(a, row, since_ns, -sign, depth);
}

/* The same if until_ns is the source of a link: an edge that is a wait at that time does not continue into its past. */
static void add_waker(struct adder *a, wait_row row, uint64_t since_ns, uint64_t until_ns, int sign, unsigned depth)
{
	const struct graph_row *r = &a->g->rows[row];
	uint64_t seq = row_find(r, until_ns), left_ns;
	unsigned state = WAIT_RUNNING;

	if (seq < r->end && row_vertex(r, seq)->t_ns > until_ns) {
		const struct vertex *v = row_vertex(r, seq);

		state = v->gap ? WAIT_UNKNOWN : v->state;
		left_ns = r->head || seq ? row_left_ns(r, seq) : until_ns;
	} else if (seq == r->end && r->end) {
		state = r->present;
		left_ns = r->last_ns;
	}
	if (state < WAIT_STATES && (wait_state_blocks(state) || state == WAIT_UNKNOWN)) {
		left_ns = MAX(left_ns, since_ns);
		add_state(a, state, until_ns - left_ns, sign, depth);
		until_ns = left_ns;
	}
	add_between(a, row, since_ns, until_ns, sign, depth);
}

/*
 * Adds [since, until[ of the row for a thread that waited for it, up to the source of a link at linked_ns: for
 * the time before the row got its work, the threads that gave it the work count instead. waiter: that thread's depth.
 */
static void add_row(struct adder *a, wait_row row, uint64_t since_ns, uint64_t until_ns, uint64_t linked_ns, int sign,
		    unsigned depth, unsigned waiter)
{
	const struct graph_row *r = &a->g->rows[row];
	const uint64_t idle = last_idle(r, linked_ns);
	const struct vertex *work = idle ? row_vertex(r, idle - 1) : NULL;

	if (work && work->t_ns > since_ns) {
		uint64_t idle_ns = MIN(until_ns, work->t_ns);

		if (work->link != WAIT_LINK_NONE) {
			add_explained(a, row, work, since_ns, idle_ns, sign, depth, waiter);
		} else {
			uint64_t came_ns = CLAMP(work->came_ns, since_ns, idle_ns);

			add_state(a, vertex_rest(a->g, work), came_ns - since_ns, sign, waiter);
			add_between(a, row, came_ns, idle_ns, sign, depth);
		}
		since_ns = idle_ns;
	}
	if (until_ns == linked_ns && since_ns < until_ns)
		add_waker(a, row, since_ns, until_ns, sign, depth);
	else
		add_between(a, row, since_ns, until_ns, sign, depth);
}

/* What the time between the ends of v's link counts as. */
static unsigned kind_between(const struct vertex *v, wait_row row)
{
	if (v->link != WAIT_LINK_NETWORK && v->link != WAIT_LINK_TRANSIT)
		return WAIT_UNKNOWN;
	return v->from == row ? (unsigned)WAIT_NETWORK : (unsigned)SUM_WIRE;
}

/*
 * Adds [from, to[, a part of the wait, the gap or the time before the row's start that v's link ended. waiter: depth of
 * the thread that waits; less than the row's if the row has waited for work meanwhile.
 */
static void add_explained(struct adder *a, wait_row row, const struct vertex *v, uint64_t from_ns, uint64_t to_ns,
			  int sign, unsigned depth, unsigned waiter)
{
	uint64_t wire_ns = MAX(from_ns, v->from_ns);

	if (from_ns == to_ns)
		return;
	if (depth >= DEPTH_MAX || ++a->steps > STEPS_MAX) {
		add_state(a, WAIT_UNKNOWN, to_ns - from_ns, sign, depth);
		return;
	}
	if (from_ns < v->from_ns && v->link == WAIT_LINK_TRANSIT)
		add_state(a, v->state, MIN(to_ns, v->from_ns) - from_ns, sign, depth);
	else if (from_ns < v->from_ns)
		add_row(a, v->from, from_ns, MIN(to_ns, v->from_ns), v->from_ns, sign, depth + 1, waiter);
	if (to_ns <= wire_ns)
		return;
	if (v->link == WAIT_LINK_WORK) /* what the worker did since the item was queued */
		add_between(a, row, wire_ns, to_ns, sign, depth + 1);
	else
		add_state(a, kind_between(v, row), to_ns - wire_ns, sign, depth);
}

static bool explained(const struct vertex *v)
{
	return v->link != WAIT_LINK_NONE && (v->gap || wait_state_blocks(v->state));
}

/* Adds the edge to vertex seq (not a row's first), up to t_ns. */
static void add_edge(struct adder *a, wait_row row, uint64_t seq, uint64_t t_ns, int sign, unsigned depth)
{
	const struct graph_row *r = &a->g->rows[row];
	const struct vertex *v = row_vertex(r, seq);
	uint64_t left_ns = row_left_ns(r, seq);

	if (explained(v))
		add_explained(a, row, v, left_ns, t_ns, sign, depth, depth);
	else
		add_state(a, v->gap ? WAIT_UNKNOWN : v->state, t_ns - left_ns, sign, depth);
}

/* Before its first vertex, a row's time is its creator's; before the vertices kept, it is unknown. */
static void add_before(struct adder *a, wait_row row, uint64_t t_ns, int sign, unsigned depth)
{
	const struct graph_row *r = &a->g->rows[row];

	if (!r->head && row_vertex(r, 0)->link != WAIT_LINK_NONE)
		add_explained(a, row, row_vertex(r, 0), t_ns, row_vertex(r, 0)->t_ns, -sign, depth, depth);
	else
		add_state(a, WAIT_UNKNOWN, (r->head ? r->before_ns : row_vertex(r, 0)->t_ns) - t_ns, -sign, depth);
}

/* Adds the last sum at or before vertex seq and returns its vertex; for the base, the one before the oldest. */
static uint64_t add_base(struct adder *a, wait_row row, uint64_t seq, int sign, unsigned depth)
{
	const struct graph_row *r = &a->g->rows[row];
	const struct row_sums *s = r->sums;
	unsigned width = depth ? SUM_KINDS : SUM_WIDTH;
	const uint64_t *ns;
	uint32_t low;
	uint64_t at;

	if (!s)
		return r->head ? r->head - 1 : 0;
	low = sums_until(s, seq);
	ns = low ? sum_get(s, low - 1)->ns : s->base;
	at = low ? sum_get(s, low - 1)->seq : r->head ? r->head - 1 : 0;
	for (unsigned i = 0; i < width; i++)
		a->ns[i] += sign < 0 ? -ns[i] : ns[i];
	return at;
}

/* Adds F(row, t), or subtracts it if sign is negative. */
static void add_at(struct adder *a, wait_row row, uint64_t t_ns, int sign, unsigned depth)
{
	const struct graph_row *r = &a->g->rows[row];
	uint64_t seq, at, last;

	if (!r->end) {
		add_state(a, WAIT_UNKNOWN, t_ns, sign, depth);
		return;
	}
	if (t_ns < (r->head ? r->before_ns : row_vertex(r, 0)->t_ns)) {
		add_base(a, row, r->head ? r->head - 1 : 0, sign, depth);
		add_before(a, row, t_ns, sign, depth);
		return;
	}
	seq = row_find(r, t_ns);
	if (seq < r->end && row_vertex(r, seq)->summed && explained(row_vertex(r, seq))) {
		/* back from its end: all look-ups are then for this time, one for each wait of the chain */
		add_base(a, row, seq, sign, depth);
		add_explained(a, row, row_vertex(r, seq), t_ns, row_vertex(r, seq)->t_ns, -sign, depth, depth);
		return;
	}
	last = seq < r->end && row_vertex(r, seq)->t_ns == t_ns ? seq : seq - 1;
	for (at = add_base(a, row, last, sign, depth) + 1; at <= last; at++)
		add_edge(a, row, at, row_vertex(r, at)->t_ns, sign, depth);
	if (last == seq || t_ns == r->last_ns)
		return;
	if (seq < r->end)
		add_edge(a, row, seq, t_ns, sign, depth);
	else
		add_state(a, r->present == WAIT_STATES ? WAIT_UNKNOWN : r->present, t_ns - r->last_ns, sign, depth);
}

static void sums_resize(struct wait_graph *g, struct row_sums *s, uint32_t capacity)
{
	struct sum *ring = g_new(struct sum, capacity);

	for (uint32_t i = 0; i < s->n; i++)
		ring[i] = *sum_get(s, i);
	if (s->ring)
		g->bytes -= ((size_t)s->mask + 1) * sizeof(*ring);
	g->bytes += capacity * sizeof(*ring);
	g_free(s->ring);
	s->ring = ring;
	s->mask = capacity - 1;
	s->head = 0;
}

static void sum_up(struct wait_graph *g, wait_row row)
{
	struct graph_row *r = &g->rows[row];
	struct row_sums *s = r->sums;
	struct vertex *v;
	struct sum sum = { 0 };
	struct adder a = { .g = g, .ns = sum.ns };

	if (!s) {
		s = r->sums = g_new0(struct row_sums, 1);
		s->next = r->head;
		g->bytes += sizeof(*s);
	}
	sum.seq = s->next;
	v = row_vertex(r, sum.seq);
	if (sum.seq && (explained(v) || sum.seq % SUM_STRIDE == 0)) {
		sum.idle = last_idle(r, v->t_ns);
		for (uint64_t at = add_base(&a, row, sum.seq, 1, 0) + 1; at <= sum.seq; at++)
			add_edge(&a, row, at, row_vertex(r, at)->t_ns, 1, 0);
		if (!s->ring || s->n > s->mask)
			sums_resize(g, s, s->ring ? 2 * (s->mask + 1) : SUMS_LEAST);
		*sum_get(s, s->n++) = sum;
		v->summed = true;
	}
	s->next++;
}

/* Computes the missing sums of vertices up to and including t_ns, if memory allows. */
static void totals_advance(struct wait_graph *g, uint64_t t_ns)
{
	struct queue_place *p = &g->summed;

	g->totals = true;
	while (g->totals && p->chunk && p->index < p->chunk->n) {
		wait_row row = p->chunk->rows[p->index];
		const struct graph_row *r = &g->rows[row];

		if (row_vertex(r, r->sums ? r->sums->next : r->head)->t_ns > t_ns)
			return;
		sum_up(g, row);
		if (++p->index == CHUNK_ROWS && p->chunk->next)
			*p = (struct queue_place){ p->chunk->next, 0 };
		graph_fit(g);
	}
}

void totals_forget(struct wait_graph *g)
{
	for (uint32_t i = 0; i < g->n_rows; i++)
		totals_release(g, &g->rows[i]);
	g->totals = false;
}

void totals_drop(struct wait_graph *g, struct graph_row *r)
{
	struct row_sums *s = r->sums;

	if (row_vertex(r, r->head)->summed) {
		memcpy(s->base, sum_get(s, 0)->ns, sizeof(s->base));
		s->head++;
		s->n--;
		if (s->mask + 1 > SUMS_LEAST && (uint64_t)s->n * 8 < ((uint64_t)s->mask + 1) * 3)
			sums_resize(g, s, (s->mask + 1) / 2);
	} else if (r->head) {
		wait_row row = r - g->rows;
		struct adder a = { .g = g, .ns = s->base };

		add_edge(&a, row, r->head, row_vertex(r, r->head)->t_ns, 1, 0);
	}
}

void totals_release(struct wait_graph *g, struct graph_row *r)
{
	if (!r->sums)
		return;
	g->bytes -= sizeof(*r->sums);
	if (r->sums->ring)
		g->bytes -= ((size_t)r->sums->mask + 1) * sizeof(*r->sums->ring);
	g_free(r->sums->ring);
	g_free(r->sums);
	r->sums = NULL;
}

void wait_totals_window(struct wait_graph *g, wait_row row, uint64_t begin_ns, uint64_t end_ns, struct wait_totals *out)
{
	const struct graph_row *r = row < g->n_rows ? &g->rows[row] : NULL;
	uint64_t ns[SUM_WIDTH] = { 0 };
	struct adder a = { .g = g, .ns = ns };

	memset(out, 0, sizeof(*out));
	if (!r || !r->end)
		return;
	totals_advance(g, g->final_ns);
	begin_ns = MAX(begin_ns, row_begin_ns(g, r));
	end_ns = MIN(end_ns, row_end_ns(r));
	if (g->summed.chunk && g->summed.index < g->summed.chunk->n) /* some are not final yet */
		end_ns = MIN(end_ns, g->final_ns);
	if (begin_ns >= end_ns)
		return;
	add_at(&a, row, end_ns, 1, 0);
	add_at(&a, row, begin_ns, -1, 0);
	for (unsigned i = 0; i < WAIT_STATES; i++)
		out->ns[i] = (int64_t)ns[i] < 0 ? 0 : ns[i];
	out->wire_ns = (int64_t)ns[SUM_WIRE] < 0 ? 0 : ns[SUM_WIRE];
	out->own_ns = (int64_t)ns[SUM_OWN] < 0 ? 0 : ns[SUM_OWN];
}
