/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls, fd tables and bytes: model/{syscalls,files,fdcalls,fdkind,io}.c on hand-built events. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "events.h"
#include "model/files.h"

enum { TID = 7, CHILD = 8, CLONE_FILES_FLAG = 0x400 };

/* A process 7 of one thread on CPU 0, its pid known. */
static uint64_t now;

static void begin(struct events *e)
{
	events_init(e);
	now = 1000;
	events_switch(e, now, 0, 0, 0, TID, "seven");
	events_thread(e, TID)->pid = TID;
}

/* ---- making calls ---- */

#define ENTRY(e, tid, name, ...) SYSCALL_ENTRY(e, now += 10, cpu_of(e, tid), tid, name, __VA_ARGS__)
#define EXIT(e, tid, name, ...) SYSCALL_EXIT(e, now += 10, cpu_of(e, tid), tid, name, __VA_ARGS__)

/* Every thread of these tests has a CPU to itself. */
static unsigned cpu_of(struct events *e, int64_t tid)
{
	unsigned cpu = (unsigned)(tid - TID);

	if (thread_find(e->m, tid) == NO_ROW || events_thread(e, tid)->state != THREAD_RUNNING)
		events_switch(e, now, cpu, 0, 0, tid, "");
	return cpu;
}

/* A call with its arguments, and what it returned. */
#define CALL(e, tid, name, result, ...) \
	do { \
		ENTRY(e, tid, name, __VA_ARGS__); \
		EXIT(e, tid, name, .ret = (result)); \
	} while (0)

#define OPEN(e, tid, file, result, ...) \
	CALL(e, tid, "openat", result, .fd = AT_FDCWD, .path = str(&rec, file), __VA_ARGS__)

static void fork_to(struct events *e, int64_t parent, int64_t child, int64_t child_pid)
{
	EVENT(e, now += 10, cpu_of(e, parent), parent, FORK, new_task, .parent_tid = parent,
	      .parent_pid = (int64_t)events_thread(e, parent)->pid, .child_tid = child, .child_pid = child_pid);
}

/* The thread exits and is switched out for the last time. */
static void die(struct events *e, int64_t tid)
{
	unsigned cpu = cpu_of(e, tid);

	EVENT(e, now += 10, cpu, tid, EXIT, task, .tid = tid);
	EVENT(e, now += 10, cpu, tid, FREE, task, .tid = tid);
}

/* ---- looking at the state ---- */

static uint32_t life(struct events *e, int64_t tid, int64_t fd)
{
	const struct fd_table *t = thread_info(e->m, thread_find(e->m, tid))->files;

	return t ? files_find(t, fd) : NO_ROW;
}

static bool is_open(struct events *e, int64_t tid, int64_t fd)
{
	return life(e, tid, fd) != NO_ROW;
}

static struct file_row *file(struct events *e, int64_t tid, int64_t fd)
{
	uint32_t row = life(e, tid, fd);

	ck_assert_msg(row != NO_ROW, "fd %d of %d is not open", (int)fd, (int)tid);
	return FILE_ROW(e->m, row);
}

static const char *path(struct events *e, int64_t tid, int64_t fd)
{
	return strpool_text((strid)file(e, tid, fd)->path);
}

static const char *kind(struct events *e, int64_t tid, int64_t fd)
{
	return fd_kind_name((enum fd_kind)file(e, tid, fd)->kind);
}

static const struct host_row *host(struct events *e)
{
	return HOST_ROW(e->m);
}

static const struct syscall_row *call_stats(struct events *e, int64_t tid, const char *name)
{
	const struct state_table *t = &e->m->state.tables[TABLE_SYSCALL];

	for (uint32_t row = NO_ROW; (row = state_next(t, row)) != NO_ROW;) {
		const struct syscall_row *r = STATE_ROW(&e->m->state, SYSCALL, syscall, row);

		if (r->thread_uid == events_thread(e, tid)->uid && r->name == strpool_intern_z(name))
			return r;
	}
	return NULL;
}

static uint64_t error_count(struct events *e, const char *name, uint64_t error)
{
	const struct state_table *t = &e->m->state.tables[TABLE_SYSERR];
	uint64_t n = 0;

	for (uint32_t row = NO_ROW; (row = state_next(t, row)) != NO_ROW;) {
		const struct syserr_row *r = STATE_ROW(&e->m->state, SYSERR, syserr, row);

		if (r->name == strpool_intern_z(name) && r->error == error)
			n += r->count;
	}
	return n;
}

/* ---- system calls ---- */

START_TEST(test_call_is_timed)
{
	struct events e;

	begin(&e);
	SYSCALL_ENTRY(&e, 2000, 0, TID, "getpid", .fd = 0);
	ck_assert_str_eq(strpool_text((strid)events_thread(&e, TID)->syscall), "getpid");
	ck_assert_uint_eq(events_thread(&e, TID)->syscall_ns, 2000);
	SYSCALL_EXIT(&e, 2040, 0, TID, "getpid", .ret = 7);
	SYSCALL_ENTRY(&e, 2100, 0, TID, "getpid", .fd = 0);
	SYSCALL_EXIT(&e, 2110, 0, TID, "getpid", .ret = 7);
	ck_assert_uint_eq(events_thread(&e, TID)->syscall, STRID_NONE);
	ck_assert_int_eq((int64_t)events_thread(&e, TID)->syscall_fd, -1);
	ck_assert_uint_eq(events_thread(&e, TID)->syscalls, 2);
	ck_assert_uint_eq(call_stats(&e, TID, "getpid")->count, 2);
	ck_assert_uint_eq(call_stats(&e, TID, "getpid")->time.count, 2);
	ck_assert_uint_eq(call_stats(&e, TID, "getpid")->time.sum, 50);
	ck_assert_uint_eq(call_stats(&e, TID, "getpid")->time.max_at, 2040);
	ck_assert_uint_eq(call_stats(&e, TID, "getpid")->errors, 0);
	events_release(&e);
}
END_TEST

START_TEST(test_thread_shows_fd_of_its_call)
{
	struct events e;

	begin(&e);
	ENTRY(&e, TID, "read", .fd = 5);
	ck_assert_int_eq((int64_t)events_thread(&e, TID)->syscall_fd, 5);
	events_release(&e);
}
END_TEST

START_TEST(test_errors_are_counted)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/a", -ENOENT);
	OPEN(&e, TID, "/b", -ENOENT);
	OPEN(&e, TID, "/c", -EACCES);
	OPEN(&e, TID, "/d", 3);
	CALL(&e, TID, "mmap", INT64_C(-4096), .fd = -1); /* an address, no error */
	ck_assert_uint_eq(call_stats(&e, TID, "openat")->count, 4);
	ck_assert_uint_eq(call_stats(&e, TID, "openat")->errors, 3);
	ck_assert_uint_eq(error_count(&e, "openat", ENOENT), 2);
	ck_assert_uint_eq(error_count(&e, "openat", EACCES), 1);
	ck_assert_uint_eq(call_stats(&e, TID, "mmap")->errors, 0);
	events_release(&e);
}
END_TEST

