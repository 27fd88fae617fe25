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
char *commands_remote_start(const struct record_plan *plan);
char *commands_remote_stop(const char *session);
char *commands_snapshot(const char *session);
char *commands_refresh(const char *session);
char *commands_remote_refresh(const char *session, const char *messages);

/*
 * A host that does not stream records below COMMANDS_REMOTE_DIR, which is what is fetched from there: fetch
 * writes it as a tar archive to its stdout, nothing if there is none; clear removes it.
 */
#define COMMANDS_REMOTE_DIR "~/.cache/lttngtop"
char *commands_remote_fetch(const char *session);
char *commands_remote_clear(const char *session);

/* Adds what a script for sh prints to a file in that directory, if anything was recorded there. */
char *commands_remote_leave(const char *session, const char *file, const char *script);

/* The directory below plan.output, or another one, for what is fetched from a host. The caller frees it. */
char *commands_fetch_dir(const char *output, const char *host);

#endif
