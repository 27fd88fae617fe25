/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_PROGRAM_H
#define LT_READER_NATIVE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "ctf/walk.h"
#include "reader/plan.h"

/*
 * A plan (reader/plan.h) compiled for the bytes of a packet: the steps that move past a structure and store its wanted
 * fields in words.
 *
 * Adjacent fields of fixed size form a run: its bounds are checked once, and its fields are loaded from fixed offsets.
 * A run starts at the alignment of its first field, and a structure starts at the largest alignment of its fields, so
 * that the offsets are known.
 *
 *   struct { int32 a; char b[16]; string c; uint64 d; }, wanted b, c
 *   RUN align 8, 160 bits │ COMM from 32 │ STRING text │ RUN align 8, 64 bits │ END
 */
enum step_code {
	STEP_RUN, /* starts a run: .align, .bits long */
	/* load from byte .from of the run, in this machine's byte order: */
	STEP_U8,
	STEP_U16,
	STEP_U32,
	STEP_U64,
	STEP_S8,
	STEP_S16,
	STEP_S32,
	STEP_COMM,     /* 16 characters, likewise */
	STEP_INTEGER,  /* any other integer: .type at bit .from; stored as .store says */
	STEP_STRING,   /* up to a NUL; processed as .op says */
	STEP_ELEMENTS, /* .type, an array or sequence of fixed elements; likewise */
	STEP_VARIANT,  /* .type; .options by its fields */
	STEP_WALK,     /* .type: moves past it */
	/* Only in programs for all fields: */
	STEP_ROOM,   /* appends .bits words, which the following loads fill, to the record */
	STEP_FLOAT,  /* .type at bit .from, as a double */
	STEP_REPEAT, /* .type, an array or sequence: runs .options for each element */
	STEP_END,    /* after the last one */
};

enum store_how {
	STORE_WORD,
	STORE_ADDRESS, /* as the 4 bytes of an IPv4 address */
	STORE_HIGH,    /* or-ed into bits 8… of the word */
	STORE_OR,      /* or-ed into the word */
	STORE_SLOT,    /* into a slot of the walk: a length or a tag */
};

/* .op: append the whole field as a value; skip the field. */
enum { STEP_VALUE = 0xfe, STEP_SKIP = 0xff };

struct program;

struct step {
	uint8_t code;     /* enum step_code */
	uint8_t op;       /* enum read_op or STEP_SKIP */
	uint8_t store;    /* enum store_how */
	bool stay;        /* the next step is for the same field */
	uint8_t count;    /* READ_INTS: maximum number of elements */
	uint8_t wide;     /* READ_ADDRESS */
	uint16_t to;      /* offset in the words, bytes */
	uint32_t present; /* bits set if the field, or all fields of the run, are present */
	uint32_t from;    /* offset in the run: bytes, STEP_INTEGER: bits */
	uint32_t bits, align;
	int32_t slot;
	uint16_t n_options;
	uint16_t n_loads; /* of other steps: the number of loads that follow */
	const struct type *type;
	struct program *options;
};

struct program {
	struct step *steps;
	unsigned n;       /* without STEP_END; 0: there is not even STEP_END */
	uint64_t version; /* of an option: stored in the variant's word, 0: not stored */
	bool wants;       /* of an option: something in it is wanted */
};

/* Compiles the structure t, NULL: none. plan NULL: nothing is wanted. *p must be released. */
void program_compile(struct program *p, const struct type *t, const struct field_plan *plan);

/*
 * Compiles a program that appends all values of the structure to an EVENT_FIELDS record (reader/values.h); it uses
 * neither words nor present in program_run(). If the record is full it stops and returns false.
 */
void program_compile_values(struct program *p, const struct type *t);

void program_release(struct program *p);

/* program_run() for a program that is not empty. */
bool program_run_steps(const struct program *p, struct walk *w, void *words, uint32_t *present, struct event *ev);

/*
 * Moves w past the structure. words: the payload or context; texts are appended to ev. Sets bits in present. false: the
 * structure does not fit into the packet, or is invalid.
 */
static inline bool program_run(const struct program *p, struct walk *w, void *words, uint32_t *present,
			       struct event *ev)
{
	return !p->n || program_run_steps(p, w, words, present, ev);
}

#endif