START_TEST(test_exit_without_entry_has_no_duration)
{
	struct events e;

	begin(&e);
	EXIT(&e, TID, "clone", .ret = 0);
	ck_assert_uint_eq(call_stats(&e, TID, "clone")->count, 1);
	ck_assert_uint_eq(call_stats(&e, TID, "clone")->time.count, 0);
	ck_assert_uint_eq(events_thread(&e, TID)->syscalls, 1);
	/* another call's entry does not time it either */
	ENTRY(&e, TID, "read", .fd = 1);
	EXIT(&e, TID, "write", .ret = 4);
	ck_assert_uint_eq(call_stats(&e, TID, "write")->time.count, 0);
	ck_assert_ptr_null(call_stats(&e, TID, "read"));
	EXIT(&e, TID, "read", .ret = 4);
	ck_assert_uint_eq(call_stats(&e, TID, "read")->time.count, 0);
	/* nor does an entry whose exit was already there */
	CALL(&e, TID, "read", 4, .fd = 1);
	EXIT(&e, TID, "read", .ret = 4);
	ck_assert_uint_eq(call_stats(&e, TID, "read")->time.count, 1);
	events_release(&e);
}
END_TEST

START_TEST(test_entry_without_exit_is_dropped)
{
	struct events e;

	begin(&e);
	ENTRY(&e, TID, "rt_sigreturn", .fd = 0);
	ENTRY(&e, TID, "getpid", .fd = 0);
	EXIT(&e, TID, "getpid", .ret = 7);
	ck_assert_ptr_null(call_stats(&e, TID, "rt_sigreturn"));
	ck_assert_uint_eq(call_stats(&e, TID, "getpid")->time.sum, 10);
	events_release(&e);
}
END_TEST

/* Old tracers: one exit event for all calls, without a name. */
START_TEST(test_nameless_exit_is_of_the_call_in_flight)
{
	struct ev_syscall_entry in = { .nr = -1, .fd = 3 };
	struct ev_syscall_exit out = { .nr = -1, .ret = 12 };
	struct events e;
	struct record r;

	begin(&e);
	e.present = 0xff & ~1u; /* no number */
	record_init(&r, 2000, 0, TID, EVENT_SYSCALL_ENTRY);
	events_call(&e, &r, "sys_", "read", &in, sizeof(in));
	record_init(&r, 2030, 0, TID, EVENT_SYSCALL_EXIT);
	events_call(&e, &r, "exit_", "syscall", &out, sizeof(out));
	ck_assert_uint_eq(call_stats(&e, TID, "read")->time.sum, 30);
	ck_assert_uint_eq(file(&e, TID, 3)->read_bytes, 12);
	events_release(&e);
}
END_TEST

static void unknown_call(struct events *e, int64_t nr, int64_t ret, struct ev_syscall_entry in)
{
	struct ev_syscall_exit out = { .nr = nr, .ret = ret };
	struct record r;

	in.nr = nr;
	record_init(&r, now += 10, 0, TID, EVENT_SYSCALL_ENTRY);
	events_call(e, &r, "syscall_entry_", "unknown", &in, sizeof(in));
	record_init(&r, now += 10, 0, TID, EVENT_SYSCALL_EXIT);
	events_call(e, &r, "syscall_exit_", "unknown", &out, sizeof(out));
}

/* syscall_entry_unknown: the number tells the call, its raw arguments the rest. */
START_TEST(test_unknown_call_is_known_by_number)
{
	enum { NR_CLOSE_RANGE = 436, NR_COPY_FILE_RANGE = 326 };
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/in", 3);
	OPEN(&e, TID, "/out", 4);
	OPEN(&e, TID, "/more", 5);
	unknown_call(&e, NR_COPY_FILE_RANGE, 90, (struct ev_syscall_entry){ .args = { 3, 0, 0xdead00000004, 0, 100 } });
	ck_assert_uint_eq(file(&e, TID, 3)->read_bytes, 90);
	ck_assert_uint_eq(file(&e, TID, 4)->write_bytes, 90);
	ck_assert_uint_eq(call_stats(&e, TID, "copy_file_range")->time.count, 1);
	unknown_call(&e, NR_CLOSE_RANGE, 0, (struct ev_syscall_entry){ .args = { 4, UINT32_MAX, 0 } });
	ck_assert(is_open(&e, TID, 3));
	ck_assert(!is_open(&e, TID, 4));
	ck_assert(!is_open(&e, TID, 5));
	/* a number nobody knows is not an index */
	unknown_call(&e, INT64_C(1) << 40, 0, (struct ev_syscall_entry){ .fd = 0 });
	ck_assert_uint_eq(call_stats(&e, TID, "unknown")->count, 1);
	events_release(&e);
}
END_TEST

START_TEST(test_statistics_end_with_the_thread)
{
	const struct state_table *t;
	struct events e;

	begin(&e);
	t = &e.m->state.tables[TABLE_SYSCALL];
	fork_to(&e, TID, CHILD, CHILD);
	CALL(&e, CHILD, "read", -EBADF, .fd = 9);
	CALL(&e, CHILD, "write", 1, .fd = 1);
	CALL(&e, TID, "read", 1, .fd = 0);
	ck_assert_uint_eq(t->n_alive, 3);
	die(&e, CHILD);
	ck_assert_uint_eq(t->n_ended, 2);
	ck_assert_uint_eq(e.m->state.tables[TABLE_SYSERR].n_ended, 1);
	state_reap(&e.m->state, NULL, NULL);
	/* the next thread in the same rows starts from nothing */
	fork_to(&e, TID, CHILD, CHILD);
	CALL(&e, CHILD, "read", -EBADF, .fd = 9);
	ck_assert_uint_eq(call_stats(&e, CHILD, "read")->count, 1);
	ck_assert_uint_eq(error_count(&e, "read", EBADF), 1);
	CALL(&e, TID, "write", 1, .fd = 1);
	ck_assert_uint_eq(call_stats(&e, TID, "read")->count, 1);
	die(&e, CHILD);
	ck_assert_uint_eq(t->n_ended, 1);
	events_release(&e);
}
END_TEST

/* ---- lives ---- */

