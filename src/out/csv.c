/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <float.h>
#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "out/internal.h"

/* RFC 4180: quotes a field that would otherwise be misread, doubling quotes inside. */
static void write_field(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

/* The shortest text that is read back as the same number. */
static char *number_text(const struct value *v)
{
	enum { DIGITS_ENOUGH = 17 };
	json_t *json = writer_json_value(v);
	char *text = NULL;

	for (size_t digits = DBL_DIG; digits <= DIGITS_ENOUGH; digits++) {
		free(text);
		text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
		if (v->kind != VALUE_REAL || g_ascii_strtod(text, NULL) == v->real)
			break;
	}
	json_decref(json);
	return text;
}

static void write_value(FILE *out, const struct value *v)
{
	char *text;

	switch (v->kind) {
	case VALUE_NULL:
		break;
	case VALUE_TEXT:
		write_field(out, v->text);
		break;
	default:
		text = number_text(v);
		write_field(out, text);
		free(text);
	}
}

static void write_lines(FILE *out, const struct writer_page *page)
{
	fputs("at_ns,tid,text\n", out);
	for (unsigned i = 0; i < page->n_lines && !ferror(out); i++) {
		const struct writer_line *line = &page->lines[i];

		fprintf(out, "%" PRIu64 ",", line->at_ns);
		if (line->tid >= 0)
			fprintf(out, "%" PRId32, line->tid);
		fputc(',', out);
		write_field(out, line->text);
		fputc('\n', out);
	}
}

void writer_csv_page(struct writer *w, const struct writer_page *page)
{
	FILE *out = w->options.out;
	struct value v;

	if (page->lines) {
		write_lines(out, page);
		return;
	}
	if (w->pages == 0) {
		if (w->options.intervals)
			fputs("interval_begin_ns,interval_end_ns,", out);
		for (unsigned c = 0; c < page->n_columns; c++)
			fprintf(out, "%s%s", c ? "," : "", page->columns[c]->name);
		fputc('\n', out);
	}
	for (unsigned i = 0; i < page->rows->n && !ferror(out); i++) {
		if (w->options.intervals)
			fprintf(out, "%" PRIu64 ",%" PRIu64 ",", page->begin_ns, page->end_ns);
		for (unsigned c = 0; c < page->n_columns; c++) {
			if (c)
				fputc(',', out);
			view_rows_value(page->rows, i, page->columns[c], &v);
			write_value(out, &v);
		}
		fputc('\n', out);
	}
}
