/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_HOST_H
#define LT_INGEST_HOST_H

/*
 * Inside ingest/: which host a source belongs to, and what its first records
 * said of it.
 */

#include <glib.h>
#include <stdbool.h>

#include "event/event.h"
#include "ingest/ingest.h"
#include "merge/merge.h"
#include "source/source.h"

struct host {
	struct ingest_host public; /* what ingest_host() gives */
	struct merge *merge;
	char *hostname;            /* as the traces say */
	char *clock;               /* UUID of their clock, "" none */
};

/* Names the host as the trace announcement does; hint: where it has no hostname. */
struct host *host_of_trace(GPtrArray *hosts, const struct event *ev, const char *hint, const char *source_name);

void host_free(void *host);

/* Notes why the host's figures are incomplete; the first reason stays. */
void host_trouble(struct host *host, const char *why);

/* Sorts by name; hosts of the same name become NAME, NAME#2, … */
void hosts_name(GPtrArray *hosts);

#endif
