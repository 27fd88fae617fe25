/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables, columns, rows, order and tree of view/ on hand-built hosts. */
#include "unit.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/strpool.h"
#include "event/syscalls.h"
#include "view/dist.h"
#include "view/missing.h"
#include "view/rows.h"

enum { MS = 1000000, BEGIN = 1000 * MS, END = 2000 * MS };

/* A host whose state is changed between two edges by the tests. */
struct host {
	struct host_state state;
	struct interval iv;
};

static struct host hosts[2];
static struct view_host shown[2];
static struct view_rows rows;

#define ADD(h, TABLE, type) STATE_ROW(&hosts[h].state, TABLE, type, state_add(&hosts[h].state, TABLE_##TABLE))

static struct thread_row *add_thread(int h, int64_t tid, int64_t pid, int64_t ppid, const char *comm)
{
	struct thread_row *row = ADD(h, THREAD, thread);

	row->tid = (uint64_t)tid;
	row->pid = (uint64_t)pid;
	row->ppid = (uint64_t)ppid;
	row->comm = strpool_intern_z(comm);
	row->prio = 120;
	row->cpu = row->vtid = row->vpid = row->syscall_fd = UINT64_MAX;
	return row;
}

static void setup(void)
{
	static const char *const names[] = { "db", "web" };
	static const char *missing[] = { "sched_waking" };

	for (int h = 0; h < 2; h++) {
		state_init(&hosts[h].state);
		interval_init(&hosts[h].iv);
		shown[h] = (struct view_host){
			.name = names[h],
			.source = "/rec",
			.tracer = "lttng-modules 2.13.9",
			.iv = &hosts[h].iv,
			.missing = missing,
			.n_missing = h == 0,
		};
		ADD(h, HOST, host);
	}
	view_rows_init(&rows);
}

static void teardown(void)
{
	view_rows_release(&rows);
	for (int h = 0; h < 2; h++) {
		interval_release(&hosts[h].iv);
		state_release(&hosts[h].state);
	}
}

static void begin(void)
{
	for (int h = 0; h < 2; h++)
		interval_begin(&hosts[h].iv, &hosts[h].state, BEGIN, STATE_ALL_TABLES);
}

static void end(void)
{
	for (int h = 0; h < 2; h++)
		interval_end(&hosts[h].iv, &hosts[h].state, END);
}

static struct view_query query(const char *table)
{
	struct view_query q = { .table = view_table_find(table) };

	ck_assert_msg(q.table != NULL, "no table %s", table);
	return q;
}

static void build(const struct view_query *q)
{
	view_rows_build(&rows, q, shown, 2);
}

static void build_table(const char *table)
{
	struct view_query q = query(table);

	build(&q);
}

static struct value get(unsigned i, const char *name)
{
	const struct column *column = view_rows_column(&rows, name);
	struct value v;

	ck_assert_msg(column != NULL, "no column %s", name);
	ck_assert_uint_lt(i, rows.n);
	view_rows_value(&rows, i, column, &v);
	return v;
}

#define ASSERT_UINT(i, name, expected) \
	do { \
		struct value got = get(i, name); \
\
		ck_assert_msg(got.kind == VALUE_UINT || got.kind == VALUE_INT, "%s is no number", name); \
		ck_assert_uint_eq(got.u, (uint64_t)(expected)); \
	} while (0)
#define ASSERT_TEXT(i, name, expected) \
	do { \
		struct value got = get(i, name); \
\
		ck_assert_msg(got.kind == VALUE_TEXT, "%s is no text", name); \
		ck_assert_str_eq(got.text, expected); \
	} while (0)
#define ASSERT_REAL(i, name, expected) \
	do { \
		struct value got = get(i, name); \
\
		ck_assert_int_eq(got.kind, VALUE_REAL); \
		ck_assert_double_eq_tol(got.real, expected, 1e-9); \
	} while (0)
#define ASSERT_NULL(i, name) ck_assert_int_eq(get(i, name).kind, VALUE_NULL)

/* ---- the tables themselves ---- */

START_TEST(test_tables_are_whole)
{
	for (unsigned t = 0; t < view_table_count(); t++) {
		const struct view_table *table = view_table_get(t);
		const bool two_hosts = !strcmp(table->name, "matches") || !strcmp(table->name, "latencies");
		char **screen = g_strsplit(table->screen, " ", -1);

		ck_assert_ptr_eq(view_table_find(table->name), table);
		ck_assert(table->title && *table->title && table->row && *table->row);
		ck_assert_msg(table->meaning && g_str_has_suffix(table->meaning, "."), "%s", table->name);
		/* own rows read nothing of the model but their processes' names */
		ck_assert_msg(table->flags & VIEW_OWN ?
				      table->source == TABLES &&
					      table->tables == (table->process ? 1u << TABLE_THREAD : 0) :
				      table->tables >> table->source & 1,
			      "%s", table->name);
		/* those of hosts, of all events and of contexts and probes need no tracepoint */
		ck_assert_msg(!table->needs == !!strstr(" hosts events probes emitters counters perf ",
							table->name), "%s: needs", table->name);
		ck_assert_str_eq(table->columns[0].name, two_hosts ? "from_host" : "host");
		ck_assert_msg(table->flags & VIEW_PIVOT ||
				      view_column_find(table->columns, table->n_columns, table->sort),
			      "%s: sort", table->name);
		for (char **name = screen; *name; name++)
			ck_assert_msg(view_column_find(table->columns, table->n_columns, *name) != NULL,
				      "%s: no column %s", table->name, *name);
		g_strfreev(screen);
	}
}
END_TEST

START_TEST(test_columns_are_whole)
{
	for (unsigned t = 0; t < view_table_count(); t++) {
		const struct view_table *table = view_table_get(t);
		bool counter = false, report = true;

		for (unsigned i = 0; i < table->n_columns; i++) {
			const struct column *c = &table->columns[i];

			ck_assert_msg(c->name && *c->name, "%s: column %u", table->name, i);
			ck_assert_ptr_eq(view_column_find(table->columns, table->n_columns, c->name), c);
			ck_assert_msg(c->header && *c->header, "%s.%s", table->name, c->name);
			ck_assert_msg(c->meaning && g_str_has_suffix(c->meaning, ".") &&
					      g_ascii_isupper(c->meaning[c->meaning[0] == '"']) ==
						      (c->meaning[0] != '"'),
				      "%s.%s: %s", table->name, c->name, c->meaning);
			ck_assert_uint_lt(c->unit, COLUMN_UNITS);
			ck_assert_ptr_nonnull(column_unit_name(c->unit));
			ck_assert_ptr_nonnull((const void *)(uintptr_t)c->get);
			/* columns of the report stand in front: its order is the list's */
			if (!(c->flags & COLUMN_IN_REPORT))
				report = false;
			ck_assert_msg(report == !!(c->flags & COLUMN_IN_REPORT), "%s.%s", table->name, c->name);
			counter = counter || c->flags & COLUMN_COUNTER;
			if (g_str_has_suffix(c->name, "_bytes"))
				ck_assert_int_eq(c->unit, COLUMN_BYTES);
		}
		ck_assert_msg(counter || table->flags & (VIEW_ALL_ROWS | VIEW_PIVOT), "%s", table->name);
	}
}
END_TEST

