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

/* What the files that make up sync.h share. */

enum { NO_HOST = -1 };

struct clock_host {
	char *name, *uuid;
	bool seen;                  /* it has had packets */
	uint64_t received, bare;    /* packets it received, with and without headers */
	uint64_t first_ns, last_ns; /* of its packets */
	uint64_t now_ns;            /* how far it has come, by packets and clock_sync_time() */
	uint64_t updated_ns;        /* now_ns when its map was made last */
	bool by_hand;
	int64_t offset_ns;
	unsigned clock; /* the first host of this very clock: it has what comes next */
	struct clock_arrival arrival;
	int64_t shift_ns; /* by arrival: to be added to its time, and that of those who follow it; else 0 */
	bool by_arrival;  /* shift_ns was found so, and may be 0 */
	uint64_t half_ns; /* and is about right within this */
	struct clock_map *map;
	int ref, up;             /* reference, neighbour towards it */
	struct clock_pair *pair; /* with that neighbour; NULL: none (by hand) */
	bool has_bound;
	double bound_ns;
	struct clock_host_info info; /* what costs more than a look; its other members are filled in when asked for */
};

struct clock_sync {
	struct clock_options options;
	double rho;
	GPtrArray *hosts;          /* struct clock_host */
	GPtrArray *pairs;          /* struct clock_pair */
	struct map64 pair_numbers; /* a << 32 | b */
	struct matcher *matcher;
	bool arrived; /* of some clock there is more to go by */
	int common;   /* by arrival: the host whose time is that of all, NO_HOST */
	bool due;     /* the time of a host that is seen has moved on far enough for its next map */
	bool moving;  /* maps have been published before the end */
	bool whole;   /* maps are those of the whole record */
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

/* A match for the ring and the listener. */
void clock_sync_add_match(struct clock_sync *s, const struct clock_match *match);

/* The host whose name is options.ref, NO_HOST. */
int clock_sync_chosen(const struct clock_sync *s);

/*
 * Relates hosts: sets ref, up and pair of all. bounds: per pair half width in ns, negative: not related. Roots
 * stay those they were if keep_roots. order, of n_hosts entries: hosts, references in front of those that
 * lead to them; returns how many have one.
 */
unsigned clock_relate(struct clock_sync *s, const double *bounds, bool keep_roots, unsigned *order);

/* shift.c: moves hosts to the time of one of them by when their events come; whether a map is to be made again. */
bool clock_shift(struct clock_sync *s);

/* The host in whose time some other one is by arrival, NO_HOST: none is. */
int clock_shift_common(const struct clock_sync *s);

/* The host that has what is known of its clock by arrival. */
static inline struct clock_host *clock_owner(const struct clock_sync *s, unsigned host)
{
	return clock_host_at(s, clock_host_at(s, host)->clock);
}

/* Fills in what info says of latencies, the samples since the last time (or, whole, of all there are). */
void clock_judge_latencies(struct clock_sync *s, bool whole);

/* move.c, whole.c: the parts of clock_sync_update() and _finish(). */
void clock_move_maps(struct clock_sync *s);
void clock_make_whole_maps(struct clock_sync *s);

/* How far off the host's map may be at host_ns; it has a reference. */
double clock_moving_bound(const struct clock_sync *s, unsigned host, uint64_t host_ns);
double clock_whole_bound(const struct clock_sync *s, unsigned host, uint64_t host_ns);

#endif
