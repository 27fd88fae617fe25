/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_WINDOW_H
#define LT_INGEST_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/nstime.h"
#include "base/status.h"
#include "ingest/ingest.h"
#include "waits/waits.h"

/*
 * A window of recordings, or all of them, read again to find why threads waited in that time, because no wake-up graph
 * was kept during the first reading, or because it does not reach back that far. It reads in small steps, with its own
 * workers and models, and does not touch those of the ingest that it is opened for.
 *
 *   ──────┬─ before ─┬──────── window ────────┬─ after ─┬──────  reference time
 *         read from here                                up to here, each host by its own clock
 *
 * Nothing outside this time is known: a thread without events has no row, a thread has PID -1 if no event's context
 * has its process, and files opened before have no path. The state that a thread's first event ends is taken to
 * have lasted since the start, and a wait that continues past the end is not explained. Main thread only.
 */
struct window;

/* Whether host i of the ingest is to be read. */
typedef bool window_host_fn(void *data, unsigned host);

/* Called for each value of the distribution that window_options.log asks for, on host i of window_ingest(). */
typedef void window_logged_fn(void *data, unsigned i, const struct model_logged *value);

/* Single durations, as the models find them. */
struct window_log {
	uint64_t dist;   /* bucket_dist() of model/buckets.h */
	uint32_t tables; /* what is computed for it, as for model_set_figures() */
	window_logged_fn *logged;
	void *data;
};

/*
 * Called when the model of host i of window_ingest() has all figures of [begin_ns, end_ns[ by the host's own clock:
 * first before the window, then of the window. The next frame of the model's state must then begin.
 */
typedef void window_part_fn(void *data, unsigned i, uint64_t begin_ns, uint64_t end_ns);

struct window_options {
	uint64_t begin_ns, end_ns;           /* [begin, end[, reference time */
	uint64_t before_ns, after_ns;        /* also read this much before and after it; 0: WINDOW_MARGIN_NS */
	bool whole;                          /* read the whole recordings instead */
	const struct clock_map *const *maps; /* of each host of the ingest; borrowed; NULL: its own maps */
	uint64_t small_bytes;                /* if all recordings together are no larger, read from their start */
	window_host_fn *wants_host;          /* NULL: all hosts are read */
	void *wants_data;
	const struct ingest_visitor *visitor; /* sees each event (ingest/visit.h); borrowed; may be NULL */
	const struct window_log *log;         /* borrowed; NULL: none */
	window_part_fn *part;                 /* NULL: figures are not computed; not with .whole */
	void *part_data;
	struct waits_options waits;
};

#define WINDOW_MARGIN_NS NS_PER_S

enum { WINDOW_NO_HOST = ~0u };

/*
 * Starts to read the recordings of an ingest that has been started; live hosts are not
 * included. NULL: it has no recordings (error chain). Close it before the ingest is destroyed.
 */
struct window *window_open(const struct ingest *of, const struct window_options *options);

/* Allowed at any time. w may be NULL. */
void window_close(struct window *w);

/*
 * Reads about max_events more events at most. LT_OK: there are more; call it again. LT_AGAIN: none are ready; call it
 * again when window_fd() is readable, and several times a second. LT_END: done. LT_ERROR: nothing could be read.
 */
enum lt_status window_run(struct window *w, uint64_t max_events);

/* The ingest with which it reads, with its own hosts and models. It has no hosts before the first LT_OK. */
struct ingest *window_ingest(const struct window *w);

int window_fd(const struct window *w);

/* The part that has been read, 0 … 1. */
double window_progress(const struct window *w);

/* The wait graph, owned by w; complete after LT_END. */
struct waits *window_waits(struct window *w);

/* Keeps what its models and its wait graph name in the string pool: see strpool_round_begin(). */
void window_keep_paths(const struct window *w);

/* The number in window_waits() of host i of the ingest; WINDOW_NO_HOST: nothing of it was read. */
unsigned window_host(const struct window *w, unsigned i);

/* The reverse: the number in the ingest of a host of window_waits(), or WINDOW_NO_HOST. */
unsigned window_host_of(const struct window *w, unsigned host);

/*
 * Reference time from which on host i of window_ingest() was read; 0: from begin_ns on, or earlier. Of a live session
 * no more may be kept.
 */
uint64_t window_first_ns(const struct window *w, unsigned i, uint64_t begin_ns);

/* Why a part could not be read, for tests; NULL: there was no problem. Valid until the next window_run(). */
const char *window_trouble(const struct window *w);

#endif