/* The columns that scripts rely on, in their order. */
START_TEST(test_report_columns)
{
	static const struct {
		const char *table, *columns;
	} reports[] = {
		{ "hosts", "host source tracer begin_ns end_ns events lost_events lost_packets backward_steps "
			   "late_events cpus threads fds missing_events" },
		{ "events", "host name count used" },
		{ "cpus", "host cpu busy_ns idle_ns irq_ns softirq_ns online_ns switches" },
		{ "cpu", "host tid pid ppid comm cpu_ns ready_ns blocked_ns switches migrations prio born_ns "
			 "exited_ns" },
		{ "io", "host tid pid comm read_bytes write_bytes read_bytes_disk read_bytes_net read_bytes_pipe "
			"read_bytes_other write_bytes_disk write_bytes_net write_bytes_pipe write_bytes_other "
			"syscalls" },
		{ "files", "host pid fd path kind read_bytes write_bytes opened_ns closed_ns" },
		{ "disks", "host dev name reads writes read_bytes write_bytes latency_min_ns latency_avg_ns "
			   "latency_max_ns queue_max queue waiting" },
		{ "net", "host name rx_packets rx_bytes tx_packets tx_bytes" },
		{ "irqs", "host kind nr name cpu count min_ns avg_ns max_ns stdev_ns total_ns raise_avg_ns "
			  "raise_max_ns" },
		{ "syscalls", "host tid pid comm name count total_ns min_ns avg_ns max_ns stdev_ns errors" },
		{ "sched", "host tid pid comm count min_ns avg_ns max_ns stdev_ns total_ns" },
		{ "perf", "host tid pid comm counter value" },
		{ "probes", "host name count" },
		{ "emitters", "host tid pid comm events" },
		{ "blocking", "host tid pid comm state syscall fd path count total_ns max_ns avg_ns cause" },
		{ "relations", "host from_host from_pid from_comm to_host to_pid to_comm kind object side count bytes "
			       "wakeups wait_ns wait_max_ns" },
		{ "sync", "host ref state matched used offset_ns drift_ppm bound_ns latency_to_min_ns "
			  "latency_from_min_ns latency_to_median_ns latency_from_median_ns negative slope "
			  "intercept reason" },
		{ "matches", "from_host to_host flow sent_ns received_ns latency_ns raw_latency_ns part ambiguous "
			     "used" },
		{ "latencies", "from_host to_host packets negative min_ns p50_ns p90_ns p99_ns max_ns raw_negative "
			       "raw_min_ns raw_p50_ns raw_p90_ns raw_p99_ns raw_max_ns" },
		{ "critical-path", "host begin_ns end_ns duration_ns tid pid comm state cause link from_host from_tid "
				   "call fd object wire cut" },
		{ "critical-totals", "host pid comm state wire total_ns" },
		{ "accounting", "host pid comm client_host client_pid client_comm cpu_self_ns cpu_sub_ns cpu_total_ns "
				"disk_self_ns disk_sub_ns disk_total_ns "
				"network_self_ns network_sub_ns network_total_ns" },
	};
	unsigned n = 0;

	for (unsigned i = 0; i < G_N_ELEMENTS(reports); i++) {
		const struct view_table *table = view_table_find(reports[i].table);
		GString *names = g_string_new(NULL);

		for (unsigned c = 0; c < table->n_columns; c++)
			if (table->columns[c].flags & COLUMN_IN_REPORT)
				g_string_append_printf(names, "%s%s", c ? " " : "", table->columns[c].name);
		ck_assert_str_eq(names->str, reports[i].columns);
		g_string_free(names, TRUE);
	}
	for (unsigned t = 0; t < view_table_count(); t++)
		n += (view_table_get(t)->flags & VIEW_REPORT) != 0;
	ck_assert_uint_eq(n, G_N_ELEMENTS(reports));
}
END_TEST

/* ---- distributions ---- */

static struct dist dist_of(const uint64_t *values, unsigned n)
{
	struct dist d = { .min = UINT64_MAX };

	for (unsigned i = 0; i < n; i++)
		dist_add(&d, values[i], i);
	return d;
}

#define DIST(...) dist_of((const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

START_TEST(test_dist)
{
	struct dist d = DIST(5), e;

	ck_assert_uint_eq(view_dist_avg(&d), 5);
	ck_assert_uint_eq(view_dist_stdev(&d), 0);
	d = DIST(1, 2); /* 1.5, 0.5: halves go up */
	ck_assert_uint_eq(view_dist_avg(&d), 2);
	ck_assert_uint_eq(view_dist_stdev(&d), 1);
	d = DIST(2, 4, 4, 4, 5, 5, 7, 9); /* 5, 2 */
	ck_assert_uint_eq(view_dist_avg(&d), 5);
	ck_assert_uint_eq(view_dist_stdev(&d), 2);
	d = DIST(1, 1, 2); /* 4/3, sqrt(2)/3 = 0.471 */
	ck_assert_uint_eq(view_dist_avg(&d), 1);
	ck_assert_uint_eq(view_dist_stdev(&d), 0);
	d = DIST(0, 3); /* 1.5, 1.5 */
	ck_assert_uint_eq(view_dist_stdev(&d), 2);
	/* far beyond what floating point tells apart: mean 2^60, deviation 1 */
	d = DIST((UINT64_C(1) << 60) - 1, (UINT64_C(1) << 60) + 1);
	ck_assert_uint_eq(view_dist_avg(&d), UINT64_C(1) << 60);
	ck_assert_uint_eq(view_dist_stdev(&d), 1);
	d = DIST(0, UINT64_C(1) << 61);
	ck_assert_uint_eq(view_dist_stdev(&d), UINT64_C(1) << 60);

	d = DIST(2, 4, 4, 4);
	e = DIST(5, 5, 7, 9);
	view_dist_merge(&d, &e);
	ck_assert_uint_eq(d.count, 8);
	ck_assert_uint_eq(d.min, 2);
	ck_assert_uint_eq(d.max, 9);
	ck_assert_uint_eq(view_dist_stdev(&d), 2);
}
END_TEST

