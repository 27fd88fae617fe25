/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/host.h"

#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "event/payload.h"

static char *text_of(const struct event *ev, struct event_str s)
{
	char text[TEXT_MAX + 1];

	text_sanitise(text, sizeof(text), event_text(ev, s), s.len);
	return g_strdup(text);
}

static struct host *host_create(char *hostname, char *clock, const struct event *ev)
{
	const struct ev_trace *p = event_payload(ev, ev_trace);
	struct host *h = g_new0(struct host, 1);

	h->hostname = hostname;
	h->clock = clock;
	h->merge = merge_create();
	h->public.name = g_strdup(hostname);
	h->public.tracer = text_of(ev, p->tracer);
	h->public.source = g_strdup("");
	h->public.model = model_create();
	return h;
}

void host_free(void *data)
{
	struct host *h = data;

	merge_destroy(h->merge);
	model_destroy(h->public.model);
	g_free(h->public.name);
	g_free(h->public.tracer);
	g_free(h->public.source);
	g_free(h->public.trouble);
	g_free(h->hostname);
	g_free(h->clock);
	g_free(h);
}

static void add_source_name(struct host *h, const char *name)
{
	char *joined;

	if (strstr(h->public.source, name))
		return;
	joined = h->public.source[0] ? g_strconcat(h->public.source, ", ", name, NULL) : g_strdup(name);
	g_free(h->public.source);
	h->public.source = joined;
}

struct host *host_of_trace(GPtrArray *hosts, const struct event *ev, const char *hint, const char *source_name)
{
	const struct ev_trace *p = event_payload(ev, ev_trace);
	char *hostname = p->hostname.len ? text_of(ev, p->hostname) : g_strdup(hint);
	char *clock = text_of(ev, p->clock);
	struct host *h = NULL;

	for (guint i = 0; i < hosts->len && !h; i++) {
		struct host *known = g_ptr_array_index(hosts, i);

		if (strcmp(known->hostname, hostname) == 0 && strcmp(known->clock, clock) == 0)
			h = known;
	}
	if (h) {
		g_free(hostname);
		g_free(clock);
	} else {
		h = host_create(hostname, clock, ev);
		g_ptr_array_add(hosts, h);
	}
	add_source_name(h, source_name);
	h->public.end_hint_ns = MAX(h->public.end_hint_ns, p->end_hint_ns);
	return h;
}

void host_trouble(struct host *host, const char *why)
{
	log_warning("%s: %s", host->public.name, why);
	model_set_status(host->public.model, HOST_DEGRADED, why);
	if (!host->public.trouble)
		host->public.trouble = g_strdup(why);
}

static int by_name(const void *a, const void *b)
{
	const struct host *x = *(struct host *const *)a, *y = *(struct host *const *)b;
	int order = strcmp(x->hostname, y->hostname);

	return order ? order : strcmp(x->clock, y->clock);
}

void hosts_name(GPtrArray *hosts)
{
	unsigned same = 1;

	g_ptr_array_sort(hosts, by_name);
	for (guint i = 1; i < hosts->len; i++) {
		const struct host *last = g_ptr_array_index(hosts, i - 1);
		struct host *h = g_ptr_array_index(hosts, i);

		same = strcmp(last->hostname, h->hostname) == 0 ? same + 1 : 1;
		g_free(h->public.name);
		h->public.name = same > 1 ? g_strdup_printf("%s#%u", h->hostname, same) : g_strdup(h->hostname);
	}
}
