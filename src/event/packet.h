/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_EVENT_PACKET_H
#define LT_EVENT_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "event/payload.h"

/*
 * Contents of a packet's headers, as recorded in an event. The fields may hold any value in a damaged trace, so check
 * bounds.
 */
enum { PACKET_TCP = 6, PACKET_UDP = 17, PACKET_UDP_HEADER = 8 };

enum packet_tcp_flag {
	PACKET_FIN = 1 << 0,
	PACKET_SYN = 1 << 1,
	PACKET_RST = 1 << 2,
	PACKET_ACK = 1 << 4,
};

/* Bytes after the TCP or UDP header, in [0, INT32_MAX]; -1: unknown. */
static inline int32_t packet_payload_len(const struct ev_net *p, uint8_t protocol)
{
	/* a damaged trace may have a greater value than any header field can hold */
	const int64_t length = (int64_t)(p->tot_len < INT32_MAX ? p->tot_len : INT32_MAX);
	const int64_t ip = p->ip_version == 4 ? (int64_t)(p->header_words >> 8 & 0xff) * 4 : 0;
	const int64_t own = protocol == PACKET_TCP ? (int64_t)(p->header_words & 0xff) * 4 : PACKET_UDP_HEADER;

	if ((p->ip_version != 4 && p->ip_version != 6) || !p->tot_len || length < ip + own)
		return -1;
	return (int32_t)(length - ip - own);
}

/*
 * Where in the IPv4 datagram the packet's data starts, in units of 8 bytes. If not 0, it is a later fragment: it has
 * the ID and the protocol of the first one, but data in place of the TCP or UDP header.
 */
static inline uint32_t packet_fragment_offset(const struct ev_net *p)
{
	return p->ip_version == 4 ? p->frag_off & 0x1fff : 0;
}

/* The protocol whose header was recorded; 0: neither TCP nor UDP. */
static inline uint8_t packet_protocol(const struct ev_net *p)
{
	const bool known = p->protocol == PACKET_TCP || p->protocol == PACKET_UDP;

	return p->ip_version && known && !packet_fragment_offset(p) ? (uint8_t)p->protocol : 0;
}

#endif
