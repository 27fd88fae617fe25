/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Communication between processes: model/relations.c and channels.c on hand-built events, and the table relations. */
#include <signal.h>
#include <sys/socket.h>

#include "unit.h"

#include "events.h"
#include "model/interval.h"
#include "view/rows.h"

enum { BEGIN = 1000, SLEEP = 1, RUNNABLE = 0 };
enum { A = 100, B = 200, TCP = 6, UDP = 17 };

static uint64_t now;

static void process(struct events *e, int64_t tid, int64_t pid, int64_t ppid, const char *name)
{
	struct ev_dump_process p = { .tid = tid, .pid = pid, .ppid = ppid, .status = 5 };
	struct record r;

	record_init(&r, now += 10, 2, 999, EVENT_DUMP_PROCESS);
	g_strlcpy(p.name, name, sizeof(p.name));
	events_add(e, &r, &p, sizeof(p));
}

/* A runs on CPU 0, B on CPU 1; each is a process of its own, B is a child of A. */
static void begin(struct events *e)
{
	now = BEGIN;
	events_init(e);
	model_begin(e->m, BEGIN);
	process(e, A, A, 1, "writer");
	process(e, B, B, A, "reader");
	events_switch(e, now += 10, 0, 0, RUNNABLE, A, "writer");
	events_switch(e, now += 10, 1, 0, RUNNABLE, B, "reader");
}

static unsigned cpu_of(int64_t tid)
{
	return tid == A ? 0 : 1;
}

#define ENTRY(e, tid, call, ...) SYSCALL_ENTRY(e, now += 10, cpu_of(tid), tid, call, __VA_ARGS__)
#define EXIT(e, tid, call, value, ...) SYSCALL_EXIT(e, now += 10, cpu_of(tid), tid, call, .ret = value, __VA_ARGS__)
#define CALL(e, tid, call, value, ...)               \
	do {                                         \
		ENTRY(e, tid, call, __VA_ARGS__);    \
		EXIT(e, tid, call, value, .fd0 = 0); \
	} while (0)

static void sleeps(struct events *e, int64_t tid)
{
	events_switch(e, now += 10, cpu_of(tid), tid, SLEEP, 0, "swapper");
}

static void wakes(struct events *e, int64_t by, int64_t tid)
{
	EVENT(e, now += 10, cpu_of(by), by, SCHED_WAKING, wakeup, .tid = tid);
}

static void runs(struct events *e, int64_t tid)
{
	events_switch(e, now += 10, cpu_of(tid), 0, RUNNABLE, tid, "x");
}

/* The only row of that kind from one process (0: unknown) to another. */
static const struct relation_row *relation(struct events *e, int64_t from, int64_t to, enum relation_kind kind)
{
	const struct state_table *t = &e->m->state.tables[TABLE_RELATION];
	const struct relation_row *found = NULL;

	for (uint32_t i = NO_ROW; (i = state_next(t, i)) != NO_ROW;) {
		const struct relation_row *r = STATE_ROW(&e->m->state, RELATION, relation, i);

		if (r->kind != kind || (int64_t)r->from_pid != (from ? from : -1) ||
		    (int64_t)r->to_pid != (to ? to : -1))
			continue;
		ck_assert_msg(!found, "two rows of kind %d from %d to %d", (int)kind, (int)from, (int)to);
		found = r;
	}
	ck_assert_msg(found, "no row of kind %d from %d to %d", (int)kind, (int)from, (int)to);
	return found;
}

static unsigned rows(struct events *e)
{
	return e->m->state.tables[TABLE_RELATION].n_alive;
}

/* A makes a pipe (3 to read, 4 to write), and B has it too, as 13 and 14. */
static void share_pipe(struct events *e)
{
	ENTRY(e, A, "pipe2", .flags = 0);
	EXIT(e, A, "pipe2", 0, .fd0 = 3, .fd1 = 4);
	EVENT(e, now += 10, 0, A, FORK, new_task, .parent_tid = A, .parent_pid = A, .child_tid = 300, .child_pid = 300);
	EVENT(e, now += 10, 1, B, EXIT, task, .tid = B);
	events_switch(e, now += 10, 1, B, 0x20, 300, "reader");
}

START_TEST(test_pipe)
{
	enum { CHILD = 300 };
	const struct relation_row *r;
	struct events e;

	begin(&e);
	share_pipe(&e);
	ENTRY(&e, CHILD, "read", .fd = 3);
	sleeps(&e, CHILD);
	ENTRY(&e, A, "write", .fd = 4);
	wakes(&e, A, CHILD);
	runs(&e, CHILD);
	/* the reader on the other CPU returns first */
	EXIT(&e, CHILD, "read", 60, .fd0 = 0);
	EXIT(&e, A, "write", 100, .fd0 = 0);
	r = relation(&e, A, CHILD, RELATION_PIPE);
	ck_assert_uint_eq(r->bytes, 60);
	ck_assert_uint_eq(r->count, 1);
	ck_assert_uint_eq(r->wait.count, 1);
	ck_assert_uint_eq(r->wait.sum, 20);
	ck_assert_uint_eq(r->object, STRID_NONE);
	CALL(&e, CHILD, "read", 40, .fd = 3);
	ck_assert_uint_eq(r->bytes, 100);
	ck_assert_uint_eq(r->count, 2);
	/* in the other direction: by a copy of the fd, and with splice */
	CALL(&e, CHILD, "dup", 9, .fd = 4);
	CALL(&e, CHILD, "write", 7, .fd = 9);
	CALL(&e, A, "splice", 7, .fd = 3, .fd2 = 20);
	ck_assert_uint_eq(relation(&e, CHILD, A, RELATION_PIPE)->bytes, 7);
	events_release(&e);
}
END_TEST

