/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/graph.h"

#include <glib.h>
#include <string.h>

#include "waits/internal.h"

enum {
	RING_LEAST = 4,
	NO_PRESENT = WAIT_STATES,
};

struct wait_graph *graph_create(uint64_t retention_ns, size_t memory_bytes)
{
	struct wait_graph *g = g_new0(struct wait_graph, 1);

	g->retention_ns = retention_ns;
	g->memory_bytes = memory_bytes;
	g->first_ns = UINT64_MAX;
	g->walker = walker_create();
	causes_init(&g->causes);
	return g;
}

static void ring_release(struct wait_graph *g, struct graph_row *r)
{
	if (r->ring)
		g->bytes -= ((size_t)r->mask + 1) * sizeof(*r->ring);
	g_clear_pointer(&r->ring, g_free);
}

static void row_release(struct wait_graph *g, struct graph_row *r)
{
	totals_release(g, r);
	ring_release(g, r);
	*r = (struct graph_row){ .present = NO_PRESENT, .followed = r->followed };
}

static void queue_release(struct wait_graph *g)
{
	struct graph_chunk *next;

	for (struct graph_chunk *chunk = g->oldest.chunk; chunk; chunk = next) {
		next = chunk->next;
		g->bytes -= sizeof(*chunk);
		g_free(chunk);
	}
	g->oldest = g->summed = g->newest = (struct queue_place){ 0 };
}

void graph_destroy(struct wait_graph *g)
{
	if (!g)
		return;
	for (uint32_t i = 0; i < g->n_rows; i++)
		row_release(g, &g->rows[i]);
	queue_release(g);
	causes_release(&g->causes);
	walker_destroy(g->walker);
	g_free(g->rows);
	g_free(g->free_rows);
	g_free(g->freed);
	g_free(g);
}

/* Rows */

void graph_set_owned(struct wait_graph *g, size_t row_bytes)
{
	g->owned_bytes = row_bytes;
}

size_t graph_row_bytes(void)
{
	return sizeof(struct graph_row);
}

static void free_number(struct wait_graph *g, wait_row row)
{
	row_release(g, &g->rows[row]);
	if (g->n_free == g->free_capacity) {
		g->free_capacity = g->free_capacity ? 2 * g->free_capacity : 64;
		g->free_rows = g_renew(wait_row, g->free_rows, g->free_capacity);
	}
	g->free_rows[g->n_free++] = row;
}

static void freed_push(struct wait_graph *g, wait_row row)
{
	if (!g->freed || g->n_freed > g->freed_mask) {
		uint32_t capacity = g->freed ? 2 * (g->freed_mask + 1) : 64;
		struct freed_row *ring = g_new(struct freed_row, capacity);

		for (uint32_t i = 0; i < g->n_freed; i++)
			ring[i] = g->freed[(g->freed_head + i) & g->freed_mask];
		g_free(g->freed);
		g->freed = ring;
		g->freed_mask = capacity - 1;
		g->freed_head = 0;
	}
	g->freed[(g->freed_head + g->n_freed++) & g->freed_mask] = (struct freed_row){ row, g->now_ns };
}

void graph_row_free(struct wait_graph *g, wait_row row)
{
	struct graph_row *r = &g->rows[row];

	if (!r->used || r->freed)
		return;
	r->freed = true;
	r->present = NO_PRESENT;
	freed_push(g, row);
}

/*
 * No link from a row starts after the row's end, so once that is past the horizon no walk comes to it. The number
 * stays reserved for as long again, for segments that name the sender of a packet that was in transit for long.
 */
static void free_old_rows(struct wait_graph *g)
{
	for (uint32_t n = g->n_freed; n; n--) {
		struct freed_row f = g->freed[g->freed_head & g->freed_mask];

		if (f.t_ns + (g->now_ns - g->horizon_ns) > g->horizon_ns || row_count(&g->rows[f.row]))
			return;
		g->freed_head++;
		g->n_freed--;
		if (g->rows[f.row].followed)
			freed_push(g, f.row); /* checked again after the same time */
		else
			free_number(g, f.row);
	}
}

