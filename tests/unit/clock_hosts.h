/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UNIT_CLOCK_HOSTS_H
#define LT_UNIT_CLOCK_HOSTS_H

/* Hosts with clocks whose true difference is known, for the tests of clock/sync.h. */
#include "clock.h"
#include "clock/sync.h"

#define BASE_NS UINT64_C(1700000000000000000)
#define SECOND_NS UINT64_C(1000000000)

/* A network without queues, between hosts whose clocks are linear. */
struct clock {
	unsigned host;
	int64_t offset_ns; /* its time - true time, at BASE_NS */
	double drift;
};

static inline uint64_t read_clock(const struct clock *c, uint64_t true_ns)
{
	return true_ns + (uint64_t)c->offset_ns + (uint64_t)(int64_t)(c->drift * (double)(int64_t)(true_ns - BASE_NS));
}

static inline struct clock add_clock(struct clock_sync *s, const char *name, int64_t offset_ns, double drift)
{
	struct clock c = { clock_sync_add_host(s, name, name), offset_ns, drift };

	return c;
}

static inline void send(struct clock_sync *s, const struct clock *from, const struct clock *to, uint64_t true_ns,
			uint64_t latency_ns)
{
	static uint32_t seq;
	struct clock_packet p = tcp_packet(seq, 7, 10, seq % 60000 + 1);

	seq += 10;
	clock_sync_packet(s, from->host, read_clock(from, true_ns), true, &p);
	clock_sync_packet(s, to->host, read_clock(to, true_ns + latency_ns), false, &p);
}

/* Packets in both directions for this number of seconds, 10 per second each. */
static inline void talk(struct clock_sync *s, const struct clock *a, const struct clock *b, uint64_t from_s,
			uint64_t to_s, uint64_t latency_ns)
{
	for (uint64_t t = BASE_NS + from_s * SECOND_NS; t < BASE_NS + to_s * SECOND_NS; t += SECOND_NS / 10) {
		send(s, a, b, t, latency_ns);
		send(s, b, a, t + SECOND_NS / 20, latency_ns);
	}
}

/* The difference of the two hosts' corrected times for one true instant. */
static inline double error_ns(const struct clock_sync *s, const struct clock *a, const struct clock *b,
			      uint64_t true_ns)
{
	uint64_t x = clock_to_ref(clock_sync_map(s, a->host), read_clock(a, true_ns));
	uint64_t y = clock_to_ref(clock_sync_map(s, b->host), read_clock(b, true_ns));

	return fabs((double)(int64_t)(x - y));
}

/* Every 100 ms of our time, the host has been read up to latency_ns ago; speed: of its time relative to ours. */
static inline void arrive(struct clock_sync *s, const struct clock *c, double from_s, double to_s, uint64_t latency_ns,
			  double speed)
{
	for (double t = from_s; t < to_s; t += 0.1) {
		const uint64_t now_ns = BASE_NS + (uint64_t)(t * 1e9);
		const uint64_t true_ns = BASE_NS + (uint64_t)(t * speed * 1e9) - latency_ns;

		clock_sync_arrival(s, c->host, read_clock(c, true_ns), now_ns);
		clock_sync_update(s);
	}
}

#endif
