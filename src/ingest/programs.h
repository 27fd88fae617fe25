/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_PROGRAMS_H
#define LT_INGEST_PROGRAMS_H

/*
 * Internal to ingest/: a host whose programs several sessions trace at the same time. Which of them has an event
 * cannot be known beforehand: each may follow other programs, or filter. But the tracer writes an event to one session
 * after the other before the thread emits its next event. So if a session has not had the last event of this name and
 * thread yet, its next one is a copy of that event:
 *
 *   session 1   e    e      e
 *   session 2    e    e  e   e
 *   counted     *    *   *  *
 *
 * If the session does not record thread IDs, all threads of a CPU count as one, which is right for a short time only.
 */

#include <glib.h>
#include <stdbool.h>

#include "base/map64.h"
#include "base/nstime.h"
#include "base/strpool.h"
#include "event/event.h"

/* How long after a copy of an event the next one may come: the thread may lose its CPU in between. */
#define PROGRAMS_THREAD_COPY_NS (100 * NS_PER_MS)
#define PROGRAMS_CPU_COPY_NS (10 * NS_PER_US)

struct source_spec;

/* Zero-initialised: no session. */
struct programs {
	GArray *sessions;    /* struct programs_session, by number */
	unsigned n_sessions; /* of those that have a number */
	bool repeats;        /* an event was not taken; until one session is left */
	bool guesses;        /* one whose thread is not known was not taken; until one session is left */
	struct map64 last;   /* name and thread -> index in events */
	GArray *events;      /* struct programs_event */
};

/* The number of the session to which this trace of the spec belongs; the lowest free one if it is new. */
unsigned programs_session(struct programs *p, const struct source_spec *spec, unsigned trace);

/* The sessions of the spec have no more events: others may get their numbers. Changes .repeats and .guesses. */
void programs_end(struct programs *p, const struct source_spec *spec);

/* Whether to apply the session's event, because it did not come from another session before. Call in time order. */
bool programs_take(struct programs *p, unsigned session, strid name, const struct event *ev);

void programs_release(struct programs *p);

#endif
