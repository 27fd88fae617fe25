/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_INTERNAL_H
#define LT_VIEW_INTERNAL_H

/* What the files of view/ share. Nobody outside view/ includes this. */

#include <glib.h>

#include "base/map64.h"
#include "base/strpool.h"
#include "event/tracepoints.h"
#include "view/dist.h"
#include "view/derived.h"
#include "view/rows.h"
#include "view/spread.h"

/* A failed call of a thread: a row of TABLE_SYSERR, with the owner of its thread. */
struct view_error {
	uint64_t owner;
	strid call;
	uint32_t error;
	uint64_t count;
};

/* A row of TABLE_RELATION that tells of one end of a flow. */
struct view_half {
	unsigned host;
	const struct relation_row *row;
	uint64_t bytes; /* that went through it in the interval */
};

/* A row of TABLE_CONNECTION, which may be the other end of another. */
struct view_far_end {
	unsigned host;
	const struct interval_row *row;
	uint32_t next; /* place in far_ends of the next one of the same key; UINT32_MAX: none */
};

/* What is looked up per host while its rows are built and read. */
/* A container of a host: a row of TABLE_CONTAINER, by another name. */
struct view_container {
	const struct container_row *row;
	const char *name;
	uint32_t parent; /* place in view_index.containers; VIEW_HOST_ITSELF: it is in none, or that is not known */
	bool parent_known;
};

#define VIEW_HOST_ITSELF UINT32_MAX

/* What is outside of all containers is called. */
#define VIEW_HOST_NAME "host"

struct view_index {
	uint32_t lacks;         /* view_host_lacks() */
	struct map64 owners;    /* thread uid -> index in owner_uids; empty: each thread owns itself */
	GArray *owner_uids;     /* uint64_t: uid of the main thread of its process */
	GArray *errors;         /* struct view_error, by owner, call, error */
	struct map64 fd_owners; /* files_id and pid -> index in TABLE_THREAD */
	struct map64 processes; /* pid -> index in TABLE_THREAD of its main thread */
	struct map64 tid_files; /* files_id and tid of the threads that use it -> 0, if the filter asks for tids */
	struct map64 pivot;     /* owner and counter -> index in pivot_values */
	GArray *containers;     /* struct view_container */
	struct map64 container_places; /* uid -> index in containers */
	GStringChunk *container_names;
	struct map64 spreads; /* uid of a row of the table -> the first of its links in spread_links */
	GArray *places;       /* struct view_place, by struct view_node.place: what the filter's terms mean here */
};

/* A row of TABLE_BUCKET, of a distribution of some row: spread.c. */
struct view_spread_link {
	const struct interval_row *row;
	unsigned host;
	uint32_t next;
};

struct view_rows_internal {
	GArray *rows; /* struct view_row */
	struct view_index *indexes;
	unsigned n_indexes;
	GPtrArray *blocks; /* merged cells: blocks of BLOCK_CELLS */
	unsigned block, block_used;
	GArray *items;             /* struct value_item of the last value */
	GPtrArray *texts;          /* texts of the last value's items (char *) */
	GArray *columns;           /* struct column: VIEW_PIVOT */
	GArray *counters;          /* strid, in the order of their columns */
	GArray *pivot_values;      /* uint64_t, of view_index.pivot */
	GArray *halves;            /* struct view_half */
	struct map64 half_index;   /* flow and side -> index in halves */
	GArray *far_ends;          /* struct view_far_end */
	struct map64 far_index;    /* what both ends have in common -> index in far_ends */
	GArray *spread_links;      /* struct view_spread_link */
	struct view_spread spread; /* the last one that was asked for: of that list and cell */
	GArray *spread_buckets;    /* struct value_bucket of the last value */
	uint32_t spread_list;
	unsigned spread_cell;
	GArray *bound;              /* const struct column *, by struct view_node.place: of the filter's terms */
	GHashTable *baseline_index; /* struct view_key -> struct view_row: of query.baseline; NULL: never had one */
};

/* ---- rows.c ---- */
void view_index_init(struct view_index *index);
void view_index_release(struct view_index *index);