START_TEST(test_open_and_close)
{
	const struct file_row *r;
	struct events e;

	begin(&e);
	ENTRY(&e, TID, "openat", .fd = AT_FDCWD, .path = str(&rec, "/etc/passwd"), .flags = O_CLOEXEC);
	ck_assert(!is_open(&e, TID, 3));
	EXIT(&e, TID, "openat", .ret = 3);
	r = file(&e, TID, 3);
	ck_assert_str_eq(strpool_text((strid)r->path), "/etc/passwd");
	ck_assert_uint_eq(r->opened_ns, now);
	ck_assert_uint_eq(r->closed_ns, 0);
	ck_assert_uint_eq(r->cloexec, 1);
	ck_assert_int_eq((int64_t)r->pid, TID);
	ck_assert_uint_eq(r->files_id, events_thread(&e, TID)->files_id);
	ck_assert_uint_eq(host(&e)->fds, 1);
	ck_assert_uint_eq(host(&e)->fds_opened, 1);
	ENTRY(&e, TID, "close", .fd = 3);
	ck_assert(is_open(&e, TID, 3));
	EXIT(&e, TID, "close", .ret = 0);
	ck_assert(!is_open(&e, TID, 3));
	ck_assert_uint_eq(r->closed_ns, now); /* still readable */
	ck_assert_uint_eq(host(&e)->fds, 0);
	ck_assert_uint_eq(host(&e)->fds_closed, 1);
	events_release(&e);
}
END_TEST

START_TEST(test_failed_open_makes_nothing)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/nowhere", -ENOENT);
	ck_assert_uint_eq(host(&e)->fds_opened, 0);
	ck_assert_uint_eq(e.m->state.tables[TABLE_FILE].n_alive, 0);
	events_release(&e);
}
END_TEST

START_TEST(test_failed_close_closes_all_the_same)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/f", 3);
	CALL(&e, TID, "close", -EINTR, .fd = 3);
	ck_assert(!is_open(&e, TID, 3));
	CALL(&e, TID, "close", -EBADF, .fd = 3);
	CALL(&e, TID, "close", 0, .fd = 4); /* never seen open */
	ck_assert_uint_eq(host(&e)->fds_closed, 1);
	ck_assert_uint_eq(host(&e)->fds, 0);
	events_release(&e);
}
END_TEST

/* Another thread is given the number before the exit of close is recorded. */
START_TEST(test_close_does_not_end_the_next_life)
{
	struct events e;

	begin(&e);
	fork_to(&e, TID, CHILD, TID);
	OPEN(&e, TID, "/first", 3);
	ENTRY(&e, TID, "close", .fd = 3);
	OPEN(&e, CHILD, "/second", 3);
	EXIT(&e, TID, "close", .ret = 0);
	ck_assert_str_eq(path(&e, TID, 3), "/second");
	ck_assert_uint_eq(host(&e)->fds, 1);
	events_release(&e);
}
END_TEST

START_TEST(test_unknown_fd_lives_since_before_the_record)
{
	struct events e;

	begin(&e);
	CALL(&e, TID, "read", -EBADF, .fd = 5);
	ck_assert(!is_open(&e, TID, 5));
	CALL(&e, TID, "read", 10, .fd = 5);
	ck_assert_uint_eq(file(&e, TID, 5)->opened_ns, 0);
	ck_assert_uint_eq(file(&e, TID, 5)->path, STRID_NONE);
	ck_assert_uint_eq(file(&e, TID, 5)->read_bytes, 10);
	ck_assert_uint_eq(host(&e)->fds, 1);
	ck_assert_uint_eq(host(&e)->fds_opened, 0);
	events_release(&e);
}
END_TEST

/* Events were lost: whatever the number stood for is over. */
START_TEST(test_open_of_an_open_fd_replaces_it)
{
	const struct file_row *old;
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/old", 3);
	old = file(&e, TID, 3);
	OPEN(&e, TID, "/new", 3);
	ck_assert_uint_eq(old->closed_ns, now);
	ck_assert_str_eq(path(&e, TID, 3), "/new");
	ck_assert_uint_eq(host(&e)->fds, 1);
	events_release(&e);
}
END_TEST

START_TEST(test_absurd_fds_have_no_life)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/f", INT64_C(1) << 40);
	OPEN(&e, TID, "/f", FD_MAX);
	CALL(&e, TID, "read", 5, .fd = INT32_MAX);
	CALL(&e, TID, "read", 5, .fd = -3);
	CALL(&e, TID, "dup2", INT64_C(1) << 40, .fd = 0, .fd2 = 5);
	ck_assert_uint_eq(host(&e)->fds, 1); /* 0, which was duplicated */
	ck_assert_uint_eq(events_thread(&e, TID)->read_other, 10);
	events_release(&e);
}
END_TEST

START_TEST(test_dup)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/f", 3, .flags = O_CLOEXEC);
	CALL(&e, TID, "dup", 4, .fd = 3);
	ck_assert_str_eq(path(&e, TID, 4), "/f");
	ck_assert_uint_eq(file(&e, TID, 4)->opened_ns, now);
	ck_assert_uint_eq(file(&e, TID, 4)->cloexec, 0);
	CALL(&e, TID, "read", 100, .fd = 4);
	ck_assert_uint_eq(file(&e, TID, 3)->read_bytes, 0);
	ck_assert_uint_eq(file(&e, TID, 4)->read_bytes, 100);
	CALL(&e, TID, "close", 0, .fd = 3);
	ck_assert(is_open(&e, TID, 4));
	events_release(&e);
}
END_TEST

START_TEST(test_dup2_and_dup3)
{
	const struct file_row *old;
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/from", 3);
	OPEN(&e, TID, "/to", 4);
	old = file(&e, TID, 4);
	CALL(&e, TID, "dup2", 4, .fd = 3, .fd2 = 4);
	ck_assert_uint_eq(old->closed_ns, now);
	ck_assert_str_eq(path(&e, TID, 4), "/from");
	ck_assert_uint_eq(host(&e)->fds, 2);
	old = file(&e, TID, 4);
	CALL(&e, TID, "dup2", 4, .fd = 4, .fd2 = 4); /* does nothing */
	ck_assert_ptr_eq(file(&e, TID, 4), old);
	CALL(&e, TID, "dup3", 9, .fd = 3, .fd2 = 9, .flags = O_CLOEXEC);
	ck_assert_uint_eq(file(&e, TID, 9)->cloexec, 1);
	CALL(&e, TID, "dup2", -EBADF, .fd = 20, .fd2 = 3);
	ck_assert_str_eq(path(&e, TID, 3), "/from");
	events_release(&e);
}
END_TEST

