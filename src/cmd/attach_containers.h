/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_ATTACH_CONTAINERS_H
#define LT_CMD_ATTACH_CONTAINERS_H

#include "attach/select.h"
#include "cmd/options.h"
#include "ingest/ingest.h"
#include "view/filter.h"

/*
 * `attach --container`: which threads are in containers that are meant, as the filter of the screens has it. What a
 * container is called depends on all of its host: that is looked at once for each container, and again some time later,
 * as the name may be that of its first process.
 */
struct attach_containers {
	struct view_filter filter;
	struct ingest *in; /* to be set before the first event */
	GHashTable *known; /* struct container_place → whether it is meant */
};

/* LT_ERROR: a name that cannot be understood. To be released in either case. */
enum lt_status attach_containers_init(struct attach_containers *c, const GPtrArray *names);
void attach_containers_release(struct attach_containers *c);

/* Chooses their threads; nothing where none was named. */
void attach_containers_select(struct attach_containers *c, struct attach_select *select);

/* Time has passed: names may be others. */
void attach_containers_forget(struct attach_containers *c);

#endif
