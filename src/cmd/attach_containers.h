/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_ATTACH_CONTAINERS_H
#define LT_CMD_ATTACH_CONTAINERS_H

#include "attach/select.h"
#include "cmd/options.h"
#include "ingest/ingest.h"
#include "view/filter.h"

/*
 * `attach --container`: which threads are in matching containers, by the rules of the screens' filter. A container's
 * name depends on the whole host, so it is looked up once per container, and again after a while because it may come
 * from the container's first process.
 */
struct attach_containers {
	struct view_filter filter;
	struct ingest *in; /* to be set before the first event */
	GHashTable *known; /* struct container_place → whether it matches */
};

/* LT_ERROR: an invalid name. Must be released in either case. */
enum lt_status attach_containers_init(struct attach_containers *c, const GPtrArray *names);
void attach_containers_release(struct attach_containers *c);

/* Makes select choose their threads; does nothing if no container was named. */
void attach_containers_select(struct attach_containers *c, struct attach_select *select);

/* To be called from time to time: names may have changed. */
void attach_containers_forget(struct attach_containers *c);

#endif
