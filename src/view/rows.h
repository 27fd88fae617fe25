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
 * The rows of a table for one interval of several hosts: selected, merged, filtered and ordered. No row mixes hosts.
 *
 *   struct view_rows rows;
 *   view_rows_init(&rows);
 *   view_rows_build(&rows, &query, hosts, n_hosts);
 *   for (i = 0; i < rows.n; i++)
 *           view_rows_value(&rows, i, column, &value);
 */

/* A host and what happened on it in the interval. Everything is borrowed until the next build. */
struct view_host {
	const char *name, *source, *tracer;
	const struct sidecar *sidecar; /* side-car (sidecar/sidecar.h); NULL: none */
	uint64_t record_ns;            /* start of its trace, on its own clock */
	const struct interval *iv;     /* NULL: its trace has nothing in the interval */
	const struct clock_map *map;   /* converts times to reference time; NULL: times are shown on its own clock */
	unsigned clock, wait;       /* its numbers in the clocks and the wait graph, for view/derived.h; clock UINT_MAX:
					none */
	bool gone;                  /* its data is no longer kept: others may name it, but it has no row of its own */
	const char *const *missing; /* tracepoints that some table needs and the trace lacks */
	unsigned n_missing;
	const struct view_paths *paths; /* of its threads (view/paths.h); NULL: table paths is empty */
};

/* Identifies a row across intervals, e.g. for the selection and highlights on the screen. */
struct view_key {
	uint32_t host;  /* index in hosts */
	uint32_t table; /* enum table_id */
	uint64_t uid;   /* of the row; of merged rows that of the leader (the process's main thread, …) */
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
	bool processes;           /* merge rows of threads into rows of processes */
	bool per_cpu;             /* keep rows apart that differ only by CPU (VIEW_PER_CPU) */
	bool spread;              /* a COLUMN_SPREAD column is used */
	bool all;                 /* include rows whose counters are all 0 */
	const GPtrArray *figures; /* const struct column *: columns that count as such counters, too; NULL: none */
	const struct view_filter *filter; /* NULL: no filter */
	const struct column *sort;        /* NULL: by host, then key */
	bool reverse;                     /* reverse the column's default direction, column_ascends() */
	bool ranked;                      /* rows are first ordered by view_table.rank. Not with .sum_by */
	bool tree;             /* children follow their parents; sort orders siblings. Only if view_table_has_tree() */
	GHashTable *collapsed; /* set of struct view_key whose descendants are hidden; NULL: none */
	const struct view_derived *derived; /* rows of a table with a supply */
	GHashTable *only;                   /* set of struct view_key: only these rows; NULL: all */
	const struct view_rows *baseline;   /* the same query over another interval: figures are differences from it */
	enum view_sum sum_by; /* merge rows that have this in common; .sort is then one of view_sum_columns() */
	const struct view_filter *having; /* filter for these sums; NULL: none */
	unsigned limit;                   /* show only the first rows; 0: all. Not with .tree */
};

#define VIEW_NO_LINK 0

/* Where rows of all hosts together say which host they are of. */
#define VIEW_OVERALL "all"

struct view_row {
	struct interval_row row;           /* if merged, .a is NULL and .b holds the interval's figures */
	const struct interval_row *thread; /* use view_row_thread() */
	struct view_key key;
	uint64_t *counters; /* VIEW_PIVOT: value of each counter, in column order */
	uint32_t members;   /* number of merged rows of the model; 1: not merged */
	uint32_t summed;    /* view_query.sum_by: number of the table's rows in it */
	uint32_t sum;       /* view_query.sum_by: a hash of what they have in common, the same in all intervals */
	uint32_t hidden;    /* number of descendants hidden because it is collapsed */
	uint32_t spread;    /* buckets of its distributions: view/spread.h */
	uint32_t calls;     /* merged rows of calls: list of those added to the first, see view/errors.c */
	uint16_t depth;     /* in the tree; 0: a root */
	bool last;          /* in the tree: last child of its parent */
	bool has_children;  /* in the tree */
	bool overall;       /* sums up rows of all hosts, named VIEW_OVERALL; is not added up itself */
	bool of_baseline;   /* only in query.baseline, not in this interval */
};

/* Figures of a whole host that some columns are relative to. */
struct view_host_totals {
	uint64_t duration_ns; /* of its interval, where it was recorded */
	uint64_t online_ns;   /* summed over all CPUs; 0 if TABLE_CPU is not kept */
};

struct view_rows {
	struct view_row *rows;
	unsigned n;                   /* rows that are shown */
	unsigned n_all;               /* rows without query.limit: those after the first n exist, too */
	unsigned round;               /* number of builds */
	const struct column *columns; /* the table's, and with VIEW_PIVOT one more per counter */
	unsigned n_columns;
	const struct view_table *table;
	bool per_cpu;    /* as in the query */
	bool sums_hosts; /* rows are sums over several hosts */
	bool containers; /* some host has containers, if TABLE_CONTAINER was wanted */
	const struct view_host *hosts;
	unsigned n_hosts;
	struct view_host_totals *totals;  /* indexed by host */
	const struct view_rows *baseline; /* as in the query; borrowed like the hosts */
	struct view_rows_internal *internal;
};

