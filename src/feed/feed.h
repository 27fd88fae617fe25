/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_FEED_FEED_H
#define LT_FEED_FEED_H

#include "feed/plan.h"

/*
 * Streams sessions into a lttng-relayd at the pace of a clock they share (fed_session.sync_ns): their
 * earliest event is its begin, and at every live timer's tick each session hands over what it
 * has up to then, as a tracer's live timer makes it do.
 *
 *   trace time  begin_ns      + 1 × timer × speed     + 2 × timer × speed …
 *   wall time   when started  + 1 × timer             + 2 × timer …           (as fast as possible: no waiting)
 */
enum feed_phase { FEED_CONNECTING, FEED_WAITING, FEED_STREAMING, FEED_DRAINING };

/* For the user to look at while it runs. */
struct feed_progress {
	enum feed_phase phase;
	const struct fed_session *waiting; /* for its viewer to come; FEED_DRAINING: to read the rest */
	uint64_t begin_ns, at_ns, end_ns;  /* in the time that all sessions share */
	const GPtrArray *sessions;
};

struct feed_options {
	struct fed_session_target target;
	unsigned live_port;
	bool wait;    /* for a viewer of each session */
	bool now;     /* shift the clocks: the earliest event happens when the stream starts */
	double speed; /* INFINITY: as fast as possible */
	void (*opened)(void *user, const struct fed_session *s);     /* it can be viewed */
	void (*progress)(void *user, const struct feed_progress *p); /* often */
	void *user;
};

/*
 * Runs to the end of all sessions; a session ends when its viewer has read it or
 * left. LT_INTERRUPTED: a signal came; the sessions
 * were ended in order. LT_ERROR: the relayd failed.
 */
enum lt_status feed_run(const struct feed_options *o, const GPtrArray *sessions);

#endif
