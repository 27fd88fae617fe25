/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lttngtop report: percentiles, histograms and individual durations, which are only computed on request. */
#include <string.h>

#include "base/error.h"
#include "base/timetext.h"
#include "cmd/report.h"
#include "model/buckets.h"

/* Whether the column belongs to that distribution: "slice" has the cells slice.count … */
static bool is_of(const struct view_table *table, const struct column *column, const char *what)
{
	const char *cell = table_descs[table->source].cells[column->cell].name;
	const size_t len = strlen(what);

	return strncmp(cell, what, len) == 0 && strcmp(cell + len, ".count") == 0;
}

/* The histogram of distribution --of, by default the table's main one. */
static enum lt_status find_histogram(const struct report *r, const struct column **histogram)
{
	const char *option = r->options->instances ? "--log" : "--freq", *what = r->options->of;
	const struct view_table *table = r->table;
	bool any = false;

	for (unsigned i = 0; i < table->n_columns; i++) {
		*histogram = &table->columns[i];
		if ((*histogram)->unit != COLUMN_HISTOGRAM)
			continue;
		if (!what || is_of(table, *histogram, what))
			return LT_OK;
		any = true;
	}
	if (any)
		return error_set("option '--of': table '%s' has no distribution '%s'", table->name, what);
	return error_set("%s does not apply to table '%s'", option, table->name);
}

/* Reads the durations given with --min; other values are about columns. */
static enum lt_status read_min(struct report *r)
{
	for (guint i = 0; i < r->options->min->len; i++) {
		const char *text = g_ptr_array_index(r->options->min, i);

		if (!strchr(text, '=') && timetext_parse_duration(text, &r->log_min_ns) != LT_OK)
			return error_wrap("option '--min'");
	}
	return LT_OK;
}

enum lt_status report_choose_log(struct report *r)
{
	const struct options *o = r->options;
	const struct column *histogram;

	if (o->instances && o->freq)
		return error_set("--log and --freq cannot be used together");
	if (o->of && !o->instances && !o->freq)
		return error_set("--of needs --freq or --log");
	if (!o->instances)
		return LT_OK;
	if (find_histogram(r, &histogram) != LT_OK || read_min(r) != LT_OK)
		return LT_ERROR;
	r->log_dist = bucket_dist((enum table_id)r->table->source, histogram->cell);
	r->needs = r->table;
	r->table = view_table_find(REPORT_INSTANCES);
	return LT_OK;
}

enum lt_status report_choose_spread(struct report *r)
{
	const struct column *histogram;

	if (r->options->freq) {
		if (find_histogram(r, &histogram) != LT_OK)
			return LT_ERROR;
		r->columns = g_renew(const struct column *, r->columns, r->n_columns + 1);
		r->columns[r->n_columns++] = histogram;
	}
	for (unsigned i = 0; i < r->n_columns; i++)
		r->query.spread |= r->columns[i]->flags & COLUMN_SPREAD;
	if (r->query.sort)
		r->query.spread |= r->query.sort->flags & COLUMN_SPREAD;
	return LT_OK;
}
