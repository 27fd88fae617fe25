/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Histograms as text below the table, one per row: a line for each power of two.
 *
 * 	host web  tid 812  comm nginx  latency
 * 	   8.19µs …   16.4µs      12  ████▊
 * 	   16.4µs …   32.8µs     103  ████████████████████████████████████████
 */
#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "out/internal.h"

enum { BAR_WIDTH = 40, POWERS = 65, EDGE_SIZE = 32, TEXT_SIZE = 256 };

/* Power 0 is the value 0 alone, power k the range from 2^(k-1) to 2^k. */
static unsigned power_of(uint64_t value)
{
	return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

static uint64_t power_begin(unsigned power)
{
	return power ? UINT64_C(1) << (power - 1) : 0;
}

static uint64_t power_end(unsigned power)
{
	return power == 64 ? UINT64_MAX : UINT64_C(1) << power;
}

/* A bar for n out of most, in eighths of a character if the terminal has them. */
static void put_bar(FILE *out, uint64_t n, uint64_t most, bool ascii)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	const unsigned length = (unsigned)((unsigned __int128)n * BAR_WIDTH * 8 / most);

	for (unsigned i = 0; i < length / 8; i++)
		fputs(ascii ? "#" : "█", out);
	if (!ascii)
		fputs(length || !n ? eighths[length % 8] : eighths[1], out);
	else if (n && length < 8)
		fputc('.', out);
}

/* Pads by display width, not by bytes. */
static void put_right(FILE *out, const char *text, unsigned width)
{
	const unsigned need = utf8_width(text);

	fprintf(out, "%*s%s", need < width ? (int)(width - need) : 0, "", text);
}

static void put_edge(FILE *out, uint64_t edge, enum column_unit unit, bool ascii)
{
	char text[EDGE_SIZE];

	put_right(out,
		  unit == COLUMN_NS ? format_duration(text, sizeof(text), edge, ascii)
				    : format_bytes(text, sizeof(text), (double)edge),
		  9);
}

static void put_histogram(FILE *out, const struct value *v, enum column_unit unit, bool ascii)
{
	uint64_t counts[POWERS] = { 0 }, most = 1;
	unsigned first = POWERS, second = POWERS, last = 0;

	for (unsigned i = 0; i < v->histogram.n; i++) {
		const struct value_bucket *b = &v->histogram.buckets[i];
		const unsigned power = power_of(b->from);

		counts[power] += b->count;
		most = MAX(most, counts[power]);
		first = MIN(first, power);
		if (power)
			second = MIN(second, power);
		last = MAX(last, power);
	}
	for (unsigned i = first; i <= last; i++) {
		/* 0 is not on the scale of the rest */
		if (i > 0 && i < second)
			continue;
		put_edge(out, power_begin(i), unit, ascii);
		fputs(ascii ? " .. " : " … ", out);
		put_edge(out, power_end(i), unit, ascii);
		fprintf(out, " %11" PRIu64, counts[i]);
		if (counts[i])
			fputs("  ", out);
		put_bar(out, counts[i], most, ascii);
		fputc('\n', out);
	}
}

/* Identifies the row: names and numbers. */
static void put_title(const struct writer *w, const struct writer_page *page, unsigned row, const struct column *of)
{
	char text[TEXT_SIZE];
	struct value v;

	fputc('\n', w->options.out);
	for (unsigned c = 0; c < page->n_columns; c++) {
		const struct column *column = page->columns[c];

		if (column->unit != COLUMN_TEXT && column->unit != COLUMN_ID && column->unit != COLUMN_DEVICE)
			continue;
		view_rows_value(page->rows, row, column, &v);
		if (v.kind != VALUE_NULL)
			fprintf(w->options.out, "%s %s  ", column->name,
				format_value(text, sizeof(text), &v, column->unit, 0, &w->options.format));
	}
	fprintf(w->options.out, "%s\n", of->header);
}

void writer_text_histograms(const struct writer *w, const struct writer_page *page)
{
	struct value v;

	for (unsigned i = 0; i < page->rows->n && !ferror(w->options.out); i++) {
		for (unsigned c = 0; c < page->n_columns; c++) {
			if (page->columns[c]->unit != COLUMN_HISTOGRAM)
				continue;
			view_rows_value(page->rows, i, page->columns[c], &v);
			if (v.kind != VALUE_HISTOGRAM || !v.histogram.n)
				continue;
			put_title(w, page, i, page->columns[c]);
			view_rows_value(page->rows, i, page->columns[c], &v);
			put_histogram(w->options.out, &v, column_measured(page->columns[c]), w->options.format.ascii);
		}
	}
}
