/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_EVENTS_FILTER_H
#define LT_CMD_EVENTS_FILTER_H

#include "base/status.h"
#include "event/event.h"
#include "ingest/ingest.h"
#include "model/look.h"
#include "view/filter.h"

/*
 * Filters of single events. Terms about threads apply to the thread that runs when the event occurs, call: to entries
 * and exits of system calls, and bare words are parts of the event's text, which contains its name.
 */

/* Adds an expression. LT_ERROR: it is invalid, or about something that an event does not have. */
enum lt_status events_filter_parse(struct view_filter *f, const char *text);

/* An event, and what it becomes. Everything is borrowed. */
struct event_seen {
	const struct ingest_host *host;
	int64_t tid;                     /* of the thread that is running; -1: unknown */
	const struct thread_row *thread; /* its row; NULL: unknown */
	const char *name;                /* of the event's class */
	const char *line;                /* its text; NULL: not made yet, bare words do not matter */
};

struct event_seen event_see(const struct ingest_host *host, const struct event *event, const char *name);

bool events_filter_wants(const struct view_filter *f, struct event_seen *seen);

#endif
