/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "base/timetext.h"
#include "out/internal.h"

enum { TEXT_CELL_SIZE = 8192 };

static void write_heading(FILE *out, const struct writer *w, const struct writer_page *page)
{
	char begin[TIMETEXT_SIZE], end[TIMETEXT_SIZE], length[TIMETEXT_SIZE];
	bool utc = w->options.format.utc;

	timetext_format(begin, sizeof(begin), page->begin_ns, 9, true, utc);
	timetext_format(end, sizeof(end), page->end_ns, 9, true, utc);
	format_duration(length, sizeof(length), page->end_ns - page->begin_ns, w->options.format.ascii);
	fprintf(out, "%s%s  [%s, %s[  %s  hosts:", w->pages ? "\n" : "", w->options.table, begin, end, length);
	for (unsigned i = 0; i < page->n_hosts; i++)
		fprintf(out, "%s%s", i ? ", " : " ", page->hosts[i]);
	if (page->lost.events || page->lost.packets)
		fprintf(out, "  LOST: %" PRIu64 " events, %" PRIu64 " packets", page->lost.events,
			page->lost.packets);
	fputs(page->gap ? "  no events\n" : "\n", out);
}

/* One cell of a line; blanks behind the last one of a line are of no use. */
static void write_cell(FILE *out, const char *text, unsigned width, bool right, bool first, bool last)
{
	unsigned need = format_width(text);
	int blanks = need < width ? (int)(width - need) : 0;

	if (!first)
		fputs("  ", out);
	if (right)
		fprintf(out, "%*s%s", blanks, "", text);
	else
		fprintf(out, "%s%*s", text, last ? 0 : blanks, "");
	if (last)
		fputc('\n', out);
}

static bool is_known(const struct writer_page *page, const struct column *column)
{
	struct value v;

	if (!(column->flags & COLUMN_IF_KNOWN))
		return true;
	for (unsigned i = 0; i < page->rows->n; i++) {
		view_rows_value(page->rows, i, column, &v);
		if (v.kind != VALUE_NULL && (v.kind != VALUE_BOOL || v.flag))
			return true;
	}
	return false;
}

/* Those of the page's columns that are written; to be freed. */
static const struct column **choose_columns(const struct writer_page *page, unsigned *n)
{
	const struct column **columns = g_new(const struct column *, page->n_columns);

	*n = 0;
	for (unsigned c = 0; c < page->n_columns; c++)
		if (is_known(page, page->columns[c]))
			columns[(*n)++] = page->columns[c];
	return columns;
}

void writer_text_page(struct writer *w, const struct writer_page *page)
{
	FILE *out = w->options.out;
	unsigned n;
	const struct column **columns = choose_columns(page, &n);
	unsigned *widths = g_new(unsigned, n);
	GPtrArray *cells = g_ptr_array_new_with_free_func(g_free);
	char buf[TEXT_CELL_SIZE];
	struct value v;

	for (unsigned c = 0; c < n; c++)
		widths[c] = format_width(columns[c]->header);
	for (unsigned i = 0; i < page->rows->n; i++) {
		for (unsigned c = 0; c < n; c++) {
			const struct column *column = columns[c];

			view_rows_value(page->rows, i, column, &v);
			format_value(buf, sizeof(buf), &v, column->unit, 0, &w->options.format);
			widths[c] = MAX(widths[c], format_width(buf));
			g_ptr_array_add(cells, g_strdup(buf));
		}
	}
	write_heading(out, w, page);
	for (unsigned c = 0; c < n; c++)
		write_cell(out, columns[c]->header, widths[c], column_right(columns[c]), c == 0, c + 1 == n);
	for (guint i = 0; i < cells->len && !ferror(out); i++)
		write_cell(out, g_ptr_array_index(cells, i), widths[i % n], column_right(columns[i % n]), i % n == 0,
			   (i + 1) % n == 0);
	g_ptr_array_free(cells, TRUE);
	g_free(widths);
	g_free(columns);
}
