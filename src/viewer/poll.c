/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/nstime.h"
#include "viewer/internal.h"

/*
 * When to ask. Once per live timer a tracer delivers a stream's data, or a beacon. So a stream is asked shortly before
 * the next delivery is due, and then every few milliseconds until there is something. Until then it is not asked if its
 * last delivery came right after an answer without data, which shows the time of deliveries; otherwise it is asked at
 * longer intervals, because data that was already there does not show when it came. A full buffer may come earlier and
 * has to wait, but events are still known within the timer's period plus some milliseconds. After a packet the next one
 * is requested at once.
 */
enum {
	EARLY_US = 5 * US_PER_MS,      /* before the expected time; otherwise requests would drift later and later */
	GAP_US = 5 * US_PER_MS,        /* afterwards; grows ... */
	GAP_MAX_US = 20 * US_PER_MS,   /* ... up to this */
	QUIET_GAP_US = 25 * US_PER_MS, /* while the time of deliveries is unknown */
	KNOWN_GAP_US = 30 * US_PER_MS, /* longest time from an answer without data to one that shows when data comes */
	BUSY_GAP_US = 25 * US_PER_MS,
	BUSY_TIMERS = 4, /* periods of the timer for which a stream then counts as busy */
	LOST_TIMERS = 3, /* periods without an answer with data after which its tracer may be gone */
	LOST_GAP_US = 100 * US_PER_MS,
	TIMER_MIN_US = US_PER_MS,
	TIMER_MAX_US = US_PER_S,     /* a longer timer does not make requests rarer */
	TOGETHER_US = 3 * US_PER_MS, /* requests due within this time are sent together */
	STREAMS_MIN_US = 100 * US_PER_MS,
	STREAMS_FIRST_US = 20 * US_PER_MS, /* while there are none: any not known when the session ends are lost */
	METADATA_GAP_US = 20 * US_PER_MS,  /* while there is no metadata, or too little */
	METADATA_LEFT_US = US_PER_S, /* once its trace has no data streams: the relayd drops it after it was read */
	LIST_US = 500 * US_PER_MS,   /* while the session may be over */
	QUIET_US = 2 * US_PER_S,     /* after which an unlisted session without packets, here or pending, is over */
	HELD_MAX = 2,                /* packets of a stream: one being decoded, one on its way */
	HELD_BYTES = 16 << 20,       /* in all; beyond them, one per stream */
};

static int64_t timer_of(const struct viewer *v)
{
	return CLAMP((int64_t)v->timer_us, TIMER_MIN_US, TIMER_MAX_US);
}

bool viewer_may_hold_more(const struct viewer *v, const struct viewer_stream *s)
{
	return s->held == 0 || (s->held < HELD_MAX && v->held_bytes < HELD_BYTES);
}

/* ---- answers about a stream ---- */

static void note_news(struct viewer_stream *s, int64_t now_us)
{
	/* Another packet at the same time adds no information. */
	if (s->miss_us > s->news_us)
		s->is_regular = now_us - s->miss_us <= KNOWN_GAP_US;
	else if (now_us - s->news_us > KNOWN_GAP_US)
		s->is_regular = false;
	s->news_us = now_us;
	s->misses = 0;
}

void viewer_saw_packet(struct viewer_stream *s)
{
	const int64_t now_us = g_get_monotonic_time(), timer_us = timer_of(s->viewer);

	if (s->packet_us && now_us - s->packet_us < timer_us * 3 / 4)
		s->busy_us = now_us + BUSY_TIMERS * timer_us;
	note_news(s, now_us);
	s->packet_us = s->due_us = now_us;
}

void viewer_saw_beacon(struct viewer_stream *s)
{
	note_news(s, g_get_monotonic_time());
	s->due_us = s->news_us + MAX(timer_of(s->viewer) - EARLY_US, GAP_US);
	if (!s->is_regular)
		s->due_us = MIN(s->due_us, s->news_us + QUIET_GAP_US);
}

