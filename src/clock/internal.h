/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_INTERNAL_H
#define LT_CLOCK_INTERNAL_H

#include "base/map64.h"
#include "clock/arrival.h"
#include "clock/map_build.h"
#include "clock/match.h"
#include "clock/pair.h"
#include "clock/sync.h"
#include "clock/tree.h"

/* Shared by the files that implement sync.h. */

enum { NO_HOST = -1 };

struct clock_host {
	char *name, *uuid;
	bool seen;                  /* has sent or received packets */
	uint64_t received, bare;    /* received packets, with and without headers */
	uint64_t first_ns, last_ns; /* of its packets */
	uint64_t now_ns;            /* its current time, by packets and clock_sync_time() */
	uint64_t updated_ns;        /* now_ns when its map was last updated */
	bool ignored;               /* some of its packets were: clock_options.ignore_ports */
	bool by_hand;
	int64_t offset_ns;
	unsigned clock; /* the first host with this same clock; that host holds .arrival to .half_ns */
	struct clock_arrival arrival;
	unsigned heard;   /* clock_sync.n_seconds at its last arrival */
	int64_t shift_ns; /* by arrival: added to its time, and to that of its followers; else 0 */
	bool by_arrival;  /* shift_ns was derived from arrival; it may still be 0 */
	uint64_t half_ns; /* shift_ns is about right within this */
	struct clock_map *map;
	int ref, up;                 /* reference, neighbour towards it */
	struct clock_pair *pair;     /* with that neighbour; NULL: none (by hand) */
	bool has_bound;              /* it has a reference */
	double bound_ns;             /* -1: unknown */
	struct clock_host_info info; /* members that are expensive to compute; the others are filled in on request */
};

struct clock_sync {
	struct clock_options options;
	double rho;
	GPtrArray *hosts;          /* struct clock_host */
	GPtrArray *pairs;          /* struct clock_pair */
	struct map64 pair_numbers; /* a << 32 | b */
	struct matcher *matcher;
	bool arrived;        /* an arrival has started a new second since the last update */
	uint64_t arrived_ns; /* our time at the last arrival */
	unsigned n_seconds;  /* of our time in which anything arrived */
	int common;          /* by arrival: the host whose time all use, or NO_HOST */
	bool due;            /* a host with packets has advanced far enough for its next map */
	bool moving;         /* maps have been published before the end */
	bool whole;          /* maps cover the whole recording */
	clock_match_fn *on_match;
	void *on_match_data;
	struct clock_match *kept; /* ring */
	uint64_t n_kept;
};

static inline struct clock_host *clock_host_at(const struct clock_sync *s, unsigned n)
{
	return g_ptr_array_index(s->hosts, n);
}

static inline struct clock_pair *clock_pair_at(const struct clock_sync *s, unsigned n)
{
	return g_ptr_array_index(s->pairs, n);
}

/* Stores a match in the ring and passes it to the listener. */
void clock_sync_add_match(struct clock_sync *s, const struct clock_match *match);

/* The host named by options.ref, or NO_HOST. */
int clock_sync_chosen(const struct clock_sync *s);

/*
 * Relates the hosts: sets ref, up and pair of each. bounds: half width in ns of each pair, negative: not related. With
 * keep_roots, roots remain roots. order has room for all hosts and receives the related ones, each reference before the
 * hosts that lead to it. Returns their number.
 */
unsigned clock_relate(struct clock_sync *s, const double *bounds, bool keep_roots, unsigned *order);

/*
 * shift.c: moves hosts to the time of one of them by the arrival of their events. Returns whether a map must be
 * updated.
 */
bool clock_shift(struct clock_sync *s);

/* The host whose time some other host has been moved to by arrival, or NO_HOST. */
int clock_shift_common(const struct clock_sync *s);

/* The number of hosts with this reference. */
unsigned clock_count_followers(const struct clock_sync *s, unsigned host);

/* The host that holds the arrival data of this host's clock. */
static inline struct clock_host *clock_owner(const struct clock_sync *s, unsigned host)
{
	return clock_host_at(s, clock_host_at(s, host)->clock);
}

/* move.c, whole.c: the main steps of clock_sync_update() and _finish(). */
void clock_move_maps(struct clock_sync *s);
void clock_make_whole_maps(struct clock_sync *s);

/* Error bound of the host's map at host_ns, in ns; -1: unknown. The host must have a reference. */
double clock_moving_bound(const struct clock_sync *s, unsigned host, uint64_t host_ns);
double clock_whole_bound(const struct clock_sync *s, unsigned host, uint64_t host_ns);

#endif
