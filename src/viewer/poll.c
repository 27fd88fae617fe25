/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/nstime.h"
#include "viewer/internal.h"

/*
 * When to ask. Once per live timer a tracer delivers a stream's data, or a beacon. An answer without data right before
 * one with data shows when: then the stream is asked a period after the former, and every few milliseconds until there
 * is something. Each request costs both sides far more than the few events of a quiet host.
 *
 *   deliveries    ─────────┼───────────────────┼──────────────────┼─────────
 *   requests              ×✓                  ×✓             × × × ✓            × nothing yet   ✓ data
 *                         └── a period ───────┘
 *
 * Data that was there at the first request came earlier: the next request is earlier, and if that goes on the stream is
 * asked at longer intervals until the time is known again. A full buffer may come earlier and has to wait, but events
 * are still known within the timer's period plus some milliseconds. After a packet the next one is requested at once,
 * unless the stream's packets are so small that only the timer delivers them.
 */
enum {
	EARLY_US = 5 * US_PER_MS,      /* most that the time of a delivery is assumed to be before its answer */
	SLACK_US = 1 * US_PER_MS,      /* the request comes so much earlier, so that it does not get later and later */
	EARLIER_US = 6 * US_PER_MS,    /* in addition, for each consecutive delivery that came earlier */
	EARLIER_MAX = 2,               /* more of them are not regular */
	GAP_US = 5 * US_PER_MS,        /* afterwards; the time is known as precisely then */
	GAPS_EVEN = 5,                 /* number of such requests */
	GAP_MAX_US = 20 * US_PER_MS,   /* between those that follow */
	QUIET_GAP_US = 25 * US_PER_MS, /* while the time of deliveries is unknown */
	KNOWN_GAP_US = 30 * US_PER_MS, /* longest time from an answer without data to one that shows when data comes */
	LIGHT_BITS = 8 * 4096,         /* a buffer is at least a page: a packet of less is not due to a full one */
	LIGHT_PACKETS = 4,             /* such packets in succession */
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

bool viewer_stream_is_full(const struct viewer_stream *s)
{
	return s->requests == 0 && !s->packet_due && !viewer_may_hold_more(s->viewer, s);
}

/* ---- answers about a stream ---- */

static void note_news(struct viewer_stream *s, int64_t now_us)
{
	if (s->miss_us > s->news_us && now_us - s->miss_us <= KNOWN_GAP_US) {
		s->is_regular = true;
		s->earlier = 0;
	} else if (s->miss_us > s->news_us || now_us - s->news_us > KNOWN_GAP_US) {
		s->is_regular = s->is_regular && s->earlier++ < EARLIER_MAX;
		s->until_us = s->before_us + timer_of(s->viewer) + EARLY_US + GAP_US;
	} /* else: another packet at the same time adds no information */
	s->before_us = MAX(s->miss_us, now_us - EARLY_US);
	s->news_us = now_us;
	s->misses = 0;
}

/* When to ask for the next delivery if they are regular. */
static int64_t expected_us(const struct viewer_stream *s)
{
	return MAX(s->before_us + timer_of(s->viewer) - SLACK_US - s->earlier * EARLIER_US, s->news_us + GAP_US);
}

/* Its buffers are not full before the timer expires. */
static bool is_light(const struct viewer_stream *s)
{
	return s->light == LIGHT_PACKETS;
}

void viewer_saw_packet(struct viewer_stream *s)
{
	const int64_t now_us = g_get_monotonic_time(), timer_us = timer_of(s->viewer);

	if (s->packet_us && now_us - s->packet_us < timer_us * 3 / 4)
		s->busy_us = now_us + BUSY_TIMERS * timer_us;
	note_news(s, now_us);
	s->light = s->content_bits < LIGHT_BITS ? MIN(s->light + 1, LIGHT_PACKETS) : 0;
	s->packet_us = s->due_us = now_us;
	if (is_light(s) && s->is_regular && now_us >= s->busy_us)
		s->due_us = expected_us(s);
}

void viewer_saw_beacon(struct viewer_stream *s)
{
	note_news(s, g_get_monotonic_time());
	s->due_us = expected_us(s);
	if (!s->is_regular)
		s->due_us = MIN(s->due_us, s->news_us + QUIET_GAP_US);
}

void viewer_saw_nothing(struct viewer_stream *s)
{
	const int64_t now_us = g_get_monotonic_time(), timer_us = timer_of(s->viewer);
	int64_t gap_us;

	if (now_us < s->busy_us) {
		s->due_us = now_us + MIN(timer_us, BUSY_GAP_US);
	} else if (s->is_regular && s->earlier && !is_light(s) && now_us < s->until_us) {
		s->due_us = now_us + GAP_US; /* what came earlier may have been a full buffer */
	} else if (s->news_us && now_us < expected_us(s)) {
		s->due_us = s->is_regular ? expected_us(s) : MIN(expected_us(s), now_us + QUIET_GAP_US);
	} else {
		gap_us = s->misses < GAPS_EVEN ? GAP_US : GAP_MAX_US;
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
	return v->streams_us + (v->n_data ? MAX(timer_of(v) * 3 / 2, STREAMS_MIN_US) : STREAMS_FIRST_US);
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
	/* usually along with another request */
	if (streams_due_us(v) <= now_us + (asks ? timer_of(v) : 0))
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
