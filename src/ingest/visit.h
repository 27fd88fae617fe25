/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_VISIT_H
#define LT_INGEST_VISIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "event/event.h"
#include "event/wanted.h"
#include "ingest/ingest.h"

/*
 * Events one by one, for who shows them: attach, dump.
 *
 *   worker ── EVENT_FIELDS, event ──▶ merge ──▶ before() ──▶ model ──▶ after()
 *
 * Hosts are read side by side: events of different hosts come in the order of their reference times with
 * ingest_advance_in_order() alone.
 */
struct shape; /* event/fields.h */

struct ingest_visit {
	unsigned host;              /* its number: ingest_host() */
	const struct event *event;  /* the typed record: EVENT_OTHER or above */
	const struct event *fields; /* all its fields; NULL: the worker did not send them */
	struct shape *shape;        /* what they are; NULL without. Lives as long as its worker is read */
	const char *origin;         /* of its trace: "web", "web:program:(812)" of one process's; not sanitised */
	uint64_t ref_ns;            /* the event's time, corrected */
};

/* Borrowed by struct ingest for its life. */
struct ingest_visitor {
	const struct fields_wanted *wanted; /* what workers are asked for */
	const bool *kinds; /* by enum event_kind: those it sees where there are no fields, too; NULL: all */
	/* Each of these that is taken into the model: with the model as it was before, and as it is then; or NULL */
	void (*before)(void *user, const struct ingest_visit *v);
	void (*after)(void *user, const struct ingest_visit *v);
	void (*idle)(void *user); /* nothing comes for now; may be NULL */
	void *user;
};

enum { INGEST_VISIT_ALL = ~0u };

/*
 * From now on the live host of that number has this visitor and no other host has one; NULL: nobody. Its workers are
 * told what is wanted while they read. What an earlier one left with shapes is freed.
 */
void ingest_set_visitor(struct ingest *in, const struct ingest_visitor *visitor, unsigned host);

/* Since when all that is wanted comes, by the host's clock: 0: since its workers began; UINT64_MAX: not yet. */
uint64_t ingest_visited_from(const struct ingest *in);

/*
 * Applies all hosts' events before until_ns, reference time, in the order of their reference times; waits for the
 * workers as long as it takes, but not for live hosts that are silent past the stall limit. LT_OK: all before until_ns
 * were applied, as far as they are known. LT_END: and no host has any more. LT_INTERRUPTED: *stop became true.
 */
enum lt_status ingest_advance_in_order(struct ingest *in, uint64_t until_ns, const volatile bool *stop);

#endif
