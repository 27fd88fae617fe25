/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_DECLARE_H
#define LT_VIEW_DECLARE_H

/*
 * How to declare a table: its columns and, if its rows are not the model's, their cells. Only included by table_*.c.
 *
 * A column is derived from a cell, whose declaration (model/tables.h) gives its name, meaning, unit and value; the list
 * adds how it is displayed:
 *
 * 	COLUMN(thread, cpu_ns, "CPU TIME", 8, FIGURE),
 * 	COLUMN_AS("events", thread, user_events, "EVENTS", 9, FIGURE),         with another name
 * 	COLUMN_SAID("comm", thread, comm, "COMMAND", 15, 0, "Its owner."),     and with another meaning
 * 	RATE("read_rate", thread, read_disk, "READ/s", 7),                     per second
 * 	PERCENT("cpu_percent", thread, cpu_ns, "CPU%", 5, 0, NULL),            of its recorded part
 * 	DIST(irq, time, "", "", FIGURE, MIN, AVG, MAX, TOTAL),                 columns min_ns, avg_ns …
 * 	DIST(irq, raise, "raise_", "RAISE ", FIGURE, AVG, MAX),                raise_avg_ns, raise_max_ns
 * 	DIST(irq, raise, "raise_", "RAISE ", 0, P50, P99),                     raise_p50_ns, from buckets: COLUMN_SPREAD
 * 	DIST_FREQ(irq, raise, "raise_", "RAISE TO ENTRY"),                     raise_freq, a histogram
 *
 * 	COLUMN_BY(get_pid, relation, to_pid, "TO", 7, REPORTED),               with its own getter: DIST_BY, RATE_BY
 *
 * or from anything else, by its own getter:
 *
 * 	OTHER(get_state, "state", "STATE", "What it does.", COLUMN_TEXT, 8, REPORTED),
 */

#include "view/internal.h"

#define REPORTED COLUMN_IN_REPORT
#define LEVEL (COLUMN_IN_REPORT | COLUMN_LEVEL)
#define FIGURE (COLUMN_IN_REPORT | COLUMN_COUNTER)

#define COLUMN(table, member, header, width, flags) COLUMN_AS(#member, table, member, header, width, flags)
#define COLUMN_AS(name, table, member, header, width, flags) \
	COLUMN_SAID(name, table, member, header, width, flags, NULL)
#define COLUMN_SAID(name, table, member, header, width, flags, meaning) \
	CELL_COLUMN(VALUE, name, table, member, header, width, flags, meaning)
