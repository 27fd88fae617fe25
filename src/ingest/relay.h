/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_RELAY_H
#define LT_INGEST_RELAY_H

/*
 * Internal to ingest/: a relayd of which all sessions are read, present and future, or those of some names. A worker
 * asks it for its list again and again.
 */

#include <glib.h>
#include <stdbool.h>

#include "source/source.h"

struct relay {
	char *url;             /* struct source_url.relay */
	bool is_watched;       /* all its sessions are read */
	struct source *lister; /* the worker; NULL: none runs */
	int64_t next_us;       /* CLOCK_MONOTONIC: when to start it again */
	bool answered;         /* it has answered, or failed, at least once */
	bool has_listed;       /* a whole list came from it */
	char *why;             /* why the last attempt failed; NULL: it did not */
	uint64_t list;         /* number of the list that is being received, from 1 */
	GPtrArray *added;      /* its sessions that were not known: struct relay_listed * */
	unsigned n_stored;     /* those that are not live */
	char *stored;          /* says that the last whole list had such sessions; NULL: it had none */
};

/* url is copied. */
struct relay *relay_create(const char *url, bool is_watched);
void relay_free(void *relay);

/* A live session in a list. */
struct relay_listed {
	char *url; /* for source_parse_url(); several sessions may have it */
	uint64_t id;
};

struct relay_listener {
	/* Called for each; false: it is not known, and of interest. */
	bool (*is_known)(void *data, const struct relay *r, const struct relay_listed *s);
	/* Called for those that are not known when the list is complete. */
	void (*added)(void *data, const struct relay *r, const struct relay_listed *s);
	/* Called at the end of a whole list, after that. */
	void (*listed)(void *data, const struct relay *r);
	void *data;
};

/* Starts the worker when that is due, and reads the answers it has. Never waits. */
void relay_poll(struct relay *r, const struct relay_listener *listener);

/* If it has not answered so far, counts that as a failure. */
void relay_give_up(struct relay *r, const char *why);

#endif
