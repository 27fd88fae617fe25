/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/child.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"
#include "base/text.h"

enum {
	HEARD_MAX = 262144, /* bytes read at once: more than a socket holds; the child may never stop */
	LOGGED_MAX = 16,    /* lines per child, which may never stop */
	NAP_US = US_PER_MS,
};

/* ---- starting ---- */

/* Written where the program's own last words would be. */
static void give_up(int words, const char *why)
{
	const size_t len = strlen(why);

	_exit(write(words, why, len) == (ssize_t)len ? 127 : 126);
}

/* Runs between fork and exec: only async-signal-safe functions. Does not return. */
static void become_child(const char *program, char *const *argv, const int *fds, unsigned n, int words, pid_t parent)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD, SIGWINCH, SIGTSTP, SIGQUIT };
	struct sigaction action = { .sa_handler = SIG_DFL };
	const unsigned end = CHILD_FIRST_FD + n;
	int moved[CHILD_FDS_MAX], moved_words, null_fd;
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	/* The terminal's keys are for the parent only, which ends the worker after its own work. */
	setpgid(0, 0);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);

	/* First move them out of the way of their final numbers. */
	moved_words = fcntl(words, F_DUPFD_CLOEXEC, end);
	for (unsigned i = 0; i < n; i++)
		if ((moved[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, end)) < 0)
			give_up(words, ERROR_TOO_MANY_FILES);
	null_fd = open("/dev/null", O_RDWR);
	if (moved_words < 0 || (null_fd < 0 && errno == EMFILE))
		give_up(words, ERROR_TOO_MANY_FILES);
	if (null_fd < 0)
		give_up(words, "/dev/null cannot be opened");
	if (dup2(moved_words, 2) < 0 || dup2(null_fd, 0) < 0 || dup2(null_fd, 1) < 0)
		give_up(moved_words, ERROR_TOO_MANY_FILES);
	for (unsigned i = 0; i < n; i++)
		if (dup2(moved[i], CHILD_FIRST_FD + (int)i) < 0)
			give_up(2, ERROR_TOO_MANY_FILES);
	if (syscall(SYS_close_range, end, ~0U, 0) < 0)
		for (unsigned fd = end; fd < 1024; fd++)
			close((int)fd);
	execv(program, argv);
	give_up(2, errno == ENOENT ? "its program was not found: is /proc mounted?" : "its program cannot be executed");
}

enum lt_status child_start(struct child *c, const char *program, char *const *argv, const int *fds, unsigned n)
{
	const pid_t parent = getpid();
	int words[2], error;

	g_assert(n <= CHILD_FDS_MAX);
	*c = (struct child){ .exit_fd = -1, .words_fd = -1 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, words) < 0)
		return error_set("cannot create sockets: %s", error_of_errno(errno));
	c->pid = fork();
	if (c->pid == 0)
		become_child(program, argv, fds, n, words[1], parent);
	error = errno;
	close(words[1]);
	if (c->pid < 0) {
		c->pid = 0;
		close(words[0]);
		return error_set("cannot start a worker: %s",
				 error == EAGAIN ? "too many processes: raise the limit of 'ulimit -u'"
						 : strerror(error));
	}
	c->words_fd = words[0];
	c->exit_fd = child_open_exit(c);
	return LT_OK;
}

int child_open_exit(const struct child *c)
{
	return (int)syscall(SYS_pidfd_open, c->pid, 0); /* always close-on-exec */
}

/* ---- while it runs ---- */

static void log_last_line(const struct child *c)
{
	char words[2 * CHILD_WORDS];

	text_sanitise(words, sizeof(words), c->last_words, c->last_words_len);
	log_info("worker %d: %s", (int)c->pid, words);
}

static void keep_last_line(struct child *c, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n') {
			if (!c->line_is_over && c->lines++ < LOGGED_MAX)
				log_last_line(c);
			c->line_is_over = true;
			continue;
		}
		if (c->line_is_over)
			c->last_words_len = 0;
		c->line_is_over = false;
		if (c->last_words_len < sizeof(c->last_words))
			c->last_words[c->last_words_len++] = text[i];
	}
}

bool child_hear(struct child *c)
{
	char text[4096];
	ssize_t n = 0;

	for (ssize_t heard = 0; heard < HEARD_MAX; heard += n) {
		n = recv(c->words_fd, text, sizeof(text), MSG_DONTWAIT);
		if (n <= 0)
			return n < 0 && (errno == EAGAIN || errno == EINTR);
		keep_last_line(c, text, (size_t)n);
	}
	return true;
}

void child_kill(struct child *c)
{
	if (c->pid > 0)
		kill(c->pid, SIGKILL);
}

static bool reaped(pid_t pid, int *exit_status)
{
	const pid_t found = waitpid(pid, exit_status, WNOHANG);

	return found == pid || (found < 0 && errno != EINTR);
}

bool child_exited(struct child *c)
{
	if (c->pid > 0 && reaped(c->pid, &c->exit_status))
		c->pid = 0;
	return c->pid == 0;
}

/* ---- children that were let go of ---- */

struct leaving {
	pid_t pid;
	gint64 kill_us; /* monotonic: when to kill it if it has not exited; 0: it was killed */
};

static GArray *leaving; /* NULL: there are none */

void child_release(struct child *c, unsigned patience_ms)
{
	struct leaving l = { .pid = c->pid };

	if (c->exit_fd >= 0)
		close(c->exit_fd);
	if (c->words_fd >= 0)
		close(c->words_fd);
	if (c->pid > 0 && !child_exited(c)) {
		l.kill_us = g_get_monotonic_time() + US_PER_MS * (gint64)patience_ms;
		if (!leaving)
			leaving = g_array_new(FALSE, FALSE, sizeof(struct leaving));
		g_array_append_val(leaving, l);
	}
	*c = (struct child){ .exit_fd = -1, .words_fd = -1 };
	children_reap();
}

unsigned children_reap(void)
{
	unsigned n = 0;

	for (guint i = leaving ? leaving->len : 0; i-- > 0;) {
		struct leaving *l = &g_array_index(leaving, struct leaving, i);
		int exit_status;

		if (l->kill_us && g_get_monotonic_time() >= l->kill_us) {
			kill(l->pid, SIGKILL);
			l->kill_us = 0;
		}
		if (reaped(l->pid, &exit_status))
			g_array_remove_index_fast(leaving, i);
		else
			n++;
	}
	if (n == 0)
		g_clear_pointer(&leaving, g_array_unref);
	return n;
}

void children_wait(unsigned limit_ms)
{
	const gint64 end_us = g_get_monotonic_time() + US_PER_MS * (gint64)limit_ms;

	while (children_reap() > 0 && g_get_monotonic_time() < end_us)
		g_usleep(NAP_US);
}
