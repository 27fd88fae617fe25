/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_OUT_WRITER_H
#define LT_OUT_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "view/format.h"
#include "view/rows.h"

/*
 * Writes a table, interval by interval, as text, JSON or CSV. Each interval (a page) is flushed when it is complete.
 *
 *   text  a line with the table and the interval, then a header and aligned rows, or lines
 *   JSON  one object per page and line: schema, table, begin_ns, end_ns, hosts, lost, rows
 *         and, only for a gap, gap: true
 *   CSV   one header line, one line per row; with .intervals the first two columns are the
 *         interval. Lists and objects are JSON text in their cell. Null is empty.
 *   DOT   relations table only: one graph per page
 */
enum writer_form { WRITER_TEXT, WRITER_JSON, WRITER_CSV, WRITER_DOT };

struct writer_options {
	enum writer_form form;
	FILE *out;            /* borrowed */
	const char *table;    /* its name */
	bool intervals;       /* there may be several pages */
	bool columns_named;   /* by the user: text then has all of them, even if nothing is known */
	struct format format; /* text */
};

/* A line of text with a time, such as a system call. JSON and CSV have these as at_ns, tid, text. */
struct writer_line {
	uint64_t at_ns;
	int32_t tid;      /* -1: unknown, or it belongs to no thread */
	const char *text; /* UTF-8 */
};

/* One interval, all hosts. */
struct writer_page {
	uint64_t begin_ns, end_ns;
	bool gap;                        /* stands for many intervals without any event */
	const struct writer_line *lines; /* instead of rows; NULL: rows */
	unsigned n_lines;
	bool tids; /* text: print the lines' threads */
	const struct view_rows *rows;
	const struct column *const *columns;
	unsigned n_columns;
	const char *const *hosts; /* names of all selected hosts, with rows or without */
	unsigned n_hosts;
	struct view_lost lost;
};

struct writer;

struct writer *writer_create(const struct writer_options *options);
void writer_destroy(struct writer *w);

/* LT_ERROR: cannot write (disk full, pipe closed), see the error chain. */
enum lt_status writer_page(struct writer *w, const struct writer_page *page);

#endif
