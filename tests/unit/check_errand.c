/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/errand.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "control/process.h"
#include "unit.h"

static struct errand errand;

static void start_as(struct errand *e, const char *label, const char *script, int stdout_fd)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };

	ck_assert_int_eq(errand_start(e, label, argv, ERRAND_NULL, stdout_fd), LT_OK);
}

static void start(const char *script)
{
	start_as(&errand, "web", script, ERRAND_PIPE);
}

/* What a script writes to its stderr, as our own stderr gets it. */
static char *messages_of(const char *script)
{
	const int before = dup(STDERR_FILENO);
	char *path = NULL, *text = NULL;
	const int file = g_file_open_tmp("errand-XXXXXX", &path, NULL);

	dup2(file, STDERR_FILENO);
	start(script);
	ck_assert_int_eq(errand_wait(&errand), 0);
	dup2(before, STDERR_FILENO);
	close(before);
	close(file);
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	g_unlink(path);
	g_free(path);
	return text;
}

START_TEST(messages_are_sanitised)
{
	char *text = messages_of("printf 'one\\r\\n\\033]0;t\\007\\302\\233m\\000x\\tend' >&2");

	ck_assert_str_eq(text, "web: one\nweb: \\x1b]0;t\\x07\\xc2\\x9bm?x\\x09end\n");
	g_free(text);
}
END_TEST

START_TEST(messages_are_limited)
{
	char *text = messages_of("yes 0123456789 | head -c 1000000 >&2");

	ck_assert(g_str_has_prefix(text, "web: 0123456789\nweb: 0123456789\n"));
	ck_assert(g_str_has_suffix(text, "\nweb: further messages are left out\n"));
	ck_assert_uint_lt(strlen(text),
			  ERRAND_MESSAGES_MAX * strlen("web: 0123456789\n") / strlen("0123456789\n") + 100);
	g_free(text);
}
END_TEST

/* As ssh does that stays for the next connection to the same host. */
START_TEST(a_descendant_keeps_the_messages_open)
{
	const gint64 begin_us = g_get_monotonic_time();
	char *text = messages_of("sleep 20 & echo bye >&2");

	ck_assert_str_eq(text, "web: bye\n");
	ck_assert_int_lt(g_get_monotonic_time() - begin_us, 10 * G_USEC_PER_SEC);
	g_free(text);
}
END_TEST

START_TEST(output_is_limited)
{
	int status;

	start("exec yes x=y");
	ck_assert_ptr_null(errand_read(&errand, 1 << 20, 10000));
	ck_assert_str_eq(error_text(), "it sent more than 1024 KiB");
	status = errand_wait(&errand);
	ck_assert(WIFSIGNALED(status));
}
END_TEST

/* No limit before the first byte, then one from byte to byte. */
START_TEST(silence_is_limited)
{
	char *text;

	start("sleep 1; printf a; sleep 0.1; printf b");
	text = errand_read(&errand, 10, 500);
	ck_assert_str_eq(text, "ab");
	g_free(text);
	ck_assert_int_eq(errand_wait(&errand), 0);
	start("printf a; exec sleep 30");
	ck_assert_ptr_null(errand_read(&errand, 10, 1000));
	ck_assert_str_eq(error_text(), "it was silent for 1 s in the middle of its output");
	ck_assert(WIFSIGNALED(errand_wait(&errand)));
}
END_TEST

START_TEST(a_held_signal_is_taken_once)
{
	process_hold_signals();
	ck_assert_int_eq(process_take_signal(), 0);
	raise(SIGTERM);
	ck_assert_int_eq(process_take_signal(), SIGTERM);
	ck_assert_int_eq(process_take_signal(), 0);
	process_release_signals();
}
END_TEST

/* As by kill(1) while a host does not answer; the terminal's signals go to ssh, too. */
START_TEST(a_held_signal_ends_the_wait)
{
	process_hold_signals();
	start("exec sleep 30");
	raise(SIGTERM);
	ck_assert_ptr_null(errand_read(&errand, 10, 1000));
	ck_assert_str_eq(error_text(), "interrupted");
	ck_assert(WIFSIGNALED(errand_wait(&errand)));
	ck_assert_int_eq(process_take_signal(), SIGTERM);
	process_release_signals();
}
END_TEST

START_TEST(a_held_signal_ends_the_process)
{
	process_hold_signals();
	start("exec sleep 30");
	raise(SIGTERM);
	ck_assert(WIFSIGNALED(errand_wait(&errand)));
	ck_assert_int_eq(process_take_signal(), SIGTERM);
	process_release_signals();
}
END_TEST

