/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>

#include "clock/compat.h"

/* x: reference's time, y: the other's. */
struct hull_point {
	int64_t x, y;
};

/* A separating line, from a point of the one hull to a later one of the other; either may be missing. */
struct hull_line {
	const struct hull_point *from, *to;
};

enum { LEAST, GREATEST }; /* of the lines: the one of least slope, the one of greatest */

struct compat_hull {
	GPtrArray *points;  /* all, owned */
	GPtrArray *hull[2]; /* [LEAST]: messages to the reference, above them the line; [GREATEST]: from it */
	struct hull_line lines[2];
	struct decimal alpha, beta;
	enum compat_quality quality;
	unsigned matches, accurate;
};

struct compat_hull *compat_hull_create(void)
{
	struct compat_hull *h = g_new0(struct compat_hull, 1);

	h->points = g_ptr_array_new_with_free_func(g_free);
	h->hull[LEAST] = g_ptr_array_new();
	h->hull[GREATEST] = g_ptr_array_new();
	decimal_init(&h->alpha);
	decimal_set_int(&h->alpha, 1);
	decimal_init(&h->beta);
	return h;
}

void compat_hull_destroy(struct compat_hull *h)
{
	if (!h)
		return;
	g_ptr_array_free(h->hull[LEAST], true);
	g_ptr_array_free(h->hull[GREATEST], true);
	g_ptr_array_free(h->points, true);
	decimal_release(&h->alpha);
	decimal_release(&h->beta);
	g_free(h);
}

/* The sign of (a - p) x (b - p), with the wrapped product of 64-bit integers. */
static int cross(const struct hull_point *p, const struct hull_point *a, const struct hull_point *b)
{
	uint64_t product = ((uint64_t)a->x - (uint64_t)p->x) * ((uint64_t)b->y - (uint64_t)p->y) -
			   ((uint64_t)a->y - (uint64_t)p->y) * ((uint64_t)b->x - (uint64_t)p->x);

	return product == 0 ? 0 : product >> 63 ? -1 : 1;
}

static const struct hull_point *nth(const GPtrArray *hull, unsigned n)
{
	return g_ptr_array_index(hull, n);
}

/* Moves the line's start along the opposite hull as far as its end asks for. */
static void adjust(struct hull_line *line, const GPtrArray *opposite, int side)
{
	const struct hull_point *middle = NULL;
	unsigned i = 0;
	bool done = false;

	for (unsigned n = 0; n < opposite->len; n++) {
		if (nth(opposite, n) == line->from) {
			i = n;
			break;
		}
	}
	while (i + 1 < opposite->len && !done) {
		const struct hull_point *next = nth(opposite, i + 1);

		middle = nth(opposite, i);
		if (cross(middle, next, line->to) * side <= 0) {
			line->from = middle;
			done = true;
		} else if (next->x < line->to->x) {
			i++;
		} else {
			line->from = NULL;
			done = true;
		}
	}
	if (!line->from)
		line->from = middle;
	if (line->from && line->from->x > line->to->x)
		line->from = NULL;
}

/* 1 where there is no other point. */
static void line_slope(struct decimal *slope, const struct hull_line *line)
{
	struct decimal dx;

	decimal_set_int(slope, 1);
	if (!line->from || line->to->x == line->from->x)
		return;
	decimal_init(&dx);
	decimal_set_int(&dx, line->to->x - line->from->x);
	decimal_set_int(slope, line->to->y - line->from->y);
	decimal_div(slope, slope, &dx);
	decimal_release(&dx);
}

/* y - slope * x at the line's end. */
static void line_intercept(struct decimal *intercept, const struct hull_line *line, const struct decimal *slope)
{
	struct decimal product;

	decimal_init(&product);
	decimal_set_int(&product, line->to->x);
	decimal_mul(&product, slope, &product);
	decimal_set_int(intercept, line->to->y);
	decimal_sub(intercept, intercept, &product);
	decimal_release(&product);
}

static void half_sum(struct decimal *d, const struct decimal *a, const struct decimal *b)
{
	struct decimal two;

	decimal_init(&two);
	decimal_set_int(&two, 2);
	decimal_add(d, a, b);
	decimal_div(d, d, &two);
	decimal_release(&two);
}

static void estimate(struct compat_hull *h)
{
	const struct hull_line *least = &h->lines[LEAST], *greatest = &h->lines[GREATEST];
	struct decimal slope[2], intercept[2];

	if (!least->from && !greatest->from) {
		if (!least->to || !greatest->to)
			h->quality = COMPAT_INCOMPLETE;
		return;
	}
	if (h->quality == COMPAT_FAIL)
		return;
	for (int l = LEAST; l <= GREATEST; l++) {
		decimal_init(&slope[l]);
		decimal_init(&intercept[l]);
		line_slope(&slope[l], &h->lines[l]);
		line_intercept(&intercept[l], &h->lines[l], &slope[l]);
	}
	if (!least->from || !greatest->from)
		h->quality = COMPAT_APPROXIMATE;
	else if (decimal_compare(&slope[GREATEST], &slope[LEAST]) > 0)
		h->quality = COMPAT_ACCURATE;
	else
		h->quality = COMPAT_FAIL;
	if (h->quality != COMPAT_FAIL) {
		half_sum(&h->alpha, &slope[LEAST], &slope[GREATEST]);
		half_sum(&h->beta, &intercept[LEAST], &intercept[GREATEST]);
	}
	for (int l = LEAST; l <= GREATEST; l++) {
		decimal_release(&slope[l]);
		decimal_release(&intercept[l]);
	}
}

static bool contains(const GPtrArray *hull, const struct hull_point *p)
{
	for (unsigned n = 0; n < hull->len; n++)
		if (nth(hull, n) == p)
			return true;
	return false;
}

void compat_hull_add(struct compat_hull *h, bool to_reference, int64_t sent_ns, int64_t received_ns)
{
	int own = to_reference ? LEAST : GREATEST, side = to_reference ? 1 : -1;
	struct hull_line *line = &h->lines[own], *other = &h->lines[!own];
	GPtrArray *hull = h->hull[own];
	struct hull_point *p = g_new(struct hull_point, 1);
	bool qualifies;

	*p = to_reference ? (struct hull_point){ received_ns, sent_ns } : (struct hull_point){ sent_ns, received_ns };
	g_ptr_array_add(h->points, p);
	h->matches++;
	qualifies = !line->from || !line->to || cross(p, line->from, line->to) * side > 0;
	if (qualifies) {
		h->accurate++;
		while (hull->len >= 2 && cross(p, nth(hull, hull->len - 2), nth(hull, hull->len - 1)) * side > 0)
			g_ptr_array_set_size(hull, hull->len - 1);
		g_ptr_array_add(hull, p);
		line->to = p;
	}
	adjust(line, h->hull[!own], side);
	if (other->to && !contains(hull, other->from))
		adjust(other, hull, -side);
	if (qualifies)
		estimate(h);
}

struct compat_line compat_hull_line(const struct compat_hull *h)
{
	return (struct compat_line){
		.quality = h->quality,
		.alpha = &h->alpha,
		.beta = &h->beta,
		.matches = h->matches,
		.accurate = h->accurate,
		.upper_points = h->hull[LEAST]->len,
		.lower_points = h->hull[GREATEST]->len,
	};
}

struct clock_formula *compat_hull_formula(const struct compat_hull *h)
{
	if (h->quality == COMPAT_ABSENT || h->quality == COMPAT_INCOMPLETE)
		return NULL;
	return clock_formula_of_line(&h->alpha, &h->beta);
}
