/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merges rows that have something in common: view_query.sum_by. */
#include "view/sum.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/keyhash.h"
#include "base/similar.h"
#include "view/internal.h"

static const char *const names[VIEW_SUMS] = {
	[VIEW_SUM_THREAD] = "thread", [VIEW_SUM_PROCESS] = "process",     [VIEW_SUM_COMM] = "comm",
	[VIEW_SUM_USER] = "user",     [VIEW_SUM_CONTAINER] = "container", [VIEW_SUM_FILE] = "file",
	[VIEW_SUM_CALL] = "call",     [VIEW_SUM_PEER] = "peer",           [VIEW_SUM_HOST] = "host",
	[VIEW_SUM_ALL] = "all",
};

const char *view_sum_name(enum view_sum sum)
{
	return names[sum];
}

/* "thread|process|…"; the caller frees it. */
static char *all_names(void)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = VIEW_SUM_THREAD; i < VIEW_SUMS; i++)
		g_string_append_printf(text, "%s%s", text->len ? "|" : "", names[i]);
	return g_string_free(text, FALSE);
}

/* ---- what they have in common ---- */

/* The table's own column for it; NULL: it has none, or one that only describes the end of the interval. */
static const struct column *own_column(const struct view_table *table, enum view_sum sum)
{
	static const enum view_fact facts[VIEW_SUMS] = {
		[VIEW_SUM_THREAD] = VIEW_FACT_TID, [VIEW_SUM_PROCESS] = VIEW_FACT_PID, [VIEW_SUM_COMM] = VIEW_FACT_COMM,
		[VIEW_SUM_FILE] = VIEW_FACT_FILE,  [VIEW_SUM_CALL] = VIEW_FACT_CALL,   [VIEW_SUM_PEER] = VIEW_FACT_PEER,
	};

	return table->source == TABLE_THREAD ? NULL : view_column_of_fact(table, facts[sum]);
}

bool view_sum_applies(const struct view_table *table, enum view_sum sum)
{
	/* figures of the others are not in cells: columns per counter, critical paths, clocks */
	if (!(table->flags & VIEW_REPORT) || (table->source == TABLES && !table->cells))
		return false;
	switch (sum) {
	case VIEW_SUM_THREAD:
	case VIEW_SUM_PROCESS:
	case VIEW_SUM_COMM:
		if (table->supply.needs)
			return own_column(table, sum) != NULL;
		/* files and connections belong to processes */
		return view_table_of_threads(table) &&
		       (sum != VIEW_SUM_THREAD || (table->source != TABLE_FILE && table->source != TABLE_CONNECTION));
	case VIEW_SUM_USER:
	case VIEW_SUM_CONTAINER:
		return view_table_of_threads(table) || table->process;
	case VIEW_SUM_FILE:
	case VIEW_SUM_CALL:
	case VIEW_SUM_PEER:
		return own_column(table, sum) != NULL;
	default:
		return true;
	}
}

enum lt_status view_sum_find(const char *name, const struct view_table *table, enum view_sum *sum)
{
	struct similar s = { .word = name };

	for (*sum = VIEW_SUM_THREAD; *sum < VIEW_SUMS && strcmp(names[*sum], name) != 0; (*sum)++)
		similar_offer(&s, names[*sum]);
	if (*sum == VIEW_SUMS) {
		char *all = all_names();

		error_set("'%s' is not one of %s%s", name, all, similar_hint(&s, ""));
		g_free(all);
		return LT_ERROR;
	}
	if (table->flags & VIEW_UNLIKE)
		return error_set("rows of table '%s' cannot be summed", table->name);
	if (!view_sum_applies(table, *sum))
		return error_set("rows of table '%s' have no %s", table->name, name);
	return LT_OK;
}

/* ---- columns ---- */

static void get_rows(const struct view_cell *at, struct value *v)
{
	value_set_uint(v, at->row->summed);
}

static const struct column rows_column = {
	.name = "rows",
	.header = "ROWS",
	.meaning = "How many rows it sums up.",
	.unit = COLUMN_COUNT,
	.width = 6,
	.flags = COLUMN_IN_REPORT | COLUMN_COUNTER,
	.cell = UINT16_MAX, /* not derived from a cell */
	.get = get_rows,
};

/* Adds a column that the rows have in common, which is displayed even if it is not in the table itself. */
static void add_common(GArray *columns, struct column column)
{
	column.flags = (column.flags & (uint16_t)~COLUMN_IF_KNOWN) | COLUMN_IN_REPORT;
	g_array_append_val(columns, column);
}

