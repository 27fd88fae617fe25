/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_MATCH_H
#define LT_CLOCK_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "event/payload.h"

/*
 * Which packet received is which packet sent: by its headers alone, as every
 * host sees them. Used twice: for the clocks, fed with the hosts' packets in any order
 * between hosts, and for the wake-up graph, fed in the order of corrected time.
 *
 *   TCP  sequence number, acknowledgement, flags without PSH and ECN, payload or none; of several the
 *        one with the same addresses and ports, and the same IPv4 id (a retransmission has a new one). Other
 *        addresses (NAT): if nothing else fits. A packet without partner matches by its first byte:
 *        it is a part of one that was split on the way (segmentation offload), or was merged (GRO).
 *   UDP  addresses, ports, IPv4 id, length
 *
 * An effect fed before its cause on the same host is no match. What was fed is kept, matched or
 * not, within bounds: a number per host, first in first out, and a time.
 */
enum clock_packet_layout {
	CLOCK_PACKET_NET_DEV = 0, /* net_dev_queue, net_if_receive_skb and their older names */
	CLOCK_PACKET_SOCK_LOCAL,  /* inet_sock_local_out, inet_sock_local_in: no addresses, no length */
	CLOCK_PACKET_TRANSPORT,   /* net_dev_queue with transport_fields.thtype_tcp */
};

/* The headers of a packet; ip_version 0: a layout that has no IP header. */
struct clock_packet {
	uint64_t saddr[2]; /* network byte order, IPv4 in the first 4 bytes */
	uint64_t daddr[2];
	uint32_t seq, ack_seq;
	uint16_t sport, dport;
	uint16_t flags;      /* TCP: as in the event (9 bits; inet_sock_local_*: 16 with the data offset) */
	uint16_t id;         /* IPv4; 0: none */
	int32_t payload_len; /* bytes after the TCP or UDP header, -1 unknown */
	uint8_t ip_version;
	uint8_t protocol; /* 6 TCP, 17 UDP */
	uint8_t layout;   /* enum clock_packet_layout: packets of different layouts never match */
};

/* The headers of an event; false: neither TCP nor UDP, or it had none. */
bool clock_packet_of_event(const struct ev_net *event, enum clock_packet_layout layout, struct clock_packet *out);

struct match_end {
	unsigned host;
	uint64_t ts_ns;
	uint64_t cookie[2]; /* as fed */
};

struct match {
	struct match_end from, to;         /* the send, the receive; may be of one host (lo, veth) */
	const struct clock_packet *packet; /* as sent; borrowed until the callback returns */
	bool part;      /* by its bytes: one was split or merged on the way; each may be in several matches */
	bool ambiguous; /* seen more than once (several interfaces, retransmissions, duplicate acknowledgements) */
	/*
	 * What is certain for the clocks: between two hosts, this send happened before this
	 * receive. Of a packet that crosses several interfaces of a host, its first there.
	 */
	bool certain;
	uint64_t certain_sent_ns, certain_received_ns;
};

/* Called within matcher_feed(); must not feed. */
typedef void match_fn(void *data, const struct match *match);

struct match_options {
	uint32_t packets_per_host; /* 0: 65536 */
	uint64_t timeout_ns;       /* only if all hosts' packets come in one order of time: age limit; 0: none */
};

/* Main thread only. */
struct matcher;

/* options may be NULL: all 0. */
struct matcher *matcher_create(const struct match_options *options, match_fn *fn, void *data);
void matcher_destroy(struct matcher *m);

/*
 * A packet was sent or received. Hosts are small numbers, times of one host do
 * not go back. cookie: handed back in matches, NULL: zeros. Each match this packet completes is
 * told to fn, in the order of the packets it matches. False: its protocol is none of ours, nothing done.
 */
bool matcher_feed(struct matcher *m, unsigned host, uint64_t ts_ns, bool sent, const struct clock_packet *packet,
		  const uint64_t cookie[2]);

/* Forgets the packets of a host, or of all (UINT32_MAX): what follows is not a continuation. */
void matcher_forget(struct matcher *m, unsigned host);

/* Forgets the host's packets of before ts_ns by its clock. */
void matcher_forget_before(struct matcher *m, unsigned host, uint64_t ts_ns);

/* Packets kept, without and with a partner. */
uint32_t matcher_waiting(const struct matcher *m, unsigned host, bool sent);
uint32_t matcher_kept(const struct matcher *m, unsigned host);

#endif
