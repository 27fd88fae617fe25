/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "viewer/connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/fd.h"

void viewer_connection_init(struct viewer_connection *c, int fd)
{
	*c = (struct viewer_connection){ .fd = fd, .moved_us = g_get_monotonic_time() };
	c->out = g_byte_array_new();
}

void viewer_connection_close(struct viewer_connection *c)
{
	close_fd(&c->fd);
	if (c->out)
		g_byte_array_free(c->out, TRUE);
	c->out = NULL;
}

/* ---- moving bytes ---- */

void viewer_connection_put(struct viewer_connection *c, const void *data, size_t len)
{
	g_byte_array_append(c->out, data, (guint)len);
}

static enum lt_status broken(void)
{
	return error_set("the relayd went away: %s", g_strerror(errno));
}

static enum lt_status send_some(struct viewer_connection *c)
{
	while (viewer_connection_has_backlog(c)) {
		const ssize_t n = send(c->fd, c->out->data + c->sent, c->out->len - c->sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return LT_OK;
		if (n < 0)
			return broken();
		c->sent += (size_t)n;
		c->is_unacknowledged = false; /* it goes along */
	}
	g_byte_array_set_size(c->out, 0);
	c->sent = 0;
	return LT_OK;
}

/* Receives once, after moving the buffer's contents to its front. */
static enum lt_status receive_some(struct viewer_connection *c)
{
	uint8_t *to = c->body;
	size_t room = c->body_len;
	ssize_t n;

	if (room == 0) {
		memmove(c->in, c->in + c->begin, c->end - c->begin);
		c->end -= c->begin;
		c->begin = 0;
		to = c->in + c->end;
		room = sizeof(c->in) - c->end;
	}
	do {
		n = recv(c->fd, to, room, 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? LT_AGAIN : broken();
	if (n == 0)
		return LT_END;
	if (c->body_len > 0) {
		c->body += n;
		c->body_len -= (size_t)n;
	} else {
		c->end += (size_t)n;
	}
	c->is_drained = (size_t)n < room;
	c->is_unacknowledged = true;
	c->moved_us = g_get_monotonic_time();
	return LT_OK;
}

/* A relayd holds back its next small answer until the last one is acknowledged: do that at once, not after 40 ms. */
static void acknowledge(struct viewer_connection *c)
{
	const int one = 1;

	setsockopt(c->fd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof(one));
	c->is_unacknowledged = false;
}

enum lt_status viewer_connection_move(struct viewer_connection *c, bool expects_more)
{
	const enum lt_status status = send_some(c);

	if (status != LT_OK)
		return status;
	if (expects_more && c->is_unacknowledged)
		acknowledge(c);
	if (!c->is_drained)
		return receive_some(c);
	c->is_drained = false;
	return LT_AGAIN;
}

const void *viewer_connection_look(const struct viewer_connection *c, size_t len)
{
	return c->end - c->begin >= len ? c->in + c->begin : NULL;
}

void viewer_connection_skip(struct viewer_connection *c, size_t len)
{
	c->begin += len;
}

void viewer_connection_expect(struct viewer_connection *c, void *data, size_t len)
{
	const size_t there = MIN(len, c->end - c->begin);

	memcpy(data, c->in + c->begin, there);
	c->begin += there;
	c->body = (uint8_t *)data + there;
	c->body_len = len - there;
}
