/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clock/window.h"

#include <glib.h>

#include "base/nstime.h"
#include "clock/hull.h"

#define BUCKET_NS ((int64_t)NS_PER_S) /* at first */
#define PPB INT64_C(1000000000)
#define LEAST_STRETCH_NS ((int64_t)(4 * NS_PER_S)) /* several shorter ones may also be a drift beyond rho */
#define FAR (INT64_C(1) << 60)                     /* keeps products of differences within 128 bits */

struct bucket {
	int64_t number;
	struct points hull[2];
};

struct fraction {
	hull_wide num, den; /* den > 0 */
};

struct clock_window {
	uint32_t rho_ppb, wander_ppb;
	int64_t bucket_ns;
	bool any;
	uint64_t base_x; /* of the first point; all others are kept as differences from it */
	int64_t base_d;
	GArray *buckets; /* struct bucket, by number */
	struct points scratch[2];
};

struct clock_window *clock_window_create(uint32_t rho_ppb, uint32_t wander_ppb)
{
	struct clock_window *w = g_new0(struct clock_window, 1);

	w->rho_ppb = rho_ppb;
	w->wander_ppb = wander_ppb;
	w->bucket_ns = BUCKET_NS;
	w->buckets = g_array_new(false, false, sizeof(struct bucket));
	return w;
}

static struct bucket *bucket_at(const struct clock_window *w, unsigned n)
{
	return &g_array_index(w->buckets, struct bucket, n);
}

void clock_window_trim(struct clock_window *w, unsigned n)
{
	if (w->buckets->len <= n)
		return;
	for (unsigned i = 0; i < w->buckets->len - n; i++)
		for (int kind = HULL_OF_LOWER; kind <= HULL_OF_UPPER; kind++)
			g_free(bucket_at(w, i)->hull[kind].p);
	g_array_remove_range(w->buckets, 0, w->buckets->len - n);
}

