/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_COMMANDS_H
#define LT_CMD_COMMANDS_H

#include "cmd/help.h"
#include "cmd/options.h"

/* Exit statuses; 128+n after signal n. On LT_EXIT_FAILURE and _USAGE the command has printed why to stderr. */
enum {
	LT_EXIT_OK = 0,
	LT_EXIT_FAILURE = 1,    /* no source could be read at all, or another failure at run time */
	LT_EXIT_USAGE = 2,      /* wrong usage */
	LT_EXIT_INCOMPLETE = 3, /* read, but lost or corrupt data; stderr says what */
};

/*
 * The subcommands, a file each. They get the parsed options and return the exit
 * status. Every signal has its default action when they start, which gives
 * 128+n as seen by a shell (also for SIGPIPE: a report into `head` just ends). A
 * command that must do more (restore the terminal, end a live report in order)
 * installs its own handler. The caller flushes stdout and reports if that fails.
 */
int cmd_monitor(const struct options *o);
int cmd_report(const struct options *o);
int cmd_record(const struct options *o);
int cmd_list(const struct options *o);
int cmd_feed(const struct options *o);
int cmd_doctor(const struct options *o);
int cmd_attach(const struct options *o);

/*
 * What the tables of a command add to its help and its man page: the keys of
 * the monitor, the tables and columns of report, the sets of record, the states of
 * list, what attach writes and what of strace it lacks. A section each; where h->brief, only the names (report: the
 * tables; others: nothing).
 */
void cmd_monitor_help(struct help *h);
void cmd_report_help(struct help *h);
void cmd_record_help(struct help *h);
void cmd_list_help(struct help *h);
void cmd_attach_help(struct help *h);

#endif
