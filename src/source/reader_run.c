/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/reader_internal.h"

#include "source/emit.h"
#include "source/shadow.h"

enum { RECORDS_PER_STEP = 512 };

/* ---- the heap of streams ---- */

static bool comes_before(const struct port *a, const struct port *b)
{
	if (a->item_ns != b->item_ns)
		return a->item_ns < b->item_ns;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu;
	return a->index < b->index;
}

static void sift_down(struct reader *r, unsigned i)
{
	struct port *moving = r->heap[i];

	for (;;) {
		unsigned child = 2 * i + 1;

		if (child >= r->n_heap)
			break;
		if (child + 1 < r->n_heap && comes_before(r->heap[child + 1], r->heap[child]))
			child++;
		if (!comes_before(r->heap[child], moving))
			break;
		r->heap[i] = r->heap[child];
		i = child;
	}
	r->heap[i] = moving;
}

/* Events without a time have no place among the others. */
static void leave_out_timeless(struct port *p)
{
	if (!p->stream_class || p->has_clock || p->trouble)
		return;
	port_drop_queue(p);
	p->exhausted = true;
	p->trouble = g_strdup("its events have no time");
}

static void fill_heap(struct reader *r)
{
	r->heap = g_new(struct port *, r->n_ports + 1);
	for (unsigned i = 0; i < r->n_ports; i++) {
		leave_out_timeless(&r->ports[i]);
		port_find_item(&r->ports[i]);
		if (r->ports[i].item != ITEM_END)
			r->heap[r->n_heap++] = &r->ports[i];
	}
	for (unsigned i = r->n_heap; i-- > 0;)
		sift_down(r, i);
}

/* ---- records about streams ---- */

void reader_write_loss(struct reader *r, const struct port *p)
{
	const struct losses *l = &p->losses[p->item_loss];
	struct event *ev = reader_emit(r, EVENT_LOST, p->item_ns, 0);
	struct ev_lost *payload = (struct ev_lost *)(void *)ev->words;

	ev->cpu = p->cpu;
	if (p->item_loss == LOSS_EVENTS)
		payload->events = l->count;
	else
		payload->packets = l->count;
	payload->begin_ns = l->begin_ns < p->item_ns ? l->begin_ns : p->item_ns;
	emit_end(r->ring, ev);
}

void reader_note_trouble(struct reader *r, const char *where, const char *why)
{
	char *said = g_strdup_printf("%s: %s", where, why);

	if (r->live)
		emit_note(r->ring, EVENT_NOTE, 0, said);
	else
		g_ptr_array_add(r->troubles, shadow_original_text(r->shadow, said));
	g_free(said);
}

/* Notes stand among the events, where the parent is sure to see them whatever interval it reads. */
static void write_notes(struct reader *r, uint64_t ns)
{
	for (; r->troubles_told < r->troubles->len; r->troubles_told++)
		emit_note(r->ring, EVENT_NOTE, ns, g_ptr_array_index(r->troubles, r->troubles_told));
}

static void write_stream_end(struct reader *r, const struct port *p)
{
	struct event *ev;
	char where[32];

	g_snprintf(where, sizeof(where), "stream of CPU %u breaks off", p->cpu);
	if (p->trouble)
		reader_note_trouble(r, p->cpu == EVENT_NO_CPU ? p->name : where, p->trouble);
	ev = emit_begin(r->ring, EVENT_STREAM_END, p->item_ns, 0);
	ev->cpu = p->cpu;
	((struct ev_stream_end *)(void *)ev->words)->id = p->stream_id;
	emit_end(r->ring, ev);
}

static void write_item(struct reader *r, struct port *p)
{
	switch (p->item) {
	case ITEM_EVENT:
		reader_write_event(r, p);
		break;
	case ITEM_LOST:
		reader_write_loss(r, p);
		break;
	case ITEM_STREAM_END:
		write_stream_end(r, p);
		break;
	case ITEM_END:
		break;
	}
}

bool reader_run(struct reader *r)
{
	if (!r->heap) {
		fill_heap(r);
		write_notes(r, r->n_heap > 0 ? r->heap[0]->item_ns : 0);
	}
	for (unsigned i = 0; i < RECORDS_PER_STEP && r->n_heap > 0; i++) {
		struct port *p = r->heap[0];

		write_item(r, p);
		write_notes(r, p->item_ns);
		port_drop_item(p);
		port_find_item(p);
		if (p->item == ITEM_END)
			r->heap[0] = r->heap[--r->n_heap];
		if (r->n_heap > 0)
			sift_down(r, 0);
	}
	return r->n_heap > 0;
}
