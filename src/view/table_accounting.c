/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table accounting: what processes use, and for whom. */
#include <stddef.h>
#include <stdlib.h>

#include "view/internal.h"

struct account_cells {
	uint64_t uid, host;
	uint64_t pid; /* signed */
	uint64_t comm;
	uint64_t client_host; /* index; VIEW_UNKNOWN: on its own account, or not one of the hosts */
	uint64_t client_pid;  /* signed; VIEW_UNKNOWN */
	uint64_t client_comm;
	uint64_t client_uid;  /* of the client's own account, 0: there is none */
	uint64_t self_ns[ACCOUNT_RESOURCES];
	uint64_t sub_ns[ACCOUNT_RESOURCES];
	uint64_t total_ns[ACCOUNT_RESOURCES];
};

#define ACCOUNT_CELL(member) (offsetof(struct account_cells, member) / sizeof(uint64_t))

static void get_client_host(const struct view_cell *at, struct value *v)
{
	uint64_t host = at->row->row.b[ACCOUNT_CELL(client_host)];

	value_set_text(v, host == (uint64_t)VIEW_UNKNOWN ? NULL : at->rows->hosts[host].name);
}

bool view_account_end(const struct view_row *row, bool client, struct view_end *end)
{
	const uint64_t *cells = row->row.b;

	end->host = (unsigned)cells[client ? ACCOUNT_CELL(client_host) : ACCOUNT_CELL(host)];
	if (client && cells[ACCOUNT_CELL(client_host)] == (uint64_t)VIEW_UNKNOWN)
		end->host = VIEW_NO_HOST;
	end->pid = cells[client ? ACCOUNT_CELL(client_pid) : ACCOUNT_CELL(pid)];
	end->comm = (strid)cells[client ? ACCOUNT_CELL(client_comm) : ACCOUNT_CELL(comm)];
	return end->pid != (uint64_t)VIEW_UNKNOWN;
}

