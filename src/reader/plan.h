/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_PLAN_H
#define LT_READER_PLAN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "ctf/type.h"
#include "event/event.h"
#include "event/payload.h"
#include "event/syscalls.h"

/*
 * How the fields of an event class become the words of a record, resolved once per class: which member of which
 * structure is read, how, and where it is written. Plans are the same for all readers; each executes them in its own
 * way. Field types are checked here, so that reading an event involves no names and no types.
 */
enum read_op {
	READ_SIGNED,
	READ_UNSIGNED,
	READ_COMM,         /* string, inline 16 bytes */
	READ_COMM_ARRAY,   /* array of character codes, inline 16 bytes */
	READ_TEXT,         /* string */
	READ_TEXT_ARRAY,   /* array of character codes */
	READ_INTS,         /* up to .count elements of an array of integers */
	READ_ADDRESS,      /* array of 8- or 16-bit groups in network byte order */
	READ_ADDRESS_WORD, /* 32-bit IPv4 address in host order */
	READ_IHL,          /* unsigned, into bits 8… of the word */
	READ_OR,           /* unsigned, or-ed into the word */
	READ_VARIANT,      /* .options[selected], each a plan for a structure */
};

enum { PLAN_NO_BIT = 0xff };

struct plan_op {
	uint8_t op;      /* enum read_op */
	uint8_t bit;     /* of event.present, or PLAN_NO_BIT */
	uint8_t count;   /* READ_INTS: maximum number of elements */
	uint8_t wide;    /* READ_ADDRESS: groups have 16 bits */
	uint16_t offset; /* in the payload, bytes */
	uint16_t n_options;
	uint32_t member; /* index in the structure */
	struct field_plan *options;
};

struct field_plan {
	struct plan_op *ops;
	uint16_t n;
	uint16_t version;    /* option of READ_VARIANT: stored in the word at the op's offset */
	const char *refused; /* wanted member whose type cannot be read, NULL: there is none */
};

/* The context of an event: the data of EVENT_CONTEXT, and its thread. */
struct context_values {
	struct ev_context fields;
	int64_t tid;
	uint32_t present; /* bits as in EVENT_CONTEXT; bit CONTEXT_TID: tid */
};

enum { CONTEXT_TID = 31 };

/* A reader's description of an event class; all borrowed. */
struct class_desc {
	const char *name; /* NULL: unnamed */
	/* Structures; common: the context of all events of the stream; NULL: none. */
	const struct type *payload, *common, *specific;
	const struct type *packet; /* the context of the packets that contain the events */
	const void *group;         /* equal for the classes of one stream class (struct reader_stream.group) */
};

struct reader_class {
	char *name;
	void *code;       /* the reader's own data for executing the plan; borrowed */
	uint16_t kind;    /* enum event_kind */
	uint16_t id;      /* class_id of the records */
	uint16_t n_words; /* of the records */
	uint16_t n_text;  /* maximum number of strings */
	bool syscall;     /* nr is -1 unless read */
	bool has_tid;     /* its context has the thread; for user space as numbered in its pid namespace */
	bool has_perf;    /* its context has perf counters */
	struct class_desc desc;
	bool refusal_reported; /* the .refused of its plans were reported, or there are none */
	struct field_plan payload;
	struct field_plan common_context, specific_context; /* into struct context_values */
	struct field_plan common_perf, specific_perf;       /* into an array of EVENT_PERF_MAX words */
	/* the .ops of the common ones are counted references (g_rc_box_acquire()), or NULL */
};

/* The perf contexts of a trace, in order of appearance. */
struct perf_names {
	unsigned n;
	char *names[EVENT_PERF_MAX];
};

/*
 * Resolves a class, whose types must stay valid as long as the plan. New perf contexts are added to perf. kernel: it is
 * a kernel trace, in which unknown classes may be probes. like: another class of the trace, or NULL; if it has the same
 * common context, as most do, that part is shared instead of being resolved again.
 */
struct reader_class *class_plan_create(const struct class_desc *desc, uint16_t id, bool kernel, struct perf_names *perf,
				       const struct reader_class *like);

void class_plan_destroy(struct reader_class *plan);

#endif
