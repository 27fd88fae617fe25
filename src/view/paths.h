/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_PATHS_H
#define LT_VIEW_PATHS_H

#include <glib.h>
#include <stdint.h>

#include "base/map64.h"
#include "view/table.h"
#include "waits/waits.h"

/*
 * Where the threads of a host spent their critical paths in a window: what the
 * columns of table "paths" read (struct view_host.paths). Who shows the table
 * fills it, as the wait graph is none of the model's tables.
 */
struct view_paths {
	GArray *totals;          /* struct wait_totals */
	struct map64 by_thread;  /* uid of a thread -> index in totals */
	struct map64 by_process; /* pid -> index in totals: the sum of its threads */
};

void view_paths_init(struct view_paths *p);
void view_paths_release(struct view_paths *p);

/* Forgets all, keeps the memory. */
void view_paths_clear(struct view_paths *p);

/* A thread's totals; once per thread. pid < 0: unknown. */
void view_paths_add(struct view_paths *p, uint64_t thread_uid, int64_t pid, const struct wait_totals *totals);

/* All of it, the wire too. */
uint64_t view_paths_total_ns(const struct wait_totals *totals);

extern const struct view_table view_paths_table;

#endif
