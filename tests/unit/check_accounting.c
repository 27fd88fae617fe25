/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accounting on hand-built wait events: which work is charged to which client, and which to none; and the tree. */
#include <glib.h>

#include "base/strpool.h"
#include "unit.h"
#include "view/derived.h"
#include "waits/accounting.h"

enum { CLIENT = 0, SERVER = 1, BEGIN = 1000 };

/* Two hosts with one CPU each, or one host with two. Events are added in time order. */
struct scene {
	struct waits *w;
	struct wait_log logs[2];
};

static void scene_init(struct scene *s)
{
	const struct waits_options options = { 0 };

	s->w = waits_create(&options);
	for (unsigned i = 0; i < 2; i++) {
		wait_log_init(&s->logs[i]);
		ck_assert_uint_eq(waits_add_host(s->w, NULL), i);
	}
}

static void scene_release(struct scene *s)
{
	for (unsigned i = 0; i < 2; i++)
		wait_log_release(&s->logs[i]);
	waits_destroy(s->w);
}

static struct wait_event *add(struct scene *s, unsigned host, uint64_t t_ns, enum wait_event_kind kind, unsigned cpu)
{
	struct wait_log *log = &s->logs[host];

	if (log->n_events == log->events_capacity) {
		log->events_capacity += 64;
		log->events = g_renew(struct wait_event, log->events, log->events_capacity);
	}
	log->events[log->n_events] = (struct wait_event){
		.ts_ns = BEGIN + t_ns,
		.kind = kind,
		.cpu = (uint16_t)cpu,
		.tid = -1,
		.pid = -1,
		.from_tid = -1,
		.from_pid = -1,
		.fd = -1,
		.packet = WAIT_NO_PACKET,
		.state = WAIT_BLOCKED,
	};
	return &log->events[log->n_events++];
}

/* Switches a CPU from one thread to another; blocked: `from` waits. Every thread is a process of its own. */
static void run(struct scene *s, unsigned host, uint64_t t_ns, unsigned cpu, int from, bool blocked, int to)
{
	struct wait_event *e = add(s, host, t_ns, WAIT_EVENT_SWITCH, cpu);

	e->from_tid = e->from_pid = from;
	e->tid = e->pid = to;
	e->prev_state = blocked;
}

static struct wait_event *wake(struct scene *s, unsigned host, uint64_t t_ns, unsigned cpu, int from, int tid,
			       enum wait_role role)
{
	struct wait_event *e = add(s, host, t_ns, WAIT_EVENT_WAKE, cpu);

	e->from_tid = e->from_pid = from;
	e->tid = e->pid = tid;
	e->role = (uint8_t)role;
	return e;
}

/* A disk completes the request that tid waits for, in a softirq that interrupts the running thread. */
static void wake_by_disk(struct scene *s, unsigned host, uint64_t t_ns, unsigned cpu, int tid)
{
	struct wait_event *e = wake(s, host, t_ns, cpu, -1, tid, WAIT_ROLE_NONE);

	e->context = e->below = WAIT_CONTEXT_SOFTIRQ;
	e->vec = 4;
	e->state = WAIT_BLOCK_DEVICE;
}

enum { SYN = 0x02, ACK = 0x10 };

/* A packet from or to the client's port; received in a softirq. */
static void packet(struct scene *s, unsigned host, uint64_t t_ns, unsigned cpu, int from, bool sent, bool request,
		   unsigned flags, uint32_t seq, uint16_t server_port)
{
	struct wait_log *log = &s->logs[host];
	struct clock_packet p = {
		.ip_version = 4,
		.protocol = 6,
		.seq = seq,
		.flags = (uint16_t)flags,
		.payload_len = 10,
		.sport = request ? 40000 : server_port,
		.dport = request ? server_port : 40000,
	};
	struct wait_event *e = add(s, host, t_ns, sent ? WAIT_EVENT_SEND : WAIT_EVENT_RECEIVE, cpu);

	p.saddr[0] = request ? 1 : 2;
	p.daddr[0] = request ? 2 : 1;
	log->packets = g_renew(struct clock_packet, log->packets, log->n_packets + 1);
	log->packets_capacity = log->n_packets + 1;
	log->packets[log->n_packets] = p;
	e->packet = log->n_packets++;
	e->from_tid = sent ? from : -1;
	if (!sent) {
		e->context = e->below = WAIT_CONTEXT_SOFTIRQ;
		e->vec = 3;
	}
}

