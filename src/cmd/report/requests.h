/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_REPORT_REQUESTS_H
#define LT_CMD_REPORT_REQUESTS_H

#include "view/derived.h"

/*
 * The threads that handle requests in an interval (reference time): those that start and end in it, and those that open
 * connections, except servers, whose work is on the paths of their clients. Only outermost threads are kept: one that
 * works for another is already on that one's critical path.
 */
struct requests;

/* The hosts are borrowed; they must have TABLE_THREAD, TABLE_SYSCALL and TABLE_FILE. */
struct requests *requests_create(const struct view_host *hosts, unsigned n_hosts, uint64_t begin_ns, uint64_t end_ns);
void requests_destroy(struct requests *q); /* NULL is allowed */

/* Whether a thread is one of them or works for one; host: the index of its host among those above. */
bool requests_may_be(const struct requests *q, unsigned host, const struct thread_row *t);

/*
 * Keeps, of rows (wait_row) and their paths (struct wait_path), those that do not work for another: a row works for
 * another if that one's path runs through it for at least half of the time of its own path. Releases the other paths.
 */
void requests_keep_outermost(GArray *rows, GArray *paths);

#endif