START_TEST(test_fcntl)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/f", 3);
	CALL(&e, TID, "fcntl", 10, .fd = 3, .cmd = F_DUPFD, .arg = 10);
	CALL(&e, TID, "fcntl", 11, .fd = 3, .cmd = F_DUPFD_CLOEXEC, .arg = 10);
	ck_assert_str_eq(path(&e, TID, 10), "/f");
	ck_assert_uint_eq(file(&e, TID, 10)->cloexec, 0);
	ck_assert_uint_eq(file(&e, TID, 11)->cloexec, 1);
	CALL(&e, TID, "fcntl", 0, .fd = 10, .cmd = F_SETFD, .arg = FD_CLOEXEC);
	CALL(&e, TID, "fcntl", 0, .fd = 11, .cmd = F_SETFD, .arg = 0);
	ck_assert_uint_eq(file(&e, TID, 10)->cloexec, 1);
	ck_assert_uint_eq(file(&e, TID, 11)->cloexec, 0);
	CALL(&e, TID, "fcntl", 5, .fd = 3, .cmd = F_GETFL);
	ck_assert_uint_eq(host(&e)->fds, 3);
	events_release(&e);
}
END_TEST

START_TEST(test_pairs)
{
	struct events e;

	begin(&e);
	ENTRY(&e, TID, "pipe2", .flags = O_CLOEXEC);
	EXIT(&e, TID, "pipe2", .ret = 0, .fd0 = 3, .fd1 = 4);
	ENTRY(&e, TID, "socketpair", .cmd = AF_UNIX, .flags = SOCK_STREAM);
	EXIT(&e, TID, "socketpair", .ret = 0, .fd0 = 5, .fd1 = 6);
	ENTRY(&e, TID, "pipe", .fd = 0);
	EXIT(&e, TID, "pipe", .ret = -EMFILE, .fd0 = 7, .fd1 = 8);
	ck_assert_str_eq(kind(&e, TID, 3), "pipe");
	ck_assert_str_eq(kind(&e, TID, 4), "pipe");
	ck_assert_uint_eq(file(&e, TID, 4)->cloexec, 1);
	ck_assert_str_eq(kind(&e, TID, 5), "unix");
	ck_assert_uint_eq(file(&e, TID, 6)->cloexec, 0);
	ck_assert_uint_eq(host(&e)->fds, 4);
	events_release(&e);
}
END_TEST

START_TEST(test_calls_that_make_one_fd)
{
	static const struct {
		const char *call, *kind;
		bool cloexec;
	} calls[] = {
		{ "eventfd", "eventfd", false }, { "epoll_create1", "epoll", false },
		{ "timerfd_create", "timerfd", false }, { "inotify_init", "inotify", false },
		{ "pidfd_open", "pidfd", true }, { "io_uring_setup", "io_uring", true },
		{ "memfd_create", "memfd", false }, { "fanotify_init", "fanotify", false },
		{ "perf_event_open", "perf", false }, { "userfaultfd", "other", false },
	};
	struct events e;

	begin(&e);
	for (unsigned i = 0; i < G_N_ELEMENTS(calls); i++) {
		CALL(&e, TID, calls[i].call, 10 + i, .flags = 0);
		ck_assert_str_eq(kind(&e, TID, 10 + i), calls[i].kind);
		ck_assert_uint_eq(file(&e, TID, 10 + i)->cloexec, calls[i].cloexec);
	}
	CALL(&e, TID, "memfd_create", 30, .flags = 1, .path = str(&rec, "shared"));
	ck_assert_uint_eq(file(&e, TID, 30)->cloexec, 1);
	ck_assert_str_eq(path(&e, TID, 30), "shared");
	CALL(&e, TID, "signalfd4", 31, .fd = -1);
	ck_assert_str_eq(kind(&e, TID, 31), "signalfd");
	CALL(&e, TID, "signalfd4", 31, .fd = 31); /* changes its mask */
	ck_assert_uint_eq(host(&e)->fds_closed, 0);
	CALL(&e, TID, "bpf", 40, .cmd = 5); /* BPF_PROG_LOAD */
	ck_assert_str_eq(kind(&e, TID, 40), "other");
	ck_assert_uint_eq(file(&e, TID, 40)->cloexec, 1);
	CALL(&e, TID, "bpf", 0, .cmd = 8); /* BPF_PROG_ATTACH */
	ck_assert(!is_open(&e, TID, 0));
	CALL(&e, TID, "landlock_create_ruleset", 4, .flags = 1); /* tells the version */
	ck_assert(!is_open(&e, TID, 4));
	events_release(&e);
}
END_TEST

START_TEST(test_sockets)
{
	const uint64_t peer[2] = { GUINT64_TO_BE(UINT64_C(0x0a00000200000000)), 0 };
	const uint64_t mapped[2] = { 0, GUINT64_TO_BE(UINT64_C(0x0000ffff0a000003)) };
	struct events e;

	begin(&e);
	CALL(&e, TID, "socket", 3, .cmd = AF_INET6, .flags = SOCK_STREAM | SOCK_CLOEXEC);
	ck_assert_str_eq(kind(&e, TID, 3), "inet");
	ck_assert_uint_eq(file(&e, TID, 3)->cloexec, 1);
	CALL(&e, TID, "socket", 4, .cmd = AF_NETLINK, .flags = SOCK_RAW);
	ck_assert_str_eq(kind(&e, TID, 4), "socket");
	CALL(&e, TID, "connect", 0, .fd = 3, .family = AF_INET, .port = 80, .addr = { peer[0], peer[1] });
	ck_assert_str_eq(strpool_text((strid)file(&e, TID, 3)->peer), "10.0.0.2:80");
	CALL(&e, TID, "connect", -ECONNREFUSED, .fd = 3, .family = AF_INET, .port = 81, .addr = { peer[0], peer[1] });
	ck_assert_str_eq(strpool_text((strid)file(&e, TID, 3)->peer), "10.0.0.2:80");
	CALL(&e, TID, "connect", -EINPROGRESS, .fd = 5, .family = AF_INET6, .port = 82,
	     .addr = { 0, GUINT64_TO_BE(1) });
	ck_assert_str_eq(strpool_text((strid)file(&e, TID, 5)->peer), "[::1]:82");
	ck_assert_str_eq(kind(&e, TID, 5), "inet");
	ENTRY(&e, TID, "accept4", .fd = 6, .flags = SOCK_CLOEXEC);
	EXIT(&e, TID, "accept4", .ret = 7, .family = AF_INET6, .port = 4000, .addr = { mapped[0], mapped[1] });
	ck_assert_str_eq(kind(&e, TID, 6), "inet"); /* a listening socket is of the family it accepts */
	ck_assert_str_eq(kind(&e, TID, 7), "inet");
	ck_assert_uint_eq(file(&e, TID, 7)->cloexec, 1);
	ck_assert_str_eq(strpool_text((strid)file(&e, TID, 7)->peer), "10.0.0.3:4000");
	CALL(&e, TID, "accept", 8, .fd = 6); /* without an address: as the listening one */
	ck_assert_str_eq(kind(&e, TID, 8), "inet");
	ck_assert_uint_eq(file(&e, TID, 8)->cloexec, 0);
	events_release(&e);
}
END_TEST

