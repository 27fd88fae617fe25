/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "feed/cut_internal.h"

#include <string.h>

#include "base/error.h"

/*
 * Fewer bytes than an event takes on average with any tracer: they limit the marks for a packet, but not for a small
 * one.
 */
enum { EVENT_BYTES_MIN = 8, EVENTS_ANYWAY = 1 << 16 };

void cutter_init(struct cutter *c, const struct layout *l)
{
	memset(c, 0, sizeof(*c));
	c->layout = l;
	c->marks = g_array_new(FALSE, FALSE, sizeof(struct cut_mark));
	c->chosen = g_array_new(FALSE, FALSE, sizeof(guint));
	c->out = g_byte_array_new();
}

void cutter_release(struct cutter *c)
{
	g_array_free(c->marks, TRUE);
	g_array_free(c->chosen, TRUE);
	g_byte_array_free(c->out, TRUE);
}

void cutter_begin_walk(const struct cutter *c, struct walk *w, uint64_t content_bits)
{
	walk_init(w, c->layout, c->data, content_bits);
	w->at = c->head.events_at;
	w->clock = c->head.values[PACKET_TIMESTAMP_BEGIN];
	w->spent = c->steps_spent;
}

void cutter_end_walk(struct cutter *c, struct walk *w)
{
	c->steps_spent = walk_spent(w);
	walk_release(w);
}

/* The next event. LT_ERROR: it cannot be stepped over. */
static enum lt_status find_event(const struct cutter *c, struct walk *w, struct cut_mark *m)
{
	const struct layout_event *event = NULL;

	m->at = walk_event_begin(w, c->head.stream);
	if (!walk_event(w, c->head.stream, &event) || w->at <= m->at)
		return error_set("event %u at byte %" G_GUINT64_FORMAT " cannot be decoded", c->marks->len, m->at / 8);
	m->clock = w->clock;
	m->end = w->at;
	return LT_OK;
}

/*
 * Finds the events. LT_ERROR: one could not be stepped over, or they are too many; the marks are those before it, and
 * *end is the end of the last of them.
 */
static enum lt_status find_events(struct cutter *c, uint64_t content_bits, uint64_t *end)
{
	const uint64_t most = MAX(content_bits / 8 / EVENT_BYTES_MIN, EVENTS_ANYWAY);
	enum lt_status status = LT_OK;
	struct cut_mark m;
	struct walk w;

	cutter_begin_walk(c, &w, content_bits);
	*end = w.at;
	while (!status && w.at < w.end) {
		status = c->marks->len < most ? find_event(c, &w, &m) : error_set("it has too many events");
		if (status)
			break;
		*end = m.end;
		g_array_append_val(c->marks, m);
	}
	cutter_end_walk(c, &w);
	return status;
}

static void count_packet(struct cutter *c, uint64_t seq, uint64_t discarded)
{
	if (!c->has_packet) {
		c->seq = seq;
		c->discarded = discarded;
	} else if (seq > c->recorded_seq + 1) {
		c->seq += seq - c->recorded_seq - 1;
	}
	c->recorded_seq = seq;
	c->has_packet = true;
}

void cutter_skip(struct cutter *c, uint64_t seq, uint64_t discarded)
{
	count_packet(c, seq, discarded);
	c->discarded = discarded;
}

/* In bits, as it says itself. size: its bytes. */
static uint64_t content_of_packet(const struct cutter *c, size_t size)
{
	return packet_has(&c->head, PACKET_CONTENT_SIZE) ? c->head.values[PACKET_CONTENT_SIZE] : 8 * (uint64_t)size;
}

/* The time of the packet's latest event, or its start. */
static uint64_t latest_clock(const struct cutter *c)
{
	uint64_t latest = c->head.values[PACKET_TIMESTAMP_BEGIN];

	for (guint i = 0; i < c->marks->len; i++)
		latest = MAX(latest, cut_mark(c, i)->clock);
	return latest;
}

void cutter_extend(struct cutter *c, uint64_t limit)
{
	uint64_t *end = &c->head.values[PACKET_TIMESTAMP_END];

	*end = MAX(*end, MIN(latest_clock(c), limit));
}

/* lttng-crash leaves the end of a packet that was still open at 0: it ends with its latest event. */
static void find_unknown_end(struct cutter *c)
{
	if (!c->head.values[PACKET_TIMESTAMP_END])
		c->head.values[PACKET_TIMESTAMP_END] = latest_clock(c);
}

/* The packet is truncated: it ends with its last complete event. */
static void keep_complete_events(struct cutter *c)
{
	find_events(c, MIN(content_of_packet(c, c->size), 8 * (uint64_t)c->size), &c->content_bits);
	error_clear();
	find_unknown_end(c);
	c->head.values[PACKET_TIMESTAMP_END] = MIN(latest_clock(c), c->head.values[PACKET_TIMESTAMP_END]);
}

enum lt_status cutter_begin(struct cutter *c, const uint8_t *data, size_t size)
{
	uint64_t end, content;
	enum lt_status status;

	g_array_set_size(c->marks, 0);
	g_array_set_size(c->chosen, 0);
	c->data = NULL;
	c->next = 0;
	c->begun = c->whole = false;
	if (packet_read_head(c->layout, data, size, &c->head))
		return LT_ERROR;
	c->data = data;
	c->size = size;
	content = content_of_packet(c, size);
	count_packet(c, c->head.values[PACKET_SEQ_NUM], c->head.values[PACKET_EVENTS_DISCARDED]);
	if (MAX(content, c->head.values[PACKET_PACKET_SIZE]) > 8 * (uint64_t)size) {
		keep_complete_events(c);
		return LT_END;
	}
	c->content_bits = content;
	status = find_events(c, content, &end);
	find_unknown_end(c);
	if (!status && c->marks->len && cut_mark(c, 0)->at % 8)
		status = error_set("events are not aligned to bytes");
	if (!status)
		return LT_OK;
	g_array_set_size(c->marks, 0);
	c->whole = true;
	return LT_AGAIN;
}

