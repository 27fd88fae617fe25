/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing side-cars for this machine. */
#include "sidecars.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

#include "base/error.h"
#include "sidecar/collect.h"
#include "sidecar/stream.h"

START_TEST(test_this_machine)
{
	static const char *const objects[] = { "mounts", "disks", "users", "groups", "cgroups", "clock" };
	struct sidecar *sidecar = sidecar_create();
	const struct sidecar_process *p;
	char *cmdline = NULL;
	json_t *root;
	gsize len;

	ck_assert_int_eq(sidecar_update(dir, NULL), LT_OK);
	root = read_json();
	check_own(root);
	for (size_t i = 0; i < G_N_ELEMENTS(objects); i++)
		ck_assert_msg(json_is_object(json_object_get(root, objects[i])), "%s", objects[i]);
	/* the trace itself has the names of interfaces */
	ck_assert_ptr_null(json_object_get(root, "interfaces"));
	ck_assert_int_eq((int)json_array_size(json_object_get(root, "cpus")), (int)sysconf(_SC_NPROCESSORS_CONF));
	ck_assert(json_is_boolean(json_object_get(json_object_get(root, "clock"), "synchronised")));
	/* no kernel threads; in a container, PID 2 may be an ordinary process */
	if (g_file_get_contents("/proc/2/cmdline", &cmdline, &len, NULL) && len == 0)
		ck_assert_ptr_null(process_of(root, 2));
	g_free(cmdline);
	/* the reader accepts it */
	ck_assert_int_eq(sidecar_load(sidecar, path, text_of(root, "host")), LT_OK);
	p = sidecar_process(sidecar, getpid(), 0, ((uint64_t)time(NULL) + 1) * 1000000000);
	ck_assert_ptr_nonnull(p);
	ck_assert_int_eq(p->uid, getuid());
	sidecar_destroy(sidecar);
	json_decref(root);
}
END_TEST

static const char before[] =
	"{\"later\": [1], \"record\": {\"set\": \"full\"}, \"disks\": {\"999:0\": \"gone\"}, \"kernel\": \"old\","
	" \"processes\": [{\"pid\": 999999999, \"start_ns\": 5, \"exe\": \"/gone\", \"more\": 1}]}";

/* At the end: ended processes stay, running ones are added, and unknown fields are kept. */
START_TEST(test_update)
{
	json_t *root, *gone;

	ck_assert(g_file_set_contents(path, before, -1, NULL));
	ck_assert_int_eq(sidecar_update(dir, NULL), LT_OK);
	ck_assert_int_eq(sidecar_update(dir, NULL), LT_OK);
	root = read_json();
	check_own(root);
	gone = process_of(root, 999999999);
	ck_assert_str_eq(text_of(gone, "exe"), "/gone");
	ck_assert_int_eq(json_integer_value(json_object_get(gone, "more")), 1);
	ck_assert_str_eq(text_of(json_object_get(root, "disks"), "999:0"), "gone");
	ck_assert_str_eq(text_of(json_object_get(root, "record"), "set"), "full");
	ck_assert(json_is_array(json_object_get(root, "later")));
	json_decref(root);
	/* a broken one is replaced */
	ck_assert(g_file_set_contents(path, "{", -1, NULL));
	ck_assert_int_eq(sidecar_update(dir, NULL), LT_OK);
	root = read_json();
	check_own(root);
	json_decref(root);
}
END_TEST

/* Data from the recorder: the set, and a process that has not executed its program yet. */
START_TEST(test_about)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)"echo \033[1m\xff", NULL };
	const struct sidecar_about about = { .session = "s-1", .set = "waits", .pid = getpid(), .argv = argv };
	json_t *root;

	ck_assert_int_eq(sidecar_update(dir, &about), LT_OK);
	root = read_json();
	ck_assert_str_eq(text_of(process_of(root, getpid()), "cmdline"), "sh -c echo \\x1b[1m\\xff");
	ck_assert(g_str_has_suffix(text_of(process_of(root, getpid()), "exe"), "/sh"));
	ck_assert_str_eq(text_of(json_object_get(root, "record"), "set"), "waits");
	ck_assert_str_eq(text_of(json_object_get(root, "record"), "session"), "s-1");
	json_decref(root);
}
END_TEST

