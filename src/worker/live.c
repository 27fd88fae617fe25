/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worker/live.h"

#include <poll.h>
#include <string.h>

#include "base/error.h"
#include "reader/emit.h"
#include "reader/native/live.h"
#include "source/source.h"

enum {
	BEAT_MS = 500,   /* at least so often the parent sees that the worker lives */
	REST_FACTOR = 9, /* between two lists, at least so many times as long as one took */
};

static enum lt_status make_options(const struct worker_url *from, struct source_url *url,
				   struct viewer_options *options)
{
	if (source_parse_url(from->text, url) != LT_OK)
		return LT_ERROR;
	*options = (struct viewer_options){
		.family = url->family,
		.host = url->host,
		.port = url->port,
		.target = url->target,
		.session = url->session,
		.from_start = from->from_start,
		.timeout_ms = from->timeout_ms,
	};
	return LT_OK;
}

/* Until the viewer can go on, or there is room in a full ring. */
static void wait_for(const struct viewer *v, struct ring_producer *ring, bool is_full)
{
	struct pollfd fds[] = {
		{ .fd = viewer_fd(v), .events = (short)viewer_events(v) },
		{ .fd = is_full ? ring->fds.wake : -1, .events = POLLIN },
	};
	const int64_t due_us = viewer_due_us(v), now_us = g_get_monotonic_time();

	poll(fds, G_N_ELEMENTS(fds), (int)CLAMP((due_us - now_us + 999) / 1000, 0, BEAT_MS));
	if (fds[1].revents)
		ring_room_woken(ring);
	ring_beat(ring);
}

enum lt_status worker_live(const struct worker_url *from, struct ring_producer *ring, enum failed_cause *cause)
{
	struct viewer_options options;
	struct source_url url;
	struct native_live *l;
	enum lt_status status;

	ring_publish(ring);
	if (make_options(from, &url, &options) != LT_OK)
		return LT_ERROR;
	l = native_live_create(&options, from->text, ring);
	while ((status = native_live_step(l, cause)) == LT_OK || status == LT_AGAIN)
		if (status == LT_AGAIN)
			wait_for(native_live_viewer(l), ring, native_live_is_full(l));
	native_live_destroy(l);
	source_url_release(&url);
	return status;
}

/* ---- the list ---- */

static void write_text(struct event *ev, size_t offset, const char *text)
{
	emit_text(ev, offset, text, strlen(text));
}

static void write_session(struct ring_producer *ring, const char *relay, const struct viewer_session *s)
{
	struct event *ev = emit_begin(ring, EVENT_SESSION, 0, 3 * TEXT_MAX);
	struct ev_session *payload = (struct ev_session *)(void *)ev->words;
	char *url = g_strdup_printf("%s/host/%s/%s", relay, s->host, s->name);

	payload->timer_us = s->timer_us;
	payload->streams = s->streams;
	payload->clients = s->clients;
	write_text(ev, offsetof(struct ev_session, hostname), s->host);
	write_text(ev, offsetof(struct ev_session, name), s->name);
	write_text(ev, offsetof(struct ev_session, url), url);
	emit_end(ring, ev);
	g_free(url);
}

/* The list is complete. Where it takes long to make, it is made at a tenth of the time. */
static void rest(struct ring_producer *ring, unsigned every_ms, int64_t asked_us)
{
	const int64_t now_us = g_get_monotonic_time();
	const int64_t until_us = now_us + MAX((int64_t)every_ms * 1000, REST_FACTOR * (now_us - asked_us));

	emit_end(ring, emit_begin(ring, EVENT_LISTED, 0, 0));
	ring_publish(ring);
	while (every_ms && g_get_monotonic_time() < until_us) {
		poll(NULL, 0, (int)MIN(BEAT_MS, every_ms));
		ring_beat(ring);
	}
}

enum lt_status worker_list(const struct worker_url *from, struct ring_producer *ring, enum failed_cause *cause)
{
	int64_t asked_us = g_get_monotonic_time();
	struct viewer_event event;
	struct viewer_options options;
	struct source_url url;
	enum lt_status status;
	struct viewer *v;

	ring_publish(ring);
	if (make_options(from, &url, &options) != LT_OK)
		return LT_ERROR;
	v = viewer_create(&options);
	while ((status = viewer_next(v, &event)) == LT_OK || status == LT_AGAIN) {
		if (status == LT_AGAIN) {
			wait_for(v, ring, false);
		} else if (event.kind == VIEWER_SESSION) {
			write_session(ring, url.relay, event.session);
		} else {
			rest(ring, from->every_ms, asked_us);
			if (!from->every_ms)
				break;
			asked_us = g_get_monotonic_time();
			viewer_list_again(v);
		}
	}
	if (status == LT_ERROR)
		*cause = native_live_cause(v);
	viewer_destroy(v);
	source_url_release(&url);
	return status == LT_ERROR ? LT_ERROR : LT_END;
}
