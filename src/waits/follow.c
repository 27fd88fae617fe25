/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/follow.h"

#include <glib.h>

#include "waits/internal.h"

enum { SEGMENTS_DEFAULT = 65536 };

/* A row whose path is kept: a ring of segments, oldest first. */
struct followed {
	wait_row row; /* WAIT_NO_ROW: unused entry */
	bool started;
	struct wait_segment *ring;
	uint32_t mask, head, n; /* mask + 1: capacity, if there is a ring */
	uint64_t next;          /* the first vertex whose edge is not expanded yet */
	uint64_t since_ns, final_ns;
	uint64_t bounded_ns; /* the end of the last edge that could not be expanded in full */
	struct wait_totals folded;
};

struct wait_follow {
	struct wait_graph *g;
	struct followed *rows;
	uint32_t n_rows;
	uint32_t max_segments;
	struct wait_path expanded; /* the edges expanded last */
};

struct wait_follow *follow_create(struct wait_graph *g, uint32_t max_segments)
{
	struct wait_follow *f = g_new0(struct wait_follow, 1);

	f->g = g;
	f->max_segments = max_segments ? max_segments : SEGMENTS_DEFAULT;
	wait_path_init(&f->expanded);
	g->follow = f;
	return f;
}

static void forget(struct followed *r)
{
	g_free(r->ring);
	*r = (struct followed){ .row = r->row };
}

void follow_destroy(struct wait_follow *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->n_rows; i++) {
		if (f->rows[i].row != WAIT_NO_ROW)
			f->g->rows[f->rows[i].row].followed = 0;
		forget(&f->rows[i]);
	}
	f->g->follow = NULL;
	wait_path_release(&f->expanded);
	g_free(f->rows);
	g_free(f);
}

void follow_clear(struct wait_follow *f)
{
	for (uint32_t i = 0; i < f->n_rows; i++)
		forget(&f->rows[i]);
}

static struct wait_segment *segment(const struct followed *r, uint32_t index)
{
	return &r->ring[(r->head + index) & r->mask];
}

static void fold_oldest(struct followed *r)
{
	wait_totals_add(&r->folded, r->row, segment(r, 0));
	r->since_ns = segment(r, 0)->end_ns;
	r->head++;
	r->n--;
}

static void keep(struct wait_follow *f, struct followed *r, const struct wait_segment *s)
{
	if (r->n == f->max_segments)
		fold_oldest(r);
	if (!r->ring || r->n > r->mask) {
		uint32_t capacity = r->ring ? 2 * (r->mask + 1) : 64;
		struct wait_segment *ring = g_new(struct wait_segment, capacity);

		for (uint32_t i = 0; i < r->n; i++)
			ring[i] = *segment(r, i);
		g_free(r->ring);
		r->ring = ring;
		r->mask = capacity - 1;
		r->head = 0;
	}
	*segment(r, r->n++) = *s;
}

/* Expands the edges of the row that end at or before t_ns. */
static void pass(struct wait_follow *f, struct followed *followed, uint64_t t_ns)
{
	const struct wait_graph *g = f->g;
	const struct graph_row *r = &g->rows[followed->row];

	if (!r->end)
		return;
	if (!followed->started || followed->next < r->head) { /* or vertices were dropped before they were expanded */
		followed->started = true;
		followed->next = MAX(r->head, 1);
		followed->final_ns = MAX(followed->final_ns, row_begin_ns(g, r));
		while (followed->n)
			fold_oldest(followed);
		followed->since_ns = followed->final_ns;
	}
	/* 1 ns earlier, so that a segment that starts at final_ns keeps its link */
	path_open(&f->expanded, MAX(g->horizon_ns, followed->final_ns ? followed->final_ns - 1 : 0), t_ns);
	while (followed->next < r->end && row_vertex(r, followed->next)->t_ns <= t_ns) {
		f->expanded.partial = false;
		resolve_edge(g, followed->row, followed->next, &f->expanded);
		followed->final_ns = row_vertex(r, followed->next)->t_ns;
		if (f->expanded.partial)
			followed->bounded_ns = followed->final_ns;
		followed->next++;
	}
	for (uint32_t i = 0; i < f->expanded.n; i++)
		keep(f, followed, &f->expanded.segments[i]);
}

