/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_TYPE_H
#define LT_CTF_TYPE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "ctf/bits.h"
#include "ctf/role.h"

/*
 * The layout of a field of a packet or an event: a tree of types as declared in the metadata. Types are owned by the
 * layout (ctf/layout.h) and may occur in several places of it.
 */
enum type_kind {
	TYPE_INTEGER,
	TYPE_ENUM, /* an integer with labels */
	TYPE_FLOAT,
	TYPE_STRING, /* bytes up to a NUL */
	TYPE_STRUCT,
	TYPE_VARIANT, /* one of its fields, chosen by the value of an earlier field */
	TYPE_ARRAY,
	TYPE_SEQUENCE, /* an array whose length is the value of an earlier field */
};

/* A field's value that other types need (a length, a tag) is kept in a slot while an event is walked. */
enum {
	SLOT_NONE = -1,
	SLOT_EVENT_ID = 0, /* for every field "id" of an event header */
	SLOTS_MAX = 65536,
};

/* Limits on untrusted metadata, far beyond what traces have. */
enum {
	TYPE_DEPTH_MAX = 64,    /* nested types, in the metadata's text */
	TYPE_FIELDS_MAX = 4096, /* in one structure or variant */
	TYPE_ALIGN_MAX = 1 << 20,
	TYPE_FLOAT_BITS_MAX = 4096,
	TYPES_MAX = 1 << 18,  /* in one trace */
	COPIES_MAX = 1 << 26, /* bytes of names, labels, paths and cases in one trace that its text may give once */
};

/* The parts of a packet and an event, in order. */
enum part {
	PART_PACKET_HEADER,
	PART_PACKET_CONTEXT,
	PART_EVENT_HEADER,
	PART_STREAM_CONTEXT,
	PART_EVENT_CONTEXT,
	PART_EVENT_FIELDS,
	PARTS,
};

/* Where the path of a length or a tag starts if not in one of the parts. */
enum {
	FROM_NEAR = PARTS, /* TSDL: in the nearest enclosing structure or earlier part with such a field */
	FROM_HERE,         /* CTF 2: in the enclosing structure */
};

struct type;

struct type_field {
	char *name; /* as in the traced program: without the underscore that TSDL prepends */
	struct type *type;
	int slot;
	enum packet_field role; /* for fields of a packet's header or context */
};

/* A range of values of an enum, and its label. */
struct type_label {
	char *name;
	int64_t first, last;
};

/* The option of a variant for a range of values of its tag. */
struct type_case {
	int64_t first, last;
	guint field; /* index of the option */
	const struct type *type;
};

struct type {
	enum type_kind kind;
	uint64_t align; /* bits, a power of 2 */

	/* TYPE_INTEGER, TYPE_ENUM, TYPE_FLOAT */
	unsigned size; /* bits; 1..64, except for floats */
	bool is_signed;
	bool is_native; /* has the trace's byte order */
	bool is_clock;  /* the value is a time, or its low bits */
	uint8_t base;   /* for display of integers and enums: 2, 8, 10, 16; 0: not given, means 10 */
	bool is_bool;   /* CTF 2: 0 is false, all other values are true */
	bool is_text;   /* bytes are characters: an array of them is a string, which a NUL may end early */
	enum bits_order order;
	char *clock_name; /* if is_clock: the clock's name; NULL: the trace's only clock */

	GArray *labels; /* TYPE_ENUM: struct type_label */
	GArray *fields; /* TYPE_STRUCT, TYPE_VARIANT: struct type_field */

	struct type *element; /* TYPE_ARRAY, TYPE_SEQUENCE; with is_text: an integer of 8 bits with is_text */
	uint64_t length;      /* TYPE_ARRAY */

	/*
	 * TYPE_SEQUENCE, TYPE_VARIANT: the path of the length or tag (NULL: it has none; an empty name: the enclosing
	 * structure), the slot that will hold its value, and the options.
	 */
	unsigned from; /* enum part, FROM_NEAR, FROM_HERE */
	char **path;
	int slot;
	GArray *cases;   /* struct type_case */
	bool has_ranges; /* the options came with ranges, so the tag needs no labels */
	bool tag_is_signed;

	/*
	 * is_fixed: the size from the (aligned) start is always fixed_bits, and no other type needs a value inside.
	 * Set, with is_measured, when the whole layout is known.
	 */
	bool is_measured, is_fixed;
	bool is_asked, has_shown; /* TYPE_STRUCT: cached result of type_is_shown() */
	uint64_t fixed_bits;
	uint64_t max_align; /* the greatest alignment of any type in it */
};

struct type *type_create(enum type_kind kind);
void type_destroy(struct type *t);

/* Makes an integer or enum that has just been created represent its values as another one does. */
void type_set_integer(struct type *t, const struct type *from);

/* Whether two integers or floats that were just declared represent the same values in the same way. */
bool type_is_same_number(const struct type *a, const struct type *b);

/* An integer or enum like t, including its labels. */
struct type *type_copy_integer(const struct type *t);

/* The field with that name among the first n; NULL: there is none. */
struct type_field *type_find_field(const struct type *t, const char *name, guint n);

static inline struct type_field *type_field(const struct type *t, guint i)
{
	return &g_array_index(t->fields, struct type_field, i);
}

/* Appends a field; raises the alignment of a struct to the field's. */
void type_add_field(struct type *t, const char *name, struct type *type);

/*
 * Sets is_fixed, fixed_bits, max_align, and the byte order of native integers, for this type and all types inside it.
 */
void type_measure(struct type *t, enum bits_order native);

/*
 * Whether the field is of interest to users: not a time or a description of the packet, unless another field needs it,
 * nor a structure of only such fields.
 */
bool type_is_shown(const struct type_field *f);

static inline uint64_t type_align(uint64_t at, uint64_t align)
{
	return (at + align - 1) & ~(align - 1);
}

#endif
