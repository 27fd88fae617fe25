/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_VISIT_H
#define LT_INGEST_VISIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/stop.h"
#include "event/event.h"
#include "event/wanted.h"
#include "ingest/ingest.h"

/*
 * Events one by one, for attach and dump, which show them.
 *
 *   worker ── EVENT_FIELDS, event ──▶ merge ──▶ before() ──▶ model ──▶ after()
 *
 * Only ingest_advance_in_order() passes the events of different hosts in the order of their reference times.
 */
struct shape; /* event/fields.h */

struct ingest_visit {
	unsigned host;              /* its number: ingest_host() */
	const struct event *event;  /* the typed record: EVENT_OTHER or above; for lost(): EVENT_LOST */
	const struct event *fields; /* all its fields; NULL: the worker did not send them */
	struct shape *shape;        /* their description; NULL if fields is. Valid while its worker is read */
	const char *origin;         /* of its trace: "web", or "web:program:(812)" for one process; not sanitised */
	uint64_t ref_ns;            /* the event's time, as reference time */
};

/* Must outlive the struct ingest that uses it. */
struct ingest_visitor {
	const struct fields_wanted *wanted; /* the fields that workers are asked for */
	const bool *kinds;                  /* by enum event_kind: those it also sees without fields; NULL: all */
	/* Called for each such event, before and after it is applied to the model; either may be NULL */
	void (*before)(void *user, const struct ingest_visit *v);
	void (*after)(void *user, const struct ingest_visit *v);
	/*
	 * The kernel's tracer lost events of a CPU (EVENT_LOST, event/payload.h): called after that was applied to the
	 * model, at their place among the events of that CPU, perhaps already by ingest_start(); may be NULL
	 */
	void (*lost)(void *user, const struct ingest_visit *v);
	void (*idle)(void *user); /* there is nothing to read at present; may be NULL */
	void *user;
};

enum { INGEST_VISIT_ALL = ~0u };

/*
 * From now on this visitor sees the events of the live host of that number, and of no other host; NULL: no visitor.
 * Its workers are asked for the fields while they run. Data that an earlier visitor attached to shapes is freed.
 */
void ingest_set_visitor(struct ingest *in, const struct ingest_visitor *visitor, unsigned host);

/* All wanted fields come from this host time on; 0: from the start of its workers; UINT64_MAX: not yet. */
uint64_t ingest_visited_from(const struct ingest *in);

/*
 * Applies all hosts' events before until_ns (reference time) in the order of their reference times. Waits for the
 * workers as long as necessary, but not for live hosts that have been silent past the stall limit. LT_OK: all events
 * before until_ns have been applied, except those of silent hosts. LT_END: they have, and no host has any more.
 * LT_INTERRUPTED: *stop was set.
 */
enum lt_status ingest_advance_in_order(struct ingest *in, uint64_t until_ns, const stop_flag *stop);

#endif
