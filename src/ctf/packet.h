/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_PACKET_H
#define LT_CTF_PACKET_H

#include <stddef.h>

#include "ctf/role.h"
#include "ctf/walk.h"

/*
 * The header and the context of a packet: what stands in front of its events.
 *
 *   | header: magic uuid stream_id … | context: times sizes counters cpu_id | event | event | … | padding |
 *   0                                                                       events_at          content  size
 */
#define PACKET_MAGIC UINT64_C(0xc1fc1fc1)

/* Where a field stands; size 0: the packet has none. */
struct packet_place {
	uint64_t at; /* bits */
	unsigned size;
	enum bits_order order;
};

struct packet_head {
	uint64_t values[PACKET_FIELDS];
	struct packet_place places[PACKET_FIELDS];
	const struct layout_stream *stream;
	uint64_t events_at; /* bits, not yet aligned for the first event */
};

/*
 * Reads the head of the packet at data[0..len[; values that are missing are 0.
 * LT_ERROR: not a packet of this trace, or len is too short for its head. LT_AGAIN: its stream is not in the metadata,
 * which may grow. The error chain says what is wrong in either case.
 */
enum lt_status packet_read_head(const struct layout *l, const uint8_t *data, size_t len, struct packet_head *head);

/* The same at the beginning of a walk, which keeps what the events refer to. w->at is then head->events_at. */
enum lt_status packet_walk_head(const struct layout *l, struct walk *w, struct packet_head *head);

static inline bool packet_has(const struct packet_head *head, enum packet_field field)
{
	return head->places[field].size != 0;
}

/* Overwrites a field in the bytes of a packet with this head; nothing if there is none. */
void packet_set(const struct packet_head *head, uint8_t *data, enum packet_field field, uint64_t value);

#endif
