/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shell's part of a side-car, on a machine whose users choose names and arguments that a shell might run. */
#include "unit.h"

#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/nstime.h"
#include "sidecar/collect.h"
#include "sidecar/sidecar.h"
#include "sidecar/stream.h"
#include "sidecar/write.h"

/* Shells that a machine may have as "sh", with the words that start them. */
static const char *const shells[][3] = { { "bash", "--posix" }, { "dash" }, { "busybox", "sh" } };

static char *dir, *evidence;

static void setup(void)
{
	dir = g_dir_make_tmp("script-XXXXXX", NULL);
	ck_assert_ptr_nonnull(dir);
	evidence = g_build_filename(dir, "evidence", NULL);
}

static void teardown(void)
{
	ck_assert_int_eq(g_rmdir(dir), 0); /* no other file was left there */
	g_free(evidence);
	g_free(dir);
}

/*
 * What the script writes to its stdout if that shell runs it, which the caller frees; NULL: it is not installed. It
 * must succeed. environment: NULL: this one.
 */
static char *run(const char *const *shell, const char *script, char **environment)
{
	char *found = g_find_program_in_path(shell[0]), *out = NULL, *err = NULL;
	const char *argv[] = { shell[0], shell[1] ? shell[1] : "-c", shell[1] ? "-c" : script, shell[1] ? script : NULL,
			       NULL };
	int status;

	g_free(found);
	if (!found) {
		printf("skip %s: not installed\n", shell[0]);
		return NULL;
	}
	ck_assert(g_spawn_sync(dir, (char **)argv, environment, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err, &status,
			       NULL));
	ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "%s: status %d: %.500s", shell[0], status, err);
	g_free(err);
	return out;
}

/* ---- processes ---- */

/*
 * Names that look like the end of their line in /proc/PID/stat, or end the line, with a variable of the script, a
 * command or nothing in the place of a number.
 */
static const char *const names[] = {
	")1 2 3 4 5 6 v\n", ")1 2 3 4 5 6 c\n", ") R 1 2 3 4 v",    ")1 2 3 4 5 6\n", "a\nb", "\n", ") ",
	"* ? [a",           "$(v)`v`",          "\\n\\ -n %s\\c\\", ")\n)",           "-n",
};

/*
 * Before each of the first ones, a process whose arguments are a command for whoever evaluates them as a number. At the
 * end, one whose arguments are too long to be kept.
 */
enum { NAMES = G_N_ELEMENTS(names), EVALUATED = 3, ODD = NAMES + EVALUATED + 1, LONG = 100000, CMDLINE_MAX = 1024 };

static pid_t odd[ODD];

/* With arguments: executes sleep with them; without: has only the name. Returns when that is done. */
static pid_t start(const char *name, const char *argument)
{
	int fds[2];
	pid_t pid;
	char byte;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (argument)
			execlp("sleep", argument, "86397", NULL);
		prctl(PR_SET_NAME, name);
		close(fds[0]);
		close(fds[1]);
		pause();
		_exit(1);
	}
	ck_assert_int_gt(pid, 0);
	close(fds[1]);
	ck_assert_int_eq(read(fds[0], &byte, 1), 0);
	close(fds[0]);
	return pid;
}

