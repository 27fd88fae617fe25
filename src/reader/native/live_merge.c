/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/emit.h"
#include "reader/native/live_internal.h"

enum { RECORDS_PER_RUN = 512 };

#define SKIPPED "silent: skipped until data arrives again"

/* ---- the heap ---- */

static struct live_stream *at(const struct native_live *l, guint i)
{
	return g_ptr_array_index(l->heap, i);
}

static bool comes_before(const struct live_stream *a, const struct live_stream *b)
{
	return stream_comes_before(&a->base.base, &b->base.base);
}

static void swap(struct native_live *l, guint i, guint k)
{
	gpointer moving = l->heap->pdata[i];

	l->heap->pdata[i] = l->heap->pdata[k];
	l->heap->pdata[k] = moving;
}

static void sift_down(struct native_live *l)
{
	guint child;

	for (guint i = 0; (child = 2 * i + 1) < l->heap->len; i = child) {
		if (child + 1 < l->heap->len && comes_before(at(l, child + 1), at(l, child)))
			child++;
		if (!comes_before(at(l, child), at(l, i)))
			return;
		swap(l, i, child);
	}
}

static void push(struct native_live *l, struct live_stream *s)
{
	guint i = l->heap->len;

	g_ptr_array_add(l->heap, s);
	for (; i > 0 && comes_before(at(l, i), at(l, (i - 1) / 2)); i = (i - 1) / 2)
		swap(l, i, (i - 1) / 2);
}

static void pop(struct native_live *l)
{
	swap(l, 0, l->heap->len - 1);
	g_ptr_array_set_size(l->heap, (gint)l->heap->len - 1);
	sift_down(l);
}

/* ---- records ---- */

static void say_ready(struct native_live *l)
{
	if (l->is_ready)
		return;
	l->is_ready = true;
	emit_end(l->ring, emit_begin(l->ring, EVENT_READY, 0, 0));
}

static void write_stream_end(struct native_live *l, const struct live_stream *s)
{
	struct event *ev = reader_emit(&s->trace->base, EVENT_STREAM_END, s->base.base.item_ns, 0);

	ev->cpu = s->base.base.cpu;
	((struct ev_stream_end *)(void *)ev->words)->id = s->base.base.index;
	emit_end(l->ring, ev);
}

static void come_to(struct native_live *l, uint64_t ns)
{
	l->last_ns = ns;
	ring_set_time(l->ring, ns);
}

/* Whether an event is known that comes after the loss: no record is later than the last event. */
static bool event_follows(const struct native_live *l, const struct live_stream *s)
{
	bool any = s->base.base.has_head;

	for (guint i = 0; i < l->heap->len && !any; i++)
		any = at(l, i)->base.base.item == ITEM_EVENT;
	return any;
}

static void write_item(struct native_live *l, struct live_stream *s)
{
	struct reader_stream *b = &s->base.base;

	say_ready(l);
	/* It may have waited while time advanced. */
	b->item_ns = MAX(b->item_ns, l->last_ns);
	if (b->item == ITEM_LOST && !event_follows(l, s))
		b->item_ns = MAX(b->last_ns, l->last_ns);
	if (b->item == ITEM_EVENT)
		reader_write_event(&s->trace->base, b);
	else if (b->item == ITEM_GAP)
		reader_write_gap(&s->trace->base, b);
	else if (b->item == ITEM_LOST)
		reader_write_loss(&s->trace->base, b);
	else if (s->is_announced)
		write_stream_end(l, s);
	come_to(l, b->item_ns);
	stream_drop_item(b);
}

/* ---- silent streams ---- */

/*
 * A session's streams have data or a beacon once per live timer. One that had neither, while others had, for twice
 * .stall_us, which is longer than the timer, no longer holds up the others, until it has data again: its events are
 * then those of a stream in which time stepped back. If nothing comes for any stream, then none is silent, even if
 * events wait. If that, or a stop of this process, lasted for longer than .stall_us, then all streams have that time
 * again, as the first one that continues must not leave the others behind.
 *
 * A stream whose events wait, and that can have nothing new until they are written, counts as one that has: it is not
 * asked, because it holds all the packets it may, or it has ended. So a pause of all the others makes them silent.
 */
static bool is_silent(const struct live_stream *s)
{
	const struct native_live *l = s->live;

	return l->stall_us && !s->is_waiting && g_queue_is_empty((GQueue *)&s->packets) &&
	       l->active_us - MAX(s->heard_us, l->resumed_us) > 2 * l->stall_us;
}

