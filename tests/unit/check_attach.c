/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments of system calls as text: hand-built fields. */
#include "call_fields.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "attach/summary.h"
#include "base/error.h"

static const struct call_arg *arg_of(const char *call, const char *field)
{
	const struct call *c = calls_find(call);

	ck_assert_msg(c, "%s", call);
	for (unsigned i = 0; i < c->n_args; i++)
		for (char *const *name = c->args[i].names; *name; name++)
			if (strcmp(*name, field) == 0)
				return &c->args[i];
	ck_abort_msg("%s has no %s", call, field);
	return NULL;
}

/* The argument as text; "-": there is no such argument, "": it is not shown. */
static const char *told(struct decode *d, const char *call, const char *field)
{
	g_string_truncate(out, 0);
	if (decode_arg(d, arg_of(call, field)) == DECODED_NOTHING)
		return "-";
	return out->str;
}

/* ---- arguments ---- */

START_TEST(test_open)
{
	struct decode d;

	put_int("dfd", AT_FDCWD, 32);
	put_text("filename", "/tmp/a\"\\\n\033[1m", strlen("/tmp/a\"\\\n\033[1m"));
	put_int("flags", O_WRONLY | O_CREAT, 32);
	put_uint("mode", 0644, 16);
	d = finish();
	ck_assert_str_eq(told(&d, "openat", "dfd"), "AT_FDCWD");
	ck_assert_str_eq(told(&d, "openat", "filename"), "\"/tmp/a\\\"\\\\\\n\\x1b[1m\"");
	ck_assert_str_eq(told(&d, "openat", "flags"), "O_WRONLY|O_CREAT");
	ck_assert_str_eq(told(&d, "openat", "mode"), "0644");
	/* other calls do not have these fields */
	ck_assert_str_eq(told(&d, "read", "count"), "-");
}
END_TEST

START_TEST(test_no_mode)
{
	struct decode d;

	put_int("flags", O_RDONLY, 32);
	put_uint("mode", 0777, 16);
	d = finish();
	ck_assert_str_eq(told(&d, "openat", "mode"), "");
}
END_TEST

/* All arguments of the call that it takes, separated by ", ". */
static const char *taken(struct decode *d, const char *name)
{
	const struct call *call = calls_find(name);
	GString *all = g_string_new(NULL);

	for (unsigned i = 0; i < call->n_args; i++) {
		g_string_truncate(out, 0);
		if (decode_arg(d, &call->args[i]) == DECODED_SHOWN)
			g_string_append_printf(all, "%s%s", all->len ? ", " : "", out->str);
	}
	g_string_assign(out, all->str);
	g_string_free(all, TRUE);
	return out->str;
}

/* What a call takes depends on its operation: as strace 6.1 prints it, with addresses for what the trace lacks. */
START_TEST(test_operations)
{
	static const struct {
		int64_t op;
		const char *text;
	} cases[] = {
		{ 0x80, "0x10, FUTEX_WAIT_PRIVATE, 2, 0x30" },
		{ 0x81, "0x10, FUTEX_WAKE_PRIVATE, 2" },
		{ 4, "0x10, FUTEX_CMP_REQUEUE, 2, 48, 0x50, 4294967295" },
		{ 0x87, "0x10, FUTEX_UNLOCK_PI_PRIVATE" },
		{ 6, "0x10, FUTEX_LOCK_PI, 0x30" },
		{ 0x189, "0x10, FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME, 2, 0x30, FUTEX_BITSET_MATCH_ANY" },
		{ 0x8a, "0x10, FUTEX_WAKE_BITSET_PRIVATE, 2, FUTEX_BITSET_MATCH_ANY" },
		{ 99, "0x10, 0x63, 2, 0x30, 0x50, 0xffffffff" },
	};
	struct decode d;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		put_uint("uaddr", 0x10, 64);
		put_int("op", cases[i].op, 32);
		put_uint("val", 2, 32);
		put_uint("utime", 0x30, 64);
		put_uint("uaddr2", 0x50, 64);
		put_uint("val3", UINT32_MAX, 32);
		d = finish();
		ck_assert_str_eq(taken(&d, "futex"), cases[i].text);
		teardown();
		setup();
	}
}
END_TEST

