/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_FEED_VIEWERS_H
#define LT_FEED_VIEWERS_H

#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/*
 * Asks lttng-relayd's live port who looks at its sessions: a viewer starts at
 * the end of what is there, so whoever wants all must be there first.
 */
struct viewers {
	struct viewer *viewer;
	unsigned live_port;
	const volatile sig_atomic_t *stop; /* a signal asked to end: waiting returns LT_INTERRUPTED */
	bool is_listed;                    /* the list was received */
	GArray *sessions;                  /* of the last viewers_ask() */
};

struct viewers_session {
	uint64_t id; /* as producer_create_session() got it */
	uint32_t clients;
	uint32_t streams; /* that are open, or that a viewer has not read to the end */
};

void viewers_init(struct viewers *v, const volatile sig_atomic_t *stop);
void viewers_close(struct viewers *v);

/* Connects and fetches the list. timeout_ms: of a relayd that does not answer. LT_ERROR: the chain says why. */
enum lt_status viewers_open(struct viewers *v, int family, const char *host, unsigned live_port, unsigned timeout_ms);

/* Fetches the list of sessions again. */
enum lt_status viewers_ask(struct viewers *v);

/* What was last said of that session; NULL: it is not there. */
const struct viewers_session *viewers_find(const struct viewers *v, uint64_t session_id);

#endif
