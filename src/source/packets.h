/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_PACKETS_H
#define LT_SOURCE_PACKETS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The packets of a data file, from LTTng's index file or from their own headers,
 * without the decoding library, which reads a trace from its begin. For traces as LTTng's tracers
 * write them: whatever is not like that is said not to be known.
 */

/* Where a packet's header and context, which are alike in all packets of a trace, have what. */
struct packet_layout {
	bool big_endian;
	uint32_t begin, end, content_bits, packet_bits; /* offsets of 64-bit integers, bytes */
	uint32_t bytes;       /* of header and context: where the first event is */
	uint64_t frequency;   /* of the clock, Hz */
	int64_t offset;       /* cycles */
	int64_t offset_s;     /* s */
};

/* false: the metadata declares them in another way. */
bool packet_layout_read(struct packet_layout *layout, const char *metadata);

/* Where the packet is in its file, and from when to when its events are (by the trace's clock, ns since the epoch). */
struct packet {
	uint64_t offset, bytes;
	uint64_t begin_ns, end_ns;
};

/*
 * Appends the file's packets (struct packet), in order. index: name of its index file, which may not exist. false:
 * they do not fill the file, or do not follow each other in time.
 */
bool packets_list(const struct packet_layout *layout, int fd, const char *index, GArray *packets);

enum { EMPTY_PACKET_BYTES = 4096 };

/*
 * The packet without its events: what its header says of its time and of losses until then, as
 * a packet of EMPTY_PACKET_BYTES. false: it cannot be read.
 */
bool packet_read_empty(const struct packet_layout *layout, int fd, const struct packet *packet, void *out);

#endif
