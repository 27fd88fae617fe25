/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads waited for. */
#include <stddef.h>

#include "model/waitlog.h"
#include "view/declare.h"

static void get_state(const struct view_cell *at, struct value *v)
{
	uint64_t state = INTERVAL_ROW(blocking, &at->row->row)->state;

	value_set_text(v, wait_state_name(state < WAIT_STATES ? (enum wait_state)state : WAIT_UNKNOWN));
}

/* The call and its file as a user would write them: "read(5 → 10.0.0.3:5432)". */
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
		g_string_append_printf(s, "%s%s", (int64_t)row->fd >= 0 ? " " : "", strpool_text((strid)row->object));
	g_string_append_c(s, ')');
	g_ptr_array_add(texts, g_string_free(s, FALSE));
	value_set_text(v, g_ptr_array_index(texts, texts->len - 1));
}

static uint64_t same_wait(const struct view_rows *r, const struct view_row *row)
{
	const struct blocking_row *b = INTERVAL_ROW(blocking, &row->row);

	(void)r;
	return map64_mix(map64_mix(b->state << 32 | b->syscall, b->fd), b->object);
}

static const struct column blocking_columns[] = {
	COLUMN_HOST,
	COLUMN_TID,
	COLUMN_PID,
	COLUMN_COMM,
	OTHER(get_state, "state", "STATE",
	      "What ended the waits: timer, block_device, network, user_input, ipi (an interrupt from another CPU), "
	      "interrupted; blocked: something else, mostly another thread, or nothing that the trace explains; also "
	      "a kernel thread without work, whatever woke it; unknown: the wake-up was not recorded, for instance "
	      "because only some processes are.",
	      COLUMN_TEXT, 12, REPORTED | COLUMN_KEY),
	COLUMN(blocking, syscall, "CALL", 16, REPORTED | COLUMN_KEY),
	COLUMN(blocking, fd, "FD", 5, REPORTED | COLUMN_KEY),
	COLUMN_AS("path", blocking, object, "PATH", 24, REPORTED | COLUMN_KEY),
	DIST_AS(COUNT, "count", blocking, time, "WAITS", 7, FIGURE),
	DIST(blocking, time, "", "", FIGURE, TOTAL, MAX, AVG),
	COLUMN(blocking, cause, "BY", 15, REPORTED | COLUMN_MAIN),
	DIST(blocking, time, "", "", 0, MIN, STDEV, MAX_AT),
	COLUMN_CONTAINER(COLUMN_IF_KNOWN),
	OTHER(get_what, "what", "WAITED IN", "The call, its file descriptor and path, combined.", COLUMN_TEXT, 30,
	      COLUMN_MAIN),
};

const struct view_table view_blocking_table = {
	.name = "blocking",
	.title = "Blocking",
	.row = "one cause of a thread's waits",
	.meaning =
		"How often and how long each thread was blocked, in which system call and on which file, and what "
		"ended the wait. Waits in which events were lost are not counted: the thread may have run meanwhile.",
	.flags = VIEW_REPORT | VIEW_LOGGED,
	.source = TABLE_BLOCKING,
	.tables = USES(BLOCKING) | USES(THREAD),
	.needs = NEED_CPU | NEED_SCHED,
	N_COLUMNS(blocking_columns),
	.screen = "tid pid host container what state cause count total_ns avg_ns max_ns comm",
	.sort = "total_ns",
	.state_name = view_wait_state,
	.about = "what each thread was blocked in, and what ended it",
	.empty = "no wait ended in this interval",
	.same = same_wait,
	.thread = CELL(blocking, thread_uid),
};
