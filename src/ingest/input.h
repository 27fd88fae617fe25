/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_INPUT_H
#define LT_INGEST_INPUT_H

/*
 * Inside ingest/: one part of a recording, or a live session, across the workers that read it in turn. An input
 * belongs to struct ingest, and is used by its thread only.
 *
 *   STARTING ──▶ RUNNING ──▶ ENDED            a recording, a session not followed
 *      │  ▲         │
 *      ▼  │retry    ▼
 *      WAITING ◀────┘                         a live session that is followed
 *      DETACHED                               by the user, who may attach it again
 *      UNTAKEN                                one session too many, until another one ends or the user attaches it
 */

#include <glib.h>
#include <stdbool.h>

#include "event/fields.h"
#include "ingest/contexts.h"
#include "ingest/host.h"
#include "ingest/kernel.h"

enum input_state {
	INPUT_STARTING, /* the worker opens its source */
	INPUT_RUNNING,
	INPUT_WAITING, /* broke off or ended; tried again at retry_us */
	INPUT_ENDED,
	INPUT_DETACHED,
	INPUT_UNTAKEN, /* a live session beyond --max-sessions */
};

struct input {
	unsigned id; /* no other one has it, nor had it */
	const struct source_spec *spec;
	struct source_spec *again; /* how to attach it again; NULL: as the first time */
	unsigned part, parts;
	bool follow; /* a live session that is attached again when it comes back */
	enum input_state state;
	struct source *source;           /* NULL: no worker runs */
	struct source_recalled recalled; /* live: what is kept of it, also after it has ended */
	struct host *host; /* set by the first EVENT_TRACE; another one after the machine has rebooted; not owned */
	uint64_t clock_zero_ns;     /* when the clock of its last trace was 0; 0: not known */
	bool announced;             /* the running source has named its host */
	bool mixed;                 /* it announced traces of other hosts, too, and this was reported */
	bool has_place;             /* it counts for --max-sessions; set by ingest */
	bool existed;               /* its session was attached, or listed */
	bool session_over;          /* it ended, or its relayd no longer knows it */
	uint64_t session_id;        /* the relayd's number of its session; 0: not known yet, any with its name */
	struct input *namesake;     /* reads another session with its name; NULL: there are no more; set by ingest */
	uint64_t listed;            /* relay.list of the last list that had its session; 0: none had */
	bool is_listed;             /* a relayd's list showed that there is such a session; set by ingest */
	const struct relay *relay;  /* listed its session first; NULL: the session was given */
	bool is_absent;             /* it has ended, or its relayd does not know it, and has not listed it since then */
	bool relayd_left;           /* the relayd went away, or could not be reached, since the session last ran */
	unsigned number;            /* the source's number in the host's merge */
	GPtrArray *kernel_traces;   /* kernel.c's data about its traces, by trace number; NULL: no data yet */
	struct contexts *unapplied; /* contexts of threads, until an event of the thread is taken; NULL: not used yet */
	struct shapes shapes;       /* of events that come with their fields (ingest/visit.h) */
	GPtrArray *starts;       /* struct event *: what ran on each CPU when its data begins, until then; NULL: none */
	bool has_begun;          /* input_begin() was called */
	uint64_t next_start_ns;  /* the first one in any part of its recording, host time; 0: not known yet */
	GPtrArray *origins;      /* char *, by trace number: struct ingest_visit.origin; NULL: no origin known */
	GByteArray *fields;      /* fields of the next event; NULL: not used yet */
	bool is_asked;           /* ingest_set_visitor() has asked its source for fields */
	uint32_t wanted;         /* number of the last request for fields sent to its source; 0: no request */
	uint64_t fields_from_ns; /* all wanted fields come from here on, host time; UINT64_MAX: not yet */
	bool in_merge;           /* the prologue is over: the host's merge reads the source */
	unsigned notes;          /* of its worker that were reported */
	bool broken;             /* one of its workers broke off */
	char *why;               /* why it waits or has ended; owned; may be NULL */
	unsigned tries;          /* failed attempts since it last ran */
	unsigned breaks;         /* how often it stopped, since it last ran for several seconds or ended by itself */
	int64_t ran_us;          /* CLOCK_MONOTONIC: since when it has run, or ran last */
	int64_t stopped_us;      /* CLOCK_MONOTONIC: when its source last ended or broke off */
	int64_t retry_us;        /* CLOCK_MONOTONIC: when to try again */
	uint64_t time_ns;        /* how far its source had come at the last look, consumed or not; host time */
	int64_t heard_us;        /* CLOCK_MONOTONIC: when its source last delivered */
	bool stalled;            /* silent for too long: the merge no longer waits for it */
};

struct input *input_create(const struct source_spec *spec, unsigned part, unsigned parts, bool follow);
void input_free(void *input);

/* Starts a worker. LT_ERROR: that failed (error chain); the input is then as if its worker had broken off. */
enum lt_status input_start(struct input *input);

/*
 * Reads the records that precede the merge: up to EVENT_READY of a recording, until the host is known of a live
 * session. LT_AGAIN: more will come. LT_OK: complete. LT_END: the source has ended. LT_ERROR: it broke off (error
 * chain).
 */
enum lt_status input_read_prologue(struct input *input, GPtrArray *hosts);

/*
 * Its source has ended (why NULL) or broken off: stops it and schedules the next attempt. If its state is
 * INPUT_DETACHED, the user has left it: it stays so.
 */
void input_stopped(struct input *input, const char *why);

/* Its host has no more to do with it: it is no longer needed, or its session now belongs to another machine or boot. */
void input_leave_host(struct input *input);

/*
 * Its events reach t_ns, and are applied up to until_ns, excluded; first called when its recording starts. Applies what
 * ran on the CPUs of all its parts, whose prologues are read before an earlier recording of the host has ended. A CPU
 * whose data begins later, because older packets were overwritten, follows in a later call.
 * Need not be called before input.next_start_ns.
 */
void input_begin(const struct input *input, uint64_t t_ns, uint64_t until_ns);

/* Remembers where the events of a newly announced trace come from; ignores all other records. */
void input_note_origin(struct input *input, const struct event *ev);

/* Takes an EVENT_SHAPE or EVENT_FIELDS for the next event, or an EVENT_WANTED. false: the record is of another kind. */
bool input_take_fields(struct input *input, const struct event *ev);

/* Asks its source for other fields from now on; text as in source_spec.fields. */
void input_want_fields(struct input *input, const char *text);

/* Drops the shapes and fields taken so far, because the source changes or is gone. */
void input_drop_fields(struct input *input);

/*
 * Whether attempts to attach it follow each other. Not while its relayd, which is asked for its list all the time, no
 * longer has it: most sessions never come back.
 */
bool input_is_retried(const struct input *input);

/* The text of its state that users see; static, or borrowed from the input. */
const char *input_describe(const struct input *input);

#endif
