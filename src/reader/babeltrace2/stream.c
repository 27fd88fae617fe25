/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <unistd.h>

#include "base/nstime.h"
#include "reader/babeltrace2/internal.h"
#include "reader/values.h"

enum { AGAIN_WAIT_US = US_PER_MS };

static struct lib_stream *bt(struct reader_stream *s)
{
	return (struct lib_stream *)(void *)s;
}

/* ---- times and errors ---- */

bool lib_clock_ns(const bt_clock_class *clock, uint64_t value, int64_t *ns)
{
	int64_t seconds;
	uint64_t cycles;
	bool is_in_range;

	bt_current_thread_clear_error();
	bt_clock_class_get_offset(clock, &seconds, &cycles);
	is_in_range =
		bt_util_clock_cycles_to_ns_from_origin(value, bt_clock_class_get_frequency(clock), seconds, cycles,
						       ns) == BT_UTIL_CLOCK_CYCLES_TO_NS_FROM_ORIGIN_STATUS_OK;
	bt_current_thread_clear_error();
	return is_in_range;
}

/* The library uses a snapshot again, and keeps that it was once out of range (seen with 2.0.4): convert it here. */
static LT_COLD bool convert_snapshot(const bt_clock_snapshot *snapshot, int64_t *ns)
{
	return lib_clock_ns(bt_clock_snapshot_borrow_clock_class_const(snapshot), bt_clock_snapshot_get_value(snapshot),
			    ns);
}

/* false: it has no time, or one out of range. */
static bool snapshot_ns(const bt_clock_snapshot *snapshot, uint64_t *ns)
{
	int64_t value;

	*ns = 0;
	if (!snapshot)
		return false;
	if (bt_clock_snapshot_get_ns_from_origin(snapshot, &value) != BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK &&
	    !convert_snapshot(snapshot, &value))
		return false;
	*ns = value > 0 ? (uint64_t)value : 0;
	return value >= 0;
}

/* Removes addresses of the library's objects, which are of use only to its developers. */
static char *without_addresses(const char *text)
{
	GRegex *regex = g_regex_new("[:,]? ?[a-z-]*addr=0x[0-9a-f]+", G_REGEX_RAW, 0, NULL);
	char *result = g_regex_replace(regex, text, -1, 0, "", 0, NULL);

	g_regex_unref(regex);
	return result ? result : g_strdup(text);
}

char *lib_take_error(void)
{
	const bt_error *error = bt_current_thread_take_error();
	char *text = NULL;

	if (error) {
		/* The first cause is the innermost, the actual failure. */
		if (bt_error_get_cause_count(error) > 0)
			text = without_addresses(bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0)));
		bt_error_release(error);
	}
	return text ? text : g_strdup("the library gives no reason");
}

/* ---- messages ---- */

static void begin(struct lib_stream *s, const bt_message *msg)
{
	const bt_stream *stream = bt_message_stream_beginning_borrow_stream_const(msg);

	s->trace = bt_stream_borrow_trace_const(stream);
	s->class = bt_stream_borrow_class_const(stream);
	s->base.group = s->class;
	s->base.class_id = bt_stream_class_get_id(s->class);
	s->base.has_clock = bt_stream_class_borrow_default_clock_class_const(s->class) != NULL;
}