wait_row graph_row_add(struct wait_graph *g)
{
	wait_row row;

	if (!g->n_free)
		free_old_rows(g);
	if (g->n_free) {
		row = g->free_rows[--g->n_free];
	} else {
		if (g->n_rows == g->rows_capacity) {
			uint32_t capacity = MAX(g->rows_capacity + g->rows_capacity / 4, 64);

			g->rows = g_renew(struct graph_row, g->rows, capacity);
			g->bytes += (capacity - g->rows_capacity) * sizeof(*g->rows);
			g->rows_capacity = capacity;
		}
		row = g->n_rows++;
	}
	g->rows[row] = (struct graph_row){ .used = true, .present = NO_PRESENT, .born_ns = g->now_ns };
	return row;
}

/* The queue of vertices */

static void place_advance(struct queue_place *p)
{
	if (++p->index == CHUNK_ROWS && p->chunk->next) {
		p->chunk = p->chunk->next;
		p->index = 0;
	}
}

static void queue_push(struct wait_graph *g, wait_row row)
{
	struct graph_chunk *last = g->newest.chunk;

	if (!last || last->n == CHUNK_ROWS) {
		struct graph_chunk *chunk = g_new(struct graph_chunk, 1);

		chunk->next = NULL;
		chunk->n = 0;
		g->bytes += sizeof(*chunk);
		/* a place after the end of the last chunk becomes the start of this one */
		if (!last || g->summed.index == CHUNK_ROWS)
			g->summed = (struct queue_place){ chunk, 0 };
		if (!last || g->oldest.index == CHUNK_ROWS) {
			g->oldest = (struct queue_place){ chunk, 0 };
			g->bytes -= last ? sizeof(*last) : 0;
			g_free(last);
		} else {
			last->next = chunk;
		}
		g->newest.chunk = last = chunk;
	}
	last->rows[last->n++] = row;
	g->newest.index = last->n;
}

/*
 * Doubles or halves the row's ring, which may have none yet, in place: large memory is not copied. The vertices are
 * fewer than the places of the smaller size, so none of them moves to a place that another has.
 */
static void ring_resize(struct wait_graph *g, struct graph_row *r, uint32_t capacity)
{
	const uint32_t was = r->ring ? r->mask + 1 : 0;

	if (capacity > was)
		r->ring = g_renew(struct vertex, r->ring, capacity);
	for (uint64_t seq = r->head; seq < r->end; seq++)
		r->ring[seq & (capacity - 1)] = *row_vertex(r, seq);
	if (capacity < was)
		r->ring = g_renew(struct vertex, r->ring, capacity);
	g->bytes += capacity * sizeof(*r->ring);
	g->bytes -= was * sizeof(*r->ring);
	r->mask = capacity - 1;
}

static struct graph_row *oldest_row(const struct wait_graph *g)
{
	return &g->rows[g->oldest.chunk->rows[g->oldest.index]];
}

static void forget_brought(struct wait_graph *g, struct vertex *v)
{
	if (v->link == WAIT_LINK_NONE)
		causes_give(&g->causes, v->brought_by);
}

static void drop_oldest(struct wait_graph *g)
{
	struct graph_row *r = oldest_row(g);
	struct vertex *v = row_vertex(r, r->head);
	struct graph_chunk *chunk = g->oldest.chunk;
	uint32_t capacity = r->mask + 1;

	if (g->totals && g->summed.chunk == chunk && g->summed.index == g->oldest.index)
		totals_forget(g); /* not used since the oldest vertex kept was added */
	if (g->totals)
		totals_drop(g, r);
	causes_give(&g->causes, v->cause);
	forget_brought(g, v);
	r->before_ns = v->t_ns;
	if (g->horizon_ns < v->t_ns)
		g->horizon_ns = v->t_ns;
	r->head++;
	g->n_vertices--;
	if (!row_count(r))
		ring_release(g, r);
	else if (capacity > RING_LEAST && row_count(r) * 8 < (uint64_t)capacity * 3)
		ring_resize(g, r, capacity / 2);
	place_advance(&g->oldest);
	if (!g->totals)
		g->summed = g->oldest;
	if (g->oldest.chunk != chunk) {
		g->bytes -= sizeof(*chunk);
		g_free(chunk);
	}
}

