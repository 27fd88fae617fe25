/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding recordings, reading them in workers, and workers that die, hang or lie. This program is its own worker: for
 * a source whose name starts with "fake:", it misbehaves as the name says.
 */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "event/payload.h"
#include "reader/emit.h"
#include "source/source.h"
#include "source/stamp.h"
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
		for (volatile unsigned n = 0;; n++)
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

static void free_spec(gpointer spec)
{
	source_spec_free(spec);
}

static GPtrArray *new_specs(void)
{
	return g_ptr_array_new_with_free_func(free_spec);
}

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

/* Reads until the worker counts as hung, then kills it; returns the CPU time used for that. */
static double end_when_hung(const char *how, unsigned limit_ms)
{
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
		if (source_hangs(s, limit_ms)) {
			ck_assert(now_s() - begin >= limit_ms * 1e-3);
			used = cpu_s(only_child());
			source_kill(s, "it hangs");
		}
		usleep(10000);
	}
	ck_assert_ptr_nonnull(strstr(error_text(), "it hangs"));
	source_stop(s);
	expect_no_children();
	source_spec_free(spec);
	return used;
}

/* A blocked worker, and one that uses CPU time for ever, for which the limit is far longer. */
START_TEST(test_hanging_workers)
{
	end_when_hung("hang", 200);
	ck_assert_double_ge(end_when_hung("spin", 50), 0.3);
}
END_TEST

