/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_TABLE_H
#define LT_VIEW_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/interval.h"
#include "view/column.h"
#include "view/filter.h"

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
	VIEW_UNLIKE = 1 << 4,   /* its rows count different things: their sum says nothing */
};

struct view_derived;
struct view_row;
struct view_rows;
struct view_sources;

/* What a table's derived rows are made from, in struct view_sources. */
enum view_need {
	VIEW_CLOCKS = 1 << 0,   /* the hosts' clocks */
	VIEW_MATCHES = 1 << 1,  /* packets seen on both ends */
	VIEW_PATH = 1 << 2,     /* the critical path of one thread */
	VIEW_ACCOUNTS = 1 << 3, /* what processes use, and for whom */
};

typedef void view_collect_fn(struct view_derived *derived, const struct view_sources *from);

/* Where rows come from that are none of the model (view/derived.h). Whoever shows the table has what it needs. */
struct view_supply {
	uint8_t needs; /* enum view_need; 0: the table's rows are of the model */
	bool of_two;   /* its rows are of more than one host: what the filter says of hosts, collect has applied */
	view_collect_fn *collect; /* adds the rows; see struct view_sources */
};

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
	const char *screen; /* names of the columns a pane shows at first, separated by blanks */
	const char *sort;   /* name of the column a pane is sorted by at first */
	const char *about;  /* VIEW_PANE of tables.def: what the menu of panes says of it */
	const char *empty;  /* the same: what the pane says if nothing of this was in the interval */
	/* Whether a row of the source belongs here; NULL: all do. */
	bool (*belongs)(const struct interval_row *row);
	/* What a filter's term about threads and processes says of a row; NULL: what it says of those that it is of. */
	enum view_truth (*term)(const struct view_rows *r, const struct view_row *row, const struct view_node *term);
	/* Cells that tell merged rows apart, 0 after the last; see view_query.per_cpu and .processes. */
	uint16_t group[3];
	/*
	 * Of tables in which rows of the model may tell of the same thing: a hash of what a row tells
	 * of, but for its thread. Equal ones of a thread, with .processes of a process, are one row.
	 */
	uint64_t (*same)(const struct view_rows *r, const struct view_row *row);
	/* Called before rows are built, with all hosts: finds what rows of one have to do with those of others. */
	void (*index)(struct view_rows *r);
	/* Cell with the uid of the thread the row belongs to; 0: none, or the row is a thread itself. */
	uint16_t thread;
	struct view_supply supply; /* its rows are none of the model: view_query.own; source is TABLES */
	uint16_t process;          /* supply: cell with the pid of the process that a row is of; 0: rows are of none */
	uint16_t parent; /* supply, collect: cell with the uid of the row it hangs below in the tree; 0: no tree */
	/*
	 * Rows that are sums over others of a host's interval: collect adds them, of the n_cells that cells
	 * describes. source is TABLES.
	 */
	void (*collect)(struct view_rows *r, unsigned host);
	const struct cell_desc *cells;
	uint16_t n_cells;
};

/* All tables in the order of the documentation. */
unsigned view_table_count(void);
const struct view_table *view_table_get(unsigned i);

/* The table of that name, NULL if there is none. */
const struct view_table *view_table_find(const char *name);

/* The column of that name in a list, NULL if there is none. */
const struct column *view_column_find(const struct column *columns, unsigned n_columns, const char *name);

/* The same of what a user typed: the unit at the end may be left out, "total" for "total_ns". */
const struct column *view_column_typed(const struct column *columns, unsigned n_columns, const char *name);

/* Whether the rows make a tree, view_query.tree. */
bool view_table_has_tree(const struct view_table *table);

/* Whether rows of the table belong to threads or processes, so that tid, pid and comm say something of them. */
bool view_table_of_threads(const struct view_table *table);

/* The same of pid and comm only: a row is of threads, or of one or two processes. */
bool view_table_of_processes(const struct view_table *table);

#endif
