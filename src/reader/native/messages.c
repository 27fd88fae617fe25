/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/native/header.h"

#include <string.h>
#include <unistd.h>

/* A stream's packets as messages, in babeltrace2's order: losses, begin, events, end. */

static struct native_stream *native(struct reader_stream *s)
{
	return (struct native_stream *)(void *)s;
}

/* ---- packets ---- */

static void take_facts(struct native_stream *s, const struct packet_head *head)
{
	struct packet_facts *f = &s->at.now;
	const struct native_clock *clock = &s->trace->clock;

	*f = (struct packet_facts){
		.has_discarded = packet_has(head, PACKET_EVENTS_DISCARDED),
		.has_seq = packet_has(head, PACKET_SEQ_NUM),
		.discarded = head->values[PACKET_EVENTS_DISCARDED],
		.seq = head->values[PACKET_SEQ_NUM],
		.cpu_id = packet_has(head, PACKET_CPU_ID) ? head->values[PACKET_CPU_ID] : MESSAGE_NO_CPU,
	};
	f->has_begin = packet_has(head, PACKET_TIMESTAMP_BEGIN) &&
		       native_clock_ns(clock, head->values[PACKET_TIMESTAMP_BEGIN], &f->begin_ns);
	f->has_end = packet_has(head, PACKET_TIMESTAMP_END) &&
		     native_clock_ns(clock, head->values[PACKET_TIMESTAMP_END], &f->end_ns);
	s->at.walk.clock = head->values[PACKET_TIMESTAMP_BEGIN];
	f->last_ns = f->begin_ns;
}

/*
 * Whether the packet, .now, was also in a file read earlier: snapshots of a session overlap, and a recording may exist
 * twice. The end of the file's last packet alone is not enough: if it is wrong, all that follows would be left out.
 */
static bool is_repeated(struct native_cursor *c)
{
	const struct packet_facts *now = &c->now, *before = &c->before;

	if (c->has_before && c->file != c->read_file && before->has_end) {
		c->read_to_ns = c->has_read ? MAX(c->read_to_ns, before->end_ns) : before->end_ns;
		c->read_to_seq = c->has_read ? MAX(c->read_to_seq, before->seq) : before->seq;
		c->read_to_event_ns = c->has_read ? MAX(c->read_to_event_ns, before->last_ns) : before->last_ns;
		c->has_read = true;
	}
	c->read_file = c->file;
	if (!c->has_read || !now->has_begin || !now->has_end || now->end_ns > c->read_to_ns)
		return false;
	if (now->has_seq)
		return now->seq <= c->read_to_seq;
	return now->begin_ns < c->read_to_ns && now->begin_ns <= c->read_to_event_ns;
}

/* Starts the packet and determines where its events end. */
static void begin_packet(struct native_stream *s, const struct packet_head *head)
{
	struct native_cursor *c = &s->at;
	const uint64_t bytes_bits = 8 * (uint64_t)c->map.len;

	c->class = NULL;
	c->walk.end =
		packet_has(head, PACKET_CONTENT_SIZE) ? MIN(head->values[PACKET_CONTENT_SIZE], bytes_bits) : bytes_bits;
	if (c->is_skipped)
		c->walk.end = c->walk.at;
	c->state = NATIVE_TELL_LOST_EVENTS;
}

static void unmap_packet(struct native_stream *s)
{
	/* A packet that the mark refers to is still needed. */
	if (!s->is_marked || s->at.map.data != s->marked.map.data)
		mapping_close(&s->at.map);
	s->at.map.data = NULL;
}

static void end_packet(struct native_stream *s)
{
	s->at.before = s->at.now;
	s->at.has_before = true;
	s->at.class = NULL;
	s->at.state = NATIVE_NEXT_PACKET;
	unmap_packet(s);
}

/*
 * The first packet's counter shows that events were lost before or in it, but not how many since the recording started;
 * a later one's shows those lost since the end of the packet before.
 */
