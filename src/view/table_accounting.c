/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table accounting: what processes use, and for which client. */
#include <stddef.h>
#include <stdlib.h>

#include "view/declare.h"

#define ACCOUNT_CELLS(C, A, D)                                                                                         \
	C(host, KEY, HOST, "Host of the process")                                                                      \
	C(pid, KEY, ANY, "Process")                                                                                    \
	C(comm, GAUGE, TEXT, "Its name")                                                                               \
	C(client_host, KEY, HOST, "Host of the client that this time was spent for; null: the process's own account")  \
	C(client_pid, KEY, ANY, "Process of that client")                                                              \
	C(client_comm, GAUGE, TEXT, "Its name")                                                                        \
	C(client_uid, KEY, NONE, "of the client's own account, 0: there is none")                                      \
	C(cpu_self_ns, COUNTER, NS, "Own account: CPU time of the process while no client waited for it")              \
	C(cpu_sub_ns, COUNTER, NS,                                                                                     \
	  "For a client: CPU time of the process on that client's critical path. Own account: CPU time of its "        \
	  "servers on its own critical paths")                                                                         \
	C(cpu_total_ns, COUNTER, NS, "Sum of cpu_self_ns and cpu_sub_ns")                                              \
	C(disk_self_ns, COUNTER, NS, "Own account: time its threads waited for disks while no client waited for them") \
	C(disk_sub_ns, COUNTER, NS, "Time servers waited for disks on the client's critical path, as for cpu_sub_ns")  \
	C(disk_total_ns, COUNTER, NS, "Sum of disk_self_ns and disk_sub_ns")                                           \
	C(network_self_ns, COUNTER, NS, "Own account: time its threads waited for packets from unknown senders")       \
	C(network_sub_ns, COUNTER, NS,                                                                                 \
	  "Time packets were in transit between client and server, on the client's critical path")                     \
	C(network_total_ns, COUNTER, NS, "Sum of network_self_ns and network_sub_ns")

OWN_ROW(account, ACCOUNT_CELLS);

bool view_account_end(const struct view_row *row, bool client, struct view_end *end)
{
	const uint64_t *cells = row->row.b;

	end->host = (unsigned)cells[client ? CELL(account, client_host) : CELL(account, host)];
	if (client && cells[CELL(account, client_host)] == (uint64_t)CELL_UNKNOWN)
		end->host = VIEW_NO_HOST;
	end->pid = cells[client ? CELL(account, client_pid) : CELL(account, pid)];
	end->comm = (strid)cells[client ? CELL(account, client_comm) : CELL(account, comm)];
	return end->pid != (uint64_t)CELL_UNKNOWN;
}

static const struct column columns[] = {
	COLUMN(account, host, "HOST", 10, REPORTED),
	COLUMN(account, pid, "PID", 7, REPORTED | COLUMN_KEY),
	COLUMN(account, comm, "COMMAND", 0, REPORTED | COLUMN_INDENT),
	COLUMN(account, client_host, "FOR HOST", 10, REPORTED | COLUMN_SPARE),
	COLUMN(account, client_pid, "FOR PID", 7, REPORTED | COLUMN_KEY),
	COLUMN(account, client_comm, "FOR", 16, REPORTED | COLUMN_SPARE),
	COLUMN(account, cpu_self_ns, "CPU SELF", 8, FIGURE),
	COLUMN(account, cpu_sub_ns, "CPU SUB", 8, REPORTED),
	COLUMN(account, cpu_total_ns, "CPU", 8, REPORTED),
	COLUMN(account, disk_self_ns, "DISK SELF", 8, FIGURE | COLUMN_SPARE),
	COLUMN(account, disk_sub_ns, "DISK SUB", 8, REPORTED | COLUMN_SPARE),
	COLUMN(account, disk_total_ns, "DISK", 8, REPORTED),
	COLUMN(account, network_self_ns, "NET SELF", 8, FIGURE | COLUMN_SPARE),
	COLUMN(account, network_sub_ns, "NET SUB", 8, REPORTED | COLUMN_SPARE),
	COLUMN(account, network_total_ns, "NET", 8, REPORTED),
};

static view_collect_fn collect;

const struct view_table view_accounting_table = {
	.name = "accounting",
	.title = "Accounting",
	.row = "a process, or its work for one client",
	.meaning = "CPU, disk and network use of servers, charged to the clients that waited for them, along the "
		   "clients' critical paths. Two clients that wait for a server at the same time are each charged "
		   "their whole wait. The client is the side that connected, or that had a kernel thread work for it; "
		   "a server that waits for a request is not a client. In sums over rows, a server's time for a client "
		   "counts in the server's row and once more in the client's own.",
	.flags = VIEW_REPORT | VIEW_ALL_ROWS,
	.source = TABLES,
	.tables = USES(THREAD),
	.needs = NEED_CPU | NEED_SCHED,
	N_COLUMNS(columns),
	.screen = "pid host cpu_self_ns cpu_sub_ns cpu_total_ns disk_self_ns disk_sub_ns disk_total_ns network_self_ns "
		  "network_sub_ns network_total_ns client_host client_comm comm",
	.sort = "cpu_total_ns",
	.about = "use of servers, charged to the clients they work for",
	.empty = "no process used anything in this window",
	.supply = { VIEW_ACCOUNTS, false, collect },
	OWN_CELLS(account),
	.process = CELL(account, pid),
	.parent = CELL(account, client_uid),
};