static uint64_t cpu_id_of(const bt_packet *packet)
{
	const bt_field *context = bt_packet_borrow_context_field_const(packet), *cpu_id = NULL;

	if (context)
		cpu_id = bt_field_structure_borrow_member_field_by_name_const(context, "cpu_id");
	if (!cpu_id || !bt_field_class_type_is(bt_field_get_class_type(cpu_id), BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return MESSAGE_NO_CPU;
	return bt_field_integer_unsigned_get_value(cpu_id);
}

static void convert_discarded_events(const struct lib_stream *s, const bt_message *msg, struct message *m)
{
	m->any_time = bt_message_discarded_events_get_count(msg, &m->count) != BT_PROPERTY_AVAILABILITY_AVAILABLE;
	if (m->any_time)
		m->count = 1;
	m->has_time = bt_stream_class_discarded_events_have_default_clock_snapshots(s->class) &&
		      snapshot_ns(bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(msg),
				  &m->begin_ns) &&
		      snapshot_ns(bt_message_discarded_events_borrow_end_default_clock_snapshot_const(msg), &m->end_ns);
}

static void convert_discarded_packets(const struct lib_stream *s, const bt_message *msg, struct message *m)
{
	if (bt_message_discarded_packets_get_count(msg, &m->count) != BT_PROPERTY_AVAILABILITY_AVAILABLE)
		m->count = 1;
	m->has_time =
		bt_stream_class_discarded_packets_have_default_clock_snapshots(s->class) &&
		snapshot_ns(bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(msg),
			    &m->begin_ns) &&
		snapshot_ns(bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(msg), &m->end_ns);
}

/* The time of an event is out of range: damage, reported once per packet. */
static bool convert_untimed(struct lib_stream *s, struct message *m)
{
	const bool is_first = !s->has_untimed;

	s->has_untimed = true;
	*m = (struct message){ .kind = MESSAGE_DAMAGE,
			       .count = 1,
			       .why = "events whose time is before 1970 or after the year 2262 are left out" };
	return is_first;
}

/* Converts the message to ours; false: of a kind that is not used. */
static bool convert(struct lib_stream *s, const bt_message *msg, struct message *m)
{
	memset(m, 0, sizeof(*m));
	switch (bt_message_get_type(msg)) {
	case BT_MESSAGE_TYPE_EVENT:
		m->kind = MESSAGE_EVENT;
		m->plan = reader_find_class(s->base.reader,
					    bt_event_borrow_class_const(bt_message_event_borrow_event_const(msg)));
		m->has_time = s->base.has_clock &&
			      snapshot_ns(bt_message_event_borrow_default_clock_snapshot_const(msg), &m->ns);
		if (s->base.has_clock && !m->has_time)
			return convert_untimed(s, m);
		return m->plan != NULL;
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		m->kind = MESSAGE_PACKET_BEGIN;
		m->is_first = true;
		s->has_untimed = false;
		m->cpu_id = cpu_id_of(bt_message_packet_beginning_borrow_packet_const(msg));
		m->has_time = bt_stream_class_packets_have_beginning_default_clock_snapshot(s->class) &&
			      snapshot_ns(bt_message_packet_beginning_borrow_default_clock_snapshot_const(msg), &m->ns);
		return true;
	case BT_MESSAGE_TYPE_PACKET_END:
		m->kind = MESSAGE_PACKET_END;
		m->has_time = bt_stream_class_packets_have_end_default_clock_snapshot(s->class) &&
			      snapshot_ns(bt_message_packet_end_borrow_default_clock_snapshot_const(msg), &m->ns);
		return true;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		m->kind = MESSAGE_LOST_EVENTS;
		convert_discarded_events(s, msg, m);
		return true;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		m->kind = MESSAGE_LOST_PACKETS;
		convert_discarded_packets(s, msg, m);
		return true;
	default:
		return false;
	}
}

/* ---- the queue ---- */

/* Appends the iterator's next messages to the queue; false: there are no more. */
static bool fetch(struct lib_stream *s)
{
	bt_message_array_const messages;
	uint64_t n;

	for (;;) {
		switch (bt_message_iterator_next(s->iterator, &messages, &n)) {
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
			if (s->n + n > s->capacity) {
				s->capacity = s->n + n + 64;
				s->queue = g_renew(const bt_message *, s->queue, s->capacity);
			}
			memcpy(s->queue + s->n, messages, n * sizeof(*messages));
			s->n += n;
			s->ended = n > 0 && bt_message_get_type(messages[n - 1]) == BT_MESSAGE_TYPE_STREAM_END;
			return n > 0;
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
			ring_publish(s->base.reader->ring);
			usleep(AGAIN_WAIT_US);
			break;
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
			/* the library stops there without an error */
			if (!s->ended)
				s->base.trouble = g_strdup("an event is larger than its packet");
			bt_current_thread_clear_error();
			BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(s->iterator);
			return false;
		default:
			s->base.trouble = lib_take_error();
			BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(s->iterator);
			return false;
		}
	}
}

/* Releases the messages already returned, unless a mark needs them. */
static void drop_given(struct lib_stream *s)
{
	if (s->is_marked)
		return;
	for (; s->first < s->at; s->first++)
		bt_message_put_ref(s->queue[s->first]);
	if (s->first == s->n)
		s->first = s->at = s->n = 0;
}

static bool next(struct reader_stream *stream, struct message *m)
{
	struct lib_stream *s = bt(stream);

	drop_given(s);
	for (;;) {
		if (s->at == s->n && (!s->iterator || !fetch(s)))
			return false;
		s->current = s->queue[s->at++];
		if (bt_message_get_type(s->current) == BT_MESSAGE_TYPE_STREAM_BEGINNING)
			begin(s, s->current);
		if (convert(s, s->current, m))
			return true;
	}
}

static void mark(struct reader_stream *stream)
{
	struct lib_stream *s = bt(stream);

	s->marked = s->at;
	s->is_marked = true;
}

static void rewind_to_mark(struct reader_stream *stream)
{
	struct lib_stream *s = bt(stream);

	s->at = s->marked;
	s->is_marked = s->has_untimed = false;
	s->current = s->at > s->first ? s->queue[s->at - 1] : NULL;
}

/* ---- an event's fields ---- */

static const bt_event *event_of(const struct lib_stream *s)
{
	return bt_message_event_borrow_event_const(s->current);
}

static enum read_status read_context(struct reader_stream *stream, const struct reader_class *plan,
				     struct context_cache *context)
{
	const bt_event *event = event_of(bt(stream));
	struct context_values *values = &context->values;

	memset(values, 0, sizeof(*values));
	if (plan->common_context.n)
		values->present |= lib_plan_read(&plan->common_context,
						 bt_event_borrow_common_context_field_const(event), values, NULL);
	if (plan->specific_context.n)
		values->present |= lib_plan_read(&plan->specific_context,
						 bt_event_borrow_specific_context_field_const(event), values, NULL);
	return READ_OK;
}

static enum read_status read_perf(struct reader_stream *stream, const struct reader_class *plan, uint64_t *values)
{
	const bt_event *event = event_of(bt(stream));

	if (plan->common_perf.n)
		lib_plan_read(&plan->common_perf, bt_event_borrow_common_context_field_const(event), values, NULL);
	if (plan->specific_perf.n)
		lib_plan_read(&plan->specific_perf, bt_event_borrow_specific_context_field_const(event), values, NULL);
	return READ_OK;
}

static enum read_status read_payload(struct reader_stream *stream, const struct reader_class *plan, void *words,
				     uint32_t *present, struct event *ev)
{
	if (plan->payload.n)
		*present |= lib_plan_read(&plan->payload, bt_event_borrow_payload_field_const(event_of(bt(stream))),
					  words, ev);
	return READ_OK;
}

static enum read_status read_fields(struct reader_stream *stream, const struct reader_class *plan, struct event *ev)
{
	const bt_event *event = event_of(bt(stream));
	const bt_stream_class *class = bt_event_class_borrow_stream_class_const(bt_event_borrow_class_const(event));
	const bt_field *const parts[FIELDS_PARTS] = {
		[FIELDS_PACKET] = bt_stream_class_supports_packets(class)
					  ? bt_packet_borrow_context_field_const(bt_event_borrow_packet_const(event))
					  : NULL,
		[FIELDS_COMMON] = bt_event_borrow_common_context_field_const(event),
		[FIELDS_SPECIFIC] = bt_event_borrow_specific_context_field_const(event),
		[FIELDS_PAYLOAD] = bt_event_borrow_payload_field_const(event),
	};
	bool fits = true;

	(void)plan;
	for (unsigned part = 0; part < FIELDS_PARTS && fits; part++) {
		const uint32_t begin = ev->size;

		if (!parts[part])
			continue;
		fits = lib_append_values(ev, parts[part]);
		values_end_part(ev, part, begin);
	}
	return READ_OK;
}

static void release(struct reader_stream *stream)
{
	struct lib_stream *s = bt(stream);

	for (; s->first < s->n; s->first++)
		bt_message_put_ref(s->queue[s->first]);
	g_free(s->queue);
	bt_message_iterator_put_ref(s->iterator);
	stream_clear(stream);
	g_free(s);
}

static const struct stream_type stream_type = {
	.next = next,
	.mark = mark,
	.rewind = rewind_to_mark,
	.read_context = read_context,
	.read_perf = read_perf,
	.read_payload = read_payload,
	.read_fields = read_fields,
	.release = release,
};

void lib_stream_init(struct lib_stream *s, struct reader *r)
{
	stream_init(&s->base, r, &stream_type);
}
