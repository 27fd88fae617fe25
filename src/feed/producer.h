/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_FEED_PRODUCER_H
#define LT_FEED_PRODUCER_H

#include "feed/connection.h"

/*
 * The consumer daemon's side of lttng-relayd's protocol (minor versions 13 to 15): one session, its streams, their
 * packets. Each session has its own pair of connections, one for commands and one for packets.
 *
 *   producer_open → producer_create_session → producer_add_stream… → producer_publish
 *   → producer_send_packet / producer_send_beacon… (replies come later: producer_move)
 *   → producer_finish → producer_close_streams
 *
 * Functions that wait return LT_INTERRUPTED after a signal; a message may then be half sent, so that only
 * producer_close() may follow. LT_ERROR: the error chain names the peer.
 */
struct producer {
	struct feed_connection control, data;
	uint32_t minor; /* of the protocol, spoken by both sides */
	uint64_t session_id;
	unsigned pending; /* outstanding replies, 4 bytes each */
};

struct producer_stream {
	uint64_t handle;
	uint64_t packets; /* sent so far, i.e. the number of the next */
	/* one more than the last packet's own sequence number, which has gaps where packets were lost */
	uint64_t next_seq;
	bool is_metadata;
};

/* A packet's index entry; sizes in bits, times in cycles. */
struct producer_index {
	uint64_t size, content, begin, end, discarded, stream_id, instance_id, seq;
};

struct producer_session {
	const char *hostname; /* at most PRODUCER_HOST_MAX bytes */
	const char *name;     /* at most PRODUCER_NAME_MAX bytes */
	uint64_t live_timer_us;
	const uint8_t *uuid; /* 16 random bytes: its session daemon, which has no other session */
	bool is_ctf2;        /* otherwise CTF 1.8; needs minor version 15 */
};

enum { PRODUCER_HOST_MAX = 63, PRODUCER_NAME_MAX = 254 };

void producer_init(struct producer *p, unsigned timeout_ms, const stop_flag *stop);
void producer_close(struct producer *p);

enum lt_status producer_open(struct producer *p, int family, const char *host, unsigned control_port,
			     unsigned data_port);
enum lt_status producer_create_session(struct producer *p, const struct producer_session *session);

/* path: of the trace in the session; name: of the channel's file. */
enum lt_status producer_add_stream(struct producer *p, const char *path, const char *name, struct producer_stream *s);

/* Buffers metadata text, in packets with the trace's UUID. The relayd sends no reply. */
void producer_send_metadata(struct producer *p, struct producer_stream *s, const uint8_t uuid[16], const char *text);

/* The same for metadata of CTF 2, which has no packets. */
void producer_send_fragments(struct producer *p, struct producer_stream *s, const char *text);

/* Makes the session visible to viewers; all streams must have been added. */
enum lt_status producer_publish(struct producer *p);

/* Only buffers the packet; see producer_backlog(). */
void producer_send_packet(struct producer *p, struct producer_stream *s, const struct producer_index *index,
			  const uint8_t *data, size_t size);

/* Announces that nothing will come before `until`. Not allowed before the stream's first packet. */
void producer_send_beacon(struct producer *p, struct producer_stream *s, const struct producer_index *like,
			  uint64_t until);

/* Sends and receives what is possible now and handles the replies. LT_ERROR also if the peer hangs. */
enum lt_status producer_move(struct producer *p);

static inline size_t producer_backlog(const struct producer *p)
{
	return connection_backlog(&p->control) + connection_backlog(&p->data);
}

/* Sends what is buffered, waits for all replies, and ends the streams after their last packet. */
enum lt_status producer_finish(struct producer *p, struct producer_stream *const *streams, unsigned n);

/* Lets viewers that have read the streams to their end know that they are closed. */
enum lt_status producer_close_streams(struct producer *p, struct producer_stream *const *streams, unsigned n);

#endif
