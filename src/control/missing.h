/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_MISSING_H
#define LT_CONTROL_MISSING_H

#include "control/plan.h"

/*
 * What a set wants and a machine's kernel or tracer does not have: it is left
 * out, and the user reads what will be missing in the monitor.
 */

/* Before the kind and name of what is missing, on a line of a script's output. */
#define MISSING_LINE "missing: "
#define MISSING_TRACEPOINT "tracepoint"
#define MISSING_CONTEXT "context"

/* Warns; host NULL: this machine. */
void missing_warn(const char *host, const char *kind, const char *name, const char *meaning);

/* The same for all lines of what a plan's script printed on a host. */
void missing_warn_lines(const struct record_plan *plan, const char *host, const char *output);

#endif