START_TEST(test_close_range)
{
	struct events e;

	begin(&e);
	for (int fd = 3; fd < 8; fd++)
		OPEN(&e, TID, "/f", fd);
	CALL(&e, TID, "close_range", 0, .fd = 4, .arg = 5);
	ck_assert(is_open(&e, TID, 3));
	ck_assert(!is_open(&e, TID, 4));
	ck_assert(!is_open(&e, TID, 5));
	ck_assert(is_open(&e, TID, 6));
	CALL(&e, TID, "close_range", 0, .fd = 7, .arg = UINT32_MAX, .flags = 4);
	ck_assert_uint_eq(file(&e, TID, 6)->cloexec, 0);
	ck_assert_uint_eq(file(&e, TID, 7)->cloexec, 1);
	fork_to(&e, TID, CHILD, TID);
	CALL(&e, CHILD, "close_range", 0, .fd = 0, .arg = UINT32_MAX, .flags = 2);
	ck_assert(!is_open(&e, CHILD, 3));
	ck_assert(is_open(&e, TID, 3));
	events_release(&e);
}
END_TEST

/* ---- tables ---- */

START_TEST(test_fork_copies)
{
	const struct file_row *r;
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/f", 3, .flags = O_CLOEXEC);
	CALL(&e, TID, "write", 50, .fd = 3);
	fork_to(&e, TID, CHILD, CHILD);
	r = file(&e, CHILD, 3);
	ck_assert_str_eq(strpool_text((strid)r->path), "/f");
	ck_assert_uint_eq(r->opened_ns, now);
	ck_assert_uint_eq(r->write_bytes, 0);
	ck_assert_uint_eq(r->cloexec, 1);
	ck_assert_int_eq((int64_t)r->pid, CHILD);
	ck_assert_uint_eq(host(&e)->fds, 2);
	CALL(&e, CHILD, "close", 0, .fd = 3);
	ck_assert(is_open(&e, TID, 3));
	OPEN(&e, TID, "/g", 4);
	ck_assert(!is_open(&e, CHILD, 4));
	events_release(&e);
}
END_TEST

START_TEST(test_threads_share)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/f", 3);
	fork_to(&e, TID, CHILD, TID);
	OPEN(&e, CHILD, "/g", 4);
	ck_assert_str_eq(path(&e, TID, 4), "/g");
	CALL(&e, CHILD, "close", 0, .fd = 3);
	ck_assert(!is_open(&e, TID, 3));
	ck_assert_uint_eq(host(&e)->fds, 1);
	events_release(&e);
}
END_TEST

START_TEST(test_clone_files_shares_between_processes)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/f", 3);
	ENTRY(&e, TID, "clone", .flags = CLONE_FILES_FLAG | 17);
	fork_to(&e, TID, CHILD, CHILD);
	EXIT(&e, TID, "clone", .ret = CHILD);
	CALL(&e, CHILD, "close", 0, .fd = 3);
	ck_assert(!is_open(&e, TID, 3));
	OPEN(&e, TID, "/f", 3);
	CALL(&e, CHILD, "unshare", 0, .flags = CLONE_FILES_FLAG);
	CALL(&e, CHILD, "close", 0, .fd = 3);
	ck_assert(is_open(&e, TID, 3));
	events_release(&e);
}
END_TEST

START_TEST(test_table_ends_with_its_last_user)
{
	const struct file_row *r;
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/f", 3);
	fork_to(&e, TID, CHILD, TID);
	fork_to(&e, TID, CHILD + 1, CHILD + 1);
	ck_assert_uint_eq(host(&e)->fds, 2);
	r = file(&e, TID, 3);
	die(&e, TID);
	ck_assert_uint_eq(r->closed_ns, 0);
	ck_assert(is_open(&e, CHILD, 3));
	die(&e, CHILD);
	ck_assert_uint_eq(r->closed_ns, now);
	ck_assert_uint_eq(host(&e)->fds, 1);
	ck_assert(is_open(&e, CHILD + 1, 3));
	die(&e, CHILD + 1);
	ck_assert_uint_eq(host(&e)->fds, 0);
	events_release(&e);
}
END_TEST

START_TEST(test_exec_closes_cloexec)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/kept", 3);
	OPEN(&e, TID, "/gone", 4, .flags = O_CLOEXEC);
	ENTRY(&e, TID, "execve", .path = str(&rec, "/bin/true"));
	EVENT(&e, now += 10, 0, TID, EXEC, exec, .tid = TID, .old_tid = TID);
	ck_assert(is_open(&e, TID, 3));
	ck_assert(!is_open(&e, TID, 4));
	EXIT(&e, TID, "execve", .ret = 0);
	ck_assert_uint_eq(call_stats(&e, TID, "execve")->time.count, 1);
	ck_assert_uint_eq(host(&e)->fds, 1);
	/* a failed one changes nothing */
	OPEN(&e, TID, "/kept", 4, .flags = O_CLOEXEC);
	CALL(&e, TID, "execve", -ENOENT, .path = str(&rec, "/nowhere"));
	ck_assert(is_open(&e, TID, 4));
	events_release(&e);
}
END_TEST

/* A trace without sched_process_exec has the call's exit. */
START_TEST(test_exec_known_by_the_call)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/gone", 4, .flags = O_CLOEXEC);
	CALL(&e, TID, "execve", 0, .path = str(&rec, "/bin/true"));
	ck_assert(!is_open(&e, TID, 4));
	events_release(&e);
}
END_TEST

START_TEST(test_exec_stops_sharing)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/kept", 3);
	OPEN(&e, TID, "/gone", 4, .flags = O_CLOEXEC);
	ENTRY(&e, TID, "clone", .flags = CLONE_FILES_FLAG);
	fork_to(&e, TID, CHILD, CHILD);
	EXIT(&e, TID, "clone", .ret = CHILD);
	EVENT(&e, now += 10, 1, CHILD, EXEC, exec, .tid = CHILD, .old_tid = CHILD);
	ck_assert(is_open(&e, CHILD, 3));
	ck_assert(!is_open(&e, CHILD, 4));
	ck_assert(is_open(&e, TID, 4));
	CALL(&e, CHILD, "close", 0, .fd = 3);
	ck_assert(is_open(&e, TID, 3));
	events_release(&e);
}
END_TEST

/* The process' other threads are dead when it executes, seen to be or not: the lives go on. */
START_TEST(test_exec_of_many_threads_keeps_lives)
{
	const struct file_row *r;
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/kept", 3);
	fork_to(&e, TID, CHILD, TID);
	r = file(&e, TID, 3);
	EVENT(&e, now += 10, 0, TID, EXEC, exec, .tid = TID, .old_tid = TID);
	ck_assert_ptr_eq(file(&e, TID, 3), r);
	ck_assert_uint_eq(r->closed_ns, 0);
	ck_assert_uint_eq(host(&e)->fds, 1);
	events_release(&e);
}
END_TEST

