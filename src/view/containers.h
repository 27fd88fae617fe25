/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_CONTAINERS_H
#define LT_VIEW_CONTAINERS_H

#include <glib.h>
#include <stdint.h>

#include "view/filter.h"
#include "view/rows.h"

/* The identity of a thread in one of its pid namespaces; a cgroup namespace only has a name. */
struct view_level {
	char *name;       /* of the container; NULL: unknown */
	int64_t tid, pid; /* -1: unknown */
};

/*
 * The levels of a thread, from the host's own to the container it runs in; just the first if it is in none. iv must
 * keep TABLE_THREAD, TABLE_CONTAINER, TABLE_VTID. Returns a new array of struct view_level, which owns the names; free
 * it with g_array_unref().
 */
GArray *view_thread_levels(const struct view_host *host, const struct thread_row *thread);

/* holds: whether the term does for that thread. */
typedef void view_term_held_fn(void *data, const struct thread_row *thread, bool holds);

/*
 * Evaluates a term about containers or trees for a thread, then for all of the host's interval, which must keep
 * TABLE_THREAD and TABLE_CONTAINER.
 */
void view_term_of_threads(const struct view_node *term, const struct view_host *host, const struct thread_row *thread,
			  view_term_held_fn *held, void *data);

#endif
