/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_LIVE_H
#define LT_READER_LIVE_H

#include "base/status.h"
#include "event/payload.h"
#include "source/ring.h"

/*
 * What a worker does with a URL. Both write their records into the ring,
 * but neither EVENT_END nor EVENT_FAILED, which the caller makes of the outcome.
 */

/*
 * Attaches to a live session and reads it until it is closed. Blocks in the
 * library, without a beat, while the relayd does not answer. LT_END: the session
 * was closed. LT_ERROR: see the error chain and *cause.
 */
enum lt_status live_read(const char *url, struct ring_producer *ring, enum failed_cause *cause);

/* Writes an EVENT_SESSION for each session of the relayd. LT_END, LT_ERROR as above. */
enum lt_status live_list(const char *relay, struct ring_producer *ring, enum failed_cause *cause);

#endif
