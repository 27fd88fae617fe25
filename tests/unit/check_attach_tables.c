/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables that attach decodes by: calls, classes, sets of constants. */
#include "unit.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "attach/calls.h"
#include "attach/summary.h"
#include "base/error.h"
#include "event/syscalls.h"

static GString *out;

static void setup(void)
{
	calls_init();
	out = g_string_new(NULL);
}

static void teardown(void)
{
	g_string_free(out, TRUE);
}

START_TEST(test_tables)
{
	/* the tracer's name, and the one that strace 6.1 prints and accepts */
	static const char *const in_strace[][2] = {
		{ "newstat", "stat" },
		{ "newlstat", "lstat" },
		{ "newfstat", "fstat" },
		{ "newuname", "uname" },
		{ "sendfile64", "sendfile" },
		{ "umount", "umount2" },
		{ "pread64", "pread64" },
		{ "pwrite64", "pwrite64" },
		{ "newfstatat", "newfstatat" },
		{ "openat", "openat" },
		{ "no_such_call", "no_such_call" },
	};
	unsigned n;
	const struct call *calls = calls_all(&n);

	ck_assert_uint_gt(n, 250);
	for (unsigned i = 0; i < n; i++) {
		ck_assert_ptr_eq(calls_find(calls[i].name), &calls[i]);
		for (unsigned k = 0; k < calls[i].n_args; k++) {
			ck_assert_msg(calls[i].args[k].names[0], "%s", calls[i].name);
			ck_assert_msg((calls[i].args[k].type == ARG_SET) == (calls[i].args[k].set != NULL), "%s",
				      calls[i].name);
		}
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(in_strace); i++) {
		const struct attach_record r = { .name = strpool_intern_z(in_strace[i][0]),
						 .call = calls_find(in_strace[i][0]) };

		ck_assert_str_eq(attach_call_name(&r), in_strace[i][1]);
		ck_assert_str_eq(syscall_strace_name(in_strace[i][0]) ?: in_strace[i][0], in_strace[i][1]);
	}
	ck_assert_uint_eq(calls_find("openat")->n_args, 4);
	ck_assert_uint_eq(calls_find("openat")->classes, CALL_FILE | CALL_DESC);
	ck_assert_ptr_null(calls_find("no_such_call"));
	ck_assert_uint_eq(calls_class("network"), CALL_NETWORK);
	ck_assert_uint_eq(calls_class("nothing"), 0);
}
END_TEST

/* As strace 6.1 classifies them, and its later versions the calls that it does not know. */
START_TEST(test_classes)
{
	static const struct {
		const char *call;
		unsigned classes;
	} cases[] = {
		{ "prctl", CALL_CREDS },
		{ "arch_prctl", 0 },
		{ "unshare", 0 },
		{ "setns", CALL_DESC },
		{ "fsconfig", CALL_FILE | CALL_DESC },
		{ "io_uring_register", CALL_DESC | CALL_MEMORY },
		{ "process_madvise", CALL_DESC },
		{ "mount_setattr", CALL_FILE | CALL_DESC },
		{ "open_tree_attr", CALL_FILE | CALL_DESC },
		{ "setxattrat", CALL_FILE | CALL_DESC },
		{ "getxattrat", CALL_FILE | CALL_DESC },
		{ "listxattrat", CALL_FILE | CALL_DESC },
		{ "removexattrat", CALL_FILE | CALL_DESC },
		{ "file_getattr", CALL_FILE | CALL_DESC },
		{ "file_setattr", CALL_FILE | CALL_DESC },
		{ "kexec_file_load", CALL_DESC },
		{ "quotactl_fd", CALL_DESC },
		{ "landlock_create_ruleset", CALL_DESC },
		{ "landlock_add_rule", CALL_DESC },
		{ "landlock_restrict_self", CALL_DESC },
		{ "cachestat", CALL_DESC },
		{ "process_mrelease", CALL_DESC },
		{ "mseal", CALL_MEMORY },
		{ "map_shadow_stack", CALL_MEMORY },
		{ "set_mempolicy_home_node", CALL_MEMORY },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		ck_assert_msg(calls_find(cases[i].call), "%s", cases[i].call);
		ck_assert_msg(calls_find(cases[i].call)->classes == cases[i].classes, "%s", cases[i].call);
	}
}
END_TEST

/* No number of an enumeration has two names, and no name two numbers. */
START_TEST(test_sets)
{
	unsigned n_calls;
	const struct call *calls = calls_all(&n_calls);

	for (unsigned i = 0; i < n_calls; i++)
		for (unsigned k = 0; k < calls[i].n_args; k++) {
			const struct const_set *set = calls[i].args[k].set;

			for (unsigned m = 0; set && m < set->n; m++) {
				const struct constant *c = &set->constants[m];

				for (unsigned earlier = 0; earlier < m; earlier++) {
					const struct constant *e = &set->constants[earlier];

					ck_assert_msg(strcmp(c->name, e->name) != 0, "%s: %s twice", set->name,
						      c->name);
					ck_assert_msg(set->kind != CONST_ENUM || c->value != e->value, "%s: %s is %s",
						      set->name, c->name, e->name);
				}
			}
		}
}
END_TEST

static const char *constants(const char *set, uint64_t value)
{
	g_string_truncate(out, 0);
	consts_append(out, consts_find(set, strlen(set)), value);
	return out->str;
}