/* A worker with a full ring does not hang, and is killed as fast as any other. */
START_TEST(test_full_ring_is_no_hang)
{
	struct source_spec *spec;
	struct source *s = start_fake("fill", &spec);
	const struct event *ev;
	const double begin = now_s();

	while (source_peek(s, &ev) == LT_AGAIN)
		usleep(1000);
	usleep(500000);
	ck_assert(!source_hangs(s, 300));
	source_stop(s);
	ck_assert(now_s() - begin < 5);
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
	for (unsigned i = 0; count_workers(name) > 0; i++) {
		ck_assert_uint_lt(i, 500);
		usleep(10000);
	}
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

/* ---- finding ---- */

static void write_text(const char *directory, const char *name, const char *text)
{
	char *path = g_build_filename(directory, name, NULL);

	ck_assert_int_eq(g_mkdir_with_parents(directory, 0700), 0);
	ck_assert(g_file_set_contents(path, text, -1, NULL));
	g_free(path);
}

static void write_trace(const char *root, const char *below, const char *uuid, const char *hostname)
{
	char *directory = g_build_filename(root, below, NULL);
	char *text = g_strdup_printf("/* CTF 1.8 */\ntrace {\n\tmajor = 1;\n\tuuid = \"%s\";\n};\n"
				     "env {\n\thostname = \"%s\";\n};\n",
				     uuid, hostname);

	write_text(directory, "metadata", text);
	write_text(directory, "ch_0", "x");
	g_free(text);
	g_free(directory);
}

static const struct source_spec *spec_of(const GPtrArray *specs, const char *hint, unsigned n_paths)
{
	for (guint i = 0; i < specs->len; i++) {
		const struct source_spec *spec = g_ptr_array_index(specs, i);

		if (strcmp(spec->host_hint, hint) == 0 && spec->paths->len == n_paths)
			return spec;
	}
	ck_abort_msg("no source '%s' of %u directories", hint, n_paths);
	return NULL;
}

static char *temporary_directory(void)
{
	char *directory = g_dir_make_tmp("lttngtop-check-XXXXXX", NULL);

	ck_assert_ptr_nonnull(directory);
	return directory;
}

static void remove_directory(char *directory)
{
	char *command = g_strdup_printf("chmod -R u+rwx '%s'; rm -rf '%s'", directory, directory);

	ck_assert_int_eq(system(command), 0);
	g_free(command);
	g_free(directory);
}

static void write_ctf2(const char *root, const char *below, const char *uid, const char *hostname)
{
	char *directory = g_build_filename(root, below, NULL);
	char *text = g_strdup_printf("\x1e{\"type\":\"preamble\",\"version\":2}\n\x1e{\"type\":\"trace-class\","
				     "\"uid\":\"%s\",\"environment\":{\"hostname\":\"%s\"}}\n",
				     uid, hostname);

	write_text(directory, "metadata", text);
	write_text(directory, "ch_0", "x");
	g_free(text);
	g_free(directory);
}

START_TEST(test_find_groups_ctf2)
{
	char *root = temporary_directory();
	GPtrArray *specs = new_specs();

	write_ctf2(root, "web/archives/20261120T142439+0000-20261120T142440+0000-0/kernel", "u1", "web");
	write_ctf2(root, "web/archives/20261120T142440+0000-20261120T142441+0000-1/kernel", "u1", "web");
	write_ctf2(root, "copy/kernel", "u1", "other");
	write_trace(root, "old/kernel", "u1", "web");
	ck_assert_int_eq(source_find(root, specs, NULL), LT_OK);
	/* A recording next to its converted copy: the same UUID, but two traces. */
	ck_assert_uint_eq(specs->len, 3);
	spec_of(specs, "web", 2);
	spec_of(specs, "copy", 1);
	spec_of(specs, "old", 1);
	g_ptr_array_free(specs, TRUE);
	remove_directory(root);
}
END_TEST

START_TEST(test_find_groups)
{
	char *root = temporary_directory(), *again;
	GPtrArray *specs = new_specs();
	unsigned left_out = 0;

	/* An archive of the same session elsewhere, a snapshot, another host with the same UUID, and user space. */
	write_trace(root, "web/archives/20261120T142439+0000-20261120T142440+0000-0/kernel", "u1", "web");
	write_trace(root, "web/archives/20261120T142440+0000-20261120T142441+0000-1/kernel", "u1", "web");
	write_trace(root, "web/archives/20261120T142441+0000-20261120T142442+0000-10/kernel", "u1", "web");
	write_trace(root, "db/snapshot-1-20261120-142157-0/kernel", "u2", "db");
	write_trace(root, "db/snapshot-1-20261120-142158-1/kernel", "u2", "db");
	write_trace(root, "copy/kernel", "u2", "other");
	write_trace(root, "db/ust/uid/0/64-bit", "u3", "db");
	write_trace(root, "sync/ctf/scp_src", "u4", "");
	ck_assert_int_eq(source_find(root, specs, &left_out), LT_OK);
	ck_assert_uint_eq(specs->len, 5);
	ck_assert_uint_eq(left_out, 0);
	ck_assert(g_str_has_suffix(spec_of(specs, "web", 3)->name, "/web/archives"));
	ck_assert(g_str_has_suffix(spec_of(specs, "db", 2)->name, "/db"));
	spec_of(specs, "copy", 1);
	ck_assert(g_str_has_suffix(spec_of(specs, "db", 1)->name, "/db/ust/uid/0/64-bit"));
	spec_of(specs, "scp_src", 1);
	ck_assert(g_str_has_suffix(g_ptr_array_index(spec_of(specs, "web", 3)->paths, 2), "-10/kernel"));

	/* A trace named twice is read once, even through a link. */
	ck_assert_int_eq(source_find(root, specs, NULL), LT_OK);
	ck_assert_uint_eq(specs->len, 5);
	again = g_build_filename(root, "link", NULL);
	ck_assert_int_eq(symlink("web", again), 0);
	ck_assert_int_eq(source_find(again, specs, NULL), LT_OK);
	ck_assert_uint_eq(specs->len, 5);
	spec_of(specs, "web", 3);
	g_free(again);

	/* Circular links do not cause endless loops. */
	again = g_build_filename(root, "web", "up", NULL);
	ck_assert_int_eq(symlink("..", again), 0);
	ck_assert_int_eq(source_find(root, specs, NULL), LT_OK);
	ck_assert_uint_eq(specs->len, 5);
	g_free(again);
	g_ptr_array_free(specs, TRUE);
	remove_directory(root);
}
END_TEST

START_TEST(test_find_nothing)
{
	char *root = temporary_directory(), *file = g_build_filename(root, "file", NULL);
	GPtrArray *specs = new_specs();

	ck_assert_int_eq(source_find("/nowhere/at/all", specs, NULL), LT_ERROR);
	ck_assert_ptr_nonnull(strstr(error_text(), "/nowhere/at/all"));
	ck_assert_int_eq(source_find(root, specs, NULL), LT_ERROR);
	ck_assert_ptr_nonnull(strstr(error_text(), "no trace"));
	write_text(root, "file", "x");
	ck_assert_int_eq(source_find(file, specs, NULL), LT_ERROR);
	ck_assert_uint_eq(specs->len, 0);
	g_ptr_array_free(specs, TRUE);
	g_free(file);
	remove_directory(root);
}
END_TEST

/* ---- real recordings ---- */

static char *recording(const char *name)
{
	const char *build = getenv("BUILD"), *shared = getenv("SHARED");
	char *path = build ? g_build_filename(build, "traces", name, NULL) : NULL;

	if (path && g_file_test(path, G_FILE_TEST_IS_DIR))
		return path;
	g_free(path);
	path = shared ? g_build_filename(shared, "conformance", name, "ctf", NULL) : NULL;
	if (path && g_file_test(path, G_FILE_TEST_IS_DIR))
		return path;
	g_free(path);
	return NULL;
}

/* The number of events according to babeltrace2; -1 if it cannot read the trace. */
static long count_by_babeltrace(const char *path)
{
	char *command = g_strdup_printf("babeltrace2 '%s' --component sink.utils.counter 2>/dev/null | "
					"awk '/Event messages/ {n = $1} END {print n + 0}'",
					path);
	FILE *pipe = popen(command, "r");
	long n = -1;

	g_free(command);
	if (pipe && fscanf(pipe, "%ld", &n) != 1)
		n = -1;
	if (pipe)
		pclose(pipe);
	return n;
}

struct totals {
	uint64_t events, switches, backward, disorder, contexts;
};

static void read_spec(const struct source_spec *spec, unsigned parts, struct totals *t)
{
	for (unsigned part = 0; part < parts; part++) {
		uint64_t last_ns = 0;
		const struct event *ev;
		enum lt_status status;
		struct source *s;

		ck_assert_int_eq(source_start(spec, part, parts, &s), LT_OK);
		while ((status = source_peek(s, &ev)) == LT_OK || status == LT_AGAIN) {
			struct pollfd pfd = { .fd = source_fd(s), .events = POLLIN };

			if (status == LT_AGAIN) {
				poll(&pfd, 1, 1000);
				continue;
			}
			t->backward += ev->kind == EVENT_BACKWARD;
			t->contexts += ev->kind == EVENT_CONTEXT;
			t->switches += ev->kind == EVENT_SCHED_SWITCH;
			if (ev->kind >= EVENT_OTHER) {
				t->events++;
				t->disorder += ev->ts_ns < last_ns;
				last_ns = ev->ts_ns;
			}
			source_next(s);
		}
		ck_assert_msg(status == LT_END, "%s", error_text());
		source_stop(s);
	}
	expect_no_children();
}

static void read_recording(const char *path, unsigned parts, struct totals *t)
{
	GPtrArray *specs = new_specs();

	*t = (struct totals){ 0 };
	ck_assert_int_eq(source_find(path, specs, NULL), LT_OK);
	for (guint i = 0; i < specs->len; i++)
		read_spec(g_ptr_array_index(specs, i), parts, t);
	g_ptr_array_free(specs, TRUE);
}

static const char *const recordings[] = { "three-tier", "kprobe",      "hotplug",        "containers",   "rotated",
					  "cpu_usage",  "io_analysis", "kernel_threads", "sched_latency" };

/* Every event gives one record, in time order, however many workers share the streams. */
START_TEST(test_counts_equal_babeltrace)
{
	unsigned read = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(recordings); i++) {
		char *path = recording(recordings[i]);
		struct totals one, two;

		if (!path)
			continue;
		read_recording(path, 1, &one);
		read_recording(path, 2, &two);
		ck_assert_uint_eq(one.events, (uint64_t)count_by_babeltrace(path));
		ck_assert_uint_eq(one.disorder + two.disorder, 0);
		ck_assert_uint_eq(one.events, two.events);
		ck_assert_uint_eq(one.switches, two.switches);
		read++;
		g_free(path);
	}
	if (read == 0)
		printf("skip test_counts_equal_babeltrace: no recordings\n");
}
END_TEST

