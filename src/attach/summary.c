/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/summary.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nstime.h"

struct counts {
	strid name;
	const char *shown; /* as in strace */
	uint64_t calls, errors;
	uint64_t wall_ns;        /* of calls with a known entry: from entry to exit */
	uint64_t cpu_ns;         /* of wall_ns, on a CPU */
	uint64_t min_ns, max_ns; /* the shortest and the longest of these calls */
	uint64_t timed;          /* number of these calls */
};

enum summary_column {
	COLUMN_SHARE,
	COLUMN_TOTAL,
	COLUMN_CPU,
	COLUMN_MIN,
	COLUMN_MAX,
	COLUMN_AVERAGE,
	COLUMN_CALLS,
	COLUMN_ERRORS,
	COLUMN_NAME,
	COLUMNS,
	COLUMN_NONE = COLUMNS, /* no order */
};

/* strace's names for the columns, and the headers it prints. */
static const struct {
	const char *names; /* separated by blanks, ours first */
	const char *head;
	int width;
} columns[COLUMNS] = {
	[COLUMN_SHARE] = { "time-percent time", "% time", 6 },
	[COLUMN_TOTAL] = { "total-time time-total time_total wall seconds", "seconds", 11 },
	[COLUMN_CPU] = { "cpu", "cpu", 11 },
	[COLUMN_MIN] = { "min-time time-min time_min shortest", "shortest", 11 },
	[COLUMN_MAX] = { "max-time time-max time_max longest", "longest", 11 },
	[COLUMN_AVERAGE] = { "avg-time time-avg time_avg", "usecs/call", 11 },
	[COLUMN_CALLS] = { "calls count", "calls", 9 },
	[COLUMN_ERRORS] = { "errors error", "errors", 9 },
	[COLUMN_NAME] = { "name syscall syscall-name syscall_name", "syscall", -16 },
};

static const enum summary_column usual[] = {
	COLUMN_SHARE, COLUMN_TOTAL, COLUMN_CPU, COLUMN_AVERAGE, COLUMN_CALLS, COLUMN_ERRORS, COLUMN_NAME,
};

struct attach_summary {
	GHashTable *calls; /* strid → struct counts */
	enum summary_column sort;
	enum summary_column shown[COLUMNS];
	unsigned n_shown;
};

struct attach_summary *attach_summary_create(void)
{
	struct attach_summary *s = g_new0(struct attach_summary, 1);

	s->calls = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	s->sort = COLUMN_TOTAL;
	memcpy(s->shown, usual, sizeof(usual));
	s->n_shown = G_N_ELEMENTS(usual);
	return s;
}

void attach_summary_destroy(struct attach_summary *s)
{
	if (!s)
		return;
	g_hash_table_destroy(s->calls);
	g_free(s);
}

/* COLUMN_NONE: there is no such column. */
static enum summary_column find_column(const char *name)
{
	enum summary_column found = COLUMN_NONE;

	for (unsigned i = 0; i < COLUMNS && found == COLUMN_NONE; i++) {
		char **names = g_strsplit(columns[i].names, " ", -1);

		if (g_strv_contains((const char *const *)names, name))
			found = (enum summary_column)i;
		g_strfreev(names);
	}
	return found;
}

enum lt_status attach_summary_set_sort(struct attach_summary *s, const char *column)
{
	s->sort = find_column(column);
	if (s->sort != COLUMN_NONE || strcmp(column, "none") == 0 || strcmp(column, "nothing") == 0)
		return LT_OK;
	return error_set(
		"unknown column '%s': use time, cpu, min-time, max-time, avg-time, calls, errors, name or none",
		column);
}

static bool is_shown(const struct attach_summary *s, enum summary_column column)
{
	for (unsigned i = 0; i < s->n_shown; i++)
		if (s->shown[i] == column)
			return true;
	return false;
}