/* Among lost events, the reader may have run and waited for something else since. */
START_TEST(test_wait_in_lost_events)
{
	enum { CHILD = 300 };
	struct events e;

	begin(&e);
	share_pipe(&e);
	ENTRY(&e, CHILD, "read", .fd = 3);
	sleeps(&e, CHILD);
	events_lose(&e, now += 10, 1, 0);
	ENTRY(&e, A, "write", .fd = 4);
	wakes(&e, A, CHILD);
	ck_assert_uint_eq(rows(&e), 0);
	runs(&e, CHILD);
	sleeps(&e, CHILD);
	wakes(&e, A, CHILD);
	ck_assert_uint_eq(relation(&e, A, CHILD, RELATION_PIPE)->wait.sum, 10);
	events_release(&e);
}
END_TEST

/* The effect of closing a file on others comes after the exit of the call. */
START_TEST(test_pipe_closed)
{
	enum { CHILD = 300 };
	struct events e;

	begin(&e);
	share_pipe(&e);
	ENTRY(&e, CHILD, "read", .fd = 3);
	sleeps(&e, CHILD);
	CALL(&e, A, "close", 0, .fd = 4);
	wakes(&e, A, CHILD);
	ck_assert_uint_eq(relation(&e, A, CHILD, RELATION_PIPE)->wait.count, 1);
	ck_assert_uint_eq(relation(&e, A, CHILD, RELATION_PIPE)->bytes, 0);
	events_release(&e);
}
END_TEST

/* The state dump names pipes: two fds with one name are one pipe. */
START_TEST(test_pipe_of_the_dump)
{
	const struct relation_row *r;
	struct events e;

	begin(&e);
	EVENT(&e, now += 10, 2, 999, DUMP_FD, dump_fd, .pid = A, .fd = 4, .filename = str(&rec, "pipe:[77]"));
	EVENT(&e, now += 10, 2, 999, DUMP_FD, dump_fd, .pid = B, .fd = 3, .filename = str(&rec, "pipe:[77]"));
	CALL(&e, A, "write", 5, .fd = 4);
	CALL(&e, B, "read", 5, .fd = 3);
	r = relation(&e, A, B, RELATION_PIPE);
	ck_assert_uint_eq(r->bytes, 5);
	ck_assert_str_eq(strpool_text((strid)r->object), "pipe:[77]");
	ck_assert_str_eq(strpool_text((strid)r->from_comm), "writer");
	ck_assert_str_eq(strpool_text((strid)r->to_comm), "reader");
	events_release(&e);
}
END_TEST

/* Each end of a pair reads what the other one wrote, never its own data. */
START_TEST(test_socketpair)
{
	enum { CHILD = 300 };
	struct events e;

	begin(&e);
	ENTRY(&e, A, "socketpair", .cmd = AF_UNIX);
	EXIT(&e, A, "socketpair", 0, .fd0 = 5, .fd1 = 6);
	share_pipe(&e);
	CALL(&e, A, "write", 10, .fd = 5);
	CALL(&e, CHILD, "write", 3, .fd = 6);
	CALL(&e, CHILD, "recvfrom", 8, .fd = 6, .flags = MSG_PEEK);
	CALL(&e, CHILD, "recvfrom", 10, .fd = 6);
	CALL(&e, A, "read", 3, .fd = 5);
	ck_assert_uint_eq(relation(&e, A, CHILD, RELATION_UNIX)->bytes, 10);
	ck_assert_uint_eq(relation(&e, CHILD, A, RELATION_UNIX)->bytes, 3);
	ck_assert_uint_eq(rows(&e), 2);
	events_release(&e);
}
END_TEST

/* Two sockets whose connection was not seen belong together once the writer of one wakes the reader of the other. */
START_TEST(test_unix_joined_by_wakeup)
{
	struct events e;

	begin(&e);
	CALL(&e, A, "socket", 5, .cmd = AF_UNIX);
	CALL(&e, B, "socket", 6, .cmd = AF_UNIX);
	ENTRY(&e, B, "read", .fd = 6);
	sleeps(&e, B);
	ENTRY(&e, A, "write", .fd = 5);
	wakes(&e, A, B);
	EXIT(&e, A, "write", 8, .fd0 = 0);
	runs(&e, B);
	EXIT(&e, B, "read", 8, .fd0 = 0);
	CALL(&e, B, "write", 2, .fd = 6);
	CALL(&e, A, "read", 2, .fd = 5);
	ck_assert_uint_eq(relation(&e, A, B, RELATION_UNIX)->bytes, 8);
	ck_assert_uint_eq(relation(&e, A, B, RELATION_UNIX)->wait.count, 1);
	ck_assert_uint_eq(relation(&e, B, A, RELATION_UNIX)->bytes, 2);
	events_release(&e);
}
END_TEST

