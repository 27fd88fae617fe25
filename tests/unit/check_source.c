/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workers that die, hang or lie. This program is its own worker: for a source whose name starts with "fake:", it
 * misbehaves as the name says.
 */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "event/payload.h"
#include "reader/emit.h"
#include "source/source.h"
#include "worker/worker.h"

/* ---- fake workers ---- */

static int fake_worker(const char *how, struct ring_producer *ring)
{
	struct event *ev;

	if (!strcmp(how, "head")) {
		atomic_store(&ring->shared->head, UINT64_MAX);
		return 0;
	}
	emit_end(ring, emit_begin(ring, EVENT_READY, 0, 0));
	for (uint64_t ts = 1; ts <= 3; ts++)
		emit_end(ring, emit_begin(ring, EVENT_OTHER, ts, 0));
	ring_publish(ring);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "batch")) {
		/* dies while it writes a record, with complete ones before it not published yet */
		for (uint64_t ts = 4; ts <= 9; ts++)
			emit_end(ring, emit_begin(ring, EVENT_OTHER, ts, 0));
		emit_begin(ring, EVENT_OTHER, 10, 0);
		abort();
	}
	if (!strcmp(how, "words")) {
		fprintf(stderr, "first line\nthe last \x1b[31mwords");
		return 7;
	}
	if (!strcmp(how, "exit"))
		return 0;
	if (!strncmp(how, "hang", 4))
		pause();
	if (!strcmp(how, "deaf")) {
		/* Closes its end of the pipe and continues. */
		close(2);
		pause();
	}
	if (!strcmp(how, "spin"))
		for (G_GNUC_UNUSED volatile unsigned n = 0;; n++)
			;
	if (!strcmp(how, "chatter"))
		for (;;)
			fprintf(stderr, "and on and on\n");
	if (!strcmp(how, "blocks")) {
		/* the parent must not rely on this; then it neither reads nor writes */
		fcntl(ring->fds.wake, F_SETFL, fcntl(ring->fds.wake, F_GETFL) & ~O_NONBLOCK);
		fcntl(2, F_SETFL, fcntl(2, F_GETFL) & ~O_NONBLOCK);
		pause();
	}
	if (!strcmp(how, "fail"))
		emit_note(ring, EVENT_FAILED, 0, "half of it is\tmissing");
	if (!strcmp(how, "size")) {
		ev = emit_begin(ring, EVENT_OTHER, 4, 0);
		emit_end(ring, ev);
		ev->size = 12345678;
	}
	if (!strcmp(how, "fill"))
		for (;;)
			emit_end(ring, emit_begin(ring, EVENT_OTHER, 9, 0));
	if (!strcmp(how, "end")) {
		emit_end(ring, emit_begin(ring, EVENT_END, 0, 0));
		ring_publish(ring);
		pause();
	}
	ring_publish(ring);
	return 0;
}

static int run_worker(int argc, char **argv)
{
	struct ring_producer ring;

	if (argc < 8 || strncmp(argv[6], "fake:", 5) != 0)
		return worker_main(argc, argv);
	if (ring_producer_open(&ring, (struct ring_fds){ atoi(argv[0]), atoi(argv[1]) }) != LT_OK)
		return 9;
	return fake_worker(argv[6] + 5, &ring);
}

/* ---- helpers ---- */

static struct source *start_fake(const char *how, struct source_spec **spec)
{
	struct source *s;

	*spec = g_new0(struct source_spec, 1);
	(*spec)->name = g_strdup_printf("fake:%s", how);
	(*spec)->host_hint = g_strdup("fake");
	(*spec)->end_ns = UINT64_MAX;
	(*spec)->paths = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add((*spec)->paths, g_strdup("/nowhere"));
	ck_assert_int_eq(source_start(*spec, 0, 1, &s), LT_OK);
	return s;
}

/* Reads until something other than a record comes; returns the number of events. */
static uint64_t read_events(struct source *s, enum lt_status *status)
{
	const struct event *ev;
	uint64_t events = 0;

	for (;;) {
		struct pollfd pfd = { .fd = source_fd(s), .events = POLLIN };

		*status = source_peek(s, &ev);
		if (*status == LT_AGAIN) {
			if (poll(&pfd, 1, 20000) < 1)
				return events;
			continue;
		}
		if (*status != LT_OK)
			return events;
		events += ev->kind >= EVENT_OTHER;
		source_next(s);
	}
}