/* LT_ERROR: there is no such column, or it is already shown. */
static enum lt_status show_column(struct attach_summary *s, const char *name)
{
	const enum summary_column column = find_column(name);

	if (column == COLUMN_NONE)
		return error_set(
			"unknown column '%s': use time-percent, total-time, cpu, min-time, max-time, avg-time, "
			"calls, errors and name",
			name);
	if (is_shown(s, column))
		return error_set("column '%s' is given twice", name);
	s->shown[s->n_shown++] = column;
	return LT_OK;
}

enum lt_status attach_summary_set_columns(struct attach_summary *s, const char *list)
{
	char **names = g_strsplit(list, ",", -1);
	enum lt_status status = LT_OK;

	s->n_shown = 0;
	if (!*names)
		status = show_column(s, "");
	for (char **name = names; *name && status == LT_OK; name++)
		status = show_column(s, *name);
	if (!is_shown(s, COLUMN_NAME) && status == LT_OK)
		s->shown[s->n_shown++] = COLUMN_NAME;
	g_strfreev(names);
	return status;
}

void attach_summary_add(struct attach_summary *s, const struct attach_record *r)
{
	struct counts *c;

	if (r->kind != ATTACH_EXIT || !(r->status & (CALL_SUCCESSFUL | CALL_FAILED)))
		return;
	c = g_hash_table_lookup(s->calls, GUINT_TO_POINTER(r->name));
	if (!c) {
		c = g_new0(struct counts, 1);
		c->name = r->name;
		c->shown = attach_call_name(r);
		g_hash_table_insert(s->calls, GUINT_TO_POINTER(r->name), c);
	}
	c->calls++;
	c->errors += r->status == CALL_FAILED;
	if (!r->has_entry)
		return;
	c->min_ns = c->timed ? MIN(c->min_ns, r->duration_ns) : r->duration_ns;
	c->max_ns = MAX(c->max_ns, r->duration_ns);
	c->timed++;
	c->wall_ns += r->duration_ns;
	c->cpu_ns += r->duration_ns - MIN(r->off_ns, r->duration_ns);
}

static uint64_t average(const struct counts *c)
{
	return c->timed ? c->wall_ns / c->timed : 0;
}

static uint64_t key_of(const struct counts *c, enum summary_column sort)
{
	switch (sort) {
	case COLUMN_SHARE:
	case COLUMN_TOTAL:
		return c->wall_ns;
	case COLUMN_CPU:
		return c->cpu_ns;
	case COLUMN_MIN:
		return c->min_ns;
	case COLUMN_MAX:
		return c->max_ns;
	case COLUMN_CALLS:
		return c->calls;
	case COLUMN_ERRORS:
		return c->errors;
	case COLUMN_AVERAGE:
		return average(c);
	default:
		return 0;
	}
}

static int compare(const void *a, const void *b, void *user)
{
	const struct counts *x = *(struct counts *const *)a, *y = *(struct counts *const *)b;
	const enum summary_column sort = *(const enum summary_column *)user;
	const uint64_t i = key_of(x, sort), j = key_of(y, sort);

	if (i != j)
		return i > j ? -1 : 1;
	return strcmp(x->shown, y->shown);
}

/* All calls, sorted, and their sum. The caller frees the array. */
static GPtrArray *rows_of(struct attach_summary *s, struct counts *total)
{
	GPtrArray *rows = g_ptr_array_new();
	GHashTableIter iter;
	gpointer data;

	*total = (struct counts){ 0 };
	g_hash_table_iter_init(&iter, s->calls);
	while (g_hash_table_iter_next(&iter, NULL, &data)) {
		const struct counts *c = data;

		g_ptr_array_add(rows, data);
		total->calls += c->calls;
		total->errors += c->errors;
		total->wall_ns += c->wall_ns;
		total->cpu_ns += c->cpu_ns;
		if (c->timed)
			total->min_ns = total->timed ? MIN(total->min_ns, c->min_ns) : c->min_ns;
		total->max_ns = MAX(total->max_ns, c->max_ns);
		total->timed += c->timed;
	}
	g_ptr_array_sort_with_data(rows, compare, &s->sort);
	return rows;
}

