/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/summary.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/error.h"

struct counts {
	strid name;
	uint64_t calls, errors;
	uint64_t wall_ns; /* of calls whose entry was seen: from entry to exit */
	uint64_t cpu_ns;  /* of that, on a CPU */
	uint64_t timed;   /* calls of which these are */
};

enum sort_key { SORT_WALL, SORT_CPU, SORT_CALLS, SORT_ERRORS, SORT_AVERAGE, SORT_NAME, SORT_NOTHING };

struct attach_summary {
	GHashTable *calls; /* strid → struct counts */
	enum sort_key sort;
};

/* As strace calls its columns, too. */
static const struct {
	const char *name;
	enum sort_key key;
} sorts[] = {
	{ "time", SORT_WALL },        { "wall", SORT_WALL },       { "time-total", SORT_WALL },
	{ "total-time", SORT_WALL },  { "seconds", SORT_WALL },    { "cpu", SORT_CPU },
	{ "calls", SORT_CALLS },      { "count", SORT_CALLS },     { "errors", SORT_ERRORS },
	{ "error", SORT_ERRORS },     { "avg-time", SORT_AVERAGE }, { "time-avg", SORT_AVERAGE },
	{ "name", SORT_NAME },        { "syscall", SORT_NAME },    { "syscall-name", SORT_NAME },
	{ "nothing", SORT_NOTHING },  { "none", SORT_NOTHING },
};

struct attach_summary *attach_summary_create(void)
{
	struct attach_summary *s = g_new0(struct attach_summary, 1);

	s->calls = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	return s;
}

void attach_summary_destroy(struct attach_summary *s)
{
	if (!s)
		return;
	g_hash_table_destroy(s->calls);
	g_free(s);
}

enum lt_status attach_summary_set_sort(struct attach_summary *s, const char *column)
{
	for (size_t i = 0; i < G_N_ELEMENTS(sorts); i++) {
		if (strcmp(sorts[i].name, column) != 0)
			continue;
		s->sort = sorts[i].key;
		return LT_OK;
	}
	return error_set("no column '%s': use time, cpu, calls, errors, avg-time, name or none", column);
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
		g_hash_table_insert(s->calls, GUINT_TO_POINTER(r->name), c);
	}
	c->calls++;
	c->errors += r->status == CALL_FAILED;
	if (!r->has_entry)
		return;
	c->timed++;
	c->wall_ns += r->duration_ns;
	c->cpu_ns += r->duration_ns - MIN(r->off_ns, r->duration_ns);
}

static uint64_t average(const struct counts *c)
{
	return c->timed ? c->wall_ns / c->timed : 0;
}

static uint64_t key_of(const struct counts *c, enum sort_key sort)
{
	switch (sort) {
	case SORT_WALL:
		return c->wall_ns;
	case SORT_CPU:
		return c->cpu_ns;
	case SORT_CALLS:
		return c->calls;
	case SORT_ERRORS:
		return c->errors;
	case SORT_AVERAGE:
		return average(c);
	default:
		return 0;
	}
}

static int compare(const void *a, const void *b, void *user)
{
	const struct counts *x = *(struct counts *const *)a, *y = *(struct counts *const *)b;
	const enum sort_key sort = *(const enum sort_key *)user;
	const uint64_t i = key_of(x, sort), j = key_of(y, sort);

	if (i != j)
		return i > j ? -1 : 1;
	return strcmp(strpool_text(x->name), strpool_text(y->name));
}

/* All calls in their order, and their sum; the array is to be freed. */
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
		total->timed += c->timed;
	}
	g_ptr_array_sort_with_data(rows, compare, &s->sort);
	return rows;
}

static void write_row(FILE *out, const struct counts *c, uint64_t all_ns, const char *name)
{
	char errors[24] = "";

	if (c->errors)
		g_snprintf(errors, sizeof(errors), "%" PRIu64, c->errors);
	fprintf(out, "%6.2f %11.6f %11.6f %11" PRIu64 " %9" PRIu64 " %9s %s\n",
		all_ns ? 100.0 * (double)c->wall_ns / (double)all_ns : 0, (double)c->wall_ns / 1e9,
		(double)c->cpu_ns / 1e9, average(c) / 1000, c->calls, errors, name);
}

static const char rule[] = "------ ----------- ----------- ----------- --------- --------- ----------------\n";

void attach_summary_write(struct attach_summary *s, FILE *out)
{
	struct counts total;
	GPtrArray *rows = rows_of(s, &total);

	fprintf(out, "%% time     seconds         cpu  usecs/call     calls    errors syscall\n%s", rule);
	for (guint i = 0; i < rows->len; i++) {
		const struct counts *c = g_ptr_array_index(rows, i);

		write_row(out, c, total.wall_ns, strpool_text(c->name));
	}
	fputs(rule, out);
	write_row(out, &total, total.wall_ns, "total");
	g_ptr_array_free(rows, TRUE);
}

void attach_summary_write_json(struct attach_summary *s, FILE *out)
{
	struct counts total;
	GPtrArray *rows = rows_of(s, &total);
	json_t *list = json_array(), *o;

	for (guint i = 0; i < rows->len; i++) {
		const struct counts *c = g_ptr_array_index(rows, i);

		o = json_pack("{s:s, s:I, s:I, s:I, s:I}", "name", strpool_text(c->name), "calls", (json_int_t)c->calls,
			      "errors", (json_int_t)c->errors, "total_ns", (json_int_t)c->wall_ns, "cpu_ns",
			      (json_int_t)c->cpu_ns);
		json_array_append_new(list, o);
	}
	o = json_pack("{s:s, s:o}", "event", "summary", "calls", list);
	json_dumpf(o, out, JSON_COMPACT);
	fputc('\n', out);
	json_decref(o);
	g_ptr_array_free(rows, TRUE);
}
