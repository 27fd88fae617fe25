/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_DECIMAL_H
#define LT_CLOCK_DECIMAL_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decimal numbers of any length, with the arithmetic of java.math.BigDecimal
 * under MathContext.DECIMAL128, which is that of IEEE 754 decimal128: products and quotients
 * are rounded to 34 significant digits, half to even; sums are exact. Only for what is
 * compared with Trace Compass.
 */
enum { DECIMAL_DIGITS = 34 };

struct decimal {
	mpz_t coefficient;
	long exponent; /* value = coefficient * 10^exponent */
};

void decimal_init(struct decimal *d); /* 0 */
void decimal_release(struct decimal *d);

void decimal_set(struct decimal *d, const struct decimal *value);
void decimal_set_int(struct decimal *d, int64_t value);
bool decimal_set_text(struct decimal *d, const char *text); /* "-12.5"; false: no such number, d is 0 */

/* d may be one of the operands. */
void decimal_add(struct decimal *d, const struct decimal *a, const struct decimal *b);
void decimal_sub(struct decimal *d, const struct decimal *a, const struct decimal *b);
void decimal_mul(struct decimal *d, const struct decimal *a, const struct decimal *b);
void decimal_div(struct decimal *d, const struct decimal *a, const struct decimal *b); /* b is not 0 */
void decimal_negate(struct decimal *d);

/* < 0, 0, > 0. */
int decimal_compare(const struct decimal *a, const struct decimal *b);
int decimal_sign(const struct decimal *d);

/* Towards 0; cut to the range of the type. */
int64_t decimal_to_int(const struct decimal *d);
double decimal_to_double(const struct decimal *d);

/* Without exponent; whole numbers below 10^30 without fraction. To be freed with g_free(). */
char *decimal_text(const struct decimal *d);

#endif
