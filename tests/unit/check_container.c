/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Membership of threads in containers, from the namespaces in the state dump, forks and contexts. */
#include "unit.h"

#include "base/strpool.h"
#include "events.h"

enum { NS1 = 4026532318u, NS2 = 4026532320u, NS3 = 4026532322u, CGROUP = 4026532400u };

static struct events e;
static uint64_t now;

static void setup(void)
{
	events_init(&e);
	now = 1000;
}

static void teardown(void)
{
	events_release(&e);
}

static void dump_process(int64_t tid, int64_t pid, const char *name)
{
	struct ev_dump_process p = { .tid = tid, .pid = pid, .ppid = 1 };
	struct record r;

	record_init(&r, now += 10, 0, 1, EVENT_DUMP_PROCESS);
	g_strlcpy(p.name, name, sizeof(p.name));
	events_add(&e, &r, &p, sizeof(p));
}

static void dump_ns(int64_t tid, uint64_t level, uint64_t inode, int64_t vtid)
{
	EVENT(&e, now += 10, 0, 1, DUMP_PID_NS, dump_ns, .tid = tid, .vtid = vtid, .vpid = vtid, .ns_level = level,
	      .ns_inum = inode);
}

static void dump_cgroup_ns(int64_t tid, uint64_t inode)
{
	EVENT(&e, now += 10, 0, 1, DUMP_CGROUP_NS, dump_ns, .tid = tid, .ns_inum = inode);
}

#define FORK_TO(parent, tid, from, to, ...)                                                                           \
	EVENT(&e, now += 10, 0, parent, FORK, new_task, .parent_tid = parent, .parent_pid = parent, .child_tid = tid, \
	      .child_pid = tid, .parent_ns = from, .child_ns = to, .child_vtids = { __VA_ARGS__ },                    \
	      .parent_comm = "sh", .child_comm = "sh")

static void leave(int64_t tid)
{
	EVENT(&e, now += 10, 0, tid, EXIT, task, .tid = tid);
	EVENT(&e, now += 10, 0, 0, FREE, task, .tid = tid);
}

static unsigned count(enum table_id table)
{
	const struct state_table *t = &model_state(e.m)->tables[table];
	unsigned n = 0;

	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;)
		n += !(t->flags[row] & ROW_ENDED);
	return n;
}

/* NULL: there is no container with that inode. */
static const struct container_row *container(uint64_t inode)
{
	const struct state_table *t = &model_state(e.m)->tables[TABLE_CONTAINER];

	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;) {
		const struct container_row *c = STATE_ROW(model_state(e.m), CONTAINER, container, row);

		if (!(t->flags[row] & ROW_ENDED) && c->inode == inode)
			return c;
	}
	return NULL;
}

static void assert_container(uint64_t inode, uint64_t level, uint64_t parent, int64_t pid, const char *comm,
			     uint64_t threads)
{
	const struct container_row *c = container(inode);

	ck_assert_ptr_nonnull(c);
	ck_assert_uint_eq(c->level, level);
	ck_assert_uint_eq(c->parent, parent);
	ck_assert_int_eq((int64_t)c->pid, pid);
	ck_assert_str_eq(strpool_text((strid)c->comm), comm);
	ck_assert_uint_eq(c->threads, threads);
}

static void assert_in(int64_t tid, uint64_t inode)
{
	const struct container_row *c = inode ? container(inode) : NULL;

	ck_assert_uint_eq(events_thread(&e, tid)->container, c ? c->uid : 0);
	ck_assert(!inode || c);
}

/* The thread's ID at an intermediate level; 0: unknown. */
static uint64_t between(int64_t tid, uint64_t level)
{
	const struct state_table *t = &model_state(e.m)->tables[TABLE_VTID];

	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;) {
		const struct vtid_row *v = STATE_ROW(model_state(e.m), VTID, vtid, row);

		if (!(t->flags[row] & ROW_ENDED) && v->thread_uid == events_thread(&e, tid)->uid && v->level == level)
			return v->vtid;
	}
	return 0;
}

/* A thread nested in two containers, as reported by lttng-modules: its own namespace first. */
static void dump_nested(bool innermost_first)
{
	dump_process(70, 70, "nested");
	for (int i = 0; i < 4; i++) {
		static const uint64_t inodes[] = { HOST_PID_NS, NS1, NS2, NS3 };
		static const int64_t vtids[] = { 70, 8, 4, 1 };
		const int level = innermost_first ? 3 - i : i;

		dump_ns(70, (uint64_t)level, inodes[level], vtids[level]);
	}
}

