/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_TYPE_H
#define LT_CTF_TYPE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "ctf/bits.h"
#include "ctf/role.h"

/*
 * How a field of a packet or an event is laid out: a tree of types as the
 * metadata declares them. Types are owned by the layout (ctf/layout.h) and
 * may stand in several places of it.
 */
enum type_kind {
	TYPE_INTEGER,
	TYPE_ENUM, /* an integer with labels */
	TYPE_FLOAT,
	TYPE_STRING, /* bytes up to a NUL */
	TYPE_STRUCT,
	TYPE_VARIANT, /* one of its fields, chosen by the value of a field seen before */
	TYPE_ARRAY,
	TYPE_SEQUENCE, /* an array whose length was seen before */
};

/* A field's value that others need (a length, a tag) is kept in a slot while an event is walked. */
enum {
	SLOT_NONE = -1,
	SLOT_EVENT_ID = 0, /* every field "id" of an event header */
	SLOTS_MAX = 65536,
};

/* Far more than any trace has. Metadata of strangers is held to these. */
enum {
	TYPE_DEPTH_MAX = 64,    /* types in one another, as they are written */
	TYPE_FIELDS_MAX = 4096, /* of one structure or variant */
	TYPE_ALIGN_MAX = 1 << 20,
	TYPE_FLOAT_BITS_MAX = 4096,
	TYPES_MAX = 1 << 18, /* of one trace */
};

/* The parts of a packet and an event, in their order. */
enum part {
	PART_PACKET_HEADER,
	PART_PACKET_CONTEXT,
	PART_EVENT_HEADER,
	PART_STREAM_CONTEXT,
	PART_EVENT_CONTEXT,
	PART_EVENT_FIELDS,
	PARTS,
};

/* Where the path of a length or a tag starts, if not in one of the parts. */
enum {
	FROM_NEAR = PARTS, /* in the nearest structure around, or part before, that has such a field: TSDL */
	FROM_HERE,         /* in the structure around: CTF 2 */
};

struct type;

struct type_field {
	char *name; /* as the program that was traced calls it: without the underscore that TSDL puts in front */
	struct type *type;
	int slot;
	enum packet_field role; /* in a packet's header and context */
};

/* A range of values of an enum and its label. */
struct type_label {
	char *name;
	int64_t first, last;
};

/* A variant's choice for a range of its tag's values. */
struct type_case {
	int64_t first, last;
	guint field; /* among the variant's */
	const struct type *type;
};

struct type {
	enum type_kind kind;
	uint64_t align; /* bits, a power of 2 */

	/* TYPE_INTEGER, TYPE_ENUM, TYPE_FLOAT */
	unsigned size; /* bits; 1..64 but for floats */
	bool is_signed;
	bool is_native; /* the byte order is the trace's */
	bool is_clock;  /* the value is a time, or its low bits */
	uint8_t base;   /* of integers and enums: to be shown with 2, 8, 10, 16; 0: not said, as 10 */
	bool is_bool;   /* CTF 2: 0 is false, all else true */
	bool is_text;   /* bytes are characters: an array of these is a string that a NUL may end early */
	enum bits_order order;
	char *clock_name; /* is_clock: of which clock; NULL: the trace's only one */

	GArray *labels; /* TYPE_ENUM: struct type_label */
	GArray *fields; /* TYPE_STRUCT, TYPE_VARIANT: struct type_field */

	struct type *element; /* TYPE_ARRAY, TYPE_SEQUENCE; with is_text an integer of 8 bits that has it too */
	uint64_t length;      /* TYPE_ARRAY */

	/*
	 * TYPE_SEQUENCE, TYPE_VARIANT: the path of the length or tag (NULL: none; an
	 * empty name is the structure around), where its value will be, and the choices.
	 */
	unsigned from; /* enum part, FROM_NEAR, FROM_HERE */
	char **path;
	int slot;
	GArray *cases;   /* struct type_case */
	bool has_ranges; /* the choices came with the variant: the tag needs no labels */
	bool tag_is_signed;

	/*
	 * Set when the whole layout is known: the size in bits from the (aligned)
	 * begin is always fixed_bits and no value inside is needed by anybody.
	 */
	bool is_measured, is_fixed;
	bool is_asked, has_shown; /* TYPE_STRUCT: what type_is_shown() found out */
	uint64_t fixed_bits;
	uint64_t max_align; /* the greatest alignment in it */
};

struct type *type_create(enum type_kind kind);
void type_destroy(struct type *t);

/* An integer or enum like t, whose labels it gets as well. */
struct type *type_copy_integer(const struct type *t);

/* The field of that name among the first n; NULL: none. */
struct type_field *type_find_field(const struct type *t, const char *name, guint n);

static inline struct type_field *type_field(const struct type *t, guint i)
{
	return &g_array_index(t->fields, struct type_field, i);
}

/* Appends a field; raises the alignment of a struct to the field's. */
void type_add_field(struct type *t, const char *name, struct type *type);

/* Sets is_fixed, fixed_bits, max_align, and the byte order of native integers, here and in all types inside. */
void type_measure(struct type *t, enum bits_order native);

/*
 * Whether people want to see the field: not a time or what describes the packet, unless another field needs it, nor a
 * structure of nothing else.
 */
bool type_is_shown(const struct type_field *f);

static inline uint64_t type_align(uint64_t at, uint64_t align)
{
	return (at + align - 1) & ~(align - 1);
}

#endif
