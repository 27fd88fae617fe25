/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_INGEST_H
#define LT_INGEST_INGEST_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/nstime.h"
#include "base/status.h"
#include "base/stop.h"
#include "ingest/clocks.h"
#include "model/model.h"
#include "waits/waits.h"

/*
 * The pump: opens the sources, merges each host's records in time order and applies them to the host's model, up to the
 * time that the caller asks for. Both reports and the monitor use it; it depends on neither.
 *
 * Hosts are independent of each other: each has its own merge and its own
 * clock, and none waits for another. With live sources, hosts may be added at any
 * time, after the existing ones; none is ever removed.
 *
 * All times here are by the host's own clock. Its map converts them to reference time, which is only needed where
 * intervals are cut and where times are shown. Only the wait graph (waits/) covers all hosts together; it uses
 * reference time. Main thread only.
 */
struct ingest;
struct ingest_visitor;

struct ingest_options {
	unsigned workers;  /* total number of worker processes; 0: one per CPU; at least one per recording */
	bool from_start;   /* read live sessions from the oldest data that the relayd has, not only new data */
	bool growing;      /* directories hold recordings that are still being written: read them like live sessions */
	bool follow;       /* attach live sessions again when they come back after they ended or broke off */
	bool without_live; /* sessions are no longer waited for: each URL is an error */
	uint64_t stall_limit_ns; /* stop waiting for a live source that is silent for longer; 0: 10 s */
	unsigned max_sessions;   /* live sessions attached at once; others are listed, and if followed, attached
					later; 0: all */
	uint64_t max_lag_ns;     /* a live host that is further behind skips to its newest data; 0: never */
	const char *store;   /* where the live sessions' relayd keeps its files; borrowed; NULL: not on this machine */
	size_t model_memory; /* limit for the models and the string pool, in bytes; 0: none */
	unsigned row_copies; /* number of copies kept of each row of a model: struct model_memory */
	struct clocks *clocks; /* receives the hosts' packets, provides their maps; borrowed; NULL: no maps */
	bool own_time;         /* clocks receives the packets, but every host keeps its own clock: no maps */
	const struct waits_options *waits; /* for a wait graph; NULL: none; not used after ingest_create() */
	struct waits *graph; /* the caller's graph, which the caller fills (ingest/window.c); borrowed; may be NULL */
	const struct ingest_visitor *visitor; /* sees each event (ingest/visit.h); borrowed; may be NULL */
	bool survey; /* read only for clocks, starts and ends: events are not applied to models */
};

struct ingest_host {
	char *name;                    /* "web", "localhost#2" */
	char *source;                  /* its path or URL; several are joined by ", " */
	char *tracer;                  /* "lttng-modules 2.13.9" */
	bool heard;                    /* parts of its side-car came as events */
	const struct sidecar *sidecar; /* more data about the machine (sidecar/sidecar.h), or NULL */
	struct model *model;           /* with rows only for files that are used: model_set_figures() */
	const struct clock_map *map;   /* to reference time: clock_to_ref(); NULL: the identity */
	unsigned clock;                /* its number in clocks_sync() of the options' clocks */
	unsigned wait;                 /* its number in ingest_waits() */
	uint64_t from_ns;              /* events before this time are not read; 0: all are */
	uint64_t begin_ns;             /* time of its first event; TIME_UNKNOWN: none has come yet */
	uint64_t end_ns;               /* last event applied + 1 ns, 0 before the first; final once ended */
	uint64_t end_hint_ns;          /* end of its last packet, if known: an estimate of the final end_ns */
	uint64_t applied_ns;           /* everything before this time has been applied */
	uint64_t next_ns;              /* after LT_OK: time of the next record, at least until_ns */
	bool live;                     /* read from a relayd, or from files that are being written */
	bool ended;                    /* its sources have no more data and are not followed, or it was rebooted */
	bool away;                     /* none of its sources runs; it may come back */
	bool waited_for;               /* live: one of its sources sent nothing for a fifth of the stall limit */
	bool over;                     /* away because all its sessions ended; new ones may have the same name */
	bool silent;                   /* live: one of its sources is no longer waited for */
	bool still;      /* live: its sources have reported no events since end_ns, for longer than a kernel
				that runs anything can be without */
	bool replaced;   /* live: no more data comes: its machine was rebooted, or too many hosts have ended since;
				what its sessions send next belongs to another host */
	uint64_t lag_ns; /* live: how much later than usual its last record came, at the last ingest_watch();
				0 while nothing comes */
	uint64_t gap_begin_ns, gap_end_ns; /* the last time without data; equal: there was none.
					      The end grows until ingest_advance() comes to an event */
	char *trouble;                     /* why it is incomplete (a worker broke off …); NULL: it is not */
	const char *note;                  /* another remark on its figures, or NULL; stays valid */
};