static size_t all_bytes(const struct wait_graph *g)
{
	return g->bytes + causes_bytes(&g->causes) + (g->n_rows - g->n_free) * g->owned_bytes;
}

static bool fits(const struct wait_graph *g, size_t more)
{
	return !g->memory_bytes || all_bytes(g) + more <= g->memory_bytes;
}

static void drop_for_memory(struct wait_graph *g)
{
	drop_oldest(g);
	g->cut++;
}

void graph_fit(struct wait_graph *g)
{
	while (g->n_vertices && !fits(g, 0))
		drop_for_memory(g);
}

/*
 * Makes room for one more vertex of the row. If memory is short, the oldest vertices of all rows are dropped;
 * a busy row has many of these itself, so it soon has room in its own ring.
 */
static void make_room(struct wait_graph *g, struct graph_row *r)
{
	size_t chunk = !g->newest.chunk || g->newest.index == CHUNK_ROWS ? sizeof(struct graph_chunk) : 0;
	uint32_t capacity, more;

	while (g->n_vertices && !fits(g, chunk))
		drop_for_memory(g);
	capacity = r->ring ? r->mask + 1 : 0;
	more = capacity ? 2 * capacity : RING_LEAST;
	if (row_count(r) < capacity)
		return;
	/* this may drop all that the row has, and its ring */
	while (g->n_vertices && row_count(r) == capacity && !fits(g, chunk + more * sizeof(*r->ring)))
		drop_for_memory(g);
	if (!r->ring)
		ring_resize(g, r, RING_LEAST);
	else if (row_count(r) == capacity)
		ring_resize(g, r, more);
}

static void note_behind(struct wait_graph *g, bool is_behind)
{
	if (!is_behind)
		return;
	g->behind++;
	g->behind_ns = g->final_ns;
}

static bool add_vertex(struct wait_graph *g, wait_row row, const struct vertex *v)
{
	struct graph_row *r = &g->rows[row];

	if (r->end && v->t_ns <= r->last_ns) {
		g->late += v->t_ns < r->last_ns;
		return false;
	}
	if (v->t_ns <= g->horizon_ns && g->horizon_ns) {
		g->late++;
		return false;
	}
	note_behind(g, v->t_ns <= g->final_ns);
	make_room(g, r);
	*row_vertex(r, r->end) = *v;
	if (!r->end)
		row_vertex(r, 0)->gap = true;
	r->end++;
	r->last_ns = v->t_ns;
	r->present = NO_PRESENT;
	queue_push(g, row);
	g->n_vertices++;
	if (g->first_ns > v->t_ns)
		g->first_ns = v->t_ns;
	if (g->now_ns < v->t_ns)
		g->now_ns = v->t_ns;
	return true;
}

void graph_gap(struct wait_graph *g, wait_row row, uint64_t t_ns)
{
	add_vertex(g, row, &(struct vertex){ .t_ns = t_ns, .state = WAIT_UNKNOWN, .gap = true });
}

bool graph_vertex(struct wait_graph *g, wait_row row, uint64_t t_ns, enum wait_state state,
		  const struct wait_cause *cause)
{
	struct vertex v = { .t_ns = t_ns, .state = state, .cause = causes_take(&g->causes, cause) };

	if (add_vertex(g, row, &v))
		return true;
	causes_give(&g->causes, v.cause);
	return false;
}

void graph_present(struct wait_graph *g, wait_row row, enum wait_state state, const struct wait_cause *cause)
{
	struct graph_row *r = &g->rows[row];

	r->present = r->freed ? NO_PRESENT : state;
	r->present_cause = cause ? *cause : cause_none;
}

void graph_link(struct wait_graph *g, wait_row from, uint64_t from_ns, wait_row to, uint64_t to_ns, enum wait_link kind)
{
	struct graph_row *r = &g->rows[to];
	uint64_t seq = r->end - 1;
	struct vertex *v;

	if (from_ns > to_ns || (from == to && from_ns == to_ns) || !row_count(r)) {
		g->late++;
		return;
	}
	if (to_ns != r->last_ns) {
		seq = row_find(r, to_ns);
		if (seq == r->end || row_vertex(r, seq)->t_ns != to_ns) {
			g->late++;
			return;
		}
	}
	note_behind(g, to_ns != r->last_ns || to_ns <= g->final_ns);
	v = row_vertex(r, seq);
	if (v->link != WAIT_LINK_NONE && v->from_ns <= from_ns)
		return;
	forget_brought(g, v);
	v->link = kind;
	v->from = from;
	v->from_ns = from_ns;
}

