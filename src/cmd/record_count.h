/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_RECORD_COUNT_H
#define LT_CMD_RECORD_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Counts the events of the recording in a directory by reading it, as neither LTTng nor an index counts them. false:
 * not everything was read, because it would take more than 10 s, a signal is pending (process.h), or it cannot be read;
 * *n are the events found.
 */
bool record_count(const char *directory, uint64_t *n);

#endif
