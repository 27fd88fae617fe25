/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_MAP_H
#define LT_CLOCK_MAP_H

#include <stdint.h>

/*
 * From a host's clock to the reference host's and back: piecewise linear,
 * strictly monotone both ways, the identity until something is known.
 *
 *   reference ns
 *      │            ╱ slope 1 + drift, |drift| <= rho
 *      │      __──╱   knots, at most CLOCK_MAP_KNOTS, old ones merged
 *      │   ╱╱
 *      └──────────────── host ns
 *
 * Main thread only.
 */
struct clock_map;

/* Reference time of the host's time, and back; from_ref(to_ref(t)) is t to 1 ns. NULL: the identity. */
uint64_t clock_to_ref(const struct clock_map *map, uint64_t host_ns);
uint64_t clock_from_ref(const struct clock_map *map, uint64_t ref_ns);

/*
 * Grows by one whenever the map was replaced by one that is not a continuation
 * of it (the first estimate, a new reference host, a failed pair): what was converted
 * before cannot be compared with what is converted now. 0: never.
 */
unsigned clock_map_epoch(const struct clock_map *map);

#endif
