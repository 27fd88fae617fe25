/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "feed/feed.h"

#include <math.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"
#include "feed/viewers.h"

#define BACKLOG_MAX ((size_t)4 << 20)           /* per session, waiting for the relayd */
#define STEP_MAX_NS (UINT64_C(3600) * NS_PER_S) /* of trace time, per tick */
#define LATE_NS (UINT64_C(60) * NS_PER_S)       /* a session that starts this much later is probably a mistake */

enum {
	VIEWERS_MS = 50,
	POLL_MS = 100,
	LAST_MS = 2 * MS_PER_S, /* how long viewers may read after a signal */
};

struct feed_run {
	const struct feed_options *options;
	const GPtrArray *sessions;
	struct feed_progress progress;
	uint64_t step_ns; /* of trace time, per tick */
	uint64_t tick;
	int64_t started_us;
	struct viewers viewers;
	bool has_viewers; /* the live port answers */
	int64_t asked_us;
};

static struct fed_session *session(const struct feed_run *r, guint i)
{
	return g_ptr_array_index(r->sessions, i);
}

static bool is_stopped(const struct feed_run *r)
{
	return *r->options->target.stop;
}

static void show(struct feed_run *r)
{
	if (r->options->progress)
		r->options->progress(r->options->user, &r->progress);
}

/* A session's start in shared time. */
static uint64_t begin_ns(const struct fed_session *s)
{
	return fed_session_to_shared(s, fed_session_begin_ns(s));
}

static void set_range(struct feed_run *r)
{
	r->progress.begin_ns = UINT64_MAX;
	for (guint i = 0; i < r->sessions->len; i++) {
		r->progress.begin_ns = MIN(r->progress.begin_ns, begin_ns(session(r, i)));
		r->progress.end_ns = MAX(r->progress.end_ns,
					 fed_session_to_shared(session(r, i), fed_session_end_ns(session(r, i))));
	}
	r->progress.at_ns = r->progress.begin_ns;
	for (guint i = 0; i < r->sessions->len; i++) {
		const uint64_t late_ns = begin_ns(session(r, i)) - r->progress.begin_ns;

		if (late_ns > LATE_NS)
			log_warning("session '%s/%s' starts %" G_GUINT64_FORMAT " s after the first",
				    session(r, i)->hostname, session(r, i)->name, late_ns / NS_PER_S);
	}
}

/* ---- before streaming ---- */

/* Shifted metadata cannot be sent before streaming starts; viewers keep asking for it until then. */
static bool is_metadata_late(const struct feed_run *r)
{
	return r->options->now && r->options->wait;
}

static void send_metadata(struct feed_run *r)
{
	const int64_t now_ns = g_get_real_time() * (int64_t)NS_PER_US;
	const int64_t shift_ns = r->options->now ? now_ns - (int64_t)r->progress.begin_ns : 0;

	for (guint i = 0; i < r->sessions->len; i++)
		fed_session_send_metadata(session(r, i), session(r, i)->sync_ns + shift_ns);
}

static enum lt_status open_sessions(struct feed_run *r)
{
	for (guint i = 0; i < r->sessions->len; i++) {
		enum lt_status status = fed_session_open(session(r, i), &r->options->target);

		if (status)
			return status;
	}
	if (!is_metadata_late(r))
		send_metadata(r);
	for (guint i = 0; i < r->sessions->len; i++)
		if (r->options->opened)
			r->options->opened(r->options->user, session(r, i));
	return LT_OK;
}

/* Sends and receives what is buffered; waits up to timeout_ms if nothing can be moved. */
static enum lt_status move(struct feed_run *r, int timeout_ms)
{
	struct pollfd *p = g_new(struct pollfd, 2 * r->sessions->len);
	enum lt_status status = LT_OK;
	nfds_t n = 0;

	for (guint i = 0; i < r->sessions->len; i++) {
		if (!session(r, i)->is_open)
			continue;
		connection_watch(&session(r, i)->producer.control, &p[n++]);
		connection_watch(&session(r, i)->producer.data, &p[n++]);
	}
	poll(p, n, timeout_ms);
	g_free(p);
	for (guint i = 0; i < r->sessions->len && !status; i++) {
		struct fed_session *s = session(r, i);

		if (s->is_open && producer_move(&s->producer))
			status = error_wrap("session '%s/%s'", s->hostname, s->name);
	}
	return status;
}

