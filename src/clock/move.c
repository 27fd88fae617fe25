/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Live: maps that advance. A published map is never changed afterwards: it turns towards the new estimate, by at most
 * rho.
 *
 *   reference                    ╱ new line, at now + 1 s and later
 *      │                  ····╱
 *      │            ____╱·      the map turns here, at now
 *      │        __──
 *      └──────────────┴────┴────── host
 */
#include <math.h>

#include "base/nstime.h"
#include "clock/internal.h"

#define TURN_NS ((double)NS_PER_S)
#define TURN_MAX_NS (10 * TURN_NS) /* a map whose certain error is more than it can correct in that time jumps */

/* A time converted to another clock, its error bound, and the slope there: 1 + excess. */
struct converted {
	uint64_t t_ns;
	double half_ns, excess;
	bool failed; /* no line fits there: half_ns is only a guess */
};

static struct converted to_neighbour(const struct clock_sync *s, const struct clock_host *h, unsigned host,
				     uint64_t t_ns)
{
	struct clock_pair *p = h->pair;
	uint64_t x_ns = t_ns;
	struct clock_bound bound;
	enum clock_window_result result;
	double half_ns, slope;
	int64_t d_ns;

	if (!p)
		return (struct converted){ .t_ns = t_ns + (uint64_t)h->offset_ns };
	if (p->b == host) {
		/* x + d(x) = t; d changes slowly. */
		x_ns = t_ns - (uint64_t)p->line_d_ns;
		x_ns = t_ns - (uint64_t)clock_pair_line(p, x_ns, s->rho, &half_ns);
	}
	result = clock_pair_solve(p, x_ns, s->options.window_ns, false, &bound);
	if (result == WINDOW_BOUND) {
		d_ns = bound.lo_ns + (bound.hi_ns - bound.lo_ns) / 2;
		half_ns = (double)(bound.hi_ns - bound.lo_ns) / 2 + 1;
		slope = (bound.slope_least + bound.slope_greatest) / 2;
	} else {
		d_ns = clock_pair_line(p, x_ns, s->rho, &half_ns);
		slope = p->line_slope;
	}
	if (p->a == host)
		return (struct converted){ t_ns + (uint64_t)d_ns, half_ns, slope, result == WINDOW_INFEASIBLE };
	return (struct converted){ t_ns - (uint64_t)d_ns, half_ns, -slope / (1 + slope), result == WINDOW_INFEASIBLE };
}

static struct converted to_reference(const struct clock_sync *s, unsigned host, uint64_t t_ns)
{
	struct converted sum = { .t_ns = t_ns };

	for (const struct clock_host *h = clock_host_at(s, host); h->up != NO_HOST; h = clock_host_at(s, host)) {
		struct converted step = to_neighbour(s, h, host, sum.t_ns);

		sum = (struct converted){ step.t_ns, sum.half_ns + step.half_ns, sum.excess + step.excess,
					  sum.failed || step.failed };
		host = (unsigned)h->up;
	}
	sum.t_ns += (uint64_t)clock_owner(s, host)->shift_ns;
	return sum;
}

static void publish(const struct clock_sync *s, struct clock_host *h, unsigned host, bool anew)
{
	uint64_t now_ns = h->updated_ns;
	struct converted target = to_reference(s, host, now_ns);
	double behind_ns = (double)(int64_t)(target.t_ns - clock_to_ref(h->map, now_ns)), turn_ns;

	if (!anew && fabs(behind_ns) > target.half_ns && fabs(behind_ns) > s->rho * TURN_MAX_NS)
		anew = true;
	h->has_bound = true;
	h->info.drift_ppm = (1 / (1 + target.excess) - 1) * 1e6;
	if (anew) {
		clock_map_begin_epoch(h->map);
		clock_map_add(h->map, now_ns, target.t_ns, target.excess);
		h->bound_ns = target.failed ? -1 : target.half_ns;
		return;
	}
	turn_ns = MAX(TURN_NS, fabs(behind_ns) / s->rho);
	clock_map_cut(h->map, now_ns);
	clock_map_add(h->map, now_ns + (uint64_t)turn_ns,
		      target.t_ns + (uint64_t)(int64_t)(turn_ns * (1 + target.excess)), target.excess);
	h->bound_ns = target.failed ? -1 : target.half_ns + fabs(behind_ns);
}

double clock_moving_bound(const struct clock_sync *s, unsigned host, uint64_t host_ns)
{
	struct converted target = to_reference(s, host, host_ns);
	uint64_t ref_ns = clock_to_ref(clock_host_at(s, host)->map, host_ns);

	return target.failed ? -1 : target.half_ns + fabs((double)(int64_t)(target.t_ns - ref_ns));
}

/* The half widths of all pairs, now. */
static double *solve_pairs(struct clock_sync *s)
{
	double *bounds = g_new(double, s->pairs->len);

	for (unsigned n = 0; n < s->pairs->len; n++) {
		struct clock_pair *p = clock_pair_at(s, n);
		uint64_t x_ns = clock_host_at(s, p->a)->updated_ns;
		struct clock_bound bound;

		clock_pair_keep(p, x_ns, clock_pair_solve(p, x_ns, s->options.window_ns, false, &bound), &bound);
		bounds[n] = -1;
		if (p->has_line)
			clock_pair_line(p, x_ns, s->rho, &bounds[n]);
	}
	return bounds;
}

/* A host without a reference keeps its own time, except for the shift by arrival. */
static void publish_shift(struct clock_host *h, int64_t shift_ns)
{
	const uint64_t now_ns = h->updated_ns;

	if (!shift_ns) {
		clock_map_reset(h->map);
	} else if (clock_map_knots(h->map) != 1 || clock_to_ref(h->map, now_ns) != now_ns + (uint64_t)shift_ns) {
		clock_map_begin_epoch(h->map);
		clock_map_add(h->map, 0, (uint64_t)shift_ns, 0);
	}
}

static void publish_lone(struct clock_sync *s)
{
	for (unsigned n = 0; n < s->hosts->len; n++) {
		struct clock_host *h = clock_host_at(s, n);

		if (h->ref == NO_HOST && !h->by_hand)
			publish_shift(h, clock_owner(s, n)->shift_ns);
	}
}

void clock_move_maps(struct clock_sync *s)
{
	unsigned n = s->hosts->len, *order = g_new(unsigned, n), related;
	int *before = g_new(int, n);
	double *bounds = solve_pairs(s);

	for (unsigned h = 0; h < n; h++)
		before[h] = clock_host_at(s, h)->ref;
	related = clock_relate(s, bounds, true, order);
	for (unsigned i = 0; i < related; i++) {
		struct clock_host *h = clock_host_at(s, order[i]);

		if (h->up == NO_HOST) {
			publish_shift(h, clock_owner(s, order[i])->shift_ns);
			h->has_bound = true;
			h->bound_ns = 0;
		} else if (h->pair || clock_host_at(s, h->up)->up != NO_HOST) {
			publish(s, h, order[i], before[order[i]] != h->ref || !clock_map_knots(h->map));
		} else {
			h->has_bound = true; /* by hand, relative to the reference itself: its map exists */
			h->bound_ns = 0;
		}
	}
	publish_lone(s);
	g_free(order);
	g_free(before);
	g_free(bounds);
}
