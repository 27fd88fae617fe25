/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_PACKET_H
#define LT_CTF_PACKET_H

#include <stddef.h>

#include "ctf/role.h"
#include "ctf/walk.h"

/*
 * The header and the context of a packet, which precede its events.
 *
 *   | header: magic uuid stream_id … | context: times sizes counters cpu_id | event | event | … | padding |
 *   0                                                                       events_at          content  size
 */
#define PACKET_MAGIC UINT64_C(0xc1fc1fc1)

/* The place of a field; size 0: the packet does not have it. */
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
 * Reads the head of the packet at data[0..len[; missing values are 0. LT_ERROR: not a packet of this trace, or len is
 * too short for its head. LT_AGAIN: its stream is not in the metadata, which may still grow. The error chain has the
 * reason in both cases.
 */
enum lt_status packet_read_head(const struct layout *l, const uint8_t *data, size_t len, struct packet_head *head);

/* The same as the start of a walk, which keeps the values that events refer to. w->at is head->events_at afterwards. */
enum lt_status packet_walk_head(const struct layout *l, struct walk *w, struct packet_head *head);

static inline bool packet_has(const struct packet_head *head, enum packet_field field)
{
	return head->places[field].size != 0;
}

/* Overwrites a field in the bytes of a packet with this head; does nothing if the packet does not have it. */
void packet_set(const struct packet_head *head, uint8_t *data, enum packet_field field, uint64_t value);

/* The length of the packet in bytes; 0: impossible. rest: bytes left in its file. */
uint64_t packet_bytes(const struct packet_head *head, uint64_t rest);

#endif
