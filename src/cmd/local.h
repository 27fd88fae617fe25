/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_LOCAL_H
#define LT_CMD_LOCAL_H

#include <stdbool.h>

#include "cmd/options.h"
#include "control/plan.h"

/*
 * This machine, now: the tracing that the monitor or a report reads is started before, and ended and removed after it
 * (control/keeper.h).
 */

/*
 * The monitor without words before "--". Behind it stand a COMMAND, which means --local, or sources. Without any word
 * it shows sessions of the relayd on this machine if it has any: they become the SOURCEs, chosen by the user where
 * there are several; else it is --local, where that can run. Returns -1: to be run. Else the exit status: the user
 * left, or what is missing, and the other ways to start, went to stderr.
 */
int local_choose(struct options *o);

/* Whether options that are only for --local stand without it. LT_ERROR: they do, wrong usage. */
enum lt_status local_check(const struct options *o, enum command_bit command);

/*
 * Runs the command on this machine's tracing, with a COMMAND behind "--" while that runs, or on that of the hosts of
 * `cluster`. Returns its exit status, or that of COMMAND. What COMMAND wrote is printed at the end to stderr, as it
 * comes where there is no screen.
 */
int local_run(struct options *o, enum command_bit command, int (*run)(const struct options *o));

/*
 * The tracing of a plan could not be started: says why (the error chain), and where that is this machine's fault, what
 * it lacks. Returns the exit status.
 */
int local_fail_start(const struct record_plan *plan, enum command_bit command);

#endif