START_TEST(test_futex_lock_eventfd)
{
	struct events e;

	begin(&e);
	ENTRY(&e, B, "futex", .cmd = 0);
	sleeps(&e, B);
	ENTRY(&e, A, "futex", .cmd = 1);
	wakes(&e, A, B);
	EXIT(&e, A, "futex", 1, .fd0 = 0);
	runs(&e, B);
	EXIT(&e, B, "futex", 0, .fd0 = 0);
	ck_assert_uint_eq(relation(&e, A, B, RELATION_FUTEX)->count, 1);
	ck_assert_uint_eq(relation(&e, A, B, RELATION_FUTEX)->wait.sum, 20);
	ck_assert_uint_eq(relation(&e, A, B, RELATION_FUTEX)->object, STRID_NONE);

	ENTRY(&e, B, "openat", .path = str(&rec, "/lock"));
	EXIT(&e, B, "openat", 7, .fd0 = 0);
	ENTRY(&e, B, "flock", .fd = 7, .cmd = 2);
	sleeps(&e, B);
	ENTRY(&e, A, "flock", .fd = 8, .cmd = 8);
	wakes(&e, A, B);
	EXIT(&e, A, "flock", 0, .fd0 = 0);
	runs(&e, B);
	EXIT(&e, B, "flock", 0, .fd0 = 0);
	ck_assert_uint_eq(relation(&e, A, B, RELATION_LOCK)->count, 1);
	ck_assert_str_eq(strpool_text((strid)relation(&e, A, B, RELATION_LOCK)->object), "/lock");

	CALL(&e, A, "eventfd2", 9, .flags = 0);
	e.present = 0;
	ENTRY(&e, B, "poll", .family = 0);
	e.present = ~0u;
	sleeps(&e, B);
	ENTRY(&e, A, "write", .fd = 9);
	wakes(&e, A, B);
	EXIT(&e, A, "write", 8, .fd0 = 0);
	ck_assert_uint_eq(relation(&e, A, B, RELATION_EVENTFD)->count, 1);
	events_release(&e);
}
END_TEST

/* The cause of an isolated wake-up is unknown; an interrupt is not a process. */
START_TEST(test_other_wakeups)
{
	struct events e;

	begin(&e);
	ENTRY(&e, B, "read", .fd = 3);
	sleeps(&e, B);
	wakes(&e, A, B);
	ck_assert_uint_eq(relation(&e, A, B, RELATION_OTHER)->wait.count, 1);
	ck_assert_str_eq(strpool_text((strid)relation(&e, A, B, RELATION_OTHER)->object), "read");
	runs(&e, B);
	sleeps(&e, B);
	EVENT(&e, now += 10, 0, A, HRTIMER_ENTRY, none);
	wakes(&e, A, B);
	ck_assert_uint_eq(rows(&e), 1);
	ck_assert_uint_eq(relation(&e, A, B, RELATION_OTHER)->wait.count, 1);
	events_release(&e);
}
END_TEST

START_TEST(test_signals)
{
	const struct relation_row *r;
	struct events e;

	begin(&e);
	e.present = 0;
	ENTRY(&e, B, "rt_sigsuspend", .family = 0);
	e.present = ~0u;
	sleeps(&e, B);
	ENTRY(&e, A, "kill", .arg = B, .cmd = SIGUSR1);
	wakes(&e, A, B);
	EXIT(&e, A, "kill", 0, .fd0 = 0);
	r = relation(&e, A, B, RELATION_SIGNAL);
	ck_assert_uint_eq(r->count, 1);
	ck_assert_uint_eq(r->wait.count, 1);
	ck_assert_str_eq(strpool_text((strid)r->object), "SIGUSR1");
	CALL(&e, A, "kill", 0, .arg = B, .cmd = 0); /* only checks that it exists */
	CALL(&e, A, "kill", -EPERM, .arg = B, .cmd = SIGUSR1);
	CALL(&e, A, "tgkill", 0, .arg = B, .cmd = SIGUSR1); /* to one of its threads */
	ck_assert_uint_eq(r->count, 2);
	/* if the tracepoint is recorded, it counts, and the call does not */
	ENTRY(&e, A, "kill", .arg = B, .cmd = SIGUSR1);
	EVENT(&e, now += 10, 0, A, SIGNAL_GENERATE, kill, .tid = B, .number = SIGUSR1);
	EXIT(&e, A, "kill", 0, .fd0 = 0);
	ck_assert_uint_eq(r->count, 3);
	EVENT(&e, now += 10, 0, A, SIGNAL_GENERATE, kill, .tid = B, .number = SIGCHLD);
	ck_assert_uint_eq(rows(&e), 1);
	events_release(&e);
}
END_TEST

