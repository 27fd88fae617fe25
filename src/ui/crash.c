/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/crash.h"

#include <execinfo.h>
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/out_of_memory.h"
#include "config.h"

enum { BACKTRACE_MAX = 64, STRINGS_MAX = 256 };

static struct {
	volatile sig_atomic_t active; /* the terminal is in our mode */
	struct termios modes;
	char strings[STRINGS_MAX];
	size_t strings_len;
} terminal;

/* Only async-signal-safe calls from here … */

static void say(const char *text)
{
	ssize_t ignored = write(STDERR_FILENO, text, strlen(text));

	(void)ignored;
}

static const char *signal_name(int signal_number)
{
	switch (signal_number) {
	case SIGSEGV:
		return "segmentation fault";
	case SIGBUS:
		return "bus error";
	case SIGABRT:
		return "abort";
	case SIGFPE:
		return "arithmetic error";
	case SIGTRAP:
		return "a library stopped it";
	default:
		return "illegal instruction";
	}
}

static void restore_terminal(void)
{
	ssize_t ignored;

	if (!terminal.active)
		return;
	terminal.active = 0;
	ignored = write(STDOUT_FILENO, terminal.strings, terminal.strings_len);
	(void)ignored;
	tcsetattr(STDOUT_FILENO, TCSANOW, &terminal.modes);
}

/* For signals that end the program; for some only until the monitor's loop handles them. */
static void on_end(int signal_number)
{
	restore_terminal();
	raise(signal_number);
}

static void on_crash(int signal_number)
{
	void *frames[BACKTRACE_MAX];
	int n;

	restore_terminal();
	out_of_memory_exit_if_so();
	say("lttngtop " PACKAGE_VERSION " crashed: ");
	say(signal_name(signal_number));
	say("\nThis is a bug. Please report it with the lines below.\n");
	n = backtrace(frames, BACKTRACE_MAX);
	backtrace_symbols_fd(frames, n, STDERR_FILENO);
	/* the handler was reset: now it ends the process */
	raise(signal_number);
}

/* … to here. */

/* Whether it ends the program, as nothing handles or ignores it. */
static bool is_end(int signal_number)
{
	struct sigaction action;

	switch (signal_number) {
	case SIGKILL: /* has no handlers */
	case SIGCHLD:
	case SIGCONT:
	case SIGURG:
	case SIGWINCH:
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		return false;
	default:
		return !sigaction(signal_number, NULL, &action) && action.sa_handler == SIG_DFL;
	}
}

void crash_install(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP };
	struct sigaction action = { .sa_handler = on_crash, .sa_flags = SA_RESETHAND | SA_ONSTACK | SA_NODEFER };
	void *frame;

	/* the first call loads libgcc, which is not safe in a signal handler */
	backtrace(&frame, 1);
	out_of_memory_prepare(restore_terminal);
	sigemptyset(&action.sa_mask);
	for (unsigned i = 0; i < G_N_ELEMENTS(signals); i++)
		sigaction(signals[i], &action, NULL);
	action.sa_handler = on_end;
	for (int i = 1; i <= SIGRTMAX; i++)
		if (is_end(i))
			sigaction(i, &action, NULL);
}

void crash_save_terminal(void)
{
	terminal.strings_len = 0;
	terminal.active = !tcgetattr(STDOUT_FILENO, &terminal.modes);
}

/* Appends a terminfo string without its padding ("$<2>"). */
static void add_string(const char *s)
{
	if (!s || s == (const char *)-1)
		return;
	while (*s && terminal.strings_len < sizeof(terminal.strings)) {
		const char *end = s[0] == '$' && s[1] == '<' ? strchr(s, '>') : NULL;

		if (end)
			s = end + 1;
		else
			terminal.strings[terminal.strings_len++] = *s++;
	}
}

void crash_terminal_strings(const char *attributes, const char *cursor, const char *keypad, const char *screen,
			    const char *last_line)
{
	/* turn off mouse reports, whichever protocol curses has chosen, and brackets around pasted text */
	add_string("\033[?1000l\033[?1002l\033[?1006l\033[?2004l");
	add_string(attributes);
	add_string(cursor);
	add_string(keypad);
	add_string(screen);
	add_string(last_line);
}

void crash_forget_terminal(void)
{
	terminal.active = 0;
}
