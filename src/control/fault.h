/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_FAULT_H
#define LT_CONTROL_FAULT_H

#include <stdbool.h>

#include "base/status.h"
#include "control/plan.h"

/* Contains the version of lttng-modules that is loaded. */
#define TRACER_VERSION_FILE "/sys/module/lttng_tracer/version"

/* A context that is harmful with some versions of the kernel tracer, on some machines, or together with some events. */
struct tracer_fault {
	const char *context;  /* pattern for names, see fnmatch(3) */
	const char *versions; /* NULL: all; else patterns as in a shell's case, for the version up to its first '-' */
	bool counter;         /* only for counters that the machine lacks */
	const char *beside;   /* only together with tracepoints that match this pattern; NULL: always */
	bool bearable;        /* only warn */
	const char *harm;     /* continues the version's or context's name: "crashes the kernel with it" */
	const char *remedy;
};

/* The fault that would refuse a context whatever else is recorded; NULL: there is none. For tests. */
const struct tracer_fault *fault_find(const char *context);

/* The i-th fault of a version of lttng-modules; NULL: no more. */
const struct tracer_fault *fault_of_version(const char *version, unsigned i);

/*
 * Checks, before anything is enabled, that what the plan records in the kernel does no harm on this machine or, with
 * plan.hosts, on any. LT_ERROR: it does, or that cannot be determined. With plan.unsafe this is only a warning.
 */
enum lt_status fault_check(const struct record_plan *plan);

/*
 * The same check for the machine whose shell runs it: commands joined by "&&" that print the reason and fail if a fault
 * is present; with plan.unsafe they only print it. NULL: nothing to check. The caller frees it.
 */
char *fault_guards(const struct record_plan *plan);

#endif
