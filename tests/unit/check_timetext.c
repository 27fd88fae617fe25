/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times and durations as text: src/base/timetext.c. */
#include <glib.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/nstime.h"
#include "base/timetext.h"
#include "unit.h"

#define BEGIN UINT64_C(1795176185500000000) /* 2026-11-20 12:03:05.5 UTC */
#define END (BEGIN + UINT64_C(60000000000))

static uint64_t resolve(const char *text, bool utc)
{
	struct timetext time;

	ck_assert_msg(timetext_parse(text, &time) == LT_OK, "'%s' is refused", text);
	return timetext_resolve(&time, BEGIN, END, utc);
}

static void set_zone(const char *zone)
{
	g_setenv("TZ", zone, TRUE);
	tzset();
}

START_TEST(test_time_forms)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} cases[] = {
		{ "12:03:05.5", BEGIN },
		{ "12:03:06", BEGIN + 500000000 },
		{ "12:03:05.500000001", BEGIN + 1 },
		{ "12:03:05.50000000199", BEGIN + 1 },
		{ "12:03:05", BEGIN - 500000000 + UINT64_C(86400000000000) }, /* today's is before the start */
		{ "2026-11-20 12:03:05", BEGIN - 500000000 },
		{ "12:04", BEGIN + UINT64_C(54500000000) },
		{ "2026-11-20 12:03", BEGIN - UINT64_C(5500000000) },
		{ "2026-11-20T12:03:05.25", BEGIN - 250000000 },
		{ "1970-01-01 00:00:01", 1000000000 },
		{ "@1700000000.5", UINT64_C(1700000000500000000) },
		{ "@0", 0 },
		{ "1700000000500000000ns", UINT64_C(1700000000500000000) },
		{ "1700000000500000000", UINT64_C(1700000000500000000) },
		{ "1000000000000000", UINT64_C(1000000000000000) },
		{ "5ns", 5 },
		{ "+5s", BEGIN + UINT64_C(5000000000) },
		{ "+0s", BEGIN },
		{ "+1.5ms", BEGIN + 1500000 },
		{ "-5s", END - UINT64_C(5000000000) },
		{ "-30000d", 0 },
	};

	set_zone("UTC");
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		ck_assert_msg(resolve(cases[i].text, true) == cases[i].ns, "'%s': %" PRIu64 ", not %" PRIu64,
			      cases[i].text, resolve(cases[i].text, true), cases[i].ns);
}
END_TEST

START_TEST(test_time_zone)
{
	set_zone("XXX-5:30"); /* 5 h 30 min east, no summer time */
	ck_assert_uint_eq(resolve("17:33:05.5", false), BEGIN);
	ck_assert_uint_eq(resolve("12:03:05.5", true), BEGIN);
	ck_assert_uint_eq(resolve("2026-11-20 17:33:05.5", false), BEGIN);
	ck_assert_uint_eq(resolve("@1700000000.5", false), UINT64_C(1700000000500000000));
}
END_TEST

/* West of UTC, the clock of a machine that has none, and starts at the epoch, shows the day before. */
START_TEST(test_time_at_epoch)
{
	const uint64_t hour = 3600 * NS_PER_S;
	char text[TIMETEXT_SIZE];
	struct timetext time;

	set_zone("XXX5");
	ck_assert_int_eq(timetext_parse("19:05:16", &time), LT_OK);
	ck_assert_uint_eq(timetext_resolve(&time, 300 * NS_PER_S, 400 * NS_PER_S, false), 316 * NS_PER_S);
	ck_assert_uint_eq(timetext_resolve(&time, 317 * NS_PER_S, 400 * NS_PER_S, false), 24 * hour + 316 * NS_PER_S);
	ck_assert_int_eq(timetext_parse("18:00", &time), LT_OK);
	ck_assert_uint_eq(timetext_resolve(&time, 0, hour, false), 23 * hour);
	for (uint64_t t_ns = 0; t_ns < 48 * hour; t_ns += 1234 * NS_PER_S) {
		timetext_format(text, sizeof(text), t_ns, 9, true, false);
		ck_assert_msg(resolve(text, false) == t_ns, "%s", text);
	}
	ck_assert_uint_eq(resolve("1969-12-31 18:59:59", false), 0); /* before the epoch */
	ck_assert_uint_eq(resolve("1969-12-31 23:59:59", true), 0);
}
END_TEST

