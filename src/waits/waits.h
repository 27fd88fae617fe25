/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_WAITS_H
#define LT_WAITS_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/map.h"
#include "model/waitlog.h"
#include "waits/path.h"
#include "waits/totals.h"

/*
 * Why threads wait, across hosts: takes each host's wait events, puts them in
 * one order by corrected time, builds the wake-up graph, answers for paths.
 *
 *   host's wait log ──▶ queue per host ──▶ released up to the least watermark ──▶ build.c ──▶ graph
 *
 * A host that is left out (silent, away) holds nobody up; its events that come
 * after their time has passed are counted and dropped. Main thread only.
 */
struct waits;

struct waits_options {
	uint64_t retention_ns; /* how far back windows may reach, 0: no bound */
	size_t memory_bytes;   /* of the graph, 0: 256 MiB */
};

struct waits *waits_create(const struct waits_options *options);
void waits_destroy(struct waits *w);

/* A host; map: to reference time, borrowed, NULL: its own clock is the reference's. Returns its number. */
unsigned waits_add_host(struct waits *w, const struct clock_map *map);

/*
 * The host's record is cut out of a longer one, from t_ns on (reference time): what a thread's first event
 * ends, it has been doing since then. Before waits_take().
 */
void waits_begin_midway(struct waits *w, unsigned host, uint64_t t_ns);

/* Takes what the host's log has; the log is cleared. */
void waits_take(struct waits *w, unsigned host, struct wait_log *log);

/* Nothing of the host before t_ns, by its own clock, will follow. UINT64_MAX: it is not waited for any more. */
void waits_watermark(struct waits *w, unsigned host, uint64_t t_ns);

/* Builds as far as the least watermark allows. */
void waits_run(struct waits *w);

/* The graph itself, for path.h, resolve.h, totals.h; borrowed. */
const struct wait_graph *waits_graph(const struct waits *w);

/* All before this reference time is built. */
uint64_t waits_now(const struct waits *w);

/* Who a row is. */
struct wait_who {
	unsigned host;
	int32_t tid; /* 0: the idle task of cpu; -1: packets received in interrupt context, of cpu */
	int32_t pid; /* -1 unknown */
	int32_t cpu; /* of tid <= 0, else -1 */
	strid comm;  /* its last name */
};

struct wait_who waits_who(const struct waits *w, wait_row row);

/* The row's first vertex that was ever made, 0: none; of a row that is reused, its present one's. */
uint64_t waits_first_ns(const struct waits *w, wait_row row);

/* The row of the thread that has this tid at t_ns (reference time; UINT64_MAX: now); WAIT_NO_ROW. */
wait_row waits_find(const struct waits *w, unsigned host, int32_t tid, uint64_t t_ns);

/* From now on its path is kept up to date; idempotent. Several may be followed. */
void waits_follow(struct waits *w, wait_row row);
void waits_unfollow(struct waits *w, wait_row row);

/* The path of any row over a window of reference time; followed rows are answered from what was kept. */
void waits_path(const struct waits *w, wait_row row, uint64_t begin_ns, uint64_t end_ns, struct wait_path *out);

/*
 * Time per state along the row's own critical path in the window, as far as it
 * is known, by prefix sums (totals.h): cheap enough for every thread, though the first one that is asked for
 * pays for all that came before, and what is kept may reach less far back afterwards.
 */
void waits_totals(const struct waits *w, wait_row row, uint64_t begin_ns, uint64_t end_ns, struct wait_totals *out);

/* Iterates over all rows of threads: for (row = WAIT_NO_ROW; (row = waits_next(w, row)) != WAIT_NO_ROW;) */
wait_row waits_next(const struct waits *w, wait_row row);

struct waits_info {
	struct wait_graph_info graph;
	uint64_t queued; /* events that wait for other hosts */
	uint64_t late;   /* events of hosts that had been left out, dropped */
	uint64_t links;  /* packets that joined two rows */
	unsigned epoch;  /* how often it began anew because the clocks did */
};

/* Tells the string pool which paths it holds: strpool_round_begin(). */
void waits_keep_paths(const struct waits *w);

struct waits_info waits_info(const struct waits *w);

#endif
