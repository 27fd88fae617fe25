/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLI_COMMANDS_H
#define LT_CLI_COMMANDS_H

#include "base/status.h"
#include "cli/help.h"
#include "cli/options.h"

/*
 * The subcommands, implemented in cmd/. They receive the parsed options and return the exit status (cli/fail.h). All
 * signals have their default action when they start, which gives a shell 128+n (also for SIGPIPE: a report piped into
 * `head` just ends), after that of base/out_of_memory.h. A command that must do more (restore the terminal, end a live
 * report properly) installs its own handler. The caller flushes stdout and reports an error there.
 */
int cmd_monitor(const struct options *o);
int cmd_report(const struct options *o);
int cmd_record(const struct options *o);
int cmd_list(const struct options *o);
int cmd_feed(const struct options *o);
int cmd_doctor(const struct options *o);
int cmd_attach(const struct options *o);

/*
 * What the tables of a command contribute to its help and man page: the monitor's keys, report's tables and columns,
 * record's sets, list's states, attach's output and what it does not support of strace. One section each; with h->brief
 * only the names (report: the tables; others: nothing).
 */
void cmd_monitor_help(struct help *h);
void cmd_report_help(struct help *h);
void cmd_record_help(struct help *h);
void cmd_list_help(struct help *h);
void cmd_attach_help(struct help *h);

/* The help of a single table of report. LT_ERROR: there is no such table. */
enum lt_status cmd_report_table_help(struct help *h, const char *name);

#endif
