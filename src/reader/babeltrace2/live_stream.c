/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/babeltrace2/live_internal.h"

#include "reader/emit.h"

/* ---- traces and streams ---- */

static bool describe(struct reader *r, struct trace_desc *desc)
{
	struct live_trace *t = (struct live_trace *)(void *)r;

	return lib_describe(&t->knowledge, t->clock, desc);
}

static void visit_classes(struct reader *r, void (*visit)(struct reader *r, const void *key,
							   const struct class_desc *desc, void *user), void *user)
{
	lib_visit_classes(&((struct live_trace *)(void *)r)->knowledge, r, visit, user);
}

static const struct reader_ops trace_ops = { .describe = describe, .visit_classes = visit_classes };

static struct live_trace *trace_create(const struct live_streams *l, const bt_stream *stream)
{
	const struct reader_args args = { .name = l->url, .parts = 1, .end_ns = UINT64_MAX };
	struct live_trace *t = g_new0(struct live_trace, 1);

	reader_init(&t->base, &trace_ops, &args, l->ring);
	t->base.trace = (uint16_t)l->traces->len;
	t->base.live = true;
	lib_knowledge_init(&t->knowledge, 0);
	t->knowledge.trace = bt_stream_borrow_trace_const(stream);
	bt_trace_get_ref(t->knowledge.trace);
	t->clock = bt_stream_class_borrow_default_clock_class_const(bt_stream_borrow_class_const(stream));
	return t;
}

/* The trace of a stream that begins, announced when it is new. NULL: there are too many. */
static struct live_trace *trace_of(struct live_streams *l, const bt_stream *stream)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	struct live_trace *t;

	for (guint i = 0; i < l->traces->len; i++) {
		t = g_ptr_array_index(l->traces, i);
		if (t->knowledge.trace == trace) {
			reader_declare_classes(&t->base);
			return t;
		}
	}
	if (l->traces->len == EVENT_TRACES_MAX) {
		l->too_many = true;
		return NULL;
	}
	t = trace_create(l, stream);
	g_ptr_array_add(l->traces, t);
	reader_write_trace(&t->base);
	return t;
}

static void begin_stream(struct live_streams *l, const bt_message *msg)
{
	const bt_stream *stream = bt_message_stream_beginning_borrow_stream_const(msg);
	struct live_trace *t = trace_of(l, stream);
	struct lib_stream *s;

	if (!t)
		return;
	s = g_new0(struct lib_stream, 1);
	lib_stream_init(s, &t->base);
	s->base.index = l->streams->len;
	lib_stream_begin(s, msg);
	bt_stream_get_ref(stream);
	map64_put(&l->stream_index, (uintptr_t)stream, l->streams->len);
	g_ptr_array_add(l->bt_streams, (gpointer)stream);
	g_ptr_array_add(l->streams, s);
	l->n_open++;
}

/* NULL: of one that was left out. */
static struct lib_stream *port_of(struct live_streams *l, const bt_stream *stream)
{
	uint32_t i;

	if (l->last_bt != stream) {
		i = map64_get(&l->stream_index, (uintptr_t)stream);
		l->last_bt = stream;
		l->last = i == MAP64_NONE ? NULL : g_ptr_array_index(l->streams, i);
	}
	return l->last;
}

/* The first packet tells the stream's CPU. */
static void begin_packet(struct live_streams *l, const bt_message *msg)
{
	struct lib_stream *p = port_of(l, bt_packet_borrow_stream_const(
					    bt_message_packet_beginning_borrow_packet_const(msg)));
	const bool is_first = p && !p->base.cpu_state;
	struct message m;
	struct event *ev;

	if (!p)
		return;
	lib_stream_convert(p, msg, &m);
	stream_begin_packet(&p->base, &m);
	if (!is_first)
		return;
	ev = reader_emit(p->base.reader, EVENT_STREAM, 0, 0);
	ev->cpu = p->base.cpu;
	((struct ev_stream *)(void *)ev->words)->id = p->base.index;
	emit_end(l->ring, ev);
}

