/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_ARRIVAL_H
#define LT_CLOCK_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How far a live host's clock is behind ours, by when its events come: the least delay of late, of which a live
 * session has about as much as any other. That holds only while its time passes as fast as ours: not while a backlog
 * is read, nor where a recording is replayed at another speed. Main thread only.
 *
 *   delay  |.             at first a backlog is read
 *          | .  .   .
 *          |  .. ... ..   then it comes once per live timer: the least of the last seconds
 *          +------------ our time
 */
enum { CLOCK_ARRIVAL_SECONDS = 8 };

struct clock_arrival {
	struct {
		uint64_t second; /* of our time */
		int64_t least_ns;
	} seconds[CLOCK_ARRIVAL_SECONDS]; /* a ring of those in which anything came */
	unsigned n;                       /* that there have been */
};

/* What the host had done until host_ns by its clock was here at now_ns by ours. Returns whether a second began. */
bool clock_arrival_note(struct clock_arrival *a, uint64_t host_ns, uint64_t now_ns);

/* Our time - the host's, less than 73 years, and how much that varied. False: it is not known, or no more. */
bool clock_arrival_delay(const struct clock_arrival *a, int64_t *delay_ns, uint64_t *spread_ns);

#endif
