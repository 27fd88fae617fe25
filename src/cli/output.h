/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLI_OUTPUT_H
#define LT_CLI_OUTPUT_H

#include <stdbool.h>

#include "base/status.h"

/*
 * Standard output. The reason for the first write that failed is kept: later calls change errno, and there may be
 * nothing left that could fail again. Main thread only.
 */

/* Whether a write has failed. To be called soon after it, while errno is that of the write. */
bool output_has_failed(void);

/* Flushes. LT_ERROR: something could not be written, now or earlier; the error has the reason. */
enum lt_status output_flush(void);

#endif
