/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings: the best maps for the whole of them. For each pair, d is estimated at close intervals over both hosts'
 * recordings, from the messages around each time. The estimates are the knots of a map from one clock to the other;
 * these maps are chained along the tree.
 */
#include <math.h>

#include "base/nstime.h"
#include "clock/internal.h"

enum {
	STEPS_SHORT = 512, /* for a recording within one window */
	STEPS_LONG = CLOCK_MAP_KNOTS - 2,
};

#define STEP_SHORT_NS (10 * NS_PER_MS)
#define STEP_LONG_NS NS_PER_S

/* From the first to the last packet of either host, by a's clock. first_d_ns, last_d_ns: d there. */
static void record_of(const struct clock_sync *s, const struct clock_pair *p, int64_t first_d_ns, int64_t last_d_ns,
		      uint64_t *from_ns, uint64_t *to_ns)
{
	const struct clock_host *a = clock_host_at(s, p->a), *b = clock_host_at(s, p->b);

	*from_ns = MIN(a->first_ns, b->first_ns - (uint64_t)first_d_ns);
	*to_ns = MAX(a->last_ns, b->last_ns - (uint64_t)last_d_ns);
}

static uint64_t step_of(uint64_t span_ns, uint64_t window_ns)
{
	if (span_ns <= 2 * window_ns)
		return MAX(STEP_SHORT_NS, span_ns / STEPS_SHORT);
	return MAX(STEP_LONG_NS, span_ns / STEPS_LONG);
}

static enum clock_window_result solve_at(const struct clock_sync *s, struct clock_pair *p, uint64_t x_ns,
					 struct clock_bound *bound)
{
	return clock_pair_solve(p, x_ns, s->options.window_ns, true, bound);
}

static int64_t middle(const struct clock_bound *bound)
{
	return bound->lo_ns + (bound->hi_ns - bound->lo_ns) / 2;
}

static double slope(const struct clock_bound *bound)
{
	return (bound->slope_least + bound->slope_greatest) / 2;
}

/*
 * Any solution before the first jump, or after the last one, to know roughly where both recordings are: in the middle
 * of that time, or at an end if no line fits there.
 */
static bool solve_anywhere(const struct clock_sync *s, struct clock_pair *p, bool last, int64_t *d_ns)
{
	const struct clock_window *w = clock_pair_end(p, last);
	struct clock_bound bound;
	uint64_t first_ns, last_ns;

	if (!w || !clock_window_span(w, &first_ns, &last_ns) ||
	    (solve_at(s, p, first_ns + (last_ns - first_ns) / 2, &bound) != WINDOW_BOUND &&
	     solve_at(s, p, first_ns, &bound) != WINDOW_BOUND && solve_at(s, p, last_ns, &bound) != WINDOW_BOUND))
		return false;
	*d_ns = middle(&bound);
	return true;
}

/*
 * The same for both ends. Of a short recording, or where packets went one way only after a jump, the stretches say too
 * little: then the messages stay together, and no line fits around the jump.
 */
static bool solve_ends(const struct clock_sync *s, struct clock_pair *p, int64_t *first_d_ns, int64_t *last_d_ns)
{
	if (solve_anywhere(s, p, false, first_d_ns) && solve_anywhere(s, p, true, last_d_ns))
		return true;
	if (!p->stretches)
		return false;
	clock_pair_join(p);
	return solve_ends(s, p, first_d_ns, last_d_ns);
}

/* The time of the next knot: a step later, or the start or end of a jump before that. */
static uint64_t next_knot(const struct clock_pair *p, uint64_t x_ns, uint64_t step_ns, uint64_t to_ns)
{
	uint64_t next_ns = MIN(x_ns + step_ns, to_ns);

	for (guint n = 0; p->stretches && n < p->stretches->len; n++) {
		const struct clock_stretch *stretch = &g_array_index(p->stretches, struct clock_stretch, n);

		if (stretch->first_ns > x_ns)
			next_ns = MIN(next_ns, stretch->first_ns);
		if (stretch->last_ns > x_ns)
			next_ns = MIN(next_ns, stretch->last_ns);
	}
	return next_ns;
}

/* Makes p->whole. Times without a fit are skipped; there the map continues from the knots around them. */
static void make_whole(const struct clock_sync *s, struct clock_pair *p)
{
	uint64_t from_ns, to_ns, step_ns;
	int64_t first_d_ns, last_d_ns;
	struct clock_bound bound;
	bool both_ways = false;

	clock_map_destroy(p->whole);
	p->whole = clock_map_create();
	p->state = CLOCK_FAILED;
	p->has_line = false;
	clock_pair_split(p);
	if (!solve_ends(s, p, &first_d_ns, &last_d_ns))
		return;
	record_of(s, p, first_d_ns, last_d_ns, &from_ns, &to_ns);
	step_ns = step_of(to_ns - from_ns, s->options.window_ns);
	for (uint64_t x_ns = from_ns;; x_ns = next_knot(p, x_ns, step_ns, to_ns)) {
		if (solve_at(s, p, x_ns, &bound) == WINDOW_BOUND) {
			clock_pair_keep(p, x_ns, WINDOW_BOUND, &bound);
			both_ways |= bound.both_ways;
			clock_map_add(p->whole, x_ns, x_ns + (uint64_t)middle(&bound), slope(&bound));
		}
		if (x_ns == to_ns)
			break;
	}
	if (p->state == CLOCK_APPROXIMATE && both_ways)
		p->state = CLOCK_ACCURATE;
}

