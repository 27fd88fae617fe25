/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_RELAY_H
#define LT_INGEST_RELAY_H

/*
 * Inside ingest/: a relayd all of whose sessions are wanted, now and later. It
 * is asked for its list over and over, by a worker.
 */

#include <glib.h>
#include <stdbool.h>

#include "source/source.h"

struct relay {
	char *url;             /* struct source_url.relay */
	struct source *lister; /* NULL: none runs */
	int64_t next_us;       /* when to start it again (monotonic) */
	bool answered;         /* at least once, in whatever way */
	char *why;             /* why the last answer was none, NULL */
};

/* url is copied. */
struct relay *relay_create(const char *url);
void relay_free(void *relay);

/* Called with the URL of each session in an answer, as source_parse_url() takes it. */
typedef void relay_session_fn(void *data, const char *url);

/* Asks when it is time to, and hears what is there of an answer. Never waits. */
void relay_poll(struct relay *r, relay_session_fn *fn, void *data);

#endif
