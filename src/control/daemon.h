/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_DAEMON_H
#define LT_CONTROL_DAEMON_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"

/*
 * Sees to it that a session daemon answers: root's for the kernel, else any. Starts
 * one (lttng-sessiond --daemonize, or $LTTNG_SESSIOND_PATH) if none does and
 * may_start; *started is then its pid, else 0. LT_ERROR: what lacks stands in the error chain.
 */
enum lt_status daemon_require(bool kernel, bool may_start, pid_t *started);

/* Whether one answers. LT_ERROR: none, see the error chain. */
enum lt_status daemon_check(void);

/* The process that answers, as its file says; 0: none has one. */
pid_t daemon_pid(void);

/* Ends the daemon that daemon_require() has started, if it has no session left; waits until it is gone. */
void daemon_end(pid_t started);

#endif
