/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_REPORT_REQUESTS_H
#define LT_CMD_REPORT_REQUESTS_H

#include "view/derived.h"

/*
 * The threads of requests in an interval (reference time): what was born and ended in it, and who opened connections,
 * but for servers, whose work is on the paths of their clients. Of these only the outermost: what works for another
 * one of them is on that one's critical path, too.
 */
struct requests;

/* The hosts are borrowed, with TABLE_THREAD, TABLE_SYSCALL and TABLE_FILE. */
struct requests *requests_create(const struct view_host *hosts, unsigned n_hosts, uint64_t begin_ns, uint64_t end_ns);
void requests_destroy(struct requests *q); /* NULL is allowed */

/* Whether a thread is one of them, or works for one; host: the number of its own among those above. */
bool requests_may_be(const struct requests *q, unsigned host, const struct thread_row *t);

/*
 * Of rows (wait_row) with their paths (struct wait_path) leaves those that work for none of the others: a path runs
 * through the row for at least half of the time that the row's own path does. The others' paths are released.
 */
void requests_keep_outermost(GArray *rows, GArray *paths);

#endif
