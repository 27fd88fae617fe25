/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_INTERNAL_H
#define LT_VIEW_INTERNAL_H

/* Private to view/. */

#include <glib.h>

#include "base/map64.h"
#include "base/strpool.h"
#include "event/tracepoints.h"
#include "view/dist.h"
#include "view/derived.h"
#include "view/rows.h"
#include "view/spread.h"

/* Failed calls of a thread: a row of TABLE_SYSERR. */
struct view_error {
	uint64_t thread_uid;
	strid call;
	uint32_t error;
	uint64_t count;
};

/* A row of TABLE_RELATION that covers one end of a flow. */
struct view_half {
	unsigned host;
	const struct relation_row *row; /* NULL: unknown, as several processes have as good a claim */
	uint64_t claim[3];              /* of its process to that end: larger numbers win, the first ones most */
};

/* A row of TABLE_CONNECTION that may be the other end of another row. */
struct view_far_end {
	unsigned host;
	const struct interval_row *row;
	uint32_t next; /* index in far_ends of the next one with the same key; UINT32_MAX: none */
};

/* Lookup tables of a host, used while its rows are built and read. */
/* A container of a host: a row of TABLE_CONTAINER with another name. */
struct view_container {
	const struct container_row *row;
	const char *name;
	uint32_t parent; /* index in view_index.containers; VIEW_HOST_ITSELF: none or unknown */
	bool parent_known;
};

#define VIEW_HOST_ITSELF UINT32_MAX

/* The name for everything outside containers. */
#define VIEW_HOST_NAME "host"

struct view_index {
	uint32_t lacks;                /* from view_host_lacks() */
	struct map64 owners;           /* thread uid -> index in owner_uids; empty: every thread owns itself */
	GArray *owner_uids;            /* uint64_t: uid of the process's main thread */
	GArray *errors;                /* struct view_error, by thread, call, error */
	struct map64 fd_owners;        /* files_id and pid -> index in TABLE_THREAD */
	struct map64 processes;        /* PID namespace and pid -> index of its main thread in TABLE_THREAD */
	struct map64 tid_files;        /* files_id and tid of each thread that uses it -> 0; if the filter has tids */
	struct map64 pivot;            /* owner and counter -> index in pivot_values */
	GArray *containers;            /* struct view_container */
	struct map64 container_places; /* uid -> index in containers */
	GStringChunk *container_names;
	struct map64 spreads; /* uid of a row -> index of the first of its links */
	GArray *places;       /* struct view_place, by view_node.place: the filter's terms resolved for this host */
};

/* A row of the model in a list that a row has: its buckets (spread.c), or the rows that it sums up (errors.c). */
struct view_link {
	const struct interval_row *row;
	unsigned host;
	uint32_t next; /* VIEW_NO_LINK: the last one */
};

struct view_rows_internal {
	GArray *rows;  /* struct view_row */
	GArray *parts; /* struct view_row: of the sum over all hosts, one per host */
	struct view_index *indexes;
	unsigned n_indexes;
	GPtrArray *blocks; /* merged cells: blocks of BLOCK_CELLS */
	unsigned block, block_used;
	GArray *items;             /* struct value_item of the latest value */
	GPtrArray *texts;          /* texts of the latest value's items (char *) */
	GArray *columns;           /* struct column: for VIEW_PIVOT */
	GArray *counters;          /* strid, in column order */
	GArray *pivot_values;      /* uint64_t, indexed by view_index.pivot */
	GArray *halves;            /* struct view_half */
	struct map64 half_index;   /* flow and side -> index in halves */
	GArray *far_ends;          /* struct view_far_end */
	struct map64 far_index;    /* what both ends have in common -> index in far_ends */
	GArray *links;             /* struct view_link */
	struct view_spread spread; /* the latest one requested: for this list and cell */
	GArray *spread_buckets;    /* struct value_bucket of the latest value */
	uint32_t spread_list;
	unsigned spread_cell;
	GArray *bound; /* const struct column *, by view_node.place: columns of the filter's terms */
	/* struct view_key -> struct view_row: in query.baseline; NULL: there is no baseline */
	GHashTable *baseline_index;
};

/* ---- rows.c ---- */
void view_index_init(struct view_index *index);
void view_index_release(struct view_index *index);

/* ---- group.c: merging rows of the model ---- */

/* The uid of the thread that represents a thread's process; its own if threads are not merged. */
uint64_t view_owner(const struct view_index *index, uint64_t thread_uid);

/* Finds the process of each thread on the host. */
void view_index_processes(struct view_index *index, const struct interval *iv);

/* Merges the rows in r->internal->rows from first on, which all belong to one host, as the query requires. */
void view_group_rows(struct view_rows *r, const struct view_query *q, unsigned first);

/* Gives a row its own cells, which hold its figures in the interval. */
void view_derived_cells(struct view_rows *r, struct view_row *row);

/* Adds a row's figures to one with its own cells, which keeps its other cells. */
void view_add_figures(struct view_rows *r, struct view_row *into, const struct view_row *from);

/* Allocates n cells, valid until the next build. */
uint64_t *view_cells_alloc(struct view_rows_internal *in, unsigned n);

