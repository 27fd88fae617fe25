/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_ATTACH_CONTAINERS_H
#define LT_CMD_ATTACH_CONTAINERS_H

#include "attach/select.h"
#include "cli/options.h"
#include "ingest/ingest.h"
#include "play/thread_containers.h"
#include "view/filter.h"

/* `attach --container`: chooses the threads in containers of these names. */
struct attach_containers {
	struct view_filter filter;
	bool *are_met;     /* by term, which are in the order of the names: a thread is in that container */
	struct ingest *in; /* to be set before the first event */
	struct thread_containers threads;
};

/* LT_ERROR: an invalid name. Must be released in either case. */
enum lt_status attach_containers_init(struct attach_containers *c, const GPtrArray *names);
void attach_containers_release(struct attach_containers *c);

/* Makes select choose their threads; does nothing if no container was named. */
void attach_containers_select(struct attach_containers *c, struct attach_select *select);

#endif
