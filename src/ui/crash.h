/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_CRASH_H
#define LT_UI_CRASH_H

/*
 * Handles crashes while the screen is up: restores the terminal, prints what happened with a backtrace, and dies from
 * the same signal. Without memory, it exits as base/out_of_memory.h says, which is to be installed before.
 */

/*
 * Installs handlers for SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL and SIGTRAP, and for every other signal that would end
 * the program, unless it is ignored or handled already; a loop may handle SIGINT and others itself later.
 */
void crash_install(void);

/* Saves the terminal's modes; call it before curses changes them. */
void crash_save_terminal(void);

/*
 * Sets the terminfo strings that undo what curses did; NULL and (char *)-1 are ignored. last_line: moves to the last
 * line and clears it, for terminals without an alternate screen.
 */
void crash_terminal_strings(const char *attributes, const char *cursor, const char *keypad, const char *screen,
			    const char *last_line);

/* To be called once the terminal has been restored: a crash then only prints. */
void crash_forget_terminal(void);

#endif
