/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads that emit user-space events. */
#include <stddef.h>

#include "view/declare.h"

static bool emits(const struct interval_row *row)
{
	return INTERVAL_ROW(thread, row)->user_events;
}

static const struct column emitters_columns[] = {
	COLUMN_HOST,
	COLUMN_TID,
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN_SAID("events", thread, user_events, "EVENTS", 9, FIGURE, "User-space events emitted."),
	RATE_SAID("rate", thread, user_events, "RATE/s", 8, "User-space events emitted per second."),
	COLUMN_CONTAINER(COLUMN_IF_KNOWN),
};

const struct view_table view_emitters_table = {
	.name = "emitters",
	.title = "Emitters",
	.row = "a thread of a program with tracepoints",
	.meaning =
		"Number of user-space events emitted by each thread; if they have the context vpid but not vtid, those "
		"of a process count for its main thread.",
	.flags = VIEW_REPORT,
	.source = TABLE_THREAD,
	.tables = USES(THREAD),
	N_COLUMNS(emitters_columns),
	.screen = "tid pid host container events rate comm",
	.sort = "events",
	.belongs = emits,
	.unrecorded = "no events of programs that name their thread up to here: use 'lttngtop record --ust EVENT', or "
		      "'lttng enable-event -u EVENT' and 'lttng add-context -u -t vtid -t vpid -t pid_ns -t procname'",
};
