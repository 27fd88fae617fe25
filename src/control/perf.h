/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_PERF_H
#define LT_CONTROL_PERF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Makes a counter's name a context's: the CPU's counter, read at each event. */
#define PERF_CONTEXT_PREFIX "perf:cpu:"

/* The directory that lists the sources of counters. */
#define PERF_SOURCES "/sys/bus/event_source/devices"

/* A counter under lttng's name. type and config: see perf_event_open(2). */
struct perf_counter {
	const char *name;
	uint32_t type;
	uint64_t config;
};

/* Accepts "perf:cpu:NAME" and "NAME". NULL: unknown. */
const struct perf_counter *perf_counter_find(const char *name);

/* Whether the counter needs a performance monitoring unit; the kernel itself counts the others. */
bool perf_counter_is_hardware(const struct perf_counter *counter);

/*
 * Whether this machine has the counter. Check this before asking the tracer: a kernel that is asked to use a unit it
 * does not have may crash. LT_ERROR: it does not have it.
 */
enum lt_status perf_counter_probe(const struct perf_counter *counter);

/*
 * The same check for another machine: a shell command that succeeds if the counter is listed. Counters that exist
 * without being listed count as absent. NULL: every kernel has the counter. The caller frees it.
 */
char *perf_counter_test(const struct perf_counter *counter);

#endif
