/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_JOB_H
#define LT_SOURCE_JOB_H

#include <stdint.h>

#include "event/wanted.h"

/*
 * A worker's job, in its arguments after "--worker". MEMORY, WAKE and COMMANDS are descriptors: its ring, and a socket
 * for commands while it runs: requests for other FIELDS, or sources of relayds with their rings. argv[0] is its name as
 * shown by ps: "lttngtop: web" reads a recording of web, "lttngtop: live" reads from relayds.
 *
 *   MEMORY WAKE recording READER PART PARTS NAME BEGIN END FILES BYTES UNFINISHED FIELDS DIRECTORY...
 *   MEMORY WAKE follow DIRECTORY STALL_MS FIELDS COMMANDS
 *   MEMORY WAKE recall LOG SOURCE TRACE NAME BEGIN END FIELDS
 *   COMMANDS relayds LOG
 *
 * LOG: the descriptor of a log of the latest data (source/recall.h), in which SOURCE identifies the session and TRACE
 * one of its traces; -1: none.
 *
 * UNFINISHED: 1 if the recording is still being written, else 0.
 *
 * FIELDS: fields_wanted_text() (event/wanted.h).
 */
#define JOB_CALLED "lttngtop: "
#define JOB_CALLED_LIVE JOB_CALLED "live"

#define JOB_RECORDING "recording"
#define JOB_FOLLOW "follow"
#define JOB_RECALL "recall"
#define JOB_RELAYDS "relayds"

enum {
	JOB_FIRST = 2,
	JOB_FOLLOW_ARGUMENTS = 5,
	JOB_RECALL_ARGUMENTS = 8,
	JOB_RECORDING_ARGUMENTS = 12,
	JOB_RELAYDS_ARGUMENTS = 3,
};

/* FIELDS: not for any event. */
#define JOB_NO_FIELDS "0 0 0"

/* READER: the first one that can read it. */
#define JOB_ANY_READER "auto"

enum job_kind {
	JOB_STOP, /* stop the source with that number, if it has not ended */
	JOB_LIVE, /* read a session */
	JOB_LIST, /* list the sessions */
	JOB_WANT, /* use other fields, from now on, for the source with that number, or for the only one */
	JOB_REST, /* end a followed directory: read what it holds now, and nothing later */
};

/* The descriptors that accompany JOB_LIVE and JOB_LIST: those of a ring, and a connection to the relayd. */
enum { JOB_MEMORY, JOB_WAKE, JOB_CONNECTION, JOB_FDS };

/* A message to COMMANDS (SOCK_SEQPACKET), without padding. */
struct job_command {
	uint16_t kind;       /* enum job_kind */
	uint16_t from_start; /* JOB_LIVE */
	uint32_t number;     /* of the source, chosen by the parent; never reused */
	uint32_t timeout_ms; /* longest silence of the relayd while an answer is due */
	uint32_t stall_ms;   /* JOB_LIVE: see native_live_create() */
	uint32_t every_ms;   /* JOB_LIST: time between two lists; 0: only one list */
	uint32_t wanted;     /* JOB_WANT: number of the request, for EVENT_WANTED */
	uint64_t session;    /* JOB_LIVE: the relayd's number of it; 0: any session with its name */
	uint32_t url_len;
	uint32_t fields_len;
	char text[]; /* JOB_LIVE, JOB_LIST: the URL; JOB_LIVE, JOB_WANT: FIELDS; not NUL-terminated */
};

enum {
	JOB_URL_MAX = 16384,
	JOB_COMMAND_MAX = sizeof(struct job_command) + JOB_URL_MAX + FIELDS_WANTED_TEXT_MAX,
};

#endif
