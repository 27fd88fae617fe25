/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_TCP_H
#define LT_MODEL_TCP_H

/*
 * One direction of a TCP connection as one host sees it: which of its bytes are new.
 *
 *        seen before          next
 *   ─────────┬───missing───┬───┤
 *            │ a late one   │   │ a new one ─▶      numbers modulo 2^32; SYN and FIN count one each
 *
 * Inside model/ only; nothing here knows about rows.
 */
#include <stdbool.h>
#include <stdint.h>

#include "event/payload.h"

struct tcp_segment {
	uint32_t seq, ack;
	uint32_t len; /* bytes of payload */
	bool syn, fin, rst, has_ack;
};

struct tcp_way {
	uint32_t next;    /* number after the last byte seen */
	uint32_t ack;     /* the highest acknowledgement it carried */
	uint32_t missing; /* bytes before next that were not seen: lost, late, or not in the trace */
	uint32_t first;   /* number of the SYN */
	uint32_t fin;     /* number after the FIN */
	uint32_t netif;   /* the interface on which its packets count */
	bool seen, acks, syn_seen, fin_seen;
};

/* What a packet adds to its direction. */
struct tcp_news {
	bool copy;      /* seen before on another interface: nothing else is set */
	uint32_t bytes; /* of its payload, those not seen before */
	bool again;     /* some or all of it had been seen before */
};

/* False: it is not a TCP segment, or its lengths contradict each other. */
bool tcp_segment_of(const struct ev_net *p, struct tcp_segment *out);

/* Adds the packet to its direction. */
struct tcp_news tcp_way_packet(struct tcp_way *way, const struct tcp_segment *s, uint32_t netif);

/* Whether the packet has nothing new for this direction. */
bool tcp_way_has(const struct tcp_way *way, const struct tcp_segment *s);

/* Whether the end of way was seen, and other has acknowledged it. */
bool tcp_way_closed(const struct tcp_way *way, const struct tcp_way *other);

#endif