START_TEST(test_children)
{
	struct events e;

	begin(&e);
	e.present = 0;
	ENTRY(&e, A, "wait4", .family = 0);
	sleeps(&e, A);
	ENTRY(&e, B, "exit_group", .family = 0);
	e.present = ~0u;
	EVENT(&e, now += 10, 1, B, EXIT, task, .tid = B);
	wakes(&e, B, A);
	events_switch(&e, now += 10, 1, B, 0x20, 0, "swapper/1"); /* gone before its parent returns */
	runs(&e, A);
	EXIT(&e, A, "wait4", B, .fd0 = 0);
	ck_assert_uint_eq(relation(&e, B, A, RELATION_CHILD)->count, 1);
	ck_assert_uint_eq(relation(&e, B, A, RELATION_CHILD)->wait.count, 1);
	ck_assert_str_eq(strpool_text((strid)relation(&e, B, A, RELATION_CHILD)->from_comm), "reader");
	ck_assert_uint_eq(rows(&e), 1);
	events_release(&e);
}
END_TEST

/* The process is in a container, where it has that ID. */
static void in_container(struct events *e, int64_t tid, int64_t vtid)
{
	const uint64_t inode = 4026532318;

	EVENT(e, now += 10, 2, 999, DUMP_PID_NS, dump_ns, .tid = tid, .vtid = vtid, .vpid = vtid, .ns_level = 1,
	      .ns_inum = inode);
}

static void ends(struct events *e, int64_t tid)
{
	EVENT(e, now += 10, 2, tid, EXIT, task, .tid = tid);
	EVENT(e, now += 10, 2, 999, FREE, task, .tid = tid);
}

/* Calls in a container name processes by their IDs there, which others have on the host. */
START_TEST(test_ids_in_a_container)
{
	struct events e;

	begin(&e);
	process(&e, 7, 7, 1, "other");
	process(&e, 8, 8, 1, "other");
	in_container(&e, A, 1);
	in_container(&e, B, 7);
	in_container(&e, 300, 8);
	CALL(&e, A, "kill", 0, .arg = 7, .cmd = SIGUSR1);
	ck_assert_uint_eq(relation(&e, A, B, RELATION_SIGNAL)->count, 1);
	CALL(&e, A, "kill", 0, .arg = B, .cmd = SIGUSR1);
	CALL(&e, A, "kill", 0, .arg = 9, .cmd = SIGUSR1);
	ck_assert_uint_eq(rows(&e), 1);
	ends(&e, B);
	ends(&e, 7);
	EVENT(&e, now += 10, 2, 8, EXIT, task, .tid = 8);
	EVENT(&e, now += 10, 2, 300, EXIT, task, .tid = 300);
	CALL(&e, A, "wait4", 7, .family = 0);
	CALL(&e, A, "wait4", 8, .family = 0); /* before the last switch of that process */
	ck_assert_uint_eq(relation(&e, B, A, RELATION_CHILD)->count, 1);
	ck_assert_uint_eq(relation(&e, 300, A, RELATION_CHILD)->count, 1);
	CALL(&e, A, "wait4", B, .family = 0);
	ck_assert_uint_eq(rows(&e), 3);
	/* a caller on the host names both by their IDs on the host */
	process(&e, 400, 400, 1, "outside");
	CALL(&e, 400, "wait4", 7, .family = 0);
	CALL(&e, 400, "wait4", B, .family = 0);
	ck_assert_uint_eq(relation(&e, 7, 400, RELATION_CHILD)->count, 1);
	ck_assert_uint_eq(relation(&e, B, 400, RELATION_CHILD)->count, 1);
	events_release(&e);
}
END_TEST

