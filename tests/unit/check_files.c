/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lives of file descriptors, and the descriptor tables. */
#include <sys/ioctl.h>

#include "files.h"

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

/* Opened again through its fd, as programs do with O_PATH: the same file, in another life. */
START_TEST(test_open_by_the_name_of_an_fd)
{
	static const char *const names[] = {
		"/proc/self/fd/3",
		"/proc/thread-self/fd/3",
		"/dev/fd/3",
		"/proc/7/fd/3",
	};
	static const char *const others[] = {
		"/proc/self/fd/9", "/proc/self/fd/",   "/proc/self/fd/3x",    "/proc/self/fd/3/x",
		"/proc/self/fd",   "/proc/99999/fd/3", "/proc/self/fdinfo/3", "/dev/fd/99999999999999999999",
	};
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/data/file", 3);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		OPEN(&e, TID, names[i], 4);
		ck_assert_str_eq(path(&e, TID, 4), "/data/file");
		ck_assert_str_eq(kind(&e, TID, 4), "file");
		ck_assert_uint_ne(life(&e, TID, 4), life(&e, TID, 3));
		CALL(&e, TID, "close", 0, .fd = 4);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
		OPEN(&e, TID, others[i], 4);
		ck_assert_str_eq(path(&e, TID, 4), others[i]);
		CALL(&e, TID, "close", 0, .fd = 4);
	}
	CALL(&e, TID, "close", 0, .fd = 3);
	OPEN(&e, TID, "/home/out", 1);
	OPEN(&e, TID, "/dev/stdout", 4);
	ck_assert_str_eq(path(&e, TID, 4), "/home/out");
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

/* Another thread gets the number before the exit of close is recorded. */
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

/* Events were lost: the number's earlier life has ended. */
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
	CALL(&e, TID, "dup2", 4, .fd = 4, .fd2 = 4); /* has no effect */
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

START_TEST(test_ioctl)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/f", 3);
	OPEN(&e, TID, "/kept", 4, .flags = O_CLOEXEC);
	CALL(&e, TID, "ioctl", 0, .fd = 3, .cmd = FIOCLEX);
	CALL(&e, TID, "ioctl", -ENOTTY, .fd = 4, .cmd = FIONCLEX);
	ck_assert_uint_eq(file(&e, TID, 3)->cloexec, 1);
	ck_assert_uint_eq(file(&e, TID, 4)->cloexec, 1);
	CALL(&e, TID, "ioctl", 0, .fd = 4, .cmd = FIONCLEX);
	CALL(&e, TID, "ioctl", 0, .fd = 4, .cmd = FIONREAD);
	ck_assert_uint_eq(file(&e, TID, 4)->cloexec, 0);
	CALL(&e, TID, "execve", 0, .path = str(&rec, "/bin/x"));
	ck_assert(!is_open(&e, TID, 3));
	ck_assert_str_eq(path(&e, TID, 4), "/kept");
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
		{ "eventfd", "eventfd", false },        { "epoll_create1", "epoll", false },
		{ "timerfd_create", "timerfd", false }, { "inotify_init", "inotify", false },
		{ "pidfd_open", "pidfd", true },        { "io_uring_setup", "io_uring", true },
		{ "memfd_create", "memfd", false },     { "fanotify_init", "fanotify", false },
		{ "perf_event_open", "perf", false },   { "userfaultfd", "other", false },
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
	CALL(&e, TID, "signalfd4", 31, .fd = 31); /* changes the signal mask */
	ck_assert_uint_eq(host(&e)->fds_closed, 0);
	CALL(&e, TID, "bpf", 40, .cmd = 5); /* BPF_PROG_LOAD */
	ck_assert_str_eq(kind(&e, TID, 40), "other");
	ck_assert_uint_eq(file(&e, TID, 40)->cloexec, 1);
	CALL(&e, TID, "bpf", 0, .cmd = 8); /* BPF_PROG_ATTACH */
	ck_assert(!is_open(&e, TID, 0));
	CALL(&e, TID, "landlock_create_ruleset", 4, .flags = 1); /* returns a version */
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
	ck_assert_str_eq(kind(&e, TID, 6), "inet"); /* a listening socket has the family of its connections */
	ck_assert_str_eq(kind(&e, TID, 7), "inet");
	ck_assert_uint_eq(file(&e, TID, 7)->cloexec, 1);
	ck_assert_str_eq(strpool_text((strid)file(&e, TID, 7)->peer), "10.0.0.3:4000");
	CALL(&e, TID, "accept", 8, .fd = 6); /* without an address: the same as the listening socket */
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

