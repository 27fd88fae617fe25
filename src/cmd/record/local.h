/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_RECORD_LOCAL_H
#define LT_CMD_RECORD_LOCAL_H

#include <stdbool.h>

#include "cli/options.h"
#include "control/plan.h"

/*
 * Traces this machine for the monitor or a report that reads it: starts tracing before, and ends and removes it after
 * (control/keeper.h).
 */

/*
 * The monitor without words before "--". Words after it are a COMMAND, which implies --local, or sources. Without any
 * words it shows the live sessions of this machine's relayd, if there are any: they become the SOURCEs, chosen by the
 * user if there are several; otherwise it means --local, if that is possible. Returns -1 to run the monitor, or the
 * exit status: the user left, or what is missing and other ways to start were printed to stderr.
 */
int local_choose(struct options *o);

/* Checks that options that need --local are not given without it or a COMMAND. LT_ERROR: they are, wrong usage. */
enum lt_status local_check(const struct options *o, enum command_bit command);

/*
 * Runs the command while this machine is traced (with a COMMAND after "--", while that runs) or the hosts of `cluster`
 * are. Returns its exit status, or COMMAND's. COMMAND's output is printed to stderr: at the end, or at once if there is
 * no screen.
 */
int local_run(struct options *o, enum command_bit command, int (*run)(const struct options *o));

/*
 * Prints why the tracing of a plan could not be started (from the error chain) and, if it is this machine's fault, what
 * is missing. Returns the exit status.
 */
int local_fail_start(const struct record_plan *plan, enum command_bit command);

#endif
