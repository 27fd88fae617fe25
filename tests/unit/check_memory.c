/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory limit of models: threads that lose their rows remain in the sums. */
#include "unit.h"

#include <errno.h>

#include "events.h"
#include "model/files.h"
#include "model/interval.h"
#include "model/memory.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { TASKS = 20000, LIMIT = 2 << 20 };
#else
enum { TASKS = 500000, LIMIT = 32 << 20 };
#endif

enum { FIRST = 1000, SLICE_NS = 100 };

static const uint32_t tables = 1u << TABLE_HOST | 1u << TABLE_CPU | 1u << TABLE_THREAD | 1u << TABLE_FILE |
			       1u << TABLE_SYSCALL | 1u << TABLE_SYSERR | 1u << TABLE_BLOCKING | 1u << TABLE_RELATION |
			       1u << TABLE_CONNECTION | 1u << TABLE_BUCKET;

/* A model with little memory, and an interval of it. */
struct bounded {
	struct events e;
	struct model_memory memory;
	struct interval iv;
	uint64_t now;
	int64_t runs; /* on CPU 0 */
};

static void begin(struct bounded *b, size_t limit)
{
	*b = (struct bounded){ .memory = { .limit = limit, .copies = 1 }, .now = 1000 };
	events_init(&b->e);
	model_set_memory(b->e.m, &b->memory);
	interval_init(&b->iv);
	model_begin(b->e.m, b->now);
	interval_begin(&b->iv, &b->e.m->state, b->now, tables);
}

static void release(struct bounded *b)
{
	interval_release(&b->iv);
	events_release(&b->e);
}

/* The thread with that TID runs from now on. */
static void run(struct bounded *b, int64_t tid)
{
	events_switch(&b->e, b->now, 0, b->runs, 1, tid, "task");
	b->runs = tid;
	b->now += SLICE_NS;
}

static void fork_task(struct bounded *b, int64_t tid)
{
	EVENT(&b->e, b->now, 0, b->runs, FORK, new_task, .parent_tid = 1, .parent_pid = 1, .child_tid = tid,
	      .child_pid = tid);
}

static void frame_ends(struct bounded *b)
{
	state_reap(&b->e.m->state, interval_retire, &b->iv);
	state_frame_begin(&b->e.m->state);
	model_bound_interval(b->e.m, &b->iv);
}

static uint64_t sum(const struct bounded *b, enum table_id table, unsigned cell)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < b->iv.tables[table].n_rows; i++)
		total += interval_value(&b->iv, table, &b->iv.tables[table].rows[i], cell);
	return total;
}

/* The number of values in all buckets of a distribution, over all owners. */
static uint64_t in_buckets(const struct bounded *b, uint64_t dist)
{
	const struct interval_table *t = &b->iv.tables[TABLE_BUCKET];
	uint64_t total = 0;

	for (uint32_t i = 0; i < t->n_rows; i++)
		for (unsigned k = 0; t->rows[i].b[CELL(bucket, dist)] == dist && k < BUCKETS_IN_ROW; k++)
			total += interval_value(&b->iv, TABLE_BUCKET, &t->rows[i], CELL(bucket, first) + k);
	return total;
}

