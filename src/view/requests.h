/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_REQUESTS_H
#define LT_VIEW_REQUESTS_H

#include "view/rows.h"
#include "waits/waits.h"

/*
 * The threads that handle requests in an interval (reference time): those that start and end in it, and those that open
 * connections, except servers, whose work is on the paths of their clients. Only outermost threads count: one that
 * works for another is already on that one's critical path. Tracing and the kernel's threads never do.
 */
struct view_request {
	unsigned thread; /* index in view_rows.rows */
	wait_row row;
};

/*
 * Finds those among rows of threads; the caller frees the array of struct view_request. The hosts need their numbers in
 * the wait graph, and intervals with the tables of VIEW_REQUEST_TABLES.
 */
#define VIEW_REQUEST_TABLES (1u << TABLE_THREAD | 1u << TABLE_SYSCALL | 1u << TABLE_FILE)
GArray *view_requests_find(const struct view_rows *threads, const struct waits *waits, uint64_t begin_ns,
			   uint64_t end_ns);

/* The row in the wait graph of a thread that ran in the interval; WAIT_NO_ROW: it did not, or is not known there. */
wait_row view_thread_wait_row(const struct view_host *host, const struct thread_row *t, const struct waits *waits,
			      uint64_t begin_ns, uint64_t end_ns);

#endif
