/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_OUT_OF_MEMORY_H
#define LT_BASE_OUT_OF_MEMORY_H

/*
 * Where memory runs out, GLib raises a signal, or allocates memory for the message that there is none until the stack
 * overflows; other libraries abort, or use what they did not get. Instead, the program says so on stderr and exits with
 * EXIT_FAILURE.
 */

/*
 * Installs it: for GLib's messages, and for SIGSEGV and SIGABRT with an alternate stack of the calling thread, which
 * other handlers may use. prefix: of the line ("lttngtop: "), static. Once per process, by its main thread.
 */
void out_of_memory_handle(const char *prefix);

/* A second line, with what the user can do: static or borrowed for as long as the process. NULL: none. */
void out_of_memory_advise(const char *text);

/* A function that is called before anything is printed about a fatal error. Only async-signal-safe calls. */
void out_of_memory_prepare(void (*prepare)(void));

/* For other handlers of these signals: does not return if it is memory that was lacking. Async-signal-safe. */
void out_of_memory_exit_if_so(void);

#endif
