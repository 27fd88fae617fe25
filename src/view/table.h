/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_TABLE_H
#define LT_VIEW_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/interval.h"
#include "view/column.h"

/*
 * The tables of the program as users see them. Each is a report, a pane or
 * both, made of the rows of one table of the model: adding one is adding a
 * row here, adding a column is adding a row to its list.
 */
enum view_table_flag {
	VIEW_REPORT = 1 << 0,   /* lttngtop report NAME */
	VIEW_ALL_ROWS = 1 << 1, /* rows whose counters are 0 count too */
	VIEW_PIVOT = 1 << 2,    /* has a further column per perf counter: struct view_rows.columns */
	VIEW_PER_CPU = 1 << 3,  /* knows view_query.per_cpu */
	VIEW_OWN = 1 << 4,      /* its rows are none of the model: view_query.own; source is TABLES */
};

struct view_row;
struct view_rows;

struct view_table {
	const char *name;    /* "cpu" */
	const char *title;   /* of the pane: "CPU" */
	const char *row;     /* what a row is: "a thread" */
	const char *meaning; /* one sentence */
	uint8_t flags;       /* enum view_table_flag */
	uint8_t source;      /* enum table_id of its rows */
	uint32_t tables;     /* 1 << enum table_id: all that its columns read */
	uint32_t needs;      /* enum need of event/tracepoints.h: its rows are made of these, view/missing.h */
	const struct column *columns;
	uint16_t n_columns;
	const char *screen;  /* names of the columns a pane shows at first, separated by blanks */
	const char *sort;    /* name of the column a pane is sorted by at first */
	/* Whether a row of the source belongs here; NULL: all do. */
	bool (*belongs)(const struct interval_row *row);
	/* Cells that tell merged rows apart, 0 after the last; see view_query.per_cpu and .processes. */
	uint16_t group[3];
	/*
	 * Of tables in which rows of the model may tell of the same thing: a hash of what a row tells
	 * of, but for its thread. Equal ones of a thread, with .processes of a process, are one row.
	 */
	uint64_t (*same)(const struct view_rows *r, const struct view_row *row);
	/* Cell with the uid of the thread the row belongs to; 0: none, or the row is a thread itself. */
	uint16_t thread;
	uint16_t process; /* VIEW_OWN: cell with the pid of the process that a row is of; 0: rows are of none */
	uint16_t parent;  /* VIEW_OWN, collect: cell with the uid of the row it hangs below in the tree; 0: no tree */
	/*
	 * Rows that are sums over others of a host's interval: collect adds them, n_cells laid out by a structure
	 * of the table's file, the first of them a uid, those from sums on figures that add up. source is TABLES.
	 */
	void (*collect)(struct view_rows *r, unsigned host);
	uint16_t n_cells, sums;
};

/* All tables in the order of the documentation. */
unsigned view_table_count(void);
const struct view_table *view_table_get(unsigned i);

/* The table of that name, NULL if there is none. */
const struct view_table *view_table_find(const char *name);

/* The column of that name in a list, NULL if there is none. */
const struct column *view_column_find(const struct column *columns, unsigned n_columns, const char *name);

/* Whether the rows make a tree, view_query.tree. */
bool view_table_has_tree(const struct view_table *table);

/* Whether rows of the table belong to threads or processes, so that tid, pid and comm say something of them. */
bool view_table_of_threads(const struct view_table *table);

/* The same of pid and comm only: a row is of threads, or of one or two processes. */
bool view_table_of_processes(const struct view_table *table);

#endif
