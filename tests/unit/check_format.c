/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values in readable form: view/format.c; and comparison of values: view/value.c. */
#include "unit.h"

#include <string.h>

#include "base/nstime.h"
#include "base/utf8.h"
#include "view/format.h"

static const struct format utf8 = { .utc = true }, ascii = { .ascii = true, .utc = true };
static char buf[FORMAT_SIZE];

#define UINT(n) (&(const struct value){ .kind = VALUE_UINT, .u = (n) })
#define INT(n) (&(const struct value){ .kind = VALUE_INT, .i = (n) })
#define REAL(x) (&(const struct value){ .kind = VALUE_REAL, .real = (x) })
#define TEXT(s) (&(const struct value){ .kind = VALUE_TEXT, .text = (s) })
#define ASSERT_FORMAT(v, unit, width, expected) \
	ck_assert_str_eq(format_value(buf, sizeof(buf), v, COLUMN_##unit, width, &utf8), expected)

START_TEST(test_durations)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 1, "1ns" },
		{ 999, "999ns" },
		{ 1000, "1.00µs" },
		{ 12345, "12.3µs" },
		{ 99949, "99.9µs" },
		{ 99950, "100µs" },
		{ 999499, "999µs" },
		{ 999500, "1.00ms" },
		{ 9994999, "9.99ms" },
		{ 12300000, "12.3ms" },
		{ 999499999, "999ms" },
		{ 999500000, "1.00s" },
		{ 59990000000, "59.99s" },
		{ 60000000000, "1m00s" },
		{ 185000000000, "3m05s" },
		{ 7380000000000, "2h03m" },
		{ 1000000000000000, "11d13h" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_str_eq(format_duration(buf, sizeof(buf), cases[i].ns, false), cases[i].text);
	ck_assert_str_eq(format_duration(buf, sizeof(buf), 1500, true), "1.50us");
}
END_TEST

START_TEST(test_numbers)
{
	ASSERT_FORMAT(UINT(0), BYTES, 0, "0");
	ASSERT_FORMAT(UINT(999), BYTES, 0, "999");
	ASSERT_FORMAT(UINT(1000), BYTES, 0, "0.98K");
	ASSERT_FORMAT(UINT(1536), BYTES, 0, "1.50K");
	ASSERT_FORMAT(UINT(34 << 20), BYTES, 0, "34.0M");
	ASSERT_FORMAT(UINT(UINT64_MAX), BYTES, 0, "16.0E");
	ASSERT_FORMAT(UINT(1234567), COUNT, 0, "1234567");
	ASSERT_FORMAT(UINT(1234567), COUNT, 7, "1234567");
	ASSERT_FORMAT(UINT(1234567), COUNT, 6, "1.23M");
	ASSERT_FORMAT(UINT(1234567), ID, 6, "1234567");
	ASSERT_FORMAT(INT(-5), ID, 0, "-5");
	ASSERT_FORMAT(INT(120), ID, 0, "120");
	ASSERT_FORMAT(UINT(254 << 20 | 17), DEVICE, 0, "254:17");
	ASSERT_FORMAT(REAL(12.34), PERCENT, 5, "12.3");
	ASSERT_FORMAT(REAL(100), PERCENT, 5, "100.0");
	ASSERT_FORMAT(REAL(100), PERCENT, 4, "100");
	ASSERT_FORMAT(REAL(1234.5), RATE, 0, "1234.5");
	ASSERT_FORMAT(REAL(1234.5), RATE, 7, "1.23K");
	ASSERT_FORMAT(REAL(0.5), RATE, 7, "0.50");
	ASSERT_FORMAT(REAL(30.0003), RATE, 7, "30");
	ASSERT_FORMAT(REAL(29.96), RATE, 7, "30");
	ASSERT_FORMAT(REAL(29.94), RATE, 7, "29.9");
	ASSERT_FORMAT(REAL(-4.0004), RATE, 7, "-4");
	ASSERT_FORMAT(REAL(0.001), RATE, 7, "0.00");
	ASSERT_FORMAT(REAL(0), RATE, 7, "0");
	ASSERT_FORMAT(REAL(2048), BYTE_RATE, 7, "2.00K");
}
END_TEST

/* A time of another day has its date, and fewer digits. */
static void assert_dates(void)
{
	const uint64_t t_ns = 1795183603347603246;
	struct format f = { .utc = true, .day_ns = t_ns - NS_PER_S };

#define ASSERT_TIME(width, expected) \
	ck_assert_str_eq(format_value(buf, sizeof(buf), UINT(t_ns), COLUMN_TIME, width, &f), expected)
	ASSERT_TIME(0, "14:06:43.347603246");
	ASSERT_TIME(15, "14:06:43.347603");
	f.day_ns = t_ns - 15 * 3600 * NS_PER_S;
	ASSERT_TIME(0, "11-20 14:06:43.347603246");
	ASSERT_TIME(14, "11-20 14:06:43");
	ASSERT_TIME(15, "11-20 14:06:43");
	ASSERT_TIME(18, "11-20 14:06:43.347");
	ASSERT_TIME(40, "11-20 14:06:43.347603246");
	f.day_ns = t_ns - 400 * 24 * 3600 * NS_PER_S;
	ASSERT_TIME(0, "2026-11-20 14:06:43.347603246");
	ASSERT_TIME(18, "11-20 14:06:43.347");
#undef ASSERT_TIME
}

static void assert_differences(void)
{
	static const struct value_item items[] = { { "ENOENT", 12 }, { "EAGAIN", -3 } };
	const struct value object = { .kind = VALUE_OBJECT, .list = { items, 2 } };
	const struct format f = { .sign = true };

#define ASSERT_DIFFERENCE(value, unit, width, expected) \
	ck_assert_str_eq(format_value(buf, sizeof(buf), value, COLUMN_##unit, width, &f), expected)
	ASSERT_DIFFERENCE(INT(5), COUNT, 0, "+5");
	ASSERT_DIFFERENCE(INT(0), COUNT, 0, "0");
	ASSERT_DIFFERENCE(INT(-5), COUNT, 0, "-5");
	ASSERT_DIFFERENCE(UINT(12345), COUNT, 5, "+12.3K");
	ASSERT_DIFFERENCE(UINT(1234), COUNT, 5, "+1234");
	ASSERT_DIFFERENCE(REAL(1.5), PERCENT, 6, "+1.5");
	ASSERT_DIFFERENCE(REAL(-1.5), PERCENT, 6, "-1.5");
	ASSERT_DIFFERENCE(&object, OBJECT, 0, "ENOENT:+12 EAGAIN:-3");
	ASSERT_FORMAT(&object, OBJECT, 0, "ENOENT:12 EAGAIN:-3");
#undef ASSERT_DIFFERENCE
}

START_TEST(test_times_and_others)
{
	static const struct value_item items[] = { { "ENOENT", 12 }, { "EAGAIN", 3 } };
	const struct value list = { .kind = VALUE_LIST, .list = { items, 2 } };
	const struct value object = { .kind = VALUE_OBJECT, .list = { items, 2 } };
	const struct value none = { .kind = VALUE_OBJECT }, null = { .kind = VALUE_NULL };
	const struct value yes = { .kind = VALUE_BOOL, .flag = true }, no = { .kind = VALUE_BOOL };

	ASSERT_FORMAT(UINT(1795183603347603246), TIME, 0, "14:06:43.347603246");
	ASSERT_FORMAT(UINT(1795183603347603246), TIME, 8, "14:06:43");
	ASSERT_FORMAT(UINT(1795183603347603246), TIME, 15, "14:06:43.347603");
	assert_dates();
	ASSERT_FORMAT(&list, LIST, 0, "ENOENT,EAGAIN");
	ASSERT_FORMAT(&object, OBJECT, 0, "ENOENT:12 EAGAIN:3");
	ASSERT_FORMAT(&none, OBJECT, 0, "-");
	assert_differences();
	ASSERT_FORMAT(&null, COUNT, 0, "-");
	ASSERT_FORMAT(&yes, TEXT, 0, "yes");
	ASSERT_FORMAT(&no, TEXT, 0, "no");
	ASSERT_FORMAT(TEXT("été"), TEXT, 1, "été");
	/* cut at a character boundary */
	ck_assert_str_eq(format_value(buf, 5, TEXT("été"), COLUMN_TEXT, 0, &utf8), "ét");
	ck_assert_str_eq(format_value(buf, 6, &list, COLUMN_LIST, 0, &utf8), "ENOEN");
}
END_TEST

START_TEST(test_fit)
{
#define ASSERT_FIT(text, width, right, f, expected) \
	ck_assert_str_eq(format_fit(buf, sizeof(buf), text, width, right, f), expected)
	ASSERT_FIT("ab", 4, false, &utf8, "ab  ");
	ASSERT_FIT("ab", 4, true, &utf8, "  ab");
	ASSERT_FIT("abcd", 4, false, &utf8, "abcd");
	ASSERT_FIT("abcde", 4, false, &utf8, "abc…");
	ASSERT_FIT("abcde", 4, false, &ascii, "abc~");
	ASSERT_FIT("12345", 4, true, &utf8, "####");
	ASSERT_FIT("été", 4, false, &utf8, "été ");
	ASSERT_FIT("été", 4, false, &ascii, "?t? ");
	ASSERT_FIT("日本語", 6, false, &utf8, "日本語");
	ASSERT_FIT("日本語", 5, false, &utf8, "日本…");
	ASSERT_FIT("日本語", 4, false, &utf8, "日… ");
	ASSERT_FIT("x", 0, false, &utf8, "");
	ck_assert_uint_eq(utf8_width("日本e\xcc\x81"), 5);
	/* never beyond the buffer */
	ck_assert_str_eq(format_fit(buf, 4, "日本語", 6, false, &utf8), "日");
	ck_assert_str_eq(format_fit(buf, 3, "a", 10, false, &utf8), "a ");
}
END_TEST

START_TEST(test_compare)
{
	const struct value null = { .kind = VALUE_NULL };

	ck_assert_int_lt(value_compare(&null, INT(-1)), 0);
	ck_assert_int_eq(value_compare(&null, &null), 0);
	ck_assert_int_lt(value_compare(UINT(5), TEXT("a")), 0);
	ck_assert_int_lt(value_compare(INT(-1), UINT(0)), 0);
	ck_assert_int_gt(value_compare(UINT(UINT64_MAX), INT(-1)), 0);
	ck_assert_int_lt(value_compare(INT(1800000000000000000), UINT(1800000000000000001)), 0);
	ck_assert_int_gt(value_compare(UINT(1800000000000000001), INT(1800000000000000000)), 0);
	ck_assert_int_eq(value_compare(UINT(1800000000000000001), INT(1800000000000000001)), 0);
	ck_assert_int_gt(value_compare(UINT(UINT64_MAX), UINT(UINT64_MAX - 1)), 0);
	ck_assert_int_gt(value_compare(REAL(1.5), UINT(1)), 0);
	ck_assert_int_lt(value_compare(TEXT("a"), TEXT("b")), 0);
	ck_assert(!value_nonzero(&null));
	ck_assert(!value_nonzero(UINT(0)));
	ck_assert(value_nonzero(REAL(0.1)));
	ck_assert(!value_nonzero(TEXT("x")));
}
END_TEST

UNIT_MAIN("format", test_durations, test_numbers, test_times_and_others, test_fit, test_compare)
