/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_PULSE_H
#define LT_SOURCE_PULSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Whether a process still makes progress. Its heartbeat is a sign of it, its absence is not: on a busy machine a
 * healthy process may need many times as long for what lies between two beats, and whoever
 * looks after it is late as well. Without a beat it has stopped when, for the limit,
 *
 *   - it was blocked or stopped whenever it was looked at and used no CPU time in between. One that waits for a CPU is
 *     neither, and of a longer time without a look only PULSE_LOOK_MAX_MS count;
 *   - or it used PULSE_SPIN times the limit of CPU time: it goes round in circles.
 */
enum { PULSE_LOOK_MAX_MS = 2000, PULSE_SPIN = 6 };

/* What a look shows. */
struct pulse_look {
	uint64_t now_ns;  /* monotonic */
	uint64_t beat_ns; /* its last beat, any clock */
	uint64_t cpu_ns;  /* its CPU time */
	bool runnable;    /* it runs or waits for a CPU */
};

/* All zero: nothing is known. */
struct pulse {
	struct pulse_look last;
	uint64_t beat_cpu_ns; /* its CPU time when the beat was first seen */
	uint64_t idle_ns;     /* blocked or stopped without a beat */
};

/* Takes a look into account; true: it has stopped. */
bool pulse_feel(struct pulse *p, const struct pulse_look *look, unsigned limit_ms);

/* Fills cpu_ns and runnable for a child. No CPU time, not runnable: it is gone. */
void pulse_look_at(struct pulse_look *look, pid_t pid);

#endif