static void start_odd(void)
{
	char *argument = g_strdup_printf("a[$(echo >%s)]", evidence);
	unsigned n = 0;

	for (unsigned i = 0; i < NAMES; i++) {
		if (i < EVALUATED)
			odd[n++] = start(NULL, argument);
		odd[n++] = start(names[i], NULL);
	}
	g_free(argument);
	argument = g_strnfill(LONG, 'x');
	odd[n] = start(NULL, argument);
	g_free(argument);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The last of that PID; NULL: there is none. */
static const json_t *find(const json_t *root, pid_t pid)
{
	const json_t *found = NULL;
	json_t *process;
	size_t i;

	json_array_foreach(json_object_get(root, "processes"), i, process) {
		if (json_integer_value(json_object_get(process, "pid")) == pid)
			found = process;
	}
	return found;
}

static int64_t start_s(const json_t *process)
{
	return json_integer_value(json_object_get(process, "start_ns")) / (int64_t)NS_PER_S;
}

/* All were found, with the user and the start that are known without a shell, and no command was run. */
static void check_found(const char *shell, const json_t *root)
{
	json_t *direct = sidecar_collect(NULL);

	ck_assert_msg(!g_file_test(evidence, G_FILE_TEST_EXISTS), "%s has run a process's arguments", shell);
	for (unsigned i = 0; i < ODD; i++) {
		const json_t *process = find(root, odd[i]);

		ck_assert_msg(process != NULL, "%s: process %u was not found", shell, i);
		ck_assert_int_eq(json_integer_value(json_object_get(process, "uid")), getuid());
		ck_assert_uint_le(strlen(json_string_value(json_object_get(process, "cmdline"))), CMDLINE_MAX);
		/* a shell on a busy machine does not know exactly when it booted */
		ck_assert_int_le(llabs(start_s(process) - start_s(find(direct, odd[i]))), 60);
	}
	json_decref(direct);
}

START_TEST(test_listing)
{
	char *script = sidecar_script(NULL);

	start_odd();
	for (size_t i = 0; i < G_N_ELEMENTS(shells); i++) {
		char *text = run(shells[i], script, NULL);
		json_t *root = text ? sidecar_parse_listing(text, strlen(text)) : NULL;

		if (root)
			check_found(shells[i][0], root);
		json_decref(root);
		g_free(text);
	}
	for (unsigned i = 0; i < ODD; i++)
		end(odd[i]);
	g_free(script);
}
END_TEST

/* The script with messages sent to stdout; the caller frees it. */
static char *messages_script(const char *commands)
{
	char *script = sidecar_stream_script(NULL, true), **parts = g_strsplit(script, "/proc/lttng-logger", -1);
	char *elsewhere = g_strjoinv("/dev/stdout", parts), *all = g_strconcat(elsewhere, commands, NULL);

	ck_assert_uint_eq(g_strv_length(parts), 3);
	g_strfreev(parts);
	g_free(elsewhere);
	g_free(script);
	return all;
}

/* The lines of the messages, as a listing's. */
static json_t *parse_messages(const char *text)
{
	GString *lines = g_string_new("listing\n");
	json_t *root;

	for (; *text; text++)
		g_string_append_c(lines, *text == '\t' ? '\n' : *text);
	root = sidecar_parse_listing(lines->str, lines->len);
	g_string_free(lines, TRUE);
	return root;
}

START_TEST(test_messages)
{
	char *script = messages_script("tell all; tell news; echo still here\n");

	start_odd();
	for (size_t i = 0; i < G_N_ELEMENTS(shells); i++) {
		char *text = run(shells[i], script, NULL);
		json_t *root = text ? parse_messages(text) : NULL;

		if (root) {
			ck_assert_msg(g_str_has_suffix(text, "\nstill here\n"), "%s has ended", shells[i][0]);
			check_found(shells[i][0], root);
		}
		json_decref(root);
		g_free(text);
	}
	for (unsigned i = 0; i < ODD; i++)
		end(odd[i]);
	g_free(script);
}
END_TEST

/* That every process has the number of the namespace in whose /proc it was found; 0: the host's, which is not said. */
static void check_pid_ns(const json_t *root, int64_t pid_ns)
{
	json_t *list = json_object_get(root, "processes"), *process;
	size_t i;

	ck_assert_ptr_nonnull(find(root, getpid()));
	json_array_foreach(list, i, process) {
		ck_assert_int_eq(json_integer_value(json_object_get(process, "pid_ns")), pid_ns);
	}
}

/* In a container, the PIDs in /proc are not the host's. */
START_TEST(test_pid_namespace)
{
	static const int64_t inodes[][2] = { { 4026531836, 0 }, { 4026532001, 4026532001 } };
	char *listing = sidecar_script(NULL), *messages = messages_script("tell all\n");

	for (size_t i = 0; i < 2 * G_N_ELEMENTS(inodes) * G_N_ELEMENTS(shells); i++) {
		const int64_t *inode = inodes[i / 2 % G_N_ELEMENTS(inodes)];
		char *script = g_strdup_printf("readlink() { case $1 in /proc/self/ns/pid) echo 'pid:[%" PRId64 "]';;"
					       " *) command readlink \"$@\";; esac; }\n%s",
					       inode[0], i % 2 ? messages : listing);
		char *text = run(shells[i / 2 / G_N_ELEMENTS(inodes)], script, NULL);
		json_t *root = text ? i % 2 ? parse_messages(text) : sidecar_parse_listing(text, strlen(text)) : NULL;

		if (root)
			check_pid_ns(root, inode[1]);
		json_decref(root);
		g_free(text);
		g_free(script);
	}
	g_free(listing);
	g_free(messages);
}
END_TEST

/* Whether that shell takes the process of this directory's file "stat" for one of a user. */
static void expect_user(const char *const *shell, const char *script, bool is_user)
{
	char *text = run(shell, script, NULL);

	if (text)
		ck_assert_str_eq(text, is_user ? "a user's\n" : "not\n");
	ck_assert_msg(!g_file_test(evidence, G_FILE_TEST_EXISTS), "%s has run the line", shell[0]);
	g_free(text);
}

/* Flags and start are evaluated only if they are numbers, whatever the line of /proc/PID/stat looks like. */
START_TEST(test_numbers)
{
	char *command = g_strdup_printf("a[$(echo>%s)]", evidence), *stat = g_build_filename(dir, "stat", NULL);
	const struct {
		const char *flags, *start;
		bool is_user;
	} cases[] = {
		{ "4194560", "77", true }, { "2129984", "77", false }, { command, "77", false }, { "v", "77", false },
		{ "4194560", "", false },  { "4194560", "v", false },  { "-1", "77", false },
	};
	char *script = messages_script("p=.; if user; then echo \"a user's\"; else echo not; fi\n");

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *line = g_strdup_printf("5 (x) S 1 5 5 0 -1 %s 1 2 3 4 5 6 7 8 20 0 1 0 %s\n", cases[i].flags,
					     cases[i].start);

		ck_assert(g_file_set_contents(stat, line, -1, NULL));
		for (size_t s = 0; s < G_N_ELEMENTS(shells); s++)
			expect_user(shells[s], script, cases[i].is_user);
		g_free(line);
	}
	g_unlink(stat);
	g_free(script);
	g_free(stat);
	g_free(command);
}
END_TEST

