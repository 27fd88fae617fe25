/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_READER_INTERNAL_H
#define LT_SOURCE_READER_INTERNAL_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/map64.h"
#include "source/class_plan.h"
#include "source/reader.h"

/*
 * The babeltrace2 reader: a graph of one source.ctf.fs component and our sink,
 * which has a message iterator per stream. Messages wait in the port's queue;
 * the earliest port of a heap gives the next record.
 *
 *   reader_graph.c     opening: graph, components, which streams
 *   reader_prologue.c  what is said before the first event
 *   reader_run.c       the heap: which stream is next
 *   reader_port.c      one stream: its queue, what comes next in it, losses
 *   reader_event.c     one event message into records
 */

enum { READ_AHEAD_MESSAGES = 4096 };

/* What a stream gives next. */
enum item {
	ITEM_END = 0, /* nothing any more */
	ITEM_EVENT,   /* the message at the head of the queue */
	ITEM_LOST,    /* .losses[item_loss] */
	ITEM_STREAM_END,
};

/* Discarded events or packets of a stream, from the counters of its packets. */
struct losses {
	int64_t total;     /* running sum of the differences, which may go down */
	int64_t reported;  /* highest total so far */
	bool pending;      /* .count are to be reported when the stream reaches end_ns */
	uint64_t count;
	uint64_t begin_ns;
	uint64_t end_ns;
};

enum loss_kind { LOSS_EVENTS, LOSS_PACKETS, LOSS_KINDS };

/* What all streams of one CPU share. */
struct cpu_state {
	uint64_t perf[EVENT_PERF_MAX]; /* as last sent, EVENT_PERF_NONE not yet */
	int32_t perf_tid;              /* thread they were sent for */
};

struct port {
	struct reader *reader;
	bt_message_iterator *iterator;
	const bt_message **queue; /* owned references, head … head + count of capacity, no wrap */
	unsigned head, count, capacity;
	unsigned index;
	char *name;
	char *trouble;            /* why the stream broke off, or NULL */
	const bt_stream_class *stream_class;
	uint64_t stream_id;
	uint16_t cpu;
	bool exhausted;           /* the iterator gives nothing any more */
	bool ended;               /* and its last message was the stream's end */
	bool cpu_refused;         /* its cpu_id made no sense, which was told */
	bool end_sent;
	bool has_clock;
	bool has_switch;          /* its class declares sched_switch */
	uint64_t last_ns;         /* time of its last record, or of the begin of the range */
	bool begun;               /* last_ns is one of these */
	uint64_t stream_ns;       /* time the stream itself gave last, with an event or a packet's begin or end */
	uint64_t step_ns;         /* how far a packet's begin lay before that: told with the next event */
	struct losses losses[LOSS_KINDS];
	struct cpu_state *cpu_state;
	const struct class_plan *last_plan;
	int64_t last_tid;         /* context tid of its last event */

	enum item item;
	enum loss_kind item_loss;
	uint64_t item_ns;         /* not before last_ns */
	uint64_t item_own_ns;     /* the event's own time */
	uint64_t item_back_ns;    /* how far time stepped back before the event */
};

/* What EVENT_CONTEXT last said about a thread. */
struct context_slot {
	int64_t key; /* tid, or -1 - cpu for the CPU's idle task */
	bool valid;
	struct context_values values;
};

enum { CONTEXT_SLOTS = 8192 };

