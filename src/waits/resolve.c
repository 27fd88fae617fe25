/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/resolve.h"

#include <glib.h>

#include "waits/internal.h"

enum {
	DEPTH_MAX = 1024,     /* of nested waits; lock convoys have about 20 */
	TURNS_MAX = 64,       /* links without duration one after another: rows linked to each other at one time */
	PIECES_MAX = 1 << 22, /* for one edge */
	UNDONE_MAX = 1 << 22, /* for one path */
	KEPT_MAX = 1 << 16,   /* pieces and remembered places for which memory is kept */
};

/* A piece that the walk took; they are kept with the latest in time first. */
struct piece {
	enum { PIECE_EDGE, PIECE_LINK, PIECE_HOLE } kind; /* hole: a wait without explanation, used as a fill */
	uint8_t state;                                    /* of an edge or a hole */
	uint8_t link;
	wait_row row; /* for a link: where it ends */
	wait_row from;
	uint64_t begin_ns, end_ns;
	const struct wait_cause *cause;
	strid name; /* instead of the cause's; STRID_NONE: the cause's */
};

/* A time in a row: at vertex seq or, if exact is false, between the vertex before it and seq. */
struct graph_place {
	wait_row row;
	bool exact;
	uint64_t seq;
	uint64_t t_ns;
	uint32_t turns; /* links without duration that led here, one after another */
};

struct remembered {
	struct graph_place place;
	uint32_t n_pieces;
};

struct walked_edge {
	uint64_t begin_ns;
	enum wait_state state;
	const struct wait_cause *cause;
};

/* Memory for walks, reused from one to the next. */
struct walker {
	struct piece *pieces;
	uint32_t n_pieces, pieces_capacity;
	struct remembered *stack;
	uint32_t n_stack, stack_capacity;
	uint32_t undone; /* pieces undone for this path */
	bool bounded;
	struct resolve_info info;
};

struct walker *walker_create(void)
{
	return g_new0(struct walker, 1);
}

void walker_destroy(struct walker *w)
{
	g_free(w->pieces);
	g_free(w->stack);
	g_free(w);
}

/* The memory of an exceptionally long walk is not kept. */
static void walker_trim(struct walker *w)
{
	if (w->pieces_capacity > KEPT_MAX) {
		g_clear_pointer(&w->pieces, g_free);
		w->pieces_capacity = 0;
	}
	if (w->stack_capacity > KEPT_MAX) {
		g_clear_pointer(&w->stack, g_free);
		w->stack_capacity = 0;
	}
}

struct resolve_info resolve_info(const struct wait_graph *g)
{
	return g->walker->info;
}

static struct piece *take(struct walker *w, int kind, uint64_t begin_ns, uint64_t end_ns)
{
	struct piece *p;

	if (w->n_pieces == w->pieces_capacity) {
		w->pieces_capacity = w->pieces_capacity ? 2 * w->pieces_capacity : 256;
		w->pieces = g_renew(struct piece, w->pieces, w->pieces_capacity);
	}
	p = &w->pieces[w->n_pieces++];
	p->kind = kind;
	p->begin_ns = begin_ns;
	p->end_ns = end_ns;
	p->name = STRID_NONE;
	w->info.pieces++;
	return p;
}

static struct graph_place place_find(const struct wait_graph *g, wait_row row, uint64_t t_ns)
{
	const struct graph_row *r = &g->rows[row];
	uint64_t seq = row_find(r, t_ns);

	return (struct graph_place){ row, seq < r->end && row_vertex(r, seq)->t_ns == t_ns, seq, t_ns, 0 };
}

/* Takes the link that ends at this place, a vertex, and goes to its source; before a transit it stays in the row. */
static void take_link(const struct wait_graph *g, struct graph_place *at)
{
	const struct vertex *v = row_vertex(&g->rows[at->row], at->seq);
	struct piece *p = take(g->walker, PIECE_LINK, v->from_ns, v->t_ns);
	const uint32_t turns = v->from_ns == v->t_ns ? at->turns + 1 : 0;

	p->link = v->link == WAIT_LINK_TRANSIT ? WAIT_LINK_NETWORK : v->link;
	p->row = at->row;
	p->from = v->from;
	*at = place_find(g, v->link == WAIT_LINK_TRANSIT ? at->row : v->from, v->from_ns);
	at->turns = turns;
}

