/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_EVENT_FIELDS_H
#define LT_EVENT_FIELDS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"

/*
 * The generic event: all fields of an event with their names, types and values, as declared by the trace. Typed records
 * carry the fields that figures need; where more is wanted (event/wanted.h) the worker writes two further kinds:
 *
 *   EVENT_SHAPE   once per event class, before the first event that needs it: the tree of its fields
 *   EVENT_FIELDS  directly before the event's own record, with the same time, thread, CPU and class: the values
 *
 *   sched_wakeup ─ struct shape                          EVENT_FIELDS
 *     packet   { cpu_id }                                1
 *     common   { tid, procname }                         812 "mysqld"
 *     payload  { comm, tid, saddr[4] }                   "dd" 4711 4 × 10 77 0 12
 *
 * Values come in the order of declaration, in words of 8 bytes:
 *   integer, enum, bool, float   one word: 64 bits with the sign extended, or a double
 *   text                         a word (bytes kept | original bytes << 32), then the bytes, padded to whole words
 *   array, sequence              a word (elements kept | original elements << 32), then the elements
 *   variant                      a word (the option chosen), then its value
 *   struct                       its members
 *
 * Texts and names are bytes from another machine: code that prints them must sanitise them.
 */
enum fields_part {
	FIELDS_PACKET,   /* the packet's context without the description of the packet itself: cpu_id */
	FIELDS_COMMON,   /* the context of all events of the stream */
	FIELDS_SPECIFIC, /* the class's own context */
	FIELDS_PAYLOAD,
	FIELDS_PARTS,
};

/* Far beyond what kernel events have. */
enum {
	FIELDS_BYTES_MAX = 40 * 1024, /* all values of an event; values beyond it are missing: ev_fields.cut */
	FIELDS_TEXT_MAX = 8192,       /* kept of one text; longer than TEXT_MAX, which applies to typed records */
	FIELDS_ELEMENTS_MAX = 1024,   /* kept of one array */
	FIELDS_DEPTH_MAX = 72,        /* nesting of containers */
	FIELDS_STEPS_MAX = 65536,     /* values of one event that are read; further ones are cut */
	SHAPE_FIELDS_MAX = 16384,     /* in one class, at all depths */
	SHAPE_BYTES_MAX = 1024 * 1024,
	SHAPES_BYTES_MAX = 64 * 1024 * 1024, /* in one source */
};

enum shape_kind {
	SHAPE_NONE, /* in a shape only: the class has no such part */
	SHAPE_UINT,
	SHAPE_INT,
	SHAPE_ENUM, /* .is_signed; fields_labels() */
	SHAPE_BOOL,
	SHAPE_FLOAT,
	SHAPE_TEXT,
	SHAPE_STRUCT,   /* a container, ended by SHAPE_END, like the next three */
	SHAPE_VARIANT,  /* contains the one option that was chosen */
	SHAPE_ARRAY,    /* contains .count elements */
	SHAPE_SEQUENCE, /* contains as many elements as the event says */
	SHAPE_END,      /* ends a container; in values only */
};

struct shape_label {
	const char *name;
	int64_t first, last; /* to be read as unsigned if the enum is */
};

struct shape_field {
	const char *name; /* "" for elements and parts */
	uint8_t kind;     /* enum shape_kind */
	uint8_t base;     /* for output: 2, 8, 10, 16 */
	uint8_t bits;     /* size of an integer, enum or float */
	bool is_signed;
	uint32_t count; /* members, options; an array's elements */
	uint32_t next;  /* the field after it and everything inside it */
	uint32_t label, n_labels;
	int32_t word; /* words into its part; -1: not a direct member, or preceded by data of unknown length */
};

/* The layout of the events of a class. */
struct shape {
	const char *name;           /* name of the class */
	struct shape_field *fields; /* in the order of declaration, containers before their contents */
	unsigned n_fields;
	uint32_t parts[FIELDS_PARTS]; /* fields of kind SHAPE_STRUCT, or SHAPE_NONE if the class has no such part */
	struct shape_label *labels;
	char *text;   /* holds the names */
	size_t bytes; /* size of its declaration */
	void *user;   /* for the reader of the events, to attach data to the class; NULL at first */
	void (*free_user)(void *user);
};

