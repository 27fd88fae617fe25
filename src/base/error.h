/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_ERROR_H
#define LT_BASE_ERROR_H

#include "base/status.h"

/*
 * A chain of causes. The function that fails reports what failed with error_set(); each caller that passes the failure
 * on adds what it was doing with error_wrap(). Texts are lower case, without a full stop, with names in quotes: "cannot
 * read 'metadata'".
 *
 * One chain per process; main thread only.
 */

/* Starts a new chain. Always returns LT_ERROR, for return error_set(...). */
enum lt_status error_set(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prepends an outer cause: "opening trace 'web3': cannot read …". Always returns LT_ERROR. */
enum lt_status error_wrap(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Appends what became of the rest, or what to do: "cannot write 'x'; the session was removed". Returns LT_ERROR. */
enum lt_status error_add(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Combines two steps that may both fail. earlier: a copy of the chain after the first one, which is freed; NULL: it did
 * not fail. LT_ERROR: the chain has the reasons of all that failed, "EARLIER; LATER".
 */
enum lt_status error_join(char *earlier, enum lt_status later);

/* The chain, outermost cause first, joined by ": "; "" if it is empty. Valid until the next call that changes it. */
const char *error_text(void);

void error_clear(void);

/* The text of an errno, and what to do about it where the user can. Valid as long as the process. */
const char *error_of_errno(int number);

#define ERROR_TOO_MANY_FILES "Too many open files: raise the limit of 'ulimit -n'"

#endif