void viewer_saw_nothing(struct viewer_stream *s)
{
	const int64_t now_us = g_get_monotonic_time(), timer_us = timer_of(s->viewer);
	const int64_t expected_us = s->news_us + timer_us - EARLY_US;
	int64_t gap_us;

	if (now_us < s->busy_us) {
		s->due_us = now_us + MIN(timer_us, BUSY_GAP_US);
	} else if (s->news_us && now_us < expected_us) {
		s->due_us = s->is_regular ? expected_us : MIN(expected_us, now_us + QUIET_GAP_US);
	} else {
		gap_us = MIN((int64_t)GAP_US << MIN(s->misses, 8), GAP_MAX_US);
		if (s->misses * GAP_MAX_US > LOST_TIMERS * timer_us)
			gap_us = LOST_GAP_US;
		s->misses++;
		s->due_us = now_us + gap_us;
	}
	s->miss_us = now_us;
}

/* ---- asking ---- */

/* Whether the stream is to be asked at .due_us. */
static bool is_waiting(const struct viewer *v, const struct viewer_stream *s)
{
	if (s->requests > 0)
		return false;
	if (s->is_metadata)
		return s->n_bytes == 0 || s->n_data == 0 || s->is_incomplete;
	if (s->packet_due)
		return true;
	/* No packets before their metadata, unless the relayd has dropped that. */
	return viewer_may_hold_more(v, s) && (s->metadata ? s->metadata->n_bytes > 0 : s->has_met_metadata);
}

static void ask_stream(struct viewer *v, struct viewer_stream *s, int64_t now_us)
{
	if (s->is_metadata) {
		s->due_us = now_us + (s->n_bytes && !s->is_incomplete ? METADATA_LEFT_US : METADATA_GAP_US);
		viewer_ask_metadata(v, s);
	} else if (s->packet_due) {
		viewer_ask_packet(v, s);
	} else {
		viewer_ask_index(v, s);
	}
}

/* The earliest time at which a stream is due; INT64_MAX: none is. */
static int64_t first_due_us(const struct viewer *v)
{
	int64_t due_us = INT64_MAX;

	for (guint i = 0; i < v->streams->len; i++) {
		const struct viewer_stream *s = g_ptr_array_index(v->streams, i);

		if (s->due_us < due_us && is_waiting(v, s))
			due_us = s->due_us;
	}
	return due_us;
}

static int64_t streams_due_us(const struct viewer *v)
{
	if (v->is_closed || v->asks_streams)
		return INT64_MAX;
	return v->streams_us + (v->n_data ? MAX(timer_of(v), STREAMS_MIN_US) : STREAMS_FIRST_US);
}

static int64_t list_due_us(const struct viewer *v)
{
	return (v->n_data > 0 && !v->is_closed) || v->asks_list ? INT64_MAX : v->list_us + LIST_US;
}

void viewer_poll(struct viewer *v)
{
	const int64_t now_us = g_get_monotonic_time();
	bool asks;

	if (v->state != STATE_ATTACHED)
		return;
	asks = first_due_us(v) <= now_us;
	if (streams_due_us(v) <= now_us + (asks ? timer_of(v) / 2 : 0))
		viewer_ask_new_streams(v);
	if (list_due_us(v) <= now_us)
		viewer_ask_list(v);
	if (!asks)
		return;
	for (guint i = 0; i < v->streams->len; i++) {
		struct viewer_stream *s = g_ptr_array_index(v->streams, i);

		if (s->due_us <= now_us + TOGETHER_US && is_waiting(v, s))
			ask_stream(v, s, now_us);
	}
}

int64_t viewer_poll_due_us(const struct viewer *v)
{
	const int64_t session_us = MIN(streams_due_us(v), list_due_us(v));

	return v->state == STATE_ATTACHED ? MIN(first_due_us(v), session_us) : INT64_MAX;
}

/* Whether a packet is requested or held by the caller: the relayd may then have more. */
static bool holds_any(const struct viewer *v)
{
	for (guint i = 0; i < v->streams->len; i++)
		if (((const struct viewer_stream *)g_ptr_array_index(v->streams, i))->held)
			return true;
	return false;
}

static bool lacks_metadata(const struct viewer *v)
{
	for (guint i = 0; i < v->streams->len; i++)
		if (((const struct viewer_stream *)g_ptr_array_index(v->streams, i))->is_incomplete)
			return true;
	return false;
}

bool viewer_has_ended(const struct viewer *v)
{
	if (v->state != STATE_ATTACHED || v->part != PART_HEAD || lacks_metadata(v))
		return false;
	if (v->n_data == 0)
		return v->is_closed || v->is_unlisted;
	return v->is_unlisted && g_get_monotonic_time() > v->packet_us + QUIET_US && !holds_any(v);
}
