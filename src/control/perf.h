/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_PERF_H
#define LT_CONTROL_PERF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Before a counter's name it is the name of a context: the counter of the CPU, read at each event. */
#define PERF_CONTEXT_PREFIX "perf:cpu:"

/* The directory whose entries are the sources of counters. */
#define PERF_SOURCES "/sys/bus/event_source/devices"

/* A counter as lttng names it. type and config: see perf_event_open(2). */
struct perf_counter {
	const char *name;
	uint32_t type;
	uint64_t config;
};

/* NULL: unknown. Takes "perf:cpu:NAME" as well as "NAME". */
const struct perf_counter *perf_counter_find(const char *name);

/* The counter needs a performance monitoring unit; others are counted by the kernel. */
bool perf_counter_is_hardware(const struct perf_counter *counter);

/*
 * Whether this machine has the counter. Asked before the tracer is: a kernel that
 * is told to use a unit it does not have may crash. LT_ERROR: it has not.
 */
enum lt_status perf_counter_probe(const struct perf_counter *counter);

/*
 * The same of another machine: a shell's command that succeeds if it lists the counter. What it can
 * have without listing it counts as absent. NULL: every kernel has the counter. The caller frees it.
 */
char *perf_counter_test(const struct perf_counter *counter);

#endif