/* A night with 25 hours: the next 12:00 is 25 h later, and local dates use their own offset. */
START_TEST(test_time_summer)
{
	struct timetext noon, summer;
	uint64_t begin = UINT64_C(1792836001000000000); /* 2026-10-24 12:00:01 CEST */

	set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
	ck_assert_int_eq(timetext_parse("12:00:00", &noon), LT_OK);
	ck_assert_uint_eq(timetext_resolve(&noon, begin, begin, false) - begin,
			  UINT64_C(25) * 3600 * 1000000000 - 1000000000);
	ck_assert_int_eq(timetext_parse("2026-10-24 12:00:01", &summer), LT_OK);
	ck_assert_uint_eq(timetext_resolve(&summer, 0, 0, false), begin);
}
END_TEST

/*
 * Both clock changes in Berlin, and years for which zone files have no entries. Earlier calls must make no difference.
 */
START_TEST(test_time_changes)
{
	static const struct {
		const char *wall;
		int offset_h;
	} cases[] = {
		{ "2026-03-29 01:59:59", 1 }, { "2026-03-29 02:30:00", 1 }, /* skipped */
		{ "2026-03-29 03:00:00", 2 }, { "2026-10-25 01:59:59", 2 },
		{ "2026-10-25 02:30:00", 2 }, /* twice */
		{ "2026-10-25 03:00:00", 1 }, { "1970-01-01 01:30:00", 1 },
		{ "1975-07-01 12:00:00", 1 }, /* no summer time yet */
		{ "1980-04-06 02:30:00", 1 }, { "1980-07-01 12:00:00", 2 },
		{ "2100-01-01 12:00:00", 1 }, { "2100-03-28 02:30:00", 1 },
		{ "2100-07-01 12:00:00", 2 }, { "2100-10-31 02:30:00", 2 },
		{ "2499-07-01 12:00:00", 2 },
	};

	set_zone("Europe/Berlin");
	for (size_t before = 0; before < G_N_ELEMENTS(cases); before++)
		for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
			const uint64_t want =
				resolve(cases[i].wall, true) - (uint64_t)cases[i].offset_h * 3600 * NS_PER_S;

			resolve(cases[before].wall, false);
			ck_assert_msg(resolve(cases[i].wall, false) == want, "'%s' after '%s'", cases[i].wall,
				      cases[before].wall);
		}
	ck_assert_uint_eq(resolve("1970-01-01 00:30:00", false), 0); /* before the epoch */
}
END_TEST

/* A time of day means its first occurrence at or after the start, even if an hour is repeated. */
START_TEST(test_time_twice)
{
	const uint64_t first = UINT64_C(1792888200000000000), hour = 3600 * NS_PER_S; /* 2026-10-25 02:30:00 CEST */
	struct timetext time;

	set_zone("Europe/Berlin");
	ck_assert_int_eq(timetext_parse("02:30:00", &time), LT_OK);
	ck_assert_uint_eq(timetext_resolve(&time, first - hour, first, false), first);
	ck_assert_uint_eq(timetext_resolve(&time, first, first, false), first);
	ck_assert_uint_eq(timetext_resolve(&time, first + 1, first, false), first + hour);
	ck_assert_uint_eq(timetext_resolve(&time, first + hour + 1, first, false), first + 25 * hour);
}
END_TEST

