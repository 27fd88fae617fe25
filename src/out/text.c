/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "base/timetext.h"
#include "base/utf8.h"
#include "out/internal.h"

enum { TEXT_CELL_SIZE = 8192, LINE_DIGITS = 6, LINE_TID_WIDTH = 7 };

static void write_lost(FILE *out, const struct view_lost *lost)
{
	char *text = view_lost_text(lost);

	if (*text)
		fprintf(out, "  LOST: %s", text);
	g_free(text);
}

static void write_heading(FILE *out, const struct writer *w, const struct writer_page *page)
{
	char begin[TIMETEXT_SIZE], end[TIMETEXT_SIZE], length[TIMETEXT_SIZE];
	bool utc = w->options.format.utc;

	timetext_format(begin, sizeof(begin), page->begin_ns, 9, true, utc);
	timetext_format(end, sizeof(end), page->end_ns, 9, true, utc);
	format_duration(length, sizeof(length), page->end_ns - page->begin_ns, w->options.format.ascii);
	fprintf(out, "%s%s  ", w->pages ? "\n" : "", w->options.table);
	/* without an event there is no time */
	if (page->end_ns)
		fprintf(out, "[%s, %s[  %s  ", begin, end, length);
	fputs("hosts:", out);
	for (unsigned i = 0; i < page->n_hosts; i++)
		fprintf(out, "%s%s", i ? ", " : " ", page->hosts[i]);
	write_lost(out, &page->lost);
	fputs(page->gap ? "  no events\n" : "\n", out);
}

static void append_blanks(GString *line, unsigned n)
{
	const gsize len = line->len;

	g_string_set_size(line, len + n);
	memset(line->str + len, ' ', n);
}

/* Appends a cell to the line. */
static void put_cell(GString *line, const char *text, unsigned width, bool right)
{
	const unsigned need = utf8_width(text), blanks = need < width ? width - need : 0;

	if (line->len)
		append_blanks(line, 2);
	if (right)
		append_blanks(line, blanks);
	g_string_append(line, text);
	if (!right)
		append_blanks(line, blanks);
}

/* Drops trailing blanks. */
static void end_line(GString *line, FILE *out)
{
	while (line->len && line->str[line->len - 1] == ' ')
		g_string_truncate(line, line->len - 1);
	fprintf(out, "%s\n", line->str);
	g_string_truncate(line, 0);
}

static bool is_known(const struct writer *w, const struct writer_page *page, const struct column *column)
{
	struct value v;

	if (!(column->flags & COLUMN_IF_KNOWN) || w->options.columns_named)
		return true;
	for (unsigned i = 0; i < page->rows->n; i++) {
		view_rows_value(page->rows, i, column, &v);
		if (v.kind != VALUE_NULL && (v.kind != VALUE_BOOL || v.flag))
			return true;
	}
	return false;
}

/* The page's columns that are to be written. The caller frees the array. */
static const struct column **choose_columns(const struct writer *w, const struct writer_page *page, unsigned *n)
{
	const struct column **columns = g_new(const struct column *, page->n_columns);

	*n = 0;
	for (unsigned c = 0; c < page->n_columns; c++)
		if (page->columns[c]->unit != COLUMN_HISTOGRAM && is_known(w, page, page->columns[c]))
			columns[(*n)++] = page->columns[c];
	return columns;
}

/* The lines below the heading, n cells each: first the rows, then the totals. */
struct text_lines {
	const struct writer_page *page;
	struct format format;
	const struct column **columns;
	unsigned *widths;
	unsigned n;
	GPtrArray *cells; /* char * */
};

static void add_cell(struct text_lines *l, unsigned c, const struct value *v)
{
	char buf[TEXT_CELL_SIZE];

	format_value(buf, sizeof(buf), v, l->columns[c]->unit, 0, &l->format);
	l->widths[c] = MAX(l->widths[c], utf8_width(buf));
	g_ptr_array_add(l->cells, g_strdup(buf));
}

static void add_text(struct text_lines *l, unsigned c, const char *text)
{
	l->widths[c] = MAX(l->widths[c], utf8_width(text));
	g_ptr_array_add(l->cells, g_strdup(text));
}

/* Whether the column's values are parts of a whole and can be summed. */
static bool has_total(const struct column *column)
{
	return column->flags & COLUMN_COUNTER && column_adds_up(column);
}

static bool is_of_host(const struct view_row *row, unsigned host)
{
	return row->key.host == host && !row->overall;
}

static void add_to(struct value *sum, const struct value *v)
{
	if (v->kind == VALUE_INT) {
		sum->kind = VALUE_INT;
		sum->u += v->u;
	} else if (v->kind == VALUE_UINT) {
		sum->kind = VALUE_UINT;
		sum->u += MIN(v->u, UINT64_MAX - sum->u);
	}
}

