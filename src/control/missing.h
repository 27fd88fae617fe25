/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_MISSING_H
#define LT_CONTROL_MISSING_H

#include "control/plan.h"

/*
 * Events and contexts of a set that a machine's kernel or tracer does not have are left out; a warning says what will
 * be missing in the monitor.
 */

/* Precedes the kind and name of something missing, on a line of a script's output. */
#define MISSING_LINE "missing: "
#define MISSING_TRACEPOINT "tracepoint"
#define MISSING_CONTEXT "context"
#define MISSING_USER_CONTEXT "user-space context"

/* Prints the warning; host NULL: this machine. */
void missing_warn(const char *host, const char *kind, const char *name, const char *meaning);

/* The kind of a context of this domain. */
const char *missing_context(enum record_domain domain);

/* Prints a warning for each such line in a script's output from a host. */
void missing_warn_lines(const struct record_plan *plan, const char *host, const char *output);

#endif