/* Nothing is removed but what the script has made, although the place of its files has a blank in its name. */
START_TEST(test_temporary_place)
{
	char *kept = g_build_filename(dir, "my", NULL), *place = g_build_filename(dir, "my tmp", NULL);
	char *bin = g_build_filename(dir, "bin", NULL), *python = g_build_filename(bin, "python3", NULL);
	char *path = g_strconcat(bin, ":", g_getenv("PATH"), NULL), *script = sidecar_stream_script(NULL, false);
	char **environment = g_environ_setenv(g_get_environ(), "TMPDIR", place, TRUE);

	environment = g_environ_setenv(environment, "PATH", path, TRUE);
	ck_assert_int_eq(g_mkdir(kept, 0700) | g_mkdir(place, 0700) | g_mkdir(bin, 0700), 0);
	/* it emits nothing and needs no session daemon */
	ck_assert(g_file_set_contents(python, "#!/bin/sh\nexec cat >/dev/null\n", -1, NULL));
	ck_assert_int_eq(g_chmod(python, 0700), 0);
	for (size_t i = 0; i < G_N_ELEMENTS(shells); i++) {
		g_free(run(shells[i], script, environment));
		ck_assert_msg(g_file_test(kept, G_FILE_TEST_IS_DIR), "%s has removed it", shells[i][0]);
		/* its own is gone */
		ck_assert_int_eq(g_rmdir(place), 0);
		ck_assert_int_eq(g_mkdir(place, 0700), 0);
	}
	g_unlink(python);
	ck_assert_int_eq(g_rmdir(kept) | g_rmdir(place) | g_rmdir(bin), 0);
	g_strfreev(environment);
	g_free(script);
	g_free(path);
	g_free(python);
	g_free(bin);
	g_free(place);
	g_free(kept);
}
END_TEST

UNIT_MAIN_AROUND("sidecar_script", setup, teardown, test_listing, test_messages, test_pid_namespace, test_numbers,
		 test_temporary_place)
