/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A compromised worker tries everything it can: each attempt ends it, with a message that names the call. */
#include "unit.h"

#include <arpa/inet.h>
#include <asm/termbits.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "worker/confine_filter.h"

/* More than a worker's memory, less than its address space. */
#define LARGE_BYTES ((size_t)3 << 30)
#define HUGE_BYTES ((size_t)64 << 30)

static char directory[32];
static char outside[64], new_name[64];

/* ---- the attempts: 0 success, else errno ---- */

static int result(long r)
{
	return r < 0 ? errno : 0;
}

static int try_exec(void)
{
	return result(execl("/bin/true", "true", (char *)NULL));
}
static int try_fork(void)
{
	return result(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); /* some machines have no fork */
}
static int try_ptrace(void)
{
	return result(ptrace(PTRACE_ATTACH, getppid(), 0, 0));
}
static int try_kill(void)
{
	return result(kill(getppid(), 0));
}
static int try_signal_parent(void)
{
	return result(syscall(SYS_tgkill, getppid(), getppid(), 0));
}
static int try_write(void)
{
	return result(open(outside, O_WRONLY));
}
static int try_truncate(void)
{
	return result(truncate(outside, 0));
}
static int try_chmod(void)
{
	return result(chmod(outside, 0777));
}
static int try_handler(void)
{
	return result((long)signal(SIGSYS, SIG_IGN));
}
static int try_tcp(void)
{
	return result(socket(AF_INET, SOCK_STREAM, 0));
}
static int try_raw(void)
{
	return result(socket(AF_INET, SOCK_RAW, 1));
}
static int try_unix(void)
{
	return result(socket(AF_UNIX, SOCK_STREAM, 0));
}
static int try_listen(void)
{
	return result(listen(2, 1));
}
static int try_read(void)
{
	return result(open(outside, O_RDONLY));
}
static int try_read_at(void)
{
	return result(syscall(SYS_openat, AT_FDCWD, outside, O_RDONLY));
}
static int try_open_directory(void)
{
	return result(open(directory, O_RDONLY | O_DIRECTORY));
}
static int try_list(void)
{
	char entries[1024];

	return result(syscall(SYS_getdents64, 0, entries, sizeof(entries)));
}
static int try_readlink(void)
{
	char target[16];

	return result(readlink("/proc/self/exe", target, sizeof(target)));
}
static int try_readlink_at(void)
{
	char target[16];

	return result(readlinkat(AT_FDCWD, "/proc/self/exe", target, sizeof(target)));
}

/* The C library looks for what is not there, and goes on. */
static int try_library(void)
{
	const time_t now = 1700000000;
	struct tm tm;

	return setlocale(LC_ALL, "") && !*g_strerror(EIO) ? 1 : localtime_r(&now, &tm) ? 0 : 2;
}
static int try_new_file(void)
{
	return result(open(new_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}
static int try_unlink(void)
{
	return result(unlink(outside));
}
static int try_mkdir(void)
{
	return result(mkdir(new_name, 0700));
}

/* Like isatty() in various C libraries. */
static int try_isatty(void)
{
	struct termios t;

	return result(ioctl(STDERR_FILENO, TCGETS, &t));
}

#ifdef TCGETS2
static int try_isatty2(void)
{
	struct termios2 t;

	return result(ioctl(STDERR_FILENO, TCGETS2, &t));
}
#endif

static int try_ioctl(void)
{
	return result(ioctl(STDERR_FILENO, TIOCSTI, "x"));
}

static int try_send_elsewhere(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "/dev/log" };

	return result(sendto(2, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)));
}

static int try_connect(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "/dev/log" };

	return result(connect(2, (struct sockaddr *)&to, sizeof(to)));
}

static int try_pass_descriptor(void)
{
	struct msghdr message = { 0 };

	return result(sendmsg(2, &message, 0));
}