START_TEST(test_cannot_write)
{
	ck_assert_int_eq(sidecar_update("/proc/self/no/such", NULL), LT_ERROR);
	ck_assert_ptr_nonnull(strstr(error_text(), "/proc/self/no/such"));
	/* named once; the reason depends on who asks */
	ck_assert_int_eq(sidecar_update("/proc/self", NULL), LT_ERROR);
	ck_assert(g_str_has_prefix(error_text(), "cannot write '/proc/self/" SIDECAR_NAME "': "));
	ck_assert_msg(!strchr(strstr(error_text(), "': ") + 2, '/'), "%s", error_text());
}
END_TEST

enum { OTHER = 65534 };

/* The directory place/deep, a link to place, and paths to the directory with and without the link. */
struct places {
	char *place, *deep, *link, *behind_link, *file;
};

static struct places make_places(void)
{
	const struct places p = {
		.place = g_build_filename(dir, "place", NULL),
		.deep = g_build_filename(dir, "place", "deep", NULL),
		.link = g_build_filename(dir, "link", NULL),
		.behind_link = g_build_filename(dir, "link", "deep", NULL),
		.file = g_build_filename(dir, "place", "deep", SIDECAR_NAME, NULL),
	};

	ck_assert_int_eq(g_mkdir(p.place, 0700), 0);
	ck_assert_int_eq(g_mkdir(p.deep, 0700), 0);
	ck_assert_int_eq(symlink("place/../place", p.link), 0);
	return p;
}

static void remove_places(struct places *p)
{
	g_unlink(p->link);
	g_unlink(p->file);
	ck_assert_int_eq(g_rmdir(p->deep), 0);
	ck_assert_int_eq(g_rmdir(p->place), 0);
	g_free(p->place);
	g_free(p->deep);
	g_free(p->link);
	g_free(p->behind_link);
	g_free(p->file);
}

/* Where this user wants it, it is written: into another user's directory, and by way of anybody's link. */
START_TEST(test_named)
{
	struct places p = make_places();

	ck_assert_int_eq(sidecar_update(p.behind_link, NULL), LT_OK);
	ck_assert(g_file_test(p.file, G_FILE_TEST_IS_REGULAR));
	/* a file at the end of a link is not replaced, but the link */
	ck_assert_int_eq(symlink("kept", path), 0);
	ck_assert_int_eq(sidecar_update(dir, NULL), LT_OK);
	ck_assert(g_file_test(path, G_FILE_TEST_IS_REGULAR) && !g_file_test(path, G_FILE_TEST_IS_SYMLINK));
	if (geteuid() == 0) {
		ck_assert_int_eq(g_unlink(p.file), 0);
		ck_assert_int_eq(lchown(p.link, OTHER, (gid_t)-1), 0);
		ck_assert_int_eq(chown(p.deep, OTHER, (gid_t)-1), 0);
		ck_assert_int_eq(sidecar_update(p.behind_link, NULL), LT_OK);
		ck_assert(g_file_test(p.file, G_FILE_TEST_IS_REGULAR));
		/* which makes it one's own recording at its end */
		ck_assert_int_eq(sidecar_update_own(p.deep, NULL), LT_OK);
	}
	remove_places(&p);
}
END_TEST

static void check_refused(const char *directory)
{
	ck_assert_int_eq(sidecar_update_own(directory, NULL), LT_ERROR);
	ck_assert_msg(g_str_has_suffix(error_text(), "': it may be another user's recording"), "%s", error_text());
	error_clear();
}