/* One field's value; pointers are borrowed from the shape and the record. */
struct field_value {
	const char *name;
	uint8_t kind; /* enum shape_kind */
	uint8_t base, bits;
	bool is_signed; /* for an enum: use i, else u */
	bool cut;       /* a text or an array was truncated */
	uint8_t part;   /* enum fields_part */
	uint8_t depth;  /* 0: the part itself; 1: its members; … */
	uint8_t of;     /* SHAPE_END: the kind of the container that ends */
	uint32_t field; /* index in shape.fields */
	uint32_t index; /* of an element in its array */
	union {
		uint64_t u;
		int64_t i;
		double f;
	};
	const char *text; /* not NUL-terminated, not sanitised */
	uint32_t len;     /* length of text in bytes */
	uint64_t count;   /* array, sequence: elements that follow; variant: index of the option */
};

/* Iterates over the values in the order of declaration. Its members are private, except for .cut. */
struct fields_cursor {
	const struct shape *shape;
	const struct event *ev;
	const char *at, *end; /* the rest of the part */
	const char *wrong;    /* why the record cannot have this shape; NULL: no error so far */
	bool cut;             /* the values end before the fields do */
	uint8_t part, depth;
	bool given;    /* the field has been returned */
	uint32_t only; /* return this field only */
	uint32_t steps;
	struct {
		uint32_t field, child; /* the container, and its next field */
		uint32_t left, index;
	} stack[FIELDS_DEPTH_MAX + 1];
};

/* Starts with all parts, each a struct at depth 0. ev: an EVENT_FIELDS record of this shape. */
void fields_begin(struct fields_cursor *c, const struct shape *shape, const struct event *ev);

/* false: there are no more values. Each container gets its SHAPE_END, even if the values are cut. */
bool fields_next(struct fields_cursor *c, struct field_value *value);

/*
 * The index of the direct member of a part with that name, for fields_get(); -1: there is none. Look it up once per
 * class.
 */
int shape_find(const struct shape *shape, enum fields_part part, const char *name);

/* The value of a direct member of a part; for a container, its start. false: the values were cut before it. */
bool fields_get(const struct shape *shape, const struct event *ev, uint32_t field, struct field_value *value);

/* The same, for a payload field by name. false: also if there is no such field. */
bool fields_find(const struct shape *shape, const struct event *ev, const char *name, struct field_value *value);

/* Iterates over that member only, with its contents. false: the values were cut before it. */
bool fields_begin_at(struct fields_cursor *c, const struct shape *shape, const struct event *ev, uint32_t field);

/*
 * The labels of an enum's value, in the order of declaration, each once: up to max of them into names, which may be
 * NULL. Returns how many there are; 0: the value has no label.
 */
unsigned fields_labels(const struct shape *shape, const struct field_value *value, const char **names, unsigned max);

/* NULL: the record holds values of this shape; otherwise what is wrong (static text). Call event_check() first. */
const char *fields_check(const struct shape *shape, const struct event *ev);

/* ---- shapes ---- */

/*
 * Builds a shape from the bytes of its EVENT_SHAPE records, which are untrusted. NULL: they are malformed. To be freed
 * with shape_free().
 */
struct shape *shape_parse(const void *bytes, size_t len);
void shape_free(struct shape *shape);

/* For writers. Each field is followed by its contents. */
void shape_put_name(GByteArray *out, const char *name);                 /* name of the class; comes first */
void shape_put_field(GByteArray *out, const struct shape_field *field); /* .name, .kind … .count, .n_labels */
void shape_put_label(GByteArray *out, const struct shape_label *label); /* .n_labels of them after the field */

/* All shapes of a source. */
struct shapes {
	GHashTable *known;   /* trace << 16 | class → struct shape * */
	GHashTable *growing; /* likewise → GByteArray *: shapes with records still to come */
	size_t bytes;
};

void shapes_init(struct shapes *s);
void shapes_release(struct shapes *s);

/* Adds an EVENT_SHAPE. NULL, or what is wrong with it (static text). */
const char *shapes_take(struct shapes *s, const struct event *ev);

/* Drops the shapes of a trace whose number now starts to be used, or stands for another trace. */
void shapes_forget_trace(struct shapes *s, unsigned trace);

/* Frees the data that users attached to the shapes, because another reader of the events takes over. */
void shapes_forget_users(struct shapes *s);

/*
 * Stands for the path of a recorded file in ev_fields, and for a session's URL in source/recall.h; not 0. Different
 * names have different numbers in practice.
 */
uint64_t fields_name_id(const char *name);

/* The shape of an EVENT_FIELDS record; NULL: it was not announced. */
struct shape *shapes_find(const struct shapes *s, const struct event *ev);

#endif
