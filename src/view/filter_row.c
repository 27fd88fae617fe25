/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evaluates the terms of a filter for the rows of a table. */
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "clock/map.h"
#include "event/syscalls.h"
#include "view/filter_internal.h"
#include "view/internal.h"

struct judged {
	const struct view_rows *rows;
	const struct view_row *row;
};

static enum view_truth truth_of(bool holds)
{
	return holds ? VIEW_YES : VIEW_NO;
}

/* ---- columns ---- */

const struct column *view_column_of_fact(const struct view_table *table, enum view_fact fact)
{
	/* the first one that the table has */
	static const char *const names[][3] = {
		[VIEW_FACT_COMM] = { "comm" },
		[VIEW_FACT_PID] = { "pid" },
		[VIEW_FACT_TID] = { "tid" },
		[VIEW_FACT_STATE] = { "state_name", "state" },
		[VIEW_FACT_CALL] = { "syscall", "call" },
		[VIEW_FACT_FILE] = { "path", "object" },
		[VIEW_FACT_PEER] = { "peer" },
		[VIEW_FACT_NONE] = { NULL },
	};
	const struct column *column = NULL;

	if (fact == VIEW_FACT_CALL && table->source == TABLE_SYSCALL)
		return view_column_find(table->columns, table->n_columns, "name");
	for (unsigned i = 0; i < 2 && !column && names[fact][i]; i++)
		column = view_column_find(table->columns, table->n_columns, names[fact][i]);
	return column;
}

bool view_table_has_fact(const struct view_table *table, enum view_fact fact)
{
	switch (fact) {
	case VIEW_FACT_HOST:
		return true;
	case VIEW_FACT_COMM:
	case VIEW_FACT_PID:
		return view_table_of_processes(table) || view_column_of_fact(table, fact);
	case VIEW_FACT_TID:
		return view_table_of_threads(table) || view_column_of_fact(table, fact);
	case VIEW_FACT_CONTAINER:
		return view_table_of_processes(table) || table->term;
	case VIEW_FACT_TREE:
	case VIEW_FACT_USER:
		return view_table_of_processes(table);
	default:
		return view_column_of_fact(table, fact) != NULL;
	}
}

static enum view_truth bind_term(void *data, const struct view_node *term)
{
	struct view_rows *r = data;
	const struct column **to = &g_array_index(r->internal->bound, const struct column *, term->place);

	if (term->fact == VIEW_FACT_COLUMN)
		*to = view_column_typed(r->columns, r->n_columns, term->column);
	else
		*to = view_column_of_fact(r->table, term->fact);
	return VIEW_UNTOUCHED;
}

void view_filter_bind(const struct view_filter *f, struct view_rows *r)
{
	g_array_set_size(r->internal->bound, f->n_terms);
	view_filter_wants(f, bind_term, r);
}

static const struct column *bound_column(const struct judged *j, const struct view_node *term)
{
	return g_array_index(j->rows->internal->bound, const struct column *, term->place);
}

static enum view_truth has_name(const struct judged *j, const struct view_node *term)
{
	const struct column *column = bound_column(j, term);
	struct value v;

	if (!column)
		return VIEW_UNTOUCHED;
	view_row_value(j->rows, j->row, column, &v);
	return truth_of(v.kind == VALUE_TEXT && text_glob(term->glob, v.text));
}

bool filter_is_wait_state(const struct view_table *table, const char *name, const char *glob)
{
	for (unsigned i = 0; table->state_name == view_wait_state && i < WAIT_STATES; i++)
		if (strcmp(wait_state_name((enum wait_state)i), name) == 0)
			return text_glob(glob, wait_state_label((enum wait_state)i));
	return false;
}

/* By either name, if it is a wait's. */
static enum view_truth is_state(const struct judged *j, const struct view_node *term)
{
	const struct column *column = bound_column(j, term);
	struct value v;

	if (!column)
		return VIEW_UNTOUCHED;
	view_row_value(j->rows, j->row, column, &v);
	return truth_of(v.kind == VALUE_TEXT &&
			(text_glob(term->glob, v.text) || filter_is_wait_state(j->rows->table, v.text, term->glob)));
}

/* By either name. */
static enum view_truth is_call(const struct judged *j, const struct view_node *term)
{
	const struct column *column = bound_column(j, term);
	const char *other;
	struct value v;

	if (!column)
		return VIEW_UNTOUCHED;
	view_row_value(j->rows, j->row, column, &v);
	other = v.kind == VALUE_TEXT ? syscall_strace_name(v.text) : NULL;
	return truth_of(v.kind == VALUE_TEXT &&
			(text_glob(term->glob, v.text) || (other && text_glob(term->glob, other))));
}

