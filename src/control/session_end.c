/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stopping and removing a session. The session daemon first writes what is left, and liblttng-ctl waits for that
 * without a limit: if one of the daemon's processes hangs, for ever. So this happens in a thread of its own, which is
 * left alone if the user does not want to wait.
 */
#include <signal.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"
#include "control/internal.h"
#include "control/process.h"
#include "control/sessions.h"

enum { LOOK_US = 100 * US_PER_MS, SAY_US = 5 * US_PER_S };

struct ending {
	GMutex mutex;
	GCond ended;
	char *name;
	bool done;
	int stop_code, destroy_code; /* of liblttng-ctl */
	struct session_lost lost;
};

static bool gave_up;

bool session_gave_up(void)
{
	return gave_up;
}

static gpointer end_session(gpointer data)
{
	struct ending *e = data;

	e->stop_code = lttng_stop_tracing(e->name);
	if (e->stop_code >= 0 || e->stop_code == -LTTNG_ERR_TRACE_ALREADY_STOPPED) {
		session_fill_lost(e->name, &e->lost);
		e->destroy_code = lttng_destroy_session(e->name);
	}
	g_mutex_lock(&e->mutex);
	e->done = true;
	g_cond_signal(&e->ended);
	g_mutex_unlock(&e->mutex);
	return NULL;
}

/* Once the user knows what is being waited for, a signal ends it; one that had arrived before is sent again later. */
static bool wait_for_end(struct ending *e)
{
	const gint64 say_us = g_get_monotonic_time() + SAY_US;
	bool said = false, done;
	int earlier = 0;

	g_mutex_lock(&e->mutex);
	while (!e->done && !(said && process_is_interrupted())) {
		g_cond_wait_until(&e->ended, &e->mutex, g_get_monotonic_time() + LOOK_US);
		if (said || e->done || g_get_monotonic_time() < say_us)
			continue;
		earlier = process_take_signal(); /* before the message, which may be answered at once */
		log_warning("waiting for the session daemon to end session '%s'; ^C stops waiting", e->name);
		said = true;
	}
	done = e->done;
	g_mutex_unlock(&e->mutex);
	if (earlier)
		raise(earlier);
	return done;
}

static enum lt_status result_of(const struct ending *e)
{
	if (e->stop_code < 0 && e->stop_code != -LTTNG_ERR_TRACE_ALREADY_STOPPED) {
		tracer_error(e->stop_code, e->name);
		return error_wrap("stopping session '%s'", e->name);
	}
	return e->destroy_code < 0 ? tracer_error(e->destroy_code, e->name) : LT_OK;
}

enum lt_status session_stop(const char *name, struct session_lost *lost)
{
	struct ending *e = g_new0(struct ending, 1);
	GThread *thread;
	enum lt_status status;

	g_mutex_init(&e->mutex);
	g_cond_init(&e->ended);
	e->name = g_strdup(name);
	thread = g_thread_new("session end", end_session, e);
	if (!wait_for_end(e)) {
		gave_up = true;
		g_thread_unref(thread);
		error_set("session '%s' has not ended: the session daemon does not finish it. What was recorded is "
			  "kept; look for a process lttng-consumerd that is stopped or hangs, then run 'lttngtop "
			  "record stop %s'",
			  name, name);
		return LT_INTERRUPTED;
	}
	g_thread_join(thread);
	*lost = e->lost;
	status = result_of(e);
	g_mutex_clear(&e->mutex);
	g_cond_clear(&e->ended);
	g_free(e->name);
	g_free(e);
	return status;
}
