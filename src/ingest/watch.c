/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looking after the sources: hosts and sessions that come, go and come back,
 * workers that are silent or hang, hosts that fall behind.
 */
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"
#include "ingest/internal.h"

enum {
	HANG_LIMIT_MS = 10000,  /* a worker silent for so long while its ring has room is given up */
	WATCH_EVERY_US = 50000, /* what concerns every feed and host, whether it has something new or not */
	ASK_EVERY_US = 1000000, /* hosts that were not woken, should a wake-up be missed */
	HEARD_AT_ONCE = 64,
	STORE_LEAST_BYTES = 1 << 20, /* less room is none: a packet may be so large */
	WAITED_FOR_PARTS = 5,        /* of the stall limit, a host is said to be waited for */
};

/* What comes this much later than its time, or earlier, is of a clock that is not ours. */
#define CLOCKS_DIFFER_NS (2 * (int64_t)NS_PER_S)

/* Whether as many sessions are attached as may be. */
static bool is_full(const struct ingest *in)
{
	unsigned n = 0;

	for (guint i = 0; i < in->feeds->len && in->options.max_sessions; i++)
		n += feed_at(in, i)->spec->url && feed_at(in, i)->source;
	return in->options.max_sessions && n >= in->options.max_sessions;
}

/* The first of them is told, and makes the figures incomplete. */
static void leave_untaken(struct ingest *in, struct feed *feed)
{
	feed->state = FEED_UNTAKEN;
	if (!in->untaken)
		log_warning("%u live sessions are attached: further ones are not (--max-sessions)",
			    in->options.max_sessions);
	in->untaken = in->broken = true;
}

void ingest_start_feed(struct ingest *in, struct feed *feed)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data = { .ptr = feed } };

	if (feed->spec->url && is_full(in)) {
		leave_untaken(in, feed);
		return;
	}
	if (feed_start(feed) == LT_OK) {
		epoll_ctl(in->epoll_fd, EPOLL_CTL_ADD, source_fd(feed->source), &event);
		return;
	}
	log_error("%s", error_text());
	in->broken = true;
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

/* Whether some feed of it runs or may run again. */
bool ingest_may_come_back(const struct host *host)
{
	for (guint i = 0; i < host->feeds->len; i++) {
		const struct feed *feed = g_ptr_array_index(host->feeds, i);

		if (feed && feed->state != FEED_ENDED)
			return true;
	}
	return false;
}

/* A feed of the host has ended (why NULL) or broken off. */
/*
 * A relayd that cannot store any more ends its sessions, as if their tracer had, and then does not know them. The
 * reason, to be freed; NULL: it is another one.
 */
static char *explain_full_disk(const struct ingest *in, const struct feed *feed)
{
	struct statvfs fs;
	uint64_t left;

	if (!in->options.store || !feed->spec->url || statvfs(in->options.store, &fs) < 0)
		return NULL;
	left = (geteuid() ? fs.f_bavail : fs.f_bfree) * (uint64_t)fs.f_frsize;
	if (left >= STORE_LEAST_BYTES)
		return NULL;
	return g_strdup_printf("the disk is full on which the relayd stores what it receives, in '%s': "
			       "make room there, or trace less (--set, --pid)",
			       in->options.store);
}

void ingest_source_stopped(struct ingest *in, struct feed *feed, const char *why)
{
	struct host *host = feed->host;
	char *reason = explain_full_disk(in, feed);

	if (!reason)
		reason = g_strdup(why);
	feed_stopped(feed, reason);
	why = reason;
	if (why)
		in->broken = true;
	if (!host) {
		if (why && feed->tries <= 1)
			log_error("%s", reason);
	} else if (feed->state == FEED_WAITING && !any_runs(host)) {
		if (!feed->follow)
			host_trouble(host, reason);
		log_info("%s: %s", host->public.name, feed_describe(feed));
		model_interrupt(host->public.model, 0);
		host_set_away(host, feed_describe(feed));
	} else if (why) {
		host_trouble(host, reason);
	}
	if (host)
		ingest_set_ready(in, host, true); /* its other sources need not wait for this one */
	g_free(reason);
}