/* The rounding of the deviation against its definition, on many small sets. */
START_TEST(test_stdev_rounds_right)
{
	uint64_t seed = 1;

	for (unsigned round = 0; round < 2000; round++) {
		uint64_t values[7], n = 1 + round % 7;
		struct dist d;
		double mean, squares = 0;

		for (unsigned i = 0; i < n; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			values[i] = (seed >> 40) % (1 + round);
		}
		d = dist_of(values, (unsigned)n);
		mean = (double)d.sum / (double)n;
		for (unsigned i = 0; i < n; i++)
			squares += ((double)values[i] - mean) * ((double)values[i] - mean);
		/* |s - sd| <= 1/2, compared as squares with room for the doubles' own rounding */
		double sd2 = squares / (double)n, s = (double)view_dist_stdev(&d);

		ck_assert(s == 0 || (s - 0.5) * (s - 0.5) <= sd2 + 1e-6);
		ck_assert((s + 0.5) * (s + 0.5) >= sd2 - 1e-6);
	}
}
END_TEST

/* ---- columns ---- */

START_TEST(test_cpu)
{
	struct thread_row *a = add_thread(0, 10, 10, 1, "main"), *b = add_thread(0, 11, 10, 1, "worker");
	struct thread_row *c;

	a->cpu_ns = 7 * MS;
	a->state = THREAD_RUNNING;
	a->since_ns = BEGIN - 3 * MS; /* 10 ms at the begin */
	a->switches = 4;
	b->state = THREAD_BLOCKED;
	b->since_ns = BEGIN;
	begin();
	a->cpu_ns = 7 * MS + 403 * MS; /* ran until 1400 ms, then was preempted */
	a->state = THREAD_READY;
	a->since_ns = BEGIN + 400 * MS;
	a->switches = 6;
	a->migrations = 1;
	c = add_thread(1, 10, 10, -1, "other");
	c->born_ns = BEGIN + 5;
	c->exited_ns = BEGIN + 10;
	c->cpu_ns = 5;
	c->prio = UINT64_MAX;
	c->flags = THREAD_UNSURE;
	c->state = THREAD_DEAD;
	end();
	build_table("cpu");
	ck_assert_uint_eq(rows.n, 3);
	ASSERT_TEXT(0, "host", "db");
	ASSERT_UINT(0, "tid", 10);
	ASSERT_UINT(0, "pid", 10);
	ASSERT_UINT(0, "ppid", 1);
	ASSERT_TEXT(0, "comm", "main");
	ASSERT_UINT(0, "cpu_ns", 400 * MS);
	ASSERT_UINT(0, "ready_ns", 600 * MS);
	ASSERT_UINT(0, "blocked_ns", 0);
	ASSERT_UINT(0, "switches", 2);
	ASSERT_UINT(0, "migrations", 1);
	ASSERT_UINT(0, "prio", 120);
	ASSERT_NULL(0, "born_ns");
	ASSERT_NULL(0, "exited_ns");
	ASSERT_REAL(0, "cpu_percent", 40.0);
	ASSERT_NULL(0, "host_percent"); /* no CPU is known */
	ASSERT_TEXT(0, "state", "r");
	ASSERT_TEXT(0, "state_name", "ready");
	ASSERT_UINT(0, "threads", 1);
	ASSERT_UINT(1, "tid", 11);
	ASSERT_UINT(1, "blocked_ns", 1000 * MS);
	ASSERT_TEXT(2, "host", "web");
	ASSERT_NULL(2, "ppid");
	ASSERT_NULL(2, "prio");
	ASSERT_UINT(2, "born_ns", BEGIN + 5);
	ASSERT_UINT(2, "exited_ns", BEGIN + 10);
	ASSERT_TEXT(2, "state", "X?");
}
END_TEST

START_TEST(test_rows_without_figures)
{
	struct view_query q = query("cpu");
	struct thread_row *a;

	add_thread(0, 5, 5, 1, "idle one")->switches = 7;
	a = add_thread(0, 6, 6, 1, "busy one");
	begin();
	a->switches = 1;
	end();
	build(&q);
	ck_assert_uint_eq(rows.n, 1);
	ASSERT_UINT(0, "tid", 6);
	q.all = true;
	build(&q);
	ck_assert_uint_eq(rows.n, 2);
}
END_TEST

START_TEST(test_io)
{
	struct thread_row *a = add_thread(0, 10, 10, 1, "cat");

	begin();
	a->read_disk = 1;
	a->read_net = 20;
	a->read_pipe = 300;
	a->read_other = 4000;
	a->write_disk = 5;
	a->write_net = 60;
	a->write_pipe = 700;
	a->write_other = 8000;
	a->syscalls = 9;
	end();
	build_table("io");
	ck_assert_uint_eq(rows.n, 1);
	ASSERT_UINT(0, "read_bytes", 4321);
	ASSERT_UINT(0, "write_bytes", 8765);
	ASSERT_UINT(0, "read_bytes_disk", 1);
	ASSERT_UINT(0, "read_bytes_net", 20);
	ASSERT_UINT(0, "read_bytes_pipe", 300);
	ASSERT_UINT(0, "read_bytes_other", 4000);
	ASSERT_UINT(0, "write_bytes_disk", 5);
	ASSERT_UINT(0, "write_bytes_net", 60);
	ASSERT_UINT(0, "write_bytes_pipe", 700);
	ASSERT_UINT(0, "write_bytes_other", 8000);
	ASSERT_UINT(0, "syscalls", 9);
	ASSERT_REAL(0, "read_rate", 4321.0);
	ASSERT_REAL(0, "write_rate_net", 60.0);
	ASSERT_REAL(0, "syscall_rate", 9.0);
}
END_TEST

