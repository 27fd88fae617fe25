/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MERGE_MERGE_H
#define LT_MERGE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "event/event.h"
#include "source/source.h"

/*
 * One host's sources as a single stream of records in time order: a k-way merge that returns a record as soon as every
 * other source has shown its next record, a bound before which it has none (EVENT_BEACON), or its end. Records with
 * equal times are ordered by CPU, so that the order does not depend on how streams were divided among workers. A
 * source's own records never overtake each other; those without a time (EVENT_TRACE, EVENT_CLASS …) are returned at
 * once.
 *
 * Hosts have few sources (workers × domains), so the earliest one is found by looking at each. The heap over a
 * recording's many streams is in the worker.
 */
struct merge;

enum { MERGE_NONE = ~0u };

struct merge *merge_create(void);
void merge_destroy(struct merge *m);

/* Adds a source, which still belongs to the caller; returns its number: the lowest one that no source has (0, 1, …). */
unsigned merge_add(struct merge *m, struct source *source);

/* Removes a source that has ended or broken off: another one may get its number. */
void merge_remove(struct merge *m, unsigned number);

/* Puts another source in the place of one that ended or broke off; NULL: the place is empty. */
void merge_replace(struct merge *m, unsigned number, struct source *source);

/*
 * Contiguous records of one source, as for event_next(). The first is the next record of the merge; those after it that
 * are before until_ns precede all records of other sources.
 */
struct merge_run {
	const struct event *ev, *end;
	uint64_t until_ns;
	unsigned number; /* of the source */
};

/*
 * The next records; borrowed until merge_pop(). LT_AGAIN: a source must be waited for. LT_END: source run->number has
 * ended, or if that is MERGE_NONE, all have. LT_ERROR: source run->number broke off (error chain). A source that has
 * ended or broken off is left out from then on: call again.
 */
enum lt_status merge_peek(struct merge *m, struct merge_run *run);

/* Consumes the records of the last run from merge_peek() up to next, which is at most the run's end. */
void merge_pop(struct merge *m, const struct event *next);

/* Whether the source has delivered anything since the last call, has records left to be consumed, or has ended. */
bool merge_hears(struct merge *m, unsigned number);

/*
 * Stops waiting for the source until it delivers something again; its records may then be older than those already
 * returned.
 */
void merge_leave_out(struct merge *m, unsigned number);

#endif
