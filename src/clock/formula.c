/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clock/formula.h"

#include <glib.h>

#include "clock/decimal.h"

struct clock_formula {
	struct decimal slope, intercept;
};

static struct clock_formula *create(void)
{
	struct clock_formula *f = g_new(struct clock_formula, 1);

	decimal_init(&f->slope);
	decimal_init(&f->intercept);
	return f;
}

void clock_formula_destroy(struct clock_formula *f)
{
	if (!f)
		return;
	decimal_release(&f->slope);
	decimal_release(&f->intercept);
	g_free(f);
}

struct clock_formula *clock_formula_create(const char *slope, const char *intercept)
{
	struct clock_formula *f = create();

	if (decimal_set_text(&f->slope, slope) && decimal_set_text(&f->intercept, intercept) &&
	    decimal_sign(&f->slope) > 0)
		return f;
	clock_formula_destroy(f);
	return NULL;
}

struct clock_formula *clock_formula_of_line(const struct decimal *alpha, const struct decimal *beta)
{
	struct clock_formula *f = create();
	struct decimal one;

	decimal_init(&one);
	decimal_set_int(&one, 1);
	decimal_div(&f->slope, &one, alpha);
	decimal_set(&f->intercept, beta);
	decimal_negate(&f->intercept);
	decimal_div(&f->intercept, &f->intercept, alpha);
	decimal_release(&one);
	return f;
}

struct clock_formula *clock_formula_compose(const struct clock_formula *outer, const struct clock_formula *inner)
{
	struct clock_formula *f = create();

	decimal_mul(&f->slope, &outer->slope, &inner->slope);
	decimal_mul(&f->intercept, &outer->slope, &inner->intercept);
	decimal_add(&f->intercept, &f->intercept, &outer->intercept);
	return f;
}

struct clock_formula *clock_formula_inverse(const struct clock_formula *f)
{
	return clock_formula_of_line(&f->slope, &f->intercept);
}

static int64_t apply(const struct clock_formula *f, int64_t t_ns)
{
	struct decimal d;
	int64_t result;

	decimal_init(&d);
	decimal_set_int(&d, t_ns);
	decimal_mul(&d, &d, &f->slope);
	decimal_add(&d, &d, &f->intercept);
	result = decimal_to_int(&d);
	decimal_release(&d);
	return result;
}

uint64_t clock_formula_apply(const struct clock_formula *f, uint64_t t_ns)
{
	return MAX(apply(f, MIN(t_ns, INT64_MAX)), 0);
}

uint64_t clock_formula_invert(const struct clock_formula *f, uint64_t ref_ns)
{
	int64_t target = MIN(ref_ns, INT64_MAX), lo = 0, hi = INT64_MAX;
	struct decimal d;

	/* The guess is right to a ns or two; then by halves. */
	decimal_init(&d);
	decimal_set_int(&d, target);
	decimal_sub(&d, &d, &f->intercept);
	decimal_div(&d, &d, &f->slope);
	target = decimal_to_int(&d);
	decimal_release(&d);
	if (target > 2 && target < INT64_MAX - 2) {
		if (apply(f, target - 2) < (int64_t)ref_ns)
			lo = target - 1;
		if (apply(f, target + 2) >= (int64_t)ref_ns)
			hi = target + 2;
	}
	while (lo < hi) {
		int64_t mid = lo + (hi - lo) / 2;

		if (apply(f, mid) >= (int64_t)ref_ns)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

char *clock_formula_slope(const struct clock_formula *f)
{
	return decimal_text(&f->slope);
}

char *clock_formula_intercept(const struct clock_formula *f)
{
	return decimal_text(&f->intercept);
}
