/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_CONTAINERS_H
#define LT_VIEW_CONTAINERS_H

#include <glib.h>
#include <stdint.h>

#include "view/filter.h"
#include "view/rows.h"

/* What a thread is called in one of the pid namespaces it is in; of a cgroup namespace it has only the name. */
struct view_level {
	char *name;       /* of the container; NULL: not known which */
	int64_t tid, pid; /* -1: not known */
};

/*
 * The levels of a thread, the host's own first, the container it is in last; only the first: it is in none. iv keeps
 * TABLE_THREAD, TABLE_CONTAINER, TABLE_VTID. A new array of struct view_level, which owns the names: g_array_unref().
 */
GArray *view_thread_levels(const struct view_host *host, const struct thread_row *thread);

/*
 * Whether a filter's terms about containers and trees want a thread of the host's interval, which keeps
 * TABLE_THREAD and TABLE_CONTAINER.
 */
bool view_filter_thread_place(const struct view_filter *f, const struct view_host *host,
			      const struct thread_row *thread);

#endif