static void woken_by_packet(struct scene *s, unsigned host, uint64_t t_ns, unsigned cpu, int tid)
{
	struct wait_event *e = wake(s, host, t_ns, cpu, -1, tid, WAIT_ROLE_NONE);

	e->context = e->below = WAIT_CONTEXT_SOFTIRQ;
	e->vec = 3;
	e->state = WAIT_NETWORK;
}

static struct account *accounts(struct scene *s, uint64_t begin_ns, uint64_t end_ns, unsigned *n)
{
	for (unsigned i = 0; i < 2; i++) {
		waits_take(s->w, i, &s->logs[i]);
		waits_watermark(s->w, i, UINT64_MAX);
	}
	waits_run(s->w);
	return waits_accounting(s->w, BEGIN + begin_ns, BEGIN + end_ns, n, NULL);
}

/* client_pid -1: the process's own account. */
static const struct account *find(const struct account *list, unsigned n, int pid, int client_pid)
{
	for (unsigned i = 0; i < n; i++)
		if (list[i].pid == pid && list[i].client_pid == client_pid)
			return &list[i];
	return NULL;
}

/*
 *       10    20        25        60         75        80     90
 *  10 ──run── send─block───────────────────────wake──run──────┐
 *  20         block      recv─run─disk──────run─send─block
 */
static void request_reply(struct scene *s, uint16_t port, bool syn)
{
	run(s, CLIENT, 10, 0, 0, false, 10);
	run(s, SERVER, 10, 0, 20, true, 0);
	packet(s, CLIENT, 20, 0, 10, true, true, syn ? SYN : ACK, 100, port);
	run(s, CLIENT, 21, 0, 10, true, 0);
	packet(s, SERVER, 25, 0, -1, false, true, syn ? SYN : ACK, 100, port);
	woken_by_packet(s, SERVER, 26, 0, 20);
	run(s, SERVER, 27, 0, 0, false, 20);
	run(s, SERVER, 37, 0, 20, true, 0);
	wake_by_disk(s, SERVER, 60, 0, 20);
	run(s, SERVER, 61, 0, 0, false, 20);
	packet(s, SERVER, 75, 0, 20, true, false, ACK, 500, port);
	run(s, SERVER, 76, 0, 20, true, 0);
	packet(s, CLIENT, 80, 0, -1, false, false, ACK, 500, port);
	woken_by_packet(s, CLIENT, 80, 0, 10);
	run(s, CLIENT, 81, 0, 0, false, 10);
	run(s, CLIENT, 90, 0, 10, true, 0);
}

START_TEST(test_a_server_works_for_who_connects)
{
	const struct account *server, *client, *derived;
	struct account *list;
	struct scene s;
	unsigned n;

	scene_init(&s);
	/* the SYN shows that the client opened the connection; the ports suggest the opposite */
	request_reply(&s, 50051, true);
	list = accounts(&s, 0, 100, &n);
	server = find(list, n, 20, 10);
	ck_assert_ptr_nonnull(server);
	ck_assert(server->for_client);
	ck_assert_uint_eq(server->host, SERVER);
	ck_assert_uint_eq(server->client_host, CLIENT);
	ck_assert_uint_eq(server->sub_ns[ACCOUNT_CPU], 10 + 14);
	ck_assert_uint_eq(server->sub_ns[ACCOUNT_DISK], 23);
	ck_assert_uint_eq(server->sub_ns[ACCOUNT_NETWORK], 80 - 75 + 26 - 21);
	ck_assert_uint_eq(server->self_ns[ACCOUNT_CPU], 0);
	client = find(list, n, 10, -1);
	ck_assert_ptr_nonnull(client);
	ck_assert_uint_eq(client->self_ns[ACCOUNT_CPU], 11 + 9);
	ck_assert_uint_eq(client->sub_ns[ACCOUNT_CPU], 24);
	ck_assert_uint_eq(client->sub_ns[ACCOUNT_DISK], 23);
	/* its work for the client does not count as its own; 1 ns after the reply remains */
	derived = find(list, n, 20, -1);
	ck_assert_ptr_nonnull(derived);
	ck_assert_uint_eq(derived->self_ns[ACCOUNT_CPU], 1);
	ck_assert_uint_eq(derived->self_ns[ACCOUNT_DISK], 0);
	ck_assert_ptr_null(find(list, n, 10, 20));
	g_free(list);
	scene_release(&s);
}
END_TEST

