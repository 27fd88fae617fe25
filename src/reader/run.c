/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/common.h"

#include "reader/emit.h"

enum { RECORDS_PER_STEP = 512 };

/* ---- the heap of streams ---- */

static void sift_down(struct reader *r, unsigned i)
{
	struct reader_stream *moving = r->heap[i];

	for (;;) {
		unsigned child = 2 * i + 1;

		if (child >= r->n_heap)
			break;
		if (child + 1 < r->n_heap && stream_comes_before(r->heap[child + 1], r->heap[child]))
			child++;
		if (!stream_comes_before(r->heap[child], moving))
			break;
		r->heap[i] = r->heap[child];
		i = child;
	}
	r->heap[i] = moving;
}

/* Usually true, because a CPU's events come in runs. */
static inline bool is_first(const struct reader *r)
{
	const struct reader_stream *s = r->heap[0];

	return stream_comes_before(s, r->heap[1]) && (r->n_heap < 3 || stream_comes_before(s, r->heap[2]));
}

/* Events without a time cannot be ordered among the others. */
static void leave_out_timeless(struct reader_stream *s)
{
	if (!s->group || s->has_clock || s->trouble)
		return;
	s->has_head = false;
	s->exhausted = true;
	s->trouble = g_strdup("its events have no time");
}

static void fill_heap(struct reader *r)
{
	r->heap = g_new(struct reader_stream *, r->n_streams + 1);
	for (unsigned i = 0; i < r->n_streams; i++) {
		leave_out_timeless(r->streams[i]);
		stream_find_item(r->streams[i]);
		if (r->streams[i]->item != ITEM_END)
			r->heap[r->n_heap++] = r->streams[i];
	}
	for (unsigned i = r->n_heap; i-- > 0;)
		sift_down(r, i);
}

/* ---- records about streams ---- */

void reader_write_loss(struct reader *r, const struct reader_stream *s)
{
	const struct losses *l = &s->losses[s->item_loss];
	struct event *ev = reader_emit(r, EVENT_LOST, s->item_ns, 0);
	struct ev_lost *payload = (struct ev_lost *)(void *)ev->words;

	ev->cpu = s->cpu;
	if (s->item_loss == LOSS_EVENTS)
		payload->events = l->count;
	else
		payload->packets = l->count;
	payload->begin_ns = l->begin_ns < s->item_ns ? l->begin_ns : s->item_ns;
	payload->end_ns = l->end_ns;
	emit_end(r->ring, ev);
}

void reader_write_gap(struct reader *r, const struct reader_stream *s)
{
	struct event *ev = reader_emit(r, EVENT_GAP, s->item_ns, 0);

	ev->cpu = s->cpu;
	((struct ev_gap *)(void *)ev->words)->end_ns = s->losses[s->item_loss].end_ns;
	emit_end(r->ring, ev);
}

/* Notes are sent among the events, so that the parent sees them whatever interval it reads. */
static void write_notes(struct reader *r, uint64_t ns)
{
	for (; r->troubles_reported < r->troubles->len; r->troubles_reported++) {
		char *text = reader_trouble_text(g_ptr_array_index(r->troubles, r->troubles_reported));

		emit_note(r->ring, EVENT_NOTE, ns, text);
		g_free(text);
	}
}

static void write_stream_end(struct reader *r, const struct reader_stream *s)
{
	struct event *ev;
	char where[32];

	g_snprintf(where, sizeof(where), "stream of CPU %u breaks off", s->cpu);
	if (s->trouble)
		reader_note_trouble(r, s->cpu == EVENT_NO_CPU ? s->name : where, s->trouble);
	ev = emit_begin(r->ring, EVENT_STREAM_END, s->item_ns, 0);
	ev->cpu = s->cpu;
	((struct ev_stream_end *)(void *)ev->words)->id = s->index;
	emit_end(r->ring, ev);
}

static LT_COLD void write_other_item(struct reader *r, struct reader_stream *s)
{
	switch (s->item) {
	case ITEM_GAP:
		reader_write_gap(r, s);
		break;
	case ITEM_LOST:
		reader_write_loss(r, s);
		break;
	case ITEM_STREAM_END:
		write_stream_end(r, s);
		break;
	case ITEM_EVENT:
	case ITEM_END:
		break;
	}
}

static inline void write_item(struct reader *r, struct reader_stream *s)
{
	if (G_LIKELY(s->item == ITEM_EVENT))
		reader_write_event(r, s);
	else
		write_other_item(r, s);
}

bool reader_run(struct reader *r)
{
	if (!r->heap) {
		fill_heap(r);
		write_notes(r, r->n_heap > 0 ? r->heap[0]->item_ns : 0);
	}
	for (unsigned i = 0; i < RECORDS_PER_STEP && r->n_heap > 0; i++) {
		struct reader_stream *s = r->heap[0];

		write_item(r, s);
		if (r->troubles_reported < r->troubles->len)
			write_notes(r, s->item_ns);
		stream_drop_item(s);
		stream_find_item(s);
		if (s->item == ITEM_END)
			r->heap[0] = r->heap[--r->n_heap];
		if (r->n_heap > 1 && !is_first(r))
			sift_down(r, 0);
	}
	return r->n_heap > 0;
}
