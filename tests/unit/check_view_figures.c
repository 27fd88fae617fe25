/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The figures of each table. */
#include "views.h"

#include "event/syscalls.h"

/* ---- columns ---- */

START_TEST(test_cpu)
{
	struct thread_row *a = add_thread(0, 10, 10, 1, "main"), *b = add_thread(0, 11, 10, 1, "worker");
	struct thread_row *c;

	a->cpu_ns = 7 * MS;
	a->state = THREAD_RUNNING;
	a->since_ns = BEGIN - 3 * MS; /* 10 ms at the start */
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

/* Parts missing from a trace are null; the others add up to the CPU time. */
START_TEST(test_cpu_time_in_parts)
{
	static const char *no_calls[] = { "syscall_entry_*" }, *no_irqs[] = { "irq_softirq_exit" };
	struct thread_row *a = add_thread(0, 10, 10, 1, "main"), *b = add_thread(1, 10, 10, 1, "main");
	struct view_query q = query("cpu");

	a->system_ns = b->system_ns = 50 * MS;
	a->cpu_ns = b->cpu_ns = 60 * MS;
	begin();
	a->cpu_ns = b->cpu_ns = 360 * MS;
	a->mode = b->mode = MODE_SYSTEM;
	a->mode_ns = b->mode_ns = END - 100 * MS; /* and it continues at the end */
	a->interrupted_ns = b->interrupted_ns = 20 * MS;
	end();
	build(&q);
	ASSERT_UINT(0, "user_ns", 180 * MS);
	ASSERT_UINT(0, "system_ns", 100 * MS);
	ASSERT_UINT(0, "interrupted_ns", 20 * MS);
	shown[0].missing = no_calls;
	shown[1].missing = no_irqs;
	shown[0].n_missing = shown[1].n_missing = 1;
	build(&q);
	ASSERT_NULL(0, "user_ns");
	ASSERT_NULL(0, "system_ns");
	ASSERT_UINT(0, "interrupted_ns", 20 * MS);
	ASSERT_UINT(1, "user_ns", 200 * MS);
	ASSERT_UINT(1, "system_ns", 100 * MS);
	ASSERT_NULL(1, "interrupted_ns");
	q.sum_by = VIEW_SUM_ALL;
	build(&q);
	ASSERT_UINT(0, "cpu_ns", 600 * MS);
	ASSERT_NULL(0, "user_ns");
	ASSERT_NULL(0, "interrupted_ns");
}
END_TEST

/* The sum over hosts has as much per second as they have, each in the time that its own record covers. */
START_TEST(test_sum_of_unequal_records)
{
	struct thread_row *a = add_thread(0, 10, 10, 1, "short"), *b = add_thread(1, 20, 20, 1, "long");
	struct thread_row *c = add_thread(0, 11, 11, 1, "also short");
	struct view_query q = query("cpu");

	begin();
	STATE_ROW(&hosts[0].state, HOST, host, 0)->unrecorded_ns = 900 * MS;
	a->cpu_ns = 60 * MS;
	c->cpu_ns = 20 * MS;
	b->cpu_ns = 500 * MS;
	a->read_disk = 300;
	b->read_net = 1000;
	a->switches = b->switches = 7;
	end();
	q.sum_by = VIEW_SUM_HOST;
	build(&q);
	ASSERT_REAL(0, "cpu_percent", 80.0);
	ASSERT_REAL(1, "cpu_percent", 50.0);
	q.sum_by = VIEW_SUM_ALL;
	build(&q);
	ck_assert_uint_eq(rows.n, 1);
	ASSERT_UINT(0, "rows", 3);
	ASSERT_UINT(0, "cpu_ns", 580 * MS);
	ASSERT_UINT(0, "switches", 14);
	ASSERT_REAL(0, "cpu_percent", 130.0);
	q = query("io");
	q.sum_by = VIEW_SUM_ALL;
	build(&q);
	ASSERT_UINT(0, "read_bytes", 1300);
	ASSERT_REAL(0, "read_rate", 3000.0 + 1000.0);
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
	shown[0].iv = NULL; /* nothing is known about it in this interval */
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
	static const char *no_softirqs[] = { "irq_softirq_exit" }, *no_irqs[] = { "irq_handler_entry" };
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
	shown[0].missing = no_softirqs;
	shown[0].n_missing = 1;
	build_table("cpus");
	ASSERT_UINT(0, "irq_ns", 5);
	ASSERT_NULL(0, "softirq_ns");
	shown[0].missing = no_irqs;
	build_table("cpus");
	ASSERT_NULL(0, "irq_ns");
	ASSERT_NULL(0, "softirq_percent");
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
	ASSERT_TEXT(1, "path", "/etc/hosts"); /* stays although no bytes were transferred */
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
	b->count = 3; /* the entry of one call was not seen */
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
	ASSERT_UINT(1, "avg_ns", 5); /* 19 / 4 */
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

	/* one column per counter */
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
	struct thread_row *main_a = add_thread(0, 10, 10, 1, "first"), *t, *main_b, *before, *main_c;
	struct view_query q = query("cpu");
	uint64_t uid;

	t = add_thread(0, 11, 10, 1, "helper");
	before = add_thread(0, 21, 20, 1, "before its main thread");
	main_c = add_thread(0, 20, 20, 1, "third");
	begin();
	before->cpu_ns = 4;
	main_c->cpu_ns = 5;
	main_a->cpu_ns = 100;
	main_a->state = THREAD_BLOCKED;
	main_a->since_ns = END - 9;
	t->cpu_ns = 20;
	t->state = THREAD_RUNNING;
	t->since_ns = END - 5;
	t->cpu = 3;
	main_b = add_thread(0, 10, 10, 1, "second"); /* the same PID, later */
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
	ck_assert_uint_eq(rows.n, 3);
	ASSERT_TEXT(0, "comm", "first");
	ASSERT_UINT(0, "tid", 10);
	ASSERT_UINT(0, "threads", 2);
	ASSERT_UINT(0, "cpu_ns", 125);
	ASSERT_UINT(0, "blocked_ns", 9);
	ASSERT_TEXT(0, "state", "R"); /* the state of one of its threads */
	ASSERT_UINT(0, "last_cpu", 3);
	ck_assert_uint_eq(rows.rows[0].key.uid, uid);
	ASSERT_TEXT(1, "comm", "second");
	ASSERT_UINT(1, "cpu_ns", 3);
	ASSERT_NULL(1, "exited_ns"); /* its main thread is alive */
	ASSERT_TEXT(2, "comm", "third");
	ASSERT_UINT(2, "tid", 20);
	ASSERT_UINT(2, "cpu_ns", 9);
}
END_TEST

/* A request from before its disk had a name has that name; other causes that contain numbers stay. */
START_TEST(test_causes_of_instances)
{
	static const struct {
		const char *cause, *shown;
	} cases[] = {
		{ "254:0", "vda" },       { "254:0 read", "vda read" },
		{ "254:1", "254:1" },     { "254:2 write", "254:2 write" },
		{ "254:0.5", "254:0.5" }, { "8139too", "8139too" },
		{ "vda", "vda" },
	};
	struct disk_row *disk;
	struct instance_row *row;

	begin();
	disk = ADD(0, DISK, disk);
	disk->dev = 254 << 20;
	disk->name = strpool_intern_z("vda");
	disk = ADD(0, DISK, disk);
	disk->dev = 254 << 20 | 2;
	disk->name = strpool_intern_z("254:2");
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		row = ADD(0, INSTANCE, instance);
		row->begin_ns = BEGIN + i;
		row->cause = strpool_intern_z(cases[i].cause);
	}
	end();
	build_table("instances");
	ck_assert_uint_eq(rows.n, G_N_ELEMENTS(cases));
	for (unsigned i = 0; i < rows.n; i++)
		ASSERT_TEXT(i, "cause", cases[i].shown);
}
END_TEST