#define ASSERT_BUCKETS(b, TABLE, type, member)                                                 \
	ck_assert_uint_eq(in_buckets(b, bucket_dist(TABLE_##TABLE, CELL(type, member.count))), \
			  sum(b, TABLE_##TABLE, CELL(type, member.count)))

/* The interval ends, and all of its time belongs to threads; the next one starts. */
static void interval_ends(struct bounded *b, uint64_t switches)
{
	state_reap(&b->e.m->state, interval_retire, &b->iv);
	state_frame_begin(&b->e.m->state);
	interval_end(&b->iv, &b->e.m->state, b->now);
	ck_assert_uint_eq(sum(b, TABLE_CPU, CELL(cpu, online_ns)), b->now - b->iv.begin_ns);
	ck_assert_uint_eq(sum(b, TABLE_THREAD, CELL(thread, cpu_ns)) + sum(b, TABLE_CPU, CELL(cpu, idle_ns)),
			  b->now - b->iv.begin_ns);
	ck_assert_uint_eq(sum(b, TABLE_THREAD, CELL(thread, switches)), switches);
	ASSERT_BUCKETS(b, THREAD, thread, slice);
	ASSERT_BUCKETS(b, THREAD, thread, latency);
	ASSERT_BUCKETS(b, SYSCALL, syscall, time);
	interval_begin(&b->iv, &b->e.m->state, b->now, tables);
	model_bound_interval(b->e.m, &b->iv);
}

static const struct host_row *host(const struct bounded *b)
{
	const struct model *m = b->e.m;

	return HOST_ROW(m);
}

/* The row "other" of the interval's threads; NULL: none. */
static const struct thread_row *other_thread(const struct bounded *b)
{
	const struct state_table *t = &b->e.m->state.tables[TABLE_THREAD];

	for (uint32_t row = NO_ROW; (row = state_next(t, row)) != NO_ROW;) {
		const struct thread_row *r = STATE_ROW(&b->e.m->state, THREAD, thread, row);

		if ((int64_t)r->tid == -1)
			return r;
	}
	return NULL;
}

START_TEST(test_no_bound_changes_nothing)
{
	struct bounded b;

	begin(&b, 0);
	run(&b, 1);
	for (int i = 0; i < 5000; i++) {
		fork_task(&b, FIRST + i);
		run(&b, FIRST + i);
	}
	ck_assert_ptr_null(model_shortage(b.e.m));
	ck_assert_uint_eq(b.e.m->state.tables[TABLE_THREAD].n_alive, 5001);
	ck_assert_ptr_null(other_thread(&b));
	interval_ends(&b, 5001);
	release(&b);
}
END_TEST

/* More and more live tasks: those that sleep longest lose their rows. */
START_TEST(test_many_live_tasks)
{
	const struct state_table *t;
	uint64_t switches = 1;
	struct bounded b;

	begin(&b, LIMIT);
	t = &b.e.m->state.tables[TABLE_THREAD];
	run(&b, 1);
	for (int i = 0; i < TASKS; i++) {
		fork_task(&b, FIRST + i);
		run(&b, FIRST + i);
		switches++;
		if (i % (TASKS / 50) == 0)
			frame_ends(&b);
		if (i % (TASKS / 4) != TASKS / 4 - 1)
			continue;
		interval_ends(&b, switches);
		switches = 0;
	}
	ck_assert_uint_le(b.memory.used, LIMIT + LIMIT / 16);
	ck_assert_uint_lt(t->n_rows, TASKS / 4);
	ck_assert_ptr_nonnull(model_shortage(b.e.m));
	ck_assert_uint_eq(host(&b)->threads, TASKS + 1);
	ck_assert_uint_ne(thread_find(b.e.m, FIRST + TASKS - 2), NO_ROW);
	ck_assert_uint_eq(thread_find(b.e.m, FIRST + 1), NO_ROW);
	/* it comes back */
	run(&b, FIRST + 1);
	ck_assert_uint_ne(thread_find(b.e.m, FIRST + 1), NO_ROW);
	ck_assert_uint_eq(host(&b)->threads, TASKS + 1);
	interval_ends(&b, 1);
	release(&b);
}
END_TEST

/* Processes that live within one frame are counted together as "other". */
START_TEST(test_many_brief_tasks)
{
	struct bounded b;
	unsigned n = TASKS / 10;

	begin(&b, LIMIT / 16);
	run(&b, 1);
	for (unsigned i = 0; i < n; i++) {
		fork_task(&b, FIRST + i);
		run(&b, FIRST + i);
		SYSCALL_ENTRY(&b.e, b.now, 0, FIRST + i, "read", .fd = -1, .fd2 = -1);
		SYSCALL_EXIT(&b.e, b.now, 0, FIRST + i, "read", .ret = -EBADF);
		EVENT(&b.e, b.now, 0, FIRST + i, EXIT, task, .tid = FIRST + i);
		run(&b, 1);
		EVENT(&b.e, b.now, 0, 1, FREE, task, .tid = FIRST + i);
	}
	ck_assert_uint_eq(host(&b)->threads, 1);
	ck_assert_uint_eq(host(&b)->threads_gone, n);
	ck_assert_uint_le(b.memory.used, LIMIT / 16 + LIMIT / 32);
	ck_assert_ptr_nonnull(other_thread(&b));
	ck_assert_str_eq(strpool_text((strid)other_thread(&b)->comm), "other");
	ck_assert_uint_ge(other_thread(&b)->syscalls, n / 2);
	state_reap(&b.e.m->state, interval_retire, &b.iv);
	state_frame_begin(&b.e.m->state);
	interval_end(&b.iv, &b.e.m->state, b.now);
	ck_assert_uint_eq(sum(&b, TABLE_THREAD, CELL(thread, syscalls)), n);
	ck_assert_uint_eq(sum(&b, TABLE_SYSCALL, CELL(syscall, count)), n);
	ck_assert_uint_eq(sum(&b, TABLE_SYSCALL, CELL(syscall, errors)), n);
	ck_assert_uint_eq(sum(&b, TABLE_SYSERR, CELL(syserr, count)), n);
	ck_assert_uint_eq(sum(&b, TABLE_SYSCALL, CELL(syscall, time.count)), n);
	ASSERT_BUCKETS(&b, SYSCALL, syscall, time);
	ASSERT_BUCKETS(&b, THREAD, thread, slice);
	interval_begin(&b.iv, &b.e.m->state, b.now, tables);
	release(&b);
}
END_TEST

/* Rows of ended threads that are kept until what they wrote is on a disk give way: the kernel thread wrote it. */
START_TEST(test_many_kept_tasks)
{
	const size_t limit = 1 << 20;
	const unsigned n = 900;
	uint64_t kept;
	struct bounded b;

	begin(&b, limit);
	run(&b, 1);
	for (unsigned i = 0; i < n; i++) {
		fork_task(&b, FIRST + i);
		run(&b, FIRST + i);
		EVENT(&b.e, b.now, 0, FIRST + i, PAGE_DIRTY, inode, .ino = FIRST + i, .dev = str(&rec, "8:0"));
		EVENT(&b.e, b.now, 0, FIRST + i, EXIT, task, .tid = FIRST + i);
		run(&b, 1);
		EVENT(&b.e, b.now, 0, 1, FREE, task, .tid = FIRST + i);
		if (i % 16 == 0)
			frame_ends(&b);
	}
	frame_ends(&b);
	kept = b.e.m->dirty.n_kept;
	ck_assert_uint_gt(kept, 0);
	ck_assert_uint_le(b.memory.used, limit + limit / 8);
	ck_assert_ptr_nonnull(model_shortage(b.e.m));
	thread_set_comm(b.e.m, thread_find(b.e.m, 1), "kworker/u4:1\0\0\0");
	THREAD_ROW(b.e.m, thread_find(b.e.m, 1))->flags |= THREAD_KERNEL;
	EVENT(&b.e, b.now, 0, 1, BLOCK_GETRQ, block_rq, .dev = 8 << 20, .sector = 8, .nr_sector = 8 * n, .rwbs = 1);
	EVENT(&b.e, b.now, 0, 1, BLOCK_ISSUE, block_rq, .dev = 8 << 20, .sector = 8, .nr_sector = 8 * n, .rwbs = 1);
	EVENT(&b.e, b.now, 0, 0, BLOCK_COMPLETE, block_rq, .dev = 8 << 20, .sector = 8, .nr_sector = 8 * n, .rwbs = 1);
	interval_end(&b.iv, &b.e.m->state, b.now);
	ck_assert_uint_eq(sum(&b, TABLE_THREAD, CELL(thread, disk_write_bytes)), (uint64_t)n * 4096);
	ck_assert_uint_eq(sum(&b, TABLE_THREAD, CELL(thread, disk_writeback_bytes)), kept * 4096);
	interval_begin(&b.iv, &b.e.m->state, b.now, tables);
	release(&b);
}
END_TEST

/* The same over many frames of one interval, as in a report: rows that ended take memory, too. */
START_TEST(test_many_ended_tasks)
{
	struct bounded b;
	unsigned n = TASKS / 10;
	uint64_t brief_ns;

	begin(&b, LIMIT / 16);
	run(&b, 1);
	for (unsigned i = 0; i < n; i++) {
		fork_task(&b, FIRST + i);
		run(&b, FIRST + i);
		SYSCALL_ENTRY(&b.e, b.now - 9, 0, FIRST + i, i % 2 ? "read" : "write", .fd = -1, .fd2 = -1);
		SYSCALL_EXIT(&b.e, b.now, 0, FIRST + i, i % 2 ? "read" : "write", .ret = 0);
		EVENT(&b.e, b.now, 0, FIRST + i, EXIT, task, .tid = FIRST + i);
		run(&b, 1);
		EVENT(&b.e, b.now, 0, 1, FREE, task, .tid = FIRST + i);
		if (i % 16 == 0)
			frame_ends(&b);
	}
	ck_assert_uint_le(b.memory.used, LIMIT / 16 + LIMIT / 64);
	ck_assert_ptr_nonnull(model_shortage(b.e.m));
	ck_assert_uint_lt(interval_ended(&b.iv, TABLE_THREAD), n / 2);
	ck_assert_uint_gt(interval_ended(&b.iv, TABLE_THREAD), 16);
	brief_ns = other_thread(&b)->cpu_ns;
	ck_assert_uint_ge(brief_ns, (uint64_t)n / 2 * SLICE_NS);
	interval_ends(&b, 2 * n + 1);
	release(&b);
}
END_TEST

/* Distinct waits: rows of TABLE_BLOCKING end when others come, but take memory until the frame ends. */
static void wait_for_many_files(struct bounded *b, unsigned n, unsigned frame)
{
	char path[32];

	for (unsigned i = 0; i < n; i++) {
		g_snprintf(path, sizeof(path), "/f%u", i);
		SYSCALL_ENTRY(&b->e, b->now, 0, 1, "openat", .fd = -100, .fd2 = -1, .path = str(&rec, path));
		SYSCALL_EXIT(&b->e, b->now, 0, 1, "openat", .ret = 3);
		SYSCALL_ENTRY(&b->e, b->now, 0, 1, "read", .fd = 3, .fd2 = -1);
		run(b, 2);
		run(b, 1);
		SYSCALL_EXIT(&b->e, b->now, 0, 1, "read", .ret = 1);
		SYSCALL_ENTRY(&b->e, b->now, 0, 1, "close", .fd = 3, .fd2 = -1);
		SYSCALL_EXIT(&b->e, b->now, 0, 1, "close", .ret = 0);
		if (frame && i % frame == 0)
			frame_ends(b);
	}
}

static void check_waits(unsigned frame)
{
	enum { WAITS = 40000, ROOM = 6 << 20 };
	struct bounded b;

	begin(&b, ROOM);
	run(&b, 2);
	run(&b, 1);
	wait_for_many_files(&b, WAITS, frame);
	ck_assert_uint_le(b.memory.used, ROOM + ROOM / 16);
	ck_assert_ptr_nonnull(model_shortage(b.e.m));
	ck_assert_ptr_nonnull(other_thread(&b));
	state_reap(&b.e.m->state, interval_retire, &b.iv);
	state_frame_begin(&b.e.m->state);
	interval_end(&b.iv, &b.e.m->state, b.now);
	/* each of them off the CPU, except the one waiting now: WAITS of the reader, and as many of the other */
	ck_assert_uint_eq(sum(&b, TABLE_BLOCKING, CELL(blocking, time.count)), 2 * WAITS);
	ck_assert_uint_eq(sum(&b, TABLE_BLOCKING, CELL(blocking, time.sum)), 2 * (uint64_t)WAITS * SLICE_NS);
	interval_begin(&b.iv, &b.e.m->state, b.now, tables);
	release(&b);
}

START_TEST(test_many_waits)
{
	check_waits(0);
}
END_TEST

START_TEST(test_many_ended_waits)
{
	check_waits(16);
}
END_TEST

/* Each time, task 2 waits for a lock of another file, which task 1 releases: one row of TABLE_RELATION each. */
static void lock_many_files(struct bounded *b, unsigned n, unsigned frame)
{
	char path[32];

	for (unsigned i = 0; i < n; i++) {
		g_snprintf(path, sizeof(path), "/f%u", i);
		SYSCALL_ENTRY(&b->e, b->now, 0, 2, "openat", .fd = -100, .fd2 = -1, .path = str(&rec, path));
		SYSCALL_EXIT(&b->e, b->now, 0, 2, "openat", .ret = 3);
		SYSCALL_ENTRY(&b->e, b->now, 0, 2, "flock", .fd = 3, .fd2 = -1, .cmd = 2);
		run(b, 1);
		SYSCALL_ENTRY(&b->e, b->now, 0, 1, "flock", .fd = 8, .fd2 = -1, .cmd = 8);
		EVENT(&b->e, b->now, 0, 1, SCHED_WAKING, wakeup, .tid = 2);
		SYSCALL_EXIT(&b->e, b->now, 0, 1, "flock", .ret = 0);
		run(b, 2);
		SYSCALL_EXIT(&b->e, b->now, 0, 2, "flock", .ret = 0);
		SYSCALL_ENTRY(&b->e, b->now, 0, 2, "close", .fd = 3, .fd2 = -1);
		SYSCALL_EXIT(&b->e, b->now, 0, 2, "close", .ret = 0);
		if (frame && i % frame == 0)
			frame_ends(b);
	}
}

/* A port scan with one packet per port: rows of TABLE_CONNECTION that do not end by themselves. */
static void check_connections(unsigned frame)
{
	enum { SYNS = 40000, ROOM = 4 << 20, HEADERS = 40, SYN = 2 };
	struct bounded b;

	begin(&b, ROOM);
	run(&b, 1);
	for (unsigned i = 0; i < SYNS; i++) {
		EVENT(&b.e, b.now, 0, 1, NET_RECEIVE, net, .ip_version = 4, .protocol = 6, .flags = SYN, .saddr = { 1 },
		      .daddr = { 2 }, .sport = 1 + i % 60000, .dport = 1 + i / 60000, .tot_len = HEADERS,
		      .header_words = 5 << 8 | 5, .name = str(&rec, "eth0"));
		b.now += SLICE_NS;
		if (frame && i % frame == 0)
			frame_ends(&b);
	}
	ck_assert_uint_le(b.memory.used, ROOM + ROOM / 16);
	ck_assert_ptr_nonnull(model_shortage(b.e.m));
	state_reap(&b.e.m->state, interval_retire, &b.iv);
	state_frame_begin(&b.e.m->state);
	interval_end(&b.iv, &b.e.m->state, b.now);
	ck_assert_uint_eq(sum(&b, TABLE_CONNECTION, CELL(connection, received_packets)), SYNS);
	interval_begin(&b.iv, &b.e.m->state, b.now, tables);
	release(&b);
}

START_TEST(test_many_connections)
{
	check_connections(0);
	check_connections(16);
}
END_TEST

static void check_relations(unsigned frame)
{
	enum { LOCKS = 40000, ROOM = 10 << 20 };
	struct bounded b;

	begin(&b, ROOM);
	run(&b, 1);
	run(&b, 2);
	lock_many_files(&b, LOCKS, frame);
	ck_assert_uint_le(b.memory.used, ROOM + ROOM / 16);
	state_reap(&b.e.m->state, interval_retire, &b.iv);
	state_frame_begin(&b.e.m->state);
	interval_end(&b.iv, &b.e.m->state, b.now);
	ck_assert_uint_eq(sum(&b, TABLE_RELATION, CELL(relation, count)), LOCKS);
	ck_assert_uint_eq(sum(&b, TABLE_RELATION, CELL(relation, wait.sum)), (uint64_t)LOCKS * SLICE_NS);
	interval_begin(&b.iv, &b.e.m->state, b.now, tables);
	release(&b);
}

START_TEST(test_many_relations)
{
	check_relations(0);
}
END_TEST

START_TEST(test_many_ended_relations)
{
	check_relations(16);
}
END_TEST

/* If memory is short, inherited fds are counted but not listed. */
START_TEST(test_files_that_do_not_fit)
{
	const struct state_table *t;
	struct bounded b;
	unsigned fds = 200, forks = 200;

	begin(&b, 1 << 20);
	t = &b.e.m->state.tables[TABLE_FILE];
	run(&b, 1);
	for (unsigned fd = 0; fd < fds; fd++) {
		SYSCALL_ENTRY(&b.e, b.now, 0, 1, "openat", .fd = -100, .fd2 = -1, .path = str(&rec, "/f"));
		SYSCALL_EXIT(&b.e, b.now, 0, 1, "openat", .ret = fd);
	}
	for (unsigned i = 0; i < forks; i++)
		fork_task(&b, FIRST + i);
	ck_assert_ptr_null(model_shortage(b.e.m));
	model_list_files(b.e.m);
	ck_assert_ptr_nonnull(model_shortage(b.e.m));
	ck_assert_uint_gt(t->n_alive, 2 * fds);
	ck_assert_uint_lt(t->n_alive, fds * forks / 4);
	ck_assert_uint_eq(host(&b)->fds, fds * (forks + 1));
	/* one that is used gets a row */
	run(&b, FIRST + forks - 1);
	SYSCALL_ENTRY(&b.e, b.now, 0, b.runs, "read", .fd = 7, .fd2 = -1);
	SYSCALL_EXIT(&b.e, b.now, 0, b.runs, "read", .ret = 12);
	state_reap(&b.e.m->state, interval_retire, &b.iv);
	interval_end(&b.iv, &b.e.m->state, b.now);
	ck_assert_uint_eq(sum(&b, TABLE_FILE, CELL(file, read_bytes)), 12);
	release(&b);
}
END_TEST

UNIT_MAIN("memory", test_no_bound_changes_nothing, test_many_live_tasks, test_many_brief_tasks, test_many_kept_tasks,
	  test_many_ended_tasks, test_many_waits, test_many_ended_waits, test_many_relations, test_many_connections,
	  test_many_ended_relations, test_files_that_do_not_fit)
