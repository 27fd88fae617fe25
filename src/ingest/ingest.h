/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_INGEST_H
#define LT_INGEST_INGEST_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/nstime.h"
#include "base/status.h"
#include "ingest/clocks.h"
#include "model/model.h"
#include "waits/waits.h"

/*
 * The pump: opens the sources, merges each host's records in time order and
 * applies them to the host's model, as far as it is told to. Reports and the
 * monitor drive it alike; it knows neither.
 *
 * Hosts are independent of each other: each has its own merge and its own
 * clock, and none waits for another. With live sources hosts may be added at any
 * time, behind those that are there; none ever goes.
 *
 * All times here are the host's own. Its map says what they are in the time of
 * the reference host, and serves at the edges only: where intervals are cut, where times are
 * shown. The wait graph (waits/) is the one thing that knows all hosts; it is in reference
 * time. Main thread only.
 */
struct ingest;
struct ingest_visitor;

struct ingest_options {
	unsigned workers;        /* worker processes wanted in all, 0: one per CPU; every recording gets at least one */
	bool from_start;         /* live sessions from where the relayd has them on, not only what comes */
	bool growing;            /* directories hold recordings that are being written: read like live sessions */
	bool follow;             /* live sessions that end or break off are attached again when they come back */
	uint64_t stall_limit_ns; /* a live source silent for longer is not waited for; 0: 10 s */
	unsigned max_sessions;   /* live sessions attached at once, the others are listed; 0: all */
	uint64_t max_lag_ns;     /* a live host that is further behind starts again at the end; 0: never */
	const char *store;       /* where the relayd of the live sessions keeps its files; borrowed, NULL: not here */
	size_t model_memory;     /* bound of what models and the string pool take; 0: none */
	unsigned row_copies;     /* how often the rows of a model are kept: struct model_memory */
	struct clocks *clocks;   /* gets the hosts' packets, gives their maps; borrowed; NULL: every host on its own */
	bool own_time;           /* clocks gets the packets, but every host stays on its own clock: no maps */
	const struct waits_options *waits; /* keep a wait graph, NULL: none; read by ingest_create() alone */
	struct waits *graph; /* the caller's, which takes the models' wait logs there (ingest/window.c); borrowed */
	const struct ingest_visitor *visitor; /* sees each event (ingest/visit.h); borrowed; NULL: nobody does */
	bool survey; /* only for the clocks and the ends of records: events are not applied to models */
};

struct ingest_host {
	char *name;                    /* "web", "localhost#2" */
	char *source;                  /* path or URL it comes from; several joined by ", " */
	char *tracer;                  /* "lttng-modules 2.13.9" */
	bool heard;                    /* parts of the side-car came as events */
	const struct sidecar *sidecar; /* what else is known of the machine (sidecar/sidecar.h), NULL: nothing */
	struct model *model;           /* lists only files that are used: model_set_figures() */
	const struct clock_map *map;   /* to the reference's time: clock_to_ref(); NULL: it is the identity */
	unsigned clock;                /* its number in clocks_sync() of the options' clocks */
	unsigned wait;                 /* its number in ingest_waits() */
	uint64_t begin_ns;             /* of its record: the first event; TIME_UNKNOWN: none has come yet */
	uint64_t end_ns;               /* last event applied + 1 ns, 0 before the first; final once ended */
	uint64_t end_hint_ns;          /* end of its last packet: about how long it will be, if that is known */
	uint64_t applied_ns;           /* everything before this time has been applied */
	uint64_t next_ns;              /* after LT_OK: time of the next record, at least until_ns */
	bool live;                     /* comes from a relayd, or from files that are being written */
	bool ended;                    /* its sources gave all they had, and are not followed */
	bool away;                     /* none of its sources runs; may come back */
	bool waited_for;               /* live: nothing has come from a source of it for a fifth of the stall limit */
	bool over;                     /* away, as all its sessions have ended; others of the same name may come */
	bool silent;                   /* live: a source of it is not waited for any more */
	bool still;      /* live: its sources are heard of, but say that nothing happens, for longer than a kernel
				that runs something is without events: since end_ns */
	uint64_t lag_ns; /* live: how much later than usual its last record came, at the last ingest_watch();
				0 while nothing comes */
	uint64_t gap_begin_ns, gap_end_ns; /* the last time nothing was known of it; equal: never.
					      The end is known as soon as ingest_advance() meets it */
	char *trouble;                     /* why it is incomplete (a worker broke off …), NULL: it is not */
	const char *note;                  /* what else is to be known of its figures, NULL: nothing; stays valid */
};

struct ingest *ingest_create(const struct ingest_options *options);
void ingest_destroy(struct ingest *in);

/*
 * Opens a SOURCE of the command line: a directory or a URL. LT_ERROR: it cannot be read at all (the
 * reason in the error chain); other sources go on.
 */
enum lt_status ingest_open(struct ingest *in, const char *source);

/*
 * Between ingest_open() and ingest_start(): of recordings only what is in [begin_ns, end_ns[ of reference time is read,
 * by the maps that their hosts have in another ingest, of the same SOURCEs and started. With a visitor that needs to
 * know who runs (models), all is read, and only the fields that it wants are of that time.
 */
