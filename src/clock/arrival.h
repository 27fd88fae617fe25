/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_ARRIVAL_H
#define LT_CLOCK_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Estimates how far a live host's clock is behind this machine's from when its events arrive: the smallest recent
 * delay, which is about the same for every live session. That holds only while the host's time advances at the rate of
 * ours: not while a backlog is read, nor while a recording is replayed at another speed. Main thread only.
 *
 *   delay  |.             a backlog is read first
 *          | .  .   .
 *          |  .. ... ..   then one delay per live timer period: the least of the last seconds counts
 *          +------------ our time
 *
 * A delay far below all of those means that the host's clock was set forward, or that a backlog is being read: only
 * what arrives from then on counts.
 */
enum { CLOCK_ARRIVAL_SECONDS = 8 };

struct clock_arrival {
	struct {
		uint64_t second; /* of our time */
		int64_t least_ns;
	} seconds[CLOCK_ARRIVAL_SECONDS]; /* ring of the seconds in which anything arrived */
	unsigned n;                       /* seconds so far, since such a delay */
};

/*
 * By now_ns of our clock, everything that happened up to host_ns of the host's clock had arrived. Returns whether a new
 * second started.
 */
bool clock_arrival_note(struct clock_arrival *a, uint64_t host_ns, uint64_t now_ns);

/*
 * Our time minus the host's, less than 73 years, and how much that varied. False: not known, or not known any longer.
 */
bool clock_arrival_delay(const struct clock_arrival *a, int64_t *delay_ns, uint64_t *spread_ns);

/* Whether anything arrived within that many seconds before now_ns of our clock. */
bool clock_arrival_is_recent(const struct clock_arrival *a, uint64_t now_ns, unsigned seconds);

#endif
