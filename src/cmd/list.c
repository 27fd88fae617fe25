/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `lttngtop list`: hosts and sessions that a relayd offers. */
#include <glib.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "event/payload.h"
#include "source/source.h"
#include "view/format.h"

#define LOCAL_RELAY "net://localhost"

enum { NS_PER_MS = 1000000, NS_PER_US = 1000, LOOK_EVERY_MS = 50, HANG_MS = 2000 };

struct session {
	char *host, *name, *url;
	uint64_t timer_ns, streams, clients;
};

/* What can be done with a session. */
enum state { STATE_FREE, STATE_TAKEN, STATE_NOT_LIVE };

static const struct {
	const char *name;
	const char *meaning;
} states[] = {
	[STATE_FREE] = {"free", "lttngtop can attach to it"},
	[STATE_TAKEN] = {"taken", "another viewer is attached, perhaps another lttngtop; a relayd admits one only"},
	[STATE_NOT_LIVE] = {"not live", "it was not created with --live: the relayd only stores it"},
};

static enum state state_of(const struct session *s)
{
	if (!s->timer_ns)
		return STATE_NOT_LIVE;
	return s->clients ? STATE_TAKEN : STATE_FREE;
}

static int fail(int status)
{
	char text[TEXT_MAX + 1];

	text_sanitise(text, sizeof(text), error_text(), strlen(error_text()));
	fprintf(stderr, "lttngtop: %s\n", text);
	if (status == LT_EXIT_USAGE)
		fputs("Try 'lttngtop list --help'.\n", stderr);
	return status;
}

/* ---- asking ---- */

static void session_free(gpointer data)
{
	struct session *s = data;

	g_free(s->host);
	g_free(s->name);
	g_free(s->url);
	g_free(s);
}

static char *text_of(const struct event *ev, struct event_str str)
{
	char text[TEXT_MAX + 1];

	text_sanitise(text, sizeof(text), event_text(ev, str), str.len);
	return g_strdup(text);
}

static struct session *session_of(const struct event *ev)
{
	const struct ev_session *p = event_payload(ev, ev_session);
	struct session *s = g_new0(struct session, 1);

	s->host = text_of(ev, p->hostname);
	s->name = text_of(ev, p->name);
	s->url = text_of(ev, p->url);
	s->timer_ns = MIN(p->timer_us, (uint64_t)INT64_MAX / NS_PER_US) * NS_PER_US;
	s->streams = p->streams;
	s->clients = p->clients;
	return s;
}

static gint by_name(gconstpointer a, gconstpointer b)
{
	const struct session *x = *(struct session *const *)a, *y = *(struct session *const *)b;
	const int order = strcmp(x->host, y->host);

	return order ? order : strcmp(x->name, y->name);
}

/*
 * The sessions that the URL means. LT_ERROR: none within the limit, not counting what it takes to read a
 * long list, or no answer of a relayd.
 */
static enum lt_status ask(const struct source_url *url, uint64_t limit_ns, GPtrArray *sessions)
{
	const unsigned limit_ms = (unsigned)MIN(MAX(limit_ns / NS_PER_MS, 1), G_MAXUINT);
	const struct event *ev;
	enum lt_status status;
	struct source *source;