START_TEST(test_of_old_connections_the_port_tells)
{
	struct account *list;
	struct scene s;
	unsigned n;

	scene_init(&s);
	request_reply(&s, 80, false);
	list = accounts(&s, 0, 100, &n);
	ck_assert_ptr_nonnull(find(list, n, 20, 10));
	ck_assert_ptr_null(find(list, n, 10, 20));
	g_free(list);
	scene_release(&s);

	scene_init(&s);
	request_reply(&s, 50051, false);
	list = accounts(&s, 0, 100, &n);
	ck_assert_ptr_null(find(list, n, 20, 10));
	g_free(list);
	scene_release(&s);
}
END_TEST

/* The thread of the kernel that receives all replies works for those who wait for them; one that serves still does. */
START_TEST(test_a_thread_of_the_kernel_is_no_client)
{
	struct account *list;
	struct scene s;
	unsigned n;

	for (unsigned of_kernel = CLIENT; of_kernel <= SERVER; of_kernel++) {
		scene_init(&s);
		request_reply(&s, 80, true);
		for (unsigned i = 0; i < s.logs[of_kernel].n_events; i++)
			s.logs[of_kernel].events[i].of_kernel = s.logs[of_kernel].events[i].kind == WAIT_EVENT_WAKE;
		list = accounts(&s, 0, 100, &n);
		ck_assert_int_eq(find(list, n, 20, 10) == NULL, of_kernel == CLIENT);
		ck_assert_uint_eq(find(list, n, 20, -1)->self_ns[ACCOUNT_CPU], of_kernel == CLIENT ? 25 : 1);
		ck_assert_uint_eq(find(list, n, 20, -1)->self_ns[ACCOUNT_NETWORK], 0);
		ck_assert_uint_eq(find(list, n, 10, -1)->sub_ns[ACCOUNT_CPU], of_kernel == CLIENT ? 0 : 24);
		g_free(list);
		scene_release(&s);
	}
}
END_TEST

/*
 * The reply is sent by a softirq, while a packet sent by the server woke the client before: until it is queued, the
 * client waits for the network itself.
 */
START_TEST(test_a_late_reply_is_waited_for)
{
	struct wait_event *e;
	struct account *list;
	struct scene s;
	unsigned n;

	scene_init(&s);
	request_reply(&s, 80, true);
	packet(&s, SERVER, 100, 0, -1, true, false, ACK, 510, 80);
	e = &s.logs[SERVER].events[s.logs[SERVER].n_events - 1];
	e->context = e->below = WAIT_CONTEXT_SOFTIRQ;
	packet(&s, CLIENT, 110, 0, -1, false, false, ACK, 510, 80);
	woken_by_packet(&s, CLIENT, 110, 0, 10);
	list = accounts(&s, 85, 120, &n);
	ck_assert_uint_eq(find(list, n, 10, -1)->self_ns[ACCOUNT_NETWORK], 100 - 90);
	ck_assert_uint_eq(find(list, n, 10, -1)->sub_ns[ACCOUNT_NETWORK], 110 - 100);
	ck_assert_uint_eq(find(list, n, 20, 10)->sub_ns[ACCOUNT_NETWORK], 110 - 100);
	g_free(list);
	scene_release(&s);
}
END_TEST

