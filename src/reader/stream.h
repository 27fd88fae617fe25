/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_STREAM_H
#define LT_READER_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cold.h"
#include "reader/plan.h"

/*
 * One stream of a trace: the messages that a reader decodes from it, and the processing that is common to all readers:
 * the order of records, losses, backward steps of time, the next event of a CPU.
 *
 *   decoder (struct stream_type)  messages: events, packets, losses, damage
 *   stream.c                      items: what becomes a record, and its time
 */

enum message_kind {
	MESSAGE_EVENT,
	MESSAGE_PACKET_BEGIN,
	MESSAGE_PACKET_END,
	MESSAGE_LOST_EVENTS, /* before the next packet begins */
	MESSAGE_LOST_PACKETS,
	MESSAGE_DAMAGE, /* the rest of a packet cannot be read, or packets are missing */
};

#define MESSAGE_NO_CPU UINT64_MAX

struct message {
	enum message_kind kind;
	bool has_time;             /* the times below are known */
	uint64_t ns;               /* time of the event; start or end of the packet */
	uint64_t begin_ns, end_ns; /* time range of the loss */
	uint64_t count;            /* number lost, modulo 2^64: the counters may decrease */
	bool any_time;   /* MESSAGE_LOST_EVENTS: some may have been lost before begin_ns, count is not known */
	uint64_t cpu_id; /* MESSAGE_PACKET_BEGIN; MESSAGE_NO_CPU: not in the packet */
	bool is_first;   /* MESSAGE_PACKET_BEGIN: the tracer's first one of this stream, or that is not known */
	const char *why; /* MESSAGE_DAMAGE: borrowed until the next message */
	struct reader_class *plan; /* MESSAGE_EVENT */
};

/* The latest EVENT_CONTEXT of a thread. */
struct context_slot {
	int64_t key;      /* tid, or -1 - cpu for the CPU's idle task */
	unsigned version; /* changes with each new content; 0: none */
	struct context_values values;
};

enum { CONTEXT_BYTES_MAX = 256 };

/* The context of a CPU's last event. */
struct context_cache {
	struct context_values values;
	const void *layout; /* the decoder's own layout of the bytes; NULL: they are not valid */
	uint8_t bytes[CONTEXT_BYTES_MAX];
	const struct context_slot *slot; /* where it was written, and as which version */
	unsigned version;
};

/* The thread that runs on a CPU according to its latest switch. */
struct running_thread {
	int64_t tid;
	char comm[16];
	bool is_known;
};

/* Shared by all streams of a CPU. */
struct reader_cpu {
	struct context_cache context;
	uint64_t perf[EVENT_PERF_MAX]; /* as last sent, EVENT_PERF_NONE: not sent yet */
	int32_t perf_tid;              /* thread they were sent for */
	struct running_thread running; /* used only by reader/choice.h */
};

enum read_status {
	READ_OK,
	READ_SAME,    /* for a context: unchanged in the cache */
	READ_DAMAGED, /* the event is not valid; MESSAGE_DAMAGE follows */
};

struct reader_stream;

/*
 * A reader's decoder. The read functions apply to the latest event from next() and may be called any number of times.
 */
struct stream_type {
	/*
	 * Gets the next message. false: there are no more; .trouble has the reason, unless the stream ended normally.
	 */
	bool (*next)(struct reader_stream *s, struct message *m);
	/*
	 * Between these two calls next() reads ahead; then the message before mark() is the current one again. Not
	 * nested.
	 */
	void (*mark)(struct reader_stream *s);
	void (*rewind)(struct reader_stream *s);
	bool reads_twice; /* after rewind(): reading ahead takes no memory */
	/* Sets .values and the decoder's own members. */
	enum read_status (*read_context)(struct reader_stream *s, const struct reader_class *plan,
					 struct context_cache *context);
	/* values: EVENT_PERF_MAX words; sets those that the class has. */
	enum read_status (*read_perf)(struct reader_stream *s, const struct reader_class *plan, uint64_t *values);
	/* words: receives the payload, must be all 0; texts are appended to ev if it is not NULL. */
	enum read_status (*read_payload)(struct reader_stream *s, const struct reader_class *plan, void *words,
					 uint32_t *present, struct event *ev);
	/* Appends all values to ev, an EVENT_FIELDS (reader/values.h). Does not disturb the other read functions. */
	enum read_status (*read_fields)(struct reader_stream *s, const struct reader_class *plan, struct event *ev);
	void (*release)(struct reader_stream *s); /* frees it */
};

