/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table bottleneck: what the time of critical paths was spent on, by host. */
#include <limits.h>
#include <stddef.h>

#include "event/syscalls.h"
#include "view/declare.h"

#define BOTTLENECK_CELLS(C, A, D)                                                                                  \
	C(host, KEY, HOST, "Host on which the time passed; all: the hosts together")                               \
	C(overall, KEY, NONE, "whether it is the row of all hosts")                                                \
	C(order, KEY, NONE, "enum resource")                                                                       \
	C(resource, KEY, TEXT,                                                                                     \
	  "Resource the time was spent on: cpu (a thread ran), cpu_wait (it waited for a CPU), interrupts, disk, " \
	  "network, lock (a futex whose holder is unknown), timer, user_input, unexplained")                       \
	C(total_ns, COUNTER, NS, "Time on the critical paths")                                                     \
	C(whole_ns, GAUGE, NONE, "Total time of all paths, on all hosts")                                          \
	C(for_others_ns, COUNTER, NS, "Part on critical paths of threads of other hosts")                          \
	C(paths, GAUGE, COUNT, "Number of critical paths that include it")                                         \
	C(max_ns, MAX, NS, "Longest time on one critical path")                                                    \
	C(max_host, GAUGE, HOST, "Host of the thread with that path")                                              \
	C(max_tid, GAUGE, ANY, "Thread ID of that thread")                                                         \
	C(max_comm, GAUGE, TEXT, "Its name")

OWN_ROW(bottleneck, BOTTLENECK_CELLS);

static column_get_fn get_percent;
static view_collect_fn collect;

static const struct column columns[] = {
	COLUMN_BY(view_get_host, bottleneck, host, "HOST", 10, REPORTED),
	COLUMN(bottleneck, resource, "RESOURCE", 12, REPORTED),
	COLUMN(bottleneck, total_ns, "TOTAL", 9, FIGURE),
	OTHER(get_percent, "total_percent", "OF ALL%",
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
	.row = "a resource of a host, or of all hosts together",
	.meaning =
		"What requests spent their time on: the time of the paths in critical-path, by host and resource. A "
		"wait for another thread is broken down by what that thread did meanwhile. If the paths lead through "
		"several hosts, each resource has one more row, of host 'all', which totals and sums leave out.",
	.flags = VIEW_REPORT | VIEW_ALL_ROWS,
	.source = TABLES,
	.tables = USES(THREAD) | USES(SYSCALL) | USES(FILE),
	.needs = NEED_CPU | NEED_SCHED,
	N_COLUMNS(columns),
	.screen = "host resource total_ns total_percent for_others_ns paths max_ns max_host max_tid max_comm",
	.sort = "total_ns",
	.supply = { VIEW_PATH, true, collect },
	OWN_CELLS(bottleneck),
	.overall = CELL(bottleneck, overall),
};

enum resource { CPU, CPU_WAIT, INTERRUPTS, DISK, NETWORK, LOCK, TIMER, USER_INPUT, UNEXPLAINED, RESOURCES };

static const char *const names[RESOURCES] = {
	[CPU] = "cpu",     [CPU_WAIT] = "cpu_wait",     [INTERRUPTS] = "interrupts",
	[DISK] = "disk",   [NETWORK] = "network",       [LOCK] = "lock",
	[TIMER] = "timer", [USER_INPUT] = "user_input", [UNEXPLAINED] = "unexplained",
};

static bool is_futex(strid call)
{
	const struct syscall_desc *desc = call ? syscall_find(strpool_text(call)) : NULL;

	return desc && desc->action == SYSCALL_FUTEX;
}

static enum resource resource_of(const struct wait_segment *s)
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
		return is_futex(s->cause.call) ? LOCK : UNEXPLAINED;
	case WAIT_UNKNOWN:
	case WAIT_STATES:
		break;
	}
	return UNEXPLAINED;
}

