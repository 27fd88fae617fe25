/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "viewer/viewer.h"

#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/error.h"
#include "base/nstime.h"
#include "viewer/internal.h"

struct viewer *viewer_create(const struct viewer_options *options)
{
	struct viewer *v = g_new0(struct viewer, 1);

	v->target = g_strdup(options->target);
	v->name = g_strdup(options->session);
	v->wanted = options->id;
	v->timeout_ms = options->timeout_ms ? options->timeout_ms : VIEWER_TIMEOUT_MS;
	v->from_start = options->from_start;
	v->body = g_byte_array_new();
	v->streams = g_ptr_array_new();
	g_queue_init(&v->requests);
	viewer_connection_init(&v->connection, options->fd);
	return v;
}

void viewer_destroy(struct viewer *v)
{
	if (!v)
		return;
	viewer_connection_close(&v->connection);
	g_queue_clear_full(&v->requests, g_free);
	for (guint i = 0; i < v->streams->len; i++)
		viewer_stream_free(g_ptr_array_index(v->streams, i));
	g_ptr_array_free(v->streams, TRUE);
	g_byte_array_free(v->body, TRUE);
	g_free(v->packet);
	g_free(v->entry_host);
	g_free(v->entry_name);
	g_free(v->reason);
	g_free(v->target);
	g_free(v->name);
	g_free(v);
}

void viewer_packet_free(struct viewer_packet *p)
{
	struct viewer *v = p->stream->viewer;

	p->stream->held--;
	p->stream->held_bytes -= p->len;
	v->held_bytes -= p->len;
	if (p->stream->is_gone)
		v->gone_bytes -= p->len;
	v->packet_us = g_get_monotonic_time();
	g_free(p);
}

void viewer_want_metadata(struct viewer_stream *metadata, bool more)
{
	metadata->is_incomplete = more;
}

void viewer_stream_free(struct viewer_stream *s)
{
	if (s->is_gone)
		s->viewer->n_gone--;
	g_free(s->path);
	g_free(s->channel);
	g_free(s);
}

/* ---- failing ---- */

/* Fails with this cause, and the reason in the error chain. */
static enum lt_status fail(struct viewer *v, enum viewer_cause cause)
{
	v->state = STATE_FAILED;
	v->cause = cause;
	v->reason = g_strdup(error_text());
	viewer_connection_close(&v->connection);
	return LT_ERROR;
}

enum lt_status viewer_refuse(struct viewer *v, enum viewer_cause cause, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	g_vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	error_set("%s", text);
	return fail(v, cause);
}

enum viewer_cause viewer_cause(const struct viewer *v)
{
	return v->cause;
}

/* Whether a relayd has answered. */
static bool has_met(const struct viewer *v)
{
	return v->minor > 0;
}

static enum lt_status hung_up(struct viewer *v)
{
	return has_met(v) ? viewer_refuse(v, VIEWER_GONE, "the relayd went away")
			  : viewer_refuse(v, VIEWER_UNREACHABLE, NOT_A_RELAYD);
}

static bool is_silent(const struct viewer *v)
{
	return v->requests.length > 0 &&
	       g_get_monotonic_time() >= v->connection.moved_us + (int64_t)v->timeout_ms * US_PER_MS;
}

/* ---- opening ---- */

static void greet(struct viewer *v)
{
	v->state = STATE_OPENING;
	viewer_ask_connect(v);
	viewer_ask_list(v);
}

bool viewer_take_session(struct viewer *v)
{
	const struct viewer_session *s = &v->session;
	bool is_better;

	if (!v->name)
		return true;
	if (v->state != STATE_OPENING) {
		v->is_listed |= s->id == v->id;
		return false;
	}
	if (strcmp(s->host, v->target) != 0 || strcmp(s->name, v->name) != 0 || (v->wanted && s->id != v->wanted))
		return false;
	/*
	 * If several session daemons have a session with this name, use one that can be read. One daemon has two if the
	 * kernel and programs are traced; that of the programs has no stream as long as none has emitted an event.
	 */
	is_better = s->timer_us > 0 && (v->timer_us == 0 || (s->clients == 0 && v->clients > 0) ||
					((s->clients == 0 || v->clients > 0) && s->streams > 0 && v->n_listed == 0));
	if (!v->is_found || is_better) {
		v->is_found = true;
		v->id = s->id;
		v->timer_us = s->timer_us;
		v->clients = s->clients;
		v->n_listed = s->streams;
	}
	return false;
}

enum lt_status viewer_take_list(struct viewer *v, struct viewer_event *event)
{
	v->asks_list = false;
	if (!v->name) {
		v->state = STATE_LISTED;
		*event = (struct viewer_event){ .kind = VIEWER_LISTED };
		return LT_OK;
	}
	if (v->state != STATE_OPENING) {
		v->is_unlisted = !v->is_listed;
		return LT_END;
	}
	if (!v->is_found)
		return viewer_refuse(v, VIEWER_NO_SESSION, "no such session");
	if (v->timer_us == 0)
		return viewer_refuse(v, VIEWER_NO_SESSION, "not a live session: created without '--live'");
	v->state = STATE_ATTACHING;
	viewer_ask_attach(v);
	return LT_END;
}

void viewer_list_again(struct viewer *v)
{
	if (v->state == STATE_LISTED && !v->asks_list)
		viewer_ask_list(v);
}

/* ---- running ---- */

/* Sends what is due and moves bytes. LT_END: some arrived, which may make an event. */
static enum lt_status move(struct viewer *v)
{
	enum lt_status status;

	viewer_poll(v);
	status = viewer_connection_move(&v->connection, v->requests.length > 0);
	if (status == LT_AGAIN && is_silent(v)) {
		/* this process may have been stopped meanwhile: only what has arrived by now counts */
		status = viewer_connection_move(&v->connection, true);
		if (status == LT_AGAIN)
			return viewer_refuse(v, has_met(v) ? VIEWER_GONE : VIEWER_UNREACHABLE,
					     "the relayd does not answer for %g s", (double)v->timeout_ms / MS_PER_S);
	}
	if (status == LT_END)
		return hung_up(v);
	if (status == LT_ERROR)
		return has_met(v) ? fail(v, VIEWER_GONE) : hung_up(v);
	return status == LT_AGAIN ? LT_AGAIN : LT_END;
}

enum lt_status viewer_next(struct viewer *v, struct viewer_event *event)
{
	enum lt_status status;

	if (v->state == STATE_FAILED)
		return error_set("%s", v->reason);
	if (v->state == STATE_NEW)
		greet(v);
	do {
		if (viewer_has_ended(v))
			v->state = STATE_ENDED;
		if (v->state == STATE_ENDED)
			return LT_END;
		status = viewer_take_reply(v, event);
		if (status == LT_AGAIN)
			status = move(v);
	} while (status == LT_END);
	return status;
}

int viewer_fd(const struct viewer *v)
{
	return v->connection.fd;
}

unsigned viewer_events(const struct viewer *v)
{
	if (v->connection.fd < 0)
		return 0;
	return EPOLLIN | (viewer_connection_has_backlog(&v->connection) ? EPOLLOUT : 0);
}

int64_t viewer_due_us(const struct viewer *v)
{
	int64_t due_us = viewer_poll_due_us(v);

	if (v->state == STATE_NEW)
		return 0;
	if (v->state >= STATE_ENDED)
		return INT64_MAX;
	if (v->requests.length > 0)
		due_us = MIN(due_us, v->connection.moved_us + (int64_t)v->timeout_ms * US_PER_MS);
	return due_us;
}
