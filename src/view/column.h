/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_COLUMN_H
#define LT_VIEW_COLUMN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cells.h"
#include "view/value.h"

/*
 * A column of a table (view/table.h), declared as an entry in the table's list. Reports, screens, sorting, help and the
 * man page are all driven by it. Most columns are derived from a cell (model/cells.h), whose declaration gives their
 * meaning and type.
 */
struct view_cell;
struct column;

/* Gets the value of a column for the row in at. */
typedef void column_get_fn(const struct view_cell *at, struct value *out);

/* How a value is formatted for people; JSON and CSV contain the bare integer in this unit. */
enum column_unit {
	COLUMN_TEXT,
	COLUMN_ID,     /* a number that names something: neither grouped nor scaled */
	COLUMN_DEVICE, /* a kernel device number: "253:0" */
	COLUMN_COUNT,
	COLUMN_BYTES,
	COLUMN_NS,   /* a duration */
	COLUMN_TIME, /* ns since the epoch, UTC, in reference time */
	COLUMN_PERCENT,
	COLUMN_RATE,      /* per second */
	COLUMN_BYTE_RATE, /* bytes per second */
	COLUMN_PPM,       /* parts per million */
	COLUMN_LIST,
	COLUMN_OBJECT,
	COLUMN_FLAG,      /* true or false */
	COLUMN_HISTOGRAM, /* how many values of each size; column_measured() */
	COLUMN_UNITS
};

enum column_flag {
	COLUMN_IN_REPORT = 1 << 0, /* in the table's report, in list order */
	COLUMN_COUNTER = 1 << 1,   /* rows in which all columns of this kind are 0 are left out */
	COLUMN_KEY = 1 << 2,       /* rows are ordered by host, then by these columns in list order */
	COLUMN_INDENT = 1 << 3,    /* the screen draws the tree in front of it */
	COLUMN_SPARE = 1 << 4,     /* the screen drops it first when space is short */
	COLUMN_MAIN = 1 << 8,      /* the screen drops it last, and rather cuts it */
	COLUMN_IF_KNOWN = 1 << 6,  /* text reports omit it if no row has a value (other than false) */
	COLUMN_SPREAD = 1 << 7,    /* computed from buckets: view_query.spread */
	COLUMN_SIGNED = 1 << 9,    /* may be below 0 */
	COLUMN_SWITCHES = 1 << 10, /* null where sched_switch is not recorded: nobody knows which thread runs */
	COLUMN_IRQS = 1 << 11,     /* null where interrupts are not recorded */
	COLUMN_SOFTIRQS = 1 << 12, /* null where interrupts and softirqs are not both recorded */
	COLUMN_LEVEL = 1 << 5,     /* a count, time or size that does not grow with the interval: a mean, a state */
};

/* How a column is derived from its cell. */
enum column_form {
	FORM_NONE,    /* not derived from a cell: it has its own getter */
	FORM_VALUE,   /* a counter's increase in the interval; otherwise the value at its end */
	FORM_RATE,    /* increase per second */
	FORM_PERCENT, /* increase in percent of the recorded part of the interval; for ns */
	/* from the cells of a distribution, the first of which is the column's: */
	FORM_COUNT,
	FORM_TOTAL,
	FORM_MIN,
	FORM_AVG,
	FORM_MAX,
	FORM_STDEV,
	FORM_MAX_AT,
	/* from its buckets, COLUMN_SPREAD: */
	FORM_P50,
	FORM_P90,
	FORM_P99,
	FORM_P999,
	FORM_FREQ, /* a histogram */
	FORMS
};

struct column {
	const char *name;    /* in JSON, CSV and --sort; unique in its table */
	const char *header;  /* in text and on the screen */
	const char *meaning; /* one sentence */
	uint8_t unit;        /* enum column_unit */
	uint8_t width;       /* desired width on the screen; 0: takes the remaining space */
	uint16_t flags;      /* enum column_flag */
	uint16_t cell;       /* for get: a cell of the row or of its thread, or a number */
	column_get_fn *get;
	uint8_t form;                  /* enum column_form */
	const struct cell_desc *cells; /* the cells that cell is an index into; NULL with FORM_NONE */
};

/*
 * Completes a column as declared in its table with its unit and, unless it has its own, the meaning and getter from its
 * cell.
 */
struct column column_complete(const struct column *declared);

/* Whether sorting by it is ascending by default: names and ids; figures are descending. */
static inline bool column_ascends(const struct column *c)
{
	return c->unit == COLUMN_TEXT || c->unit == COLUMN_ID || c->unit == COLUMN_DEVICE || c->unit == COLUMN_LIST;
}

/* Whether it is right-aligned: numbers are, everything else is left-aligned. */
static inline bool column_right(const struct column *c)
{
	return c->unit != COLUMN_TEXT && c->unit != COLUMN_DEVICE && c->unit != COLUMN_LIST &&
	       c->unit != COLUMN_OBJECT && c->unit != COLUMN_FLAG && c->unit != COLUMN_HISTOGRAM;
}

/* Whether it makes sense to subtract two intervals' values; not for names, ids and times of day. */
static inline bool column_is_figure(const struct column *c)
{
	return c->unit == COLUMN_COUNT || c->unit == COLUMN_BYTES || c->unit == COLUMN_NS ||
	       c->unit == COLUMN_PERCENT || c->unit == COLUMN_RATE || c->unit == COLUMN_BYTE_RATE ||
	       c->unit == COLUMN_OBJECT;
}

/* Whether it doubles when the interval does. */
static inline bool column_adds_up(const struct column *c)
{
	return (c->unit == COLUMN_COUNT || c->unit == COLUMN_BYTES || c->unit == COLUMN_NS) &&
	       !(c->flags & COLUMN_LEVEL);
}

/* The unit as a word for the documentation: "ns", "bytes", "count", "text" …. */
const char *column_unit_name(enum column_unit unit);

/* The unit of the values that a column of a distribution is about. */
enum column_unit column_measured(const struct column *c);

#endif
