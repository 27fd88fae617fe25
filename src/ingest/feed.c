/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/feed.h"

#include "base/error.h"
#include "base/log.h"
#include "event/payload.h"

/* Between two tries to attach: 0.5 s, 1 s, 2 s, … */
enum { RETRY_FIRST_US = 500000, RETRY_MAX_US = 8000000 };

/* To attach a session that is not followed again, after its worker died. */
enum { TRIES_MAX = 3 };

/* Many times a prologue: a worker that never gets to the end of it must not keep the parent. */
enum { PROLOGUE_RECORDS_AT_ONCE = 65536 };

struct feed *feed_create(const struct source_spec *spec, unsigned part, unsigned parts, bool follow)
{
	struct feed *f = g_new0(struct feed, 1);

	f->spec = spec;
	f->part = part;
	f->parts = parts;
	f->follow = follow;
	return f;
}

void feed_free(void *data)
{
	struct feed *f = data;

	source_stop(f->source);
	source_spec_free(f->again);
	kernel_release(f);
	feed_drop_fields(f);
	g_free(f->why);
	g_free(f);
}

/* As which it is attached again. */
static struct source_spec *spec_again(struct feed *f)
{
	if (!f->again)
		f->again = source_spec_copy(f->spec);
	return f->again;
}

void feed_want_fields(struct feed *f, const char *text)
{
	static uint32_t last_number;
	struct source_spec *spec = spec_again(f);

	g_free(spec->fields);
	spec->fields = g_strdup(text);
	if (f->fields)
		shapes_forget_users(&f->shapes);
	if (!f->source)
		return;
	f->wanted = ++last_number;
	f->fields_from_ns = source_want_fields(f->source, text, f->wanted) ? UINT64_MAX : 0;
}

enum lt_status feed_start(struct feed *f)
{
	f->state = FEED_STARTING;
	f->stalled = f->announced = false;
	f->time_ns = 0;
	f->heard_us = g_get_monotonic_time();
	f->fields_from_ns = 0; /* the worker begins with what is wanted */
	/* What a session has had from its start is not read twice. */
	if (f->host && f->spec->from_start)
		spec_again(f)->from_start = false;
	if (source_start(f->again ? f->again : f->spec, f->part, f->parts, &f->source) == LT_OK)
		return LT_OK;
	f->source = NULL;
	feed_stopped(f, error_text());
	return LT_ERROR;
}

/* A session of the same name, of a machine that was booted again, or of another one. */
static void leave_host(struct feed *f)
{
	kernel_release(f);
	g_ptr_array_index(f->host->feeds, f->number) = NULL;
	f->host = NULL;
}

static void announced(struct feed *f, GPtrArray *hosts, const struct event *ev)
{
	struct host *host = host_of_trace(hosts, ev, f->spec->host_hint, f->spec->name);

	if (f->host && f->host != host && !f->announced)
		leave_host(f);
	f->announced = true;
	if (!f->host) {
		f->host = host;
		f->number = merge_add(host->merge, f->source);
	} else {
		if (f->host != host)
			log_warning("%s: traces of several hosts: taken as %s", f->spec->name, f->host->public.name);
		merge_replace(f->host->merge, f->number, f->source);
	}
	g_ptr_array_set_size(f->host->feeds, MAX((gint)f->host->feeds->len, (gint)f->number + 1));
	g_ptr_array_index(f->host->feeds, f->number) = f;
}

static void now_runs(struct feed *f)
{
	f->state = FEED_RUNNING;
	f->tries = 0;
	f->relayd_left = false;
	g_clear_pointer(&f->why, g_free);
}

enum lt_status feed_read_prologue(struct feed *f, GPtrArray *hosts)
{
	const struct event *ev;
	enum lt_status status;
	bool done = false;

	for (unsigned n = 0; !done; n++) {
		if (n == PROLOGUE_RECORDS_AT_ONCE)
			return LT_AGAIN;
		status = source_peek(f->source, &ev);
		if (status != LT_OK)
			return status;
		f->heard_us = g_get_monotonic_time();
		if (ev->kind == EVENT_TRACE)
			announced(f, hosts, ev);
		if (f->host)
			kernel_declare(f, ev);
		feed_note_origin(f, ev);
		if (!feed_take_fields(f, ev) && f->host)
			model_apply(f->host->public.model, f->number, ev);
		if (ev->kind == EVENT_READY)
			now_runs(f);
		/* a part may have no streams and so no trace: it ends at once */
		done = f->host && ev->kind == (source_spec_is_live(f->spec) ? EVENT_TRACE : EVENT_READY);
		source_next(f->source);
	}
	now_runs(f);
	f->in_merge = true;
	return LT_OK;
}

static int64_t backoff_us(unsigned tries)
{
	return tries > 4 ? RETRY_MAX_US : MIN((int64_t)RETRY_FIRST_US << tries, RETRY_MAX_US);
}

/* Why it stopped, and what to do about it where that is known; to be freed. */
static char *explain_stop(struct feed *f, const char *why)
{
	const enum failed_cause cause = why && f->source ? source_failed_cause(f->source) : FAILED_OTHER;

	if (cause == FAILED_GONE || cause == FAILED_UNREACHABLE)
		f->relayd_left = true;
	f->session_over = !why || (cause == FAILED_NO_SESSION && !f->relayd_left);
	if (!why)
		return f->spec->url ? g_strdup("the session has ended") : NULL;
	if (cause != FAILED_NO_SESSION || !f->relayd_left)
		return g_strdup(why);
	return g_strdup_printf("%s since the relayd was away: on that host run lttngtop record again", why);
}

void feed_stopped(struct feed *f, const char *why)
{
	char *reason = explain_stop(f, why);
	const bool lost_worker = why && f->spec->url && f->source && source_failed_cause(f->source) == FAILED_WORKER;

	f->broken = f->broken || why;
	if (lost_worker && source_is_at_fault(f->source))
		spec_again(f)->alone = true;
	if (f->host && f->source)
		merge_replace(f->host->merge, f->number, NULL);
	source_stop(f->source);
	f->source = NULL;
	feed_drop_fields(f);
	f->in_merge = false;
	kernel_feed_stopped(f);
	g_free(f->why);
	f->why = reason;
	/* A session need not end with its worker, which another one may have brought down. */
	f->state = f->follow || (lost_worker && f->tries < TRIES_MAX) ? FEED_WAITING : FEED_ENDED;
	f->retry_us = g_get_monotonic_time() + backoff_us(f->tries++);
}

const char *feed_describe(const struct feed *f)
{
	switch (f->state) {
	case FEED_STARTING:
		return f->spec->url ? "attaching" : "opening";
	case FEED_RUNNING:
		if (f->stalled)
			return "silent";
		if (f->spec->url)
			return kernel_fills_gaps(f) ? "attached, fills gaps" : "attached";
		return "reading";
	case FEED_DETACHED:
		return "detached";
	case FEED_UNTAKEN:
		return "not attached (--max-sessions)";
	default:
		return f->why ? f->why : "read";
	}
}
