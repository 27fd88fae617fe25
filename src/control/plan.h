/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_PLAN_H
#define LT_CONTROL_PLAN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "control/sets.h"

#define RECORD_SESSION_PREFIX "lttngtop-" /* of sessions nobody named */

/*
 * What is to be recorded, decided in one place. Three executors work from a
 * plan: liblttng-ctl (tracer.h), the text of the lttng commands (commands.h),
 * the same commands on other hosts (remote.h).
 */
enum record_domain { RECORD_KERNEL, RECORD_USER };

enum record_mode {
	RECORD_TO_DISK,  /* to plan.output */
	RECORD_SNAPSHOT, /* into memory; snapshots go below plan.output */
	RECORD_LIVE,     /* to the relayd at plan.url */
};

struct record_event {
	enum record_event_kind kind;
	char *name;          /* a user-space name may end with '*' */
	char *symbol;        /* kprobe: NULL: offset is an address */
	uint64_t offset;     /* kprobe: bytes from the symbol */
	const char *meaning; /* what is missing without it; NULL if it was asked for */
	bool asked;          /* by name: it is an error if there is no such event */
};

struct record_context {
	char *name;          /* as lttng names it: "tid", "perf:cpu:page-fault" */
	const char *meaning; /* what is missing without it; NULL if it was asked for */
	bool asked;          /* by name: it is an error if the tracer does not have it */
};

struct record_channel {
	enum record_domain domain;
	const char *name;
	uint64_t subbuf_bytes;    /* a power of two */
	unsigned subbufs;         /* of each CPU, a power of two */
	unsigned switch_timer_us; /* 0: none */
	uint64_t file_bytes;      /* of each stream, the relayd writes files of this size ... */
	unsigned files;           /* ... over and over, so many; 0: all is kept */
	bool overwrite;
	GArray *events;   /* struct record_event */
	GArray *contexts; /* struct record_context */
};

/*
 * What the machines of a live session say of themselves, as events: a channel of its own has them, if it can be made.
 * script: defines the shell functions `tell all` and `tell news` for other hosts; NULL: nothing is said.
 */
enum { MESSAGES_SUBBUF_BYTES = 64 << 10, MESSAGES_SUBBUFS = 4 }; /* so many may wait for the consumer, on each CPU */

struct record_messages {
	enum record_domain domain;
	const char *event, *filter; /* static; filter may be NULL */
	char *script;
};

struct record_plan {
	char *session;
	const char *set; /* the set of events and its additions, as record_set_words() has them */
	enum record_mode mode;
	char *output; /* absolute directory, of this machine; NULL when live */
	char *url;    /* net://HOST[:CONTROL[:DATA]], NULL unless live */
	unsigned live_timer_us;
	uint64_t statedump_ns; /* live: the state dump is repeated after so long; 0: never */
	unsigned view_port;    /* of the relayd, for viewers */
	GArray *channels;      /* struct record_channel, one per domain */
	GArray *pids;          /* int32_t: only these processes, if any */
	GArray *vpids;         /* the same as their containers number them; user space too */
	char *call_filter;     /* of the kernel's system calls; NULL: all of them */
	bool track_command;    /* only the command's own process */
	char **command;        /* NULL: none */
	GPtrArray *hosts;      /* char *, USER@HOST; empty: this machine */
	bool unsafe;           /* known faults of tracers give a warning, no more */
	struct record_messages messages;
};

/* What a user asks for; everything is borrowed, NULL or 0: not given. */
struct record_request {
	const char *session;
	const char *live;
	uint64_t live_timer_ns; /* not 0 */
	uint64_t statedump_ns;
	unsigned view_port; /* 0: RELAY_VIEW_PORT */
	const char *output;
	bool snapshot;
	const char *set;
	uint64_t buffer_bytes; /* of each CPU and domain */
	const GPtrArray *events, *contexts, *perf, *kprobes, *ust, *hosts;
	const GArray *pids, *vpids;
	bool track_command;
	bool unsafe;
	char *const *command;
};

/* NULL: the request makes no sense, the error chain says why (wrong usage). Nothing outside the process is touched. */
struct record_plan *record_plan_create(const struct record_request *request);
void record_plan_destroy(struct record_plan *plan);

/* The channel of a domain; NULL: the domain is not recorded. Borrowed. */
struct record_channel *record_plan_channel(const struct record_plan *plan, enum record_domain domain);

/* What the buffers of a machine with as many CPUs as this one hold together. */
uint64_t record_plan_buffers_bytes(const struct record_plan *plan);

/* Live: of what was streamed about so many bytes are kept, the latest, if the buffers are not larger than that. */
void record_plan_limit(struct record_plan *plan, uint64_t bytes);

/*
 * Live: the same memory in so many parts, a power of two. Each live timer closes one, however little is in it: the
 * tracer loses events when its reader is late by as many timers.
 */
void record_plan_divide(struct record_plan *plan, unsigned parts);

/* The SOURCE by which what is recorded is viewed; of several hosts the relayd itself. The caller frees it. */
char *record_plan_source(const struct record_plan *plan);

/* Where a session is recorded if nobody says so: a directory. The caller frees it. */
char *record_default_output(const char *session);

/* LT_ERROR: no name that a session may have and a path or URL can carry. */
enum lt_status record_session_check(const char *name);

/* LT_ERROR: no USER@HOST or HOST that may be handed to ssh. */
enum lt_status record_host_check(const char *host);

#endif