void ingest_limit(struct ingest *in, const struct ingest *like, uint64_t begin_ns, uint64_t end_ns, bool models);

/*
 * Starts the workers. Waits until the host of every recording is known with the
 * time of its first event; unless sessions are followed, until that is so of the live ones too, or
 * they have ended. LT_ERROR: not one source could be read (none is followed).
 * LT_INTERRUPTED: *stop became true. Hosts of recordings are sorted by name.
 */
enum lt_status ingest_start(struct ingest *in, const volatile bool *stop);

/*
 * The same without waiting, and not for live sources, be they followed or not. LT_AGAIN: not all is known yet: call
 * again when ingest_fd() is readable, and several times a second.
 */
enum lt_status ingest_start_some(struct ingest *in);

unsigned ingest_host_count(const struct ingest *in);
struct ingest_host *ingest_host(struct ingest *in, unsigned i);

/*
 * The earliest begin of all hosts known so far, in reference time: where every
 * grid of intervals starts. TIME_UNKNOWN: none has begun.
 */
uint64_t ingest_begin_ns(const struct ingest *in);

/*
 * Applies host i's events before until_ns, reading at most max_records of its sources:
 * a worker may write records that are not events for ever. LT_OK: all before until_ns
 * are applied. LT_END: and the host has no more. LT_AGAIN: max_records reached, or the
 * sources have nothing now (then wait).
 */
enum lt_status ingest_advance(struct ingest *in, unsigned i, uint64_t until_ns, uint64_t max_records);

/*
 * The numbers of the hosts whose sources may have something that ingest_advance() has not met yet, in no order;
 * borrowed until the next call of anything here. Of others it says LT_AGAIN, or LT_END.
 */
const unsigned *ingest_ready(const struct ingest *in, unsigned *n);

/*
 * The same, waiting for the workers as long as it takes, but not for a live
 * host that is silent past the stall limit: LT_AGAIN. LT_INTERRUPTED: *stop became true.
 */
enum lt_status ingest_advance_wait(struct ingest *in, unsigned i, uint64_t until_ns, const volatile bool *stop);

/*
 * The wait graph of all hosts, or the caller's, NULL: none was asked for. It is built as far as the hosts have been
 * advanced; hosts that are silent, away or have ended hold nobody up. Drive
 * the hosts side by side: what one is ahead of the others is kept in memory.
 */
struct waits *ingest_waits(const struct ingest *in);

/* Tells the string pool which paths the models and the wait graph hold: strpool_round_begin(). */
void ingest_keep_paths(const struct ingest *in);

/* Before anything is advanced: no graph is wanted after all. */
void ingest_drop_waits(struct ingest *in);

/*
 * Readable (poll, epoll) when a source has something new for a call that said LT_AGAIN, until ingest_watch(): call
 * that, then ingest_advance(), then wait.
 */
int ingest_fd(const struct ingest *in);

/* Waits until it is, but no longer than that. */
void ingest_wait(const struct ingest *in, int timeout_ms);

/*
 * Looks after the sources: takes note of those that have something new; several times a second, however often it
 * is called, it also hears of new hosts and sessions, attaches again, leaves out who is silent, ends workers that
 * hang, reports those that died. Call when ingest_fd() is readable, and several times a second.
 */
void ingest_watch(struct ingest *in);

/* Whether texts of struct ingest_host may have been replaced since it was last asked. */
bool ingest_announced(struct ingest *in);

/* Whether anything may still come of live sources that is not there yet. */
bool ingest_is_live(const struct ingest *in);

/* Whether all sources are read and their workers gone: nothing is left to look after. */
bool ingest_is_over(const struct ingest *in);

/* Notes as trouble of their hosts what did not fit into model_memory; ingest_advance() does it, too. */
void ingest_note_shortage(struct ingest *in);

/* Whether anything was corrupt, unreadable or broke off so far. */
bool ingest_broken(const struct ingest *in);

/* The same, or lost: exit status 3. */
bool ingest_incomplete(const struct ingest *in);

/* ---- what there is to choose from, for the screen ---- */

/* A recording, live session or relayd. Texts are borrowed until the next ingest_watch() or ingest_advance(). */
struct ingest_input {
	const char *name;  /* path or URL */
	const char *state; /* "attached", or why not */
	int host;          /* its number, -1: not known yet */
	bool live, runs;
	bool detached; /* not to be read, until ingest_attach() */
	bool relay;    /* a relayd that is asked for its sessions; it cannot be detached */
};

/* In an order that stays; later ones come behind. */

unsigned ingest_input_count(const struct ingest *in);
struct ingest_input ingest_input(const struct ingest *in, unsigned i);

/*
 * Stops reading a live session; what was read of it stays. Attaches it, or one that was not for want of
 * ingest_options.max_sessions: which does nothing but say so while there are as many.
 */
void ingest_detach(struct ingest *in, unsigned input);
void ingest_attach(struct ingest *in, unsigned input);

#endif
