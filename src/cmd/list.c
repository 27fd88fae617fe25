/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `lttngtop list`: the hosts and sessions that a relayd offers. */
#include <glib.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/fail.h"
#include "cli/manual_items.h"
#include "cmd/record/relay_list.h"
#include "view/format.h"

/* ---- printing ---- */

enum { COLUMNS = 7 };

static void write_text(const GPtrArray *sessions)
{
	static const char *const headers[COLUMNS] = { "HOST",    "SESSION",    "STATE", "STREAMS",
						      "CLIENTS", "LIVE TIMER", "URL" };
	static const bool right[COLUMNS] = { false, false, false, true, true, true, false };
	GPtrArray *cells = g_ptr_array_new_with_free_func(g_free);
	unsigned widths[COLUMNS] = { 0 };
	char timer[FORMAT_SIZE];

	for (unsigned c = 0; c < COLUMNS; c++)
		g_ptr_array_add(cells, g_strdup(headers[c]));
	for (guint i = 0; i < sessions->len; i++) {
		const struct relay_session *s = g_ptr_array_index(sessions, i);

		format_duration(timer, sizeof(timer), s->timer_ns, true);
		g_ptr_array_add(cells, g_strdup(s->host));
		g_ptr_array_add(cells, g_strdup(s->name));
		g_ptr_array_add(cells, g_strdup(relay_session_state(s)));
		g_ptr_array_add(cells, g_strdup_printf("%" PRIu64, s->streams));
		g_ptr_array_add(cells, g_strdup_printf("%" PRIu64, s->clients));
		g_ptr_array_add(cells, g_strdup(s->timer_ns ? timer : "-"));
		g_ptr_array_add(cells, g_strdup(s->url));
	}
	for (guint i = 0; i < cells->len; i++)
		widths[i % COLUMNS] = MAX(widths[i % COLUMNS], utf8_width(g_ptr_array_index(cells, i)));
	for (guint i = 0; i < cells->len; i++) {
		const unsigned c = i % COLUMNS;
		const char *text = g_ptr_array_index(cells, i);
		const int blanks = (int)(widths[c] - utf8_width(text));

		if (right[c])
			printf("%*s%s  ", blanks, "", text);
		else if (c + 1 < COLUMNS)
			printf("%s%*s  ", text, blanks, "");
		else
			printf("%s\n", text);
	}
	g_ptr_array_free(cells, TRUE);
}

static json_t *json_of(const struct relay_session *s)
{
	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:b, s:b}", "host", s->host, "session", s->name, "url", s->url,
			 "streams", (json_int_t)s->streams, "clients", (json_int_t)s->clients, "live_timer_ns",
			 (json_int_t)s->timer_ns, "live", s->timer_ns > 0, "taken", relay_session_is_taken(s));
}

static void write_json(const char *relay, const GPtrArray *sessions)
{
	json_t *hosts = json_array(), *list = json_array(), *object;
	const char *last = NULL;

	for (guint i = 0; i < sessions->len; i++) {
		const struct relay_session *s = g_ptr_array_index(sessions, i);

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

/* Without a URL the relayd of this machine is asked, which a user may not expect. */
static int fail_to_ask(const struct options *o)
{
	const int status = cmd_fail(LT_EXIT_FAILURE, "list");

	if (!o->words->len)
		log_say("this machine's relayd was asked; for another machine's: lttngtop list net://HOST");
	return status;
}

int cmd_list(const struct options *o)
{
	GPtrArray *sessions = relay_list_new();
	struct source_url url = { 0 };
	int status = LT_EXIT_OK;

	if (o->words->len > 1) {
		error_set("more than one URL");
		status = cmd_fail(LT_EXIT_USAGE, "list");
	} else if (source_parse_url(o->words->len ? g_ptr_array_index(o->words, 0) : LOCAL_RELAY, &url) != LT_OK) {
		status = cmd_fail(LT_EXIT_USAGE, "list");
	} else if (relay_list_ask(&url, o->timeout, sessions) != LT_OK) {
		status = fail_to_ask(o);
	} else if (o->json) {
		write_json(url.relay, sessions);
	} else if (sessions->len) {
		write_text(sessions);
	} else {
		log_say("'%s' has no sessions", url.relay);
	}
	source_url_release(&url);
	g_ptr_array_free(sessions, TRUE);
	return status;
}

void cmd_list_help(struct help *h)
{
	static const struct manual_item columns[] = {
		{ "HOST, SESSION",
		  "the traced host and the name of the session; one line for its kernel's and its programs' traces" },
		{ "STATE", "whether the session can be viewed, see below" },
		{ "STREAMS",
		  "number of streams that the relayd has received: for each trace one with its metadata, and about one "
		  "per CPU and channel" },
		{ "CLIENTS", "number of viewers that are attached now" },
		{ "LIVE TIMER", "how often idle CPUs report; '-': the session is not live" },
		{ "URL", "the SOURCE to give to lttngtop" },
		{ NULL, NULL },
	};
	static const struct manual_item keys[] = {
		{ "schema", "1, the version of this format" },
		{ "relay", "URL of the relayd" },
		{ "hosts", "names of the hosts that have sessions" },
		{ "sessions", "the sessions, by host and name: objects with the keys below" },
		{ "host, session, url, streams, clients", "as in the text" },
		{ "live_timer_ns", "the live timer; 0: the session is not live" },
		{ "live", "whether it can be viewed while it is recorded" },
		{ "taken", "whether another viewer is attached" },
		{ NULL, NULL },
	};
	const char *name, *meaning;

	help_section(h, "Columns");
	manual_print_items(h, columns);
	help_section(h, "States of a session");
	for (unsigned i = 0; relay_session_states(i, &name, &meaning); i++)
		help_item(h, name, meaning);
	if (h->brief)
		return;
	help_section(h, "JSON");
	help_paragraph(h, "With --json the list is one object on one line, such as (here on several lines):");
	help_example(h, "{\"schema\":1,\"relay\":\"net://localhost\",\"hosts\":[\"web\"],\n"
			" \"sessions\":[{\"host\":\"web\",\"session\":\"demo\",\n"
			"              \"url\":\"net://localhost/host/web/demo\",\"streams\":4,\"clients\":0,\n"
			"              \"live_timer_ns\":1000000000,\"live\":true,\"taken\":false}]}");
	manual_print_items(h, keys);
}
