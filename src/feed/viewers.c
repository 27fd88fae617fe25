/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "feed/viewers.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/error.h"
#include "base/nstime.h"
#include "feed/connection.h"
#include "viewer/viewer.h"

enum { STOP_MS = 100 }; /* maximum delay after a signal */

void viewers_init(struct viewers *v, const stop_flag *stop)
{
	*v = (struct viewers){ .stop = stop, .sessions = g_array_new(FALSE, FALSE, sizeof(struct viewers_session)) };
}

void viewers_close(struct viewers *v)
{
	viewer_destroy(v->viewer);
	g_array_free(v->sessions, TRUE);
}

/* Waits at most left_ms. LT_INTERRUPTED: *stop was set. */
static enum lt_status wait_for(const struct viewers *v, int fd, int events, int64_t left_ms)
{
	struct pollfd p = { .fd = fd, .events = (short)events };

	if (poll(&p, 1, (int)CLAMP(left_ms, 0, STOP_MS)) < 0 && errno != EINTR)
		return error_set("cannot wait: %s", g_strerror(errno));
	return *v->stop ? LT_INTERRUPTED : LT_OK;
}

/* Waits until the relayd sends something. */
static enum lt_status wait_for_relayd(const struct viewers *v)
{
	const unsigned events = viewer_events(v->viewer);

	return wait_for(v, viewer_fd(v->viewer), (events & EPOLLIN ? POLLIN : 0) | (events & EPOLLOUT ? POLLOUT : 0),
			(viewer_due_us(v->viewer) - g_get_monotonic_time()) / US_PER_MS + 1);
}

enum lt_status viewers_ask(struct viewers *v)
{
	struct viewer_event event;
	enum lt_status status;

	if (v->is_listed) {
		viewer_list_again(v->viewer);
		g_array_set_size(v->sessions, 0);
		v->is_listed = false;
	} /* otherwise interrupted: continue */
	while (!v->is_listed) {
		status = viewer_next(v->viewer, &event);
		if (status == LT_AGAIN)
			status = wait_for_relayd(v);
		else if (status == LT_OK && event.kind == VIEWER_SESSION)
			g_array_append_vals(v->sessions,
					    &(struct viewers_session){ event.session->id, event.session->clients,
								       event.session->streams },
					    1);
		else if (status == LT_OK)
			v->is_listed = event.kind == VIEWER_LISTED;
		if (status)
			return status == LT_ERROR ? error_wrap("live port %u", v->live_port) : status;
	}
	return LT_OK;
}

enum lt_status viewers_open(struct viewers *v, int family, const char *host, unsigned live_port, unsigned timeout_ms)
{
	int fd;
	const enum lt_status status = connection_dial(family, host, live_port, timeout_ms, v->stop, &fd);

	v->live_port = live_port;
	if (status != LT_OK)
		return status == LT_ERROR ? error_wrap("live port %u", live_port) : status;
	v->viewer = viewer_create(&(struct viewer_options){ .fd = fd, .timeout_ms = timeout_ms });
	return viewers_ask(v);
}

const struct viewers_session *viewers_find(const struct viewers *v, uint64_t session_id)
{
	for (guint i = 0; i < v->sessions->len; i++)
		if (g_array_index(v->sessions, struct viewers_session, i).id == session_id)
			return &g_array_index(v->sessions, struct viewers_session, i);
	return NULL;
}
