/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests that can take long: stopping a session, removing one, taking a snapshot. The session daemon first writes
 * what is left, and liblttng-ctl waits for that without a limit: if one of the daemon's processes hangs, for ever. So a
 * request is made in a thread of its own, which is left alone if the user does not want to wait.
 */
#include <signal.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"
#include "control/ctl.h"
#include "control/internal.h"
#include "control/process.h"
#include "control/sessions.h"

enum { LOOK_US = 100 * US_PER_MS, SAY_US = 5 * US_PER_S };

struct session_request {
	GMutex mutex;
	GCond ended;
	char *name;
	uint64_t created_s; /* 0: whenever it was created */
	void (*ask)(struct session_request *r);
	bool done;
	int code, destroy_code; /* of liblttng-ctl */
	struct session_lost lost;
	GThread *thread;
};

/* The request that was given up; NULL: none. liblttng-ctl serves only one thread at a time. */
static struct session_request *given_up;

static void end_session(struct session_request *r)
{
	r->code = lttng_stop_tracing(r->name);
	if (r->code >= 0 || r->code == -LTTNG_ERR_TRACE_ALREADY_STOPPED) {
		session_fill_lost(r->name, &r->lost);
		r->destroy_code = lttng_destroy_session(r->name);
	}
}

static void remove_session(struct session_request *r)
{
	uint64_t created_s = r->created_s;

	if (r->created_s)
		r->code = session_read_created(r->name, &created_s);
	if (r->code >= 0 && created_s == r->created_s)
		r->code = lttng_destroy_session(r->name);
	/* it may be gone all the same, as without its relayd */
	if (r->code < 0 && session_read_created(r->name, &created_s) == -LTTNG_ERR_SESS_NOT_FOUND)
		r->code = -LTTNG_ERR_SESS_NOT_FOUND;
}

static void take_snapshot(struct session_request *r)
{
	r->code = lttng_snapshot_record(r->name, NULL, 0);
}

static gpointer run_request(gpointer data)
{
	struct session_request *r = data;

	r->ask(r);
	g_mutex_lock(&r->mutex);
	r->done = true;
	g_cond_signal(&r->ended);
	g_mutex_unlock(&r->mutex);
	return NULL;
}

/* Once the user knows what is being waited for, a signal ends it; one that had arrived before is sent again later. */
static bool wait_for_end(struct session_request *r, const char *purpose)
{
	const gint64 say_us = g_get_monotonic_time() + SAY_US;
	bool said = false, done;
	int earlier = 0;

	g_mutex_lock(&r->mutex);
	while (!r->done && !(said && process_is_interrupted())) {
		g_cond_wait_until(&r->ended, &r->mutex, g_get_monotonic_time() + LOOK_US);
		if (said || r->done || g_get_monotonic_time() < say_us)
			continue;
		earlier = process_take_signal(); /* before the message, which may be answered at once */
		log_warning("waiting for the session daemon to %s session '%s'; ^C stops waiting", purpose, r->name);
		said = true;
	}
	done = r->done;
	g_mutex_unlock(&r->mutex);
	if (earlier)
		raise(earlier);
	return done;
}

static void request_free(struct session_request *r)
{
	g_thread_join(r->thread);
	g_mutex_clear(&r->mutex);
	g_cond_clear(&r->ended);
	g_free(r->name);
	g_free(r);
}

bool session_gave_up(void)
{
	bool done;

	if (!given_up)
		return false;
	g_mutex_lock(&given_up->mutex);
	done = given_up->done;
	g_mutex_unlock(&given_up->mutex);
	if (done)
		g_clear_pointer(&given_up, request_free);
	return !done;
}

/* Asks, once an earlier request that was given up has ended. The caller frees it. NULL: a signal has ended the wait. */
static struct session_request *request(const char *name, uint64_t created_s, const char *purpose,
				       void (*ask)(struct session_request *r))
{
	struct session_request *r;

	if (session_gave_up() && !wait_for_end(given_up, purpose))
		return NULL;
	g_clear_pointer(&given_up, request_free);
	r = g_new0(struct session_request, 1);
	g_mutex_init(&r->mutex);
	g_cond_init(&r->ended);
	r->name = g_strdup(name);
	r->created_s = created_s;
	r->ask = ask;
	ctl_load(); /* the thread must not */
	r->thread = g_thread_new("session request", run_request, r);
	if (wait_for_end(r, purpose))
		return r;
	given_up = r;
	return NULL;
}

static enum lt_status result_of(const struct session_request *r)
{
	if (r->code < 0 && r->code != -LTTNG_ERR_TRACE_ALREADY_STOPPED) {
		tracer_error(r->code, r->name);
		return error_wrap("stopping session '%s'", r->name);
	}
	return r->destroy_code < 0 ? tracer_error(r->destroy_code, r->name) : LT_OK;
}

enum lt_status session_stop(const char *name, struct session_lost *lost)
{
	struct session_request *r = request(name, 0, "end", end_session);
	enum lt_status status;

	if (!r) {
		error_set("session '%s' has not ended: the session daemon does not finish it. What was recorded is "
			  "kept; look for a process lttng-consumerd that is stopped or hangs, then run 'lttngtop "
			  "record stop %s'",
			  name, name);
		return LT_INTERRUPTED;
	}
	*lost = r->lost;
	status = result_of(r);
	request_free(r);
	return status;
}

bool session_discard_created(const char *name, uint64_t created_s)
{
	struct session_request *r = request(name, created_s, "remove", remove_session);
	bool gone = false;

	if (r) {
		gone = r->code >= 0 || r->code == -LTTNG_ERR_SESS_NOT_FOUND;
		request_free(r);
	} else {
		log_warning("session '%s' may be left: the session daemon does not answer; once it does, run 'lttngtop "
			    "record stop %s'",
			    name, name);
	}
	return gone;
}

void session_discard(const char *name)
{
	session_discard_created(name, 0);
}

enum lt_status session_take_snapshot(const char *name)
{
	struct session_request *r = request(name, 0, "take a snapshot of", take_snapshot);
	enum lt_status status;

	if (!r)
		return error_set("the session daemon does not finish it: look for a process lttng-consumerd that is "
				 "stopped or hangs");
	status = r->code < 0 ? tracer_error(r->code, name) : LT_OK;
	request_free(r);
	return status;
}