START_TEST(test_hosts)
{
	struct host_row *row = STATE_ROW(&hosts[0].state, HOST, host, 0);
	struct value v;

	row->events = 10;
	row->lost_events = 1;
	begin();
	row->events = 15;
	row->lost_events = 4;
	row->lost_packets = 2;
	row->cpus = 2;
	row->threads = 99;
	row->fds = 7;
	end();
	build_table("hosts");
	ck_assert_uint_eq(rows.n, 1); /* the other has no events */
	ASSERT_TEXT(0, "source", "/rec");
	ASSERT_TEXT(0, "tracer", "lttng-modules 2.13.9");
	ASSERT_UINT(0, "begin_ns", BEGIN);
	ASSERT_UINT(0, "end_ns", END);
	ASSERT_UINT(0, "events", 5);
	ASSERT_UINT(0, "lost_events", 3);
	ASSERT_UINT(0, "lost_packets", 2);
	ASSERT_UINT(0, "backward_steps", 0);
	ASSERT_UINT(0, "late_events", 0);
	ASSERT_UINT(0, "cpus", 2);
	ASSERT_UINT(0, "threads", 99);
	ASSERT_UINT(0, "fds", 7);
	v = get(0, "missing_events");
	ck_assert_int_eq(v.kind, VALUE_LIST);
	ck_assert_uint_eq(v.list.n, 1);
	ck_assert_str_eq(v.list.items[0].name, "sched_waking");
	ck_assert_uint_eq(view_hosts_lost(shown, 2).events, 3);
	ck_assert_uint_eq(view_hosts_lost(shown, 2).packets, 2);
	shown[0].iv = NULL; /* nothing known of it in this interval */
	build_table("hosts");
	ck_assert_uint_eq(rows.n, 0);
	ck_assert_uint_eq(view_hosts_lost(shown, 2).events, 0);
}
END_TEST

START_TEST(test_events_and_probes)
{
	struct event_row *a, *b;

	begin();
	a = ADD(0, EVENT, event);
	a->name = strpool_intern_z("sched_switch");
	a->count = 3;
	a->used = 1;
	b = ADD(0, EVENT, event);
	b->name = strpool_intern_z("my_probe");
	b->count = 2;
	b->probe = 1;
	ADD(0, EVENT, event)->name = strpool_intern_z("never");
	end();
	build_table("events");
	ck_assert_uint_eq(rows.n, 2);
	ASSERT_TEXT(0, "name", "my_probe");
	ck_assert(!get(0, "used").flag);
	ASSERT_TEXT(1, "name", "sched_switch");
	ASSERT_UINT(1, "count", 3);
	ck_assert_int_eq(get(1, "used").kind, VALUE_BOOL);
	ck_assert(get(1, "used").flag);
	build_table("probes");
	ck_assert_uint_eq(rows.n, 1);
	ASSERT_TEXT(0, "name", "my_probe");
	ASSERT_UINT(0, "count", 2);
}
END_TEST

START_TEST(test_cpus)
{
	struct cpu_row *c = ADD(0, CPU, cpu);
	struct thread_row *t = add_thread(0, 10, 10, 1, "burn");

	c->cpu = 1;
	c->state = CPU_IDLE;
	c->since_ns = BEGIN - MS;
	begin();
	c->idle_ns = 301 * MS;
	c->online_ns = 301 * MS;
	c->state = CPU_BUSY;
	c->thread_uid = t->uid;
	c->since_ns = BEGIN + 300 * MS;
	c->irq_ns = 5;
	c->softirq_ns = 6;
	c->switches = 1;
	t->state = THREAD_RUNNING;
	t->since_ns = BEGIN + 300 * MS;
	end();
	build_table("cpus");
	ck_assert_uint_eq(rows.n, 1);
	ASSERT_UINT(0, "cpu", 1);
	ASSERT_UINT(0, "busy_ns", 700 * MS);
	ASSERT_UINT(0, "idle_ns", 300 * MS);
	ASSERT_UINT(0, "online_ns", 1000 * MS);
	ASSERT_UINT(0, "irq_ns", 5);
	ASSERT_UINT(0, "softirq_ns", 6);
	ASSERT_UINT(0, "switches", 1);
	ASSERT_REAL(0, "busy_percent", 70.0);
	ASSERT_TEXT(0, "running", "burn");
	build_table("cpu");
	ASSERT_REAL(0, "host_percent", 70.0);
}
END_TEST

START_TEST(test_files)
{
	struct thread_row *a = add_thread(0, 10, 10, 1, "nginx");
	struct view_filter filter;
	struct view_query q = query("files");
	struct file_row *f, *g;

	add_thread(0, 11, 10, 1, "worker")->files_id = 4;
	a->files_id = 4;
	f = ADD(0, FILE, file);
	f->files_id = 4;
	f->pid = 10;
	f->fd = 3;
	f->path = strpool_intern_z("/etc/hosts");
	f->kind = FD_FILE;
	begin();
	g = ADD(0, FILE, file);
	g->files_id = 4;
	g->pid = 10;
	g->fd = 2;
	g->kind = FD_SOCKET_INET;
	g->peer = strpool_intern_z("10.0.0.1:80");
	g->read_bytes = 5;
	g->write_bytes = 6;
	g->opened_ns = BEGIN + 1;
	g->closed_ns = BEGIN + 2;
	end();
	build(&q);
	ck_assert_uint_eq(rows.n, 2);
	ASSERT_UINT(0, "pid", 10);
	ASSERT_UINT(0, "fd", 2);
	ASSERT_NULL(0, "path");
	ASSERT_TEXT(0, "kind", fd_kind_name(FD_SOCKET_INET));
	ASSERT_TEXT(0, "name", "10.0.0.1:80");
	ASSERT_TEXT(0, "comm", "nginx");
	ASSERT_UINT(0, "read_bytes", 5);
	ASSERT_UINT(0, "write_bytes", 6);
	ASSERT_UINT(0, "opened_ns", BEGIN + 1);
	ASSERT_UINT(0, "closed_ns", BEGIN + 2);
	ASSERT_TEXT(1, "path", "/etc/hosts"); /* stays though nothing went through it */
	ASSERT_NULL(1, "opened_ns");
	ASSERT_NULL(1, "closed_ns");

	view_filter_init(&filter);
	q.filter = &filter;
	view_filter_add_tid(&filter, 11); /* shares the table */
	build(&q);
	ck_assert_uint_eq(rows.n, 2);
	view_filter_add_pid(&filter, 11);
	build(&q);
	ck_assert_uint_eq(rows.n, 0);
	view_filter_clear(&filter);
	view_filter_add_comm(&filter, "ngi*");
	filter.files_id = 4;
	build(&q);
	ck_assert_uint_eq(rows.n, 2);
	ck_assert(!get(0, "open").flag && get(1, "open").flag);
	filter.files_id = 5;
	build(&q);
	ck_assert_uint_eq(rows.n, 0);
	view_filter_release(&filter);
}
END_TEST