static bool report_lost_events(const struct native_cursor *c, struct message *m)
{
	const struct packet_facts *now = &c->now, *before = &c->before;

	if (!now->has_discarded)
		return false;
	if (c->has_before ? now->discarded == before->discarded : now->discarded == 0)
		return false;
	*m = (struct message){
		.kind = MESSAGE_LOST_EVENTS,
		.count = c->has_before ? now->discarded - before->discarded : 1,
		.any_time = !c->has_before,
		.has_time = now->has_end && (c->has_before ? before->has_end : now->has_begin),
		.begin_ns = c->has_before ? before->end_ns : now->begin_ns,
		.end_ns = now->end_ns,
	};
	return true;
}

static bool report_lost_packets(const struct native_cursor *c, struct message *m)
{
	const struct packet_facts *now = &c->now, *before = &c->before;

	if (!c->has_before || !now->has_seq || now->seq - before->seq <= 1)
		return false;
	*m = (struct message){
		.kind = MESSAGE_LOST_PACKETS,
		.count = now->seq - before->seq - 1,
		.has_time = before->has_end && now->has_begin,
		.begin_ns = before->end_ns,
		.end_ns = now->begin_ns,
	};
	return true;
}

/* false: there is none for now. */
static bool next_packet(struct native_stream *s)
{
	struct packet_head head;
	const enum lt_status status = s->take_packet(s, &head);

	if (status == LT_OK) {
		take_facts(s, &head);
		if (is_repeated(&s->at))
			unmap_packet(s);
		else
			begin_packet(s, &head);
	} else if (status == LT_ERROR) {
		s->at.state = NATIVE_DAMAGED;
	} else if (status == LT_END) {
		s->at.state = NATIVE_ENDED;
	}
	return status != LT_AGAIN;
}

void native_give_up_packet(struct native_stream *s, const char *why)
{
	s->at.class = NULL;
	s->at.state = NATIVE_DAMAGED;
	s->at.why = s->at.cut ? s->at.cut : why;
}

bool native_find_tear(struct native_stream *s)
{
	const struct native_cursor *c = &s->at;

	if (mapping_torn && mapping_is_torn())
		s->tear = (struct native_tear){ true, c->file, c->packet_at, c->event_at };
	return s->tear.is_set && s->tear.file == c->file && s->tear.packet_at == c->packet_at &&
	       s->tear.event_at <= c->event_at;
}

/* From its last event on. */
static void report_damage_in_packet(struct native_stream *s, struct message *m)
{
	const struct native_cursor *c = &s->at;

	g_snprintf(s->why, sizeof(s->why), "the rest of the packet at byte %" G_GUINT64_FORMAT " is left out: %s",
		   c->packet_at, c->why);
	*m = (struct message){
		.kind = MESSAGE_DAMAGE,
		.why = s->why,
		.count = 1,
		.has_time = c->now.has_end && c->now.last_ns <= c->now.end_ns,
		.begin_ns = c->now.last_ns,
		.end_ns = c->now.end_ns,
	};
}

/* Between the packets before and after it. Their sequence numbers must not count it again. */
static void report_lost_head(struct native_stream *s, struct message *m)
{
	struct native_cursor *c = &s->at;
	const bool has_begin = c->has_before && c->before.has_end;
	const uint64_t begin_ns = has_begin ? c->before.end_ns : c->resume_ns;

	g_snprintf(s->why, sizeof(s->why), "the packet at byte %" G_GUINT64_FORMAT " is left out: %s", c->packet_at,
		   c->why);
	*m = (struct message){
		.kind = MESSAGE_DAMAGE,
		.why = s->why,
		.count = 1,
		.has_time = has_begin || c->has_resume,
		.begin_ns = begin_ns,
		.end_ns = c->has_resume ? MAX(begin_ns, c->resume_ns) : begin_ns,
	};
	c->before.seq++;
	c->has_resume = false;
}

