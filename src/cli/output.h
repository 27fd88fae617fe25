/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLI_OUTPUT_H
#define LT_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/status.h"

/*
 * Standard output. The reason for the first write that failed is kept: later calls change errno, and there may be
 * nothing left that could fail again. Main thread only.
 */

/* Whether a write has failed. To be called soon after it, while errno is that of the write. */
bool output_has_failed(void);

/* Flushes. LT_ERROR: something could not be written, now or earlier; the error has the reason. */
enum lt_status output_flush(void);

/*
 * Where the locale's character set is not UTF-8, a terminal takes bytes of names for control characters. There, what
 * people read is ASCII: each column of another character becomes a similar character or '?'. for_program: the output is
 * data that programs depend on, which stays UTF-8 except on a terminal.
 */

/* Makes stdout and stderr such streams, whose fileno() may then be -1. To be called before anything is written. */
void output_for_stdout(bool for_program);
void output_for_stderr(void);

/* Opens a stream that writes to fd, which fclose() closes. NULL: see errno; fd is closed. */
FILE *output_open(int fd, bool for_program);

/* Writes all bytes to fd, as they are. False: see errno. */
bool output_write(int fd, const char *bytes, size_t len);

#endif
