/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WORKER_END_H
#define LT_WORKER_END_H

#include "event/payload.h"
#include "source/ring.h"

/* The last record of a source: LT_END, or else why it broke off, by the error chain. Published. */
void worker_say_end(struct ring_producer *ring, enum lt_status status, enum failed_cause cause);

#endif