static void check_dump(bool innermost_first)
{
	dump_process(1, 1, "init");
	dump_ns(1, 0, HOST_PID_NS, 1);
	dump_nested(innermost_first);
	dump_process(50, 50, "middle");
	dump_ns(50, 2, NS2, 1);
	dump_ns(50, 1, NS1, 7);
	dump_ns(50, 0, HOST_PID_NS, 50);
	assert_in(1, 0);
	assert_in(70, NS3);
	assert_container(NS3, 3, NS2, 70, "nested", 1);
	assert_container(NS2, 2, NS1, 50, "middle", 1);
	ck_assert_uint_eq(events_thread(&e, 70)->vtid, 1);
	ck_assert_uint_eq(events_thread(&e, 70)->vpid, 1);
	ck_assert_uint_eq(between(70, 2), 4);
	ck_assert_uint_eq(between(70, 1), 8);
	ck_assert_uint_eq(between(50, 1), 7);
	ck_assert_uint_eq(count(TABLE_VTID), 3);
	/* no thread of the dump is in it */
	ck_assert_ptr_null(container(NS1));
}

START_TEST(test_dump)
{
	check_dump(true);
}
END_TEST

START_TEST(test_dump_outermost_first)
{
	check_dump(false);
}
END_TEST

/* Before 2.13, the state of a task is dumped once for each namespace. */
START_TEST(test_old_dump)
{
	EVENT(&e, now += 10, 0, 1, DUMP_PROCESS, dump_process, .tid = 70, .pid = 70, .vtid = 1, .vpid = 1,
	      .ns_level = 1, .ns_inum = NS1, .name = "app");
	EVENT(&e, now += 10, 0, 1, DUMP_PROCESS, dump_process, .tid = 70, .pid = 70, .vtid = 70, .vpid = 70,
	      .ns_level = 0, .ns_inum = HOST_PID_NS, .name = "app");
	assert_in(70, NS1);
	assert_container(NS1, 1, HOST_PID_NS, 70, "app", 1);
	ck_assert_uint_eq(events_thread(&e, 70)->vtid, 1);
}
END_TEST

/* unshare or clone, then a fork inside, then setns from the host into the inner one. */
START_TEST(test_forks)
{
	FORK_TO(1, 10, HOST_PID_NS, HOST_PID_NS, 10);
	FORK_TO(10, 20, HOST_PID_NS, NS1, 20, 1);
	FORK_TO(20, 21, NS1, NS1, 21, 2);
	FORK_TO(21, 30, NS1, NS2, 30, 3, 1);
	FORK_TO(10, 31, HOST_PID_NS, NS2, 31, 4, 2);
	assert_in(10, 0);
	assert_container(NS1, 1, HOST_PID_NS, 20, "sh", 2);
	assert_container(NS2, 2, NS1, 30, "sh", 2);
	assert_in(31, NS2);
	ck_assert_uint_eq(events_thread(&e, 31)->vtid, 2);
	ck_assert_uint_eq(between(31, 1), 4);
	ck_assert_uint_eq(between(21, 1), 0);
	EVENT(&e, now += 10, 0, 30, EXEC, exec, .tid = 30, .old_tid = 30, .filename = str(&rec, "/usr/bin/app"));
	assert_container(NS2, 2, NS1, 30, "app", 2);
	leave(31);
	ck_assert_uint_eq(container(NS2)->threads, 1);
	leave(30);
	ck_assert_ptr_null(container(NS2));
	ck_assert_uint_eq(count(TABLE_VTID), 0);
	ck_assert_uint_eq(count(TABLE_CONTAINER), 1);
}
END_TEST

/* A thread that is not the first of its process executes a program: with the first's TID, it stays in the container. */
START_TEST(test_exec_by_another_thread)
{
	FORK_TO(1, 20, HOST_PID_NS, NS1, 20, 1);
	dump_cgroup_ns(20, CGROUP);
	EVENT(&e, now += 10, 0, 20, FORK, new_task, .parent_tid = 20, .parent_pid = 20, .child_tid = 21,
	      .child_pid = 20, .parent_ns = NS1, .child_ns = NS1, .child_vtids = { 21, 6 }, .child_comm = "sh");
	EVENT(&e, now += 10, 0, 21, SCHED_SETPRIO, task, .tid = 21, .prio = 30);
	leave(20);
	EVENT(&e, now += 10, 0, 21, EXEC, exec, .tid = 20, .old_tid = 21, .filename = str(&rec, "/usr/bin/app"));
	ck_assert_uint_eq(thread_find(e.m, 21), NO_ROW);
	assert_container(NS1, 1, HOST_PID_NS, 20, "app", 1);
	assert_in(20, NS1);
	ck_assert_uint_eq(events_thread(&e, 20)->vtid, 1);
	ck_assert_uint_eq(events_thread(&e, 20)->vpid, 1);
	ck_assert_uint_eq(events_thread(&e, 20)->cgroup_ns, CGROUP);
	ck_assert_uint_eq(events_thread(&e, 20)->prio, 30);
}
END_TEST

