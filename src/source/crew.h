/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_CREW_H
#define LT_SOURCE_CREW_H

#include <glib.h>
#include <stdbool.h>

#include "base/status.h"
#include "source/child.h"
#include "source/job.h"
#include "source/pulse.h"

/*
 * Inside source/: the worker processes. One that reads a recording serves one source. Those that read from relayds,
 * one per CPU or as many as are wanted, share them all. A new source goes to the one that has fewest; one during whose
 * turn a worker died gets one of its own the next time, so that it harms no other.
 *
 *   sources of relayds ──commands, rings──▶ worker        a recording ──arguments, ring──▶ worker
 *   source ─────────────────────────────────▲
 *
 * What a worker does wrong concerns all its sources: the first that notices ends it for all. Nothing here waits for a
 * worker, which may mean harm. Main thread only.
 */
struct crew_worker {
	struct child child;
	unsigned sources;       /* that it serves */
	bool is_reserved;       /* for one source */
	int commands_fd;        /* of one that reads from relayds, or follows a directory; else -1 */
	GPtrArray *pending;     /* struct pending *: what it has not been told yet, oldest first; NULL: nothing */
	bool deaf;              /* it closed its standard error, and was killed */
	bool gone;              /* it has exited, or does not although it was killed: nothing comes any more */
	char *sentence;         /* why crew_end() was called, NULL */
	gint64 killed_us;       /* and when, monotonic */
	struct pulse_look look; /* the last one at the process; .now_ns 0: none */
};

/* The program the workers run, NULL: this binary. Borrowed. */
void crew_set_program(const char *program);

/* How many read from relayds at most; 0: one per CPU. */
void crew_set_most(unsigned n);

/*
 * Starts one for a source of its own: argv behind the program's name, descriptors as child_start(). NULL: a system
 * call failed (error chain).
 */
struct crew_worker *crew_start(char *const *argv, const int *fds, unsigned n);

/* The same for one that can be told other fields: behind the others it gets the descriptor of its commands. */
struct crew_worker *crew_start_steered(char *const *argv, const int *fds, unsigned n);

/* One that reads from relayds, for one more source; alone: for no other. NULL: as above. */
struct crew_worker *crew_join(bool alone);

/*
 * Gives it a source: fields as FIELDS of source/job.h, fds as JOB_FDS, which stay the caller's. LT_AGAIN: it has not
 * taken the last commands yet, try again. LT_ERROR: it cannot be given (error chain).
 */
enum lt_status crew_give(struct crew_worker *w, const struct job_command *command, const char *url, const char *fields,
			 const int *fds);

/* Of the source of that number, or its only one, these fields are wanted from now on; wanted: job_command.wanted. */
void crew_want(struct crew_worker *w, uint32_t number, const char *fields, uint32_t wanted);

/* The source of that number is not to be read any more. */
void crew_take_back(struct crew_worker *w, uint32_t number);

/* A source of it is done. The last one: the worker is killed, unless it exits within patience_ms. NULL is allowed. */
void crew_leave(struct crew_worker *w, unsigned patience_ms);

/* Keeps the last line of what it has said. */
void crew_hear(struct crew_worker *w);

/* Whether it exited, or should have by now. */
bool crew_is_gone(struct crew_worker *w);

/* Kills it, for the reason that crew_describe_end() gives then. */
void crew_end(struct crew_worker *w, const char *why);

/* Of one that is gone: "died: signal 11 (...): its last words", "was ended: the reason"; to be freed. */
char *crew_describe_end(const struct crew_worker *w);

/* What it does, looked at most once in every_ms: .cpu_ns, .runnable, .now_ns. Hears its words, too. */
const struct pulse_look *crew_look(struct crew_worker *w, unsigned every_ms);

#endif
