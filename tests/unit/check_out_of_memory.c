/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that gets no memory says so and exits; what has other causes ends it as ever. */
#include "unit.h"

#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/out_of_memory.h"
#include "worker/confine.h"

static const char advice[] = "lower it\n";

static void limit(int resource, rlim_t n)
{
	const struct rlimit limit = { n, n };

	setrlimit(resource, &limit);
}

static void prepare(void)
{
	ssize_t ignored = write(STDERR_FILENO, "<", 1);

	(void)ignored;
}

/* What ends the process; memory is limited to a little more than it has now. */
static void take_rest(void)
{
	/* GLib, which may need memory to say that there is none, or how much it failed to allocate */
	for (size_t size = 1 << 16; size >= 8; size /= 2)
		while (malloc(size))
			;
	g_malloc(64);
}

static void take_much_at_once(void)
{
	g_malloc((gsize)1 << 32);
}

/* A library that does not look at what it gets. */
static void take_unchecked(void)
{
	for (;;)
		memset(malloc(64), 1, 64);
}

static void take_and_abort(void)
{
	while (malloc(64))
		;
	abort();
}

static void write_where_none_may(void)
{
	volatile char *page = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*page = 1;
}

static void send_fault(void)
{
	kill(getpid(), SIGSEGV);
}

static void stop_itself(void)
{
	abort();
}

static void fail_otherwise(void)
{
	g_error("the end");
}

/* What a process that does it writes to its standard error. The caller frees it. */
static char *run(void (*act)(void), int *status)
{
	int fds[2];
	GString *text = g_string_new(NULL);
	char bytes[256];
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		signal(SIGSEGV, SIG_DFL); /* Check or a sanitizer may have a handler */
		signal(SIGABRT, SIG_DFL);
		limit(RLIMIT_CORE, 0);
		out_of_memory_handle("name: ");
		out_of_memory_advise(advice);
		out_of_memory_prepare(prepare);
		limit(RLIMIT_DATA, 16 << 20);
		act();
		_exit(0);
	}
	close(fds[1]);
	while ((n = read(fds[0], bytes, sizeof(bytes))) > 0)
		g_string_append_len(text, bytes, n);
	close(fds[0]);
	ck_assert_int_eq(waitpid(pid, status, 0), pid);
	return g_string_free(text, FALSE);
}

static void check_said(void (*act)(void), const char *expected)
{
	int status;
	char *text = run(act, &status);

	ck_assert_msg(strstr(text, "<name: out of memory") && g_str_has_suffix(text, expected), "%s", text);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE, "%x: %s", (unsigned)status, text);
	g_free(text);
}

static void check_signal(void (*act)(void), int number)
{
	int status;
	char *text = run(act, &status);

	ck_assert_msg(!strstr(text, "memory"), "%s", text);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == number, "%d, not %d: %s", status, number, text);
	g_free(text);
}

START_TEST(test_none_left)
{
	check_said(take_rest, "\nlower it\n");
	check_said(take_unchecked, "<name: out of memory\nlower it\n");
	check_said(take_and_abort, "<name: out of memory\nlower it\n");
}
END_TEST

START_TEST(test_not_so_much)
{
	check_said(take_much_at_once, "<name: out of memory: failed to allocate 4294967296 bytes\nlower it\n");
}
END_TEST

START_TEST(test_other_causes)
{
	check_signal(write_where_none_may, SIGSEGV);
	check_signal(send_fault, SIGSEGV);
	check_signal(stop_itself, SIGABRT);
	check_signal(fail_otherwise, SIGTRAP);
}
END_TEST

int main(void)
{
	const char *preload = getenv("LD_PRELOAD");
	Suite *suite;

	if (!confine_is_built() || (preload && strstr(preload, "valgrind"))) {
		puts("skip no memory: sanitizers and valgrind have their own");
		return EXIT_SUCCESS;
	}
	suite = suite_create("out of memory");
	unit_add(suite, test_none_left, 1);
	unit_add(suite, test_not_so_much, 1);
	unit_add(suite, test_other_causes, 1);
	return unit_end(suite);
}
