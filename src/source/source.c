/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "source/live.h"
#include "source/ring.h"
#include "source/shadow.h"

enum {
	LAST_WORDS = 256,  /* of a worker's stderr, kept for the reason */
	FAREWELL_MS = 2000, /* a worker that said its last record has this long to exit by itself */
};

enum source_state { SOURCE_RUNS, SOURCE_ENDED, SOURCE_BROKEN };

struct source {
	const struct source_spec *spec;
	struct source_spec *own_spec; /* of source_start_list(), else NULL */
	struct ring_consumer ring;
	enum source_state state;
	pid_t pid;          /* 0: reaped */
	int exit_status;    /* of waitpid(), when reaped */
	int stderr_fd;      /* -1: closed */
	int epoll_fd;       /* data eventfd and stderr */
	char last_words[LAST_WORDS]; /* last line the worker wrote */
	size_t last_words_len;
	bool line_is_over;
	char *reason;       /* SOURCE_BROKEN: why */
	enum failed_cause cause;
	char *sentence;     /* why source_kill() was called, NULL */
};

static const char *worker_program;

void source_set_worker_program(const char *program)
{
	worker_program = program;
}

/* ---- starting ---- */

enum { CHILD_MEMORY = 3, CHILD_DATA = 4, CHILD_SPACE = 5 };

/* Between fork and exec: only functions that are safe there. Does not return. */
static void become_worker(const struct source *s, int stderr_fd, const char *program, char **argv, pid_t parent)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD, SIGWINCH, SIGTSTP, SIGQUIT };
	struct sigaction action = { .sa_handler = SIG_DFL };
	int null_fd, fds[3];
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	/* The terminal's keys are for the parent: it ends the worker when it has ended its own work. */
	setpgid(0, 0);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);

	/* First out of the way of the numbers they shall have. */
	fds[0] = fcntl(s->ring.fds.memory, F_DUPFD, 16);
	fds[1] = fcntl(s->ring.fds.data, F_DUPFD, 16);
	fds[2] = fcntl(s->ring.fds.space, F_DUPFD, 16);
	stderr_fd = fcntl(stderr_fd, F_DUPFD, 16);
	null_fd = open("/dev/null", O_RDWR);
	if (fds[0] < 0 || fds[1] < 0 || fds[2] < 0 || stderr_fd < 0 || null_fd < 0 || dup2(null_fd, 0) < 0 ||
	    dup2(null_fd, 1) < 0 || dup2(stderr_fd, 2) < 0 || dup2(fds[0], CHILD_MEMORY) < 0 ||
	    dup2(fds[1], CHILD_DATA) < 0 || dup2(fds[2], CHILD_SPACE) < 0)
		_exit(127);
	if (syscall(SYS_close_range, CHILD_SPACE + 1, ~0U, 0) < 0)
		for (int fd = CHILD_SPACE + 1; fd < 1024; fd++)
			close(fd);
	execv(program, argv);
	_exit(127);
}

/* job: WORKER_LIVE or WORKER_LIST for a spec with a URL, NULL for a recording. */
static char **make_arguments(const struct source_spec *spec, unsigned part, unsigned parts, const char *job)
{
	GPtrArray *argv = g_ptr_array_new();

	g_ptr_array_add(argv, g_strdup("lttngtop"));
	g_ptr_array_add(argv, g_strdup("--worker"));
	g_ptr_array_add(argv, g_strdup_printf("%d", CHILD_MEMORY));
	g_ptr_array_add(argv, g_strdup_printf("%d", CHILD_DATA));
	g_ptr_array_add(argv, g_strdup_printf("%d", CHILD_SPACE));
	if (job) {
		g_ptr_array_add(argv, g_strdup(job));
		g_ptr_array_add(argv, g_strdup(spec->url));
		g_ptr_array_add(argv, NULL);
		return (char **)g_ptr_array_free(argv, FALSE);
	}
	g_ptr_array_add(argv, g_strdup_printf("%u", part));
	g_ptr_array_add(argv, g_strdup_printf("%u", parts));
	g_ptr_array_add(argv, g_strdup(spec->name));
	g_ptr_array_add(argv, g_strdup_printf("%" PRIu64, spec->begin_ns));
	g_ptr_array_add(argv, g_strdup_printf("%" PRIu64, spec->end_ns));
	for (guint i = 0; i < spec->paths->len; i++)
		g_ptr_array_add(argv, g_strdup(g_ptr_array_index(spec->paths, i)));
	g_ptr_array_add(argv, NULL);
	return (char **)g_ptr_array_free(argv, FALSE);
}

