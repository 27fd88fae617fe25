/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_HULL_H
#define LT_CLOCK_HULL_H

#include <stdbool.h>
#include <stdint.h>

/* Convex hulls of the limits of d, the difference of two clocks, at times x, both in ns. */

/* A product of two of them. */
typedef __int128 hull_wide;

/* Which limits a hull is of: lower ones have an upper hull, upper ones a lower hull. */
enum { HULL_OF_LOWER, HULL_OF_UPPER };

struct window_point {
	int64_t x, d;
};

/* Points in order of x; as a hull: its corners. */
struct points {
	struct window_point *p; /* of the heap */
	uint32_t n, capacity;
};

/* Whether b, between a and c, is not a corner of the hull: that of lower limits turns right, the other left. */
bool hull_is_flat(int kind, const struct window_point *a, const struct window_point *b, const struct window_point *c);

void points_insert(struct points *h, uint32_t at, struct window_point p);

/* Fast if points come in order of x, as they mostly do. */
void hull_insert(struct points *h, int kind, struct window_point p);

#endif
