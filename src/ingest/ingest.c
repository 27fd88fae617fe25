/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/ingest.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "event/payload.h"
#include "ingest/host.h"

/* A worker silent for so long while its ring has room is given up. */
enum { HANG_LIMIT_MS = 10000 };

/* A source and the host it belongs to, known from its first record. */
struct feed {
	struct source *source;
	struct host *host;
	unsigned number; /* of the source within its host */
	bool ready;      /* its EVENT_READY was seen, or it ended before */
	uint64_t first_ns;
};

struct ingest {
	struct ingest_options options;
	GPtrArray *specs; /* struct source_spec */
	GArray *feeds;    /* struct feed */
	GPtrArray *hosts; /* struct host */
	bool incomplete;
};

struct ingest *ingest_create(const struct ingest_options *options)
{
	struct ingest *in = g_new0(struct ingest, 1);

	in->options = *options;
	if (!in->options.workers) {
		long n = sysconf(_SC_NPROCESSORS_ONLN);

		in->options.workers = n > 0 ? (unsigned)n : 1;
	}
	in->specs = g_ptr_array_new_with_free_func((GDestroyNotify)source_spec_free);
	in->feeds = g_array_new(FALSE, TRUE, sizeof(struct feed));
	in->hosts = g_ptr_array_new_with_free_func(host_free);
	return in;
}

void ingest_destroy(struct ingest *in)
{
	if (!in)
		return;
	for (guint i = 0; i < in->feeds->len; i++)
		source_stop(g_array_index(in->feeds, struct feed, i).source);
	g_ptr_array_free(in->hosts, TRUE);
	g_array_free(in->feeds, TRUE);
	g_ptr_array_free(in->specs, TRUE);
	g_free(in);
}

enum lt_status ingest_open(struct ingest *in, const char *source)
{
	unsigned left_out = 0;
	enum lt_status status = source_find(source, in->specs, &left_out);

	if (status == LT_ERROR || left_out)
		in->incomplete = true;
	return status;
}

/* How many workers a recording gets: its share of those wanted, by its size. */
static unsigned share(const struct ingest *in, const struct source_spec *spec)
{
	uint64_t total = 0;
	unsigned n;

	for (guint i = 0; i < in->specs->len; i++)
		total += ((struct source_spec *)g_ptr_array_index(in->specs, i))->bytes;
	if (!total)
		return 1;
	n = (unsigned)((double)in->options.workers * (double)spec->bytes / (double)total + 0.5);
	return MAX(n, 1);
}

static void start_spec(struct ingest *in, const struct source_spec *spec)
{
	const unsigned parts = share(in, spec);

	for (unsigned part = 0; part < parts; part++) {
		struct feed feed = { 0 };

		if (source_start(spec, part, parts, &feed.source) != LT_OK) {
			log_error("%s", error_text());
			in->incomplete = true;
			continue;
		}
		g_array_append_val(in->feeds, feed);
	}
}

/* ---- the records before EVENT_READY ---- */

static void broken_before_ready(struct ingest *in, struct feed *feed)
{
	in->incomplete = true;
	feed->ready = true;
	if (feed->host)
		host_trouble(feed->host, error_text());
	else
		log_error("%s", error_text());
}

static void announced(struct ingest *in, struct feed *feed, const struct event *ev)
{
	const struct source_spec *spec = source_spec(feed->source);
	struct host *host = host_of_trace(in->hosts, ev, spec->host_hint, spec->name);

	if (feed->host) {
		if (feed->host != host)
			log_warning("%s: traces of several hosts in one recording: taken as %s", spec->name,
				    feed->host->public.name);
		return;
	}
	feed->host = host;
	feed->number = merge_add(host->merge, feed->source);
}

static void read_prologue(struct ingest *in, struct feed *feed)
{
	const struct event *ev;
	enum lt_status status;

	while (!feed->ready && (status = source_peek(feed->source, &ev)) != LT_AGAIN) {
		if (status == LT_ERROR) {
			broken_before_ready(in, feed);
			return;
		}
		if (status == LT_END) {
			feed->ready = true;
			return;
		}
		if (ev->kind == EVENT_TRACE) {
			announced(in, feed, ev);
		} else if (ev->kind == EVENT_STREAM) {
			uint64_t first_ns = event_payload(ev, ev_stream)->first_ns;

			if (first_ns && (!feed->first_ns || first_ns < feed->first_ns))
				feed->first_ns = first_ns;
		}
		feed->ready = ev->kind == EVENT_READY;
		if (feed->host)
			model_apply(feed->host->public.model, feed->number, ev);
		source_next(feed->source);
	}
}

/* Waits until one of the sources not yet ready has something. */
static void wait_for_feeds(const struct ingest *in, bool ready_too, int timeout_ms)
{
	struct pollfd *fds = g_new(struct pollfd, in->feeds->len);
	nfds_t n = 0;

	for (guint i = 0; i < in->feeds->len; i++) {
		const struct feed *feed = &g_array_index(in->feeds, struct feed, i);

		if (ready_too || !feed->ready)
			fds[n++] = (struct pollfd){ .fd = source_fd(feed->source), .events = POLLIN };
	}
	poll(fds, n, timeout_ms);
	g_free(fds);
}

