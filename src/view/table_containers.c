/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table containers: what the threads of each container did, and those of the host itself. */
#include <stddef.h>

#include "view/declare.h"

/* Figures are sums over the container's threads. */
#define USAGE_CELLS(C, A, D)                                                                                      \
	C(parent, KEY, NONE, "uid of the row that it hangs below; 0: none")                                       \
	C(place, KEY, NONE, "in view_index.containers, VIEW_HOST_ITSELF")                                         \
	C(ns, KEY, ID, "Number (inode) of that namespace")                                                        \
	C(pid, GAUGE, SIGNED, "Its first process, as the host numbers it; null for the host")                     \
	C(comm, GAUGE, TEXT, "Name of that process")                                                              \
	C(processes, COUNTER, COUNT, "Processes that lived in it, not in containers nested in it")                \
	C(threads, COUNTER, COUNT, "Their threads")                                                               \
	C(waited, COUNTER, COUNT, "Threads that were blocked at some time in the interval")                       \
	C(cpu_ns, COUNTER, NS, "Time its threads were on a CPU")                                                  \
	C(ready_ns, COUNTER, NS, "Time they could have run but waited for a CPU")                                 \
	C(blocked_ns, COUNTER, NS, "Time they were blocked, all together")                                        \
	C(read_bytes, COUNTER, BYTES, "Bytes that its successful read-like calls returned")                       \
	C(write_bytes, COUNTER, BYTES, "Bytes that its successful write-like calls returned")                     \
	C(read_disk, COUNTER, BYTES, "Bytes read from files (not /proc, /sys, network file systems) and disks")   \
	C(write_disk, COUNTER, BYTES, "Bytes written to files (not /proc, /sys, network file systems) and disks") \
	C(read_net, COUNTER, BYTES, "Bytes read from internet and packet sockets")                                \
	C(write_net, COUNTER, BYTES, "Bytes written to internet and packet sockets")                              \
	C(syscalls, COUNTER, COUNT, "System calls completed")

OWN_ROW(usage, USAGE_CELLS);

/* ---- the rows ---- */

/* Unique among all hosts and stable across intervals. */
static uint64_t uid_of(unsigned host, const struct view_container *c)
{
	enum { UID_BITS = 48 };
	const uint64_t uids = (UINT64_C(1) << UID_BITS) - 1;

	return (uint64_t)host << UID_BITS | (c ? c->row->uid & uids : uids);
}

static struct usage_row *add_row(struct view_rows *r, unsigned host, uint32_t place)
{
	const GArray *containers = r->internal->indexes[host].containers;
	const struct view_container *c =
		place == VIEW_HOST_ITSELF ? NULL : &g_array_index(containers, struct view_container, place);
	struct usage_row *cells = (void *)view_cells_alloc(r->internal, sizeof(*cells) / sizeof(uint64_t));
	struct view_row row = { .members = 1 };

	*cells = (struct usage_row){
		.uid = uid_of(host, c),
		.place = place,
		.ns = c ? c->row->inode : HOST_PID_NS,
		.pid = c ? c->row->pid : (uint64_t)-1,
		.comm = c ? c->row->comm : STRID_NONE,
	};
	if (c)
		cells->parent = uid_of(host, c->parent == VIEW_HOST_ITSELF
						     ? NULL
						     : &g_array_index(containers, struct view_container, c->parent));
	row.row.b = (const uint64_t *)(const void *)cells;
	row.key = (struct view_key){ host, r->table->source, cells->uid };
	g_array_append_val(r->internal->rows, row);
	return cells;
}

#define FIGURE_OF(member) INTERVAL_VALUE(iv, THREAD, thread, row, member)