static unsigned rows_of(struct events *e, int64_t pid)
{
	const struct state_table *t = &e->m->state.tables[TABLE_FILE];
	unsigned n = 0;

	for (uint32_t row = NO_ROW; (row = state_next(t, row)) != NO_ROW;)
		n += (int64_t)FILE_ROW(e->m, row)->pid == pid;
	return n;
}

enum { MANY_FDS = 3000, MANY_FORKS = 300 };

static void open_many(struct events *e)
{
	for (int fd = 0; fd < MANY_FDS; fd++)
		OPEN(e, TID, "/many", fd);
}

/* Descriptors that children inherit but do not use cost very little, and are counted. */
START_TEST(test_forks_of_a_big_table)
{
	struct events e;
	size_t before;

	begin(&e);
	open_many(&e);
	before = e.m->fds_bytes;
	for (int i = 0; i < MANY_FORKS; i++)
		fork_to(&e, TID, 1000 + i, 1000 + i);
	ck_assert_uint_eq(host(&e)->fds, (uint64_t)MANY_FDS * (MANY_FORKS + 1));
	ck_assert_uint_eq(host(&e)->fds_opened, (uint64_t)MANY_FDS * (MANY_FORKS + 1));
	ck_assert_uint_eq(e.m->state.tables[TABLE_FILE].n_alive, MANY_FDS);
	ck_assert_uint_lt(e.m->fds_bytes - before, MANY_FDS * 40 + MANY_FORKS * 200);
	/* the parent's next fd changes one block of the image */
	before = e.m->fds_bytes;
	for (int i = 0; i < 50; i++) {
		CALL(&e, TID, "close", 0, .fd = i);
		fork_to(&e, TID, 2000 + i, 2000 + i);
	}
	ck_assert_uint_lt((e.m->fds_bytes - before) / 50, 200 + MANY_FDS / 4 + 1000);
	ck_assert(!is_open(&e, 2049, 49));
	ck_assert(is_open(&e, 2049, 50));
	ck_assert(is_open(&e, 2048, 49));
	events_release(&e);
}
END_TEST

/* An inherited fd is as it was at the fork, whatever happens to it elsewhere before it is used. */
START_TEST(test_inherited_fds_stay_what_they_were)
{
	uint64_t forked_ns, again_ns;
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/three", 3);
	OPEN(&e, TID, "/four", 4, .flags = O_CLOEXEC);
	OPEN(&e, TID, "/five", 5);
	fork_to(&e, TID, CHILD, CHILD);
	forked_ns = now;
	CALL(&e, TID, "close", 0, .fd = 3);
	OPEN(&e, TID, "/other", 3);
	CALL(&e, TID, "fcntl", 0, .fd = 4, .cmd = F_SETFD, .arg = 0);
	CALL(&e, CHILD, "close", 0, .fd = 5);
	fork_to(&e, CHILD, CHILD + 1, CHILD + 1);
	again_ns = now;
	die(&e, CHILD);
	ck_assert_uint_eq(rows_of(&e, CHILD + 1), 0);
	CALL(&e, CHILD + 1, "read", 10, .fd = 3);
	ck_assert_uint_eq(rows_of(&e, CHILD + 1), 1);
	ck_assert_str_eq(path(&e, CHILD + 1, 3), "/three");
	ck_assert_uint_eq(file(&e, CHILD + 1, 3)->opened_ns, again_ns);
	ck_assert_uint_eq(file(&e, CHILD + 1, 3)->read_bytes, 10);
	ck_assert_uint_gt(again_ns, forked_ns);
	ck_assert(!is_open(&e, CHILD + 1, 5));
	ck_assert_str_eq(path(&e, TID, 3), "/other");
	ck_assert_uint_eq(host(&e)->fds, 5);
	EVENT(&e, now += 10, cpu_of(&e, CHILD + 1), CHILD + 1, EXEC, exec, .tid = CHILD + 1);
	ck_assert(!is_open(&e, CHILD + 1, 4));
	ck_assert(is_open(&e, CHILD + 1, 3));
	ck_assert(is_open(&e, TID, 4));
	ck_assert_uint_eq(host(&e)->fds, 4);
	events_release(&e);
}
END_TEST

