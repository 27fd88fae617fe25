/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_RECORD_H
#define LT_ATTACH_RECORD_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "attach/calls.h"
#include "attach/filter.h"
#include "base/strpool.h"

/*
 * What will be written for an event of a chosen thread: created by the tracer (tracer.h), kept until it is known why a
 * call waited, written by text.c or json.c. All text in it is sanitised.
 */
enum attach_kind {
	ATTACH_ENTRY, /* start of a call */
	ATTACH_EXIT,  /* end of a call, or of a thread in it */
	ATTACH_SIGNAL,
	ATTACH_NEW,   /* a thread is followed from here on */
	ATTACH_GONE,  /* a thread exits */
	ATTACH_SCHED, /* --sched */
	ATTACH_LOST,  /* events of a CPU were lost, any thread's calls among them */
};

struct attach_arg {
	const char *name; /* of the field; borrowed for the whole run */
	char *text;       /* NULL: unknown; "": omitted, the call does not have it */
	bool omitted;     /* the latter */
	bool late;        /* only known at the exit */
};

struct attach_record {
	enum attach_kind kind;
	uint64_t ts_ns, ref_ns; /* of the event: host clock, reference time */
	unsigned host;
	int32_t tid, pid; /* -1: unknown, or LOST */
	strid comm;

	/* ENTRY, EXIT */
	strid name;              /* of the call, the tracer's */
	const struct call *call; /* NULL: there is no row for it */
	char *head;              /* ENTRY: the known arguments, with a comma if more follow */
	bool begun;              /* EXIT: an ENTRY was written for it */
	bool early;              /* EXIT: it was entered before the time from which on records are emitted */
	bool has_entry;          /* EXIT, LOST: entry_* and duration_ns are valid */
	bool waited;             /* the thread was off the CPU in between */
	GArray *args;            /* EXIT: struct attach_arg */
	char *result;            /* EXIT: "8192", "-1 ENOENT (…)", "?" */
	int64_t ret;
	enum call_status status;
	uint64_t entry_ns, entry_ref_ns, duration_ns;
	uint64_t off_ns; /* time not on a CPU */

	/* LOST: between entry_ns and ts_ns */
	unsigned cpu;                       /* EVENT_NO_CPU: unknown */
	uint64_t lost_events, lost_packets; /* either may be 0 */

	char *text; /* other kinds than calls */
};

void attach_record_free(struct attach_record *r);

/* The name of an ENTRY's or EXIT's call as strace prints it. Borrowed for the whole run. */
const char *attach_call_name(const struct attach_record *r);

/* Appends a time in seconds to the microsecond, as strace prints it: "0.004210". */
void attach_append_seconds(GString *out, uint64_t ns);

/* Appends " <0.004210>", an EXIT's duration in seconds; nothing if it is not known. */
void attach_append_spent(GString *out, const struct attach_record *r);

/* The line for a record that is not a call: "--- SIGTERM {…} ---". The caller frees it. */
char *attach_record_text(const struct attach_record *r);

/*
 * The arguments up to the first unknown one, with a comma if more follow; all: every argument, "?" for unknown ones.
 * The caller frees it.
 */
char *attach_args_text(const GArray *args, bool all);

#endif
