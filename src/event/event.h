/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_EVENT_EVENT_H
#define LT_EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The typed event record: what a worker process writes into its ring, and what all code after the ring reads. 8-byte
 * aligned, native byte order.
 *
 *   0        8        16     20   22     24      26       28      32
 *   +--------+--------+------+----+------+-------+--------+-------+---------+------+------+
 *   |size|kind|trace  | ts_ns| tid| cpu  | class | n_words| n_perf|present  | words| perf | text
 *   +--------+--------+------+----+------+-------+--------+-------+---------+------+------+
 *
 * words: the payload struct of the kind (event/payload.h), each member one or more 64-bit words.
 *
 * perf: n_perf values of the perf contexts, in the order announced by the trace's EVENT_PERF_NAMES; EVENT_PERF_NONE for
 * those that this event lacks. n_perf is 0 if they are the same as in the previous event of this CPU (and, if one of
 * them counts per thread, of the same thread).
 *
 * text: the bytes of the strings that the words refer to.
 *
 * Workers are not trusted: event_check() must accept a record before anything else looks at it.
 */
struct event {
	uint32_t size;     /* bytes of the whole record, a multiple of 8 */
	uint16_t kind;     /* enum event_kind */
	uint16_t trace;    /* number of the trace within its source; announced by EVENT_TRACE */
	uint64_t ts_ns;    /* ns since the epoch, by the host's own clock */
	int32_t tid;       /* context tid; EVENT_NO_TID if the trace has none */
	uint16_t cpu;      /* the packet's cpu_id; EVENT_NO_CPU if it has none */
	uint16_t class_id; /* event class within its trace; announced by EVENT_CLASS */
	uint16_t n_words;
	uint16_t n_perf;
	uint32_t present; /* bit i: the event had the kind's field i (event/tracepoints.c) */
	uint64_t words[];
};

enum {
	EVENT_NO_TID = -1,
	EVENT_NO_CPU = 0xffff,
	EVENT_NO_CLASS = 0xffff,
	EVENT_CPU_MAX = 4096,      /* a higher cpu_id means damage */
	EVENT_TRACES_MAX = 256,    /* per source */
	EVENT_CLASSES_MAX = 16384, /* per trace */
	EVENT_PERF_MAX = 32,       /* perf contexts of one trace; the others are not read */
	EVENT_SIZE_MAX = 64 * 1024,
};

/* A perf context that the event lacks: its channel records fewer of them than another one. */
#define EVENT_PERF_NONE UINT64_MAX

/*
 * A string of the payload: the place of its bytes (not NUL-terminated, not sanitised). offset counts from the start of
 * the record.
 */
struct event_str {
	uint32_t offset;
	uint32_t len;
};

/* Kinds: first those that workers make themselves, then one per row of the table of tracepoints. */
enum event_kind {
	EVENT_NONE = 0,

	/* Descriptions of the source; each is sent before the first event that needs it. */
	EVENT_TRACE,      /* a trace: host, clock, tracer */
	EVENT_CLASS,      /* an event class of a trace: its name, and whether it is used */
	EVENT_STREAM,     /* a stream: its CPU */
	EVENT_PERF_NAMES, /* one perf context of a trace: index and name */
	EVENT_SHAPE,      /* the fields of a class's events (event/fields.h), all of them or a part */
	EVENT_CPU_START, /* when a CPU's first packet began (ts_ns; 0: not known), and what ran then; recordings only */
	EVENT_READY,     /* everything known before the first event has been sent; a live source: attached */
	EVENT_SESSION,   /* a session that a relayd offers (source_start_list()) */
	EVENT_LISTED,    /* the end of the list of sessions */

	/* Changes of the source's state. */
	EVENT_LOST,       /* discarded events or packets */
	EVENT_GAP,        /* until the end of a loss (ev_gap), nothing is known of what the CPU runs */
	EVENT_BACKWARD,   /* time went back in a stream; the next event keeps the time reached before */
	EVENT_CONTEXT,    /* the context of event.tid, sent when it differs from the last one sent */
	EVENT_FIELDS,     /* all fields of the event whose record follows, if they were asked for (event/fields.h) */
	EVENT_WANTED,     /* the fields asked for while the source was being read are sent from here on */
	EVENT_STREAM_END, /* a stream ended */
	EVENT_BEACON,     /* no earlier event than ts_ns will follow from this source */
	EVENT_NOTE,       /* a message for the user: damage that did not stop the source */
	EVENT_END,        /* the source ended normally or a live session was closed; last record */
	EVENT_FAILED,     /* the source broke off: text and cause; last record */

	/* Events that are only counted by class; no payload. */
	EVENT_OTHER, /* one that no figure needs */
	EVENT_PROBE, /* a kprobe, uprobe or function probe; its only fields are ip, parent_ip */

#define TRACEPOINT(kind, ...) EVENT_##kind,
#include "event/tracepoints.def"
	EVENT_KINDS
};

/* The next record in a sequence of them. */
static inline const struct event *event_next(const struct event *ev)
{
	return (const struct event *)(const void *)((const char *)ev + ev->size);
}

static inline const void *event_words(const struct event *ev)
{
	return ev->words;
}

/*
 * The payload of an event whose kind has this struct; event_check() has checked n_words. Of system calls, the members
 * from .family or .fd0 on are only there if one of their bits in .present is set.
 */
#define event_payload(ev, type) ((const struct type *)event_words(ev))

static inline const uint64_t *event_perf(const struct event *ev)
{
	return ev->words + ev->n_words;
}

/* The bytes of a string of ev's payload. */
static inline const char *event_text(const struct event *ev, struct event_str s)
{
	return (const char *)ev + s.offset;
}

static inline bool event_has(const struct event *ev, unsigned field)
{
	return ev->present >> field & 1;
}

/*
 * Whether the record is consistent: size within [header, avail_bytes], a known kind with its number of words, every
 * string inside the record, CPU, trace and class within bounds. No later code needs to check a length or an index
 * again. Returns NULL, or what is wrong (static text).
 */
const char *event_check(const struct event *ev, size_t avail_bytes);

#endif