	if (source_start_list(url->relay, limit_ms, 0, &source) != LT_OK)
		return LT_ERROR;
	while ((status = source_peek(source, &ev)) == LT_OK || status == LT_AGAIN) {
		struct pollfd fd = {.fd = source_fd(source), .events = POLLIN};

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
		return error_set("'%s' does not answer: no list within %" PRIu64 " ms", url->relay,
				 limit_ns / NS_PER_MS);
	for (guint i = sessions->len; url->session && i-- > 0;) {
		const struct session *s = g_ptr_array_index(sessions, i);

		if (strcmp(s->host, url->target) != 0 || strcmp(s->name, url->session) != 0)
			g_ptr_array_remove_index(sessions, i);
	}
	if (url->session && !sessions->len)
		return error_set("'%s' has no session '%s' of host '%s'", url->relay, url->session, url->target);
	g_ptr_array_sort(sessions, by_name);
	return LT_OK;
}

/* ---- telling ---- */

enum { COLUMNS = 7 };

static void write_text(const GPtrArray *sessions)
{
	static const char *const headers[COLUMNS] = {"HOST", "SESSION", "STATE", "STREAMS", "CLIENTS", "LIVE TIMER",
						     "URL"};
	static const bool right[COLUMNS] = {false, false, false, true, true, true, false};
	GPtrArray *cells = g_ptr_array_new_with_free_func(g_free);
	unsigned widths[COLUMNS] = {0};
	char timer[FORMAT_SIZE];

	for (unsigned c = 0; c < COLUMNS; c++)
		g_ptr_array_add(cells, g_strdup(headers[c]));
	for (guint i = 0; i < sessions->len; i++) {
		const struct session *s = g_ptr_array_index(sessions, i);

		format_duration(timer, sizeof(timer), s->timer_ns, true);
		g_ptr_array_add(cells, g_strdup(s->host));
		g_ptr_array_add(cells, g_strdup(s->name));
		g_ptr_array_add(cells, g_strdup(states[state_of(s)].name));
		g_ptr_array_add(cells, g_strdup_printf("%" PRIu64, s->streams));
		g_ptr_array_add(cells, g_strdup_printf("%" PRIu64, s->clients));
		g_ptr_array_add(cells, g_strdup(s->timer_ns ? timer : "-"));
		g_ptr_array_add(cells, g_strdup(s->url));
	}
	for (guint i = 0; i < cells->len; i++)
		widths[i % COLUMNS] = MAX(widths[i % COLUMNS], format_width(g_ptr_array_index(cells, i)));
	for (guint i = 0; i < cells->len; i++) {
		const unsigned c = i % COLUMNS;
		const char *text = g_ptr_array_index(cells, i);
		const int blanks = (int)(widths[c] - format_width(text));

		if (right[c])
			printf("%*s%s  ", blanks, "", text);
		else if (c + 1 < COLUMNS)
			printf("%s%*s  ", text, blanks, "");
		else
			printf("%s\n", text);
	}
	g_ptr_array_free(cells, TRUE);
}

static json_t *json_of(const struct session *s)
{
	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:b, s:b}", "host", s->host, "session", s->name, "url", s->url,
			 "streams", (json_int_t)s->streams, "clients", (json_int_t)s->clients, "live_timer_ns",
			 (json_int_t)s->timer_ns, "live", s->timer_ns > 0, "taken", state_of(s) == STATE_TAKEN);
}

static void write_json(const char *relay, const GPtrArray *sessions)
{
	json_t *hosts = json_array(), *list = json_array(), *object;
	const char *last = NULL;

	for (guint i = 0; i < sessions->len; i++) {
		const struct session *s = g_ptr_array_index(sessions, i);

		json_array_append_new(list, json_of(s));
		if (!last || strcmp(last, s->host) != 0)
			json_array_append_new(hosts, json_string(s->host));
		last = s->host;
	}
	object = json_pack("{s:i, s:s, s:o, s:o}", "schema", 1, "relay", relay, "hosts", hosts, "sessions", list);
	json_dumpf(object, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(object);
}

int cmd_list(const struct options *o)
{
	GPtrArray *sessions = g_ptr_array_new_with_free_func(session_free);
	struct source_url url = {0};
	int status = LT_EXIT_OK;

	if (o->words->len > 1) {
		error_set("more than one URL");
		status = fail(LT_EXIT_USAGE);
	} else if (source_parse_url(o->words->len ? g_ptr_array_index(o->words, 0) : LOCAL_RELAY, &url) != LT_OK) {
		status = fail(LT_EXIT_USAGE);
	} else if (ask(&url, o->timeout, sessions) != LT_OK) {
		status = fail(LT_EXIT_FAILURE);
	} else if (o->json) {
		write_json(url.relay, sessions);
	} else if (sessions->len) {
		write_text(sessions);
	} else {
		fprintf(stderr, "lttngtop: '%s' has no sessions\n", url.relay);
	}
	source_url_release(&url);
	g_ptr_array_free(sessions, TRUE);
	return status;
}

void cmd_list_help(struct help *h)
{
	help_section(h, "States of a session");
	for (size_t i = 0; i < G_N_ELEMENTS(states); i++)
		help_item(h, states[i].name, states[i].meaning);
}
