/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/stream.h"

#include <inttypes.h>
#include <string.h>

#include "reader/common.h"

enum { READ_AHEAD_MESSAGES = 4096, LONG_READ_AHEAD_MESSAGES = 1 << 24, MESSAGES_PER_BEAT = 65536 };

void stream_init(struct reader_stream *s, struct reader *r, const struct stream_type *type)
{
	*s = (struct reader_stream){ .type = type, .reader = r, .cpu = EVENT_NO_CPU, .last_tid = EVENT_NO_TID };
}

void stream_clear(struct reader_stream *s)
{
	g_free(s->name);
	g_free(s->trouble);
}

static inline bool fetch(struct reader_stream *s)
{
	if (s->exhausted)
		return false;
	if (G_LIKELY(s->type->next(s, &s->head)))
		return s->has_head = true;
	s->exhausted = true;
	return false;
}

/* ---- packets ---- */

/* Old tracers may start a packet some µs before the end of the previous one. */
static void step_to_packet_begin(struct reader_stream *s, const struct message *m)
{
	if (!m->has_time)
		return;
	if (m->ns < s->stream_ns)
		s->has_stepped_back = true;
	s->stream_ns = m->ns;
}

static void step_to_packet_end(struct reader_stream *s, const struct message *m)
{
	if (m->has_time && m->ns > s->stream_ns)
		s->stream_ns = m->ns;
}

/* EVENT_NO_CPU: the packet has no CPU, or an invalid one. */
static uint16_t cpu_of_packet(struct reader_stream *s, const struct message *m)
{
	char why[64];

	if (m->cpu_id == MESSAGE_NO_CPU)
		return EVENT_NO_CPU;
	if (m->cpu_id < EVENT_CPU_MAX)
		return (uint16_t)m->cpu_id;
	/* without the number: the same reason for many streams is reported once */
	g_snprintf(why, sizeof(why), "its cpu_id is above %d", EVENT_CPU_MAX - 1);
	if (!s->cpu_refused)
		reader_note_trouble(s->reader, s->name ? s->name : s->reader->args.name, why);
	s->cpu_refused = true;
	return EVENT_NO_CPU;
}

static void begin_packet(struct reader_stream *s, const struct message *m)
{
	struct reader_cpu **state;

	s->cpu = cpu_of_packet(s, m);
	state = &s->reader->cpus[s->cpu < EVENT_CPU_MAX ? s->cpu : EVENT_CPU_MAX];
	if (!*state) {
		*state = g_new0(struct reader_cpu, 1);
		memset((*state)->perf, 0xff, sizeof((*state)->perf)); /* EVENT_PERF_NONE */
	}
	s->cpu_state = *state;
	if (m->has_time && !s->first_packet_ns)
		s->first_packet_ns = m->ns;
}

/* ---- losses ---- */

static void set_loss(struct reader_stream *s, struct losses *l, uint64_t count, uint64_t begin_ns, uint64_t end_ns)
{
	l->count = count + (l->pending ? l->count : 0);
	l->begin_ns = l->pending && l->begin_ns < begin_ns ? l->begin_ns : begin_ns;
	l->end_ns = end_ns > s->last_ns ? end_ns : s->last_ns;
	if (l->begin_ns > l->end_ns)
		l->begin_ns = l->end_ns;
	l->pending = true;
	l->has_gap = true;
}

/*
 * The counter of lost events is not monotonic: it may drop to 0 in one packet and then continue from its old value, and
 * decoders pass on the differences modulo 2^64. Only an excess over the highest sum so far is a loss.
 */
static void add_loss(struct reader_stream *s, const struct message *m)
{
	struct losses *l = &s->losses[m->kind == MESSAGE_LOST_EVENTS ? LOSS_EVENTS : LOSS_PACKETS];
	int64_t lost;

	if (__builtin_add_overflow(l->total, (int64_t)m->count, &l->total))
		l->total = l->reported;
	if (l->total <= l->reported)
		return;
	lost = l->total - l->reported;
	l->reported = l->total;
	set_loss(s, l, (uint64_t)lost, m->has_time ? m->begin_ns : s->last_ns, m->has_time ? m->end_ns : s->last_ns);
	l->has_gap = !m->any_time;
}

