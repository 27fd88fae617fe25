/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_REREAD_H
#define LT_CMD_REREAD_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "ingest/window.h"

/*
 * The window of a recording that the screen wants for critical paths, read
 * again in the background of a loop. Who moves through time wants another one with every key: a reading
 * that nobody wants any more is given up, and the next one begins when the keys have come to
 * rest. What was read last stays until there is something better.
 */
struct reread;

/* Something is different: a reading has come further, is done, or cannot be done. */
typedef void reread_fn(void *data);

struct reread *reread_create(struct ev_loop *loop, const struct ingest *of, size_t memory_bytes, reread_fn *changed,
			     void *data);
void reread_destroy(struct reread *r);

/* [begin_ns, end_ns[ in reference time is wanted; cheap if it is already. end_ns 0: nothing is. */
void reread_want(struct reread *r, uint64_t begin_ns, uint64_t end_ns);

/* The last one that was read, NULL: none. It covers more than what was wanted. Borrowed until changed() is called. */
struct window *reread_done(const struct reread *r, uint64_t *begin_ns, uint64_t *end_ns);

/* How much of the next one is read. */
unsigned reread_percent(const struct reread *r);

/* Why what is wanted cannot be read, NULL: it can. */
const char *reread_problem(const struct reread *r);

#endif
