/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_PROGRAMS_H
#define LT_INGEST_PROGRAMS_H

/*
 * Inside ingest/: a host whose programs several sessions trace at the same time. Which of them has an event cannot be
 * known beforehand: each may follow other programs, or filter. But the tracer writes an event to one session after the
 * other before the thread emits the next one. So of a thread's events of one name, one that comes from a session that
 * has not had the last one yet is a copy of that:
 *
 *   session 1   e    e      e
 *   session 2    e    e  e   e
 *   counted     *    *   *  *
 *
 * Where the session does not record threads, those of a CPU stand for one, which is true for a short time only.
 */

#include <glib.h>
#include <stdbool.h>

#include "base/map64.h"
#include "base/strpool.h"
#include "event/event.h"

/* How long after the first copy of an event the last one may come: a thread may lose its CPU meanwhile. */
#define PROGRAMS_THREAD_COPY_NS UINT64_C(100000000)
#define PROGRAMS_CPU_COPY_NS UINT64_C(10000)

struct source_spec;

/* Zero-initialised: no session. */
struct programs {
	GArray *sessions; /* struct programs_session */
	unsigned n_sessions;
	bool repeats;      /* some event was not taken */
	struct map64 last; /* name and thread -> number of its struct programs_event */
	GArray *events;
};

/* The number of the session that has the spec's trace of that number. */
unsigned programs_session(struct programs *p, const struct source_spec *spec, unsigned trace);

/* Whether the session's event is to be applied: no other session gave it before. In the order of time. */
bool programs_take(struct programs *p, unsigned session, strid name, const struct event *ev);

void programs_release(struct programs *p);

#endif
