/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/record/relay_list.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "base/error.h"
#include "base/nstime.h"
#include "event/payload.h"

enum { LOOK_EVERY_MS = 50, HANG_MS = 2 * MS_PER_S };

/* Whether a session can be viewed. */
enum state { STATE_FREE, STATE_TAKEN, STATE_NOT_LIVE };

static const struct {
	const char *name;
	const char *meaning;
} states[] = {
	[STATE_FREE] = { "free", "lttngtop can attach to it" },
	[STATE_TAKEN] = { "taken", "another viewer is attached, perhaps another lttngtop; a relayd allows only one" },
	[STATE_NOT_LIVE] = { "not live", "it was not created with --live: the relayd only stores it" },
};

static enum state state_of(const struct relay_session *s)
{
	if (!s->timer_ns)
		return STATE_NOT_LIVE;
	return s->clients ? STATE_TAKEN : STATE_FREE;
}

const char *relay_session_state(const struct relay_session *s)
{
	return states[state_of(s)].name;
}

bool relay_session_is_taken(const struct relay_session *s)
{
	return state_of(s) == STATE_TAKEN;
}

bool relay_session_states(unsigned i, const char **name, const char **meaning)
{
	if (i >= G_N_ELEMENTS(states))
		return false;
	*name = states[i].name;
	*meaning = states[i].meaning;
	return true;
}

static void session_free(gpointer data)
{
	struct relay_session *s = data;

	if (!s) /* taken out of the list */
		return;
	g_free(s->host);
	g_free(s->name);
	g_free(s->url);
	g_free(s);
}

static struct relay_session *session_of(const struct event *ev)
{
	const struct ev_session *p = event_payload(ev, ev_session);
	struct relay_session *s = g_new0(struct relay_session, 1);

	s->host = source_text(ev, p->hostname);
	s->name = source_text(ev, p->name);
	s->url = source_text(ev, p->url);
	s->timer_ns = MIN(p->timer_us, (uint64_t)INT64_MAX / NS_PER_US) * NS_PER_US;
	s->streams = p->streams;
	s->clients = p->clients;
	return s;
}

static gint by_name(gconstpointer a, gconstpointer b)
{
	const struct relay_session *x = *(struct relay_session *const *)a, *y = *(struct relay_session *const *)b;
	const int order = strcmp(x->host, y->host);

	return order ? order : strcmp(x->name, y->name);
}

/*
 * A relayd lists the kernel's and the programs' part of a session as two sessions of one name, which have one URL and
 * are read together. A viewer of both is one viewer.
 */
static void unite_parts(GPtrArray *sessions)
{
	for (guint i = sessions->len; i-- > 1;) {
		const struct relay_session *part = g_ptr_array_index(sessions, i);
		struct relay_session *s = g_ptr_array_index(sessions, i - 1);

		if (strcmp(s->host, part->host) != 0 || strcmp(s->name, part->name) != 0)
			continue;
		s->timer_ns = MAX(s->timer_ns, part->timer_ns);
		s->streams += part->streams;
		s->clients = MAX(s->clients, part->clients);
		g_ptr_array_remove_index(sessions, i);
	}
}

GPtrArray *relay_list_new(void)
{
	return g_ptr_array_new_with_free_func(session_free);
}

enum lt_status relay_list_ask(const struct source_url *url, uint64_t limit_ns, GPtrArray *sessions)
{
	const unsigned limit_ms = (unsigned)MIN(MAX(limit_ns / NS_PER_MS, 1), G_MAXUINT);
	const struct event *ev;
	enum lt_status status;
	struct source *source;

	if (source_start_list(url->relay, limit_ms, 0, &source) != LT_OK)
		return LT_ERROR;
	while ((status = source_peek(source, &ev)) == LT_OK || status == LT_AGAIN) {
		struct pollfd fd = { .fd = source_fd(source), .events = POLLIN };

		if (status == LT_AGAIN && source_hangs(source, limit_ms + HANG_MS))
			break;
		if (status == LT_AGAIN) {
			poll(&fd, 1, LOOK_EVERY_MS);
			continue;
		}
		if (ev->kind == EVENT_SESSION)
			g_ptr_array_add(sessions, session_of(ev));
		source_next(source);
	}
	source_stop(source);
	if (status == LT_ERROR)
		return LT_ERROR;
	if (status != LT_END)
		return error_set("no answer from '%s': no list within %" PRIu64 " ms", url->relay,
				 limit_ns / NS_PER_MS);
	for (guint i = sessions->len; url->session && i-- > 0;) {
		const struct relay_session *s = g_ptr_array_index(sessions, i);

		if (strcmp(s->host, url->target) != 0 || strcmp(s->name, url->session) != 0)
			g_ptr_array_remove_index(sessions, i);
	}
	if (url->session && !sessions->len)
		return error_set("'%s' has no session '%s' on host '%s'", url->relay, url->session, url->target);
	g_ptr_array_sort(sessions, by_name);
	unite_parts(sessions);
	return LT_OK;
}