static enum lt_status open_viewers(struct feed_run *r)
{
	const struct fed_session_target *t = &r->options->target;
	enum lt_status status;

	viewers_init(&r->viewers, t->stop);
	status = viewers_open(&r->viewers, t->family, t->host, r->options->live_port, t->timeout_ms);
	r->has_viewers = status == LT_OK;
	if (status == LT_ERROR && !r->options->wait) {
		/* An unreachable live port only matters to those who want to wait for viewers. */
		log_info("%s", error_text());
		error_clear();
		return LT_OK;
	}
	return status;
}

static const struct fed_session *without_viewer(const struct feed_run *r)
{
	for (guint i = 0; i < r->sessions->len; i++) {
		const struct viewers_session *v = viewers_find(&r->viewers, session(r, i)->producer.session_id);

		if (!v || !v->clients)
			return session(r, i);
	}
	return NULL;
}

/* The relayd answers the live port's commands in order: once the list shows a viewer, that viewer has attached. */
static enum lt_status wait_for_viewers(struct feed_run *r)
{
	enum lt_status status = LT_OK;

	r->progress.phase = FEED_WAITING;
	while (!status) {
		status = viewers_ask(&r->viewers);
		r->progress.waiting = status ? NULL : without_viewer(r);
		if (status || !r->progress.waiting)
			break;
		show(r);
		status = move(r, VIEWERS_MS);
		if (!status && is_stopped(r))
			status = LT_INTERRUPTED;
	}
	return status == LT_ERROR ? error_wrap("waiting for viewers") : status;
}

/* ---- streaming ---- */

static bool is_paced(const struct feed_run *r)
{
	return isfinite(r->options->speed);
}

static bool is_backed_up(const struct feed_run *r)
{
	for (guint i = 0; i < r->sessions->len; i++)
		if (session(r, i)->is_open && producer_backlog(&session(r, i)->producer) > BACKLOG_MAX)
			return true;
	return false;
}

static bool is_reading(const struct feed_run *r, const struct fed_session *s)
{
	const struct viewers_session *v = viewers_find(&r->viewers, s->producer.session_id);

	return v && v->clients && v->streams > fed_session_least_streams(s);
}

static bool is_draining(const struct fed_session *s)
{
	return s->is_finished && !s->is_done;
}

/* Closes finished sessions that nobody reads any more. progress.waiting: one that is still being read. */
static enum lt_status close_read_sessions(struct feed_run *r)
{
	enum lt_status status = LT_OK;
	bool any = false;

	for (guint i = 0; i < r->sessions->len; i++)
		any |= is_draining(session(r, i));
	if (!any || (r->has_viewers && g_get_monotonic_time() - r->asked_us < VIEWERS_MS * US_PER_MS))
		return LT_OK;
	r->asked_us = g_get_monotonic_time();
	if (r->has_viewers)
		status = viewers_ask(&r->viewers);
	r->progress.waiting = NULL;
	for (guint i = 0; i < r->sessions->len && !status; i++) {
		struct fed_session *s = session(r, i);

		if (is_draining(s) && r->has_viewers && is_reading(r, s))
			r->progress.waiting = s;
		else if (is_draining(s))
			status = fed_session_close(s);
	}
	return status;
}

/* Runs until all finished sessions are closed, or until until_us. */
static enum lt_status drain(struct feed_run *r, int64_t until_us)
{
	enum lt_status status = close_read_sessions(r);

	while (!status && r->progress.waiting && g_get_monotonic_time() < until_us) {
		r->progress.phase = FEED_DRAINING;
		show(r);
		status = move(r, VIEWERS_MS);
		if (!status)
			status = close_read_sessions(r);
		if (!status && is_stopped(r) && until_us == G_MAXINT64)
			status = LT_INTERRUPTED;
	}
	return status;
}