/* Left-overs in registers that mremap() and membarrier() take only with certain flags. */
START_TEST(test_optional)
{
	static const struct {
		const char *call, *last;
		uint64_t flags;
		const char *text;
	} cases[] = {
		{ "mremap", "new_addr", 1, "MREMAP_MAYMOVE" },
		{ "mremap", "new_addr", 3, "MREMAP_MAYMOVE|MREMAP_FIXED, 0x30" },
		{ "mremap", "new_addr", 5, "MREMAP_MAYMOVE|MREMAP_DONTUNMAP, 0x30" },
		{ "membarrier", "cpu_id", 0, "0" },
		{ "membarrier", "cpu_id", 1, "MEMBARRIER_CMD_FLAG_CPU, 48" },
	};
	struct decode d;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		put_uint("flags", cases[i].flags, 64);
		put_uint(cases[i].last, 0x30, 64);
		d = finish();
		ck_assert_str_eq(taken(&d, cases[i].call), cases[i].text);
		teardown();
		setup();
	}
}
END_TEST

START_TEST(test_prctl)
{
	static const struct {
		int option;
		uint64_t arg2;
		const char *text;
	} cases[] = {
		{ 1, 9, "PR_SET_PDEATHSIG, SIGKILL" },
		{ 3, 9, "PR_GET_DUMPABLE" },
		{ 4, 1, "PR_SET_DUMPABLE, SUID_DUMP_USER" },
		{ 15, 0x7f00, "PR_SET_NAME, 0x7f00" },
		{ 23, 21, "PR_CAPBSET_READ, CAP_SYS_ADMIN" },
		{ 24, 40, "PR_CAPBSET_DROP, CAP_CHECKPOINT_RESTORE" },
		{ 23, 41, "PR_CAPBSET_READ, 41" },
		{ 38, 1, "PR_SET_NO_NEW_PRIVS, 1, 0x3, 0x4, 0x5" },
		{ 47, 2, "PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_FOWNER, 0x4, 0x5" },
		{ 0x59616d61, UINT64_MAX, "PR_SET_PTRACER, PR_SET_PTRACER_ANY" },
	};
	struct decode d;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		put_int("option", cases[i].option, 32);
		put_uint("arg2", cases[i].arg2, 64);
		put_uint("arg3", 3, 64);
		put_uint("arg4", 4, 64);
		put_uint("arg5", 5, 64);
		d = finish();
		ck_assert_str_eq(taken(&d, "prctl"), cases[i].text);
		teardown();
		setup();
	}
	put_int("option", 10, 32); /* KEYCTL_SEARCH */
	put_uint("arg2", (uint64_t)-3, 64);
	put_uint("arg3", 3, 64);
	put_uint("arg4", 4, 64);
	put_uint("arg5", 0, 64);
	d = finish();
	ck_assert_str_eq(taken(&d, "keyctl"), "KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, 0x3, 0x4, 0");
}
END_TEST

