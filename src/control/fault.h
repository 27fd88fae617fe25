/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_FAULT_H
#define LT_CONTROL_FAULT_H

#include <stdbool.h>

#include "base/status.h"
#include "control/plan.h"

/* Where a machine says which version of lttng-modules it runs. */
#define TRACER_VERSION_FILE "/sys/module/lttng_tracer/version"

/* A context that does harm: with some versions of the kernel tracer, on some machines, or beside some events. */
struct tracer_fault {
	const char *context;  /* a pattern of names, see fnmatch(3) */
	const char *versions; /* NULL: all; else patterns as in a shell's case, of the version up to its first '-' */
	bool counter;         /* only counters that the machine does not have */
	const char *beside;   /* only beside tracepoints of this pattern; NULL: any */
	bool bearable;        /* the user has to know of it, no more */
	const char *harm;     /* said of the version or the context: "crashes the kernel with it" */
	const char *remedy;
};

/* What is known against a context whatever else is recorded; NULL: nothing that would refuse it. */
const struct tracer_fault *fault_find(const char *context);

/* The faults of a version of lttng-modules, from i = 0 on; NULL: no more. */
const struct tracer_fault *fault_of_version(const char *version, unsigned i);

/*
 * Asked before anything is enabled: whether what the plan wants of the kernel does no
 * harm, on this machine or, with plan.hosts, on any. LT_ERROR: it does, or what
 * would say so is not known; a warning with plan.unsafe.
 */
enum lt_status fault_check(const struct record_plan *plan);

/*
 * The same of the machine where a shell runs it: commands joined by "&&", which say
 * why and fail where a fault is present; with plan.unsafe they only say it. NULL: none is
 * needed. The caller frees it.
 */
char *fault_guards(const struct record_plan *plan);

#endif
