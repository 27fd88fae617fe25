/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEWER_VIEWER_H
#define LT_VIEWER_VIEWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/nstime.h"
#include "base/status.h"

/*
 * A viewer of lttng-relayd: a connection that reads one live session or lists the sessions. It never blocks: the caller
 * watches a descriptor and a time.
 *
 *     for (;;) {
 *         while ((status = viewer_next(v, &event)) == LT_OK)
 *             ...
 *         if (status != LT_AGAIN)
 *             break;
 *         wait until viewer_fd() has the viewer_events(), or until viewer_due_us()
 *     }
 *
 * Each session has its own connection, although the protocol allows several per connection: a relayd keeps one current
 * directory (trace chunk) per connection and finds it by a number that every session counts from 0, so that it returns
 * one session's data and metadata as another's (seen with 2.13).
 *
 * All received data comes from another machine. Malformed data ends the viewer with an error. Names are passed on
 * unchanged: sanitise them before they are shown. Not thread-safe.
 */
struct viewer;

enum { VIEWER_TIMEOUT_MS = 10 * MS_PER_S, VIEWER_PACKET_MAX = 64 << 20 };

struct viewer_options {
	int fd;                       /* connected to the relayd (viewer/dial.h), non-blocking */
	const char *target, *session; /* of the session to read; both NULL: list the sessions */
	uint64_t id;                  /* its viewer_session.id, as several may have that name; 0: any of these */
	bool from_start;              /* read all data that the relayd has of the session, not only new data */
	unsigned timeout_ms;          /* longest silence of the relayd while an answer is due; 0: VIEWER_TIMEOUT_MS */
};

/* Why a viewer failed. */
enum viewer_cause {
	VIEWER_PROTOCOL,    /* the relayd sent malformed data, or refused for another reason */
	VIEWER_UNREACHABLE, /* nothing answers, or something other than a relayd */
	VIEWER_GONE,        /* the connection broke, or the relayd no longer answers */
	VIEWER_NO_SESSION,  /* the session does not exist or is not live */
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

/* A stream of the session: a channel's events of one CPU, or a trace's metadata. */
struct viewer_stream {
	uint64_t id;
	uint64_t trace; /* the relayd's number of its trace, until the relayd ends */
	bool is_metadata;
	char *path, *channel;
	void *user; /* for the caller */

	/* The rest is private to viewer/. */
	struct viewer *viewer;
	struct viewer_stream *metadata; /* data stream: its trace's metadata stream; NULL: not announced */
	bool has_met_metadata;          /* data stream: that was announced, even if it is gone */
	unsigned n_data;                /* metadata stream: number of its trace's data streams */
	uint64_t n_bytes;               /* metadata stream: bytes received */
	bool is_incomplete;             /* metadata stream: more is requested, see viewer_want_metadata() */
	uint64_t asked;                 /* metadata stream: serial of the last request */
	unsigned requests;              /* without an answer so far */
	unsigned held;                  /* packets requested or held by the caller */
	size_t held_bytes;              /* size of those that the caller holds */
	bool is_gone;
	bool packet_due; /* the packet of the last index must be requested again */
	bool has_beacon;
	uint64_t offset, bits, content_bits, begin, end, discarded, class_id; /* from the last index received */
	uint64_t beacon;                                                      /* cycles */
	int64_t due_us;                                                       /* when to ask again */
	int64_t news_us;   /* when an answer last had something new */
	int64_t before_us; /* shortly before that */
	int64_t miss_us;   /* when an answer last had nothing new */
	bool is_regular;   /* .news_us predicts when the next data comes */
	unsigned earlier;  /* consecutive times that it came earlier */
	int64_t until_us;  /* if so, it had been expected up to then */
	int64_t packet_us; /* when an answer last had a packet */
	unsigned light;    /* its latest packets that were that small */
	int64_t busy_us;   /* until when it counts as busy */
	unsigned misses;   /* consecutive answers without data although some was due */
};

/* A packet; owned by the caller, who frees it with viewer_packet_free(). */
struct viewer_packet {
	struct viewer_stream *stream;
	uint64_t content_bits; /* from the index, like the members below; may contradict the packet */
	uint64_t begin, end;   /* cycles */
	uint64_t discarded;
	uint64_t class_id;
	size_t len; /* bytes */
	uint8_t bytes[];
};

enum viewer_event_kind {
	VIEWER_SESSION,     /* session */
	VIEWER_LISTED,      /* the end of the list */
	VIEWER_ATTACHED,    /* session; its streams follow, now and later */
	VIEWER_STREAM,      /* stream: a new one */
	VIEWER_METADATA,    /* stream, bytes, len: more of the metadata of stream->trace */
	VIEWER_PACKET,      /* stream, packet; the metadata it needs has been reported before */
	VIEWER_BEACON,      /* stream, until: it has no events before that time that have not been reported */
	VIEWER_STREAM_GONE, /* stream: closed and read to its end; now the caller's, see viewer_stream_free() */
};

struct viewer_event {
	enum viewer_event_kind kind;
	const struct viewer_session *session; /* valid until the next viewer_next() */
	struct viewer_stream *stream;
	const uint8_t *bytes; /* valid until the next viewer_next() */
	size_t len;
	struct viewer_packet *packet;
	uint64_t until; /* cycles */
};

/* Takes ownership of options->fd and borrows nothing else. */
struct viewer *viewer_create(const struct viewer_options *options);

/* Closes the connection. Packets, and streams that are gone, must be freed first. NULL is allowed. */
void viewer_destroy(struct viewer *v);

/*
 * Sends, receives, and returns the next event. LT_AGAIN: there is none for now. LT_END: the session is closed and has
 * been read to its end. LT_ERROR: see the error chain and viewer_cause(). Both of these are final.
 */
enum lt_status viewer_next(struct viewer *v, struct viewer_event *event);

enum viewer_cause viewer_cause(const struct viewer *v);

/*
 * The descriptor, -1 after LT_ERROR; the events to watch it for (EPOLLIN, EPOLLOUT), then 0; and the latest time for
 * the next call of viewer_next() (g_get_monotonic_time()).
 */
int viewer_fd(const struct viewer *v);
unsigned viewer_events(const struct viewer *v);
int64_t viewer_due_us(const struct viewer *v);

/* After VIEWER_LISTED: requests the list again. */
void viewer_list_again(struct viewer *v);

/* Requests more of that metadata again and again, and does not end the session meanwhile; false: no longer. */
void viewer_want_metadata(struct viewer_stream *metadata, bool more);

/* Whether nothing more is requested of the stream, because of the packets that the caller holds. */
bool viewer_stream_is_full(const struct viewer_stream *s);

/* Frees a packet. Its stream continues once few enough of its packets are held. */
void viewer_packet_free(struct viewer_packet *p);

/* Frees a stream that is gone; free its packets first. */
void viewer_stream_free(struct viewer_stream *s);

#endif
