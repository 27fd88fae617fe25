/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/ingest.h"

#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "event/payload.h"
#include "ingest/feed.h"
#include "ingest/host.h"
#include "ingest/relay.h"

enum {
	HANG_LIMIT_MS = 10000,    /* a recording's worker silent for so long while its ring has room is given up */
	STALL_LIMIT_S = 10,       /* the default of ingest_options.stall_limit_ns */
	GONE_AFTER_STALLS = 3,    /* a live worker that hangs for so many stall limits is ended */
};

#define CLOCKS_DIFFER_NS (INT64_C(60) * 1000000000)

struct ingest {
	struct ingest_options options;
	GPtrArray *specs;  /* struct source_spec */
	GPtrArray *feeds;  /* struct feed */
	GPtrArray *relays; /* struct relay */
	GPtrArray *hosts;  /* struct host; public is its first member */
	int epoll_fd;
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
	if (!in->options.stall_limit_ns)
		in->options.stall_limit_ns = STALL_LIMIT_S * UINT64_C(1000000000);
	in->specs = g_ptr_array_new_with_free_func((GDestroyNotify)source_spec_free);
	in->feeds = g_ptr_array_new_with_free_func(feed_free);
	in->relays = g_ptr_array_new_with_free_func(relay_free);
	in->hosts = g_ptr_array_new_with_free_func(host_free);
	in->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return in;
}

void ingest_destroy(struct ingest *in)
{
	if (!in)
		return;
	g_ptr_array_free(in->relays, TRUE);
	g_ptr_array_free(in->feeds, TRUE);
	g_ptr_array_free(in->hosts, TRUE);
	g_ptr_array_free(in->specs, TRUE);
	close(in->epoll_fd);
	g_free(in);
}

static struct feed *feed_at(const struct ingest *in, guint i)
{
	return g_ptr_array_index(in->feeds, i);
}

static struct host *host_at(const struct ingest *in, guint i)
{
	return g_ptr_array_index(in->hosts, i);
}

/* ---- sources ---- */

static enum lt_status open_directory(struct ingest *in, const char *directory)
{
	unsigned left_out = 0;
	enum lt_status status = source_find(directory, in->specs, &left_out);

	if (left_out)
		in->incomplete = true;
	return status;
}

static void add_session(struct ingest *in, const struct source_url *url)
{
	g_ptr_array_add(in->specs, source_live_spec(url));
}

static enum lt_status open_url(struct ingest *in, const char *text)
{
	struct source_url url;
	enum lt_status status = source_parse_url(text, &url);

	if (status == LT_OK && url.session)
		add_session(in, &url);
	else if (status == LT_OK)
		g_ptr_array_add(in->relays, relay_create(url.relay));
	source_url_release(&url);
	return status;
}

enum lt_status ingest_open(struct ingest *in, const char *source)
{
	enum lt_status status = source_is_url(source) ? open_url(in, source) : open_directory(in, source);

	if (status == LT_ERROR)
		in->incomplete = true;
	return status;
}

/* How many workers a source gets: a recording its share of those wanted, by its size. */
static unsigned share(const struct ingest *in, const struct source_spec *spec)
{
	uint64_t total = 0;
	unsigned n;

	for (guint i = 0; i < in->specs->len; i++)
		total += ((struct source_spec *)g_ptr_array_index(in->specs, i))->bytes;
	if (spec->url || !total)
		return 1;
	n = (unsigned)((double)in->options.workers * (double)spec->bytes / (double)total + 0.5);
	return MAX(n, 1);
}

static void start_feed(struct ingest *in, struct feed *feed)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (feed_start(feed) == LT_OK) {
		epoll_ctl(in->epoll_fd, EPOLL_CTL_ADD, source_fd(feed->source), &event);
		return;
	}
	log_error("%s", error_text());
	in->incomplete = true;
}

static void start_spec(struct ingest *in, const struct source_spec *spec)
{
	const unsigned parts = share(in, spec);

	for (unsigned part = 0; part < parts; part++) {
		struct feed *feed = feed_create(spec, part, parts, spec->url && in->options.follow);

		g_ptr_array_add(in->feeds, feed);
		start_feed(in, feed);
	}
}

