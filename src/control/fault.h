/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_FAULT_H
#define LT_CONTROL_FAULT_H

#include "base/status.h"

/* Where a machine says which version of lttng-modules it runs. */
#define TRACER_VERSION_FILE "/sys/module/lttng_tracer/version"

/* A context that does harm in some versions of the kernel tracer. */
struct tracer_fault {
	const char *context;
	const char *versions; /* patterns as in a shell's case, between '|'; of the version up to its first '-' */
	const char *harm;     /* of the version: "crashes the kernel with it" */
	const char *remedy;
};

/* What is known against a context; NULL: nothing. */
const struct tracer_fault *fault_find(const char *context);

/* The faults of a version of lttng-modules, from i = 0 on; NULL: no more. */
const struct tracer_fault *fault_of_version(const char *version, unsigned i);

/*
 * Whether a context does no harm on this machine. LT_ERROR: it does, or the
 * tracer's version, which would say so, is not known.
 */
enum lt_status fault_check(const char *context);

#endif
