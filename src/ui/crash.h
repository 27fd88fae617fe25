/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_CRASH_H
#define LT_UI_CRASH_H

/*
 * What to do when the program crashes while the screen is up: restore the
 * terminal, say what happened with a backtrace, die of the same signal.
 */

/*
 * Handlers for SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, and for SIGINT, SIGTERM, SIGHUP, SIGQUIT until a loop
 * takes these over. Once.
 */
void crash_install(void);

/* Remembers the terminal's modes: before curses changes them. */
void crash_save_terminal(void);

/*
 * What undoes curses' doing, as terminfo says; NULL or (char *)-1 are left out. last_line: goes there and
 * clears it, where there is no other screen to go back to.
 */
void crash_terminal_strings(const char *attributes, const char *cursor, const char *keypad, const char *screen,
			    const char *last_line);

/* The terminal has been restored: a crash only prints. */
void crash_forget_terminal(void);

#endif