/* A session of another user may lead root anywhere. */
START_TEST(test_not_named)
{
	struct places p = make_places();
	char *place_trace = g_build_filename(p.place, "kernel", NULL), *trace = g_build_filename(p.deep, "ust", NULL);
	char *behind_slash = g_strconcat(p.link, "/", NULL), *absent = g_build_filename(dir, "absent", NULL);

	ck_assert_int_eq(g_mkdir(place_trace, 0700), 0);
	ck_assert_int_eq(g_mkdir(trace, 0700), 0);
	ck_assert_int_eq(sidecar_update_own(p.behind_link, NULL), LT_OK);
	ck_assert(g_file_test(p.file, G_FILE_TEST_IS_REGULAR));
	ck_assert_int_eq(sidecar_update_own(absent, NULL), LT_ERROR);
	ck_assert(!g_file_test(absent, G_FILE_TEST_EXISTS));
	if (geteuid() != 0) {
		puts("skip other users: only root can make their files");
		goto out;
	}
	/* a link of his, in the middle and at the end */
	ck_assert_int_eq(lchown(p.link, OTHER, (gid_t)-1), 0);
	check_refused(p.behind_link);
	check_refused(p.link);
	check_refused(behind_slash);
	/* his directory with one's own recording, then with his, then with links to one's own */
	ck_assert_int_eq(chown(p.deep, OTHER, (gid_t)-1), 0);
	ck_assert_int_eq(sidecar_update_own(p.deep, NULL), LT_OK);
	ck_assert_int_eq(chown(trace, OTHER, (gid_t)-1), 0);
	ck_assert_int_eq(sidecar_update_own(p.deep, NULL), LT_OK);
	ck_assert_int_eq(chown(p.file, OTHER, (gid_t)-1), 0);
	check_refused(p.deep);
	ck_assert_int_eq(g_rmdir(trace), 0);
	ck_assert_int_eq(symlink("../kernel", trace), 0);
	check_refused(p.deep);
	ck_assert_int_eq(g_unlink(trace), 0);
	/* nor is any directory of one's own a recording */
	ck_assert_int_eq(chown(p.deep, 0, (gid_t)-1), 0);
	check_refused(p.deep);
	/* a link to itself */
	ck_assert_int_eq(g_unlink(p.link), 0);
	ck_assert_int_eq(symlink("link", p.link), 0);
	ck_assert_int_eq(sidecar_update_own(p.behind_link, NULL), LT_ERROR);
out:
	g_rmdir(trace);
	ck_assert_int_eq(g_rmdir(place_trace), 0);
	remove_places(&p);
	g_free(place_trace);
	g_free(trace);
	g_free(behind_slash);
	g_free(absent);
}
END_TEST

/* Its arguments appear a moment after it does: the descriptors that report them are closed before that. */
static pid_t start_sleeping(const char *seconds)
{
	char *const argv[] = { (char *)"sleep", (char *)seconds, NULL };
	char *file, *text = NULL;
	gsize n = 0;
	GPid pid;

	ck_assert(g_spawn_async(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
				&pid, NULL));
	file = g_strdup_printf("/proc/%d/cmdline", (int)pid);
	while (!n) {
		g_free(text);
		ck_assert(g_file_get_contents(file, &text, &n, NULL));
	}
	g_free(text);
	g_free(file);
	return pid;
}

static const struct sidecar_process *find(const struct sidecar *s, pid_t pid)
{
	return sidecar_process(s, pid, 0, ((uint64_t)time(NULL) + 1) * 1000000000);
}

/* The machine on which we run, again and again: new processes are found, ended ones stay. */
START_TEST(test_refresh)
{
	struct sidecar *s = sidecar_create();
	unsigned n;
	pid_t pid;

	sidecar_refresh(s);
	ck_assert_ptr_nonnull(sidecar_facts(s).kernel);
	ck_assert_ptr_nonnull(find(s, getpid()));
	ck_assert_str_eq(sidecar_user(s, 0), "root");
	pid = start_sleeping("86397");
	sidecar_refresh(s);
	ck_assert_str_eq(find(s, pid)->cmdline, "sleep 86397");
	n = sidecar_process_count(s);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 3; i++)
		sidecar_refresh(s);
	ck_assert_str_eq(find(s, pid)->cmdline, "sleep 86397");
	/* none twice; a machine has other processes, too */
	ck_assert_uint_lt(sidecar_process_count(s), n + 500);
	sidecar_forget_processes(s);
	sidecar_refresh(s);
	ck_assert_ptr_null(find(s, pid));
	ck_assert_ptr_nonnull(find(s, getpid()));
	sidecar_destroy(s);
}
END_TEST