/* A trace whose time goes back within a stream: babeltrace2 gives up, we count. */
START_TEST(test_backward_steps)
{
	char *path = recording("sync_scp");
	struct totals t;

	if (!path) {
		printf("skip test_backward_steps: no recording\n");
		return;
	}
	read_recording(path, 1, &t);
	ck_assert_uint_eq(t.disorder, 0);
	ck_assert_uint_gt(t.backward, 0);
	ck_assert_uint_gt(t.events, 100000);
	g_free(path);
}
END_TEST

static void read_damaged(const char *root, uint64_t *events, enum lt_status *status, uint64_t *notes)
{
	GPtrArray *specs = new_specs();
	const struct event *ev;
	struct source *s;

	*events = *notes = 0;
	ck_assert_int_eq(source_find(root, specs, NULL), LT_OK);
	ck_assert_uint_eq(specs->len, 1);
	ck_assert_int_eq(source_start(g_ptr_array_index(specs, 0), 0, 1, &s), LT_OK);
	while ((*status = source_peek(s, &ev)) == LT_OK || *status == LT_AGAIN) {
		struct pollfd pfd = { .fd = source_fd(s), .events = POLLIN };

		if (*status == LT_AGAIN) {
			poll(&pfd, 1, 1000);
			continue;
		}
		*events += ev->kind >= EVENT_OTHER;
		*notes += ev->kind == EVENT_NOTE;
		source_next(s);
	}
	source_stop(s);
	g_ptr_array_free(specs, TRUE);
	expect_no_children();
}

