/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lttngtop report: percentiles, histograms and individual durations, which are only computed on request. */
#include <string.h>

#include "base/error.h"
#include "base/map64.h"
#include "base/timetext.h"
#include "cmd/report/report.h"
#include "model/buckets.h"

/* Whether the column belongs to that distribution: "slice" has the cells slice.count … */
static bool is_of(const struct column *column, const char *what)
{
	const char *cell = column->cells[column->cell].name;
	const size_t len = strlen(what);

	return strncmp(cell, what, len) == 0 && strcmp(cell + len, ".count") == 0;
}

char *report_spread_tables(bool log)
{
	const char *names[64];
	unsigned n = 0;
	GString *s = g_string_new(NULL);

	for (unsigned i = 0; i < view_table_count() && n < G_N_ELEMENTS(names); i++) {
		const struct view_table *table = view_table_get(i);

		if (table->flags & VIEW_REPORT && (log ? view_table_has_log(table) : view_table_has_freq(table)))
			names[n++] = table->name;
	}
	for (unsigned i = 0; i < n; i++)
		g_string_append_printf(s, "%s%s", i == 0 ? "" : i + 1 == n ? " and " : ", ", names[i]);
	return g_string_free(s, FALSE);
}

/* LT_ERROR: says to which tables the option applies; that --log is the name of another option elsewhere, too. */
static enum lt_status refuse_table(const struct report *r)
{
	const bool log = r->options->instances;
	char *names = report_spread_tables(log);

	error_set("%s does not apply to table '%s', only to %s%s", log ? "--log" : "--freq", r->table->name, names,
		  log ? " (messages go to a file with --log-file)" : "");
	g_free(names);
	return LT_ERROR;
}

/* A column of distribution --of, by default of the table's main one: a histogram, or another one for --log. */
static enum lt_status find_distribution(const struct report *r, const struct column **found)
{
	const char *what = r->options->of;
	const struct view_table *table = r->table;
	bool any = false;

	for (unsigned i = 0; i < table->n_columns; i++) {
		*found = &table->columns[i];
		if ((*found)->unit != COLUMN_HISTOGRAM &&
		    !(r->options->instances && view_column_is_logged(table, *found)))
			continue;
		if (!what || is_of(*found, what))
			return LT_OK;
		any = true;
	}
	if (any)
		return error_set("option '--of': table '%s' has no distribution '%s'", table->name, what);
	return refuse_table(r);
}

/* Reads the durations given with --min, all of which must be reached; other values are about columns. */
static enum lt_status read_min(struct report *r)
{
	for (guint i = 0; i < r->options->min->len; i++) {
		const char *text = g_ptr_array_index(r->options->min, i);
		uint64_t min_ns = 0;

		if (!strchr(text, '=') && timetext_parse_duration(text, &min_ns) != LT_OK)
			return error_wrap("option '--min'");
		r->log_min_ns = MAX(r->log_min_ns, min_ns);
	}
	return LT_OK;
}

/* Only waits have a call with a file: others have no such columns, so that nobody asks for them in vain. */
static struct view_table log_of(const struct view_table *needs)
{
	struct view_table table = *view_table_find(REPORT_INSTANCES);

	if (needs->source != TABLE_BLOCKING)
		table.n_columns =
			(unsigned)(view_column_find(table.columns, table.n_columns, "syscall") - table.columns);
	return table;
}

enum lt_status report_choose_log(struct report *r)
{
	const struct options *o = r->options;
	const struct column *column;

	if (o->instances && o->freq)
		return error_set("--log and --freq cannot be used together");
	if (o->instances && o->sum_by)
		return error_set("--log and --sum-by cannot be used together: a log is of single durations");
	if (o->of && !o->instances && !o->freq)
		return error_set("--of needs --freq or --log");
	if (!o->instances)
		return LT_OK;
	if (find_distribution(r, &column) != LT_OK || read_min(r) != LT_OK)
		return LT_ERROR;
	if (r->table->supply.needs & VIEW_MATCHES)
		return error_set("--log does not apply to table '%s': table 'matches' has each packet", r->table->name);
	if (!view_column_is_logged(r->table, column))
		return error_set("--log is of durations: --freq shows '%s'", o->of);
	r->log_dist = bucket_dist((enum table_id)r->table->source, column->cell);
	r->needs = r->table;
	r->log_table = log_of(r->needs);
	r->table = &r->log_table;
	return LT_OK;
}

/* ---- --log with --limit: rows that cannot be printed any more are not kept ---- */

enum { KEPT_MIN = 4096 }; /* rows, so that they are not sorted too often */

/* Whether rows are chosen and ordered by what never changes: of two rows the same one is printed first at any time. */
static bool is_settled(const struct report *r)
{
	const struct options *o = r->options;
	const struct column *sort = r->query.sort;

	for (guint i = 0; i < o->min->len; i++)
		if (strchr(g_ptr_array_index(o->min, i), '='))
			return false;
	if (o->comm->len || o->pid->len || o->where->len || o->max->len || r->query.sum_by)
		return false;
	return !sort || strcmp(sort->name, "begin_ns") == 0 || strcmp(sort->name, "length_ns") == 0;
}

static bool is_not_in(void *data, uint32_t i, const uint64_t *a, const uint64_t *b)
{
	const struct map64 *kept = data;

	(void)i;
	(void)a;
	return map64_get(kept, b[CELL(instance, uid)]) == MAP64_NONE;
}

void report_forget_instances(struct report *r, struct report_host *h)
{
	const uint32_t n = interval_ended(&h->iv, TABLE_INSTANCE);
	struct map64 kept = { 0 };
	struct view_host host;
	struct view_rows rows;

	if (!r->options->instances || !r->query.limit || n < KEPT_MIN || n / 2 < r->query.limit || !is_settled(r))
		return;
	interval_end(&h->iv, model_state(h->source->model), h->source->end_ns);
	host = r->shown[h->shown];
	host.iv = &h->iv;
	view_rows_init(&rows);
	view_rows_build(&rows, &r->query, &host, 1);
	for (unsigned i = 0; i < rows.n; i++)
		map64_put(&kept, rows.rows[i].key.uid, 0);
	interval_take_ended(&h->iv, TABLE_INSTANCE, is_not_in, &kept);
	view_rows_release(&rows);
	map64_release(&kept);
}

enum lt_status report_choose_spread(struct report *r)
{
	const struct column *histogram;

	if (r->options->freq) {
		if (find_distribution(r, &histogram) != LT_OK)
			return LT_ERROR;
		r->columns = g_renew(const struct column *, r->columns, r->n_columns + 1);
		r->columns[r->n_columns++] = histogram;
		g_ptr_array_add(r->figures, (void *)histogram);
	}
	for (unsigned i = 0; i < r->n_columns; i++)
		r->query.spread |= r->columns[i]->flags & COLUMN_SPREAD;
	if (r->query.sort)
		r->query.spread |= r->query.sort->flags & COLUMN_SPREAD;
	return LT_OK;
}
