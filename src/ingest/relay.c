/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/relay.h"

#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"

/* A relayd that does not answer is asked again after five seconds, by another worker. */
enum {
	ASK_EVERY_MS = MS_PER_S,
	ASK_LATER_US = 5 * US_PER_S,
	ANSWER_WITHIN_MS = 5 * MS_PER_S,
	HANG_MS = 10 * MS_PER_S,
};

/* As many as a list has at most. The rest is read next time: a faulty worker could list sessions for ever. */
enum { SESSIONS_AT_ONCE = 65536 };

static void session_free(gpointer data)
{
	struct relay_listed *s = data;

	g_free(s->url);
	g_free(s);
}

struct relay *relay_create(const char *url, bool is_watched)
{
	struct relay *r = g_new0(struct relay, 1);

	r->url = g_strdup(url);
	r->is_watched = is_watched;
	r->list = 1;
	r->added = g_ptr_array_new_with_free_func(session_free);
	return r;
}

void relay_free(void *data)
{
	struct relay *r = data;

	source_stop(r->lister);
	g_ptr_array_free(r->added, TRUE);
	g_free(r->url);
	g_free(r->why);
	g_free(r->stored);
	g_free(r);
}

/* It has answered (why NULL), or failed; of one that is not watched its sessions' inputs report that. */
static void answered(struct relay *r, const char *why)
{
	if (why && r->is_watched && g_strcmp0(why, r->why) != 0)
		log_warning("%s", why);
	g_free(r->why);
	r->why = g_strdup(why);
	r->answered = true;
	r->has_listed |= !why;
	r->list++;
	r->n_stored = 0;
	g_ptr_array_set_size(r->added, 0);
	if (!why)
		return;
	source_stop(r->lister);
	r->lister = NULL;
	r->next_us = g_get_monotonic_time() + ASK_LATER_US;
}

static void take_session(struct relay *r, const struct event *ev, const struct relay_listener *listener)
{
	const struct ev_session *p = event_payload(ev, ev_session);
	struct relay_listed *s;

	if (!p->timer_us) {
		r->n_stored++; /* not a live session: it cannot be followed */
		return;
	}
	s = g_new(struct relay_listed, 1);
	*s = (struct relay_listed){ g_strndup(event_text(ev, p->url), p->url.len), p->id };
	if (listener->is_known(listener->data, r, s) || r->added->len == SESSIONS_AT_ONCE)
		session_free(s);
	else
		g_ptr_array_add(r->added, s);
}

static void take_list(struct relay *r, const struct relay_listener *listener)
{
	for (guint i = 0; i < r->added->len; i++)
		listener->added(listener->data, r, g_ptr_array_index(r->added, i));
	listener->listed(listener->data, r);
	g_free(r->stored);
	r->stored = source_stored_text(r->n_stored);
	answered(r, NULL);
}

void relay_poll(struct relay *r, const struct relay_listener *listener)
{
	const struct event *ev;
	enum lt_status status;
	const char *hangs;

	if (!r->lister && g_get_monotonic_time() < r->next_us)
		return;
	if (!r->lister && source_start_list(r->url, ANSWER_WITHIN_MS, ASK_EVERY_MS, &r->lister) != LT_OK) {
		r->lister = NULL;
		answered(r, error_text());
		return;
	}
	for (unsigned n = 0; (status = source_peek(r->lister, &ev)) == LT_OK && n < SESSIONS_AT_ONCE; n++) {
		if (ev->kind == EVENT_SESSION)
			take_session(r, ev, listener);
		else if (ev->kind == EVENT_LISTED)
			take_list(r, listener);
		source_next(r->lister);
	}
	if (status == LT_ERROR)
		answered(r, error_text());
	else if (status == LT_END)
		answered(r, "the list of sessions has ended");
	else if ((hangs = source_hangs(r->lister, HANG_MS)) != NULL)
		source_kill(r->lister, hangs);
}

void relay_give_up(struct relay *r, const char *why)
{
	if (!r->answered)
		answered(r, why);
}
