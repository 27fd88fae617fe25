/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_HOST_H
#define LT_INGEST_HOST_H

/*
 * Inside ingest/: which host a source belongs to, and what its first records
 * said of it.
 */

#include <glib.h>
#include <stdbool.h>

#include "event/event.h"
#include "ingest/ingest.h"
#include "ingest/programs.h"
#include "merge/merge.h"
#include "model/waitlog.h"
#include "sidecar/sidecar.h"
#include "source/source.h"

struct host {
	struct ingest_host public; /* what ingest_host() gives */
	struct wait_log log;       /* what the model wrote since waits took it */
	bool registered;           /* it has its numbers, here, in the clocks and in the wait graph */
	unsigned number;
	unsigned ready; /* its place in struct ingest.ready + 1, 0: its sources have nothing */
	struct merge *merge;
	GPtrArray *inputs;        /* struct input, by the number of its source in merge; not owned */
	GPtrArray *kernels;       /* struct kernel_session: those that trace its kernel, the one mostly taken first */
	struct programs programs; /* the sessions that trace its programs, and what these emitted last */
	bool must_choose;         /* which is taken: something was declared */
	char *repeated;           /* what is to be said of several of them, NULL */
	bool undumped;            /* live: no state dump of it was seen, for long enough to say so */
	char *hostname;           /* as the traces say */
	bool has_hostname;        /* they do: it is not the name of a directory */
	int64_t own_sidecar_us;   /* it is this machine: when that was last asked what it knows; 0: it is not */
	GPtrArray *sidecars;      /* char *: the files whose contents are in public.sidecar, or should be */
	char *clock;              /* UUID of their clock, "" none */
	uint64_t last_ns;         /* time of the last record applied: what comes later may not be before it */
	int64_t least_behind_ns;  /* least that last_ns was behind this machine's clock since it is here */
	uint64_t lag_at_ns;       /* last_ns when the lag was last measured */
	bool back;                /* attached again; its next event ends the gap */
	bool lacks_names, lacks_rows; /* some of it did not fit into memory: that was said */
	bool stalled;                 /* a source of it is not waited for */
	char *away_why;               /* while it is away */
};

/* Whether several sessions trace its kernel or its programs: an event may come more than once (ingest/kernel.h). */
static inline bool host_is_traced_twice(const struct host *host)
{
	return host->kernels->len > 1 || host->programs.n_sessions > 1;
}

/* Names the host as the trace announcement does; hint: where it has no hostname. */
struct host *host_of_trace(GPtrArray *hosts, const struct event *ev, const char *hint, const char *source_name);

/* A host that was read in another run, of which this is known; texts are copied. Nothing is read of it any more. */
struct host *host_restore(const char *hostname, const char *clock, const struct ingest_host *known);

/* Takes in what lies beside the traces of a recording of it, unless that was done. */
void host_add_sidecars(struct host *host, const struct source_spec *spec);

/* Takes in an EVENT_MESSAGE that is a part of the machine's side-car. False: it is another one. */
bool host_hear(struct host *host, const struct event *ev);

/* A live host may be the very machine we run on: then what is known of it is brought up to date, if that is due. */
void host_refresh_sidecar(struct host *host);

/* A trace of it was announced: of several tracers the kernel's is the one to name, whichever came first. */
void host_set_tracer(struct host *host, const struct event *ev);

void host_free(void *host);

/* It is back: where its name was given to another one meanwhile it gets the next number of it. */
void host_name_again(struct host *host, const GPtrArray *hosts);

/* Notes why the host's figures are incomplete; the first reason stays. */
void host_trouble(struct host *host, const char *why);

/* Several sessions trace its kernel, or its programs: what is to be said of that, NULL: nothing. */
void host_set_repeated(struct host *host, const char *what);

/* Live, now and then: whether its state dump was missed. */
void host_look_for_dump(struct host *host);

/* Sorts hosts by name; those of the same name become NAME, NAME#2, … . Later ones get a name as they come. */
void hosts_name(GPtrArray *hosts);

/* Its next event is at t_ns: its record begins with the first one, a gap ends with the first one behind it. */
void host_next_event(struct host *host, uint64_t t_ns);

/* Nothing is heard of it any more, for the reason given; and it is back. live: its source is a live session. */
void host_set_away(struct host *host, const char *why);
void host_set_back(struct host *host, bool live);

/* It has no more, and does not come back. */
void host_end(struct host *host);

/*
 * Its sources say that there is no event before t_ns: after so long nothing is known of a host that was running
 * something, as the session was stopped, or the machine; nor of one that was away and is back. And there is an event
 * again.
 */
void host_no_event(struct host *host, uint64_t t_ns);
void host_is_back_at_work(struct host *host);

/* Whether a source of it is silent for too long. */
void host_set_stalled(struct host *host, bool stalled);

#endif