/* ---- group.c: rows of the model that become one ---- */

/* The uid of the thread that stands for the process of a thread; its own if threads stay apart. */
uint64_t view_owner(const struct view_index *index, uint64_t thread_uid);

/* Finds the process of every thread of the host. */
void view_index_processes(struct view_index *index, const struct interval *iv);

/* Merges the rows of r->internal->rows from first on, all of one host, as the query says. */
void view_group_rows(struct view_rows *r, const struct view_query *q, unsigned first);

/* Gives a row cells of its own, that hold its figures in the interval. */
void view_derived_cells(struct view_rows *r, struct view_row *row);

/* Adds the figures of a row to those of one with cells of its own, which keeps what else it says of itself. */
void view_add_figures(struct view_rows *r, struct view_row *into, const struct view_row *from);

/* n cells, valid until the next build. */
uint64_t *view_cells_alloc(struct view_rows_internal *in, unsigned n);

/* ---- spread.c ---- */

/* Finds the buckets of all rows of the host. */
void view_index_spreads(struct view_rows *r, unsigned host);

/* The list of a row of the model, for view_row.spread. */
uint32_t view_spread_of(const struct view_rows *r, unsigned host, uint64_t uid);

/* What one has the other has, too. */
void view_spread_add(struct view_rows *r, struct view_row *into, const struct view_row *from);

/* ---- lookup.c: joins ---- */

void view_index_errors(struct view_index *index, const struct interval *iv);
/* The youngest main thread of every process of the interval; of one whose main thread is not known, any. */
void view_index_mains(struct view_index *index, const struct interval *iv);
const struct interval_row *view_main_thread(const struct view_index *index, const struct interval *iv, uint64_t pid);
void view_index_files(struct view_index *index, const struct interval *iv, const struct view_filter *filter);
/* Whether a thread of that tid uses the fd table. */
bool view_file_has_tid(const struct view_index *index, uint64_t files_id, uint64_t tid);
const struct interval_row *view_file_thread(const struct view_index *index, const struct interval *iv,
					    const struct interval_row *file);
void view_index_pivot(struct view_rows *r, unsigned host);
uint64_t view_pivot_value(const struct view_rows *r, unsigned host, uint64_t owner, unsigned counter);

/* ---- table_relations.c ---- */

#define VIEW_NO_HOST UINT32_MAX

/* A process that a row is of. */
struct view_end {
	unsigned host; /* VIEW_NO_HOST: none of those that there are */
	uint64_t pid;
	strid comm;
};

/* The process at one end of a row, wherever it is. False: not known. */
bool view_relation_end(const struct view_rows *r, const struct view_row *row, bool to, struct view_end *end);

/* ---- table_accounting.c: the process of a row, or the client it works for. False: it works for none. ---- */
bool view_account_end(const struct view_row *row, bool client, struct view_end *end);

/* ---- containers.c: who is in which container, and what that is called ---- */

/* Finds the containers of the host's interval, and their names; its main threads are found if it has a side-car. */
void view_index_containers(struct view_index *index, const struct view_host *host);

/* The container that a row of TABLE_THREAD is in; NULL: none, or it is not known. */
const struct view_container *view_container_of(const struct view_index *index, const struct thread_row *thread);

/* ---- table.c: what may be left out of a column's name ---- */
static const char *const view_column_units[] = { "_ns", "_bytes" };

/* ---- filter_row.c ---- */

/* Finds the columns that the terms are about; before view_filter_row(). */
void view_filter_bind(const struct view_filter *f, struct view_rows *r);

/* The column that has what a term of the table is about; NULL: it has none. */
const struct column *view_column_of_fact(const struct view_table *table, enum view_fact fact);

/* Whether a term of that kind says anything of the table's rows. */
bool view_table_has_fact(const struct view_table *table, enum view_fact fact);

bool view_filter_row(const struct view_filter *f, const struct view_rows *r, const struct view_row *row);

/* ---- filter_place.c: terms about containers and trees of processes ---- */

static inline bool view_filter_asks_place(const struct view_filter *f)
{
	return view_filter_asks(f, VIEW_FACT_CONTAINER) || view_filter_asks(f, VIEW_FACT_TREE);
}

