/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing side-cars: for this machine, and for one that only a shell has looked at. */
#include "unit.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <jansson.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "sidecar/collect.h"
#include "sidecar/sidecar.h"
#include "sidecar/stream.h"
#include "sidecar/write.h"

static char *dir, *path, *listing;

static void setup(void)
{
	dir = g_dir_make_tmp("sidecar-XXXXXX", NULL);
	ck_assert_ptr_nonnull(dir);
	path = g_build_filename(dir, SIDECAR_NAME, NULL);
	listing = g_build_filename(dir, SIDECAR_LISTING, NULL);
}

static void teardown(void)
{
	g_unlink(path);
	g_unlink(listing);
	ck_assert_int_eq(g_rmdir(dir), 0); /* no other file was left there */
	g_free(path);
	g_free(listing);
	g_free(dir);
}

static json_t *read_json(void)
{
	json_t *root = json_load_file(path, 0, NULL);

	ck_assert_ptr_nonnull(root);
	return root;
}

/* The only process with that PID. */
static json_t *process_of(const json_t *root, int64_t pid)
{
	json_t *process, *found = NULL;
	size_t i;

	json_array_foreach(json_object_get(root, "processes"), i, process) {
		if (json_integer_value(json_object_get(process, "pid")) != pid)
			continue;
		ck_assert_ptr_null(found);
		found = process;
	}
	return found;
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	ck_assert_msg(text != NULL, "no '%s'", key);
	return text;
}

/* The start of this process, from its own /proc and the boot time in whole seconds. */
static int64_t start_s(void)
{
	char *stat = NULL, *text = NULL, *behind, **words;
	int64_t boot_s, ticks;

	ck_assert(g_file_get_contents("/proc/self/stat", &stat, NULL, NULL));
	behind = strrchr(stat, ')') + 2;
	words = g_strsplit(behind, " ", -1);
	ticks = g_ascii_strtoll(words[19], NULL, 10);
	ck_assert(g_file_get_contents("/proc/stat", &text, NULL, NULL));
	boot_s = g_ascii_strtoll(strstr(text, "\nbtime ") + 7, NULL, 10);
	g_strfreev(words);
	g_free(stat);
	g_free(text);
	return boot_s + ticks / sysconf(_SC_CLK_TCK);
}

/* The data about this very process, whoever collected it. */
static void check_own(const json_t *root)
{
	const json_t *own = process_of(root, getpid());
	char key[32], *exe = g_file_read_link("/proc/self/exe", NULL), *cmdline = NULL;
	const struct passwd *user = getpwuid(getuid());
	struct utsname uts;
	gsize len;

	ck_assert_int_eq(uname(&uts), 0);
	ck_assert_str_eq(text_of(root, "kernel"), uts.release);
	ck_assert_str_eq(text_of(root, "host"), uts.nodename);
	ck_assert_uint_eq(strlen(text_of(root, "boot_id")), 36);
	ck_assert_int_eq(json_integer_value(json_object_get(root, "schema")), SIDECAR_SCHEMA);
	ck_assert_ptr_nonnull(own);
	ck_assert_int_eq(json_integer_value(json_object_get(own, "uid")), getuid());
	ck_assert_str_eq(text_of(own, "exe"), exe);
	ck_assert(g_file_get_contents("/proc/self/cmdline", &cmdline, &len, NULL));
	for (gsize i = 0; i + 1 < len; i++)
		cmdline[i] = cmdline[i] ? cmdline[i] : ' ';
	ck_assert_str_eq(text_of(own, "cmdline"), cmdline);
	ck_assert_int_le(llabs(json_integer_value(json_object_get(own, "start_ns")) / 1000000000 - start_s()), 2);
	g_snprintf(key, sizeof(key), "%u", (unsigned)getuid());
	if (user)
		ck_assert_str_eq(text_of(json_object_get(root, "users"), key), user->pw_name);
	g_free(exe);
	g_free(cmdline);
}

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

/* ---- listings ---- */

/* commands: the directory of all commands that it finds; NULL: as here. */
static char *run_script(const char *const *symbols, const char *commands)
{
	char *script = sidecar_script(symbols);
	char *const argv[] = { (char *)"sh", (char *)"-c", script, NULL };
	char *sh = g_build_filename(commands ? commands : "/bin", "sh", NULL), *out = NULL, *err = NULL;
	char **environment = g_get_environ(), *const files[] = { sh, argv[0], argv[1], argv[2], NULL };
	int status;

	if (commands)
		environment = g_environ_setenv(environment, "PATH", commands, TRUE);
	ck_assert(g_spawn_sync(NULL, (char **)files, environment, G_SPAWN_FILE_AND_ARGV_ZERO, NULL, NULL, &out, &err,
			       &status, NULL));
	g_strfreev(environment);
	g_free(sh);
	ck_assert(WIFEXITED(status) && !WEXITSTATUS(status));
	ck_assert_str_eq(err, "");
	g_free(err);
	g_free(script);
	return out;
}

