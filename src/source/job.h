/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_JOB_H
#define LT_SOURCE_JOB_H

#include <stdint.h>

#include "event/wanted.h"

/*
 * What a worker is to do, in its arguments behind "--worker". MEMORY, WAKE and COMMANDS are descriptors: its ring, and
 * the socket at which it gets other FIELDS, or sources of relayds and their rings, while it runs. In front of them
 * stands its name as ps shows it: "lttngtop: web" reads a recording of web, "lttngtop: live" reads from relayds.
 *
 *   MEMORY WAKE recording READER PART PARTS NAME BEGIN END FILES BYTES FIELDS DIRECTORY...
 *   MEMORY WAKE follow DIRECTORY PATIENCE_MS FIELDS COMMANDS
 *   COMMANDS relayds
 *
 * FIELDS: fields_wanted_text() (event/wanted.h).
 */
#define JOB_CALLED "lttngtop: "
#define JOB_CALLED_LIVE JOB_CALLED "live"

#define JOB_RECORDING "recording"
#define JOB_FOLLOW "follow"
#define JOB_RELAYDS "relayds"

enum { JOB_FIRST = 2, JOB_FOLLOW_ARGUMENTS = 5, JOB_RECORDING_ARGUMENTS = 11, JOB_RELAYDS_ARGUMENTS = 2 };

/* FIELDS: of no event. */
#define JOB_NO_FIELDS "0 0 0"

/* READER: whatever can read it. */
#define JOB_ANY_READER "auto"

enum job_kind {
	JOB_STOP, /* the source of that number, if it has not ended */
	JOB_LIVE, /* reads a session */
	JOB_LIST, /* asks for the sessions */
	JOB_WANT, /* of the source of that number, or the only one, other fields are wanted from now on */
};

/* The descriptors that come with JOB_LIVE and JOB_LIST: a ring's, and a connection to the relayd. */
enum { JOB_MEMORY, JOB_WAKE, JOB_CONNECTION, JOB_FDS };

/* A message to COMMANDS (SOCK_SEQPACKET), without padding. */
struct job_command {
	uint32_t kind;       /* enum job_kind */
	uint32_t number;     /* of the source, of the parent's choice; never given twice */
	uint32_t timeout_ms; /* of a relayd without an answer */
	uint32_t from_start; /* JOB_LIVE */
	uint32_t every_ms;   /* JOB_LIST: between two lists; 0: one is enough */
	uint32_t wanted;     /* JOB_WANT: the number of the request, for EVENT_WANTED */
	uint32_t url_len;
	uint32_t fields_len;
	char text[]; /* JOB_LIVE, JOB_LIST: the URL; JOB_LIVE, JOB_WANT: FIELDS; not NUL-terminated */
};

enum {
	JOB_URL_MAX = 16384,
	JOB_COMMAND_MAX = sizeof(struct job_command) + JOB_URL_MAX + FIELDS_WANTED_TEXT_MAX,
};

#endif
