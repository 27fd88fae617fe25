/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_PLAY_REREAD_H
#define LT_PLAY_REREAD_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "ingest/window.h"

/*
 * Rereads a window of recordings in the background of a loop, for critical paths or for a visitor that sees its events.
 * A user moving through time may want another window with every key: a reading that is no longer wanted is given up,
 * and the next one starts when the keys have stopped. The last window read stays available until there is a better one.
 */
struct reread;

/* Called when something has changed: a reading has progressed, is done, or has failed. */
typedef void reread_fn(void *data);

struct reread_options {
	struct ev_loop *loop;
	const struct ingest *of;
	size_t memory_bytes; /* for the wait graph */
	reread_fn *changed;
	/*
	 * Called before a reading starts, to change options for purposes other than critical paths, and when it is
	 * open. NULL: not needed.
	 */
	void (*prepare)(void *data, struct window_options *options);
	void (*opened)(void *data, struct window *w);
	void *data;
};

struct reread *reread_create(const struct reread_options *options);
void reread_destroy(struct reread *r);

/* Requests [begin_ns, end_ns[ in reference time; cheap if it is available. end_ns 0: nothing. */
void reread_want(struct reread *r, uint64_t begin_ns, uint64_t end_ns);

/* Discards the current and last readings, whatever they cover. */
void reread_forget(struct reread *r);

/* The last window that was read; NULL: none. It covers more than was wanted. Borrowed until changed() is called. */
struct window *reread_done(const struct reread *r, uint64_t *begin_ns, uint64_t *end_ns);

/* Keeps what its windows name in the string pool: see strpool_round_begin(). r may be NULL. */
void reread_keep_paths(const struct reread *r);

/* Drops the last window because it is no longer needed. */
void reread_drop(struct reread *r);

/* Progress of the current reading. */
unsigned reread_percent(const struct reread *r);

/* Why the window cannot be read; NULL: it can. */
const char *reread_problem(const struct reread *r);

#endif