/* The next item of a stream. */
enum stream_item {
	ITEM_END = 0, /* no more items */
	ITEM_EVENT,   /* .head */
	ITEM_GAP,     /* the one that .losses[item_loss] makes */
	ITEM_LOST,    /* .losses[item_loss] */
	ITEM_STREAM_END,
};

enum loss_kind { LOSS_EVENTS, LOSS_PACKETS, LOSS_KINDS };

/* Discarded events or packets of a stream, from its packets' counters. */
struct losses {
	int64_t total;    /* running sum of the differences, which may be negative */
	int64_t reported; /* highest total so far */
	bool pending;     /* .count must be reported when the stream reaches end_ns */
	bool has_gap;     /* its gap must be reported before */
	uint64_t count;
	uint64_t begin_ns;
	uint64_t end_ns;
};

struct reader_stream {
	const struct stream_type *type;
	struct reader *reader;
	unsigned index;    /* among the streams of its trace: orders events with the same time and CPU */
	uint64_t class_id; /* of its stream class, as numbered in the metadata */
	char *name;        /* for messages, and to distinguish it from streams of the same class and CPU */
	char *trouble;     /* why it broke off, or NULL */
	const void *group; /* the classes of its events (struct class_desc); NULL: not known yet */
	bool has_clock;
	const void *asked_group;  /* the group to which has_switch applies */
	bool has_switch;          /* one of the classes is sched_switch: see reader_has_switch() */
	uint64_t first_packet_ns; /* when its first packet began; 0: not known */
	bool is_whole;            /* that was the tracer's first one, as far as is known: see struct message */
	uint16_t cpu;

	struct message head; /* from the decoder and not yet consumed, if has_head */
	bool has_head;
	bool exhausted;   /* the decoder has no more messages */
	bool cpu_refused; /* an invalid cpu_id was reported */
	bool damage_reported;
	bool end_sent;
	uint64_t last_ns;      /* time of its last record, or start of the range */
	bool begun;            /* last_ns is set */
	uint64_t stream_ns;    /* latest time in the stream itself: an event, or the start or end of a packet */
	bool has_stepped_back; /* the start of a packet was before that; reported with the next event */
	struct losses losses[LOSS_KINDS];
	struct reader_cpu *cpu_state;
	int64_t last_tid; /* tid of its last event, from the context */

	enum stream_item item;
	enum loss_kind item_loss;
	uint64_t item_ns;     /* not before last_ns */
	uint64_t item_own_ns; /* the event's own time */
	bool item_is_back;    /* time stepped back before the event */
};

/*
 * Sets the members that are not initially 0. The caller then sets index, class_id, name and the members that the
 * decoder knows.
 */
void stream_init(struct reader_stream *s, struct reader *r, const struct stream_type *type);

/* For stream_type.release: frees everything except *s. */
void stream_clear(struct reader_stream *s);

/* Determines the stream's next item. */
void stream_find_item(struct reader_stream *s);

/* The same for a stream that may continue later. false: its decoder has no message for now. */
bool stream_find_next(struct reader_stream *s);

/* Makes a loss that ended by until_ns the item, before the next message has come; false: there is no such loss. */
bool stream_find_loss(struct reader_stream *s, uint64_t until_ns);

/* The order of items: by time, CPU, stream. */
static inline bool stream_comes_before(const struct reader_stream *a, const struct reader_stream *b)
{
	if (a->item_ns != b->item_ns)
		return a->item_ns < b->item_ns;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu;
	return a->index < b->index;
}

LT_COLD void stream_drop_other_item(struct reader_stream *s);

/* Consumes the item. The next stream_find_item() looks after it. */
static inline void stream_drop_item(struct reader_stream *s)
{
	s->last_ns = s->item_ns;
	s->begun = true;
	if (s->item == ITEM_EVENT) {
		s->stream_ns = s->item_own_ns;
		s->has_stepped_back = false;
		s->has_head = false;
	} else {
		stream_drop_other_item(s);
	}
}

/* Drops everything before begin_ns, and packets without events before the first item. */
void stream_skip_to(struct reader_stream *s, uint64_t begin_ns);

/*
 * Passes the messages from here on to visit() until it returns false: at most some thousands, or with is_long, where
 * this takes no memory, some millions. Consumes none of them.
 */
void stream_read_ahead(struct reader_stream *s, bool is_long,
		       bool (*visit)(struct reader_stream *s, const struct message *m, void *user), void *user);

/*
 * Looks for the next event after the current item. If found, *m is that event, and the read functions apply to it until
 * stream_peek_end(), which must be called in either case. false: there is no event, or events were lost before it.
 */
bool stream_peek(struct reader_stream *s, struct message *m);
void stream_peek_end(struct reader_stream *s);

#endif