static json_t *convert(const char *text)
{
	ck_assert(g_file_set_contents(listing, text, -1, NULL));
	ck_assert_int_eq(sidecar_convert(dir), LT_OK);
	ck_assert(!g_file_test(listing, G_FILE_TEST_EXISTS));
	return read_json();
}

/* A shell sees the same machine. */
START_TEST(test_script)
{
	static const char *const symbols[] = { "schedule", "no';such", NULL };
	static const char *const same[] = { "mounts", "cpus", "symbols" };
	const struct sidecar_about about = { .symbols = symbols };
	char *text = run_script(symbols, NULL);
	json_t *root = convert(text), *direct;

	check_own(root);
	g_unlink(path);
	ck_assert_int_eq(sidecar_update(dir, &about), LT_OK);
	direct = read_json();
	for (size_t i = 0; i < G_N_ELEMENTS(same); i++)
		ck_assert_msg(json_equal(json_object_get(root, same[i]), json_object_get(direct, same[i])), "%s",
			      same[i]);
	ck_assert_uint_eq(json_array_size(json_object_get(root, "cpus")), (size_t)sysconf(_SC_NPROCESSORS_CONF));
	ck_assert_str_eq(json_string_value(json_object_get(process_of(root, getpid()), "cgroup")) ?: "",
			 json_string_value(json_object_get(process_of(direct, getpid()), "cgroup")) ?: "");
	json_decref(root);
	json_decref(direct);
	g_free(text);
}
END_TEST

/* A process may have any name, which is a part of what a shell reads about it. */
START_TEST(test_odd_names)
{
	static const char *const names[] = { "a\nb", "\n", "a) S 1\n", ")\n(\n)" };

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		char *text;
		json_t *root;

		ck_assert_int_eq(prctl(PR_SET_NAME, names[i]), 0);
		text = run_script(NULL, NULL);
		root = convert(text);
		check_own(root);
		json_decref(root);
		g_free(text);
	}
}
END_TEST

/* Half of the time between the readings of the only line "now", and two ticks of 1/100 s. */
static int64_t precision_of(const char *text)
{
	const char *line = strstr(text, "\nnow ");
	double before_s, after_s, second;

	ck_assert(line && !strstr(line + 1, "\nnow "));
	ck_assert_int_eq(sscanf(line, "\nnow %lf %lf %lf 100\n", &before_s, &second, &after_s), 3);
	ck_assert_double_ge(after_s, before_s);
	return (int64_t)((after_s - before_s) / 2 * 1e9) + 2 * 10000000;
}

/*
 * So do busybox's shell and commands, without getconf; its date has no fractions of seconds. If that takes long, less
 * is known of when the machine booted, but nothing wrong.
 */
static void check_busybox(bool slowly)
{
	static const char *const commands[] = { "sh",       "date", "cat", "grep",  "head",
						"readlink", "sed",  "tr",  "uname", "sleep" };
	char *busybox = g_find_program_in_path("busybox"), *bin = g_build_filename(dir, "bin", NULL), *text;
	char *date = g_build_filename(bin, "date", NULL), *slow_date;
	json_t *root, *direct;
	int64_t start, expected;

	if (!busybox) {
		puts("skip busybox: not installed");
		goto out;
	}
	ck_assert_int_eq(g_mkdir(bin, 0700), 0);
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
		char *link = g_build_filename(bin, commands[i], NULL);

		ck_assert_int_eq(symlink(busybox, link), 0);
		g_free(link);
	}
	if (slowly) {
		slow_date = g_strdup_printf("#!%s sh\n%s date \"$@\"\nexec %s sleep 0.3\n", busybox, busybox, busybox);
		g_unlink(date);
		ck_assert(g_file_set_contents(date, slow_date, -1, NULL));
		ck_assert_int_eq(g_chmod(date, 0700), 0);
		g_free(slow_date);
	}
	text = run_script(NULL, bin);
	root = convert(text);
	check_own(root);
	g_unlink(path);
	ck_assert_int_eq(sidecar_update(dir, NULL), LT_OK);
	direct = read_json();
	start = json_integer_value(json_object_get(process_of(root, getpid()), "start_ns"));
	expected = json_integer_value(json_object_get(process_of(direct, getpid()), "start_ns"));
	ck_assert_int_le(llabs(start - expected), precision_of(text));
	ck_assert_str_eq(json_string_value(json_object_get(process_of(root, getpid()), "cgroup")) ?: "",
			 json_string_value(json_object_get(process_of(direct, getpid()), "cgroup")) ?: "");
	ck_assert(json_equal(json_object_get(root, "cgroups"), json_object_get(direct, "cgroups")));
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
		char *link = g_build_filename(bin, commands[i], NULL);

		g_unlink(link);
		g_free(link);
	}
	ck_assert_int_eq(g_rmdir(bin), 0);
	json_decref(root);
	json_decref(direct);
	g_free(text);
