/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_FORMAT_H
#define LT_VIEW_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "view/column.h"

/* How values are written for people. */
struct format {
	bool ascii; /* nothing beyond ASCII: "us", "~" */
	bool utc;   /* times of day, else local time */
};

enum { FORMAT_SIZE = 64 }; /* bytes, enough for any value that is not text, list or object */

/*
 * Writes a value into buf, cut at size - 1 bytes at a character. width: columns
 * that numbers should fit ("1.2M", times with less digits); 0: as exact as is
 * readable. A text may come out longer: format_fit() cuts. Null, and a list or
 * object without items, is "-". Returns buf.
 */
char *format_value(char *buf, size_t size, const struct value *v, enum column_unit unit, unsigned width,
		   const struct format *f);

/* A number of bytes in powers of 1024: "512", "1.20K", "34.1M"; at most 5 columns. Returns buf. */
char *format_bytes(char *buf, size_t size, double bytes);

/* A count: as it is if it fits width columns, else "12.3M" in powers of 1000. width 0: as it is. Returns buf. */
char *format_count(char *buf, size_t size, uint64_t count, unsigned width);

/* A duration: "0", "999ns", "12.3ms", "4.56s", "3m05s", "2h03m". Returns buf. */
char *format_duration(char *buf, size_t size, uint64_t ns, bool ascii);

/*
 * Writes text into buf as exactly width columns: cut (the last column then is
 * "…" or "~") or filled with blanks, at the left if right is set. A number that is cut would
 * lie: with right set it becomes "###" instead. Returns buf.
 */
char *format_fit(char *buf, size_t size, const char *text, unsigned width, bool right, const struct format *f);

#endif