/* A relayd lists a session: a new one is attached, one that went away is tried at once. */
static void session_listed(void *data, const char *text)
{
	struct ingest *in = data;
	struct source_url url;

	for (guint i = 0; i < in->feeds->len; i++) {
		struct feed *feed = feed_at(in, i);

		if (strcmp(feed->spec->url ? feed->spec->url : "", text) != 0)
			continue;
		if (feed->state == FEED_WAITING && !feed->broken)
			feed->retry_us = 0;
		return;
	}
	if (source_parse_url(text, &url) == LT_OK && url.session) {
		add_session(in, &url);
		start_spec(in, g_ptr_array_index(in->specs, in->specs->len - 1));
	}
	source_url_release(&url);
}

/* ---- hosts that come, go and come back ---- */

static bool any_runs(const struct host *host)
{
	for (guint i = 0; i < host->feeds->len; i++) {
		const struct feed *feed = g_ptr_array_index(host->feeds, i);

		if (feed && feed->source)
			return true;
	}
	return false;
}

/* Whether some feed of it may run again. */
static bool may_come_back(const struct host *host)
{
	for (guint i = 0; i < host->feeds->len; i++) {
		const struct feed *feed = g_ptr_array_index(host->feeds, i);

		if (feed && (feed->state == FEED_WAITING || feed->state == FEED_DETACHED))
			return true;
	}
	return false;
}

/* A feed of the host has ended (why NULL) or broken off. */
static void source_stopped(struct ingest *in, struct feed *feed, const char *why)
{
	struct host *host = feed->host;
	char *reason = g_strdup(why);

	feed_stopped(feed, reason);
	if (why)
		in->incomplete = true;
	if (!host) {
		if (why && feed->tries <= 1)
			log_error("%s", reason);
	} else if (feed->follow && !any_runs(host)) {
		log_info("%s: %s", host->public.name, feed_describe(feed));
		model_interrupt(host->public.model);
		host_set_away(host, feed_describe(feed));
	} else if (why) {
		host_trouble(host, reason);
	}
	g_free(reason);
}

/* Reads what the feeds say that no merge reads yet. */
static void read_prologues(struct ingest *in)
{
	for (guint i = 0; i < in->feeds->len; i++) {
		struct feed *feed = feed_at(in, i);
		enum lt_status status;

		if (!feed->source || feed->in_merge)
			continue;
		status = feed_read_prologue(feed, in->hosts);
		if (status == LT_END || status == LT_ERROR)
			source_stopped(in, feed, status == LT_ERROR ? error_text() : NULL);
		else if (status == LT_OK && feed->host) /* a part without streams names no host */
			host_set_back(feed->host, feed->spec->url != NULL);
	}
}

static bool known(const struct feed *feed)
{
	return feed->in_merge || !feed->source;
}

static void wait_for_sources(const struct ingest *in, int timeout_ms)
{
	struct epoll_event events[16];

	epoll_wait(in->epoll_fd, events, G_N_ELEMENTS(events), timeout_ms);
}

/* ---- start ---- */

/* Whether all that ingest_start() waits for is there. */
static bool all_known(const struct ingest *in)
{
	for (guint i = 0; i < in->feeds->len; i++)
		if (!known(feed_at(in, i)) && !feed_at(in, i)->follow)
			return false;
	for (guint i = 0; i < in->relays->len && !in->options.follow; i++)
		if (!((struct relay *)g_ptr_array_index(in->relays, i))->answered)
			return false;
	return true;
}

/* The first event of each recording's host. */
static void set_begins(struct ingest *in)
{
	for (guint i = 0; i < in->feeds->len; i++) {
		const struct feed *feed = feed_at(in, i);
		uint64_t *begin_ns = feed->host ? &feed->host->public.begin_ns : NULL;

		if (begin_ns && feed->first_ns && (!*begin_ns || feed->first_ns < *begin_ns))
			*begin_ns = feed->first_ns;
	}
	for (guint i = 0; i < in->hosts->len; i++)
		host_begin(host_at(in, i), host_at(in, i)->public.begin_ns);
}

/* Live hosts begin with the first event that comes: waits for it, or for the session's end. */
static enum lt_status await_first_events(struct ingest *in, const volatile bool *stop)
{
	for (guint i = 0; i < in->hosts->len; i++) {
		struct ingest_host *h = &host_at(in, i)->public;
		enum lt_status status = LT_OK;

		while (h->live && !h->begin_ns && status == LT_OK)
			status = ingest_advance_wait(in, i, 1, stop);
		if (status == LT_INTERRUPTED)
			return status;
	}
	return LT_OK;
}

