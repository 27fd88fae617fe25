/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_MAP_BUILD_H
#define LT_CLOCK_MAP_BUILD_H

#include "base/pack.h"
#include "clock/map.h"

/*
 * The side of a map that only clock/ uses to build it. Knots are added in order of the host's time. Between two knots
 * the map is a straight line; before the first and after the last one it continues with a given slope.
 */
enum { CLOCK_MAP_KNOTS = 8192 };

struct clock_map *clock_map_create(void);
void clock_map_destroy(struct clock_map *map);

/* Resets the map to the identity, in a new epoch unless it was the identity before. */
void clock_map_reset(struct clock_map *map);

/* Empties the map and starts a new epoch: the knots that follow do not continue the old ones. */
void clock_map_begin_epoch(struct clock_map *map);

/*
 * Removes the knots after host_ns and adds one there, so that the map is unchanged up to host_ns. The map must not be
 * empty.
 */
void clock_map_cut(struct clock_map *map, uint64_t host_ns);

/*
 * Adds a knot after the last one. slope_excess applies after this knot until the next one is added (1 + excess: ns of
 * the reference per ns of the host). A knot that would move time backwards, or change it too fast, is moved to the
 * nearest permitted time. If host_ns is not after the last knot, only the slope changes.
 */
void clock_map_add(struct clock_map *map, uint64_t host_ns, uint64_t ref_ns, double slope_excess);

/* To bytes, and back into an empty map. */
void clock_map_pack(const struct clock_map *map, GByteArray *out);
void clock_map_unpack(struct clock_map *map, struct unpack *in);

unsigned clock_map_knots(const struct clock_map *map);

/* Returns the n-th knot. */
void clock_map_knot(const struct clock_map *map, unsigned n, uint64_t *host_ns, uint64_t *ref_ns);

/* The slope at host_ns, minus 1. */
double clock_map_slope_excess(const struct clock_map *map, uint64_t host_ns);

#endif
