/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_KEEPER_H
#define LT_CONTROL_KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"
#include "control/plan.h"
#include "control/process.h"

/*
 * Traces this machine, or a plan's hosts, while this process lives. A process of its own, the keeper, starts a relayd
 * and, if none answers, a session daemon (private.h), and carries out a plan. When this process ends, for whatever
 * reason, the keeper ends and removes everything. Signals from the terminal do not reach it.
 *
 *     this process ── keeper_start() ──▶ keeper ──▶ relayd, session daemon, session, command
 *          │  ◀─ store, SOURCE ────────────┤
 *          │  ◀─ the command's status ─────┤
 *          │  ◀─ warnings ─────────────────┤
 *          └── end, or keeper_end() ──────▶┘  ends the command, the session, the daemons; removes the directory
 *
 * The command may instead be a process of the caller, which gives it the terminal and waits for it.
 */
struct keeper {
	pid_t pid;
	int fd;             /* connection to the keeper; -1: none */
	char *store;        /* directory of the relayd's files; until keeper_end() */
	int command_status; /* valid after keeper_end(): 128+n if signal n ended it; -1: the plan has no command */
};

/*
 * A process of the caller, waiting at its gate, whose system calls are recorded; recording ends when it does. It dies
 * if the caller is killed.
 */
struct keeper_traced {
	struct process process;
	/*
	 * record its children, too: that means all processes, as the tracer cannot follow children; else only this
	 * process
	 */
	bool children;
};

/*
 * Carries out the plan, live, here or on its hosts (cluster.h), and sets its session and url. Its command writes to
 * output (a borrowed descriptor); traced may be NULL. *source: what the monitor reads, from its start; the caller frees
 * it. LT_ERROR: see the error chain; nothing is left behind. LT_INTERRUPTED: a signal waits for
 * process_release_signals(); nothing is left behind either. Signals must be held (process.h).
 */
enum lt_status keeper_start(struct keeper *keeper, struct record_plan *plan, int output,
			    const struct keeper_traced *traced, char **source);

/*
 * Takes what the keeper has sent, when keeper->fd is readable: logs its warnings, as of hosts that were lost. false:
 * the keeper is gone.
 */
bool keeper_hear(struct keeper *keeper);

/* Ends everything and waits until it is gone. A running command gets SIGTERM. */
void keeper_end(struct keeper *keeper);

#endif
