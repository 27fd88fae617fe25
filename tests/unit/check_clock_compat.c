/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace Compass' matching, hull and formulas against facts from its own
 * tests: cases match_tables, sync_points, ts_transform and sync_django of ../shared/conformance.
 */
#include <glib.h>
#include <jansson.h>

#include "clock/compat.h"
#include "unit.h"

/* NULL: the cases are absent here. */
static json_t *load_case(const char *name)
{
	const char *conformance = getenv("LTTNGTOP_CONFORMANCE"), *shared = getenv("SHARED");
	char *cases = conformance ? g_strdup(conformance)
				  : g_build_filename(shared ? shared : "../shared", "conformance", NULL);
	char *path = g_build_filename(cases, name, "expected.json", NULL);
	json_t *root = NULL;
	json_error_t error;

	if (g_file_test(path, G_FILE_TEST_EXISTS)) {
		root = json_load_file(path, 0, &error);
		ck_assert_msg(root != NULL, "%s: %s", path, error.text);
	} else {
		printf("skip %s: no %s\n", name, path);
	}
	g_free(path);
	g_free(cases);
	return root;
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void ignore_match(void *data, const struct match_end *from, const struct match_end *to)
{
	unsigned *matches = data;

	ck_assert_ptr_ne(from, to);
	++*matches;
}

enum { CLASSES = 2 }; /* keys i*, s*: a matcher each */

/* How many wait, by "t1_out" and the like, over both classes of keys. */
static unsigned waiting(struct compat_matcher *const m[CLASSES], const char *table)
{
	unsigned host = (unsigned)(table[1] - '1'), n = 0;

	for (unsigned c = 0; c < CLASSES; c++)
		n += compat_matcher_waiting(m[c], host, g_str_has_suffix(table, "_out"));
	return n;
}

static unsigned run_tables(const char *name, json_t *steps)
{
	unsigned matches = 0, checks = 0;
	struct compat_matcher *m[CLASSES];
	size_t i;
	json_t *step;

	for (unsigned c = 0; c < CLASSES; c++)
		m[c] = compat_matcher_create(2, ignore_match, &matches);
	json_array_foreach(steps, i, step) {
		const char *key = text_of(step, "key"), *table;
		struct compat_key numbers = { .numbers = g_str_hash(key) };
		json_t *count;

		compat_matcher_feed(m[key[0] == 's'], (unsigned)(text_of(step, "trace")[1] - '1'),
				    (uint64_t)json_integer_value(json_object_get(step, "t")),
				    strcmp(text_of(step, "dir"), "out") == 0, &numbers, NULL);
		json_object_foreach(json_object_get(step, "waiting"), table, count) {
			ck_assert_msg(waiting(m, table) == json_integer_value(count), "%s, step %zu: %s is %u, not %d",
				      name, i, table, waiting(m, table), (int)json_integer_value(count));
			checks++;
		}
	}
	ck_assert_uint_gt(matches, 0);
	for (unsigned c = 0; c < CLASSES; c++)
		compat_matcher_destroy(m[c]);
	return checks;
}

START_TEST(test_match_tables)
{
	json_t *root = load_case("match_tables"), *steps;
	unsigned checks = 0;
	const char *name;

	if (!root)
		return;
	json_object_foreach(json_object_get(root, "tests"), name, steps)
		checks += run_tables(name, steps);
	ck_assert_uint_ge(checks, 40);
	json_decref(root);
}
END_TEST

static const char *quality_name(enum compat_quality quality)
{
	static const char *const names[] = { "ABSENT", "INCOMPLETE", "APPROXIMATE", "ACCURATE", "FAIL" };

	return names[quality];
}

static void assert_number(const char *what, size_t step, const struct decimal *value, const char *expected)
{
	char *text = decimal_text(value);

	ck_assert_msg(strcmp(text, expected) == 0, "%s after message %zu is %s, not %s", what, step, text, expected);
	g_free(text);
}

static unsigned run_messages(const char *name, const char *reference, json_t *messages)
{
	struct compat_hull *hull = compat_hull_create();
	unsigned checks = 0;
	size_t i;
	json_t *message;

	ck_assert_int_eq(compat_hull_line(hull).quality, COMPAT_ABSENT);
	json_array_foreach(messages, i, message) {
		json_t *from = json_object_get(message, "from"), *to = json_object_get(message, "to");
		const char *alpha = text_of(message, "alpha"), *beta = text_of(message, "beta");
		struct compat_line line;

		compat_hull_add(hull, strcmp(json_string_value(json_array_get(to, 0)), reference) == 0,
				json_integer_value(json_array_get(from, 1)), json_integer_value(json_array_get(to, 1)));
		line = compat_hull_line(hull);
		ck_assert_uint_eq(line.matches, i + 1);
		ck_assert_msg(strcmp(quality_name(line.quality), text_of(message, "quality")) == 0,
			      "%s, message %zu: %s, not %s", name, i, quality_name(line.quality),
			      text_of(message, "quality"));
		checks++;
		if (alpha)
			assert_number("alpha", i, line.alpha, alpha);
		if (beta)
			assert_number("beta", i, line.beta, beta);
		checks += (alpha != NULL) + (beta != NULL);
	}
	compat_hull_destroy(hull);
	return checks;
}

START_TEST(test_sync_points)
{
	json_t *root = load_case("sync_points"), *messages;
	unsigned checks = 0;
	const char *name;

	if (!root)
		return;
	json_object_foreach(json_object_get(root, "tests"), name, messages)
		checks += run_messages(name, text_of(root, "reference"), messages);
	ck_assert_uint_ge(checks, 40);
	json_decref(root);
}
END_TEST

static struct clock_formula *formula_of(json_t *pair)
{
	struct clock_formula *f = clock_formula_create(json_string_value(json_array_get(pair, 0)),
						       json_string_value(json_array_get(pair, 1)));

	ck_assert_ptr_nonnull(f);
	return f;
}

START_TEST(test_ts_transform)
{
	json_t *root = load_case("ts_transform"), *one;
	size_t i, checks = 0;

	if (!root)
		return;
	json_array_foreach(json_object_get(root, "linear"), i, one) {
		struct clock_formula *f = clock_formula_create(text_of(one, "slope"), text_of(one, "offset"));

		ck_assert_ptr_nonnull(f);
		ck_assert_int_eq((int64_t)clock_formula_apply(f, json_integer_value(json_object_get(root, "t"))),
				 json_integer_value(json_object_get(one, "expect")));
		clock_formula_destroy(f);
		checks++;
	}
	json_array_foreach(json_object_get(root, "compose"), i, one) {
		struct clock_formula *outer = formula_of(json_object_get(one, "outer"));
		struct clock_formula *inner = formula_of(json_object_get(one, "inner"));
		struct clock_formula *both = clock_formula_compose(outer, inner);

		ck_assert_int_eq((int64_t)clock_formula_apply(both, json_integer_value(json_object_get(one, "t"))),
				 json_integer_value(json_object_get(one, "expect")));
		clock_formula_destroy(outer);
		clock_formula_destroy(inner);
		clock_formula_destroy(both);
		checks++;
	}
	ck_assert_uint_ge(checks, 6);
	json_decref(root);
}
END_TEST

/* Of a set of three hosts only the numbers are known: they keep every digit, and lead back and forth. */
START_TEST(test_sync_django)
{
	json_t *root = load_case("sync_django"), *pair;
	unsigned checks = 0;
	const char *host;

	if (!root)
		return;
	json_object_foreach(json_object_get(root, "transforms"), host, pair) {
		struct clock_formula *f = formula_of(pair), *back = clock_formula_inverse(f);
		struct clock_formula *none = clock_formula_compose(f, back);
		char *slope = clock_formula_slope(f), *intercept = clock_formula_intercept(f);
		const uint64_t t = UINT64_C(1412888000123456789);

		ck_assert_str_eq(slope, json_string_value(json_array_get(pair, 0)));
		ck_assert_str_eq(intercept, json_string_value(json_array_get(pair, 1)));
		/* 34 digits of an intercept of 12 are more than enough for a ns. */
		ck_assert_uint_le(clock_formula_apply(none, t) - t + 1, 2);
		ck_assert_uint_le(clock_formula_apply(back, clock_formula_apply(f, t)) - t + 2, 4);
		clock_formula_destroy(f);
		clock_formula_destroy(back);
		clock_formula_destroy(none);
		g_free(slope);
		g_free(intercept);
		checks++;
	}
	ck_assert_uint_eq(checks, 3);
	json_decref(root);
}
END_TEST

/* The products of a long trace do not fit 64 bits; Trace Compass continues with their low bits. */
START_TEST(test_wrapped_products)
{
	struct compat_hull *hull = compat_hull_create();
	const int64_t hour = INT64_C(3600000000000);

	/* 10 ms off the line, hours apart: exactly, the last message fits between the others. */
	compat_hull_add(hull, true, 1000, 2000);
	compat_hull_add(hull, false, 2000, 3000);
	compat_hull_add(hull, true, 5 * hour, 5 * hour + 10000000);
	compat_hull_add(hull, false, 5 * hour + 1000, 5 * hour + 10001000);
	ck_assert_int_eq(compat_hull_line(hull).quality, COMPAT_ACCURATE);
	compat_hull_add(hull, true, 5 * hour + 2000 - 2000000000, 5 * hour + 2000);
	/* 5 h * 2 s = 3.6e22: wrapped, the sign says that the message qualifies. Exactly, it does not. */
	ck_assert_uint_eq(compat_hull_line(hull).accurate, 5);
	compat_hull_destroy(hull);
}
END_TEST

/* A message that lies on the line moves nothing. */
START_TEST(test_message_on_the_line)
{
	static const struct {
		bool to_reference;
		int64_t sent, received;
	} messages[] = {
		{ true, 1, 2 },    { false, 3, 5 },   { true, 11, 12 }, { true, 16, 17 },
		{ false, 13, 15 }, { false, 23, 25 }, { true, 31, 32 }, { true, 57, 61 } /* from (3, 5) over (32, 31) */
	};
	struct compat_hull *hull = compat_hull_create();

	for (size_t i = 0; i < G_N_ELEMENTS(messages); i++)
		compat_hull_add(hull, messages[i].to_reference, messages[i].sent, messages[i].received);
	ck_assert_uint_eq(compat_hull_line(hull).matches, 8);
	ck_assert_uint_eq(compat_hull_line(hull).accurate, 7);
	assert_number("alpha", 7, compat_hull_line(hull).alpha, "1.019704433497536945812807881773399");
	compat_hull_destroy(hull);
}
END_TEST

static void assert_decimal(const struct decimal *d, const char *expected)
{
	char *text = decimal_text(d);

	ck_assert_str_eq(text, expected);
	g_free(text);
}

START_TEST(test_decimals)
{
	struct decimal a, b;

	decimal_init(&a);
	decimal_init(&b);
	decimal_set_int(&a, 1);
	decimal_set_int(&b, 3);
	decimal_div(&a, &a, &b);
	assert_decimal(&a, "0.3333333333333333333333333333333333");
	decimal_set_int(&a, -2);
	decimal_div(&a, &a, &b);
	assert_decimal(&a, "-0.6666666666666666666666666666666667");
	decimal_set_int(&a, 5);
	decimal_set_int(&b, 8);
	decimal_div(&a, &a, &b); /* exact: no zeros at the end */
	assert_decimal(&a, "0.625");
	/* Half to even, both ways. */
	ck_assert(decimal_set_text(&a, "1000000000000000000000000000000000.5"));
	decimal_set_int(&b, 1);
	decimal_mul(&a, &a, &b);
	assert_decimal(&a, "1000000000000000000000000000000000");
	ck_assert(decimal_set_text(&a, "1000000000000000000000000000000001.5"));
	decimal_mul(&a, &a, &b);
	assert_decimal(&a, "1000000000000000000000000000000002");
	/* One digit more once it is rounded. */
	ck_assert(decimal_set_text(&a, "9999999999999999999999999999999999.5"));
	decimal_mul(&a, &a, &b);
	assert_decimal(&a, "10000000000000000000000000000000000");
	/* Sums are exact. */
	ck_assert(decimal_set_text(&b, "0.00000000000000000001"));
	decimal_add(&a, &a, &b);
	assert_decimal(&a, "10000000000000000000000000000000000.00000000000000000001");
	ck_assert(decimal_set_text(&a, "-7.9"));
	ck_assert_int_eq(decimal_to_int(&a), -7);
	ck_assert(!decimal_set_text(&a, "1e5"));
	ck_assert(!decimal_set_text(&a, ""));
	ck_assert(!decimal_set_text(&a, "1.2.3"));
	decimal_release(&a);
	decimal_release(&b);
}
END_TEST

START_TEST(test_formula_back)
{
	struct clock_formula *f =
		clock_formula_create("0.9999413783703139011056845831168394", "79796507913179.33347660124688298171");
	struct clock_formula *back = clock_formula_inverse(f);

	for (uint64_t n = 0; n < 1000; n++) {
		uint64_t t = UINT64_C(1361657893526374091) + n * 12345678901, image = clock_formula_apply(f, t);

		/* The first time with that image. */
		ck_assert_uint_eq(clock_formula_apply(f, clock_formula_invert(f, image)), image);
		ck_assert_uint_le(clock_formula_invert(f, image), t);
		ck_assert_uint_le(t - clock_formula_invert(f, image), 1);
		ck_assert_uint_le(clock_formula_apply(back, image) - t + 2, 4);
	}
	ck_assert_ptr_null(clock_formula_create("-1", "0"));
	ck_assert_ptr_null(clock_formula_create("1", "x"));
	clock_formula_destroy(f);
	clock_formula_destroy(back);
}
END_TEST

UNIT_MAIN("clock_compat", test_match_tables, test_sync_points, test_ts_transform, test_sync_django,
	  test_wrapped_products, test_message_on_the_line, test_decimals, test_formula_back)
