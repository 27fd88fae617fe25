/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_DETAILS_LONGEST_H
#define LT_UI_DETAILS_LONGEST_H

#include "model/interval.h"

/* Writes a time on the host's clock, or a duration, in ns. */
typedef const char *details_time_fn(void *data, char *text, size_t size, uint64_t ns);

/*
 * The longest waits and system calls of a thread that ended in the interval, at most one of each kind: a wait with its
 * call and object, a call with its name; when it started, how long it took. Who ended a wait, if it was the only one of
 * its kind: else only the last one's is known. "": there was none. Free with g_free(). Needs TABLE_BLOCKING or
 * TABLE_SYSCALL.
 */
char *details_longest_waits(const struct interval *iv, uint64_t thread_uid, details_time_fn *time,
			    details_time_fn *length, void *data);
char *details_longest_calls(const struct interval *iv, uint64_t thread_uid, details_time_fn *time,
			    details_time_fn *length, void *data);

#endif
