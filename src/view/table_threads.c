/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables whose rows are threads: cpu, io, sched, counters. */
#include <stddef.h>

#include "view/internal.h"

static const struct thread_row *thread_of(const struct view_cell *at)
{
	return INTERVAL_ROW(thread, &at->row->row);
}

/* As one letter, and '?' behind it where events were lost since it was seen. */
static void get_state(const struct view_cell *at, struct value *v)
{
	static const char *const letters[THREAD_STATES][2] = {
		[THREAD_UNKNOWN] = { "?", "?" },  [THREAD_RUNNING] = { "R", "R?" }, [THREAD_READY] = { "r", "r?" },
		[THREAD_BLOCKED] = { "S", "S?" }, [THREAD_WAITING] = { "W", "W?" }, [THREAD_NEW] = { "N", "N?" },
		[THREAD_STOPPED] = { "T", "T?" }, [THREAD_ZOMBIE] = { "Z", "Z?" },  [THREAD_DEAD] = { "X", "X?" },
	};
	const struct thread_row *row = thread_of(at);

	value_set_text(v, row->state < THREAD_STATES ?
				  letters[row->state][(row->flags & THREAD_UNSURE) != 0] :
				  "?");
}

static void get_state_name(const struct view_cell *at, struct value *v)
{
	static const char *const names[THREAD_STATES] = {
		[THREAD_UNKNOWN] = "unknown", [THREAD_RUNNING] = "running", [THREAD_READY] = "ready",
		[THREAD_BLOCKED] = "blocked", [THREAD_WAITING] = "waiting", [THREAD_NEW] = "new",
		[THREAD_STOPPED] = "stopped", [THREAD_ZOMBIE] = "zombie",   [THREAD_DEAD] = "dead",
	};
	const struct thread_row *row = thread_of(at);

	value_set_text(v, row->state < THREAD_STATES ? names[row->state] : "unknown");
}

static void set_percent(struct value *v, uint64_t part, uint64_t whole)
{
	if (whole)
		value_set_real(v, 100.0 * (double)part / (double)whole);
	else
		value_set_null(v);
}

static void get_cpu_percent(const struct view_cell *at, struct value *v)
{
	set_percent(v, view_figure(at, at->column->cell), at->rows->totals[at->row->key.host].duration_ns);
}

static void get_host_percent(const struct view_cell *at, struct value *v)
{
	set_percent(v, view_figure(at, at->column->cell), at->rows->totals[at->row->key.host].online_ns);
}

static void get_threads(const struct view_cell *at, struct value *v)
{
	value_set_uint(v, at->row->members);
}

static void get_kernel(const struct view_cell *at, struct value *v)
{
	v->kind = VALUE_BOOL;
	v->flag = thread_of(at)->flags & THREAD_KERNEL;
}

/* ---- sums over the classes of I/O ---- */

static uint64_t sum_classes(const struct view_cell *at, bool write)
{
	return write ? VIEW_FIGURE(at, thread, write_disk) + VIEW_FIGURE(at, thread, write_net) +
			       VIEW_FIGURE(at, thread, write_pipe) + VIEW_FIGURE(at, thread, write_other) :
		       VIEW_FIGURE(at, thread, read_disk) + VIEW_FIGURE(at, thread, read_net) +
			       VIEW_FIGURE(at, thread, read_pipe) + VIEW_FIGURE(at, thread, read_other);
}

/* column.cell: 0 read, 1 written */
static void get_bytes(const struct view_cell *at, struct value *v)
{
	value_set_uint(v, sum_classes(at, at->column->cell));
}

static void get_byte_rate(const struct view_cell *at, struct value *v)
{
	uint64_t duration_ns = at->rows->totals[at->row->key.host].duration_ns;

	if (duration_ns)
		value_set_real(v, (double)sum_classes(at, at->column->cell) * 1e9 / (double)duration_ns);
	else
		value_set_null(v);
}

/* ---- columns ---- */

