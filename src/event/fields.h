/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_EVENT_FIELDS_H
#define LT_EVENT_FIELDS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"

/*
 * The generic event: all fields of an event with their names, types and values, as the trace declares them. Records
 * carry what figures need; where more is wanted (event/wanted.h) the worker writes two further kinds:
 *
 *   EVENT_SHAPE   once per event class, before the first event that needs it: the tree of its fields
 *   EVENT_FIELDS  directly before the event's own record, of the same time, thread, CPU and class: the values
 *
 *   sched_wakeup ─ struct shape                          EVENT_FIELDS
 *     packet   { cpu_id }                                1
 *     common   { tid, procname }                         812 "mysqld"
 *     payload  { comm, tid, saddr[4] }                   "dd" 4711 4 × 10 77 0 12
 *
 * Values stand in the order of their declaration, in words of 8 bytes:
 *   integer, enum, bool, float   one word: 64 bits with the sign extended, or a double
 *   text                         a word: bytes kept | bytes there were << 32, then the bytes, filled up to whole words
 *   array, sequence              a word: elements kept | elements there were << 32, then the elements
 *   variant                      a word: which option, then that
 *   struct                       its members
 *
 * Text and names are another machine's bytes: whoever prints them sanitises them.
 */
enum fields_part {
	FIELDS_PACKET,   /* the packet's context, but for what describes the packet itself: cpu_id */
	FIELDS_COMMON,   /* the context that all events of the stream have */
	FIELDS_SPECIFIC, /* the class's own context */
	FIELDS_PAYLOAD,
	FIELDS_PARTS,
};

/* Far more than events of a kernel have. */
enum {
	FIELDS_BYTES_MAX = 40 * 1024, /* of all values of an event; behind that they are missing: ev_fields.cut */
	FIELDS_TEXT_MAX = 8192,       /* kept of one text; TEXT_MAX of the typed records is less */
	FIELDS_ELEMENTS_MAX = 1024,   /* kept of one array */
	FIELDS_DEPTH_MAX = 72,        /* of containers in one another; more than metadata may have */
	FIELDS_STEPS_MAX = 65536,     /* values of one event, for arrays of what takes no room */
	SHAPE_FIELDS_MAX = 16384,     /* of one class, at all depths */
	SHAPE_BYTES_MAX = 1024 * 1024,
	SHAPES_BYTES_MAX = 64 * 1024 * 1024, /* of one source */
};

enum shape_kind {
	SHAPE_NONE, /* a shape only: the class has no such part */
	SHAPE_UINT,
	SHAPE_INT,
	SHAPE_ENUM, /* .is_signed; fields_labels() */
	SHAPE_BOOL,
	SHAPE_FLOAT,
	SHAPE_TEXT,
	SHAPE_STRUCT,   /* these begin a container, */
	SHAPE_VARIANT,  /* of the one option that was chosen, */
	SHAPE_ARRAY,    /* of .count elements, always as many, */
	SHAPE_SEQUENCE, /* or as many as the event said, */
	SHAPE_END,      /* and this ends it; in a value only */
};

struct shape_label {
	const char *name;
	int64_t first, last; /* as unsigned where the enum is */
};

struct shape_field {
	const char *name; /* "" of elements and parts */
	uint8_t kind;     /* enum shape_kind */
	uint8_t base;     /* to be written in: 2, 8, 10, 16 */
	uint8_t bits;     /* of an integer, enum or float */
	bool is_signed;
	uint32_t count; /* members, options; an array's elements */
	uint32_t next;  /* the field behind it and all that is in it */
	uint32_t label, n_labels;
	int32_t word; /* where in its part, in words; -1: texts or arrays of unknown length stand before it, or it
			       is no direct member of the part */
};

/* What the events of a class look like. */
struct shape {
	const char *name;           /* of the class */
	struct shape_field *fields; /* in the order of declaration, containers before what is in them */
	unsigned n_fields;
	uint32_t parts[FIELDS_PARTS]; /* fields of kind SHAPE_STRUCT, or SHAPE_NONE: it has no such part */
	struct shape_label *labels;
	char *text;   /* what the names point to */
	size_t bytes; /* that it was declared in */
	void *user;   /* whatever who reads the events knows of the class; NULL at first */
	void (*free_user)(void *user);
};

