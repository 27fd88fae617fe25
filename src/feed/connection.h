/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_FEED_CONNECTION_H
#define LT_FEED_CONNECTION_H

#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/*
 * A TCP connection that never blocks: what is sent waits in a buffer until the
 * peer takes it, what comes is kept until it is asked for. A peer that neither takes
 * nor sends anything for timeout_ms while it should is given up.
 */
struct connection {
	char *peer; /* "lttng-relayd at localhost:5342", for messages */
	int fd;     /* -1: not open */
	unsigned timeout_ms;
	const volatile sig_atomic_t *stop; /* a signal asked to end: waiting returns LT_INTERRUPTED */
	GByteArray *out;
	size_t sent; /* of out */
	GByteArray *in;
	int64_t moved_us; /* when bytes last went either way */
};

void connection_init(struct connection *c, unsigned timeout_ms, const volatile sig_atomic_t *stop);

/*
 * Connects; family: AF_UNSPEC, AF_INET, AF_INET6. Every address of the host is
 * tried. LT_ERROR: the chain names the peer and the reason.
 */
enum lt_status connection_open(struct connection *c, int family, const char *host, unsigned port);

void connection_close(struct connection *c);

/* Appends to what is to be sent. */
void connection_put(struct connection *c, const void *data, size_t size);

static inline size_t connection_backlog(const struct connection *c)
{
	return c->out->len - c->sent;
}

/* For poll(): fd, and whether there is something to send. */
void connection_watch(const struct connection *c, struct pollfd *p);

/* Moves what can be moved now. LT_ERROR: the peer closed, or the connection broke. */
enum lt_status connection_move(struct connection *c);

/* LT_ERROR: it is `expecting` something and nothing moved for the timeout. */
enum lt_status connection_check(const struct connection *c, bool expecting);

/* Sends everything, then waits for size bytes and takes them. LT_INTERRUPTED: *stop was set. */
enum lt_status connection_get(struct connection *c, void *data, size_t size);

/* Takes size bytes if they are there. */
bool connection_take(struct connection *c, void *data, size_t size);

#endif
