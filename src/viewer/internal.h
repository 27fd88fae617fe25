/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEWER_INTERNAL_H
#define LT_VIEWER_INTERNAL_H

#include <glib.h>

#include "viewer/connection.h"
#include "viewer/protocol.h"
#include "viewer/viewer.h"

/*
 *   viewer.c   the interface; opening: connect, list, create, attach
 *   poll.c     reading a session: which stream to ask, and when
 *   request.c  commands
 *   reply.c    answers, checked and turned into events; reply_list.c: lists of sessions
 */

/* Why a port is refused that answers, but not as one for viewers does; a relayd's other ports just hang up. */
#define NOT_A_RELAYD "not a port for viewers of an lttng-relayd (default 5344)"

/* A command that has not been answered yet. */
struct viewer_request {
	enum wire_command command;
	struct viewer_stream *stream; /* NULL: about the session */
	uint64_t serial;
};

/* The part of the answer to the first request that comes next. */
enum viewer_part {
	PART_HEAD,
	PART_SESSIONS, /* entries_left of them */
	PART_STREAMS,
	PART_METADATA, /* the bytes in body */
	PART_PACKET,   /* the bytes of packet */
};

enum viewer_state {
	STATE_NEW,
	STATE_OPENING, /* until the list has arrived */
	STATE_ATTACHING,
	STATE_ATTACHED,
	STATE_LISTED,
	STATE_ENDED,
	STATE_FAILED,
};

struct viewer {
	char *target, *name;
	uint64_t wanted; /* ID of the session; 0: any of that name */
	unsigned timeout_ms;
	bool from_start;
	enum viewer_state state;
	enum viewer_cause cause;
	char *reason; /* STATE_FAILED: the error chain's text */
	struct viewer_connection connection;
	unsigned minor; /* of the protocol spoken; 0: not known yet */

	GQueue requests; /* struct viewer_request *, oldest first */
	uint64_t serial; /* of the last one */
	enum viewer_part part;
	uint32_t entries_left;
	GByteArray *body;
	struct viewer_packet *packet;

	/* the last entry of a list, in the form passed to the caller */
	struct viewer_session session;
	char *entry_host, *entry_name;

	/* the session being read */
	bool is_found;    /* in the list: it is attached or will be */
	bool is_listed;   /* seen in the list that is being received */
	bool is_unlisted; /* missing from the last list */
	bool is_closed;   /* the relayd has reported that no more streams will come */
	uint64_t id;
	uint32_t timer_us;
	uint32_t clients;             /* viewers attached to it */
	uint32_t n_listed;            /* its streams when it was found */
	GPtrArray *streams;           /* struct viewer_stream * */
	unsigned n_data;              /* data streams among them */
	uint64_t asked_streams;       /* serial of the last request */
	bool asks_streams, asks_list; /* requests without an answer so far */
	int64_t streams_us;           /* when new streams were last asked for, 0: never */
	int64_t list_us;              /* likewise, for the list */
	int64_t packet_us;            /* when the last packet came or was given back */
	size_t held_bytes;            /* size of the packets that the caller holds */
	unsigned n_gone;              /* streams that are gone and not freed yet */
	size_t gone_bytes;            /* size of the packets of these that the caller holds */
};

/* ---- request.c ---- */

void viewer_ask_connect(struct viewer *v);
void viewer_ask_list(struct viewer *v);
void viewer_ask_attach(struct viewer *v);
void viewer_ask_new_streams(struct viewer *v);
void viewer_ask_metadata(struct viewer *v, struct viewer_stream *metadata);
void viewer_ask_index(struct viewer *v, struct viewer_stream *s);
void viewer_ask_packet(struct viewer *v, struct viewer_stream *s);

/* Removes the first request, whose answer is complete. */
void viewer_finish(struct viewer *v);

/*
 * Whether the request with that serial was sent after r, so that its answer covers everything that r's answer reports.
 */
static inline bool viewer_asked_since(uint64_t serial, const struct viewer_request *r)
{
	return serial > r->serial;
}

/* ---- reply.c ---- */

/*
 * Processes the next piece of the answers. LT_OK: it produced an event. LT_AGAIN: more bytes are needed, or there is no
 * open request. LT_END: it was processed, without an event. LT_ERROR: see viewer_refuse().
 */
enum lt_status viewer_take_reply(struct viewer *v, struct viewer_event *event);

#define VIEWER_NONSENSE "the relayd sent nonsense: "

/* The next len bytes received, NULL if there are fewer. */
static inline const void *viewer_look(const struct viewer *v, size_t len)
{
	return viewer_connection_look(&v->connection, len);
}

static inline void viewer_skip(struct viewer *v, size_t len)
{
	viewer_connection_skip(&v->connection, len);
}

/* ---- reply_list.c: as viewer_take_reply(), for the list of sessions ---- */

enum lt_status viewer_take_list_head(struct viewer *v);
enum lt_status viewer_take_sessions(struct viewer *v, struct viewer_event *event);

/* ---- poll.c ---- */

/* Sends the requests that are due. */
void viewer_poll(struct viewer *v);

/* When the next request will be due; INT64_MAX: not by the passing of time. */
int64_t viewer_poll_due_us(const struct viewer *v);

/* Whether the session is over. */
bool viewer_has_ended(const struct viewer *v);

/* Record the result of a request for an index: whether there was something new. */
void viewer_saw_packet(struct viewer_stream *s);
void viewer_saw_beacon(struct viewer_stream *s);
void viewer_saw_nothing(struct viewer_stream *s);

/* Whether another packet may be requested while the caller still holds others. */
bool viewer_may_hold_more(const struct viewer *v, const struct viewer_stream *s);

/* ---- viewer.c ---- */

/* Fails with this cause, and the reason given by fmt; returns LT_ERROR. */
enum lt_status viewer_refuse(struct viewer *v, enum viewer_cause cause, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Takes a session of the list into account; true: it is to be passed to the caller. */
bool viewer_take_session(struct viewer *v);

/* The list is complete. LT_OK: there is an event. */
enum lt_status viewer_take_list(struct viewer *v, struct viewer_event *event);

#endif
