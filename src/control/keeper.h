/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_KEEPER_H
#define LT_CONTROL_KEEPER_H

#include <sys/types.h>

#include "base/status.h"
#include "control/plan.h"

/*
 * The tracing of this machine for as long as this process lives, kept by a process of its own: the keeper starts a
 * relayd and, if none answers, a session daemon (private.h), carries out a plan, and when this process ends, in
 * whatever way, ends and removes everything. Signals of the terminal do not reach it.
 *
 *     this process ── keeper_start() ──▶ keeper ──▶ relayd, session daemon, session, command
 *          │  ◀─ where it stores, SOURCE ──┤
 *          │  ◀─ the command's status ─────┤
 *          └── its end, or keeper_end() ──▶┘  the command ends, the session, the daemons; the directory goes
 */
struct keeper {
	pid_t pid;
	int fd;             /* connected to it; -1: there is none */
	char *store;        /* where the relayd keeps its files; until keeper_end() */
	int command_status; /* after keeper_end(): 128+n if signal n ended it; -1: the plan has none */
};

/*
 * Carries out the plan, live, here or on its hosts (cluster.h); its session and url are set here, its command writes
 * into output (a descriptor, borrowed). *source: what the monitor is to read, from its start; the caller frees it.
 * LT_ERROR: what failed; nothing is left. LT_INTERRUPTED: a signal waits for process_release_signals(), likewise.
 * Signals are held (process.h).
 */
enum lt_status keeper_start(struct keeper *keeper, struct record_plan *plan, int output, char **source);

/* Ends everything; waits until it is gone. A command that still runs gets SIGTERM. */
void keeper_end(struct keeper *keeper);

#endif
