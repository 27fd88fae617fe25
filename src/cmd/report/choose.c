/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lttngtop report: selects the rows of the table, their order, and the columns. */
#include <string.h>

#include "base/error.h"
#include "base/similar.h"
#include "base/timetext.h"
#include "cmd/report/report.h"

/* Of the table or, with --sum-by, of its sums. */
static const struct column *all_columns(const struct report *r, unsigned *n)
{
	*n = r->sum_columns ? r->sum_columns->len : r->table->n_columns;
	return r->sum_columns ? (const struct column *)(const void *)r->sum_columns->data : r->table->columns;
}

/* LT_ERROR: there is no such column. */
static enum lt_status find_column(const struct report *r, const char *name, const struct column **column)
{
	struct similar s = { .word = name };
	unsigned n;
	const struct column *columns = all_columns(r, &n);

	*column = view_column_typed(columns, n, name);
	if (*column)
		return LT_OK;
	for (unsigned i = 0; i < n; i++)
		view_column_offer(&s, &columns[i]);
	if (r->sum_columns)
		return error_set("a sum of table '%s' has no column '%s'%s", r->table->name, name,
				 similar_hint(&s, ""));
	return error_set("table '%s' has no column '%s'%s", r->table->name, name, similar_hint(&s, ""));
}

static void add_column(struct report *r, const struct column *column)
{
	r->columns = g_renew(const struct column *, r->columns, r->n_columns + 1);
	r->columns[r->n_columns++] = column;
}

/* A column that the user names, as typed. Its second time would give JSON objects two members of one name. */
static enum lt_status add_named(struct report *r, const struct column *column, const char *name)
{
	for (unsigned i = 0; i < r->n_columns; i++)
		if (strcmp(r->columns[i]->name, column->name) == 0)
			return error_set("column '%s' is given twice", name);
	add_column(r, column);
	return LT_OK;
}

/* "cpu_ns%": the row's share of the host's sum. */
static enum lt_status add_share(struct report *r, const char *name)
{
	char *of = g_strndup(name, strlen(name) - 1);
	const struct column *column;
	struct view_share *share = NULL;
	enum lt_status status = find_column(r, of, &column);

	if (status == LT_OK)
		share = view_share_create(column);
	if (share) {
		g_ptr_array_add(r->shares, share);
		status = add_named(r, &share->column, name);
	} else if (status == LT_OK) {
		status = error_set("column '%s' has no shares: its values %s", column->name,
				   column->flags & COLUMN_SIGNED ? "may be negative" : "cannot be summed");
	}
	g_free(of);
	return status;
}

/* "cpu_ns%", as opposed to a heading such as "CPU%". */
static bool is_share(const struct report *r, const char *name)
{
	const size_t len = strlen(name);
	unsigned n;
	const struct column *columns = all_columns(r, &n);
	char *of = g_strndup(name, len - (len > 0));
	const bool named = view_column_named(columns, n, of);

	g_free(of);
	return g_str_has_suffix(name, "%") && (named || !view_column_typed(columns, n, name));
}

static enum lt_status choose_columns(struct report *r, const char *list)
{
	char **names = g_strsplit(list, ",", -1);
	const struct column *column;
	enum lt_status status = *list ? LT_OK : find_column(r, list, &column);

	for (char **name = names; *name && status == LT_OK; name++) {
		if (is_share(r, *name)) {
			status = add_share(r, *name);
			continue;
		}
		status = find_column(r, *name, &column);
		if (status == LT_OK)
			status = add_named(r, column, *name);
		if (status == LT_OK)
			g_ptr_array_add(r->figures, (void *)column);
	}
	g_strfreev(names);
	return status ? error_wrap("option '--columns'") : LT_OK;
}

static enum lt_status choose_order(struct report *r, const char *name)
{
	r->query.reverse = name[0] == '-';
	if (find_column(r, name + r->query.reverse, &r->query.sort) != LT_OK)
		return error_wrap("option '--sort'");
	return LT_OK;
}

/*
 * People want the most important rows first; programs rely on the order of the keys. Panes are often sorted by a rate
 * or percentage: for a whole trace the underlying figure is used.
 */
static void set_order_of_text(struct report *r)
{
	const struct view_table *table = r->table;
	const struct column *of_pane = view_column_find(table->columns, table->n_columns, table->sort);
	unsigned n;
	const struct column *columns = all_columns(r, &n);

	if (of_pane && column_is_figure(of_pane)) {
		if (of_pane->flags & COLUMN_IN_REPORT)
			r->query.sort = view_column_find(columns, n, of_pane->name);
		for (unsigned i = 0; i < n && !r->query.sort; i++)
			if (columns[i].flags & COLUMN_IN_REPORT && column_is_figure(&columns[i]) &&
			    columns[i].cells == of_pane->cells && columns[i].cell == of_pane->cell)
				r->query.sort = &columns[i];
	}
	/* sums of what a pane shows in order of time */
	for (unsigned i = 0; r->sum_columns && i < n && !r->query.sort; i++)
		if (columns[i].flags & COLUMN_COUNTER && column_adds_up(&columns[i]) &&
		    view_column_find(table->columns, table->n_columns, columns[i].name))
			r->query.sort = &columns[i];
}

