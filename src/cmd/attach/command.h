/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_ATTACH_COMMAND_H
#define LT_CMD_ATTACH_COMMAND_H

#include "cli/options.h"
#include "control/keeper.h"

/*
 * `attach -- COMMAND`: traces this machine while COMMAND runs with this process's terminal, input and output.
 *
 *   attach_command_start() … open the source … attach_command_let_go() … read it to its end … attach_command_end()
 */
struct attach_command {
	struct record_plan *plan;
	struct keeper keeper;
	struct keeper_traced traced;
	char *source; /* the source to read, from its start */
};

/*
 * Starts tracing; COMMAND, the words after "--", waits. Returns -1, or the exit status: the reason has been printed to
 * stderr and nothing is left behind.
 */
int attach_command_start(struct attach_command *c, const struct options *o);

/*
 * Starts COMMAND; when it ends, so does the source. Signals are forwarded to it; once it has ended they end the reading
 * (report_stop).
 */
void attach_command_let_go(struct attach_command *c);

/*
 * Waits for COMMAND, or kills one that was never started, then ends everything else. Returns COMMAND's exit status or,
 * if that is 0 and reading or writing failed, status.
 */
int attach_command_end(struct attach_command *c, int status);

#endif
