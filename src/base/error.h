/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_ERROR_H
#define LT_BASE_ERROR_H

#include "base/status.h"

/*
 * A chain of causes. The function that fails says what failed with
 * error_set(); each caller that returns the failure adds what it was doing
 * with error_wrap(). Texts are lower case, without full stop, the subject in
 * quotes: "cannot read 'metadata'".
 *
 * One chain per process; main thread only.
 */

/* Starts a new chain. Always returns LT_ERROR: return error_set(...). */
enum lt_status error_set(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Puts an outer cause in front: "opening trace 'web3': cannot read …". Returns LT_ERROR. */
enum lt_status error_wrap(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The chain, outermost cause first, joined by ": ". "" if there is none. Valid until the next error call. */
const char *error_text(void);

void error_clear(void);

#endif