START_TEST(test_disks)
{
	struct disk_row *d = ADD(0, DISK, disk);

	d->dev = 254 << 20 | 1;
	d->queue = 6;
	begin();
	d->name = strpool_intern_z("vda1");
	d->reads = 2;
	d->writes = 1;
	d->read_bytes = 8192;
	d->write_bytes = 512;
	d->queue = 1;
	d->queue_max = 5;
	dist_add(&d->latency, 10, BEGIN);
	dist_add(&d->latency, 21, BEGIN);
	end();
	build_table("disks");
	ck_assert_uint_eq(rows.n, 1);
	ASSERT_UINT(0, "dev", 254 << 20 | 1);
	ASSERT_TEXT(0, "name", "vda1");
	ASSERT_UINT(0, "reads", 2);
	ASSERT_UINT(0, "writes", 1);
	ASSERT_UINT(0, "read_bytes", 8192);
	ASSERT_UINT(0, "write_bytes", 512);
	ASSERT_UINT(0, "latency_min_ns", 10);
	ASSERT_UINT(0, "latency_avg_ns", 16);
	ASSERT_UINT(0, "latency_max_ns", 21);
	ASSERT_UINT(0, "queue_max", 6); /* before its first change in the interval */
}
END_TEST

START_TEST(test_net)
{
	struct netif_row *n;

	begin();
	n = ADD(1, NETIF, netif);
	n->name = strpool_intern_z("eth0");
	n->rx_packets = 1;
	n->rx_bytes = 2;
	n->tx_packets = 3;
	n->tx_bytes = 4;
	end();
	build_table("net");
	ck_assert_uint_eq(rows.n, 1);
	ASSERT_TEXT(0, "host", "web");
	ASSERT_TEXT(0, "name", "eth0");
	ASSERT_UINT(0, "rx_packets", 1);
	ASSERT_UINT(0, "rx_bytes", 2);
	ASSERT_UINT(0, "tx_packets", 3);
	ASSERT_UINT(0, "tx_bytes", 4);
}
END_TEST

static struct irq_row *add_irq(bool soft, unsigned nr, unsigned cpu, const char *name)
{
	struct irq_row *row = ADD(0, IRQ, irq);

	row->soft = soft;
	row->nr = nr;
	row->cpu = cpu;
	row->name = strpool_intern_z(name);
	return row;
}

START_TEST(test_irqs)
{
	struct view_query q = query("irqs");
	struct irq_row *a = add_irq(true, 3, 0, "NET_RX"), *b, *c;

	dist_add(&a->time, 1000, 1); /* before the interval */
	a->count = 1;
	begin();
	b = add_irq(true, 3, 1, "NET_RX");
	c = add_irq(false, 24, 1, "virtio0");
	dist_add(&a->time, 2, BEGIN);
	dist_add(&a->time, 4, BEGIN);
	dist_add(&b->time, 4, BEGIN);
	dist_add(&b->time, 9, BEGIN + 7);
	dist_add(&b->raise, 11, BEGIN);
	dist_add(&c->time, 5, BEGIN);
	a->count += 2;
	b->count = 3; /* the entry of one was not seen */
	c->count = 1;
	end();
	build(&q);
	ck_assert_uint_eq(rows.n, 2);
	ASSERT_TEXT(0, "kind", "hard");
	ASSERT_UINT(0, "nr", 24);
	ASSERT_TEXT(0, "name", "virtio0");
	ASSERT_NULL(0, "cpu");
	ASSERT_UINT(0, "count", 1);
	ASSERT_NULL(0, "raise_avg_ns");
	ASSERT_TEXT(1, "kind", "soft");
	ASSERT_UINT(1, "count", 5);
	ASSERT_UINT(1, "min_ns", 2);
	ASSERT_UINT(1, "avg_ns", 5);   /* 19 / 4 */
	ASSERT_UINT(1, "max_ns", 9);
	ASSERT_UINT(1, "stdev_ns", 3); /* sqrt(117 / 4 - (19 / 4)^2) = 2.59 */
	ASSERT_UINT(1, "total_ns", 19);
	ASSERT_UINT(1, "raise_avg_ns", 11);
	ASSERT_UINT(1, "raise_max_ns", 11);
	ASSERT_UINT(1, "max_at_ns", BEGIN + 7);
	q.per_cpu = true;
	build(&q);
	ck_assert_uint_eq(rows.n, 3);
	ASSERT_UINT(0, "cpu", 1);
	ASSERT_UINT(1, "cpu", 0);
	ASSERT_UINT(1, "total_ns", 6);
	ASSERT_NULL(1, "raise_max_ns");
	ASSERT_UINT(2, "cpu", 1);
	ASSERT_UINT(2, "total_ns", 13);
}
END_TEST

static struct syscall_row *add_call(const struct thread_row *thread, const char *name)
{
	struct syscall_row *row = ADD(0, SYSCALL, syscall);

	row->thread_uid = thread->uid;
	row->name = strpool_intern_z(name);
	return row;
}

static void add_error(const struct thread_row *thread, const char *name, int error, uint64_t count)
{
	struct syserr_row *row = ADD(0, SYSERR, syserr);

	row->thread_uid = thread->uid;
	row->name = strpool_intern_z(name);
	row->error = (uint64_t)error;
	row->count = count;
}

START_TEST(test_syscalls)
{
	struct thread_row *a = add_thread(0, 10, 10, 1, "sh"), *b = add_thread(0, 11, 10, 1, "th");
	struct view_query q = query("syscalls");
	struct syscall_row *open_a, *open_b, *exec;
	struct value v;

	begin();
	open_a = add_call(a, "openat");
	open_b = add_call(b, "openat");
	exec = add_call(a, "execve");
	open_a->count = 3;
	open_a->errors = 2;
	dist_add(&open_a->time, 4, BEGIN);
	dist_add(&open_a->time, 6, BEGIN);
	add_error(a, "openat", 2, 1);
	add_error(a, "openat", 512, 1);
	add_error(b, "openat", 2, 5);
	add_error(b, "openat", 4000, 1);
	open_b->count = 6;
	exec->count = 1; /* its entry was not seen */
	end();
	build(&q);
	ck_assert_uint_eq(rows.n, 3);
	ASSERT_TEXT(0, "name", "execve");
	ASSERT_UINT(0, "count", 1);
	ASSERT_UINT(0, "total_ns", 0);
	ASSERT_NULL(0, "min_ns");
	ASSERT_NULL(0, "avg_ns");
	ASSERT_NULL(0, "max_ns");
	ASSERT_NULL(0, "stdev_ns");
	v = get(0, "errors");
	ck_assert_int_eq(v.kind, VALUE_OBJECT);
	ck_assert_uint_eq(v.list.n, 0);
	ASSERT_TEXT(1, "name", "openat");
	ASSERT_UINT(1, "tid", 10);
	ASSERT_TEXT(1, "comm", "sh");
	ASSERT_UINT(1, "count", 3);
	ASSERT_UINT(1, "total_ns", 10);
	ASSERT_UINT(1, "min_ns", 4);
	ASSERT_UINT(1, "avg_ns", 5);
	ASSERT_UINT(1, "max_ns", 6);
	ASSERT_UINT(1, "stdev_ns", 1);
	v = get(1, "errors");
	ck_assert_uint_eq(v.list.n, 2);
	ck_assert_str_eq(v.list.items[0].name, "ENOENT");
	ck_assert_uint_eq(v.list.items[0].count, 1);
	ck_assert_str_eq(v.list.items[1].name, "ERESTARTSYS");
	v = get(2, "errors");
	ck_assert_str_eq(v.list.items[1].name, "E4000");

	q.processes = true;
	build(&q);
	ck_assert_uint_eq(rows.n, 2);
	ASSERT_TEXT(1, "name", "openat");
	ASSERT_UINT(1, "tid", 10);
	ASSERT_UINT(1, "count", 9);
	v = get(1, "errors");
	ck_assert_uint_eq(v.list.n, 3);
	ck_assert_uint_eq(v.list.items[0].count, 6);
}
END_TEST

