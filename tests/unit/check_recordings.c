/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding recordings, and reading them in workers. This program is its own worker. */
#include "unit.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "sidecar/sidecar.h"
#include "source/source.h"
#include "source/stamp.h"
#include "worker/worker.h"

static void free_spec(gpointer spec)
{
	source_spec_free(spec);
}

static GPtrArray *new_specs(void)
{
	return g_ptr_array_new_with_free_func(free_spec);
}

/* The workers of stopped sources end, perhaps not immediately, without the caller waiting for them. */
static void expect_no_children(void)
{
	source_wait_for_workers();
	ck_assert_uint_eq(source_reap(), 0);
	ck_assert(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

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

/* Directories of numbers or with a short name are hosts unless LTTng gives such names. */
START_TEST(test_find_names)
{
	static const char *const hosts[] = { "1", "2", "T", "20261120", "uid", "-" };
	char *root = temporary_directory(), *session = g_build_filename(root, "web", NULL), *path, *sidecar;
	GPtrArray *specs = new_specs();

	for (size_t i = 0; i < G_N_ELEMENTS(hosts); i++) {
		path = g_build_filename("web", hosts[i], i % 2 ? "kernel" : "", NULL);
		write_trace(root, path, hosts[i], "");
		g_free(path);
	}
	write_trace(root, "db/ust/uid/1000/64-bit", "u1", "");
	write_trace(root, "mail/ust/pid/17", "u2", "");
	write_trace(root, "ftp/archives/20261120T142439-0500-20261120T142440-0500-10/kernel", "u3", "");
	write_trace(root, "dns/archives/20261120T142439+0000-0", "u4", "");
	ck_assert_int_eq(source_find(root, specs, NULL), LT_OK);
	for (size_t i = 0; i < G_N_ELEMENTS(hosts); i++)
		spec_of(specs, strcmp(hosts[i], "uid") != 0 ? hosts[i] : "web", 1);
	spec_of(specs, "db", 1);
	spec_of(specs, "mail", 1);
	spec_of(specs, "ftp", 1);
	spec_of(specs, "dns", 1);

	/* A side-car counts for the host whose directory contains it. */
	write_text(session, SIDECAR_NAME, "{}");
	path = g_build_filename(session, "2", "kernel", NULL);
	sidecar = source_sidecar_of(path);
	ck_assert_ptr_null(sidecar);
	g_free(path);
	path = g_build_filename(session, "uid", NULL);
	sidecar = source_sidecar_of(path);
	ck_assert_ptr_nonnull(sidecar);
	g_free(path);
	g_free(sidecar);
	g_free(session);
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
 * fine, unless their index lists packets.
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
	ck_assert_int_eq(status, LT_ERROR);
	ck_assert_uint_eq(notes, 1);
	ck_assert_uint_eq(whole, events);
	g_free(file);
	file = g_build_filename(root, "client", "kernel", "index", "ch_0.idx", NULL);
	ck_assert_int_eq(unlink(file), 0);
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
	static const TTest *tests[8];
	size_t n = 0;

	if (argc > 1 && strcmp(argv[1], "--worker") == 0)
		return worker_main(argc - 2, argv + 2);
	tests[n++] = test_find_groups;
	tests[n++] = test_find_groups_ctf2;
	tests[n++] = test_find_names;
	tests[n++] = test_find_nothing;
	tests[n++] = test_counts_equal_babeltrace;
	tests[n++] = test_backward_steps;
	tests[n++] = test_damaged_files;
	tests[n++] = test_stamp_of_huge_metadata;
	return unit_run("recordings", NULL, NULL, tests, n);
}