static void set_back(struct ingest *in, struct feed *feed)
{
	if (feed->host->public.away)
		host_name_again(feed->host, in->hosts);
	host_set_back(feed->host, source_spec_is_live(feed->spec));
}

/* Reads what the feed says before the merge reads it. */
static void read_prologue(struct ingest *in, struct feed *feed)
{
	struct host *before = feed->host;
	const enum lt_status status = feed_read_prologue(feed, in->hosts);

	in->announced = true;
	if (before && before != feed->host)
		ingest_set_ready(in, before, true); /* it may have ended with that */
	if (feed->host)
		model_set_memory(feed->host->public.model, &in->memory);
	if (feed->host && !in->options.survey)
		host_add_sidecars(feed->host, feed->spec);
	if (status == LT_END || status == LT_ERROR)
		ingest_source_stopped(in, feed, status == LT_ERROR ? error_text() : NULL);
	else if (status == LT_OK && feed->host) /* a part without streams names no host */
		set_back(in, feed);
	if (status == LT_AGAIN)
		return;
	ingest_join_hosts(in);
	ingest_ask_feed(in, feed);
	if (feed->host)
		ingest_set_ready(in, feed->host, true);
}

/* The feed's source has something new. */
static void hear(struct ingest *in, struct feed *feed)
{
	if (feed->in_merge && feed->host)
		ingest_set_ready(in, feed->host, true);
	else if (feed->source && !feed->in_merge)
		read_prologue(in, feed);
}

static void hear_all(struct ingest *in)
{
	struct epoll_event events[HEARD_AT_ONCE];
	int n;

	do {
		n = epoll_wait(in->epoll_fd, events, HEARD_AT_ONCE, 0);
		for (int i = 0; i < n; i++)
			hear(in, events[i].data.ptr);
	} while (n == HEARD_AT_ONCE);
}

/* A relayd lists a session: a new one is attached, one that went away is tried at once. */
static void session_listed(void *data, const char *text)
{
	struct ingest *in = data;
	struct source_url url;
	struct feed *feed = g_hash_table_lookup(in->sessions, text);

	if (feed) {
		if (feed->state == FEED_WAITING && !feed->broken)
			feed->retry_us = 0;
		return;
	}
	if (source_parse_url(text, &url) == LT_OK && url.session) {
		ingest_add_session(in, &url);
		ingest_start_spec(in, g_ptr_array_index(in->specs, in->specs->len - 1));
	}
	source_url_release(&url);
}

/* Silence of a live source: beacons come even where nothing happens. */
static void watch_live(struct ingest *in, struct feed *feed)
{
	int64_t now_us = g_get_monotonic_time(), limit_us = (int64_t)(in->options.stall_limit_ns / 1000);

	if (feed->spec->is_growing)
		limit_us *= 2; /* its worker waits as long for one stream of it */

	if (merge_hears(feed->host->merge, feed->number)) {
		feed->heard_us = now_us;
		feed->stalled = false;
	} else if (!feed->stalled && now_us - feed->heard_us > limit_us) {
		feed->stalled = true;
		log_warning("%s: silent: left out until it is heard of again", feed->spec->name);
		merge_leave_out(feed->host->merge, feed->number);
		ingest_set_ready(in, feed->host, true);
	}
}

bool ingest_is_mute(const struct host *host)
{
	unsigned n = 0;

	for (guint i = 0; i < host->feeds->len; i++) {
		const struct feed *feed = g_ptr_array_index(host->feeds, i);

		if (feed && feed->source && !feed->stalled)
			return false;
		n += feed && feed->source;
	}
	return n > 0;
}

/* Whether it is time to say that a source of the host is waited for. */
static bool is_waited_for(const struct ingest *in, const struct host *host)
{
	const int64_t limit_us = (int64_t)(in->options.stall_limit_ns / 1000 / WAITED_FOR_PARTS);
	const int64_t since_us = g_get_monotonic_time() - limit_us;

	for (guint i = 0; i < host->feeds->len; i++) {
		const struct feed *feed = g_ptr_array_index(host->feeds, i);

		if (feed && feed->source && feed->spec->url && feed->in_merge && !feed->stalled &&
		    feed->heard_us < since_us)
			return true;
	}
	return false;
}