static void add_thread(struct usage_row *c, const struct interval *iv, const struct interval_row *row)
{
	const uint64_t blocked_ns = FIGURE_OF(blocked_ns), read_disk = FIGURE_OF(read_disk),
		       write_disk = FIGURE_OF(write_disk), read_net = FIGURE_OF(read_net),
		       write_net = FIGURE_OF(write_net);

	c->threads++;
	c->waited += blocked_ns > 0;
	c->cpu_ns += FIGURE_OF(cpu_ns);
	c->ready_ns += FIGURE_OF(ready_ns);
	c->blocked_ns += blocked_ns;
	c->read_bytes += read_disk + read_net + FIGURE_OF(read_pipe) + FIGURE_OF(read_other) + FIGURE_OF(read_netfs);
	c->write_bytes +=
		write_disk + write_net + FIGURE_OF(write_pipe) + FIGURE_OF(write_other) + FIGURE_OF(write_netfs);
	c->read_disk += read_disk;
	c->write_disk += write_disk;
	c->read_net += read_net;
	c->write_net += write_net;
	c->syscalls += FIGURE_OF(syscalls);
}

/* Not one that had exited before the interval, but whose end was seen in it. */
static bool lived_in(const struct interval *iv, const struct interval_row *row)
{
	const struct thread_row *thread = INTERVAL_ROW(thread, row);

	return !thread->exited_ns || thread->exited_ns > iv->begin_ns || FIGURE_OF(cpu_ns);
}

static void collect(struct view_rows *r, unsigned host)
{
	const struct view_index *index = &r->internal->indexes[host];
	const struct interval *iv = r->hosts[host].iv;
	const struct interval_table *t = &iv->tables[TABLE_THREAD];
	struct usage_row **cells = g_new(struct usage_row *, index->containers->len + 1);

	for (guint i = 0; i < index->containers->len; i++)
		cells[i + 1] = add_row(r, host, i);
	cells[0] = add_row(r, host, VIEW_HOST_ITSELF);
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct thread_row *thread = INTERVAL_ROW(thread, &t->rows[i]);
		const struct view_container *c = view_container_of(index, thread);
		struct usage_row *to =
			cells[c ? c - (const struct view_container *)(const void *)index->containers->data + 1 : 0];

		if (!lived_in(iv, &t->rows[i]))
			continue;
		add_thread(to, iv, &t->rows[i]);
		to->processes += view_owner(index, thread->uid) == thread->uid;
	}
	g_free(cells);
}

static enum view_truth term_of_row(const struct view_rows *r, const struct view_row *row, const struct view_node *term)
{
	if (term->fact != VIEW_FACT_CONTAINER)
		return VIEW_UNTOUCHED;
	return view_term_has_container(term, &r->internal->indexes[row->key.host],
				       (uint32_t)row->row.b[CELL(usage, place)])
		       ? VIEW_YES
		       : VIEW_NO;
}

/* ---- columns ---- */

/* The container of a row; NULL: the host itself. */
static const struct view_container *container_of(const struct view_cell *at)
{
	const uint64_t place = at->row->row.b[CELL(usage, place)];
	const GArray *containers = at->rows->internal->indexes[at->row->key.host].containers;

	return place == VIEW_HOST_ITSELF ? NULL : &g_array_index(containers, struct view_container, place);
}

static void get_name(const struct view_cell *at, struct value *v)
{
	const struct view_container *c = container_of(at);

	value_set_text(v, c ? c->name : VIEW_HOST_NAME);
}

static void get_parent(const struct view_cell *at, struct value *v)
{
	const struct view_container *c = container_of(at);
	const GArray *containers = at->rows->internal->indexes[at->row->key.host].containers;

	value_set_null(v);
	if (c && c->parent_known)
		value_set_text(v, c->parent == VIEW_HOST_ITSELF
					  ? VIEW_HOST_NAME
					  : g_array_index(containers, struct view_container, c->parent).name);
}

static void get_nesting(const struct view_cell *at, struct value *v)
{
	const struct view_container *c = container_of(at);

	value_set_null(v);
	if (!c)
		value_set_uint(v, 0);
	else if (c->row->level || c->row->of_cgroup)
		value_set_uint(v, c->row->of_cgroup ? 1 : c->row->level);
}

static void get_kind(const struct view_cell *at, struct value *v)
{
	const struct view_container *c = container_of(at);

	value_set_text(v, !c ? "host" : c->row->of_cgroup ? "cgroup" : "pid");
}

#define ABOUT(name, header, meaning, unit, width, flags, get) \
	OTHER(get, name, header, meaning, unit, width, COLUMN_IN_REPORT | (flags))

