/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_RECORD_COUNT_H
#define LT_CMD_RECORD_COUNT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* What is in a recording, as neither LTTng nor an index says it. */
struct record_count {
	uint64_t events;
	GArray *functions; /* uint64_t: addresses of the functions of its work items, each once, up to a limit */
};

/*
 * Reads the recording in a directory. false: not everything was read, because it would take more than 10 s, a signal is
 * pending (process.h), or it cannot be read; *c is about the part that was read. The caller frees c->functions.
 */
bool record_count(const char *directory, struct record_count *c);

#endif
