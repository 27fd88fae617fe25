/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables whose rows are threads: cpu, io, sched, counters. */
#include <stddef.h>

#include "base/nstime.h"
#include "view/declare.h"
#include "view/missing.h"

static const struct thread_row *thread_of(const struct view_cell *at)
{
	return INTERVAL_ROW(thread, &at->row->row);
}

/* One letter, followed by '?' if events have been lost since the state was seen. */
static void get_state(const struct view_cell *at, struct value *v)
{
	static const char *const letters[THREAD_STATES][2] = {
		[THREAD_UNKNOWN] = { "?", "?" },  [THREAD_RUNNING] = { "R", "R?" }, [THREAD_READY] = { "r", "r?" },
		[THREAD_BLOCKED] = { "S", "S?" }, [THREAD_WAITING] = { "W", "W?" }, [THREAD_NEW] = { "N", "N?" },
		[THREAD_STOPPED] = { "T", "T?" }, [THREAD_ZOMBIE] = { "Z", "Z?" },  [THREAD_DEAD] = { "X", "X?" },
	};
	const struct thread_row *row = thread_of(at);

	value_set_text(v, row->state < THREAD_STATES ? letters[row->state][(row->flags & THREAD_UNSURE) != 0] : "?");
}

static const char *state_name(unsigned i)
{
	static const char *const names[THREAD_STATES] = {
		[THREAD_UNKNOWN] = "unknown", [THREAD_RUNNING] = "running", [THREAD_READY] = "ready",
		[THREAD_BLOCKED] = "blocked", [THREAD_WAITING] = "waiting", [THREAD_NEW] = "new",
		[THREAD_STOPPED] = "stopped", [THREAD_ZOMBIE] = "zombie",   [THREAD_DEAD] = "dead",
	};

	return i < THREAD_STATES ? names[i] : NULL;
}

static void get_state_name(const struct view_cell *at, struct value *v)
{
	const uint64_t state = thread_of(at)->state;

	value_set_text(v, state_name(state < THREAD_STATES ? (unsigned)state : THREAD_UNKNOWN));
}

static void get_host_percent(const struct view_cell *at, struct value *v)
{
	const uint64_t online_ns = view_online_ns(at);

	value_set_null(v);
	if (online_ns)
		value_set_real(v, 100.0 * (double)VIEW_FIGURE(at, thread, cpu_ns) / (double)online_ns);
}

/* ---- what CPU time was spent on; null if the host's trace does not show it ---- */

static void get_interrupted(const struct view_cell *at, struct value *v)
{
	value_set_null(v);
	if (!view_lacks(at, VIEW_LACKS_IRQS))
		value_set_uint(v, VIEW_FIGURE(at, thread, interrupted_ns));
}

static void get_system(const struct view_cell *at, struct value *v)
{
	value_set_null(v);
	if (!view_lacks(at, VIEW_LACKS_CALLS))
		value_set_uint(v, VIEW_FIGURE(at, thread, system_ns));
}

