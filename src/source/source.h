/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_SOURCE_H
#define LT_SOURCE_SOURCE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "event/event.h"
#include "event/payload.h"
#include "source/extent.h"

/*
 * The parent's side of reading: finds what there is to read, and runs worker processes that read each source into a
 * ring. Nothing outside source/ knows which library decodes; nothing here knows the meaning of events.
 */

/*
 * The latest data of a live session, kept in memory (source/recall.h). It stays available when the session has ended,
 * until newer data takes its place.
 */
struct source_recalled {
	int log_fd;      /* not owned, valid until this process ends; 0: nothing is kept */
	uint64_t source; /* the session in the log */
	uint64_t trace;  /* one of its traces there; of a spec */
};

/*
 * The input of one group of workers: the traces of one recording of one host that belong together (all chunks of a
 * rotated session; the snapshots of one session), or one live session.
 */
struct source_spec {
	char *name;          /* for messages: the path or URL as given by the user */
	char *host_hint;     /* host name for traces without one: the directory's name, or the URL's TARGET */
	char *group;         /* identity shared by its traces (UUID, host name, clock); NULL: unknown, a single trace */
	char *url;           /* of a live session; NULL: a recording */
	uint64_t session_id; /* live: the relayd's number of it, as several may have that URL; 0: any of these */
	bool is_growing;     /* recordings that are still being written, read like a live session */
	bool is_unfinished;  /* a recording that is still being written, read up to its last complete packets */
	GPtrArray *paths; /* char *: trace directories, oldest first; live: empty; is_growing: the parent directory */
	struct extent extent; /* of the paths when they were found: to divide the work, and as the amount to read */
	bool alone;           /* a live session that needs a worker of its own */
	bool from_start;      /* live session: all data that the relayd has, not only new data */
	unsigned timeout_ms;  /* longest silence of a relayd while an answer is due, 0: 10 s */
	unsigned stall_ms;    /* live, is_growing: how long a silent stream holds up the others (--stall-limit) */
	unsigned every_ms;    /* for source_start_list() */
	char *fields;         /* events whose fields are all wanted (EVENT_FIELDS): fields_wanted_text(); NULL: none */
	uint64_t begin_ns, end_ns;       /* recording: only events in [begin, end[ by its clock; [0, UINT64_MAX[: all */
	struct source_recalled recalled; /* what is still kept of a live session, read as a recording; .log_fd 0: not */
};

/*
 * Finds every CTF trace below the directory, grouped into specs. They are appended to specs, whose elements are freed
 * with source_spec_free(); a trace of an existing group is added to it, and one that is already there is not added
 * again. LT_ERROR: the directory does not exist, is not readable, or does not contain a trace. Subdirectories that
 * cannot be read are left out, with a warning, and counted in *left_out (may be NULL).
 */
enum lt_status source_find(const char *directory, GPtrArray *specs, unsigned *left_out);

/*
 * The spec for recordings below the directory that exist or will be made (is_growing). LT_ERROR: the directory does not
 * exist or is not readable.
 */
enum lt_status source_growing_spec(const char *directory, struct source_spec **out);

/*
 * Appends that spec, or, if there are recordings of several hosts below the directory, one for each directory that
 * contains those of one host only.
 */
enum lt_status source_growing_specs(const char *directory, GPtrArray *specs);

/*
 * The path of a trace's side-car (sidecar/sidecar.h): in its directory, or in the nearest parent made by LTTng, up to
 * the session's own. NULL: there is none. To be freed.
 */
char *source_sidecar_of(const char *directory);

/* Whether a file with that name in a trace's directory is one of its streams. */
bool source_is_stream_name(const char *name);

static inline bool source_spec_is_live(const struct source_spec *spec)
{
	return spec->url || spec->is_growing;
}

/* The identity shared by the directories of one trace, see struct source_spec; to be freed. NULL: not known. */
char *source_group_of(const char *directory);

void source_spec_free(struct source_spec *spec);

/* A copy, to be freed as well. */
struct source_spec *source_spec_copy(const struct source_spec *spec);

/* Whether a SOURCE on the command line is a URL (net:, net4:, net6:) and not a directory. */
bool source_is_url(const char *source);

/*
 * net://HOST[:PORT]/host/TARGET/SESSION, one session of a relayd, or net://HOST[:PORT][/], all of them; net4: and net6:
 * select the address family. IPv6 addresses are in brackets. No characters are escaped, not even '%'.
 */
struct source_url {
	char *relay; /* "net://HOST[:PORT]" */
	char *host;  /* from relay: a name or an address, without brackets */
	unsigned port;
	int family;    /* AF_UNSPEC, AF_INET, AF_INET6 */
	char *target;  /* name of the traced host; NULL: all sessions */
	char *session; /* its session; NULL if target is */
};

/* LT_ERROR: text is not such a URL, and *url is empty. Release *url in either case. */
enum lt_status source_parse_url(const char *text, struct source_url *url);

void source_url_release(struct source_url *url);

/* The spec of one live session; url->session must not be NULL. Its group is NULL, its extent 0. */
struct source_spec *source_live_spec(const struct source_url *url);

/* A running worker and its ring. */
struct source;

/*
 * The program that workers execute, for tests; NULL: this binary. It is called with "--worker" and the arguments of
 * worker_main(). Borrowed.
 */
void source_set_worker_program(const char *program);

/* How many worker processes read live sessions, whatever their number; 0: one per CPU. */
void source_set_live_workers(unsigned n);

