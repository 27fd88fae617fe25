/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_DERIVED_H
#define LT_VIEW_DERIVED_H

#include <glib.h>
#include <stdint.h>

#include "clock/sync.h"
#include "view/rows.h"
#include "waits/accounting.h"
#include "waits/waits.h"

/*
 * Rows that are no rows of the model: what the clocks and the wait graph know.
 * They have 64-bit cells as those of the model have, declared by a list of
 * their table's file, and so the same columns, filters and writers. Whoever shows them
 * has the table collect them, then builds struct view_rows with query.own:
 *
 *   struct view_derived own;
 *   const struct view_sources from = { .waits = waits, .paths = &path, .n_paths = 1, .hosts = hosts, .n_hosts = n };
 *   view_derived_init(&own);
 *   query.table->supply.collect(&own, &from);
 *   query.own = &own;
 *   view_rows_build(&rows, &query, hosts, n);
 *
 * They stay in the order in which they were collected unless the query sorts. Their times are
 * reference times.
 */
struct view_derived {
	GPtrArray *rows; /* uint64_t *: the first two cells are the row's uid and its host's index */
};

void view_derived_init(struct view_derived *derived);
void view_derived_clear(struct view_derived *derived);
void view_derived_release(struct view_derived *derived);

/* What derived rows are made from; of all that only what the table needs has to be there. */
struct view_sources {
	const struct view_host *hosts; /* that rows may be of, by their clock and wait numbers */
	unsigned n_hosts;
	const struct view_filter *filter; /* NULL: none */
	uint64_t begin_ns, end_ns;        /* the interval, reference time */
	const struct clock_sync *clocks;  /* VIEW_CLOCKS; NULL: nothing to compare */
	const GArray *matches;            /* VIEW_MATCHES: struct view_match; those sent in the interval are rows */
	const struct waits *waits;        /* VIEW_PATH: the graph that the paths are of */
	const struct wait_path *paths;
	unsigned n_paths;
	const wait_row *subjects;       /* whose they are */
	bool one_subject;               /* one thread was asked for: the rows need not say whose they are */
	const struct account *accounts; /* VIEW_ACCOUNTS; those that have anything are rows */
	unsigned n_accounts;
};

/* A matched packet, as small as it can be kept: there may be millions. Times by the hosts' own clocks. */
struct view_match {
	uint64_t sent_ns, received_ns;
	uint16_t from, to; /* numbers in the clocks */
	strid flow;        /* "10.0.0.1:40001>10.0.0.2:80" */
	bool part, ambiguous, used;
};

/* Interns the flow. */
struct view_match view_match_of(const struct clock_match *match);

#endif