/* ---- spread.c ---- */

/*
 * Lists of rows of the model, valid until the next build: puts a row, or those of another list, in front of a list and
 * returns the new one; reads the first link of a list.
 */
uint32_t view_link_put(struct view_rows_internal *in, unsigned host, const struct interval_row *row, uint32_t next);
uint32_t view_link_add(struct view_rows_internal *in, uint32_t list, uint32_t other);
const struct view_link *view_link_at(const struct view_rows_internal *in, uint32_t i);

/* Finds the buckets of all rows of the host. */
void view_index_spreads(struct view_rows *r, unsigned host);

/* Those of derived rows: the uid of a row -> its list. The caller releases it. */
struct map64 view_derived_spreads(struct view_rows *r, const struct view_derived *derived);

/* The bucket list of a row of the model, for view_row.spread. */
uint32_t view_spread_of(const struct view_rows *r, unsigned host, uint64_t uid);

/* Adds the bucket list of a row to another row's. */
void view_spread_add(struct view_rows *r, struct view_row *into, const struct view_row *from);

/* ---- errors.c ---- */

/* Finds the failed calls of all threads of the host. */
void view_index_errors(struct view_index *index, const struct interval *iv);

/* Remembers that a row's figures are added to another's. */
void view_errors_add(struct view_rows *r, struct view_row *into, const struct view_row *from);

/* ---- lookup.c: joins ---- */

/* Finds the youngest main thread of every process in the interval, or any thread if the main thread is unknown. */
void view_index_mains(struct view_index *index, const struct interval *iv);
const struct interval_row *view_main_thread(const struct view_index *index, const struct interval *iv, uint64_t pid);
/* The same for the thread's process, whose pid may be one in a container. */
const struct interval_row *view_main_of(const struct view_index *index, const struct interval *iv,
					const struct thread_row *t);
void view_index_files(struct view_index *index, const struct interval *iv, const struct view_filter *filter);
/* Whether a thread with that tid uses the fd table. */
bool view_file_has_tid(const struct view_index *index, uint64_t files_id, uint64_t tid);
const struct interval_row *view_file_thread(const struct view_index *index, const struct interval *iv,
					    const struct interval_row *file);

/* ---- pivot.c ---- */

/* To be called for every host before the columns are added. */
void view_index_pivot(struct view_rows *r, unsigned host);

/* Sets the columns of r, and .counters of all its rows. */
void view_add_pivot_columns(struct view_rows *r);

/* ---- table_relations.c ---- */

#define VIEW_NO_HOST UINT32_MAX

/* A process at one end of a row. */
struct view_end {
	unsigned host; /* VIEW_NO_HOST: not one of the known hosts */
	uint64_t pid;
	strid comm;
};

/* The process at one end of a row, on any host. False: unknown. */
bool view_relation_end(const struct view_rows *r, const struct view_row *row, bool to, struct view_end *end);

/* ---- table_devices.c: a disk's longest queue in the interval, also if that was at its start ---- */
uint64_t view_queue_max(const struct interval_row *row);

/* ---- table_accounting.c: a row's process, or the client it works for; false: it has no client ---- */
bool view_account_end(const struct view_row *row, bool client, struct view_end *end);

/* ---- containers.c: the containers of threads, and their names ---- */

/* Finds the containers in the host's interval, and their names; if it has a side-car, also its main threads. */
void view_index_containers(struct view_index *index, const struct view_host *host);

/* The container of a row of TABLE_THREAD; NULL: none or unknown. */
const struct view_container *view_container_of(const struct view_index *index, const struct thread_row *thread);

/* ---- filter_row.c ---- */

/* Resolves the columns in the filter's terms; call it before view_filter_row(). */
void view_filter_bind(const struct view_filter *f, struct view_rows *r);

/* The column of the table that corresponds to a fact; NULL: there is none. */
const struct column *view_column_of_fact(const struct view_table *table, enum view_fact fact);

/* view_table.state_name of tables about waits. */
const char *view_wait_state(unsigned i);

/* Whether terms about that fact affect the table's rows. */
bool view_table_has_fact(const struct view_table *table, enum view_fact fact);

bool view_filter_row(const struct view_filter *f, const struct view_rows *r, const struct view_row *row);

/* ---- filter_place.c: terms about containers and process trees ---- */

static inline bool view_filter_asks_place(const struct view_filter *f)
{
	return view_filter_asks(f, VIEW_FACT_CONTAINER) || view_filter_asks(f, VIEW_FACT_TREE);
}

GArray *view_places_new(void);

/* Resolves these terms, or one, for a host; its containers and main threads must have been found. */
void view_filter_find_places(const struct view_filter *f, struct view_index *index, const struct interval *iv);
void view_term_find_place(const struct view_node *term, struct view_index *index, const struct interval *iv);

/* Evaluates such a term about a thread, a process, a container. */
bool view_term_has_place(const struct view_node *term, const struct view_index *index, const struct thread_row *t);
bool view_term_has_process(const struct view_node *term, const struct view_index *index, uint64_t pid);
bool view_term_has_container(const struct view_node *term, const struct view_index *index, uint32_t container);