/* The sum over all rows of a host, including those hidden by a limit; null if all are. */
static struct value total_of(const struct text_lines *l, const struct column *column, unsigned host)
{
	const struct view_rows *rows = l->page->rows;
	struct value sum = { .kind = VALUE_NULL }, v;

	for (unsigned i = 0; i < rows->n_all; i++) {
		if (!is_of_host(&rows->rows[i], host))
			continue;
		view_rows_value(rows, i, column, &v);
		add_to(&sum, &v);
	}
	return sum;
}

static unsigned count_rows(const struct view_rows *rows, unsigned host)
{
	unsigned n = 0;

	for (unsigned i = 0; i < rows->n_all; i++)
		n += is_of_host(&rows->rows[i], host);
	return n;
}

static bool is_named(const struct column *column, const char *name)
{
	return strcmp(column->name, name) == 0;
}

/* Whether a word would be taken for its sum. */
static bool is_number(const struct column *column)
{
	return column_is_figure(column) && column_right(column);
}

/* Puts the word into the first column after the host that is not a number of something. */
static void add_total(struct text_lines *l, unsigned host)
{
	bool said = false;

	for (unsigned c = 0; c < l->n; c++) {
		const struct column *column = l->columns[c];
		struct value v;

		if (has_total(column)) {
			v = total_of(l, column, host);
			add_cell(l, c, &v);
		} else if (is_named(column, "host")) {
			add_text(l, c, l->page->rows->hosts[host].name);
		} else {
			add_text(l, c, said || is_number(column) ? "" : "total");
			said |= !is_number(column);
		}
	}
}

/* With times as on the screen. */
static void write_lines(FILE *out, const struct writer *w, const struct writer_page *page)
{
	const bool utc = w->options.format.utc;
	char time[TIMETEXT_SIZE];

	write_heading(out, w, page);
	for (unsigned i = 0; i < page->n_lines && !ferror(out); i++) {
		const struct writer_line *line = &page->lines[i];

		timetext_format_near(time, sizeof(time), line->at_ns, page->begin_ns, LINE_DIGITS, utc);
		fprintf(out, "%s ", time);
		if (page->tids && line->tid >= 0)
			fprintf(out, "%*" PRId32 " ", LINE_TID_WIDTH, line->tid);
		else if (page->tids)
			fprintf(out, "%*s ", LINE_TID_WIDTH, "");
		fprintf(out, "%s\n", line->text);
	}
}

/* Adds one line per host: no figure mixes hosts. None where it would not be clear which host a line is about. */
static void add_totals(struct text_lines *l)
{
	const struct view_rows *rows = l->page->rows;
	bool any = false, named = false;

	for (unsigned c = 0; c < l->n; c++) {
		any |= has_total(l->columns[c]);
		named |= is_named(l->columns[c], "host");
	}
	if (!any || rows->table->flags & VIEW_UNLIKE || (!named && rows->n_hosts > 1))
		return;
	for (unsigned host = 0; host < rows->n_hosts; host++)
		if (count_rows(rows, host) > 1)
			add_total(l, host);
}

static void write_rows(FILE *out, const struct writer *w, const struct writer_page *page)
{
	struct text_lines l = {
		.page = page,
		.format = w->options.format,
		.cells = g_ptr_array_new_with_free_func(g_free),
	};
	GString *line = g_string_new(NULL);
	struct value v;

	l.format.day_ns = page->begin_ns;
	l.columns = choose_columns(w, page, &l.n);
	l.widths = g_new(unsigned, l.n);
	for (unsigned c = 0; c < l.n; c++)
		l.widths[c] = utf8_width(l.columns[c]->header);
	for (unsigned i = 0; i < page->rows->n; i++) {
		for (unsigned c = 0; c < l.n; c++) {
			view_rows_value(page->rows, i, l.columns[c], &v);
			add_cell(&l, c, &v);
		}
	}
	add_totals(&l);
	write_heading(out, w, page);
	for (unsigned c = 0; c < l.n; c++)
		put_cell(line, l.columns[c]->header, l.widths[c], column_right(l.columns[c]));
	end_line(line, out);
	for (guint i = 0; i < l.cells->len && !ferror(out); i++) {
		const unsigned c = i % l.n;

		put_cell(line, g_ptr_array_index(l.cells, i), l.widths[c], column_right(l.columns[c]));
		if (c + 1 == l.n)
			end_line(line, out);
	}
	writer_text_histograms(w, page);
	g_string_free(line, TRUE);
	g_ptr_array_free(l.cells, TRUE);
	g_free(l.widths);
	g_free(l.columns);
}

void writer_text_page(struct writer *w, const struct writer_page *page)
{
	if (page->lines)
		write_lines(w->options.out, w, page);
	else
		write_rows(w->options.out, w, page);
}