/* A process in a nested container, whose first one has another ID for its parent outside. */
START_TEST(test_ids_in_a_nested_container)
{
	enum { OUTER = 4026532318u, INNER = 4026532320u };
	struct events e;

	begin(&e);
	in_container(&e, A, 1);
	/* of the state dump, and forked */
	process(&e, 8, 8, A, "dumped");
	EVENT(&e, now += 10, 2, 999, DUMP_PID_NS, dump_ns, .tid = 8, .vtid = 1, .vpid = 1, .ns_level = 2,
	      .ns_inum = INNER);
	EVENT(&e, now += 10, 2, 999, DUMP_PID_NS, dump_ns, .tid = 8, .vtid = 6, .vpid = 6, .ns_level = 1,
	      .ns_inum = OUTER);
	EVENT(&e, now += 10, 0, A, FORK, new_task, .parent_tid = A, .parent_pid = A, .child_tid = 9, .child_pid = 9,
	      .parent_ns = OUTER, .child_ns = INNER + 1, .child_vtids = { 9, 7, 1 }, .child_comm = "forked");
	EVENT(&e, now += 10, 0, 9, FORK, new_task, .parent_tid = 9, .parent_pid = 9, .child_tid = 10, .child_pid = 10,
	      .parent_ns = INNER + 1, .child_ns = INNER + 1, .child_vtids = { 10, 20, 2 }, .child_comm = "grandchild");
	CALL(&e, A, "kill", 0, .arg = 7, .cmd = SIGUSR1);
	ck_assert_uint_eq(relation(&e, A, 9, RELATION_SIGNAL)->count, 1);
	CALL(&e, A, "kill", 0, .arg = 20, .cmd = SIGUSR1);
	ck_assert_uint_eq(relation(&e, A, 10, RELATION_SIGNAL)->count, 1);
	CALL(&e, 9, "kill", 0, .arg = 20, .cmd = SIGUSR1); /* nobody for that caller */
	ck_assert_uint_eq(rows(&e), 2);
	ends(&e, 8);
	CALL(&e, A, "wait4", 6, .family = 0);
	ck_assert_uint_eq(relation(&e, 8, A, RELATION_CHILD)->count, 1);
	EVENT(&e, now += 10, 2, 9, EXIT, task, .tid = 9);
	CALL(&e, A, "wait4", 7, .family = 0); /* before the last switch of that process */
	ck_assert_uint_eq(relation(&e, 9, A, RELATION_CHILD)->count, 1);
	ends(&e, 10);
	CALL(&e, 9, "wait4", 2, .family = 0);
	ck_assert_uint_eq(relation(&e, 10, 9, RELATION_CHILD)->count, 1);
	ends(&e, 9);
	CALL(&e, A, "kill", 0, .arg = 7, .cmd = SIGUSR1); /* gone */
	ck_assert_uint_eq(relation(&e, A, 9, RELATION_SIGNAL)->count, 1);
	ck_assert_uint_eq(rows(&e), 5);
	events_release(&e);
}
END_TEST

/* ---- between hosts ---- */

/* 10.0.0.LAST as bytes in memory; GUINT64_TO_BE() is not constant. */
#define ADDRESS(last)                                                                       \
	(G_BYTE_ORDER == G_BIG_ENDIAN ? UINT64_C(0x0a00000000000000) | UINT64_C(last) << 32 \
				      : UINT64_C(0x0a) | UINT64_C(last) << 24)

static const uint64_t client_addr[2] = { ADDRESS(11), 0 };
static const uint64_t server_addr[2] = { ADDRESS(12), 0 };

enum { CLIENT_PORT = 40000, SERVER_PORT = 5432 };

#define TO_SERVER                                                                                               \
	.name = str(&rec, "eth0"), .len = 60, .ip_version = 4, .protocol = TCP, .saddr = { client_addr[0], 0 }, \
	.daddr = { server_addr[0], 0 }, .sport = CLIENT_PORT, .dport = SERVER_PORT
#define TO_CLIENT                                                                                               \
	.name = str(&rec, "eth0"), .len = 60, .ip_version = 4, .protocol = TCP, .saddr = { server_addr[0], 0 }, \
	.daddr = { client_addr[0], 0 }, .sport = SERVER_PORT, .dport = CLIENT_PORT

/* A packet wakes tid on CPU 1, which is idle. */
#define PACKET_WAKES(e, to, packet)                                          \
	do {                                                                 \
		EVENT(e, now += 10, 1, 0, SOFTIRQ_ENTRY, softirq, .vec = 3); \
		EVENT(e, now += 10, 1, 0, NET_RECEIVE, net, packet);         \
		EVENT(e, now += 10, 1, 0, SCHED_WAKING, wakeup, .tid = to);  \
		EVENT(e, now += 10, 1, 0, SOFTIRQ_EXIT, softirq, .vec = 3);  \
	} while (0)

/* A asks with 20 bytes, B on the other host answers with 300. */
static void client_host(struct events *e)
{
	begin(e);
	sleeps(e, B);
	CALL(e, A, "socket", 3, .cmd = AF_INET);
	ENTRY(e, A, "connect", .fd = 3, .family = AF_INET, .port = SERVER_PORT, .addr = { server_addr[0], 0 });
	EVENT(e, now += 10, 0, A, NET_QUEUE, net, TO_SERVER);
	EXIT(e, A, "connect", 0, .fd0 = 0);
	CALL(e, A, "write", 20, .fd = 3);
	ENTRY(e, A, "read", .fd = 3);
	sleeps(e, A);
	PACKET_WAKES(e, A, TO_CLIENT);
	runs(e, A);
	EXIT(e, A, "read", 300, .fd0 = 0);
}

/* B listens on a socket, and answers a client. told: accept() returns the peer's address. */
static void serve(struct events *e, bool told)
{
	CALL(e, B, "socket", 3, .cmd = AF_INET);
	ENTRY(e, B, "accept4", .fd = 3);
	sleeps(e, B);
	PACKET_WAKES(e, B, TO_SERVER);
	runs(e, B);
	if (told)
		EXIT(e, B, "accept4", 4, .family = AF_INET, .port = CLIENT_PORT, .addr = { client_addr[0], 0 });
	else
		EXIT(e, B, "accept4", 4, .fd0 = 0);
	CALL(e, B, "read", 20, .fd = 4); /* opened before: no packet shows the socket's own address */
	ENTRY(e, B, "write", .fd = 4);
	EVENT(e, now += 10, 1, B, NET_QUEUE, net, TO_CLIENT);
	EXIT(e, B, "write", 300, .fd0 = 0);
}

