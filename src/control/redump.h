/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_REDUMP_H
#define LT_CONTROL_REDUMP_H

#include <stdint.h>
#include <sys/types.h>

/*
 * A live viewer sees what comes after it has attached, so the state dump of the
 * start reaches none that attaches later. The tracer does not repeat it by
 * itself: its timers end packets, its triggers and rotation schedules know no such action. A
 * process of ours does, for as long as the session exists; it holds no
 * file, and asks the session daemon every second whether the session is still there.
 */

/* The first repetition comes soon: who reads where to attach does so within seconds. */
enum { REDUMP_FIRST_S = 5 };

/*
 * What else the process does, with what begin() returned there; NULL: nothing. all: at once, and with each state dump;
 * news: every REDUMP_NEWS_S, what is new since.
 */
enum { REDUMP_NEWS_S = 5 };

struct redump_also {
	void *(*begin)(const void *data); /* in the new process; NULL: it is not possible */
	void (*all)(void *also);
	void (*news)(void *also);
	const void *data; /* for begin() */
};

/*
 * Starts the process, in a session and process group of its own. also may be NULL. 0: not possible, see the error
 * chain.
 */
pid_t redump_start(const char *session, uint64_t period_ns, const struct redump_also *also);

/* Ends the process at once, if pid is not 0, instead of within a second after the session. */
void redump_end(pid_t pid);

#endif
