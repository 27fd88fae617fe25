/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/relay.h"

#include "base/error.h"
#include "base/log.h"

/*
 * Every second, or where there are so many sessions that listing them takes long, a tenth of the time. A
 * relayd that does not answer is asked again after five seconds, from a new connection.
 */
enum { ASK_EVERY_US = 1000000, REST_FACTOR = 9, ASK_LATER_US = 5000000, ANSWER_WITHIN_MS = 5000 };

/* The rest the next time: a worker may list sessions for ever. */
enum { SESSIONS_AT_ONCE = 65536 };

struct relay *relay_create(const char *url)
{
	struct relay *r = g_new0(struct relay, 1);

	r->url = g_strdup(url);
	return r;
}

void relay_free(void *data)
{
	struct relay *r = data;

	source_stop(r->lister);
	g_free(r->url);
	g_free(r->why);
	g_free(r);
}

static void answered(struct relay *r, const char *why)
{
	const int64_t now_us = g_get_monotonic_time();

	if (why && g_strcmp0(why, r->why) != 0)
		log_warning("%s", why);
	g_free(r->why);
	r->why = g_strdup(why);
	r->answered = true;
	source_stop(r->lister);
	r->lister = NULL;
	r->next_us = now_us + (why ? ASK_LATER_US : MAX(ASK_EVERY_US, REST_FACTOR * (now_us - r->asked_us)));
}

static void tell_session(const struct event *ev, relay_session_fn *fn, void *data)
{
	const struct ev_session *p = event_payload(ev, ev_session);
	char *url;

	if (!p->timer_us)
		return; /* no live session: it cannot be followed */
	url = g_strndup(event_text(ev, p->url), p->url.len);
	fn(data, url);
	g_free(url);
}

void relay_poll(struct relay *r, relay_session_fn *fn, void *data)
{
	const struct event *ev;
	enum lt_status status;

	if (!r->lister && g_get_monotonic_time() < r->next_us)
		return;
	if (!r->lister)
		r->asked_us = g_get_monotonic_time();
	if (!r->lister && source_start_list(r->url, ANSWER_WITHIN_MS, &r->lister) != LT_OK) {
		r->lister = NULL;
		answered(r, error_text());
		return;
	}
	for (unsigned n = 0; (status = source_peek(r->lister, &ev)) == LT_OK && n < SESSIONS_AT_ONCE; n++) {
		if (ev->kind == EVENT_SESSION)
			tell_session(ev, fn, data);
		source_next(r->lister);
	}
	if (status == LT_END)
		answered(r, NULL);
	else if (status == LT_ERROR)
		answered(r, error_text());
	else if (source_hangs(r->lister, 2 * ANSWER_WITHIN_MS))
		source_kill(r->lister, "the relayd does not answer");
}