START_TEST(test_a_window_is_charged_only_what_lies_in_it)
{
	struct account *list;
	struct scene s;
	unsigned n;

	scene_init(&s);
	request_reply(&s, 80, true);
	list = accounts(&s, 30, 50, &n);
	ck_assert_uint_eq(find(list, n, 20, 10)->sub_ns[ACCOUNT_CPU], 7);
	ck_assert_uint_eq(find(list, n, 20, 10)->sub_ns[ACCOUNT_DISK], 13);
	g_free(list);
	scene_release(&s);

	/* a reply that is in transit when the window begins is the server's all the same */
	scene_init(&s);
	request_reply(&s, 80, true);
	list = accounts(&s, 77, 100, &n);
	ck_assert_ptr_nonnull(find(list, n, 20, 10));
	ck_assert_uint_eq(find(list, n, 20, 10)->sub_ns[ACCOUNT_NETWORK], 80 - 77);
	ck_assert_uint_eq(find(list, n, 10, -1)->sub_ns[ACCOUNT_NETWORK], 80 - 77);
	g_free(list);
	scene_release(&s);
}
END_TEST

/* On one host: 20 runs for 10 ns, then wakes the thread that waits for it. */
static void served(struct scene *s, enum wait_role role)
{
	run(s, CLIENT, 1, 0, 0, false, 10);
	run(s, CLIENT, 5, 0, 10, true, 20);
	wake(s, CLIENT, 15, 0, 20, 10, role);
	run(s, CLIENT, 16, 0, 20, true, 10);
	run(s, CLIENT, 20, 0, 10, true, 0);
}

START_TEST(test_of_local_wake_ups_the_role_tells)
{
	struct account *list;
	struct scene s;
	unsigned n;

	scene_init(&s);
	served(&s, WAIT_ROLE_CLIENT);
	list = accounts(&s, 0, 100, &n);
	ck_assert_uint_eq(find(list, n, 20, 10)->sub_ns[ACCOUNT_CPU], 10);
	ck_assert_uint_eq(find(list, n, 20, -1)->self_ns[ACCOUNT_CPU], 1);
	g_free(list);
	scene_release(&s);

	/* a thread that waits for a request, or has no role in its wait, is not charged */
	for (int i = 0; i < 2; i++) {
		scene_init(&s);
		served(&s, i ? WAIT_ROLE_SERVER : WAIT_ROLE_NONE);
		list = accounts(&s, 0, 100, &n);
		ck_assert_ptr_null(find(list, n, 20, 10));
		ck_assert_uint_eq(find(list, n, 20, -1)->self_ns[ACCOUNT_CPU], 11);
		ck_assert_uint_eq(find(list, n, 10, -1)->sub_ns[ACCOUNT_CPU], 0);
		g_free(list);
		scene_release(&s);
	}
}
END_TEST

/* Two clients wait for the same 20 ns of work, the second for its second half. */
START_TEST(test_contending_clients_are_charged_what_each_waited_for)
{
	struct account *list;
	struct scene s;
	unsigned n;

	scene_init(&s);
	run(&s, CLIENT, 1, 0, 0, false, 10);
	run(&s, CLIENT, 1, 1, 0, false, 11);
	run(&s, CLIENT, 5, 0, 10, true, 20);
	run(&s, CLIENT, 15, 1, 11, true, 0);
	wake(&s, CLIENT, 25, 0, 20, 10, WAIT_ROLE_CLIENT);
	wake(&s, CLIENT, 25, 0, 20, 11, WAIT_ROLE_CLIENT);
	run(&s, CLIENT, 26, 1, 0, false, 11);
	run(&s, CLIENT, 26, 0, 20, true, 10);
	run(&s, CLIENT, 30, 0, 10, true, 0);
	run(&s, CLIENT, 30, 1, 11, true, 0);
	list = accounts(&s, 0, 100, &n);
	ck_assert_uint_eq(find(list, n, 20, 10)->sub_ns[ACCOUNT_CPU], 20);
	ck_assert_uint_eq(find(list, n, 20, 11)->sub_ns[ACCOUNT_CPU], 10);
	/* but the work was done only once */
	ck_assert_uint_eq(find(list, n, 20, -1)->self_ns[ACCOUNT_CPU], 1);
	g_free(list);
	scene_release(&s);
}
END_TEST

