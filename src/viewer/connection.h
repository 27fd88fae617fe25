/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEWER_CONNECTION_H
#define LT_VIEWER_CONNECTION_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/*
 * Inside viewer/: a connection that never blocks. What is sent waits in a buffer until the peer takes
 * it; what comes is read in large pieces and taken in small ones, or goes straight to where it is wanted.
 */
enum { CONNECTION_IN = 16384 }; /* most that can be taken at once */

struct viewer_connection {
	int fd;           /* -1: not open */
	int64_t moved_us; /* when bytes last came, or something was sent after silence */
	GByteArray *out;
	size_t sent;
	uint8_t *body; /* where the next bytes go, past the buffer */
	size_t body_len;
	size_t begin, end; /* of what is in the buffer */
	uint8_t in[CONNECTION_IN];
};

/* Takes over fd, which does not block. */
void viewer_connection_init(struct viewer_connection *c, int fd);
void viewer_connection_close(struct viewer_connection *c);

/*
 * Moves what can be moved now, in both directions. LT_OK: something was received. LT_AGAIN: nothing.
 * LT_END: the peer closed. LT_ERROR: it broke.
 */
enum lt_status viewer_connection_move(struct viewer_connection *c);

/* Appends to what is to be sent. */
void viewer_connection_put(struct viewer_connection *c, const void *data, size_t len);

static inline bool viewer_connection_has_backlog(const struct viewer_connection *c)
{
	return c->out && c->sent < c->out->len;
}

/* The next len bytes (<= CONNECTION_IN), until anything else is done with the connection; NULL: not there yet. */
const void *viewer_connection_look(const struct viewer_connection *c, size_t len);

void viewer_connection_skip(struct viewer_connection *c, size_t len);

/* The next len bytes go to data, which must stay until viewer_connection_body_is_there(). */
void viewer_connection_expect(struct viewer_connection *c, void *data, size_t len);

static inline bool viewer_connection_body_is_there(const struct viewer_connection *c)
{
	return c->body_len == 0;
}

#endif
