/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_OUT_DUMP_H
#define LT_OUT_DUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

/*
 * Events with all their fields, one by one: as text in the form of babeltrace2, or JSON, an object per line.
 *
 *   [14:07:07.662981817] (+0.000001204) web sched_wakeup: { cpu_id = 1 }, { tid = 7 }, { comm = "dd", tid = 9 }
 */
enum dump_form {
	DUMP_TEXT,       /* text is sanitised */
	DUMP_BABELTRACE, /* as babeltrace2 has it, to the byte */
	DUMP_JSON,
};

struct event;
struct shape;

struct dump_event {
	const struct event *fields; /* EVENT_FIELDS, checked */
	const struct shape *shape;
	const char *origin; /* where it comes from, as its trace says; "" or NULL: it does not */
	const char *host;   /* its name */
	uint64_t ns;        /* ns since the epoch */
	/* JSON: the thread; -1, NULL: not known. */
	int64_t tid, pid;
	const char *comm;
};

struct dump;

/* out is borrowed, NULL: only for dump_line(). utc: else in the local time zone. */
struct dump *dump_create(FILE *out, enum dump_form form, bool utc);

/* What was written stays in the stream until that is flushed. */
void dump_destroy(struct dump *d);

/* The text of an event without its time, for who shows that himself; borrowed until the next call. */
const char *dump_line(struct dump *d, const struct dump_event *e);

/* Events in the order in which they are to be read. An error stays in the stream. */
void dump_event(struct dump *d, const struct dump_event *e);

#endif