static void server_host(struct events *e, bool told)
{
	begin(e);
	serve(e, told);
}

static void assert_server(struct events *e)
{
	const struct relation_row *r = relation(e, 0, B, RELATION_INET);

	ck_assert_uint_eq(r->bytes, 20);
	ck_assert_uint_eq(r->wait.count, 1);
	ck_assert_str_eq(strpool_text((strid)r->object), "10.0.0.12:5432");
	r = relation(e, B, 0, RELATION_INET);
	ck_assert_uint_eq(r->bytes, 300);
	ck_assert_uint_eq(r->wait.count, 0);
}

START_TEST(test_two_hosts)
{
	const struct relation_row *sent, *received;
	struct events client, server, silent;

	client_host(&client);
	server_host(&server, true);
	server_host(&silent, false);
	sent = relation(&client, A, 0, RELATION_INET);
	received = relation(&client, 0, A, RELATION_INET);
	ck_assert_uint_eq(sent->bytes, 20);
	ck_assert_uint_eq(received->bytes, 300);
	ck_assert_uint_eq(received->wait.count, 1);
	ck_assert_str_eq(strpool_text((strid)sent->object), "10.0.0.12:5432");
	assert_server(&server);
	assert_server(&silent);
	/* both ends give the same names to the two directions */
	ck_assert_uint_ne(sent->flow, 0);
	ck_assert_uint_ne(sent->flow, received->flow);
	ck_assert_uint_eq(sent->flow, relation(&server, 0, B, RELATION_INET)->flow);
	ck_assert_uint_eq(received->flow, relation(&server, B, 0, RELATION_INET)->flow);
	events_release(&client);
	events_release(&server);
	events_release(&silent);
}
END_TEST

static void assert_text(const struct view_rows *view, unsigned row, const char *column, const char *text)
{
	struct value v;

	view_rows_value(view, row, view_rows_column(view, column), &v);
	ck_assert_int_eq(v.kind, VALUE_TEXT);
	ck_assert_str_eq(v.text, text);
}

static void assert_pid(const struct view_rows *view, unsigned row, const char *column, int64_t pid)
{
	struct value v;

	view_rows_value(view, row, view_rows_column(view, column), &v);
	ck_assert_int_eq(v.kind, VALUE_INT);
	ck_assert_int_eq(v.i, pid);
}

/* Each host keeps its own figures; the process at the other end comes from the other host. */
START_TEST(test_hosts_know_each_other)
{
	const struct view_table *table = view_table_find("relations");
	struct view_query query = { .table = table };
	struct view_host hosts[2] = { { .name = "client" }, { .name = "server" } };
	struct events e[2];
	struct interval iv[2];
	struct view_rows view;
	struct value v;

	for (unsigned i = 0; i < 2; i++) {
		struct events empty;

		events_init(&empty);
		interval_init(&iv[i]);
		interval_begin(&iv[i], &empty.m->state, BEGIN, view_query_tables(&query));
		if (i == 0)
			client_host(&e[i]);
		else
			server_host(&e[i], true);
		interval_end(&iv[i], &e[i].m->state, now + 10);
		hosts[i].iv = &iv[i];
		events_release(&empty);
	}
	view_rows_init(&view);
	view_rows_build(&view, &query, hosts, 2);
	ck_assert_uint_eq(view.n, 4);
	for (unsigned i = 0; i < view.n; i++) {
		bool ask;

		view_rows_value(&view, i, view_rows_column(&view, "from_pid"), &v);
		ask = v.i == A;
		assert_text(&view, i, "host", i < 2 ? "client" : "server");
		assert_text(&view, i, "side", (i < 2) == ask ? "sent" : "received");
		assert_text(&view, i, "from_host", ask ? "client" : "server");
		assert_text(&view, i, "to_host", ask ? "server" : "client");
		assert_pid(&view, i, "from_pid", ask ? A : B);
		assert_pid(&view, i, "to_pid", ask ? B : A);
		view_rows_value(&view, i, view_rows_column(&view, "bytes"), &v);
		ck_assert_uint_eq(v.u, ask ? 20 : 300);
	}
	/* alone, the client does not know which process answers */
	view_rows_build(&view, &query, hosts, 1);
	ck_assert_uint_eq(view.n, 2);
	for (unsigned i = 0; i < view.n; i++) {
		struct value to;

		view_rows_value(&view, i, view_rows_column(&view, "from_pid"), &v);
		view_rows_value(&view, i, view_rows_column(&view, "to_pid"), &to);
		ck_assert((v.kind == VALUE_NULL) != (to.kind == VALUE_NULL));
	}
	view_rows_release(&view);
	for (unsigned i = 0; i < 2; i++) {
		interval_release(&iv[i]);
		events_release(&e[i]);
	}
}
END_TEST

