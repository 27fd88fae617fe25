/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_SYNC_H
#define LT_CLOCK_SYNC_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock/map.h"
#include "clock/match.h"

/*
 * Synchronises the clocks of all hosts by the packets they exchange:
 *
 *   packets ──▶ match.c ──▶ window.c (a pair of hosts) ──▶ tree.c ──▶ map.c (a map per host)
 *
 * Matches sends with receives (clock/match.h), keeps for each pair of hosts the feasible lines of bounded drift in a
 * sliding window, connects the hosts by a spanning tree of the narrowest bounds, and publishes a map per host. Packets
 * of different hosts may come in any order. Main thread only.
 */
struct clock_sync;

enum clock_state {
	CLOCK_REFERENCE,
	CLOCK_ABSENT,      /* no certain packet */
	CLOCK_INCOMPLETE,  /* certain packets in one direction only */
	CLOCK_APPROXIMATE, /* in both, but they overlap too little for a bound on both sides */
	CLOCK_ACCURATE,
	CLOCK_FAILED, /* no line of bounded drift fits; the last good one is kept */
	CLOCK_STATES
};

const char *clock_state_name(enum clock_state state);

/* Why a host's clock is absent, incomplete or without a bound. */
enum clock_obstacle {
	CLOCK_NO_OBSTACLE,
	CLOCK_NO_EVENTS,  /* its traces have no packet events */
	CLOCK_NO_HEADERS, /* most packets it received have no headers: receive offload (GRO) is off */
	CLOCK_NO_PARTNER, /* no other host has the packets it sent and received */
	CLOCK_IGNORED,    /* the same, but its packets of some ports were ignored: clock_options.ignore_ports */
	CLOCK_ONE_WAY,
	CLOCK_JUMPED,  /* no line of plausible drift fits the packets */
	CLOCK_BY_HAND, /* its offset, or that of a host on the way to its reference, was set by hand */
};

/* Text for the host; NULL: there is no obstacle. */
const char *clock_obstacle_text(enum clock_obstacle obstacle);

struct clock_options {
	uint64_t window_ns;           /* sliding window, 0: 60 s; for whole recordings, this much on both sides */
	double rho_ppm;               /* limit of the drift between two clocks, 0: 100 */
	const char *ref;              /* reference host, NULL: the tree's centre (of several, the lowest name) */
	bool match_only;              /* match packets only; every map stays the identity */
	const uint16_t *ignore_ports; /* packets with these TCP or UDP ports are ignored */
	unsigned n_ignore_ports;
};

struct clock_sync *clock_sync_create(const struct clock_options *options);
void clock_sync_destroy(struct clock_sync *s);

/*
 * Adds a host; returns its number (0, 1 …). clock_uuid identifies its clock, "" or NULL: unknown; hosts with the same
 * clock share its arrival data. Both strings are copied.
 */
unsigned clock_sync_add_host(struct clock_sync *s, const char *name, const char *clock_uuid);
unsigned clock_sync_host_count(const struct clock_sync *s);

/* Sets the offset by hand: host's time + offset_ns = reference time, no drift, bound 0. Overrides the packets. */
void clock_sync_set_offset(struct clock_sync *s, unsigned host, int64_t offset_ns);

/*
 * A packet was sent or received at ts_ns by the host's own clock (net_dev_queue …; clock_packet_of_event() converts the
 * record). The times of one host do not decrease. Hosts need not be in step, but the packets by which one is ahead of
 * another are kept in memory: at most CLOCK_PACKETS_KEPT of each host, and CLOCK_PACKETS_BYTES of all. Live hosts that
 * clock_sync_arrival() shows to be in step keep those of the last CLOCK_LIVE_KEPT_S seconds.
 */
enum { CLOCK_PACKETS_KEPT = 1 << 18, CLOCK_PACKETS_BYTES = 256 << 20, CLOCK_LIVE_KEPT_S = 60 };
void clock_sync_packet(struct clock_sync *s, unsigned host, uint64_t ts_ns, bool sent,
		       const struct clock_packet *packet);