START_TEST(test_own)
{
	char *boot_id = NULL, *pid_ns = g_file_read_link("/proc/self/ns/pid", NULL);

	ck_assert(g_file_get_contents("/proc/sys/kernel/random/boot_id", &boot_id, NULL, NULL));
	g_strchomp(boot_id);
	ck_assert_int_eq(sidecar_is_own(boot_id), g_strcmp0(pid_ns, "pid:[4026531836]") == 0);
	boot_id[0] = boot_id[0] == '0' ? '1' : '0';
	ck_assert(!sidecar_is_own(boot_id));
	ck_assert(!sidecar_is_own(""));
	g_free(pid_ns);
	g_free(boot_id);
}
END_TEST

/* ---- parts for events ---- */

static void collect_part(const char *text, void *parts)
{
	ck_assert_uint_le(strlen(text), SIDECAR_PART_BYTES);
	ck_assert_ptr_null(strchr(text, '\n'));
	g_ptr_array_add(parts, g_strdup(text));
}

/* All parts together have the data of the whole, in any order; data that fits into no part is left out. */
START_TEST(test_split)
{
	GPtrArray *parts = g_ptr_array_new_with_free_func(g_free);
	json_t *root = json_pack("{siss ss s{ss} s{sb} s[] s[]}", "schema", SIDECAR_SCHEMA, "host", "web", "kernel",
				 "6.1", "users", "0", "ro\"ot", "clock", "synchronised", 0, "cpus", "processes");
	struct sidecar *s = sidecar_create();
	char *text, large[SIDECAR_PART_BYTES + 1];

	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	for (int pid = 1; pid <= 500; pid++) {
		text = g_strdup_printf("/bin/\"%0*d", pid, pid);
		json_array_append_new(json_object_get(root, "processes"),
				      json_pack("{sisiss}", "pid", pid, "start_ns", 5, "exe", text));
		g_free(text);
	}
	json_array_append_new(json_object_get(root, "processes"),
			      json_pack("{sisiss}", "pid", 501, "start_ns", 5, "exe", large));
	sidecar_split(root, collect_part, parts);
	ck_assert_uint_gt(parts->len, 30);
	for (guint i = parts->len; i--;) {
		text = g_strconcat(SIDECAR_MESSAGE, (char *)g_ptr_array_index(parts, i), NULL);
		ck_assert(!sidecar_hear(s, text, strlen(text), "db"));
		ck_assert(sidecar_hear(s, text, strlen(text), "web"));
		g_free(text);
	}
	ck_assert_uint_eq(sidecar_process_count(s), 500);
	text = g_strdup_printf("/bin/\"%0*d", 499, 499);
	ck_assert_str_eq(sidecar_process(s, 499, 0, 5)->exe, text);
	ck_assert_str_eq(sidecar_user(s, 0), "ro\"ot");
	ck_assert_str_eq(sidecar_facts(s).kernel, "6.1");
	ck_assert_str_eq(sidecar_facts(s).clock, "not synchronised");
	g_free(text);
	sidecar_destroy(s);
	json_decref(root);
	g_ptr_array_free(parts, TRUE);
}
END_TEST

/* Starts at the two ends of all numbers are as far apart as can be, not 1 ns. */
START_TEST(test_merge_far_starts)
{
	json_t *newer = json_pack("{s:[{s:i,s:I}]}", "processes", "pid", 7, "start_ns", (json_int_t)INT64_MAX);
	json_t *older = json_pack("{s:[{s:i,s:I}]}", "processes", "pid", 7, "start_ns", (json_int_t)INT64_MIN);

	sidecar_merge(newer, older);
	ck_assert_uint_eq(json_array_size(json_object_get(newer, "processes")), 2);
	json_decref(newer);
	json_decref(older);
}
END_TEST

static void die(void)
{
	signal(SIGSEGV, SIG_DFL); /* Check or a sanitizer may have a handler */
	raise(SIGSEGV);
}

/* What ends the process that sends is named, not taken for a missing library. */
START_TEST(test_sender_that_dies)
{
	ck_assert_int_eq(pthread_atfork(NULL, NULL, die), 0);
	ck_assert_int_eq(sidecar_stream_once(), LT_ERROR);
	ck_assert_str_eq(error_text(), "the process that sends it died: signal 11 (Segmentation fault)");
}
END_TEST

UNIT_MAIN_AROUND("sidecar_write", setup, teardown, test_this_machine, test_update, test_about, test_cannot_write,
		 test_named, test_not_named, test_refresh, test_own, test_split, test_merge_far_starts,
		 test_sender_that_dies)
