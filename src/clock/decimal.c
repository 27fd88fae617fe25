/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clock/decimal.h"

#include <glib.h>

enum { WHOLE_DIGITS = 30 };

void decimal_init(struct decimal *d)
{
	mpz_init(d->coefficient);
	d->exponent = 0;
}

void decimal_release(struct decimal *d)
{
	mpz_clear(d->coefficient);
}

void decimal_set(struct decimal *d, const struct decimal *value)
{
	mpz_set(d->coefficient, value->coefficient);
	d->exponent = value->exponent;
}

void decimal_set_int(struct decimal *d, int64_t value)
{
	mpz_set_si(d->coefficient, value);
	d->exponent = 0;
}

bool decimal_set_text(struct decimal *d, const char *text)
{
	size_t len = strlen(text);
	const char *point = strchr(text, '.');
	char *digits = g_malloc(len + 1), *to = digits;
	bool good = len > 0 && (g_ascii_isdigit(text[0]) || (text[0] == '-' && g_ascii_isdigit(text[1])));

	for (const char *from = text; *from; from++) {
		if (from == point)
			continue;
		good &= g_ascii_isdigit(*from) || (*from == '-' && from == text);
		*to++ = *from;
	}
	*to = '\0';
	if (good)
		mpz_set_str(d->coefficient, digits, 10);
	else
		mpz_set_ui(d->coefficient, 0);
	d->exponent = good && point ? -(long)(len - (size_t)(point - text) - 1) : 0;
	g_free(digits);
	return good;
}

static long count_digits(const mpz_t value)
{
	size_t n = mpz_sizeinbase(value, 10); /* exact or one too many */
	mpz_t power;

	if (mpz_sgn(value) == 0)
		return 1;
	mpz_init(power);
	mpz_ui_pow_ui(power, 10, n - 1);
	if (mpz_cmpabs(value, power) < 0)
		n--;
	mpz_clear(power);
	return (long)n;
}

static void scale_up(mpz_t value, unsigned long digits)
{
	mpz_t power;

	mpz_init(power);
	mpz_ui_pow_ui(power, 10, digits);
	mpz_mul(value, value, power);
	mpz_clear(power);
}

/* Drops digits at the end, half to even. */
static void scale_down(mpz_t value, unsigned long digits)
{
	mpz_t power, rest;
	int half;

	mpz_inits(power, rest, NULL);
	mpz_ui_pow_ui(power, 10, digits);
	mpz_tdiv_qr(value, rest, value, power);
	mpz_mul_2exp(rest, rest, 1);
	half = mpz_cmpabs(rest, power);
	if (half > 0 || (half == 0 && mpz_odd_p(value))) {
		if (mpz_sgn(rest) > 0)
			mpz_add_ui(value, value, 1);
		else
			mpz_sub_ui(value, value, 1);
	}
	mpz_clears(power, rest, NULL);
}

static void round_off(struct decimal *d)
{
	long digits;

	/* Twice: 99…9.5 has one digit more once it is rounded. */
	while ((digits = count_digits(d->coefficient)) > DECIMAL_DIGITS) {
		scale_down(d->coefficient, digits - DECIMAL_DIGITS);
		d->exponent += digits - DECIMAL_DIGITS;
	}
}

static void combine(struct decimal *d, const struct decimal *a, const struct decimal *b, bool subtract)
{
	long exponent = MIN(a->exponent, b->exponent);
	mpz_t x, y;

	mpz_init_set(x, a->coefficient);
	mpz_init_set(y, b->coefficient);
	scale_up(x, a->exponent - exponent);
	scale_up(y, b->exponent - exponent);
	if (subtract)
		mpz_sub(d->coefficient, x, y);
	else
		mpz_add(d->coefficient, x, y);
	d->exponent = exponent;
	mpz_clears(x, y, NULL);
}

void decimal_add(struct decimal *d, const struct decimal *a, const struct decimal *b)
{
	combine(d, a, b, false);
}

void decimal_sub(struct decimal *d, const struct decimal *a, const struct decimal *b)
{
	combine(d, a, b, true);
}

void decimal_mul(struct decimal *d, const struct decimal *a, const struct decimal *b)
{
	mpz_mul(d->coefficient, a->coefficient, b->coefficient);
	d->exponent = a->exponent + b->exponent;
	round_off(d);
}