/* One end of a connection to the other host. */
static struct relation_row *add_half(int h, uint64_t from_pid, uint64_t to_pid)
{
	struct relation_row *r = ADD(h, RELATION, relation);

	r->kind = RELATION_INET;
	r->flow = 77;
	r->from_uid = from_pid;
	r->to_uid = to_pid;
	r->from_pid = from_pid ? from_pid : UINT64_MAX;
	r->to_pid = to_pid ? to_pid : UINT64_MAX;
	return r;
}

/*
 * Of two processes that have to do with a connection, the one that read is at its end, in the interval or else before
 * it; else the one that was woken more often. If that is the same, it is not known which; two rows of one are no doubt.
 */
START_TEST(test_far_end_of_relations)
{
	static const struct {
		unsigned before[2], bytes[2], wakes[2];
		uint64_t second, want;
	} cases[] = {
		{ { 0, 0 }, { 0, 0 }, { 1, 1 }, 6, 0 },   { { 0, 0 }, { 0, 0 }, { 0, 0 }, 6, 0 },
		{ { 0, 0 }, { 0, 0 }, { 189, 4 }, 6, 5 }, { { 0, 0 }, { 0, 0 }, { 4, 189 }, 6, 6 },
		{ { 0, 0 }, { 9, 0 }, { 1, 5 }, 6, 5 },   { { 0, 0 }, { 0, 9 }, { 5, 1 }, 6, 6 },
		{ { 9, 0 }, { 0, 0 }, { 0, 1 }, 6, 5 },   { { 0, 9 }, { 0, 0 }, { 1, 0 }, 6, 6 },
		{ { 9, 0 }, { 0, 1 }, { 1, 0 }, 6, 6 },   { { 0, 0 }, { 0, 0 }, { 1, 1 }, 5, 5 },
	};
	struct relation_row *halves[2], *sent;

	for (unsigned c = 0; c < G_N_ELEMENTS(cases); c++) {
		if (c) {
			teardown();
			setup();
		}
		for (unsigned i = 0; i < 2; i++) {
			halves[i] = add_half(1, 0, i ? cases[c].second : 5);
			halves[i]->bytes = cases[c].before[i];
		}
		sent = add_half(0, 4, 0);
		begin();
		sent->bytes = 20;
		for (unsigned i = 0; i < 2; i++) {
			halves[i]->bytes += cases[c].bytes[i];
			halves[i]->wait.count = cases[c].wakes[i];
		}
		end();
		build_table("relations");
		ASSERT_UINT(0, "from_pid", 4);
		if (cases[c].want)
			ASSERT_UINT(0, "to_pid", cases[c].want);
		else
			ASSERT_NULL(0, "to_pid");
	}
}
END_TEST

UNIT_MAIN_AROUND("view figures", setup, teardown, test_cpu, test_cpu_time_in_parts, test_sum_of_unequal_records,
		 test_rows_without_figures, test_io, test_hosts, test_events_and_probes, test_cpus, test_files,
		 test_disks, test_net, test_irqs, test_syscalls, test_sched, test_perf, test_processes,
		 test_causes_of_instances, test_far_end_of_relations)
