/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "feed/cut_internal.h"

static guint chosen_mark(const struct cutter *c, guint i)
{
	return g_array_index(c->chosen, guint, i);
}

bool cutter_choose(struct cutter *c, uint64_t at)
{
	guint i = c->chosen->len ? chosen_mark(c, c->chosen->len - 1) + 1 : 0;

	while (i < c->marks->len && cut_mark(c, i)->end <= at)
		i++;
	if (i == c->marks->len)
		return false;
	g_array_append_val(c->chosen, i);
	return true;
}

/* Whether the event has its time if the time before it is this one: short times are continued. */
static bool has_its_time(const struct cutter *c, struct walk *w, const struct cut_mark *m, uint64_t before)
{
	const struct layout_event *event;

	w->at = m->at;
	w->clock = before;
	return walk_event(w, c->head.stream, &event) && w->clock == m->clock;
}

/* Appends the chosen events that can follow the bytes up to *end, in bits; *clock is the time there. */
static unsigned append_events(struct cutter *c, struct walk *w, uint64_t *end, uint64_t *clock)
{
	const guint first = c->next;

	for (; c->next < c->chosen->len; c->next++) {
		const struct cut_mark *m = cut_mark(c, chosen_mark(c, c->next));
		static const uint8_t padding[8];
		uint64_t at;

		w->at = *end;
		at = walk_event_begin(w, c->head.stream);
		if (c->next > first && ((at - m->at) % c->head.stream->align != 0 || !has_its_time(c, w, m, *clock)))
			break;
		while (c->out->len < at / 8)
			g_byte_array_append(c->out, padding, (guint)MIN(sizeof(padding), at / 8 - c->out->len));
		g_byte_array_append(c->out, c->data + m->at / 8, (guint)((m->end + 7) / 8 - m->at / 8));
		*end = at + m->end - m->at;
		*clock = m->clock;
	}
	return c->next - first;
}

/* Events that are not aligned to bytes share them with others. */
static bool can_all_move(const struct cutter *c)
{
	for (guint i = 0; i < c->chosen->len; i++)
		if (!cut_may_begin(c, chosen_mark(c, i)) || cut_mark(c, chosen_mark(c, i))->at % 8)
			return false;
	return true;
}

enum cut_outcome cutter_take_chosen(struct cutter *c, uint64_t from, uint64_t limit, struct cut_piece *piece)
{
	const uint64_t *values = c->head.values;
	const struct cut_mark *first;
	uint64_t clock;
	struct walk w;
	bool is_last;

	if (!c->data || c->next == c->chosen->len) {
		c->data = NULL;
		return CUT_DONE;
	}
	if (!c->begun && !can_all_move(c))
		return CUT_HELD;
	first = cut_mark(c, chosen_mark(c, c->next));
	cutter_begin_walk(c, &w, c->content_bits);
	*piece = (struct cut_piece){
		.begin = c->begun ? first->clock : MAX(values[PACKET_TIMESTAMP_BEGIN], from),
		.content_bits = cut_mark(c, 0)->at,
	};
	if (!has_its_time(c, &w, first, piece->begin))
		piece->begin = first->clock;
	g_byte_array_set_size(c->out, 0);
	g_byte_array_append(c->out, c->data, (guint)(piece->content_bits / 8));
	clock = piece->begin;
	piece->events = append_events(c, &w, &piece->content_bits, &clock);
	cutter_end_walk(c, &w);
	is_last = c->next == c->chosen->len && values[PACKET_TIMESTAMP_END] <= limit;
	piece->end = c->next == c->chosen->len ? MAX(clock, MIN(values[PACKET_TIMESTAMP_END], limit)) : clock;
	cutter_label(c, piece, is_last);
	return CUT_PIECE;
}

bool cutter_take_empty(struct cutter *c, uint64_t from, uint64_t limit, struct cut_piece *piece)
{
	const uint64_t *values = c->head.values;

	if (!c->data || c->head.events_at % 8)
		return false;
	*piece = (struct cut_piece){
		.begin = MAX(values[PACKET_TIMESTAMP_BEGIN], from),
		.end = MIN(values[PACKET_TIMESTAMP_END], limit),
		.content_bits = c->head.events_at,
	};
	g_byte_array_set_size(c->out, 0);
	g_byte_array_append(c->out, c->data, (guint)(c->head.events_at / 8));
	cutter_label(c, piece, values[PACKET_TIMESTAMP_END] <= limit);
	c->data = NULL;
	return true;
}

bool cutter_take_after_loss(struct cutter *c, const uint8_t *data, uint64_t at, struct cut_piece *piece)
{
	c->data = data;
	c->seq++;
	return cutter_take_empty(c, at, at, piece);
}
