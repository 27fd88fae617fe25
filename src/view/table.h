/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_TABLE_H
#define LT_VIEW_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/interval.h"
#include "model/model.h"
#include "view/column.h"
#include "view/filter.h"

/*
 * The program's tables. Each is a report, a pane or both, made from the rows of one table of the model. To add a table,
 * add a row here; to add a column, add a row to the table's list.
 */
enum view_table_flag {
	VIEW_REPORT = 1 << 0,   /* lttngtop report NAME */
	VIEW_ALL_ROWS = 1 << 1, /* includes rows whose counters are all 0 */
	VIEW_PIVOT = 1 << 2,    /* has one more column per perf counter: struct view_rows.columns */
	VIEW_PER_CPU = 1 << 3,  /* supports view_query.per_cpu */
	VIEW_UNLIKE = 1 << 4,   /* its rows count different things: a sum would be meaningless */
	VIEW_LOGGED = 1 << 5,   /* the values of its distribution can be logged, but have no histogram */
};

struct view_derived;
struct view_row;
struct view_rows;
struct view_sources;

/* Where a table's derived rows come from, in struct view_sources. */
enum view_need {
	VIEW_CLOCKS = 1 << 0,   /* the hosts' clocks */
	VIEW_MATCHES = 1 << 1,  /* packets seen by both sender and receiver */
	VIEW_PATH = 1 << 2,     /* critical path of one thread */
	VIEW_ACCOUNTS = 1 << 3, /* what processes use, and for which client */
};

typedef void view_collect_fn(struct view_derived *derived, const struct view_sources *from);

/*
 * Where rows that do not come from the model are from (view/derived.h). Whoever shows the table provides what it needs.
 */
struct view_supply {
	uint8_t needs; /* enum view_need; 0: the table's rows are the model's */
	bool of_two;   /* its rows concern more than one host: collect has applied the filter's terms about hosts */
	view_collect_fn *collect; /* adds the rows; see struct view_sources */
};

struct view_table {
	const char *name;    /* "cpu" */
	const char *title;   /* of the pane: "CPU" */
	const char *row;     /* what a row is: "a thread" */
	const char *meaning; /* one sentence */
	uint8_t flags;       /* enum view_table_flag */
	uint8_t source;      /* enum table_id of its rows */
	uint32_t tables;     /* 1 << enum table_id, and MODEL_FDS: all that its columns read */
	uint32_t needs;      /* enum need of event/tracepoints.h: events its rows depend on, see view/missing.h */
	const struct column *columns;
	uint16_t n_columns;
	const char *screen; /* columns shown by a pane at first, separated by blanks */
	const char *sort;   /* column that a pane is sorted by at first */
	const char *about;  /* VIEW_PANE in tables.def: description in the menu of panes */
	const char *empty;  /* VIEW_PANE in tables.def: text of the pane if the interval has nothing for it */
	/* Why there is no row that could be included, whatever its figures, and what to record; NULL: see needs */
	const char *unrecorded;
	/* With view_query.ranked, rows with a lower number come first; NULL: none do. And what that order is called. */
	unsigned (*rank)(const struct view_rows *r, const struct view_row *row);
	const char *ranked;
	/* Whether a row of the source is included; NULL: all are. */
	bool (*belongs)(const struct interval_row *row);
	/*
	 * Evaluates a filter's term about threads and processes for a row; NULL, or where it returns VIEW_UNTOUCHED:
	 * the term is evaluated for the row's threads or its columns.
	 */
	enum view_truth (*term)(const struct view_rows *r, const struct view_row *row, const struct view_node *term);
	/* The name of the i-th of the states that its rows may have, NULL after the last; NULL: they have none. */
	const char *(*state_name)(unsigned i);
	/* Cells that keep merged rows apart, 0 after the last; see view_query.per_cpu and .processes. */
	uint16_t group[3];
	/*
	 * For tables in which several rows of the model may describe the same thing: a hash of it, without the thread.
	 * Rows of the same thread (with .processes: process) and hash are merged.
	 */
	uint64_t (*same)(const struct view_rows *r, const struct view_row *row);
	/* Called before rows are built, with all hosts: relates rows of different hosts. */
	void (*index)(struct view_rows *r);
	/* Cell with the uid of the thread that the row belongs to; 0: none, or the row is a thread itself. */
	uint16_t thread;
	struct view_supply supply; /* for rows that do not come from the model: view_query.own; source is TABLES */
	uint16_t process;          /* supply: cell with the pid of the row's process on its host; 0: none */
	uint16_t parent;           /* supply, collect: cell with the uid of the row's parent in the tree; 0: no tree */
	uint16_t overall;          /* supply: cell that is not 0 in rows of all hosts together: view_row.overall */
	/* For rows that are sums over other rows of a host's interval: collect adds them. source is TABLES. */
	void (*collect)(struct view_rows *r, unsigned host);
	/* Columns that only sums of its rows have; NULL: none. */
	const struct column *sum_columns;
	uint16_t n_sum_columns;
	/* supply, collect: describes the n_cells cells of its rows; NULL: they are the source's */
	const struct cell_desc *cells;
	uint16_t n_cells;
};

struct similar;

/* All tables in the order of the documentation. */
unsigned view_table_count(void);
const struct view_table *view_table_get(unsigned i);

/* The table with that name; NULL: there is none. */
const struct view_table *view_table_find(const char *name);

/* The column with that name in a list; NULL: there is none. */
const struct column *view_column_find(const struct column *columns, unsigned n_columns, const char *name);

/*
 * The same for a name typed by the user, which may omit the unit: "total" for "total_ns". Of several, one that reports
 * show by default comes first, then the whole name.
 */
const struct column *view_column_named(const struct column *columns, unsigned n_columns, const char *name);

/* The same, or else the only column that has this heading; upper and lower case are the same. */
const struct column *view_column_typed(const struct column *columns, unsigned n_columns, const char *name);

/* Offers its name to a word that may be meant as the name or the heading. */
void view_column_offer(struct similar *s, const struct column *column);

/* Whether the column stands for a distribution whose single values can be logged (model_set_log()). */
bool view_column_is_logged(const struct view_table *table, const struct column *column);

/* Whether reports show single durations of the table (--log), and histograms (--freq). */
bool view_table_has_log(const struct view_table *table);
bool view_table_has_freq(const struct view_table *table);

/* Whether the rows form a tree, view_query.tree. */
bool view_table_has_tree(const struct view_table *table);

/* Whether rows belong to threads or processes, so that tid, pid and comm apply to them. */
bool view_table_of_threads(const struct view_table *table);

/* The same for pid and comm only: rows belong to threads, or to one or two processes. */
bool view_table_of_processes(const struct view_table *table);

/* Whether rows of threads can be shown as sums of their processes (view_query.processes). */
bool view_table_sums_threads(const struct view_table *table);

#endif