static bool all_ready(struct ingest *in)
{
	bool all = true;

	for (guint i = 0; i < in->feeds->len; i++) {
		struct feed *feed = &g_array_index(in->feeds, struct feed, i);

		read_prologue(in, feed);
		all = all && feed->ready;
	}
	return all;
}

enum lt_status ingest_start(struct ingest *in)
{
	for (guint i = 0; i < in->specs->len; i++)
		start_spec(in, g_ptr_array_index(in->specs, i));
	while (!all_ready(in)) {
		ingest_watch(in);
		wait_for_feeds(in, false, 1000);
	}
	for (guint i = 0; i < in->feeds->len; i++) {
		const struct feed *feed = &g_array_index(in->feeds, struct feed, i);
		uint64_t *begin_ns = feed->host ? &feed->host->public.begin_ns : NULL;

		if (begin_ns && feed->first_ns && (!*begin_ns || feed->first_ns < *begin_ns))
			*begin_ns = feed->first_ns;
	}
	if (!in->hosts->len)
		return LT_ERROR;
	hosts_name(in->hosts);
	for (guint i = 0; i < in->hosts->len; i++) {
		struct ingest_host *h = ingest_host(in, i);

		h->end_ns = h->applied_ns = h->begin_ns;
		model_begin(h->model, h->begin_ns);
	}
	return LT_OK;
}

/* ---- hosts ---- */

unsigned ingest_host_count(const struct ingest *in)
{
	return in->hosts->len;
}

struct ingest_host *ingest_host(struct ingest *in, unsigned i)
{
	return g_ptr_array_index(in->hosts, i); /* public is its first member */
}

uint64_t ingest_begin_ns(const struct ingest *in)
{
	uint64_t begin_ns = 0;

	for (guint i = 0; i < in->hosts->len; i++) {
		const struct host *h = g_ptr_array_index(in->hosts, i);

		if (h->public.begin_ns && (!begin_ns || h->public.begin_ns < begin_ns))
			begin_ns = h->public.begin_ns;
	}
	return begin_ns;
}

/* ---- the pump ---- */

static void source_said(struct ingest *in, struct host *host, const struct event *ev)
{
	char *text;

	if (ev->kind == EVENT_LOST)
		in->incomplete = true;
	if (ev->kind != EVENT_NOTE)
		return;
	in->incomplete = true;
	text = g_strndup(event_text(ev, event_payload(ev, ev_note)->text), event_payload(ev, ev_note)->text.len);
	host_trouble(host, text);
	g_free(text);
}

enum lt_status ingest_advance(struct ingest *in, unsigned i, uint64_t until_ns, uint64_t max_events)
{
	struct host *host = g_ptr_array_index(in->hosts, i);
	struct ingest_host *h = &host->public;
	const struct event *ev;
	unsigned number;

	for (uint64_t n = 0; !max_events || n < max_events;) {
		switch (merge_peek(host->merge, &ev, &number)) {
		case LT_OK:
			break;
		case LT_ERROR:
			in->incomplete = true;
			host_trouble(host, error_text());
			continue;
		case LT_END:
			h->ended = true;
			h->applied_ns = until_ns;
			return LT_END;
		default:
			return LT_AGAIN;
		}
		if (ev->ts_ns >= until_ns) {
			h->applied_ns = until_ns;
			return LT_OK;
		}
		model_apply(h->model, number, ev);
		if (ev->kind >= EVENT_OTHER) {
			h->end_ns = ev->ts_ns + 1;
			n++;
		} else {
			source_said(in, host, ev);
		}
		merge_pop(host->merge);
	}
	return LT_AGAIN;
}

enum lt_status ingest_advance_wait(struct ingest *in, unsigned i, uint64_t until_ns, const volatile bool *stop)
{
	enum { EVENTS_BETWEEN_LOOKS = 65536 };
	enum lt_status status;

	for (;;) {
		uint64_t before_ns = ingest_host(in, i)->end_ns;

		if (stop && *stop)
			return LT_INTERRUPTED;
		status = ingest_advance(in, i, until_ns, EVENTS_BETWEEN_LOOKS);
		if (status != LT_AGAIN)
			return status;
		if (ingest_host(in, i)->end_ns == before_ns) {
			ingest_watch(in);
			wait_for_feeds(in, true, 100);
		}
	}
}

unsigned ingest_fds(const struct ingest *in, int *fds, unsigned max)
{
	unsigned n = 0;

	for (guint i = 0; i < in->feeds->len && n < max; i++)
		fds[n++] = source_fd(g_array_index(in->feeds, struct feed, i).source);
	return n;
}

void ingest_watch(struct ingest *in)
{
	for (guint i = 0; i < in->feeds->len; i++) {
		struct feed *feed = &g_array_index(in->feeds, struct feed, i);

		if (source_hangs(feed->source, HANG_LIMIT_MS))
			source_kill(feed->source, "it hangs: no sign of life for 10 s");
	}
}

bool ingest_incomplete(const struct ingest *in)
{
	return in->incomplete;
}
