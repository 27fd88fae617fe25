/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table containers: what the threads of each container did, those of the host itself too. */
#include <stddef.h>

#include "view/internal.h"

struct container_cells {
	uint64_t uid;
	uint64_t parent; /* uid of the row that it hangs below; 0: none */
	uint64_t place;  /* in view_index.containers, VIEW_HOST_ITSELF */
	/* sums over its threads: */
	uint64_t processes, threads, waited;
	uint64_t cpu_ns, ready_ns, blocked_ns;
	uint64_t read_bytes, write_bytes, read_disk, write_disk, read_net, write_net;
	uint64_t syscalls;
};

#define CONTAINER_CELL(member) (offsetof(struct container_cells, member) / sizeof(uint64_t))

/* ---- the rows ---- */

/* Unique among all hosts, the same in all intervals. */
static uint64_t uid_of(unsigned host, const struct view_container *c)
{
	enum { UID_BITS = 48 };
	const uint64_t uids = (UINT64_C(1) << UID_BITS) - 1;

	return (uint64_t)host << UID_BITS | (c ? c->row->uid & uids : uids);
}

static struct container_cells *add_row(struct view_rows *r, unsigned host, uint32_t place)
{
	const GArray *containers = r->internal->indexes[host].containers;
	const struct view_container *c =
		place == VIEW_HOST_ITSELF ? NULL : &g_array_index(containers, struct view_container, place);
	struct container_cells *cells = (void *)view_cells_alloc(r->internal, sizeof(*cells) / sizeof(uint64_t));
	struct view_row row = { .members = 1 };

	*cells = (struct container_cells){ .uid = uid_of(host, c), .place = place };
	if (c)
		cells->parent = uid_of(host, c->parent == VIEW_HOST_ITSELF ?
						     NULL :
						     &g_array_index(containers, struct view_container, c->parent));
	row.row.b = (const uint64_t *)(const void *)cells;
	row.key = (struct view_key){ host, r->table->source, cells->uid };
	g_array_append_val(r->internal->rows, row);
	return cells;
}

#define FIGURE_OF(member) INTERVAL_VALUE(iv, THREAD, thread, row, member)

static void add_thread(struct container_cells *c, const struct interval *iv, const struct interval_row *row)
{
	const uint64_t blocked_ns = FIGURE_OF(blocked_ns), read_disk = FIGURE_OF(read_disk),
		       write_disk = FIGURE_OF(write_disk), read_net = FIGURE_OF(read_net),
		       write_net = FIGURE_OF(write_net);

	c->threads++;
	c->waited += blocked_ns > 0;
	c->cpu_ns += FIGURE_OF(cpu_ns);
	c->ready_ns += FIGURE_OF(ready_ns);
	c->blocked_ns += blocked_ns;
	c->read_bytes += read_disk + read_net + FIGURE_OF(read_pipe) + FIGURE_OF(read_other);
	c->write_bytes += write_disk + write_net + FIGURE_OF(write_pipe) + FIGURE_OF(write_other);
	c->read_disk += read_disk;
	c->write_disk += write_disk;
	c->read_net += read_net;
	c->write_net += write_net;
	c->syscalls += FIGURE_OF(syscalls);
}

static void collect(struct view_rows *r, unsigned host)
{
	const struct view_index *index = &r->internal->indexes[host];
	const struct interval *iv = r->hosts[host].iv;
	const struct interval_table *t = &iv->tables[TABLE_THREAD];
	struct container_cells **cells = g_new(struct container_cells *, index->containers->len + 1);

	for (guint i = 0; i < index->containers->len; i++)
		cells[i + 1] = add_row(r, host, i);
	cells[0] = add_row(r, host, VIEW_HOST_ITSELF);
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct thread_row *thread = INTERVAL_ROW(thread, &t->rows[i]);
		const struct view_container *c = view_container_of(index, thread);
		struct container_cells *to =
			cells[c ? c - (const struct view_container *)(const void *)index->containers->data + 1 : 0];

		add_thread(to, iv, &t->rows[i]);
		to->processes += view_owner(index, thread->uid) == thread->uid;
	}
	g_free(cells);
}

