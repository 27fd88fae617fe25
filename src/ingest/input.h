/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_INPUT_H
#define LT_INGEST_INPUT_H

/*
 * Inside ingest/: a recording's part or a live session, through the lives of
 * its workers.
 *
 *   STARTING ──▶ RUNNING ──▶ ENDED            a recording, a session not followed
 *      │  ▲         │
 *      ▼  │retry    ▼
 *      WAITING ◀────┘                         a live session that is followed
 *      DETACHED                               by the user; attach again by the user
 *      UNTAKEN                                there are enough sessions; attached by the user
 */

#include <glib.h>
#include <stdbool.h>

#include "event/fields.h"
#include "ingest/host.h"
#include "ingest/kernel.h"

enum input_state {
	INPUT_STARTING, /* the worker opens its source */
	INPUT_RUNNING,
	INPUT_WAITING, /* broke off or ended, is tried again at retry_us */
	INPUT_ENDED,
	INPUT_DETACHED,
	INPUT_UNTAKEN, /* a live session beyond those that may be attached at once */
};

struct input {
	const struct source_spec *spec;
	struct source_spec *again; /* how it is attached again, if not as at first; else NULL */
	unsigned part, parts;
	bool follow; /* a live session that is attached again when it comes back */
	enum input_state state;
	struct source *source;      /* NULL: none runs */
	struct host *host;          /* known from the first EVENT_TRACE on; after a boot of the machine another one */
	bool announced;             /* the source that runs has said which host it is of */
	bool session_over;          /* it ended, or its relayd does not know it any more */
	bool relayd_left;           /* the relayd went away, or was not there, since the session last ran */
	unsigned number;            /* of the source in the host's merge */
	GPtrArray *kernel_traces;   /* what kernel.c knows of its traces, by their numbers; NULL: none so far */
	GByteArray *kernel_context; /* of the event that follows, where it may not be taken; NULL: none so far */
	struct shapes shapes;       /* of the events whose fields come (ingest/visit.h) */
	GPtrArray *origins;         /* char *, by the trace's number: struct ingest_visit.origin; NULL: none */
	GByteArray *fields;         /* of the event that follows; NULL: none so far */
	bool is_asked;              /* for fields, by ingest_set_visitor() */
	uint32_t wanted;            /* the number of the last request for fields that its source was told; 0: none */
	uint64_t fields_from_ns; /* since when it sends all that is wanted, by its host's clock; UINT64_MAX: not yet */
	bool in_merge;           /* the prologue is over: the host's merge reads the source */
	bool broken;             /* some worker of it broke off */
	char *why;               /* why it waits or has ended, NULL */
	unsigned tries;          /* in vain since it last ran */
	int64_t retry_us;        /* monotonic */
	uint64_t time_ns;        /* how far its source had come when that was last looked at, read or not */
	int64_t heard_us;        /* when its source last showed something */
	bool stalled;            /* silent for too long: the merge does not wait for it */
};

struct input *input_create(const struct source_spec *spec, unsigned part, unsigned parts, bool follow);
void input_free(void *input);

/* Starts a worker; a failure leaves the input as one whose worker broke off (error chain). */
enum lt_status input_start(struct input *input);

/*
 * Reads what the worker says before the merge takes over: of a recording up to
 * EVENT_READY, of a live session until its host is known. LT_AGAIN: there is more to come.
 * LT_OK: done. LT_END, LT_ERROR: the source has ended or broken off.
 */
enum lt_status input_read_prologue(struct input *input, GPtrArray *hosts);

/* Its source has ended (why NULL) or broke off: stops it, and plans the next try. */
void input_stopped(struct input *input, const char *why);

/* Takes note of where the events of an announced trace come from; any other record is of no use to it. */
void input_note_origin(struct input *input, const struct event *ev);

/* Takes an EVENT_SHAPE or EVENT_FIELDS, for the event that follows, or an EVENT_WANTED; false: it is none of these. */
bool input_take_fields(struct input *input, const struct event *ev);

/* Other fields are wanted of it from now on, text: source_spec.fields. */
void input_want_fields(struct input *input, const char *text);

/* Forgets what was taken: the input's source is another one from now on, or none. */
void input_drop_fields(struct input *input);

/* What the user is told of its state; static or borrowed from the input. */
const char *input_describe(const struct input *input);

#endif