/* Tables whose rows concern two hosts apply these options themselves. */
static struct view_filter *filter_of_rows(struct report *r)
{
	return r->table->supply.of_two ? &r->rows_filter : &r->filter;
}

/* With --sum-by they select sums. */
static enum lt_status add_limit(struct report *r, const char *name, enum view_operator op, const char *value)
{
	struct view_filter *f = r->sum_columns ? &r->having : filter_of_rows(r);
	const struct column *column;
	const struct column *columns;
	unsigned n;

	if (find_column(r, name, &column) != LT_OK)
		return LT_ERROR;
	columns = all_columns(r, &n);
	return view_filter_add_comparison(f, columns, n, name, op, value);
}

static enum lt_status add_limits(struct report *r, const char *option, const GPtrArray *limits, enum view_operator op)
{
	uint64_t longest_ns;

	for (guint i = 0; i < limits->len; i++) {
		const char *text = g_ptr_array_index(limits, i), *sign = strchr(text, '=');
		char *name;
		enum lt_status status;

		if (!sign && r->options->instances && limits == r->options->min)
			continue; /* a duration, see spread.c */
		if (!sign && r->options->instances) {
			if (timetext_parse_duration(text, &longest_ns) != LT_OK ||
			    add_limit(r, "length_ns", op, text) != LT_OK)
				return error_wrap("option '%s'", option);
			continue;
		}
		if (!sign)
			return error_set("option '%s': '%s' is not of the form COLUMN=VALUE", option, text);
		name = g_strndup(text, (gsize)(sign - text));
		status = add_limit(r, name, op, sign + 1);
		g_free(name);
		if (status != LT_OK)
			return error_wrap("option '%s'", option);
	}
	return LT_OK;
}

static enum lt_status choose_rows(struct report *r)
{
	const struct options *o = r->options;

	filter_of_rows(r)->utc = o->utc;
	r->query.filter = filter_of_rows(r);
	for (guint i = 0; i < o->where->len; i++)
		if (view_filter_parse(filter_of_rows(r), g_ptr_array_index(o->where, i), r->table) != LT_OK)
			return error_wrap("option '--where'");
	if (add_limits(r, "--min", o->min, VIEW_AT_LEAST) != LT_OK)
		return LT_ERROR;
	return add_limits(r, "--max", o->max, VIEW_AT_MOST);
}

enum lt_status report_choose(struct report *r)
{
	const struct options *o = r->options;
	const struct column *columns;
	unsigned n;

	for (guint i = 0; i < o->host->len; i++)
		view_filter_add_host(&r->filter, g_ptr_array_index(o->host, i));
	for (guint i = 0; i < o->comm->len; i++)
		view_filter_add_comm(&r->filter, g_ptr_array_index(o->comm, i));
	for (guint i = 0; i < o->tid->len; i++)
		view_filter_add_tid(&r->filter, g_array_index(o->tid, int32_t, i));
	for (guint i = 0; i < o->pid->len; i++)
		view_filter_add_pid(&r->filter, g_array_index(o->pid, int32_t, i));
	r->query.table = r->table;
	r->query.per_cpu = o->per_cpu;
	r->query.limit = o->limit;
	if (o->sum_by && view_sum_find(o->sum_by, r->table, &r->query.sum_by) != LT_OK)
		return error_wrap("option '--sum-by'");
	if (o->sum_by) {
		r->sum_columns = view_sum_columns(r->table, r->query.sum_by);
		r->query.having = &r->having;
	}
	if (choose_rows(r) != LT_OK)
		return LT_ERROR;
	if (!o->json && !o->csv && !o->dot)
		set_order_of_text(r);
	if (o->sort && choose_order(r, o->sort) != LT_OK)
		return LT_ERROR;
	if (o->report_columns)
		return choose_columns(r, o->report_columns);
	columns = all_columns(r, &n);
	for (unsigned i = 0; i < n; i++)
		if (columns[i].flags & COLUMN_IN_REPORT)
			add_column(r, &columns[i]);
	return LT_OK;
}

enum lt_status report_refuse_choice(const struct options *o, const char *what)
{
	const struct {
		const char *name;
		bool given;
	} options[] = {
		{ "--min", o->min->len },  { "--max", o->max->len },
		{ "--sum-by", o->sum_by }, { "--sort", o->sort },
		{ "--freq", o->freq },     { "--log", o->instances },
		{ "--of", o->of },         { "--columns", o->report_columns },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
		if (options[i].given)
			return error_set("%s does not apply to %s", options[i].name, what);
	return LT_OK;
}
