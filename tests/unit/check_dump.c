/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files and disks in the state dump. */
#include "files.h"

START_TEST(test_dump_by_address)
{
	struct events e;

	begin(&e);
	DUMP_PROCESS(&e, 20, 20, 0xa0);
	DUMP_FD(&e, 0xa0, 3, 0x1d, O_RDONLY | O_CLOEXEC, "/etc/hosts");
	DUMP_PROCESS(&e, 21, 20, 0xa0);
	DUMP_PROCESS(&e, 22, 22, 0xa0); /* shares the table, although it is another process */
	DUMP_PROCESS(&e, 23, 23, 0xb0);
	ck_assert_str_eq(path(&e, 20, 3), "/etc/hosts");
	ck_assert_uint_eq(file(&e, 20, 3)->opened_ns, 0);
	ck_assert_uint_eq(file(&e, 20, 3)->cloexec, 1);
	ck_assert_int_eq((int64_t)file(&e, 20, 3)->pid, 20);
	ck_assert_ptr_eq(file(&e, 21, 3), file(&e, 20, 3));
	ck_assert_ptr_eq(file(&e, 22, 3), file(&e, 20, 3));
	ck_assert(!is_open(&e, 23, 3));
	DUMP_PROCESS(&e, 24, 20, 0xc0); /* has its own table, although it is the same process */
	ck_assert(!is_open(&e, 24, 3));
	ck_assert_str_eq(path(&e, 20, 3), "/etc/hosts");
	ck_assert_uint_eq(host(&e)->fds, 1);
	ck_assert_uint_eq(host(&e)->fds_opened, 0);
	events_release(&e);
}
END_TEST

/* lttng-modules before 2.13 give the process instead. */
START_TEST(test_dump_by_pid)
{
	struct events e;

	begin(&e);
	EVENT(&e, now += 10, 0, TID, DUMP_FD, dump_fd, .pid = TID, .fd = 4, .filename = str(&rec, "/etc/hosts"));
	ck_assert_str_eq(path(&e, TID, 4), "/etc/hosts");
	events_release(&e);
}
END_TEST

/* The dump takes time: newer knowledge from events stays. */
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
	ck_assert_str_eq(path(&e, TID, 1), "/var/log/out"); /* an unknown path is filled in */
	ck_assert_str_eq(kind(&e, TID, 1), "file");
	ck_assert_uint_eq(file(&e, TID, 1)->write_bytes, 5);
	ck_assert_uint_eq(host(&e)->fds, 3);
	ck_assert_uint_eq(host(&e)->fds_closed, 0);
	events_release(&e);
}
END_TEST

/* After lost events, the dump corrects the state. */
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

/* Threads are assumed to have separate tables until the dump shows that they share one. */
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
		{ "/etc/passwd", 0x80a001d, "file" },
		{ "/var/lib", 0xa801d, "file" },
		{ "/run/initctl", 0x2e0003, "fifo" },
		{ "/opt", 0x4000, "file" },
		{ "/proc/1/stat", 0xa801d, "pseudo" },
		{ "/sys/fs/cgroup", 0xa801d, "pseudo" },
		{ "/system/f", 0x1d, "file" },
		{ "/dev/null", 0x80a001d, "device" },
		{ "/dev/input/event2", 0x2e0003, "device" },
		{ "/memfd:x (deleted)", 0x1f, "memfd" },
		{ "pipe:[123]", 0x2a0001, "pipe" },
		{ "socket:[12]", 0x2e0003, "socket" },
		{ "anon_inode:[eventpoll]", 0x80007, "epoll" },
		{ "anon_inode:inotify", 0xa0005, "inotify" },
		{ "anon_inode:[timerfd]", 0xa0007, "timerfd" },
		{ "anon_inode:[signalfd]", 0xa0007, "signalfd" },
		{ "anon_inode:[eventfd]", 0xa0007, "eventfd" },
		{ "anon_inode:bpf-prog", 0xe0003, "other" },
		{ "TCP", 3, "inet" },
		{ "UDPv6", 3, "inet" },
		{ "UNIX", 3, "unix" },
		{ "NETLINK", 3, "socket" },
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

/* The dump lists disks after file descriptors. */
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

/* A process whose event was lost: the kernel may have given the address to another one by the next dump. */
START_TEST(test_dump_without_the_process)
{
	struct events e;

	begin(&e);
	DUMP_FD(&e, 0xa0, 3, 0x1d, O_RDONLY, "/stale");
	DUMP_FD(&e, 0xa0, 5, 0x1d, O_RDONLY, "/stale");
	EVENT(&e, now += 10, 0, TID, DUMP_END, none, );
	ck_assert_uint_eq(host(&e)->fds, 0);
	DUMP_PROCESS(&e, 20, 20, 0xa0);
	DUMP_FD(&e, 0xa0, 3, 0x1d, O_RDONLY, "/fresh");
	EVENT(&e, now += 10, 0, TID, DUMP_END, none, );
	ck_assert_str_eq(path(&e, 20, 3), "/fresh");
	ck_assert(!is_open(&e, 20, 5));
	ck_assert_uint_eq(host(&e)->fds, 1);
	ck_assert_uint_eq(host(&e)->fds_closed, 0);
	events_release(&e);
}
END_TEST

UNIT_MAIN("dump", test_dump_by_address, test_dump_by_pid, test_dump_does_not_undo_events, test_dump_corrects_after_loss,
	  test_dump_joins_tables, test_dump_names, test_dump_of_a_deleted_file, test_dump_end_knows_the_disks,
	  test_dump_without_the_process)
