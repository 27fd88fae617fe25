/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_INTERNAL_H
#define LT_READER_NATIVE_INTERNAL_H

#include "ctf/layout.h"
#include "ctf/packet.h"
#include "ctf/walk.h"
#include "event/fields.h"
#include "reader/common.h"
#include "reader/native/mapping.h"
#include "reader/native/program.h"

/*
 * Decoding by ctf/: a stream is packets one after the other, a packet is bytes, wherever they come from.
 *
 *   open.c      a recording: its metadata, which files are which stream
 *   files.c     the packets of a recorded stream
 *   search.c    where a file goes on behind damage
 *   trace.c     what the metadata of a trace becomes: classes, their programs, the clock
 *   header.c    the header of an event: which class, when
 *   messages.c  a stream's packets into messages
 *   read.c      an event's context and payload into words
 *   compile.c, execute.c  programs
 */

/* How the times of a trace become ns since the epoch. */
struct native_clock {
	const struct layout *layout;
	bool is_ns; /* they count ns: .base_ns is all it takes */
	uint64_t base_ns;
};

/* An event class with what it takes to decode it. */
struct native_class {
	const struct layout_event *event;
	struct reader_class *plan;
	struct program context;        /* the stream's, wanted: struct context_values */
	struct program own_context;    /* the class's */
	struct program perf, own_perf; /* of the same structures: perf words */
	struct program payload;
	struct program skip_context, skip_payload; /* nothing is wanted */
	struct program values[FIELDS_PARTS];       /* everything is, by enum fields_part; of the packet see the group */
	bool has_values;
	bool can_cache; /* the context is the stream's alone, without counters, always as many whole bytes */
	bool is_ready;  /* native_class_prepare() was called: so it is of every event that a stream gives */
};

/* The shapes of event headers. */
enum header_shape {
	HEADER_COMPACT, /* 5 bits id, 27 bits time; id 31: id 32, time 64 */
	HEADER_LARGE,   /* 16 bits id, 32 bits time; id 65535: likewise */
	HEADER_OTHER,   /* to be walked */
};

struct native_group {
	const struct layout_stream *stream;
	enum header_shape shape;
	uint64_t header_align;                  /* bits */
	uint32_t short_bits;                    /* from where it begins to where a short header ends */
	uint32_t long_id, long_time, long_bits; /* likewise, of a long one */
	struct native_class **by_id;            /* n_ids of them, NULL: no such class */
	uint64_t n_ids;
	GHashTable *by_great_id; /* &id → struct native_class *: the others */
	struct program packet;   /* the values of a packet's context, for all classes */
	bool has_packet;
};

/* A trace's metadata, for its streams. */
struct native_trace {
	struct layout *layout;
	struct native_clock clock;
	GPtrArray *groups;   /* struct native_group *, as layout->streams */
	GHashTable *classes; /* const struct layout_event * → struct native_class * */
};

/* LT_AGAIN: the native reader cannot do it; the error chain says why. The trace owns the layout then and else. */
enum lt_status native_trace_init(struct native_trace *t, struct layout *layout);
void native_trace_release(struct native_trace *t);

bool native_trace_describe(const struct native_trace *t, struct trace_desc *desc);
void native_trace_visit(struct native_trace *t, struct reader *r, class_visit_fn *visit, void *user);
void native_trace_add_class(struct native_trace *t, const void *key, struct reader_class *plan);

struct native_group *native_trace_group(const struct native_trace *t, const struct layout_stream *stream);

/* Compiles the class's programs when it is first met. */
LT_COLD void native_class_prepare(struct native_class *c, const struct native_group *g);

/* false: the time is beyond what is possible. */
static inline bool native_clock_ns(const struct native_clock *c, uint64_t value, uint64_t *ns)
{
	if (!c->is_ns) {
		*ns = layout_to_ns(c->layout, value);
		return *ns <= INT64_MAX;
	}
	return !__builtin_add_overflow(c->base_ns, value, ns) && *ns <= INT64_MAX;
}

/* Likewise what native_read_fields() needs, when it is first asked. */
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

/* What a packet says of itself that the next one is compared with. */
struct packet_facts {
	bool has_begin, has_end, has_discarded, has_seq;
	uint64_t begin_ns, end_ns, discarded, seq, cpu_id;
};