enum lt_status ingest_start(struct ingest *in, const volatile bool *stop)
{
	for (guint i = 0; i < in->specs->len; i++)
		start_spec(in, g_ptr_array_index(in->specs, i));
	ingest_watch(in);
	while (!all_known(in)) {
		if (stop && *stop)
			return LT_INTERRUPTED;
		wait_for_sources(in, 100);
		ingest_watch(in);
	}
	hosts_name(in->hosts);
	set_begins(in);
	if (in->options.follow && (in->relays->len || ingest_is_live(in)))
		return LT_OK;
	return in->hosts->len ? await_first_events(in, stop) : LT_ERROR;
}

unsigned ingest_host_count(const struct ingest *in)
{
	return in->hosts->len;
}

struct ingest_host *ingest_host(struct ingest *in, unsigned i)
{
	return &host_at(in, i)->public;
}

uint64_t ingest_begin_ns(const struct ingest *in)
{
	uint64_t begin_ns = 0;

	for (guint i = 0; i < in->hosts->len; i++) {
		const struct ingest_host *h = &host_at(in, i)->public;

		if (h->begin_ns && (!begin_ns || h->begin_ns < begin_ns))
			begin_ns = h->begin_ns;
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

/* One source of the host's merge has ended (why NULL) or broken off. */
static void input_stopped(struct ingest *in, struct host *host, unsigned number, const char *why)
{
	source_stopped(in, g_ptr_array_index(host->feeds, number), why);
}

/* Whether the record is an event, or the context of one that follows. */
static bool is_event(const struct event *ev)
{
	return ev->kind >= EVENT_OTHER || ev->kind == EVENT_CONTEXT;
}

/* Applies a record; false: it was none that counts as an event. */
static bool apply(struct ingest *in, struct host *host, unsigned number, const struct event *ev)
{
	struct ingest_host *h = &host->public;

	if (is_event(ev) && ev->ts_ns < host->last_ns) {
		/* from a source that was left out for a while, or joined late */
		if (ev->kind >= EVENT_OTHER)
			model_late(h->model, 1);
		return ev->kind >= EVENT_OTHER;
	}
	host->last_ns = MAX(host->last_ns, ev->ts_ns);
	model_apply(h->model, number, ev);
	if (ev->kind < EVENT_OTHER) {
		source_said(in, host, ev);
		return false;
	}
	h->end_ns = ev->ts_ns + 1;
	return true;
}

enum lt_status ingest_advance(struct ingest *in, unsigned i, uint64_t until_ns, uint64_t max_events)
{
	struct host *host = host_at(in, i);
	struct ingest_host *h = &host->public;
	const struct event *ev;
	unsigned number;

	for (uint64_t n = 0; !max_events || n < max_events;) {
		switch (merge_peek(host->merge, &ev, &number)) {
		case LT_OK:
			break;
		case LT_ERROR:
			input_stopped(in, host, number, error_text());
			continue;
		case LT_END:
			if (number != MERGE_NONE) {
				input_stopped(in, host, number, NULL);
				continue;
			}
			if (may_come_back(host))
				return LT_AGAIN;
			h->ended = true;
			h->applied_ns = until_ns;
			return LT_END;
		default:
			return LT_AGAIN;
		}
		if (is_event(ev))
			host_next_event(host, ev->ts_ns);
		if (h->begin_ns && ev->ts_ns >= until_ns) {
			h->applied_ns = until_ns;
			h->next_ns = ev->ts_ns;
			return LT_OK;
		}
		n += apply(in, host, number, ev);
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
			wait_for_sources(in, 100);
		}
	}
}

int ingest_fd(const struct ingest *in)
{
	return in->epoll_fd;
}

/* ---- looking after ---- */

/* Silence of a live source: beacons come even where nothing happens. */
static void watch_live(struct ingest *in, struct feed *feed)
{
	int64_t now_us = g_get_monotonic_time(), limit_us = (int64_t)(in->options.stall_limit_ns / 1000);

	if (!merge_waits_for(feed->host->merge, feed->number)) {
		feed->heard_us = now_us;
		feed->stalled = false;
	} else if (!feed->stalled && now_us - feed->heard_us > limit_us) {
		feed->stalled = true;
		log_warning("%s: silent: left out until it is heard of again", feed->spec->name);
		merge_leave_out(feed->host->merge, feed->number);
	}
}

static bool any_stalled(const struct host *host)
{
	for (guint i = 0; i < host->feeds->len; i++) {
		const struct feed *feed = g_ptr_array_index(host->feeds, i);

		if (feed && feed->source && feed->stalled)
			return true;
	}
	return false;
}

static void watch_feed(struct ingest *in, struct feed *feed)
{
	uint64_t limit_ms = feed->spec->url ? GONE_AFTER_STALLS * in->options.stall_limit_ns / 1000000 : HANG_LIMIT_MS;

	feed_reap(feed);
	if (feed->state == FEED_WAITING && g_get_monotonic_time() >= feed->retry_us)
		start_feed(in, feed);
	if (!feed->source)
		return;
	if (feed->spec->url && feed->in_merge)
		watch_live(in, feed);
	if (source_hangs(feed->source, (unsigned)MIN(limit_ms, UINT_MAX)))
		source_kill(feed->source,
			    feed->spec->url ? "it does not answer" : "it hangs: no sign of life for 10 s");
}

/*
 * How far a live host is behind: the time from its last record until now. Where
 * its clock is not ours (more than CLOCKS_DIFFER_NS away) that is the growth since it was least.
 */
static void watch_lag(struct ingest *in, struct host *host)
{
	struct ingest_host *h = &host->public;
	int64_t behind_ns = g_get_real_time() * 1000 - (int64_t)host->last_ns;

	if (!h->live || h->away || !host->last_ns)
		return;
	host->least_behind_ns = MIN(host->least_behind_ns, behind_ns);
	if (ABS(host->least_behind_ns) > CLOCKS_DIFFER_NS)
		behind_ns -= host->least_behind_ns;
	h->lag_ns = (uint64_t)MAX(behind_ns, 0);
	if (!in->options.max_lag_ns || h->lag_ns <= in->options.max_lag_ns)
		return;
	for (guint i = 0; i < host->feeds->len; i++) {
		struct feed *feed = g_ptr_array_index(host->feeds, i);

		if (feed && feed->source && feed->follow)
			source_stopped(in, feed, "too far behind: started again at the end");
	}
}

void ingest_watch(struct ingest *in)
{
	for (guint i = 0; i < in->relays->len; i++)
		relay_poll(g_ptr_array_index(in->relays, i), session_listed, in);
	for (guint i = 0; i < in->feeds->len; i++)
		watch_feed(in, feed_at(in, i));
	read_prologues(in);
	for (guint i = 0; i < in->hosts->len; i++) {
		host_set_stalled(host_at(in, i), any_stalled(host_at(in, i)));
		watch_lag(in, host_at(in, i));
	}
}

bool ingest_is_live(const struct ingest *in)
{
	if (in->relays->len && in->options.follow)
		return true;
	for (guint i = 0; i < in->feeds->len; i++)
		if (feed_at(in, i)->spec->url && feed_at(in, i)->state != FEED_ENDED)
			return true;
	return false;
}

bool ingest_is_over(const struct ingest *in)
{
	for (guint i = 0; i < in->feeds->len; i++)
		if (feed_at(in, i)->source || feed_at(in, i)->leaving)
			return false;
	return !ingest_is_live(in);
}

bool ingest_incomplete(const struct ingest *in)
{
	return in->incomplete;
}

/* ---- for the screen ---- */

unsigned ingest_feed_count(const struct ingest *in)
{
	return in->relays->len + in->feeds->len;
}

static struct ingest_feed relay_as_feed(const struct relay *relay)
{
	const char *asked = relay->answered ? "watched for sessions" : "asking for its sessions";

	return (struct ingest_feed){
		.name = relay->url,
		.state = relay->why ? relay->why : asked,
		.host = -1,
		.live = true,
		.runs = !relay->why,
		.relay = true,
	};
}

struct ingest_feed ingest_feed(const struct ingest *in, unsigned i)
{
	const struct feed *feed;
	guint host;

	if (i < in->relays->len)
		return relay_as_feed(g_ptr_array_index(in->relays, i));
	feed = feed_at(in, i - in->relays->len);
	return (struct ingest_feed){
		.name = feed->spec->name,
		.state = feed_describe(feed),
		.host = feed->host && g_ptr_array_find(in->hosts, feed->host, &host) ? (int)host : -1,
		.live = feed->spec->url != NULL,
		.runs = feed->source != NULL,
		.detached = feed->state == FEED_DETACHED,
	};
}

void ingest_detach(struct ingest *in, unsigned i)
{
	struct feed *feed = i < in->relays->len ? NULL : feed_at(in, i - in->relays->len);

	if (!feed || !feed->spec->url || feed->state == FEED_DETACHED)
		return;
	source_stopped(in, feed, NULL);
	feed->state = FEED_DETACHED;
}

void ingest_attach(struct ingest *in, unsigned i)
{
	struct feed *feed = i < in->relays->len ? NULL : feed_at(in, i - in->relays->len);

	if (feed && feed->state == FEED_DETACHED)
		start_feed(in, feed);
}