out:
	g_free(busybox);
	g_free(date);
	g_free(bin);
}

START_TEST(test_busybox)
{
	check_busybox(false);
}
END_TEST

START_TEST(test_slow_busybox)
{
	check_busybox(true);
}
END_TEST

/* From mountinfo, only network file systems and the mounts within them, without escapes. */
START_TEST(test_mounts)
{
	static const char *const lines[] = {
		"21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n",
		"30 21 0:40 / /srv/a\\040b rw,relatime shared:9 master:2 - cifs //10.0.0.1/the\\040share rw\n",
		"31 30 0:41 / /srv/a\\040b/tmp rw - tmpfs tmpfs rw\n",
		"32 21 0:42 / /srv/a\\040bc rw - tmpfs tmpfs rw\n",
		"33 21 0:43 / /home rw - nfs4 db:/home rw,vers=4.2\n",
		"34 21 0:44 / /x rw - nfs4\n",
		"35 21 0:45 / /y\n",
		" - nfs4 a:/b",
		"",
	};
	GString *text = g_string_new("listing\nhost web\n");
	json_t *mounts = json_object(), *root;

	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
		sidecar_put_mount(mounts, lines[i]);
		g_string_append_printf(text, "mount %s%s", lines[i], g_str_has_suffix(lines[i], "\n") ? "" : "\n");
	}
	ck_assert_uint_eq(json_object_size(mounts), 3);
	ck_assert_str_eq(text_of(mounts, "/srv/a b"), "cifs //10.0.0.1/the share");
	ck_assert_str_eq(text_of(mounts, "/srv/a b/tmp"), "tmpfs tmpfs");
	ck_assert_str_eq(text_of(mounts, "/home"), "nfs4 db:/home");
	/* the same, as seen by a shell */
	root = convert(text->str);
	ck_assert(json_equal(json_object_get(root, "mounts"), mounts));
	json_decref(root);
	json_decref(mounts);
	g_string_free(text, TRUE);
}
END_TEST

#define NOW "now 100.25 1700000100.25 100.25 100\n"
#define BOOT INT64_C(1700000000000000000)

/* Two listings: processes and names come from both, changing data from the later one. */
START_TEST(test_two_listings)
{
	json_t *root = convert("listing\nhost web\nkernel 6.1\n" NOW "disk 8:0 sda\npasswd eva:x:1000:1000::/:/bin/sh\n"
			       "process 7 150 1000\nexe /bin/sh\ncmdline sh -c make\ncgroup /\ncgroup /a.slice\n"
			       "process 8 160 0\nexe /bin/gone\n"
			       "listing\nsynchronised no\n" NOW "process 7 150 1000 100\nexe /usr/bin/make\n");

	ck_assert_str_eq(text_of(root, "host"), "web");
	ck_assert_str_eq(text_of(json_object_get(root, "users"), "1000"), "eva");
	ck_assert_str_eq(text_of(process_of(root, 7), "exe"), "/usr/bin/make");
	ck_assert_str_eq(text_of(process_of(root, 8), "exe"), "/bin/gone");
	ck_assert_int_eq(json_integer_value(json_object_get(process_of(root, 7), "gid")), 100);
	ck_assert_int_eq(json_integer_value(json_object_get(process_of(root, 7), "start_ns")), BOOT + 1500000000);
	ck_assert(json_is_false(json_object_get(json_object_get(root, "clock"), "synchronised")));
	json_decref(root);
}
END_TEST

/* A shell may be delayed between reading two clocks: the pair read closest together counts. */
START_TEST(test_closest_look)
{
	json_t *root = convert("listing\nnow 100.00 1700000109.00 110.00 100\nnow 110.00 1700000110.25 110.50 100\n"
			       "now 111.00 1700000111.00 112.00 100\nprocess 7 150\n");

	ck_assert_int_eq(json_integer_value(json_object_get(process_of(root, 7), "start_ns")), BOOT + 1500000000);
	json_decref(root);
}
END_TEST