static enum lt_status watch(struct source *s)
{
	struct epoll_event data = { .events = EPOLLIN, .data.u32 = 0 };
	struct epoll_event words = { .events = EPOLLIN, .data.u32 = 1 };

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0 || epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->ring.fds.data, &data) < 0 ||
	    epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->stderr_fd, &words) < 0)
		return error_set("cannot watch a worker: %s", strerror(errno));
	return LT_OK;
}

static enum lt_status spawn(struct source *s, unsigned part, unsigned parts, const char *job)
{
	const char *program = worker_program ? worker_program : "/proc/self/exe";
	char **argv = make_arguments(s->spec, part, parts, job);
	const pid_t parent = getpid();
	int pipe_fds[2];
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) < 0) {
		g_strfreev(argv);
		return error_set("cannot create a pipe: %s", strerror(errno));
	}
	/* Only the parent's end is non-blocking: the worker's words are few and shall not be lost. */
	fcntl(pipe_fds[1], F_SETFL, 0);
	s->stderr_fd = pipe_fds[0];
	pid = fork();
	if (pid == 0)
		become_worker(s, pipe_fds[1], program, argv, parent);
	close(pipe_fds[1]);
	g_strfreev(argv);
	if (pid < 0)
		return error_set("cannot start a worker: %s", strerror(errno));
	s->pid = pid;
	return LT_OK;
}

static enum lt_status start(struct source *s, const struct source_spec *spec, unsigned part, unsigned parts,
			    const char *job, struct source **out)
{
	s->spec = spec;
	s->stderr_fd = -1;
	s->epoll_fd = -1;
	s->ring.fds = (struct ring_fds){ -1, -1, -1 };
	if (ring_create(&s->ring, RING_CAPACITY) != LT_OK || spawn(s, part, parts, job) != LT_OK ||
	    watch(s) != LT_OK) {
		error_wrap("reading '%s'", spec->name);
		source_stop(s);
		return LT_ERROR;
	}
	*out = s;
	return LT_OK;
}

enum lt_status source_start(const struct source_spec *spec, unsigned part, unsigned parts, struct source **out)
{
	return start(g_new0(struct source, 1), spec, part, parts, spec->url ? WORKER_LIVE : NULL, out);
}

enum lt_status source_start_list(const char *relay, struct source **out)
{
	struct source *s = g_new0(struct source, 1);
	struct source_spec *spec = g_new0(struct source_spec, 1);

	spec->name = g_strdup(relay);
	spec->url = g_strdup(relay);
	spec->paths = g_ptr_array_new_with_free_func(g_free);
	spec->end_ns = UINT64_MAX;
	s->own_spec = spec;
	return start(s, spec, 0, 1, WORKER_LIST, out);
}

/* ---- ending ---- */

/* Waits up to ms (-1: for ever) for the worker to exit; true when it is reaped. */
static bool reap(struct source *s, int ms)
{
	const struct timespec nap = { 0, 1000000 };

	for (; s->pid > 0; ms -= ms > 0) {
		pid_t pid = waitpid(s->pid, &s->exit_status, ms < 0 ? 0 : WNOHANG);

		if (pid == s->pid || (pid < 0 && errno != EINTR)) {
			if (s->exit_status != 0)
				shadow_clean_up(s->pid);
			s->pid = 0;
		} else if (pid == 0 && ms == 0) {
			return false;
		} else if (pid == 0) {
			nanosleep(&nap, NULL);
		}
	}
	return true;
}

static void kill_worker(struct source *s)
{
	if (s->pid > 0)
		kill(s->pid, SIGKILL);
	reap(s, -1);
}