/* Everything that next() moves. */
struct native_cursor {
	enum native_state state;
	guint file;         /* of .files */
	uint64_t offset;    /* of the packet behind the one that is mapped, in the file */
	int fd;             /* of the file that .offset is in, -1: not open */
	struct mapping map; /* the packet */
	uint64_t packet_at; /* its offset */
	bool is_skipped;    /* only its head is mapped */
	const char *cut;    /* why not all of it is there; NULL: it is */
	bool has_resume;    /* the packet that was given up is followed by one that begins at .resume_ns */
	uint64_t resume_ns;
	struct walk walk;
	struct packet_facts now, before;
	bool has_before;
	guint read_file; /* that .before is in */
	bool has_read;   /* the files before that one hold packets up to … */
	uint64_t read_to_ns, read_to_seq;
	const char *why;             /* NATIVE_DAMAGED */
	struct native_class *class;  /* of the event given last, NULL: none */
	uint64_t event_at;           /* where it begins */
	uint64_t body, payload, end; /* where its contexts begin; its payload, where it ends, 0: not known yet */
	uint64_t last_ns;            /* time of the packet's last event, or its begin */
};

/* Bytes of a file went missing while it was read: nothing of the packet is to be believed from that event on. */
struct native_tear {
	bool is_set;
	guint file;
	uint64_t packet_at, event_at;
};

struct native_file {
	char *path;
	uint64_t begin_ns; /* of its first packet: the order */
};

struct native_stream {
	struct reader_stream base;
	struct native_trace *trace;
	struct native_group *group;
	/* The next packet: native_map_packet(), or that of a live stream. */
	enum lt_status (*take_packet)(struct native_stream *s, struct packet_head *head);
	/*
	 * Whether to try again to read an event that the metadata did not declare: it has grown, or the packet is given
	 * up. NULL: such a packet is damaged.
	 */
	bool (*try_again)(struct native_stream *s);
	GArray *files; /* struct native_file, in the order of their times */
	uint64_t instance;
	bool has_instance;
	uint64_t skip_to_ns; /* packets that end before are not decoded */
	struct native_cursor at, marked;
	bool is_marked;
	struct native_tear tear; /* seen once, by looking ahead too */
	uint64_t *slots;         /* of .at.walk; marked_slots while it is marked */
	uint64_t *marked_slots;
	char why[160]; /* what MESSAGE_DAMAGE says */
};

extern const struct stream_type native_stream_type;

LT_COLD bool native_find_tear(struct native_stream *s);

/* Whether what was read of the event given last was missing in its file. */
static inline bool native_is_torn(struct native_stream *s)
{
	return (mapping_torn || s->tear.is_set) && native_find_tear(s);
}

#define NATIVE_TORN "the file became shorter while it was read"

/* The rest of the packet makes no sense, for that reason: to be told next. */
LT_COLD void native_give_up_packet(struct native_stream *s, const char *why);

/* ---- files.c ---- */

enum { NATIVE_HEAD_BYTES = 4096 }; /* a packet's header and context fit */

#define NATIVE_IMPOSSIBLE_SIZE "a packet of an impossible size"

/*
 * Maps the packet at .offset, or the first of the next file, walks over its head and moves on. LT_END: there is
 * none any more. LT_ERROR: .why says what is wrong, and .offset is where the file goes on.
 */
enum lt_status native_map_packet(struct native_stream *s, struct packet_head *head);

/* The same for the packet at .offset of .fd, whose file is size bytes long; that is .offset if nothing follows. */
enum lt_status native_map_at(struct native_stream *s, uint64_t size, struct packet_head *head);

/* Reads the head of the packet at offset of a file. LT_END: the file ends there. Else as packet_read_head(). */
enum lt_status native_read_head(const struct layout *layout, int fd, uint64_t offset, struct packet_head *head);

/* How long the packet is, in bytes; 0: it says what cannot be. rest: what is left of its file. */
uint64_t native_packet_bytes(const struct packet_head *head, uint64_t rest);

/* Where the packets of the file end, ns; 0: unknown. From its index, or else from its packets. */
uint64_t native_file_end_ns(const struct native_trace *t, const char *path);

/* ---- search.c ---- */

/*
 * Looks for a packet of the stream (NULL: of any) that begins at or behind offset of a file of size bytes. Returns
 * where, and *head; size: none does.
 */
uint64_t native_search_packet(const struct layout *layout, const struct layout_stream *stream, int fd, uint64_t offset,
			      uint64_t size, struct packet_head *head);

/* Reads the head of the file's first packet that makes sense. If there is none, as native_read_head() at its start. */
enum lt_status native_first_head(const struct layout *layout, int fd, uint64_t size, struct packet_head *head);

/* ---- read.c ---- */

enum read_status native_read_context(struct reader_stream *s, const struct reader_class *plan,
				     struct context_cache *context);
enum read_status native_read_perf(struct reader_stream *s, const struct reader_class *plan, uint64_t *values);
enum read_status native_read_payload(struct reader_stream *s, const struct reader_class *plan, void *words,
				     uint32_t *present, struct event *ev);

enum read_status native_read_fields(struct reader_stream *s, const struct reader_class *plan, struct event *ev);

/* Over what is left of the event given last. false: it does not fit. */
bool native_skip_event(struct native_stream *s);

#endif