/* Adds a column that any table of threads can have; derived rows have their own of some. */
static void add_named(GArray *columns, const struct view_table *table, const char *name)
{
	const struct view_table *threads = view_table_find("cpu");
	const struct column *own =
		table->supply.needs ? view_column_find(table->columns, table->n_columns, name) : NULL;

	add_common(columns, own ? *own : *view_column_find(threads->columns, threads->n_columns, name));
}

static bool is_merged(const struct cell_desc *cell)
{
	switch ((enum cell_kind)cell->kind) {
	case CELL_COUNTER:
	case CELL_ACCRUAL:
	case CELL_MIN:
	case CELL_MAX:
		return true;
	default:
		return false;
	}
}

bool view_column_sums(const struct column *column)
{
	if (column->flags & COLUMN_COUNTER && column_adds_up(column))
		return true;
	switch ((enum column_form)column->form) {
	case FORM_VALUE:
		return is_merged(&column->cells[column->cell]);
	case FORM_NONE:
		return column->unit == COLUMN_PERCENT || column->unit == COLUMN_RATE ||
		       column->unit == COLUMN_BYTE_RATE || column->unit == COLUMN_OBJECT;
	default:
		return true;
	}
}

GArray *view_sum_columns(const struct view_table *table, enum view_sum sum)
{
	static const char *const threads[VIEW_SUMS][4] = {
		[VIEW_SUM_THREAD] = { "host", "tid", "pid", "comm" },
		[VIEW_SUM_PROCESS] = { "host", "pid", "comm" },
		[VIEW_SUM_COMM] = { "host", "comm" },
		[VIEW_SUM_USER] = { "host", "uid", "user" },
		[VIEW_SUM_CONTAINER] = { "host", "container" },
		[VIEW_SUM_FILE] = { "host" },
		[VIEW_SUM_CALL] = { "host" },
		[VIEW_SUM_PEER] = { "host" },
		[VIEW_SUM_HOST] = { "host" },
	};
	GArray *columns = g_array_new(FALSE, FALSE, sizeof(struct column));
	const struct column *own = own_column(table, sum);

	for (unsigned i = 0; i < G_N_ELEMENTS(threads[sum]) && threads[sum][i]; i++)
		add_named(columns, table, threads[sum][i]);
	if (sum == VIEW_SUM_FILE || sum == VIEW_SUM_CALL || sum == VIEW_SUM_PEER)
		add_common(columns, *own);
	g_array_append_val(columns, rows_column);
	for (unsigned i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];

		/* times are on the clock of one host */
		if (sum == VIEW_SUM_ALL && column->form == FORM_MAX_AT)
			continue;
		if (view_column_sums(column) &&
		    !view_column_find((const struct column *)(const void *)columns->data, columns->len, column->name))
			g_array_append_val(columns, *column);
	}
	for (unsigned i = 0; i < table->n_sum_columns; i++) {
		const struct column column = column_complete(&table->sum_columns[i]);

		g_array_append_val(columns, column);
	}
	return columns;
}

/* ---- rows ---- */

/* Whether it is their thread or process that tells rows apart, rather than the text of a column. */
static bool is_by_thread(const struct view_rows *r, enum view_sum sum)
{
	if (r->table->supply.needs)
		return false;
	return sum == VIEW_SUM_THREAD || (sum == VIEW_SUM_PROCESS && r->table->source != TABLE_FILE);
}

/* The uid of a row's thread or, by process, that of its process's main thread; 0: unknown. */
static uint64_t thread_of(const struct view_rows *r, const struct view_row *row, enum view_sum sum)
{
	const struct interval_row *thread = view_row_thread(r, row);
	const uint64_t uid = thread ? thread->b[0] : 0;

	return sum == VIEW_SUM_PROCESS ? view_owner(&r->internal->indexes[row->key.host], uid) : uid;
}

/* The text that rows to be merged have in common. */
static char *key_of(const struct view_rows *r, const struct view_row *row, const struct view_query *q,
		    const struct column *named)
{
	struct value v = { .kind = VALUE_NULL };
	char *text, *key;

	if (q->sum_by == VIEW_SUM_HOST || q->sum_by == VIEW_SUM_ALL)
		return g_strdup_printf("%u", row->key.host);
	if (is_by_thread(r, q->sum_by))
		return g_strdup_printf("%u %" G_GUINT64_FORMAT, row->key.host, thread_of(r, row, q->sum_by));
	view_row_value(r, row, named, &v);
	text = v.kind == VALUE_TEXT                          ? g_strdup(v.text)
	       : v.kind == VALUE_INT || v.kind == VALUE_UINT ? g_strdup_printf("%" G_GINT64_FORMAT, v.i)
							     : NULL;
	/* unknown differs from an empty name */
	key = g_strdup_printf("%u %c%s", row->key.host, text ? '=' : '-', text ? text : "");
	g_free(text);
	return key;
}

