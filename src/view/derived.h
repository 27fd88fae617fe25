/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_DERIVED_H
#define LT_VIEW_DERIVED_H

#include <glib.h>
#include <stdint.h>

#include "clock/sync.h"
#include "view/rows.h"
#include "waits/accounting.h"
#include "waits/waits.h"

/* Counts of a distribution, as a row of an interval's TABLE_BUCKET. */
struct view_bucket {
	struct interval_row row; /* of cells */
	struct bucket_row cells;
};

/*
 * Rows that do not come from the model, but from the clocks and the wait graph. Like the model's rows they have 64-bit
 * cells, declared by a list in their table's file, so columns, filters and writers work as for others. Whoever shows
 * them lets the table collect them, then builds struct view_rows with query.derived:
 *
 *   struct view_derived derived;
 *   const struct view_sources from = { .waits = waits, .paths = &path, .n_paths = 1, .hosts = hosts, .n_hosts = n };
 *   view_derived_init(&derived);
 *   query.table->supply.collect(&derived, &from);
 *   query.derived = &derived;
 *   view_rows_build(&rows, &query, hosts, n);
 *
 * They stay in the order in which they were collected unless the query sorts them. Their times are reference times.
 */
struct view_derived {
	GPtrArray *rows;    /* uint64_t *: the first two cells are the row's uid and its host's index */
	GPtrArray *buckets; /* struct view_bucket *: how values of these rows are spread */
};

void view_derived_init(struct view_derived *derived);
void view_derived_clear(struct view_derived *derived);
void view_derived_release(struct view_derived *derived);

/* Where derived rows come from; only what the table needs must be set. */
struct view_sources {
	const struct view_host *hosts; /* that rows may belong to, with their clock and wait numbers */
	unsigned n_hosts;
	const struct view_filter *filter; /* NULL: none */
	uint64_t begin_ns, end_ns;        /* the interval, in reference time */
	bool whole;                       /* the hosts' own intervals are longer: all data */
	const struct clock_sync *clocks;  /* VIEW_CLOCKS; NULL: there is nothing to compare */
	const GArray *matches;            /* VIEW_MATCHES: struct view_match; those sent in the interval become rows */
	const struct waits *waits;        /* VIEW_PATH: the graph of the paths */
	const struct wait_path *paths;
	unsigned n_paths;
	const wait_row *subjects;       /* the threads of the paths */
	bool one_subject;               /* one thread was asked for: rows need not name it */
	const struct account *accounts; /* VIEW_ACCOUNTS; those that are not empty become rows */
	unsigned n_accounts;
};

/* A matched packet, kept small because there may be millions. Times are on the hosts' own clocks. */
struct view_match {
	uint64_t sent_ns, received_ns;
	uint16_t from, to; /* clock numbers */
	strid flow;        /* "10.0.0.1:40001>10.0.0.2:80" */
	bool part, ambiguous, used;
};

/* Interns the flow. */
struct view_match view_match_of(const struct clock_match *match);

#endif
