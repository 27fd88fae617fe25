/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_COST_H
#define LT_CONTROL_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "control/plan.h"

/* What a recording costs this machine: an estimate from the kernel's own counters, and the actual cost afterwards. */

struct cost_estimate {
	double events_per_s, bytes_per_s;
	/* In the quietest and the busiest part of the time observed: how much the load varies. */
	double least_events_per_s, most_events_per_s;
	bool calls; /* plus two events per system call, which no kernel counter covers */
};

/*
 * For a kernel channel as planned (before tracer_probe()), at the machine's current rates. Takes COST_SAMPLE_MS, in
 * COST_PARTS parts.
 */
enum { COST_SAMPLE_MS = 200, COST_PARTS = 4 };
struct cost_estimate cost_estimate(const struct record_channel *c);

/* How often each kind of event (enum record_cost) occurred in some time, which is not 0. */
struct cost_part {
	uint64_t us, counts[RECORD_COSTS];
};

/*
 * Adds the counts that /proc/stat has since boot: of tasks, switches, migrations, work items, wake-ups and interrupts.
 * Those that it does not contain are shares of others, as in recordings.
 */
void cost_count_stat(const char *text, uint64_t counts[RECORD_COSTS]);

/* The same for the given parts, of which there is at least one. */
struct cost_estimate cost_of_parts(const struct record_channel *c, const struct cost_part *parts, unsigned n);

/*
 * Whether recording, relaying and displaying would use less than COST_LOW_SHARE of n_cpus CPUs. An event takes
 * COST_SHOWN_EVENT_NS altogether on a processor that executes 10^9 instructions per second (tests/kernel/costs), less
 * on a faster one.
 */
#define COST_LOW_SHARE 0.05
enum { COST_SHOWN_EVENT_NS = 4500 };
bool cost_is_low(const struct cost_estimate *e, unsigned n_cpus);

/* CPU time used by the consumer daemons of the session daemon since they started; 0 if there are none. */
uint64_t cost_consumer_ns(void);

/*
 * Whether a process is a consumer daemon: a child of that session daemon or, if that is 0, not known, of root or this
 * user: any user's process can have its name. pid: as below.
 */
bool cost_is_consumer(const char *pid, pid_t daemon);

/* CPU time used by a process's current threads; pid: its directory's name in /proc. 0 if there is no such process. */
uint64_t cost_process_ns(const char *pid);

/* Total size of all files below a directory. */
uint64_t cost_size_bytes(const char *directory);

#endif