/* Sends one note per stream, as damage usually affects many packets. */
static void add_damage(struct reader_stream *s, const struct message *m)
{
	if (!s->damage_reported)
		reader_note_trouble(s->reader, s->name ? s->name : s->reader->args.name, m->why);
	s->damage_reported = true;
	set_loss(s, &s->losses[LOSS_PACKETS], m->count, m->has_time ? m->begin_ns : s->last_ns,
		 m->has_time ? m->end_ns : s->last_ns);
}

/* last: no event follows. */
static void make_loss_item(struct reader_stream *s, enum loss_kind i, bool last)
{
	const struct losses *l = &s->losses[i];
	const uint64_t begin_ns = last || l->begin_ns < s->last_ns ? s->last_ns : l->begin_ns;

	s->item_loss = i;
	if (l->has_gap && begin_ns < l->end_ns && s->cpu != EVENT_NO_CPU && reader_has_switch(s)) {
		s->item = ITEM_GAP;
		s->item_ns = begin_ns;
		return;
	}
	s->item = ITEM_LOST;
	s->item_ns = l->end_ns > s->last_ns && !last ? l->end_ns : s->last_ns;
}

/*
 * Makes a loss that the stream has reached at ns its item: events lost because a buffer was full were lost after the
 * last event of a packet and before the packet's end. A loss that is not followed by an event is placed at the last
 * event, where the records end. The time that it may have taken is an item before it.
 */
static LT_COLD bool loss_is_due(struct reader_stream *s, uint64_t ns)
{
	for (unsigned i = 0; i < LOSS_KINDS; i++) {
		if (!s->losses[i].pending || s->losses[i].end_ns > ns)
			continue;
		make_loss_item(s, i, ns == UINT64_MAX && s->begun);
		return true;
	}
	return false;
}

/* ---- the next item ---- */

/* Processes messages other than events; true: an item was found. */
static LT_COLD bool look_at_other(struct reader_stream *s, const struct message *m)
{
	switch (m->kind) {
	case MESSAGE_EVENT:
		break;
	case MESSAGE_PACKET_BEGIN:
		begin_packet(s, m);
		step_to_packet_begin(s, m);
		break;
	case MESSAGE_PACKET_END:
		step_to_packet_end(s, m);
		break;
	case MESSAGE_LOST_EVENTS:
	case MESSAGE_LOST_PACKETS:
		if (loss_is_due(s, m->has_time ? m->begin_ns : s->last_ns))
			return true;
		add_loss(s, m);
		break;
	case MESSAGE_DAMAGE:
		add_damage(s, m);
		break;
	}
	return false;
}

/* An event becomes the item unless a loss precedes it. */
static inline void look_at_event(struct reader_stream *s, const struct message *m)
{
	const uint64_t ns = m->has_time ? m->ns : s->last_ns;

	if (G_UNLIKELY(s->losses[LOSS_EVENTS].pending | s->losses[LOSS_PACKETS].pending) && loss_is_due(s, ns))
		return;
	s->item = ITEM_EVENT;
	s->item_ns = ns > s->last_ns ? ns : s->last_ns;
	s->item_own_ns = ns;
	s->item_is_back = ns < s->stream_ns || s->has_stepped_back;
}

/* The stream has reached the end of the range: after that, only losses that started before the end count. */
static LT_COLD void leave_range(struct reader_stream *s, uint64_t end_ns)
{
	s->has_head = false;
	s->exhausted = true;
	for (unsigned i = 0; i < LOSS_KINDS; i++)
		s->losses[i].pending = s->losses[i].pending && s->losses[i].begin_ns < end_ns;
}

/* What comes next, an event or a gap, is behind the range: it has no gap at its end. */
static LT_COLD void stop_at_end(struct reader_stream *s, uint64_t end_ns)
{
	leave_range(s, end_ns);
	for (unsigned i = 0; i < LOSS_KINDS; i++)
		s->losses[i].has_gap = false;
}