/* Converts a time of the host to its neighbour's clock. */
static uint64_t to_neighbour(const struct clock_host *h, unsigned host, uint64_t t_ns)
{
	if (!h->pair)
		return t_ns + (uint64_t)h->offset_ns;
	return h->pair->a == host ? clock_to_ref(h->pair->whole, t_ns) : clock_from_ref(h->pair->whole, t_ns);
}

/* Makes the map of a host whose neighbour already has one. */
static void make_map(const struct clock_sync *s, struct clock_host *h, unsigned host)
{
	const struct clock_map *up = clock_host_at(s, h->up)->map;
	uint64_t own_ns, other_ns;
	double excess;

	clock_map_begin_epoch(h->map);
	if (!h->pair) {
		clock_map_add(h->map, 0, (uint64_t)h->offset_ns, 0);
		return;
	}
	for (unsigned n = 0; n < clock_map_knots(h->pair->whole); n++) {
		clock_map_knot(h->pair->whole, n, &own_ns, &other_ns);
		excess = clock_map_slope_excess(h->pair->whole, own_ns);
		if (h->pair->b == host) {
			own_ns = other_ns;
			excess = -excess;
		}
		other_ns = to_neighbour(h, host, own_ns);
		excess += clock_map_slope_excess(up, other_ns);
		clock_map_add(h->map, own_ns, clock_to_ref(up, other_ns), excess);
	}
}

/* The sum of the bounds along the path, and what the host's own map, which has fewer knots, differs from it. */
double clock_whole_bound(const struct clock_sync *s, unsigned host, uint64_t host_ns)
{
	const struct clock_host *h = clock_host_at(s, host);
	const uint64_t ref_ns = clock_to_ref(h->map, host_ns);
	double sum_ns = 0;

	for (; h->up != NO_HOST; h = clock_host_at(s, host)) {
		struct clock_pair *p = h->pair;
		uint64_t up_ns = to_neighbour(h, host, host_ns), x_ns = p && p->a == host ? host_ns : up_ns;
		struct clock_bound bound;

		if (p) {
			int64_t d_ns = (int64_t)(clock_to_ref(p->whole, x_ns) - x_ns);

			if (solve_at(s, p, x_ns, &bound) != WINDOW_BOUND)
				return -1;
			/* Each conversion may be off by 1 ns. */
			sum_ns += (double)MAX(bound.hi_ns - d_ns, d_ns - bound.lo_ns) + 2;
		}
		host_ns = up_ns;
		host = (unsigned)h->up;
	}
	return sum_ns + fabs((double)(int64_t)(ref_ns - host_ns));
}

/* Measured between the pair's first and last message; after a jump, by the last line. */
static double drift_of(const struct clock_host *h, unsigned host)
{
	uint64_t first_ns, last_ns, ref_ns;

	if (!h->pair || !clock_window_span(h->pair->window, &first_ns, &last_ns))
		return 0;
	if (h->pair->stretches)
		return (1 / (1 + clock_map_slope_excess(h->map, UINT64_MAX)) - 1) * 1e6;
	if (h->pair->b == host) {
		first_ns = clock_to_ref(h->pair->whole, first_ns);
		last_ns = clock_to_ref(h->pair->whole, last_ns);
	}
	ref_ns = clock_to_ref(h->map, last_ns) - clock_to_ref(h->map, first_ns);
	return ref_ns ? ((double)(last_ns - first_ns) - (double)ref_ns) / (double)ref_ns * 1e6 : 0;
}

void clock_make_whole_maps(struct clock_sync *s)
{
	unsigned n = s->hosts->len, *order = g_new(unsigned, n), related;
	double *bounds = g_new(double, s->pairs->len);

	for (unsigned i = 0; i < s->pairs->len; i++) {
		struct clock_pair *p = clock_pair_at(s, i);

		if (p->seen[0] && p->seen[1])
			make_whole(s, p);
		bounds[i] = p->has_line ? p->line_half_ns : -1;
	}
	related = clock_relate(s, bounds, s->moving, order);
	for (unsigned i = 0; i < related; i++) {
		struct clock_host *h = clock_host_at(s, order[i]);

		if (h->up == NO_HOST)
			clock_map_reset(h->map);
		else
			make_map(s, h, order[i]);
		h->has_bound = true;
		h->bound_ns = clock_whole_bound(s, order[i], h->last_ns);
		h->info.drift_ppm = drift_of(h, order[i]);
	}
	g_free(order);
	g_free(bounds);
}