START_TEST(a_program_that_is_not_there)
{
	char *argv[] = { (char *)"no-such-program", NULL };

	ck_assert_int_eq(errand_start(&errand, "web", argv, ERRAND_NULL, ERRAND_NULL), LT_ERROR);
	ck_assert(g_str_has_prefix(error_text(), "cannot run 'no-such-program': "));
	ck_assert_int_eq(errand.pid, 0);
	errand_close(&errand);
}
END_TEST

/* What is said about some that answer, one that is not started and some that do not answer. */
START_TEST(the_silent_are_named)
{
	static const char *const scripts[] = { "printf a; exec sleep 30", "exit 3", "exec sleep 30", "exec sleep 30" };
	struct errand errands[] = { ERRAND_INIT, ERRAND_INIT, ERRAND_INIT, ERRAND_INIT, ERRAND_INIT };
	static const char *const labels[] = { "talks", "ended", "hangs", "hangs too" };
	const struct errand *const all[] = { &errands[0], &errands[1], &errands[2], &errands[3], &errands[4] };
	const unsigned n = G_N_ELEMENTS(errands), before = log_count();

	for (size_t i = 0; i < G_N_ELEMENTS(scripts); i++)
		start_as(&errands[i], labels[i], scripts[i], i < 3 ? ERRAND_PIPE : ERRAND_NULL);
	errand_name_silent(all, n, 2000);
	ck_assert_uint_eq(log_count(), before + 2);
	ck_assert_str_eq(log_get(before)->text, "still waiting for host 'hangs'; ^C stops waiting");
	ck_assert_str_eq(log_get(before + 1)->text, "still waiting for host 'hangs too'; ^C stops waiting");
	for (size_t i = 0; i < G_N_ELEMENTS(scripts); i++) {
		kill(errands[i].pid, SIGTERM);
		errand_wait(&errands[i]);
	}
	ck_assert(WEXITSTATUS(errands[1].status) == 3);
}
END_TEST

/* It returns once all have answered, and when a signal asks to end. */
START_TEST(nobody_is_silent)
{
	static const char *const scripts[] = { "printf a", "sleep 0.3; printf a" };
	struct errand errands[] = { ERRAND_INIT, ERRAND_INIT };
	const struct errand *const both[] = { &errands[0], &errands[1] }, *const one[] = { &errand };
	const unsigned before = log_count();

	for (size_t i = 0; i < G_N_ELEMENTS(scripts); i++)
		start_as(&errands[i], "web", scripts[i], ERRAND_PIPE);
	errand_name_silent(both, G_N_ELEMENTS(both), G_MAXINT);
	for (size_t i = 0; i < G_N_ELEMENTS(errands); i++) {
		g_free(errand_read(&errands[i], 10, 1000));
		ck_assert_int_eq(errand_wait(&errands[i]), 0);
	}
	process_hold_signals();
	start("exec sleep 30");
	raise(SIGTERM);
	errand_name_silent(one, 1, G_MAXINT);
	ck_assert(WIFSIGNALED(errand_wait(&errand)));
	ck_assert_int_eq(process_take_signal(), SIGTERM);
	process_release_signals();
	ck_assert_uint_eq(log_count(), before);
}
END_TEST

/* A command killed at its gate ends nothing but itself, whether signals are held or not. */
START_TEST(a_command_dies_at_its_gate)
{
	char *argv[] = { (char *)"true", NULL };
	struct process command;
	siginfo_t info;

	process_hold_signals();
	ck_assert_int_eq(process_prepare(&command, argv), LT_OK);
	process_release_signals();
	ck_assert_ptr_ne(signal(SIGPIPE, SIG_DFL), SIG_ERR);
	kill(command.pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)command.pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(process_let_go(&command), LT_ERROR);
	ck_assert_str_eq(error_text(), "the command's process died before the command could be started");
	ck_assert_int_eq(waitpid(command.pid, NULL, 0), command.pid);
}
END_TEST

/* It is not found, whether that can be printed or not. */
START_TEST(the_status_is_that_of_the_start)
{
	char *argv[] = { (char *)"/nonexistent", NULL };
	struct process command;
	int status;

	ck_assert_ptr_nonnull(freopen("/dev/full", "w", stderr));
	setvbuf(stderr, NULL, _IONBF, 0);
	process_hold_signals();
	ck_assert_int_eq(process_prepare(&command, argv), LT_OK);
	status = process_run(&command);
	process_release_signals();
	ck_assert_int_eq(status, PROCESS_NOT_FOUND);
}
END_TEST

UNIT_MAIN("errand", the_silent_are_named, nobody_is_silent, messages_are_sanitised, messages_are_limited,
	  a_descendant_keeps_the_messages_open, output_is_limited, silence_is_limited, a_program_that_is_not_there,
	  a_held_signal_is_taken_once, a_held_signal_ends_the_wait, a_held_signal_ends_the_process,
	  a_command_dies_at_its_gate, the_status_is_that_of_the_start)
