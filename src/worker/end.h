/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WORKER_END_H
#define LT_WORKER_END_H

#include "event/payload.h"
#include "source/ring.h"

/*
 * Writes and publishes the last record of a source: for LT_END its end, otherwise why it broke off, from the error
 * chain.
 */
void worker_say_end(struct ring_producer *ring, enum lt_status status, enum failed_cause cause);

#endif