START_TEST(test_sched)
{
	struct thread_row *a = add_thread(0, 10, 10, 1, "sh");

	begin();
	dist_add(&a->latency, 100, BEGIN + 1);
	dist_add(&a->latency, 50, BEGIN + 2);
	end();
	build_table("sched");
	ck_assert_uint_eq(rows.n, 1);
	ASSERT_UINT(0, "count", 2);
	ASSERT_UINT(0, "min_ns", 50);
	ASSERT_UINT(0, "avg_ns", 75);
	ASSERT_UINT(0, "max_ns", 100);
	ASSERT_UINT(0, "stdev_ns", 25);
	ASSERT_UINT(0, "total_ns", 150);
	ASSERT_UINT(0, "max_at_ns", BEGIN + 1);
}
END_TEST

static void add_perf(const struct thread_row *thread, const char *counter, uint64_t value)
{
	struct perf_row *row = ADD(0, PERF, perf);

	row->thread_uid = thread->uid;
	row->counter = strpool_intern_z(counter);
	row->value = value;
}

START_TEST(test_perf)
{
	struct thread_row *a = add_thread(0, 10, 10, 1, "sh"), *b = add_thread(0, 11, 10, 1, "th");
	struct view_query q = query("counters");

	begin();
	add_perf(a, "perf_cpu_page_fault", 5);
	add_perf(b, "perf_cpu_page_fault", 6);
	add_perf(b, "perf_cpu_cycles", UINT64_C(1) << 40);
	end();
	build_table("perf");
	ck_assert_uint_eq(rows.n, 3);
	ASSERT_UINT(0, "tid", 10);
	ASSERT_TEXT(0, "counter", "perf_cpu_page_fault");
	ASSERT_UINT(0, "value", 5);
	ASSERT_TEXT(1, "counter", "perf_cpu_cycles");
	ASSERT_UINT(1, "value", UINT64_C(1) << 40);

	/* a column per counter */
	build(&q);
	ck_assert_uint_eq(rows.n, 2);
	ck_assert_uint_eq(rows.n_columns, q.table->n_columns + 2);
	ck_assert_str_eq(view_rows_column(&rows, "perf_cpu_cycles")->header, "cycles");
	ASSERT_UINT(0, "perf_cpu_page_fault", 5);
	ASSERT_UINT(0, "perf_cpu_cycles", 0);
	ASSERT_UINT(1, "perf_cpu_cycles", UINT64_C(1) << 40);
	q.processes = true;
	q.sort = view_rows_column(&rows, "perf_cpu_page_fault");
	build(&q);
	ck_assert_uint_eq(rows.n, 1);
	ASSERT_UINT(0, "perf_cpu_page_fault", 11);
}
END_TEST

/* ---- processes ---- */

START_TEST(test_processes)
{
	struct thread_row *main_a = add_thread(0, 10, 10, 1, "first"), *t, *main_b;
	struct view_query q = query("cpu");
	uint64_t uid;

	t = add_thread(0, 11, 10, 1, "helper");
	begin();
	main_a->cpu_ns = 100;
	main_a->state = THREAD_BLOCKED;
	main_a->since_ns = END - 9;
	t->cpu_ns = 20;
	t->state = THREAD_RUNNING;
	t->since_ns = END - 5;
	t->cpu = 3;
	main_b = add_thread(0, 10, 10, 1, "second"); /* the pid again, later */
	main_b->born_ns = BEGIN + 500;
	main_b->cpu_ns = 1;
	t = add_thread(0, 12, 10, 1, "of second");
	t->born_ns = BEGIN + 600;
	t->cpu_ns = 2;
	t->exited_ns = BEGIN + 700;
	uid = main_a->uid;
	end();
	q.processes = true;
	build(&q);
	ck_assert_uint_eq(rows.n, 2);
	ASSERT_TEXT(0, "comm", "first");
	ASSERT_UINT(0, "tid", 10);
	ASSERT_UINT(0, "threads", 2);
	ASSERT_UINT(0, "cpu_ns", 125);
	ASSERT_UINT(0, "blocked_ns", 9);
	ASSERT_TEXT(0, "state", "R"); /* one of its threads */
	ASSERT_UINT(0, "cpu", 3);
	ck_assert_uint_eq(rows.rows[0].key.uid, uid);
	ASSERT_TEXT(1, "comm", "second");
	ASSERT_UINT(1, "cpu_ns", 3);
	ASSERT_NULL(1, "exited_ns"); /* its main thread lives */
}
END_TEST

/* ---- order, filter, tree ---- */

static void three_threads(void)
{
	struct thread_row *t;

	begin();
	t = add_thread(1, 3, 3, 1, "c");
	t->switches = 5;
	t = add_thread(0, 2, 2, 1, "b");
	t->switches = 5;
	t->prio = UINT64_MAX;
	t = add_thread(0, 1, 1, 0, "a");
	t->switches = 9;
	end();
}

static void assert_tids(unsigned a, unsigned b, unsigned c)
{
	ck_assert_uint_eq(rows.n, 3);
	ASSERT_UINT(0, "tid", a);
	ASSERT_UINT(1, "tid", b);
	ASSERT_UINT(2, "tid", c);
}