/* As strace 6.1 prints it, which has a comment behind a number without a name. */
START_TEST(test_quotactl)
{
	static const struct {
		uint32_t cmd, id;
		const char *text, *text_fd;
	} cases[] = {
		{ 0x80000100, 1000, "QCMD(Q_SYNC, USRQUOTA), \"/dev/x\"", "QCMD(Q_SYNC, USRQUOTA)" },
		{ 0x80000201, 4, "QCMD(Q_QUOTAON, GRPQUOTA), \"/dev/x\", QFMT_VFS_V1, 0x1000",
		  "QCMD(Q_QUOTAON, GRPQUOTA), QFMT_VFS_V1, 0x1000" },
		{ 0x80000402, 1000, "QCMD(Q_GETFMT, PRJQUOTA), \"/dev/x\", 0x1000",
		  "QCMD(Q_GETFMT, PRJQUOTA), 0x1000" },
		{ 0x80000700, 1000, "QCMD(Q_GETQUOTA, USRQUOTA), \"/dev/x\", 1000, 0x1000",
		  "QCMD(Q_GETQUOTA, USRQUOTA), 1000, 0x1000" },
		{ 0x580201, 1000, "QCMD(Q_XQUOTAOFF, GRPQUOTA), \"/dev/x\", 0x1000",
		  "QCMD(Q_XQUOTAOFF, GRPQUOTA), 0x1000" },
		{ 0x580900, 1000, "QCMD(Q_XGETNEXTQUOTA, USRQUOTA), \"/dev/x\", 1000, 0x1000",
		  "QCMD(Q_XGETNEXTQUOTA, USRQUOTA), 1000, 0x1000" },
		{ 0x80010003, 1000, "QCMD(0x800100, 3), \"/dev/x\", 1000, 0x1000", "QCMD(0x800100, 3), 1000, 0x1000" },
	};
	struct decode d;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		put_uint("cmd", cases[i].cmd, 32);
		put_text("special", "/dev/x", strlen("/dev/x"));
		put_uint("id", cases[i].id, 32);
		put_uint("addr", 0x1000, 64);
		d = finish();
		ck_assert_str_eq(taken(&d, "quotactl"), cases[i].text);
		ck_assert_str_eq(taken(&d, "quotactl_fd"), cases[i].text_fd);
		teardown();
		setup();
	}
	put_uint("cmd", 0x80000100, 32);
	d = finish();
	consts_set_style(STYLE_RAW);
	ck_assert_str_eq(told(&d, "quotactl", "cmd"), "2147483904");
	consts_set_style(STYLE_VERBOSE);
	ck_assert_str_eq(told(&d, "quotactl", "cmd"), "2147483904 /* QCMD(Q_SYNC, USRQUOTA) */");
	consts_set_style(STYLE_ABBREV);
}
END_TEST

static const char *result(struct decode *d, const char *call, int64_t ret, uint64_t cmd);

START_TEST(test_ioprio)
{
	static const struct {
		int32_t ioprio;
		const char *text, *raw, *verbose;
	} cases[] = {
		{ 0, "IOPRIO_PRIO_VALUE(IOPRIO_CLASS_NONE, 0)", "0",
		  "IOPRIO_PRIO_VALUE(0 /* IOPRIO_CLASS_NONE */, 0)" },
		{ 8195, "IOPRIO_PRIO_VALUE(IOPRIO_CLASS_RT, 3)", "8195",
		  "IOPRIO_PRIO_VALUE(0x1 /* IOPRIO_CLASS_RT */, 3)" },
		{ 17407, "IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 1023)", "17407",
		  "IOPRIO_PRIO_VALUE(0x2 /* IOPRIO_CLASS_BE */, 1023)" },
		{ 24583, "IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 7)", "24583",
		  "IOPRIO_PRIO_VALUE(0x3 /* IOPRIO_CLASS_IDLE */, 7)" },
		{ 32769, "IOPRIO_PRIO_VALUE(4, 1)", "32769", "IOPRIO_PRIO_VALUE(0x4, 1)" },
		{ -1, "IOPRIO_PRIO_VALUE(0x7ffff, 8191)", "-1", "IOPRIO_PRIO_VALUE(0x7ffff, 8191)" },
	};
	char *text;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct decode d;

		put_int("which", 1, 32);
		put_int("who", 0, 32);
		put_int("ioprio", cases[i].ioprio, 32);
		d = finish();
		text = g_strdup_printf("IOPRIO_WHO_PROCESS, 0, %s", cases[i].text);
		ck_assert_str_eq(taken(&d, "ioprio_set"), text);
		g_free(text);
		consts_set_style(STYLE_RAW);
		ck_assert_str_eq(told(&d, "ioprio_set", "ioprio"), cases[i].raw);
		if (cases[i].ioprio >= 0)
			ck_assert_str_eq(result(&d, "ioprio_get", cases[i].ioprio, 0), cases[i].raw);
		consts_set_style(STYLE_VERBOSE);
		text = g_strdup_printf("%s /* %s */", cases[i].raw, cases[i].verbose);
		ck_assert_str_eq(told(&d, "ioprio_set", "ioprio"), text);
		g_free(text);
		consts_set_style(STYLE_ABBREV);
		text = g_strdup_printf("%s (%s)", cases[i].raw, cases[i].text);
		if (cases[i].ioprio >= 0)
			ck_assert_str_eq(result(&d, "ioprio_get", cases[i].ioprio, 0), text);
		g_free(text);
		teardown();
		setup();
	}
}
END_TEST

