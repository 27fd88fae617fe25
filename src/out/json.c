/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "out/internal.h"

/* Nearly every reader takes JSON integers as signed 64-bit: larger values are capped. */
static json_t *json_of_uint(uint64_t u)
{
	return json_integer((json_int_t)MIN(u, (uint64_t)INT64_MAX));
}

static json_t *json_of_buckets(const struct value *v)
{
	json_t *json = json_array();

	for (unsigned i = 0; i < v->histogram.n; i++) {
		const struct value_bucket *b = &v->histogram.buckets[i];
		json_t *bucket = json_object();

		json_object_set_new(bucket, "from", json_of_uint(b->from));
		json_object_set_new(bucket, "to", json_of_uint(b->to));
		json_object_set_new(bucket, "count", json_of_uint(b->count));
		json_array_append_new(json, bucket);
	}
	return json;
}

/* Paths may contain any bytes, JSON must be UTF-8. */
static json_t *json_of_text(const char *text)
{
	json_t *json;
	char *valid;

	if (g_utf8_validate(text, -1, NULL))
		return json_string(text);
	valid = g_utf8_make_valid(text, -1);
	json = json_string(valid);
	g_free(valid);
	return json;
}

json_t *writer_json_value(const struct value *v)
{
	json_t *json;

	switch (v->kind) {
	case VALUE_BOOL:
		return json_boolean(v->flag);
	case VALUE_INT:
		return json_integer(v->i);
	case VALUE_UINT:
		return json_of_uint(v->u);
	case VALUE_REAL:
		return json_real(v->real);
	case VALUE_TEXT:
		return json_of_text(v->text);
	case VALUE_LIST:
		json = json_array();
		for (unsigned i = 0; i < v->list.n; i++)
			json_array_append_new(json, json_of_text(v->list.items[i].name));
		return json;
	case VALUE_OBJECT:
		json = json_object();
		for (unsigned i = 0; i < v->list.n; i++)
			json_object_set_new(json, v->list.items[i].name, json_integer(v->list.items[i].count));
		return json;
	case VALUE_HISTOGRAM:
		return json_of_buckets(v);
	default:
		return json_null();
	}
}

/* Writes what precedes the rows and leaves the object open. */
static void write_head(FILE *out, const struct writer *w, const struct writer_page *page)
{
	json_t *head = json_object(), *hosts = json_array(), *lost = json_object();
	char *text;

	for (unsigned i = 0; i < page->n_hosts; i++)
		json_array_append_new(hosts, json_of_text(page->hosts[i]));
	json_object_set_new(lost, "events", json_of_uint(page->lost.events));
	json_object_set_new(lost, "packets", json_of_uint(page->lost.packets));
	json_object_set_new(head, "schema", json_integer(1));
	json_object_set_new(head, "table", json_string(w->options.table));
	json_object_set_new(head, "begin_ns", json_of_uint(page->begin_ns));
	json_object_set_new(head, "end_ns", json_of_uint(page->end_ns));
	if (page->gap)
		json_object_set_new(head, "gap", json_true());
	json_object_set_new(head, "hosts", hosts);
	json_object_set_new(head, "lost", lost);
	text = json_dumps(head, JSON_COMPACT);
	fwrite(text, 1, strlen(text) - 1, out);
	free(text);
	json_decref(head);
}

static json_t *json_of_line(const struct writer_line *line)
{
	json_t *row = json_object();

	json_object_set_new(row, "at_ns", json_of_uint(line->at_ns));
	json_object_set_new(row, "tid", line->tid >= 0 ? json_integer(line->tid) : json_null());
	json_object_set_new(row, "text", json_of_text(line->text));
	return row;
}

static json_t *json_of_row(const struct writer_page *page, unsigned i)
{
	json_t *row = json_object();
	struct value v;

	for (unsigned c = 0; c < page->n_columns; c++) {
		view_rows_value(page->rows, i, page->columns[c], &v);
		json_object_set_new(row, page->columns[c]->name, writer_json_value(&v));
	}
	return row;
}

/* Writes row by row: a table may be too large to be held twice. */
void writer_json_page(struct writer *w, const struct writer_page *page)
{
	const unsigned n = page->lines ? page->n_lines : page->rows->n;
	FILE *out = w->options.out;

	write_head(out, w, page);
	fputs(",\"rows\":[", out);
	for (unsigned i = 0; i < n && !ferror(out); i++) {
		json_t *row = page->lines ? json_of_line(&page->lines[i]) : json_of_row(page, i);

		if (i)
			fputc(',', out);
		json_dumpf(row, out, JSON_COMPACT);
		json_decref(row);
	}
	fputs("]}\n", out);
}
