/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_LIVE_INTERNAL_H
#define LT_READER_NATIVE_LIVE_INTERNAL_H

#include "reader/native/internal.h"
#include "reader/native/live.h"

/*
 *   live.c        a session: passes data from the viewer to traces and streams
 *   follow.c      a directory: passes data written to it to traces and streams
 *   live_trace.c  a trace whose metadata grows
 *   live_stream.c a stream whose packets arrive one by one
 *   live_merge.c  the streams in time order; the time reached
 *   live_recall.c keeps the packets for a while
 */

enum { LIVE_METADATA_MAX = 64 << 20 }; /* bytes, of all traces of a session together */

/*
 * The metadata of a trace grows as programs add event classes. After each change the whole metadata is read as a new
 * version, which each stream uses from its next packet on. An old version is freed when no stream is in a packet that
 * it describes.
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
	int64_t rest_us;     /* monotonic: until when it is not read again */
	bool is_declared;    /* all classes read so far are announced */
	char *flaw;          /* why it is unusable, as last read; NULL: it is usable */
	int64_t flawed_us;   /* monotonic: since when a packet has been waiting for more metadata; 0: none is */
	unsigned n_streams;  /* data streams, of .streams */
	unsigned n_metadata; /* metadata streams; of a directory 1 while it is followed */
	struct viewer_stream *metadata_stream; /* the last one that a relayd listed; NULL: it is gone */
	bool had_streams;                      /* data streams */
	GPtrArray *versions;                   /* struct live_version *, newest last */
	GHashTable *ids;                       /* "STREAM EVENT" → the class's id + 1 */
	GByteArray *packed_metadata;           /* for the log of the latest data; NULL: not needed so far */
	size_t n_packed;                       /* bytes of metadata when it was packed */
	bool is_recalled;                      /* the log has it, or had it, at .recalled_at */
	uint64_t recalled_at;
};

struct live_stream {
	struct native_stream base;
	struct native_live *live;
	struct live_trace *trace;
	struct viewer_stream *viewer; /* NULL: it reads files */
	struct viewer_packet *packet; /* being decoded, or NULL */
	GQueue packets;               /* the next ones */
	bool is_announced;            /* by EVENT_STREAM */
	bool is_gone;                 /* no more packets will come */
	bool is_late;                 /* its last event was older than records already written */
	bool is_waiting;              /* has an item and is in the heap */
	uint64_t beacon;              /* cycles */
	bool has_beacon;
	uint64_t until_ns;    /* nothing earlier will come; 0: not known */
	int64_t heard_us;     /* monotonic: the last live_merge_hear() */
	bool is_silence_said; /* that it is not waited for */
};

struct native_live {
	struct viewer *viewer;
	struct ring_producer *ring;
	char *name;
	char *fields;           /* reader_args.wanted */
	char *wanted;           /* its next value, once the ring has room to say so; NULL: no change */
	uint32_t wanted_number; /* of that request */
	GPtrArray *traces;      /* struct live_trace *, by trace number; NULL: free */
	size_t n_metadata;      /* bytes, in total */
	struct shapes_sent shapes;
	struct recall *recall;  /* receives the packets; NULL: none does */
	uint64_t recall_source; /* identifies the session there */
	unsigned patience_ms;   /* longest wait of a packet for metadata */
	bool lacks_traces;      /* there were too many, which has not been reported yet */
	bool lack_reported;
	GPtrArray *streams; /* struct live_stream *, all open ones */
	unsigned n_streams; /* streams so far */
	GPtrArray *heap;    /* struct live_stream * with an item, the earliest at [0] */
	uint64_t last_ns;   /* time of the last record with a time */
	uint64_t from_ns;   /* up to here, silent streams are not waited for */
	uint64_t until_ns;  /* nothing from here on is written, as new streams may appear; UINT64_MAX: none may */
	int64_t stall_us;   /* see live_merge.c; 0: silent streams are waited for, except up to .from_ns */
	int64_t now_us;     /* monotonic: of this step */
	int64_t active_us;  /* the last live_merge_note_data() */
	int64_t resumed_us; /* when the session or this process last continued after a pause */
	bool is_attached;   /* to a relayd's session */
	bool is_ready;      /* EVENT_READY was written */
	bool is_full;       /* the ring has no room, or metadata is not read yet: data waits in the streams */
};

