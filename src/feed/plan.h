/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_FEED_PLAN_H
#define LT_FEED_PLAN_H

#include "feed/session.h"

/*
 * Decides which recordings become which live sessions. The kernel trace and the user-space traces of one recording of
 * one host form one session; everything else is a session of its own. No two sessions have the same host and name: the
 * second becomes NAME-2.
 */
struct feed_plan {
	GPtrArray *sessions;    /* struct fed_session * */
	unsigned left_out;      /* traces that cannot be fed; reported as errors */
	unsigned damaged;       /* places where packets are missing */
	uint64_t bytes_at_once; /* the largest packets of all streams */
};

/*
 * hostname, name: for all sessions instead of the recorded ones; NULL: as recorded. LT_ERROR: no trace can be fed. Call
 * feed_plan_release() in every case.
 */
enum lt_status feed_plan_make(struct feed_plan *p, const GPtrArray *specs, const char *hostname, const char *name);

void feed_plan_release(struct feed_plan *p);

/* Whether a relayd and a URL accept the text as a host (otherwise session) name. */
bool feed_plan_is_name(const char *text, bool is_host);

#endif
