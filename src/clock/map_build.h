/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_MAP_BUILD_H
#define LT_CLOCK_MAP_BUILD_H

#include "base/pack.h"
#include "clock/map.h"

/*
 * The side of a map that only clock/ sees: how it comes to be. Knots are added
 * in order of the host's time; between two of them the map is a straight line, before
 * the first and after the last one it goes on with a slope.
 */
enum { CLOCK_MAP_KNOTS = 8192 };

struct clock_map *clock_map_create(void);
void clock_map_destroy(struct clock_map *map);

/* Back to the identity, as a map of another epoch if it had not been one. */
void clock_map_reset(struct clock_map *map);

/* What follows is no continuation of what was: the map is empty, its epoch one more. */
void clock_map_begin_epoch(struct clock_map *map);

/* Forgets knots after host_ns, and puts one there: what the map says up to there stays. It must not be empty. */
void clock_map_cut(struct clock_map *map, uint64_t host_ns);

/*
 * A knot after the last one; slope_excess: of the line behind it, until a next one comes (1 + excess: ns of the
 * reference per ns of the host). A knot that would make time go back is moved to where it stands still.
 */
void clock_map_add(struct clock_map *map, uint64_t host_ns, uint64_t ref_ns, double slope_excess);

/* The slope in front of the first knot, where nothing is added before it. */
void clock_map_set_lead(struct clock_map *map, double slope_excess);

/* As bytes; and back, into an empty one. */
void clock_map_pack(const struct clock_map *map, GByteArray *out);
void clock_map_unpack(struct clock_map *map, struct unpack *in);

unsigned clock_map_knots(const struct clock_map *map);

/* The n-th knot. */
void clock_map_knot(const struct clock_map *map, unsigned n, uint64_t *host_ns, uint64_t *ref_ns);

/* 1 + excess: the slope at the host's time. */
double clock_map_slope_excess(const struct clock_map *map, uint64_t host_ns);

#endif