/* The host received a packet whose event has no headers. */
void clock_sync_bare_packet(struct clock_sync *s, unsigned host);

/*
 * The host's own clock has reached ts_ns: the map may be asked for times up to there, and its answers for them stay
 * valid. clock_sync_packet() implies this.
 */
void clock_sync_time(struct clock_sync *s, unsigned host, uint64_t ts_ns);

/*
 * Live: by now_ns of this machine's clock, everything that happened up to host_ns of the host's clock had arrived.
 * Hosts that packets do not connect to the reference are moved to its time by this, if their clocks differ by more than
 * arrival varies.
 */
void clock_sync_arrival(struct clock_sync *s, unsigned host, uint64_t host_ns, uint64_t now_ns);

/*
 * Updates the estimates with recent packets, at most once per second of the hosts' time; live, this extends the maps,
 * and drops old packets, with match_only, too. Cheap when nothing is new.
 */
void clock_sync_update(struct clock_sync *s);

/* No more packets follow (recordings): makes the best map for the whole recording of every host. */
void clock_sync_finish(struct clock_sync *s);

/* The host's map; borrowed, valid as long as s, changed by update and finish. */
const struct clock_map *clock_sync_map(const struct clock_sync *s, unsigned host);

/* ---- results, for reports and the screen ---- */

struct clock_host_info {
	enum clock_state state;
	enum clock_obstacle obstacle;
	int ref;           /* number of its reference host; its own for the reference; -1: none */
	uint64_t matched;  /* packets between it and its neighbour in the tree */
	uint64_t used;     /* those that the estimate uses (unambiguous, within the window) */
	uint64_t negative; /* matches with a corrected latency below 0 */
	double drift_ppm;  /* of its clock against the reference's; positive: its clock is faster */
	bool has_bound;
	uint64_t bound_ns; /* guaranteed half width of the error at its last packet; live: now */
	bool has_latency_to, has_latency_from;
	int64_t latency_to_min_ns;   /* host → neighbour, corrected */
	int64_t latency_from_min_ns; /* neighbour → host */
	int64_t latency_to_median_ns, latency_from_median_ns;
	uint64_t last_match_ns;   /* by its clock */
	bool by_arrival;          /* live, no packets: placed by arrival in the time of ref, or (-1) in its own */
	uint64_t arrival_half_ns; /* approximate error of that, not guaranteed */
};

struct clock_host_info clock_sync_info(const struct clock_sync *s, unsigned host);

/*
 * The half width of the error of the host's map at host_ns, guaranteed as long as no clock jumps; false: unknown, also
 * where packets show that one jumped.
 */
bool clock_sync_bound(const struct clock_sync *s, unsigned host, uint64_t host_ns, uint64_t *bound_ns);

/*
 * The same for one time of the host: state, obstacle and bound are those at host_ns. Where a clock jumped, the state is
 * CLOCK_FAILED.
 */
struct clock_host_info clock_sync_info_at(const struct clock_sync *s, unsigned host, uint64_t host_ns);

/* Reference time minus host time, at host_ns of the host's time. */
int64_t clock_sync_offset(const struct clock_sync *s, unsigned host, uint64_t host_ns);

/* A matched packet. Times are by the hosts' own clocks. */
struct clock_match {
	unsigned from, to; /* hosts */
	uint64_t sent_ns, received_ns;
	struct clock_packet packet; /* as sent */
	bool part;                  /* one end is a piece of the other: split or merged on the way */
	bool ambiguous;             /* seen more than once: retransmitted, on several interfaces … */
	bool used;                  /* used for the clocks */
};

/* Called with every match when it is made; NULL: no function. */
typedef void clock_match_fn(void *data, const struct clock_match *match);
void clock_sync_on_match(struct clock_sync *s, clock_match_fn *fn, void *data);

/* The latest matches, newest last, at most CLOCK_MATCHES_KEPT, for the screen. Returns their number. */
enum { CLOCK_MATCHES_KEPT = 4096 };
unsigned clock_sync_matches(const struct clock_sync *s, const struct clock_match **matches, unsigned max);

#endif
