/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_KEEPER_H
#define LT_CONTROL_KEEPER_H

#include <sys/types.h>

#include "base/status.h"
#include "control/plan.h"
#include "control/process.h"

/*
 * The tracing of this machine for as long as this process lives, kept by a process of its own: the keeper starts a
 * relayd and, if none answers, a session daemon (private.h), carries out a plan, and when this process ends, in
 * whatever way, ends and removes everything. Signals of the terminal do not reach it.
 *
 *     this process ── keeper_start() ──▶ keeper ──▶ relayd, session daemon, session, command
 *          │  ◀─ where it stores, SOURCE ──┤
 *          │  ◀─ the command's status ─────┤
 *          └── its end, or keeper_end() ──▶┘  the command ends, the session, the daemons; the directory goes
 *
 * The command may be a process of the caller instead, which has its terminal and waits for it.
 */
struct keeper {
	pid_t pid;
	int fd;             /* connected to it; -1: there is none */
	char *store;        /* where the relayd keeps its files; until keeper_end() */
	int command_status; /* after keeper_end(): 128+n if signal n ended it; -1: the plan has none */
};

/*
 * A process of the caller, at its gate, whose system calls are recorded; with its end the recording ends. It is ended
 * if the caller is killed.
 */
struct keeper_traced {
	struct process process;
	bool children; /* and theirs, which means everybody's: the tracer follows none; else of this process alone */
};

/*
 * Carries out the plan, live, here or on its hosts (cluster.h); its session and url are set here, its command writes
 * into output (a descriptor, borrowed). traced: NULL: none. *source: what the monitor is to read, from its start; the
 * caller frees it. LT_ERROR: what failed; nothing is left. LT_INTERRUPTED: a signal waits for
 * process_release_signals(), likewise. Signals are held (process.h).
 */
enum lt_status keeper_start(struct keeper *keeper, struct record_plan *plan, int output,
			    const struct keeper_traced *traced, char **source);

/* Ends everything; waits until it is gone. A command that still runs gets SIGTERM. */
void keeper_end(struct keeper *keeper);

#endif
