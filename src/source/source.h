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
 * The parent's side of reading: what there is to read, and one worker process
 * per source that reads it into a ring. Nothing outside source/ knows which
 * library decodes; nothing here knows what the events mean.
 */

/*
 * What one group of workers reads: the traces of one recording of one host that
 * belong together (all chunks of a rotated session; the snapshots of one session),
 * or one live session.
 */
struct source_spec {
	char *name;       /* for messages: the path or URL as the user knows it */
	char *host_hint;  /* host name for traces without one: the directory's name, the URL's TARGET */
	char *group;      /* what its traces have in common (UUID, host name, clock); NULL: unknown, one trace alone */
	char *url;        /* of a live session, NULL: a recording */
	bool is_growing;  /* recordings that are being written: read like a live session */
	GPtrArray *paths; /* char *: the trace directories, oldest first; none of a live session; the one directory
			     below which recordings grow */
	struct extent extent; /* of the paths when they were found: how to share out the workers, what must be read */
	bool alone;           /* a live session that is not read by a worker together with others */
	bool from_start;      /* of a live session: all that the relayd has of it, not only what comes */
	unsigned timeout_ms;  /* of a relayd without an answer; 0: 10 s; of growing recordings: of a silent stream */
	unsigned every_ms;    /* of source_start_list() */
	char *fields; /* of which events all fields are given (EVENT_FIELDS): fields_wanted_text(); NULL: of none */
	uint64_t begin_ns, end_ns; /* of a recording: what is in [begin, end[ by its clock; [0, UINT64_MAX[: all */
};

/*
 * Finds every CTF trace below the directory, grouped into specs (appended to
 * specs, elements freed by source_spec_free(); a trace of a group that is already there joins
 * it, one that was found before is not taken twice). LT_ERROR: no such directory, not readable,
 * no trace in it. Directories below that cannot be read are left out, warned of
 * and counted in *left_out (may be NULL).
 */
enum lt_status source_find(const char *directory, GPtrArray *specs, unsigned *left_out);

/*
 * The spec of whatever is recorded below the directory from now on, and has been: is_growing. LT_ERROR: no such
 * directory, or not readable.
 */
enum lt_status source_growing_spec(const char *directory, struct source_spec **out);

/*
 * The path of the side-car of a trace (sidecar/sidecar.h): in its directory, or in the nearest of those that LTTng
 * puts it into, up to the session's own. NULL: there is none. To be freed.
 */
char *source_sidecar_of(const char *directory);

/* Whether a file of that name in a trace's directory is one of its streams. */
bool source_is_stream_name(const char *name);

static inline bool source_spec_is_live(const struct source_spec *spec)
{
	return spec->url || spec->is_growing;
}

/* What the directories of one trace have in common, see struct source_spec; to be freed. NULL: it is not known. */
char *source_group_of(const char *directory);

void source_spec_free(struct source_spec *spec);

/* To be freed as well. */
struct source_spec *source_spec_copy(const struct source_spec *spec);

/* Whether a SOURCE of the command line is a URL (net:, net4:, net6:) and no directory. */
bool source_is_url(const char *source);

/*
 * net://HOST[:PORT]/host/TARGET/SESSION, a session of a relayd, or
 * net://HOST[:PORT][/], all of them; net4: and net6: for one kind of address. An IPv6 address stands in
 * brackets. All other characters stand for themselves, '%' too.
 */
struct source_url {
	char *relay; /* "net://HOST[:PORT]" */
	char *host;  /* of it: a name or an address, without brackets */
	unsigned port;
	int family;    /* AF_UNSPEC, AF_INET, AF_INET6 */
	char *target;  /* name of the traced host; NULL: all sessions */
	char *session; /* its session; NULL with target */
};

/*
 * LT_ERROR: it is none; *url is empty then. To be released in either case.
 */
enum lt_status source_parse_url(const char *text, struct source_url *url);

void source_url_release(struct source_url *url);

/* The spec of one live session; url->session is not NULL. Its group is NULL, its extent 0. */
struct source_spec *source_live_spec(const struct source_url *url);

/* A running worker and its ring. */
struct source;