/* The host of a row, with the interval that the row belongs to, which is set for rows in r->rows. */
static inline const struct view_host *view_row_host(const struct view_rows *r, const struct view_row *row)
{
	return &(row->of_baseline ? r->baseline : r)->hosts[row->key.host];
}

static inline const char *view_row_host_name(const struct view_rows *r, const struct view_row *row)
{
	return row->overall ? VIEW_OVERALL : view_row_host(r, row)->name;
}

/*
 * The last name in the interval of the thread with that uid. comm: its name in a row about another thread, for one that
 * was gone before; STRID_NONE: unknown.
 */
strid view_last_comm(const struct interval *iv, uint64_t uid, uint64_t comm);

/* The thread that a row is or belongs to, for a process its main thread; NULL: none or unknown. */
static inline const struct interval_row *view_row_thread(const struct view_rows *r, const struct view_row *row)
{
	return r->table->source == TABLE_THREAD ? &row->row : row->thread;
}

/*
 * The inode of the PID namespace whose numbers the thread's tid and pid are; 0: the host's, or unknown. Threads with
 * one pid are a process only if this is the same, too.
 */
uint64_t view_pids_of(const struct thread_row *t);

/*
 * The process of a thread in its host's side-car. main_thread: the youngest main thread with its pid; NULL:
 * unknown. Returns NULL if there is no side-car, or if it does not have the process.
 */
const struct sidecar_process *view_process_of(const struct view_host *host, const struct thread_row *t,
					      const struct thread_row *main_thread);

/*
 * The real user of a thread's process (-1: unknown) and the path of its program (NULL: unknown). They come from the
 * trace, which is newer, else from the side-car. main_thread: as above.
 */
int64_t view_user_of(const struct view_host *host, const struct thread_row *t, const struct thread_row *main_thread);
const char *view_exe_of(const struct view_host *host, const struct thread_row *t, const struct thread_row *main_thread);

/* Whether a term user: holds for a thread. main_thread: as above. */
bool view_term_has_user(const struct view_node *term, const struct view_host *host, const struct thread_row *t,
			const struct thread_row *main_thread);

/*
 * Whether a thread's process takes part in tracing: LTTng's daemons and tools, this program. They are recognised by
 * name, because they may run on other machines. main_thread: as above.
 */
bool view_is_tracing(const struct thread_row *t, const struct thread_row *main_thread);

/* The same for the thread that a row is or belongs to. */
bool view_row_is_tracing(const struct view_rows *r, const struct view_row *row);

/* What a getter is called for: a row and its column. */
struct view_cell {
	const struct view_rows *rows;
	const struct view_host *host;
	const struct view_row *row;
	const struct column *column;
};

void view_rows_init(struct view_rows *r);
void view_rows_release(struct view_rows *r);

/*
 * The figures of the model that the query reads, as a mask for model_set_figures(); an interval must keep these
 * tables: interval.tables_mask.
 */
uint32_t view_query_tables(const struct view_query *q);

/*
 * Builds the rows, replacing earlier ones but reusing their memory. The rows point into hosts and their intervals: use
 * them before those change.
 *
 * With query.baseline figures are differences from it. The baseline's counts, times and sizes are first scaled to the
 * time for which the row's host was recorded in this interval. Rows that exist in only one of the two are included;
 * rows whose counters are equal in both are left out, like rows without any otherwise. A mean, maximum or final state
 * that only one of them has is null, and so is every figure of a host that has no data in the baseline.
 */
void view_rows_build(struct view_rows *r, const struct view_query *q, const struct view_host *hosts, unsigned n_hosts);

/* Gets the value of a column (in r->columns) for row i < n_all. Texts and items are valid until the next call. */
void view_rows_value(const struct view_rows *r, unsigned i, const struct column *column, struct value *out);

/* The column of that name in r->columns; NULL: there is none. */
const struct column *view_rows_column(const struct view_rows *r, const char *name);

/* Whether a filter's term affects the rows: one about something that they do not have does not. */
bool view_rows_have_term(const struct view_rows *r, const struct view_node *term);

enum { VIEW_NO_ROW = UINT32_MAX };

/* The index of the row with that key; VIEW_NO_ROW: not shown. */
unsigned view_rows_index(const struct view_rows *r, const struct view_key *key);

/*
 * The next row at or after (backward: before) from in which some text, tid or pid column contains text; wraps around.
 * VIEW_NO_ROW: none.
 */
unsigned view_rows_search(const struct view_rows *r, unsigned from, const char *text, bool backward);

/* Events and packets lost in the interval on all hosts. TABLE_HOST must be kept, as view_query_tables() requires. */
struct view_lost {
	uint64_t events, packets;
	bool goes_on; /* some are being lost at its end, and counted later, where events come again */
};
struct view_lost view_hosts_lost(const struct view_host *hosts, unsigned n_hosts);

void view_lost_add(struct view_lost *sum, const struct view_lost *lost);
bool view_any_lost(const struct view_lost *lost);

/* "5 events, 1 packet", without what is 0: "" if nothing was lost. Free with g_free(). */
char *view_lost_text(const struct view_lost *lost);

/* The name of a perf counter as people read it: "page_fault" for "perf_cpu_page_fault". Part of name. */
const char *view_counter_name(const char *name);

#endif
