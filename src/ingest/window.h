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
 * A window of recordings, or all of them, read again for why threads waited then: the wake-up graph is not kept while
 * they are read for everything else, or does not reach back so far. It reads with workers and models of
 * its own, a little at a time, and leaves those of the ingest it is made from alone.
 *
 *   ──────┬─ before ─┬──────── window ────────┬─ after ─┬──────  reference time
 *         read from here                                up to here, each host by its own clock
 *
 * What is not in there is not known: a thread that did nothing has no row, one whose process no event's
 * context tells has pid -1, files opened before have no path. What a thread did until its first
 * event is taken to have been so from the beginning; a wait that goes on beyond the end is not
 * explained. Main thread only.
 */
struct window;

struct window_options {
	uint64_t begin_ns, end_ns;    /* [begin, end[, reference time */
	uint64_t before_ns, after_ns; /* read so much around it, 0: WINDOW_MARGIN_NS */
	bool whole; /* the recordings from their beginning to their end instead: all that there is to know is known */
	const struct clock_map *const *maps;  /* of each of the ingest's hosts, borrowed; NULL: those they have there */
	uint64_t small_bytes;                 /* where all recordings take no more they are read from their beginning */
	const struct ingest_visitor *visitor; /* sees each event (ingest/visit.h); borrowed; NULL: nobody does */
	struct waits_options waits;
};

#define WINDOW_MARGIN_NS NS_PER_S

enum { WINDOW_NO_HOST = ~0u };

/*
 * Starts to read the recordings of the ingest, which has been started; its live
 * hosts have no part in it. NULL: it has no recordings (error chain). To be closed before the ingest is destroyed.
 */
struct window *window_open(const struct ingest *of, const struct window_options *options);

/* At any moment. NULL is allowed. */
void window_close(struct window *w);

/*
 * Reads on, about max_events at most. LT_OK: there is more: call again. LT_AGAIN: more is to come: call again
 * when window_fd() is readable, and several times a second. LT_END: done. LT_ERROR: nothing could be read.
 */
enum lt_status window_run(struct window *w, uint64_t max_events);

/* What it reads with: its hosts, models, and window_waits(); has no hosts before the first LT_OK. */
struct ingest *window_ingest(const struct window *w);

int window_fd(const struct window *w);

/* How much of it is read, 0 … 1. */
double window_progress(const struct window *w);

/* After LT_END: what was read, all of it built; borrowed. Before: as far as it has come. */
struct waits *window_waits(struct window *w);

/* The number in window_waits() of the ingest's host i; WINDOW_NO_HOST: nothing was read of it. */
unsigned window_host(const struct window *w, unsigned i);

/* The other way round: the ingest's number of a host of window_waits(). */
unsigned window_host_of(const struct window *w, unsigned host);

/* Why not all could be read, NULL: it could. Borrowed until window_run(). */
const char *window_trouble(const struct window *w);

#endif