/* Waits until the tick is due and the relayd has accepted all data sent before. */
static enum lt_status wait_for_tick(struct feed_run *r)
{
	const int64_t timer_us = (int64_t)(r->options->target.live_timer_ns / NS_PER_US);
	const int64_t due_us = is_paced(r) ? r->started_us + timer_us * (int64_t)r->tick : 0;
	enum lt_status status = move(r, 0);

	while (!status) {
		const int64_t left_us = due_us - g_get_monotonic_time();

		if (is_stopped(r))
			return LT_INTERRUPTED;
		if (left_us <= 0 && !is_backed_up(r))
			break;
		show(r);
		status = close_read_sessions(r);
		if (!status)
			status = move(r,
				      left_us > 0 ? (int)MIN((left_us + US_PER_MS - 1) / US_PER_MS, POLL_MS) : POLL_MS);
	}
	return status;
}

/* Sends everything up to the tick and ends sessions that have no more data. LT_END: all have ended. */
static enum lt_status advance(struct feed_run *r)
{
	enum lt_status status = LT_END;

	for (guint i = 0; i < r->sessions->len; i++) {
		struct fed_session *s = session(r, i);

		if (s->is_finished)
			continue;
		if (fed_session_advance(s, fed_session_from_shared(s, r->progress.at_ns)) != LT_END)
			status = LT_OK;
		else if (fed_session_finish(s))
			return LT_ERROR;
	}
	return status;
}

/* Advances to the next tick or, when not waiting for the clock, to the next one at which something happens. */
static void next_tick(struct feed_run *r)
{
	const uint64_t first_ns = r->progress.begin_ns;
	uint64_t next_ns = UINT64_MAX;

	r->tick++;
	for (guint i = 0; !is_paced(r) && i < r->sessions->len; i++) {
		struct fed_session *s = session(r, i);

		if (!s->is_finished)
			next_ns = MIN(next_ns, fed_session_to_shared(s, fed_session_next_ns(s)));
	}
	if (next_ns != UINT64_MAX && next_ns > first_ns)
		r->tick = MAX(r->tick, (next_ns - first_ns + r->step_ns - 1) / r->step_ns);
	r->progress.at_ns = first_ns + r->tick * r->step_ns;
}

static enum lt_status stream(struct feed_run *r)
{
	const double step = (double)r->options->target.live_timer_ns * (is_paced(r) ? r->options->speed : 1);
	enum lt_status status = LT_OK;

	r->step_ns = step < 1 ? 1 : step > (double)STEP_MAX_NS ? STEP_MAX_NS : (uint64_t)step;
	r->started_us = g_get_monotonic_time();
	r->progress.phase = FEED_STREAMING;
	while (!status) {
		next_tick(r);
		status = wait_for_tick(r);
		if (!status)
			status = advance(r);
		show(r);
	}
	return status == LT_END ? LT_OK : status;
}

/* After a signal: closes what was sent properly; viewers get a moment to read it. */
static enum lt_status finish_all(struct feed_run *r)
{
	static const stop_flag never;
	enum lt_status status = LT_OK;

	r->viewers.stop = &never;
	for (guint i = 0; i < r->sessions->len && !status; i++)
		if (session(r, i)->is_published && !session(r, i)->is_finished)
			status = fed_session_finish(session(r, i));
	if (!status)
		status = drain(r, g_get_monotonic_time() + LAST_MS * US_PER_MS);
	return status ? status : LT_INTERRUPTED;
}

enum lt_status feed_run(const struct feed_options *o, const GPtrArray *sessions)
{
	struct feed_run r = { .options = o, .sessions = sessions, .progress = { .sessions = sessions } };
	enum lt_status status;

	set_range(&r);
	show(&r);
	status = open_sessions(&r);
	if (!status)
		status = open_viewers(&r);
	if (!status && o->wait)
		status = wait_for_viewers(&r);
	if (!status && is_metadata_late(&r))
		send_metadata(&r);
	if (!status)
		status = stream(&r);
	if (!status)
		status = drain(&r, G_MAXINT64);
	if (status == LT_INTERRUPTED)
		status = finish_all(&r);
	if (r.viewers.sessions)
		viewers_close(&r.viewers);
	return status;
}
