/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEWER_PROTOCOL_H
#define LT_VIEWER_PROTOCOL_H

#include <stdint.h>

/*
 * lttng-relayd's protocol for viewers (live port, 5344), as on the wire: big-endian, packed. A viewer sends a wire_head
 * and the command's payload; the relayd answers commands in order, without a head.
 *
 *   minor  4  the first one
 *   minor 15  sessions have names of any length and a trace format; older viewers are not shown CTF 2 sessions
 */
enum { WIRE_MAJOR = 2, WIRE_MINOR = 15, WIRE_MINOR_FIRST = 4, WIRE_MINOR_FORMATS = 15 };

enum wire_command {
	WIRE_CONNECT = 1,
	WIRE_LIST,
	WIRE_ATTACH,
	WIRE_NEXT_INDEX,
	WIRE_PACKET,
	WIRE_METADATA,
	WIRE_NEW_STREAMS,
	WIRE_CREATE, /* the viewer's own session, to which tracers' sessions are attached */
	WIRE_DETACH,
	WIRE_COMMANDS
};

struct wire_head {
	uint64_t size; /* of the payload */
	uint32_t command;
	uint32_t version; /* 0 */
} __attribute__((packed));

enum { WIRE_FOR_COMMANDS = 1 };

/* A complete reply, or the start of one. */
struct wire_word {
	uint32_t word;
} __attribute__((packed));

/* WIRE_CONNECT, both ways. */
struct wire_connect {
	uint64_t viewer; /* assigned by the relayd */
	uint32_t major, minor;
	uint32_t type;
} __attribute__((packed));

/* The answer to WIRE_LIST is a uint32_t count, and as many sessions. */
struct wire_session {
	uint64_t id;
	uint32_t timer_us, clients, streams;
} __attribute__((packed));

enum { WIRE_HOST = 64, WIRE_NAME = 255, WIRE_PATH = 4096 };

struct wire_session_old {
	struct wire_session session;
	char host[WIRE_HOST], name[WIRE_NAME];
} __attribute__((packed));

/* Since WIRE_MINOR_FORMATS; followed by both names. */
struct wire_session_new {
	struct wire_session session;
	uint32_t host_len, name_len;
	uint32_t format; /* 0: CTF 1.8, 1: CTF 2 */
} __attribute__((packed));

enum { WIRE_CREATED = 1 }; /* a uint32_t */

enum { WIRE_SEEK_BEGINNING = 1, WIRE_SEEK_LAST };

struct wire_attach {
	uint64_t session;
	uint64_t offset; /* 0 */
	uint32_t seek;
} __attribute__((packed));

enum wire_attached {
	WIRE_ATTACHED = 1,
	WIRE_ATTACH_TAKEN,
	WIRE_ATTACH_UNKNOWN,
	WIRE_ATTACH_NOT_LIVE,
	WIRE_ATTACH_SEEK,
	WIRE_ATTACH_NOT_CREATED,
};

/* The answer to WIRE_ATTACH and to WIRE_NEW_STREAMS (payload: uint64_t session); count streams follow. */
struct wire_streams {
	uint32_t status;
	uint32_t count;
} __attribute__((packed));

struct wire_stream {
	uint64_t id;
	uint64_t trace; /* streams of a trace share a metadata stream */
	uint32_t is_metadata;
	char path[WIRE_PATH], channel[WIRE_NAME];
} __attribute__((packed));

enum wire_new_streams { WIRE_STREAMS_NEW = 1, WIRE_STREAMS_NONE, WIRE_STREAMS_ERROR, WIRE_STREAMS_CLOSED };

enum { WIRE_FLAG_METADATA = 1, WIRE_FLAG_STREAMS = 2 };

enum wire_index_status {
	WIRE_INDEX_OK = 1,
	WIRE_INDEX_RETRY,
	WIRE_INDEX_HUP, /* the stream is closed and has been read to its end */
	WIRE_INDEX_ERROR,
	WIRE_INDEX_INACTIVE, /* no packet now, and none will come before end */
	WIRE_INDEX_EOF,
};

/* The answer to WIRE_NEXT_INDEX, whose payload is the stream's id, as is that of WIRE_METADATA. */
struct wire_index {
	uint64_t offset;
	uint64_t packet_bits, content_bits;
	uint64_t begin, end; /* cycles */
	uint64_t discarded;
	uint64_t class_id;
	uint32_t status;
	uint32_t flags;
} __attribute__((packed));

struct wire_get_packet {
	uint64_t stream;
	uint64_t offset;
	uint32_t len; /* bytes */
} __attribute__((packed));

enum wire_packet_status { WIRE_PACKET_OK = 1, WIRE_PACKET_RETRY, WIRE_PACKET_ERROR, WIRE_PACKET_EOF };

/* Followed by len bytes. */
struct wire_packet {
	uint32_t status;
	uint32_t len;
	uint32_t flags;
} __attribute__((packed));

enum wire_metadata_status { WIRE_METADATA_OK = 1, WIRE_METADATA_NONE, WIRE_METADATA_ERROR };

/* Followed by len bytes. */
struct wire_metadata {
	uint64_t len;
	uint32_t status;
} __attribute__((packed));

#endif