START_TEST(test_exec_by_another_thread_keeps_lives)
{
	const struct file_row *r;
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/kept", 3);
	fork_to(&e, TID, CHILD, TID);
	r = file(&e, TID, 3);
	EVENT(&e, now += 10, cpu_of(&e, CHILD), TID, EXEC, exec, .tid = TID, .old_tid = CHILD);
	ck_assert_ptr_eq(file(&e, TID, 3), r);
	ck_assert_uint_eq(r->closed_ns, 0);
	events_release(&e);
}
END_TEST

/* Threads that were there before the record use the table of their process. */
START_TEST(test_threads_of_unknown_birth_share)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/f", 3);
	cpu_of(&e, CHILD);
	events_thread(&e, CHILD)->pid = TID;
	CALL(&e, CHILD, "close", 0, .fd = 3);
	ck_assert(!is_open(&e, TID, 3));
	/* another process does not */
	cpu_of(&e, CHILD + 1);
	events_thread(&e, CHILD + 1)->pid = CHILD + 1;
	OPEN(&e, CHILD + 1, "/g", 4);
	ck_assert(!is_open(&e, TID, 4));
	events_release(&e);
}
END_TEST

/* ---- the state dump ---- */

#define DUMP_PROCESS(e, in_tid, in_pid, table) \
	EVENT(e, now += 10, 0, TID, DUMP_PROCESS, dump_process, .tid = in_tid, .pid = in_pid, .file_table = table)
#define DUMP_FD(e, table, number, mode, bits, name) \
	EVENT(e, now += 10, 0, TID, DUMP_FD, dump_fd, .file_table = table, .fd = number, .flags = bits, .fmode = mode, \
	      .filename = str(&rec, name))

START_TEST(test_dump_by_address)
{
	struct events e;

	begin(&e);
	DUMP_PROCESS(&e, 20, 20, 0xa0);
	DUMP_FD(&e, 0xa0, 3, 0x1d, O_RDONLY | O_CLOEXEC, "/etc/hosts");
	DUMP_PROCESS(&e, 21, 20, 0xa0);
	DUMP_PROCESS(&e, 22, 22, 0xa0); /* shares it although another process */
	DUMP_PROCESS(&e, 23, 23, 0xb0);
	ck_assert_str_eq(path(&e, 20, 3), "/etc/hosts");
	ck_assert_uint_eq(file(&e, 20, 3)->opened_ns, 0);
	ck_assert_uint_eq(file(&e, 20, 3)->cloexec, 1);
	ck_assert_int_eq((int64_t)file(&e, 20, 3)->pid, 20);
	ck_assert_ptr_eq(file(&e, 21, 3), file(&e, 20, 3));
	ck_assert_ptr_eq(file(&e, 22, 3), file(&e, 20, 3));
	ck_assert(!is_open(&e, 23, 3));
	DUMP_PROCESS(&e, 24, 20, 0xc0); /* has one of its own although of that process */
	ck_assert(!is_open(&e, 24, 3));
	ck_assert_str_eq(path(&e, 20, 3), "/etc/hosts");
	ck_assert_uint_eq(host(&e)->fds, 1);
	ck_assert_uint_eq(host(&e)->fds_opened, 0);
	events_release(&e);
}
END_TEST

/* lttng-modules before 2.13 names the process instead. */
START_TEST(test_dump_by_pid)
{
	struct events e;

	begin(&e);
	EVENT(&e, now += 10, 0, TID, DUMP_FD, dump_fd, .pid = TID, .fd = 4, .filename = str(&rec, "/etc/hosts"));
	ck_assert_str_eq(path(&e, TID, 4), "/etc/hosts");
	events_release(&e);
}
END_TEST

/* It takes time: what the events told meanwhile stays. */
START_TEST(test_dump_does_not_undo_events)
{
	uint64_t opened;
	struct events e;

	begin(&e);
	OPEN(&e, TID, "relative", 3);
	opened = now;
	CALL(&e, TID, "write", 5, .fd = 1);
	DUMP_PROCESS(&e, TID, TID, 0xa0);
	DUMP_FD(&e, 0xa0, 3, 0x1d, O_RDONLY, "/home/relative");
	DUMP_FD(&e, 0xa0, 1, 0x1f, O_WRONLY, "/var/log/out");
	CALL(&e, TID, "socket", 2, .cmd = AF_INET);
	DUMP_FD(&e, 0xa0, 2, 0x2e0003, O_RDWR, "socket:[77]");
	ck_assert_str_eq(kind(&e, TID, 2), "inet");
	ck_assert_str_eq(path(&e, TID, 3), "relative");
	ck_assert_uint_eq(file(&e, TID, 3)->opened_ns, opened);
	ck_assert_str_eq(path(&e, TID, 1), "/var/log/out"); /* what was not known is filled in */
	ck_assert_str_eq(kind(&e, TID, 1), "file");
	ck_assert_uint_eq(file(&e, TID, 1)->write_bytes, 5);
	ck_assert_uint_eq(host(&e)->fds, 3);
	ck_assert_uint_eq(host(&e)->fds_closed, 0);
	events_release(&e);
}
END_TEST

/* After a loss the dump is right. */
START_TEST(test_dump_corrects_after_loss)
{
	struct ev_lost p = { .events = 10 };
	struct events e;
	struct record r;

	begin(&e);
	DUMP_PROCESS(&e, TID, TID, 0xa0);
	OPEN(&e, TID, "/old", 3);
	record_init(&r, now += 10, 0, EVENT_NO_TID, EVENT_LOST);
	events_apply(&e, &r, &p, sizeof(p));
	DUMP_FD(&e, 0xa0, 3, 0x1d, O_RDONLY, "/new");
	ck_assert_str_eq(path(&e, TID, 3), "/new");
	ck_assert_uint_eq(host(&e)->fds, 1);
	events_release(&e);
}
END_TEST

/* Believed to have tables of their own until the dump says that they share one. */
START_TEST(test_dump_joins_tables)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/f", 3);
	fork_to(&e, TID, CHILD, CHILD);
	OPEN(&e, CHILD, "/g", 4);
	DUMP_PROCESS(&e, TID, TID, 0xa0);
	DUMP_PROCESS(&e, CHILD, CHILD, 0xa0);
	ck_assert_str_eq(path(&e, TID, 4), "/g");
	ck_assert_ptr_eq(file(&e, TID, 3), file(&e, CHILD, 3));
	ck_assert_uint_eq(host(&e)->fds, 2);
	events_release(&e);
}
END_TEST

