/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_TIMETEXT_H
#define LT_BASE_TIMETEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/*
 * Times and durations in the forms that people write, converted to and from ns.
 *
 *   12:03[:05[.nnnnnnnnn]]           a time of day: its first occurrence at or after the start of the recording
 *   2026-11-20 12:03[:05[.nnnnnnnnn]] a date and time; 'T' is allowed instead of the blank
 *   @1700000000[.5]                  seconds since the epoch
 *   1700000000500000000[ns]          ns since the epoch; at least 16 digits unless "ns" follows
 *   +5s  -5s                         a duration after the start of the recording, or before its end
 *
 * A duration is a decimal number and a unit: ns, us, ms, s, m, h, d. Times of day and dates are local (TZ) unless utc
 * is set; a local date and time that occurs twice means the one in the recording, or nearer to its start. Everything
 * here is reentrant.
 */
enum timetext_form {
	TIMETEXT_NONE = 0, /* not given */
	TIMETEXT_EPOCH,
	TIMETEXT_DATE,
	TIMETEXT_TIME_OF_DAY,
	TIMETEXT_AFTER_BEGIN,
	TIMETEXT_BEFORE_END,
};

/* A parsed time. The meaning of ns depends on the form; only timetext_resolve() needs to know it. */
struct timetext {
	enum timetext_form form;
	uint64_t ns;
};

/* LT_ERROR: not a time; out is untouched and the reason in the error chain. */
enum lt_status timetext_parse(const char *text, struct timetext *out);

/*
 * The time meant, in ns since the epoch, for a recording of [begin_ns, end_ns[; end_ns 0: not known. The form must not
 * be TIMETEXT_NONE, nor TIMETEXT_BEFORE_END if the end is not known. The result may be outside the recording; it
 * saturates at 0 and UINT64_MAX.
 */
uint64_t timetext_resolve(const struct timetext *time, uint64_t begin_ns, uint64_t end_ns, bool utc);

/* LT_ERROR: not a duration, or longer than 2^64 ns. */
enum lt_status timetext_parse_duration(const char *text, uint64_t *ns);

/*
 * Writes t_ns as "12:03:05.123" with 0..9 fraction digits (truncated, not rounded), or with the date as "2026-11-20
 * 12:03:05.123". Returns dst. TIMETEXT_SIZE bytes are always enough.
 */
enum { TIMETEXT_SIZE = 40 };
char *timetext_format(char *dst, size_t size, uint64_t t_ns, unsigned digits, bool date, bool utc);

/* The same with the date, but without its year: "11-20 12:03:05.123". */
char *timetext_format_short(char *dst, size_t size, uint64_t t_ns, unsigned digits, bool utc);

/* Whether both times are on the same day, in the same year. */
bool timetext_same_day(uint64_t a_ns, uint64_t b_ns, bool utc);
bool timetext_same_year(uint64_t a_ns, uint64_t b_ns, bool utc);

/* With as much of the date as distinguishes its day from that of near_ns. */
char *timetext_format_near(char *dst, size_t size, uint64_t t_ns, uint64_t near_ns, unsigned digits, bool utc);

/* The shortest exact form: "100ms", "90s", "2m", "1500us". Returns dst. */
char *timetext_format_duration(char *dst, size_t size, uint64_t ns);

#endif