/* A process connects to a port of the server, and waits for what comes from there with epoll_wait(). */
static void connect_and_poll(struct events *e, int64_t tid, unsigned port)
{
	CALL(e, tid, "socket", 3, .cmd = AF_INET);
	ENTRY(e, tid, "connect", .fd = 3, .family = AF_INET, .port = port, .addr = { server_addr[0], 0 });
	EVENT(e, now += 10, cpu_of(tid), tid, NET_QUEUE, net, .name = str(&rec, "eth0"), .len = 60, .ip_version = 4,
	      .protocol = TCP, .saddr = { client_addr[0], 0 }, .daddr = { server_addr[0], 0 }, .sport = CLIENT_PORT,
	      .dport = port);
	EXIT(e, tid, "connect", 0, .fd0 = 0);
	ENTRY(e, tid, "epoll_wait", .fd = 9);
	sleeps(e, tid);
}

/* A packet from a port of one host to one of the other, received on CPU 1. */
static void receives(struct events *e, const uint64_t from[2], unsigned sport, const uint64_t to[2], unsigned dport)
{
	EVENT(e, now += 10, 1, 0, NET_RECEIVE, net, .name = str(&rec, "eth0"), .len = 60, .ip_version = 4,
	      .protocol = TCP, .saddr = { from[0], 0 }, .daddr = { to[0], 0 }, .sport = sport, .dport = dport);
}

static void waking(struct events *e, int64_t tid)
{
	EVENT(e, now += 10, 1, 0, SCHED_WAKING, wakeup, .tid = tid);
}

/* Packets are received together: each process was woken by that of its own connection. */
START_TEST(test_packets_of_two_processes)
{
	enum { OTHER_PORT = 5433 };
	const struct relation_row *r;
	struct events e;

	begin(&e);
	connect_and_poll(&e, A, SERVER_PORT);
	connect_and_poll(&e, B, OTHER_PORT);
	EVENT(&e, now += 10, 1, 0, SOFTIRQ_ENTRY, softirq, .vec = 3);
	receives(&e, server_addr, OTHER_PORT, client_addr, CLIENT_PORT);
	receives(&e, server_addr, SERVER_PORT, client_addr, CLIENT_PORT);
	waking(&e, B);
	waking(&e, A);
	EVENT(&e, now += 10, 1, 0, SOFTIRQ_EXIT, softirq, .vec = 3);
	runs(&e, B);
	sleeps(&e, B);
	EVENT(&e, now += 10, 1, 0, SOFTIRQ_ENTRY, softirq, .vec = 3);
	receives(&e, server_addr, SERVER_PORT, client_addr, CLIENT_PORT);
	receives(&e, server_addr, OTHER_PORT, client_addr, CLIENT_PORT);
	waking(&e, B);
	EVENT(&e, now += 10, 1, 0, SOFTIRQ_EXIT, softirq, .vec = 3);
	r = relation(&e, 0, A, RELATION_INET);
	ck_assert_str_eq(strpool_text((strid)r->object), "10.0.0.12:5432");
	ck_assert_uint_eq(r->wait.count, 1);
	r = relation(&e, 0, B, RELATION_INET);
	ck_assert_str_eq(strpool_text((strid)r->object), "10.0.0.12:5433");
	ck_assert_uint_eq(r->wait.count, 2);
	events_release(&e);
}
END_TEST

/* A datagram sent in three fragments: only the first has ports, and the length of all. */
START_TEST(test_fragments)
{
	static const uint64_t offsets[] = { 0x2000, 0x2000 | 185, 370 };
	const struct relation_row *r;
	struct events e;

	begin(&e);
	CALL(&e, A, "socket", 3, .cmd = AF_INET);
	ENTRY(&e, A, "sendto", .fd = 3);
	for (unsigned i = 0; i < 3; i++)
		EVENT(&e, now += 10, 0, A, NET_QUEUE, net, .name = str(&rec, "eth0"), .ip_version = 4, .protocol = UDP,
		      .saddr = { client_addr[0] }, .daddr = { server_addr[0] }, .sport = i ? 0x4141 : CLIENT_PORT,
		      .dport = i ? 0x4242 : SERVER_PORT, .tot_len = 1500, .header_words = 5 << 8,
		      .frag_off = offsets[i], .udp_len = i ? 0x4343 : 4008);
	EXIT(&e, A, "sendto", 4000, .fd0 = 0);
	r = relation(&e, A, 0, RELATION_INET); /* the only one */
	ck_assert_uint_eq(r->count, 1);
	ck_assert_uint_eq(r->bytes, 4000);
	ck_assert_str_eq(strpool_text((strid)r->object), "10.0.0.12:5432");
	events_release(&e);
}
END_TEST

/*
 * accept() waits for a packet to the port of its socket, as is known after the first connection. Before that, as many
 * other sockets have come and gone.
 */