START_TEST(test_constants)
{
	ck_assert_str_eq(constants("open_flags", O_RDONLY), "O_RDONLY");
	ck_assert_str_eq(constants("open_flags", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC),
			 "O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC");
	ck_assert_str_eq(constants("open_flags", O_RDWR | 1 << 30), "O_RDWR|0x40000000");
	ck_assert_str_eq(constants("open_flags", O_SYNC), "O_RDONLY|O_SYNC");
	/* x86's numbers, wherever they are shown */
	ck_assert_str_eq(constants("open_flags", 020200002), "O_RDWR|O_TMPFILE");
	ck_assert_str_eq(constants("open_flags", 0740000), "O_RDONLY|O_DIRECT|O_LARGEFILE|O_NOFOLLOW|O_DIRECTORY");
	ck_assert_str_eq(constants("open_flags", 02600000 | 04000),
			 "O_RDONLY|O_NONBLOCK|O_NOFOLLOW|O_CLOEXEC|O_DIRECTORY");
	ck_assert_str_eq(constants("open_bits", 040000), "O_DIRECT");
	ck_assert_str_eq(constants("prot", 0), "PROT_NONE");
	ck_assert_str_eq(constants("prot", 3), "PROT_READ|PROT_WRITE");
	ck_assert_str_eq(constants("map_flags", 0x22), "MAP_PRIVATE|MAP_ANONYMOUS");
	ck_assert_str_eq(constants("futex_op", 128), "FUTEX_WAIT_PRIVATE");
	ck_assert_str_eq(constants("futex_op", 128 | 9 | 256), "FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME");
	ck_assert_str_eq(constants("whence", SEEK_END), "SEEK_END");
	ck_assert_str_eq(constants("whence", 99), "99");
	ck_assert_str_eq(constants("rusage_who", (uint64_t)-1), "RUSAGE_CHILDREN");
	ck_assert_str_eq(constants("rusage_who", UINT32_MAX), "RUSAGE_CHILDREN");
	ck_assert_str_eq(constants("clone_flags", 0x1200011), "CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD");
	ck_assert_str_eq(constants("clone_flags", 0x10f00), "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD");
	ck_assert_str_eq(constants("mount_flags", 0xc0edd000), "MS_MGC_VAL|MS_BIND|MS_REC|MS_SILENT");
	ck_assert_str_eq(constants("mount_flags", 0x48000), "MS_SILENT|MS_PRIVATE");
	ck_assert_str_eq(constants("statx_flags", 0x900), "AT_STATX_SYNC_AS_STAT|AT_SYMLINK_NOFOLLOW|AT_NO_AUTOMOUNT");
	ck_assert_str_eq(constants("statx_flags", 0x5000), "AT_STATX_DONT_SYNC|AT_EMPTY_PATH");
	ck_assert_str_eq(constants("ioctl_cmd", 0x4c05), "LOOP_GET_STATUS64");
	ck_assert_str_eq(constants("ioctl_cmd", 0xb702), "NS_GET_PARENT");
	ck_assert_str_eq(constants("access_mode", 0), "F_OK");
	ck_assert_str_eq(constants("madvice", 102), "MADV_GUARD_INSTALL");
	ck_assert_str_eq(constants("sockopt_tcp", 37), "TCP_TX_DELAY");
	ck_assert_str_eq(constants("rwf_flags", 0x48), "RWF_NOWAIT|RWF_ATOMIC");
	ck_assert_str_eq(constants("epoll_events", 0x80000001), "EPOLLIN|EPOLLET");
	ck_assert_str_eq(consts_errno(2), "ENOENT");
	ck_assert_str_eq(consts_errno(512), "ERESTARTSYS");
	ck_assert_ptr_null(consts_errno(4000));
	ck_assert_ptr_null(consts_errno(0));
	ck_assert_str_eq(constants("map_flags", 0x28), "MAP_DROPPABLE|MAP_ANONYMOUS");
	ck_assert_str_eq(constants("unshare_flags", 0x80 | 0x20000), "CLONE_NEWTIME|CLONE_NEWNS");
	ck_assert_str_eq(constants("keyid", (uint64_t)-4), "KEY_SPEC_USER_KEYRING");
	ck_assert_str_eq(constants("keyid", 123456789), "123456789");
}
END_TEST

/* The numbers of -X raw and -X verbose are as strace's. */
START_TEST(test_styles)
{
	consts_set_style(STYLE_RAW);
	ck_assert_str_eq(constants("ioctl_cmd", 0x5401), "0x5401");
	ck_assert_str_eq(constants("dirfd", (uint64_t)AT_FDCWD), "-100");
	ck_assert_str_eq(constants("whence", 0), "0");
	consts_set_style(STYLE_VERBOSE);
	/* a number without a name is not repeated */
	ck_assert_str_eq(constants("wait_options", 0), "0");
	ck_assert_str_eq(constants("whence", 99), "0x63");
	ck_assert_str_eq(constants("wait_options", 0x10000), "0x10000");
	ck_assert_str_eq(constants("ioctl_cmd", 0x5401), "0x5401 /* TCGETS */");
	ck_assert_str_eq(constants("dirfd", (uint64_t)AT_FDCWD), "-100 /* AT_FDCWD */");
	consts_set_style(STYLE_ABBREV);
	ck_assert_str_eq(constants("dirfd", (uint64_t)AT_FDCWD), "AT_FDCWD");
}
END_TEST

UNIT_MAIN_AROUND("attach tables", setup, teardown, test_tables, test_classes, test_sets, test_constants, test_styles)
