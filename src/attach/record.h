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
 * What is to be written of an event of a chosen thread: made by follow.c when the event comes, kept until
 * it is known why a call waited, written by text.c or json.c. All text in it is sanitised.
 */
enum attach_kind {
	ATTACH_ENTRY, /* a call begins */
	ATTACH_EXIT,  /* a call ends, or will not return */
	ATTACH_SIGNAL,
	ATTACH_NEW,   /* a thread is followed from now on */
	ATTACH_GONE,  /* a thread exits */
	ATTACH_SCHED, /* --sched */
};

struct attach_arg {
	const char *name; /* of the field; borrowed for the run */
	char *text;       /* NULL: not known; "" : the call does not have it */
	bool omitted;     /* the latter */
	bool late;        /* only the exit knows it */
};

/* The thread was ready, and another one ran instead. */
struct attach_culprit {
	uint64_t ref_ns; /* since */
	int32_t tid;
	strid comm;
};

struct attach_record {
	enum attach_kind kind;
	uint64_t ts_ns, ref_ns; /* of the event: by the host's clock, corrected */
	unsigned host;
	int32_t tid, pid; /* pid -1: unknown */
	strid comm;

	/* ENTRY, EXIT */
	strid name;              /* of the call */
	const struct call *call; /* its row, NULL: none */
	char *head;              /* ENTRY: the arguments that are known, with the comma behind them */
	bool birth;              /* EXIT: the thread's first event: the call of its parent that made it returns */
	bool begun;              /* EXIT: an ENTRY was written for it */
	bool has_entry;          /* EXIT: of which entry_* and duration_ns are */
	bool waited;             /* the thread left the CPU meanwhile */
	GArray *args;            /* EXIT: struct attach_arg */
	char *result;            /* EXIT: "8192", "-1 ENOENT (…)", "?" */
	int64_t ret;
	enum call_status status;
	uint64_t entry_ns, entry_ref_ns, duration_ns;
	uint64_t off_ns;  /* of that not on a CPU */
	GArray *culprits; /* struct attach_culprit, NULL: none */

	char *text; /* of the other kinds */
};

void attach_record_free(struct attach_record *r);

/* "--- SIGTERM {…} ---": a record that is not of a call. */
char *attach_record_text(const struct attach_record *r);

/* The arguments up to the first one that is not known, with a comma where more follow; all: all, "?" for unknown. */
char *attach_args_text(const GArray *args, bool all);

#endif
