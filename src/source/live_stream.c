/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/live_internal.h"

#include "source/emit.h"

/* ---- traces and streams ---- */

static struct reader *trace_create(const struct live_streams *l, uint16_t number)
{
	struct reader *r = g_new0(struct reader, 1);

	r->ring = l->ring;
	r->args = (struct reader_args){ .name = l->url, .parts = 1, .range = slice_all };
	r->classes = g_ptr_array_new();
	r->contexts = g_new0(struct context_slot, CONTEXT_SLOTS);
	r->trace = number;
	r->live = true;
	return r;
}

/* The trace of a stream that begins, announced when it is new. NULL: there are too many. */
static struct reader *trace_of(struct live_streams *l, const bt_stream *stream)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	struct reader *r;
	guint i;

	if (g_ptr_array_find(l->bt_traces, trace, &i)) {
		r = g_ptr_array_index(l->traces, i);
		reader_declare_classes(r, trace);
		return r;
	}
	if (l->traces->len == EVENT_TRACES_MAX) {
		l->too_many = true;
		return NULL;
	}
	r = trace_create(l, l->traces->len);
	bt_trace_get_ref(trace);
	g_ptr_array_add(l->bt_traces, (gpointer)trace);
	g_ptr_array_add(l->traces, r);
	reader_write_trace(r, trace,
			   bt_stream_class_borrow_default_clock_class_const(bt_stream_borrow_class_const(stream)));
	return r;
}

static void begin_stream(struct live_streams *l, const bt_message *msg)
{
	const bt_stream *stream = bt_message_stream_beginning_borrow_stream_const(msg);
	struct reader *r = trace_of(l, stream);
	struct port *p;

	if (!r)
		return;
	p = g_new0(struct port, 1);
	p->reader = r;
	p->index = l->streams->len;
	p->cpu = EVENT_NO_CPU;
	p->last_tid = EVENT_NO_TID;
	p->queue = g_new0(const bt_message *, 1);
	port_begin_stream(p, msg);
	bt_stream_get_ref(stream);
	map64_put(&l->stream_index, (uintptr_t)stream, l->streams->len);
	g_ptr_array_add(l->bt_streams, (gpointer)stream);
	g_ptr_array_add(l->streams, p);
	l->n_open++;
}

/* NULL: of one that was left out. */
static struct port *port_of(struct live_streams *l, const bt_stream *stream)
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
	struct port *p = port_of(l, bt_packet_borrow_stream_const(
					    bt_message_packet_beginning_borrow_packet_const(msg)));
	const bool is_first = p && !p->cpu_state;
	struct event *ev;

	if (!p)
		return;
	port_begin_packet(p, msg);
	if (!is_first)
		return;
	ev = reader_emit(p->reader, EVENT_STREAM, 0, 0);
	ev->cpu = p->cpu;
	((struct ev_stream *)(void *)ev->words)->id = p->stream_id;
	emit_end(l->ring, ev);
}

/* ---- losses ---- */

/* The stream's pending loss that ends first, not after until_ns; false if there is none. */
static bool find_loss(const struct port *p, uint64_t until_ns, enum loss_kind *kind)
{
	bool found = false;

	for (unsigned i = 0; i < LOSS_KINDS; i++) {
		if (!p->losses[i].pending || p->losses[i].end_ns > until_ns)
			continue;
		if (!found || p->losses[i].end_ns < p->losses[*kind].end_ns)
			*kind = i;
		found = true;
	}
	return found;
}

static void write_loss(struct live_streams *l, struct port *p, enum loss_kind kind, uint64_t ns)
{
	p->item_loss = kind;
	p->item_ns = l->last_ns = MAX(ns, l->last_ns);
	reader_write_loss(p->reader, p);
	p->last_ns = p->item_ns;
	p->losses[kind].pending = false;
	p->losses[kind].count = 0;
	l->n_losses--;
}

/*
 * Writes the losses that end at or before until_ns, in their order. in_place: at
 * their end, an event follows; else the last record's time, so that they do not lie behind the last event.
 */
static void write_losses(struct live_streams *l, uint64_t until_ns, bool in_place)
{
	while (l->n_losses > 0) {
		struct port *first = NULL;
		enum loss_kind first_kind = LOSS_EVENTS, kind;

		for (guint i = 0; i < l->streams->len; i++) {
			struct port *p = g_ptr_array_index(l->streams, i);

			if (!find_loss(p, until_ns, &kind))
				continue;
			if (!first || p->losses[kind].end_ns < first->losses[first_kind].end_ns) {
				first = p;
				first_kind = kind;
			}
		}
		if (!first)
			return;
		write_loss(l, first, first_kind, in_place ? first->losses[first_kind].end_ns : 0);
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
	const struct port *p = ((const struct held *)a)->port, *q = ((const struct held *)b)->port;

	if (p->cpu != q->cpu)
		return p->cpu < q->cpu ? -1 : 1;
	return p->index < q->index ? -1 : p->index > q->index;
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
		struct port *p = h->port;

		p->queue[0] = h->msg;
		p->item_ns = l->last_ns = MAX(l->held_ns, l->last_ns);
		reader_write_event(p->reader, p);
		p->last_ns = p->item_ns;
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
	const uint64_t begin_ns = snapshot_ns(begin, l->now_ns);
	const bool events = bt_message_get_type(msg) == BT_MESSAGE_TYPE_DISCARDED_EVENTS;
	struct port *p = port_of(l, stream);
	const struct losses *losses;
	bool was_pending;

	if (!p)
		return;
	move_on(l, begin_ns);
	write_losses(l, begin_ns, true);
	losses = &p->losses[events ? LOSS_EVENTS : LOSS_PACKETS];
	was_pending = losses->pending;
	port_add_loss(p, msg);
	l->n_losses += losses->pending && !was_pending;
}

static void take_event(struct live_streams *l, const bt_message *msg)
{
	const bt_stream *stream = bt_event_borrow_stream_const(bt_message_event_borrow_event_const(msg));
	struct held h = { .port = port_of(l, stream), .msg = msg };
	uint64_t ns;

	if (!h.port)
		return;
	ns = MAX(message_event_ns(h.port, msg, l->now_ns), l->now_ns);
	move_on(l, ns);
	bt_message_get_ref(msg);
	g_array_append_val(l->held, h);
	l->held_ns = ns;
}

static void end_stream(struct live_streams *l, const bt_message *msg)
{
	const bt_stream *stream = bt_message_stream_end_borrow_stream_const(msg);
	struct port *p = port_of(l, stream);
	enum loss_kind kind = LOSS_EVENTS;
	struct event *ev;

	if (!p)
		return;
	l->n_open--;
	write_held(l);
	say_ready(l);
	while (find_loss(p, UINT64_MAX, &kind))
		write_loss(l, p, kind, 0);
	ev = reader_emit(p->reader, EVENT_STREAM_END, l->last_ns, 0);
	ev->cpu = p->cpu;
	((struct ev_stream_end *)(void *)ev->words)->id = p->stream_id;
	emit_end(l->ring, ev);
}

void live_take_message(struct live_streams *l, const bt_message *msg)
{
	switch (bt_message_get_type(msg)) {
	case BT_MESSAGE_TYPE_EVENT:
		take_event(l, msg);
		break;
	case BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY:
		move_on(l, snapshot_ns(bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(msg), 0));
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
	l->bt_traces = g_ptr_array_new();
	l->streams = g_ptr_array_new();
	l->bt_streams = g_ptr_array_new();
	l->held = g_array_new(FALSE, FALSE, sizeof(struct held));
}
