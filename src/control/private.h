/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_PRIVATE_H
#define LT_CONTROL_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

/*
 * What a run of --local, or of `record` on this machine, has started and the next run must end if this one is killed.
 * It is noted in a directory that only its user can enter, which also has the files of a --local run:
 *
 *   BASE/                 /run/lttngtop for root, else lttngtop in XDG_RUNTIME_DIR or in the temporary directory
 *     lock                held while runs start or end
 *     sessiond            pid and start time of a session daemon started by a run; the last run ends it
 *     RUN/                named after the process that was started
 *       lock              held while the run lives, so that the next run recognises a dead one
 *       processes         one line each: pid, start time
 *       session           name of its tracing session
 *       created           when that was created, in s since the epoch; not there: its name cannot be another session's
 *       daemon            pid and start time of the session daemon that has it
 *       store             where its relayd stores its files, if not here: a directory in /var/tmp
 *       relayd/, *.log    files and messages of its relayd
 *
 * Pids are reused, so a process is only ended if its start time matches. Signals must be held (process.h). Functions
 * that return LT_ERROR explain it in the error chain.
 */
struct private_run {
	char *base, *dir;
	char *store;                                 /* directory that holds the relayd's: dir, or one on a disk */
	int base_lock, lock;                         /* descriptors; -1: not held */
	pid_t relayd;                                /* 0: not started */
	unsigned control_port, data_port, view_port; /* the relayd's, on 127.0.0.1 */
};

/*
 * Removes what killed runs have left behind and creates the directory of a new run, which is named after this process
 * or its parent. Waits for other runs that start or end, until a held signal comes or that parent is gone; none does
 * from then on until private_settle().
 */
enum lt_status private_open(struct private_run *run, pid_t named_after);

/*
 * Chooses where the relayd, not yet started, stores data that comes from buffers of this size (place.h). Returns how
 * many bytes it may store.
 */
uint64_t private_place(struct private_run *run, uint64_t buffers_bytes);

/* Starts a relayd that dies with this process, however that ends. It needs time to start, which the caller can use. */
enum lt_status private_start_relayd(struct private_run *run);

/* Waits until the relayd accepts tracers and viewers; starts it on other ports if its own were taken. */
enum lt_status private_await_relayd(struct private_run *run);

/* Makes sure that a session daemon answers, as daemon_require() does, and notes one that had to be started. */
enum lt_status private_require_daemon(const struct private_run *run, bool kernel, bool may_start, pid_t *started);

/*
 * Notes what the next run must end or remove if this one cannot. LT_ERROR: it must not be started. The session daemon
 * must answer when a session is noted.
 */
enum lt_status private_note_process(const struct private_run *run, pid_t pid);
enum lt_status private_note_session(const struct private_run *run, const char *session);

/* The same for a session that exists and whose name later ones could have. */
enum lt_status private_note_created(const struct private_run *run, const char *session);

/* No run ends the session any more: it is gone, or it is left to the user. */
void private_forget_session(const struct private_run *run);

/* To be called once the session exists: from then on other runs do not end the daemon. */
void private_settle(struct private_run *run);

/* Ends and removes everything; harmless after a failed private_open(). */
void private_close(struct private_run *run);

#endif