static void check_accept_by_port(unsigned before)
{
	enum { SSH_PORT = 22 };
	struct events e;

	server_host(&e, false);
	for (unsigned i = 0; i < before; i++)
		serve(&e, false);
	ENTRY(&e, B, "accept4", .fd = 3);
	sleeps(&e, B);
	EVENT(&e, now += 10, 1, 0, SOFTIRQ_ENTRY, softirq, .vec = 3);
	receives(&e, client_addr, 1, server_addr, SSH_PORT);
	receives(&e, client_addr, CLIENT_PORT + 1, server_addr, SERVER_PORT);
	receives(&e, client_addr, 2, server_addr, SSH_PORT);
	waking(&e, B);
	EVENT(&e, now += 10, 1, 0, SOFTIRQ_EXIT, softirq, .vec = 3);
	runs(&e, B);
	EXIT(&e, B, "accept4", 5, .fd0 = 0);
	CALL(&e, B, "read", 30, .fd = 5);
	for (uint32_t i = NO_ROW; (i = state_next(&e.m->state.tables[TABLE_RELATION], i)) != NO_ROW;)
		ck_assert_str_eq(strpool_text((strid)STATE_ROW(&e.m->state, RELATION, relation, i)->object),
				 "10.0.0.12:5432");
	events_release(&e);
}

START_TEST(test_accept_by_port)
{
	check_accept_by_port(0);
	check_accept_by_port(1024);
}
END_TEST

/* Both ends on one host: one row per direction. */
START_TEST(test_loopback)
{
	const uint64_t local[2] = { GUINT64_TO_BE(UINT64_C(0x7f00000100000000)), 0 };
	struct events e;

	begin(&e);
	CALL(&e, B, "socket", 3, .cmd = AF_INET);
	ENTRY(&e, B, "accept4", .fd = 3);
	sleeps(&e, B);
	CALL(&e, A, "socket", 3, .cmd = AF_INET);
	ENTRY(&e, A, "connect", .fd = 3, .family = AF_INET, .port = SERVER_PORT, .addr = { local[0], 0 });
	EVENT(&e, now += 10, 0, A, NET_QUEUE, net, .name = str(&rec, "lo"), .len = 74, .ip_version = 4, .protocol = TCP,
	      .saddr = { local[0], 0 }, .daddr = { local[0], 0 }, .sport = CLIENT_PORT, .dport = SERVER_PORT);
	EVENT(&e, now += 10, 0, A, SOFTIRQ_ENTRY, softirq, .vec = 3);
	EVENT(&e, now += 10, 0, A, NET_RECEIVE, net, .name = str(&rec, "lo"), .len = 60, .ip_version = 4,
	      .protocol = TCP, .saddr = { local[0], 0 }, .daddr = { local[0], 0 }, .sport = CLIENT_PORT,
	      .dport = SERVER_PORT);
	wakes(&e, A, B);
	EVENT(&e, now += 10, 0, A, SOFTIRQ_EXIT, softirq, .vec = 3);
	EXIT(&e, A, "connect", 0, .fd0 = 0);
	runs(&e, B);
	EXIT(&e, B, "accept4", 4, .fd0 = 0);
	CALL(&e, A, "write", 20, .fd = 3);
	CALL(&e, B, "read", 20, .fd = 4);
	CALL(&e, B, "write", 6, .fd = 4);
	CALL(&e, A, "read", 6, .fd = 3);
	ck_assert_uint_eq(relation(&e, A, B, RELATION_INET)->bytes, 20);
	ck_assert_uint_eq(relation(&e, A, B, RELATION_INET)->wait.count, 1);
	ck_assert_uint_eq(relation(&e, B, A, RELATION_INET)->bytes, 6);
	ck_assert_str_eq(strpool_text((strid)relation(&e, B, A, RELATION_INET)->object), "127.0.0.1:5432");
	events_release(&e);
}
END_TEST

/* More pipes than are kept: old ones are forgotten, new ones are right. */
START_TEST(test_many_pipes)
{
	struct events e;

	begin(&e);
	for (int i = 0; i < 20000; i++) {
		ENTRY(&e, A, "pipe2", .flags = 0);
		EXIT(&e, A, "pipe2", 0, .fd0 = 3, .fd1 = 4);
		CALL(&e, A, "write", 2, .fd = 4);
		CALL(&e, A, "read", 2, .fd = 3);
		if (i % 100 == 0) {
			state_reap(&e.m->state, NULL, NULL);
			state_frame_begin(&e.m->state);
		}
	}
	ck_assert_uint_eq(relation(&e, A, A, RELATION_PIPE)->bytes, 40000);
	events_release(&e);
}
END_TEST

UNIT_MAIN("relations", test_pipe, test_wait_in_lost_events, test_pipe_closed, test_pipe_of_the_dump, test_socketpair,
	  test_unix_joined_by_wakeup, test_futex_lock_eventfd, test_other_wakeups, test_signals, test_children,
	  test_ids_in_a_container, test_ids_in_a_nested_container, test_two_hosts, test_hosts_know_each_other,
	  test_packets_of_two_processes, test_fragments, test_accept_by_port, test_loopback, test_many_pipes)
