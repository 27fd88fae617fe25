/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_ROWS_H
#define LT_VIEW_ROWS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock/map.h"
#include "model/interval.h"
#include "view/filter.h"
#include "view/sum.h"
#include "view/table.h"

/*
 * The rows of a table for one interval of several hosts: chosen, merged,
 * filtered and ordered. Nothing here mixes hosts.
 *
 *   struct view_rows rows;
 *   view_rows_init(&rows);
 *   view_rows_build(&rows, &query, hosts, n_hosts);
 *   for (i = 0; i < rows.n; i++)
 *           view_rows_value(&rows, i, column, &value);
 */

/* A host and what happened to it in the interval. Everything is borrowed until the next build. */
struct view_host {
	const char *name, *source, *tracer;
	const struct sidecar *sidecar; /* what else is known of it (sidecar/sidecar.h), NULL: nothing */
	uint64_t record_ns;            /* when its record begins, by its own clock */
	const struct interval *iv;     /* NULL: its record has nothing in the interval */
	const struct clock_map *map;   /* times are shown in the reference's time; NULL: in its own */
	unsigned clock, wait;          /* its numbers in the clocks and the wait graph, for view/derived.h */
	const char *const *missing;    /* tracepoints that some table needs and the trace does not have */
	unsigned n_missing;
	const struct view_paths *paths; /* of its threads (view/paths.h), NULL: table paths is empty */
};

/* What a row is, beyond one interval: the selection and highlights of a screen keep these. */
struct view_key {
	uint32_t host;  /* index in hosts */
	uint32_t table; /* enum table_id */
	uint64_t uid;   /* of the row; of merged rows that of the leader (its process's main thread, …) */
};

static inline bool view_key_equal(const struct view_key *a, const struct view_key *b)
{
	return a->host == b->host && a->table == b->table && a->uid == b->uid;
}

/* For GHashTable: keys are const struct view_key *. */
guint view_key_hash(gconstpointer key);
gboolean view_key_equal_hash(gconstpointer a, gconstpointer b);

struct view_query {
	const struct view_table *table;
	bool processes;                   /* rows of threads are merged into rows of processes */
	bool per_cpu;                     /* rows that differ by CPU only stay apart (VIEW_PER_CPU) */
	bool spread;                      /* some column is COLUMN_SPREAD */
	bool all;                         /* rows whose counters are all 0 too */
	const struct view_filter *filter; /* NULL: no filter */
	const struct column *sort;        /* NULL: by host, then key */
	bool reverse;                     /* the other direction than the column's own, column_ascends() */
	bool tree;             /* children follow their parents; sort orders brothers. view_table_has_tree() only. */
	GHashTable *collapsed; /* set of struct view_key whose descendants are hidden; NULL: none */
	const struct view_derived *derived; /* the rows of a table with a supply */
	GHashTable *only;                   /* set of struct view_key: only these; NULL: all */
	const struct view_rows
		*baseline;    /* of the same query over another interval: figures are differences to these */
	enum view_sum sum_by; /* rows that have this in common become one; .sort is one of view_sum_columns() */
	const struct view_filter *having; /* the same as .filter of these sums; NULL: all */
	unsigned limit; /* only so many rows, the first ones in their order; 0: all. Not with .tree. */
};

#define VIEW_NO_SPREAD 0

struct view_row {
	struct interval_row row;           /* merged: .a is NULL and .b holds the interval's figures */
	const struct interval_row *thread; /* use view_row_thread() */
	struct view_key key;
	uint64_t *counters; /* VIEW_PIVOT: what it has of each, in the order of their columns */
	uint32_t members;   /* rows of the model that were merged; 1: none were */
	uint32_t hidden;    /* descendants hidden because it is collapsed */
	uint32_t spread;    /* how its distributions are spread: view/spread.h */
	uint16_t depth;     /* in the tree; 0: a root */
	bool last;          /* in the tree: the last child of its parent */
	bool has_children;  /* in the tree */
	bool of_baseline;   /* of query.baseline, and not in this interval */
};

/* Figures of a whole host that some columns divide by. */
struct view_host_totals {
	uint64_t duration_ns; /* of its interval */
	uint64_t online_ns;   /* over all CPUs; 0 if TABLE_CPU is not kept */
};

