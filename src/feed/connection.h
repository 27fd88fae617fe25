/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_FEED_CONNECTION_H
#define LT_FEED_CONNECTION_H

#include <glib.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/stop.h"

/*
 * A TCP connection that never blocks: outgoing data waits in a buffer until the peer accepts it, incoming data until
 * the caller takes it. A peer that should send or accept data but does neither for timeout_ms is given up on.
 */
struct feed_connection {
	char *peer; /* "lttng-relayd at localhost:5342", for messages */
	int fd;     /* -1: not open */
	unsigned timeout_ms;
	const stop_flag *stop; /* borrowed */
	GByteArray *out;
	size_t sent; /* bytes of out that were sent */
	GByteArray *in;
	int64_t moved_us; /* when data last moved in either direction */
};

void connection_init(struct feed_connection *c, unsigned timeout_ms, const stop_flag *stop);

/*
 * Establishes a TCP connection, see viewer/dial.h: *fd then belongs to the caller. LT_INTERRUPTED: *stop was set.
 */
enum lt_status connection_dial(int family, const char *host, unsigned port, unsigned timeout_ms, const stop_flag *stop,
			       int *fd);

/* The same for this one. LT_ERROR: the error chain names the peer and the reason. */
enum lt_status connection_open(struct feed_connection *c, int family, const char *host, unsigned port);

void connection_close(struct feed_connection *c);

/* Appends data to the outgoing buffer. */
void connection_put(struct feed_connection *c, const void *data, size_t size);

static inline size_t connection_backlog(const struct feed_connection *c)
{
	return c->out->len - c->sent;
}

/* Fills *p for poll(): fd, and whether there is something to send. */
void connection_watch(const struct feed_connection *c, struct pollfd *p);

/* Sends and receives what is possible now. LT_ERROR: the peer closed, or the connection broke. */
enum lt_status connection_move(struct feed_connection *c);

/* LT_ERROR: the caller is `expecting` data and nothing has moved for timeout_ms. */
enum lt_status connection_check(const struct feed_connection *c, bool expecting);

/* Sends everything, then waits for size bytes and takes them. LT_INTERRUPTED: *stop was set. */
enum lt_status connection_get(struct feed_connection *c, void *data, size_t size);

/* Takes size bytes if that many have arrived. */
bool connection_take(struct feed_connection *c, void *data, size_t size);

#endif
