/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_FEED_RECORDING_H
#define LT_FEED_RECORDING_H

#include "base/status.h"
#include "feed/cut.h"
#include "source/source.h"

/*
 * A recorded trace on disk: its metadata, its streams, and where their packets are. The directories of a rotated
 * session and the snapshots of a session are one trace (source_find() groups them); a packet found in several of them
 * counts once.
 */
struct recorded_copy {
	const char *path; /* borrowed from the stream */
	uint64_t offset;
	struct recorded_copy *next;
};

struct recorded_packet {
	const char *path; /* borrowed from the stream */
	/* in bytes; size is less than the packet's own if the file ends, or another packet starts, inside it */
	uint64_t offset, size;
	uint64_t begin, end; /* in cycles */
	uint64_t seq, content_bits;
	uint64_t discarded;           /* the counter of lost events */
	struct recorded_copy *copies; /* where else it is; NULL: nowhere */
};

struct recorded_stream {
	char *name;            /* of its first file: "ch_0" */
	uint64_t id, instance; /* stream class and instance */
	GPtrArray *paths;      /* char * */
	GArray *packets;       /* struct recorded_packet, in time order */
};

struct recording {
	char *name;       /* for messages */
	char *hostname;   /* from the env block, else from the directory */
	char *session;    /* the name given by the tracer, else the directory's */
	char *clock_uuid; /* distinguishes machines with the same name; NULL: unknown */
	char *path;       /* of a trace within its session: "kernel", "ust/uid/1000/64-bit" */
	char *text;       /* metadata */
	struct layout *layout;
	GPtrArray *streams;        /* struct recorded_stream *, those that have packets */
	uint64_t begin_ns, end_ns; /* first event, end of the last packet; on its own clock */
	uint64_t bytes;
	uint64_t bytes_at_once; /* of the largest packet of each stream */
	unsigned damaged;       /* places where packets are missing or truncated; reported as warnings */
};

/*
 * Packets of more than VIEWER_PACKET_MAX bytes are left out. LT_END: the trace has no packets. LT_ERROR: nothing in it
 * can be fed.
 */
enum lt_status recording_open(const struct source_spec *spec, struct recording **out);

void recording_close(struct recording *r);

/* The bytes of a packet, to be freed with g_free(). NULL: unreadable, see the error chain. */
uint8_t *recording_read(const struct recorded_packet *p);

/* Whether the packet, or a copy of it, is there; path is the stream's. */
bool recorded_packet_is_at(const struct recorded_packet *p, const char *path, uint64_t offset);

static inline const struct recorded_packet *recorded_packet(const struct recorded_stream *s, guint i)
{
	return &g_array_index(s->packets, struct recorded_packet, i);
}

#endif
