/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_INTERNAL_H
#define LT_INGEST_INTERNAL_H

/*
 * Shared by the files of ingest/. ingest.c opens and starts sources, pump.c applies events, visit.c passes them to a
 * visitor, register.c passes packets and waits to the clocks and the wait graph, sessions.c finds the sessions of
 * relayds, and watch.c looks after sources and hosts that come and go.
 */

#include <glib.h>

#include "ingest/input.h"
#include "ingest/host.h"
#include "ingest/ingest.h"
#include "ingest/relay.h"
#include "ingest/visit.h"

struct ingest {
	struct ingest_options options;
	unsigned visited;  /* the host whose events the visitor sees; INGEST_VISIT_ALL: all hosts' */
	GPtrArray *specs;  /* struct source_spec */
	GPtrArray *inputs; /* struct input */
	GHashTable
		*sessions;   /* URL of live sessions -> the input of one, which leads to those of others of that name */
	GPtrArray *relays;   /* struct relay: those that are watched */
	GPtrArray *lists;    /* struct relay: those of which only some sessions are read, by their URLs */
	GPtrArray *hosts;    /* struct host; public is its first member */
	GPtrArray *husks;    /* struct model *, of replaced hosts: host_forget() */
	GArray *ready;       /* unsigned: numbers of hosts whose sources may have data, in no particular order */
	struct waits *waits; /* NULL: none wanted */
	bool waits_held;     /* see ingest_hold_waits() */
	int epoll_fd;        /* the inputs' sources, edge-triggered: each wake-up comes once, in ingest_watch() */
	int64_t started_us;  /* CLOCK_MONOTONIC: when ingest_start_some() was first called; 0: not yet */
	int64_t watched_us;  /* CLOCK_MONOTONIC: when all inputs and hosts were last looked after */
	int64_t asked_us;    /* CLOCK_MONOTONIC: when all inputs were last checked for data without a wake-up */
	bool started;        /* the workers of recordings have been started */
	bool is_frugal;      /* the user did not set the number of workers */
	bool named;          /* the hosts known at the start have their names */
	bool left_live;      /* see ingest_leave_live() */
	bool announced;      /* a trace was announced since the last ingest_announced() */
	bool broken;         /* a source or a part of one could not be read, or broke off */
	char *refusal;       /* see ingest_is_refused(); NULL: it is not */
	struct model_memory memory; /* shared by all hosts */
	uint64_t refused_names;     /* strpool_full() at the last check */
	unsigned n_attached;        /* live sessions of which a worker runs, or will again at once */
	bool has_vacancy;           /* one of them has ended */
	bool untaken;               /* there were more of them than may be attached */
	bool unknown;               /* more were listed than may be known */
	bool unknown_namesakes;     /* more of one name were listed than may be known */
};

static inline struct input *input_at(const struct ingest *in, guint i)
{
	return g_ptr_array_index(in->inputs, i);
}

static inline struct host *host_at(const struct ingest *in, guint i)
{
	return g_ptr_array_index(in->hosts, i);
}

/* Sets whether the host's sources may have data: ingest_ready(). */
void ingest_set_ready(struct ingest *in, struct host *host, bool ready);

/* Gives hosts that have a name but no number yet their numbers, here, in the clocks and in the wait graph. */
void ingest_register_hosts(struct ingest *in);

static inline bool ingest_is_packet(const struct event *ev)
{
	return ev->kind == EVENT_NET_QUEUE || ev->kind == EVENT_NET_RECEIVE || ev->kind == EVENT_SOCK_SEND ||
	       ev->kind == EVENT_SOCK_RECEIVE;
}

/* Passes a host's packet to the clocks. */
void ingest_add_packet(struct ingest *in, const struct host *host, const struct event *ev);

/* Whether a visitor sees the event. */
static inline bool ingest_is_visited(const struct ingest *in, const struct host *host, const struct input *input,
				     const struct event *ev)
{
	const struct ingest_visitor *visitor = in->options.visitor;

	return visitor && ev->kind >= EVENT_OTHER &&
	       (!visitor->kinds || visitor->kinds[ev->kind] || (input->fields && input->fields->len)) &&
	       (in->visited == INGEST_VISIT_ALL || in->visited == host->number);
}

/* Call these before and after applying an event that is visited. */
void ingest_begin_visit(const struct ingest *in, const struct host *host, const struct input *input,
			const struct event *ev, struct ingest_visit *v);
void ingest_end_visit(const struct ingest *in, const struct input *input, const struct ingest_visit *v);

/* Call it after applying EVENT_LOST. */
void ingest_visit_lost(const struct ingest *in, const struct host *host, const struct input *input,
		       const struct event *ev);

/* Asks a live source for the fields that the visitor wants, or for none if it is no longer visited. */
void ingest_ask_input(const struct ingest *in, struct input *input);

/*
 * Passes what the host's threads waited for to a wait graph, in which the host has that number: nothing if its traces
 * do not declare sched_switch.
 */
void ingest_pass_waits(struct waits *waits, unsigned number, struct host *host);

/* Passes new wait events and times to the clocks and the wait graph, after the host was advanced. */
void ingest_advance_shared(struct ingest *in, struct host *host);

/* If the host is silent, away or has ended, lets the wait graph continue without it. Cheap. */
void ingest_release_shared(struct ingest *in, const struct host *host);

/* Starts the workers of a spec, with one input for each. */
void ingest_start_spec(struct ingest *in, struct source_spec *spec);

/* Starts an input's worker, the first or a later one, unless that would be one session too many. */
void ingest_start_input(struct ingest *in, struct input *input);

/* Adds a live session to the sources; id: source_spec.session_id. Returns its spec. */
struct source_spec *ingest_add_session(struct ingest *in, const struct source_url *url, uint64_t id);

/* ---- watch.c ---- */

/* Call it when an input has ended (why NULL) or broken off. */
void ingest_source_stopped(struct ingest *in, struct input *input, const char *why);

/* Whether all running sources of the host have been silent past the stall limit, and there is at least one. */
bool ingest_is_mute(const struct host *host);

/*
 * After ingest_leave_live(), for a host whose merge has to wait: ends its live sources that have delivered nothing
 * more. Returns whether there was one.
 */
bool ingest_end_quiet(struct ingest *in, struct host *host);

/* Whether an input of the host runs or may run again. */
bool ingest_may_come_back(const struct host *host);

/* ---- sessions.c ---- */

/* Reads all sessions of a relayd, present and future, but once if it is given twice. url: struct source_url.relay. */
void ingest_watch_relay(struct ingest *in, const char *url);

/* Asks the relayds for their lists; inputs for sessions that are new there are added. */
void ingest_poll_relays(struct ingest *in);

/*
 * To be called when it is known which session an input reads: from now on, others of the same name are read, too. A
 * relayd has one with the events of the kernel and one with those of programs, or one per session daemon.
 */
void ingest_look_for_namesakes(struct ingest *in, const struct input *input);

#endif
