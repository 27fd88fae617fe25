/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_OUT_DUMP_H
#define LT_OUT_DUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

/*
 * Writes events with all their fields, one by one: as text in babeltrace2's form, or as JSON, one object per line.
 *
 *   [14:07:07.662981817] (+0.000001204) web sched_wakeup: { cpu_id = 1 }, { tid = 7 }, { comm = "dd", tid = 9 }
 */
enum dump_form {
	DUMP_TEXT,       /* sanitised text */
	DUMP_BABELTRACE, /* byte for byte what babeltrace2 writes, unless out is a terminal: then sanitised, too */
	DUMP_JSON,
};

struct event;
struct shape;

struct dump_event {
	const struct event *fields; /* read with EVENT_FIELDS, checked */
	const struct shape *shape;
	const char *origin; /* its origin as the trace names it, HOST[:PROGRAM…]; "" or NULL: unknown */
	const char *host;   /* its name */
	uint64_t ns;        /* ns since the epoch */
	/* JSON: the thread; -1, NULL: unknown. */
	int64_t tid, pid;
	const char *comm;
};

struct dump;

/* out is borrowed; NULL: only dump_line() is used. utc: UTC instead of the local time zone. */
struct dump *dump_create(FILE *out, enum dump_form form, bool utc);

/* Does not flush out. */
void dump_destroy(struct dump *d);

/* The text of an event without its time, for callers that show the time themselves; borrowed until the next call. */
const char *dump_line(struct dump *d, const struct dump_event *e);

/* Writes an event; call it in the order to be read. Errors are left in the stream (ferror()). */
void dump_event(struct dump *d, const struct dump_event *e);

#endif
