/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_OWN_H
#define LT_VIEW_OWN_H

#include <glib.h>
#include <stdint.h>

#include "clock/sync.h"
#include "view/rows.h"
#include "waits/accounting.h"
#include "waits/waits.h"

/*
 * Rows that are no rows of the model: what the clocks and the wait graph know.
 * They have 64-bit cells as those of the model have, laid out by a structure of
 * their table's file, and so the same columns, filters and writers. Whoever shows them
 * collects them, then builds struct view_rows with query.own:
 *
 *   struct view_own own;
 *   view_own_init(&own);
 *   view_own_path(&own, waits, &path, hosts, n_hosts);
 *   query.own = &own;
 *   view_rows_build(&rows, &query, hosts, n_hosts);
 *
 * They stay in the order in which they were collected unless the query sorts. Their times are
 * reference times; the tables are found by name: view_table_find("critical-path").
 */
struct view_own {
	GPtrArray *rows; /* uint64_t *: the first two cells are the row's uid and its host's index */
};

void view_own_init(struct view_own *own);
void view_own_clear(struct view_own *own);
void view_own_release(struct view_own *own);

/*
 * Table "sync": a row per host of hosts, by its clock number. end_ns, reference time: when the offset is
 * that of the row.
 */
void view_own_sync(struct view_own *own, const struct clock_sync *clocks, uint64_t end_ns,
		   const struct view_host *hosts, unsigned n_hosts);

/* A matched packet, as small as it can be kept: there may be millions. Times by the hosts' own clocks. */
struct view_match {
	uint64_t sent_ns, received_ns;
	uint16_t from, to; /* numbers in the clocks */
	strid flow;        /* "10.0.0.1:40001>10.0.0.2:80" */
	bool part, ambiguous, used;
};

/* Interns the flow. */
struct view_match view_match_of(const struct clock_match *match);

/*
 * Table "matches": a row per struct view_match between hosts of hosts, sent in [begin_ns, end_ns[, one of whose
 * ends is a host that the filter wants; in order of sending.
 */
void view_own_matches(struct view_own *own, const GArray *matches, const struct view_filter *filter, uint64_t begin_ns,
		      uint64_t end_ns, const struct view_host *hosts, unsigned n_hosts);

/*
 * Table "latencies": a row per direction between two of hosts, of the same packets but those of one host; in order
 * of the two.
 */
void view_own_latencies(struct view_own *own, const GArray *matches, const struct view_filter *filter,
			uint64_t begin_ns, uint64_t end_ns, const struct view_host *hosts, unsigned n_hosts);

/* Table "critical-path": a row per segment. hosts: by their wait numbers, all that the path may touch. */
void view_own_path(struct view_own *own, const struct waits *waits, const struct wait_path *path,
		   const struct view_host *hosts, unsigned n_hosts);

/* Table "critical-totals": the path's time by host, process and state; in order of these. */
void view_own_totals(struct view_own *own, const struct waits *waits, const struct wait_path *path,
		     const struct view_host *hosts, unsigned n_hosts);

/*
 * Table "accounting": a row per account that has anything, of hosts that the filter (NULL: none) wants; in
 * order of host, process, client. In the tree what is done for a client hangs below that one's own account.
 */
void view_own_accounts(struct view_own *own, const struct account *accounts, unsigned n,
		       const struct view_filter *filter, const struct view_host *hosts, unsigned n_hosts);

#endif
