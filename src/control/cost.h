/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_COST_H
#define LT_CONTROL_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "control/plan.h"

/* What a recording costs this machine: an estimate from the kernel's own counters, and the actual cost afterwards. */

struct cost_estimate {
	double events_per_s, bytes_per_s;
	bool calls; /* plus two events per system call, which no kernel counter covers */
};

/* For a kernel channel as planned (before tracer_probe()), at the machine's current rates. Takes COST_SAMPLE_MS. */
enum { COST_SAMPLE_MS = 200 };
struct cost_estimate cost_estimate(const struct record_channel *c);

/* The same for given rates per second, indexed by enum record_cost. */
struct cost_estimate cost_of_rates(const struct record_channel *c, const double rates[RECORD_COSTS]);

/*
 * Whether recording, relaying and displaying would use less than COST_LOW_SHARE of n_cpus CPUs. An event takes
 * COST_SHOWN_EVENT_NS altogether on a processor that executes 10^9 instructions per second (tests/kernel/costs), less
 * on a faster one.
 */
#define COST_LOW_SHARE 0.05
enum { COST_SHOWN_EVENT_NS = 4500 };
bool cost_is_low(const struct cost_estimate *e, unsigned n_cpus);

/* CPU time used by LTTng's consumer daemons on this machine since they started; 0 if there are none. */
uint64_t cost_consumer_ns(void);

/* CPU time used by a process's current threads; pid: its directory's name in /proc. 0 if there is no such process. */
uint64_t cost_process_ns(const char *pid);

/* Total size of all files below a directory. */
uint64_t cost_size_bytes(const char *directory);

#endif
