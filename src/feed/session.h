/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_FEED_SESSION_H
#define LT_FEED_SESSION_H

#include "feed/recording.h"
#include "feed/producer.h"

/*
 * A live session made of the recordings of one host: its kernel trace and its
 * user-space traces are traces of one session, as they were when they were recorded.
 */
struct fed_session {
	char *hostname, *name; /* what a relayd and an URL accept */
	bool is_renamed;       /* the traces are to name that host instead of their own */
	GPtrArray *recordings; /* struct recording *, owned */
	GPtrArray *traces;     /* what is sent of each, private */
	struct producer producer;
	int64_t sync_ns;                 /* the time that all sessions share - as recorded; 0 unless it is known */
	int64_t shift_ns;                /* of its clocks: as sent - as recorded */
	bool is_open;                    /* connected to the relayd */
	bool is_published;               /* viewers can see it */
	bool is_finished;                /* everything was sent; the viewer may still be reading */
	bool is_done;                    /* closed */
	uint64_t events, packets, bytes; /* sent so far; events of packets fed uncut are not counted */
	unsigned uncut;                  /* packets fed as they are though they should have been cut */
	unsigned damaged;                /* packets that could not be read, or only in part */
};

/* Takes the recording. */
struct fed_session *fed_session_create(char *hostname, char *name, struct recording *first);
void fed_session_add(struct fed_session *s, struct recording *r);
void fed_session_destroy(struct fed_session *s);

/* Earliest first event, end of the last packet; ns since the epoch, as recorded. */
uint64_t fed_session_begin_ns(const struct fed_session *s);
uint64_t fed_session_end_ns(const struct fed_session *s);

/* The time as recorded in the time that all sessions share, and back; at least 0, UINT64_MAX stays. */
uint64_t fed_session_to_shared(const struct fed_session *s, uint64_t recorded_ns);
uint64_t fed_session_from_shared(const struct fed_session *s, uint64_t shared_ns);

/* Where and how a session is created. */
struct fed_session_target {
	int family; /* AF_UNSPEC, AF_INET, AF_INET6 */
	const char *host;
	unsigned control_port, data_port;
	unsigned timeout_ms;
	uint64_t live_timer_ns;
	uint8_t uuid[16]; /* of this process */
	const volatile sig_atomic_t *stop;
};

/*
 * Creates it on the relayd: from then on it can be viewed. number differs among
 * the sessions of this process. The metadata goes with fed_session_send_metadata().
 */
enum lt_status fed_session_open(struct fed_session *s, const struct fed_session_target *target, uint64_t number);

/* The metadata with the clocks shifted by shift_ns; once, before or after fed_session_open() showed it to viewers. */
void fed_session_send_metadata(struct fed_session *s, int64_t shift_ns);

/*
 * Puts everything up to limit_ns (as recorded) into the buffers: packets, and for
 * streams that are silent a beacon. LT_END: that was all.
 */
enum lt_status fed_session_advance(struct fed_session *s, uint64_t limit_ns);

/* When something next happens in it, ns as recorded; UINT64_MAX: never. */
uint64_t fed_session_next_ns(struct fed_session *s);

/*
 * Ends its streams on the relayd; what was put into the buffers arrives. The
 * session stays until fed_session_close(): relayd tells a viewer that asks for
 * new streams of a closed session that it is over, however much of the old ones is unread.
 */
enum lt_status fed_session_finish(struct fed_session *s);

/* How many streams a relayd counts when a finished session was read to its end. */
unsigned fed_session_least_streams(const struct fed_session *s);

/* Ends a finished session. */
enum lt_status fed_session_close(struct fed_session *s);

#endif
