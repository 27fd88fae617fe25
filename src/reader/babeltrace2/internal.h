/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_BABELTRACE2_INTERNAL_H
#define LT_READER_BABELTRACE2_INTERNAL_H

#include <babeltrace2/babeltrace.h>

#include "reader/common.h"

/*
 * Decoding with babeltrace2: a graph of one source.ctf.fs component and our sink, which has a message iterator per
 * stream. Messages wait in the stream's queue.
 *
 *   graph.c    a recording: graph, components, which streams
 *   range.c    the end of the recording
 *   stream.c   the library's messages as ours (reader/stream.h)
 *   trace.c    the library's data on a trace, its classes
 *   types.c    its field classes as types of ctf/
 *   fields.c   its fields as words
 */

struct lib_stream {
	struct reader_stream base;
	bt_message_iterator *iterator;
	const bt_message **queue; /* owned references [first, n[; next() returns [at] */
	unsigned first, at, n, capacity, marked;
	bool is_marked;
	bool has_untimed;             /* an event of the packet has no time, although there is a clock */
	bool ended;                   /* the iterator's last message was the end of the stream */
	const bt_message *current;    /* the latest one; borrowed */
	const bt_stream_class *class; /* NULL: not known yet */
	const bt_trace *trace;        /* likewise */
};

/* The data on a trace. */
struct lib_knowledge {
	const bt_trace *trace;  /* NULL: no stream has begun */
	unsigned mip_version;   /* of the graph */
	GPtrArray *types;       /* struct type *: all types made */
	GHashTable *of_classes; /* bt_field_class * → struct type * */
	char clock[64];
};

/* ---- stream.c ---- */

/* Initialises *s; the caller sets the iterator. */
void lib_stream_init(struct lib_stream *s, struct reader *r);

/* The time of a clock's value; false: it is out of range. */
bool lib_clock_ns(const bt_clock_class *clock, uint64_t value, int64_t *ns);

/* The text of the library's current error, which is cleared; never NULL; the caller frees it. */
char *lib_take_error(void);

/* ---- trace.c ---- */

void lib_knowledge_init(struct lib_knowledge *k, unsigned mip_version);
void lib_knowledge_release(struct lib_knowledge *k);

bool lib_describe(struct lib_knowledge *k, const bt_clock_class *clock, struct trace_desc *desc);
void lib_visit_classes(struct lib_knowledge *k, struct reader *r, class_visit_fn *visit, void *user);

/* ---- types.c ---- */

/* Converts a field class; NULL for NULL. Kinds that plans do not use become TYPE_FLOAT. Owned by k. */
const struct type *lib_type(struct lib_knowledge *k, const bt_field_class *fc);

/* ---- fields.c ---- */

/*
 * Reads the structure into the payload at words; texts are appended to ev if it is not NULL (otherwise the plan must
 * have none). Returns the bits of present.
 */
uint32_t lib_plan_read(const struct field_plan *plan, const bt_field *structure, void *words, struct event *ev);

/* Appends all values of the field to an EVENT_FIELDS record (reader/values.h); false: the record is full. */
bool lib_append_values(struct event *ev, const bt_field *field);

/* ---- range.c: the end of the recording, ns; 0: unknown ---- */

uint64_t lib_query_end(const bt_component_class_source *class, const bt_value *params);

#endif
