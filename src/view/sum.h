/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_SUM_H
#define LT_VIEW_SUM_H

#include <glib.h>

#include "base/status.h"
#include "view/table.h"

struct view_rows;

/* What rows can have in common to be merged into their sum. Except for VIEW_SUM_ALL, hosts are kept apart. */
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

/* Looks it up by name, "process". LT_ERROR: unknown, or the table's rows do not have it. */
enum lt_status view_sum_find(const char *name, const struct view_table *table, enum view_sum *sum);

/* "process"; NULL for VIEW_SUM_NONE. Whether the table's rows can have it in common. */
const char *view_sum_name(enum view_sum sum);
bool view_sum_applies(const struct view_table *table, enum view_sum sum);

/*
 * The columns of the sums: the host, what the rows have in common, how many rows were merged, and the table's figures
 * that can be summed; distributions are merged. A new array of struct column; free with g_array_unref().
 */
GArray *view_sum_columns(const struct view_table *table, enum view_sum sum);

/*
 * A filter for exactly the rows that a row (its index) of these sums merges, as a user would type it; "": all. NULL:
 * there is none (error chain). many_hosts: it also names the host. The caller frees it.
 */
char *view_sum_filter(const struct view_rows *sums, unsigned row, enum view_sum by, bool many_hosts);

#endif