void decimal_div(struct decimal *d, const struct decimal *a, const struct decimal *b)
{
	long ideal = a->exponent - b->exponent;
	long shift = MAX(count_digits(b->coefficient) - count_digits(a->coefficient) + DECIMAL_DIGITS + 1, 0);
	mpz_t dividend, rest;

	mpz_init_set(dividend, a->coefficient);
	mpz_init(rest);
	scale_up(dividend, shift);
	mpz_tdiv_qr(d->coefficient, rest, dividend, b->coefficient);
	d->exponent = ideal - shift;
	if (mpz_sgn(rest) != 0) {
		/* A last digit that says: not exactly half. */
		scale_up(d->coefficient, 1);
		d->exponent--;
		if (mpz_sgn(dividend) * mpz_sgn(b->coefficient) > 0)
			mpz_add_ui(d->coefficient, d->coefficient, 1);
		else
			mpz_sub_ui(d->coefficient, d->coefficient, 1);
	} else {
		while (d->exponent < ideal && mpz_divisible_ui_p(d->coefficient, 10)) {
			mpz_divexact_ui(d->coefficient, d->coefficient, 10);
			d->exponent++;
		}
	}
	mpz_clears(dividend, rest, NULL);
	round_off(d);
}

void decimal_negate(struct decimal *d)
{
	mpz_neg(d->coefficient, d->coefficient);
}

int decimal_compare(const struct decimal *a, const struct decimal *b)
{
	struct decimal difference;
	int sign;

	decimal_init(&difference);
	decimal_sub(&difference, a, b);
	sign = decimal_sign(&difference);
	decimal_release(&difference);
	return sign;
}

int decimal_sign(const struct decimal *d)
{
	return mpz_sgn(d->coefficient);
}

/* The digits in front of the point. */
static void cut_fraction(mpz_t whole, const struct decimal *d)
{
	mpz_t power;

	mpz_set(whole, d->coefficient);
	if (d->exponent >= 0) {
		scale_up(whole, d->exponent);
		return;
	}
	mpz_init(power);
	mpz_ui_pow_ui(power, 10, -d->exponent);
	mpz_tdiv_q(whole, whole, power);
	mpz_clear(power);
}

int64_t decimal_to_int(const struct decimal *d)
{
	int64_t value;
	mpz_t whole;

	mpz_init(whole);
	cut_fraction(whole, d);
	if (mpz_fits_slong_p(whole))
		value = mpz_get_si(whole);
	else
		value = mpz_sgn(whole) > 0 ? INT64_MAX : INT64_MIN;
	mpz_clear(whole);
	return value;
}

double decimal_to_double(const struct decimal *d)
{
	char *text = decimal_text(d);
	double value = g_ascii_strtod(text, NULL);

	g_free(text);
	return value;
}

static bool is_whole(const struct decimal *d)
{
	struct decimal whole;
	bool same;

	decimal_init(&whole);
	cut_fraction(whole.coefficient, d);
	same = decimal_compare(&whole, d) == 0 && count_digits(whole.coefficient) <= WHOLE_DIGITS;
	decimal_release(&whole);
	return same;
}

char *decimal_text(const struct decimal *d)
{
	GString *text = g_string_new(NULL);
	struct decimal value;
	size_t point;
	char *digits;

	decimal_init(&value);
	if (d->exponent >= 0 || is_whole(d))
		cut_fraction(value.coefficient, d);
	else
		decimal_set(&value, d);
	point = (size_t)-value.exponent;
	if (decimal_sign(&value) < 0)
		g_string_append_c(text, '-');
	mpz_abs(value.coefficient, value.coefficient);
	digits = g_malloc(mpz_sizeinbase(value.coefficient, 10) + 2);
	mpz_get_str(digits, 10, value.coefficient);
	if (point) {
		size_t len = strlen(digits);

		if (len > point)
			g_string_append_len(text, digits, len - point);
		else
			g_string_append_c(text, '0');
		g_string_append_c(text, '.');
		for (size_t n = len; n < point; n++)
			g_string_append_c(text, '0');
		g_string_append(text, digits + (len > point ? len - point : 0));
	} else {
		g_string_append(text, digits);
	}
	g_free(digits);
	decimal_release(&value);
	return g_string_free(text, false);
}