#define KEY_PERMISSIONS(who) \
	"KEY_" who "_VIEW|KEY_" who "_READ|KEY_" who "_WRITE|KEY_" who "_SEARCH|KEY_" who "_LINK|KEY_" who "_SETATTR"
#define ALL_KEY_PERMISSIONS \
	KEY_PERMISSIONS("POS") "|" KEY_PERMISSIONS("USR") "|" KEY_PERMISSIONS("GRP") "|" KEY_PERMISSIONS("OTH")

START_TEST(test_key_permission)
{
	static const struct {
		uint64_t perm;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 0x2b000000, "KEY_POS_VIEW|KEY_POS_READ|KEY_POS_SEARCH|KEY_POS_SETATTR" },
		{ 0x01020408, "KEY_POS_VIEW|KEY_USR_READ|KEY_GRP_WRITE|KEY_OTH_SEARCH" },
		{ 0x3f10, "KEY_GRP_VIEW|KEY_GRP_READ|KEY_GRP_WRITE|KEY_GRP_SEARCH|KEY_GRP_LINK|KEY_GRP_SETATTR|"
			  "KEY_OTH_LINK" },
		{ 0x80008000, "0x80008000" },
		/* the register has 64 bits, the argument 32 */
		{ 0xffffffff80008000, "0x80008000" },
		{ 0xffffffff00000101, "KEY_GRP_VIEW|KEY_OTH_VIEW" },
		{ 0x4000000101, "KEY_GRP_VIEW|KEY_OTH_VIEW" },
		{ 0x4000000000, "0" },
		{ (uint64_t)-1, ALL_KEY_PERMISSIONS "|0xc0c0c0c0" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *text = g_strdup_printf("KEYCTL_SETPERM, KEY_SPEC_SESSION_KEYRING, %s", cases[i].text);
		struct decode d;

		put_int("option", 5, 32);
		put_uint("arg2", (uint64_t)-3, 64);
		put_uint("arg3", cases[i].perm, 64);
		put_uint("arg4", 4, 64);
		d = finish();
		ck_assert_str_eq(taken(&d, "keyctl"), text);
		g_free(text);
		teardown();
		setup();
	}
}
END_TEST

START_TEST(test_ipc)
{
	static const struct {
		uint64_t key, flags;
		const char *text;
	} cases[] = {
		{ 0, 01600, "IPC_PRIVATE, 4096, IPC_CREAT|0600" },
		{ 0xb48f990, 0, "0xb48f990, 4096, 000" },
		{ UINT32_MAX, 03000, "0xffffffff, 4096, IPC_CREAT|IPC_EXCL|000" },
		{ 0, 05600, "IPC_PRIVATE, 4096, IPC_CREAT|SHM_HUGETLB|0600" },
		{ 0, 010600, "IPC_PRIVATE, 4096, SHM_NORESERVE|0600" },
	};
	struct decode d;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		put_int("key", (int32_t)cases[i].key, 32);
		put_uint("size", 4096, 64);
		put_int("shmflg", (int64_t)cases[i].flags, 32);
		d = finish();
		ck_assert_str_eq(taken(&d, "shmget"), cases[i].text);
		teardown();
		setup();
	}
}
END_TEST

/* The same bits mean different things in different calls. */
START_TEST(test_shared_bits)
{
	static const struct {
		const char *call, *field;
		uint64_t value;
		const char *text;
	} cases[] = {
		{ "msgget", "msgflg", 04600, "IPC_NOWAIT|0600" },
		{ "semget", "semflg", 05600, "IPC_CREAT|IPC_NOWAIT|0600" },
		{ "mlock2", "flags", 1, "MLOCK_ONFAULT" },
		{ "mlockall", "flags", 5, "MCL_CURRENT|MCL_ONFAULT" },
		{ "name_to_handle_at", "flag", 0x1200, "AT_HANDLE_FID|AT_EMPTY_PATH" },
		{ "unlinkat", "flag", 0x200, "AT_REMOVEDIR" },
	};
	struct decode d;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		put_int(cases[i].field, (int64_t)cases[i].value, 32);
		d = finish();
		ck_assert_str_eq(told(&d, cases[i].call, cases[i].field), cases[i].text);
		teardown();
		setup();
	}
}
END_TEST

