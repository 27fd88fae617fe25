/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_LIVE_INTERNAL_H
#define LT_READER_NATIVE_LIVE_INTERNAL_H

#include "reader/native/internal.h"
#include "reader/native/live.h"

/*
 *   live.c        a session: what the viewer brings, and to whom it goes
 *   follow.c      a directory: what is written to it, and to whom it goes
 *   live_trace.c  a trace whose metadata grows
 *   live_stream.c a stream whose packets come one by one
 *   live_merge.c  the streams in the order of time; how far the time has come
 */

enum { LIVE_METADATA_MAX = 64 << 20 }; /* bytes, of all traces of a session at a time */

/*
 * The metadata of a trace grows as programs bring new event classes. What it has become is read as a whole, a version,
 * and streams take it over with their next packet. A version is freed once it is not the newest and no stream is in
 * a packet that it describes.
 */
struct live_version {
	struct native_trace base;
	unsigned users; /* streams */
};

struct live_trace {
	struct reader base;
	uint64_t id; /* of the relayd */
	GByteArray *metadata;
	bool is_known;       /* it was announced */
	bool has_grown;      /* since it was last read */
	bool is_declared;    /* as far as it was read */
	unsigned n_streams;  /* of .streams, data */
	unsigned n_metadata; /* streams of metadata; of a directory 1 as long as it is looked into */
	bool had_streams;    /* data */
	GPtrArray *versions; /* struct live_version *, newest last */
	GHashTable *ids;     /* "STREAM EVENT" → the class's id + 1 */
};

struct live_stream {
	struct native_stream base;
	struct native_live *live;
	struct live_trace *trace;
	struct viewer_stream *viewer; /* NULL: it comes from files */
	struct viewer_packet *packet; /* being decoded, NULL: none */
	GQueue packets;               /* those that come next */
	bool is_announced;            /* by EVENT_STREAM */
	bool is_gone;                 /* no more packets will come */
	bool is_late;                 /* its last event was older than what was written already */
	bool is_waiting;              /* in the heap: it has an item */
	uint64_t beacon;              /* cycles */
	bool has_beacon;
	uint64_t until_ns; /* nothing before it will come; 0: not known */
};

struct native_live {
	struct viewer *viewer;
	struct ring_producer *ring;
	char *name;
	char *fields;           /* reader_args.wanted */
	char *wanted;           /* what it is to be as soon as the ring has room to say so; NULL: it stays */
	uint32_t wanted_number; /* of that request */
	GPtrArray *traces;      /* struct live_trace *, by trace number; NULL: it is free */
	size_t n_metadata;      /* bytes, of all of them */
	bool lacks_traces;      /* there were too many, which is not told yet */
	bool lack_reported;
	GPtrArray *streams; /* struct live_stream *, all that are open */
	unsigned n_streams; /* that there have been */
	GPtrArray *heap;    /* struct live_stream * with an item, the first in time at [0] */
	uint64_t last_ns;   /* time of the last record that has one */
	uint64_t from_ns;   /* streams of which less is known are not waited for */
	uint64_t until_ns;  /* nothing from here on is written, as streams may come; UINT64_MAX: none may */
	bool is_attached;   /* to a relayd's session */
	bool is_ready;      /* EVENT_READY was written */
	bool is_full;       /* the ring has no room: what comes waits in the streams */
};

/* ---- live.c ---- */

/* The common part of *l, which is all 0. */
void native_live_init(struct native_live *l, const char *name, const char *fields, struct ring_producer *ring);
void native_live_release(struct native_live *l);

/* At each step, first. */
void native_live_apply_requests(struct native_live *l);

/* ---- live_trace.c ---- */

/* NULL: there are too many. */
struct live_trace *live_trace_get(struct native_live *l, uint64_t id);

/*
 * Frees a trace whose streams have all ended, metadata included. Its number is another one's then: whoever reads the
 * records has them in the order in which they were written, and forgets what it knew of the number at EVENT_TRACE.
 */
void live_trace_settle(struct native_live *l, struct live_trace *t);

void live_trace_destroy(gpointer trace);

/* Takes more metadata. LT_ERROR: it is more than a session's traces have together. */
enum lt_status live_trace_add(struct native_live *l, struct live_trace *t, const uint8_t *bytes, size_t len);

/*
 * Reads what the metadata has become, and announces what is new. LT_AGAIN: the ring has no room for all of it: to be
 * called again, and no packet is taken before. LT_ERROR: it makes no sense, or lacks its end.
 */
enum lt_status live_trace_update(struct live_trace *t);

static inline struct native_trace *live_trace_newest(const struct live_trace *t)
{
	return t->versions->len ? g_ptr_array_index(t->versions, t->versions->len - 1) : NULL;
}

/* A stream begins, or ends, to need that version; NULL: none. */
void live_trace_hold(struct native_trace *version);
void live_trace_let_go(struct live_trace *t, struct native_trace *version);

/* ---- live_stream.c ---- */

/* Sets what is not 0 at first. */
void live_stream_init(struct live_stream *s, struct native_live *l, struct live_trace *t, const char *name);

struct live_stream *live_stream_create(struct native_live *l, struct live_trace *t, struct viewer_stream *viewer);
void live_stream_destroy(gpointer stream);

/* From now on by that metadata; NULL: it is between packets, and needs none. */
void live_stream_take_version(struct native_stream *n, struct native_trace *newest);

/* Looks for its next item; false: there is none for now, .until_ns was brought up to date. */
bool live_stream_advance(struct live_stream *s);

/* Takes a beacon over once the trace's clock is known. */
void live_stream_note_time(struct live_stream *s);

/* ---- live_merge.c ---- */

/* The stream has something new: an item or a later time. */
void live_merge_wake(struct native_live *l, struct live_stream *s);

/* Writes some hundred records. LT_AGAIN: there are no more whose turn it is, or .is_full. */
enum lt_status live_merge_run(struct native_live *l);

/* Nothing comes for now: writes losses that are over, and how far the time has come. */
void live_merge_settle(struct native_live *l);

#endif