/* One field's value; pointers are borrowed from the shape and the record. */
struct field_value {
	const char *name;
	uint8_t kind; /* enum shape_kind */
	uint8_t base, bits;
	bool is_signed; /* of an enum: i, else u */
	bool cut;       /* a text or an array: there was more of it */
	uint8_t part;   /* enum fields_part */
	uint8_t depth;  /* 0: the part itself, 1: its members, … */
	uint8_t of;     /* SHAPE_END: the kind that ends */
	uint32_t field; /* of the shape */
	uint32_t index; /* of an element in its array */
	union {
		uint64_t u;
		int64_t i;
		double f;
	};
	const char *text; /* not NUL-terminated, not sanitised */
	uint32_t len;     /* of it, bytes */
	uint64_t count;   /* array, sequence: elements that follow; variant: which option */
};

/* Goes over the values in the order of declaration. Its members are its own, but for .cut. */
struct fields_cursor {
	const struct shape *shape;
	const struct event *ev;
	const char *at, *end; /* of the part */
	const char *wrong;    /* the record is not of this shape: why; NULL: it may be */
	bool cut;             /* the values end before the fields do */
	uint8_t part, depth;
	bool given;    /* it has been */
	uint32_t only; /* this field alone */
	uint32_t steps;
	struct {
		uint32_t field, child; /* the container, and which of its fields is next */
		uint32_t left, index;
	} stack[FIELDS_DEPTH_MAX + 1];
};

/* Over all parts, each a struct at depth 0. ev: an EVENT_FIELDS of this shape. */
void fields_begin(struct fields_cursor *c, const struct shape *shape, const struct event *ev);

/* false: that was all. Containers are always ended, also where the values are cut. */
bool fields_next(struct fields_cursor *c, struct field_value *value);

/*
 * The direct member of a part of that name; -1: there is none. To be asked once per class: fields_get() takes what it
 * gives.
 */
int shape_find(const struct shape *shape, enum fields_part part, const char *name);

/* The value of a direct member of a part; of a container, where it begins. false: the values were cut before it. */
bool fields_get(const struct shape *shape, const struct event *ev, uint32_t field, struct field_value *value);

/* The same by the name, of the payload. false: also if there is no such field. */
bool fields_find(const struct shape *shape, const struct event *ev, const char *name, struct field_value *value);

/* To go over that member alone, with what is in it. false: the values were cut before it. */
bool fields_begin_at(struct fields_cursor *c, const struct shape *shape, const struct event *ev, uint32_t field);

/*
 * The labels of an enum's value, in the order of their declaration, each once: up to max into names, which may be
 * NULL. Returns how many there are; 0: none is declared for it.
 */
unsigned fields_labels(const struct shape *shape, const struct field_value *value, const char **names, unsigned max);

/* NULL: the record holds values of this shape; else what is wrong with it (static text). Beyond event_check(). */
const char *fields_check(const struct shape *shape, const struct event *ev);

/* ---- shapes ---- */

/*
 * A shape of the bytes of its EVENT_SHAPE records, which are untrusted. NULL: they make no sense. To be freed with
 * shape_free().
 */
struct shape *shape_parse(const void *bytes, size_t len);
void shape_free(struct shape *shape);

/* For who writes them. A field is followed by what is in it. */
void shape_put_name(GByteArray *out, const char *name);                 /* of the class, first */
void shape_put_field(GByteArray *out, const struct shape_field *field); /* .name, .kind … .count, .n_labels */
void shape_put_label(GByteArray *out, const struct shape_label *label); /* .n_labels of them behind the field */

/* All shapes of a source. */
struct shapes {
	GHashTable *known;   /* trace << 16 | class → struct shape * */
	GHashTable *growing; /* likewise → GByteArray *: of which not all records have come */
	size_t bytes;
};

void shapes_init(struct shapes *s);
void shapes_release(struct shapes *s);

/* Takes in an EVENT_SHAPE. NULL, or what is wrong with it (static text). */
const char *shapes_take(struct shapes *s, const struct event *ev);

/* The trace of that number begins, or is another one now: what its classes looked like is forgotten. */
void shapes_forget_trace(struct shapes *s, unsigned trace);

/* Frees what users have left with the shapes: who reads them from now on is another one. */
void shapes_forget_users(struct shapes *s);

/* The shape of an EVENT_FIELDS; NULL: none was announced. */
struct shape *shapes_find(const struct shapes *s, const struct event *ev);

#endif
