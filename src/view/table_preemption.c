/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table preemption: which threads ran while others waited for a CPU. */
#include <stddef.h>

#include "view/declare.h"

/* The model replaces its rows as they fall out of use. */
static uint64_t same_culprit(const struct view_rows *r, const struct view_row *row)
{
	(void)r;
	return INTERVAL_ROW(preemption, &row->row)->by_uid;
}

static void get_by_comm(const struct view_cell *at, struct value *v)
{
	const struct preemption_row *row = INTERVAL_ROW(preemption, &at->row->row);
	const strid comm = view_last_comm(at->host->iv, row->by_uid, row->by_comm);

	value_set_text(v, comm ? strpool_text(comm) : NULL);
}

static const struct column preemption_columns[] = {
	COLUMN_HOST,
	COLUMN_TID,
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN(preemption, by_tid, "BY TID", 7, REPORTED | COLUMN_KEY),
	COLUMN(preemption, by_pid, "BY PID", 7, REPORTED),
	COLUMN_BY(get_by_comm, preemption, by_comm, "RAN INSTEAD", 15, REPORTED | COLUMN_KEY),
	COLUMN(preemption, count, "WAITS", 7, FIGURE | COLUMN_SWITCHES),
	COLUMN(preemption, total_ns, "TOTAL", 8, FIGURE | COLUMN_SWITCHES),
	COLUMN(preemption, max_ns, "MAX", 8, LEVEL | COLUMN_SWITCHES),
	PERCENT("percent", preemption, total_ns, "%", 5, COLUMN_SWITCHES, NULL),
	COLUMN_CONTAINER(COLUMN_IF_KNOWN),
};

const struct view_table view_preemption_table = {
	.name = "preemption",
	.title = "Preemption",
	.row = "a thread that waited for a CPU, and a thread that ran there meanwhile",
	.meaning = "Which threads ran on the CPU that a thread waited for, from its wake-up or preemption to its "
		   "switch-in; the times add up to ready_ns of table cpu. Interrupts count as time of the thread that "
		   "they interrupted.",
	.flags = VIEW_REPORT,
	.source = TABLE_PREEMPTION,
	.tables = USES(PREEMPTION) | USES(THREAD),
	.needs = NEED_CPU | NEED_SCHED,
	N_COLUMNS(preemption_columns),
	.screen = "tid pid host container by_tid by_comm count total_ns percent max_ns comm",
	.sort = "total_ns",
	.about = "which thread ran while another waited for its CPU",
	.empty = "no thread waited for a CPU in this interval",
	.same = same_culprit,
	.thread = CELL(preemption, thread_uid),
};
