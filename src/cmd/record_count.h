/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_RECORD_COUNT_H
#define LT_CMD_RECORD_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How many events there are in the recording in a directory: it is read, since neither LTTng nor an index counts
 * them. false: not all of it was read, as that would take more than 10 s, a signal waits (process.h), or it cannot
 * be read; *n are those that were.
 */
bool record_count(const char *directory, uint64_t *n);

#endif