/* The offset is one argument, in two halves only in 32-bit programs; x86-64 ignores the second field. */
START_TEST(test_offsets)
{
	struct decode d;

	put_uint("pos_l", 5000000000, 64);
	put_uint("pos_h", 7, 64);
	put_int("flags", 2, 32);
	d = finish();
	ck_assert_str_eq(taken(&d, "pwritev2"), "5000000000, RWF_DSYNC");
	ck_assert_str_eq(taken(&d, "preadv"), "5000000000");
	teardown();
	setup();
	put_uint("pos_l", UINT64_MAX, 64);
	put_uint("pos_h", 0, 64);
	d = finish();
	ck_assert_str_eq(taken(&d, "preadv2"), "-1");
	teardown();
	setup();
	put_uint("pos_l", 5000000000 & UINT32_MAX, 32);
	put_uint("pos_h", 1, 32);
	d = finish();
	ck_assert_str_eq(taken(&d, "pwritev"), "5000000000");
}
END_TEST

/* Signals follow -X raw and -X verbose, too, though they are no set. */
START_TEST(test_signal_styles)
{
	struct decode d;

	put_int("pid", 812, 32);
	put_int("sig", 15, 32);
	d = finish();
	consts_set_style(STYLE_RAW);
	ck_assert_str_eq(told(&d, "kill", "sig"), "15");
	consts_set_style(STYLE_VERBOSE);
	ck_assert_str_eq(told(&d, "kill", "sig"), "15 /* SIGTERM */");
	consts_set_style(STYLE_ABBREV);
	ck_assert_str_eq(told(&d, "kill", "sig"), "SIGTERM");
}
END_TEST

START_TEST(test_accept_unnamed)
{
	struct decode d;

	put_int("upeer_addrlen", 2, 32);
	put_uint("family", AF_UNIX, 16);
	d = finish();
	ck_assert_str_eq(told(&d, "accept", "upeer_sockaddr"), "{sa_family=AF_UNIX}");
	ck_assert_str_eq(told(&d, "accept", "upeer_addrlen"), "[2]");
	teardown();
	setup();
	put_int("upeer_addrlen", 20, 32);
	put_uint("family", AF_UNIX, 16);
	d = finish();
	ck_assert_str_eq(told(&d, "accept", "upeer_sockaddr"), "{sa_family=AF_UNIX, ...}");
	teardown();
	setup();
	put_int("upeer_addrlen", 0, 32);
	d = finish();
	ck_assert_str_eq(told(&d, "accept", "upeer_addrlen"), "NULL");
}
END_TEST

START_TEST(test_numbers)
{
	struct decode d;

	put_uint("fd", UINT32_MAX, 32);
	put_uint("addr", 0, 64);
	put_uint("len", UINT64_MAX, 64);
	put_int("prot", 5, 32);
	put_uint("user", UINT32_MAX, 32);
	put_int("sig", 15, 32);
	put_int("pid", -1, 32);
	d = finish();
	ck_assert_str_eq(told(&d, "close", "fd"), "-1");
	ck_assert_str_eq(told(&d, "mmap", "addr"), "NULL");
	ck_assert_str_eq(told(&d, "mmap", "len"), "18446744073709551615");
	ck_assert_str_eq(told(&d, "mmap", "prot"), "PROT_READ|PROT_EXEC");
	ck_assert_str_eq(told(&d, "chown", "user"), "-1");
	ck_assert_str_eq(told(&d, "kill", "sig"), "SIGTERM");
	ck_assert_str_eq(told(&d, "kill", "pid"), "-1");
}
END_TEST

