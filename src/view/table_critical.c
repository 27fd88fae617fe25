/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of a critical path: critical-path, critical-totals. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "view/declare.h"

/* ---- critical-path ---- */

#define SEGMENT_CELLS(C, A, D)                                                                                        \
	C(host, KEY, HOST, "Host on which the time passed")                                                           \
	C(begin_ns, KEY, REF_TIME, "Start of the segment")                                                            \
	C(end_ns, KEY, REF_TIME, "End of the segment, where the next one starts")                                     \
	C(duration_ns, COUNTER, NS, "Duration of the segment")                                                        \
	C(tid, KEY, ANY, "Thread on the path; 0: the idle task, -1: packets received in interrupts")                  \
	C(pid, KEY, SIGNED, "Its process")                                                                            \
	C(comm, KEY, TEXT, "Its name")                                                                                \
	C(state, KEY, TEXT,                                                                                           \
	  "What the thread did or waited for: running; preempted (ready to run, but waiting for a CPU, after a "      \
	  "preemption or a wake-up; 'ready' on the screen); interrupted (until an interrupt handler finished); "      \
	  "timer; block_device; network (until a packet arrived); user_input; ipi (until another CPU answered); "     \
	  "blocked (unexplained); unknown")                                                                           \
	C(cause, KEY, TEXT,                                                                                           \
	  "Name of what it waited for: a device, an interrupt, a peer; when preempted: of the thread that ran "       \
	  "longest on the CPU it waited for, or idle, in the whole wait even if the segment is a part of it; "        \
	  "when a kernel thread runs: the function of its work item, by name or address, where work items were "      \
	  "recorded")                                                                                                 \
	C(cause_tid, KEY, ANY, "When preempted: the thread in cause; 0: the idle task")                               \
	C(link, KEY, TEXT,                                                                                            \
	  "Link to the previous segment: wakeup, fork, network, or workqueue if a kernel thread carried "             \
	  "out work of the other; null if the path stayed on this thread, or returned to it where a wait started; a " \
	  "packet in transit has it as the first segment, too")                                                       \
	C(from_host, KEY, HOST, "Host at the other end of the link")                                                  \
	C(from_tid, KEY, ANY, "Thread at the other end of the link")                                                  \
	C(call, KEY, TEXT, "System call in which it was blocked")                                                     \
	C(fd, KEY, SIGNED, "File descriptor used by that call")                                                       \
	C(object, KEY, TEXT, "Path or peer of that file descriptor")                                                  \
	C(wire, KEY, FLAG, "Whether a packet was in transit, between two hosts or within one")                        \
	C(cut, KEY, FLAG, "Whether its beginning is missing, because older data was dropped")                         \
	C(path_host, KEY, HOST,                                                                                       \
	  "With several threads: host of the thread whose path this is; null if there is only one")                   \
	C(path_tid, KEY, ANY, "That thread")                                                                          \
	C(path_comm, KEY, TEXT, "Its name")

OWN_ROW(segment, SEGMENT_CELLS);

static const struct column path_columns[] = {
	COLUMN(segment, host, "HOST", 10, REPORTED),
	COLUMN(segment, begin_ns, "BEGIN", 18, REPORTED),
	COLUMN(segment, end_ns, "END", 18, REPORTED),
	COLUMN(segment, duration_ns, "TIME", 8, FIGURE),
	COLUMN(segment, tid, "TID", 7, REPORTED),
	COLUMN(segment, pid, "PID", 7, REPORTED),
	COLUMN(segment, comm, "COMMAND", 16, REPORTED),
	COLUMN(segment, state, "STATE", 12, REPORTED),
	COLUMN(segment, cause, "CAUSE", 14, REPORTED),
	COLUMN(segment, link, "LINK", 7, REPORTED),
	COLUMN(segment, from_host, "FROM", 10, REPORTED),
	COLUMN(segment, from_tid, "FROM TID", 8, REPORTED),
	COLUMN(segment, call, "CALL", 14, REPORTED),
	COLUMN(segment, fd, "FD", 4, REPORTED),
	COLUMN(segment, object, "OBJECT", 24, REPORTED),
	COLUMN(segment, wire, "WIRE", 4, REPORTED),
	COLUMN(segment, cut, "CUT", 4, REPORTED),
	COLUMN(segment, path_host, "PATH OF", 10, REPORTED | COLUMN_IF_KNOWN),
	COLUMN(segment, path_tid, "PATH TID", 8, REPORTED | COLUMN_IF_KNOWN),
	COLUMN(segment, path_comm, "PATH COMMAND", 16, REPORTED | COLUMN_IF_KNOWN),
	COLUMN(segment, cause_tid, "CAUSE TID", 9, REPORTED | COLUMN_IF_KNOWN),
};

