/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_RECORD_RELAY_LIST_H
#define LT_CMD_RECORD_RELAY_LIST_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "source/source.h"

/* The sessions a relayd offers, as printed by `list` and offered by the monitor when it is run without a SOURCE. */

#define LOCAL_RELAY "net://localhost"

/* Texts are sanitised. */
struct relay_session {
	char *host, *name, *url;
	uint64_t timer_ns; /* of live sessions; 0: the relayd only stores it */
	uint64_t streams;  /* of all its parts */
	uint64_t clients;  /* of the part that has the most */
};

/* An empty list of struct relay_session, which it owns; one that is taken out of it is replaced by NULL. */
GPtrArray *relay_list_new(void);

/*
 * Appends the sessions selected by the URL, ordered by host and name, each once. LT_ERROR: no answer within the limit
 * (not counting the time to read a long list), or the URL's session does not exist.
 */
enum lt_status relay_list_ask(const struct source_url *url, uint64_t limit_ns, GPtrArray *sessions);

/* "free", "taken" or "not live". */
const char *relay_session_state(const struct relay_session *s);

/* A live session that already has a viewer: a relayd allows only one. */
bool relay_session_is_taken(const struct relay_session *s);

/* The i-th state and its meaning. Returns whether it exists; valid numbers are consecutive. */
bool relay_session_states(unsigned i, const char **name, const char **meaning);

#endif
