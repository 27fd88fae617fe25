/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "viewer/connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

void viewer_connection_init(struct viewer_connection *c)
{
	*c = (struct viewer_connection){ .fd = -1 };
	c->out = g_byte_array_new();
}

static void hang_up(struct viewer_connection *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

void viewer_connection_close(struct viewer_connection *c)
{
	hang_up(c);
	if (c->addresses)
		freeaddrinfo(c->addresses);
	if (c->out)
		g_byte_array_free(c->out, TRUE);
	c->addresses = c->next = NULL;
	c->out = NULL;
	c->is_open = false;
}

/* ---- connecting ---- */

static unsigned count_addresses(const struct addrinfo *a)
{
	unsigned n = 0;

	for (; a; a = a->ai_next)
		n++;
	return n;
}

/* Starts with the next address. Each gets its part of the time that is left. */
static enum lt_status try_next(struct viewer_connection *c)
{
	int error = EHOSTUNREACH;

	while (c->next) {
		const struct addrinfo *a = c->next;
		const int64_t now_us = g_get_monotonic_time();

		c->give_up_us = now_us + (c->until_us - now_us) / count_addresses(a);
		c->next = a->ai_next;
		c->fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
		if (c->fd >= 0 && connect(c->fd, a->ai_addr, a->ai_addrlen) == 0)
			return LT_OK;
		error = errno;
		if (c->fd >= 0 && (error == EINPROGRESS || error == EINTR))
			return LT_OK;
		hang_up(c);
	}
	return error_set("cannot connect: %s", g_strerror(error));
}

enum lt_status viewer_connection_open(struct viewer_connection *c, int family, const char *host, unsigned port,
				      unsigned timeout_ms)
{
	struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM };
	char service[16];
	int problem;

	g_snprintf(service, sizeof(service), "%u", port);
	problem = getaddrinfo(host, service, &hints, &c->addresses);
	if (problem)
		return error_set("cannot find the address of the host: %s", gai_strerror(problem));
	c->next = c->addresses;
	c->until_us = g_get_monotonic_time() + (int64_t)timeout_ms * 1000;
	return try_next(c);
}

/* LT_OK: connected. LT_AGAIN: not yet. */
static enum lt_status finish_connecting(struct viewer_connection *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int error = 0, one = 1;
	enum lt_status status;

	if (poll(&p, 1, 0) > 0) {
		if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
			error = errno;
	} else if (g_get_monotonic_time() < c->give_up_us) {
		return LT_AGAIN;
	} else {
		error = ETIMEDOUT;
	}
	if (error) {
		hang_up(c);
		status = c->next ? try_next(c) : error_set("cannot connect: %s", g_strerror(error));
		return status == LT_OK ? LT_AGAIN : status;
	}
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	c->is_open = true;
	c->moved_us = g_get_monotonic_time();
	return LT_OK;
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
	}
	g_byte_array_set_size(c->out, 0);
	c->sent = 0;
	return LT_OK;
}

/* One piece: what was there before it is moved to the front. */
static enum lt_status receive_some(struct viewer_connection *c)
{
	uint8_t *to = c->body;
	size_t room = c->body_len;
	const int one = 1;
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
	/* A relayd keeps its next small answer back until the last one is acknowledged: not 40 ms later. */
	setsockopt(c->fd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof(one));
	c->moved_us = g_get_monotonic_time();
	return LT_OK;
}

enum lt_status viewer_connection_move(struct viewer_connection *c)
{
	enum lt_status status = c->is_open ? LT_OK : finish_connecting(c);

	if (status == LT_OK)
		status = send_some(c);
	return status == LT_OK ? receive_some(c) : status;
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
