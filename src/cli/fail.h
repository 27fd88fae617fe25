/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLI_FAIL_H
#define LT_CLI_FAIL_H

#include <stdbool.h>

/*
 * Exit statuses; 128+n after signal n. With LT_EXIT_FAILURE and LT_EXIT_USAGE the command has printed the reason to
 * stderr.
 */
enum {
	LT_EXIT_OK = 0,
	LT_EXIT_FAILURE = 1,    /* no source could be read, or another failure at run time */
	LT_EXIT_USAGE = 2,      /* wrong usage */
	LT_EXIT_INCOMPLETE = 3, /* read, but data is lost or corrupt; details on stderr */
};

/*
 * Prints the error chain, sanitised, to stderr; with LT_EXIT_USAGE also where help is. command: its name, "" for the
 * monitor. Returns status.
 */
int cmd_fail(int status, const char *command);

/* Whether a failure was printed: what follows from it need not be. */
bool cmd_has_failed(void);

#endif
