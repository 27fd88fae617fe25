/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The individual values of a distribution: when each started, how long it took, which thread it belongs to. */
#include <stddef.h>

#include "view/declare.h"

static const struct column instances_columns[] = {
	COLUMN_HOST,
	COLUMN(instance, begin_ns, "BEGIN", 18, REPORTED | COLUMN_KEY),
	COLUMN(instance, length_ns, "LENGTH", 8, LEVEL),
	COLUMN_TID,
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN(instance, cause, "CAUSE", 20, REPORTED),
};

const struct view_table view_instances_table = {
	.name = "instances",
	.title = "Instances",
	.row = "a duration",
	.meaning = "Only with option --log of another table: its single durations, each in the interval in which it "
		   "ended.",
	.flags = VIEW_ALL_ROWS,
	.source = TABLE_INSTANCE,
	.tables = USES(INSTANCE) | USES(THREAD),
	N_COLUMNS(instances_columns),
	.screen = "host begin_ns length_ns tid pid comm cause",
	.sort = "begin_ns",
	.thread = CELL(instance, thread_uid),
};
