/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_INTERNAL_H
#define LT_VIEW_INTERNAL_H

/* What the files of view/ share. Nobody outside view/ includes this. */

#include <glib.h>

#include "base/map64.h"
#include "base/strpool.h"
#include "event/tracepoints.h"
#include "view/dist.h"
#include "view/own.h"
#include "view/rows.h"

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
	struct map64 owners;    /* thread uid -> index in owner_uids; empty: each thread owns itself */
	GArray *owner_uids;     /* uint64_t: uid of the main thread of its process */
	GArray *errors;         /* struct view_error, by owner, call, error */
	struct map64 fd_owners; /* files_id and pid -> index in TABLE_THREAD */
	struct map64 processes; /* pid -> index in TABLE_THREAD of its main thread */
	struct map64 tid_files; /* files_id of the threads whose tids the filter wants -> 0 */
	struct map64 pivot;     /* owner and counter -> index in pivot_values */
	GArray *containers;     /* struct view_container */
	struct map64 container_places; /* uid -> index in containers */
	GStringChunk *container_names;
	GArray *wanted_containers; /* bool, by place: what the filter wants of them */
	bool wants_host_itself;
	struct map64 trees;        /* pid -> whether the filter wants it as one below another */
};

struct view_rows_internal {
	GArray *rows;          /* struct view_row */
	struct view_index *indexes;
	unsigned n_indexes;
	GPtrArray *blocks;     /* merged cells: blocks of BLOCK_CELLS */
	unsigned block, block_used;
	GArray *items;         /* struct value_item of the last value */
	GPtrArray *texts;      /* texts of the last value's items (char *) */
	GArray *columns;       /* struct column: VIEW_PIVOT */
	GArray *counters;      /* strid, in the order of their columns */
	GArray *pivot_values;  /* uint64_t, of view_index.pivot */
	GArray *halves;        /* struct view_half */
	struct map64 half_index; /* flow and side -> index in halves */
	GHashTable *base_index;  /* struct view_key -> struct view_row: of query.base; NULL: never had one */
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
void view_own_cells(struct view_rows *r, struct view_row *row);

/* Adds the figures of a row to those of one with cells of its own, which keeps what else it says of itself. */
void view_add_figures(struct view_rows *r, struct view_row *into, const struct view_row *from);

/* n cells, valid until the next build. */
uint64_t *view_cells_alloc(struct view_rows_internal *in, unsigned n);

/* ---- lookup.c: joins ---- */

void view_index_errors(struct view_index *index, const struct interval *iv);
/* The youngest main thread of every process of the interval; of one whose main thread is not known, any. */
void view_index_mains(struct view_index *index, const struct interval *iv);
const struct interval_row *view_main_thread(const struct view_index *index, const struct interval *iv, uint64_t pid);
void view_index_files(struct view_index *index, const struct interval *iv, const struct view_filter *filter);
const struct interval_row *view_file_thread(const struct view_index *index, const struct interval *iv,
					     const struct interval_row *file);
void view_index_pivot(struct view_rows *r, unsigned host);
uint64_t view_pivot_value(const struct view_rows *r, unsigned host, uint64_t owner, unsigned counter);

/* ---- table_relations.c: the halves of relations between hosts, of all hosts ---- */
void view_index_relations(struct view_rows *r);

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

/* ---- table_containers.c ---- */
bool view_container_row_wanted(const struct view_filter *f, const struct view_rows *r, const struct view_row *row);

/* ---- containers.c: who is in which container, and what that is called ---- */

/* Finds the containers of the host's interval, and their names; its main threads are found if it has a side-car. */
void view_index_containers(struct view_index *index, const struct view_host *host);

/* The container that a row of TABLE_THREAD is in; NULL: none, or it is not known. */
const struct view_container *view_container_of(const struct view_index *index, const struct thread_row *thread);

/* ---- filter.c ---- */
bool view_filter_tid(const struct view_filter *f, uint64_t tid);
bool view_filter_row(const struct view_filter *f, const struct view_rows *r, const struct view_row *row);

/* ---- filter_place.c: terms about containers and trees of processes ---- */

static inline bool view_filter_wants_place(const struct view_filter *f)
{
	return f->containers->len || f->trees->len;
}

/* Finds what they mean on a host; its containers and main threads are known. */
void view_filter_find_places(const struct view_filter *f, struct view_index *index, const struct interval *iv);

bool view_filter_place(const struct view_filter *f, const struct view_index *index, const struct thread_row *t);

/* The same of a process alone, and of a container by its place. */
bool view_filter_tree(const struct view_filter *f, const struct view_index *index, uint64_t pid);
bool view_filter_container(const struct view_filter *f, const struct view_index *index, uint32_t place);

/* ---- compare.c: query.base ---- */

/* The column of the base that is the same; NULL: it has none, of a counter that came later. */
const struct column *view_base_column(const struct view_rows *r, const struct column *column);

/* Adds the rows that only the base has to all that there are, before any is left out and any value is read. */
void view_add_base(struct view_rows *r);

/* Makes *out, the row's own value, what it is more than the base's. */
void view_subtract_base(const struct view_rows *r, const struct view_row *row, const struct column *column,
			struct value *out);

/* ---- order.c ---- */

/* The indexes of rows (struct view_row) in the order that the query wants; free with g_free(). */
uint32_t *view_order_rows(const struct view_rows *r, const struct view_query *q, const GArray *rows);

void view_sort_rows(struct view_rows *r, const struct view_query *q);

/* ---- tree.c: puts children behind their parents, brothers in the order that the query wants ---- */
void view_tree_rows(struct view_rows *r, const struct view_query *q);

/* The value of a row that is not in r->rows yet. */
void view_row_value(const struct view_rows *r, const struct view_row *row, const struct column *column,
		    struct value *out);

/* ---- getters.c: what struct column.get can be. Times of hosts come as they are: view_row_value() maps them. ---- */

/* Of the row: column.cell is one of its cells. */
column_get_fn view_get_value;     /* counter, accrual, gauge: as it is */
column_get_fn view_get_signed;    /* a gauge, null where it is negative */
column_get_fn view_get_text;      /* a string, null where there is none */
column_get_fn view_get_known;     /* as it is, null where it is 0 */
column_get_fn view_get_flag;      /* a gauge: whether it is not 0 */
column_get_fn view_get_rate;      /* a counter per second */

/* Of the row: column.cell is the first cell of a distribution. Null where it is empty, but for the first two. */
column_get_fn view_get_dist_count, view_get_dist_sum;
column_get_fn view_get_dist_min, view_get_dist_avg, view_get_dist_max, view_get_dist_stdev;

/* Of the thread of the row: column.cell is a cell of TABLE_THREAD. Null where it is unknown. */
column_get_fn view_get_thread_signed, view_get_thread_text, view_get_thread_known, view_get_thread_gauge;

/* Of a row of VIEW_OWN: column.cell is one of its cells. Text, flag and time (view_get_signed) are as above. */
column_get_fn view_get_int;       /* signed, null where it is VIEW_UNKNOWN */
column_get_fn view_get_number;

#define VIEW_UNKNOWN INT64_MIN

column_get_fn view_get_host;
column_get_fn view_get_container; /* the name of the one that the row's thread is in */

/* ---- machine.c: of the host's side-car; null where it has none, or does not know ---- */
column_get_fn view_get_process_uid, view_get_process_user, view_get_process_exe, view_get_process_cmdline;
column_get_fn view_get_process_cgroup;
column_get_fn view_get_host_kernel, view_get_host_boot_id, view_get_host_clock;
column_get_fn view_get_tracing; /* of its threads: always known */

/* A figure of the row in the interval. */
uint64_t view_figure(const struct view_cell *at, unsigned cell);

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

/* ---- own.c: a new row of size bytes, all cells 0 but the first two ---- */
void *view_own_add(struct view_own *own, size_t size, unsigned host);

extern const struct view_table view_sync_table, view_matches_table, view_latencies_table;
extern const struct view_table view_critical_path_table, view_critical_totals_table, view_accounting_table;

/* ---- the tables, a file for each family ---- */
extern const struct view_table view_hosts_table, view_events_table, view_probes_table, view_cpus_table;
extern const struct view_table view_cpu_table, view_io_table, view_sched_table, view_counters_table;
extern const struct view_table view_files_table, view_syscalls_table, view_perf_table;
extern const struct view_table view_blocking_table, view_relations_table, view_emitters_table;
extern const struct view_table view_containers_table;
extern const struct view_table view_disks_table, view_net_table, view_irqs_table;

/* ---- to write the lists of columns ---- */

#define N_COLUMNS(list) .columns = (list), .n_columns = G_N_ELEMENTS(list)
#define USES(table) (1u << TABLE_##table)

/* { name, header, meaning, unit, width, flags, cell, get } */
#define COLUMN_HOST \
	{ "host", "HOST", "Host that the row belongs to.", COLUMN_TEXT, 10, COLUMN_IN_REPORT, 0, view_get_host }
#define COLUMN_TID \
	{ "tid", "TID", "Thread id.", COLUMN_ID, 7, COLUMN_IN_REPORT | COLUMN_KEY, CELL(thread, tid), \
	  view_get_thread_signed }
#define COLUMN_PID \
	{ "pid", "PID", "Process id.", COLUMN_ID, 7, COLUMN_IN_REPORT, CELL(thread, pid), view_get_thread_signed }
#define COLUMN_CONTAINER(flags) \
	{ "container", "CONTAINER", "Container it runs in; null outside containers.", COLUMN_TEXT, 16, flags, 0, \
	  view_get_container }
#define COLUMN_COMM \
	{ "comm", "COMMAND", "Name of the thread, the last one in the interval.", COLUMN_TEXT, 0, \
	  COLUMN_IN_REPORT | COLUMN_INDENT, CELL(thread, comm), view_get_thread_text }

#endif