#define ACCOUNT(name, header, meaning, unit, width, flags, get) \
	{ #name, header, meaning, unit, width, COLUMN_IN_REPORT | (flags), ACCOUNT_CELL(name), get }
#define USE(name, header, sum, resource, flags, meaning) \
	{ name, header, meaning, COLUMN_NS, 8, COLUMN_IN_REPORT | (flags), \
	  ACCOUNT_CELL(sum[0]) + (resource), view_get_number }

static const struct column columns[] = {
	{ "host", "HOST", "Host of the process.", COLUMN_TEXT, 10, COLUMN_IN_REPORT, 0, view_get_host },
	ACCOUNT(pid, "PID", "Process.", COLUMN_ID, 7, COLUMN_KEY, view_get_int),
	ACCOUNT(comm, "COMMAND", "Its name.", COLUMN_TEXT, 0, COLUMN_INDENT, view_get_text),
	ACCOUNT(client_host, "FOR HOST",
		"Host of the client that the row's time was for; null: the process's own account.", COLUMN_TEXT, 10,
		COLUMN_SPARE, get_client_host),
	ACCOUNT(client_pid, "FOR PID", "Process of that client.", COLUMN_ID, 7, COLUMN_KEY, view_get_int),
	ACCOUNT(client_comm, "FOR", "Its name.", COLUMN_TEXT, 16, COLUMN_SPARE, view_get_text),
	USE("cpu_self_ns", "CPU SELF", self_ns, ACCOUNT_CPU, 0,
	    "Own account: CPU time of the process that no client waited for."),
	USE("cpu_sub_ns", "CPU SUB", sub_ns, ACCOUNT_CPU, 0,
	    "For a client: CPU time of the process on that client's critical path. Own account: CPU time of all its "
	    "servers on its own critical paths."),
	USE("cpu_total_ns", "CPU", total_ns, ACCOUNT_CPU, 0, "Both."),
	USE("disk_self_ns", "DISK SELF", self_ns, ACCOUNT_DISK, COLUMN_SPARE,
	    "Own account: time its threads waited for disks, and no client for them."),
	USE("disk_sub_ns", "DISK SUB", sub_ns, ACCOUNT_DISK, COLUMN_SPARE,
	    "Time servers waited for disks on the client's critical path, as with the CPU."),
	USE("disk_total_ns", "DISK", total_ns, ACCOUNT_DISK, 0, "Both."),
	USE("network_self_ns", "NET SELF", self_ns, ACCOUNT_NETWORK, COLUMN_SPARE,
	    "Own account: time its threads waited for the network, for packets whose sender is not known."),
	USE("network_sub_ns", "NET SUB", sub_ns, ACCOUNT_NETWORK, COLUMN_SPARE,
	    "Time packets were under way between client and server, on the client's critical path."),
	USE("network_total_ns", "NET", total_ns, ACCOUNT_NETWORK, 0, "Both."),
};

const struct view_table view_accounting_table = {
	.name = "accounting",
	.title = "Accounting",
	.row = "a process, or its work for one client",
	.meaning = "CPU, disk and network use of servers charged to the clients that waited for them, along the "
		   "clients' critical paths. Two clients that wait for a server at the same time are each charged "
		   "their whole wait. Who connected, or has a thread of the kernel work, is the client; who waits for "
		   "a request is not.",
	.flags = VIEW_REPORT | VIEW_OWN | VIEW_ALL_ROWS,
	.source = TABLES,
	.tables = USES(THREAD),
	.needs = NEED_CPU | NEED_SCHED,
	N_COLUMNS(columns),
	.screen = "pid host cpu_self_ns cpu_sub_ns cpu_total_ns disk_self_ns disk_sub_ns disk_total_ns network_self_ns "
		  "network_sub_ns network_total_ns client_host client_comm comm",
	.sort = "cpu_total_ns",
	.process = ACCOUNT_CELL(pid),
	.parent = ACCOUNT_CELL(client_uid),
};

enum { HOST_NONE = -1, OWN_ACCOUNT = -2 };

static int host_of_wait(const struct view_host *hosts, unsigned n_hosts, unsigned wait)
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

/* The same from window to window, so that a selection stays on it; never 0. */
static uint64_t uid_of(int host, int32_t pid, int client_host, int32_t client_pid)
{
	uint64_t hash = view_mix(view_mix((uint64_t)host, (uint32_t)pid), (uint64_t)(int64_t)client_host);

	return view_mix(hash, (uint32_t)client_pid) | 1;
}

/*
 * The names of a host's processes at the end of the interval, by pid. A graph knows the last ones it has heard of,
 * and of a window that was read again not those of main threads that slept all the time.
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
	const struct account_cells *a = *(const struct account_cells *const *)pa;
	const struct account_cells *b = *(const struct account_cells *const *)pb;

	if (a->host != b->host)
		return COMPARE(a->host, b->host);
	if (a->pid != b->pid)
		return COMPARE((int64_t)a->pid, (int64_t)b->pid);
	if (a->client_host != b->client_host)
		return COMPARE((int64_t)a->client_host, (int64_t)b->client_host);
	return COMPARE((int64_t)a->client_pid, (int64_t)b->client_pid);
}

void view_own_accounts(struct view_own *own, const struct account *accounts, unsigned n,
		       const struct view_filter *filter, const struct view_host *hosts, unsigned n_hosts)
{
	struct map64 *names = g_new0(struct map64, n_hosts + 1);

	for (unsigned i = 0; i < n_hosts; i++)
		if (hosts[i].iv && hosts[i].iv->tables_mask & USES(THREAD))
			find_names(hosts[i].iv, &names[i]);
	for (unsigned i = 0; i < n; i++) {
		const struct account *a = &accounts[i];
		int host = host_of_wait(hosts, n_hosts, a->host);
		int client_host = a->for_client ? host_of_wait(hosts, n_hosts, a->client_host) : OWN_ACCOUNT;
		struct account_cells *row;

		if (host < 0 || is_empty(a) || (filter && !view_filter_host(filter, hosts[host].name)))
			continue;
		row = view_own_add(own, sizeof(*row), (unsigned)host);
		row->pid = (uint64_t)(int64_t)a->pid;
		row->comm = name_of(names, host, a->pid, a->comm);
		row->uid = uid_of(host, a->pid, client_host, a->for_client ? a->client_pid : 0);
		row->client_host = row->client_pid = (uint64_t)VIEW_UNKNOWN;
		if (client_host >= 0) {
			row->client_host = (uint64_t)client_host;
			row->client_uid = uid_of(client_host, a->client_pid, OWN_ACCOUNT, 0);
		}
		if (a->for_client) {
			row->client_pid = (uint64_t)(int64_t)a->client_pid;
			row->client_comm = name_of(names, client_host, a->client_pid, a->client_comm);
		}
		for (int k = 0; k < ACCOUNT_RESOURCES; k++) {
			row->self_ns[k] = a->self_ns[k];
			row->sub_ns[k] = a->sub_ns[k];
			row->total_ns[k] = a->self_ns[k] + a->sub_ns[k];
		}
	}
	g_ptr_array_sort(own->rows, compare);
	for (unsigned i = 0; i < n_hosts; i++)
		map64_release(&names[i]);
	g_free(names);
}
