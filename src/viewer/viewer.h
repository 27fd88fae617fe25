/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEWER_VIEWER_H
#define LT_VIEWER_VIEWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/*
 * A viewer of lttng-relayd: a connection over which one live session is read, or the sessions are listed. It never
 * waits: whoever drives it watches a descriptor and a time.
 *
 *     for (;;) {
 *         while ((status = viewer_next(v, &event)) == LT_OK)
 *             ...
 *         if (status != LT_AGAIN)
 *             break;
 *         wait until viewer_fd() has the viewer_events(), or until viewer_due_us()
 *     }
 *
 * Each session has a connection of its own, though the protocol would take several: a relayd keeps one current
 * directory (trace chunk) per connection, finds it by a number that all sessions count from 0, and so
 * gives one session's data and metadata out as another's (seen with 2.13).
 *
 * Everything received is another machine's bytes. What does not make sense ends the viewer with an
 * error. Names are as they came: to be sanitised before they are shown. Not thread-safe.
 */
struct viewer;

enum { VIEWER_TIMEOUT_MS = 10000, VIEWER_PACKET_MAX = 64 << 20 };

struct viewer_options {
	int fd;                       /* connected to the relayd (viewer/dial.h), does not block */
	const char *target, *session; /* of the session to be read; NULL, both: the sessions are listed */
	bool from_start;     /* everything that the relayd has of the session, instead of what comes from now on */
	unsigned timeout_ms; /* without a byte from the relayd while an answer is due; 0: VIEWER_TIMEOUT_MS */
};

/* Why a viewer failed. */
enum viewer_cause {
	VIEWER_PROTOCOL,    /* the relayd sent what makes no sense, or refused for another reason */
	VIEWER_UNREACHABLE, /* what answers is not a relayd, or nothing answers */
	VIEWER_GONE,        /* the connection broke, or the relayd does not answer any more */
	VIEWER_NO_SESSION,  /* no such session, or not a live one */
	VIEWER_TAKEN,       /* another viewer is attached to it */
};

/* One of the relayd's sessions. */
struct viewer_session {
	uint64_t id;
	const char *host, *name;
	uint32_t timer_us; /* 0: not a live session */
	uint32_t clients;  /* viewers attached */
	uint32_t streams;
	bool is_ctf2;
};

/* A stream of the session: one CPU's of a channel, or a trace's metadata. */
struct viewer_stream {
	uint64_t id;
	uint64_t trace; /* number of the trace it belongs to, of this relayd's life */
	bool is_metadata;
	char *path, *channel;
	void *user; /* the caller's */

	/* The rest is the viewer's. */
	struct viewer *viewer;
	struct viewer_stream *metadata; /* of a data stream: that of its trace, NULL: not announced */
	bool has_met_metadata;          /* of a data stream: was announced, even if it is gone */
	unsigned n_data;                /* of a metadata stream: data streams of its trace */
	uint64_t n_bytes;               /* of a metadata stream: received */
	uint32_t asked;                 /* of a metadata stream: serial of the last request */
	unsigned requests;              /* under way */
	unsigned held;                  /* packets requested, or with the caller */
	bool packet_due;                /* the packet of the index must be asked for again */
	bool is_busy;                   /* several packets per live timer */
	bool has_beacon;
	uint64_t offset, bits, content_bits, begin, end, discarded, class_id; /* of the index last received */
	uint64_t beacon;                                                      /* cycles */
	int64_t due_us;                                                       /* when to ask next */
	int64_t news_us;                                                      /* when there was something new */
	int64_t miss_us;                                                      /* when there was nothing */
	bool is_regular;   /* when something comes is known from .news_us */
	int64_t packet_us; /* when there was a packet */
	int64_t busy_us;   /* how long it is busy */
	unsigned misses;   /* in a row, when something was due */
};

/* A packet, owned by the caller until viewer_packet_free(). */
struct viewer_packet {
	struct viewer_stream *stream;
	uint64_t content_bits; /* by the index, as what follows; may contradict the packet */
	uint64_t begin, end;   /* cycles */
	uint64_t discarded;
	uint64_t class_id;
	size_t len; /* bytes */
	uint8_t bytes[];
};

enum viewer_event_kind {
	VIEWER_SESSION,     /* session */
	VIEWER_LISTED,      /* these were all */
	VIEWER_ATTACHED,    /* session; its streams follow, now and later */
	VIEWER_STREAM,      /* stream: a new one */
	VIEWER_METADATA,    /* stream, bytes, len: more of the metadata of stream->trace */
	VIEWER_PACKET,      /* stream, packet; the metadata it needs came before */
	VIEWER_BEACON,      /* stream, until: nothing happened in it, and will not, before that */
	VIEWER_STREAM_GONE, /* stream: closed and read to its end; the caller's now, see viewer_stream_free() */
};

struct viewer_event {
	enum viewer_event_kind kind;
	const struct viewer_session *session; /* until the next viewer_next() */
	struct viewer_stream *stream;
	const uint8_t *bytes; /* until the next viewer_next() */
	size_t len;
	struct viewer_packet *packet;
	uint64_t until; /* cycles */
};

/* Takes options->fd over, borrows nothing of the rest. */
struct viewer *viewer_create(const struct viewer_options *options);

/* Closes the connection. The packets must be freed before, and streams that are gone. NULL is allowed. */
void viewer_destroy(struct viewer *v);

/*
 * Sends, receives, and gives what came. LT_AGAIN: nothing for now. LT_END: the session is closed and was read to its
 * end. LT_ERROR: see the error chain and viewer_cause(). Nothing comes after these two.
 */
enum lt_status viewer_next(struct viewer *v, struct viewer_event *event);

enum viewer_cause viewer_cause(const struct viewer *v);

/*
 * The descriptor, -1 after LT_ERROR; what it is to be watched for (EPOLLIN, EPOLLOUT), 0 then; and when to call
 * viewer_next() at the latest (g_get_monotonic_time()).
 */
int viewer_fd(const struct viewer *v);
unsigned viewer_events(const struct viewer *v);
int64_t viewer_due_us(const struct viewer *v);

/* After VIEWER_LISTED: asks for the list again. */
void viewer_list_again(struct viewer *v);

/* Frees a packet; its stream goes on once few enough of its packets are held. */
void viewer_packet_free(struct viewer_packet *p);

/* Frees a stream that is gone, after its packets. */
void viewer_stream_free(struct viewer_stream *s);

#endif
