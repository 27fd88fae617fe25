/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_INTERNAL_H
#define LT_READER_NATIVE_INTERNAL_H

#include "ctf/index.h"
#include "ctf/layout.h"
#include "ctf/packet_file.h"
#include "ctf/walk.h"
#include "event/fields.h"
#include "reader/common.h"
#include "reader/native/mapping.h"
#include "reader/native/program.h"

/*
 * Decoding with ctf/: a stream is a sequence of packets; a packet is bytes, wherever they come from.
 *
 *   open.c      a recording: its metadata, which files belong to which stream
 *   recall.c    the latest packets of a live session
 *   files.c     the packets of a recorded stream
 *   trace.c     a trace's metadata as classes, their programs, the clock
 *   header.c    the header of an event: its class and time
 *   messages.c  a stream's packets as messages
 *   read.c      an event's context and payload as words
 *   compile.c, execute.c  programs
 */

/* Converts the times of a trace to ns since the epoch. */
struct native_clock {
	const struct layout *layout;
	bool is_ns; /* they count ns: only .base_ns must be added */
	uint64_t base_ns;
};

/* An event class that has occurred, with its decoding programs: most of those that a kernel declares never do. */
struct native_class {
	const struct layout_event *event;
	struct reader_class *plan;
	struct program context;        /* wanted fields of the stream's context: struct context_values */
	struct program own_context;    /* of the class's context */
	struct program perf, own_perf; /* of the same contexts: perf words */
	struct program payload;
	struct program skip_payload;         /* for skipping, nothing is wanted */
	struct program values[FIELDS_PARTS]; /* all fields, by enum fields_part; for the packet: .packet of the group */
	bool has_skip, has_values;           /* compiled when they are first needed */
	/*
	 * If only the stream has a context, of a fixed number of whole bytes: their number, and how many of them are
	 * compared with the context of the CPU's last event. Perf counters follow these, as they differ in nearly every
	 * event. 0: a context is always decoded.
	 */
	unsigned context_bytes, compared_bytes;
};

/* The shapes of event headers. */
enum header_shape {
	HEADER_COMPACT, /* 5 bits id, 27 bits time; id 31: id 32, time 64 */
	HEADER_LARGE,   /* 16 bits id, 32 bits time; id 65535: likewise */
	HEADER_OTHER,   /* must be walked */
};

struct native_group {
	const struct layout_stream *stream;
	enum header_shape shape;
	uint64_t header_align;                  /* bits */
	uint32_t short_bits;                    /* from its start to the end of a short header */
	uint32_t long_id, long_time, long_bits; /* likewise, for a long header */
	struct native_class **by_id;            /* n_ids entries, NULL: it has not occurred */
	uint64_t n_ids;
	GHashTable *by_great_id; /* &id → struct native_class *: larger ids */
	struct program packet;   /* the values of the packet context, for all classes */
	bool has_packet;
};

/* A trace's metadata, for its streams. */
struct native_trace {
	struct layout *layout;
	struct native_clock clock;
	GPtrArray *groups;  /* struct native_group *, in the order of layout->streams */
	GHashTable *plans;  /* const struct layout_event * → struct reader_class * */
	GPtrArray *classes; /* struct native_class * */
};

/*
 * Initialises *t, which takes ownership of the layout in any case. LT_AGAIN: not supported by the native reader; the
 * error chain has the reason.
 */
enum lt_status native_trace_init(struct native_trace *t, struct layout *layout);
void native_trace_release(struct native_trace *t);

bool native_trace_describe(const struct native_trace *t, struct trace_desc *desc);
void native_trace_visit(struct native_trace *t, struct reader *r, class_visit_fn *visit, void *user);
void native_trace_add_class(struct native_trace *t, const void *key, struct reader_class *plan);

struct native_group *native_trace_group(const struct native_trace *t, const struct layout_stream *stream);

/* Makes the class of an event that occurs for the first time, and compiles its programs. */
LT_COLD struct native_class *native_trace_make_class(struct native_trace *t, struct native_group *g,
						     const struct layout_event *event);

/* false: the time is out of range. */
static inline bool native_clock_ns(const struct native_clock *c, uint64_t value, uint64_t *ns)
{
	if (!c->is_ns)
		return layout_time(c->layout, value, ns) && *ns <= INT64_MAX;
	return !__builtin_add_overflow(c->base_ns, value, ns) && *ns <= INT64_MAX;
}

/* Compiles the class's programs for native_read_fields() when they are first needed. */
void native_class_prepare_values(struct native_class *c, struct native_group *g);

/* ---- header.c ---- */

void native_header_recognise(struct native_group *g);

/* ---- streams ---- */

enum native_state {
	NATIVE_NEXT_PACKET,
	NATIVE_TELL_LOST_EVENTS,
	NATIVE_TELL_LOST_PACKETS,
	NATIVE_TELL_BEGIN,
	NATIVE_EVENTS,
	NATIVE_UNDECLARED, /* the event's class is not in the metadata yet; .why */
	NATIVE_DAMAGED,
	NATIVE_TELL_END,
	NATIVE_ENDED,
};

/* The data of a packet that the next packet is compared with. */
struct packet_facts {
	bool has_begin, has_end, has_discarded, has_seq;
	uint64_t begin_ns, end_ns, discarded, seq, cpu_id;
	uint64_t last_ns; /* time of its last event so far, or its start */
};

