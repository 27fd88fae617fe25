/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WORKER_LIVE_H
#define LT_WORKER_LIVE_H

#include <stdbool.h>

#include "base/status.h"
#include "event/payload.h"
#include "source/ring.h"

/*
 * What a worker does with a URL. Both write their records into the ring,
 * but neither EVENT_END nor EVENT_FAILED, which the caller makes of the outcome.
 */

struct worker_url {
	const char *text;
	unsigned timeout_ms; /* of a relayd without an answer; 0: the viewer's */
	bool from_start;     /* worker_live() */
	unsigned every_ms;   /* worker_list(): between two lists, 0: one is enough */
};

/* Reads a live session until it is closed. LT_END: it was. LT_ERROR: see the error chain and *cause. */
enum lt_status worker_live(const struct worker_url *url, struct ring_producer *ring, enum failed_cause *cause);

/* Writes an EVENT_SESSION for each session of the relayd, and EVENT_LISTED. LT_END, LT_ERROR as above. */
enum lt_status worker_list(const struct worker_url *relay, struct ring_producer *ring, enum failed_cause *cause);

#endif
