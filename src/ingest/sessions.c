/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The live sessions that relayds list, and which input reads which of them. */
#include "base/log.h"
#include "ingest/internal.h"

enum {
	SESSIONS_MAX = 1 << 17, /* known, ended or not: a relayd could list others each time */
	ENDED_KEPT = 32,        /* sessions that have ended and are no longer listed */
	NAMESAKES_MAX = 64,     /* of one name: two per session daemon are usual */
};

/*
 * The first session that is not even remembered because of a limit is reported, and makes the figures incomplete. said:
 * whether that was done for this limit.
 */
static void leave_unknown(struct ingest *in, const char *name, unsigned n, bool *said)
{
	if (!*said)
		log_warning("%s: %u live sessions were listed: ignoring further ones", name, n);
	*said = in->broken = true;
}

/* Whether its host is replaced, as after a reboot: a session of its name is that of another host. */
static bool starts_again(const struct input *input)
{
	return input->state == INPUT_ENDED && input->host && input->host->public.replaced;
}

/* A session that had ended is attached again at once. */
static void note_listed(struct input *input, const struct relay *r)
{
	input->listed = r->list;
	input->is_listed = input->existed = true;
	input->is_absent = false;
	if (starts_again(input)) {
		input_leave_host(input);
		input->state = INPUT_WAITING;
	}
	if (input->state == INPUT_WAITING && !input->broken)
		input->retry_us = 0;
}

static bool is_known(void *data, const struct relay *r, const struct relay_listed *s)
{
	const struct ingest *in = data;
	struct input *input = g_hash_table_lookup(in->sessions, s->url);

	if (!input)
		return !r->is_watched;
	while (input && input->session_id != s->id)
		input = input->namesake;
	if (input)
		note_listed(input, r);
	return input != NULL;
}

/* A new session. An input that is followed and whose session is gone gets it, as that is usually its successor. */
static void added(void *data, const struct relay *r, const struct relay_listed *s)
{
	struct ingest *in = data;
	struct input *input = NULL;
	struct source_url url;
	unsigned n = 0;

	for (struct input *each = g_hash_table_lookup(in->sessions, s->url); each; each = each->namesake) {
		n++;
		if (each->session_id == s->id) {
			note_listed(each, r); /* it was found while the rest of the list arrived */
			return;
		}
		if (each->source && !each->session_id)
			return; /* it may have taken this one, which the next list will have, too */
		if (!each->source && each->listed != r->list && (each->state != INPUT_ENDED || starts_again(each)))
			input = each;
	}
	if (input) {
		input->session_id = s->id;
		note_listed(input, r);
	} else if (in->inputs->len >= SESSIONS_MAX) {
		leave_unknown(in, r->url, SESSIONS_MAX, &in->unknown);
	} else if (n >= NAMESAKES_MAX) {
		leave_unknown(in, s->url, NAMESAKES_MAX, &in->unknown_namesakes);
	} else if (source_parse_url(s->url, &url) == LT_OK) {
		if (url.session) {
			ingest_start_spec(in, ingest_add_session(in, &url, s->id));
			input = input_at(in, in->inputs->len - 1);
			input->relay = r;
			note_listed(input, r);
		}
		source_url_release(&url);
	}
}

/* Whether nothing is lost with it: its session is not in the list, and the host is known by others. */
static bool is_needless(const struct input *input, const struct relay *r)
{
	const struct host *host = input->host;
	unsigned n = 0;

	if (input->relay != r || input->listed == r->list || input->source || input->has_place)
		return false;
	if (input->state != INPUT_UNTAKEN && (!input->session_over || input->state == INPUT_DETACHED))
		return false;
	for (guint i = 0; host && i < host->inputs->len; i++)
		n += g_ptr_array_index(host->inputs, i) != NULL;
	return n != 1 || host->public.replaced;
}

/* Others of its name stay; the table's key is the URL of one that does. */
static void leave_namesakes(struct ingest *in, const struct input *input)
{
	struct input *first = g_hash_table_lookup(in->sessions, input->spec->url);
	struct input **link = &first;

	while (*link != input)
		link = &(*link)->namesake;
	*link = input->namesake;
	g_hash_table_remove(in->sessions, input->spec->url);
	if (first)
		g_hash_table_insert(in->sessions, first->spec->url, first);
}

static void forget_session(struct ingest *in, struct input *input)
{
	const struct source_spec *spec = input->spec;
	const bool is_last_of_name = !input->namesake && g_hash_table_lookup(in->sessions, spec->url) == input;

	leave_namesakes(in, input);
	if (input->host && !input->host->public.replaced && is_last_of_name)
		host_remove_source(input->host, spec->name);
	if (input->host)
		input_leave_host(input);
	if (is_last_of_name)
		source_forget_session(spec->url);
	g_ptr_array_remove(in->inputs, input);
	g_ptr_array_remove(in->specs, (void *)spec);
	in->announced = true;
}

static gint latest_first(gconstpointer a, gconstpointer b)
{
	const struct input *x = *(struct input *const *)a, *y = *(struct input *const *)b;

	return (x->stopped_us < y->stopped_us) - (x->stopped_us > y->stopped_us);
}

/*
 * Sessions may come and go for weeks under new names, and most never return. The last ones that have ended stay, and
 * with them what is kept of their past.
 */
static void listed(void *data, const struct relay *r)
{
	struct ingest *in = data;
	GPtrArray *ended = g_ptr_array_new();

	for (guint i = in->inputs->len; i-- > 0;) {
		struct input *input = input_at(in, i);

		if (!is_needless(input, r))
			continue;
		if (input->state == INPUT_UNTAKEN)
			forget_session(in, input);
		else
			g_ptr_array_add(ended, input);
	}
	g_ptr_array_sort(ended, latest_first);
	for (guint i = ENDED_KEPT; i < ended->len; i++)
		if (is_needless(g_ptr_array_index(ended, i), r)) /* still: its host may have lost the others */
			forget_session(in, g_ptr_array_index(ended, i));
	g_ptr_array_free(ended, TRUE);
}

void ingest_poll_relays(struct ingest *in)
{
	const struct relay_listener listener = { is_known, added, listed, in };

	for (guint i = 0; i < in->relays->len && !in->left_live; i++)
		relay_poll(g_ptr_array_index(in->relays, i), &listener);
	for (guint i = 0; i < in->lists->len && !in->left_live; i++)
		relay_poll(g_ptr_array_index(in->lists, i), &listener);
}

static bool has_relay(const GPtrArray *relays, const char *url)
{
	for (guint i = 0; i < relays->len; i++)
		if (g_str_equal(((struct relay *)g_ptr_array_index(relays, i))->url, url))
			return true;
	return false;
}

void ingest_watch_relay(struct ingest *in, const char *url)
{
	if (!has_relay(in->relays, url))
		g_ptr_array_add(in->relays, relay_create(url, true));
}

void ingest_look_for_namesakes(struct ingest *in, const struct input *input)
{
	struct source_url url;

	if (!input->spec->url || !input->session_id || input->is_listed ||
	    source_parse_url(input->spec->url, &url) != LT_OK)
		return;
	if (!has_relay(in->relays, url.relay) && !has_relay(in->lists, url.relay))
		g_ptr_array_add(in->lists, relay_create(url.relay, false));
	source_url_release(&url);
}
