/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "feed/connection.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nstime.h"
#include "viewer/dial.h"

enum {
	WAIT_MS = 200, /* between checks of *stop: a signal may arrive just before poll() */
	READ_BYTES = 4096,
};

void connection_init(struct feed_connection *c, unsigned timeout_ms, const stop_flag *stop)
{
	*c = (struct feed_connection){ .fd = -1, .timeout_ms = timeout_ms, .stop = stop };
	c->out = g_byte_array_new();
	c->in = g_byte_array_new();
}

void connection_close(struct feed_connection *c)
{
	if (c->fd >= 0)
		close(c->fd);
	if (c->out)
		g_byte_array_free(c->out, TRUE);
	if (c->in)
		g_byte_array_free(c->in, TRUE);
	g_free(c->peer);
	*c = (struct feed_connection){ .fd = -1 };
}

static enum lt_status fail(const struct feed_connection *c, const char *what)
{
	return error_set("%s %s", c->peer, what);
}

#define CLOSED "closed the connection"

/* Describes errno in the error chain. */
static enum lt_status fail_moving(const struct feed_connection *c)
{
	return fail(c, errno == EPIPE || errno == ECONNRESET ? CLOSED : g_strerror(errno));
}

static enum lt_status fail_timeout(const struct feed_connection *c)
{
	return error_set("no answer from %s for %g s", c->peer, (double)c->timeout_ms / MS_PER_S);
}

void connection_watch(const struct feed_connection *c, struct pollfd *p)
{
	*p = (struct pollfd){ .fd = c->fd, .events = (short)(POLLIN | (connection_backlog(c) ? POLLOUT : 0)) };
}

enum lt_status connection_check(const struct feed_connection *c, bool expecting)
{
	if (expecting && g_get_monotonic_time() - c->moved_us > (int64_t)c->timeout_ms * US_PER_MS)
		return fail_timeout(c);
	return LT_OK;
}

/* ---- connecting ---- */

enum lt_status connection_dial(int family, const char *host, unsigned port, unsigned timeout_ms, const stop_flag *stop,
			       int *fd)
{
	struct dial *dial = dial_create(family, host, port, timeout_ms);
	enum lt_status status = dial ? LT_AGAIN : LT_ERROR;

	while (status == LT_AGAIN && (status = dial_next(dial, fd)) == LT_AGAIN) {
		struct pollfd p = { .fd = dial_fd(dial), .events = POLLIN };

		poll(&p, 1, WAIT_MS);
		if (*stop)
			status = LT_INTERRUPTED;
	}
	dial_destroy(dial);
	return status;
}

enum lt_status connection_open(struct feed_connection *c, int family, const char *host, unsigned port)
{
	enum lt_status status = connection_dial(family, host, port, c->timeout_ms, c->stop, &c->fd);

	g_free(c->peer);
	c->peer = g_strdup_printf(strchr(host, ':') ? "lttng-relayd at [%s]:%u" : "lttng-relayd at %s:%u", host, port);
	c->moved_us = g_get_monotonic_time();
	return status == LT_ERROR ? error_wrap("%s", c->peer) : status;
}

/* ---- moving bytes ---- */

void connection_put(struct feed_connection *c, const void *data, size_t size)
{
	if (!connection_backlog(c))
		c->moved_us = g_get_monotonic_time();
	g_byte_array_append(c->out, data, (guint)size);
}

static enum lt_status send_some(struct feed_connection *c)
{
	while (connection_backlog(c)) {
		ssize_t n = send(c->fd, c->out->data + c->sent, connection_backlog(c), MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n < 0)
			return fail_moving(c);
		c->sent += (size_t)n;
		c->moved_us = g_get_monotonic_time();
	}
	/* Move the rest to the front only when that costs no more than what was sent. */
	if (c->sent >= c->out->len / 2) {
		g_byte_array_remove_range(c->out, 0, (guint)c->sent);
		c->sent = 0;
	}
	return LT_OK;
}

static enum lt_status receive_some(struct feed_connection *c)
{
	uint8_t data[READ_BYTES];

	for (;;) {
		ssize_t n = recv(c->fd, data, sizeof(data), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return LT_OK;
		if (n <= 0)
			return n == 0 ? fail(c, CLOSED) : fail_moving(c);
		g_byte_array_append(c->in, data, (guint)n);
		c->moved_us = g_get_monotonic_time();
	}
}

enum lt_status connection_move(struct feed_connection *c)
{
	/* What the peer said before closing explains more than the fact that it closed. */
	enum lt_status received = receive_some(c);

	return received ? received : send_some(c);
}

bool connection_take(struct feed_connection *c, void *data, size_t size)
{
	if (c->in->len < size)
		return false;
	memcpy(data, c->in->data, size);
	g_byte_array_remove_range(c->in, 0, (guint)size);
	return true;
}

enum lt_status connection_get(struct feed_connection *c, void *data, size_t size)
{
	struct pollfd p;

	c->moved_us = g_get_monotonic_time();
	for (;;) {
		enum lt_status status = connection_move(c);

		if (!connection_backlog(c) && connection_take(c, data, size))
			return LT_OK;
		if (!status)
			status = connection_check(c, true);
		if (status)
			return status;
		if (*c->stop)
			return LT_INTERRUPTED;
		connection_watch(c, &p);
		poll(&p, 1, WAIT_MS);
	}
}
