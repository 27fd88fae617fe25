/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_LAG_H
#define LT_INGEST_LAG_H

#include <stdint.h>

#include "clock/arrival.h"

/*
 * The lag of a live host: the time from a record until it came. If the host's clock differs from ours, the lag is the
 * increase over the usual delay, which is the least so far, for the host was then read at its end. The usual delay
 *
 *   - rises slowly, because clocks drift: lag that a reader accumulates grows much faster,
 *   - is replaced if the delay has jumped and then stays the same: the machine was suspended, or its clock was set.
 *     Data that was held up comes faster afterwards, until the reader has caught up.
 */
struct host_lag {
	int64_t least_ns;             /* the usual delay; INT64_MAX: not known */
	int64_t behind_ns;            /* the last delay */
	uint64_t at_ns;               /* time of the record that had it, by the host's clock */
	struct clock_arrival arrival; /* since a jump; .n is 0: there was none */
};

/* The usual delay is not known, or not known any longer. */
void lag_forget(struct host_lag *l);

/* Our clock: the time of day when this was first called, and the time since then, whether it was set since or not. */
uint64_t lag_now_ns(void);

/* The host's last record, of host_ns by its own clock, came by now_ns of ours. Returns the lag. host_ns only grows. */
uint64_t lag_measure(struct host_lag *l, uint64_t host_ns, uint64_t now_ns);

#endif