struct view_rows {
	struct view_row *rows;
	unsigned n;                   /* that are shown */
	unsigned n_all;               /* without query.limit: those behind the first n are there, too */
	unsigned round;               /* how often it was built */
	const struct column *columns; /* of the table, with VIEW_PIVOT one more per counter */
	unsigned n_columns;
	const struct view_table *table;
	bool per_cpu;    /* as the query said */
	bool sums_hosts; /* a row is the sum of several hosts */
	bool containers; /* some host has any, as far as TABLE_CONTAINER was wanted */
	const struct view_host *hosts;
	unsigned n_hosts;
	struct view_host_totals *totals;  /* per host */
	const struct view_rows *baseline; /* as the query said; borrowed as the hosts are */
	struct view_rows_internal *internal;
};

/* The host of a row, with the interval that the row is of; that of a row of r->rows has one. */
static inline const struct view_host *view_row_host(const struct view_rows *r, const struct view_row *row)
{
	return &(row->of_baseline ? r->baseline : r)->hosts[row->key.host];
}

/* The thread that a row is or belongs to, of a process its main thread; NULL: none, or it is not known. */
static inline const struct interval_row *view_row_thread(const struct view_rows *r, const struct view_row *row)
{
	return r->table->source == TABLE_THREAD ? &row->row : row->thread;
}

/*
 * The process of a thread as a side-car (NULL: there is none) knows it; main_thread: the youngest of its pid, NULL: not
 * known. NULL: it does not know it.
 */
const struct sidecar_process *view_process_of(const struct sidecar *sidecar, uint64_t record_ns,
					      const struct thread_row *t, const struct thread_row *main_thread);

/*
 * Whether a thread's process, of whose main thread the same holds as above, has a part in the tracing itself: LTTng's
 * daemons and tools, this program. They are known by their names, as they are on other machines.
 */
bool view_is_tracing(const struct thread_row *t, const struct thread_row *main_thread);

/* The same of the thread that a row is or belongs to. */
bool view_row_is_tracing(const struct view_rows *r, const struct view_row *row);

/* Where a getter is: a row and its column. */
struct view_cell {
	const struct view_rows *rows;
	const struct view_host *host;
	const struct view_row *row;
	const struct column *column;
};

void view_rows_init(struct view_rows *r);
void view_rows_release(struct view_rows *r);

/*
 * Which tables of the model an interval must keep for the query: interval.tables_mask
 * at least this.
 */
uint32_t view_query_tables(const struct view_query *q);

/*
 * With query.baseline figures tell how much more they are than there. Counts, times and sizes of the baseline are taken
 * as they would be had it been as long as this interval. A row that only one of the two has is there too; one whose
 * counters are all the same in both is left out, as one without any is. A mean, a maximum or a state at the end
 * that only one has is null.
 *
 * Builds anew. The rows point into hosts and their intervals: use them before
 * those change. Memory is reused from build to build.
 */
void view_rows_build(struct view_rows *r, const struct view_query *q, const struct view_host *hosts, unsigned n_hosts);

/* The value of a column (of r->columns) in a row, i below n_all. Texts and items are valid until the next call. */
void view_rows_value(const struct view_rows *r, unsigned i, const struct column *column, struct value *out);

/* The column of that name in r->columns, NULL if there is none. */
const struct column *view_rows_column(const struct view_rows *r, const char *name);

enum { VIEW_NO_ROW = UINT32_MAX };

/* Where the row of that key is; VIEW_NO_ROW: not shown. */
unsigned view_rows_index(const struct view_rows *r, const struct view_key *key);

/*
 * The next row at or after (backward: at or before) from in which some text, tid or
 * pid column contains text; goes on at the other end. VIEW_NO_ROW: none.
 */
unsigned view_rows_search(const struct view_rows *r, unsigned from, const char *text, bool backward);

/* The parent of a row in the tree, VIEW_NO_ROW for a root. */
unsigned view_rows_parent(const struct view_rows *r, unsigned i);

/* Events and packets lost in the interval over all hosts. TABLE_HOST must be kept: view_query_tables() says so. */
struct view_lost {
	uint64_t events, packets;
};
struct view_lost view_hosts_lost(const struct view_host *hosts, unsigned n_hosts);

#endif
