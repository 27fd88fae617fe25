/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_SUM_H
#define LT_VIEW_SUM_H

#include <glib.h>

#include "base/status.h"
#include "view/table.h"

/* What rows can have in common, to become one that is their sum. But for VIEW_SUM_ALL hosts stay apart. */
enum view_sum {
	VIEW_SUM_NONE,
	VIEW_SUM_THREAD,
	VIEW_SUM_PROCESS,
	VIEW_SUM_COMM,
	VIEW_SUM_USER,
	VIEW_SUM_CONTAINER,
	VIEW_SUM_FILE,
	VIEW_SUM_CALL,
	VIEW_SUM_PEER,
	VIEW_SUM_HOST,
	VIEW_SUM_ALL,
	VIEW_SUMS
};

/* By its name, "process". LT_ERROR: there is none of that name, or the table's rows have nothing of that kind. */
enum lt_status view_sum_find(const char *name, const struct view_table *table, enum view_sum *sum);

/* The names of all, for help: "thread|process|…"; to be freed. */
char *view_sum_names(void);

/*
 * The columns of the sums: the host, what they have in common, how many rows they sum up, and the figures of the table
 * that a sum can have; distributions are merged. A new array of struct column: g_array_unref().
 */
GArray *view_sum_columns(const struct view_table *table, enum view_sum sum);

#endif
