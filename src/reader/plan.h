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
 * How the fields of one event class become the words of a record, resolved
 * once per class: which member of which structure, read how, written where.
 * It is the same for every reader; each carries it out in its own way. The types of
 * the fields are checked here, so that reading an event looks at no name and no type.
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
	uint8_t bit;     /* of event.present, PLAN_NO_BIT none */
	uint8_t count;   /* READ_INTS: elements at most */
	uint8_t wide;    /* READ_ADDRESS: groups of 16 bits */
	uint16_t offset; /* in the payload, bytes */
	uint16_t n_options;
	uint32_t member; /* index in the structure */
	struct field_plan *options;
};

struct field_plan {
	struct plan_op *ops;
	uint16_t n;
	uint16_t version;    /* option of READ_VARIANT: stored in the word at the op's offset */
	const char *refused; /* a member that is wanted and not of a type that can be read, NULL: there is none */
};

/* The context of an event: what EVENT_CONTEXT carries, and the thread it is about. */
struct context_values {
	struct ev_context fields;
	int64_t tid;
	uint32_t present; /* bits as in EVENT_CONTEXT; bit CONTEXT_TID: tid */
};

enum { CONTEXT_TID = 31 };

/* What a reader knows of an event class; all borrowed. */
struct class_desc {
	const char *name; /* NULL: it has none */
	/* Structures; common: the context that all events of the stream have; NULL: none. */
	const struct type *payload, *common, *specific;
	const struct type *packet; /* the context of the packets that the events are in */
	const void *group;         /* the classes of one kind of stream (struct reader_stream.group) have the same */
};

struct reader_class {
	char *name;
	void *code;      /* the reader's own, to carry out the plan; borrowed */
	uint16_t kind;   /* enum event_kind */
	uint16_t id;     /* class_id of the records */
	uint16_t n_text; /* strings it may have */
	bool syscall;    /* nr is -1 unless read */
	bool has_tid;    /* its context names the thread; of user space as its pid namespace counts */
	bool has_perf;   /* its context has perf counters */
	struct class_desc desc;
	bool refusal_reported; /* of its plans' .refused, or there is none */
	struct field_plan payload;
	struct field_plan common_context, specific_context; /* into struct context_values */
	struct field_plan common_perf, specific_perf;       /* into an array of EVENT_PERF_MAX words */
};

/* The perf contexts of a trace, in the order in which they were met. */
struct perf_names {
	unsigned n;
	char *names[EVENT_PERF_MAX];
};

/*
 * Resolves a class, whose types must live as long. perf gains the names of perf contexts not met before. kernel:
 * the trace is a kernel's, so that its unknown classes may be probes. like: another class of it, or NULL; mostly their
 * events have the same common context, of which most of the work is.
 */
struct reader_class *class_plan_create(const struct class_desc *desc, uint16_t id, bool kernel, struct perf_names *perf,
				       const struct reader_class *like);

void class_plan_destroy(struct reader_class *plan);

#endif
