/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/nstime.h"
#include "base/timetext.h"

#include <glib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

enum { SECONDS_PER_DAY = 86400, BARE_NS_DIGITS = 16 };

/* 1969-12-31, as g_date_get_julian(): in zones west of UTC, the epoch is on that day. */
enum { FIRST_DAY = 719162 };

/* Reads 1..max_digits digits; advances *p past them. */
static bool read_digits(const char **p, unsigned max_digits, uint64_t *value)
{
	unsigned n = 0;

	*value = 0;
	for (; g_ascii_isdigit(**p) && n < max_digits; (*p)++, n++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(**p - '0'), value))
			return false;
	return n > 0 && !g_ascii_isdigit(**p);
}

/* Reads an optional ".d…" as a fraction of unit_ns, truncated to whole ns. */
static bool read_fraction(const char **p, uint64_t unit_ns, uint64_t *ns)
{
	unsigned __int128 sum = 0;
	unsigned __int128 scale = 1;

	*ns = 0;
	if (**p != '.')
		return true;
	(*p)++;
	if (!g_ascii_isdigit(**p))
		return false;
	for (; g_ascii_isdigit(**p); (*p)++) {
		if (scale > (unsigned __int128)UINT64_MAX)
			continue; /* digits that make no difference */
		sum = sum * 10 + (unsigned)(**p - '0');
		scale *= 10;
	}
	*ns = (uint64_t)(sum * unit_ns / scale);
	return true;
}

static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "d", SECONDS_PER_DAY *NS_PER_S },
	{ "h", 3600 * NS_PER_S },
	{ "m", 60 * NS_PER_S },
	{ "s", NS_PER_S },
	{ "ms", NS_PER_MS },
	{ "us", NS_PER_US },
	{ "ns", 1 },
};

static bool parse_duration(const char *text, uint64_t *ns)
{
	uint64_t whole, part;
	const char *fraction = text;
	const char *unit;

	if (!read_digits(&fraction, 20, &whole))
		return false;
	unit = fraction + strspn(fraction, ".0123456789");
	for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
		if (strcmp(unit, units[i].name) != 0)
			continue;
		return read_fraction(&fraction, units[i].ns, &part) && fraction == unit &&
		       !__builtin_mul_overflow(whole, units[i].ns, &whole) && !__builtin_add_overflow(whole, part, ns);
	}
	return false;
}

enum lt_status timetext_parse_duration(const char *text, uint64_t *ns)
{
	uint64_t value;

	if (!parse_duration(text, &value))
		return error_set("'%s' is not a duration such as 100ms, 1s or 2m", text);
	*ns = value;
	return LT_OK;
}

/* "HH:MM[:SS[.f]]" as ns since midnight. */
static bool parse_clock(const char *p, uint64_t *ns)
{
	uint64_t h, m, s = 0, part = 0;

	if (!read_digits(&p, 2, &h) || *p++ != ':' || !read_digits(&p, 2, &m))
		return false;
	if (*p == ':' && (p++, !read_digits(&p, 2, &s) || !read_fraction(&p, NS_PER_S, &part)))
		return false;
	if (*p)
		return false;
	if (h > 23 || m > 59 || s > 59)
		return false;
	*ns = ((h * 60 + m) * 60 + s) * NS_PER_S + part;
	return true;
}

/* "YYYY-MM-DD HH:MM[:SS[.f]]" as ns since FIRST_DAY. */
static bool parse_date(const char *p, uint64_t *ns)
{
	uint64_t year, month, day, clock_ns;
	GDate date;

	if (!read_digits(&p, 4, &year) || *p++ != '-' || !read_digits(&p, 2, &month) || *p++ != '-' ||
	    !read_digits(&p, 2, &day) || (*p != ' ' && *p != 'T') || !parse_clock(p + 1, &clock_ns))
		return false;
	if (year > 2500 || !g_date_valid_dmy((GDateDay)day, (GDateMonth)month, (GDateYear)year))
		return false;
	g_date_set_dmy(&date, (GDateDay)day, (GDateMonth)month, (GDateYear)year);
	if (g_date_get_julian(&date) < FIRST_DAY)
		return false;
	*ns = (uint64_t)(g_date_get_julian(&date) - FIRST_DAY) * SECONDS_PER_DAY * NS_PER_S + clock_ns;
	return true;
}