START_TEST(test_sort)
{
	struct view_query q = query("cpu");
	struct view_key key;

	three_threads();
	build(&q);
	assert_tids(1, 2, 3);
	q.sort = view_column_find(q.table->columns, q.table->n_columns, "switches");
	build(&q); /* greatest first; equal ones by host */
	assert_tids(1, 2, 3);
	key = rows.rows[2].key;
	q.reverse = true;
	build(&q); /* equal ones still by host */
	assert_tids(2, 3, 1);
	ck_assert_uint_eq(view_rows_index(&rows, &key), 1);
	q.sort = view_column_find(q.table->columns, q.table->n_columns, "comm");
	build(&q);
	assert_tids(3, 2, 1);
	q.reverse = false;
	build(&q);
	assert_tids(1, 2, 3);
	q.sort = view_column_find(q.table->columns, q.table->n_columns, "prio");
	q.reverse = true;
	build(&q); /* unknown is least */
	assert_tids(1, 3, 2);
}
END_TEST

static void assert_filtered(const char *table, const char *text, unsigned n)
{
	struct view_query q = query(table);
	struct view_filter filter;

	view_filter_init(&filter);
	ck_assert_int_eq(view_filter_parse(&filter, text), LT_OK);
	q.filter = &filter;
	build(&q);
	ck_assert_msg(rows.n == n, "'%s' gives %u rows", text, rows.n);
	view_filter_release(&filter);
}

static void assert_missing(const char *table, const char *filtered, const char *expected)
{
	struct view_filter filter;
	char *text;

	view_filter_init(&filter);
	ck_assert_int_eq(view_filter_parse(&filter, filtered), LT_OK);
	text = view_missing_text(view_table_find(table), shown, 2, &filter);
	if (expected)
		ck_assert_str_eq(text, expected);
	else
		ck_assert_ptr_null(text);
	g_free(text);
	view_filter_release(&filter);
}

START_TEST(test_missing)
{
	static const char *db[] = { "sched_waking", "block_rq_issue", "lttng_statedump_block_device" };
	static const char *web[] = { "block_rq_issue", "block_rq_complete", "syscall_entry_*", "syscall_exit_*" };

	begin();
	end();
	shown[0].missing = db;
	shown[0].n_missing = G_N_ELEMENTS(db);
	shown[1].missing = web;
	shown[1].n_missing = G_N_ELEMENTS(web);
	assert_missing("disks", "", "no block_rq_issue, block_rq_complete events: "
				    "lttng enable-event -k block_rq_issue,block_rq_complete");
	assert_missing("disks", "host:db", "no block_rq_issue events: lttng enable-event -k block_rq_issue");
	assert_missing("sched", "", "db: no sched_waking events: lttng enable-event -k sched_waking");
	assert_missing("sched", "host:web", NULL);
	assert_missing("io", "", "web: no system calls: lttng enable-event -k --syscall --all");
	assert_missing("relations", "", "no sched_waking events, no system calls: lttng enable-event -k sched_waking; "
					"lttng enable-event -k --syscall --all");
	assert_missing("cpu", "", NULL);
	assert_missing("hosts", "", NULL);
	shown[1].iv = NULL;
	assert_missing("io", "", NULL);
}
END_TEST

static void assert_filter_error(const char *text, const char *expected)
{
	struct view_filter filter;

	view_filter_init(&filter);
	ck_assert_int_eq(view_filter_parse(&filter, text), LT_ERROR);
	ck_assert_str_eq(error_text(), expected);
	view_filter_release(&filter);
}

START_TEST(test_filter_errors)
{
	assert_filter_error("nginx bogus:x",
			    "unknown term 'bogus:': known are host:, comm:, pid:, tid:, container:");
	assert_filter_error("pid:x", "'pid:x': 'pid:' wants a number");
	assert_filter_error("tid:", "'tid:': 'tid:' wants a number");
	assert_filter_error("host:", "'host:': 'host:' wants a name");
	assert_filter_error("container:web", "'container:web': 'container:' wants the number of a namespace, or '*'");
}
END_TEST

START_TEST(test_filter)
{
	struct disk_row *d;
	struct thread_row *t;

	begin();
	t = add_thread(0, 1, 1, 0, "nginx");
	t->switches = 1;
	t->pid_ns = UINT64_C(0xeffffffc);
	t = add_thread(0, 2, 1, 0, "nginx-worker");
	t->switches = 1;
	t->pid_ns = 4026532200;
	t = add_thread(1, 3, 3, 0, "Redis");
	t->switches = 1;
	d = ADD(0, DISK, disk);
	d->name = strpool_intern_z("vda");
	d->reads = 1;
	end();
	assert_filtered("cpu", "", 3);
	assert_filtered("cpu", "host:db", 2);
	assert_filtered("cpu", "host:d?", 2);
	assert_filtered("cpu", "host:web host:db", 3);
	assert_filtered("cpu", "pid:1", 2);
	assert_filtered("cpu", "tid:1", 1);
	assert_filtered("cpu", "tid:1 tid:3 host:web", 1);
	assert_filtered("cpu", "comm:nginx", 2);
	assert_filtered("cpu", "comm:nginx*", 2);
	assert_filtered("cpu", "comm:*worker", 1);
	assert_filtered("cpu", "redis", 1);
	/* plain texts: what kernels and addresses are made of */
	assert_filtered("cpu", "kworker/0:1", 0);
	assert_filtered("cpu", "socket:[25052]", 0);
	assert_filtered("cpu", "10.0.0.1:80", 0);
	assert_filtered("cpu", "container:*", 1);
	assert_filtered("cpu", "container:4026532200", 1);
	assert_filtered("disks", "pid:1 comm:nginx", 1); /* says nothing of disks */
	assert_filtered("disks", "vdb", 0);
}
END_TEST

START_TEST(test_search)
{
	struct view_query q = query("cpu");

	three_threads();
	build(&q);
	ck_assert_uint_eq(view_rows_search(&rows, 0, "C", false), 2);
	ck_assert_uint_eq(view_rows_search(&rows, 1, "1", false), 0); /* goes on at the top */
	ck_assert_uint_eq(view_rows_search(&rows, 0, "web", true), 2);
	ck_assert_uint_eq(view_rows_search(&rows, 0, "none", false), VIEW_NO_ROW);
}
END_TEST

