/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_MATCH_H
#define LT_CLOCK_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "event/payload.h"

/*
 * Matches received packets with sent ones by their headers alone, as every host sees them. It has two users: the
 * clocks, which feed the hosts' packets in any order between hosts, and the wake-up graph, which feeds them in order of
 * corrected time.
 *
 *   TCP  sequence number, acknowledgement, flags without PSH and ECN, payload or none; of several, the
 *        one with the same addresses and ports, and the same IPv4 id (a retransmission has a new one). Other
 *        addresses (NAT) only if nothing else fits. A packet without a partner matches by its first byte:
 *        it is part of one that was split on the way (segmentation offload), or was merged (GRO).
 *   UDP  addresses, ports, IPv4 id, length. Only the order of sending tells datagrams without an id apart (IPv6, and
 *        IPv4 from unconnected sockets): fed in order of time, the partner is the latest one sent, unless that has
 *        arrived already; in any order, one without a double.
 *
 * An effect that is fed before its cause on the same host is not matched. Packets are kept whether matched or not,
 * first in first out per host, limited by a number per host and by memory, of which no host takes more than its share
 * while others need theirs.
 */
enum clock_packet_layout {
	CLOCK_PACKET_NET_DEV = 0, /* net_dev_queue, net_if_receive_skb and their older names */
	CLOCK_PACKET_SOCK_LOCAL,  /* inet_sock_local_out, inet_sock_local_in: no addresses, no length */
	CLOCK_PACKET_TRANSPORT,   /* net_dev_queue with transport_fields.thtype_tcp */
};

/* Headers of a packet. ip_version 0: the layout has no IP header. */
struct clock_packet {
	uint64_t saddr[2]; /* network byte order, IPv4 in the first 4 bytes */
	uint64_t daddr[2];
	uint32_t seq, ack_seq; /* seq of UDP: the offset of a later fragment, which has no ports */
	uint16_t sport, dport;
	uint16_t flags;      /* TCP: as in the event (9 bits; inet_sock_local_*: 16 with the data offset) */
	uint16_t id;         /* IPv4; 0: none */
	int32_t payload_len; /* bytes after the TCP or UDP header, -1 unknown */
	uint8_t ip_version;
	uint8_t protocol; /* 6 TCP, 17 UDP */
	uint8_t layout;   /* enum clock_packet_layout: packets of different layouts never match */
};

/* Reads the headers from an event. False: it is neither TCP nor UDP, or has no headers. */
bool clock_packet_of_event(const struct ev_net *event, enum clock_packet_layout layout, struct clock_packet *out);

struct match_end {
	unsigned host;
	uint64_t ts_ns;
	uint64_t cookie[2]; /* as fed */
};

struct match {
	struct match_end from, to;         /* the send and the receive; both may be on the same host (lo, veth) */
	const struct clock_packet *packet; /* as sent; borrowed until the callback returns */
	bool part;      /* matched by bytes: one was split or merged on the way; each may be in several matches */
	bool ambiguous; /* seen more than once (several interfaces, retransmissions, duplicate acknowledgements) */
	/*
	 * Safe to use for the clocks: the packet went from one host to another, and the send at certain_sent_ns
	 * happened before the receive at certain_received_ns. If a packet crosses several interfaces of the sender, the
	 * first counts.
	 */
	bool certain;
	uint64_t certain_sent_ns, certain_received_ns;
};

/* Called from matcher_feed(); must not feed. */
typedef void match_fn(void *data, const struct match *match);

struct match_options {
	uint32_t packets_per_host; /* 0: 65536 */
	size_t memory_bytes;       /* of all hosts together; 0: no limit */
	uint64_t transit_max_ns;   /* packets are fed in order of time, and arrive within this; 0: in any order */
};

/* Main thread only. */
struct matcher;

/* options may be NULL: all defaults. */
struct matcher *matcher_create(const struct match_options *options, match_fn *fn, void *data);
void matcher_destroy(struct matcher *m);

/*
 * Feeds a packet that was sent or received. Hosts are small numbers; the times of one host do not decrease. cookie is
 * returned in matches, NULL: zeros. fn is called for each match that this packet completes, in the order in which the
 * matched packets were fed. False: neither TCP nor UDP; the packet is ignored.
 */
bool matcher_feed(struct matcher *m, unsigned host, uint64_t ts_ns, bool sent, const struct clock_packet *packet,
		  const uint64_t cookie[2]);

/* Forgets the packets of a host, or of all hosts (UINT32_MAX), because later packets do not continue them. */
void matcher_forget(struct matcher *m, unsigned host);

/* Forgets the host's packets from before ts_ns by its clock. */
void matcher_forget_before(struct matcher *m, unsigned host, uint64_t ts_ns);

/* Packets kept: those without a partner, and all; for tests. */
uint32_t matcher_waiting(const struct matcher *m, unsigned host, bool sent);
uint32_t matcher_kept(const struct matcher *m, unsigned host);

/* Memory in use. */
size_t matcher_bytes(const struct matcher *m);

#endif