struct reader {
	struct ring_producer *ring;
	struct reader_args args;
	struct shadow *shadow;    /* lives as long as the graph; NULL: the originals are read */
	unsigned mip_version;     /* of the graph */
	bt_graph *graph;
	const bt_component_class_sink *sink_class;
	struct port *ports;
	unsigned n_ports;
	struct port **heap;
	unsigned n_heap;
	GPtrArray *classes;       /* struct class_plan *, by class_id */
	struct map64 class_index; /* bt_event_class * → class_id */
	struct perf_names perf;
	unsigned perf_sent;
	bool perf_of_threads;     /* some of them count for the thread */
	struct cpu_state *cpus[EVENT_CPU_MAX + 1]; /* last: no CPU */
	struct context_slot *contexts;
	uint64_t end_hint_ns;
	uint16_t trace;           /* its number in the records */
	bool live;                /* one trace of a live session; no graph, no heap, no ports of its own */
	bool kernel;
	bool has_tid;
	bool done;
	GPtrArray *troubles;      /* char *: why not everything can be read */
	guint troubles_told;      /* by EVENT_NOTE so far */
};

/* ---- reader_prologue.c ---- */

void reader_write_prologue(struct reader *r);

/* EVENT_TRACE, its classes and perf contexts. */
void reader_write_trace(struct reader *r, const bt_trace *trace, const bt_clock_class *clock);

/* EVENT_CLASS of classes not announced yet, as live metadata gains some. */
void reader_declare_classes(struct reader *r, const bt_trace *trace);

/* ---- reader_range.c: end_hint_ns ---- */

/* Whether every data file has an index, so that reader_read_indexes() will do. */
bool reader_has_indexes(const struct reader *r);
void reader_read_indexes(struct reader *r, const bt_clock_class *clock);
void reader_query_range(struct reader *r, const bt_component_class_source *class, const bt_value *params);

/* ---- reader_run.c ---- */

/* Writes some hundred records in time order; false when there are no more. */
bool reader_run(struct reader *r);

/*
 * Remembers that a stream, file or field cannot be read (entirely): told by EVENT_NOTE, and by EVENT_FAILED at the end
 * of a recording.
 */
void reader_note_trouble(struct reader *r, const char *where, const char *why);

/* EVENT_LOST of the port's item. */
void reader_write_loss(struct reader *r, const struct port *p);

/* ---- reader_port.c ---- */

/* What the beginning of a stream, of a packet, and a message about lost events or packets tell. */
void port_begin_stream(struct port *p, const bt_message *msg);
void port_begin_packet(struct port *p, const bt_message *msg);
void port_add_loss(struct port *p, const bt_message *msg);

/* Settles what the port gives next. */
void port_find_item(struct port *p);

/* Drops the item. The next port_find_item() looks behind it. */
void port_drop_item(struct port *p);

/* Drops what comes before begin_ns, and the packets without events before the first item. */
void port_skip_to(struct port *p, uint64_t begin_ns);

/*
 * Reads ahead, at most READ_AHEAD_MESSAGES, until visit() says to stop.
 * Messages stay in the queue.
 */
void port_read_ahead(struct port *p, bool (*visit)(struct port *p, const bt_message *msg, void *user), void *user);

/* The port's next event behind the current item, NULL if there is none or events were lost before it. */
const bt_message *port_peek_behind(struct port *p);

/* Puts all messages of the queue. */
void port_drop_queue(struct port *p);

void port_release(struct port *p);

/* Time of an event message; fallback_ns if it has none. */
uint64_t message_event_ns(const struct port *p, const bt_message *msg, uint64_t fallback_ns);

/* The time of a snapshot; fallback_ns if there is none. */
uint64_t snapshot_ns(const bt_clock_snapshot *snapshot, uint64_t fallback_ns);

/* The text of the library's current error, which is cleared; never NULL; to be freed. */
char *reader_take_error(void);

/* ---- reader_event.c ---- */

/* emit_begin() for a record of this reader's trace. */
struct event *reader_emit(const struct reader *r, enum event_kind kind, uint64_t ts_ns, uint32_t max_text);

/* The plan of a class, announced by EVENT_CLASS when it is new. */
const struct class_plan *reader_class(struct reader *r, const bt_event_class *bt);

/* Writes the records of the event at the head of the port's queue. */
void reader_write_event(struct reader *r, struct port *p);

#endif
