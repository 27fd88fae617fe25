/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/native/internal.h"

#include <string.h>

#include "reader/values.h"

static struct native_stream *native(struct reader_stream *s)
{
	return (struct native_stream *)(void *)s;
}

/* Ends the packet here because it is damaged; messages.c reports it next. */
static LT_COLD enum read_status damaged(struct native_stream *s)
{
	native_give_up_packet(s, native_is_torn(s) ? NATIVE_TORN : walk_failure(&s->at.walk));
	return READ_DAMAGED;
}

/* memcmp() and memcpy() for the few bytes of a context, where calls or string instructions would be slower. */
static inline bool same_bytes(const uint8_t *a, const uint8_t *b, size_t n)
{
	size_t i = 0;

	for (; i + 8 <= n; i += 8)
		if (BITS_LOAD(uint64_t, a + i) != BITS_LOAD(uint64_t, b + i))
			return false;
	while (i < n && a[i] == b[i])
		i++;
	return i == n;
}

static inline void copy_bytes(uint8_t *to, const uint8_t *from, size_t n)
{
	uint64_t x;

	for (; n >= sizeof(x); n -= sizeof(x), to += sizeof(x), from += sizeof(x)) {
		memcpy(&x, from, sizeof(x));
		memcpy(to, &x, sizeof(x));
	}
	while (n--)
		*to++ = *from++;
}

/* Whether the CPU's last context had the same bytes, so that they need not be decoded. Its counters may differ. */
static inline bool is_cached(const struct native_stream *s, const struct native_class *c,
			     const struct context_cache *context)
{
	const struct walk *w = &s->at.walk;

	return c->compared_bytes && context->layout == s->group->stream->event_context &&
	       w->at + 8 * (uint64_t)c->context_bytes <= w->end &&
	       same_bytes(context->bytes, w->data + w->at / 8, c->compared_bytes);
}

static G_GNUC_NO_INLINE enum read_status decode_context(struct native_stream *s, struct native_class *c,
							const struct type *type, struct context_cache *context)
{
	struct walk *w = &s->at.walk;
	const uint64_t begin = w->at;

	memset(&context->values, 0, sizeof(context->values));
	context->layout = NULL;
	if (!program_run(&c->context, w, &context->values, &context->values.present, NULL) ||
	    !program_run(&c->own_context, w, &context->values, &context->values.present, NULL) || native_is_torn(s))
		return damaged(s);
	s->at.payload = w->at;
	if (c->compared_bytes) {
		context->layout = type;
		copy_bytes(context->bytes, w->data + begin / 8, c->compared_bytes);
	}
	return READ_OK;
}

enum read_status native_read_context(struct reader_stream *stream, const struct reader_class *plan,
				     struct context_cache *context)
{
	struct native_stream *s = native(stream);
	struct native_class *c = plan->code;
	const struct type *type = s->group->stream->event_context;
	struct walk *w = &s->at.walk;

	w->at = type ? type_align(s->at.body, type->align) : s->at.body;
	if (!is_cached(s, c, context))
		return decode_context(s, c, type, context);
	w->at += 8 * (uint64_t)c->context_bytes;
	s->at.payload = w->at;
	return READ_SAME;
}

enum read_status native_read_perf(struct reader_stream *stream, const struct reader_class *plan, uint64_t *values)
{
	struct native_stream *s = native(stream);
	struct native_class *c = plan->code;
	struct walk *w = &s->at.walk;
	uint32_t present = 0;

	w->at = s->at.body;
	if (!program_run(&c->perf, w, values, &present, NULL) || !program_run(&c->own_perf, w, values, &present, NULL))
		return damaged(s);
	s->at.payload = w->at;
	return READ_OK;
}

static G_GNUC_NO_INLINE bool walk_to_payload(struct native_stream *s, const struct native_class *c)
{
	struct walk *w = &s->at.walk;

	w->at = s->at.body;
	if (!walk_type(w, s->group->stream->event_context) || !walk_type(w, c->event->context))
		return false;
	s->at.payload = w->at;
	return true;
}

/* Moves the walk to the payload. */
static inline bool find_payload(struct native_stream *s, const struct native_class *c)
{
	if (!s->at.payload)
		return walk_to_payload(s, c);
	s->at.walk.at = s->at.payload;
	return true;
}

enum read_status native_read_payload(struct reader_stream *stream, const struct reader_class *plan, void *words,
				     uint32_t *present, struct event *ev)
{
	struct native_stream *s = native(stream);
	struct native_class *c = plan->code;

	if (!find_payload(s, c) || !program_run(&c->payload, &s->at.walk, words, present, ev) || native_is_torn(s))
		return damaged(s);
	s->at.end = s->at.walk.at;
	return READ_OK;
}

/* false: it does not fit into the packet or into the record. */
static bool append_part(struct native_stream *s, const struct native_class *c, enum fields_part part, struct event *ev)
{
	const struct program *p = part == FIELDS_PACKET ? &s->group->packet : &c->values[part];
	struct walk *w = &s->at.walk;
	const uint32_t begin = ev->size;
	uint32_t present = 0;
	bool fine;

	fine = program_run(p, w, NULL, &present, ev);
	values_end_part(ev, part, begin);
	return fine;
}

static bool append_parts(struct native_stream *s, const struct native_class *c, struct event *ev)
{
	struct walk *w = &s->at.walk;

	w->at = 0;
	if (!walk_type(w, s->trace->layout->packet_header) || !append_part(s, c, FIELDS_PACKET, ev))
		return false;
	w->at = s->at.body;
	for (unsigned part = FIELDS_COMMON; part < FIELDS_PARTS; part++)
		if (!append_part(s, c, part, ev))
			return false;
	return true;
}

/* Live streams have no files. */
static void set_place(const struct native_stream *s, struct ev_fields *values)
{
	if (s->at.file >= s->files->len)
		return;
	values->file = g_array_index(s->files, struct native_file, s->at.file).id;
	values->packet = s->at.packet_at;
	values->at = s->at.event_at;
}

enum read_status native_read_fields(struct reader_stream *stream, const struct reader_class *plan, struct event *ev)
{
	struct native_stream *s = native(stream);
	struct native_class *c = plan->code;
	struct walk before = s->at.walk;
	bool fine;

	if (!c->has_values)
		native_class_prepare_values(c, s->group);
	fine = append_parts(s, c, ev);
	before.steps = s->at.walk.steps; /* of the packet, for whatever reason */
	s->at.walk = before;
	set_place(s, values_of(ev));
	if ((!fine && !values_of(ev)->cut) || native_is_torn(s))
		return damaged(s);
	return READ_OK;
}

bool native_skip_event(struct native_stream *s)
{
	struct native_class *c = s->at.class;
	uint32_t present = 0;

	if (!c->has_skip)
		program_compile(&c->skip_payload, c->event->fields, NULL);
	c->has_skip = true;
	return find_payload(s, c) && program_run(&c->skip_payload, &s->at.walk, NULL, &present, NULL);
}
