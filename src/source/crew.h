/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_CREW_H
#define LT_SOURCE_CREW_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "source/child.h"
#include "source/job.h"
#include "source/pulse.h"

/*
 * Inside source/: the worker processes. A worker for a recording serves a single source. Workers for relayds, by
 * default one per CPU, share all live sources: a new source goes to the worker with the fewest; if a worker died while
 * it handled a source, that source gets a worker of its own the next time, so that it does not harm others.
 *
 *   sources of relayds ──commands, rings──▶ worker        a recording ──arguments, ring──▶ worker
 *   source ─────────────────────────────────▲
 *
 * A worker's misbehaviour affects all its sources: the first one to notice ends it for all of them. Nothing here waits
 * for a worker, which may be hostile. Main thread only.
 */
struct crew_worker {
	struct child child;
	unsigned sources;   /* number of sources it serves */
	bool is_reserved;   /* for a single source */
	int commands_fd;    /* for workers that read from relayds or follow a directory; else -1 */
	int log;            /* its log of the latest data (source/recall_pool.h); -1: none */
	GPtrArray *pending; /* struct pending *: commands not sent yet, oldest first; NULL: there are none */
	bool deaf;          /* it has closed its standard error, and was killed */
	bool gone;          /* it has exited, or has not exited in time after being killed: nothing more will come */
	char *sentence;     /* why crew_end() was called; NULL: it was not */
	gint64 killed_us;   /* when it was called last, monotonic */
	struct pulse_look look; /* the last look at the process; .now_ns 0: there was none */
};

/* The program that workers execute; NULL: this binary. Borrowed. */
void crew_set_program(const char *program);

/* The greatest number of workers for relayds; 0: one per CPU. */
void crew_set_most(unsigned n);

/*
 * Starts a worker for a single source: argv and descriptors as in child_start(); argv[0] is its name as shown by ps.
 * NULL: a system call failed (error chain).
 */
struct crew_worker *crew_start(char *const *argv, const int *fds, unsigned n);

/*
 * The same for a worker that accepts requests for other fields: the descriptor of its commands is passed after the
 * others.
 */
struct crew_worker *crew_start_steered(char *const *argv, const int *fds, unsigned n);

/*
 * Returns a worker for relayds, for one more source; alone: for that one only; preferred_log: that has its past, -1:
 * none has. NULL: as above.
 */
struct crew_worker *crew_join(bool alone, int preferred_log);

/*
 * Passes a source to the worker: fields as FIELDS in source/job.h; fds as JOB_FDS, which still belong to the caller.
 * LT_AGAIN: it has not received the last commands yet, try again. LT_ERROR: the source cannot be passed (error chain).
 */
enum lt_status crew_give(struct crew_worker *w, const struct job_command *command, const char *url, const char *fields,
			 const int *fds);

/*
 * Asks for these fields, from now on, of the source with that number, or of its only one; wanted: job_command.wanted.
 */
void crew_want(struct crew_worker *w, uint32_t number, const char *fields, uint32_t wanted);

/* Asks the worker that follows a directory to end when it has read what the directory holds now. */
void crew_read_rest(struct crew_worker *w, uint32_t number);

/* Asks the worker to stop reading the source with that number. */
void crew_take_back(struct crew_worker *w, uint32_t number);

/*
 * One of its sources has ended. After the last one the worker is killed, unless it exits within patience_ms. NULL is
 * allowed.
 */
void crew_leave(struct crew_worker *w, unsigned patience_ms);

/* Reads what it has written and keeps the last line. */
void crew_hear(struct crew_worker *w);

/* Whether it has exited, or should have by now. */
bool crew_is_gone(struct crew_worker *w);

/* Kills it, for the reason that crew_describe_end() then returns. */
void crew_end(struct crew_worker *w, const char *why);

/*
 * Describes the end of a worker that is gone: "died: signal 11 (...): its last words", "was ended: the reason"; to be
 * freed.
 */
char *crew_describe_end(const struct crew_worker *w);

/*
 * Looks at the process, at most every every_ms: .cpu_ns, .runnable, .now_ns. Also reads what it has written, and sends
 * pending commands. Of a worker that is gone, the last look remains.
 */
const struct pulse_look *crew_look(struct crew_worker *w, unsigned every_ms);

#endif
