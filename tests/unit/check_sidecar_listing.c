/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Side-cars of a machine that only a shell has looked at, and the messages of a shell that keeps looking. */
#include "sidecars.h"

#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "sidecar/collect.h"
#include "sidecar/stream.h"

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

/* PIDs are the host's, unless the listing says whose. */
START_TEST(test_pid_namespace)
{
	json_t *root = convert("listing\n" NOW "process 6 140\npid_ns pid:[4026532001]\nprocess 7 150\n"
			       "listing\n" NOW "process 8 160\npid_ns cgroup\nprocess 9 170\n");

	ck_assert_ptr_null(json_object_get(process_of(root, 6), "pid_ns"));
	ck_assert_int_eq(json_integer_value(json_object_get(process_of(root, 7), "pid_ns")), 4026532001);
	ck_assert_ptr_null(json_object_get(process_of(root, 8), "pid_ns"));
	ck_assert_ptr_null(json_object_get(process_of(root, 9), "pid_ns"));
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

UNIT_MAIN_AROUND("sidecar_listing", setup, teardown, test_script, test_odd_names, test_busybox, test_slow_busybox,
		 test_mounts, test_two_listings, test_closest_look, test_places, test_pid_namespace,
		 test_hostile_listing, test_no_listing, test_shell_messages, test_shell_silent)