void clock_window_destroy(struct clock_window *w)
{
	if (!w)
		return;
	clock_window_trim(w, 0);
	g_array_free(w->buckets, true);
	for (int kind = HULL_OF_LOWER; kind <= HULL_OF_UPPER; kind++)
		g_free(w->scratch[kind].p);
	g_free(w);
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* The first bucket with this or a higher number. */
static unsigned find_bucket(const struct clock_window *w, int64_t number)
{
	unsigned lo = 0, hi = w->buckets->len;

	while (lo < hi) {
		unsigned mid = lo + (hi - lo) / 2;

		if (bucket_at(w, mid)->number < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool clock_window_add(struct clock_window *w, bool from_a, uint64_t x_ns, int64_t d_ns)
{
	struct window_point p;
	unsigned n;
	int64_t number;

	if (!w->any) {
		w->any = true;
		w->base_x = x_ns;
		w->base_d = d_ns;
	}
	p.x = (int64_t)(x_ns - w->base_x);
	if (__builtin_sub_overflow(d_ns, w->base_d, &p.d) || ABS((hull_wide)p.x) > FAR || ABS((hull_wide)p.d) > FAR)
		return false;
	number = floor_div(p.x, w->bucket_ns);
	n = find_bucket(w, number);
	if (n == w->buckets->len || bucket_at(w, n)->number != number) {
		struct bucket b = { .number = number };

		g_array_insert_val(w->buckets, n, b);
	}
	hull_insert(&bucket_at(w, n)->hull[from_a ? HULL_OF_UPPER : HULL_OF_LOWER],
		    from_a ? HULL_OF_UPPER : HULL_OF_LOWER, p);
	return true;
}

/* from is the later one. */
static void merge_bucket(struct bucket *to, struct bucket *from)
{
	for (int kind = HULL_OF_LOWER; kind <= HULL_OF_UPPER; kind++) {
		for (uint32_t i = 0; i < from->hull[kind].n; i++)
			hull_insert(&to->hull[kind], kind, from->hull[kind].p[i]);
		g_free(from->hull[kind].p);
	}
}

static void double_buckets(struct clock_window *w)
{
	unsigned n = 0;

	w->bucket_ns *= 2;
	for (unsigned i = 0; i < w->buckets->len; i++) {
		struct bucket *b = bucket_at(w, i);

		b->number = floor_div(b->number, 2);
		if (n && bucket_at(w, n - 1)->number == b->number)
			merge_bucket(bucket_at(w, n - 1), b);
		else
			*bucket_at(w, n++) = *b;
	}
	g_array_set_size(w->buckets, n);
}

void clock_window_coarsen(struct clock_window *w, unsigned n)
{
	while (w->buckets->len > n)
		double_buckets(w);
}

bool clock_window_span(const struct clock_window *w, uint64_t *first_ns, uint64_t *last_ns)
{
	int64_t first = INT64_MAX, last = INT64_MIN;

	if (!w->buckets->len)
		return false;
	for (int kind = HULL_OF_LOWER; kind <= HULL_OF_UPPER; kind++) {
		const struct points *head = &bucket_at(w, 0)->hull[kind];
		const struct points *tail = &bucket_at(w, w->buckets->len - 1)->hull[kind];

		if (head->n)
			first = MIN(first, head->p[0].x);
		if (tail->n)
			last = MAX(last, tail->p[tail->n - 1].x);
	}
	*first_ns = w->base_x + first;
	*last_ns = w->base_x + last;
	return true;
}

/*
 * Collects the hull of one kind over the window, in coordinates relative to x0, with each point moved outwards by the
 * possible frequency wander at its distance.
 */
static void collect(struct clock_window *w, int kind, unsigned first, unsigned last, int64_t x0)
{
	struct points *h = &w->scratch[kind];

	h->n = 0;
	for (unsigned n = first; n < last; n++) {
		const struct points *own = &bucket_at(w, n)->hull[kind];

		for (uint32_t i = 0; i < own->n; i++) {
			struct window_point p = { own->p[i].x - x0, own->p[i].d };
			int64_t slack = (int64_t)((hull_wide)ABS(p.x) * w->wander_ppb / PPB) + 1;

			if (!w->wander_ppb)
				slack = 0;
			p.d += kind == HULL_OF_UPPER ? slack : -slack;
			while (h->n >= 2 && hull_is_flat(kind, &h->p[h->n - 2], &h->p[h->n - 1], &p))
				h->n--;
			points_insert(h, h->n, p);
		}
	}
}

static int fraction_compare(struct fraction a, struct fraction b)
{
	hull_wide difference = a.num * b.den - b.num * a.den;

	return difference < 0 ? -1 : difference > 0;
}

/*
 * Finds the slopes of lines between the hulls, from each point of one to each point of the other. False: there are
 * none.
 */
static bool feasible_slopes(const struct clock_window *w, struct fraction *least, struct fraction *greatest,
			    bool *both_ways)
{
	const struct points *u = &w->scratch[HULL_OF_LOWER], *l = &w->scratch[HULL_OF_UPPER];
	bool from_below = false, from_above = false;

	*least = (struct fraction){ -(hull_wide)w->rho_ppb, PPB };
	*greatest = (struct fraction){ w->rho_ppb, PPB };
	for (uint32_t i = 0; i < u->n; i++) {
		for (uint32_t j = 0; j < l->n; j++) {
			hull_wide dx = (hull_wide)u->p[i].x - l->p[j].x, dd = (hull_wide)u->p[i].d - l->p[j].d;

			if (dx > 0) {
				struct fraction f = { dd, dx };

				from_below = true;
				if (fraction_compare(f, *least) > 0)
					*least = f;
			} else if (dx < 0) {
				struct fraction f = { -dd, -dx };

				from_above = true;
				if (fraction_compare(f, *greatest) < 0)
					*greatest = f;
			} else if (dd > 0) {
				return false;
			}
		}
	}
	*both_ways = from_below && from_above;
	return fraction_compare(*least, *greatest) <= 0;
}

/* The extreme of d - slope * x in a hull: the least of upper limits, the greatest of lower ones; rounded outwards. */
static int64_t extreme(const struct points *h, int kind, struct fraction slope)
{
	hull_wide best = 0, quotient;

	for (uint32_t i = 0; i < h->n; i++) {
		hull_wide value = (hull_wide)h->p[i].d * slope.den - slope.num * h->p[i].x;

		if (i == 0 || (kind == HULL_OF_UPPER ? value < best : value > best))
			best = value;
	}
	quotient = best / slope.den;
	if (kind == HULL_OF_UPPER && best % slope.den > 0)
		quotient++;
	if (kind == HULL_OF_LOWER && best % slope.den < 0)
		quotient--;
	return (int64_t)quotient;
}

/*
 * The slope with which the hull bounds d(0) least: that of its edge over x = 0. If all points are on one side of 0, the
 * bound is weakest with one of the extreme slopes.
 */
static struct fraction weakest_slope(const struct points *h, int kind, struct fraction least, struct fraction greatest)
{
	struct fraction edge;

	if (h->p[h->n - 1].x <= 0)
		return kind == HULL_OF_UPPER ? greatest : least;
	if (h->p[0].x >= 0)
		return kind == HULL_OF_UPPER ? least : greatest;
	for (uint32_t i = 0;; i++) {
		if (h->p[i + 1].x > 0) {
			edge = (struct fraction){ (hull_wide)h->p[i + 1].d - h->p[i].d,
						  (hull_wide)h->p[i + 1].x - h->p[i].x };
			break;
		}
	}
	if (fraction_compare(edge, least) < 0)
		return least;
	return fraction_compare(edge, greatest) > 0 ? greatest : edge;
}

static int64_t from_base(const struct clock_window *w, uint64_t t_ns)
{
	return (int64_t)CLAMP((hull_wide)t_ns - w->base_x, -(hull_wide)FAR, (hull_wide)FAR);
}

static double fraction_to_double(struct fraction f)
{
	return (double)f.num / (double)f.den;
}

enum clock_window_result clock_window_solve(struct clock_window *w, uint64_t from_ns, uint64_t to_ns, uint64_t at_ns,
					    struct clock_bound *out)
{
	unsigned first = find_bucket(w, floor_div(from_base(w, from_ns), w->bucket_ns));
	unsigned last = find_bucket(w, floor_div(from_base(w, to_ns), w->bucket_ns) + 1);
	int64_t at = from_base(w, at_ns);
	struct fraction least, greatest;

	for (int kind = HULL_OF_LOWER; kind <= HULL_OF_UPPER; kind++) {
		collect(w, kind, first, last, at);
		if (!w->scratch[kind].n)
			return WINDOW_EMPTY;
	}
	if (!feasible_slopes(w, &least, &greatest, &out->both_ways))
		return WINDOW_INFEASIBLE;
	out->lo_ns = w->base_d + extreme(&w->scratch[HULL_OF_LOWER], HULL_OF_LOWER,
					 weakest_slope(&w->scratch[HULL_OF_LOWER], HULL_OF_LOWER, least, greatest));
	out->hi_ns = w->base_d + extreme(&w->scratch[HULL_OF_UPPER], HULL_OF_UPPER,
					 weakest_slope(&w->scratch[HULL_OF_UPPER], HULL_OF_UPPER, least, greatest));
	out->slope_least = fraction_to_double(least);
	out->slope_greatest = fraction_to_double(greatest);
	return WINDOW_BOUND;
}

/* ---- jumps ---- */

/* A message, and the limit of d that it is: at its own time, and weaker with the distance. */
struct limit {
	bool set;
	int kind;
	struct window_point at;
};

static int by_x(gconstpointer pa, gconstpointer pb)
{
	const struct limit *a = pa, *b = pb;

	return a->at.x != b->at.x ? (a->at.x > b->at.x) - (a->at.x < b->at.x) : a->kind - b->kind;
}

/* All corners of the hulls, in order of x. */
static GArray *all_limits(const struct clock_window *w)
{
	GArray *all = g_array_new(false, false, sizeof(struct limit));

	for (unsigned n = 0; n < w->buckets->len; n++)
		for (int kind = HULL_OF_LOWER; kind <= HULL_OF_UPPER; kind++) {
			const struct points *h = &bucket_at(w, n)->hull[kind];

			for (uint32_t i = 0; i < h->n; i++) {
				const struct limit limit = { true, kind, h->p[i] };

				g_array_append_val(all, limit);
			}
		}
	g_array_sort(all, by_x);
	return all;
}

static hull_wide limit_at(const struct clock_window *w, const struct limit *limit, int64_t x)
{
	hull_wide slack = (ABS((hull_wide)x - limit->at.x) * (w->rho_ppb + w->wander_ppb)) / PPB + 1;

	return limit->kind == HULL_OF_UPPER ? limit->at.d + slack : limit->at.d - slack;
}

/* The first of the messages from `from` to before `to`, later or earlier, that contradicts those before it; or `to`. */
static int64_t find_contradiction(const struct clock_window *w, const GArray *all, int64_t from, int64_t to)
{
	struct limit tightest[2] = { 0 };
	const int64_t step = from < to ? 1 : -1;

	for (int64_t i = from; i != to; i += step) {
		const struct limit *l = &g_array_index(all, struct limit, i);
		const struct limit *other = &tightest[l->kind == HULL_OF_LOWER ? HULL_OF_UPPER : HULL_OF_LOWER];
		struct limit *own = &tightest[l->kind];

		if (other->set && (l->kind == HULL_OF_LOWER ? l->at.d > limit_at(w, other, l->at.x)
							    : l->at.d < limit_at(w, other, l->at.x)))
			return i;
		if (!own->set || (l->kind == HULL_OF_LOWER ? l->at.d >= limit_at(w, own, l->at.x)
							   : l->at.d <= limit_at(w, own, l->at.x)))
			*own = *l;
	}
	return to;
}

static void add_stretch(const struct clock_window *w, const GArray *all, int64_t first, int64_t last, GArray *out)
{
	const int64_t first_x = g_array_index(all, struct limit, first).at.x;
	const int64_t last_x = g_array_index(all, struct limit, last).at.x;
	struct clock_stretch stretch = {
		.first_ns = first ? w->base_x + (uint64_t)first_x : 0,
		.last_ns = last + 1 < (int64_t)all->len ? w->base_x + (uint64_t)last_x : UINT64_MAX,
	};

	if (last_x - first_x < LEAST_STRETCH_NS)
		return;
	stretch.window = clock_window_create(w->rho_ppb, w->wander_ppb);
	stretch.window->bucket_ns = w->bucket_ns;
	stretch.window->any = true;
	stretch.window->base_x = w->base_x;
	stretch.window->base_d = w->base_d;
	for (int64_t i = first; i <= last; i++) {
		const struct limit *l = &g_array_index(all, struct limit, i);

		clock_window_add(stretch.window, l->kind == HULL_OF_UPPER, w->base_x + (uint64_t)l->at.x,
				 w->base_d + l->at.d);
	}
	g_array_append_val(out, stretch);
}

static void clear_stretch(void *data)
{
	clock_window_destroy(((struct clock_stretch *)data)->window);
}

/*
 * The first message that contradicts earlier ones came after a jump; the last one that contradicts it and those between
 * came before.
 */
GArray *clock_window_split(const struct clock_window *w)
{
	GArray *all = all_limits(w), *out = NULL;
	const int64_t n = all->len;

	for (int64_t first = 0, after; first < n; first = after) {
		int64_t last = n - 1;

		after = find_contradiction(w, all, first, n);
		if (after < n) {
			last = find_contradiction(w, all, after, first - 1);
			last = MAX(last, first);
			if (!out) {
				out = g_array_new(false, false, sizeof(struct clock_stretch));
				g_array_set_clear_func(out, clear_stretch);
			}
		}
		if (out)
			add_stretch(w, all, first, last, out);
	}
	g_array_free(all, true);
	return out;
}

/* ---- as bytes ---- */

enum { POINT_PACKED = 3 * sizeof(uint64_t) };

void clock_window_pack(const struct clock_window *w, GByteArray *out)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < w->buckets->len; i++)
		n += bucket_at(w, i)->hull[HULL_OF_LOWER].n + bucket_at(w, i)->hull[HULL_OF_UPPER].n;
	pack_u64(out, (uint64_t)w->bucket_ns);
	pack_u64(out, w->base_x);
	pack_u64(out, (uint64_t)w->base_d);
	pack_u64(out, n);
	for (unsigned i = 0; i < w->buckets->len; i++)
		for (int kind = HULL_OF_LOWER; kind <= HULL_OF_UPPER; kind++) {
			const struct points *h = &bucket_at(w, i)->hull[kind];

			for (uint32_t k = 0; k < h->n; k++) {
				pack_u64(out, kind == HULL_OF_UPPER);
				pack_u64(out, w->base_x + (uint64_t)h->p[k].x);
				pack_u64(out, (uint64_t)w->base_d + (uint64_t)h->p[k].d);
			}
		}
}

/* All corners of the hulls are added, so each is a corner again. */
void clock_window_unpack(struct clock_window *w, struct unpack *in)
{
	const uint64_t bucket_ns = unpack_u64(in);
	uint64_t x_ns;
	size_t n;

	w->bucket_ns = (int64_t)CLAMP(bucket_ns, (uint64_t)BUCKET_NS, (uint64_t)FAR);
	w->base_x = unpack_u64(in);
	w->base_d = (int64_t)unpack_u64(in);
	n = unpack_count(in, POINT_PACKED);
	w->any = n;
	for (size_t i = 0; i < n && !in->failed; i++) {
		const bool from_a = unpack_upto(in, 1);

		x_ns = unpack_u64(in);
		in->failed |= !clock_window_add(w, from_a, x_ns, (int64_t)unpack_u64(in));
	}
}