/* The edge before a place, up to that place; false: the row starts here, or has a gap. */
static bool edge_before(const struct wait_graph *g, const struct graph_place *at, struct walked_edge *e)
{
	const struct graph_row *r = &g->rows[at->row];
	const struct vertex *v;

	if (at->seq == r->end) { /* still open */
		if (!r->end)
			return false;
		*e = (struct walked_edge){ r->last_ns, WAIT_UNKNOWN, &cause_none };
		if (r->present != WAIT_STATES) {
			e->state = r->present;
			e->cause = &r->present_cause;
		}
		return true;
	}
	v = row_vertex(r, at->seq);
	if (v->gap)
		return false;
	*e = (struct walked_edge){ row_left_ns(r, at->seq), v->state, causes_get(&g->causes, v->cause) };
	return true;
}

static void remember(struct walker *w, const struct graph_place *at)
{
	if (w->n_stack == w->stack_capacity) {
		w->stack_capacity = w->stack_capacity ? 2 * w->stack_capacity : 64;
		w->stack = g_renew(struct remembered, w->stack, w->stack_capacity);
	}
	w->stack[w->n_stack++] = (struct remembered){ *at, w->n_pieces };
}

static void take_edge(struct walker *w, const struct graph_place *at, const struct walked_edge *e, int kind)
{
	struct piece *p = take(w, kind, e->begin_ns, at->t_ns);

	p->row = at->row;
	p->state = e->state;
	p->cause = e->cause;
}

static void walk(const struct wait_graph *g, wait_row row, uint64_t seq, uint64_t bound_ns, unsigned depth);

/* Takes the explanation of a wait met during the walk, or else the wait itself. */
static void take_wait(const struct wait_graph *g, const struct graph_place *at, const struct walked_edge *e,
		      uint64_t limit_ns, unsigned depth)
{
	struct walker *w = g->walker;
	uint32_t n = w->n_pieces;

	if (at->exact)
		walk(g, at->row, at->seq, limit_ns, depth + 1);
	if (w->n_pieces == n)
		take_edge(w, at, e, e->state == WAIT_NETWORK ? PIECE_EDGE : PIECE_HOLE);
}

/*
 * Takes what a worker did from queued_ns on, when an item was queued, to the place where it starts it. The thread that
 * waits for the item waits for that, too: the worker executes another one, say, and waits for a disk. If the worker did
 * not exist yet, what its creator did delayed the item.
 */
static void take_delay(const struct wait_graph *g, const struct graph_place *at, uint64_t queued_ns, uint64_t limit_ns,
		       unsigned depth)
{
	struct walker *w = g->walker;
	struct graph_place before = *at;
	struct walked_edge e = { 0 };

	limit_ns = MAX(limit_ns, queued_ns);
	while (before.t_ns > limit_ns && w->n_pieces <= PIECES_MAX) {
		if (!edge_before(g, &before, &e)) {
			walk(g, before.row, before.seq, limit_ns, depth + 1);
			break;
		}
		if (wait_state_blocks(e.state))
			take_wait(g, &before, &e, limit_ns, depth);
		else
			take_edge(w, &before, &e, PIECE_EDGE);
		before = (struct graph_place){ at->row, true, before.seq - 1, e.begin_ns, 0 };
	}
}

/* No thread explains the wait that ends at v, a vertex of row, from limit_ns on, until the idle vertex' work came. */
static void take_rest(const struct wait_graph *g, wait_row row, const struct vertex *v, uint64_t limit_ns,
		      const struct vertex *idle)
{
	struct piece *p;

	if (idle->came_ns <= limit_ns)
		return;
	p = take(g->walker, PIECE_EDGE, limit_ns, idle->came_ns);
	p->row = row;
	p->state = vertex_rest(g, idle);
	p->cause = causes_get(&g->causes, v->cause);
	p->name = causes_get(&g->causes, idle->brought_by)->name;
}

/* Takes a link from where an item was queued to where a worker starts it, and goes to its source. */
static void take_work(const struct wait_graph *g, struct graph_place *at, uint64_t limit_ns, unsigned depth)
{
	struct walker *w = g->walker;
	struct piece *link;

	take_delay(g, at, row_vertex(&g->rows[at->row], at->seq)->from_ns, limit_ns, depth);
	take_link(g, at);
	link = &w->pieces[w->n_pieces - 1];
	link->end_ns = link->begin_ns;
}