static void drop_old(const struct wait_follow *f, struct followed *r)
{
	while (r->n && segment(r, 0)->end_ns <= f->g->horizon_ns)
		fold_oldest(r);
	if (r->since_ns < f->g->horizon_ns && f->g->rows[r->row].head)
		r->since_ns = f->g->horizon_ns;
}

void follow_advance(struct wait_follow *f, uint64_t t_ns)
{
	for (uint32_t i = 0; i < f->n_rows; i++) {
		if (f->rows[i].row != WAIT_NO_ROW) {
			pass(f, &f->rows[i], t_ns);
			drop_old(f, &f->rows[i]);
		}
	}
}

static struct followed *find(const struct wait_follow *f, wait_row row)
{
	uint32_t number = row < f->g->n_rows ? f->g->rows[row].followed : 0;

	return number ? &f->rows[number - 1] : NULL;
}

bool follow_has(const struct wait_follow *f, wait_row row)
{
	return find(f, row);
}

void follow_add(struct wait_follow *f, wait_row row)
{
	uint32_t i;

	if (row >= f->g->n_rows || find(f, row))
		return;
	for (i = 0; i < f->n_rows && f->rows[i].row != WAIT_NO_ROW; i++)
		;
	if (i == f->n_rows)
		f->rows = g_renew(struct followed, f->rows, ++f->n_rows);
	f->rows[i] = (struct followed){ .row = row };
	f->g->rows[row].followed = i + 1;
	pass(f, &f->rows[i], f->g->final_ns);
}

void follow_remove(struct wait_follow *f, wait_row row)
{
	struct followed *r = find(f, row);

	if (!r)
		return;
	forget(r);
	r->row = WAIT_NO_ROW;
	f->g->rows[row].followed = 0;
}

/* The first segment that ends after t_ns. */
static uint32_t segment_after(const struct followed *r, uint64_t t_ns)
{
	uint32_t low = 0, high = r->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (segment(r, middle)->end_ns <= t_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool follow_path(const struct wait_follow *f, wait_row row, uint64_t begin_ns, uint64_t end_ns, struct wait_path *out)
{
	const struct followed *followed = find(f, row);
	const struct graph_row *r = &f->g->rows[row];
	uint64_t kept_ns;

	if (!followed)
		return false;
	if (!followed->started) {
		wait_path_resolve(f->g, row, begin_ns, end_ns, out);
		return true;
	}
	kept_ns = MAX(followed->since_ns, row_begin_ns(f->g, r));
	path_open(out, MAX(begin_ns, kept_ns), MIN(end_ns, row_end_ns(r)));
	for (uint32_t i = segment_after(followed, out->begin_ns); i < followed->n; i++) {
		if (segment(followed, i)->begin_ns >= out->end_ns)
			break;
		path_append(out, segment(followed, i));
	}
	out->partial = followed->bounded_ns > out->begin_ns;
	path_append_row(f->g, row, MAX(followed->next, r->head), out);
	if (out->n && begin_ns < kept_ns && (r->head || kept_ns > row_vertex(r, 0)->t_ns))
		out->segments[0].cut = true;
	return true;
}

bool follow_info(const struct wait_follow *f, wait_row row, struct wait_follow_info *out)
{
	const struct followed *r = find(f, row);

	if (!r)
		return false;
	*out = (struct wait_follow_info){
		.segments = r->n,
		.since_ns = r->since_ns,
		.final_ns = r->final_ns,
		.folded = r->folded,
		.bytes = r->ring ? ((size_t)r->mask + 1) * sizeof(*r->ring) : 0,
	};
	if (r->n && segment(r, 0)->begin_ns < r->since_ns) {
		struct wait_segment s = *segment(r, 0);

		s.end_ns = r->since_ns;
		wait_totals_add(&out->folded, row, &s);
	}
	return true;
}
