/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEWER_CONNECTION_H
#define LT_VIEWER_CONNECTION_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/*
 * Inside viewer/: a connection that never blocks. Output waits in a buffer until the peer takes it. Input is received
 * in large pieces and consumed in small ones, or goes straight to its destination.
 */
enum { CONNECTION_IN = 16384 }; /* most that can be consumed at once */

struct viewer_connection {
	int fd;           /* -1: not open */
	int64_t moved_us; /* when bytes last arrived, or something was sent after silence */
	GByteArray *out;
	size_t sent;
	uint8_t *body; /* destination of the next bytes, bypassing the buffer */
	size_t body_len;
	size_t begin, end;      /* of the bytes in the buffer */
	bool is_drained;        /* the last bytes received were all that were there */
	bool is_unacknowledged; /* nothing was sent since */
	uint8_t in[CONNECTION_IN];
};

/* Takes ownership of fd, which must be non-blocking. */
void viewer_connection_init(struct viewer_connection *c, int fd);
void viewer_connection_close(struct viewer_connection *c);

/*
 * Sends as much as is possible now, and receives what has arrived, in one piece. expects_more: there will be more
 * answers even if nothing is asked. LT_OK: something was received. LT_AGAIN: nothing was; wait for the descriptor.
 * LT_END: the peer closed the connection. LT_ERROR: it broke (error chain).
 */
enum lt_status viewer_connection_move(struct viewer_connection *c, bool expects_more);

/* Appends to the output. */
void viewer_connection_put(struct viewer_connection *c, const void *data, size_t len);

static inline bool viewer_connection_has_backlog(const struct viewer_connection *c)
{
	return c->out && c->sent < c->out->len;
}

/*
 * The next len bytes (<= CONNECTION_IN), valid until the next call on the connection; NULL: they have not all arrived.
 */
const void *viewer_connection_look(const struct viewer_connection *c, size_t len);

void viewer_connection_skip(struct viewer_connection *c, size_t len);

/* Receives the next len bytes into data, which must stay valid until viewer_connection_body_is_there(). */
void viewer_connection_expect(struct viewer_connection *c, void *data, size_t len);

static inline bool viewer_connection_body_is_there(const struct viewer_connection *c)
{
	return c->body_len == 0;
}

#endif
