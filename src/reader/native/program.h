/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_PROGRAM_H
#define LT_READER_NATIVE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "ctf/walk.h"
#include "reader/plan.h"

/*
 * A plan (reader/plan.h) for the bytes of a packet: what to do one after the other to get over a structure and to put
 * what is wanted of it into words.
 *
 * Fields of fixed size that follow each other are one run: its bounds are checked once, its fields are loaded from
 * fixed places behind where it begins. A run begins at the alignment of its first field, as a structure does at
 * the greatest of its fields, so that the places in it are known.
 *
 *   struct { int32 a; char b[16]; string c; uint64 d; }, wanted b, c
 *   RUN align 8, 160 bits │ COMM from 32 │ STRING text │ RUN align 8, 64 bits │ END
 */
enum step_code {
	STEP_RUN, /* begins a run: .align, .bits long */
	/* loads from byte .from of the run, in this machine's byte order: */
	STEP_U8,
	STEP_U16,
	STEP_U32,
	STEP_U64,
	STEP_S8,
	STEP_S16,
	STEP_S32,
	STEP_COMM,     /* 16 characters likewise */
	STEP_INTEGER,  /* any other integer: .type at bit .from; stored as .store says */
	STEP_STRING,   /* up to a NUL; .op says what becomes of it */
	STEP_ELEMENTS, /* .type, an array or sequence of fixed elements; likewise */
	STEP_VARIANT,  /* .type; .options by its fields */
	STEP_WALK,     /* .type: over it */
	/* Of programs for all fields: */
	STEP_ROOM,   /* the words of the loads that follow: .bits of them, appended to the record */
	STEP_FLOAT,  /* .type at bit .from, as a double */
	STEP_REPEAT, /* .type, an array or sequence: .options, for each of its elements */
	STEP_END,    /* behind the last one */
};

enum store_how {
	STORE_WORD,
	STORE_ADDRESS, /* as the 4 bytes of an IPv4 address */
	STORE_HIGH,    /* or-ed into bits 8… of the word */
	STORE_OR,      /* or-ed into the word */
	STORE_SLOT,    /* into a slot of the walk: a length or a tag */
};

/* .op: all of it, as a value; nothing is wanted of it. */
enum { STEP_VALUE = 0xfe, STEP_SKIP = 0xff };

struct program;

struct step {
	uint8_t code;     /* enum step_code */
	uint8_t op;       /* enum read_op or STEP_SKIP */
	uint8_t store;    /* enum store_how */
	bool stay;        /* the next step is about the same field */
	uint8_t count;    /* READ_INTS: elements at most */
	uint8_t wide;     /* READ_ADDRESS */
	uint16_t to;      /* in the words, bytes */
	uint32_t present; /* bits that say the field, or all fields of the run, were there */
	uint32_t from;    /* where in the run: bytes, STEP_INTEGER: bits */
	uint32_t bits, align;
	int32_t slot;
	uint16_t n_options;
	uint16_t n_loads; /* of another step: so many follow it */
	const struct type *type;
	struct program *options;
};

struct program {
	struct step *steps;
	unsigned n;       /* without STEP_END; 0: there is not even that */
	uint64_t version; /* of an option: stored at the variant's words, 0: not */
	bool wants;       /* of an option: something in it is */
};

/* For the structure t, NULL: none; plan NULL: nothing is wanted of it. *p is to be released. */
void program_compile(struct program *p, const struct type *t, const struct field_plan *plan);

/*
 * One that appends all values of the structure to an EVENT_FIELDS record (reader/values.h); its program_run() has
 * neither words nor present. Where the record is full it ends early, with false.
 */
void program_compile_values(struct program *p, const struct type *t);

void program_release(struct program *p);

/* program_run() of one that is not empty. */
bool program_run_steps(const struct program *p, struct walk *w, void *words, uint32_t *present, struct event *ev);

/*
 * Moves w behind the structure. words: of the payload or context; texts are appended to ev. present gains bits.
 * false: it does not fit into the packet, or cannot be.
 */
static inline bool program_run(const struct program *p, struct walk *w, void *words, uint32_t *present,
			       struct event *ev)
{
	return !p->n || program_run_steps(p, w, words, present, ev);
}

#endif