/* A date in the repeated hour means its first occurrence at or after the start, if there is one. */
START_TEST(test_date_twice)
{
	const uint64_t first = UINT64_C(1793512799000000000), hour = 3600 * NS_PER_S; /* 2026-11-01 01:59:59 EDT */
	const uint64_t begin = first - NS_PER_S, end = first + 3 * NS_PER_S;
	struct timetext from, until;

	set_zone("America/New_York");
	ck_assert_int_eq(timetext_parse("2026-11-01 01:59:59", &from), LT_OK);
	ck_assert_int_eq(timetext_parse("2026-11-01 01:00:01", &until), LT_OK);
	ck_assert_uint_eq(timetext_resolve(&from, begin, end, false), first);
	ck_assert_uint_eq(timetext_resolve(&until, begin, end, false), first + 2 * NS_PER_S);
	/* a report does not know the end at first */
	ck_assert_uint_eq(timetext_resolve(&until, begin, 0, false), first + 2 * NS_PER_S);
	ck_assert_uint_eq(timetext_resolve(&from, first, end, false), first);
	ck_assert_uint_eq(timetext_resolve(&from, first + 1, end, false), first);
	/* shortly before the start, not an hour later */
	ck_assert_uint_eq(timetext_resolve(&from, first + 60 * NS_PER_S, first + 70 * NS_PER_S, false), first);
	ck_assert_uint_eq(timetext_resolve(&from, first + 60 * NS_PER_S, 0, false), first);
	ck_assert_uint_eq(timetext_resolve(&from, first + 60 * NS_PER_S, first + 2 * hour, false), first + hour);
	ck_assert_uint_eq(timetext_resolve(&from, first + hour - NS_PER_S, 0, false), first + hour);
	ck_assert_uint_eq(timetext_resolve(&from, first - 24 * hour, end, false), first);
	ck_assert_uint_eq(timetext_resolve(&from, first + 24 * hour, first + 25 * hour, false), first);
}
END_TEST

/* To the text that GLib writes, and back, for every instant except in the second of two hours with the same name. */
START_TEST(test_time_there_and_back)
{
	GTimeZone *zone;
	unsigned second = 0;

	set_zone("Europe/Berlin");
	zone = g_time_zone_new_local();
	for (uint64_t s = 0; s < UINT64_C(16000000000); s += 1234567) {
		GDateTime *utc = g_date_time_new_from_unix_utc((gint64)s), *local = g_date_time_to_timezone(utc, zone);
		char *want = g_date_time_format(local, "%Y-%m-%d %H:%M:%S"), got[TIMETEXT_SIZE];
		uint64_t back;

		timetext_format(got, sizeof(got), s * NS_PER_S, 0, true, false);
		ck_assert_str_eq(got, want);
		back = resolve(got, false) / NS_PER_S;
		second += back != s;
		ck_assert_msg(back == s || back == s - 3600, "%s", got);
		g_free(want);
		g_date_time_unref(local);
		g_date_time_unref(utc);
	}
	ck_assert_uint_le(second, 4); /* one hour in a year of 8766 */
	g_time_zone_unref(zone);
}
END_TEST

START_TEST(test_time_wrong)
{
	static const char *const wrong[] = {
		"",
		"now",
		"12",
		"12:03.5",
		"12:3x",
		"12:03:",
		"24:00:00",
		"12:60:00",
		"12:00:60",
		"12:03:05.",
		"12:03:05x",
		"2026-02-29 00:00:00",
		"2026-11-20",
		"2026-11-20 12",
		"@",
		"@1x",
		"@1.",
		"+",
		"+5",
		"-5",
		"+5 s",
		"+s",
		"ns",
		"123456789012345",
		"18446744073709551616",
		"99999999999999999999999ns",
		"@18446744074",
		"+-5s",
		"1e9ns",
		" 12:03:05",
		"1969-12-30 23:59:59",
	};
	struct timetext time = { .form = TIMETEXT_NONE };

	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
		ck_assert_msg(timetext_parse(wrong[i], &time) == LT_ERROR, "'%s' is accepted", wrong[i]);
	ck_assert_int_eq(time.form, TIMETEXT_NONE);
	ck_assert_ptr_nonnull(strstr(error_text(), "'1969-12-30 23:59:59' is not a time"));
}
END_TEST

