/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_COLUMN_H
#define LT_VIEW_COLUMN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cells.h"
#include "view/value.h"

/*
 * A column of a table of view/table.h: a row of these lists is all that a column is.
 * Reports, screens, sorting, help and man page read them. Most are made of a cell
 * (model/cells.h), whose declaration says what it means and of what type it is.
 */
struct view_cell;
struct column;

/* Writes the value of a column for the row that at names. */
typedef void column_get_fn(const struct view_cell *at, struct value *out);

/* How a value is written for people; JSON and CSV write the bare integer in the unit said. */
enum column_unit {
	COLUMN_TEXT,
	COLUMN_ID,     /* a number that names something: no grouping, no scaling */
	COLUMN_DEVICE, /* a kernel device number: "253:0" */
	COLUMN_COUNT,
	COLUMN_BYTES,
	COLUMN_NS,   /* a duration */
	COLUMN_TIME, /* ns since the epoch, UTC, reference time */
	COLUMN_PERCENT,
	COLUMN_RATE,      /* per second */
	COLUMN_BYTE_RATE, /* bytes per second */
	COLUMN_PPM,       /* parts per million */
	COLUMN_LIST,
	COLUMN_OBJECT,
	COLUMN_FLAG,      /* true or false */
	COLUMN_HISTOGRAM, /* counts of durations by how long they are */
	COLUMN_UNITS
};

enum column_flag {
	COLUMN_IN_REPORT = 1 << 0, /* the table's report has it, in the order of the list */
	COLUMN_COUNTER = 1 << 1,   /* a row is left out when all columns of this kind are 0 */
	COLUMN_KEY = 1 << 2,       /* rows are in the order of host, then these columns in the order of the list */
	COLUMN_INDENT = 1 << 3,    /* the screen draws the tree in front of it */
	COLUMN_SPARE = 1 << 4,     /* the screen leaves it out before others when it is narrow */
	COLUMN_IF_KNOWN = 1 << 6,  /* a report as text leaves it out where no row has it, or is it */
	COLUMN_SPREAD = 1 << 7,    /* comes from buckets: view_query.spread */
	COLUMN_LEVEL = 1 << 5,     /* a count, time or size that no longer interval makes more: a mean, a state */
};

/* What a column makes of the cell that it is made of. */
enum column_form {
	FORM_NONE,    /* it is made of none: get is its own */
	FORM_VALUE,   /* of a counter what it grew in the interval, else what it is at the interval's end */
	FORM_RATE,    /* what it grew per second */
	FORM_PERCENT, /* what it grew in percent of the interval; of ns */
	/* of the cells of a distribution, the first of which is the column's: */
	FORM_COUNT,
	FORM_TOTAL,
	FORM_MIN,
	FORM_AVG,
	FORM_MAX,
	FORM_STDEV,
	FORM_MAX_AT,
	/* and of its buckets, COLUMN_SPREAD: */
	FORM_P50,
	FORM_P90,
	FORM_P99,
	FORM_P999,
	FORM_FREQ, /* a histogram */
	FORMS
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
	uint8_t form;                  /* enum column_form */
	const struct cell_desc *cells; /* what cell is one of; FORM_NONE: NULL */
};

/* A column as its table declares it, with what comes from its cell: unit; unless it has its own meaning and get. */
struct column column_complete(const struct column *declared);

/* Sorting by it starts with the least value: names and ids; figures start with the greatest. */
static inline bool column_ascends(const struct column *c)
{
	return c->unit == COLUMN_TEXT || c->unit == COLUMN_ID || c->unit == COLUMN_DEVICE || c->unit == COLUMN_LIST;
}

/* Numbers stand at the right edge of their column, everything else at the left. */
static inline bool column_right(const struct column *c)
{
	return c->unit != COLUMN_TEXT && c->unit != COLUMN_DEVICE && c->unit != COLUMN_LIST &&
	       c->unit != COLUMN_OBJECT && c->unit != COLUMN_FLAG && c->unit != COLUMN_HISTOGRAM;
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