/*
 * The program the workers run, NULL: this binary. For tests. It is called with
 * "--worker" and the arguments of worker_main(). Borrowed.
 */
void source_set_worker_program(const char *program);

/* How many worker processes read live sessions, however many those are; 0: one per CPU. */
void source_set_live_workers(unsigned n);

/* Which reader the workers of recordings use: its name, or "auto", the default. Borrowed. */
void source_set_reader(const char *name);

/*
 * Starts a worker for part `part` of `parts` of the spec's streams (spec is
 * borrowed for the source's life). The worker is this binary with --worker; live sessions share a few.
 *
 * A live session is one part. Its records differ from a recording's: EVENT_READY
 * comes once the viewer is attached, which may be before its streams, and so its
 * EVENT_TRACE, are known; traces, classes and streams may come at any time; EVENT_BEACON
 * moves the time on where nothing happens; nobody looks ahead (no EVENT_CPU_START, no
 * SWITCH_OFFLINE_UNTIL). LT_END: the session was closed.
 */
enum lt_status source_start(const struct source_spec *spec, unsigned part, unsigned parts, struct source **out);

/*
 * Starts a worker that asks a relayd (struct source_url.relay) which sessions
 * it has: an EVENT_SESSION each, then EVENT_LISTED. After that LT_END, or the same again each every_ms if
 * that is not 0. LT_ERROR as source_peek() says, also when there was no answer within timeout_ms (0: 10 s).
 */
enum lt_status source_start_list(const char *relay, unsigned timeout_ms, unsigned every_ms, struct source **out);

/*
 * The next record, checked, borrowed until source_next(). LT_AGAIN: nothing
 * there yet, source_fd() becomes readable when there is. LT_END: the worker
 * said EVENT_END and everything was read. LT_ERROR: it broke off, died or wrote nonsense:
 * the reason is in the error chain; the source gives nothing any more.
 */
enum lt_status source_peek(struct source *s, const struct event **ev);

/* After LT_ERROR of source_peek(): what kind of failure it was; a live session can be tried again after some. */
enum failed_cause source_failed_cause(const struct source *s);

/* After FAILED_WORKER, of a live session: whether the worker's end came while it worked for this one. */
bool source_is_at_fault(const struct source *s);

/*
 * Other fields are wanted, see source_spec.fields: they come behind an EVENT_WANTED of that number. false: there is
 * none, as no worker reads yet, or it cannot be told (a recording).
 */
bool source_want_fields(struct source *s, const char *fields, uint32_t number);

/* Consumes the record source_peek() gave. */
void source_next(struct source *s);

/*
 * The same for all records that are at hand: [*ev, *end[, one behind the other as event_next() says, one at least.
 * They are consumed by this, and borrowed until the next source_peek(), source_take() or source_stop().
 */
enum lt_status source_take(struct source *s, const struct event **ev, const struct event **end);

/*
 * Readable when there is something new for a source_peek() that said LT_AGAIN (level-triggered; the next
 * source_peek() clears it). Not readable while there is more to read: wait only after LT_AGAIN.
 */
int source_fd(const struct source *s);

/* Of a live one: how far its time has come by its own clock, as the worker says, consumed or not; 0: not known. */
uint64_t source_time_ns(const struct source *s);

const struct source_spec *source_spec(const struct source *s);

/*
 * To be asked now and then: the worker makes no progress (source/pulse.h) while its ring is empty, for
 * limit_ms in which it could. The caller decides what to do about it.
 */
bool source_hangs(struct source *s, unsigned limit_ms);

/*
 * Gives a worker up: kills it; once its ring is read, source_peek() gives LT_ERROR with this reason; a
 * second later also if it is not gone.
 */
void source_kill(struct source *s, const char *why);

/*
 * Frees everything. The worker is killed, or has 2 s to exit if it gave LT_END: nobody waits for it, what is
 * left to do is source_reap()'s. NULL is allowed.
 */
void source_stop(struct source *s);

/* Now and then: lets go of workers of stopped sources that are gone, ends those that stay; how many do. */
unsigned source_reap(void);

/* Before the process ends: until these workers are gone, within a moment unless the kernel keeps them. */
void source_wait_for_workers(void);
#endif