/* ---- live.c ---- */

/* Initialises the common part of *l, which must be zeroed. */
void native_live_init(struct native_live *l, const char *name, const char *fields, struct ring_producer *ring);
void native_live_release(struct native_live *l);

/* To be called first in each step. */
void native_live_apply_requests(struct native_live *l);

/* ---- live_trace.c ---- */

/* NULL: there are too many. */
struct live_trace *live_trace_get(struct native_live *l, uint64_t id);

/*
 * Frees a trace when all of its streams have ended, metadata included. Another trace may then get its number: the
 * reader of the records processes them in the order of writing, and forgets what it knew of a number at EVENT_TRACE.
 */
void live_trace_settle(struct native_live *l, struct live_trace *t);

void live_trace_destroy(gpointer trace);

/* Adds metadata. LT_ERROR: a session's traces have too much metadata in total. */
enum lt_status live_trace_add(struct native_live *l, struct live_trace *t, const uint8_t *bytes, size_t len);

/*
 * Reads the metadata again if it has grown, and announces new classes. LT_AGAIN: it is too early to read it, see
 * .rest_us, or the ring lacks room for all classes; call again before taking a packet. LT_ERROR: the metadata is
 * invalid or incomplete, see .flaw.
 */
enum lt_status live_trace_update(struct live_trace *t);

static inline struct native_trace *live_trace_newest(const struct live_trace *t)
{
	return t->versions->len ? g_ptr_array_index(t->versions, t->versions->len - 1) : NULL;
}

/* A stream starts, or ceases, to need that version; NULL: none. */
void live_trace_hold(struct native_trace *version);
void live_trace_let_go(struct live_trace *t, struct native_trace *version);

/* ---- live_stream.c ---- */

/* Sets the members that are not initially 0. */
void live_stream_init(struct live_stream *s, struct native_live *l, struct live_trace *t, const char *name);

struct live_stream *live_stream_create(struct native_live *l, struct live_trace *t, struct viewer_stream *viewer);
void live_stream_destroy(gpointer stream);

/* Changes the stream to that metadata; NULL: it is between packets and needs none. */
void live_stream_take_version(struct native_stream *n, struct native_trace *newest);

/* Whether no more packets will come, and none wait for metadata or for room in the ring. */
bool live_stream_is_over(const struct live_stream *s);

/* Looks for the next item; false: none for now, and .until_ns was updated. */
bool live_stream_advance(struct live_stream *s);

/* Applies a beacon once the trace's clock is known. */
void live_stream_note_time(struct live_stream *s);

/* ---- live_recall.c ---- */

/* Adds the stream's packet, whose head was read, to the log of the latest data. */
void live_recall_packet(const struct live_stream *s);

/* The trace has no more packets: its metadata is to be kept as long as the last one. */
void live_recall_end(const struct native_live *l, struct live_trace *t);

/* ---- live_merge.c ---- */

/* To be called first in each step of a session: sets .now_us. */
void live_merge_start_step(struct native_live *l);

/* Notes that some stream has something new, or counts as one that has (live_merge.c). */
void live_merge_note_data(struct native_live *l);

/* Notes that the stream is not silent: it has an item, had one until now, or knows a later time. */
void live_merge_hear(struct live_stream *s);

/* To be called when the stream has something new: an item or a later time. */
void live_merge_wake(struct native_live *l, struct live_stream *s);

/* Writes several hundred records. LT_AGAIN: no more can be written yet, or .is_full. */
enum lt_status live_merge_run(struct native_live *l);

/* To be called when nothing comes for now: writes losses that are over, and the time reached. */
void live_merge_settle(struct native_live *l);

#endif
