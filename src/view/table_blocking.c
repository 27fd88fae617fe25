/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads waited for. */
#include <stddef.h>

#include "model/waitlog.h"
#include "view/internal.h"

#define REPORTED COLUMN_IN_REPORT
#define LEVEL (COLUMN_IN_REPORT | COLUMN_LEVEL)
#define FIGURE (COLUMN_IN_REPORT | COLUMN_COUNTER)

static void get_state(const struct view_cell *at, struct value *v)
{
	uint64_t state = INTERVAL_ROW(blocking, &at->row->row)->state;

	value_set_text(v, wait_state_name(state < WAIT_STATES ? (enum wait_state)state : WAIT_UNKNOWN));
}

/* The call and its file as one would write them: "read(5 → 10.0.0.3:5432)". */
static void get_what(const struct view_cell *at, struct value *v)
{
	const struct blocking_row *row = INTERVAL_ROW(blocking, &at->row->row);
	GPtrArray *texts = at->rows->internal->texts;
	GString *s;

	if (!row->syscall) {
		value_set_text(v, NULL);
		return;
	}
	s = g_string_new(strpool_text((strid)row->syscall));
	g_string_append_c(s, '(');
	if ((int64_t)row->fd >= 0)
		g_string_append_printf(s, "%" G_GINT64_FORMAT, (gint64)row->fd);
	if (row->object)
		g_string_append_printf(s, " %s", strpool_text((strid)row->object));
	g_string_append_c(s, ')');
	g_ptr_array_add(texts, g_string_free(s, FALSE));
	value_set_text(v, g_ptr_array_index(texts, texts->len - 1));
}

static uint64_t same_wait(const struct view_rows *r, const struct view_row *row)
{
	const struct blocking_row *b = INTERVAL_ROW(blocking, &row->row);

	(void)r;
	return view_mix(view_mix(b->state << 32 | b->syscall, b->fd), b->object);
}

#define WAIT(name, header, meaning, unit, width, flags, get) \
	{ name, header, meaning, unit, width, flags, CELL(blocking, time.count), get }

static const struct column blocking_columns[] = {
	COLUMN_HOST,
	COLUMN_TID,
	COLUMN_PID,
	COLUMN_COMM,
	{ "state", "STATE",
	  "What ended the waits: timer, block_device, network, user_input, ipi, interrupted; blocked: another "
	  "thread or what the trace does not explain; unknown: nobody was seen to wake it.",
	  COLUMN_TEXT, 12, REPORTED | COLUMN_KEY, CELL(blocking, state), get_state },
	{ "syscall", "CALL", "System call it waited in; null: none, as in a page fault or a kernel thread.",
	  COLUMN_TEXT, 16, REPORTED | COLUMN_KEY, CELL(blocking, syscall), view_get_text },
	{ "fd", "FD",
	  "File descriptor that call works on; null: none, or one of several as in poll, where it is not known "
	  "which.",
	  COLUMN_ID, 5, REPORTED | COLUMN_KEY, CELL(blocking, fd), view_get_signed },
	{ "path", "PATH",
	  "Path of that descriptor, of a socket the peer: its address and port, of one that was accepted the "
	  "address alone; null if unknown.",
	  COLUMN_TEXT, 24, REPORTED | COLUMN_KEY, CELL(blocking, object), view_get_text },
	WAIT("count", "WAITS", "Waits that ended in the interval.", COLUMN_COUNT, 7, FIGURE, view_get_dist_count),
	WAIT("total_ns", "TOTAL",
	     "Time from the switch-out to the wake-up of these waits, with the part before the interval.", COLUMN_NS,
	     8, FIGURE, view_get_dist_sum),
	WAIT("max_ns", "MAX", "Longest of these waits.", COLUMN_NS, 8, LEVEL, view_get_dist_max),
	WAIT("avg_ns", "AVG", "Mean length, to the nearest ns.", COLUMN_NS, 8, LEVEL, view_get_dist_avg),
	{ "cause", "BY", "Who or what ended the last of these waits: the thread, disk, interface or irq.", COLUMN_TEXT,
	  15, REPORTED, CELL(blocking, cause), view_get_text },
	WAIT("min_ns", "MIN", "Shortest of these waits.", COLUMN_NS, 8, COLUMN_LEVEL, view_get_dist_min),
	WAIT("stdev_ns", "STDEV", "Standard deviation of the length.", COLUMN_NS, 8, COLUMN_LEVEL, view_get_dist_stdev),
	{ "max_at_ns", "MAX AT", "When the longest wait ended.", COLUMN_TIME, 15, 0, CELL(blocking, time.max_at),
	  view_get_known },
	COLUMN_CONTAINER(COLUMN_IF_KNOWN),
	{ "what", "WAITED IN", "The call, its descriptor and path in one.", COLUMN_TEXT, 30, 0, 0, get_what },
};

const struct view_table view_blocking_table = {
	.name = "blocking",
	.title = "Blocking",
	.row = "what a thread waited for",
	.meaning = "How often and how long each thread was blocked, in which call and file, and what ended it.",
	.flags = VIEW_REPORT,
	.source = TABLE_BLOCKING,
	.tables = USES(BLOCKING) | USES(THREAD),
	.needs = NEED_CPU | NEED_SCHED,
	N_COLUMNS(blocking_columns),
	.screen = "tid pid host container what state cause count total_ns avg_ns max_ns comm",
	.sort = "total_ns",
	.same = same_wait,
	.thread = CELL(blocking, thread_uid),
};