/* ---- compare.c: query.baseline ---- */

/* The corresponding column of the baseline; NULL: it has none, because the counter appeared later. */
const struct column *view_baseline_column(const struct view_rows *r, const struct column *column);

/* Adds rows that only the baseline has, before any row is dropped or any value is read. */
void view_add_baseline(struct view_rows *r);

/* Whether there is a baseline, but without data of the row's host, so that no difference is known. */
bool view_lacks_baseline(const struct view_rows *r, const struct view_row *row);

/* Subtracts the baseline's value from *out, the row's own value. */
void view_subtract_baseline(const struct view_rows *r, const struct view_row *row, const struct column *column,
			    struct value *out);

/* ---- order.c ---- */

/* The indexes of rows (struct view_row) in the query's order; free with g_free(). */
uint32_t *view_order_rows(const struct view_rows *r, const struct view_query *q, const GArray *rows);

void view_sort_rows(struct view_rows *r, const struct view_query *q);

/* ---- sum.c: query.sum_by; replaces the rows by their sums, and r->columns accordingly ---- */
void view_sum_rows(struct view_rows *r, const struct view_query *q);

/* Whether a column is a figure of the interval that can be added up or merged, or follows from some that can. */
bool view_column_sums(const struct column *column);

/* ---- tree.c: puts children after their parents, siblings in the query's order ---- */
void view_tree_rows(struct view_rows *r, const struct view_query *q);

/* The value of a row that is not yet in r->rows. */
void view_row_value(const struct view_rows *r, const struct view_row *row, const struct column *column,
		    struct value *out);

/* ---- getters.c: values for struct column.get ---- */

/*
 * For columns derived from a cell, by its type and the column's form. Cells of threads are read from the row's thread.
 */
column_get_fn view_get_value, view_get_rate, view_get_percent, view_get_dist;

/* The one of these that the column's form has: for getters that modify it. */
column_get_fn view_get_by_form;

/* spread.c: the same from a distribution's buckets. */
column_get_fn view_get_percentile, view_get_freq;

/* errors.c */
column_get_fn view_get_errors;

/* Sets a time on the clock of the row's host. */
void view_set_time(const struct view_cell *at, uint64_t host_ns, struct value *out);

column_get_fn view_get_host;
column_get_fn view_get_container; /* name of the container of the row's thread */

/* ---- machine.c: from the trace or the host's side-car; null if neither knows ---- */
column_get_fn view_get_process_uid, view_get_process_user, view_get_process_exe;
/* From the side-car alone. */
column_get_fn view_get_process_cmdline, view_get_process_cgroup;
column_get_fn view_get_host_kernel, view_get_host_boot_id, view_get_host_clock;
column_get_fn view_get_tracing; /* of its threads: always known */

/* The time of all CPUs of the row's host; of the sum over all hosts: of all CPUs of all hosts. */
uint64_t view_online_ns(const struct view_cell *at);

/* A figure of the row in the interval. */
uint64_t view_figure(const struct view_cell *at, unsigned cell);

/*
 * Sets a figure of the row, which get reads, in multiples of 1/times of the time that its host's record covers. The sum
 * over all hosts is that of each host's value, because hosts' records differ in length. Null: nothing was recorded.
 */
typedef uint64_t view_figure_fn(const struct view_cell *at);
void view_set_share(const struct view_cell *at, view_figure_fn *get, double times, struct value *v);

/*
 * Whether the row's host (with --sum-by all: any host) lacks these events, bits of enum view_lacks in view/missing.h.
 */
bool view_lacks(const struct view_cell *at, uint32_t lacks);

/* Sets the figure of the column's cell; null if the row's host lacks one of the events that it comes from. */
void view_set_recorded(const struct view_cell *at, struct value *v, uint32_t needed);

#define VIEW_FIGURE(at, type, member) view_figure(at, CELL(type, member))

/* ---- helpers to set a value ---- */

static inline void value_set_null(struct value *v)
{
	v->kind = VALUE_NULL;
}

static inline void value_set_uint(struct value *v, uint64_t u)
{
	v->kind = VALUE_UINT;
	v->u = u;
}

static inline void value_set_real(struct value *v, double real)
{
	v->kind = VALUE_REAL;
	v->real = real;
}

/* text NULL: null. */
static inline void value_set_text(struct value *v, const char *text)
{
	v->kind = text ? VALUE_TEXT : VALUE_NULL;
	v->text = text;
}

/* ---- derived.c ---- */

/* A new row of size bytes; all cells except the first two are 0. */
void *view_derived_add(struct view_derived *derived, size_t size, unsigned host);

/* The index of the host with this number in the wait graph; 0 if none has, as each row belongs to a host. */
unsigned view_derived_host(const struct view_sources *from, unsigned wait);

/* Counts a value in the distribution of the row that was added last; cell identifies it, as for view_spread(). */
void view_derived_count(struct view_derived *derived, const void *row, unsigned cell, uint64_t value);

/* ---- the tables, a file for each family ---- */
#define VIEW_TABLE(name) extern const struct view_table view_##name##_table;
#include "view/tables.def"

#define USES(table) (1u << TABLE_##table)

#endif
