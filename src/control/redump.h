/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_REDUMP_H
#define LT_CONTROL_REDUMP_H

#include <stdint.h>
#include <sys/types.h>

/*
 * A live viewer sees only what comes after it has attached, so it misses the state dump made at the start. The tracer
 * cannot repeat it by itself: its timers only close packets, and its triggers and rotation schedules have no such
 * action. So a background process does it while the session exists. It keeps no file open and asks the session daemon
 * every second whether the session still exists.
 */

/* The first repetition comes early, for users who attach within seconds of starting. */
enum { REDUMP_FIRST_S = 5 };

/*
 * What else the process does, with what begin() returned; NULL: nothing. all(): at the start and with each state dump;
 * news(): what is new, every REDUMP_NEWS_S.
 */
enum { REDUMP_NEWS_S = 5 };

struct redump_also {
	void *(*begin)(const void *data); /* called in the new process; NULL: not possible */
	void (*all)(void *also);
	void (*news)(void *also);
	const void *data; /* for begin() */
};

/*
 * Starts the process in its own session and process group. also may be NULL. Returns its pid; 0: failed, see the error
 * chain.
 */
pid_t redump_start(const char *session, uint64_t period_ns, const struct redump_also *also);

/* Ends the process at once instead of within a second after the session; does nothing if pid is 0. */
void redump_end(pid_t pid);

#endif