static unsigned ended_rows(struct events *e)
{
	return e->m->state.tables[TABLE_FILE].n_ended;
}

/* A report sees every use of an fd; a history only those that are still open. */
START_TEST(test_inherited_fds_are_listed)
{
	struct events e;

	for (int all = 0; all < 2; all++) {
		begin(&e);
		model_set_figures(e.m, MODEL_ALL_FIGURES & ~(all ? 0u : 1u << TABLE_FILE));
		for (int fd = 0; fd < 100; fd++)
			OPEN(&e, TID, "/f", fd);
		fork_to(&e, TID, CHILD, CHILD);
		fork_to(&e, TID, CHILD + 1, CHILD + 1);
		ck_assert_uint_eq(rows_of(&e, CHILD), 0);
		CALL(&e, CHILD, "close_range", 0, .fd = 90, .fd2 = -1, .arg = 99);
		/* the call named fd 90 */
		ck_assert_uint_eq(ended_rows(&e), all ? 10 : 1);
		die(&e, CHILD);
		ck_assert_uint_eq(ended_rows(&e), all ? 100 : 1);
		ck_assert_uint_eq(host(&e)->fds, 200);
		ck_assert_uint_eq(host(&e)->fds_closed, 100);
		model_list_files(e.m);
		ck_assert_uint_eq(rows_of(&e, CHILD + 1), 100);
		ck_assert_uint_eq(e.m->state.tables[TABLE_FILE].n_alive, all ? 300 : 201);
		die(&e, CHILD + 1);
		ck_assert_uint_eq(ended_rows(&e), all ? 200 : 101);
		ck_assert_uint_eq(host(&e)->fds, 100);
		ck_assert_uint_eq(host(&e)->fds_closed, 200);
		events_release(&e);
	}
}
END_TEST

/* Tables and images are freed when all their users are gone. */
START_TEST(test_forks_give_their_memory_back)
{
	struct events e;
	size_t before;

	begin(&e);
	OPEN(&e, TID, "/f", 3);
	fork_to(&e, TID, CHILD, CHILD);
	die(&e, CHILD);
	before = e.m->fds_bytes;
	for (int i = 0; i < 10; i++) {
		OPEN(&e, TID, "/g", 4 + i);
		fork_to(&e, TID, CHILD, CHILD);
		fork_to(&e, CHILD, CHILD + 1, CHILD + 1);
		CALL(&e, CHILD + 1, "read", 10, .fd = 3);
		die(&e, CHILD);
		die(&e, CHILD + 1);
		CALL(&e, TID, "close", 0, .fd = 4 + i);
		fork_to(&e, TID, CHILD, CHILD);
		die(&e, CHILD);
	}
	ck_assert_uint_eq(e.m->fds_bytes, before);
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
	/* a failed call changes nothing */
	OPEN(&e, TID, "/kept", 4, .flags = O_CLOEXEC);
	CALL(&e, TID, "execve", -ENOENT, .path = str(&rec, "/nowhere"));
	ck_assert(is_open(&e, TID, 4));
	events_release(&e);
}
END_TEST

/* A trace without sched_process_exec has the exit of the call. */
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

/* When a process executes, its other threads are dead, whether that was seen or not: its fds stay open. */
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

/* Threads that existed before the recording started use the table of their process. */
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

UNIT_MAIN("files", test_open_and_close, test_open_by_the_name_of_an_fd, test_failed_open_makes_nothing,
	  test_failed_close_closes_all_the_same, test_close_does_not_end_the_next_life,
	  test_unknown_fd_lives_since_before_the_record, test_open_of_an_open_fd_replaces_it,
	  test_absurd_fds_have_no_life, test_dup, test_dup2_and_dup3, test_fcntl, test_ioctl, test_pairs,
	  test_calls_that_make_one_fd, test_sockets, test_close_range, test_fork_copies, test_forks_of_a_big_table,
	  test_inherited_fds_stay_what_they_were, test_inherited_fds_are_listed, test_forks_give_their_memory_back,
	  test_threads_share, test_clone_files_shares_between_processes, test_table_ends_with_its_last_user,
	  test_exec_closes_cloexec, test_exec_known_by_the_call, test_exec_stops_sharing,
	  test_exec_of_many_threads_keeps_lives, test_exec_by_another_thread_keeps_lives,
	  test_threads_of_unknown_birth_share)
