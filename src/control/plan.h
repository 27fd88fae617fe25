/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_PLAN_H
#define LT_CONTROL_PLAN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "control/sets.h"

#define RECORD_SESSION_PREFIX "lttngtop-" /* of sessions named automatically */

/*
 * What to record, decided in one place. A plan has three executors: liblttng-ctl (tracer.h), the lttng commands as text
 * (commands.h), and the same commands on other hosts (remote.h).
 */
enum record_domain { RECORD_KERNEL, RECORD_USER };

enum record_mode {
	RECORD_TO_DISK,  /* to plan.output */
	RECORD_SNAPSHOT, /* into memory; snapshots are stored below plan.output */
	RECORD_LIVE,     /* to the relayd at plan.url */
};

struct record_event {
	enum record_event_kind kind;
	char *name;          /* of user space: may end with '*' */
	char *symbol;        /* kprobe; NULL: offset is an address */
	uint64_t offset;     /* kprobe: in bytes, from the symbol */
	const char *meaning; /* what is missing without it; NULL: asked for by name */
	bool asked;          /* by name: an error if there is no such event */
};

struct record_context {
	char *name;          /* lttng's name: "tid", "perf:cpu:page-fault" */
	const char *meaning; /* what is missing without it; NULL: asked for by name */
	bool asked;          /* by name: an error if the tracer lacks it */
};

struct record_channel {
	enum record_domain domain;
	const char *name;
	uint64_t subbuf_bytes;    /* a power of two */
	unsigned subbufs;         /* per CPU, a power of two */
	unsigned switch_timer_us; /* 0: no timer */
	uint64_t file_bytes;      /* size of the relayd's files of a stream ... */
	unsigned files;           /* ... and how many it keeps, overwriting the oldest; 0: all */
	bool overwrite;
	GArray *events;   /* struct record_event */
	GArray *contexts; /* struct record_context */
};

/*
 * What the machines of a live session report about themselves, as events in a channel of its own, if that can be
 * created. script: shell functions `tell all` and `tell news` for other hosts; NULL: no messages.
 */
enum { MESSAGES_SUBBUF_BYTES = 64 << 10, MESSAGES_SUBBUFS = 4 }; /* per CPU, until the consumer reads them */

struct record_messages {
	enum record_domain domain;
	const char *event, *filter; /* static; filter may be NULL */
	char *script;
};

struct record_plan {
	char *session;
	const char *set; /* the event set and additions, as from record_set_words() */
	enum record_mode mode;
	char *output; /* absolute directory on this machine; NULL when live */
	char *url;    /* net://HOST[:CONTROL[:DATA]]; NULL unless live */
	unsigned live_timer_us;
	uint64_t statedump_ns; /* live: the state dump is repeated at this interval; 0: never */
	unsigned view_port;    /* of the relayd, for viewers */
	GArray *channels;      /* struct record_channel, one per domain */
	GArray *pids;          /* int32_t: only these processes; empty: all */
	GArray *vpids;         /* the same by their numbers in containers; also for user space */
	char *call_filter;     /* for the kernel's system calls; NULL: all of them */
	bool track_command;    /* only the command's own process */
	char **command;        /* NULL: none */
	GPtrArray *hosts;      /* char *, USER@HOST; empty: this machine */
	bool unsafe;           /* known faults of tracers only cause a warning */
	struct record_messages messages;
};

/* What the user asks for. Everything is borrowed; NULL or 0: not given. */
struct record_request {
	const char *session;
	const char *live;
	uint64_t live_timer_ns; /* not 0 */
	uint64_t statedump_ns;
	unsigned view_port; /* 0: RELAY_VIEW_PORT */
	const char *output;
	bool snapshot;
	const char *set;
	uint64_t buffer_bytes; /* per CPU and domain */
	const GPtrArray *events, *contexts, *perf, *kprobes, *ust, *hosts;
	const GArray *pids, *vpids;
	bool track_command;
	bool unsafe;
	char *const *command;
	bool (*session_is_taken)(const char *name); /* of names for the session that are made up; NULL: none is */
};

/* NULL: the request is inconsistent, see the error chain (wrong usage). Has no effect outside the process. */
struct record_plan *record_plan_create(const struct record_request *request);
void record_plan_destroy(struct record_plan *plan);

/* The channel of a domain, borrowed; NULL: the domain is not recorded. */
struct record_channel *record_plan_channel(const struct record_plan *plan, enum record_domain domain);

/* Total size of the buffers of its machines, if they have as many CPUs as this one. */
uint64_t record_plan_buffers_bytes(const struct record_plan *plan);

/*
 * Live: makes the relayd keep only about the latest bytes of all its machines' streams, if they have as many CPUs as
 * this one; does nothing if the buffers are larger.
 */
void record_plan_limit(struct record_plan *plan, uint64_t bytes);

/* The SOURCE to pass to the monitor; for several hosts the relayd itself. The caller frees it. */
char *record_plan_source(const struct record_plan *plan);

/* The default output directory of a session. The caller frees it. */
char *record_default_output(const char *session);

/* LT_ERROR: not a valid session name, or one that a path or URL cannot carry. */
enum lt_status record_session_check(const char *name);

/* The same for a session that exists: lttng allows blanks, commas and quotes. */
enum lt_status record_session_check_existing(const char *name);

/* LT_ERROR: not a USER@HOST or HOST that ssh understands, or it is not safe to pass it on. */
enum lt_status record_host_check(const char *host);

#endif
