/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_FEED_FEED_H
#define LT_FEED_FEED_H

#include "feed/plan.h"

/*
 * Streams sessions into a lttng-relayd at the pace of a shared clock (fed_session.sync_ns) that starts with their
 * earliest event. At every tick of the live timer each session sends its data up to then, as a tracer's live timer
 * does.
 *
 *   trace time  begin_ns      + 1 × timer × speed     + 2 × timer × speed …
 *   wall time   when started  + 1 × timer             + 2 × timer …           (as fast as possible: no waiting)
 */
enum feed_phase { FEED_CONNECTING, FEED_WAITING, FEED_STREAMING, FEED_DRAINING };

/* Shown to the user while it runs. */
struct feed_progress {
	enum feed_phase phase;
	const struct fed_session *waiting; /* for its viewer to attach; FEED_DRAINING: to read the rest */
	uint64_t begin_ns, at_ns, end_ns;  /* in shared time */
	const GPtrArray *sessions;
};

struct feed_options {
	struct fed_session_target target;
	unsigned live_port;
	bool wait;    /* for a viewer of each session */
	bool now;     /* shift timestamps so that the first event happens when streaming starts */
	double speed; /* INFINITY: as fast as possible */
	void (*opened)(void *user, const struct fed_session *s);     /* viewers can see it */
	void (*progress)(void *user, const struct feed_progress *p); /* called often */
	void *user;
};

/*
 * Runs until all sessions have ended; a session ends when its viewer has read it or left. LT_INTERRUPTED: after a
 * signal, with the sessions ended properly. LT_ERROR: the relayd failed.
 */
enum lt_status feed_run(const struct feed_options *o, const GPtrArray *sessions);

#endif
