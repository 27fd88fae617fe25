/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of what threads and processes do: files, syscalls, perf. */
#include <stddef.h>
#include <string.h>

#include "event/syscalls.h"
#include "view/internal.h"

#define REPORTED COLUMN_IN_REPORT
#define LEVEL (COLUMN_IN_REPORT | COLUMN_LEVEL)
#define FIGURE (COLUMN_IN_REPORT | COLUMN_COUNTER)

/* ---- files ---- */

static void get_kind(const struct view_cell *at, struct value *v)
{
	uint64_t kind = INTERVAL_ROW(file, &at->row->row)->kind;

	value_set_text(v, kind < FD_KINDS ? fd_kind_name((enum fd_kind)kind) : NULL);
}

/* The path, else the peer. */
static void get_file_name(const struct view_cell *at, struct value *v)
{
	const struct file_row *row = INTERVAL_ROW(file, &at->row->row);
	uint64_t id = row->path != STRID_NONE ? row->path : row->peer;

	value_set_text(v, id == STRID_NONE ? NULL : strpool_text((strid)id));
}

#define FILE_BYTES(name, header, meaning) \
	{ #name, header, meaning, COLUMN_BYTES, 7, FIGURE, CELL(file, name), view_get_value }
#define FILE_RATE(name, cell, header, meaning) \
	{ name, header, meaning, COLUMN_BYTE_RATE, 7, 0, CELL(file, cell), view_get_rate }

static void get_open(const struct view_cell *at, struct value *v)
{
	v->kind = VALUE_BOOL;
	v->flag = !INTERVAL_ROW(file, &at->row->row)->closed_ns;
}

static const struct column files_columns[] = {
	COLUMN_HOST,
	{ "pid", "PID", "Process that owns the table of the file descriptor.", COLUMN_ID, 7, REPORTED | COLUMN_KEY,
	  CELL(file, pid), view_get_signed },
	{ "fd", "FD", "Its number.", COLUMN_ID, 5, REPORTED | COLUMN_KEY, CELL(file, fd), view_get_signed },
	{ "path", "PATH", "Path as the event or the state dump told; null if unknown.", COLUMN_TEXT, 30, REPORTED,
	  CELL(file, path), view_get_text },
	{ "kind", "KIND", "What it is: file, pipe, inet, unix, eventfd ….", COLUMN_TEXT, 8, REPORTED,
	  CELL(file, kind), get_kind },
	FILE_BYTES(read_bytes, "READ", "Bytes read through it."),
	FILE_BYTES(write_bytes, "WRITTEN", "Bytes written through it."),
	{ "opened_ns", "OPENED", "When it was made; null before the record.", COLUMN_TIME, 15,
	  REPORTED | COLUMN_KEY, CELL(file, opened_ns), view_get_known },
	{ "closed_ns", "CLOSED", "When it was closed; null if it was open at the interval's end.", COLUMN_TIME, 15,
	  REPORTED, CELL(file, closed_ns), view_get_known },
	{ "open", "OPEN", "Whether it was open at the interval's end.", COLUMN_FLAG, 4, 0, CELL(file, closed_ns),
	  get_open },
	FILE_RATE("read_rate", read_bytes, "READ/s", "Bytes read through it per second."),
	FILE_RATE("write_rate", write_bytes, "WRITE/s", "Bytes written through it per second."),
	{ "name", "FILE", "Its path, of a socket without one the address of the peer.", COLUMN_TEXT, 0, 0, 0,
	  get_file_name },
	{ "peer", "PEER", "Address of a socket's peer.", COLUMN_TEXT, 21, 0, CELL(file, peer), view_get_text },
	{ "comm", "COMMAND", "Name of the process, the last one in the interval.", COLUMN_TEXT, 15, 0,
	  CELL(thread, comm), view_get_thread_text },
	COLUMN_CONTAINER(COLUMN_IF_KNOWN),
};

const struct view_table view_files_table = {
	.name = "files",
	.title = "Files",
	.row = "one life of a file descriptor in a process",
	.meaning = "Which files were open in the interval, and what went through each descriptor.",
	.flags = VIEW_REPORT | VIEW_ALL_ROWS,
	.source = TABLE_FILE,
	.tables = USES(FILE) | USES(THREAD),
	.needs = NEED_SYSCALL,
	N_COLUMNS(files_columns),
	.screen = "pid host container comm fd kind read_rate write_rate read_bytes write_bytes name",
	.sort = "read_bytes",
};

/* ---- syscalls ---- */

/* The kernel's own codes (include/linux/errno.h), which a call may be seen to return. */
static const char *kernel_error_name(uint32_t error)
{
	switch (error) {
	case 512:
		return "ERESTARTSYS";
	case 513:
		return "ERESTARTNOINTR";
	case 514:
		return "ERESTARTNOHAND";
	case 515:
		return "ENOIOCTLCMD";
	case 516:
		return "ERESTART_RESTARTBLOCK";
	case 517:
		return "EPROBE_DEFER";
	case 518:
		return "EOPENSTALE";
	case 519:
		return "ENOPARAM";
	case 524:
		return "ENOTSUPP";
	case 529:
		return "EIOCBQUEUED";
	default:
		return NULL;
	}
}

static const char *error_name(struct view_rows_internal *in, uint32_t error)
{
	const char *name = error <= INT32_MAX ? strerrorname_np((int)error) : NULL;
	char *text;

	if (!name)
		name = kernel_error_name(error);
	if (name)
		return name;
	text = g_strdup_printf("E%u", error);
	g_ptr_array_add(in->texts, text);
	return text;
}

static void get_errors(const struct view_cell *at, struct value *v)
{
	struct view_rows_internal *in = at->rows->internal;
	const struct view_index *index = &in->indexes[at->row->key.host];
	const struct syscall_row *row = INTERVAL_ROW(syscall, &at->row->row);
	const struct view_error *errors = (const struct view_error *)(const void *)index->errors->data;
	uint64_t owner = view_owner(index, row->thread_uid);
	guint low = 0, high = index->errors->len;

	while (low < high) {
		guint mid = low + (high - low) / 2;

		if (errors[mid].owner < owner || (errors[mid].owner == owner && errors[mid].call < row->name))
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < index->errors->len && errors[low].owner == owner && errors[low].call == row->name; low++) {
		struct value_item item = { error_name(in, errors[low].error), errors[low].count };

		g_array_append_val(in->items, item);
	}
	v->kind = VALUE_OBJECT;
	v->list.n = in->items->len;
	v->list.items = (const struct value_item *)(const void *)in->items->data;
}

/* Of the interval: its length times the CPU, or thread, that waits in the call. */
static void get_time_percent(const struct view_cell *at, struct value *v)
{
	uint64_t duration_ns = at->rows->totals[at->row->key.host].duration_ns;

	value_set_null(v);
	if (duration_ns)
		value_set_real(v, 100.0 * (double)VIEW_FIGURE(at, syscall, time.sum) / (double)duration_ns);
}

#define CALL_TIME(name, header, meaning, flags, get) \
	{ name, header, meaning, COLUMN_NS, 8, flags, CELL(syscall, time.count), get }

static const struct column syscalls_columns[] = {
	COLUMN_HOST,
	COLUMN_TID,
	COLUMN_PID,
	COLUMN_COMM,
	{ "name", "CALL", "Name of the system call.", COLUMN_TEXT, 16, REPORTED | COLUMN_KEY, CELL(syscall, name),
	  view_get_text },
	{ "count", "COUNT", "Calls that ended.", COLUMN_COUNT, 8, FIGURE, CELL(syscall, count), view_get_value },
	CALL_TIME("total_ns", "TOTAL", "Time from entry to exit of the calls whose entry was seen.", FIGURE,
		  view_get_dist_sum),
	CALL_TIME("min_ns", "MIN", "Shortest call.", LEVEL, view_get_dist_min),
	CALL_TIME("avg_ns", "AVG", "Mean time, to the nearest ns.", LEVEL, view_get_dist_avg),
	CALL_TIME("max_ns", "MAX", "Longest call.", LEVEL, view_get_dist_max),
	CALL_TIME("stdev_ns", "STDEV", "Standard deviation of the time.", LEVEL, view_get_dist_stdev),
	{ "errors", "ERRORS", "How many calls failed, by error.", COLUMN_OBJECT, 20, FIGURE, 0, get_errors },
	COLUMN_CONTAINER(COLUMN_IF_KNOWN),
	{ "failed", "FAILED", "How many calls failed.", COLUMN_COUNT, 7, 0, CELL(syscall, errors), view_get_value },
	{ "rate", "CALLS/s", "Calls per second.", COLUMN_RATE, 8, 0, CELL(syscall, count), view_get_rate },
	{ "time_percent", "TIME%", "Time in the call in percent of the interval.", COLUMN_PERCENT, 6, 0, 0,
	  get_time_percent },
	{ "max_at_ns", "MAX AT", "When the longest call ended.", COLUMN_TIME, 15, 0, CELL(syscall, time.max_at),
	  view_get_known },
};

const struct view_table view_syscalls_table = {
	.name = "syscalls",
	.title = "Syscalls",
	.row = "a system call of a thread",
	.meaning = "How often each thread made each system call, how long they took and how they failed.",
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
	{ "counter", "COUNTER", "Name of the perf context.", COLUMN_TEXT, 24, REPORTED | COLUMN_KEY,
	  CELL(perf, counter), view_get_text },
	{ "value", "VALUE", "What the counter grew while the thread ran.", COLUMN_COUNT, 12, FIGURE,
	  CELL(perf, value), view_get_value },
	{ "rate", "PER SECOND", "What it grew per second of the interval.", COLUMN_RATE, 10, 0, CELL(perf, value),
	  view_get_rate },
};

const struct view_table view_perf_table = {
	.name = "perf",
	.title = "Perf counters",
	.row = "a perf counter of a thread",
	.meaning = "Perf counters: what each grew while a thread ran.",
	.flags = VIEW_REPORT,
	.source = TABLE_PERF,
	.tables = USES(PERF) | USES(THREAD),
	N_COLUMNS(perf_columns),
	.screen = "tid pid host counter value rate comm",
	.sort = "value",
	.group = { CELL(perf, counter) },
	.thread = CELL(perf, thread_uid),
};