#define COLUMN_BY(getter, table, member, header, width, flags) \
	CELL_COLUMN_BY(getter, VALUE, #member, table, member, header, width, flags, NULL)
#define RATE(name, table, member, header, width) RATE_SAID(name, table, member, header, width, NULL)
#define RATE_SAID(name, table, member, header, width, meaning) \
	CELL_COLUMN(RATE, name, table, member, header, width, 0, meaning)
#define RATE_BY(getter, name, table, member, header, width) \
	CELL_COLUMN_BY(getter, RATE, name, table, member, header, width, 0, NULL)
#define PERCENT(name, table, member, header, width, flags, meaning) \
	CELL_COLUMN(PERCENT, name, table, member, header, width, flags, meaning)

#define CELL_COLUMN(...) CELL_COLUMN_BY(NULL, __VA_ARGS__)
#define CELL_COLUMN_BY(getter, form_, name_, table, member, header_, width_, flags_, meaning_)           \
	{                                                                                                \
		.name = name_, .header = header_, .meaning = meaning_, .width = width_, .flags = flags_, \
		.cell = CELL(table, member), .get = getter, .form = FORM_##form_, .cells = table##_cells \
	}

#define OTHER(...) OTHER_OF(0, __VA_ARGS__)
/* number: a number for the getter, in column.cell. */
#define OTHER_OF(number, getter, name_, header_, meaning_, unit_, width_, flags_)                      \
	{                                                                                              \
		.name = name_, .header = header_, .meaning = meaning_, .unit = unit_, .width = width_, \
		.flags = flags_, .cell = number, .get = getter                                         \
	}

/*
 * Columns of a distribution, whose names and headers start with prefix and head. COUNT and TOTAL add up, the others are
 * COLUMN_LEVEL.
 */
#define DIST(table, member, prefix, head, flags, ...) \
	DIST_N(__VA_ARGS__, 7, 6, 5, 4, 3, 2, 1)(table, member, prefix, head, flags, __VA_ARGS__)
#define DIST_N(a, b, c, d, e, f, g, n, ...) DIST_##n
#define DIST_1(t, m, p, h, f, form) DIST_##form(t, m, p, h, f)
#define DIST_2(t, m, p, h, f, form, ...) DIST_1(t, m, p, h, f, form), DIST_1(t, m, p, h, f, __VA_ARGS__)
#define DIST_3(t, m, p, h, f, form, ...) DIST_1(t, m, p, h, f, form), DIST_2(t, m, p, h, f, __VA_ARGS__)
#define DIST_4(t, m, p, h, f, form, ...) DIST_1(t, m, p, h, f, form), DIST_3(t, m, p, h, f, __VA_ARGS__)
#define DIST_5(t, m, p, h, f, form, ...) DIST_1(t, m, p, h, f, form), DIST_4(t, m, p, h, f, __VA_ARGS__)
#define DIST_6(t, m, p, h, f, form, ...) DIST_1(t, m, p, h, f, form), DIST_5(t, m, p, h, f, __VA_ARGS__)
#define DIST_7(t, m, p, h, f, form, ...) DIST_1(t, m, p, h, f, form), DIST_6(t, m, p, h, f, __VA_ARGS__)

#define DIST_AS(form, name, table, member, header, width, flags) \
	CELL_COLUMN(form, name, table, member.count, header, width, flags, NULL)
#define DIST_BY(getter, form, name, table, member, header, width, flags) \
	CELL_COLUMN_BY(getter, form, name, table, member.count, header, width, flags, NULL)
#define DIST_COUNT(t, m, p, h, f) DIST_AS(COUNT, p "count", t, m, h "COUNT", 7, f)
#define DIST_TOTAL(t, m, p, h, f) DIST_AS(TOTAL, p "total_ns", t, m, h "TOTAL", 8, f)
#define DIST_MIN(t, m, p, h, f) DIST_AS(MIN, p "min_ns", t, m, h "MIN", 8, DIST_LEVEL(f))
#define DIST_AVG(t, m, p, h, f) DIST_AS(AVG, p "avg_ns", t, m, h "AVG", 8, DIST_LEVEL(f))
#define DIST_MAX(t, m, p, h, f) DIST_AS(MAX, p "max_ns", t, m, h "MAX", 8, DIST_LEVEL(f))
#define DIST_STDEV(t, m, p, h, f) DIST_AS(STDEV, p "stdev_ns", t, m, h "STDEV", 8, DIST_LEVEL(f))
#define DIST_MAX_AT(t, m, p, h, f) DIST_AS(MAX_AT, p "max_at_ns", t, m, h "MAX AT", 15, f)
#define DIST_P50(t, m, p, h, f) DIST_AS(P50, p "p50_ns", t, m, h "p50", 8, DIST_SPREAD(f))
#define DIST_P90(t, m, p, h, f) DIST_AS(P90, p "p90_ns", t, m, h "p90", 8, DIST_SPREAD(f))
#define DIST_P99(t, m, p, h, f) DIST_AS(P99, p "p99_ns", t, m, h "p99", 8, DIST_SPREAD(f))
#define DIST_P999(t, m, p, h, f) DIST_AS(P999, p "p999_ns", t, m, h "p99.9", 8, DIST_SPREAD(f))
#define DIST_FREQ(t, m, p, header) DIST_AS(FREQ, p "freq", t, m, header, 20, DIST_SPREAD(0))
#define DIST_SPREAD(flags) (DIST_LEVEL(flags) | COLUMN_SPREAD)
/* All columns of a distribution that is not the table's main one, for --columns. */
#define DIST_ALL(t, m, p, h) \
	DIST(t, m, p, h, 0, COUNT, AVG, MAX), DIST(t, m, p, h, 0, P50, P90, P99, P999), DIST_FREQ(t, m, p, h "FREQ")
#define DIST_LEVEL(flags) (((flags) & ~COLUMN_COUNTER) | COLUMN_LEVEL)

/* ---- columns used by many tables ---- */

#define COLUMN_HOST OTHER(view_get_host, "host", "HOST", "Host of the row.", COLUMN_TEXT, 10, REPORTED)
#define COLUMN_TID COLUMN(thread, tid, "TID", 7, COLUMN_IN_REPORT | COLUMN_KEY)
#define COLUMN_PID COLUMN(thread, pid, "PID", 7, COLUMN_IN_REPORT)
#define COLUMN_COMM COLUMN(thread, comm, "COMMAND", 0, COLUMN_IN_REPORT | COLUMN_INDENT)
#define COLUMN_VTID COLUMN(thread, vtid, "VTID", 7, 0)
#define COLUMN_VPID COLUMN(thread, vpid, "VPID", 7, 0)
#define COLUMN_CONTAINER(flags)                             \
	OTHER(view_get_container, "container", "CONTAINER", \
	      "Container of the thread or process; null if it is in none.", COLUMN_TEXT, 16, flags)

/* ---- rows that do not come from the model ---- */

/* struct name_row and name_cells[] of a list as in model/tables.h; see view/derived.h and view_table.collect. */
#define OWN_ROW(name, LIST)     \
	ROW_STRUCT(name, LIST); \
	static ROW_CELLS(name, LIST)

/* ---- tables ---- */

#define OWN_CELLS(name) .cells = name##_cells, .n_cells = G_N_ELEMENTS(name##_cells)
#define N_COLUMNS(list) .columns = (list), .n_columns = G_N_ELEMENTS(list)
#define USES(table) (1u << TABLE_##table)

#endif