bool view_container_row_wanted(const struct view_filter *f, const struct view_rows *r, const struct view_row *row)
{
	return view_filter_container(f, &r->internal->indexes[row->key.host],
				     (uint32_t)row->row.b[CONTAINER_CELL(place)]);
}

/* ---- columns ---- */

/* The container of a row, NULL: it is the host itself. */
static const struct view_container *container_of(const struct view_cell *at)
{
	const uint64_t place = at->row->row.b[CONTAINER_CELL(place)];
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
		value_set_text(v, c->parent == VIEW_HOST_ITSELF ?
					  VIEW_HOST_NAME :
					  g_array_index(containers, struct view_container, c->parent).name);
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

static void get_inode(const struct view_cell *at, struct value *v)
{
	const struct view_container *c = container_of(at);

	value_set_uint(v, c ? c->row->inode : HOST_PID_NS);
}

static void get_pid(const struct view_cell *at, struct value *v)
{
	const struct view_container *c = container_of(at);

	v->kind = c && (int64_t)c->row->pid >= 0 ? VALUE_INT : VALUE_NULL;
	v->i = c ? (int64_t)c->row->pid : 0;
}

static void get_comm(const struct view_cell *at, struct value *v)
{
	const struct view_container *c = container_of(at);

	value_set_text(v, c && c->row->comm ? strpool_text((strid)c->row->comm) : NULL);
}

static void get_cpu_percent(const struct view_cell *at, struct value *v)
{
	const uint64_t duration_ns = at->rows->totals[at->row->key.host].duration_ns;

	value_set_null(v);
	if (duration_ns)
		value_set_real(v, 100.0 * (double)at->row->row.b[CONTAINER_CELL(cpu_ns)] / (double)duration_ns);
}

static void get_rate(const struct view_cell *at, struct value *v)
{
	const uint64_t duration_ns = at->rows->totals[at->row->key.host].duration_ns;

	value_set_null(v);
	if (duration_ns)
		value_set_real(v, (double)at->row->row.b[at->column->cell] * 1e9 / (double)duration_ns);
}

#define ABOUT(name, header, meaning, unit, width, flags, get) \
	{ name, header, meaning, unit, width, COLUMN_IN_REPORT | (flags), 0, get }
#define SUM(name, cell, header, meaning, unit, width, flags) \
	{ name, header, meaning, unit, width, COLUMN_IN_REPORT | (flags), CONTAINER_CELL(cell), view_get_number }
#define RATE(name, cell, header, meaning) \
	{ name, header, meaning, COLUMN_BYTE_RATE, 7, 0, CONTAINER_CELL(cell), get_rate }

static const struct column columns[] = {
	COLUMN_HOST,
	ABOUT("container", "CONTAINER",
	      "Its name: that of docker, podman, lxc, Kubernetes or systemd where the cgroup of a process is known, "
	      "else its first process and the number of its namespace; host: everything outside containers.",
	      COLUMN_TEXT, 32, COLUMN_INDENT, get_name),
	ABOUT("parent", "IN", "The container it is nested in; null for the host, and if unknown.", COLUMN_TEXT, 20,
	      COLUMN_SPARE, get_parent),
	ABOUT("nesting", "NEST", "How deep it is nested: 0 for the host, 1 directly in it; null if unknown.",
	      COLUMN_COUNT, 4, COLUMN_LEVEL, get_nesting),
	ABOUT("kind", "KIND", "Kind of namespace: pid, or cgroup in the host's pid namespace.",
	      COLUMN_TEXT, 6, COLUMN_SPARE, get_kind),
	ABOUT("ns", "NAMESPACE", "Number (inode) of that namespace.", COLUMN_ID, 10, COLUMN_KEY | COLUMN_SPARE,
	      get_inode),
	ABOUT("pid", "PID", "Its first process, as the host numbers it; null for the host.", COLUMN_ID, 7, 0, get_pid),
	ABOUT("comm", "FIRST", "Name of that process.", COLUMN_TEXT, 15, COLUMN_SPARE, get_comm),
	SUM("processes", processes, "PROC", "Processes that lived in it, not in containers nested in it.",
	    COLUMN_COUNT, 5, COLUMN_LEVEL),
	SUM("threads", threads, "THR", "Their threads.", COLUMN_COUNT, 5, COLUMN_LEVEL),
	SUM("cpu_ns", cpu_ns, "CPU TIME", "Time its threads were on a CPU.", COLUMN_NS, 8, COLUMN_COUNTER),
	SUM("ready_ns", ready_ns, "READY", "Time they could have run and waited for a CPU.", COLUMN_NS, 8,
	    COLUMN_COUNTER),
	SUM("waited", waited, "WAITED", "Threads that were blocked at some time.", COLUMN_COUNT, 6,
	    COLUMN_LEVEL),
	SUM("blocked_ns", blocked_ns, "BLOCKED", "Time they were blocked, all together.", COLUMN_NS, 8, COLUMN_COUNTER),
	SUM("read_bytes", read_bytes, "READ", "Bytes that its successful read-like calls returned.", COLUMN_BYTES, 7,
	    COLUMN_COUNTER),
	SUM("write_bytes", write_bytes, "WRITTEN", "Bytes that its successful write-like calls returned.",
	    COLUMN_BYTES, 7, COLUMN_COUNTER),
	SUM("read_bytes_disk", read_disk, "R DISK", "Part read from files, /proc, /sys and /dev excepted.",
	    COLUMN_BYTES, 7, COLUMN_COUNTER),
	SUM("write_bytes_disk", write_disk, "W DISK", "Part written to files, /proc, /sys and /dev excepted.",
	    COLUMN_BYTES, 7, COLUMN_COUNTER),
	SUM("read_bytes_net", read_net, "R NET", "Part read from internet and packet sockets.", COLUMN_BYTES, 7,
	    COLUMN_COUNTER),
	SUM("write_bytes_net", write_net, "W NET", "Part written to internet and packet sockets.", COLUMN_BYTES, 7,
	    COLUMN_COUNTER),
	SUM("syscalls", syscalls, "CALLS", "System calls that ended.", COLUMN_COUNT, 7, COLUMN_COUNTER),
	{ "cpu_percent", "CPU%", "CPU time in percent of the interval: of one CPU.", COLUMN_PERCENT, 5, 0, 0,
	  get_cpu_percent },
	RATE("read_rate", read_bytes, "READ/s", "Bytes read per second."),
	RATE("write_rate", write_bytes, "WRITE/s", "Bytes written per second."),
	RATE("read_rate_net", read_net, "RNET/s", "Bytes read from the network per second."),
	RATE("write_rate_net", write_net, "WNET/s", "Bytes written to the network per second."),
};

const struct view_table view_containers_table = {
	.name = "containers",
	.title = "Containers",
	.row = "a container, or everything outside containers",
	.meaning = "What each container used, and everything outside containers. A container is a pid namespace other "
		   "than the host's; for processes in the host's pid namespace it is a cgroup namespace other than the "
		   "host's. Each thread counts in the innermost container it runs in: the rows of a host add up to all "
		   "its threads.",
	.flags = VIEW_REPORT | VIEW_ALL_ROWS,
	.source = TABLES,
	.tables = USES(THREAD) | USES(CONTAINER),
	.needs = NEED_CPU,
	N_COLUMNS(columns),
	.screen = "container host pid processes threads cpu_percent cpu_ns ready_ns waited blocked_ns read_rate "
		  "write_rate read_rate_net write_rate_net",
	.sort = "cpu_percent",
	.parent = CONTAINER_CELL(parent),
	.collect = collect,
	.n_cells = sizeof(struct container_cells) / sizeof(uint64_t),
	.sums = CONTAINER_CELL(processes),
};
