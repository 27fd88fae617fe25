/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_REREAD_H
#define LT_CMD_REREAD_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "ingest/window.h"

/*
 * A window of recordings that the screen wants, read again in the background of a loop: for critical paths, or for
 * whoever sees its events one by one. Who moves through time wants another one with every key: a reading
 * that nobody wants any more is given up, and the next one begins when the keys have come to
 * rest. What was read last stays until there is something better.
 */
struct reread;

/* Something is different: a reading has come further, is done, or cannot be done. */
typedef void reread_fn(void *data);

struct reread_options {
	struct ev_loop *loop;
	const struct ingest *of;
	size_t memory_bytes; /* for the wait graph */
	reread_fn *changed;
	/*
	 * Before a reading begins: what it is to be otherwise than a critical path needs; and when it is open. NULL:
	 * nothing is to be done.
	 */
	void (*prepare)(void *data, struct window_options *options);
	void (*opened)(void *data, struct window *w);
	void *data;
};

struct reread *reread_create(const struct reread_options *options);
void reread_destroy(struct reread *r);

/* [begin_ns, end_ns[ in reference time is wanted; cheap if it is already. end_ns 0: nothing is. */
void reread_want(struct reread *r, uint64_t begin_ns, uint64_t end_ns);

/* What is being read or was is not it, whatever time it is of. */
void reread_forget(struct reread *r);

/* The last one that was read, NULL: none. It covers more than what was wanted. Borrowed until changed() is called. */
struct window *reread_done(const struct reread *r, uint64_t *begin_ns, uint64_t *end_ns);

/* It is not needed any more. */
void reread_drop(struct reread *r);

/* How much of the next one is read. */
unsigned reread_percent(const struct reread *r);

/* Why what is wanted cannot be read, NULL: it can. */
const char *reread_problem(const struct reread *r);

#endif
