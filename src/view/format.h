/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_FORMAT_H
#define LT_VIEW_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "view/column.h"

/* How to format values for people. */
struct format {
	bool ascii;      /* ASCII only: "us", "~" */
	bool utc;        /* times of day in UTC; otherwise local time */
	bool sign;       /* numbers above 0 have a plus: differences */
	uint64_t day_ns; /* times on the day of this one have no date, others month and day; 0: no time has a date */
};

enum { FORMAT_SIZE = 64 }; /* bytes, enough for any value except texts, lists and objects */

/*
 * Formats a value into buf; cut after at most size - 1 bytes, at a character boundary. width: columns that a number
 * should fit into ("1.2M", times with fewer digits); 0: the full readable precision. Text may come out wider: use
 * format_fit(). Null, and a list or object without items, becomes "-". Returns buf.
 */
char *format_value(char *buf, size_t size, const struct value *v, enum column_unit unit, unsigned width,
		   const struct format *f);

/* Formats a number of bytes in powers of 1024: "512", "1.20K", "34.1M"; at most 5 columns. Returns buf. */
char *format_bytes(char *buf, size_t size, double bytes);

/* Formats a count in full if it fits into width columns or width is 0, else in powers of 1000: "12.3M". Returns buf. */
char *format_count(char *buf, size_t size, uint64_t count, unsigned width);

/* Formats a duration: "0", "999ns", "12.3ms", "4.56s", "3m05s", "2h03m". Returns buf. */
char *format_duration(char *buf, size_t size, uint64_t ns, bool ascii);

/*
 * Writes text into buf as exactly width columns, padded or cut (the last column is then "…" or "~"); right: pads on the
 * left. A cut number would be misleading, so with right set it becomes "###". Returns buf.
 */
char *format_fit(char *buf, size_t size, const char *text, unsigned width, bool right, const struct format *f);

#endif
