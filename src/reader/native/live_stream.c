/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>

#include "base/error.h"
#include "reader/emit.h"
#include "reader/native/live_internal.h"

static struct live_stream *live_of(struct native_stream *s)
{
	return (struct live_stream *)(void *)s;
}

/* ---- packets ---- */

static void drop_packet(struct live_stream *s)
{
	if (s->packet)
		viewer_packet_free(s->packet);
	s->packet = NULL;
}

void live_stream_take_version(struct native_stream *n, struct native_trace *newest)
{
	struct native_trace *before = n->trace;

	if (before == newest)
		return;
	n->trace = newest;
	live_trace_hold(newest);
	live_trace_let_go(live_of(n)->trace, before);
	if (!newest) {
		n->group = NULL;
		return;
	}
	n->slots = g_renew(uint64_t, n->slots, newest->layout->n_slots);
	n->marked_slots = g_renew(uint64_t, n->marked_slots, newest->layout->n_slots);
}

static enum lt_status give_up(struct native_stream *n, const char *why)
{
	n->at.map.data = NULL;
	n->at.why = why;
	drop_packet(live_of(n));
	return LT_ERROR;
}

static enum lt_status take_packet(struct native_stream *n, struct packet_head *head)
{
	struct live_stream *s = live_of(n);
	struct native_cursor *c = &n->at;

	drop_packet(s);
	if (s->trace->flaw || (s->trace->is_known && !s->trace->is_declared))
		return LT_AGAIN;
	s->packet = g_queue_pop_head(&s->packets);
	if (!s->packet)
		return LT_AGAIN;
	live_stream_take_version(n, live_trace_newest(s->trace));
	c->packet_at = c->offset;
	c->offset += s->packet->len;
	c->map = (struct mapping){ .data = s->packet->bytes, .len = s->packet->len };
	walk_next_packet(&c->walk, c->map.data, 8 * (uint64_t)c->map.len, n->slots);
	if (packet_walk_head(n->trace->layout, &c->walk, head) != LT_OK) {
		give_up(n, g_intern_string(error_text()));
		error_clear();
		return LT_ERROR;
	}
	if (!packet_bytes(head, c->map.len))
		return give_up(n, NATIVE_IMPOSSIBLE_SIZE);
	c->cut = packet_bytes(head, c->map.len) > c->map.len ? "it ends early" : NULL;
	n->group = native_trace_group(n->trace, head->stream);
	n->base.group = head->stream;
	n->base.class_id = head->stream->id;
	live_recall_packet(s);
	return LT_OK;
}

/* ---- streams ---- */

void live_stream_init(struct live_stream *s, struct native_live *l, struct live_trace *t, const char *name)
{
	stream_init(&s->base.base, &t->base, &native_stream_type);
	s->base.files = g_array_new(FALSE, FALSE, sizeof(struct native_file));
	s->base.at.fd = -1;
	s->base.base.index = l->n_streams++;
	s->base.base.has_clock = true;
	s->base.base.name = g_strdup(name);
	s->live = l;
	s->heard_us = l->now_us;
	s->trace = t;
	t->n_streams++;
	t->had_streams = true;
	g_queue_init(&s->packets);
}

struct live_stream *live_stream_create(struct native_live *l, struct live_trace *t, struct viewer_stream *viewer)
{
	struct live_stream *s = g_new0(struct live_stream, 1);

	live_stream_init(s, l, t, viewer->channel);
	s->base.take_packet = take_packet;
	s->viewer = viewer;
	return s;
}

void live_stream_destroy(gpointer stream)
{
	struct live_stream *s = stream;

	drop_packet(s);
	live_stream_take_version(&s->base, NULL);
	g_queue_clear_full(&s->packets, (GDestroyNotify)viewer_packet_free);
	if (s->viewer && s->is_gone)
		viewer_stream_free(s->viewer);
	s->trace->n_streams--;
	live_trace_settle(s->live, s->trace);
	s->base.base.type->release(&s->base.base);
}

static void set_until(struct live_stream *s, uint64_t ns)
{
	if (ns <= s->until_ns)
		return;
	s->until_ns = ns;
	live_merge_hear(s);
}

void live_stream_note_time(struct live_stream *s)
{
	const struct native_trace *t = live_trace_newest(s->trace);
	uint64_t ns;

	if (s->has_beacon && t && native_clock_ns(&t->clock, s->beacon, &ns))
		set_until(s, ns);
}

static void announce_stream(struct live_stream *s)
{
	struct event *ev = reader_emit(&s->trace->base, EVENT_STREAM, 0, 0);
	struct ev_stream *p = (struct ev_stream *)(void *)ev->words;

	ev->cpu = s->base.base.cpu;
	p->id = s->base.base.index;
	p->begin_ns = s->base.base.first_packet_ns;
	emit_end(s->live->ring, ev);
	s->is_announced = true;
}

/*
 * Records of a session are in time order. If an event is older than records already written for other streams, it
 * counts as a step back in its own stream.
 */
static bool find_item(struct live_stream *s)
{
	struct reader_stream *b = &s->base.base;
	const uint64_t written_ns = s->live->last_ns;

	if (written_ns > b->last_ns) {
		b->last_ns = written_ns;
		b->begun = true;
	}
	if (!stream_find_next(b))
		return false;
	if (b->item != ITEM_EVENT)
		return true;
	if (!s->is_late && b->item_own_ns < written_ns)
		b->item_is_back = true;
	s->is_late = b->item_own_ns < written_ns;
	return true;
}

bool live_stream_is_over(const struct live_stream *s)
{
	return s->is_gone && g_queue_is_empty((GQueue *)&s->packets);
}

bool live_stream_advance(struct live_stream *s)
{
	struct reader_stream *b = &s->base.base;
	const struct packet_facts *before = &s->base.at.before;
	const bool found = find_item(s);

	if (!s->is_announced && b->cpu_state)
		announce_stream(s);
	if (found)
		return true;
	drop_packet(s);
	if (s->base.at.state == NATIVE_NEXT_PACKET)
		live_stream_take_version(&s->base, NULL);
	if (s->base.at.has_before && before->has_end)
		set_until(s, before->end_ns);
	if (!live_stream_is_over(s))
		return stream_find_loss(b, s->until_ns);
	stream_find_item(b);
	return b->item != ITEM_END;
}
