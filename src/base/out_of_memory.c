/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/out_of_memory.h"

#include <glib.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* LEAST: malloc(), for however little, fails only after it could not map that much. */
enum { STACK_SIZE = 64 * 1024, LEAST_BYTES = 1 << 20 };

/* What is not given memory raises one of these, or overflows the stack. */
static const int signals[] = { SIGSEGV, SIGABRT };

static struct {
	const char *prefix, *advice;
	void (*prepare)(void);
	struct sigaction next[G_N_ELEMENTS(signals)]; /* for other causes */
} handling;

static char stack[STACK_SIZE];

/* Only async-signal-safe calls from here … */

static void say(const char *text)
{
	ssize_t ignored = text ? write(STDERR_FILENO, text, strlen(text)) : 0;

	(void)ignored;
}

static void prepare(void)
{
	if (handling.prepare)
		handling.prepare();
}

/* details: ": failed …", or "". */
static void give_up(const char *details)
{
	say(handling.prefix);
	say("out of memory");
	say(details);
	say("\n");
	say(handling.advice);
	_exit(EXIT_FAILURE);
}

void out_of_memory_exit_if_so(void)
{
	void *memory = mmap(NULL, LEAST_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory != MAP_FAILED) {
		munmap(memory, LEAST_BYTES);
		return;
	}
	prepare();
	give_up("");
}

/* A fault repeats itself, for the next handler; a signal that was sent does not. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	out_of_memory_exit_if_so();
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		if (signals[i] == number)
			sigaction(number, &handling.next[i], NULL);
	if (info->si_code <= 0)
		raise(number);
}

/* … to here. */

/* GLib's reason for ending the program: it says so here before it raises a signal. */
static GLogWriterOutput write_message(GLogLevelFlags level, const GLogField *fields, gsize n, void *user)
{
	static const char mark[] = ": failed to allocate";

	if (level & G_LOG_LEVEL_ERROR) {
		prepare();
		for (gsize i = 0; i < n; i++)
			if (fields[i].length < 0 && strcmp(fields[i].key, "MESSAGE") == 0 &&
			    strstr(fields[i].value, mark))
				give_up(strstr(fields[i].value, mark));
	}
	return g_log_writer_default(level, fields, n, user);
}

void out_of_memory_handle(const char *prefix)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	const stack_t alternative = { .ss_sp = stack, .ss_size = sizeof(stack) };

	handling.prefix = prefix;
	g_log_set_writer_func(write_message, NULL, NULL);
	sigaltstack(&alternative, NULL);
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		sigaction(signals[i], &action, &handling.next[i]);
}

void out_of_memory_advise(const char *text)
{
	handling.advice = text;
}

void out_of_memory_prepare(void (*function)(void))
{
	handling.prepare = function;
}
