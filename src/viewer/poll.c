/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "viewer/internal.h"

/*
 * When to ask. A tracer hands over what a stream has, or a beacon, once per live timer. So a stream is asked shortly
 * before the next time is due and then every few milliseconds until there is something. Before that it is not asked
 * if the last answer came right after one that had nothing; else at longer intervals, as what was there says nothing
 * of how long it had been. A full buffer may come earlier, and waits: what happened is known within the timer and some
 * milliseconds all the same. After a packet the next one is asked for at once.
 */
enum {
	EARLY_US = 5000,      /* ahead of the expected time: or it would move later and later */
	GAP_US = 5000,        /* then, growing ... */
	GAP_MAX_US = 20000,   /* ... to this */
	QUIET_GAP_US = 25000, /* while it is not known when something comes */
	KNOWN_GAP_US = 30000, /* between an answer without news and one with some: then it is known */
	BUSY_GAP_US = 25000,
	BUSY_TIMERS = 4, /* a stream counts as busy for so many timers */
	LOST_TIMERS = 3, /* without anything: its tracer may be gone */
	LOST_GAP_US = 100000,
	TIMER_MIN_US = 1000,
	TIMER_MAX_US = 1000000, /* a longer timer does not make requests rarer */
	TOGETHER_US = 3000,     /* what is due so soon is asked for at the same time */
	STREAMS_MIN_US = 100000,
	STREAMS_FIRST_US = 20000,   /* while there are none: what is not known when the session ends is lost */
	METADATA_GAP_US = 20000,    /* while there is none */
	METADATA_LEFT_US = 1000000, /* once its trace has no data streams: the relayd lets go of it when it was read */
	LIST_US = 500000,           /* while the session may be over */
	QUIET_US = 2000000,         /* with no packet here or to come, a session that is not listed any more is over */
	HELD_MAX = 2,               /* packets of a stream: one is decoded, one is on its way */
	HELD_BYTES = 16 << 20,      /* beyond them, one of each stream */
};

static int64_t timer_of(const struct viewer *v)
{
	return CLAMP((int64_t)v->timer_us, TIMER_MIN_US, TIMER_MAX_US);
}

bool viewer_may_hold_more(const struct viewer *v, const struct viewer_stream *s)
{
	return s->held == 0 || (s->held < HELD_MAX && v->held_bytes < HELD_BYTES);
}

/* ---- what a stream has said ---- */

static void note_news(struct viewer_stream *s, int64_t now_us)
{
	/* Another packet at the same time says no more than the one before it. */
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

/* Whether it is asked at all, by time. */
static bool is_waiting(const struct viewer *v, const struct viewer_stream *s)
{
	if (s->requests > 0)
		return false;
	if (s->is_metadata)
		return s->n_bytes == 0 || s->n_data == 0;
	if (s->packet_due)
		return true;
	/* No packet before its metadata, unless that was given up. */
	return viewer_may_hold_more(v, s) && (s->metadata ? s->metadata->n_bytes > 0 : s->has_met_metadata);
}

static void ask_stream(struct viewer *v, struct viewer_stream *s, int64_t now_us)
{
	if (s->is_metadata) {
		s->due_us = now_us + (s->n_bytes ? METADATA_LEFT_US : METADATA_GAP_US);
		viewer_ask_metadata(v, s);
	} else if (s->packet_due) {
		viewer_ask_packet(v, s);
	} else {
		viewer_ask_index(v, s);
	}
}

/* The first time that is due; INT64_MAX: none. */
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

/* Whether a packet was requested or is with the caller: then the relayd may have more. */
static bool holds_any(const struct viewer *v)
{
	for (guint i = 0; i < v->streams->len; i++)
		if (((const struct viewer_stream *)g_ptr_array_index(v->streams, i))->held)
			return true;
	return false;
}

bool viewer_has_ended(const struct viewer *v)
{
	if (v->state != STATE_ATTACHED || v->part != PART_HEAD)
		return false;
	if (v->n_data == 0)
		return v->is_closed || v->is_unlisted;
	return v->is_unlisted && g_get_monotonic_time() > v->packet_us + QUIET_US && !holds_any(v);
}
