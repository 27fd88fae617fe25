/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_PLAY_EVENTS_FILTER_H
#define LT_PLAY_EVENTS_FILTER_H

#include "base/status.h"
#include "ingest/ingest.h"
#include "ingest/visit.h"
#include "model/look.h"
#include "play/thread_containers.h"
#include "view/filter.h"

/*
 * Filters of single events. Terms about threads apply to the thread that runs when the event occurs, call: to entries
 * and exits of system calls, and bare words are parts of the event's text, which contains its name.
 */
struct events_filter {
	struct view_filter terms;
	struct thread_containers containers;
	uint64_t looked_ns; /* when containers were last looked up, reference time */
};

void events_filter_init(struct events_filter *f);
void events_filter_release(struct events_filter *f);

/* Empties the filter, so that everything passes. */
void events_filter_clear(struct events_filter *f);

/* Adds an expression. LT_ERROR: it is invalid, or about something that an event does not have. */
enum lt_status events_filter_parse(struct events_filter *f, const char *text);

/* An event, and what it becomes. Everything is borrowed. */
struct event_seen {
	const struct ingest_host *host;
	uint64_t ns;                     /* reference time */
	int64_t tid;                     /* of the thread that is running; -1: unknown */
	const struct thread_row *thread; /* its row; NULL: unknown, or the idle task */
	const char *comm;                /* its name; NULL: unknown */
	const char *name;                /* of the event's class */
	const char *line;                /* its text; NULL: not made yet, bare words do not matter */
};

struct event_seen event_see(const struct ingest_host *host, const struct ingest_visit *v);

bool events_filter_wants(struct events_filter *f, const struct event_seen *seen);

#endif