static void add_row(struct view_rows *r, struct view_row *into, const struct view_row *from)
{
	if (into->members == 1)
		view_derived_cells(r, into);
	if (r->table->cells)
		into->members += from->members;
	into->summed += from->summed;
	if (r->table->source == TABLE_CONNECTION) /* a sum is unknown if all of its connections' figures are */
		((struct connection_row *)(void *)into->row.b)->flags &= INTERVAL_ROW(connection, &from->row)->flags;
	view_add_figures(r, into, from);
}

/* A process is named after its main thread, which need not be among the rows. */
static void name_process(struct view_rows *r, struct view_row *row)
{
	const struct interval *iv = r->hosts[row->key.host].iv;
	const struct interval_row *main = interval_find(iv, TABLE_THREAD, thread_of(r, row, VIEW_SUM_PROCESS));
	const struct thread_row *from;
	struct thread_row *to;

	if (!main || r->table->source != TABLE_THREAD) {
		row->thread = main;
		return;
	}
	if (row->members == 1)
		view_derived_cells(r, row);
	from = INTERVAL_ROW(thread, main);
	to = (struct thread_row *)(void *)row->row.b;
	to->uid = row->key.uid = from->uid;
	to->tid = from->tid;
	to->comm = from->comm;
	to->born_ns = from->born_ns;
	to->exited_ns = from->exited_ns;
}

/* Merges the sums of the hosts, which remain known: what is relative to a host's time is added up by host. */
static void merge_hosts(struct view_rows *r)
{
	GArray *rows = r->internal->rows, *parts = r->internal->parts;
	struct view_row *all = &g_array_index(rows, struct view_row, 0);

	g_array_append_vals(parts, rows->data, rows->len);
	if (!rows->len)
		return;
	view_derived_cells(r, all);
	for (guint i = 1; i < parts->len; i++)
		add_row(r, all, &g_array_index(parts, struct view_row, i));
	all->sum = keyhash_text("");
	g_array_set_size(rows, 1);
}

void view_sum_rows(struct view_rows *r, const struct view_query *q)
{
	struct view_rows_internal *in = r->internal;
	GArray *columns = view_sum_columns(r->table, q->sum_by);
	const struct column *named = &g_array_index(columns, struct column, MIN(columns->len - 1, 1));
	GHashTable *sums = g_hash_table_new_full(keyhash_text, g_str_equal, g_free, NULL);
	const bool processes = q->sum_by == VIEW_SUM_PROCESS && is_by_thread(r, q->sum_by);
	guint n = 0;

	for (unsigned i = 0; processes && i < r->n_hosts; i++)
		if (r->hosts[i].iv)
			view_index_processes(&in->indexes[i], r->hosts[i].iv);
	for (guint i = 0; i < in->rows->len; i++) {
		struct view_row *row = &g_array_index(in->rows, struct view_row, i);
		char *key;
		gpointer at;

		if (row->overall)
			continue;
		key = key_of(r, row, q, named);
		row->summed = 1;
		row->sum = keyhash_text(key);
		if (g_hash_table_lookup_extended(sums, key, NULL, &at)) {
			add_row(r, &g_array_index(in->rows, struct view_row, GPOINTER_TO_UINT(at)), row);
			g_free(key);
			continue;
		}
		g_hash_table_insert(sums, key, GUINT_TO_POINTER(n));
		g_array_index(in->rows, struct view_row, n++) = *row;
	}
	for (guint i = 0; processes && i < n; i++)
		name_process(r, &g_array_index(in->rows, struct view_row, i));
	g_array_set_size(in->rows, n);
	if (r->sums_hosts)
		merge_hosts(r);
	g_hash_table_destroy(sums);
	g_array_set_size(in->columns, 0);
	g_array_append_vals(in->columns, columns->data, columns->len);
	g_array_unref(columns);
	r->columns = (const struct column *)(const void *)in->columns->data;
	r->n_columns = in->columns->len;
}
