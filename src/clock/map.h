/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_MAP_H
#define LT_CLOCK_MAP_H

#include <stdint.h>

/*
 * Converts a host's clock to the reference host's and back: piecewise linear, strictly monotone in both directions, the
 * identity until something is known.
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

/*
 * From the host's time to reference time, and back; from_ref(to_ref(t)) is t to within 1 ns. A time that is before 1970
 * by the other clock becomes 0: a machine whose clock has no date starts then. NULL: the identity.
 */
uint64_t clock_to_ref(const struct clock_map *map, uint64_t host_ns);
uint64_t clock_from_ref(const struct clock_map *map, uint64_t ref_ns);

/*
 * Increases by one each time the map is replaced by one that does not continue it (the first estimate, a new reference
 * host, a failed pair): times converted before cannot be compared with times converted after. 0: never replaced.
 */
unsigned clock_map_epoch(const struct clock_map *map);

#endif