void graph_idle(struct wait_graph *g, wait_row row, uint64_t t_ns, uint64_t came_ns, const struct wait_cause *by)
{
	struct graph_row *r = &g->rows[row];
	struct vertex *v;

	if (!row_count(r) || r->last_ns != t_ns)
		return;
	v = row_vertex(r, r->end - 1);
	if (v->gap)
		return;
	v->idle = r->idles = true;
	if (v->link != WAIT_LINK_NONE || v->came_ns)
		return;
	v->came_ns = came_ns;
	if (by && by->rest != WAIT_RUNNING)
		v->brought_by = causes_take(&g->causes, by);
}

void graph_forget(struct wait_graph *g, uint64_t t_ns)
{
	g->forgotten_ns = MAX(g->forgotten_ns, t_ns);
}

/* Drops what nobody can ask for at t_ns. */
static void drop_old(struct wait_graph *g, uint64_t t_ns)
{
	uint64_t horizon_ns = MIN(g->forgotten_ns, t_ns);

	if (g->retention_ns && t_ns > g->retention_ns)
		horizon_ns = MAX(horizon_ns, t_ns - g->retention_ns);
	if (horizon_ns <= g->horizon_ns)
		return;
	while (g->n_vertices && row_vertex(oldest_row(g), oldest_row(g)->head)->t_ns <= horizon_ns)
		drop_oldest(g);
	g->horizon_ns = horizon_ns;
}

void graph_advance(struct wait_graph *g, uint64_t t_ns)
{
	g->now_ns = MAX(g->now_ns, t_ns);
	g->final_ns = MAX(g->final_ns, t_ns);
	if (g->follow)
		follow_advance(g->follow, t_ns);
	drop_old(g, t_ns);
	graph_fit(g);
	free_old_rows(g);
}

void graph_clear(struct wait_graph *g)
{
	if (g->follow)
		follow_clear(g->follow);
	queue_release(g);
	for (uint32_t i = 0; i < g->n_rows; i++) {
		bool used = g->rows[i].used, freed = g->rows[i].freed;

		row_release(g, &g->rows[i]);
		g->rows[i].used = used;
		g->rows[i].freed = freed;
	}
	causes_release(&g->causes);
	causes_init(&g->causes);
	g->totals = false;
	g->n_vertices = 0;
	g->first_ns = UINT64_MAX;
	g->now_ns = g->final_ns = g->behind_ns = g->horizon_ns = g->forgotten_ns = 0;
	for (uint32_t i = 0; i < g->n_freed; i++)
		g->freed[(g->freed_head + i) & g->freed_mask].t_ns = 0;
	free_old_rows(g);
}

bool graph_last(const struct wait_graph *g, wait_row row, uint64_t *t_ns)
{
	const struct graph_row *r = &g->rows[row];

	if (!r->end)
		return false;
	*t_ns = r->last_ns;
	return true;
}

uint64_t row_begin_ns(const struct wait_graph *g, const struct graph_row *r)
{
	return r->head ? g->horizon_ns : row_vertex(r, 0)->t_ns;
}

void graph_keep_paths(const struct wait_graph *g)
{
	for (uint32_t i = 1; i < g->causes.n; i++) {
		if (!g->causes.entries[i].uses)
			continue;
		strpool_keep(g->causes.entries[i].cause.name);
		strpool_keep(g->causes.entries[i].cause.object);
	}
}

struct wait_graph_info graph_info(const struct wait_graph *g)
{
	uint64_t begin_ns = MAX(g->horizon_ns, g->first_ns);

	return (struct wait_graph_info){
		.horizon_ns = g->horizon_ns,
		.vertices = g->n_vertices,
		.bytes = all_bytes(g),
		.late = g->late,
		.behind = g->behind,
		.behind_ns = g->behind_ns,
		.uncaused = g->causes.refused,
		.cut = g->cut,
		.retention_ns = g->now_ns > begin_ns ? g->now_ns - begin_ns : 0,
	};
}
