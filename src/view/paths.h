/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_PATHS_H
#define LT_VIEW_PATHS_H

#include <glib.h>
#include <stdint.h>

#include "base/map64.h"
#include "view/table.h"
#include "waits/waits.h"

/*
 * Where the threads of a host spent their critical paths in a window: the source of table "paths" (struct
 * view_host.paths). Filled by whoever shows the table, because the wait graph is not part of the model.
 */
struct view_paths {
	GArray *totals;          /* struct wait_totals */
	struct map64 by_thread;  /* uid of a thread -> index in totals */
	struct map64 by_process; /* pid -> index in totals: sum of its threads */
	struct map64 requests;   /* uid of a thread that handles requests (view/requests.h) -> 0 */
	struct map64 requesters; /* pid of such a thread -> 0 */
};

void view_paths_init(struct view_paths *p);
void view_paths_release(struct view_paths *p);

/* Empties it but keeps the memory. */
void view_paths_clear(struct view_paths *p);

/* Adds a thread's totals; once per thread. pid < 0: unknown. */
void view_paths_add(struct view_paths *p, uint64_t thread_uid, int64_t pid, const struct wait_totals *totals);

/* Notes that a thread handles requests: its row comes before others. pid < 0: unknown. */
void view_paths_add_request(struct view_paths *p, uint64_t thread_uid, int64_t pid);

/* Whether a row of the table is such a thread, or a process with one. */
bool view_paths_row_is_request(const struct view_rows *r, const struct view_row *row);

extern const struct view_table view_paths_table;

#endif
