/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_RELAY_LIST_H
#define LT_CMD_RELAY_LIST_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "source/source.h"

/* The sessions a relayd offers, as `list` prints them and the monitor without a SOURCE lets its user choose. */

#define LOCAL_RELAY "net://localhost"

/* Texts are sanitised. */
struct relay_session {
	char *host, *name, *url;
	uint64_t timer_ns; /* of live sessions; 0: the relayd only stores it */
	uint64_t streams, clients;
};

/* An empty list, of struct relay_session; frees them with itself. */
GPtrArray *relay_list_new(void);

/*
 * Appends the sessions that the URL means, ordered by host and name. LT_ERROR: no answer within the limit, not
 * counting what it takes to read a long list, or the URL's session is not among them.
 */
enum lt_status relay_list_ask(const struct source_url *url, uint64_t limit_ns, GPtrArray *sessions);

/* "free", "taken" or "not live". */
const char *relay_session_state(const struct relay_session *s);

/* A live session with a viewer already: a relayd admits one. */
bool relay_session_is_taken(const struct relay_session *s);

/* State i and what it means. Returns whether there is one of that number; all are below the first that is not. */
bool relay_session_states(unsigned i, const char **name, const char **meaning);

#endif
