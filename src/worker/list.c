/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worker/list.h"

#include <glib.h>
#include <string.h>

#include "base/nstime.h"
#include "reader/emit.h"
#include "reader/native/live.h"

enum { REST_FACTOR = 9 }; /* pause between two lists, at least this many times as long as one took */

struct worker_list {
	struct viewer *viewer;
	struct ring_producer *ring;
	char *relay;
	unsigned every_ms;
	int64_t asked_us; /* when the list was requested; monotonic, as is the next one */
	int64_t rest_us;  /* when it will be requested again; 0: it is being received */
	bool is_full;
};

struct worker_list *worker_list_create(const struct viewer_options *options, const char *relay, unsigned every_ms,
				       struct ring_producer *ring)
{
	struct worker_list *l = g_new0(struct worker_list, 1);

	l->viewer = viewer_create(options);
	l->ring = ring;
	l->relay = g_strdup(relay);
	l->every_ms = every_ms;
	l->asked_us = g_get_monotonic_time();
	return l;
}

void worker_list_destroy(struct worker_list *l)
{
	if (!l)
		return;
	viewer_destroy(l->viewer);
	g_free(l->relay);
	g_free(l);
}

const struct viewer *worker_list_viewer(const struct worker_list *l)
{
	return l->viewer;
}

int64_t worker_list_due_us(const struct worker_list *l)
{
	const int64_t due_us = viewer_due_us(l->viewer);

	return l->rest_us ? MIN(due_us, l->rest_us) : due_us;
}

bool worker_list_is_full(const struct worker_list *l)
{
	return l->is_full;
}

static void write_text(struct event *ev, size_t offset, const char *text)
{
	emit_text(ev, offset, text, strlen(text));
}

static void write_session(struct worker_list *l, const struct viewer_session *s)
{
	struct event *ev = emit_begin(l->ring, EVENT_SESSION, 0, 3 * TEXT_MAX);
	struct ev_session *payload = (struct ev_session *)(void *)ev->words;
	char *url = g_strdup_printf("%s/host/%s/%s", l->relay, s->host, s->name);

	payload->id = s->id;
	payload->timer_us = s->timer_us;
	payload->streams = s->streams;
	payload->clients = s->clients;
	write_text(ev, offsetof(struct ev_session, hostname), s->host);
	write_text(ev, offsetof(struct ev_session, name), s->name);
	write_text(ev, offsetof(struct ev_session, url), url);
	emit_end(l->ring, ev);
	g_free(url);
}

/* The list is complete. If lists take long, at most a tenth of the time is spent on them. */
static enum lt_status finish(struct worker_list *l)
{
	const int64_t now_us = g_get_monotonic_time();

	emit_end(l->ring, emit_begin(l->ring, EVENT_LISTED, 0, 0));
	ring_publish(l->ring);
	if (!l->every_ms)
		return LT_END;
	l->rest_us = now_us + MAX((int64_t)l->every_ms * US_PER_MS, REST_FACTOR * (now_us - l->asked_us));
	return LT_OK;
}

enum lt_status worker_list_step(struct worker_list *l, enum failed_cause *cause)
{
	struct viewer_event event;
	enum lt_status status;

	l->is_full = !ring_has_room(l->ring);
	if (l->is_full)
		return LT_AGAIN;
	if (l->rest_us && g_get_monotonic_time() >= l->rest_us) {
		l->rest_us = 0;
		l->asked_us = g_get_monotonic_time();
		viewer_list_again(l->viewer);
	}
	status = viewer_next(l->viewer, &event);
	if (status == LT_ERROR)
		*cause = native_live_cause(l->viewer);
	if (status == LT_AGAIN)
		ring_publish(l->ring);
	if (status != LT_OK)
		return status;
	if (event.kind == VIEWER_LISTED)
		return finish(l);
	write_session(l, event.session);
	return LT_OK;
}