/* At the end of a file. */
static void report_missing(struct native_stream *s, struct message *m)
{
	struct index_missing *missing = &s->at.missing;
	const struct native_clock *clock = &s->trace->clock;

	if (s->at.is_gone)
		g_snprintf(s->why, sizeof(s->why), "the index lists %" G_GUINT64_FORMAT " packets, the file is missing",
			   missing->listed);
	else
		g_snprintf(s->why, sizeof(s->why),
			   "the index lists %" G_GUINT64_FORMAT " packets, the file has %" G_GUINT64_FORMAT,
			   missing->listed, missing->listed - missing->packets);
	*m = (struct message){ .kind = MESSAGE_DAMAGE, .why = s->why, .count = missing->packets };
	m->has_time = native_clock_ns(clock, missing->begin, &m->begin_ns) &&
		      native_clock_ns(clock, missing->end, &m->end_ns);
	s->at.before.seq += missing->packets;
	missing->packets = 0;
}

/* ---- events ---- */

/* Determines the end of the latest event if it was not read completely. false: it is invalid. */
static LT_COLD bool find_end(struct native_stream *s)
{
	struct native_cursor *c = &s->at;

	if (!c->end && !native_skip_event(s)) {
		native_give_up_packet(s, walk_failure(&c->walk));
		return false;
	}
	if (!c->end)
		c->end = c->walk.at;
	if (c->end == c->event_at) {
		native_give_up_packet(s, "an event takes no bits");
		return false;
	}
	return true;
}

static inline bool give_event(struct native_stream *s, struct native_class *class, struct message *m)
{
	struct native_cursor *c = &s->at;

	c->class = class;
	c->body = c->walk.at;
	c->payload = c->end = 0;
	m->kind = MESSAGE_EVENT;
	m->plan = class->plan;
	m->has_time = native_clock_ns(&s->trace->clock, c->walk.clock, &m->ns);
	if (G_UNLIKELY(!m->has_time)) {
		native_give_up_packet(s, "the time of an event is before 1970 or after the year 2262");
		return false;
	}
	c->now.last_ns = m->ns;
	return true;
}

/* Reads the next event, at .event_at, where clock is the time of the previous one; returns as next_event(). */
static LT_COLD bool next_unusual_event(struct native_stream *s, uint64_t clock, struct message *m)
{
	struct native_cursor *c = &s->at;
	struct native_class *class = NULL;
	const char *why;
	bool fits;

	c->walk.at = c->event_at;
	c->walk.clock = clock;
	why = native_read_header(s->trace, s->group, &c->walk, &class, &fits);
	if (native_is_torn(s))
		why = NATIVE_TORN;
	else if (why && fits && s->try_again) {
		c->why = why;
		c->walk.at = c->event_at;
		c->walk.clock = clock;
		c->state = NATIVE_UNDECLARED;
		return false;
	}
	if (why) {
		native_give_up_packet(s, why);
		return false;
	}
	return give_event(s, class, m);
}

/* Reads the next event of the packet; false: none, see the state. */
static inline bool next_event(struct native_stream *s, struct message *m)
{
	struct native_cursor *c = &s->at;
	const uint64_t clock = c->walk.clock;
	struct native_class *class;

	if (c->class) {
		if (G_UNLIKELY(c->end <= c->event_at) && !find_end(s))
			return false;
		c->walk.at = c->end;
		c->class = NULL;
	}
	if (G_UNLIKELY(c->walk.at >= c->walk.end)) {
		c->state = NATIVE_TELL_END;
		if (c->cut)
			native_give_up_packet(s, c->cut);
		return false;
	}
	c->event_at = c->walk.at;
	class = native_read_usual_header(s->group, &c->walk);
	if (G_UNLIKELY(!class || native_is_torn(s)))
		return next_unusual_event(s, clock, m);
	return give_event(s, class, m);
}

/* One step between the events of two packets: LT_OK: *m; LT_AGAIN: there is more; LT_END: nothing for now. */
static enum lt_status step_between(struct native_stream *s, struct message *m)
{
	struct native_cursor *c = &s->at;