/* "SECONDS[.f]" since the epoch. */
static bool parse_epoch(const char *p, uint64_t *ns)
{
	uint64_t seconds, part;

	return read_digits(&p, 20, &seconds) && read_fraction(&p, NS_PER_S, &part) && !*p &&
	       !__builtin_mul_overflow(seconds, NS_PER_S, &seconds) && !__builtin_add_overflow(seconds, part, ns);
}

/* "NNNns", or at least 16 digits without a unit. */
static bool parse_ns(const char *text, uint64_t *ns)
{
	const char *p = text;

	if (!read_digits(&p, 20, ns))
		return false;
	return !strcmp(p, "ns") || (!*p && p - text >= BARE_NS_DIGITS);
}

enum lt_status timetext_parse(const char *text, struct timetext *out)
{
	struct timetext time = { 0 };

	if (text[0] == '+' && parse_duration(text + 1, &time.ns))
		time.form = TIMETEXT_AFTER_BEGIN;
	else if (text[0] == '-' && parse_duration(text + 1, &time.ns))
		time.form = TIMETEXT_BEFORE_END;
	else if (text[0] == '@' && parse_epoch(text + 1, &time.ns))
		time.form = TIMETEXT_EPOCH;
	else if (parse_ns(text, &time.ns))
		time.form = TIMETEXT_EPOCH;
	else if (parse_clock(text, &time.ns))
		time.form = TIMETEXT_TIME_OF_DAY;
	else if (parse_date(text, &time.ns))
		time.form = TIMETEXT_DATE;
	else
		return error_set("'%s' is not a time such as 12:03:05.5, '2026-11-20 12:03:05', @1700000000.5, "
				 "1700000000500000000ns, +5s or -5s",
				 text);
	*out = time;
	return LT_OK;
}

/* How far the local clock is ahead of UTC at an instant, in s. */
static int64_t offset_at(int64_t epoch_s)
{
	const time_t t = (time_t)epoch_s;
	struct tm tm;

	return localtime_r(&t, &tm) ? tm.tm_gmtoff : 0;
}

/*
 * The instants at which a wall clock shows these seconds, which are given as if they were UTC: returns how many there
 * are, in order. There are two in the hour that is repeated in autumn; a time in the hour skipped in spring is read
 * with the offset before it. mktime() is not used because its choice depends on earlier calls.
 */
static unsigned wall_to_epoch(int64_t wall_s, bool utc, int64_t epoch_s[2])
{
	const int64_t before = utc ? wall_s : wall_s - offset_at(wall_s - SECONDS_PER_DAY);
	const int64_t after = utc ? wall_s : wall_s - offset_at(wall_s + SECONDS_PER_DAY);

	epoch_s[0] = before;
	epoch_s[1] = after;
	if (before == after || after + offset_at(after) != wall_s)
		return 1;
	if (before + offset_at(before) == wall_s)
		return 2;
	epoch_s[0] = after;
	return 1;
}

static uint64_t saturated_ns(int64_t epoch_s, uint64_t part_ns)
{
	return epoch_s < 0 ? 0 : (uint64_t)epoch_s * NS_PER_S + part_ns;
}

/* Of two instants, the one in the record, or the one nearer to its start. end_ns: 0 not known. */
static uint64_t resolve_date(uint64_t wall_ns, uint64_t begin_ns, uint64_t end_ns, bool utc)
{
	int64_t epoch_s[2];
	const unsigned n = wall_to_epoch((int64_t)(wall_ns / NS_PER_S) - SECONDS_PER_DAY, utc, epoch_s);
	const uint64_t first_ns = saturated_ns(epoch_s[0], wall_ns % NS_PER_S);
	const uint64_t last_ns = saturated_ns(epoch_s[n - 1], wall_ns % NS_PER_S);

	if (first_ns >= begin_ns || last_ns < begin_ns)
		return first_ns;
	return (end_ns ? last_ns <= end_ns : last_ns - begin_ns <= begin_ns - first_ns) ? last_ns : first_ns;
}

