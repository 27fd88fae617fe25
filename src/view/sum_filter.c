/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The filter that holds for the rows of a sum, as text. */
#include <string.h>

#include "base/error.h"
#include "view/internal.h"
#include "view/sum.h"

/* Compares a column of the table, which the filter finds by its name. */
#define COLUMN_IS "="

/* What stands before the value that the rows have in common. NULL: not a term of its own. */
static const char *const terms[VIEW_SUMS] = {
	[VIEW_SUM_THREAD] = "tid:",  [VIEW_SUM_PROCESS] = "pid:",
	[VIEW_SUM_COMM] = COLUMN_IS, /* "comm:" also finds parts of names */
	[VIEW_SUM_USER] = "user:",   [VIEW_SUM_CONTAINER] = "container:",
	[VIEW_SUM_FILE] = COLUMN_IS, [VIEW_SUM_CALL] = "call:",
	[VIEW_SUM_PEER] = COLUMN_IS,
};

/* Its own terms also hold for rows whose other process matches. */
static const char *term_of(const struct view_table *table, enum view_sum by)
{
	if (!(table->supply.needs & VIEW_ACCOUNTS))
		return terms[by];
	return by == VIEW_SUM_PROCESS || by == VIEW_SUM_COMM ? COLUMN_IS : NULL;
}

static enum lt_status add_common(GString *out, const struct view_rows *sums, unsigned row, enum view_sum by)
{
	const struct column *column = &sums->columns[1];
	const char *term = term_of(sums->table, by);
	struct value v;

	if (!term)
		return error_set("no filter finds the rows of one %s here", view_sum_name(by));
	view_rows_value(sums, row, column, &v);
	if (v.kind == VALUE_NULL && by == VIEW_SUM_CONTAINER) {
		g_string_append_printf(out, "%s%s", term, VIEW_HOST_NAME);
		return LT_OK;
	}
	if (v.kind == VALUE_NULL && column->unit != COLUMN_TEXT)
		return error_set("no filter finds rows of an unknown %s", view_sum_name(by));
	g_string_append_printf(out, "%s%s%s", v.kind == VALUE_NULL ? "!" : "",
			       strcmp(term, COLUMN_IS) == 0 ? column->name : "", term);
	if (v.kind == VALUE_NULL)
		g_string_append_c(out, '*');
	else if (v.kind != VALUE_TEXT)
		g_string_append_printf(out, "%" G_GINT64_FORMAT, (gint64)v.i);
	else
		return by == VIEW_SUM_CONTAINER ? filter_put_container(out, v.text)
						: filter_put_text(out, v.text, true);
	return LT_OK;
}

char *view_sum_filter(const struct view_rows *sums, unsigned row, enum view_sum by, bool many_hosts)
{
	GString *out = g_string_new(NULL);
	enum lt_status status = LT_OK;

	if (by != VIEW_SUM_ALL && by != VIEW_SUM_HOST)
		status = add_common(out, sums, row, by);
	if (status == LT_OK && (by == VIEW_SUM_HOST || (many_hosts && by != VIEW_SUM_ALL))) {
		g_string_append_printf(out, "%shost=", out->len ? " " : "");
		status = filter_put_text(out, view_row_host_name(sums, &sums->rows[row]), true);
	}
	return g_string_free(out, status != LT_OK);
}