/* Memory that keeps the latest data of all live sessions together, in bytes; 0, the default: none is kept. */
void source_set_recall(uint64_t bytes);

/* The reader used by workers for recordings: its name, or "auto", the default. Borrowed. */
void source_set_reader(const char *name);

/*
 * Starts a worker for part `part` of `parts` of the spec's streams. spec is borrowed until source_stop(). The worker is
 * this binary with --worker; live sessions share a few workers.
 *
 * A live session has a single part. Its records differ from a recording's: EVENT_READY comes once the viewer is
 * attached, possibly before its streams, and so its EVENT_TRACE, are known; traces, classes and streams may come at any
 * time; EVENT_BEACON advances the time when there are no events; there is no looking ahead (no EVENT_CPU_START, no
 * SWITCH_OFFLINE_UNTIL). LT_END: the session was closed.
 */
enum lt_status source_start(const struct source_spec *spec, unsigned part, unsigned parts, struct source **out);

/*
 * Starts a worker that asks a relayd (struct source_url.relay) for its sessions: an EVENT_SESSION for each, then
 * EVENT_LISTED. Then follows LT_END or, if every_ms is not 0, the same again every every_ms. LT_ERROR: as in
 * source_peek(), and also if there is no answer within timeout_ms (0: 10 s).
 */
enum lt_status source_start_list(const char *relay, unsigned timeout_ms, unsigned every_ms, struct source **out);

/* Says that n of them are not live and cannot be followed; to be freed. NULL: n is 0. */
char *source_stored_text(unsigned n);

/*
 * The next record, checked, borrowed until source_next(). LT_AGAIN: there is none yet; source_fd() becomes readable
 * when there is. LT_END: the worker has sent EVENT_END and everything was read. LT_ERROR: it broke off, died or wrote
 * invalid data: the reason is in the error chain, and the source returns no more records.
 */
enum lt_status source_peek(struct source *s, const struct event **ev);

/* A text of a record, sanitised and cut at TEXT_MAX bytes; free with g_free(). */
char *source_text(const struct event *ev, struct event_str str);

/* After LT_ERROR from source_peek(): the kind of failure. After some of them a live session can be tried again. */
enum failed_cause source_failed_cause(const struct source *s);

/* After FAILED_WORKER of a live session: whether the worker failed while it was working for this source. */
bool source_is_at_fault(const struct source *s);

/*
 * Asks for other fields, see source_spec.fields: they come after an EVENT_WANTED with that number. false: that will not
 * come, because no worker is reading yet, or because it cannot be asked (a recording).
 */
bool source_want_fields(struct source *s, const char *fields, uint32_t number);

/* Recordings that are followed (is_growing): the source ends when what they hold now has been read. */
void source_read_rest(struct source *s);

/* Consumes the record from source_peek(). */
void source_next(struct source *s);

/*
 * The same for all records available: [*ev, *end[, at least one, contiguous as for event_next(). They are consumed by
 * this call, and borrowed until the next source_peek(), source_take() or source_stop().
 */
enum lt_status source_take(struct source *s, const struct event **ev, const struct event **end);

/*
 * Readable when there is something new after source_peek() returned LT_AGAIN (level-triggered; the next source_peek()
 * clears it). Not readable while there is more to read: wait only after LT_AGAIN.
 */
int source_fd(const struct source *s);

/* For a live source: how far it has come by its own clock, as reported by the worker, consumed or not; 0: not known. */
uint64_t source_time_ns(const struct source *s);

const struct source_spec *source_spec(const struct source *s);

/* Where the latest data of a live session is kept. */
struct source_recalled source_recalled(const struct source *s);

/*
 * Appends specs for the same session that read what is kept of it, as recordings: one for each trace, also for those of
 * an earlier session of the same name; at most SOURCE_RECALLED_MAX, those with the latest data.
 */
enum { SOURCE_RECALLED_MAX = 64 };
void source_recalled_specs(const struct source_spec *live, struct source_recalled recalled, GPtrArray *specs);

/* Sessions of that URL are not expected to return: one that does may get another log than the one with their past. */
void source_forget_session(const char *url);

/*
 * To be called regularly: whether the worker has made no progress (source/pulse.h) for limit_ms, although it could,
 * while its ring is empty. The caller decides what to do. NULL: it does not hang; else how, for source_kill(), valid
 * until the next call.
 */
const char *source_hangs(struct source *s, unsigned limit_ms);

/*
 * Gives up on a worker and kills it. Once its ring has been read, source_peek() returns LT_ERROR with this reason;
 * after a second even if the worker is not gone.
 */
void source_kill(struct source *s, const char *why);

/*
 * Kills the worker because a record that it wrote is invalid, which a correct one never does. From now on source_peek()
 * returns LT_ERROR with this reason, whatever else the worker wrote: it may have ended normally. Records already taken
 * stay valid.
 */
void source_accuse(struct source *s, const char *wrong);

/*
 * Frees everything. The worker is killed, or has 2 s to exit if the source returned LT_END. Does not wait for it:
 * source_reap() does the rest. NULL is allowed.
 */
void source_stop(struct source *s);

/*
 * To be called regularly: reaps workers of stopped sources that are gone, and kills those that are late; returns how
 * many are left.
 */
unsigned source_reap(void);

/* Before the process ends: waits until these workers are gone, which takes a moment unless the kernel holds them. */
void source_wait_for_workers(void);
#endif