enum { HOST_NONE = -1, OWN_ACCOUNT = -2 };

static int host_or_none(const struct view_host *hosts, unsigned n_hosts, unsigned wait)
{
	for (unsigned i = 0; i < n_hosts; i++)
		if (hosts[i].wait == wait)
			return (int)i;
	return HOST_NONE;
}

static bool is_empty(const struct account *a)
{
	for (int i = 0; i < ACCOUNT_RESOURCES; i++)
		if (a->self_ns[i] || a->sub_ns[i])
			return false;
	return true;
}

/* Stable from window to window, so that a selection stays on the row; never 0. */
static uint64_t uid_of(int host, int32_t pid, int client_host, int32_t client_pid)
{
	uint64_t hash = map64_mix(map64_mix((uint64_t)host, (uint32_t)pid), (uint64_t)(int64_t)client_host);

	return map64_mix(hash, (uint32_t)client_pid) | 1;
}

/*
 * The names of a host's processes at the end of the interval, by pid. The graph only knows the last ones it has seen;
 * for a window that was reread it lacks main threads that slept all the time.
 */
static void find_names(const struct interval *iv, struct map64 *names)
{
	const struct interval_table *t = &iv->tables[TABLE_THREAD];

	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct thread_row *thread = INTERVAL_ROW(thread, &t->rows[i]);

		if (thread->tid == thread->pid && thread->comm)
			map64_put(names, thread->pid, (uint32_t)thread->comm);
	}
}

static strid name_of(const struct map64 *names, int host, int32_t pid, strid known)
{
	uint32_t name = host < 0 ? MAP64_NONE : map64_get(&names[host], (uint64_t)(int64_t)pid);

	return name == MAP64_NONE ? known : name;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare(gconstpointer pa, gconstpointer pb)
{
	const struct account_row *a = *(const struct account_row *const *)pa;
	const struct account_row *b = *(const struct account_row *const *)pb;

	if (a->host != b->host)
		return COMPARE(a->host, b->host);
	if (a->pid != b->pid)
		return COMPARE((int64_t)a->pid, (int64_t)b->pid);
	if (a->client_host != b->client_host)
		return COMPARE((int64_t)a->client_host, (int64_t)b->client_host);
	return COMPARE((int64_t)a->client_pid, (int64_t)b->client_pid);
}

static void set_use(uint64_t *self_ns, uint64_t *sub_ns, uint64_t *total_ns, const struct account *a,
		    enum account_resource resource)
{
	*self_ns = a->self_ns[resource];
	*sub_ns = a->sub_ns[resource];
	*total_ns = *self_ns + *sub_ns;
}

/* Ordered by host, process, client. In the tree, work for a client is below the process's own account. */
static void collect(struct view_derived *derived, const struct view_sources *from)
{
	const struct view_host *hosts = from->hosts;
	const unsigned n_hosts = from->n_hosts;
	struct map64 *names = g_new0(struct map64, n_hosts + 1);

	for (unsigned i = 0; i < n_hosts; i++)
		if (!from->whole && hosts[i].iv && hosts[i].iv->tables_mask & USES(THREAD))
			find_names(hosts[i].iv, &names[i]);
	for (unsigned i = 0; i < from->n_accounts; i++) {
		const struct account *a = &from->accounts[i];
		int host = host_or_none(hosts, n_hosts, a->host);
		int client_host = a->for_client ? host_or_none(hosts, n_hosts, a->client_host) : OWN_ACCOUNT;
		struct account_row *row;

		if (host < 0 || is_empty(a) || (from->filter && !view_filter_host(from->filter, hosts[host].name)))
			continue;
		row = view_derived_add(derived, sizeof(*row), (unsigned)host);
		row->pid = (uint64_t)(int64_t)a->pid;
		row->comm = name_of(names, host, a->pid, a->comm);
		row->uid = uid_of(host, a->pid, client_host, a->for_client ? a->client_pid : 0);
		row->client_host = row->client_pid = (uint64_t)CELL_UNKNOWN;
		if (client_host >= 0) {
			row->client_host = (uint64_t)client_host;
			row->client_uid = uid_of(client_host, a->client_pid, OWN_ACCOUNT, 0);
		}
		if (a->for_client) {
			row->client_pid = (uint64_t)(int64_t)a->client_pid;
			row->client_comm = name_of(names, client_host, a->client_pid, a->client_comm);
		}
		set_use(&row->cpu_self_ns, &row->cpu_sub_ns, &row->cpu_total_ns, a, ACCOUNT_CPU);
		set_use(&row->disk_self_ns, &row->disk_sub_ns, &row->disk_total_ns, a, ACCOUNT_DISK);
		set_use(&row->network_self_ns, &row->network_sub_ns, &row->network_total_ns, a, ACCOUNT_NETWORK);
	}
	g_ptr_array_sort(derived->rows, compare);
	for (unsigned i = 0; i < n_hosts; i++)
		map64_release(&names[i]);
	g_free(names);
}