/* The limit on memory does not count it. */
static int try_shared_memory(void)
{
	return mmap(NULL, LARGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno
														: 0;
}

static int try_abort(void)
{
	abort();
}

static int try_memory(void)
{
	void *volatile memory = malloc(LARGE_BYTES); /* or compilers would leave it out */

	return memory ? 0 : ENOMEM;
}

/* GLib ends a process that gets no memory, with a message. */
static int try_glib_memory(void)
{
	void *volatile memory = g_malloc(LARGE_BYTES);

	return memory ? 0 : ENOMEM;
}

/* What is mapped of files is not memory of the process, unless it can be written. */
static int try_mapped(void)
{
	const int fd = open(outside, O_RDONLY);
	char *map = mmap(NULL, LARGE_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);

	if (map == MAP_FAILED)
		return errno;
	return mprotect(map, LARGE_BYTES, PROT_READ | PROT_WRITE) < 0 && errno == ENOMEM ? 0 : 2;
}

static int try_shared_file(void)
{
	const int fd = open(outside, O_RDONLY);

	return mmap(NULL, LARGE_BYTES, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? errno : 0;
}

static int try_huge_file(void)
{
	const int fd = open(outside, O_RDONLY);

	return mmap(NULL, HUGE_BYTES, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? errno : 0;
}

/* ---- in a process of its own ---- */

static char said[512];

/* Returns its wait status; its output is in `said`. */
static int attempt(enum confine_kind kind, int (*try)(void))
{
	int words[2], status;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(pipe(words), 0);
	pid = fork();
	if (pid == 0) {
		dup2(words[1], STDERR_FILENO);
		if (confine(kind) != LT_OK)
			_exit(99);
		_exit(try());
	}
	close(words[1]);
	while (len < sizeof(said) - 1 && (n = read(words[0], said + len, sizeof(said) - 1 - len)) > 0)
		len += (size_t)n;
	said[len] = '\0';
	close(words[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

/* Only the numbers of x86-64 have names; call: a part of it, as others have openat instead of open. */
static void expect_end(enum confine_kind kind, const char *call, int (*try)(void))
{
	const int status = attempt(kind, try);

#ifdef __x86_64__
	const char *const name = call;
#else
	const char *const name = "unknown";
#endif

	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "%s: status %x, '%s'", call, status, said);
	ck_assert_msg(strstr(said, name) != NULL, "%s: '%s'", call, said);
	ck_assert_msg(strstr(said, "is not allowed") != NULL, "%s: '%s'", call, said);
}

static void expect_exit(enum confine_kind kind, const char *what, int code, int (*try)(void))
{
	const int status = attempt(kind, try);

	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == code, "%s: status %x, '%s'", what, status, said);
}

static void set_up(void)
{
	int fd;

	strcpy(directory, "/tmp/check-confine-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(outside, sizeof(outside), "%s/file", directory);
	snprintf(new_name, sizeof(new_name), "%s/new", directory);
	fd = open(outside, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void tear_down(void)
{
	ck_assert_int_eq(unlink(outside), 0);
	ck_assert_int_eq(rmdir(directory), 0);
}

START_TEST(test_fatal)
{
	static const enum confine_kind kinds[] = { CONFINE_RECORDING, CONFINE_RELAYDS };

	set_up();
	for (size_t i = 0; i < 2; i++) {
		expect_end(kinds[i], "execve", try_exec);
		expect_end(kinds[i], "clone", try_fork);
		expect_end(kinds[i], "ptrace", try_ptrace);
		expect_end(kinds[i], "kill", try_kill);
		expect_end(kinds[i], "tgkill", try_signal_parent);
		expect_end(kinds[i], "open", try_write);
		expect_end(kinds[i], "truncate", try_truncate);
		expect_end(kinds[i], "chmod", try_chmod);
		expect_end(kinds[i], "rt_sigaction", try_handler);
		expect_end(kinds[i], "socket", try_raw);
		expect_end(kinds[i], "listen", try_listen);
		expect_end(kinds[i], "sendto", try_send_elsewhere);
		expect_end(kinds[i], "ioctl", try_ioctl);
		expect_end(kinds[i], "unlink", try_unlink);
		expect_end(kinds[i], "mkdir", try_mkdir);
		expect_end(kinds[i], "open", try_new_file);
		expect_end(kinds[i], "socket", try_tcp);
		expect_end(kinds[i], "socket", try_unix);
		expect_end(kinds[i], "connect", try_connect);
		expect_end(kinds[i], "sendmsg", try_pass_descriptor);
#ifndef __s390x__
		expect_end(kinds[i], "mmap", try_shared_memory);
#endif
	}
	tear_down();
}
END_TEST

/* GLib stops at a breakpoint; 2.90 aborts. */
static void expect_no_memory(enum confine_kind kind)
{
	const int number = WTERMSIG(attempt(kind, try_glib_memory));

	ck_assert_msg(number == SIGTRAP || number == SIGABRT, "%d", number);
}

START_TEST(test_allowed)
{
	set_up();
	expect_exit(CONFINE_RECORDING, "read", 0, try_read);
	expect_exit(CONFINE_RECORDING, "openat", 0, try_read_at);
	expect_exit(CONFINE_RECORDING, "directory", 0, try_open_directory);
	expect_exit(CONFINE_RECORDING, "readlink", 0, try_readlink);
	expect_exit(CONFINE_RECORDING, "memory", ENOMEM, try_memory);
	ck_assert_int_eq(truncate(outside, LARGE_BYTES), 0);
	expect_exit(CONFINE_RECORDING, "mapped files", 0, try_mapped);
	expect_exit(CONFINE_RECORDING, "shared files", 0, try_shared_file);
	expect_exit(CONFINE_RECORDING, "address space", ENOMEM, try_huge_file);
	expect_exit(CONFINE_RECORDING, "isatty", ENOTTY, try_isatty);
#ifdef TCGETS2
	expect_exit(CONFINE_RECORDING, "isatty of glibc 2.42", ENOTTY, try_isatty2);
#endif
	ck_assert_int_eq(WTERMSIG(attempt(CONFINE_RECORDING, try_abort)), SIGABRT);
	expect_no_memory(CONFINE_RECORDING);
	ck_assert_msg(strstr(said, "failed to allocate 3221225472 bytes") != NULL, "'%s'", said);
	tear_down();
}
END_TEST

/* One that reads from relayds is told that it may not read files: libraries go on without. */
START_TEST(test_no_files)
{
	set_up();
	expect_exit(CONFINE_RELAYDS, "open", EACCES, try_read);
	expect_exit(CONFINE_RELAYDS, "openat", EACCES, try_read_at);
	expect_exit(CONFINE_RELAYDS, "directory", EACCES, try_open_directory);
	expect_exit(CONFINE_RELAYDS, "getdents64", EACCES, try_list);
	expect_exit(CONFINE_RELAYDS, "readlink", EACCES, try_readlink);
	expect_exit(CONFINE_RELAYDS, "readlinkat", EACCES, try_readlink_at);
	expect_exit(CONFINE_RELAYDS, "the library", 0, try_library);
	expect_exit(CONFINE_RELAYDS, "memory", ENOMEM, try_memory);
	ck_assert_int_eq(WTERMSIG(attempt(CONFINE_RELAYDS, try_abort)), SIGABRT);
	expect_no_memory(CONFINE_RELAYDS);
	tear_down();
}
END_TEST

/* ---- other machines ---- */

enum { CALL_WORDS = sizeof(struct seccomp_data) / sizeof(uint32_t) };

/* Runs a filter on the words of a call, as that machine stores them. Returns the action. */
static uint32_t run_filter(const struct sock_filter *filter, size_t n, const uint32_t *words)
{
	uint32_t value = 0;

	for (size_t i = 0; i < n; i++) {
		const struct sock_filter *f = &filter[i];

		switch (f->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			ck_assert_uint_lt(f->k / sizeof(*words), CALL_WORDS);
			value = words[f->k / sizeof(*words)];
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			value &= f->k;
			break;
		case BPF_JMP | BPF_JA:
			i += f->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			i += value == f->k ? f->jt : f->jf;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			i += value > f->k ? f->jt : f->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			i += value >= f->k ? f->jt : f->jf;
			break;
		case BPF_RET | BPF_K:
			return f->k;
		default:
			ck_abort_msg("instruction %#x", f->code);
		}
	}
	ck_abort_msg("no end");
	return 0;
}

/* Whether a worker of that kind may make the call on that machine, with these first, fourth and fifth arguments. */
static bool may_call(enum confine_kind kind, uint32_t machine, uint32_t nr, uint32_t first, uint32_t fourth,
		     uint32_t fifth)
{
	static struct sock_filter filter[4096];
	const bool big = machine != SCMP_ARCH_PPC64LE; /* of 64-bit arguments, the upper half comes first */
	scmp_filter_ctx ctx = confine_filter(kind, machine);
	uint32_t words[CALL_WORDS] = { nr, machine };
	int fd = memfd_create("filter", MFD_CLOEXEC);
	ssize_t len;

	ck_assert_ptr_nonnull(ctx);
	ck_assert_int_eq(seccomp_export_bpf(ctx, fd), 0);
	seccomp_release(ctx);
	len = pread(fd, filter, sizeof(filter), 0);
	ck_assert(len > 0 && len < (ssize_t)sizeof(filter));
	close(fd);
	for (size_t i = 0; i < (size_t)len / sizeof(*filter); i++) {
		filter[i].code = big ? be16toh(filter[i].code) : le16toh(filter[i].code);
		filter[i].k = big ? be32toh(filter[i].k) : le32toh(filter[i].k);
	}
	words[4 + big] = first;
	words[10 + big] = fourth;
	words[12 + big] = fifth;
	return run_filter(filter, (size_t)len / sizeof(*filter), words) == SECCOMP_RET_ALLOW;
}

/* C libraries call what is there for send() and recv(). */
START_TEST(test_other_machines)
{
	static const enum confine_kind kinds[] = { CONFINE_RECORDING, CONFINE_FOLLOW, CONFINE_RELAYDS };
	static const uint32_t power[] = { SCMP_ARCH_PPC64LE, SCMP_ARCH_PPC64 };
	enum { POWER_CONNECT = 328, POWER_SEND = 334, POWER_SENDTO = 335, POWER_RECV = 336, POWER_RECVFROM = 337 };
	enum { S390_SOCKETCALL = 102, SOCKETCALL_CONNECT = 3, SOCKETCALL_SEND = 9, SOCKETCALL_RECV = 10 };

	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		for (size_t j = 0; j < G_N_ELEMENTS(power); j++) {
			ck_assert(may_call(kinds[i], power[j], POWER_SEND, 3, 0, 0));
			ck_assert(may_call(kinds[i], power[j], POWER_RECV, 3, 0, 0));
			ck_assert(may_call(kinds[i], power[j], POWER_SENDTO, 3, 0, 0));
			ck_assert(may_call(kinds[i], power[j], POWER_RECVFROM, 3, 0, 0));
			ck_assert(!may_call(kinds[i], power[j], POWER_SENDTO, 3, 0, 1));
			ck_assert(!may_call(kinds[i], power[j], POWER_CONNECT, 3, 0, 0));
		}
		ck_assert(may_call(kinds[i], SCMP_ARCH_S390X, S390_SOCKETCALL, SOCKETCALL_SEND, 0, 0));
		ck_assert(may_call(kinds[i], SCMP_ARCH_S390X, S390_SOCKETCALL, SOCKETCALL_RECV, 0, 0));
		ck_assert(!may_call(kinds[i], SCMP_ARCH_S390X, S390_SOCKETCALL, SOCKETCALL_CONNECT, 0, 0));
	}
}
END_TEST

/* Shared memory without a file is refused where the filter can see the arguments. */
START_TEST(test_mapping)
{
	static const uint32_t direct[] = { SCMP_ARCH_PPC64LE, SCMP_ARCH_PPC64 };
	enum { MMAP = 90, SHARED = 0x01, PRIVATE = 0x02, ANONYMOUS = 0x20, NORESERVE = 0x40 };

	for (size_t i = 0; i < G_N_ELEMENTS(direct); i++) {
		ck_assert(may_call(CONFINE_RELAYDS, direct[i], MMAP, 0, PRIVATE, 3));
		ck_assert(may_call(CONFINE_RELAYDS, direct[i], MMAP, 0, SHARED, 3));
		ck_assert(may_call(CONFINE_RELAYDS, direct[i], MMAP, 0, PRIVATE | ANONYMOUS | NORESERVE, 0));
		ck_assert(!may_call(CONFINE_RELAYDS, direct[i], MMAP, 0, SHARED | ANONYMOUS, 0));
		ck_assert(!may_call(CONFINE_RELAYDS, direct[i], MMAP, 0, SHARED | PRIVATE | ANONYMOUS | NORESERVE, 0));
	}
	ck_assert(may_call(CONFINE_RELAYDS, SCMP_ARCH_S390X, MMAP, 0, SHARED | ANONYMOUS, 0));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { test_fatal, test_allowed, test_no_files, test_other_machines, test_mapping };

	const char *preload = getenv("LD_PRELOAD");

	/* these make system calls of their own */
	if (!confine_is_built() || (preload && strstr(preload, "valgrind"))) {
		puts("skip confine: not with sanitizers, coverage or valgrind");
		return EXIT_SUCCESS;
	}
	return unit_run("confine", NULL, NULL, tests, G_N_ELEMENTS(tests));
}