/* A place for the row of each resource of each host, and after them for those of all hosts. */
struct bottleneck_places {
	const struct view_sources *from;
	struct bottleneck_row *rows;
	uint64_t *ns; /* on the path that is being added */
	unsigned n;
};

static void add_to_row(struct bottleneck_row *row, uint64_t ns, uint64_t others_ns, const struct wait_who *who,
		       unsigned subject_host)
{
	if (!ns)
		return;
	row->total_ns += ns;
	row->paths++;
	row->for_others_ns += others_ns;
	if (ns <= row->max_ns)
		return;
	row->max_ns = ns;
	row->max_host = subject_host;
	row->max_tid = (uint64_t)(int64_t)who->tid;
	row->max_comm = who->comm;
}

/* Adds a path whose times are in ns, and clears them. */
static void add_path(struct bottleneck_places *p, wait_row subject)
{
	const struct wait_who who = waits_who_at(p->from->waits, subject, p->from->end_ns - 1);
	const unsigned subject_host = view_derived_host(p->from, who.host), first_overall = p->n - RESOURCES;
	uint64_t all_ns[RESOURCES] = { 0 }, others_ns[RESOURCES] = { 0 };

	for (unsigned i = 0; i < first_overall; i++) {
		const uint64_t other_ns = i / RESOURCES == subject_host ? 0 : p->ns[i];

		add_to_row(&p->rows[i], p->ns[i], other_ns, &who, subject_host);
		all_ns[i % RESOURCES] += p->ns[i];
		others_ns[i % RESOURCES] += other_ns;
		p->ns[i] = 0;
	}
	for (unsigned i = 0; i < RESOURCES; i++)
		add_to_row(&p->rows[first_overall + i], all_ns[i], others_ns[i], &who, subject_host);
}

/* Makes the row of a place. */
static void add_row(struct view_derived *derived, const struct bottleneck_places *p, unsigned i, uint64_t whole_ns)
{
	const bool overall = i >= p->n - RESOURCES;
	struct bottleneck_row *row = view_derived_add(derived, sizeof(*row), overall ? 0 : i / RESOURCES);
	const uint64_t uid = row->uid, host = row->host;

	*row = p->rows[i];
	row->uid = uid;
	row->host = host;
	row->overall = overall;
	row->order = i % RESOURCES;
	row->resource = strpool_intern_z(names[i % RESOURCES]);
	row->whole_ns = whole_ns;
}

/* By host and resource; those of all hosts come last, if there are several. */
static void collect(struct view_derived *derived, const struct view_sources *from)
{
	const unsigned n = (from->n_hosts + 1) * RESOURCES;
	struct bottleneck_places places = { from, g_new0(struct bottleneck_row, n), g_new0(uint64_t, n), n };
	unsigned hosts = 0, last_host = UINT_MAX;
	uint64_t whole_ns = 0;

	for (unsigned p = 0; p < from->n_paths; p++) {
		for (uint32_t i = 0; i < from->paths[p].n; i++) {
			const struct wait_segment *s = &from->paths[p].segments[i];
			const unsigned host = view_derived_host(from, waits_who(from->waits, s->row).host);

			places.ns[host * RESOURCES + resource_of(s)] += s->end_ns - s->begin_ns;
			whole_ns += s->end_ns - s->begin_ns;
		}
		add_path(&places, from->subjects[p]);
	}
	for (unsigned i = 0; i < n; i++) {
		if (!places.rows[i].total_ns || (i >= n - RESOURCES && hosts < 2))
			continue;
		hosts += i / RESOURCES != last_host;
		last_host = i / RESOURCES;
		add_row(derived, &places, i, whole_ns);
	}
	g_free(places.ns);
	g_free(places.rows);
}

static void get_percent(const struct view_cell *at, struct value *v)
{
	const struct bottleneck_row *row = (const struct bottleneck_row *)(const void *)at->row->row.b;

	value_set_real(v, 100.0 * (double)row->total_ns / (double)row->whole_ns);
}