START_TEST(test_dump_names)
{
	static const struct {
		const char *name;
		uint64_t mode;
		const char *kind;
	} names[] = {
		{ "/etc/passwd", 0x80a001d, "file" }, { "/var/lib", 0xa801d, "file" },
		{ "/run/initctl", 0x2e0003, "fifo" }, { "/opt", 0x4000, "file" },
		{ "/proc/1/stat", 0xa801d, "pseudo" }, { "/sys/fs/cgroup", 0xa801d, "pseudo" },
		{ "/system/f", 0x1d, "file" }, { "/dev/null", 0x80a001d, "device" },
		{ "/dev/input/event2", 0x2e0003, "device" }, { "/memfd:x (deleted)", 0x1f, "memfd" },
		{ "pipe:[123]", 0x2a0001, "pipe" }, { "socket:[12]", 0x2e0003, "socket" },
		{ "anon_inode:[eventpoll]", 0x80007, "epoll" }, { "anon_inode:inotify", 0xa0005, "inotify" },
		{ "anon_inode:[timerfd]", 0xa0007, "timerfd" }, { "anon_inode:[signalfd]", 0xa0007, "signalfd" },
		{ "anon_inode:[eventfd]", 0xa0007, "eventfd" }, { "anon_inode:bpf-prog", 0xe0003, "other" },
		{ "TCP", 3, "inet" }, { "UDPv6", 3, "inet" }, { "UNIX", 3, "unix" }, { "NETLINK", 3, "socket" },
	};
	struct events e;

	begin(&e);
	DUMP_PROCESS(&e, TID, TID, 0xa0);
	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
		DUMP_FD(&e, 0xa0, i, names[i].mode, 0, names[i].name);
		ck_assert_msg(strcmp(kind(&e, TID, i), names[i].kind) == 0, "%s is a %s, not %s", names[i].name,
			      names[i].kind, kind(&e, TID, i));
	}
	events_release(&e);
}
END_TEST

START_TEST(test_dump_of_a_deleted_file)
{
	struct events e;

	begin(&e);
	DUMP_PROCESS(&e, TID, TID, 0xa0);
	DUMP_FD(&e, 0xa0, 3, 0x1f, 0, "/tmp/f (deleted)");
	DUMP_FD(&e, 0xa0, 4, 0x1f, 0, " (deleted)");
	ck_assert_str_eq(path(&e, TID, 3), "/tmp/f");
	ck_assert_str_eq(path(&e, TID, 4), " (deleted)");
	events_release(&e);
}
END_TEST

/* The dump tells of disks after the fds. */
START_TEST(test_dump_end_knows_the_disks)
{
	struct events e;

	begin(&e);
	DUMP_PROCESS(&e, TID, TID, 0xa0);
	DUMP_FD(&e, 0xa0, 3, 0x1f, O_RDWR, "/dev/odd0");
	ck_assert_str_eq(kind(&e, TID, 3), "device");
	EVENT(&e, now += 10, 0, TID, DUMP_DISK, dump_disk, .dev = 0x800000, .name = str(&rec, "odd0"));
	EVENT(&e, now += 10, 0, TID, DUMP_END, none, );
	ck_assert_str_eq(kind(&e, TID, 3), "block");
	OPEN(&e, TID, "/dev/odd0", 4);
	ck_assert_str_eq(kind(&e, TID, 4), "block");
	events_release(&e);
}
END_TEST

/* ---- bytes ---- */

START_TEST(test_classes)
{
	const struct thread_row *r;
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/f", 3);
	OPEN(&e, TID, "/dev/tty", 4);
	OPEN(&e, TID, "/proc/stat", 5);
	OPEN(&e, TID, "/dev/vda", 6);
	CALL(&e, TID, "socket", 7, .cmd = AF_INET);
	CALL(&e, TID, "socket", 8, .cmd = AF_UNIX);
	CALL(&e, TID, "socket", 9, .cmd = AF_PACKET);
	CALL(&e, TID, "socket", 10, .cmd = AF_NETLINK);
	ENTRY(&e, TID, "pipe", .fd = 0);
	EXIT(&e, TID, "pipe", .ret = 0, .fd0 = 11, .fd1 = 12);
	CALL(&e, TID, "eventfd2", 13, .flags = 0);
	for (unsigned fd = 3; fd < 15; fd++) { /* 14 is unknown */
		CALL(&e, TID, "read", INT64_C(1) << fd, .fd = fd);
		CALL(&e, TID, "write", INT64_C(2) << fd, .fd = fd);
	}
	r = events_thread(&e, TID);
	ck_assert_uint_eq(r->read_disk, 1 << 3 | 1 << 6);
	ck_assert_uint_eq(r->read_net, 1 << 7 | 1 << 9);
	ck_assert_uint_eq(r->read_pipe, 1 << 8 | 1 << 11 | 1 << 12);
	ck_assert_uint_eq(r->read_other, 1 << 4 | 1 << 5 | 1 << 10 | 1 << 13 | 1 << 14);
	ck_assert_uint_eq(r->write_disk, 2 * r->read_disk);
	ck_assert_uint_eq(r->write_net, 2 * r->read_net);
	ck_assert_uint_eq(r->write_pipe, 2 * r->read_pipe);
	ck_assert_uint_eq(r->write_other, 2 * r->read_other);
	ck_assert_uint_eq(file(&e, TID, 3)->read_bytes, 1 << 3);
	ck_assert_uint_eq(file(&e, TID, 3)->write_bytes, 2 << 3);
	events_release(&e);
}
END_TEST

/* A path below an open directory is of the directory's kind. */
START_TEST(test_relative_paths)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/proc/1", 3);
	OPEN(&e, TID, "/dev", 4);
	OPEN(&e, TID, "/home", 5);
	CALL(&e, TID, "openat", 10, .fd = 3, .path = str(&rec, "stat"));
	CALL(&e, TID, "openat", 11, .fd = 4, .path = str(&rec, "null"));
	CALL(&e, TID, "openat", 12, .fd = 4, .path = str(&rec, "vda"));
	CALL(&e, TID, "openat", 13, .fd = 5, .path = str(&rec, "f"));
	CALL(&e, TID, "openat", 14, .fd = 3, .path = str(&rec, "//etc/f"));
	CALL(&e, TID, "openat", 15, .fd = 5, .path = str(&rec, "//dev/null"));
	ck_assert_str_eq(kind(&e, TID, 10), "pseudo");
	ck_assert_str_eq(kind(&e, TID, 11), "device");
	ck_assert_str_eq(kind(&e, TID, 12), "block");
	ck_assert_str_eq(kind(&e, TID, 13), "file");
	ck_assert_str_eq(kind(&e, TID, 14), "file");
	ck_assert_str_eq(kind(&e, TID, 15), "device");
	ck_assert_str_eq(path(&e, TID, 10), "stat"); /* as the event told */
	events_release(&e);
}
END_TEST

