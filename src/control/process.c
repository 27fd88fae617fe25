/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/process.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

static sigset_t mask_before;
static void (*sigpipe_before)(int);
static struct rlimit files_before; /* .rlim_max 0: not changed */

void process_raise_file_limit(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	files_before = files;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

/* SIGCHLD is included because process_run() waits for it. */
void process_fill_held(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGQUIT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGCHLD);
}

void process_hold_signals(void)
{
	sigset_t held;

	sigpipe_before = signal(SIGPIPE, SIG_IGN);
	process_fill_held(&held);
	sigprocmask(SIG_BLOCK, &held, &mask_before);
}

void process_admit_signals(bool admit)
{
	sigset_t held;

	process_fill_held(&held);
	sigprocmask(admit ? SIG_UNBLOCK : SIG_BLOCK, &held, NULL);
}

bool process_is_interrupted(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGINT) || sigismember(&pending, SIGQUIT) || sigismember(&pending, SIGTERM) ||
	       sigismember(&pending, SIGHUP);
}

int process_take_signal(void)
{
	const struct timespec now = { 0, 0 };
	sigset_t held;
	int taken;

	if (!process_is_interrupted())
		return 0;
	process_fill_held(&held);
	sigdelset(&held, SIGCHLD);
	taken = sigtimedwait(&held, NULL, &now);
	return MAX(taken, 0);
}

void process_unblock_signals(void *unused)
{
	(void)unused;
	signal(SIGPIPE, sigpipe_before);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

void process_release_signals(void)
{
	process_unblock_signals(NULL);
}

/* Whether execvp() would find a file of that name, executable or not. */
static bool is_there(const char *name)
{
	char **dirs = g_strsplit(strchr(name, '/') || !g_getenv("PATH") ? "" : g_getenv("PATH"), ":", -1);
	bool found = strchr(name, '/') && g_file_test(name, G_FILE_TEST_EXISTS);

	for (char **dir = dirs; *dir && !found; dir++) {
		char *path = g_build_filename(**dir ? *dir : ".", name, NULL);

		found = g_file_test(path, G_FILE_TEST_EXISTS);
		g_free(path);
	}
	g_strfreev(dirs);
	return found;
}

int process_check(const char *name)
{
	char *path = g_find_program_in_path(name);

	if (path) {
		g_free(path);
		return 0;
	}
	if (is_there(name)) {
		error_set("cannot run '%s': not executable", name);
		return PROCESS_NOT_EXECUTABLE;
	}
	error_set("cannot run '%s': not found", name);
	return PROCESS_NOT_FOUND;
}

/* The child: waits for a byte at the gate, which never comes if the parent has given up or died. */
static void become(const char *path, char *const *argv, int gate)
{
	char byte;
	int error;

	if (read(gate, &byte, 1) != 1)
		_exit(PROCESS_NOT_EXECUTABLE);
	close(gate);
	process_unblock_signals(NULL);
	if (files_before.rlim_max)
		setrlimit(RLIMIT_NOFILE, &files_before);
	execvp(path, argv);
	error = errno;
	fprintf(stderr, "lttngtop: cannot run '%s': %s\n", argv[0], g_strerror(error));
	_exit(error == ENOENT ? PROCESS_NOT_FOUND : PROCESS_NOT_EXECUTABLE);
}

enum lt_status process_prepare(struct process *p, char *const *argv)
{
	/* searched here because the process is traced: it should call execve() only once */
	char *found = strchr(argv[0], '/') ? NULL : g_find_program_in_path(argv[0]);
	int gate[2];

	*p = (struct process){ .gate = -1 };
	if (pipe2(gate, O_CLOEXEC)) {
		g_free(found);
		return error_set("cannot create a pipe: %s", g_strerror(errno));
	}
	p->pid = fork();
	if (p->pid == 0) {
		close(gate[1]);
		become(found ? found : argv[0], argv, gate[0]);
	}
	g_free(found);
	close(gate[0]);
	if (p->pid < 0) {
		close(gate[1]);
		p->pid = 0;
		return error_set("cannot create a process: %s", g_strerror(errno));
	}
	p->gate = gate[1];
	return LT_OK;
}

/* Discards signals that the terminal has also sent to the command. */
static void forget_terminal_signals(void)
{
	const struct timespec at_once = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	while (sigtimedwait(&set, NULL, &at_once) > 0)
		;
}

/* Waits for the child; forwards signals meanwhile. */
static int wait_for(const struct process *p)
{
	sigset_t held;
	siginfo_t info;
	int status;

	process_fill_held(&held);
	while (waitpid(p->pid, &status, WNOHANG) == 0) {
		if (sigwaitinfo(&held, &info) < 0 || info.si_signo == SIGCHLD)
			continue;
		if (info.si_code == SI_KERNEL && info.si_signo != SIGHUP)
			continue; /* sent by the terminal to the whole group */
		kill(p->pid, info.si_signo);
	}
	forget_terminal_signals();
	return process_exit_status(status);
}

pid_t process_parse_pid(const char *text, char **end)
{
	const gint64 number = g_ascii_strtoll(text, end, 10);

	return number > 0 && number <= INT_MAX ? (pid_t)number : 0;
}

int process_exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

enum lt_status process_let_go(struct process *p)
{
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	const bool opened = write(p->gate, "", 1) == 1;

	signal(SIGPIPE, before);
	close(p->gate);
	p->gate = -1;
	return opened ? LT_OK : error_set("the command's process died before the command could be started");
}

int process_run(struct process *p)
{
	return process_let_go(p) ? PROCESS_NOT_EXECUTABLE : wait_for(p);
}

void process_cancel(struct process *p)
{
	if (p->gate < 0)
		return;
	close(p->gate);
	waitpid(p->pid, NULL, 0);
	*p = (struct process){ .gate = -1 };
}