static bool is_over(const struct host *host)
{
	if (!host->public.away)
		return false;
	for (guint i = 0; i < host->feeds->len; i++) {
		const struct feed *feed = g_ptr_array_index(host->feeds, i);

		if (feed && !feed->session_over)
			return false;
	}
	return true;
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

/* When what the worker has read came here, whether it is consumed yet or not. */
static void watch_arrival(struct ingest *in, struct feed *feed)
{
	const uint64_t time_ns = source_time_ns(feed->source);

	if (!in->options.clocks || !feed->host || !feed->host->joined || time_ns == feed->time_ns)
		return;
	feed->time_ns = time_ns;
	clocks_arrival(in->options.clocks, feed->host->public.clock, time_ns, (uint64_t)g_get_real_time() * 1000);
}

static void watch_feed(struct ingest *in, struct feed *feed)
{
	if (feed->state == FEED_WAITING && g_get_monotonic_time() >= feed->retry_us)
		ingest_start_feed(in, feed);
	if (!feed->source)
		return;
	if (source_spec_is_live(feed->spec) && feed->in_merge) {
		watch_live(in, feed);
		watch_arrival(in, feed);
	}
	if (source_hangs(feed->source, HANG_LIMIT_MS))
		source_kill(feed->source, "it hangs: no sign of life for 10 s");
}

/*
 * How far a live host is behind: the time from its last record until that came. Where its clock is not ours that is the
 * growth since it was least, as then it was read from its end. A host that nothing comes from is not late, but waited
 * for.
 */
static void watch_lag(struct ingest *in, struct host *host)
{
	struct ingest_host *h = &host->public;
	int64_t behind_ns = g_get_real_time() * 1000 - (int64_t)host->last_ns;

	if (!h->live || h->away || h->waited_for || h->silent || host->back || !host->last_ns) {
		h->lag_ns = 0;
		return;
	}
	if (host->last_ns == host->lag_at_ns)
		return;
	host->lag_at_ns = host->last_ns;
	host->least_behind_ns = MIN(host->least_behind_ns, behind_ns);
	if (ABS(host->least_behind_ns) > CLOCKS_DIFFER_NS)
		behind_ns -= host->least_behind_ns;
	h->lag_ns = (uint64_t)MAX(behind_ns, 0);
	if (!in->options.max_lag_ns || h->lag_ns <= in->options.max_lag_ns)
		return;
	for (guint i = 0; i < host->feeds->len; i++) {
		struct feed *feed = g_ptr_array_index(host->feeds, i);

		if (feed && feed->source && feed->follow)
			ingest_source_stopped(in, feed, "too far behind: started again at the end");
	}
}

void ingest_watch(struct ingest *in)
{
	const int64_t now_us = g_get_monotonic_time();
	const bool ask = now_us - in->asked_us >= ASK_EVERY_US;

	hear_all(in);
	if (now_us - in->watched_us < WATCH_EVERY_US)
		return;
	in->watched_us = now_us;
	source_reap();
	for (guint i = 0; i < in->relays->len; i++)
		relay_poll(g_ptr_array_index(in->relays, i), session_listed, in);
	for (guint i = 0; i < in->feeds->len; i++) {
		watch_feed(in, feed_at(in, i));
		if (ask)
			hear(in, feed_at(in, i));
	}
	if (ask)
		in->asked_us = now_us;
	ingest_join_hosts(in);
	if (in->options.clocks)
		clocks_update(in->options.clocks);
	for (guint i = 0; i < in->hosts->len; i++) {
		host_at(in, i)->public.waited_for = is_waited_for(in, host_at(in, i));
		host_at(in, i)->public.over = is_over(host_at(in, i));
		host_set_stalled(host_at(in, i), any_stalled(host_at(in, i)));
		watch_lag(in, host_at(in, i));
		host_look_for_dump(host_at(in, i));
		host_refresh_sidecar(host_at(in, i));
		ingest_join_watch(in, host_at(in, i));
	}
}
