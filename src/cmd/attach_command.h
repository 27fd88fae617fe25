/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_ATTACH_COMMAND_H
#define LT_CMD_ATTACH_COMMAND_H

#include "cmd/options.h"
#include "control/keeper.h"

/*
 * `attach -- COMMAND`: this machine is traced while COMMAND runs, which has this process's terminal, input and output.
 *
 *   attach_command_start() … open the source … attach_command_let_go() … read it to its end … attach_command_end()
 */
struct attach_command {
	struct record_plan *plan;
	struct keeper keeper;
	struct keeper_traced traced;
	char *source; /* what is to be read, from its start */
};

/*
 * Starts the tracing; COMMAND, the words behind "--", waits. Returns -1, or the exit status: what failed went to
 * stderr, and nothing is left.
 */
int attach_command_start(struct attach_command *c, const struct options *o);

/* COMMAND runs; its end ends the source. Signals go on to it; once it has ended they end the reading (report_stop). */
void attach_command_let_go(struct attach_command *c);

/*
 * Waits for the end of COMMAND, or ends one that was not let go; then ends all that was started. Returns the exit
 * status of COMMAND, or where that is 0 and nothing could be read or written, status.
 */
int attach_command_end(struct attach_command *c, int status);

#endif
