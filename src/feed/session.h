/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_FEED_SESSION_H
#define LT_FEED_SESSION_H

#include "feed/recording.h"
#include "feed/producer.h"

/*
 * A live session made from the recordings of one host: its kernel trace and its user-space traces are in one session,
 * as they were when recorded.
 */
struct fed_session {
	char *hostname, *name; /* valid for a relayd and in a URL */
	bool is_renamed;       /* the metadata is to name that host instead of the recorded one */
	GPtrArray *recordings; /* struct recording *, owned */
	GPtrArray *traces;     /* what is sent of each; private */
	struct producer producer;
	int64_t sync_ns;                 /* shared time - recorded time; 0 unless known */
	int64_t shift_ns;                /* added to its clocks: time sent - recorded time */
	bool is_open;                    /* connected to the relayd */
	bool is_published;               /* viewers can see it */
	bool is_finished;                /* everything was sent; the viewer may still be reading */
	bool is_done;                    /* closed */
	uint64_t events, packets, bytes; /* sent so far; events does not count those in packets fed uncut */
	unsigned uncut;                  /* packets that should have been cut but were fed whole */
	unsigned damaged;                /* packets that were unreadable or truncated */
};

/* Takes ownership of the recording. */
struct fed_session *fed_session_create(char *hostname, char *name, struct recording *first);
void fed_session_add(struct fed_session *s, struct recording *r);
void fed_session_destroy(struct fed_session *s);

/* Earliest first event, end of the last packet; in ns since the epoch, as recorded. */
uint64_t fed_session_begin_ns(const struct fed_session *s);
uint64_t fed_session_end_ns(const struct fed_session *s);

/* Converts recorded time to shared time and back; the result is at least 0, UINT64_MAX stays. */
uint64_t fed_session_to_shared(const struct fed_session *s, uint64_t recorded_ns);
uint64_t fed_session_from_shared(const struct fed_session *s, uint64_t shared_ns);

/* Where and how to create a session. */
struct fed_session_target {
	int family; /* AF_UNSPEC, AF_INET, AF_INET6 */
	const char *host;
	unsigned control_port, data_port;
	unsigned timeout_ms;
	uint64_t live_timer_ns;
	const stop_flag *stop;
};

/*
 * Creates the session on the relayd, which makes it visible to viewers. Metadata is sent by
 * fed_session_send_metadata().
 */
enum lt_status fed_session_open(struct fed_session *s, const struct fed_session_target *target);

/* Sends the metadata with clocks shifted by shift_ns; to be called once, before or after fed_session_open(). */
void fed_session_send_metadata(struct fed_session *s, int64_t shift_ns);

/* Buffers everything up to limit_ns (as recorded): packets, and beacons for silent streams. LT_END: that was all. */
enum lt_status fed_session_advance(struct fed_session *s, uint64_t limit_ns);

/* When something next happens in the session, in ns as recorded; UINT64_MAX: never. */
uint64_t fed_session_next_ns(struct fed_session *s);

/*
 * Ends its streams on the relayd after sending everything buffered. The session stays until fed_session_close(): when a
 * viewer asks for new streams of a closed session, the relayd answers that it is over, however much is unread.
 */
enum lt_status fed_session_finish(struct fed_session *s);

/* How many streams the relayd counts once a finished session has been read to its end. */
unsigned fed_session_least_streams(const struct fed_session *s);

/* Ends a finished session. */
enum lt_status fed_session_close(struct fed_session *s);

#endif