START_TEST(test_a_little_at_a_time)
{
	struct account *list, *stepped;
	struct accounting *job;
	struct scene s;
	unsigned n, n_stepped, steps = 0;
	uint64_t from_ns;

	scene_init(&s);
	request_reply(&s, 80, true);
	list = accounts(&s, 0, 100, &n);
	ck_assert_uint_eq(n, 3);
	job = accounting_begin(s.w, BEGIN, BEGIN + 100);
	ck_assert_uint_eq(accounting_percent(job), 0);
	while (accounting_step(job))
		ck_assert_uint_eq(accounting_percent(job), ++steps * 50);
	ck_assert_uint_eq(steps, 2);
	stepped = accounting_end(job, &n_stepped, &from_ns);
	ck_assert_uint_eq(from_ns, BEGIN);
	ck_assert_uint_eq(n_stepped, n);
	ck_assert_mem_eq(stepped, list, n * sizeof(*list));
	g_free(stepped);
	g_free(list);
	job = accounting_begin(s.w, BEGIN, BEGIN + 100);
	ck_assert(accounting_step(job));
	scene_release(&s);
	/* the graph no longer exists */
	accounting_give_up(job);
	accounting_give_up(NULL);
}
END_TEST

/* ---- the tree ---- */

/* An account: the process's own (client NULL), or for a process of host 0 or 1. */
static struct account account(unsigned host, const char *comm, int pid, const char *client, unsigned client_host,
			      int client_pid, uint64_t cpu_ns)
{
	struct account a = {
		.host = host,
		.pid = pid,
		.comm = strpool_intern_z(comm),
		.for_client = client,
		.client_host = client_host,
		.client_pid = client ? client_pid : -1,
	};

	if (client)
		a.client_comm = strpool_intern_z(client);
	(client ? a.sub_ns : a.self_ns)[ACCOUNT_CPU] = cpu_ns;
	return a;
}

/* "name/depth" of every row, and "+n" if n rows are hidden below it. */
static const char *tree_text(struct view_rows *r)
{
	static char text[400];
	const struct column *comm = view_rows_column(r, "comm");
	GString *s = g_string_new(NULL);
	struct value v;

	for (unsigned i = 0; i < r->n; i++) {
		view_rows_value(r, i, comm, &v);
		g_string_append_printf(s, "%s%s/%u", i ? " " : "", v.text, r->rows[i].depth);
		if (r->rows[i].hidden)
			g_string_append_printf(s, "+%u", r->rows[i].hidden);
	}
	g_strlcpy(text, s->str, sizeof(text));
	g_string_free(s, TRUE);
	return text;
}

/* The rows of the table for these accounts. */
static void collect(struct view_derived *derived, const struct account *accounts, unsigned n,
		    const struct view_host *hosts, unsigned n_hosts)
{
	const struct view_sources from = {
		.hosts = hosts,
		.n_hosts = n_hosts,
		.accounts = accounts,
		.n_accounts = n,
	};

	view_table_find("accounting")->supply.collect(derived, &from);
}