/*
 * A damaged stream is reported and does not affect others, nor do events missing from cut metadata. Empty files are
 * fine.
 */
START_TEST(test_damaged_files)
{
	char *path = recording("kprobe"), *root = temporary_directory(), *command, *file;
	uint64_t whole, events, notes;
	enum lt_status status;

	if (!path) {
		printf("skip test_damaged_files: no recording\n");
		remove_directory(root);
		return;
	}
	command = g_strdup_printf("cp -r '%s'/. '%s' && chmod -R u+w '%s'", path, root, root);
	ck_assert_int_eq(system(command), 0);
	read_damaged(root, &whole, &status, &notes);
	ck_assert_int_eq(status, LT_END);
	ck_assert_uint_eq(notes, 0);

	file = g_build_filename(root, "client", "kernel", "ch_0", NULL);
	ck_assert_int_eq(truncate(file, 100), 0);
	read_damaged(root, &events, &status, &notes);
	ck_assert_int_eq(status, LT_ERROR);
	ck_assert_uint_eq(notes, 1);
	ck_assert(events > 0 && events < whole);

	ck_assert_int_eq(truncate(file, 0), 0);
	read_damaged(root, &whole, &status, &notes);
	ck_assert_int_eq(status, LT_END);
	ck_assert_uint_eq(whole, events);
	g_free(file);

	file = g_build_filename(root, "client", "kernel", "metadata", NULL);
	ck_assert_int_eq(truncate(file, 50000), 0);
	read_damaged(root, &events, &status, &notes);
	ck_assert_int_eq(status, LT_ERROR);
	ck_assert_uint_gt(notes, 0);
	ck_assert(events > 0 && events < whole);
	g_free(file);
	g_free(command);
	g_free(path);
	remove_directory(root);
}
END_TEST

/* ---- its stamp, for the cache ---- */

static char *stamp_of(const char *directory)
{
	GPtrArray *specs = g_ptr_array_new_with_free_func((GDestroyNotify)source_spec_free);
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
	char *stamp;

	ck_assert_int_eq(source_find(directory, specs, NULL), LT_OK);
	for (guint i = 0; i < specs->len; i++)
		source_stamp(g_ptr_array_index(specs, i), sum);
	stamp = g_strdup(g_checksum_get_string(sum));
	g_checksum_free(sum);
	g_ptr_array_free(specs, TRUE);
	return stamp;
}

/* Metadata of any size takes neither memory nor time. */
START_TEST(test_stamp_of_huge_metadata)
{
	const char more[] = "/* more */";
	char *root = temporary_directory(), *first, *second, *path;
	struct rusage before, after;

	write_trace(root, "kernel", "2a6422d0-6cee-11e0-8c08-cb07d7b3a564", "web");
	first = stamp_of(root);
	path = g_build_filename(root, "kernel", "metadata", NULL);
	ck_assert(g_file_set_contents(path, more, sizeof(more) - 1, NULL));
	second = stamp_of(root);
	ck_assert_str_ne(first, second);
	ck_assert_int_eq(truncate(path, (off_t)4 << 30), 0);
	getrusage(RUSAGE_SELF, &before);
	g_free(first);
	first = stamp_of(root);
	getrusage(RUSAGE_SELF, &after);
	ck_assert_str_ne(first, second);
	ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 64 << 10);
	g_free(path);
	g_free(first);
	g_free(second);
	remove_directory(root);
}
END_TEST

int main(int argc, char **argv)
{
	static const TTest *tests[16];
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
	tests[n++] = test_find_groups;
	tests[n++] = test_find_groups_ctf2;
	tests[n++] = test_find_nothing;
	tests[n++] = test_counts_equal_babeltrace;
	tests[n++] = test_backward_steps;
	tests[n++] = test_damaged_files;
	tests[n++] = test_stamp_of_huge_metadata;
	return unit_run("source", NULL, NULL, tests, n);
}
