/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of a critical path: critical-path, critical-totals. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "view/internal.h"

#define REPORTED COLUMN_IN_REPORT

static unsigned host_of_wait(const struct view_host *hosts, unsigned n_hosts, unsigned wait)
{
	for (unsigned i = 0; i < n_hosts; i++)
		if (hosts[i].wait == wait)
			return i;
	return 0;
}

/* ---- critical-path ---- */

struct segment_row {
	uint64_t uid, host;
	uint64_t begin_ns, end_ns;
	uint64_t duration_ns;
	uint64_t tid, pid; /* signed */
	uint64_t comm, state, cause, link, call, object; /* strid */
	uint64_t fd; /* signed */
	uint64_t from_host; /* index; VIEW_UNKNOWN */
	uint64_t from_tid;  /* signed; VIEW_UNKNOWN */
	uint64_t wire, cut;
};

static void get_from_host(const struct view_cell *at, struct value *v)
{
	uint64_t host = at->row->row.b[CELL(segment, from_host)];

	value_set_text(v, host == (uint64_t)VIEW_UNKNOWN ? NULL : at->rows->hosts[host].name);
}

#define SEGMENT(name, header, meaning, unit, width, get) \
	{ #name, header, meaning, unit, width, REPORTED, CELL(segment, name), get }

static const struct column path_columns[] = {
	{ "host", "HOST", "Host on which the time passed.", COLUMN_TEXT, 10, REPORTED, 0, view_get_host },
	SEGMENT(begin_ns, "BEGIN", "Begin of the segment.", COLUMN_TIME, 18, view_get_signed),
	SEGMENT(end_ns, "END", "End of the segment: the next one begins there.", COLUMN_TIME, 18, view_get_signed),
	SEGMENT(duration_ns, "TIME", "From begin to end.", COLUMN_NS, 8, view_get_number),
	SEGMENT(tid, "TID", "Thread that the path runs through; 0 the idle task, -1 packets received in interrupts.",
		COLUMN_ID, 7, view_get_int),
	SEGMENT(pid, "PID", "Its process.", COLUMN_ID, 7, view_get_signed),
	SEGMENT(comm, "COMMAND", "Its name.", COLUMN_TEXT, 16, view_get_text),
	SEGMENT(state, "STATE",
		"What it did or waited for: running, preempted, interrupted, timer, block_device, network, user_input, "
		"ipi, blocked (unexplained), unknown.",
		COLUMN_TEXT, 12, view_get_text),
	SEGMENT(cause, "CAUSE", "By name what it waited for: a device, an interrupt, a peer.", COLUMN_TEXT, 14,
		view_get_text),
	SEGMENT(link, "LINK",
		"How the path came here from the segment before: wakeup, fork, network, timer; null: it stayed, or "
		"came back to where a wait began.",
		COLUMN_TEXT, 7, view_get_text),
	SEGMENT(from_host, "FROM", "The link's other end: host.", COLUMN_TEXT, 10, get_from_host),
	SEGMENT(from_tid, "FROM TID", "The link's other end: thread.", COLUMN_ID, 8, view_get_int),
	SEGMENT(call, "CALL", "System call in which it was blocked.", COLUMN_TEXT, 14, view_get_text),
	SEGMENT(fd, "FD", "File descriptor of that call.", COLUMN_ID, 4, view_get_signed),
	SEGMENT(object, "OBJECT", "Path or peer of that file descriptor.", COLUMN_TEXT, 24, view_get_text),
	SEGMENT(wire, "WIRE", "Whether a packet was under way between two hosts.", COLUMN_FLAG, 4, view_get_flag),
	SEGMENT(cut, "CUT", "Whether it began before what is kept in memory.", COLUMN_FLAG, 4, view_get_flag),
};

const struct view_table view_critical_path_table = {
	.name = "critical-path",
	.title = "Critical path",
	.row = "a segment",
	.meaning = "What one thread (--host, --tid) waited for, and for whom, all the way, in order of time.",
	.flags = VIEW_REPORT | VIEW_OWN | VIEW_ALL_ROWS,
	.source = TABLES,
	.needs = NEED_CPU | NEED_SCHED,
	N_COLUMNS(path_columns),
	.screen = "host begin_ns duration_ns tid comm state cause link call object",
	.sort = "begin_ns",
};

static const char *link_name(enum wait_link link)
{
	static const char *const names[] = {
		[WAIT_LINK_WAKEUP] = "wakeup", [WAIT_LINK_FORK] = "fork", [WAIT_LINK_NETWORK] = "network",
		[WAIT_LINK_TIMER] = "timer",
	};

	return names[link];
}

void view_own_path(struct view_own *own, const struct waits *waits, const struct wait_path *path,
		   const struct view_host *hosts, unsigned n_hosts)
{
	for (uint32_t i = 0; i < path->n; i++) {
		const struct wait_segment *segment = &path->segments[i];
		struct wait_who who = waits_who(waits, segment->row);
		unsigned host = host_of_wait(hosts, n_hosts, who.host);
		struct segment_row *row = view_own_add(own, sizeof(*row), host);

		row->begin_ns = segment->begin_ns;
		row->end_ns = segment->end_ns;
		row->duration_ns = segment->end_ns - segment->begin_ns;
		row->tid = (uint64_t)(int64_t)who.tid;
		row->pid = (uint64_t)(int64_t)who.pid;
		row->comm = who.comm;
		row->state = strpool_intern_z(wait_state_name(segment->state));
		row->cause = segment->cause.name;
		row->link = strpool_intern_z(link_name(segment->link));
		row->call = segment->cause.call;
		row->object = segment->cause.object;
		row->fd = (uint64_t)(int64_t)segment->cause.fd;
		row->wire = segment->wire;
		row->cut = segment->cut;
		row->from_host = row->from_tid = (uint64_t)VIEW_UNKNOWN;
		if (segment->from != WAIT_NO_ROW) {
			who = waits_who(waits, segment->from);
			row->from_host = host_of_wait(hosts, n_hosts, who.host);
			row->from_tid = (uint64_t)(int64_t)who.tid;
		}
	}
}

/* ---- critical-totals ---- */

struct total_row {
	uint64_t uid, host;
	uint64_t pid;  /* signed; of a thread whose process is unknown its tid */
	uint64_t comm; /* strid */
	uint64_t order; /* enum wait_state, and wire time behind it */
	uint64_t state; /* strid */
	uint64_t wire;
	uint64_t total_ns;
};

#define TOTAL(name, header, meaning, unit, width, get) \
	{ #name, header, meaning, unit, width, REPORTED, CELL(total, name), get }

static const struct column totals_columns[] = {
	{ "host", "HOST", "Host on which the time passed.", COLUMN_TEXT, 10, REPORTED, 0, view_get_host },
	TOTAL(pid, "PID", "Process; 0 the idle tasks, -1 packets received in interrupts.", COLUMN_ID, 7, view_get_int),
	TOTAL(comm, "COMMAND", "Its name.", COLUMN_TEXT, 16, view_get_text),
	TOTAL(state, "STATE", "What it did or waited for, as in critical-path.", COLUMN_TEXT, 12, view_get_text),
	TOTAL(wire, "WIRE", "Whether packets were under way between two hosts.", COLUMN_FLAG, 4, view_get_flag),
	TOTAL(total_ns, "TOTAL", "Time on the path.", COLUMN_NS, 9, view_get_number),
};

const struct view_table view_critical_totals_table = {
	.name = "critical-totals",
	.title = "Critical path totals",
	.row = "a state of a process on a host",
	.meaning = "Where the time of one thread's (--host, --tid) critical path went.",
	.flags = VIEW_REPORT | VIEW_OWN | VIEW_ALL_ROWS,
	.source = TABLES,
	.needs = NEED_CPU | NEED_SCHED,
	N_COLUMNS(totals_columns),
	.screen = "host pid comm state wire total_ns",
	.sort = "total_ns",
};

/* Idle tasks and receivers are one process of their own, a row of unknown process is known by its tid. */
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

/* The row of a segment; known: those there are. */
static struct total_row *find_total(struct view_own *own, GHashTable *known, unsigned host, int64_t pid,
				    const struct wait_segment *segment)
{
	const uint64_t order = segment->wire ? WAIT_STATES : segment->state;
	const struct total_row key = { .host = host, .pid = (uint64_t)pid, .order = order };
	struct total_row *row = g_hash_table_lookup(known, &key);

	if (row)
		return row;
	row = view_own_add(own, sizeof(*row), host);
	row->pid = (uint64_t)pid;
	row->order = order;
	row->state = strpool_intern_z(wait_state_name(segment->state));
	row->wire = segment->wire;
	g_hash_table_add(known, row);
	return row;
}

/* The name of the process's main thread, where it is known. */
static strid process_name(const struct waits *waits, const struct wait_who *who, int64_t pid, uint64_t t_ns)
{
	wait_row main_row = pid > 0 && pid != who->tid ? waits_find(waits, who->host, (int32_t)pid, t_ns) : WAIT_NO_ROW;

	return main_row == WAIT_NO_ROW ? who->comm : waits_who(waits, main_row).comm;
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

void view_own_totals(struct view_own *own, const struct waits *waits, const struct wait_path *path,
		     const struct view_host *hosts, unsigned n_hosts)
{
	GHashTable *known = g_hash_table_new(hash_total, equal_total);

	for (uint32_t i = 0; i < path->n; i++) {
		const struct wait_segment *segment = &path->segments[i];
		struct wait_who who = waits_who(waits, segment->row);
		int64_t pid = process_of(&who);
		struct total_row *row = find_total(own, known, host_of_wait(hosts, n_hosts, who.host), pid,
						   segment);

		row->total_ns += segment->end_ns - segment->begin_ns;
		if (row->comm == STRID_NONE)
			row->comm = process_name(waits, &who, pid, segment->end_ns);
	}
	g_hash_table_destroy(known);
	g_ptr_array_sort(own->rows, compare_totals);
}