START_TEST(test_every_moving_call)
{
	static const char *const reads[] = { "read", "pread64", "readv", "preadv", "preadv2", "recvfrom", "recvmsg" };
	static const char *const writes[] = {
		"write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg",
	};
	static const char *const copies[] = { "sendfile64", "splice", "tee", "copy_file_range" };
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/in", 3);
	OPEN(&e, TID, "/out", 4);
	for (unsigned i = 0; i < G_N_ELEMENTS(reads); i++) {
		CALL(&e, TID, reads[i], 1, .fd = 3);
		CALL(&e, TID, writes[i], 2, .fd = 4);
		CALL(&e, TID, reads[i], -EAGAIN, .fd = 3);
		CALL(&e, TID, writes[i], 0, .fd = 4);
	}
	ck_assert_uint_eq(file(&e, TID, 3)->read_bytes, 7);
	ck_assert_uint_eq(file(&e, TID, 4)->write_bytes, 14);
	for (unsigned i = 0; i < G_N_ELEMENTS(copies); i++)
		CALL(&e, TID, copies[i], 100, .fd = 3, .fd2 = 4);
	ck_assert_uint_eq(file(&e, TID, 3)->read_bytes, 407);
	ck_assert_uint_eq(file(&e, TID, 4)->write_bytes, 414);
	ck_assert_uint_eq(file(&e, TID, 3)->write_bytes, 0);
	CALL(&e, TID, "recvmmsg", 5, .fd = 3); /* messages, not bytes */
	CALL(&e, TID, "sendmmsg", 5, .fd = 4);
	ck_assert_uint_eq(events_thread(&e, TID)->read_disk, 407);
	ck_assert_uint_eq(events_thread(&e, TID)->write_disk, 414);
	ck_assert_uint_eq(call_stats(&e, TID, "recvmmsg")->count, 1);
	events_release(&e);
}
END_TEST

START_TEST(test_vmsplice_goes_the_pipes_way)
{
	struct events e;

	begin(&e);
	ENTRY(&e, TID, "pipe", .fd = 0);
	EXIT(&e, TID, "pipe", .ret = 0, .fd0 = 3, .fd1 = 4);
	CALL(&e, TID, "dup2", 0, .fd = 3, .fd2 = 0);
	CALL(&e, TID, "vmsplice", 10, .fd = 4);
	CALL(&e, TID, "vmsplice", 7, .fd = 0);
	ck_assert_uint_eq(events_thread(&e, TID)->write_pipe, 10);
	ck_assert_uint_eq(events_thread(&e, TID)->read_pipe, 7);
	fork_to(&e, TID, CHILD, CHILD);
	CALL(&e, CHILD, "vmsplice", 5, .fd = 3);
	ck_assert_uint_eq(events_thread(&e, CHILD)->read_pipe, 5);
	DUMP_PROCESS(&e, CHILD, CHILD, 0xa0);
	DUMP_FD(&e, 0xa0, 8, 0x2a0001, O_RDONLY, "pipe:[5]");
	DUMP_FD(&e, 0xa0, 9, 0x2c0002, O_WRONLY, "pipe:[5]");
	CALL(&e, CHILD, "vmsplice", 1, .fd = 8);
	CALL(&e, CHILD, "vmsplice", 2, .fd = 9);
	ck_assert_uint_eq(events_thread(&e, CHILD)->read_pipe, 6);
	ck_assert_uint_eq(events_thread(&e, CHILD)->write_pipe, 2);
	events_release(&e);
}
END_TEST

/* Without its entry nobody knows which fd it was. */
START_TEST(test_bytes_of_an_exit_without_entry)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/f", 0);
	EXIT(&e, TID, "read", .ret = 9);
	ck_assert_uint_eq(events_thread(&e, TID)->read_other, 9);
	ck_assert_uint_eq(file(&e, TID, 0)->read_bytes, 0);
	EXIT(&e, TID, "openat", .ret = 5); /* an fd it is all the same */
	ck_assert_str_eq(kind(&e, TID, 5), "unknown");
	ck_assert_uint_eq(file(&e, TID, 5)->opened_ns, now);
	events_release(&e);
}
END_TEST

/* A read that blocks while its fd is closed and opened anew belongs to the file it began with. */
START_TEST(test_bytes_go_to_the_life_the_call_began_in)
{
	const struct file_row *old;
	struct events e;

	begin(&e);
	fork_to(&e, TID, CHILD, TID);
	OPEN(&e, TID, "/old", 3);
	old = file(&e, TID, 3);
	ENTRY(&e, TID, "read", .fd = 3);
	CALL(&e, CHILD, "close", 0, .fd = 3);
	OPEN(&e, CHILD, "/new", 3);
	EXIT(&e, TID, "read", .ret = 20);
	ck_assert_uint_eq(old->read_bytes, 20);
	ck_assert_uint_eq(file(&e, TID, 3)->read_bytes, 0);
	/* or to none, if that is gone for good */
	ENTRY(&e, TID, "read", .fd = 3);
	CALL(&e, CHILD, "close", 0, .fd = 3);
	state_reap(&e.m->state, NULL, NULL);
	OPEN(&e, CHILD, "/newest", 3);
	EXIT(&e, TID, "read", .ret = 20);
	ck_assert_uint_eq(file(&e, TID, 3)->read_bytes, 0);
	events_release(&e);
}
END_TEST

UNIT_MAIN("files", test_call_is_timed, test_thread_shows_fd_of_its_call, test_errors_are_counted,
	  test_exit_without_entry_has_no_duration, test_entry_without_exit_is_dropped,
	  test_nameless_exit_is_of_the_call_in_flight, test_unknown_call_is_known_by_number,
	  test_statistics_end_with_the_thread, test_open_and_close, test_failed_open_makes_nothing,
	  test_failed_close_closes_all_the_same, test_close_does_not_end_the_next_life,
	  test_unknown_fd_lives_since_before_the_record, test_open_of_an_open_fd_replaces_it,
	  test_absurd_fds_have_no_life, test_dup, test_dup2_and_dup3, test_fcntl, test_pairs,
	  test_calls_that_make_one_fd, test_sockets, test_close_range, test_fork_copies, test_threads_share,
	  test_clone_files_shares_between_processes, test_table_ends_with_its_last_user, test_exec_closes_cloexec,
	  test_exec_known_by_the_call, test_exec_stops_sharing, test_exec_of_many_threads_keeps_lives,
	  test_exec_by_another_thread_keeps_lives, test_threads_of_unknown_birth_share, test_dump_by_address,
	  test_dump_by_pid, test_dump_does_not_undo_events, test_dump_corrects_after_loss, test_dump_joins_tables,
	  test_dump_names, test_dump_of_a_deleted_file, test_dump_end_knows_the_disks, test_classes,
	  test_relative_paths, test_every_moving_call, test_vmsplice_goes_the_pipes_way,
	  test_bytes_of_an_exit_without_entry, test_bytes_go_to_the_life_the_call_began_in)
