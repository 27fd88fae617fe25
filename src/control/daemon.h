/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_DAEMON_H
#define LT_CONTROL_DAEMON_H

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"

/*
 * Makes sure that a session daemon answers: root's for the kernel, otherwise any. If none does and may_start is set,
 * starts one (lttng-sessiond --daemonize, or $LTTNG_SESSIOND_PATH) and stores its pid in *started, else 0. LT_ERROR:
 * the error chain says what is missing.
 */
enum lt_status daemon_require(bool kernel, bool may_start, pid_t *started);

/* Whether a session daemon answers. LT_ERROR: none does, with the reason in the error chain. */
enum lt_status daemon_check(void);

/* Whether this user asks root's session daemon: as root, or if it is running and this user may. */
bool daemon_is_of_root(void);

/* Whether root's session daemon is running, but this user may not use it. */
bool daemon_is_refused(void);

/* Whether one of its consumer daemons has died: it starts no other, and can neither record nor finish recordings. */
bool daemon_consumer_died(void);

/* The pid in the daemon's pid file; 0 if there is none. */
pid_t daemon_pid(void);

/* Ends a daemon started by daemon_require() unless it still has sessions; waits until it is gone. */
void daemon_end(pid_t started);

/* Why a daemon could not be spawned, and what to do. Borrowed from the error or static. */
const char *daemon_spawn_reason(const GError *error);

#endif