#define SIGNED(name, header, meaning, width, flags) \
	{ #name, header, meaning, COLUMN_ID, width, flags, CELL(thread, name), view_get_thread_signed }
#define NS(name, header, meaning, flags) \
	{ #name, header, meaning, COLUMN_NS, 8, flags, CELL(thread, name), view_get_value }
#define COUNT(name, header, meaning, flags) \
	{ #name, header, meaning, COLUMN_COUNT, 7, flags, CELL(thread, name), view_get_value }
#define FIGURE (COLUMN_IN_REPORT | COLUMN_COUNTER)

/* Known of recordings that `record` made, see sidecar/. */
#define PROCESS(name, header, meaning, unit, width, get) \
	{ name, header, meaning, unit, width, COLUMN_IN_REPORT | COLUMN_IF_KNOWN, 0, get }

#define COLUMN_VTID SIGNED(vtid, "VTID", "Thread id in its own pid namespace.", 7, 0)
#define COLUMN_VPID SIGNED(vpid, "VPID", "Process id in its own pid namespace.", 7, 0)

static const struct column cpu_columns[] = {
	COLUMN_HOST,
	COLUMN_TID,
	COLUMN_PID,
	SIGNED(ppid, "PPID", "Process id of the parent.", 7, COLUMN_IN_REPORT),
	COLUMN_COMM,
	NS(cpu_ns, "CPU TIME", "Time on a CPU.", FIGURE),
	NS(ready_ns, "READY", "Time it could have run and waited for a CPU.", FIGURE),
	NS(blocked_ns, "BLOCKED", "Time it waited for something else than a CPU.", FIGURE),
	COUNT(switches, "SWITCH", "How often it was switched in.", FIGURE),
	COUNT(migrations, "MIGR", "How often it moved to another CPU.", FIGURE),
	SIGNED(prio, "PRIO", "Priority: 20 is nice 0, below 0 real time.", 4, COLUMN_IN_REPORT),
	{ "born_ns", "BORN", "When it was forked; null before the record.", COLUMN_TIME, 15,
	  COLUMN_IN_REPORT, CELL(thread, born_ns), view_get_thread_known },
	{ "exited_ns", "EXITED", "When it exited; null if it had not at the interval's end.", COLUMN_TIME, 15,
	  COLUMN_IN_REPORT, CELL(thread, exited_ns), view_get_thread_known },
	PROCESS("uid", "UID", "User id of its process.", COLUMN_ID, 6, view_get_process_uid),
	PROCESS("user", "USER", "Name of that user.", COLUMN_TEXT, 10, view_get_process_user),
	PROCESS("exe", "EXE", "Path of its process's program.", COLUMN_TEXT, 24, view_get_process_exe),
	PROCESS("cmdline", "COMMAND LINE", "Command line of its process.", COLUMN_TEXT, 40, view_get_process_cmdline),
	PROCESS("cgroup", "CGROUP", "Path of its process's cgroup, which names units and containers.", COLUMN_TEXT, 32,
		view_get_process_cgroup),
	COLUMN_CONTAINER(COLUMN_IN_REPORT | COLUMN_IF_KNOWN),
	{ "tracing", "TRACING", "Whether its process is LTTng's or lttngtop itself.", COLUMN_FLAG, 7,
	  COLUMN_IN_REPORT | COLUMN_IF_KNOWN, 0, view_get_tracing },
	{ "cpu_percent", "CPU%", "CPU time in percent of the interval: of one CPU.", COLUMN_PERCENT, 5, 0,
	  CELL(thread, cpu_ns), get_cpu_percent },
	{ "host_percent", "HOST%", "CPU time in percent of what all CPUs of the host had.", COLUMN_PERCENT, 5, 0,
	  CELL(thread, cpu_ns), get_host_percent },
	{ "ready_percent", "READY%", "Time waiting for a CPU in percent of the interval.", COLUMN_PERCENT, 6, 0,
	  CELL(thread, ready_ns), get_cpu_percent },
	{ "state", "S",
	  "State at the interval's end: R running, r ready, S blocked, W waiting since before the record, N new, "
	  "T stopped, Z zombie, X dead; '?': unsure.",
	  COLUMN_TEXT, 2, 0, CELL(thread, state), get_state },
	{ "state_name", "STATE", "State at the interval's end, in a word.", COLUMN_TEXT, 8, 0, CELL(thread, state),
	  get_state_name },
	{ "since_ns", "SINCE", "When it came into that state.", COLUMN_TIME, 15, 0, CELL(thread, since_ns),
	  view_get_thread_known },
	SIGNED(cpu, "CPU", "CPU it ran on last.", 3, 0),
	{ "syscall", "SYSCALL", "System call it is in at the interval's end.", COLUMN_TEXT, 14, 0,
	  CELL(thread, syscall), view_get_thread_text },
	SIGNED(syscall_fd, "FD", "File descriptor that call works on.", 4, 0),
	{ "syscall_ns", "ENTERED", "When it entered that call.", COLUMN_TIME, 15, 0, CELL(thread, syscall_ns),
	  view_get_thread_known },
	{ "threads", "THR", "Threads that the row stands for.", COLUMN_COUNT, 4, COLUMN_LEVEL, 0, get_threads },
	{ "kernel", "K", "Whether it is a kernel thread.", COLUMN_FLAG, 3, 0, 0, get_kernel },
	COLUMN_VTID,
	COLUMN_VPID,
	{ "pid_ns", "PID NS", "Inode of its pid namespace.", COLUMN_ID, 10, 0, CELL(thread, pid_ns),
	  view_get_thread_known },
	{ "cgroup_ns", "CGRP NS", "Inode of its cgroup namespace.", COLUMN_ID, 10, 0, CELL(thread, cgroup_ns),
	  view_get_thread_known },
};

const struct view_table view_cpu_table = {
	.name = "cpu",
	.title = "CPU",
	.row = "a thread",
	.meaning = "Who used the CPUs, and who waited for them.",
	.flags = VIEW_REPORT,
	.source = TABLE_THREAD,
	.tables = USES(THREAD) | USES(CPU),
	.needs = NEED_CPU,
	N_COLUMNS(cpu_columns),
	.screen = "tid pid host container prio state cpu_percent cpu_ns ready_ns blocked_ns switches migrations comm",
	.sort = "cpu_percent",
};

#define CLASS(name, header, meaning) \
	{ #name, header, meaning, COLUMN_BYTES, 7, FIGURE, CELL(thread, name), view_get_value }
#define CLASS_AS(name, cell, header, meaning) \
	{ name, header, meaning, COLUMN_BYTES, 7, FIGURE, CELL(thread, cell), view_get_value }
#define RATE_AS(name, cell, header, meaning) \
	{ name, header, meaning, COLUMN_BYTE_RATE, 7, 0, CELL(thread, cell), view_get_rate }

static const struct column io_columns[] = {
	COLUMN_HOST,
	COLUMN_TID,
	COLUMN_PID,
	COLUMN_COMM,
	{ "read_bytes", "READ", "Bytes that its successful read-like calls returned.", COLUMN_BYTES, 7, FIGURE, 0,
	  get_bytes },
	{ "write_bytes", "WRITTEN", "Bytes that its successful write-like calls returned.", COLUMN_BYTES, 7, FIGURE,
	  1, get_bytes },
	CLASS_AS("read_bytes_disk", read_disk, "R DISK", "Of these from files, /proc, /sys and /dev excepted."),
	CLASS_AS("read_bytes_net", read_net, "R NET", "Of these from internet and packet sockets."),
	CLASS_AS("read_bytes_pipe", read_pipe, "R PIPE", "Of these from pipes, fifos and unix sockets."),
	CLASS_AS("read_bytes_other", read_other, "R OTHER", "Of these from anything else and unknown files."),
	CLASS_AS("write_bytes_disk", write_disk, "W DISK", "Of these to files, /proc, /sys and /dev excepted."),
	CLASS_AS("write_bytes_net", write_net, "W NET", "Of these to internet and packet sockets."),
	CLASS_AS("write_bytes_pipe", write_pipe, "W PIPE", "Of these to pipes, fifos and unix sockets."),
	CLASS_AS("write_bytes_other", write_other, "W OTHER", "Of these to anything else and unknown files."),
	COUNT(syscalls, "CALLS", "System calls that ended.", FIGURE),
	{ "read_rate", "READ/s", "Bytes read per second.", COLUMN_BYTE_RATE, 7, 0, 0, get_byte_rate },
	{ "write_rate", "WRITE/s", "Bytes written per second.", COLUMN_BYTE_RATE, 7, 0, 1, get_byte_rate },
	RATE_AS("read_rate_disk", read_disk, "RDISK/s", "Bytes read from files per second."),
	RATE_AS("read_rate_net", read_net, "RNET/s", "Bytes read from the network per second."),
	RATE_AS("read_rate_pipe", read_pipe, "RPIPE/s", "Bytes read from pipes per second."),
	RATE_AS("read_rate_other", read_other, "ROTH/s", "Bytes read from anything else per second."),
	RATE_AS("write_rate_disk", write_disk, "WDISK/s", "Bytes written to files per second."),
	RATE_AS("write_rate_net", write_net, "WNET/s", "Bytes written to the network per second."),
	RATE_AS("write_rate_pipe", write_pipe, "WPIPE/s", "Bytes written to pipes per second."),
	RATE_AS("write_rate_other", write_other, "WOTH/s", "Bytes written to anything else per second."),
	{ "syscall_rate", "CALLS/s", "System calls per second.", COLUMN_RATE, 7, 0, CELL(thread, syscalls),
	  view_get_rate },
	COLUMN_VTID,
	COLUMN_VPID,
	COLUMN_CONTAINER(COLUMN_IF_KNOWN),
};

const struct view_table view_io_table = {
	.name = "io",
	.title = "I/O",
	.row = "a thread",
	.meaning = "Bytes read and written by system calls, by class of file.",
	.flags = VIEW_REPORT,
	.source = TABLE_THREAD,
	.tables = USES(THREAD),
	.needs = NEED_SYSCALL,
	N_COLUMNS(io_columns),
	.screen = "tid pid host container read_rate write_rate read_rate_disk write_rate_disk read_rate_net "
		  "write_rate_net syscall_rate comm",
	.sort = "read_rate",
};

#define LATENCY(name, header, meaning, width, flags, get) \
	{ name, header, meaning, COLUMN_NS, width, COLUMN_IN_REPORT | (flags), CELL(thread, latency.count), get }

static const struct column sched_columns[] = {
	COLUMN_HOST,
	COLUMN_TID,
	COLUMN_PID,
	COLUMN_COMM,
	{ "count", "COUNT", "Wake-ups that led to a switch-in.", COLUMN_COUNT, 7, FIGURE,
	  CELL(thread, latency.count), view_get_dist_count },
	LATENCY("min_ns", "MIN", "Shortest time from a wake-up to the switch-in.", 8, COLUMN_LEVEL, view_get_dist_min),
	LATENCY("avg_ns", "AVG", "Mean time, to the nearest ns.", 8, COLUMN_LEVEL, view_get_dist_avg),
	LATENCY("max_ns", "MAX", "Longest time.", 8, COLUMN_LEVEL, view_get_dist_max),
	LATENCY("stdev_ns", "STDEV", "Standard deviation of the time.", 8, COLUMN_LEVEL, view_get_dist_stdev),
	LATENCY("total_ns", "TOTAL", "Sum of these times.", 8, COLUMN_COUNTER, view_get_dist_sum),
	{ "max_at_ns", "MAX AT", "When the longest one ended.", COLUMN_TIME, 15, 0, CELL(thread, latency.max_at),
	  view_get_known },
	SIGNED(prio, "PRIO", "Priority: 20 is nice 0, below 0 real time.", 4, 0),
	COLUMN_VTID,
	COLUMN_VPID,
	COLUMN_CONTAINER(COLUMN_IF_KNOWN),
};

const struct view_table view_sched_table = {
	.name = "sched",
	.title = "Latency",
	.row = "a thread",
	.meaning = "How long threads waited for a CPU after they were woken.",
	.flags = VIEW_REPORT,
	.source = TABLE_THREAD,
	.tables = USES(THREAD),
	.needs = NEED_CPU | NEED_SCHED,
	N_COLUMNS(sched_columns),
	.screen = "tid pid host container prio count min_ns avg_ns max_ns stdev_ns max_at_ns comm",
	.sort = "max_ns",
};

static const struct column counters_columns[] = {
	COLUMN_HOST, COLUMN_TID, COLUMN_PID, COLUMN_COMM, COLUMN_VTID, COLUMN_VPID, COLUMN_CONTAINER(COLUMN_IF_KNOWN),
};

const struct view_table view_counters_table = {
	.name = "counters",
	.title = "Perf",
	.row = "a thread",
	.meaning = "Perf counters: what each grew while the thread ran.",
	.flags = VIEW_PIVOT,
	.source = TABLE_THREAD,
	.tables = USES(THREAD) | USES(PERF),
	N_COLUMNS(counters_columns),
	.screen = "tid pid host container comm",
	.sort = "tid",
};