struct ingest *ingest_create(const struct ingest_options *options);
void ingest_destroy(struct ingest *in);

/* Turns it into a survey (ingest_options.survey). Call it before any event has been applied, and without a visitor. */
void ingest_only_survey(struct ingest *in);

/*
 * Lets the wait graph wait for the clocks: its events are queued until ingest_release_waits() builds it, so that
 * recordings are read only once. false: they are too large for that. Call it after ingest_start(), before any event has
 * been applied.
 */
bool ingest_hold_waits(struct ingest *in);

/* Builds the wait graph that was held, if it was. Call it when the maps of all hosts are final. */
void ingest_release_waits(struct ingest *in);

/*
 * Opens a SOURCE of the command line: a directory or a URL. LT_ERROR: it cannot be read at all (error chain); other
 * sources are not affected.
 */
enum lt_status ingest_open(struct ingest *in, const char *source);

/*
 * Limits the reading of recordings to [begin_ns, end_ns[ of reference time, converted by the maps of the same hosts in
 * `like`, an ingest of the same SOURCEs that has been started. If models is true, because the visitor needs to know
 * which threads run, everything is read, and only the fields that the visitor wants are limited to that time. Call it
 * between ingest_open() and ingest_start().
 */
void ingest_limit(struct ingest *in, const struct ingest *like, uint64_t begin_ns, uint64_t end_ns, bool models);

/*
 * Starts the workers, and waits until the host of every recording and the time of its first event are known. If
 * sessions are not followed, it waits for those of live sessions too, or for their end, and reports relayds that do not
 * answer, and those without a live session if none runs elsewhere. Hosts of recordings are sorted by name. LT_ERROR: no
 * source could be read, and none is followed, or ingest_is_refused(). LT_INTERRUPTED: *stop was set.
 */
enum lt_status ingest_start(struct ingest *in, const stop_flag *stop);

/*
 * After LT_INTERRUPTED from ingest_start(): gives up live sources that have not answered, each with a message; others
 * end as soon as the data that has come is read. Returns whether ingest_start() can be called again, to read all that;
 * false: no host is known, or no live source was waited for, be it for an answer or for its host's first event.
 */
bool ingest_leave_live(struct ingest *in);

/*
 * After LT_INTERRUPTED: recordings that are followed (.growing) end when what they hold now has been read. It is to be
 * read, because their workers hold data back for idle streams. false: there are none, or not only such sources.
 */
bool ingest_read_rest(struct ingest *in);

/*
 * The same without waiting, and without the first events of live sources. LT_AGAIN: not everything is known yet; call
 * it again when ingest_fd() is readable, and several times a second.
 */
enum lt_status ingest_start_some(struct ingest *in);

/*
 * After LT_ERROR from ingest_start() or ingest_start_some(): whether the user gave sources that must not be read
 * together (source/overlap.h). The error chain has the reason.
 */
bool ingest_is_refused(const struct ingest *in);

unsigned ingest_host_count(const struct ingest *in);
struct ingest_host *ingest_host(struct ingest *in, unsigned i);

/*
 * The earliest start of all hosts known so far, in reference time: the origin of
 * every grid of intervals. TIME_UNKNOWN: no host has had an event.
 */
uint64_t ingest_begin_ns(const struct ingest *in);

/*
 * Applies host i's events before until_ns. Reads at most max_records from its sources, because a faulty worker could
 * write records that are not events for ever. LT_OK: all events before until_ns have been applied. LT_END: they have,
 * and the host has no more. LT_AGAIN: max_records was reached, or the sources have nothing at present; wait in that
 * case.
 */
enum lt_status ingest_advance(struct ingest *in, unsigned i, uint64_t until_ns, uint64_t max_records);

/*
 * Frees what the model of a replaced host has found, but not what its traces declared; such hosts may share a model.
 * Call it after ingest_advance() has returned LT_END for the host.
 */
void ingest_forget(struct ingest *in, unsigned i);

