/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attribution of bytes to a class, a thread and a life of a descriptor. */
#include "files.h"

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

/* A path below an open directory has the kind of the directory. */
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
	ck_assert_str_eq(path(&e, TID, 10), "/proc/1/stat");
	events_release(&e);
}
END_TEST

START_TEST(test_every_moving_call)
{
	static const char *const reads[] = { "read",    "pread64",  "readv",   "preadv",
					     "preadv2", "recvfrom", "recvmsg", "ia32_pread64" };
	static const char *const writes[] = {
		"write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg", "ia32_pwrite64",
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
	ck_assert_uint_eq(file(&e, TID, 3)->read_bytes, 8);
	ck_assert_uint_eq(file(&e, TID, 4)->write_bytes, 16);
	for (unsigned i = 0; i < G_N_ELEMENTS(copies); i++)
		CALL(&e, TID, copies[i], 100, .fd = 3, .fd2 = 4);
	ck_assert_uint_eq(file(&e, TID, 3)->read_bytes, 408);
	ck_assert_uint_eq(file(&e, TID, 4)->write_bytes, 416);
	ck_assert_uint_eq(file(&e, TID, 3)->write_bytes, 0);
	CALL(&e, TID, "recvmmsg", 5, .fd = 3); /* messages, not bytes */
	CALL(&e, TID, "sendmmsg", 5, .fd = 4);
	ck_assert_uint_eq(events_thread(&e, TID)->read_disk, 408);
	ck_assert_uint_eq(events_thread(&e, TID)->write_disk, 416);
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

/* Without the call's entry, the fd is unknown. */
START_TEST(test_bytes_of_an_exit_without_entry)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/f", 0);
	EXIT(&e, TID, "read", .ret = 9);
	ck_assert_uint_eq(events_thread(&e, TID)->read_other, 9);
	ck_assert_uint_eq(file(&e, TID, 0)->read_bytes, 0);
	EXIT(&e, TID, "openat", .ret = 5); /* it still returns an fd */
	ck_assert_str_eq(kind(&e, TID, 5), "unknown");
	ck_assert_uint_eq(file(&e, TID, 5)->opened_ns, now);
	events_release(&e);
}
END_TEST

/* A read that blocks while its fd is closed and reopened belongs to the file with which it started. */
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
	/* or to none, if that file is gone */
	ENTRY(&e, TID, "read", .fd = 3);
	CALL(&e, CHILD, "close", 0, .fd = 3);
	state_reap(&e.m->state, NULL, NULL);
	OPEN(&e, CHILD, "/newest", 3);
	EXIT(&e, TID, "read", .ret = 20);
	ck_assert_uint_eq(file(&e, TID, 3)->read_bytes, 0);
	events_release(&e);
}
END_TEST

UNIT_MAIN("io", test_classes, test_relative_paths, test_every_moving_call, test_vmsplice_goes_the_pipes_way,
	  test_bytes_of_an_exit_without_entry, test_bytes_go_to_the_life_the_call_began_in)
