/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLI_MANUAL_ITEMS_H
#define LT_CLI_MANUAL_ITEMS_H

#include "cli/help.h"
#include "cli/options.h"

/* A term and its meaning in --help and the man pages. Lists of these end with a NULL term. */
struct manual_item {
	const char *term;
	const char *text;
};

void manual_print_items(struct help *h, const struct manual_item *items);

/* The options of other tools that the command does not have, each with the reason. */
void manual_print_refused(struct help *h, enum command_bit command);

/* Where the environment variable XDG_RUNTIME_DIR leads (control/private.h). */
#define MANUAL_RUNTIME_FILES                                                                          \
	" in the directory lttngtop below this one; if it is not usable, in $TMPDIR/lttngtop-UID or " \
	"/tmp/lttngtop-UID; for root, in /run/lttngtop"

/* Sections of several pages. */
extern const struct manual_item manual_times[], manual_amounts[], manual_globs[], manual_filters[],
	manual_of_analyses[], manual_of_bcc[];
extern const struct manual_item manual_exit_statuses[], manual_environment[]; /* of all commands that read sources */

/*
 * For a command of lttng-analyses, with or without "lttng-", or of bcc: "instead of lttng-cputop, use: report cpu". To
 * be freed. NULL: there is no such command.
 */
char *manual_instead_of(const char *name);

#endif
