/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_RELAY_H
#define LT_INGEST_RELAY_H

/*
 * Internal to ingest/: a relayd of which all sessions are read, present and future.
 * A worker asks it for its list again and again.
 */

#include <glib.h>
#include <stdbool.h>

#include "source/source.h"

struct relay {
	char *url;             /* struct source_url.relay */
	struct source *lister; /* the worker; NULL: none runs */
	int64_t next_us;       /* CLOCK_MONOTONIC: when to start it again */
	bool answered;         /* it has answered, or failed, at least once */
	unsigned n_lists;      /* complete lists that came; wraps around */
	char *why;             /* why the last attempt failed; NULL: it did not */
	unsigned n_stored;     /* sessions that are not live, of the answer that is being read */
	char *stored;          /* says that the last answer had such sessions; NULL: it had none */
};

/* Says that n sessions of a relayd cannot be followed; to be freed. NULL: n is 0. */
char *relay_stored_text(unsigned n);

/* url is copied. */
struct relay *relay_create(const char *url);
void relay_free(void *relay);

/* Called with the URL of each session in an answer, as source_parse_url() takes it. */
typedef void relay_session_fn(void *data, const struct relay *relay, const char *url);

/* Starts the worker when that is due, and reads the answers it has. Never waits. */
void relay_poll(struct relay *r, relay_session_fn *fn, void *data);

#endif