/* A fork shows the namespace of a parent of which nothing was known. */
START_TEST(test_fork_by_an_unknown_thread)
{
	EVENT(&e, now += 10, 0, 0, SCHED_WAKING, wakeup, .tid = 20);
	FORK_TO(20, 21, NS1, NS1, 21, 2);
	assert_in(20, NS1);
	assert_in(21, NS1);
	ck_assert_uint_eq(container(NS1)->threads, 2);
}
END_TEST

/* setns into a namespace never seen before: its level is known, but not its parent. */
START_TEST(test_setns_into_the_unknown)
{
	FORK_TO(10, 31, HOST_PID_NS, NS2, 31, 4, 2);
	assert_container(NS2, 2, 0, 31, "sh", 1);
	FORK_TO(10, 32, HOST_PID_NS, NS1, 32, 9);
	assert_container(NS1, 1, 0, 32, "sh", 1);
}
END_TEST

/* The kernel reuses the inode of a namespace that no longer exists. */
START_TEST(test_number_used_again)
{
	uint64_t uid;

	FORK_TO(1, 20, HOST_PID_NS, NS1, 20, 1);
	FORK_TO(20, 30, NS1, NS2, 30, 2, 1);
	uid = container(NS2)->uid;
	leave(30);
	FORK_TO(1, 40, HOST_PID_NS, NS2, 40, 1);
	assert_container(NS2, 1, HOST_PID_NS, 40, "sh", 1);
	ck_assert_uint_ne(container(NS2)->uid, uid);
}
END_TEST

/* What is nested in a container stays so when the kernel gives the container's inode to another one. */
START_TEST(test_number_of_parent_used_again)
{
	uint64_t uid;

	FORK_TO(1, 20, HOST_PID_NS, NS1, 20, 1);
	FORK_TO(20, 30, NS1, NS2, 30, 2, 1);
	uid = container(NS1)->uid;
	leave(20);
	FORK_TO(1, 40, HOST_PID_NS, NS1, 40, 1);
	FORK_TO(40, 50, NS1, NS3, 50, 2, 1);
	ck_assert_uint_ne(container(NS1)->uid, uid);
	ck_assert_uint_eq(container(NS2)->parent_uid, uid);
	ck_assert_uint_eq(container(NS3)->parent_uid, container(NS1)->uid);
	ck_assert_uint_eq(container(NS1)->parent_uid, 0);
}
END_TEST

START_TEST(test_cgroup_ns)
{
	dump_process(60, 60, "first");
	dump_ns(60, 0, HOST_PID_NS, 60);
	dump_cgroup_ns(60, CGROUP);
	dump_process(61, 61, "second");
	dump_cgroup_ns(61, CGROUP);
	dump_process(62, 62, "host");
	dump_cgroup_ns(62, HOST_CGROUP_NS);
	assert_in(62, 0);
	assert_container(CGROUP, 0, 0, 60, "first", 2);
	ck_assert_uint_eq(container(CGROUP)->of_cgroup, 1);
	/* the PID namespace counts */
	dump_ns(61, 1, NS1, 1);
	assert_in(61, NS1);
	ck_assert_uint_eq(container(CGROUP)->threads, 1);
}
END_TEST

static void context(int64_t tid, uint64_t pid_ns, uint64_t cgroup_ns, int64_t vtid)
{
	struct ev_context p = {
		.pid = tid, .vtid = vtid, .vpid = vtid, .pid_ns = pid_ns, .cgroup_ns = cgroup_ns, .procname = "worker"
	};
	struct record r;

	record_init(&r, now += 10, 0, tid, EVENT_CONTEXT);
	events_apply(&e, &r, &p, sizeof(p));
}

/* An exiting thread has already left its namespaces: 0. */
START_TEST(test_context)
{
	context(80, NS1, HOST_CGROUP_NS, 3);
	assert_container(NS1, 0, 0, 80, "worker", 1);
	context(81, NS1, HOST_CGROUP_NS, 1);
	assert_container(NS1, 0, 0, 81, "worker", 2);
	context(82, HOST_PID_NS, CGROUP, 82);
	assert_in(82, CGROUP);
	context(82, 0, 0, 0);
	assert_in(82, CGROUP);
	context(82, HOST_PID_NS, HOST_CGROUP_NS, 82);
	assert_in(82, 0);
	ck_assert_ptr_null(container(CGROUP));
	context(80, 0, 0, 0);
	assert_in(80, NS1);
	/* a fork shows the namespaces of the child */
	FORK_TO(81, 90, NS1, NS2, 90, 5, 1);
	assert_container(NS2, 2, NS1, 90, "sh", 1);
}
END_TEST