/* The workers of stopped sources end, perhaps not immediately, without the caller waiting for them. */
static void expect_no_children(void)
{
	source_wait_for_workers();
	ck_assert_uint_eq(source_reap(), 0);
	ck_assert(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

/* ---- misbehaving workers ---- */

static void expect_reason(const char *how, uint64_t events, const char *reason)
{
	struct source_spec *spec;
	struct source *s = start_fake(how, &spec);
	enum lt_status status;

	ck_assert_uint_eq(read_events(s, &status), events);
	ck_assert_int_eq(status, LT_ERROR);
	ck_assert_msg(strstr(error_text(), reason) != NULL, "%s: %s", how, error_text());
	ck_assert_msg(strstr(error_text(), spec->name) != NULL, "%s: %s", how, error_text());
	/* It stays broken. */
	ck_assert_uint_eq(read_events(s, &status), 0);
	ck_assert_int_eq(status, LT_ERROR);
	source_stop(s);
	expect_no_children();
	source_spec_free(spec);
}

START_TEST(test_dying_workers)
{
	expect_reason("abort", 3, "signal 6 (Aborted)");
	expect_reason("batch", 9, "signal 6 (Aborted)");
	expect_reason("words", 3, "exit status 7: the last \\x1b[31mwords");
	expect_reason("exit", 3, "exit status 0");
	expect_reason("fail", 3, "half of it is\\x09missing");
	expect_reason("deaf", 3, "signal 9");
}
END_TEST

START_TEST(test_lying_workers)
{
	expect_reason("size", 3, "nonsense: a record of impossible size");
	expect_reason("head", 0, "nonsense: an impossible fill level");
}
END_TEST

static double cpu_s(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	ck_assert_int_eq(clock_getcpuclockid(pid, &clock), 0);
	ck_assert_int_eq(clock_gettime(clock, &ts), 0);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

/* The only child: the worker of the only source. */
static pid_t only_child(void)
{
	char *path = g_strdup_printf("/proc/self/task/%d/children", (int)getpid()), *text = NULL;
	pid_t pid;

	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	pid = atoi(text);
	ck_assert_int_gt(pid, 0);
	g_free(text);
	g_free(path);
	return pid;
}

/* Reads until the worker counts as hung, then kills it, for that reason; returns the CPU time used for that. */
static double end_when_hung(const char *how, unsigned limit_ms, const char *reason)
{
	const char *hangs;
	struct source_spec *spec;
	struct source *s = start_fake(how, &spec);
	const struct event *ev;
	enum lt_status status;
	const double begin = now_s();
	double used = 0;

	while ((status = source_peek(s, &ev)) != LT_ERROR) {
		if (status == LT_OK) {
			source_next(s);
			continue;
		}
		hangs = source_hangs(s, limit_ms);
		if (hangs) {
			ck_assert(now_s() - begin >= limit_ms * 1e-3);
			used = cpu_s(only_child());
			source_kill(s, hangs);
		}
		usleep(10000);
	}
	ck_assert_ptr_nonnull(strstr(error_text(), reason));
	source_stop(s);
	expect_no_children();
	source_spec_free(spec);
	return used;
}

/* A blocked worker, and one that uses CPU time for ever, for which the limit is far longer. */
START_TEST(test_hanging_workers)
{
	end_when_hung("hang", 200, "no heartbeat for 0.2 s");
	ck_assert_double_ge(end_when_hung("spin", 50, "no progress in 0.3 s of CPU time"), 0.3);
}
END_TEST

/*
 * A worker whose events have not been read does not hang, whatever it does: it may be the parent that is late. It ends
 * as any other.
 */
START_TEST(test_full_ring_is_no_hang)
{
	struct source_spec *spec;
	struct source *s = start_fake("fill", &spec);
	const struct event *ev;

	while (source_peek(s, &ev) == LT_AGAIN)
		usleep(1000);
	ck_assert_int_eq(kill(only_child(), SIGSTOP), 0);
	for (unsigned i = 0; i < 100; i++) {
		ck_assert_ptr_null(source_hangs(s, 100));
		usleep(10000);
	}
	ck_assert_int_eq(kill(only_child(), SIGCONT), 0);
	source_stop(s);
	expect_no_children();
	source_spec_free(spec);
}
END_TEST

/* The parent must read, kill and let go without waiting, even if a worker tries to make it wait. */
static void expect_patience(const char *how)
{
	struct source_spec *spec;
	struct source *s = start_fake(how, &spec);
	const struct event *ev;
	enum lt_status status;
	unsigned events = 0;

	while ((status = source_peek(s, &ev)) == LT_AGAIN || events < 3) {
		ck_assert_int_ne(status, LT_ERROR);
		if (status == LT_OK) {
			events += ev->kind >= EVENT_OTHER;
			source_next(s);
		} else if (events == 3) {
			break;
		}
	}
	for (unsigned i = 0; i < 100; i++)
		ck_assert_int_eq(source_peek(s, &ev), LT_AGAIN);
	source_kill(s, "enough of it");
	while (source_peek(s, &ev) == LT_AGAIN)
		;
	ck_assert_ptr_nonnull(strstr(error_text(), "enough of it"));
	source_stop(s);
	expect_no_children();
	source_spec_free(spec);
}

START_TEST(test_workers_that_block)
{
	expect_patience("blocks");
	expect_patience("chatter");
}
END_TEST

/* A worker that does not die, as if stuck in the kernel: stopping it takes no time, and the others continue. */
START_TEST(test_stopping_takes_no_time)
{
	struct source_spec *spec;
	struct source *s = start_fake("end", &spec);
	enum lt_status status;

	ck_assert_uint_eq(read_events(s, &status), 3);
	ck_assert_int_eq(status, LT_END);
	source_stop(s);
	ck_assert_uint_eq(source_reap(), 1); /* it pauses for ever, and is given 2 s */
	expect_no_children();
	source_spec_free(spec);
}
END_TEST

/* The number of workers that run for that source. */
static unsigned count_workers(const char *name)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	unsigned n = 0;

	while ((entry = readdir(dir)) != NULL) {
		char *path = g_strdup_printf("/proc/%s/cmdline", entry->d_name), *text = NULL;
		gsize len = 0;

		if (*entry->d_name >= '0' && *entry->d_name <= '9' && g_file_get_contents(path, &text, &len, NULL))
			n += memmem(text, len, name, strlen(name)) != NULL;
		g_free(text);
		g_free(path);
	}
	closedir(dir);
	return n;
}

/* A parent that dies takes its workers with it. */
START_TEST(test_no_orphans)
{
	struct source_spec *spec;
	char *name = g_strdup_printf("hang-below-%d", (int)getpid());
	pid_t pid = fork();

	if (pid == 0) {
		const struct event *ev;
		struct source *s = start_fake(name, &spec);

		while (source_peek(s, &ev) == LT_AGAIN)
			usleep(1000);
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	while (count_workers(name) > 0) /* if they stay, Check ends the test */
		usleep(10000);
	g_free(name);
}
END_TEST

START_TEST(test_program_that_is_none)
{
	struct source_spec *spec;
	struct source *s;
	enum lt_status status;

	source_set_worker_program("/nowhere/lttngtop");
	s = start_fake("abort", &spec);
	source_set_worker_program(NULL);
	ck_assert_uint_eq(read_events(s, &status), 0);
	ck_assert_int_eq(status, LT_ERROR);
	ck_assert_ptr_nonnull(strstr(error_text(), "exit status 127"));
	source_stop(s);
	source_spec_free(spec);
}
END_TEST

int main(int argc, char **argv)
{
	static const TTest *tests[8];
	size_t n = 0;

	if (argc > 1 && strcmp(argv[1], "--worker") == 0)
		return run_worker(argc - 2, argv + 2);
	tests[n++] = test_dying_workers;
	tests[n++] = test_lying_workers;
	tests[n++] = test_hanging_workers;
	tests[n++] = test_full_ring_is_no_hang;
	tests[n++] = test_workers_that_block;
	tests[n++] = test_stopping_takes_no_time;
	tests[n++] = test_no_orphans;
	tests[n++] = test_program_that_is_none;
	return unit_run("source", NULL, NULL, tests, n);
}
