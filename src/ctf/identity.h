/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_IDENTITY_H
#define LT_CTF_IDENTITY_H

/*
 * Which recording of which machine a trace is: enough to tell that two
 * directories hold parts of one. Only the blocks or fragments in front of the
 * first stream are read, a few kilobytes; the layout is not needed.
 */
struct identity {
	char *trace; /* the trace's UUID as text */
	char *hostname;
	char *clock; /* the clock's UUID as text */
};

/* From the beginning of metadata, which may be cut off anywhere; what is not there is NULL. Release it in any case. */
void identity_read(struct identity *id, const char *text);

void identity_release(struct identity *id);

#endif