/* The algorithm in resolve.h. Takes no pieces if nothing explains the edge to vertex seq. */
static void walk(const struct wait_graph *g, wait_row row, uint64_t seq, uint64_t bound_ns, unsigned depth)
{
	struct walker *w = g->walker;
	const struct graph_row *r = &g->rows[row];
	const struct vertex *ended = row_vertex(r, seq), *v;
	uint64_t limit_ns = MAX(bound_ns, row_left_ns(r, seq));
	uint64_t floor_ns = MAX(limit_ns, g->horizon_ns);
	uint32_t stack_base = w->n_stack;
	struct graph_place at = { row, true, seq, ended->t_ns, 0 };

	if (ended->link == WAIT_LINK_NONE)
		return;
	if (depth > DEPTH_MAX) {
		w->bounded = true;
		return;
	}
	w->info.waits++;
	take_link(g, &at);
	while (at.t_ns > floor_ns) {
		struct walked_edge e = { 0 }; /* gcc 11 does not see that it is set where it is used */
		bool begins = !edge_before(g, &at, &e);

		if (at.turns > TURNS_MAX || w->n_pieces > PIECES_MAX) {
			w->bounded = true;
			break;
		}
		v = at.exact ? row_vertex(&g->rows[at.row], at.seq) : NULL;
		if (v && v->idle) {
			if (v->link == WAIT_LINK_NONE) {
				take_delay(g, &at, v->came_ns, floor_ns, depth);
				take_rest(g, row, ended, limit_ns, v);
				break;
			}
			if (v->link == WAIT_LINK_WORK)
				take_work(g, &at, floor_ns, depth);
			else
				take_link(g, &at);
			continue;
		}
		if (v && v->link != WAIT_LINK_NONE) {
			if (v->from_ns <= limit_ns) {
				take_link(g, &at);
				w->info.older++;
				break;
			}
			if (begins || !wait_state_blocks(e.state))
				remember(w, &at);
		}
		if (!begins) {
			if (wait_state_blocks(e.state))
				take_wait(g, &at, &e, limit_ns, depth);
			else
				take_edge(w, &at, &e, PIECE_EDGE);
			at = (struct graph_place){ at.row, true, at.seq - 1, e.begin_ns, 0 };
		} else if (w->n_stack > stack_base) {
			struct remembered *last = &w->stack[--w->n_stack];

			if (w->undone > UNDONE_MAX) {
				w->bounded = true;
				break;
			}
			w->info.rewinds += last->n_pieces != w->n_pieces || at.seq > 0;
			w->undone += w->n_pieces - last->n_pieces;
			w->n_pieces = last->n_pieces;
			at = last->place;
			take_link(g, &at);
		} else {
			w->info.gaps += at.seq > 0 || !at.exact;
			break;
		}
	}
	w->n_stack = stack_base;
}

/* Laying out the pieces, from the wait's start to its end */

struct layer {
	const struct wait_graph *g;
	struct wait_path *path;
	wait_row owner;      /* the row that waited */
	uint8_t role;        /* enum wait_role of the owner in this wait */
	wait_row row;        /* of the last piece that is not a fill; the owner before the first */
	uint64_t at_ns;      /* segments are laid out up to here */
	bool first;          /* only fills so far */
	enum wait_link link; /* a link without duration at at_ns, or none */
	wait_row from, to;   /* its ends */
};

static void lay(struct layer *l, uint64_t end_ns, struct wait_segment *s)
{
	if (end_ns <= l->at_ns)
		return;
	s->begin_ns = l->at_ns;
	s->end_ns = end_ns;
	s->role = l->role;
	if (!s->link) {
		bool led = l->link && l->to == s->row;

		s->link = led ? l->link : WAIT_LINK_NONE;
		s->from = led ? l->from : WAIT_NO_ROW;
	}
	l->link = WAIT_LINK_NONE;
	path_append(l->path, s);
	l->at_ns = end_ns;
}

/* Fills the time up to end_ns, where a piece of this row starts. hole: the row's unexplained wait there; or NULL. */
static void lay_fill(struct layer *l, wait_row row, uint64_t end_ns, const struct piece *hole)
{
	struct wait_segment s = {
		.row = row,
		.state = hole ? hole->state : WAIT_UNKNOWN,
		.fill = row == l->row ? WAIT_FILL_STITCH : WAIT_FILL_ACROSS,
		.cause = hole ? *hole->cause : cause_none,
	};

	if (l->first && row != l->owner)
		s.fill = WAIT_FILL_FIRST;
	lay(l, end_ns, &s);
}

/*
 * Trace Compass omits such a wait if the next piece is one of another row that started earlier. Here it is kept,
 * and counted as covered.
 */