/* For rows that do not belong to a thread but contain its number. */
static enum view_truth has_number(const struct judged *j, const struct view_node *term)
{
	const struct column *column = bound_column(j, term);
	struct value v;

	if (!column)
		return VIEW_UNTOUCHED;
	view_row_value(j->rows, j->row, column, &v);
	return truth_of((v.kind == VALUE_INT || v.kind == VALUE_UINT) && v.i == term->number);
}

/* The start of the earliest trace, in reference time. */
static uint64_t begin_of(const struct view_rows *r)
{
	uint64_t begin_ns = UINT64_MAX;

	for (unsigned i = 0; i < r->n_hosts; i++)
		begin_ns = MIN(begin_ns, clock_to_ref(r->hosts[i].map, r->hosts[i].record_ns));
	return begin_ns;
}

/* A column that this table lacks or has in another unit does not affect its rows. */
static enum view_truth compares(const struct view_filter *f, const struct judged *j, const struct view_node *term)
{
	const struct column *column = bound_column(j, term);
	struct value v;
	bool holds;

	if (!column)
		return VIEW_UNTOUCHED;
	view_row_value(j->rows, j->row, column, &v);
	if (filter_compare(column, &v, term->op, term->text, column->unit == COLUMN_TIME ? begin_of(j->rows) : 0,
			   f->utc, &holds) != LT_OK)
		return VIEW_UNTOUCHED;
	return truth_of(holds);
}

/* Whether it is one of the words in a list, which are separated by blanks. */
static bool is_listed(const char *list, const char *word)
{
	const size_t len = strlen(word);

	for (const char *p = list; (p = strstr(p, word)); p += len)
		if ((p == list || p[-1] == ' ') && (p[len] == ' ' || !p[len]))
			return true;
	return false;
}

/* Independent of the columns that the user has chosen, and of the width of the screen. */
static bool is_displayed(const struct view_filter *f, const struct view_table *table, const struct column *column)
{
	return f->of_pane ? is_listed(table->screen, column->name) : column->flags & COLUMN_IN_REPORT;
}

static bool has_text(const struct view_filter *f, const struct judged *j, const char *part)
{
	const struct view_rows *r = j->rows;
	struct value v;

	for (unsigned i = 0; i < r->n_columns; i++) {
		if (r->columns[i].unit != COLUMN_TEXT || !is_displayed(f, r->table, &r->columns[i]))
			continue;
		view_row_value(r, j->row, &r->columns[i], &v);
		if (v.kind == VALUE_TEXT && text_contains(v.text, part))
			return true;
	}
	return false;
}

/* ---- threads and processes ---- */

static const struct view_index *index_of(const struct view_rows *r, unsigned host)
{
	return &r->internal->indexes[host];
}

static bool has_user(const struct view_rows *r, unsigned host, const struct thread_row *t, const struct view_node *term)
{
	const struct view_host *h = &r->hosts[host];
	const struct interval_row *main = h->iv ? view_main_of(index_of(r, host), h->iv, t) : NULL;

	return view_term_has_user(term, h, t, main ? INTERVAL_ROW(thread, main) : NULL);
}

static bool thread_is(const struct view_rows *r, unsigned host, const struct thread_row *t,
		      const struct view_node *term)
{
	switch ((enum view_fact)term->fact) {
	case VIEW_FACT_TID:
		return t->tid == (uint64_t)term->number;
	case VIEW_FACT_PID:
		return t->pid == (uint64_t)term->number;
	case VIEW_FACT_COMM:
		return text_glob(term->glob, strpool_text((strid)t->comm));
	case VIEW_FACT_USER:
		return has_user(r, host, t, term);
	default:
		return view_term_has_place(term, index_of(r, host), t);
	}
}

/*
 * Whether the process at one end of a row, on any host, matches. Nothing was looked up for hosts that are filtered out.
 */
static bool end_is(const struct view_filter *f, const struct view_rows *r, const struct view_end *end,
		   const struct view_node *term)
{
	const struct view_host *host;
	const struct interval_row *thread;

	if (term->fact == VIEW_FACT_PID)
		return end->pid == (uint64_t)term->number;
	if (term->fact == VIEW_FACT_COMM)
		return text_glob(term->glob, strpool_text(end->comm));
	if (end->host == VIEW_NO_HOST || !view_filter_host(f, r->hosts[end->host].name))
		return false;
	host = &r->hosts[end->host];
	thread = host->iv ? view_main_thread(index_of(r, end->host), host->iv, end->pid) : NULL;
	return thread && thread_is(r, end->host, INTERVAL_ROW(thread, thread), term);
}

