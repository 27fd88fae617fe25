/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of threads' and processes' activity: files, syscalls, perf. */
#include <stddef.h>
#include <string.h>

#include "event/syscalls.h"
#include "view/declare.h"
#include "view/missing.h"

/* ---- files ---- */

static void get_kind(const struct view_cell *at, struct value *v)
{
	uint64_t kind = INTERVAL_ROW(file, &at->row->row)->kind;

	value_set_text(v, kind < FD_KINDS ? fd_kind_name((enum fd_kind)kind) : NULL);
}

/* The path, otherwise the peer. */
static void get_file_name(const struct view_cell *at, struct value *v)
{
	const struct file_row *row = INTERVAL_ROW(file, &at->row->row);
	uint64_t id = row->path != STRID_NONE ? row->path : row->peer;

	value_set_text(v, id == STRID_NONE ? NULL : strpool_text((strid)id));
}

static void get_open(const struct view_cell *at, struct value *v)
{
	v->kind = VALUE_BOOL;
	v->flag = !INTERVAL_ROW(file, &at->row->row)->closed_ns;
}

static const struct column files_columns[] = {
	COLUMN_HOST,
	COLUMN(file, pid, "PID", 7, REPORTED | COLUMN_KEY),
	COLUMN(file, fd, "FD", 5, REPORTED | COLUMN_KEY),
	COLUMN(file, path, "PATH", 30, REPORTED),
	OTHER(get_kind, "kind", "KIND",
	      "Kind: file, netfs (on a network file system), fifo (if events show it), pipe, inet, unix, eventfd ….",
	      COLUMN_TEXT, 8, REPORTED),
	COLUMN(file, read_bytes, "READ", 7, FIGURE),
	COLUMN(file, write_bytes, "WRITTEN", 7, FIGURE),
	COLUMN(file, opened_ns, "OPENED", 15, REPORTED | COLUMN_KEY),
	COLUMN(file, closed_ns, "CLOSED", 15, REPORTED),
	OTHER(get_open, "open", "OPEN", "Whether it was open at the end of the interval.", COLUMN_FLAG, 4, 0),
	RATE("read_rate", file, read_bytes, "READ/s", 7),
	RATE("write_rate", file, write_bytes, "WRITE/s", 7),
	OTHER(get_file_name, "name", "FILE",
	      "Its path; for a socket without a path, the address of the "
	      "peer.",
	      COLUMN_TEXT, 0, 0),
	COLUMN(file, peer, "PEER", 21, 0),
	COLUMN_SAID("comm", thread, comm, "COMMAND", 15, 0, "Name of the process, its last one in the interval."),
	COLUMN_CONTAINER(COLUMN_IF_KNOWN),
};

const struct view_table view_files_table = {
	.name = "files",
	.title = "Files",
	.row = "a file descriptor of a process, from open to close",
	.meaning = "Files that were open in the interval, and the bytes that passed through each descriptor. A "
		   "descriptor number that is closed and opened again has a row for each time.",
	.flags = VIEW_REPORT | VIEW_ALL_ROWS,
	.source = TABLE_FILE,
	.tables = USES(FILE) | USES(THREAD),
	.needs = NEED_SYSCALL,
	N_COLUMNS(files_columns),
	.screen = "pid host container comm fd kind read_rate write_rate read_bytes write_bytes name",
	.sort = "read_rate",
};

/* ---- syscalls ---- */

static const struct column syscalls_columns[] = {
	COLUMN_HOST,
	COLUMN_TID,
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN(syscall, name, "CALL", 16, REPORTED | COLUMN_KEY),
	COLUMN(syscall, count, "COUNT", 8, FIGURE),
	DIST(syscall, time, "", "", FIGURE, TOTAL, MIN, AVG, MAX, STDEV),
	OTHER(view_get_errors, "errors", "ERRORS", "Number of failed calls, by error.", COLUMN_OBJECT, 20, FIGURE),
	DIST(syscall, time, "", "", REPORTED, P50, P90, P99, P999),
	DIST_FREQ(syscall, time, "", "TIME"),
	COLUMN_CONTAINER(COLUMN_IF_KNOWN),
	COLUMN_AS("failed", syscall, errors, "FAILED", 7, 0),
	RATE_SAID("rate", syscall, count, "CALLS/s", 8, "Calls per second."),
	PERCENT("time_percent", syscall, time.sum, "TIME%", 6, 0,
		"Time in the call, in percent of the recorded part of the interval."),
	DIST(syscall, time, "", "", 0, MAX_AT),
};

const struct view_table view_syscalls_table = {
	.name = "syscalls",
	.title = "Syscalls",
	.row = "a system call made by a thread",
	.meaning =
		"How often each thread made each system call, how long the calls took and how they failed. Calls "
		"whose entry was not recorded, or may belong to another call because a CPU on which the thread ran has "
		"lost events since, are counted but not timed.",
	.flags = VIEW_REPORT,
	.source = TABLE_SYSCALL,
	.tables = USES(SYSCALL) | USES(SYSERR) | USES(THREAD),
	.needs = NEED_SYSCALL,
	N_COLUMNS(syscalls_columns),
	.screen = "tid pid host container name count rate total_ns avg_ns max_ns failed errors comm",
	.sort = "total_ns",
	.group = { CELL(syscall, name) },
	.thread = CELL(syscall, thread_uid),
};

/* ---- perf ---- */

static const struct column perf_columns[] = {
	COLUMN_HOST,
	COLUMN_TID,
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN(perf, counter, "COUNTER", 24, REPORTED | COLUMN_KEY),
	COLUMN(perf, value, "VALUE", 12, FIGURE),
	RATE_SAID("rate", perf, value, "PER SECOND", 10, "Increase per second."),
};

const struct view_table view_perf_table = {
	.name = "perf",
	.title = "Perf counters",
	.row = "a perf counter of a thread",
	.meaning = "Perf counters: the increase of each while a thread ran.",
	.flags = VIEW_REPORT | VIEW_UNLIKE,
	.source = TABLE_PERF,
	.tables = USES(PERF) | USES(THREAD),
	.unrecorded = VIEW_PERF_UNRECORDED,
	N_COLUMNS(perf_columns),
	.screen = "tid pid host counter value rate comm",
	.sort = "value",
	.group = { CELL(perf, counter) },
	.thread = CELL(perf, thread_uid),
};
