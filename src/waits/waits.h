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
 * Why threads wait, across hosts: collects each host's wait events, merges them
 * by reference time, builds the wake-up graph, and computes critical paths from it.
 *
 *   host's wait log ──▶ queue per host ──▶ released up to the lowest watermark ──▶ build.c ──▶ graph
 *
 * A host that is skipped (silent, away) does not hold up the others, nor does one that is so far behind that their
 * queues are full; events of it that arrive too late are counted and dropped. Main thread only.
 */
struct waits;

struct waits_options {
	uint64_t retention_ns; /* how far back windows can reach; 0: no limit */
	size_t memory_bytes;   /* for the graph and the packets that it matches; 0: 256 MiB */
	size_t queue_bytes;    /* of them, for events that wait for other hosts; 0: no limit, for recordings */
};

struct waits *waits_create(const struct waits_options *options);
void waits_destroy(struct waits *w);

/*
 * Adds a host and returns its number: 0, 1 … map converts its clock to reference time and is borrowed;
 * NULL: the host's clock is the reference clock.
 */
unsigned waits_add_host(struct waits *w, const struct clock_map *map);

/*
 * The host's events are a part, from t_ns (reference time) on, of a longer recording: the state that a thread's
 * first event ends is taken to have lasted since t_ns. Call it before waits_take().
 */
void waits_begin_midway(struct waits *w, unsigned host, uint64_t t_ns);

/* Takes all events from the host's log and clears it. */
void waits_take(struct waits *w, unsigned host, struct wait_log *log);

/* The host will have no more events before t_ns (its own clock). UINT64_MAX: stop waiting for it. */
void waits_watermark(struct waits *w, unsigned host, uint64_t t_ns);

/* The host's record ends at t_ns (its own clock), and so do its rows' paths. UINT64_MAX: it continues, as at first. */
void waits_end(struct waits *w, unsigned host, uint64_t t_ns);

/* Nothing before t_ns (reference time) will be asked for again, so the graph need not keep it. */
void waits_forget(struct waits *w, uint64_t t_ns);

/* Builds the graph up to the lowest watermark. */
void waits_run(struct waits *w);

/* No host will have more events: builds the graph from all that were taken. */
void waits_finish(struct waits *w);

/* The graph, for tests, with the functions of path.h, resolve.h and totals.h; owned by w. */
const struct wait_graph *waits_graph(const struct waits *w);

/* The graph is complete up to this reference time, which is not included. */
uint64_t waits_now(const struct waits *w);

/* The thread or CPU that a row stands for. */
struct wait_who {
	unsigned host;
	int32_t tid; /* 0: the idle task of cpu; -1: packets that cpu received in interrupt context */
	int32_t pid; /* -1: unknown */
	int32_t cpu; /* if tid <= 0, else -1 */
	strid comm;  /* the latest name */
};

struct wait_who waits_who(const struct waits *w, wait_row row);

/* The same with the name that it had at t_ns (reference time), as long as that was one of its last few. */
struct wait_who waits_who_at(const struct waits *w, wait_row row, uint64_t t_ns);

/*
 * Time of the row's first vertex since the graph was last cleared, whether it is still kept or not; 0: none.
 * A reused row number has only its current thread's.
 */
uint64_t waits_first_ns(const struct waits *w, wait_row row);

/* The row of the thread that had this TID at t_ns (reference time; UINT64_MAX: now), or WAIT_NO_ROW. */
wait_row waits_find(const struct waits *w, unsigned host, int32_t tid, uint64_t t_ns);

/*
 * Whether the row's thread, which exited at exited_ns, did or awaited something after t_ns: it runs on until it is
 * switched out for the last time. False if there is no row, or if it belongs to a later thread with the same TID.
 */
bool waits_outlasts(const struct waits *w, wait_row row, uint64_t exited_ns, uint64_t t_ns);

/* Keeps the row's path up to date from now on, until waits_unfollow(). Idempotent; any number may be followed. */
void waits_follow(struct waits *w, wait_row row);
void waits_unfollow(struct waits *w, wait_row row);

/*
 * The critical path of any row over a window of reference time. For a followed row it comes from the segments kept,
 * otherwise from the graph.
 */
void waits_path(const struct waits *w, wait_row row, uint64_t begin_ns, uint64_t end_ns, struct wait_path *out);

/*
 * Time per state along the row's critical path in the part of the window that is known, from prefix sums
 * (totals.h). Cheap enough to call for every thread, except that the first call computes the sums for the whole
 * graph; their memory may shorten how far back the graph reaches.
 */
void waits_totals(const struct waits *w, wait_row row, uint64_t begin_ns, uint64_t end_ns, struct wait_totals *out);

/* Iterates over the rows of threads: for (row = WAIT_NO_ROW; (row = waits_next(w, row)) != WAIT_NO_ROW;) */
wait_row waits_next(const struct waits *w, wait_row row);

struct waits_info {
	struct wait_graph_info graph;
	uint64_t queued;     /* events waiting for other hosts */
	uint64_t late;       /* events dropped because they came too late, from hosts that had been skipped */
	uint64_t links;      /* packets that became links */
	uint32_t threads;    /* known, and gone ones whose rows are not used again yet */
	size_t packet_bytes; /* memory for packets that may yet be matched */
	unsigned epoch;      /* number of times the graph was cleared because the clocks had changed */
};

/*
 * Keeps the paths and short-lived names of queued events, of the graph's causes and of threads in the string pool: see
 * strpool_round_begin().
 */
void waits_keep_paths(const struct waits *w);

struct waits_info waits_info(const struct waits *w);

#endif