START_TEST(test_duration)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} cases[] = {
		{ "100ms", 100000000 },
		{ "1s", 1000000000 },
		{ "2m", UINT64_C(120000000000) },
		{ "1.5s", 1500000000 },
		{ "7us", 7000 },
		{ "0s", 0 },
		{ "3ns", 3 },
		{ "1h", UINT64_C(3600000000000) },
		{ "0.1d", UINT64_C(8640000000000) },
		{ "0.0000000019s", 1 },
		{ "18446744073709551615ns", UINT64_MAX },
	};
	static const char *const wrong[] = { "",
					     "1",
					     "s",
					     "-1s",
					     "1 s",
					     "1S",
					     "1.s",
					     ".5s",
					     "1ss",
					     "1.2.3s",
					     "1s2",
					     "18446744073709551616ns",
					     "18446744074s",
					     "300000d" };
	uint64_t ns = 42;
	char text[TIMETEXT_SIZE];

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		ck_assert_msg(timetext_parse_duration(cases[i].text, &ns) == LT_OK, "'%s'", cases[i].text);
		ck_assert_msg(ns == cases[i].ns, "'%s': %" PRIu64, cases[i].text, ns);
		ck_assert_int_eq(timetext_parse_duration(timetext_format_duration(text, sizeof(text), ns), &ns), LT_OK);
		ck_assert_uint_eq(ns, cases[i].ns);
	}
	ns = 42;
	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
		ck_assert_msg(timetext_parse_duration(wrong[i], &ns) == LT_ERROR, "'%s' is accepted", wrong[i]);
	ck_assert_uint_eq(ns, 42);
}
END_TEST

START_TEST(test_format)
{
	const uint64_t day_ns = 24 * 3600 * NS_PER_S, midnight_ns = BEGIN + UINT64_C(23214500000000);
	char text[TIMETEXT_SIZE];

	set_zone("XXX-5:30");
	ck_assert_str_eq(timetext_format(text, sizeof(text), BEGIN + 678901, 9, false, true), "12:03:05.500678901");
	ck_assert_str_eq(timetext_format(text, sizeof(text), BEGIN + 678901, 3, true, true), "2026-11-20 12:03:05.500");
	ck_assert_str_eq(timetext_format(text, sizeof(text), BEGIN + 499999999, 0, false, false), "17:33:05");
	ck_assert_str_eq(timetext_format(text, sizeof(text), 0, 9, true, true), "1970-01-01 00:00:00.000000000");
	ck_assert_str_eq(timetext_format_short(text, sizeof(text), BEGIN, 1, true), "11-20 12:03:05.5");
	ck_assert_str_eq(timetext_format_short(text, sizeof(text), BEGIN, 0, false), "11-20 17:33:05");
	ck_assert(timetext_same_day(midnight_ns, midnight_ns + day_ns - 1, false));
	ck_assert(!timetext_same_day(midnight_ns - 1, midnight_ns, false));
	ck_assert(timetext_same_day(midnight_ns - 1, midnight_ns, true));
	ck_assert(!timetext_same_day(midnight_ns, midnight_ns + 365 * day_ns, true));
	timetext_format(text, sizeof(text), UINT64_MAX, 9, true, true);
	ck_assert_str_eq(timetext_format_duration(text, sizeof(text), 100000000), "100ms");
	ck_assert_str_eq(timetext_format_duration(text, sizeof(text), UINT64_C(90000000000)), "90s");
	ck_assert_str_eq(timetext_format_duration(text, sizeof(text), UINT64_C(120000000000)), "2m");
	ck_assert_str_eq(timetext_format_duration(text, sizeof(text), 1500000), "1500us");
}
END_TEST

UNIT_MAIN("timetext", test_time_forms, test_time_zone, test_time_at_epoch, test_time_summer, test_time_changes,
	  test_time_twice, test_date_twice, test_time_there_and_back, test_time_wrong, test_duration, test_format)