static view_collect_fn collect_path;

const struct view_table view_critical_path_table = {
	.name = "critical-path",
	.title = "Critical path",
	.row = "a segment",
	.meaning =
		"Critical paths: what each thread waited for, followed from thread to thread and host to host, in "
		"order of time. --host, --tid, --pid and --comm select the threads whose paths are shown, not the "
		"hosts that a path visits; if they match several threads, each has a path of its own. Without "
		"these options, the threads that handle requests are used: those that were created and exited in the "
		"interval, and those that opened connections, except servers and threads that work for another one of "
		"them.",
	.flags = VIEW_REPORT | VIEW_ALL_ROWS,
	.source = TABLES,
	.tables = USES(THREAD) | USES(SYSCALL) | USES(FILE),
	.needs = NEED_CPU | NEED_SCHED,
	N_COLUMNS(path_columns),
	.screen = "host begin_ns duration_ns tid comm state cause cause_tid link call object",
	.sort = "begin_ns",
	.state_name = view_wait_state,
	.supply = { VIEW_PATH, true, collect_path },
	.process = CELL(segment, pid),
	OWN_CELLS(segment),
};

static const char *link_name(enum wait_link link)
{
	static const char *const names[] = {
		[WAIT_LINK_WAKEUP] = "wakeup",
		[WAIT_LINK_FORK] = "fork",
		[WAIT_LINK_NETWORK] = "network",
		[WAIT_LINK_WORK] = "workqueue",
	};

	return names[link];
}

/* The name is the last one in the interval. */
static struct wait_who who_is(const struct view_sources *from, wait_row row)
{
	return waits_who_at(from->waits, row, from->end_ns - 1);
}

static void set_origin(struct segment_row *row, const struct view_sources *from, const struct wait_segment *segment)
{
	struct wait_who who;

	row->from_host = row->from_tid = (uint64_t)CELL_UNKNOWN;
	if (segment->from == WAIT_NO_ROW)
		return;
	who = who_is(from, segment->from);
	row->from_host = view_derived_host(from, who.host);
	row->from_tid = (uint64_t)(int64_t)who.tid;
}

static void set_subject(struct segment_row *row, const struct view_sources *from, unsigned path)
{
	struct wait_who who;

	row->path_host = row->path_tid = (uint64_t)CELL_UNKNOWN;
	if (from->one_subject)
		return;
	who = who_is(from, from->subjects[path]);
	row->path_host = view_derived_host(from, who.host);
	row->path_tid = (uint64_t)(int64_t)who.tid;
	row->path_comm = who.comm;
}

static struct segment_row *add_segment(struct view_derived *derived, const struct view_sources *from,
				       const struct wait_segment *segment)
{
	const struct wait_who who = who_is(from, segment->row);
	struct segment_row *row = view_derived_add(derived, sizeof(*row), view_derived_host(from, who.host));

	row->begin_ns = segment->begin_ns;
	row->end_ns = segment->end_ns;
	row->duration_ns = segment->end_ns - segment->begin_ns;
	row->tid = (uint64_t)(int64_t)who.tid;
	row->pid = (uint64_t)(int64_t)who.pid;
	row->comm = who.comm;
	row->state = strpool_intern_z(wait_state_name(segment->state));
	row->cause = segment->cause.name;
	row->cause_tid = (uint64_t)CELL_UNKNOWN;
	if (segment->state == WAIT_PREEMPTED && segment->cause.name)
		row->cause_tid = (uint64_t)segment->cause.tid;
	row->link = strpool_intern_z(link_name(segment->link));
	row->call = segment->cause.call;
	row->object = segment->cause.object;
	row->fd = (uint64_t)(int64_t)segment->cause.fd;
	row->wire = segment->wire;
	row->cut = segment->cut;
	set_origin(row, from, segment);
	return row;
}

/* One row per segment, path by path. */
static void collect_path(struct view_derived *derived, const struct view_sources *from)
{
	for (unsigned p = 0; p < from->n_paths; p++)
		for (uint32_t i = 0; i < from->paths[p].n; i++)
			set_subject(add_segment(derived, from, &from->paths[p].segments[i]), from, p);
}

/* ---- critical-totals ---- */

#define TOTAL_CELLS(C, A, D)                                                                   \
	C(host, KEY, HOST, "Host on which the time passed")                                    \
	C(pid, KEY, ANY, "Process; 0: the idle tasks, -1: packets received in interrupts")     \
	C(comm, GAUGE, TEXT, "Its name")                                                       \
	C(order, KEY, NONE, "enum wait_state, followed by wire time")                          \
	C(state, KEY, TEXT, "What it did or waited for, as in critical-path")                  \
	C(wire, KEY, FLAG, "Whether packets were in transit, between two hosts or within one") \
	C(total_ns, COUNTER, NS, "Time on the critical path")

