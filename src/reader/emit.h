/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_EMIT_H
#define LT_READER_EMIT_H

#include <string.h>

#include "base/text.h"
#include "event/event.h"
#include "event/tracepoints.h"
#include "source/ring.h"

/*
 * Builds a record in place in the ring: emit_begin(), fill in the words, emit_perf() at most once, then emit_text() for
 * each string, emit_end().
 */

enum { ZEROED_WORDS = 8 }; /* at a time; less than EVENT_PERF_MAX */

/*
 * Reserves a record with max_text bytes of strings; all words 0. n_words: tracepoint_least_words() of the kind, or all.
 * Blocks while the ring is full.
 */
static inline struct event *emit_begin_words(struct ring_producer *ring, enum event_kind kind, uint16_t n_words,
					     uint64_t ts_ns, uint32_t max_text)
{
	struct event *ev;

	ev = ring_reserve(ring, sizeof(*ev) + 8 * (n_words + EVENT_PERF_MAX) + max_text);
	*ev = (struct event){
		.size = sizeof(*ev) + 8 * n_words,
		.kind = kind,
		.ts_ns = ts_ns,
		.tid = EVENT_NO_TID,
		.cpu = EVENT_NO_CPU,
		.class_id = EVENT_NO_CLASS,
		.n_words = n_words,
	};
	/* In groups, with room after the last one: for so few words a call of memset() would be slower. */
	for (unsigned i = 0; i < n_words; i += ZEROED_WORDS)
		memset(ev->words + i, 0, 8 * ZEROED_WORDS);
	return ev;
}

/* The same with all words of the kind. */
static inline struct event *emit_begin(struct ring_producer *ring, enum event_kind kind, uint64_t ts_ns,
				       uint32_t max_text)
{
	return emit_begin_words(ring, kind, tracepoint_desc(kind)->n_words, ts_ns, max_text);
}

static inline void emit_perf(struct event *ev, const uint64_t *values, unsigned n)
{
	memcpy(ev->words + ev->n_words, values, 8 * n);
	ev->n_perf = n;
	ev->size += 8 * n;
}

/* Appends a string, cut at TEXT_MAX bytes, and sets the event_str at offset in the payload. */
static inline void emit_text(struct event *ev, size_t offset, const char *text, size_t len)
{
	struct event_str s = { .offset = ev->size, .len = len < TEXT_MAX ? len : TEXT_MAX };

	memcpy((char *)ev + s.offset, text, s.len);
	memcpy((char *)ev->words + offset, &s, sizeof(s));
	ev->size += s.len;
}

static inline void emit_end(struct ring_producer *ring, struct event *ev)
{
	/* equal records have equal bytes, whatever the ring contained before */
	while (ev->size & 7)
		((char *)ev)[ev->size++] = 0;
	ring_commit(ring, ev->size);
}

/* A record that consists of a text: EVENT_NOTE, EVENT_FAILED. */
static inline void emit_note(struct ring_producer *ring, enum event_kind kind, uint64_t ts_ns, const char *text)
{
	struct event *ev = emit_begin(ring, kind, ts_ns, TEXT_MAX);

	emit_text(ev, 0, text, strlen(text));
	emit_end(ring, ev);
}

#endif