START_TEST(test_servers_hang_below_their_clients_of_any_host)
{
	static const struct view_host hosts[] = { { .name = "db", .wait = 1 }, { .name = "web", .wait = 0 } };
	/* client 5 of web and server 5 of db have the same PID; web's 7 is both client and server */
	struct account list[] = {
		account(0, "small", 5, NULL, 0, 0, 100),  account(0, "both", 7, NULL, 0, 0, 300),
		account(1, "server", 5, NULL, 0, 0, 50),  account(1, "server", 5, "small", 0, 5, 10),
		account(0, "both", 7, "small", 0, 5, 20), account(1, "server", 5, "both", 0, 7, 30),
		account(1, "empty", 9, NULL, 0, 0, 0),
	};
	const struct view_table *table = view_table_find("accounting");
	struct view_filter filter;
	struct view_derived derived;
	struct view_query q = { .table = table, .tree = true, .derived = &derived };
	struct view_rows r;
	struct view_key key;

	list[0].sub_ns[ACCOUNT_CPU] = 30;
	list[1].sub_ns[ACCOUNT_CPU] = 30;
	view_derived_init(&derived);
	view_rows_init(&r);
	view_filter_init(&filter);
	collect(&derived, list, G_N_ELEMENTS(list), hosts, G_N_ELEMENTS(hosts));
	ck_assert_uint_eq(derived.rows->len, 6);
	q.sort = view_column_find(table->columns, table->n_columns, "cpu_total_ns");
	/* siblings in the order of their totals, whatever their hosts */
	view_rows_build(&r, &q, hosts, G_N_ELEMENTS(hosts));
	ck_assert_str_eq(tree_text(&r), "both/0 server/1 small/0 both/1 server/1 server/0");
	q.reverse = true;
	view_rows_build(&r, &q, hosts, G_N_ELEMENTS(hosts));
	ck_assert_str_eq(tree_text(&r), "server/0 small/0 server/1 both/1 both/0 server/1");
	q.reverse = false;
	q.tree = false;
	view_rows_build(&r, &q, hosts, G_N_ELEMENTS(hosts));
	ck_assert_str_eq(tree_text(&r), "both/0 small/0 server/0 server/0 both/0 server/0");
	/* a collapsed branch, and the way to find it, survive a new computation of the accounts */
	q.tree = true;
	view_rows_build(&r, &q, hosts, G_N_ELEMENTS(hosts));
	key = r.rows[2].key;
	q.collapsed = g_hash_table_new(view_key_hash, view_key_equal_hash);
	g_hash_table_add(q.collapsed, &key);
	view_derived_clear(&derived);
	collect(&derived, list + 3, 1, hosts, G_N_ELEMENTS(hosts));
	collect(&derived, list, 3, hosts, G_N_ELEMENTS(hosts));
	collect(&derived, list + 4, 2, hosts, G_N_ELEMENTS(hosts));
	view_rows_build(&r, &q, hosts, G_N_ELEMENTS(hosts));
	ck_assert_str_eq(tree_text(&r), "both/0 server/1 small/0+2 server/0");
	ck_assert_uint_eq(view_rows_index(&r, &key), 2);
	g_hash_table_destroy(q.collapsed);
	q.collapsed = NULL;
	/* the matches of a filter are shown with their clients */
	ck_assert_int_eq(view_filter_parse(&filter, "comm:both", NULL), LT_OK);
	q.filter = &filter;
	view_rows_build(&r, &q, hosts, G_N_ELEMENTS(hosts));
	ck_assert_str_eq(tree_text(&r), "both/0 server/1 small/0 both/1");
	view_filter_clear(&filter);
	ck_assert_int_eq(view_filter_parse(&filter, "host:db", NULL), LT_OK);
	view_rows_build(&r, &q, hosts, G_N_ELEMENTS(hosts));
	ck_assert_str_eq(tree_text(&r), "server/0 server/0 server/0");
	view_filter_clear(&filter);
	ck_assert_int_eq(view_filter_parse(&filter, "pid:7", NULL), LT_OK);
	view_rows_build(&r, &q, hosts, G_N_ELEMENTS(hosts));
	ck_assert_str_eq(tree_text(&r), "both/0 server/1 small/0 both/1");
	/* if the client's host is not known, only its name is shown */
	view_derived_clear(&derived);
	collect(&derived, list, G_N_ELEMENTS(list), hosts, 1);
	q.filter = NULL;
	view_rows_build(&r, &q, hosts, 1);
	ck_assert_str_eq(tree_text(&r), "server/0 server/0 server/0");
	view_filter_release(&filter);
	view_rows_release(&r);
	view_derived_release(&derived);
}
END_TEST

UNIT_MAIN("accounting", test_a_server_works_for_who_connects, test_of_old_connections_the_port_tells,
	  test_a_thread_of_the_kernel_is_no_client, test_a_late_reply_is_waited_for,
	  test_a_window_is_charged_only_what_lies_in_it, test_of_local_wake_ups_the_role_tells,
	  test_contending_clients_are_charged_what_each_waited_for, test_a_little_at_a_time,
	  test_servers_hang_below_their_clients_of_any_host)
