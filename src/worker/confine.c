/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worker/confine.h"

#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "event/syscalls.h"
#include "worker/confine_filter.h"

#define MEMORY_BYTES ((rlim_t)2 << 30)
#define ADDRESS_BYTES ((rlim_t)64 << 30) /* with the current packets of hundreds of CPUs, which are mapped files */
#define FILE_BYTES ((rlim_t)2 << 30)

enum { FILES = 65536 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(LT_COVERAGE)
#define IS_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define IS_INSTRUMENTED 1
#endif
#endif
#ifndef IS_INSTRUMENTED
#define IS_INSTRUMENTED 0
#endif

/* ---- limits ---- */

static void limit(int resource, rlim_t most)
{
	struct rlimit r;

	if (getrlimit(resource, &r) < 0)
		return;
	r.rlim_max = r.rlim_max < most ? r.rlim_max : most;
	r.rlim_cur = r.rlim_max;
	setrlimit(resource, &r);
}

/*
 * Absurd metadata must not use up the machine's memory; mapped files are not counted as such, because the kernel can
 * drop their pages. A crash on damaged data does not need a core file.
 */
static void set_limits(void)
{
	limit(RLIMIT_CORE, 0);
	if (IS_INSTRUMENTED)
		return;
	limit(RLIMIT_DATA, MEMORY_BYTES);
	limit(RLIMIT_AS, ADDRESS_BYTES);
	limit(RLIMIT_NPROC, 0);
	limit(RLIMIT_NOFILE, FILES);
	limit(RLIMIT_FSIZE, FILE_BYTES);
}

/* ---- Landlock ---- */

/* Defined as in the kernel's interface, because the header may be older. */
struct landlock_attr {
	uint64_t fs, net;
};

#define NET_BIND (UINT64_C(1) << 0)
#define NET_CONNECT (UINT64_C(1) << 1)

enum { ABI_NET = 4 };

/* If the kernel lacks Landlock or refuses, the other measures remain. */
static void refuse_connections(void)
{
	const struct landlock_attr attr = { .net = NET_BIND | NET_CONNECT };
	int ruleset;

	if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < ABI_NET)
		return;
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (ruleset < 0)
		return;
	syscall(SYS_landlock_restrict_self, ruleset, 0);
	close(ruleset);
}

/* ---- system calls ---- */

/* clang-format off */
static const int common_calls[] = {
	SCMP_SYS(access), SCMP_SYS(brk), SCMP_SYS(clock_getres), SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep),
	SCMP_SYS(close), SCMP_SYS(close_range), SCMP_SYS(exit), SCMP_SYS(exit_group),
	SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(fadvise64), SCMP_SYS(fstat),
	SCMP_SYS(fstatfs), SCMP_SYS(futex), SCMP_SYS(getcwd), SCMP_SYS(getegid),
	SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getpid), SCMP_SYS(getppid), SCMP_SYS(getrandom),
	SCMP_SYS(getrusage), SCMP_SYS(gettid), SCMP_SYS(gettimeofday), SCMP_SYS(getuid), SCMP_SYS(lseek),
	SCMP_SYS(lstat), SCMP_SYS(madvise), SCMP_SYS(membarrier), SCMP_SYS(mprotect),
	SCMP_SYS(mremap), SCMP_SYS(munmap), SCMP_SYS(nanosleep), SCMP_SYS(newfstatat), SCMP_SYS(poll),
	SCMP_SYS(ppoll), SCMP_SYS(pread64), SCMP_SYS(read),
	SCMP_SYS(readv), SCMP_SYS(restart_syscall), SCMP_SYS(rseq), SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(sched_getaffinity), SCMP_SYS(sched_yield), SCMP_SYS(set_robust_list),
	SCMP_SYS(sigaltstack), SCMP_SYS(stat), SCMP_SYS(statfs), SCMP_SYS(statx), SCMP_SYS(sysinfo), SCMP_SYS(time),
	SCMP_SYS(uname), SCMP_SYS(write), SCMP_SYS(writev),
	SCMP_SYS(recvfrom), SCMP_SYS(recv), SCMP_SYS(send), /* the latter two: PowerPC, s390x */
	SCMP_SYS(getpeername), /* by GLib, before it writes why it ends the process */
};

/* With those that open files. */
static const int file_calls[] = { SCMP_SYS(getdents64), SCMP_SYS(readlink), SCMP_SYS(readlinkat) };

static const int follow_calls[] = {
	SCMP_SYS(inotify_init1), SCMP_SYS(inotify_add_watch), SCMP_SYS(recvmsg),
};

/* Connections arrive as descriptors in messages. */
static const int relayds_calls[] = {
	SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_pwait), SCMP_SYS(epoll_wait), SCMP_SYS(recvmsg),
	SCMP_SYS(setsockopt),
};
/* clang-format on */

static bool add_all(scmp_filter_ctx ctx, uint32_t action, const int *calls, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (seccomp_rule_add(ctx, action, calls[i], 0) < 0)
			return false;
	return true;
}

#define ADD_ALL(ctx, action, calls) add_all(ctx, action, calls, sizeof(calls) / sizeof(*(calls)))
#define ALLOW_ALL(ctx, calls) ADD_ALL(ctx, SCMP_ACT_ALLOW, calls)

/*
 * Reading files. A worker that reads from relayds needs none, but the C library looks for some, like translated
 * messages: it is told that they cannot be read.
 */
