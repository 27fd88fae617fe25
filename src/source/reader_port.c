/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/reader_internal.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { AGAIN_WAIT_US = 1000 };

uint64_t snapshot_ns(const bt_clock_snapshot *snapshot, uint64_t fallback_ns)
{
	int64_t ns;

	if (!snapshot || bt_clock_snapshot_get_ns_from_origin(snapshot, &ns) !=
				 BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK) {
		bt_current_thread_clear_error();
		return fallback_ns;
	}
	return ns > 0 ? (uint64_t)ns : 0;
}

uint64_t message_event_ns(const struct port *p, const bt_message *msg, uint64_t fallback_ns)
{
	if (!p->has_clock)
		return fallback_ns;
	return snapshot_ns(bt_message_event_borrow_default_clock_snapshot_const(msg), fallback_ns);
}

/* The library's texts name addresses of its objects: of no use to anybody but its developers. */
static char *without_addresses(const char *text)
{
	GRegex *regex = g_regex_new("[:,]? ?[a-z-]*addr=0x[0-9a-f]+", G_REGEX_RAW, 0, NULL);
	char *result = g_regex_replace(regex, text, -1, 0, "", 0, NULL);

	g_regex_unref(regex);
	return result ? result : g_strdup(text);
}

char *reader_take_error(void)
{
	const bt_error *error = bt_current_thread_take_error();
	char *text = NULL;

	if (error) {
		/* The first cause is the innermost: what really went wrong. */
		if (bt_error_get_cause_count(error) > 0)
			text = without_addresses(
				bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0)));
		bt_error_release(error);
	}
	return text ? text : g_strdup("the library gives no reason");
}

/* Appends the iterator's next messages to the queue; false when there are none. */
static bool fetch(struct port *p)
{
	bt_message_array_const messages;
	uint64_t n;

	if (p->exhausted)
		return false;
	for (;;) {
		switch (bt_message_iterator_next(p->iterator, &messages, &n)) {
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
			if (p->count == 0)
				p->head = 0;
			if (p->head + p->count + n > p->capacity) {
				p->capacity = p->head + p->count + n + 64;
				p->queue = g_renew(const bt_message *, p->queue, p->capacity);
			}
			memcpy(p->queue + p->head + p->count, messages, n * sizeof(*messages));
			p->count += n;
			p->ended = n > 0 &&
				   bt_message_get_type(messages[n - 1]) == BT_MESSAGE_TYPE_STREAM_END;
			return n > 0;
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
			ring_publish(p->reader->ring);
			usleep(AGAIN_WAIT_US);
			break;
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
			p->exhausted = true;
			/* the library stops there and does not call it an error */
			if (!p->ended)
				p->trouble = g_strdup("an event is larger than its packet");
			bt_current_thread_clear_error();
			return false;
		default:
			p->exhausted = true;
			p->trouble = reader_take_error();
			return false;
		}
	}
}

static void pop_message(struct port *p)
{
	bt_message_put_ref(p->queue[p->head]);
	p->head++;
	p->count--;
}

void port_begin_stream(struct port *p, const bt_message *msg)
{
	const bt_stream *stream = bt_message_stream_beginning_borrow_stream_const(msg);

	p->stream_class = bt_stream_borrow_class_const(stream);
	p->stream_id = p->index;
	p->has_clock = bt_stream_class_borrow_default_clock_class_const(p->stream_class) != NULL;
}

/* Old tracers may begin a packet some µs before the end of the last one. */
static void step_to_packet_begin(struct port *p, const bt_message *msg)
{
	uint64_t ns;

	if (!bt_stream_class_packets_have_beginning_default_clock_snapshot(p->stream_class))
		return;
	ns = snapshot_ns(bt_message_packet_beginning_borrow_default_clock_snapshot_const(msg), p->stream_ns);
	if (ns < p->stream_ns)
		p->step_ns = p->stream_ns - ns;
	p->stream_ns = ns;
}

static void step_to_packet_end(struct port *p, const bt_message *msg)
{
	uint64_t ns;

	if (!bt_stream_class_packets_have_end_default_clock_snapshot(p->stream_class))
		return;
	ns = snapshot_ns(bt_message_packet_end_borrow_default_clock_snapshot_const(msg), p->stream_ns);
	if (ns > p->stream_ns)
		p->stream_ns = ns;
}