START_TEST(test_sockets)
{
	const uint64_t v4[] = { 10, 77, 0, 12 };
	const uint64_t none[] = { 0 };
	struct decode d;

	put_uint("uservaddr", 0x7ffc7b89a790, 64);
	put_uint("family", AF_INET, 16);
	put_uint("dport", 5432, 16);
	put_list("v4addr", 8, v4, 4);
	put_list("v6addr", 16, none, 0);
	put_int("protocol", 6, 32);
	put_int("level", SOL_SOCKET, 32);
	put_int("optname", SO_REUSEADDR, 32);
	d = finish();
	ck_assert_str_eq(told(&d, "connect", "uservaddr"),
			 "{sa_family=AF_INET, sin_port=htons(5432), sin_addr=inet_addr(\"10.77.0.12\")}");
	ck_assert_str_eq(told(&d, "socket", "protocol"), "IPPROTO_TCP");
	ck_assert_str_eq(told(&d, "setsockopt", "optname"), "SO_REUSEADDR");
}
END_TEST

START_TEST(test_socket_v6)
{
	const uint64_t v6[] = { 0x2001, 0xdb8, 0, 0, 0, 0, 0, 1 };
	struct decode d;

	put_uint("family", AF_INET6, 16);
	put_uint("dport", 80, 16);
	put_list("v6addr", 16, v6, 8);
	d = finish();
	ck_assert_str_eq(told(&d, "connect", "uservaddr"),
			 "{sa_family=AF_INET6, sin6_port=htons(80), inet_pton(AF_INET6, \"2001:db8::1\", &sin6_addr)}");
}
END_TEST

/* For a family that the tracer does not decode there is only its name; without a family, the address. */
START_TEST(test_socket_other)
{
	struct decode d;

	put_uint("upeer_sockaddr", 0x1000, 64);
	put_uint("family", 0, 16);
	d = finish();
	ck_assert_str_eq(told(&d, "accept", "upeer_sockaddr"), "0x1000");
}
END_TEST

START_TEST(test_fcntl)
{
	struct decode d;

	put_uint("fd", 3, 32);
	put_uint("cmd", F_SETFL, 32);
	put_uint("arg", O_RDWR | O_NONBLOCK, 64);
	d = finish();
	ck_assert_str_eq(told(&d, "fcntl", "cmd"), "F_SETFL");
	ck_assert_str_eq(told(&d, "fcntl", "arg"), "O_RDWR|O_NONBLOCK");
	teardown();
	setup();
	put_uint("cmd", F_SETOWN, 32);
	put_uint("arg", UINT32_MAX - 4, 64); /* an int in the lower half */
	d = finish();
	ck_assert_str_eq(told(&d, "fcntl", "arg"), "-5");
}
END_TEST

START_TEST(test_fcntl_without)
{
	struct decode d;

	put_uint("cmd", F_GETFD, 32);
	put_uint("arg", 7, 64);
	d = finish();
	ck_assert_str_eq(told(&d, "fcntl", "arg"), "");
}
END_TEST

START_TEST(test_lists)
{
	const int fds[] = { 3, -1 };
	const uint64_t events[] = { 1, 0x2004 }, bits[] = { 0x50, 0x01 }, no_bits[] = { 0, 0 };
	struct decode d;

	put_pollfds("fds", 2, fds, events);
	put_list("readfds", 8, bits, 2);
	put_list("writefds", 8, bits, 0);
	put_list("exceptfds", 8, no_bits, 2);
	d = finish();
	ck_assert_str_eq(told(&d, "select", "exceptfds"), "[]");
	ck_assert_str_eq(told(&d, "poll", "fds"), "[{fd=3, events=POLLIN}, {fd=-1, events=POLLOUT|POLLRDHUP}]");
	ck_assert_str_eq(told(&d, "select", "readfds"), "[4 6 8]");
	ck_assert_str_eq(told(&d, "select", "writefds"), "NULL");
	g_string_truncate(out, 0);
	decode_result(&d, calls_find("poll"), 1, 0);
	ck_assert_str_eq(out->str, "1 ([{fd=3, revents=POLLIN}, {fd=-1, revents=POLLOUT|POLLRDHUP}])");
	g_string_truncate(out, 0);
	decode_result(&d, calls_find("select"), 3, 0);
	ck_assert_str_eq(out->str, "3 (in [4 6 8])");
}
END_TEST