static inline bool find_item(struct reader_stream *s, uint64_t end_ns)
{
	s->item = ITEM_END;
	s->item_is_back = false;
	while (s->has_head || fetch(s)) {
		if (G_LIKELY(s->head.kind == MESSAGE_EVENT)) {
			look_at_event(s, &s->head);
		} else if (!look_at_other(s, &s->head)) {
			s->has_head = false;
			continue;
		}
		if (s->item_ns < end_ns)
			return true;
		stop_at_end(s, end_ns);
	}
	return false;
}

bool stream_find_next(struct reader_stream *s)
{
	s->exhausted = false;
	return find_item(s, UINT64_MAX);
}

bool stream_find_loss(struct reader_stream *s, uint64_t until_ns)
{
	return loss_is_due(s, until_ns);
}

void stream_find_item(struct reader_stream *s)
{
	const uint64_t end_ns = s->reader->args.end_ns;

	if (find_item(s, end_ns))
		return;
	leave_range(s, end_ns);
	if (loss_is_due(s, UINT64_MAX) || s->end_sent)
		return;
	s->item = ITEM_STREAM_END;
	s->item_ns = s->last_ns;
}

void stream_drop_other_item(struct reader_stream *s)
{
	if (s->item == ITEM_GAP) {
		s->losses[s->item_loss].has_gap = false;
	} else if (s->item == ITEM_LOST) {
		s->losses[s->item_loss].pending = false;
		s->losses[s->item_loss].count = 0;
	} else if (s->item == ITEM_STREAM_END) {
		s->end_sent = true;
	}
}

/* Whether the item began before begin_ns, but concerns what comes from there on. */
static bool reaches_into(const struct reader_stream *s, uint64_t begin_ns)
{
	const uint64_t end_ns = s->losses[s->item_loss].end_ns;

	return (s->item == ITEM_GAP && end_ns > begin_ns) || (s->item == ITEM_LOST && end_ns >= begin_ns);
}

void stream_skip_to(struct reader_stream *s, uint64_t begin_ns)
{
	for (unsigned n = 1;; n++) {
		stream_find_item(s);
		if (s->item == ITEM_END || s->item == ITEM_STREAM_END || s->item_ns >= begin_ns)
			break;
		if (reaches_into(s, begin_ns))
			break;
		stream_drop_item(s);
		if (n % MESSAGES_PER_BEAT == 0)
			ring_publish(s->reader->ring);
	}
	if (s->last_ns < begin_ns) {
		s->last_ns = begin_ns;
		s->begun = true;
		if (s->item == ITEM_GAP)
			s->item_ns = begin_ns;
	}
}

/* ---- looking ahead ---- */

static bool show(struct reader_stream *s, const struct message *m,
		 bool (*visit)(struct reader_stream *s, const struct message *m, void *user), void *user)
{
	if (m->kind == MESSAGE_PACKET_BEGIN && s->cpu == EVENT_NO_CPU)
		begin_packet(s, m);
	return visit(s, m, user);
}

void stream_read_ahead(struct reader_stream *s, bool is_long,
		       bool (*visit)(struct reader_stream *s, const struct message *m, void *user), void *user)
{
	const unsigned most = is_long && s->type->reads_twice ? LONG_READ_AHEAD_MESSAGES : READ_AHEAD_MESSAGES;
	struct message m;

	if (s->has_head && !show(s, &s->head, visit, user))
		return;
	if (s->exhausted)
		return;
	s->type->mark(s);
	for (unsigned n = 1; n <= most && s->type->next(s, &m) && show(s, &m, visit, user); n++)
		if (n % MESSAGES_PER_BEAT == 0)
			ring_publish(s->reader->ring);
	s->type->rewind(s);
}

bool stream_peek(struct reader_stream *s, struct message *m)
{
	s->type->mark(s);
	if (s->has_head && s->item != ITEM_EVENT) {
		*m = s->head;
		return m->kind == MESSAGE_EVENT;
	}
	if (s->exhausted)
		return false;
	while (s->type->next(s, m)) {
		if (m->kind == MESSAGE_EVENT)
			return true;
		if (m->kind != MESSAGE_PACKET_BEGIN && m->kind != MESSAGE_PACKET_END)
			return false;
	}
	return false;
}

void stream_peek_end(struct reader_stream *s)
{
	s->type->rewind(s);
}
