/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WORKER_LIST_H
#define LT_WORKER_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "event/payload.h"
#include "source/ring.h"
#include "viewer/viewer.h"

/* The sessions of a relayd, written to a ring once or repeatedly. */
struct worker_list;

/*
 * Takes ownership of options->fd; borrows the ring. relay: "net://HOST[:PORT]". every_ms: between two lists; 0: a
 * single list.
 */
struct worker_list *worker_list_create(const struct viewer_options *options, const char *relay, unsigned every_ms,
				       struct ring_producer *ring);

void worker_list_destroy(struct worker_list *l);

/*
 * LT_OK: there is more to do. LT_AGAIN: not now; everything has been published. Wait until worker_list_due_us() or,
 * unless the list is full, for the viewer. LT_END: the single list is complete. LT_ERROR: see the error chain and
 * *cause.
 */
enum lt_status worker_list_step(struct worker_list *l, enum failed_cause *cause);

const struct viewer *worker_list_viewer(const struct worker_list *l);
int64_t worker_list_due_us(const struct worker_list *l);

/* Whether it is waiting for room in the ring. */
bool worker_list_is_full(const struct worker_list *l);

#endif