/*
 * The numbers of the *n hosts whose sources may have new data for ingest_advance(), in no particular order; valid
 * until the next call of any function here. For other hosts ingest_advance() returns LT_AGAIN or LT_END.
 */
const unsigned *ingest_ready(const struct ingest *in, unsigned *n);

/*
 * As ingest_advance(), but waits for the workers as long as necessary. LT_AGAIN: it is a live host that has been silent
 * past the stall limit. LT_INTERRUPTED: *stop was set.
 */
enum lt_status ingest_advance_wait(struct ingest *in, unsigned i, uint64_t until_ns, const stop_flag *stop);

/*
 * The same for a host that may not have had an event so far. LT_OK with .begin_ns still TIME_UNKNOWN: it has none
 * before quiet_ns.
 */
enum lt_status ingest_advance_first(struct ingest *in, unsigned i, uint64_t until_ns, uint64_t quiet_ns,
				    const stop_flag *stop);

/*
 * The wait graph of all hosts, or the caller's graph, or NULL if none was requested. It is built up to the time that
 * all hosts have reached, except those that are silent, away or have ended. Advance the hosts together: events by which
 * one is ahead of the others are kept in memory.
 */
struct waits *ingest_waits(const struct ingest *in);

/*
 * Keeps the paths and short-lived names that the models and its own wait graph, not the caller's, hold in the string
 * pool: see strpool_round_begin().
 */
void ingest_keep_paths(const struct ingest *in);

/* Removes the wait graph. Only before the first ingest_advance(). */
void ingest_drop_waits(struct ingest *in);

/*
 * Becomes readable (poll, epoll) when a source has new data after LT_AGAIN, until ingest_watch() is called: call that,
 * then ingest_advance(), then wait again.
 */
int ingest_fd(const struct ingest *in);

/* Waits until ingest_fd() is readable, for at most timeout_ms. */
void ingest_wait(const struct ingest *in, int timeout_ms);

/*
 * Looks after the sources. Each call notes which of them have new data. Several times a second, however often it is
 * called, it also finds new hosts and sessions, attaches sessions again, skips silent sources, ends workers that hang
 * and reports those that died. Call it when ingest_fd() is readable, and several times a second.
 */
void ingest_watch(struct ingest *in);

/* Whether texts in a struct ingest_host may have changed since the last call. */
bool ingest_announced(struct ingest *in);

/* Whether live sources may still deliver new data. */
bool ingest_is_live(const struct ingest *in);

/* Whether all sources have been read and their workers are gone, so that ingest_watch() has nothing left to do. */
bool ingest_is_over(const struct ingest *in);

/* Reports hosts whose names or rows did not fit into model_memory; ingest_advance() does this for its host. */
void ingest_note_shortage(struct ingest *in);

/*
 * Whether anything was corrupt or unreadable, or a source broke off, so far; or a session that is followed could not be
 * attached yet, or the sessions of a relayd could not be listed yet.
 */
bool ingest_broken(const struct ingest *in);

/* ---- the list of sources, for the screen ---- */

/* A recording, live session or relayd. Texts are borrowed until the next ingest_watch() or ingest_advance(). */
struct ingest_input {
	unsigned id;        /* no other one ever has it; 0: a relayd */
	const char *name;   /* path or URL */
	const char *state;  /* "attached", or why it is not */
	int host;           /* its number; -1: not known yet */
	const char *target; /* of a session: the name of its host in its URL; NULL: not a session */
	bool live, runs;
	bool detached; /* not read until ingest_attach() */
	bool retried;  /* broke off, and is attached again as soon as possible */
	bool over;     /* a session that has ended */
	bool relay;    /* a relayd that is asked for its sessions; it cannot be detached */
};

/*
 * In a fixed order: relayds, then recordings and sessions; new sessions are added at the end. Of sessions that have
 * ended and are no longer listed, ingest_watch() forgets all but the last ones.
 */

unsigned ingest_input_count(const struct ingest *in);
struct ingest_input ingest_input(const struct ingest *in, unsigned i);

/*
 * By ID. ingest_detach() stops reading a live session; its figures so far stay. ingest_attach() attaches it again, or
 * attaches one that was left out because of ingest_options.max_sessions; while that many are attached, it only
 * returns false.
 */
void ingest_detach(struct ingest *in, unsigned id);
bool ingest_attach(struct ingest *in, unsigned id);

#endif
