/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEWER_INTERNAL_H
#define LT_VIEWER_INTERNAL_H

#include <glib.h>

#include "viewer/connection.h"
#include "viewer/protocol.h"
#include "viewer/viewer.h"

/*
 *   viewer.c   what a caller sees; opening: connect, list, create, attach
 *   poll.c     reading a session: when to ask which stream
 *   request.c  commands
 *   reply.c    answers, checked and made into events
 */

/* A command that was not answered yet. */
struct viewer_request {
	enum wire_command command;
	struct viewer_stream *stream; /* NULL: about the session */
	uint32_t serial;
};

/* What is expected next of the answer to the first request. */
enum viewer_part {
	PART_HEAD,
	PART_SESSIONS, /* entries_left of them */
	PART_STREAMS,
	PART_METADATA, /* the bytes in body */
	PART_PACKET,   /* the bytes of packet */
};

enum viewer_state {
	STATE_NEW,
	STATE_OPENING, /* until the list is there */
	STATE_ATTACHING,
	STATE_ATTACHED,
	STATE_LISTED,
	STATE_ENDED,
	STATE_FAILED,
};

struct viewer {
	char *target, *name;
	unsigned timeout_ms;
	bool from_start;
	enum viewer_state state;
	enum viewer_cause cause;
	char *reason; /* STATE_FAILED: the error chain's text */
	struct viewer_connection connection;
	unsigned minor; /* spoken */

	GQueue requests; /* struct viewer_request *, oldest first */
	uint32_t serial; /* of the last one */
	enum viewer_part part;
	uint32_t entries_left;
	GByteArray *body;
	struct viewer_packet *packet;

	/* the last entry of a list, as the caller gets it */
	struct viewer_session session;
	char *entry_host, *entry_name;

	/* the session being read */
	bool is_found;    /* in the list: it is attached, or will be */
	bool is_listed;   /* by the list that is coming */
	bool is_unlisted; /* not by the last one */
	bool is_closed;   /* the relayd has said that no streams will come */
	uint64_t id;
	uint32_t timer_us;
	uint32_t clients;             /* attached to it */
	GPtrArray *streams;           /* struct viewer_stream * */
	unsigned n_data;              /* data streams among them */
	uint32_t asked_streams;       /* serial of the last request */
	bool asks_streams, asks_list; /* requests under way */
	int64_t streams_us;           /* when new streams were last asked for, 0: never */
	int64_t list_us;              /* and the list */
	int64_t packet_us;            /* when the last packet came or was given back */
	size_t held_bytes;            /* of packets with the caller */
};

/* ---- request.c ---- */

void viewer_ask(struct viewer *v, enum wire_command command, struct viewer_stream *stream, const void *payload,
		size_t len);
void viewer_ask_connect(struct viewer *v);
void viewer_ask_list(struct viewer *v);
void viewer_ask_attach(struct viewer *v);
void viewer_ask_new_streams(struct viewer *v);
void viewer_ask_metadata(struct viewer *v, struct viewer_stream *metadata);
void viewer_ask_index(struct viewer *v, struct viewer_stream *s);
void viewer_ask_packet(struct viewer *v, struct viewer_stream *s);

/* Whether an answer to a request with that serial says what had happened by the answer to r. */
static inline bool viewer_asked_since(uint32_t serial, const struct viewer_request *r)
{
	return (int32_t)(serial - r->serial) > 0;
}

/* ---- reply.c ---- */

/*
 * Takes the next piece of the answers. LT_OK: it made an event. LT_AGAIN: it needs bytes that are not there, or
 * nothing was asked. LT_END: it was taken and there is nothing to report. LT_ERROR: see viewer_fail().
 */
enum lt_status viewer_take_reply(struct viewer *v, struct viewer_event *event);

/* ---- poll.c ---- */

/* Asks for what is due. */
void viewer_poll(struct viewer *v);

/* When something will be; INT64_MAX: not by itself. */
int64_t viewer_poll_due_us(const struct viewer *v);

/* Whether the session is over. */
bool viewer_has_ended(const struct viewer *v);

/* What an index said: there was something new, or not. */
void viewer_saw_packet(struct viewer_stream *s);
void viewer_saw_beacon(struct viewer_stream *s);
void viewer_saw_nothing(struct viewer_stream *s);

/* Whether another packet may be requested while those that are held remain. */
bool viewer_may_hold_more(const struct viewer *v, const struct viewer_stream *s);

/* ---- viewer.c ---- */

/* LT_ERROR, with this cause. The error chain says the reason, or fmt does. */
enum lt_status viewer_fail(struct viewer *v, enum viewer_cause cause);
enum lt_status viewer_refuse(struct viewer *v, enum viewer_cause cause, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Takes a session of the list into account; true: the caller is to see it. */
bool viewer_take_session(struct viewer *v);

/* The list is complete. LT_OK: event. */
enum lt_status viewer_take_list(struct viewer *v, struct viewer_event *event);

#endif