/* Header, context and the bytes of events first to behind - 1. */
static void put_bytes(struct cutter *c, guint first, guint behind)
{
	uint64_t from, to;

	g_byte_array_set_size(c->out, 0);
	if (c->whole || (!first && behind == c->marks->len && c->content_bits == c->head.values[PACKET_CONTENT_SIZE])) {
		g_byte_array_append(c->out, c->data, (guint)c->size);
		return;
	}
	if (first == behind) {
		g_byte_array_append(c->out, c->data, (guint)((c->head.events_at + 7) / 8));
		return;
	}
	g_byte_array_append(c->out, c->data, (guint)(cut_mark(c, 0)->at / 8));
	from = cut_mark(c, first)->at / 8;
	to = (cut_mark(c, behind - 1)->end + 7) / 8;
	g_byte_array_append(c->out, c->data + from, (guint)(to - from));
}

/* Size in bits of events first to behind - 1 with header and context. */
static uint64_t content_of(const struct cutter *c, guint first, guint behind)
{
	if (first == behind)
		return c->head.events_at;
	return cut_mark(c, behind - 1)->end - cut_mark(c, first)->at + cut_mark(c, 0)->at;
}

void cutter_label(struct cutter *c, struct cut_piece *piece, bool is_last)
{
	piece->end = MAX(piece->end, piece->begin);
	piece->discarded = is_last ? c->head.values[PACKET_EVENTS_DISCARDED] : c->discarded;
	piece->seq = c->seq++;
	piece->data = c->out->data;
	piece->size = c->out->len;
	packet_set(&c->head, piece->data, PACKET_TIMESTAMP_BEGIN, piece->begin);
	packet_set(&c->head, piece->data, PACKET_TIMESTAMP_END, piece->end);
	packet_set(&c->head, piece->data, PACKET_CONTENT_SIZE, piece->content_bits);
	packet_set(&c->head, piece->data, PACKET_PACKET_SIZE, 8 * (uint64_t)piece->size);
	packet_set(&c->head, piece->data, PACKET_SEQ_NUM, piece->seq);
	packet_set(&c->head, piece->data, PACKET_EVENTS_DISCARDED, piece->discarded);
	c->begun = true;
	c->told = piece->end;
	c->discarded = piece->discarded;
}

static void make_piece(struct cutter *c, guint behind, uint64_t end, struct cut_piece *piece)
{
	const uint64_t *values = c->head.values;
	const guint first = c->next;
	const bool is_last = behind == c->marks->len && end == values[PACKET_TIMESTAMP_END];

	put_bytes(c, first, behind);
	*piece = (struct cut_piece){
		.events = behind - first,
		.begin = c->begun ? c->told : values[PACKET_TIMESTAMP_BEGIN],
		.end = end,
		.content_bits = c->whole ? c->content_bits : content_of(c, first, behind),
	};
	cutter_label(c, piece, is_last);
	c->next = behind;
	if (is_last)
		c->data = NULL;
}

/* Takes the packet's events up to a limit, which lies before the packet's end. */
static enum cut_outcome take_part(struct cutter *c, uint64_t limit, struct cut_piece *piece)
{
	uint64_t latest = 0;
	guint behind = c->next, cut;

	if (c->whole)
		return c->head.values[PACKET_TIMESTAMP_BEGIN] < limit ? CUT_HELD : CUT_SILENT;
	while (behind < c->marks->len && cut_mark(c, behind)->clock <= limit)
		behind++;
	if (behind == c->next)
		return CUT_SILENT;
	if (behind == c->marks->len) {
		make_piece(c, behind, limit, piece);
		return CUT_PIECE;
	}
	for (cut = behind; cut > c->next && !cut_may_begin(c, cut); cut--)
		;
	if (cut == c->next)
		return CUT_HELD;
	for (guint i = c->next; i < cut; i++)
		latest = MAX(latest, cut_mark(c, i)->clock);
	make_piece(c, cut, MAX(latest, MIN(limit, cut_mark(c, cut)->clock)), piece);
	return CUT_PIECE;
}

enum cut_outcome cutter_take(struct cutter *c, uint64_t limit, struct cut_piece *piece)
{
	if (!c->data)
		return CUT_DONE;
	if (c->head.values[PACKET_TIMESTAMP_END] > limit)
		return take_part(c, limit, piece);
	make_piece(c, c->marks->len, c->head.values[PACKET_TIMESTAMP_END], piece);
	return CUT_PIECE;
}

void cutter_set_silent_until(struct cutter *c, uint64_t told)
{
	c->told = MAX(c->told, told);
}

enum lt_status cutter_first_event(struct cutter *c, const uint8_t *data, size_t size, uint64_t *clock)
{
	enum lt_status status;
	struct cut_mark m = { 0 };
	struct walk w;

	g_array_set_size(c->marks, 0);
	if (packet_read_head(c->layout, data, size, &c->head))
		return LT_ERROR;
	c->data = data;
	cutter_begin_walk(c, &w, MIN(content_of_packet(c, size), 8 * (uint64_t)size));
	status = w.at < w.end ? find_event(c, &w, &m) : LT_END;
	if (!status)
		*clock = m.clock;
	cutter_end_walk(c, &w);
	c->data = NULL;
	return status;
}

uint64_t cutter_next_clock(const struct cutter *c)
{
	uint64_t end = c->head.values[PACKET_TIMESTAMP_END];

	return c->next < c->marks->len ? MIN(end, cut_mark(c, c->next)->clock) : end;
}