/* More fds than the tracer records. */
START_TEST(test_overflow)
{
	const int fds[] = { 3 };
	const uint64_t events[] = { 1 };
	struct decode d;

	put_uint("overflow", 1, 8);
	put_pollfds("fds", 1, fds, events);
	d = finish();
	ck_assert_str_eq(told(&d, "poll", "fds"), "[{fd=3, events=POLLIN}, ...]");
}
END_TEST

START_TEST(test_registers)
{
	const struct call *call = calls_find("fchmodat");
	uint32_t kept;
	struct decode d;

	declare(SHAPE_ARRAY, "args", 0, 6);
	declare(SHAPE_UINT, "", 64, 0);
	n_fields++;
	values_array(record, 6, &kept);
	values_word(record, (uint32_t)AT_FDCWD);
	values_word(record, 0x7f0000001000);
	values_word(record, 0600);
	for (unsigned i = 3; i < 6; i++)
		values_word(record, UINT64_MAX);
	d = finish();
	ck_assert_int_eq(decode_register(&d, &call->args[0], 0), DECODED_SHOWN);
	g_string_append_c(out, ' ');
	ck_assert_int_eq(decode_register(&d, &call->args[1], 1), DECODED_SHOWN);
	g_string_append_c(out, ' ');
	ck_assert_int_eq(decode_register(&d, &call->args[2], 2), DECODED_SHOWN);
	ck_assert_str_eq(out->str, "AT_FDCWD 0x7f0000001000 0600");
	ck_assert_int_eq(decode_register(&d, &call->args[0], 6), DECODED_NOTHING);
}
END_TEST

static const char *result(struct decode *d, const char *call, int64_t ret, uint64_t cmd)
{
	g_string_truncate(out, 0);
	decode_result(d, call ? calls_find(call) : NULL, ret, cmd);
	return out->str;
}

START_TEST(test_results)
{
	struct decode d;

	put_int("ret", 0, 64);
	d = finish();
	ck_assert_str_eq(result(&d, "read", 8192, 0), "8192");
	ck_assert_str_eq(result(&d, NULL, -2, 0), "-1 ENOENT (No such file or directory)");
	ck_assert_str_eq(result(&d, "read", -512, 0),
			 "? ERESTARTSYS (interrupted by a signal, called again if its handler restarts calls)");
	ck_assert_str_eq(
		result(&d, "nanosleep", -516, 0),
		"? ERESTART_RESTARTBLOCK (interrupted by a signal, continued by restart_syscall if that has no "
		"handler)");
	ck_assert_str_eq(result(&d, "read", -515, 0), "? ENOIOCTLCMD");
	ck_assert_str_eq(result(&d, "read", -4000, 0), "-4000");
	ck_assert_str_eq(result(&d, "lseek", -4096, 0), "-4096");
	ck_assert_str_eq(result(&d, "mmap", 0x7f434d349000, 0), "0x7f434d349000");
	ck_assert_str_eq(result(&d, "mmap", (int64_t)0xffff800000000000, 0), "0xffff800000000000");
	ck_assert_str_eq(result(&d, "umask", 022, 0), "022");
	ck_assert_str_eq(result(&d, "rt_sigtimedwait", 10, 0), "10 (SIGUSR1)");
	ck_assert_str_eq(result(&d, "sched_getscheduler", 0, 0), "0 (SCHED_OTHER)");
	ck_assert_str_eq(result(&d, "sched_getscheduler", -3, 0), "-1 ESRCH (No such process)");
	ck_assert_str_eq(result(&d, "poll", 0, 0), "0 (Timeout)");
	ck_assert_str_eq(result(&d, "fcntl", O_RDWR, F_GETFL), "0x2 (flags O_RDWR)");
	ck_assert_str_eq(result(&d, "read", INT64_MIN, 0), "-9223372036854775808");
}
END_TEST

UNIT_MAIN_AROUND("attach", setup, teardown, test_open, test_no_mode, test_operations, test_optional, test_prctl,
		 test_quotactl, test_ioprio, test_key_permission, test_ipc, test_shared_bits, test_offsets,
		 test_signal_styles, test_accept_unnamed, test_numbers, test_sockets, test_socket_v6, test_socket_other,
		 test_fcntl, test_fcntl_without, test_lists, test_overflow, test_registers, test_results)
