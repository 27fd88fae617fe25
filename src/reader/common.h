/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_COMMON_H
#define LT_READER_COMMON_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "reader/choice.h"
#include "reader/plan.h"
#include "reader/reader.h"
#include "reader/stream.h"

/*
 * Shared by all readers, between the decoders (reader/native, reader/babeltrace2) and the ring.
 *
 *   reader.c    opening, stepping, troubles
 *   prologue.c  the records before the first event
 *   run.c       the heap: which stream is next
 *   stream.c    one stream: its next item, losses
 *   record.c    one event into records
 *   choice.c    which events have all their fields recorded
 *   shape.c     the description of those fields
 *   plan.c      which field becomes which word
 */

/* Number of threads whose contexts are remembered; the trace of a single process has few threads. */
enum { CONTEXT_SLOTS = 8192, CONTEXT_SLOTS_OF_PROCESS = 64 };

/* The metadata's description of the whole trace; borrowed until the reader is closed; NULL: not in the metadata. */
struct trace_desc {
	const char *hostname, *domain, *tracer, *kernel, *procname;
	int64_t vpid;                                     /* -1: unknown */
	int64_t tracer_major, tracer_minor, tracer_patch; /* -1: unknown */
	const char *clock;                                /* its UUID as text */
	uint64_t clock_zero_ns;                           /* when it was 0; 0: not known */
};

/* key: finds the class with reader_find_class(). */
typedef void class_visit_fn(struct reader *r, const void *key, const struct class_desc *desc, void *user);

/* The operations of a reader, apart from its streams. */
struct reader_ops {
	/*
	 * false: nothing is known of the trace, because no stream can be read. Called after looking into the streams.
	 */
	bool (*describe)(struct reader *r, struct trace_desc *desc);
	/* Visits every class of the trace, ordered by the numbers of its stream class and its own. */
	void (*visit_classes)(struct reader *r, class_visit_fn *visit, void *user);
	/* Gets the id that the class had before the metadata grew. false, or NULL function: it had none. */
	bool (*same_class)(struct reader *r, const void *key, uint16_t *id);
	/* Prepares for reading a class; NULL: nothing to do. */
	void (*class_added)(struct reader *r, const void *key, struct reader_class *plan);
	void (*set_end_hint)(struct reader *r); /* sets .end_hint_ns; NULL: already set when opened */
	void (*release)(struct reader *r);      /* frees the reader's own data and *r */
};

/* What cannot be read, and why. The same reason for many of them is reported once. */
struct trouble {
	char *where; /* the first one */
	char *why;
	unsigned others;
};

/*
 * Bytes of EVENT_SHAPE that the parent keeps: up to SHAPES_BYTES_MAX in total; those of a trace until another trace
 * with its number is announced.
 */
struct shapes_sent {
	size_t total, of_trace[EVENT_TRACES_MAX];
};

struct reader {
	const struct reader_ops *ops;
	struct ring_producer *ring;
	struct reader_args args;
	struct reader_stream **streams;
	unsigned n_streams;
	struct reader_stream **heap; /* NULL: not started */
	unsigned n_heap;
	unsigned n_classes;      /* with different ids */
	GHashTable *class_index; /* key → struct reader_class * */
	struct perf_names perf;
	unsigned perf_sent;
	bool perf_of_threads;                       /* some counters count per thread */
	struct reader_cpu *cpus[EVENT_CPU_MAX + 1]; /* last: no CPU */
	struct context_slot *contexts;              /* context_mask + 1 slots; NULL: no context was written */
	uint32_t context_mask;
	struct choice *choice;                  /* events whose fields are all recorded; NULL: there are none */
	GByteArray *shaped;                     /* bool, by class id: its EVENT_SHAPE was written */
	struct shapes_sent *shapes, own_shapes; /* *shapes: of all traces of the source */
	uint64_t end_hint_ns;
	uint16_t trace;     /* its number in the records */
	bool live;          /* a trace of a live session: no reading ahead, and notes are sent at once */
	bool never_waits;   /* for room in the ring, because its worker has other sources */
	bool lacks_classes; /* some classes are not declared yet, for lack of room in the ring */
	bool kernel;
	bool is_of_process; /* traces a single process, according to its metadata */
	bool has_tid;
	GPtrArray *troubles;     /* struct trouble *: reasons why not everything can be read */
	guint troubles_reported; /* number sent by EVENT_NOTE so far */
};

/* ---- reader.c ---- */

/* Initialises the common part of *r, which must be zeroed. */
void reader_init(struct reader *r, const struct reader_ops *ops, const struct reader_args *args,
		 struct ring_producer *ring);

/* Changes the wanted fields from the next event on; text as in reader_args.wanted. */
void reader_want(struct reader *r, const char *text);

/* Takes ownership of the stream. */
void reader_add_stream(struct reader *r, struct reader_stream *s);

/* Whether this part reads the stream with that number: its CPU, or another number if it has no CPU. */
static inline bool reader_takes(const struct reader *r, uint64_t number)
{
	return number % r->args.parts == r->args.part;
}

/*
 * Records that a stream, file or field cannot be read (completely). This is reported by EVENT_NOTE, and by EVENT_FAILED
 * at the end of a recording.
 */
void reader_note_trouble(struct reader *r, const char *where, const char *why);

/* To be freed. */
char *reader_trouble_text(const struct trouble *t);

/* ---- prologue.c ---- */

void reader_write_prologue(struct reader *r);

/* Writes EVENT_TRACE, and the trace's classes and perf contexts. false: nothing is known of the trace. */
bool reader_write_trace(struct reader *r);

/*
 * Writes EVENT_CLASS for classes not announced yet, as live metadata gains classes. With .never_waits the ring may lack
 * room for all of them; then .lacks_classes is set and this must be called again.
 */
void reader_declare_classes(struct reader *r);

/*
 * Frees the plans of classes whose types are about to be freed; the keys of the table name them. No stream may still
 * have one of their events.
 */
void reader_forget_classes(struct reader *r, GHashTable *keys);

/* The plan of a declared class; NULL: it is not declared. */
static inline struct reader_class *reader_find_class(const struct reader *r, const void *key)
{
	return g_hash_table_lookup(r->class_index, key);
}

/* Whether one of the stream's classes that are declared is sched_switch. */
bool reader_has_switch(struct reader_stream *s);

/* ---- run.c ---- */

/* Writes several hundred records in time order; false: there are no more. */
bool reader_run(struct reader *r);

/* Write EVENT_LOST and EVENT_GAP for the stream's item. */
void reader_write_loss(struct reader *r, const struct reader_stream *s);
void reader_write_gap(struct reader *r, const struct reader_stream *s);

/* ---- record.c ---- */

/* emit_begin() for a record of this reader's trace. */
struct event *reader_emit(const struct reader *r, enum event_kind kind, uint64_t ts_ns, uint32_t max_text);

/* Writes the records of the stream's item, an event; writes nothing if the event is damaged. */
void reader_write_event(struct reader *r, struct reader_stream *s);

#endif