START_TEST(test_tree)
{
	struct view_query q = query("cpu");
	GHashTable *collapsed = g_hash_table_new(view_key_hash, view_key_equal_hash);
	struct view_key key;

	begin();
	add_thread(0, 30, 30, 20, "grandchild")->switches = 1;
	add_thread(0, 1, 1, 0, "init");
	add_thread(0, 20, 20, 1, "child");
	add_thread(0, 21, 20, 1, "thread of child");
	add_thread(0, 25, 25, 1, "brother");
	add_thread(0, 40, 40, 41, "circle");
	add_thread(0, 41, 41, 40, "circle");
	end();
	q.tree = true;
	build(&q);
	ck_assert_uint_eq(rows.n, 7);
	ASSERT_TEXT(0, "comm", "init");
	ASSERT_TEXT(1, "comm", "child");
	ASSERT_TEXT(2, "comm", "thread of child");
	ASSERT_TEXT(3, "comm", "grandchild");
	ASSERT_TEXT(4, "comm", "brother");
	ck_assert_uint_eq(rows.rows[0].depth, 0);
	ck_assert_uint_eq(rows.rows[1].depth, 1);
	ck_assert_uint_eq(rows.rows[3].depth, 2);
	ck_assert(rows.rows[0].has_children && rows.rows[1].has_children && !rows.rows[2].has_children);
	ck_assert(!rows.rows[1].last && rows.rows[4].last && rows.rows[3].last);
	ck_assert_uint_eq(view_rows_parent(&rows, 3), 1);
	ck_assert_uint_eq(view_rows_parent(&rows, 4), 0);
	ck_assert_uint_eq(view_rows_parent(&rows, 0), VIEW_NO_ROW);

	key = rows.rows[1].key;
	g_hash_table_add(collapsed, &key);
	q.collapsed = collapsed;
	build(&q);
	ck_assert_uint_eq(rows.n, 5);
	ck_assert_uint_eq(rows.rows[1].hidden, 2);
	ASSERT_TEXT(2, "comm", "brother");
	g_hash_table_unref(collapsed);
}
END_TEST

/* A collapsed row has the figures of its branch, and brothers are in the order of theirs. */
START_TEST(test_tree_of_branches)
{
	struct view_query q = query("cpu");
	GHashTable *collapsed = g_hash_table_new(view_key_hash, view_key_equal_hash);
	struct view_key shell;
	struct thread_row *t;

	begin();
	add_thread(0, 1, 1, 0, "init");
	add_thread(0, 10, 10, 1, "daemon")->switches = 3;
	add_thread(0, 20, 20, 1, "shell");
	add_thread(0, 30, 30, 20, "make")->switches = 2;
	t = add_thread(0, 31, 31, 30, "cc");
	t->switches = 4;
	t->state = THREAD_RUNNING;
	t->cpu_ns = 100 * MS;
	t->since_ns = END - 50 * MS;
	/* one of another host stays with its host, whatever it has */
	add_thread(1, 7, 7, 0, "busy")->switches = 1000;
	end();
	q.tree = true;
	q.sort = view_column_find(q.table->columns, q.table->n_columns, "switches");
	build(&q);
	ck_assert_uint_eq(rows.n, 6);
	ASSERT_TEXT(1, "comm", "shell");
	ASSERT_TEXT(2, "comm", "make");
	ASSERT_TEXT(4, "comm", "daemon");
	ASSERT_UINT(1, "switches", 0);
	shell = rows.rows[1].key;
	q.reverse = true;
	build(&q);
	ASSERT_TEXT(1, "comm", "daemon");

	q.reverse = false;
	q.collapsed = collapsed;
	g_hash_table_add(collapsed, &shell);
	build(&q);
	ck_assert_uint_eq(rows.n, 4);
	ASSERT_TEXT(1, "comm", "shell");
	ck_assert_uint_eq(rows.rows[1].hidden, 2);
	ASSERT_UINT(1, "switches", 6);
	ASSERT_UINT(1, "cpu_ns", 150 * MS);
	ASSERT_REAL(1, "cpu_percent", 15);
	ASSERT_UINT(1, "threads", 3);
	ASSERT_UINT(1, "tid", 20);
	ASSERT_NULL(1, "since_ns");
	g_hash_table_unref(collapsed);
}
END_TEST

START_TEST(test_tree_of_counters)
{
	struct view_query q = query("counters");
	GHashTable *collapsed = g_hash_table_new(view_key_hash, view_key_equal_hash);
	struct thread_row *t;
	struct view_key key;

	begin();
	t = add_thread(0, 1, 1, 0, "init");
	add_perf(t, "perf_cpu_cycles", 5);
	t = add_thread(0, 2, 2, 1, "worker");
	add_perf(t, "perf_cpu_cycles", 40);
	add_perf(t, "perf_cpu_faults", 7);
	end();
	q.tree = true;
	build(&q);
	ck_assert_uint_eq(rows.n, 2);
	ASSERT_UINT(0, "perf_cpu_cycles", 5);
	key = rows.rows[0].key;
	g_hash_table_add(collapsed, &key);
	q.collapsed = collapsed;
	build(&q);
	ck_assert_uint_eq(rows.n, 1);
	ASSERT_UINT(0, "perf_cpu_cycles", 45);
	ASSERT_UINT(0, "perf_cpu_faults", 7);
	g_hash_table_unref(collapsed);
}
END_TEST

/* A chain of forks as long as there can be, and only the chosen rows. */
START_TEST(test_deep_tree)
{
	struct view_query q = query("cpu");
	GHashTable *only = g_hash_table_new(view_key_hash, view_key_equal_hash);
	struct view_key key;

	begin();
	for (int i = 1; i <= 100000; i++)
		add_thread(0, i, i, i - 1, "fork");
	end();
	q.tree = true;
	build(&q);
	ck_assert_uint_eq(rows.n, 100000);
	ck_assert_uint_eq(rows.rows[99999].depth, UINT16_MAX);
	key = rows.rows[500].key;
	g_hash_table_add(only, &key);
	q.only = only;
	build(&q);
	ck_assert_uint_eq(rows.n, 1);
	g_hash_table_unref(only);
}
END_TEST

#define TEST(name) tcase_add_test(tc, name)

int main(void)
{
	Suite *suite = suite_create("view");
	SRunner *runner = srunner_create(suite);
	TCase *tc = tcase_create("tables");
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	TEST(test_tables_are_whole);
	TEST(test_columns_are_whole);
	TEST(test_report_columns);
	TEST(test_dist);
	TEST(test_stdev_rounds_right);
	TEST(test_cpu);
	TEST(test_rows_without_figures);
	TEST(test_io);
	TEST(test_hosts);
	TEST(test_events_and_probes);
	TEST(test_cpus);
	TEST(test_files);
	TEST(test_disks);
	TEST(test_net);
	TEST(test_irqs);
	TEST(test_syscalls);
	TEST(test_sched);
	TEST(test_perf);
	TEST(test_processes);
	TEST(test_sort);
	TEST(test_filter);
	TEST(test_filter_errors);
	TEST(test_missing);
	TEST(test_search);
	TEST(test_tree);
	TEST(test_tree_of_branches);
	TEST(test_tree_of_counters);
	TEST(test_deep_tree);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