	switch (c->state) {
	case NATIVE_EVENTS:
		return LT_AGAIN;
	case NATIVE_UNDECLARED:
		return s->try_again(s) ? LT_AGAIN : LT_END;
	case NATIVE_NEXT_PACKET:
		return next_packet(s) ? LT_AGAIN : LT_END;
	case NATIVE_TELL_LOST_EVENTS:
		c->state = NATIVE_TELL_LOST_PACKETS;
		return report_lost_events(c, m) ? LT_OK : LT_AGAIN;
	case NATIVE_TELL_LOST_PACKETS:
		c->state = NATIVE_TELL_BEGIN;
		return report_lost_packets(c, m) ? LT_OK : LT_AGAIN;
	case NATIVE_TELL_BEGIN:
		c->state = NATIVE_EVENTS;
		*m = (struct message){
			.kind = MESSAGE_PACKET_BEGIN,
			.has_time = c->now.has_begin,
			.ns = c->now.begin_ns,
			.cpu_id = c->now.cpu_id,
			.is_first = !c->now.has_seq || c->now.seq == 0,
		};
		return LT_OK;
	case NATIVE_DAMAGED:
		c->state = c->map.data ? NATIVE_TELL_END : NATIVE_NEXT_PACKET;
		if (c->map.data)
			report_damage_in_packet(s, m);
		else if (c->missing.packets)
			report_missing(s, m);
		else
			report_lost_head(s, m);
		return LT_OK;
	case NATIVE_TELL_END:
		*m = (struct message){
			.kind = MESSAGE_PACKET_END,
			.has_time = c->now.has_end,
			.ns = c->now.end_ns,
		};
		end_packet(s);
		return LT_OK;
	case NATIVE_ENDED:
		break;
	}
	return LT_END;
}

static bool next(struct reader_stream *stream, struct message *m);

static LT_COLD bool next_between(struct native_stream *s, struct message *m)
{
	enum lt_status status;

	do {
		status = step_between(s, m);
	} while (status == LT_AGAIN && s->at.state != NATIVE_EVENTS);
	return status == LT_AGAIN ? next(&s->base, m) : status == LT_OK;
}

static bool next(struct reader_stream *stream, struct message *m)
{
	struct native_stream *s = native(stream);

	if (G_LIKELY(s->at.state == NATIVE_EVENTS) && G_LIKELY(next_event(s, m)))
		return true;
	return next_between(s, m);
}

/* ---- looking ahead ---- */

static void mark(struct reader_stream *stream)
{
	struct native_stream *s = native(stream);

	s->marked = s->at;
	s->is_marked = true;
	memcpy(s->marked_slots, s->slots, s->trace->layout->n_slots * sizeof(*s->slots));
}

static void rewind_to_mark(struct reader_stream *stream)
{
	struct native_stream *s = native(stream);

	if (s->at.map.data && s->at.map.data != s->marked.map.data)
		mapping_close(&s->at.map);
	if (s->at.fd >= 0 && s->at.fd != s->marked.fd)
		close(s->at.fd);
	s->at = s->marked;
	s->is_marked = false;
	memcpy(s->slots, s->marked_slots, s->trace->layout->n_slots * sizeof(*s->slots));
}

static void release(struct reader_stream *stream)
{
	struct native_stream *s = native(stream);

	mapping_close(&s->at.map);
	if (s->at.fd >= 0)
		close(s->at.fd);
	for (guint i = 0; i < s->files->len; i++)
		g_free(g_array_index(s->files, struct native_file, i).path);
	g_array_free(s->files, TRUE);
	if (s->places)
		g_array_free(s->places, TRUE);
	g_free(s->slots);
	g_free(s->marked_slots);
	stream_clear(stream);
	g_free(s);
}

const struct stream_type native_stream_type = {
	.next = next,
	.mark = mark,
	.rewind = rewind_to_mark,
	.reads_twice = true,
	.read_context = native_read_context,
	.read_perf = native_read_perf,
	.read_payload = native_read_payload,
	.read_fields = native_read_fields,
	.release = release,
};
