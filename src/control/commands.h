/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_COMMANDS_H
#define LT_CONTROL_COMMANDS_H

#include "control/plan.h"

/* Turns a plan into lttng commands: what --dry-run prints and what is run on other hosts over ssh. */

/* Joins words into a line for a POSIX shell, quoting where needed. The caller frees it. */
char *commands_quote(char *const *words);

/*
 * A command for any login shell, which runs the script in sh: csh accepts neither newlines nor '!' in quotes, fish
 * removes some backslashes. Where these occur, printf restores them. The caller frees it.
 */
char *commands_for_ssh(const char *script);

/*
 * The whole plan as a shell script, with ssh commands for other hosts: setup, start, the command, stop. Without a
 * command it ends after the start. The caller frees it.
 */
char *commands_script(const struct record_plan *plan);

/*
 * What is run on a host: one line for sh each, which the caller frees. If the setup fails it leaves no session behind.
 */
char *commands_remote_setup(const struct record_plan *plan);
char *commands_remote_start(const struct record_plan *plan);
char *commands_remote_stop(const char *session);               /* does nothing if only the recording is there */
char *commands_remote_discard(const struct record_plan *plan); /* with what it recorded */
char *commands_snapshot(const char *session);
char *commands_remote_refresh(const char *session, const char *messages);

/*
 * A host that does not stream records below COMMANDS_REMOTE_DIR. The fetch command writes the recording as a tar
 * archive to stdout (an empty one if nothing was recorded); the clear command removes it.
 */
#define COMMANDS_REMOTE_DIR "~/.cache/lttngtop"
char *commands_remote_fetch(const char *session);
char *commands_remote_clear(const char *session);

/* Appends the output of a script for sh to a file in that directory, if anything was recorded there. */
char *commands_remote_leave(const char *session, const char *file, const char *script);

/* The directory below output for a recording fetched from a host. The caller frees it. */
char *commands_fetch_dir(const char *output, const char *host);

#endif