static bool add_reading(scmp_filter_ctx ctx, enum confine_kind kind)
{
	const uint32_t action = kind == CONFINE_RELAYDS ? SCMP_ACT_ERRNO(EACCES) : SCMP_ACT_ALLOW;
	/* everything that could change something: the access mode, and creating a file */
	const unsigned changes = O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);

	return ADD_ALL(ctx, action, file_calls) &&
	       seccomp_rule_add(ctx, action, SCMP_SYS(openat), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, changes, 0)) >= 0 &&
	       seccomp_rule_add(ctx, action, SCMP_SYS(open), 1, SCMP_A1(SCMP_CMP_MASKED_EQ, changes, 0)) >= 0;
}

#define ARG(number, comparison, value) \
	((struct scmp_arg_cmp){ .arg = number, .op = SCMP_CMP_##comparison, .datum_a = value })

static bool allow_second(scmp_filter_ctx ctx, int call, const scmp_datum_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (seccomp_rule_add(ctx, SCMP_ACT_ALLOW, call, 1, ARG(1, EQ, values[i])) < 0)
			return false;
	return true;
}

/* A call whose second argument has one of these values. */
#define ALLOW_SECOND(ctx, call, values) allow_second(ctx, call, values, sizeof(values) / sizeof(*(values)))

/* Calls that are allowed with some arguments only. */
static bool allow_some(scmp_filter_ctx ctx)
{
	static const scmp_datum_t commands[] = { F_GETFD, F_SETFD, F_GETFL, F_SETFL };
	static const scmp_datum_t requests[] = {
		TCGETS, /* the C library's check for a terminal when a stream is opened */
#ifdef TCGETS2
		TCGETS2, /* the same in newer ones; PowerPC has none */
#endif
		FIONREAD,
	};
	const scmp_datum_t self = (scmp_datum_t)getpid();

	return ALLOW_SECOND(ctx, SCMP_SYS(fcntl), commands) && ALLOW_SECOND(ctx, SCMP_SYS(ioctl), requests) &&
	       /* only to the address of the socket's peer */
	       seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(sendto), 1, ARG(4, EQ, 0)) >= 0 &&
	       /* abort() and raise(): signals to itself */
	       seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, ARG(0, EQ, self)) >= 0 &&
	       /* any handler except that of the filter's own signal */
	       seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(rt_sigaction), 1, ARG(0, NE, SIGSYS)) >= 0 &&
	       /* limits may be read */
	       seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, ARG(2, EQ, 0)) >= 0 &&
	       /* tried by the C library, which has alternatives */
	       seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) >= 0 &&
	       seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(openat2), 0) >= 0;
}

/*
 * Mapping, but not shared memory without a file: RLIMIT_DATA does not count that. The arguments of s390x are in memory,
 * which a filter cannot read.
 */
static bool allow_mapping(scmp_filter_ctx ctx, uint32_t machine)
{
	const unsigned both = MAP_SHARED | MAP_ANONYMOUS;
	static const unsigned allowed[] = { 0, MAP_SHARED, MAP_ANONYMOUS };

	if (machine == SCMP_ARCH_S390X)
		return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 0) >= 0;
	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++)
		if (seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
				     SCMP_A3(SCMP_CMP_MASKED_EQ, both, allowed[i])) < 0)
			return false;
	return true;
}

/*
 * Reports any other call: the parent shows the last line of a worker that died. The table of names has been built
 * before; nothing is allocated. The signal is blocked in here, so that another refused call ends the process with that
 * signal.
 */
static void say_what_was_refused(int number, siginfo_t *info, void *context)
{
	const char *name = syscall_name_of_number(info->si_syscall, info->si_arch == AUDIT_ARCH_X86_64);
	char text[96];
	int len;

	(void)number;
	(void)context;
	len = snprintf(text, sizeof(text), "system call %d (%s) is not allowed\n", info->si_syscall,
		       name ? name : "unknown");
	if (write(STDERR_FILENO, text, (size_t)len) == len)
		syscall(SYS_execve, NULL, NULL, NULL);
	_exit(128 + number);
}

static bool set_machine(scmp_filter_ctx ctx, uint32_t machine)
{
	return machine == seccomp_arch_native() ||
	       (seccomp_arch_remove(ctx, seccomp_arch_native()) == 0 && seccomp_arch_add(ctx, machine) == 0);
}

scmp_filter_ctx confine_filter(enum confine_kind kind, uint32_t machine)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_TRAP);
	bool ok = ctx != NULL && set_machine(ctx, machine) && ALLOW_ALL(ctx, common_calls) && allow_some(ctx) &&
		  allow_mapping(ctx, machine) && add_reading(ctx, kind);

	if (ok && kind == CONFINE_FOLLOW)
		ok = ALLOW_ALL(ctx, follow_calls);
	if (ok && kind == CONFINE_RELAYDS)
		ok = ALLOW_ALL(ctx, relayds_calls);
	if (ok || !ctx)
		return ctx;
	seccomp_release(ctx);
	return NULL;
}

static enum lt_status filter_calls(enum confine_kind kind)
{
	struct sigaction action = { .sa_sigaction = say_what_was_refused, .sa_flags = SA_SIGINFO };
	scmp_filter_ctx ctx = confine_filter(kind, seccomp_arch_native());
	const bool ok = ctx != NULL && sigaction(SIGSYS, &action, NULL) == 0;
	const int failed = ok ? seccomp_load(ctx) : 0;

	if (ctx)
		seccomp_release(ctx);
	if (ok && !failed)
		return LT_OK;
	return error_set("cannot filter a worker's system calls: %s", strerror(failed ? -failed : EINVAL));
}

bool confine_is_built(void)
{
	return !IS_INSTRUMENTED;
}

enum lt_status confine(enum confine_kind kind)
{
	set_limits();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (IS_INSTRUMENTED)
		return LT_OK;
	refuse_connections();
	if (prctl(PR_GET_SECCOMP) < 0)
		return LT_OK; /* the kernel has no filters */
	return filter_calls(kind);
}