/* Input that no kernel produces must not cause endless loops or growth. */
START_TEST(test_hostile)
{
	dump_process(70, 70, "a");
	dump_ns(70, 1, NS1, 1);
	dump_ns(70, 0, NS2, 1);
	dump_process(71, 71, "b");
	dump_ns(71, 1, NS2, 1);
	dump_ns(71, 0, NS1, 1);
	ck_assert_uint_eq(container(NS1)->parent, NS2);
	ck_assert_uint_eq(container(NS2)->parent, NS1);
	dump_ns(71, UINT64_MAX, NS3, 1);
	dump_ns(71, PID_LEVELS_MAX, NS3, 1);
	ck_assert_ptr_null(container(NS3));
	for (uint64_t i = 0; i < 5000; i++)
		dump_ns(71, 32, NS3 + i, 1);
	ck_assert_uint_eq(count(TABLE_CONTAINER), 2);
	for (uint64_t i = 0; i < 5000; i++)
		dump_ns(71, i % 40, NS3, (int64_t)i);
	ck_assert_uint_le(count(TABLE_VTID), PID_LEVELS_MAX);
	leave(71);
	leave(70);
	ck_assert_uint_eq(count(TABLE_CONTAINER), 0);
	ck_assert_uint_eq(count(TABLE_VTID), 0);
}
END_TEST

/* The container remains until data that its last thread wrote is on a disk; its inode may be another's by then. */
START_TEST(test_written_after_the_end)
{
	const uint64_t minute = UINT64_C(60000000000);
	const struct container_row *c;
	uint64_t uid;
	uint32_t row;

	FORK_TO(1, 20, HOST_PID_NS, NS1, 20, 1);
	c = container(NS1);
	uid = c->uid;
	row = thread_find(e.m, 20);
	SYSCALL_ENTRY(&e, now += 10, 0, 20, "openat", .path = str(&rec, "/data/file"));
	SYSCALL_EXIT(&e, now += 10, 0, 20, "openat", .ret = 3);
	SYSCALL_ENTRY(&e, now += 10, 0, 20, "write", .fd = 3);
	SYSCALL_EXIT(&e, now += 10, 0, 20, "write", .ret = 4096);
	leave(20);
	ck_assert_uint_eq(count(TABLE_CONTAINER), 1);
	ck_assert_uint_eq(c->threads, 0);
	ck_assert_uint_eq(THREAD_ROW(e.m, row)->container, uid);
	FORK_TO(1, 30, HOST_PID_NS, NS1, 30, 1);
	ck_assert_uint_eq(count(TABLE_CONTAINER), 2);
	ck_assert_uint_ne(events_thread(&e, 30)->container, uid);
	ck_assert_uint_eq(c->threads, 0);
	now += 2 * minute;
	SYSCALL_ENTRY(&e, now += 10, 0, 1, "write", .fd = 4);
	EVENT(&e, now += 10, 0, 1, PAGE_DIRTY, inode, .ino = 7, .dev = str(&rec, "8:0"));
	ck_assert_uint_eq(count(TABLE_CONTAINER), 1);
	assert_container(NS1, 1, HOST_PID_NS, 30, "sh", 1);
}
END_TEST

/* The limit on threads also limits thousands of namespaces. */
START_TEST(test_memory)
{
	struct model_memory memory = { .limit = 4 << 20 };

	model_set_memory(e.m, &memory);
	for (int64_t i = 0; i < 20000; i++)
		FORK_TO(1, 1000 + i, HOST_PID_NS, 0x10000u + (uint64_t)i, 1000 + i, 1);
	ck_assert_ptr_nonnull(model_shortage(e.m));
	ck_assert_uint_lt(count(TABLE_CONTAINER), 10000);
	ck_assert_uint_gt(count(TABLE_CONTAINER), 0);
	state_reap(model_state(e.m), NULL, NULL);
	model_set_memory(e.m, NULL);
}
END_TEST

UNIT_MAIN_AROUND("container", setup, teardown, test_written_after_the_end, test_dump, test_dump_outermost_first,
		 test_old_dump, test_forks, test_exec_by_another_thread, test_fork_by_an_unknown_thread,
		 test_setns_into_the_unknown, test_number_used_again, test_number_of_parent_used_again, test_cgroup_ns,
		 test_context, test_hostile, test_memory)