/* Keeps the last line of what the worker says; false when it closed its end. */
static bool hear_worker(struct source *s)
{
	char text[512];
	ssize_t n;

	while ((n = read(s->stderr_fd, text, sizeof(text))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (text[i] == '\n') {
				s->line_is_over = true;
				continue;
			}
			if (s->line_is_over)
				s->last_words_len = 0;
			s->line_is_over = false;
			if (s->last_words_len < sizeof(s->last_words))
				s->last_words[s->last_words_len++] = text[i];
		}
	}
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static enum lt_status broken(struct source *s)
{
	return error_set("%s", s->reason);
}

/* The source gives nothing any more; reason is taken over. */
static enum lt_status break_off(struct source *s, enum failed_cause cause, char *reason)
{
	kill_worker(s);
	s->state = SOURCE_BROKEN;
	s->cause = cause;
	s->reason = reason;
	return broken(s);
}

static enum lt_status report_death(struct source *s)
{
	char words[2 * LAST_WORDS], how[128];

	if (s->sentence)
		return break_off(s, FAILED_WORKER,
				 g_strdup_printf("worker for '%s' was ended: %s", s->spec->name, s->sentence));
	text_sanitise(words, sizeof(words), s->last_words, s->last_words_len);
	if (WIFSIGNALED(s->exit_status))
		g_snprintf(how, sizeof(how), "signal %d (%s)", WTERMSIG(s->exit_status),
			   strsignal(WTERMSIG(s->exit_status)));
	else
		g_snprintf(how, sizeof(how), "exit status %d", WEXITSTATUS(s->exit_status));
	return break_off(s, FAILED_WORKER, g_strdup_printf("worker for '%s' died: %s%s%s", s->spec->name, how,
							   *words ? ": " : "", words));
}

static enum lt_status report_failure(struct source *s, const struct event *ev)
{
	const struct ev_failed *failed = event_payload(ev, ev_failed);
	const enum failed_cause cause = failed->cause < FAILED_WORKER ? failed->cause : FAILED_OTHER;
	char reason[1024];

	text_sanitise(reason, sizeof(reason), event_text(ev, failed->text), failed->text.len);
	return break_off(s, cause, g_strdup_printf("reading '%s': %s", s->spec->name, reason));
}

/* The ring is empty: the worker may be busy, or gone. */
static enum lt_status check_worker(struct source *s)
{
	if (hear_worker(s))
		return LT_AGAIN;
	/* It closed its end of the pipe: it exits, or it does what no worker does. */
	kill_worker(s);
	ring_inherit(&s->ring);
	if (!ring_is_empty(&s->ring))
		return LT_OK;
	return report_death(s);
}

/* ---- reading ---- */

enum lt_status source_peek(struct source *s, const struct event **ev)
{
	const char *wrong = NULL;
	enum lt_status status;

	if (s->state == SOURCE_BROKEN)
		return broken(s);
	if (s->state == SOURCE_ENDED)
		return LT_END;
	while ((status = ring_peek(&s->ring, ev, &wrong)) == LT_AGAIN) {
		status = check_worker(s);
		if (status != LT_OK)
			return status;
	}
	if (status != LT_OK)
		return break_off(s, FAILED_WORKER,
				 g_strdup_printf("worker for '%s' wrote nonsense: %s", s->spec->name, wrong));
	if ((*ev)->kind == EVENT_FAILED)
		return report_failure(s, *ev);
	if ((*ev)->kind == EVENT_END) {
		s->state = SOURCE_ENDED;
		reap(s, 0);
		return LT_END;
	}
	return LT_OK;
}

enum failed_cause source_failed_cause(const struct source *s)
{
	return s->cause;
}

void source_next(struct source *s)
{
	ring_next(&s->ring);
}

int source_fd(const struct source *s)
{
	return s->epoll_fd;
}

const struct source_spec *source_spec(const struct source *s)
{
	return s->spec;
}

bool source_hangs(const struct source *s, unsigned limit_ms)
{
	struct timespec ts;
	uint64_t now_ns, beat_ns;

	if (s->state != SOURCE_RUNS || !ring_is_empty(&s->ring))
		return false;
	/* read once: the worker may beat at any time, also after now_ns was taken */
	beat_ns = ring_beat_ns(&s->ring);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	now_ns = (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
	return now_ns > beat_ns && now_ns - beat_ns > (uint64_t)limit_ms * 1000000;
}

void source_kill(struct source *s, const char *reason)
{
	if (s->state != SOURCE_RUNS)
		return;
	if (!s->sentence)
		s->sentence = g_strdup(reason);
	kill_worker(s);
}

bool source_exited(struct source *s)
{
	return reap(s, 0);
}

void source_stop(struct source *s)
{
	if (!s)
		return;
	if (s->state == SOURCE_ENDED)
		reap(s, FAREWELL_MS);
	kill_worker(s);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	if (s->stderr_fd >= 0)
		close(s->stderr_fd);
	ring_consumer_release(&s->ring);
	g_free(s->reason);
	g_free(s->sentence);
	source_spec_free(s->own_spec);
	g_free(s);
}