/* True if either of the two processes matches. */
static enum view_truth ends_are(const struct view_filter *f, const struct judged *j, const struct view_node *term)
{
	const struct view_rows *r = j->rows;
	struct view_end end;

	if (term->fact == VIEW_FACT_TID)
		return VIEW_UNTOUCHED;
	for (int to = 0; to < 2; to++)
		if ((r->table->source == TABLE_RELATION ? view_relation_end(r, j->row, to, &end)
							: view_account_end(j->row, to, &end)) &&
		    end_is(f, r, &end, term))
			return VIEW_YES;
	return VIEW_NO;
}

/* The tids of a file's row are those of all threads that use its fd table. */
static bool file_is(const struct judged *j, const struct interval_row *thread, const struct view_node *term)
{
	const struct file_row *file = INTERVAL_ROW(file, &j->row->row);
	const struct view_index *index = index_of(j->rows, j->row->key.host);

	switch ((enum view_fact)term->fact) {
	case VIEW_FACT_TID:
		return view_file_has_tid(index, file->files_id, (uint64_t)term->number);
	case VIEW_FACT_PID:
		return file->pid == (uint64_t)term->number;
	case VIEW_FACT_TREE:
		return view_term_has_process(term, index, file->pid);
	default:
		return thread && thread_is(j->rows, j->row->key.host, INTERVAL_ROW(thread, thread), term);
	}
}

static enum view_truth is_about(const struct view_filter *f, const struct judged *j, const struct view_node *term)
{
	const struct view_table *table = j->rows->table;
	const struct interval_row *thread;
	enum view_truth truth = table->term ? table->term(j->rows, j->row, term) : VIEW_UNTOUCHED;

	if (truth != VIEW_UNTOUCHED)
		return truth;
	if (table->source == TABLE_RELATION || table->supply.needs & VIEW_ACCOUNTS)
		return ends_are(f, j, term);
	if (!view_table_of_threads(table) && bound_column(j, term))
		return term->fact == VIEW_FACT_COMM ? has_name(j, term) : has_number(j, term);
	if (!view_table_of_processes(table))
		return VIEW_UNTOUCHED;
	thread = view_row_thread(j->rows, j->row);
	if (table->source == TABLE_FILE)
		return truth_of(file_is(j, thread, term));
	return truth_of(thread && thread_is(j->rows, j->row->key.host, INTERVAL_ROW(thread, thread), term));
}

/* ---- rows ---- */

bool view_rows_have_term(const struct view_rows *r, const struct view_node *term)
{
	const struct column *column;

	if (term->fact == VIEW_FACT_TEXT)
		return true;
	if (term->fact != VIEW_FACT_COLUMN)
		return view_table_has_fact(r->table, term->fact);
	column = view_column_typed(r->columns, r->n_columns, term->column);
	/* sums have other columns than the rows that are filtered */
	if (!column)
		column = view_column_typed(r->table->columns, r->table->n_columns, term->column);
	return column && filter_can_compare(column, term->text);
}

struct wanted_row {
	const struct view_filter *f;
	struct judged j;
};

static enum view_truth row_term(void *data, const struct view_node *term)
{
	const struct wanted_row *w = data;

	switch ((enum view_fact)term->fact) {
	case VIEW_FACT_HOST:
		return truth_of(text_glob(term->glob, view_row_host_name(w->j.rows, w->j.row)));
	case VIEW_FACT_CALL:
		return is_call(&w->j, term);
	case VIEW_FACT_STATE:
		return is_state(&w->j, term);
	case VIEW_FACT_FILE:
	case VIEW_FACT_PEER:
		return has_name(&w->j, term);
	case VIEW_FACT_COLUMN:
		return compares(w->f, &w->j, term);
	case VIEW_FACT_TEXT:
		return truth_of(has_text(w->f, &w->j, term->text));
	default:
		return is_about(w->f, &w->j, term);
	}
}

bool view_filter_row(const struct view_filter *f, const struct view_rows *r, const struct view_row *row)
{
	struct wanted_row wanted = { f, { r, row } };

	if (f->files_id && r->table->source == TABLE_FILE && INTERVAL_ROW(file, &row->row)->files_id != f->files_id)
		return false;
	return view_filter_wants(f, row_term, &wanted);
}
