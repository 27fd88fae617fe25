/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/path.h"

#include <glib.h>
#include <string.h>

#include "waits/internal.h"

void wait_path_init(struct wait_path *p)
{
	*p = (struct wait_path){ 0 };
}

void wait_path_release(struct wait_path *p)
{
	g_free(p->segments);
	*p = (struct wait_path){ 0 };
}

/*
 * Vertices are spread fairly evenly in time: an interpolated guess, then strides that double until t_ns is between two
 * of them, then a binary search between these.
 */
uint64_t row_find(const struct graph_row *r, uint64_t t_ns)
{
	uint64_t low = r->head, high = r->end, guess, first_ns;

	if (low == high || t_ns > r->last_ns)
		return high;
	first_ns = row_vertex(r, low)->t_ns;
	if (t_ns <= first_ns)
		return low;
	guess = low +
		(uint64_t)((double)(t_ns - first_ns) / (double)(r->last_ns - first_ns) * (double)(high - 1 - low));
	if (row_vertex(r, guess)->t_ns < t_ns) {
		low = guess + 1;
		for (uint64_t step = 1; step < high - guess; step *= 2) {
			if (row_vertex(r, guess + step)->t_ns >= t_ns) {
				high = guess + step;
				break;
			}
			low = guess + step + 1;
		}
	} else {
		high = guess;
		for (uint64_t step = 1; step <= guess - low; step *= 2) {
			if (row_vertex(r, guess - step)->t_ns < t_ns) {
				low = guess - step + 1;
				break;
			}
			high = guess - step;
		}
	}
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (row_vertex(r, middle)->t_ns < t_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void path_open(struct wait_path *p, uint64_t begin_ns, uint64_t end_ns)
{
	p->n = p->undone = 0;
	p->open = p->partial = false;
	p->begin_ns = begin_ns;
	p->end_ns = MAX(begin_ns, end_ns);
}

static bool continues(const struct wait_segment *last, const struct wait_segment *s)
{
	return last->end_ns == s->begin_ns && last->row == s->row && last->state == s->state && !last->wire &&
	       !s->wire && last->fill == s->fill && last->role == s->role && s->link == WAIT_LINK_NONE &&
	       cause_equal(&last->cause, &s->cause);
}

static void add_at(struct wait_path *p, uint32_t index, const struct wait_segment *s)
{
	if (p->n == p->capacity) {
		p->capacity = p->capacity ? 2 * p->capacity : 64;
		p->segments = g_renew(struct wait_segment, p->segments, p->capacity);
	}
	memmove(&p->segments[index + 1], &p->segments[index], (p->n - index) * sizeof(*p->segments));
	p->segments[index] = *s;
	p->n++;
}

void path_append(struct wait_path *p, const struct wait_segment *segment)
{
	struct wait_segment s = *segment;

	if (s.begin_ns <= p->begin_ns) {
		s.begin_ns = p->begin_ns;
		if (!s.wire) {
			s.link = WAIT_LINK_NONE;
			s.from = WAIT_NO_ROW;
		}
	}
	s.end_ns = MIN(s.end_ns, p->end_ns);
	if (s.begin_ns >= s.end_ns)
		return;
	if (p->n && continues(&p->segments[p->n - 1], &s)) {
		p->segments[p->n - 1].end_ns = s.end_ns;
		return;
	}
	add_at(p, p->n, &s);
}

void wait_path_fill(struct wait_path *p, wait_row row, uint64_t begin_ns, uint64_t end_ns)
{
	struct wait_segment s = { .row = row, .state = WAIT_UNKNOWN, .from = WAIT_NO_ROW, .cause = cause_none };

	if (p->end_ns <= p->begin_ns)
		p->begin_ns = p->end_ns = begin_ns; /* nothing is known */
	s.begin_ns = begin_ns;
	s.end_ns = p->begin_ns;
	if (s.begin_ns < s.end_ns)
		add_at(p, 0, &s);
	s.begin_ns = p->end_ns;
	s.end_ns = end_ns;
	if (s.begin_ns < s.end_ns)
		add_at(p, p->n, &s);
	p->begin_ns = MIN(p->begin_ns, begin_ns);
	p->end_ns = MAX(p->end_ns, end_ns);
}

void path_append_row(const struct wait_graph *g, wait_row row, uint64_t seq, struct wait_path *out)
{
	const struct graph_row *r = &g->rows[row];

	for (; seq < r->end && row_left_ns(r, seq) < out->end_ns; seq++)
		resolve_edge(g, row, seq, out);
	if (r->present != WAIT_STATES && out->end_ns > MAX(r->last_ns, out->begin_ns)) {
		resolve_present(g, row, out);
		out->open = wait_state_blocks(r->present);
	}
}

void wait_path_resolve(const struct wait_graph *g, wait_row row, uint64_t begin_ns, uint64_t end_ns,
		       struct wait_path *out)
{
	const struct graph_row *r = row < g->n_rows ? &g->rows[row] : NULL;
	bool cut;

	path_open(out, begin_ns, begin_ns);
	if (!r || !r->end)
		return;
	cut = r->head && begin_ns < g->horizon_ns;
	begin_ns = MAX(begin_ns, row_begin_ns(g, r));
	path_open(out, begin_ns, MIN(end_ns, row_end_ns(r)));
	path_append_row(g, row, row_find(r, begin_ns + 1), out);
	if (cut && out->n)
		out->segments[0].cut = true;
}