/* The remainder, so that the parts add up to the CPU time. */
static void get_user(const struct view_cell *at, struct value *v)
{
	const uint64_t interrupted_ns = view_lacks(at, VIEW_LACKS_IRQS) ? 0 : VIEW_FIGURE(at, thread, interrupted_ns);

	value_set_null(v);
	if (!view_lacks(at, VIEW_LACKS_CALLS))
		value_set_uint(v,
			       VIEW_FIGURE(at, thread, cpu_ns) - VIEW_FIGURE(at, thread, system_ns) - interrupted_ns);
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

static uint64_t sum_classes(const struct view_cell *at)
{
	return at->column->cell ? VIEW_FIGURE(at, thread, write_disk) + VIEW_FIGURE(at, thread, write_net) +
					  VIEW_FIGURE(at, thread, write_pipe) + VIEW_FIGURE(at, thread, write_other) +
					  VIEW_FIGURE(at, thread, write_netfs)
				: VIEW_FIGURE(at, thread, read_disk) + VIEW_FIGURE(at, thread, read_net) +
					  VIEW_FIGURE(at, thread, read_pipe) + VIEW_FIGURE(at, thread, read_other) +
					  VIEW_FIGURE(at, thread, read_netfs);
}

static void get_bytes(const struct view_cell *at, struct value *v)
{
	value_set_uint(v, sum_classes(at));
}

static void get_byte_rate(const struct view_cell *at, struct value *v)
{
	view_set_share(at, sum_classes, (double)NS_PER_S, v);
}

/* ---- columns ---- */

/* From the trace, or known for recordings made by `record`, see sidecar/. */
#define PROCESS(name, header, meaning, unit, width, get) \
	OTHER(get, name, header, meaning, unit, width, COLUMN_IN_REPORT | COLUMN_IF_KNOWN)

/* Of CPU time. */
#define PART (FIGURE | COLUMN_SWITCHES | COLUMN_IF_KNOWN)

static const struct column cpu_columns[] = {
	COLUMN_HOST,
	COLUMN_TID,
	COLUMN_PID,
	COLUMN(thread, ppid, "PPID", 7, REPORTED),
	COLUMN_COMM,
	COLUMN(thread, cpu_ns, "CPU TIME", 8, FIGURE | COLUMN_SWITCHES),
	COLUMN(thread, ready_ns, "READY", 8, FIGURE | COLUMN_SWITCHES),
	COLUMN(thread, blocked_ns, "BLOCKED", 8, FIGURE | COLUMN_SWITCHES),
	COLUMN(thread, switches, "SWITCH", 7, FIGURE | COLUMN_SWITCHES),
	COLUMN(thread, migrations, "MIGR", 7, FIGURE),
	COLUMN(thread, prio, "PRIO", 4, REPORTED),
	COLUMN(thread, born_ns, "BORN", 15, REPORTED),
	COLUMN(thread, exited_ns, "EXITED", 15, REPORTED),
	CELL_COLUMN_BY(get_user, VALUE, "user_ns", thread, cpu_ns, "USR TIME", 8, PART,
		       "CPU time in user mode, including page faults; null where system calls were not recorded. Live, "
		       "the rest of a call during which tracing started counts as user time, too."),
	COLUMN_BY(get_system, thread, system_ns, "SYS TIME", 8, PART),
	COLUMN_BY(get_interrupted, thread, interrupted_ns, "INT TIME", 8, PART),
	PROCESS("uid", "UID", "Real user ID of its process at the end of the interval.", COLUMN_ID, 6,
		view_get_process_uid),
	PROCESS("user", "USER", "Name of that user, or its number if the recording does not have names.", COLUMN_TEXT,
		10, view_get_process_user),
	PROCESS("exe", "EXE",
		"Path of its process's executable. If it was started while tracing, as passed to exec: for a script, "
		"the script's.",
		COLUMN_TEXT, 24, view_get_process_exe),
	PROCESS("cmdline", "COMMAND LINE", "Command line of its process.", COLUMN_TEXT, 40, view_get_process_cmdline),
	PROCESS("cgroup", "CGROUP", "Path of its process's cgroup, which names units and containers.", COLUMN_TEXT, 32,
		view_get_process_cgroup),
	COLUMN_CONTAINER(COLUMN_IN_REPORT | COLUMN_IF_KNOWN),
	OTHER(view_get_tracing, "tracing", "TRACING", "Whether its process belongs to LTTng or lttngtop.", COLUMN_FLAG,
	      7, COLUMN_IN_REPORT | COLUMN_IF_KNOWN),
	PERCENT("cpu_percent", thread, cpu_ns, "CPU%", 5, COLUMN_SWITCHES,
		"CPU time, in percent of one CPU over the recorded part of the interval, time among lost events "
		"included."),
	OTHER(get_host_percent, "host_percent", "HOST%",
	      "CPU time, in percent of all CPUs of the host over the recorded part of the "
	      "interval.",
	      COLUMN_PERCENT, 5, COLUMN_SWITCHES),
	PERCENT("ready_percent", thread, ready_ns, "READY%", 6, COLUMN_SWITCHES, NULL),
	OTHER(get_state, "state", "S",
	      "State at the end of the interval: R running, r ready, S blocked, W waiting since before tracing "
	      "started, N new, T stopped, Z zombie, X dead; '?' after it: uncertain, events were lost.",
	      COLUMN_TEXT, 2, COLUMN_SWITCHES),
	OTHER(get_state_name, "state_name", "STATE", "State at the end of the interval, as a word.", COLUMN_TEXT, 8,
	      COLUMN_SWITCHES),
	COLUMN(thread, since_ns, "SINCE", 15, COLUMN_SWITCHES),
	COLUMN_AS("last_cpu", thread, cpu, "CPU", 3, 0),
	COLUMN(thread, syscall, "SYSCALL", 14, 0),
	COLUMN(thread, syscall_fd, "FD", 4, 0),
	COLUMN(thread, syscall_ns, "ENTERED", 15, 0),
	OTHER(get_threads, "threads", "THR", "Number of threads in the row.", COLUMN_COUNT, 4, COLUMN_LEVEL),
	OTHER(get_kernel, "kernel", "K", "Whether it is a kernel thread.", COLUMN_FLAG, 3, 0),
	COLUMN_VTID,
	COLUMN_VPID,
	COLUMN(thread, pid_ns, "PID NS", 10, 0),
	COLUMN(thread, cgroup_ns, "CGRP NS", 10, 0),
};

const struct view_table view_cpu_table = {
	.name = "cpu",
	.title = "CPU",
	.row = "a thread",
	.meaning = "Which threads used the CPUs, and which waited for them.",
	.flags = VIEW_REPORT,
	.source = TABLE_THREAD,
	.tables = USES(THREAD) | USES(CPU),
	.needs = NEED_CPU,
	N_COLUMNS(cpu_columns),
	.screen = "tid pid host container prio state cpu_percent cpu_ns ready_ns blocked_ns switches migrations comm",
	.sort = "cpu_percent",
	.state_name = state_name,
};

#define READ_CLASS(class, header) COLUMN_AS("read_bytes_" #class, thread, read_##class, header, 7, FIGURE)
#define WRITE_CLASS(class, header) COLUMN_AS("write_bytes_" #class, thread, write_##class, header, 7, FIGURE)
#define READ_RATE(class, header) RATE("read_rate_" #class, thread, read_##class, header, 7)
#define WRITE_RATE(class, header) RATE("write_rate_" #class, thread, write_##class, header, 7)
/* What reached the disks is shown where there is room beside the calls. */
#define DISK_RATE(name, member, header, width) \
	CELL_COLUMN(RATE, name, thread, member, header, width, COLUMN_SPARE, NULL)

static const struct column io_columns[] = {
	COLUMN_HOST,
	COLUMN_TID,
	COLUMN_PID,
	COLUMN_COMM,
	OTHER_OF(0, get_bytes, "read_bytes", "READ", "Bytes returned by successful read-like calls.", COLUMN_BYTES, 7,
		 FIGURE),
	OTHER_OF(1, get_bytes, "write_bytes", "WRITTEN", "Bytes returned by successful write-like calls.", COLUMN_BYTES,
		 7, FIGURE),
	READ_CLASS(disk, "R DISK"),
	READ_CLASS(net, "R NET"),
	READ_CLASS(pipe, "R PIPE"),
	READ_CLASS(other, "R OTHER"),
	READ_CLASS(netfs, "R NETFS"),
	WRITE_CLASS(disk, "W DISK"),
	WRITE_CLASS(net, "W NET"),
	WRITE_CLASS(pipe, "W PIPE"),
	WRITE_CLASS(other, "W OTHER"),
	WRITE_CLASS(netfs, "W NETFS"),
	COLUMN(thread, syscalls, "CALLS", 7, FIGURE),
	COLUMN(thread, disk_read_bytes, "DISK R", 7, FIGURE),
	COLUMN(thread, disk_write_bytes, "DISK W", 7, FIGURE),
	COLUMN(thread, disk_writeback_bytes, "DISK WB", 7, FIGURE),
	COLUMN(thread, disk_requests, "DISK RQ", 7, FIGURE),
	COLUMN(thread, disk_wait_ns, "DISKWAIT", 8, FIGURE),
	OTHER_OF(0, get_byte_rate, "read_rate", "READ/s", "Bytes read per second.", COLUMN_BYTE_RATE, 7, 0),
	OTHER_OF(1, get_byte_rate, "write_rate", "WRITE/s", "Bytes written per second.", COLUMN_BYTE_RATE, 7, 0),
	READ_RATE(disk, "RDISK/s"),
	READ_RATE(net, "RNET/s"),
	READ_RATE(pipe, "RPIPE/s"),
	READ_RATE(other, "ROTH/s"),
	READ_RATE(netfs, "RNFS/s"),
	WRITE_RATE(disk, "WDISK/s"),
	WRITE_RATE(net, "WNET/s"),
	WRITE_RATE(pipe, "WPIPE/s"),
	WRITE_RATE(other, "WOTH/s"),
	WRITE_RATE(netfs, "WNFS/s"),
	RATE("syscall_rate", thread, syscalls, "CALLS/s", 7),
	DISK_RATE("disk_read_rate", disk_read_bytes, "DISKR/s", 7),
	DISK_RATE("disk_write_rate", disk_write_bytes, "DISKW/s", 7),
	DISK_RATE("disk_request_rate", disk_requests, "DISKRQ/s", 8),
	COLUMN_VTID,
	COLUMN_VPID,
	COLUMN_CONTAINER(COLUMN_IF_KNOWN),
};

const struct view_table view_io_table = {
	.name = "io",
	.title = "I/O",
	.row = "a thread",
	.meaning =
		"Bytes read and written by system calls, by class of file. I/O through io_uring, libaio or mmap() is "
		"included only in DISK R and DISK W, if it reaches a block device.",
	.flags = VIEW_REPORT,
	.source = TABLE_THREAD,
	.tables = USES(THREAD) | MODEL_FDS,
	.needs = NEED_SYSCALL,
	N_COLUMNS(io_columns),
	.screen = "tid pid host container read_rate write_rate read_rate_disk write_rate_disk read_rate_net "
		  "write_rate_net syscall_rate disk_request_rate disk_write_rate disk_read_rate comm",
	.sort = "read_rate",
};

static const struct column sched_columns[] = {
	COLUMN_HOST,
	COLUMN_TID,
	COLUMN_PID,
	COLUMN_COMM,
	DIST(thread, latency, "", "", FIGURE, COUNT, MIN, AVG, MAX, STDEV, TOTAL),
	DIST(thread, latency, "", "", REPORTED, P50, P90, P99, P999),
	DIST(thread, latency, "", "", 0, MAX_AT),
	DIST_FREQ(thread, latency, "", "LATENCY"),
	DIST_ALL(thread, slice, "slice_", "SLICE "),
	COLUMN(thread, prio, "PRIO", 4, 0),
	COLUMN_VTID,
	COLUMN_VPID,
	COLUMN_CONTAINER(COLUMN_IF_KNOWN),
};

const struct view_table view_sched_table = {
	.name = "sched",
	.title = "Latency",
	.row = "a thread",
	.meaning =
		"How long threads waited for a CPU after they were woken. If one was woken before it was switched out, "
		"its wait starts there; table cpu counts it as blocked.",
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
	.meaning = "Perf counters: the increase of each while the thread ran.",
	.flags = VIEW_PIVOT,
	.source = TABLE_THREAD,
	.tables = USES(THREAD) | USES(PERF),
	N_COLUMNS(counters_columns),
	.screen = "tid pid host container comm",
	.sort = "tid",
};
