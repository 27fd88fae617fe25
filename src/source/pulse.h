/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_PULSE_H
#define LT_SOURCE_PULSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/nstime.h"

/*
 * Whether a process still makes progress. A heartbeat shows that it does, but a missing one does not show the opposite:
 * on a busy machine a healthy process may need many times as long between two beats, and its observer is late as well.
 * Without a beat it is considered stopped when, for the limit,
 *
 *   - it was blocked or stopped at every look and used no CPU time in between. Waiting for a CPU does not count, and
 *     after a longer time without a look only PULSE_LOOK_MAX_MS count;
 *   - or it has used PULSE_SPIN times the limit of CPU time: it is in an endless loop.
 */
enum { PULSE_LOOK_MAX_MS = 2 * MS_PER_S, PULSE_SPIN = 6 };

/* The result of a look. */
struct pulse_look {
	uint64_t now_ns;  /* monotonic */
	uint64_t beat_ns; /* its last beat, by any clock */
	uint64_t cpu_ns;  /* its CPU time */
	bool runnable;    /* it is running or waiting for a CPU */
};

/* All zero: nothing is known yet. */
struct pulse {
	struct pulse_look last;
	uint64_t beat_cpu_ns; /* its CPU time when the beat was first seen */
	uint64_t idle_ns;     /* time blocked or stopped since the last beat */
};

enum pulse_finding { PULSE_ALIVE, PULSE_BLOCKED, PULSE_SPINS };

/* Takes a look into account. */
enum pulse_finding pulse_feel(struct pulse *p, const struct pulse_look *look, unsigned limit_ms);

/* Fills in cpu_ns and runnable for a child; 0 and false if it is gone, as with pid 0. */
void pulse_look_at(struct pulse_look *look, pid_t pid);

#endif
