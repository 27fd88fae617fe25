/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_STREAM_H
#define LT_READER_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cold.h"
#include "reader/plan.h"

/*
 * One stream of a trace: what a reader decodes of it, and what is made of that for all readers alike: in which
 * order it is told, what was lost, where time steps back, what comes next on its CPU.
 *
 *   decoder (struct stream_type)  messages: events, packets, losses, damage
 *   stream.c                      items: what becomes a record, at which time
 */

enum message_kind {
	MESSAGE_EVENT,
	MESSAGE_PACKET_BEGIN,
	MESSAGE_PACKET_END,
	MESSAGE_LOST_EVENTS, /* before the packet that begins next */
	MESSAGE_LOST_PACKETS,
	MESSAGE_DAMAGE, /* the rest of a packet cannot be read */
};

#define MESSAGE_NO_CPU UINT64_MAX

struct message {
	enum message_kind kind;
	bool has_time;             /* the times below are known */
	uint64_t ns;               /* of the event; where the packet begins or ends */
	uint64_t begin_ns, end_ns; /* between when and when it was lost */
	uint64_t count;            /* how many were lost, modulo 2^64: the counters may go down */
	uint64_t cpu_id;           /* MESSAGE_PACKET_BEGIN; MESSAGE_NO_CPU: the packet names none */
	const char *why;           /* MESSAGE_DAMAGE: borrowed until the next message */
	struct reader_class *plan; /* MESSAGE_EVENT */
};

/* What EVENT_CONTEXT last said about a thread. */
struct context_slot {
	int64_t key;      /* tid, or -1 - cpu for the CPU's idle task */
	unsigned version; /* changes with each new content; 0: none */
	struct context_values values;
};

enum { CONTEXT_BYTES_MAX = 256 };

/* The context of a CPU's last event. */
struct context_cache {
	struct context_values values;
	const void *layout; /* a decoder's own: what bytes[0..len[ are the values of; NULL: of nothing */
	unsigned len;
	uint8_t bytes[CONTEXT_BYTES_MAX];
	const struct context_slot *slot; /* where it was written, and as which version */
	unsigned version;
};

/* Who runs on a CPU by its last switch. */
struct running_thread {
	int64_t tid;
	char comm[16];
	bool is_known;
};

/* What all streams of one CPU share. */
struct reader_cpu {
	struct context_cache context;
	uint64_t perf[EVENT_PERF_MAX]; /* as last sent, EVENT_PERF_NONE not yet */
	int32_t perf_tid;              /* thread they were sent for */
	struct running_thread running; /* kept for reader/choice.h alone */
};

enum read_status {
	READ_OK,
	READ_SAME,    /* of a context: as the cache has it */
	READ_DAMAGED, /* the event cannot be: MESSAGE_DAMAGE follows */
};

struct reader_stream;

/* How a reader decodes. The read functions are for the event that next() gave last, any number of times. */
struct stream_type {
	/* false: there is nothing any more; .trouble says why, unless the stream ended well. */
	bool (*next)(struct reader_stream *s, struct message *m);
	/* Between them next() looks ahead; then the message before mark() is again the one given last. Not nested. */
	void (*mark)(struct reader_stream *s);
	void (*rewind)(struct reader_stream *s);
	/* Sets .values and what is the decoder's own. */
	enum read_status (*read_context)(struct reader_stream *s, const struct reader_class *plan,
					 struct context_cache *context);
	/* values: EVENT_PERF_MAX words; those that the class has are set. */
	enum read_status (*read_perf)(struct reader_stream *s, const struct reader_class *plan, uint64_t *values);
	/* words, all 0: the payload; texts are appended to ev if it is not NULL. */
	enum read_status (*read_payload)(struct reader_stream *s, const struct reader_class *plan, void *words,
					 uint32_t *present, struct event *ev);
	/* Appends all values to ev, an EVENT_FIELDS (reader/values.h). What the others read stays as it is. */
	enum read_status (*read_fields)(struct reader_stream *s, const struct reader_class *plan, struct event *ev);
	void (*release)(struct reader_stream *s); /* frees it */
};