static const struct column columns[] = {
	COLUMN_HOST,
	ABOUT("container", "CONTAINER",
	      "Name of the container, from docker, podman, lxc, Kubernetes or systemd if the cgroup of a process is "
	      "known; otherwise its first process and the inode of its namespace; host: everything outside containers.",
	      COLUMN_TEXT, 32, COLUMN_INDENT, get_name),
	ABOUT("parent", "IN", "Container that contains it; null for the host, and if unknown.", COLUMN_TEXT, 20,
	      COLUMN_SPARE, get_parent),
	ABOUT("nesting", "NEST", "Nesting level: 0 for the host, 1 directly in it; null if unknown.", COLUMN_COUNT, 4,
	      COLUMN_LEVEL, get_nesting),
	ABOUT("kind", "KIND", "Kind of namespace: pid; cgroup, within the host's PID namespace; or host.", COLUMN_TEXT,
	      6, COLUMN_SPARE, get_kind),
	COLUMN(usage, ns, "NAMESPACE", 10, REPORTED | COLUMN_KEY | COLUMN_SPARE),
	COLUMN(usage, pid, "PID", 7, REPORTED),
	COLUMN(usage, comm, "FIRST", 15, REPORTED | COLUMN_SPARE),
	COLUMN(usage, processes, "PROC", 5, LEVEL),
	COLUMN(usage, threads, "THR", 5, LEVEL),
	COLUMN(usage, cpu_ns, "CPU TIME", 8, FIGURE | COLUMN_SWITCHES),
	COLUMN(usage, ready_ns, "READY", 8, FIGURE | COLUMN_SWITCHES),
	COLUMN(usage, waited, "WAITED", 6, LEVEL | COLUMN_SWITCHES),
	COLUMN(usage, blocked_ns, "BLOCKED", 8, FIGURE | COLUMN_SWITCHES),
	COLUMN(usage, read_bytes, "READ", 7, FIGURE),
	COLUMN(usage, write_bytes, "WRITTEN", 7, FIGURE),
	COLUMN_AS("read_bytes_disk", usage, read_disk, "R DISK", 7, FIGURE),
	COLUMN_AS("write_bytes_disk", usage, write_disk, "W DISK", 7, FIGURE),
	COLUMN_AS("read_bytes_net", usage, read_net, "R NET", 7, FIGURE),
	COLUMN_AS("write_bytes_net", usage, write_net, "W NET", 7, FIGURE),
	COLUMN(usage, syscalls, "CALLS", 7, FIGURE),
	PERCENT("cpu_percent", usage, cpu_ns, "CPU%", 5, COLUMN_SWITCHES,
		"CPU time, in percent of one CPU over the recorded part of the interval."),
	RATE_SAID("read_rate", usage, read_bytes, "READ/s", 7, "Bytes read per second."),
	RATE_SAID("write_rate", usage, write_bytes, "WRITE/s", 7, "Bytes written per second."),
	RATE("read_rate_net", usage, read_net, "RNET/s", 7),
	RATE("write_rate_net", usage, write_net, "WNET/s", 7),
};

const struct view_table view_containers_table = {
	.name = "containers",
	.title = "Containers",
	.row = "a container, or everything outside containers",
	.meaning = "What each container used, and what everything outside containers used. A container is a PID "
		   "namespace other than the host's; for processes in the host's PID namespace, it is a cgroup "
		   "namespace other than the host's. Each thread counts in its innermost container, so the rows of a "
		   "host add up to all its threads.",
	.flags = VIEW_REPORT | VIEW_ALL_ROWS,
	.source = TABLES,
	.tables = USES(THREAD) | USES(CONTAINER) | MODEL_FDS,
	.needs = NEED_CPU,
	N_COLUMNS(columns),
	.screen = "container host pid processes threads cpu_percent cpu_ns ready_ns waited blocked_ns read_rate "
		  "write_rate read_rate_net write_rate_net",
	.sort = "cpu_percent",
	.about = "containers, nested, and what they use",
	.empty = "no host has any data in this interval",
	.parent = CELL(usage, parent),
	.collect = collect,
	OWN_CELLS(usage),
	.term = term_of_row,
};