/* EVENT_NO_CPU: the packet names none, or one that makes no sense. */
static uint16_t cpu_of_packet(struct port *p, const bt_packet *packet)
{
	const bt_field *context = bt_packet_borrow_context_field_const(packet), *cpu_id = NULL;
	char why[64];

	if (context)
		cpu_id = bt_field_structure_borrow_member_field_by_name_const(context, "cpu_id");
	if (!cpu_id)
		return EVENT_NO_CPU;
	if (!bt_field_class_type_is(bt_field_get_class_type(cpu_id), BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		g_strlcpy(why, "cpu_id is not an unsigned integer", sizeof(why));
	else if (bt_field_integer_unsigned_get_value(cpu_id) < EVENT_CPU_MAX)
		return bt_field_integer_unsigned_get_value(cpu_id);
	else
		g_snprintf(why, sizeof(why), "cpu_id %" PRIu64 " is above %d",
			   bt_field_integer_unsigned_get_value(cpu_id), EVENT_CPU_MAX - 1);
	if (!p->cpu_refused)
		reader_note_trouble(p->reader, p->name ? p->name : p->reader->args.name, why);
	p->cpu_refused = true;
	return EVENT_NO_CPU;
}

void port_begin_packet(struct port *p, const bt_message *msg)
{
	p->cpu = cpu_of_packet(p, bt_message_packet_beginning_borrow_packet_const(msg));
	p->cpu_state = p->reader->cpus[p->cpu < EVENT_CPU_MAX ? p->cpu : EVENT_CPU_MAX];
	if (!p->cpu_state) {
		p->cpu_state = g_new0(struct cpu_state, 1);
		memset(p->cpu_state->perf, 0xff, sizeof(p->cpu_state->perf)); /* EVENT_PERF_NONE */
		p->reader->cpus[p->cpu < EVENT_CPU_MAX ? p->cpu : EVENT_CPU_MAX] = p->cpu_state;
	}
}

/* A message about lost events or packets: how many, between when and when. */
struct discarded {
	uint64_t count;
	uint64_t begin_ns, end_ns;
};

static struct discarded read_discarded_events(const struct port *p, const bt_message *msg)
{
	struct discarded d = { 1, p->last_ns, p->last_ns };

	if (bt_message_discarded_events_get_count(msg, &d.count) != BT_PROPERTY_AVAILABILITY_AVAILABLE)
		d.count = 1;
	if (bt_stream_class_discarded_events_have_default_clock_snapshots(p->stream_class)) {
		d.begin_ns = snapshot_ns(
			bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(msg), p->last_ns);
		d.end_ns = snapshot_ns(
			bt_message_discarded_events_borrow_end_default_clock_snapshot_const(msg), p->last_ns);
	}
	return d;
}

static struct discarded read_discarded_packets(const struct port *p, const bt_message *msg)
{
	struct discarded d = { 1, p->last_ns, p->last_ns };

	if (bt_message_discarded_packets_get_count(msg, &d.count) != BT_PROPERTY_AVAILABILITY_AVAILABLE)
		d.count = 1;
	if (bt_stream_class_discarded_packets_have_default_clock_snapshots(p->stream_class)) {
		d.begin_ns = snapshot_ns(
			bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(msg), p->last_ns);
		d.end_ns = snapshot_ns(
			bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(msg), p->last_ns);
	}
	return d;
}

/*
 * The counter of lost events is not monotonic: it may fall to 0 in one packet
 * and go on where it was, and the library gives the differences modulo 2^64.
 * So only what goes beyond the highest sum so far is a loss.
 */
static void add_loss(struct port *p, enum loss_kind kind, const struct discarded *d)
{
	struct losses *l = &p->losses[kind];

	if (__builtin_add_overflow(l->total, (int64_t)d->count, &l->total))
		l->total = l->reported;
	if (l->total <= l->reported)
		return;
	l->count = l->total - l->reported + (l->pending ? l->count : 0);
	l->reported = l->total;
	l->begin_ns = l->pending && l->begin_ns < d->begin_ns ? l->begin_ns : d->begin_ns;
	l->end_ns = d->end_ns > p->last_ns ? d->end_ns : p->last_ns;
	if (l->begin_ns > l->end_ns)
		l->begin_ns = l->end_ns;
	l->pending = true;
}

void port_add_loss(struct port *p, const bt_message *msg)
{
	const bool events = bt_message_get_type(msg) == BT_MESSAGE_TYPE_DISCARDED_EVENTS;
	const struct discarded d = events ? read_discarded_events(p, msg) : read_discarded_packets(p, msg);

	add_loss(p, events ? LOSS_EVENTS : LOSS_PACKETS, &d);
}

/*
 * A loss that the stream has reached at ns becomes its item: what a full
 * buffer lost was lost behind the last event of a packet and before its end.
 * One that no event follows stands at the last event, as the record ends there.
 */
static bool loss_is_due(struct port *p, uint64_t ns)
{
	const bool last = ns == UINT64_MAX && p->begun;

	for (unsigned i = 0; i < LOSS_KINDS; i++) {
		if (!p->losses[i].pending || p->losses[i].end_ns > ns)
			continue;
		p->item = ITEM_LOST;
		p->item_loss = i;
		p->item_ns = p->losses[i].end_ns > p->last_ns && !last ? p->losses[i].end_ns : p->last_ns;
		return true;
	}
	return false;
}

/* Handles what is no event; true when an item was found. */
static bool look_at_message(struct port *p, const bt_message *msg)
{
	struct discarded d;
	uint64_t ns;

	switch (bt_message_get_type(msg)) {
	case BT_MESSAGE_TYPE_EVENT:
		ns = message_event_ns(p, msg, p->last_ns);
		if (loss_is_due(p, ns))
			return true;
		p->item = ITEM_EVENT;
		p->item_ns = ns > p->last_ns ? ns : p->last_ns;
		p->item_own_ns = ns;
		p->item_back_ns = ns < p->stream_ns ? p->stream_ns - ns : p->step_ns;
		return true;
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		port_begin_stream(p, msg);
		break;
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		port_begin_packet(p, msg);
		step_to_packet_begin(p, msg);
		break;
	case BT_MESSAGE_TYPE_PACKET_END:
		step_to_packet_end(p, msg);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		d = read_discarded_events(p, msg);
		if (loss_is_due(p, d.begin_ns))
			return true;
		add_loss(p, LOSS_EVENTS, &d);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		d = read_discarded_packets(p, msg);
		if (loss_is_due(p, d.begin_ns))
			return true;
		add_loss(p, LOSS_PACKETS, &d);
		break;
	default:
		break;
	}
	return false;
}

/* The stream has come to the end of the range: of what is behind only losses count that began before. */
static void leave_range(struct port *p, uint64_t end_ns)
{
	port_drop_queue(p);
	p->exhausted = true;
	for (unsigned i = 0; i < LOSS_KINDS; i++)
		p->losses[i].pending = p->losses[i].pending && p->losses[i].begin_ns < end_ns;
}

void port_find_item(struct port *p)
{
	const uint64_t end_ns = p->reader->args.range.end_ns;

	p->item = ITEM_END;
	p->item_back_ns = 0;
	while (p->count > 0 || fetch(p)) {
		if (!look_at_message(p, p->queue[p->head])) {
			pop_message(p);
			continue;
		}
		if (p->item_ns < end_ns)
			return;
		leave_range(p, end_ns);
	}
	leave_range(p, end_ns);
	if (loss_is_due(p, UINT64_MAX) || p->end_sent)
		return;
	p->item = ITEM_STREAM_END;
	p->item_ns = p->last_ns;
}

void port_drop_item(struct port *p)
{
	p->last_ns = p->item_ns;
	p->begun = true;
	if (p->item == ITEM_EVENT) {
		p->stream_ns = p->item_own_ns;
		p->step_ns = 0;
		pop_message(p);
	} else if (p->item == ITEM_LOST) {
		p->losses[p->item_loss].pending = false;
		p->losses[p->item_loss].count = 0;
	} else if (p->item == ITEM_STREAM_END) {
		p->end_sent = true;
	}
}

void port_skip_to(struct port *p, uint64_t begin_ns)
{
	enum { SKIPPED_PER_BEAT = 65536 };

	for (unsigned n = 1;; n++) {
		port_find_item(p);
		if (p->item == ITEM_END || p->item == ITEM_STREAM_END || p->item_ns >= begin_ns)
			break;
		if (p->item == ITEM_LOST && p->losses[p->item_loss].end_ns >= begin_ns)
			break;
		port_drop_item(p);
		if (n % SKIPPED_PER_BEAT == 0)
			ring_publish(p->reader->ring);
	}
	if (p->last_ns < begin_ns) {
		p->last_ns = begin_ns;
		p->begun = true;
	}
}

void port_read_ahead(struct port *p, bool (*visit)(struct port *p, const bt_message *msg, void *user), void *user)
{
	for (unsigned i = 0; i < READ_AHEAD_MESSAGES; i++) {
		const bt_message *msg;

		if (i >= p->count && !fetch(p))
			return;
		msg = p->queue[p->head + i];
		if (bt_message_get_type(msg) == BT_MESSAGE_TYPE_STREAM_BEGINNING)
			port_begin_stream(p, msg);
		else if (bt_message_get_type(msg) == BT_MESSAGE_TYPE_PACKET_BEGINNING && p->cpu == EVENT_NO_CPU)
			port_begin_packet(p, msg);
		if (!visit(p, msg, user))
			return;
	}
}

const bt_message *port_peek_behind(struct port *p)
{
	for (unsigned i = p->item == ITEM_EVENT ? 1 : 0;; i++) {
		if (i >= p->count && !fetch(p))
			return NULL;
		switch (bt_message_get_type(p->queue[p->head + i])) {
		case BT_MESSAGE_TYPE_EVENT:
			return p->queue[p->head + i];
		case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
			return NULL;
		default:
			break;
		}
	}
}

void port_drop_queue(struct port *p)
{
	while (p->count > 0)
		pop_message(p);
}

void port_release(struct port *p)
{
	port_drop_queue(p);
	g_free(p->queue);
	bt_message_iterator_put_ref(p->iterator);
	g_free(p->name);
	g_free(p->trouble);
}