/* The text of a column in a call's row; all_ns: total of all calls. The caller frees it. */
static char *cell_of(const struct counts *c, enum summary_column column, uint64_t all_ns, const char *name)
{
	switch (column) {
	case COLUMN_SHARE:
		return g_strdup_printf("%.2f", all_ns ? 100.0 * (double)c->wall_ns / (double)all_ns : 0);
	case COLUMN_AVERAGE:
		return g_strdup_printf("%" PRIu64, average(c) / NS_PER_US);
	case COLUMN_CALLS:
		return g_strdup_printf("%" PRIu64, c->calls);
	case COLUMN_ERRORS:
		return c->errors ? g_strdup_printf("%" PRIu64, c->errors) : g_strdup("");
	case COLUMN_NAME:
		return g_strdup(name);
	default:
		return g_strdup_printf("%.6f", (double)key_of(c, column) / (double)NS_PER_S);
	}
}

/* Writes a line of the table; c NULL: the header. The last column takes the room it needs. */
static void write_row(const struct attach_summary *s, FILE *out, const struct counts *c, uint64_t all_ns,
		      const char *name)
{
	for (unsigned i = 0; i < s->n_shown; i++) {
		const bool last = i + 1 == s->n_shown;
		const int width = columns[s->shown[i]].width;
		char *cell = c ? cell_of(c, s->shown[i], all_ns, name) : g_strdup(columns[s->shown[i]].head);

		fprintf(out, "%s%*s", i ? " " : "", last && width < 0 ? 0 : width, cell);
		g_free(cell);
	}
	fputc('\n', out);
}

static void write_rule(const struct attach_summary *s, FILE *out)
{
	for (unsigned i = 0; i < s->n_shown; i++) {
		fputs(i ? " " : "", out);
		for (int k = abs(columns[s->shown[i]].width); k; k--)
			fputc('-', out);
	}
	fputc('\n', out);
}

void attach_summary_write(struct attach_summary *s, FILE *out)
{
	struct counts total;
	GPtrArray *rows = rows_of(s, &total);

	write_row(s, out, NULL, 0, NULL);
	write_rule(s, out);
	for (guint i = 0; i < rows->len; i++) {
		const struct counts *c = g_ptr_array_index(rows, i);

		write_row(s, out, c, total.wall_ns, c->shown);
	}
	write_rule(s, out);
	write_row(s, out, &total, total.wall_ns, "total");
	g_ptr_array_free(rows, TRUE);
}

/* null if no call's duration is known: each began before the recording or ended after it. */
static json_t *known(const struct counts *c, uint64_t ns)
{
	return c->timed ? json_integer((json_int_t)ns) : json_null();
}

void attach_summary_write_json(struct attach_summary *s, FILE *out)
{
	struct counts total;
	GPtrArray *rows = rows_of(s, &total);
	json_t *list = json_array(), *o;

	for (guint i = 0; i < rows->len; i++) {
		const struct counts *c = g_ptr_array_index(rows, i);

		o = json_pack("{s:s, s:I, s:I, s:I, s:I, s:o, s:o}", "name", strpool_text(c->name), "calls",
			      (json_int_t)c->calls, "errors", (json_int_t)c->errors, "total_ns", (json_int_t)c->wall_ns,
			      "cpu_ns", (json_int_t)c->cpu_ns, "min_ns", known(c, c->min_ns), "max_ns",
			      known(c, c->max_ns));
		json_array_append_new(list, o);
	}
	o = json_pack("{s:s, s:o}", "event", "summary", "calls", list);
	json_dumpf(o, out, JSON_COMPACT);
	fputc('\n', out);
	json_decref(o);
	g_ptr_array_free(rows, TRUE);
}
