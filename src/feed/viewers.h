/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_FEED_VIEWERS_H
#define LT_FEED_VIEWERS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/stop.h"

/*
 * Asks lttng-relayd's live port who is viewing its sessions. Viewers start at the end of what the relayd has, so those
 * who want everything must attach before streaming starts.
 */
struct viewers {
	struct viewer *viewer;
	unsigned live_port;
	const stop_flag *stop; /* borrowed */
	bool is_listed;        /* the list was received */
	GArray *sessions;      /* from the last viewers_ask() */
};

struct viewers_session {
	uint64_t id; /* as returned by producer_create_session() */
	uint32_t clients;
	uint32_t streams; /* that are open, or not read to their end by a viewer */
};

void viewers_init(struct viewers *v, const stop_flag *stop);
void viewers_close(struct viewers *v);

/* Connects and fetches the list. timeout_ms: how long the relayd may take to answer. LT_ERROR: see the error chain. */
enum lt_status viewers_open(struct viewers *v, int family, const char *host, unsigned live_port, unsigned timeout_ms);

/* Fetches the list of sessions again. */
enum lt_status viewers_ask(struct viewers *v);

/* What the last answer said about that session; NULL: it is not listed. */
const struct viewers_session *viewers_find(const struct viewers *v, uint64_t session_id);

#endif
