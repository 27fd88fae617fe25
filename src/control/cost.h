/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_COST_H
#define LT_CONTROL_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "control/plan.h"

/* What a recording costs this machine: estimated from what the kernel counts anyway, and what it did cost. */

struct cost_estimate {
	double events_per_s, bytes_per_s;
	bool calls; /* and two events for each system call, which no kernel counts */
};

/* Of a kernel channel as planned (before tracer_probe()), at the rates of the moment: takes COST_SAMPLE_MS. */
enum { COST_SAMPLE_MS = 200 };
struct cost_estimate cost_estimate(const struct record_channel *c);

/* The same of rates per second by enum record_cost. */
struct cost_estimate cost_of_rates(const struct record_channel *c, const double rates[RECORD_COSTS]);

/*
 * Whether recording, relaying and showing it on this machine of n CPUs takes less than COST_LOW_SHARE of them. An
 * event takes COST_SHOWN_EVENT_NS in all of a processor with 10^9 instructions per second (tests/kernel/costs),
 * less of a faster one.
 */
#define COST_LOW_SHARE 0.05
enum { COST_SHOWN_EVENT_NS = 4500 };
bool cost_is_low(const struct cost_estimate *e, unsigned n_cpus);

/* CPU time that LTTng's consumer daemons on this machine have used since they were started; 0: there are none. */
uint64_t cost_consumer_ns(void);

/* The same of all threads that a process has now, by its number in /proc; 0: there is no such process. */
uint64_t cost_process_ns(const char *pid);

/* Of all files below a directory. */
uint64_t cost_size_bytes(const char *directory);

#endif
