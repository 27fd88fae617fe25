/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_COMMANDS_H
#define LT_CONTROL_COMMANDS_H

#include "control/plan.h"

/*
 * A plan as commands of the lttng tool: what --dry-run prints and what other
 * hosts are told over ssh.
 */

/* The words as a POSIX shell reads them back: quoted where they must be. The caller frees it. */
char *commands_quote(char *const *words);

/*
 * All of it as lines of a shell script, of the other hosts as ssh commands: setup,
 * start, the command, stop. Without a command it ends with the start. The caller frees it.
 */
char *commands_script(const struct record_plan *plan);

/*
 * What ssh runs on a host, a line for its shell. setup: leaves no session
 * behind if it fails. The caller frees them.
 */
char *commands_remote_setup(const struct record_plan *plan);
char *commands_remote_start(const char *session);
char *commands_remote_stop(const char *session);

#endif