/* What a stream gives next. */
enum stream_item {
	ITEM_END = 0, /* nothing any more */
	ITEM_EVENT,   /* .head */
	ITEM_LOST,    /* .losses[item_loss] */
	ITEM_STREAM_END,
};

enum loss_kind { LOSS_EVENTS, LOSS_PACKETS, LOSS_KINDS };

/* Discarded events or packets of a stream, from the counters of its packets. */
struct losses {
	int64_t total;    /* running sum of the differences, which may go down */
	int64_t reported; /* highest total so far */
	bool pending;     /* .count are to be reported when the stream reaches end_ns */
	uint64_t count;
	uint64_t begin_ns;
	uint64_t end_ns;
};

struct reader_stream {
	const struct stream_type *type;
	struct reader *reader;
	unsigned index;    /* among those of its trace: the order of events of the same time and CPU */
	uint64_t class_id; /* of the streams of its kind, as the metadata numbers them */
	char *name;        /* for messages, and to tell it from others of the same kind and CPU */
	char *trouble;     /* why it broke off, NULL */
	const void *group; /* which classes its events are of (struct class_desc); NULL: not known yet */
	bool has_clock;
	bool has_switch; /* one of the classes is sched_switch */
	uint16_t cpu;

	struct message head; /* given by the decoder, not yet dropped, if has_head */
	bool has_head;
	bool exhausted;   /* the decoder gives nothing any more */
	bool cpu_refused; /* its cpu_id made no sense, which was told */
	bool damage_reported;
	bool end_sent;
	uint64_t last_ns;   /* time of its last record, or where the range begins */
	bool begun;         /* last_ns is one of these */
	uint64_t stream_ns; /* time the stream itself gave last, with an event or where a packet begins or ends */
	uint64_t step_ns;   /* how far a packet's begin lay before that: told with the next event */
	struct losses losses[LOSS_KINDS];
	struct reader_cpu *cpu_state;
	int64_t last_tid; /* context tid of its last event */

	enum stream_item item;
	enum loss_kind item_loss;
	uint64_t item_ns;      /* not before last_ns */
	uint64_t item_own_ns;  /* the event's own time */
	uint64_t item_back_ns; /* how far time stepped back before the event */
};

/* Sets what is not 0 at first. type, index, id, name and what the decoder knows are the caller's to set. */
void stream_init(struct reader_stream *s, struct reader *r, const struct stream_type *type);

/* For stream_type.release: everything but the memory of *s itself. */
void stream_clear(struct reader_stream *s);

/* What a message that is no event means. */
void stream_begin_packet(struct reader_stream *s, const struct message *m);
void stream_add_loss(struct reader_stream *s, const struct message *m);

/* Settles what the stream gives next. */
void stream_find_item(struct reader_stream *s);

/* The same of a stream that may go on: false: its decoder gives nothing for now. */
bool stream_find_next(struct reader_stream *s);

/* Makes a loss its item that was over by until_ns, where the stream is now; false: there is none. */
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

/* Drops the item. The next stream_find_item() looks behind it. */
static inline void stream_drop_item(struct reader_stream *s)
{
	s->last_ns = s->item_ns;
	s->begun = true;
	if (s->item == ITEM_EVENT) {
		s->stream_ns = s->item_own_ns;
		s->step_ns = 0;
		s->has_head = false;
	} else {
		stream_drop_other_item(s);
	}
}

/* Drops what comes before begin_ns, and the packets without events before the first item. */
void stream_skip_to(struct reader_stream *s, uint64_t begin_ns);

/* Shows the messages from here on to visit(), at most some thousand, until it says false. None is consumed. */
void stream_read_ahead(struct reader_stream *s,
		       bool (*visit)(struct reader_stream *s, const struct message *m, void *user), void *user);

/*
 * Looks for the next event behind the current item; found: *m, and the read functions are for it until
 * stream_peek_end(), which is to be called in either case. false: there is none, or events were lost before it.
 */
bool stream_peek(struct reader_stream *s, struct message *m);
void stream_peek_end(struct reader_stream *s);

#endif
