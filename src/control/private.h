/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_PRIVATE_H
#define LT_CONTROL_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

/*
 * What a run of --local has for itself, in a directory that nobody else may enter:
 *
 *   BASE/                 /run/lttngtop of root, else lttngtop in XDG_RUNTIME_DIR, or below the temporary directory
 *     lock                held while runs start or end
 *     sessiond            pid and start time of a session daemon that a run has started; the last run ends it
 *     RUN/                named by the process that was started
 *       lock              held as long as the run lives, so the next run knows a dead one
 *       processes         a line for each: pid, start time
 *       session           the name of its tracing session
 *       store             where its relayd stores, if not here: a directory in /var/tmp
 *       relayd/, *.log    what its relayd stores and says
 *
 * A process is only ever ended if its start time is the noted one: pids are used again. Signals are held
 * (process.h). Functions that fail say why in the error chain.
 */
struct private_run {
	char *base, *dir;
	char *store;                                 /* where the relayd's directory is: dir, or one on a disk */
	int base_lock, lock;                         /* descriptors; -1: not held */
	pid_t relayd;                                /* 0: not started */
	unsigned control_port, data_port, view_port; /* of the relayd, on 127.0.0.1 */
};

/*
 * Removes what runs that were killed have left behind, and makes the directory of a new one. Until
 * private_settle() no other run starts or ends.
 */
enum lt_status private_open(struct private_run *run, pid_t name);

/*
 * Where the relayd stores what comes from so many bytes of buffers (place.h); before it is started. Returns how many
 * bytes that may be.
 */
uint64_t private_place(struct private_run *run, uint64_t buffers_bytes);

/* A relayd that ends with this process, however that ends. It takes its time to start; others may do so meanwhile. */
enum lt_status private_start_relayd(struct private_run *run);

/* Until it takes tracers and viewers; on other ports if somebody else has got its own. */
enum lt_status private_await_relayd(struct private_run *run);

/* A session daemon answers, as daemon_require() has it. */
enum lt_status private_require_daemon(struct private_run *run, bool kernel);

/* What the next run is to end or remove if this one cannot do it. LT_ERROR: then it must not be started. */
enum lt_status private_note_process(const struct private_run *run, pid_t pid);
enum lt_status private_note_session(const struct private_run *run, const char *session);

/* The session exists: from now on the daemon is not ended by other runs. */
void private_settle(struct private_run *run);

/* Ends everything and removes it; harmless after a failed private_open(). */
void private_close(struct private_run *run);

#endif
