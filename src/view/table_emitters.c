/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who emits the events of user space. */
#include <stddef.h>

#include "view/internal.h"

static bool emits(const struct interval_row *row)
{
	return INTERVAL_ROW(thread, row)->user_events;
}

static const struct column emitters_columns[] = {
	COLUMN_HOST,
	COLUMN_TID,
	COLUMN_PID,
	COLUMN_COMM,
	{ "events", "EVENTS", "Events of user space that it emitted.", COLUMN_COUNT, 9,
	  COLUMN_IN_REPORT | COLUMN_COUNTER, CELL(thread, user_events), view_get_value },
	{ "rate", "RATE/s", "The same per second of the interval.", COLUMN_RATE, 8, 0, CELL(thread, user_events),
	  view_get_rate },
	COLUMN_CONTAINER(COLUMN_IF_KNOWN),
};

const struct view_table view_emitters_table = {
	.name = "emitters",
	.title = "Emitters",
	.row = "a thread of a program with tracepoints",
	.meaning = "How many events of user space each thread emitted.",
	.flags = VIEW_REPORT,
	.source = TABLE_THREAD,
	.tables = USES(THREAD),
	N_COLUMNS(emitters_columns),
	.screen = "tid pid host container events rate comm",
	.sort = "events",
	.belongs = emits,
};
