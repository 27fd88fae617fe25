/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_PLAY_THREAD_CONTAINERS_H
#define LT_PLAY_THREAD_CONTAINERS_H

#include <glib.h>
#include <stdbool.h>

#include "ingest/ingest.h"
#include "model/look.h"
#include "view/filter.h"

/*
 * Which threads are in the containers that terms of a filter name, by the rules of the screens' filter, for code that
 * follows events one by one. A container's name depends on the whole host, so a term is looked up for all
 * containers at once, and again after a while because a name may come from the container's first process.
 */
struct thread_containers {
	GHashTable *known; /* struct container_place → whether it matches */
};

void thread_containers_init(struct thread_containers *c);
void thread_containers_release(struct thread_containers *c);

/* Whether a term about containers holds for a thread of the host. The term must live as long as c. */
bool thread_containers_has(struct thread_containers *c, const struct view_node *term, const struct ingest_host *host,
			   const struct thread_row *thread);

/* To be called from time to time, as names may have changed, and before a host is freed. */
void thread_containers_forget(struct thread_containers *c);

#endif