OWN_ROW(total, TOTAL_CELLS);

static const struct column totals_columns[] = {
	COLUMN(total, host, "HOST", 10, REPORTED),    COLUMN(total, pid, "PID", 7, REPORTED),
	COLUMN(total, comm, "COMMAND", 16, REPORTED), COLUMN(total, state, "STATE", 12, REPORTED),
	COLUMN(total, wire, "WIRE", 4, REPORTED),     COLUMN(total, total_ns, "TOTAL", 9, FIGURE),
};

static view_collect_fn collect_totals;

const struct view_table view_critical_totals_table = {
	.name = "critical-totals",
	.title = "Critical path totals",
	.row = "a state of a process on a host",
	.meaning = "How the time of critical paths was spent, for the same threads as critical-path.",
	.flags = VIEW_REPORT | VIEW_ALL_ROWS,
	.source = TABLES,
	.tables = USES(THREAD) | USES(SYSCALL) | USES(FILE),
	.needs = NEED_CPU | NEED_SCHED,
	N_COLUMNS(totals_columns),
	.screen = "host pid comm state wire total_ns",
	.sort = "total_ns",
	.state_name = view_wait_state,
	.supply = { VIEW_PATH, true, collect_totals },
	.process = CELL(total, pid),
	OWN_CELLS(total),
};

/* Idle tasks and receivers count as processes of their own; a row whose process is unknown is identified by its tid. */
static int64_t process_of(const struct wait_who *who)
{
	return who->tid <= 0 || who->pid < 0 ? who->tid : who->pid;
}

static guint hash_total(gconstpointer p)
{
	const struct total_row *row = p;

	return (guint)map64_hash(row->pid ^ row->host << 48 ^ row->order << 40);
}

static gboolean equal_total(gconstpointer pa, gconstpointer pb)
{
	const struct total_row *a = pa, *b = pb;

	return a->host == b->host && a->pid == b->pid && a->order == b->order;
}

/* The row of a segment; known: existing rows. */
static struct total_row *find_total(struct view_derived *derived, GHashTable *known, unsigned host, int64_t pid,
				    const struct wait_segment *segment)
{
	const uint64_t order = segment->wire ? WAIT_STATES : segment->state;
	const struct total_row key = { .host = host, .pid = (uint64_t)pid, .order = order };
	struct total_row *row = g_hash_table_lookup(known, &key);

	if (row)
		return row;
	row = view_derived_add(derived, sizeof(*row), host);
	row->pid = (uint64_t)pid;
	row->order = order;
	row->state = strpool_intern_z(wait_state_name(segment->state));
	row->wire = segment->wire;
	g_hash_table_add(known, row);
	return row;
}

/* The name of the process's main thread, if known. */
static strid process_name(const struct view_sources *from, const struct wait_who *who, int64_t pid, uint64_t t_ns)
{
	wait_row main_row = WAIT_NO_ROW;

	if (pid > 0 && pid != who->tid)
		main_row = waits_find(from->waits, who->host, (int32_t)pid, t_ns);
	return main_row == WAIT_NO_ROW ? who->comm : who_is(from, main_row).comm;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_totals(gconstpointer pa, gconstpointer pb)
{
	const struct total_row *a = *(const struct total_row *const *)pa, *b = *(const struct total_row *const *)pb;

	if (a->host != b->host)
		return COMPARE(a->host, b->host);
	if (a->pid != b->pid)
		return COMPARE((int64_t)a->pid, (int64_t)b->pid);
	return COMPARE(a->order, b->order);
}

static void add_total(struct view_derived *derived, GHashTable *known, const struct view_sources *from,
		      const struct wait_segment *segment)
{
	const struct wait_who who = who_is(from, segment->row);
	const int64_t pid = process_of(&who);
	const unsigned host = view_derived_host(from, who.host);
	struct total_row *row = find_total(derived, known, host, pid, segment);

	row->total_ns += segment->end_ns - segment->begin_ns;
	if (row->comm == STRID_NONE)
		row->comm = process_name(from, &who, pid, segment->end_ns);
}

/* The paths' time by host, process and state, in that order. */
static void collect_totals(struct view_derived *derived, const struct view_sources *from)
{
	GHashTable *known = g_hash_table_new(hash_total, equal_total);

	for (unsigned p = 0; p < from->n_paths; p++)
		for (uint32_t i = 0; i < from->paths[p].n; i++)
			add_total(derived, known, from, &from->paths[p].segments[i]);
	g_hash_table_destroy(known);
	g_ptr_array_sort(derived->rows, compare_totals);
}
