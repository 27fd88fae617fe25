/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_HOST_H
#define LT_INGEST_HOST_H

/*
 * Internal to ingest/: the hosts, which of them a source belongs to, and their state as the
 * monitor shows it.
 */

#include <glib.h>
#include <stdbool.h>

#include "event/event.h"
#include "ingest/ingest.h"
#include "ingest/lag.h"
#include "ingest/programs.h"
#include "merge/merge.h"
#include "model/waitlog.h"
#include "sidecar/sidecar.h"
#include "source/source.h"

struct host {
	struct ingest_host public; /* returned by ingest_host() */
	struct wait_log log;       /* wait events from the model that are not in the wait graph yet */
	bool registered;           /* it has its numbers: here, in the clocks and in the wait graph */
	unsigned number;
	unsigned ready; /* 1 + its index in struct ingest.ready; 0: its sources have nothing */
	struct merge *merge;
	GPtrArray *inputs;        /* struct input, by the number of its source in merge; not owned */
	GPtrArray *kernels;       /* struct kernel_session: sessions that trace its kernel, the preferred one first */
	struct programs programs; /* the sessions that trace its programs, and the programs' last events */
	bool must_choose;         /* declarations came: which session an event is taken from must be decided again */
	char *repeated;           /* note about events that several sessions have; NULL: there are none */
	bool undumped;            /* live: no state dump was seen in the time in which one should come */
	char *hostname;           /* from its traces, or the name of a directory */
	bool has_hostname;        /* hostname is from its traces */
	int64_t own_sidecar_us;   /* if it is this machine, when its side-car was last refreshed; 0: it is not */
	GPtrArray *sidecars;      /* char *: paths of the files loaded into public.sidecar, successfully or not */
	char *clock;              /* UUID of the traces' clock; "": none */
	uint64_t clock_zero_ns;   /* when that clock was 0, the latest time that a source has named; 0: not known */
	int64_t begun_us;         /* CLOCK_MONOTONIC: when its first event was read */
	int64_t heard_us;         /* CLOCK_MONOTONIC, live: when one of its sources last delivered; 0: not yet */
	unsigned n_others;        /* hosts that it continues: the same machine before its clock was set back */
	uint64_t last_ns;         /* time of the last record applied; later ones must not be before it */
	struct host_lag lag;      /* of the session that is read, measured at last_ns */
	bool back;                /* attached again, or still: its next event ends the gap */
	bool paused;              /* its sessions have ended; the next event may be long after them */
	bool lacks_names, lacks_rows; /* names or rows did not fit into memory, and this was reported */
	bool is_forgotten;            /* its model is shared: host_forget() */
	bool stalled;                 /* one of its sources is not waited for */
	char *away_why;               /* the reason, while it is away */
};

/* Whether several sessions trace its kernel or its programs, so that an event may come twice (ingest/kernel.h). */
static inline bool host_is_traced_twice(const struct host *host)
{
	return host->kernels->len > 1 || host->programs.n_sessions > 1;
}

/*
 * The host to which the first announced trace of a source belongs, by hostname and clock, and which was not replaced;
 * added to hosts if it is new. hint is the name to use for a trace without a hostname. live: if the host's clock was
 * set back before the trace's session started, it belongs to another host of the same name, because its events precede
 * those already applied.
 */
struct host *host_of_trace(GPtrArray *hosts, const struct event *ev, const char *hint, bool live);

/* Adds an announced trace that belongs to the host. */
void host_add_trace(struct host *host, const struct event *ev, const char *source_name);

/* No more traces come from a source of that name. */
void host_remove_source(struct host *host, const char *source_name);

/* Whether an announced trace is the host's; hint as above. */
bool host_has_trace(const struct host *host, const struct event *ev, const char *hint);

/* Recreates a host that another run has read, from the data it kept; copies the texts. Such a host has no sources. */
struct host *host_restore(const char *hostname, const char *clock, const struct ingest_host *known);

/*
 * Loads the side-cars next to the traces of a recording of the host, unless they are loaded already. For a live host
 * that is this machine, collects the data itself.
 */
void host_add_sidecars(struct host *host, const struct source_spec *spec);

/* Adds an EVENT_MESSAGE that is a part of the machine's side-car. false: the message is something else. */
bool host_hear(struct host *host, const struct event *ev);

/* If the host is the machine on which we run, refreshes its side-car when that is due. */
void host_refresh_sidecar(struct host *host);

/* Sets its tracer from an announced trace; only the kernel tracer is shown, whichever trace came first. */
void host_set_tracer(struct host *host, const struct event *ev);

void host_free(void *host);

/* See ingest_forget(). husks: struct model *, what such hosts have in place of theirs; owns them. */
void host_forget(struct host *host, GPtrArray *husks);

/* The host is back. If another host has its name by now, it gets the next number of that name. */
void host_name_again(struct host *host, const GPtrArray *hosts);

/*
 * Reports why the host's figures are incomplete; the first reason is kept for the screen. false: it is that reason
 * again, which is not repeated.
 */
bool host_trouble(struct host *host, const char *why);

/* Sets the note about events that several sessions have; NULL: none. Copied. */
void host_set_repeated(struct host *host, const char *what);

/* Updates the note that a live host's state dump was missed. Call it now and then. */
void host_look_for_dump(struct host *host);

/* Sorts the hosts by name and names duplicates NAME, NAME#2, … . Hosts that come later are named as they come. */
void hosts_name(GPtrArray *hosts);

/*
 * Its next event is at t_ns. The first event of all is the host's start, and the first one after a gap ends the gap. To
 * be called for these, and for the first one after host_pause().
 */
void host_next_event(struct host *host, uint64_t t_ns);

/*
 * Recordings: all sessions that have traced its kernel so far have ended. If the next one starts long after them,
 * nothing was recorded in between, so its state is unknown; if soon, it continues them (parts of a rotated session).
 */
void host_pause(struct host *host);

/*
 * None of its sources runs any more, for the reason given; one runs again, maybe of a session that a relayd has listed
 * since all others ended. live: that one is a live source.
 */
void host_set_away(struct host *host, const char *why);
void host_set_back(struct host *host, bool live);

/* It has no more events and will not come back. */
void host_end(struct host *host);

/*
 * Its sources report that there is no event before t_ns. If that is long after its last event, and a thread was
 * running or the host has just come back, the session or the machine must have been stopped, so its state is unknown
 * from then on: a gap, which grows until its next event. host_is_back_at_work(): there are events again.
 */
void host_no_event(struct host *host, uint64_t t_ns);
void host_is_back_at_work(struct host *host);

/* Whether one of its sources has been silent for too long. */
void host_set_stalled(struct host *host, bool stalled);

#endif
