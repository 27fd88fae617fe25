/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_SYNC_H
#define LT_CLOCK_SYNC_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock/map.h"
#include "clock/match.h"

/*
 * The clocks of all hosts against each other, from the packets they exchange:
 *
 *   packets ──▶ match.c ──▶ window.c (a pair of hosts) ──▶ tree.c ──▶ map.c (a map per host)
 *
 * Matches sends with receives (clock/match.h), keeps for each pair of hosts the
 * feasible lines of bounded drift in a sliding window, spans the hosts with a
 * tree by the width of the bounds, and publishes a map per host. Hosts' packets may
 * come in any order between hosts. Main thread only.
 */
struct clock_sync;

enum clock_state {
	CLOCK_REFERENCE,
	CLOCK_ABSENT,      /* no packet that is certain */
	CLOCK_INCOMPLETE,  /* in one direction only */
	CLOCK_APPROXIMATE, /* both, but not overlapping enough for a bound both ways */
	CLOCK_ACCURATE,
	CLOCK_FAILED, /* no line of bounded drift fits: the last good one is kept */
};

const char *clock_state_name(enum clock_state state);

/* Why a host's clock is absent or incomplete. */
enum clock_obstacle {
	CLOCK_NO_OBSTACLE,
	CLOCK_NO_EVENTS,  /* its traces have no events of packets */
	CLOCK_NO_HEADERS, /* of most packets it received they have no headers: receive offload (GRO) is off */
	CLOCK_NO_PARTNER, /* no other host has the packets it sent and received */
	CLOCK_ONE_WAY,
};

/* In words, as of the host; NULL: there is no obstacle. */
const char *clock_obstacle_text(enum clock_obstacle obstacle);

struct clock_options {
	uint64_t window_ns;           /* sliding window, 0: 60 s; of whole recordings, in both directions */
	double rho_ppm;               /* bound of the drift between two clocks, 0: 100 */
	const char *ref;              /* name of the reference host, NULL: the tree's centre, ties to the lowest name */
	bool match_only;              /* packets are matched, every map stays the identity */
	const uint16_t *ignore_ports; /* packets of these TCP or UDP ports are left out */
	unsigned n_ignore_ports;
};

struct clock_sync *clock_sync_create(const struct clock_options *options);
void clock_sync_destroy(struct clock_sync *s);

/*
 * Adds a host; returns its number (0, 1 …). clock_uuid: the clock's identity, "" or NULL unknown; hosts of one clock
 * share what is known of it by arrival. Both are copied.
 */
unsigned clock_sync_add_host(struct clock_sync *s, const char *name, const char *clock_uuid);
unsigned clock_sync_host_count(const struct clock_sync *s);

/* By hand: host's time + offset_ns = reference's time, no drift, bound 0. Wins over what packets say. */
void clock_sync_set_offset(struct clock_sync *s, unsigned host, int64_t offset_ns);

/*
 * A packet was sent or received at ts_ns by the host's own clock (net_dev_queue …; clock_packet_of_event()
 * makes it of a record). Times of one host do not go back. Hosts need not be in step, but what a host is ahead of
 * another by is kept in memory: at most CLOCK_PACKETS_KEPT packets of each. Live hosts that clock_sync_arrival() shows
 * to be in step keep those of the last CLOCK_LIVE_KEPT_S seconds.
 */
enum { CLOCK_PACKETS_KEPT = 1 << 18, CLOCK_LIVE_KEPT_S = 60 };
void clock_sync_packet(struct clock_sync *s, unsigned host, uint64_t ts_ns, bool sent,
		       const struct clock_packet *packet);

/* The host received a packet whose event has no headers. */
void clock_sync_bare_packet(struct clock_sync *s, unsigned host);

/*
 * The host's own clock has come to ts_ns: the map may be asked for times up to
 * there, and what it says of them stays. Packets say so themselves.
 */
void clock_sync_time(struct clock_sync *s, unsigned host, uint64_t ts_ns);

/*
 * Live: what the host had done until host_ns by its clock was here at now_ns by this machine's. Hosts that no packets
 * lead to the reference come by that to its time, if their clocks differ by more than arrival varies.
 */
void clock_sync_arrival(struct clock_sync *s, unsigned host, uint64_t host_ns, uint64_t now_ns);

/*
 * Estimates anew from what came since, at most once per second of the hosts' time:
 * live, this moves the maps on. Cheap when nothing is new.
 */
void clock_sync_update(struct clock_sync *s);

/* No packet will follow (recordings): every map becomes the best for the whole record. */
void clock_sync_finish(struct clock_sync *s);

/* The host's map; borrowed, lives as long as s, changes with update and finish. */
const struct clock_map *clock_sync_map(const struct clock_sync *s, unsigned host);

/* ---- what is known, for reports and the screen ---- */

struct clock_host_info {
	enum clock_state state;
	enum clock_obstacle obstacle;
	int ref;           /* its reference host's number; of the reference itself: its own; -1: none */
	uint64_t matched;  /* packets between it and its neighbour in the tree */
	uint64_t used;     /* those the estimate rests on (unambiguous, within the window) */
	uint64_t negative; /* matches whose corrected latency is below 0 */
	double drift_ppm;  /* of its clock against the reference's: positive, its clock is faster */
	bool has_bound;
	uint64_t bound_ns; /* guaranteed half width of the error at its last packet; live: now */
	bool has_latency_to, has_latency_from;
	int64_t latency_to_min_ns;   /* host → neighbour, corrected */
	int64_t latency_from_min_ns; /* neighbour → host */
	int64_t latency_to_median_ns, latency_from_median_ns;
	uint64_t last_match_ns;   /* by its clock */
	bool by_arrival;          /* live: no packets, but when its events come says where it is, in the time of ref;
					without one: where it would be anyway */
	uint64_t arrival_half_ns; /* about as exact that is; nobody guarantees it */
};

struct clock_host_info clock_sync_info(const struct clock_sync *s, unsigned host);

/* The guaranteed half width of the error of the host's map at host_ns; false: nobody knows. */
bool clock_sync_bound(const struct clock_sync *s, unsigned host, uint64_t host_ns, uint64_t *bound_ns);

/* Reference's time - host's time, at the host's time. */
int64_t clock_sync_offset(const struct clock_sync *s, unsigned host, uint64_t host_ns);

/* One matched packet. Times by the hosts' own clocks. */
struct clock_match {
	unsigned from, to; /* hosts */
	uint64_t sent_ns, received_ns;
	struct clock_packet packet; /* as sent */
	bool part;                  /* one end is a piece of the other: split or merged on the way */
	bool ambiguous;             /* it was seen more than once: retransmitted, on several interfaces … */
	bool used;                  /* the clocks rest on it */
};

/* Called with every match as it is made; NULL: nobody. */
typedef void clock_match_fn(void *data, const struct clock_match *match);
void clock_sync_on_match(struct clock_sync *s, clock_match_fn *fn, void *data);

/*
 * The latest matches, newest last, at most CLOCK_MATCHES_KEPT: what the screen
 * draws. Returns how many there are.
 */
enum { CLOCK_MATCHES_KEPT = 4096 };
unsigned clock_sync_matches(const struct clock_sync *s, const struct clock_match **matches, unsigned max);

#endif
