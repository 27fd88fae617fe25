/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UNIT_CLOCK_H
#define LT_UNIT_CLOCK_H

#include <math.h>
#include <string.h>

#include "clock/match.h"

/* Hand-built packets for the tests of clock/. */
enum { TCP_ACK = 0x10, TCP_PSH = 0x08, TCP_SYN = 0x02, TCP_FIN = 0x01, TCP_ECE = 0x40 };

static inline struct clock_packet tcp_packet(uint32_t seq, uint32_t ack_seq, int32_t payload_len, uint16_t id)
{
	return (struct clock_packet){
		.saddr = { 0x0100000a },
		.daddr = { 0x0200000a },
		.sport = 40000,
		.dport = 80,
		.seq = seq,
		.ack_seq = ack_seq,
		.flags = TCP_ACK,
		.id = id,
		.payload_len = payload_len,
		.ip_version = 4,
		.protocol = 6,
	};
}

static inline struct clock_packet tcp6_packet(uint32_t seq, uint32_t ack_seq, int32_t payload_len)
{
	struct clock_packet p = tcp_packet(seq, ack_seq, payload_len, 0);

	p.saddr[1] = 1;
	p.daddr[1] = 2;
	p.ip_version = 6;
	return p;
}

static inline struct clock_packet udp_packet(uint16_t id, int32_t payload_len)
{
	struct clock_packet p = tcp_packet(0, 0, payload_len, id);

	p.flags = 0;
	p.dport = 53;
	p.protocol = 17;
	return p;
}

/* The same packet in the opposite direction. */
static inline struct clock_packet turned(struct clock_packet p)
{
	struct clock_packet q = p;

	memcpy(q.saddr, p.daddr, sizeof(q.saddr));
	memcpy(q.daddr, p.saddr, sizeof(q.daddr));
	q.sport = p.dport;
	q.dport = p.sport;
	return q;
}

/* Reproducible pseudo-random numbers: xorshift64*. */
static inline double random_unit(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (double)(*state * UINT64_C(2685821657736338717) >> 11) / 9007199254740992.0;
}

static inline double random_normal(uint64_t *state)
{
	double radius = sqrt(-2 * log(1 - random_unit(state)));

	return radius * cos(2 * 3.14159265358979323846 * random_unit(state));
}

static inline double random_exponential(uint64_t *state, double mean)
{
	return -mean * log(1 - random_unit(state));
}

#endif