GArray *view_places_new(void);

/* Finds what they mean on a host; its containers and main threads are known. */
void view_filter_find_places(const struct view_filter *f, struct view_index *index, const struct interval *iv);

/* Whether the filter can want a thread by where it is, and what a term says of it, of a process, of a container. */
bool view_filter_place(const struct view_filter *f, const struct view_index *index, const struct thread_row *t);
bool view_term_has_place(const struct view_node *term, const struct view_index *index, const struct thread_row *t);
bool view_term_has_process(const struct view_node *term, const struct view_index *index, uint64_t pid);
bool view_term_has_container(const struct view_node *term, const struct view_index *index, uint32_t container);

/* ---- compare.c: query.baseline ---- */

/* The column of the baseline that is the same; NULL: it has none, of a counter that came later. */
const struct column *view_baseline_column(const struct view_rows *r, const struct column *column);

/* Adds the rows that only the baseline has to all that there are, before any is left out and any value is read. */
void view_add_baseline(struct view_rows *r);

/* Makes *out, the row's own value, what it is more than the baseline's. */
void view_subtract_baseline(const struct view_rows *r, const struct view_row *row, const struct column *column,
			    struct value *out);

/* ---- order.c ---- */

/* The indexes of rows (struct view_row) in the order that the query wants; free with g_free(). */
uint32_t *view_order_rows(const struct view_rows *r, const struct view_query *q, const GArray *rows);

void view_sort_rows(struct view_rows *r, const struct view_query *q);

/* ---- sum.c: query.sum_by; the rows become their sums, r->columns those of sums ---- */
void view_sum_rows(struct view_rows *r, const struct view_query *q);

/* ---- tree.c: puts children behind their parents, brothers in the order that the query wants ---- */
void view_tree_rows(struct view_rows *r, const struct view_query *q);

/* The value of a row that is not in r->rows yet. */
void view_row_value(const struct view_rows *r, const struct view_row *row, const struct column *column,
		    struct value *out);

/* ---- getters.c: what struct column.get can be ---- */

/* Of a column made of a cell, by its type and the column's form. Of a cell of threads: that of the row's thread. */
column_get_fn view_get_value, view_get_rate, view_get_percent, view_get_dist;

/* spread.c: the same of a distribution's buckets. */
column_get_fn view_get_percentile, view_get_freq;

/* A time of the row's host. */
void view_set_time(const struct view_cell *at, uint64_t host_ns, struct value *out);

column_get_fn view_get_host;
column_get_fn view_get_container; /* the name of the one that the row's thread is in */

/* ---- machine.c: of the host's side-car; null where it has none, or does not know ---- */
column_get_fn view_get_process_uid, view_get_process_user, view_get_process_exe, view_get_process_cmdline;
column_get_fn view_get_process_cgroup;
column_get_fn view_get_host_kernel, view_get_host_boot_id, view_get_host_clock;
column_get_fn view_get_tracing; /* of its threads: always known */

/* A figure of the row in the interval. */
uint64_t view_figure(const struct view_cell *at, unsigned cell);

/* Whether the row's host, with --sum-by all any host, lacks what enum view_lacks of view/missing.h says (bits). */
bool view_lacks(const struct view_cell *at, uint32_t lacks);

#define VIEW_FIGURE(at, type, member) view_figure(at, CELL(type, member))

/* ---- hashes for view_table.same; two different things meet by chance 1 in 2^64 ---- */

static inline uint64_t view_mix(uint64_t hash, uint64_t value)
{
	hash = (map64_hash(hash) ^ value) * UINT64_C(0xd6e8feb86659fd93);
	return hash ^ hash >> 32;
}

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

/* ---- derived.c: a new row of size bytes, all cells 0 but the first two ---- */
void *view_derived_add(struct view_derived *derived, size_t size, unsigned host);

/* ---- the tables, a file for each family ---- */
#define VIEW_TABLE(name) extern const struct view_table view_##name##_table;
#include "view/tables.def"

#define USES(table) (1u << TABLE_##table)

#endif
