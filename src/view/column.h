/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_COLUMN_H
#define LT_VIEW_COLUMN_H

#include <stdint.h>

#include "view/value.h"

/*
 * A column of a table of view/table.h: a row of these lists is all that a column is.
 * Reports, screens, sorting, help and man page read them.
 */
struct view_cell;
struct column;

/* Writes the value of a column for the row that at names. */
typedef void column_get_fn(const struct view_cell *at, struct value *out);

/* How a value is written for people; JSON and CSV write the bare integer in the unit said. */
enum column_unit {
	COLUMN_TEXT,
	COLUMN_ID,       /* a number that names something: no grouping, no scaling */
	COLUMN_DEVICE,   /* a kernel device number: "253:0" */
	COLUMN_COUNT,
	COLUMN_BYTES,
	COLUMN_NS,       /* a duration */
	COLUMN_TIME,     /* ns since the epoch, UTC; get gives the host's time, what is shown is the reference's */
	COLUMN_PERCENT,
	COLUMN_RATE,     /* per second */
	COLUMN_BYTE_RATE, /* bytes per second */
	COLUMN_PPM,      /* parts per million */
	COLUMN_LIST,
	COLUMN_OBJECT,
	COLUMN_FLAG,     /* true or false */
	COLUMN_UNITS
};

enum column_flag {
	COLUMN_IN_REPORT = 1 << 0, /* the table's report has it, in the order of the list */
	COLUMN_COUNTER = 1 << 1,   /* a row is left out when all columns of this kind are 0 */
	COLUMN_KEY = 1 << 2,       /* rows are in the order of host, then these columns in the order of the list */
	COLUMN_INDENT = 1 << 3,    /* the screen draws the tree in front of it */
	COLUMN_SPARE = 1 << 4,     /* the screen leaves it out before others when it is narrow */
	COLUMN_IF_KNOWN = 1 << 6,  /* a report as text leaves it out where no row has it, or is it */
	COLUMN_LEVEL = 1 << 5,     /* a count, time or size that no longer interval makes more: a mean, a state */
};

struct column {
	const char *name;    /* in JSON and CSV, in --sort; unique in its table */
	const char *header;  /* in text and on the screen */
	const char *meaning; /* one sentence */
	uint8_t unit;        /* enum column_unit */
	uint8_t width;       /* wanted on the screen; 0: takes what is left */
	uint8_t flags;       /* enum column_flag */
	uint16_t cell;       /* for get: a cell of the row or of its thread, or a number */
	column_get_fn *get;
};

/* Sorting by it starts with the least value: names and ids; figures start with the greatest. */
static inline bool column_ascends(const struct column *c)
{
	return c->unit == COLUMN_TEXT || c->unit == COLUMN_ID || c->unit == COLUMN_DEVICE || c->unit == COLUMN_LIST;
}

/* Numbers stand at the right edge of their column, everything else at the left. */
static inline bool column_right(const struct column *c)
{
	return c->unit != COLUMN_TEXT && c->unit != COLUMN_DEVICE && c->unit != COLUMN_LIST &&
	       c->unit != COLUMN_OBJECT && c->unit != COLUMN_FLAG;
}

/* What has a difference between two intervals; names, ids and times of day have none. */
static inline bool column_is_figure(const struct column *c)
{
	return c->unit == COLUMN_COUNT || c->unit == COLUMN_BYTES || c->unit == COLUMN_NS ||
	       c->unit == COLUMN_PERCENT || c->unit == COLUMN_RATE || c->unit == COLUMN_BYTE_RATE;
}

/* What is twice as much in twice the time. */
static inline bool column_adds_up(const struct column *c)
{
	return (c->unit == COLUMN_COUNT || c->unit == COLUMN_BYTES || c->unit == COLUMN_NS) &&
	       !(c->flags & COLUMN_LEVEL);
}

/* The unit as a word for documentation: "ns", "bytes", "count", "text" …. */
const char *column_unit_name(enum column_unit unit);

#endif
