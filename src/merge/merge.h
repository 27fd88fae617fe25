/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MERGE_MERGE_H
#define LT_MERGE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "event/event.h"
#include "source/source.h"

/*
 * One host's sources as one stream of records in time order: a k-way merge that
 * gives a record as soon as every source has shown what it has next, or that it
 * has nothing before it (EVENT_BEACON), or its end. Equal times are ordered by CPU,
 * so that the order does not depend on how streams were shared out to workers. A
 * source's own records never overtake each other; those without a time
 * (EVENT_TRACE, EVENT_CLASS …) come at once.
 *
 * Hosts have few sources (workers × domains): the least of them is found by
 * looking at each. The heap over a recording's many streams is in the worker.
 */
struct merge;

enum { MERGE_NONE = ~0u };

struct merge *merge_create(void);
void merge_destroy(struct merge *m);

/* Adds a source, which stays the caller's; returns its number (0, 1, …). */
unsigned merge_add(struct merge *m, struct source *source);

/* Another source in the place of one that ended or broke off; NULL: none, it is out. */
void merge_replace(struct merge *m, unsigned number, struct source *source);

unsigned merge_count(const struct merge *m);

/*
 * Records of one source, as event_next() goes from one to the next: the first comes next, and those directly behind it
 * that are before until_ns come before anything that another source has.
 */
struct merge_run {
	const struct event *ev, *end;
	uint64_t until_ns;
	unsigned number; /* of the source */
};

/*
 * The next records; borrowed until merge_pop().
 * LT_AGAIN: some source must be waited for. LT_END: source run->number has ended; with
 * MERGE_NONE: all have. LT_ERROR: source run->number broke off (error chain). A source that
 * ended or broke off is left out from now on: go on calling.
 */
enum lt_status merge_peek(struct merge *m, struct merge_run *run);

/* Consumes those of the run that merge_peek() gave which are before next, its end at most. */
void merge_pop(struct merge *m, const struct event *next);

/* Whether the source has shown anything since the last call, has something to be consumed, or has ended. */
bool merge_hears(struct merge *m, unsigned number);

/*
 * The merge no longer waits for the source, until it shows something again:
 * what it shows then may be older than what has been given.
 */
void merge_leave_out(struct merge *m, unsigned number);

#endif
