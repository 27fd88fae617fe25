/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "feed/cut.h"

#include <string.h>

#include "base/error.h"

/*
 * Fewer bytes than an event takes on average with any tracer: they limit the marks for a packet, but not for a small
 * one.
 */
enum { EVENT_BYTES_MIN = 8, EVENTS_ANYWAY = 1 << 16 };

/* An event; padding may follow it. */
struct cut_mark {
	uint64_t at, end; /* in bits */
	uint64_t clock;
};

void cutter_init(struct cutter *c, const struct layout *l)
{
	memset(c, 0, sizeof(*c));
	c->layout = l;
	c->marks = g_array_new(FALSE, FALSE, sizeof(struct cut_mark));
	c->out = g_byte_array_new();
}

void cutter_release(struct cutter *c)
{
	g_array_free(c->marks, TRUE);
	g_byte_array_free(c->out, TRUE);
}

static const struct cut_mark *mark(const struct cutter *c, guint i)
{
	return &g_array_index(c->marks, struct cut_mark, i);
}

static void begin_walk(struct cutter *c, struct walk *w, uint64_t content_bits)
{
	walk_init(w, c->layout, c->data, content_bits);
	w->at = c->head.events_at;
	w->clock = c->head.values[PACKET_TIMESTAMP_BEGIN];
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

	begin_walk(c, &w, content_bits);
	*end = w.at;
	while (!status && w.at < w.end) {
		status = c->marks->len < most ? find_event(c, &w, &m) : error_set("it has too many events");
		if (status)
			break;
		*end = m.end;
		g_array_append_val(c->marks, m);
	}
	walk_release(&w);
	return status;
}

/*
 * Whether a packet may start with this event: its position must be congruent to the first event's modulo every
 * alignment.
 */
static bool may_cut(const struct cutter *c, guint i)
{
	return (mark(c, i)->at - mark(c, 0)->at) % c->head.stream->align == 0;
}

static void count_packet(struct cutter *c)
{
	const uint64_t *values = c->head.values;

	if (!c->has_packet) {
		c->seq = values[PACKET_SEQ_NUM];
		c->discarded = values[PACKET_EVENTS_DISCARDED];
	} else if (values[PACKET_SEQ_NUM] > c->recorded_seq + 1) {
		c->seq += values[PACKET_SEQ_NUM] - c->recorded_seq - 1;
	}
	c->recorded_seq = values[PACKET_SEQ_NUM];
	c->has_packet = true;
}

/* In bits, as it says itself. size: its bytes. */
static uint64_t content_of_packet(const struct cutter *c, size_t size)
{
	return packet_has(&c->head, PACKET_CONTENT_SIZE) ? c->head.values[PACKET_CONTENT_SIZE] : 8 * (uint64_t)size;
}

enum lt_status cutter_begin(struct cutter *c, const uint8_t *data, size_t size)
{
	uint64_t end, content;
	enum lt_status status;

	g_array_set_size(c->marks, 0);
	c->data = NULL;
	c->next = 0;
	c->begun = c->whole = false;
	if (packet_read_head(c->layout, data, size, &c->head))
		return LT_ERROR;
	c->data = data;
	c->size = size;
	content = content_of_packet(c, size);
	count_packet(c);
	if (content > 8 * (uint64_t)size) {
		/* A truncated packet: keep the complete events. */
		find_events(c, 8 * (uint64_t)size, &c->content_bits);
		error_clear();
		return LT_END;
	}
	c->content_bits = content;
	status = find_events(c, content, &end);
	if (!status && c->marks->len && mark(c, 0)->at % 8)
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
	g_byte_array_append(c->out, c->data, (guint)(mark(c, 0)->at / 8));
	from = mark(c, first)->at / 8;
	to = (mark(c, behind - 1)->end + 7) / 8;
	g_byte_array_append(c->out, c->data + from, (guint)(to - from));
}

/* Size in bits of events first to behind - 1 with header and context. */
static uint64_t content_of(const struct cutter *c, guint first, guint behind)
{
	if (first == behind)
		return c->head.events_at;
	return mark(c, behind - 1)->end - mark(c, first)->at + mark(c, 0)->at;
}

static void make_piece(struct cutter *c, guint behind, uint64_t end, struct cut_piece *piece)
{
	const uint64_t *values = c->head.values;
	const guint first = c->next;
	const bool is_last = behind == c->marks->len && end == values[PACKET_TIMESTAMP_END];

	put_bytes(c, first, behind);
	piece->events = behind - first;
	piece->begin = c->begun ? c->told : values[PACKET_TIMESTAMP_BEGIN];
	piece->end = MAX(end, piece->begin);
	piece->content_bits = c->whole ? c->content_bits : content_of(c, first, behind);
	piece->discarded = is_last ? values[PACKET_EVENTS_DISCARDED] : c->discarded;
	piece->seq = c->seq++;
	piece->data = c->out->data;
	piece->size = c->out->len;
	packet_set(&c->head, piece->data, PACKET_TIMESTAMP_BEGIN, piece->begin);
	packet_set(&c->head, piece->data, PACKET_TIMESTAMP_END, piece->end);
	packet_set(&c->head, piece->data, PACKET_CONTENT_SIZE, piece->content_bits);
	packet_set(&c->head, piece->data, PACKET_PACKET_SIZE, 8 * (uint64_t)piece->size);
	packet_set(&c->head, piece->data, PACKET_SEQ_NUM, piece->seq);
	packet_set(&c->head, piece->data, PACKET_EVENTS_DISCARDED, piece->discarded);
	c->next = behind;
	c->begun = true;
	c->told = piece->end;
	if (is_last) {
		c->discarded = piece->discarded;
		c->data = NULL;
	}
}

/* Takes the packet's events up to a limit, which lies before the packet's end. */
static enum cut_outcome take_part(struct cutter *c, uint64_t limit, struct cut_piece *piece)
{
	uint64_t latest = 0;
	guint behind = c->next, cut;

	if (c->whole)
		return c->head.values[PACKET_TIMESTAMP_BEGIN] < limit ? CUT_HELD : CUT_SILENT;
	while (behind < c->marks->len && mark(c, behind)->clock <= limit)
		behind++;
	if (behind == c->next)
		return CUT_SILENT;
	if (behind == c->marks->len) {
		make_piece(c, behind, limit, piece);
		return CUT_PIECE;
	}
	for (cut = behind; cut > c->next && !may_cut(c, cut); cut--)
		;
	if (cut == c->next)
		return CUT_HELD;
	for (guint i = c->next; i < cut; i++)
		latest = MAX(latest, mark(c, i)->clock);
	make_piece(c, cut, MAX(latest, MIN(limit, mark(c, cut)->clock)), piece);
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
	struct cut_mark m;
	struct walk w;

	g_array_set_size(c->marks, 0);
	if (packet_read_head(c->layout, data, size, &c->head))
		return LT_ERROR;
	c->data = data;
	begin_walk(c, &w, MIN(content_of_packet(c, size), 8 * (uint64_t)size));
	status = w.at < w.end ? find_event(c, &w, &m) : LT_END;
	if (!status)
		*clock = m.clock;
	walk_release(&w);
	c->data = NULL;
	return status;
}

uint64_t cutter_next_clock(const struct cutter *c)
{
	uint64_t end = c->head.values[PACKET_TIMESTAMP_END];

	return c->next < c->marks->len ? MIN(end, mark(c, c->next)->clock) : end;
}
