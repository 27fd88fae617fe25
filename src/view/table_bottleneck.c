/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table bottleneck: what the time of critical paths was spent on, by host. */
#include <string.h>

#include "view/declare.h"

#define BOTTLENECK_CELLS(C, A, D)                                                                               \
	C(host, KEY, HOST, "Host on which the time passed")                                                     \
	C(order, KEY, NONE, "enum resource")                                                                    \
	C(resource, KEY, TEXT,                                                                                  \
	  "Resource the time was spent on: cpu (a thread ran), cpu_wait (it was preempted), interrupts, disk, " \
	  "network, lock (a futex whose holder is unknown), timer, user_input, unexplained")                    \
	C(total_ns, COUNTER, NS, "Time on the critical paths")                                                  \
	C(whole_ns, GAUGE, NONE, "Total time of all paths, on all hosts")                                       \
	C(for_others_ns, COUNTER, NS, "Part on critical paths of threads of other hosts")                       \
	C(paths, GAUGE, COUNT, "Number of critical paths that include it")                                      \
	C(max_ns, MAX, NS, "Longest time on one critical path")                                                 \
	C(max_host, GAUGE, HOST, "Host of the thread with that path")                                           \
	C(max_tid, GAUGE, ANY, "Thread ID of that thread")                                                      \
	C(max_comm, GAUGE, TEXT, "Its name")

OWN_ROW(bottleneck, BOTTLENECK_CELLS);

static column_get_fn get_percent;
static view_collect_fn collect;

static const struct column columns[] = {
	COLUMN(bottleneck, host, "HOST", 10, REPORTED),
	COLUMN(bottleneck, resource, "RESOURCE", 12, REPORTED),
	COLUMN(bottleneck, total_ns, "TOTAL", 9, FIGURE),
	OTHER(get_percent, "total_percent", "TOTAL%",
	      "Time on the critical paths, in percent of the total time of all "
	      "paths on all hosts.",
	      COLUMN_PERCENT, 6, LEVEL),
	COLUMN(bottleneck, for_others_ns, "FOR OTHERS", 10, FIGURE),
	COLUMN(bottleneck, paths, "PATHS", 6, LEVEL),
	COLUMN(bottleneck, max_ns, "MAX", 9, LEVEL),
	COLUMN(bottleneck, max_host, "MAX HOST", 10, REPORTED),
	COLUMN(bottleneck, max_tid, "MAX TID", 8, REPORTED),
	COLUMN(bottleneck, max_comm, "MAX COMMAND", 16, REPORTED),
};

const struct view_table view_bottleneck_table = {
	.name = "bottleneck",
	.title = "Bottleneck",
	.row = "a resource of a host",
	.meaning = "What requests spent their time on: the time of the paths in critical-path, by host and resource. A "
		   "wait for another thread is broken down by what that thread did meanwhile.",
	.flags = VIEW_REPORT | VIEW_ALL_ROWS,
	.source = TABLES,
	.tables = USES(THREAD) | USES(SYSCALL) | USES(FILE),
	.needs = NEED_CPU | NEED_SCHED,
	N_COLUMNS(columns),
	.screen = "host resource total_ns total_percent for_others_ns paths max_ns max_host max_tid max_comm",
	.sort = "total_ns",
	.supply = { VIEW_PATH, true, collect },
	OWN_CELLS(bottleneck),
};

enum resource { CPU, CPU_WAIT, INTERRUPTS, DISK, NETWORK, LOCK, TIMER, USER_INPUT, UNEXPLAINED, RESOURCES };

static const char *const names[RESOURCES] = {
	[CPU] = "cpu",     [CPU_WAIT] = "cpu_wait",     [INTERRUPTS] = "interrupts",
	[DISK] = "disk",   [NETWORK] = "network",       [LOCK] = "lock",
	[TIMER] = "timer", [USER_INPUT] = "user_input", [UNEXPLAINED] = "unexplained",
};

static enum resource resource_of(const struct wait_segment *s, strid futex)
{
	switch (s->state) {
	case WAIT_RUNNING:
		return CPU;
	case WAIT_PREEMPTED:
		return CPU_WAIT;
	case WAIT_INTERRUPTED:
	case WAIT_IPI:
		return INTERRUPTS;
	case WAIT_BLOCK_DEVICE:
		return DISK;
	case WAIT_NETWORK:
		return NETWORK;
	case WAIT_TIMER:
		return TIMER;
	case WAIT_USER_INPUT:
		return USER_INPUT;
	case WAIT_BLOCKED:
		return s->cause.call == futex ? LOCK : UNEXPLAINED;
	case WAIT_UNKNOWN:
	case WAIT_STATES:
		break;
	}
	return UNEXPLAINED;
}

static unsigned host_of_wait(const struct view_sources *from, unsigned wait)
{
	for (unsigned i = 0; i < from->n_hosts; i++)
		if (from->hosts[i].wait == wait)
			return i;
	return 0;
}

/* Adds a path's time. ns: scratch space by host and resource, cleared again. */
static void add_path(struct bottleneck_row *rows, uint64_t *ns, const struct view_sources *from, wait_row subject)
{
	const struct wait_who who = waits_who(from->waits, subject);
	const unsigned subject_host = host_of_wait(from, who.host);

	for (unsigned i = 0; i < from->n_hosts * RESOURCES; i++) {
		struct bottleneck_row *row = &rows[i];

		if (!ns[i])
			continue;
		row->total_ns += ns[i];
		row->paths++;
		if (i / RESOURCES != subject_host)
			row->for_others_ns += ns[i];
		if (ns[i] > row->max_ns) {
			row->max_ns = ns[i];
			row->max_host = subject_host;
			row->max_tid = (uint64_t)(int64_t)who.tid;
			row->max_comm = who.comm;
		}
		ns[i] = 0;
	}
}

static void collect(struct view_derived *derived, const struct view_sources *from)
{
	const strid futex = strpool_intern_z("futex");
	const unsigned n = from->n_hosts * RESOURCES;
	struct bottleneck_row *rows = g_new0(struct bottleneck_row, n);
	uint64_t *ns = g_new0(uint64_t, n), whole_ns = 0;

	for (unsigned p = 0; p < from->n_paths; p++) {
		for (uint32_t i = 0; i < from->paths[p].n; i++) {
			const struct wait_segment *s = &from->paths[p].segments[i];
			const unsigned host = host_of_wait(from, waits_who(from->waits, s->row).host);

			ns[host * RESOURCES + resource_of(s, futex)] += s->end_ns - s->begin_ns;
			whole_ns += s->end_ns - s->begin_ns;
		}
		add_path(rows, ns, from, from->subjects[p]);
	}
	for (unsigned i = 0; i < n; i++) {
		struct bottleneck_row *row;

		if (!rows[i].total_ns)
			continue;
		row = view_derived_add(derived, sizeof(*row), i / RESOURCES);
		rows[i].uid = row->uid;
		rows[i].host = row->host;
		rows[i].order = i % RESOURCES;
		rows[i].resource = strpool_intern_z(names[i % RESOURCES]);
		rows[i].whole_ns = whole_ns;
		*row = rows[i];
	}
	g_free(ns);
	g_free(rows);
}

static void get_percent(const struct view_cell *at, struct value *v)
{
	const struct bottleneck_row *row = (const struct bottleneck_row *)(const void *)at->row->row.b;

	value_set_real(v, 100.0 * (double)row->total_ns / (double)row->whole_ns);
}