/* ---- losses ---- */

/* The stream's pending loss that ends first, not after until_ns; false if there is none. */
static bool find_loss(const struct lib_stream *p, uint64_t until_ns, enum loss_kind *kind)
{
	bool found = false;

	for (unsigned i = 0; i < LOSS_KINDS; i++) {
		if (!p->base.losses[i].pending || p->base.losses[i].end_ns > until_ns)
			continue;
		if (!found || p->base.losses[i].end_ns < p->base.losses[*kind].end_ns)
			*kind = i;
		found = true;
	}
	return found;
}

static void write_loss(struct live_streams *l, struct lib_stream *p, enum loss_kind kind, uint64_t ns)
{
	p->base.item_loss = kind;
	p->base.item_ns = l->last_ns = MAX(ns, l->last_ns);
	reader_write_loss(p->base.reader, &p->base);
	p->base.last_ns = p->base.item_ns;
	p->base.losses[kind].pending = false;
	p->base.losses[kind].count = 0;
	l->n_losses--;
}

/*
 * Writes the losses that end at or before until_ns, in their order. in_place: at
 * their end, an event follows; else the last record's time, so that they do not lie behind the last event.
 */
static void write_losses(struct live_streams *l, uint64_t until_ns, bool in_place)
{
	while (l->n_losses > 0) {
		struct lib_stream *first = NULL;
		enum loss_kind first_kind = LOSS_EVENTS, kind;

		for (guint i = 0; i < l->streams->len; i++) {
			struct lib_stream *p = g_ptr_array_index(l->streams, i);

			if (!find_loss(p, until_ns, &kind))
				continue;
			if (!first || p->base.losses[kind].end_ns < first->base.losses[first_kind].end_ns) {
				first = p;
				first_kind = kind;
			}
		}
		if (!first)
			return;
		write_loss(l, first, first_kind, in_place ? first->base.losses[first_kind].end_ns : 0);
	}
}

/* ---- events ---- */

static void say_ready(struct live_streams *l)
{
	if (l->ready)
		return;
	l->ready = true;
	emit_end(l->ring, emit_begin(l->ring, EVENT_READY, 0, 0));
}

static int by_cpu(gconstpointer a, gconstpointer b)
{
	const struct lib_stream *p = ((const struct held *)a)->port, *q = ((const struct held *)b)->port;

	if (p->base.cpu != q->base.cpu)
		return p->base.cpu < q->base.cpu ? -1 : 1;
	return p->base.index < q->base.index ? -1 : p->base.index > q->base.index;
}

/* The events of one time, ordered as those of a recording are. Stable, as a stream's own have their order. */
static void write_held(struct live_streams *l)
{
	if (l->held->len == 0)
		return;
	say_ready(l);
	write_losses(l, l->held_ns, true);
	if (l->held->len > 1)
		g_array_sort(l->held, by_cpu);
	for (guint i = 0; i < l->held->len; i++) {
		const struct held *h = &g_array_index(l->held, struct held, i);
		struct lib_stream *p = h->port;

		p->current = h->msg;
		lib_stream_convert(p, h->msg, &p->base.head);
		p->base.item_ns = l->last_ns = MAX(l->held_ns, l->last_ns);
		if (p->base.head.plan)
			reader_write_event(p->base.reader, &p->base);
		p->base.last_ns = p->base.item_ns;
		bt_message_put_ref(h->msg);
	}
	g_array_set_size(l->held, 0);
}

/* Nothing before ns will follow. */
static void move_on(struct live_streams *l, uint64_t ns)
{
	if (ns > l->held_ns)
		write_held(l);
	if (ns > l->now_ns)
		l->now_ns = ns;
}