static void lay_hole(struct layer *l, const struct piece *hole)
{
	const struct piece *next = hole - 1;
	const wait_row row = next->kind == PIECE_LINK ? next->from : next->row;

	l->g->walker->info.covered += hole->end_ns > l->at_ns && (row != hole->row || next->begin_ns != hole->end_ns);
	lay_fill(l, hole->row, hole->begin_ns, NULL);
	lay_fill(l, hole->row, hole->end_ns, hole);
}

/* The row where a link starts, if its number has not been reused since; else WAIT_NO_ROW. */
static wait_row link_from(const struct wait_graph *g, wait_row from, uint64_t from_ns)
{
	return g->rows[from].born_ns <= from_ns ? from : WAIT_NO_ROW;
}

static void lay_link(struct layer *l, const struct piece *p)
{
	struct wait_segment s = { .row = p->row, .link = p->link, .cause = cause_none };

	s.from = link_from(l->g, p->from, p->begin_ns);
	if (p->end_ns > l->at_ns) {
		if (p->link == WAIT_LINK_NETWORK) {
			s.state = WAIT_NETWORK;
			s.wire = p->from != p->row;
		} else {
			s.state = WAIT_UNKNOWN;
			s.fill = p->from != p->row ? WAIT_FILL_ACROSS : WAIT_FILL_STITCH;
		}
		lay(l, p->end_ns, &s);
	} else {
		l->link = p->link;
		l->from = s.from;
		l->to = p->row;
	}
}

static void lay_pieces(struct layer *l, const struct walker *w)
{
	for (uint32_t i = w->n_pieces; i--;) {
		const struct piece *p = &w->pieces[i];

		if (p->kind == PIECE_HOLE) {
			lay_hole(l, p);
			continue;
		}
		lay_fill(l, p->kind == PIECE_LINK ? p->from : p->row, p->begin_ns, NULL);
		if (p->kind == PIECE_LINK) {
			lay_link(l, p);
		} else {
			struct wait_segment s = { .row = p->row, .state = p->state, .cause = *p->cause };

			if (p->name)
				s.cause.name = p->name;
			lay(l, p->end_ns, &s);
		}
		l->row = p->row;
		l->first = false;
	}
}

/* Appends the edge itself, with the link that ended the wait before it; a link with a duration has its own segment. */
static void append_edge(const struct wait_graph *g, wait_row row, uint64_t seq, struct wait_segment *s,
			struct wait_path *path)
{
	const struct graph_row *r = &g->rows[row];

	s->row = row;
	s->from = WAIT_NO_ROW;
	if (seq > r->head) {
		const struct vertex *left = row_vertex(r, seq - 1);

		if (left->link && !left->gap && wait_state_blocks(left->state) && left->from_ns == left->t_ns) {
			s->link = left->link;
			s->from = link_from(g, left->from, left->from_ns);
		}
	}
	path_append(path, s);
}

void resolve_edge(const struct wait_graph *g, wait_row row, uint64_t seq, struct wait_path *path)
{
	struct walker *w = g->walker;
	const struct graph_row *r = &g->rows[row];
	const struct vertex *v = row_vertex(r, seq);
	struct wait_segment s = {
		.begin_ns = row_left_ns(r, seq),
		.end_ns = v->t_ns,
		.state = v->gap ? WAIT_UNKNOWN : v->state,
		.cause = *causes_get(&g->causes, v->cause),
	};

	w->n_pieces = w->n_stack = 0;
	w->undone = path->undone;
	w->bounded = false;
	if (!v->gap && wait_state_blocks(v->state))
		walk(g, row, seq, s.begin_ns, 0);
	if (w->n_pieces) {
		struct layer l = {
			.g = g,
			.path = path,
			.owner = row,
			.role = s.cause.role,
			.row = row,
			.at_ns = s.begin_ns,
			.first = true,
		};

		lay_pieces(&l, w);
	} else {
		append_edge(g, row, seq, &s, path);
	}
	w->info.bounded += w->bounded;
	path->partial |= w->bounded;
	path->undone = w->undone;
	walker_trim(w);
}

void resolve_present(const struct wait_graph *g, wait_row row, struct wait_path *path)
{
	const struct graph_row *r = &g->rows[row];
	struct wait_segment s = {
		.begin_ns = r->last_ns,
		.end_ns = UINT64_MAX,
		.state = r->present,
		.cause = r->present_cause,
	};

	append_edge(g, row, r->end, &s, path);
}
