/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_CONTEXTS_H
#define LT_INGEST_CONTEXTS_H

#include <stdint.h>

#include "event/event.h"

/*
 * Internal to ingest/: the last context of each thread of an input, until an event of that thread is taken (kernel.h).
 * It has to be kept, because a worker sends a context again only when it has changed. Memory is bounded: if there are
 * too many, all are forgotten, and come again as they change. Main thread only.
 */
struct contexts;

struct contexts *contexts_create(void);
void contexts_destroy(struct contexts *c); /* NULL is allowed */
void contexts_clear(struct contexts *c);

/* Holds an EVENT_CONTEXT, in place of the earlier one of its thread. It is copied. */
void contexts_hold(struct contexts *c, const struct event *ev);

/* The context of that thread, which is no longer held; NULL: there is none. Valid until the next call. */
const struct event *contexts_take(struct contexts *c, int32_t tid);

#endif
