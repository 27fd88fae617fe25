/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_PROCESS_H
#define LT_CONTROL_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"

/*
 * The command that is recorded, and signals around it. Main thread only.
 *
 *   process_hold_signals() … process_prepare() … process_run() … process_release_signals()
 *
 * While signals are held, none ends this process half-way through setting up or
 * clearing away: they wait, go on to the command, or take effect at the release.
 * Nor does SIGPIPE: a session daemon may hang up in the middle of a request.
 */
void process_hold_signals(void);

/* The signals that are held: those that ask a program to end, and SIGCHLD. */
void process_fill_held(sigset_t *set);

/* Whether a signal that ends the process waits. */
bool process_is_interrupted(void);

/* Waiting signals take effect here, if at all. */
void process_release_signals(void);

/* For children that are not the command: signals as they were before. Fits GSpawnChildSetupFunc. */
void process_unblock_signals(void *unused);

struct process {
	pid_t pid;
	int gate; /* descriptor; -1: open */
};

enum {
	PROCESS_NOT_EXECUTABLE = 126, /* exit statuses of a command that cannot be run, as shells have it */
	PROCESS_NOT_FOUND = 127,
};

/* 0, or which of the above exit statuses a command would have, with the reason in the error chain. */
int process_check(const char *name);

/* Makes a process that waits at a gate, before it becomes the command. argv is borrowed. */
enum lt_status process_prepare(struct process *p, char *const *argv);

/* Opens the gate. LT_ERROR: the process is gone. */
enum lt_status process_let_go(struct process *p);

/* What waitpid() said as an exit status, 128+n after signal n. */
int process_exit_status(int wait_status);

/*
 * Opens the gate and waits for the end of the command. SIGTERM and SIGHUP go on
 * to it, also SIGINT and SIGQUIT unless the terminal has sent them to it
 * already. Returns its exit status, 128+n if signal n ended it.
 */
int process_run(struct process *p);

/* Ends a process that still waits at its gate; does nothing after process_run(). */
void process_cancel(struct process *p);

#endif
