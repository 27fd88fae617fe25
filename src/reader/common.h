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
 * What all readers have in common, between what decodes (reader/native, reader/babeltrace2) and the ring.
 *
 *   reader.c    opening, stepping, troubles
 *   prologue.c  what is said before the first event
 *   run.c       the heap: which stream is next
 *   stream.c    one stream: what comes next in it, losses
 *   record.c    one event into records
 *   choice.c    which events are written with all their fields, and that
 *   shape.c     what fields those have
 *   plan.c      which field becomes which word
 */

/* Of threads whose context was written: a trace of one process has few. */
enum { CONTEXT_SLOTS = 8192, CONTEXT_SLOTS_OF_PROCESS = 64 };

/* What the metadata says of the whole trace; borrowed until the reader is closed; NULL: it does not say. */
struct trace_desc {
	const char *hostname, *domain, *tracer, *kernel, *procname;
	int64_t vpid;                                     /* -1: not said */
	int64_t tracer_major, tracer_minor, tracer_patch; /* -1: not said */
	const char *clock;                                /* its UUID as text */
};

/* key: what reader_find_class() finds the class by. */
typedef void class_visit_fn(struct reader *r, const void *key, const struct class_desc *desc, void *user);

/* What a reader does beyond its streams. */
struct reader_ops {
	/* false: nothing is known of the trace, as no stream can be read. Called after the streams were looked into. */
	bool (*describe)(struct reader *r, struct trace_desc *desc);
	/* Every class of the trace, by the numbers of its kind of stream and its own. */
	void (*visit_classes)(struct reader *r, class_visit_fn *visit, void *user);
	/* The id that the same class had in metadata that has grown since. false, or NULL function: there was none. */
	bool (*same_class)(struct reader *r, const void *key, uint16_t *id);
	/* To prepare for reading a class; NULL: nothing to do. */
	void (*class_added)(struct reader *r, const void *key, struct reader_class *plan);
	void (*set_end_hint)(struct reader *r); /* .end_hint_ns; NULL: it was set when opened */
	void (*release)(struct reader *r);      /* its own things, and the memory of *r */
};

struct reader {
	const struct reader_ops *ops;
	struct ring_producer *ring;
	struct reader_args args;
	struct reader_stream **streams;
	unsigned n_streams;
	struct reader_stream **heap; /* NULL: not begun */
	unsigned n_heap;
	unsigned n_classes;      /* of different ids */
	GHashTable *class_index; /* key → struct reader_class * */
	struct perf_names perf;
	unsigned perf_sent;
	bool perf_of_threads;                       /* some of them count for the thread */
	struct reader_cpu *cpus[EVENT_CPU_MAX + 1]; /* last: no CPU */
	struct context_slot *contexts;              /* NULL: none was written; context_mask + 1 of them */
	uint32_t context_mask;
	struct choice *choice; /* whose fields are all written; NULL: nobody's */
	GByteArray *shaped;    /* bool, by the class's id: its EVENT_SHAPE was written */
	uint64_t end_hint_ns;
	uint16_t trace;     /* its number in the records */
	bool live;          /* one trace of a live session: nobody looks ahead, and notes are told at once */
	bool never_waits;   /* for room in the ring: its worker has other sources */
	bool lacks_classes; /* some of the metadata's wait for room in the ring */
	bool kernel;
	bool is_of_process; /* of one, by its metadata */
	bool has_tid;
	GPtrArray *troubles;     /* char *: why not everything can be read */
	guint troubles_reported; /* by EVENT_NOTE so far */
};

/* ---- reader.c ---- */

/* Sets up the common part of *r, which is all 0. */
void reader_init(struct reader *r, const struct reader_ops *ops, const struct reader_args *args,
		 struct ring_producer *ring);

/* Other fields are wanted from the next event on: text as reader_args.wanted. */
void reader_want(struct reader *r, const char *text);

/* Takes the stream over. */
void reader_add_stream(struct reader *r, struct reader_stream *s);

/* Whether this part reads the stream of that CPU, or of that other number. */
static inline bool reader_takes(const struct reader *r, uint64_t number)
{
	return number % r->args.parts == r->args.part;
}

/*
 * Remembers that a stream, file or field cannot be read (entirely): told by EVENT_NOTE, and by EVENT_FAILED at the end
 * of a recording.
 */
void reader_note_trouble(struct reader *r, const char *where, const char *why);

/* ---- prologue.c ---- */

void reader_write_prologue(struct reader *r);

/* EVENT_TRACE, its classes and perf contexts. false: nothing is known of the trace. */
bool reader_write_trace(struct reader *r);

/*
 * EVENT_CLASS of classes not announced yet, as live metadata gains some. With .never_waits there may be no room for
 * all of them: then .lacks_classes, and to be called again.
 */
void reader_declare_classes(struct reader *r);

/*
 * Frees the plans of classes whose types are about to be freed: the keys of the table. No stream may have an event of
 * them at hand.
 */
void reader_forget_classes(struct reader *r, GHashTable *keys);

/* The plan of a class that was declared; NULL: it was not. */
static inline struct reader_class *reader_find_class(const struct reader *r, const void *key)
{
	return g_hash_table_lookup(r->class_index, key);
}

/* ---- run.c ---- */

/* Writes some hundred records in time order; false when there are no more. */
bool reader_run(struct reader *r);

/* EVENT_LOST of the stream's item. */
void reader_write_loss(struct reader *r, const struct reader_stream *s);

/* ---- record.c ---- */

/* emit_begin() for a record of this reader's trace. */
struct event *reader_emit(const struct reader *r, enum event_kind kind, uint64_t ts_ns, uint32_t max_text);

/* Writes the records of the stream's item, an event. Nothing if it turns out to be damaged. */
void reader_write_event(struct reader *r, struct reader_stream *s);

/*
 * The thread that the event given last by the stream shows to be running: its context's, else prev of a switch.
 * -1: unknown.
 */
int64_t reader_running_thread(struct reader *r, struct reader_stream *s, const struct reader_class *plan);

#endif