/* All state that next() changes. */
struct native_cursor {
	enum native_state state;
	guint file;         /* index in .files */
	uint64_t offset;    /* in the file, of the packet after the mapped one */
	int fd;             /* of the file that .offset refers to, -1: not open */
	struct mapping map; /* the packet */
	uint64_t packet_at; /* its offset */
	bool is_skipped;    /* only its head is mapped */
	const char *cut;    /* reason why it is incomplete; NULL: it is complete */
	bool has_resume;    /* a damaged packet is followed by one that starts at .resume_ns */
	uint64_t resume_ns;
	struct index_missing missing; /* NATIVE_DAMAGED: .packets, if any, are missing at the end of a file … */
	bool is_gone;                 /* … which does not exist */
	struct walk walk;
	struct packet_facts now, before;
	bool has_before;
	guint read_file; /* of .before */
	bool has_read;   /* earlier files contain packets up to … */
	uint64_t read_to_ns, read_to_seq, read_to_event_ns;
	const char *why;             /* NATIVE_DAMAGED */
	struct native_class *class;  /* of the latest event, NULL: none */
	uint64_t event_at;           /* its start */
	uint64_t body, payload, end; /* start of its contexts; of its payload; its end; 0: not known yet */
};

/* Part of a file disappeared while it was read: the packet is invalid from that event on. */
struct native_tear {
	bool is_set;
	guint file;
	uint64_t packet_at, event_at;
};

struct native_file {
	char *path;
	uint64_t id;       /* fields_name_id() of the path */
	uint64_t begin_ns; /* of its first packet, for the order */
	uint64_t end_ns;   /* of its last packet; 0: unknown */
};

struct native_stream {
	struct reader_stream base;
	struct native_trace *trace;
	struct native_group *group;
	/* Gets the next packet: native_map_packet(), or the function of a live stream. */
	enum lt_status (*take_packet)(struct native_stream *s, struct packet_head *head);
	/*
	 * Whether to read an undeclared event again: the metadata has grown, or the packet was given up. false: wait.
	 * NULL: a packet with such an event is damaged.
	 */
	bool (*try_again)(struct native_stream *s);
	GArray *files;  /* struct native_file, in time order */
	GArray *places; /* recall.c: its packets; NULL: it reads files */
	uint64_t instance;
	bool has_instance;
	uint64_t skip_to_ns; /* packets that end earlier are not decoded */
	struct native_cursor at, marked;
	bool is_marked;
	struct native_tear tear; /* detected once, also while reading ahead */
	uint64_t *slots;         /* of .at.walk; marked_slots while there is a mark */
	uint64_t *marked_slots;
	char why[160]; /* text of MESSAGE_DAMAGE */
};

extern const struct stream_type native_stream_type;

/* One trace of which all data that is to be read is there, in files or elsewhere. */
struct native_reader {
	struct reader base;
	struct native_trace trace;
};

extern const struct reader_ops native_reader_ops;

/*
 * Adds a stream to the reader, which owns it. It takes the packets of its .files, unless .take_packet is set to another
 * function. head: of one of its packets.
 */
struct native_stream *native_add_stream(struct native_reader *n, const struct packet_head *head, const char *name);

LT_COLD bool native_find_tear(struct native_stream *s);

/* Whether data that was read for the latest event was missing in its file. */
static inline bool native_is_torn(struct native_stream *s)
{
	return (mapping_torn || s->tear.is_set) && native_find_tear(s);
}

#define NATIVE_TORN "the file became shorter while it was read"

/* Gives up the rest of the packet for that reason, which is reported next. */
LT_COLD void native_give_up_packet(struct native_stream *s, const char *why);

/* ---- files.c ---- */

#define NATIVE_IMPOSSIBLE_SIZE "a packet of an impossible size"

/*
 * Maps the packet at .offset, or the first one of the next file, walks over its head and advances. LT_END: there are no
 * more packets. LT_ERROR: .why has the reason, and .offset is the next packet.
 */
enum lt_status native_map_packet(struct native_stream *s, struct packet_head *head);

/*
 * The same for the packet at .offset of .fd, a file of size bytes; after LT_ERROR .offset is size if no packet follows.
 * LT_END: the packet is not complete yet.
 */
enum lt_status native_map_at(struct native_stream *s, uint64_t size, struct packet_head *head);

/* The end of the packets of the file, ns; 0: unknown. Taken from its index, or else from its packets. */
uint64_t native_file_end_ns(const struct native_trace *t, const char *path);

/* The packets that the index of the data file lists behind its end. false: there are none, or it has no index. */
bool native_find_missing(const char *path, uint64_t size, struct index_missing *missing);

/* ---- read.c ---- */

enum read_status native_read_context(struct reader_stream *s, const struct reader_class *plan,
				     struct context_cache *context);
enum read_status native_read_perf(struct reader_stream *s, const struct reader_class *plan, uint64_t *values);
enum read_status native_read_payload(struct reader_stream *s, const struct reader_class *plan, void *words,
				     uint32_t *present, struct event *ev);

enum read_status native_read_fields(struct reader_stream *s, const struct reader_class *plan, struct event *ev);

/* Moves past the rest of the latest event. false: it does not fit. */
bool native_skip_event(struct native_stream *s);

#endif
