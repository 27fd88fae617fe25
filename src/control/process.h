/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_PROCESS_H
#define LT_CONTROL_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"

/* Hundreds of live sessions need more descriptors than a process has by default. The command keeps its old limit. */
void process_raise_file_limit(void);

/*
 * The command to be recorded, and the handling of signals around it. Main thread only.
 *
 *   process_hold_signals() … process_prepare() … process_run() … process_release_signals()
 *
 * While signals are held, none of them can end this process halfway through setting up or cleaning up: they stay
 * pending, are forwarded to the command, or take effect on release. SIGPIPE is ignored: a session daemon may hang up in
 * the middle of a request.
 */
void process_hold_signals(void);

/* Whether held signals end this process for now: while it only asks for something and may not get an answer. */
void process_admit_signals(bool admit);

/* The held signals: those that ask a program to end, and SIGCHLD. */
void process_fill_held(sigset_t *set);

/* Whether a signal that would end the process is pending. */
bool process_is_interrupted(void);

/* Removes and returns one of them; 0: none is pending. */
int process_take_signal(void);

/* Pending signals take effect here. */
void process_release_signals(void);

/* Restores the signal state for children other than the command. Can be a GSpawnChildSetupFunc. */
void process_unblock_signals(void *unused);

struct process {
	pid_t pid; /* 0: there is none */
	int gate;  /* descriptor; -1: open */
};

enum {
	PROCESS_NOT_EXECUTABLE = 126, /* exit statuses, as in shells, for a command that cannot be run */
	PROCESS_NOT_FOUND = 127,
};

/* 0, or one of the above exit statuses with the reason in the error chain. */
int process_check(const char *name);

/* Creates a process that waits at a gate before it becomes the command. argv is borrowed. */
enum lt_status process_prepare(struct process *p, char *const *argv);

/* Opens the gate, whether signals are held or not. LT_ERROR: the process has died. */
enum lt_status process_let_go(struct process *p);

/*
 * The pid at the start of a file's text, with *end after it; 0 if there is none that a process can have: others mean
 * groups of processes to kill(), or all that there are.
 */
pid_t process_parse_pid(const char *text, char **end);

/* A wait status as an exit status, 128+n for signal n. */
int process_exit_status(int wait_status);

/*
 * Opens the gate and waits for the command to end. Forwards SIGTERM and SIGHUP to it, also SIGINT and SIGQUIT unless
 * they came from the terminal, which sends them to the command itself. Returns the exit status, 128+n if signal n ended
 * it.
 */
int process_run(struct process *p);

/* Ends a process that still waits at its gate; does nothing after process_run(). */
void process_cancel(struct process *p);

#endif
