/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_IDENTITY_H
#define LT_CTF_IDENTITY_H

#include <stdbool.h>

/*
 * Identifies a trace's recording and machine, well enough to see that two directories hold parts of the same recording.
 * Only the blocks or fragments before the first stream are read, a few kilobytes; no layout is needed.
 */
struct identity {
	char *trace; /* the trace's UUID as text */
	char *hostname;
	char *clock; /* the clock's UUID as text */
	bool is_ctf2;
};

/*
 * Reads the start of the metadata, which may be truncated anywhere; members that are not in it are NULL. Always release
 * *id.
 */
void identity_read(struct identity *id, const char *text);

/* The same from the metadata of the trace in the directory, which may be unreadable. */
void identity_read_trace(struct identity *id, const char *directory);

void identity_release(struct identity *id);

#endif
