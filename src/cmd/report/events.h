/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_REPORT_EVENTS_H
#define LT_CMD_REPORT_EVENTS_H

#include "cmd/report/report.h"
#include "out/dump.h"
#include "play/events_filter.h"

/*
 * Single events for report dump and slice: those in the interval, of the shown hosts, whose thread was chosen with
 * --tid, --pid and --comm, and that pass --where. Read with all their fields, in the order of their reference times.
 */
struct report_events {
	struct report *report;
	struct fields_wanted wanted;
	struct ingest_visitor visitor;
	struct events_filter where;
	struct dump *texts;        /* for the bare words in it; NULL: there are none */
	uint64_t begin_ns, end_ns; /* reference time; resolved by report_events_times() */
	uint64_t known_end_ns;     /* which it was given */
	bool chooses;              /* only some threads or events are wanted */
	bool needs_threads;        /* the running thread must be known for all */
	bool any;                  /* an event lies in the interval */

	/* Called for each event; event->fields is an EVENT_FIELDS */
	void (*take)(void *user, const struct dump_event *event);
	void *user;
	size_t limit; /* to be taken; 0: all. Reading then ends */
	size_t n_taken;
};

/*
 * From the report's options; sets .visitor. The caller then sets .take, .user and, where needed, .visitor.idle.
 * LT_ERROR: the filter is invalid. Always release.
 */
enum lt_status report_events_init(struct report_events *e, struct report *r);
void report_events_release(struct report_events *e);

/* To be called when the options have been checked: prepares the report for reading. The caller releases its filter. */
void report_events_apply(struct report_events *e);

/* Resolves the interval. LT_ERROR: the options are invalid. */
enum lt_status report_events_times(struct report_events *e, uint64_t known_end_ns);

/* Why no event was taken; to be freed. */
char *report_events_none(const struct report_events *e);

/* Reads the events. LT_ERROR: the recordings could not be opened a second time. */
enum lt_status report_events_read(struct report_events *e);

#endif