static void note_pause(struct native_live *l, int64_t since_us)
{
	if (l->now_us - since_us > l->stall_us)
		l->resumed_us = l->now_us;
}

void live_merge_note_data(struct native_live *l)
{
	note_pause(l, l->active_us);
	l->active_us = l->now_us;
}

static bool any_must_be_written_first(const struct native_live *l)
{
	for (guint i = 0; i < l->heap->len; i++)
		if (at(l, i)->is_gone || viewer_stream_is_full(at(l, i)->viewer))
			return true;
	return false;
}

void live_merge_start_step(struct native_live *l)
{
	const int64_t before_us = l->now_us;

	l->now_us = g_get_monotonic_time();
	note_pause(l, before_us);
	if (any_must_be_written_first(l))
		live_merge_note_data(l);
}

void live_merge_hear(struct live_stream *s)
{
	s->heard_us = s->live->now_us;
	s->is_silence_said = false;
}

/* Unless no stream has anything: then none has been skipped. */
static void say_silence(struct native_live *l)
{
	const char *first = NULL;
	unsigned n_silent = 0, n_new = 0;
	char *text;

	for (guint i = 0; i < l->streams->len; i++) {
		const struct live_stream *s = g_ptr_array_index(l->streams, i);

		if (!is_silent(s))
			continue;
		n_silent++;
		if (s->is_silence_said)
			continue;
		n_new++;
		first = s->base.base.name;
	}
	if (!n_new || n_silent == l->streams->len || !ring_has_room(l->ring))
		return;
	for (guint i = 0; i < l->streams->len; i++) {
		struct live_stream *s = g_ptr_array_index(l->streams, i);

		s->is_silence_said = s->is_silence_said || is_silent(s);
	}
	text = n_new == 1 ? g_strdup_printf("%s: " SKIPPED, first)
			  : g_strdup_printf("%s and %u more: " SKIPPED, first, n_new - 1);
	emit_note(l->ring, EVENT_NOTE, 0, text);
	g_free(text);
}

/* ---- merging ---- */

/* The time up to which everything is known. UINT64_MAX: no stream is waited for. */
static uint64_t known_until_ns(const struct native_live *l)
{
	uint64_t until_ns = l->until_ns;

	for (guint i = 0; i < l->streams->len; i++) {
		const struct live_stream *s = g_ptr_array_index(l->streams, i);

		if (!s->is_waiting && !is_silent(s))
			until_ns = MIN(until_ns, s->until_ns);
	}
	return MAX(until_ns, l->from_ns);
}

/* It had no data: no record says that it ends, so that it need not wait until time has come so far. */
static bool ends_unheard(const struct live_stream *s)
{
	return s->base.base.item == ITEM_STREAM_END && !s->is_announced && live_stream_is_over(s);
}

void live_merge_wake(struct native_live *l, struct live_stream *s)
{
	if (s->is_waiting)
		return;
	s->is_waiting = live_stream_advance(s) && !ends_unheard(s);
	if (s->is_waiting) {
		live_merge_hear(s);
		push(l, s);
	} else if (live_stream_is_over(s)) {
		g_ptr_array_remove_fast(l->streams, s);
	}
}

enum lt_status live_merge_run(struct native_live *l)
{
	uint64_t until_ns = known_until_ns(l);

	say_silence(l);
	for (unsigned i = 0; i < RECORDS_PER_RUN; i++) {
		struct live_stream *s;

		if (l->heap->len == 0 || at(l, 0)->base.base.item_ns >= until_ns)
			return LT_AGAIN;
		l->is_full = !ring_has_room(l->ring);
		if (l->is_full)
			return LT_AGAIN;
		s = at(l, 0);
		write_item(l, s);
		if (live_stream_advance(s)) {
			sift_down(l);
			continue;
		}
		pop(l);
		s->is_waiting = false;
		live_merge_hear(s);
		if (live_stream_is_over(s))
			g_ptr_array_remove_fast(l->streams, s);
		else
			until_ns = MIN(until_ns, MAX(s->until_ns, l->from_ns));
	}
	return LT_OK;
}

void live_merge_settle(struct native_live *l)
{
	const uint64_t until_ns = known_until_ns(l);

	say_ready(l);
	if (until_ns == UINT64_MAX)
		return;
	if (until_ns <= l->last_ns)
		return;
	come_to(l, until_ns);
	emit_end(l->ring, emit_begin(l->ring, EVENT_BEACON, until_ns, 0));
}