/* A message stands where the loss begins; one that ended there is told first. */
static void take_loss(struct live_streams *l, const bt_message *msg, const bt_stream *stream,
		      const bt_clock_snapshot *begin)
{
	uint64_t begin_ns = 0;
	const bool events = bt_message_get_type(msg) == BT_MESSAGE_TYPE_DISCARDED_EVENTS;
	struct lib_stream *p = port_of(l, stream);
	const struct losses *losses;
	struct message m;
	bool was_pending;

	if (!p)
		return;
	if (!lib_snapshot_ns(begin, &begin_ns))
		begin_ns = l->now_ns;
	move_on(l, begin_ns);
	write_losses(l, begin_ns, true);
	losses = &p->base.losses[events ? LOSS_EVENTS : LOSS_PACKETS];
	was_pending = losses->pending;
	lib_stream_convert(p, msg, &m);
	stream_add_loss(&p->base, &m);
	l->n_losses += losses->pending && !was_pending;
}

static void take_event(struct live_streams *l, const bt_message *msg)
{
	const bt_stream *stream = bt_event_borrow_stream_const(bt_message_event_borrow_event_const(msg));
	struct held h = { .port = port_of(l, stream), .msg = msg };
	uint64_t ns;

	if (!h.port)
		return;
	if (!h.port->base.has_clock ||
	    !lib_snapshot_ns(bt_message_event_borrow_default_clock_snapshot_const(msg), &ns) || ns < l->now_ns)
		ns = l->now_ns;
	move_on(l, ns);
	bt_message_get_ref(msg);
	g_array_append_val(l->held, h);
	l->held_ns = ns;
}

static void end_stream(struct live_streams *l, const bt_message *msg)
{
	const bt_stream *stream = bt_message_stream_end_borrow_stream_const(msg);
	struct lib_stream *p = port_of(l, stream);
	enum loss_kind kind = LOSS_EVENTS;
	struct event *ev;

	if (!p)
		return;
	l->n_open--;
	write_held(l);
	say_ready(l);
	while (find_loss(p, UINT64_MAX, &kind))
		write_loss(l, p, kind, 0);
	ev = reader_emit(p->base.reader, EVENT_STREAM_END, l->last_ns, 0);
	ev->cpu = p->base.cpu;
	((struct ev_stream_end *)(void *)ev->words)->id = p->base.index;
	emit_end(l->ring, ev);
}

void live_take_message(struct live_streams *l, const bt_message *msg)
{
	uint64_t ns;

	switch (bt_message_get_type(msg)) {
	case BT_MESSAGE_TYPE_EVENT:
		take_event(l, msg);
		break;
	case BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY:
		lib_snapshot_ns(bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(msg), &ns);
		move_on(l, ns);
		break;
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		begin_stream(l, msg);
		break;
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		begin_packet(l, msg);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		take_loss(l, msg, bt_message_discarded_events_borrow_stream_const(msg),
			  bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(msg));
		break;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		take_loss(l, msg, bt_message_discarded_packets_borrow_stream_const(msg),
			  bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(msg));
		break;
	case BT_MESSAGE_TYPE_STREAM_END:
		end_stream(l, msg);
		break;
	default:
		break;
	}
}

void live_tell_time(struct live_streams *l)
{
	if (l->held->len > 0 || l->now_ns <= l->last_ns)
		return;
	say_ready(l);
	write_losses(l, l->now_ns, false);
	l->last_ns = l->now_ns;
	emit_end(l->ring, emit_begin(l->ring, EVENT_BEACON, l->now_ns, 0));
}

void live_settle(struct live_streams *l)
{
	write_held(l);
	say_ready(l);
	write_losses(l, l->now_ns, false);
	live_tell_time(l);
}

void live_streams_init(struct live_streams *l, const char *url, struct ring_producer *ring)
{
	*l = (struct live_streams){ .ring = ring, .url = url };
	l->traces = g_ptr_array_new();
	l->streams = g_ptr_array_new();
	l->bt_streams = g_ptr_array_new();
	l->held = g_array_new(FALSE, FALSE, sizeof(struct held));
}