/* Places of CPUs, the cgroup of a container's first process, and addresses if the kernel does not hide them. */
START_TEST(test_places)
{
	json_t *root = convert("listing\n" NOW "cpu 0 0 0\ncpu 1 - -\ncpu x 1 1\ncpu\n"
			       "symbol ffffffff81000010 T do_sys_open\nsymbol ffffffffc0000000 t probe\t[mod]\n"
			       "symbol 0000000000000000 T hidden\nsymbol x T wrong\nsymbol 1\n"
			       "symbol 10 T \033[1m\n"
			       "process 7 150\nnamespaces pid:[4026532001]\n"
			       "process 8 150\ncgroup /a\nnamespaces pid:[4026531836] cgroup:[4026531835]\n"
			       "process 9 150\ncgroup /lxc/web\nnamespaces pid:[4026532001] cgroup:[4026532002] x:[\n"
			       "process 10 150\ncgroup /lxc/web/x.service\nnamespaces pid:[4026532001]\n");
	json_t *wanted =
		json_pack("{s[{sisisi}{si}]s{ssssss}s{ssss}}", "cpus", "cpu", 0, "package", 0, "core", 0, "cpu", 1,
			  "symbols", "do_sys_open", "0xffffffff81000010", "probe", "0xffffffffc0000000", "\\x1b[1m",
			  "0x10", "cgroups", "4026532001", "/lxc/web", "4026532002", "/lxc/web");
	const char *key;
	json_t *value;

	json_object_foreach(wanted, key, value)
		ck_assert_msg(json_equal(json_object_get(root, key), value), "%s", key);
	json_decref(wanted);
	json_decref(root);
}
END_TEST

/* Bytes from another machine. */
START_TEST(test_hostile_listing)
{
	GString *text = g_string_new("host \033[2J\xff\nprocess 1 1 1\nexe /no/clock/yet\n" NOW
				     "process -1 5 0\nprocess 99999999999 5 0\nprocess 5\n"
				     "process 6 99999999999999999999 0\n"
				     "process 7 9223372036854775807 0\nexe /none\ndisk\ndisk 8:0\npasswd :::\n"
				     "passwd a:x:-1:\npasswd a:x:99999999999:\ngroup\n\n \nlisting \nlistings\n"
				     "process 9 1 0\ncmdline ");
	json_t *root;

	for (int i = 0; i < 100000; i++)
		g_string_append_c(text, '\033');
	root = convert(text->str);
	ck_assert_str_eq(text_of(root, "host"), "\\x1b[2J\\xff");
	ck_assert_uint_eq(json_array_size(json_object_get(root, "processes")), 1);
	ck_assert_uint_le(strlen(text_of(process_of(root, 9), "cmdline")), 4095);
	ck_assert_uint_eq(json_object_size(json_object_get(root, "disks")), 0);
	ck_assert_uint_eq(json_object_size(json_object_get(root, "users")), 0);
	json_decref(root);
	/* only separators */
	g_string_truncate(text, 0);
	for (int i = 0; i < 1000; i++)
		g_string_append(text, "listing\n");
	json_decref(convert(text->str));
	json_decref(convert(""));
	g_string_free(text, TRUE);
}
END_TEST

START_TEST(test_no_listing)
{
	ck_assert_int_eq(sidecar_convert(dir), LT_OK);
	ck_assert(!g_file_test(path, G_FILE_TEST_EXISTS));
	/* nor may another file be read in its place */
	ck_assert_int_eq(symlink("/etc/passwd", listing), 0);
	ck_assert_int_eq(sidecar_convert(dir), LT_ERROR);
	ck_assert(!g_file_test(path, G_FILE_TEST_EXISTS));
}
END_TEST

/* ---- a shell's messages ---- */

/* Runs the kernel's script, then the commands, with messages sent to a file; returns these as lines. */
static char **say(const char *commands)
{
	char *out = g_build_filename(dir, "said", NULL), *text;
	char *script = sidecar_stream_script(NULL, true), **parts = g_strsplit(script, "/proc/lttng-logger", -1);
	char *elsewhere = g_strjoinv(out, parts), *all = g_strconcat(elsewhere, commands, NULL), **lines;
	char *const argv[] = { (char *)"sh", (char *)"-c", all, NULL };
	char *err = NULL;
	int status;

	ck_assert_uint_eq(g_strv_length(parts), 3);
	ck_assert(g_file_set_contents(out, "", 0, NULL));
	ck_assert(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL,
			       NULL, &err, &status, NULL));
	ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "%s", err);
	ck_assert(g_file_get_contents(out, &text, NULL, NULL));
	lines = g_strsplit(g_strchomp(text), "\n", -1);
	g_unlink(out);
	g_free(text);
	g_free(err);
	g_free(all);
	g_free(elsewhere);
	g_strfreev(parts);
	g_free(script);
	g_free(out);
	return lines;
}

