/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_INTERNAL_H
#define LT_INGEST_INTERNAL_H

/*
 * What the files of ingest/ share: ingest.c opens and starts, pump.c applies
 * events, visit.c shows them to who asked for that, register.c gives what concerns several hosts to the clocks and the
 * wait graph, watch.c looks after what comes and goes.
 */

#include <glib.h>

#include "ingest/input.h"
#include "ingest/host.h"
#include "ingest/ingest.h"
#include "ingest/relay.h"
#include "ingest/visit.h"

struct ingest {
	struct ingest_options options;
	unsigned visited;     /* the host whose events the visitor sees; INGEST_VISIT_ALL: all hosts' */
	GPtrArray *specs;     /* struct source_spec */
	GPtrArray *inputs;    /* struct input */
	GHashTable *sessions; /* URL of a live session -> its input */
	GPtrArray *relays;    /* struct relay */
	GPtrArray *hosts;     /* struct host; public is its first member */
	GArray *ready;        /* unsigned: numbers of hosts whose sources may have something, in no order */
	struct waits *waits;  /* NULL: none wanted */
	int epoll_fd;         /* the inputs' sources, edge-triggered: each wake-up comes once, in ingest_watch() */
	int64_t watched_us;   /* monotonic: when those that were not woken were last looked after */
	int64_t asked_us;     /* and when they were last asked whether they have something all the same */
	bool started;         /* the workers of recordings */
	bool is_frugal;       /* nobody said how many workers there are to be */
	bool named;           /* the hosts that were there at first have their names */
	bool announced;       /* traces, since ingest_announced() was asked */
	bool broken;          /* a source or a part of one could not be read, or broke off */
	bool lost;            /* events or packets */
	struct model_memory memory; /* of all hosts */
	uint64_t refused_names;     /* strpool_full() when it was last looked at */
	bool untaken;               /* there were more sessions than may be attached */
};

static inline struct input *input_at(const struct ingest *in, guint i)
{
	return g_ptr_array_index(in->inputs, i);
}

static inline struct host *host_at(const struct ingest *in, guint i)
{
	return g_ptr_array_index(in->hosts, i);
}

/* Whether the host's sources may have something now: ingest_ready(). */
void ingest_set_ready(struct ingest *in, struct host *host, bool ready);

/* Numbers the hosts that have a name and no number yet in the clocks and the wait graph. */
void ingest_register_hosts(struct ingest *in);

static inline bool ingest_is_packet(const struct event *ev)
{
	return ev->kind == EVENT_NET_QUEUE || ev->kind == EVENT_NET_RECEIVE || ev->kind == EVENT_SOCK_SEND ||
	       ev->kind == EVENT_SOCK_RECEIVE;
}

/* A packet of a host, for the clocks. */
void ingest_add_packet(struct ingest *in, const struct host *host, const struct event *ev);

/* Whether there is a visitor that sees the event. */
static inline bool ingest_is_visited(const struct ingest *in, const struct host *host, const struct input *input,
				     const struct event *ev)
{
	const struct ingest_visitor *visitor = in->options.visitor;

	return visitor && ev->kind >= EVENT_OTHER &&
	       (!visitor->kinds || visitor->kinds[ev->kind] || (input->fields && input->fields->len)) &&
	       (in->visited == INGEST_VISIT_ALL || in->visited == host->number);
}

/* Around an event being applied that is visited. */
void ingest_begin_visit(const struct ingest *in, const struct host *host, const struct input *input,
			const struct event *ev, struct ingest_visit *v);
void ingest_end_visit(const struct ingest *in, const struct input *input, const struct ingest_visit *v);

/* Asks a live source for the fields that the visitor wants now, or no longer. */
void ingest_ask_input(const struct ingest *in, struct input *input);

/* The host has been advanced as far as its sources allow now. */
void ingest_advance_shared(struct ingest *in, struct host *host);

/* Silent, away: nothing of the host is waited for. Cheap. */
void ingest_release_shared(struct ingest *in, const struct host *host);

/* Starts the workers of a spec: an input each. */
void ingest_start_spec(struct ingest *in, struct source_spec *spec);

/* Starts or starts again an input's worker, unless it is one session too many. */
void ingest_start_input(struct ingest *in, struct input *input);

/* A live session to be read from now on. */
void ingest_add_session(struct ingest *in, const struct source_url *url);

/* An input has ended (why NULL) or broken off. */
void ingest_source_stopped(struct ingest *in, struct input *input, const char *why);

/* Whether all that runs of the host is silent past the stall limit. */
bool ingest_is_mute(const struct host *host);

/* Whether some input of the host may run again. */
bool ingest_may_come_back(const struct host *host);

#endif