static uint64_t resolve_time_of_day(uint64_t clock_ns, uint64_t begin_ns, bool utc)
{
	const int64_t begin_s = (int64_t)(begin_ns / NS_PER_S), wall_s = begin_s + (utc ? 0 : offset_at(begin_s));
	const int64_t past_midnight_s = (wall_s % SECONDS_PER_DAY + SECONDS_PER_DAY) % SECONDS_PER_DAY;
	int64_t clock_s = wall_s - past_midnight_s + (int64_t)(clock_ns / NS_PER_S), epoch_s[2];
	uint64_t t_ns = 0;

	for (int day = 0; day < 2; day++, clock_s += SECONDS_PER_DAY) {
		const unsigned n = wall_to_epoch(clock_s, utc, epoch_s);

		for (unsigned i = 0; i < n; i++) {
			t_ns = saturated_ns(epoch_s[i], clock_ns % NS_PER_S);
			if (epoch_s[i] >= 0 && t_ns >= begin_ns)
				return t_ns;
		}
	}
	return t_ns;
}

uint64_t timetext_resolve(const struct timetext *time, uint64_t begin_ns, uint64_t end_ns, bool utc)
{
	uint64_t sum;

	switch (time->form) {
	case TIMETEXT_EPOCH:
		return time->ns;
	case TIMETEXT_DATE:
		return resolve_date(time->ns, begin_ns, end_ns, utc);
	case TIMETEXT_TIME_OF_DAY:
		return resolve_time_of_day(time->ns, begin_ns, utc);
	case TIMETEXT_AFTER_BEGIN:
		return __builtin_add_overflow(begin_ns, time->ns, &sum) ? UINT64_MAX : sum;
	case TIMETEXT_BEFORE_END:
		return time->ns < end_ns ? end_ns - time->ns : 0;
	case TIMETEXT_NONE:
		break;
	}
	g_assert_not_reached();
}

static struct tm calendar_of(uint64_t t_ns, bool utc)
{
	const time_t seconds = (time_t)(t_ns / NS_PER_S);
	struct tm tm;

	if (utc)
		gmtime_r(&seconds, &tm);
	else
		localtime_r(&seconds, &tm);
	return tm;
}

char *timetext_format(char *dst, size_t size, uint64_t t_ns, unsigned digits, bool date, bool utc)
{
	const struct tm tm = calendar_of(t_ns, utc);
	char fraction[12];
	size_t used;

	g_assert(size >= TIMETEXT_SIZE && digits <= 9);
	used = strftime(dst, size, date ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", &tm);
	snprintf(fraction, sizeof(fraction), ".%09u", (unsigned)(t_ns % NS_PER_S));
	if (digits) {
		memcpy(dst + used, fraction, digits + 1);
		dst[used + digits + 1] = '\0';
	}
	return dst;
}

char *timetext_format_short(char *dst, size_t size, uint64_t t_ns, unsigned digits, bool utc)
{
	static const size_t year = sizeof("2026-") - 1;

	timetext_format(dst, size, t_ns, digits, true, utc);
	memmove(dst, dst + year, strlen(dst + year) + 1);
	return dst;
}

bool timetext_same_day(uint64_t a_ns, uint64_t b_ns, bool utc)
{
	const struct tm a = calendar_of(a_ns, utc), b = calendar_of(b_ns, utc);

	return a.tm_year == b.tm_year && a.tm_yday == b.tm_yday;
}

bool timetext_same_year(uint64_t a_ns, uint64_t b_ns, bool utc)
{
	return calendar_of(a_ns, utc).tm_year == calendar_of(b_ns, utc).tm_year;
}

char *timetext_format_near(char *dst, size_t size, uint64_t t_ns, uint64_t near_ns, unsigned digits, bool utc)
{
	if (!timetext_same_year(t_ns, near_ns, utc))
		return timetext_format(dst, size, t_ns, digits, true, utc);
	if (!timetext_same_day(t_ns, near_ns, utc))
		return timetext_format_short(dst, size, t_ns, digits, utc);
	return timetext_format(dst, size, t_ns, digits, false, utc);
}

char *timetext_format_duration(char *dst, size_t size, uint64_t ns)
{
	static const unsigned first = 2; /* minutes: hours and days are rarely exact and hard to compare */
	size_t i = first;

	while (i < G_N_ELEMENTS(units) - 1 && (ns % units[i].ns != 0 || ns == 0))
		i++;
	if (ns == 0)
		snprintf(dst, size, "0s");
	else
		snprintf(dst, size, "%" G_GUINT64_FORMAT "%s", (guint64)(ns / units[i].ns), units[i].name);
	return dst;
}
