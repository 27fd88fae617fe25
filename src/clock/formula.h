/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_FORMULA_H
#define LT_CLOCK_FORMULA_H

#include <stdint.h>

#include "clock/decimal.h"

/*
 * reference's time = slope * host's time + intercept, as Trace Compass reckons it: the product of 34
 * significant digits, the sum exact, cut to a whole ns towards zero.
 */
struct clock_formula;

/* From decimal numbers; NULL: one of them is none, or the slope is not above 0. */
struct clock_formula *clock_formula_create(const char *slope, const char *intercept);
void clock_formula_destroy(struct clock_formula *f);

/* That of a clock that reads alpha * reference's time + beta: slope 1 / alpha, intercept -beta / alpha. */
struct clock_formula *clock_formula_of_line(const struct decimal *alpha, const struct decimal *beta);

/* `outer` after `inner`: the products rounded to 34 digits, the sum exact. */
struct clock_formula *clock_formula_compose(const struct clock_formula *outer, const struct clock_formula *inner);

/* The other way round. */
struct clock_formula *clock_formula_inverse(const struct clock_formula *f);

/* Below 0: 0. */
uint64_t clock_formula_apply(const struct clock_formula *f, uint64_t t_ns);

/* The first time whose image is at or after ref_ns. */
uint64_t clock_formula_invert(const struct clock_formula *f, uint64_t ref_ns);

/* As decimal numbers; to be freed with g_free(). */
char *clock_formula_slope(const struct clock_formula *f);
char *clock_formula_intercept(const struct clock_formula *f);

#endif
