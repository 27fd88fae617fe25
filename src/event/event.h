/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_EVENT_EVENT_H
#define LT_EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The typed event record: what a worker process writes into its ring and what
 * everything behind the ring reads. 8-byte aligned, native byte order.
 *
 *   0        8        16     20   22     24      26       28      32
 *   +--------+--------+------+----+------+-------+--------+-------+---------+------+------+
 *   |size|kind|trace  | ts_ns| tid| cpu  | class | n_words| n_perf|present  | words| perf | text
 *   +--------+--------+------+----+------+-------+--------+-------+---------+------+------+
 *
 * words: the payload struct of the kind (event/payload.h), every member one or
 *   more 64-bit words. perf: n_perf values of the perf contexts, in the order
 *   EVENT_PERF_NAMES announced for the trace, EVENT_PERF_NONE those that this
 *   event does not have; n_perf is 0 when they are the same as in the previous
 *   event of this CPU (and, if any is a thread's, of the same thread). text: the
 *   bytes of the strings, which the words point to.
 *
 * A worker is not trusted: event_check() must accept a record before anything
 * else looks at it.
 */
struct event {
	uint32_t size;     /* bytes of the whole record, a multiple of 8 */
	uint16_t kind;     /* enum event_kind */
	uint16_t trace;    /* which trace of its source; announced by EVENT_TRACE */
	uint64_t ts_ns;    /* ns since the epoch by the host's own clock */
	int32_t tid;       /* context tid, EVENT_NO_TID if the trace has none */
	uint16_t cpu;      /* the packet's cpu_id, EVENT_NO_CPU if it has none */
	uint16_t class_id; /* event class within its trace; announced by EVENT_CLASS */
	uint16_t n_words;
	uint16_t n_perf;
	uint32_t present; /* bit i: the kind's field i (event/tracepoints.c) was in the event */
	uint64_t words[];
};

enum {
	EVENT_NO_TID = -1,
	EVENT_NO_CPU = 0xffff,
	EVENT_NO_CLASS = 0xffff,
	EVENT_CPU_MAX = 4096,      /* a higher cpu_id is damage */
	EVENT_TRACES_MAX = 256,    /* per source */
	EVENT_CLASSES_MAX = 16384, /* per trace */
	EVENT_PERF_MAX = 32,       /* perf contexts of one trace; further ones are not read */
	EVENT_SIZE_MAX = 64 * 1024,
};

/* A perf context that the event does not have: its channel records fewer than another one. */
#define EVENT_PERF_NONE UINT64_MAX

/*
 * A string of the payload: where its bytes are (not NUL-terminated, not
 * sanitised). offset counts from the start of the record.
 */
struct event_str {
	uint32_t offset;
	uint32_t len;
};

/* Kinds: those a worker makes itself, then one per row of the table of tracepoints. */
enum event_kind {
	EVENT_NONE = 0,

	/* What the source is; sent before the first event that needs it. */
	EVENT_TRACE,      /* a trace: host, clock, tracer */
	EVENT_CLASS,      /* an event class of a trace: its name, whether used */
	EVENT_STREAM,     /* a stream: its CPU */
	EVENT_PERF_NAMES, /* one perf context of a trace: index and name */
	EVENT_SHAPE,      /* what fields the events of a class have (event/fields.h), all or a part of it */
	EVENT_CPU_START,  /* which thread ran on a CPU when the record began (recordings) */
	EVENT_READY,      /* everything known before the first event was sent; a live source: attached */
	EVENT_SESSION,    /* a session that a relayd offers (source_start_list()) */
	EVENT_LISTED,     /* these were all of them */

	/* What happens to the source. */
	EVENT_LOST,       /* discarded events or packets */
	EVENT_BACKWARD,   /* time went back in a stream by so much; the event follows, its time held */
	EVENT_CONTEXT,    /* the context of event.tid, sent when it differs from what was sent before */
	EVENT_FIELDS,     /* all fields of the event whose record follows, if that was asked for (event/fields.h) */
	EVENT_WANTED,     /* from here on these fields come that were asked for while the source was read */
	EVENT_STREAM_END, /* a stream ended */
	EVENT_BEACON,     /* no event before ts_ns will follow from this source */
	EVENT_NOTE,       /* a message for the user: damage that the source survived */
	EVENT_END,        /* the source ended well, a live session was closed; last record */
	EVENT_FAILED,     /* the source broke off: text, cause; last record */

	/* Events that are only counted, by their class; no payload. */
	EVENT_OTHER, /* one that nobody asked for */
	EVENT_PROBE, /* a kprobe, uprobe or function probe: its only fields are ip, parent_ip */

#define TRACEPOINT(kind, ...) EVENT_##kind,
#include "event/tracepoints.def"
	EVENT_KINDS
};

/* The record behind it, where several follow each other. */
static inline const struct event *event_next(const struct event *ev)
{
	return (const struct event *)(const void *)((const char *)ev + ev->size);
}

static inline const void *event_words(const struct event *ev)
{
	return ev->words;
}

/* The payload of an event whose kind has this struct; n_words were checked by event_check(). */
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
 * Whether the record is what it says: size within [header, avail], kind
 * known, number of words that of the kind, every string inside the record, CPU,
 * trace and class below their bounds. Nothing behind this check needs to doubt
 * a length or an index again. Returns NULL or what is wrong (static text).
 */
const char *event_check(const struct event *ev, size_t avail_bytes);

#endif