/* The first line, starting at `from`, with the command line of a process; the number of lines: there is none. */
static guint find_cmdline(char **lines, guint from, const char *cmdline)
{
	char *wanted = g_strconcat("\tcmdline ", cmdline, NULL);
	guint i = from;

	while (lines[i] && !strstr(lines[i], wanted))
		i++;
	g_free(wanted);
	return i;
}

static guint find_line(char **lines, guint from, const char *wanted)
{
	while (lines[from] && strcmp(lines[from], wanted) != 0)
		from++;
	return from;
}

/* First everything is sent, then only new data, a process again after it executed another program, then everything. */
START_TEST(test_shell_messages)
{
	char **lines = say("sleep 86391 & one=$!\n"
			   "tell all\ntell news\necho settled >&3\n"
			   "sleep 86392 & two=$!\n"
			   "sh -c 'sleep 0.2; exec sleep 86393' & three=$!\n"
			   "tell news\nsleep 0.6\ntell news\ntell news\necho again >&3\n"
			   "tell all\nkill $one $two $three\n");
	const guint n = g_strv_length(lines), settled = find_line(lines, 0, "settled");
	const guint again = find_line(lines, settled, "again");
	char *own = NULL, *self = g_strdup_printf("\tprocess %d ", (int)getpid());
	char *exe = g_file_read_link("/proc/self/exe", NULL);
	struct sidecar *s = sidecar_create();
	struct utsname uts;

	ck_assert_uint_lt(again, n);
	ck_assert_uint_lt(find_cmdline(lines, 0, "sleep 86391"), settled);
	ck_assert_uint_ge(find_cmdline(lines, settled, "sleep 86391"), again);
	ck_assert_uint_lt(find_cmdline(lines, again, "sleep 86391"), n);
	ck_assert_uint_lt(find_cmdline(lines, settled, "sleep 86392"), again);
	ck_assert_uint_lt(find_cmdline(lines, settled, "sleep 86393"), again);
	ck_assert_uint_lt(find_cmdline(lines, again, "sleep 86393"), n);
	for (guint i = 0; i < n; i++) {
		ck_assert_uint_le(strlen(lines[i]) + 1, 1024); /* the limit at which the kernel cuts it */
		if (i != settled && i != again)
			ck_assert_msg(sidecar_hear(s, lines[i], strlen(lines[i]), g_get_host_name()), "%s", lines[i]);
		own = strstr(lines[i], self) ? lines[i] : own;
	}
	ck_assert_ptr_nonnull(own);
	ck_assert_int_eq(uname(&uts), 0);
	ck_assert_str_eq(sidecar_facts(s).kernel, uts.release);
	ck_assert_str_eq(sidecar_user(s, 0), "root");
	ck_assert_ptr_nonnull(sidecar_facts(s).cpus);
	ck_assert_str_eq(sidecar_process(s, getpid(), 0, UINT64_MAX)->exe, exe);
	sidecar_destroy(s);
	g_free(exe);
	g_free(self);
	g_strfreev(lines);
}
END_TEST

/* Without the kernel's file nothing is sent and nothing fails; later commands run. */
START_TEST(test_shell_silent)
{
	char *script = sidecar_stream_script(NULL, true);
	char *all = g_strconcat(script, "tell all && tell news && echo done", NULL), *out = NULL;
	char *const argv[] = { (char *)"sh", (char *)"-c", all, NULL };

	if (g_file_test("/proc/lttng-logger", G_FILE_TEST_EXISTS))
		goto out; /* another tracer's */
	ck_assert(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
			       &out, NULL, NULL, NULL));
	ck_assert_str_eq(out, "done\n");
out:
	g_free(out);
	g_free(all);
	g_free(script);
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

UNIT_MAIN_AROUND("sidecar_write", setup, teardown, test_this_machine, test_update, test_about, test_cannot_write,
		 test_named, test_not_named, test_refresh, test_own, test_script, test_odd_names, test_busybox,
		 test_slow_busybox, test_mounts, test_two_listings, test_closest_look, test_places,
		 test_hostile_listing, test_no_listing, test_shell_messages, test_shell_silent, test_split,
		 test_merge_far_starts)
