/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_HULL_H
#define LT_CLOCK_HULL_H

#include <stdbool.h>
#include <stdint.h>

/* Convex hulls of the limits of d, the difference of two clocks, at times x, both in ns. */

typedef __int128 wide;

enum { U, L }; /* lower limits of d, upper limits */

struct window_point {
	int64_t x, d;
};

/* Points in order of x; as a hull: the upper one of U, the lower one of L. */
struct points {
	struct window_point *p; /* of the heap */
	uint32_t n, capacity;
};

/* Whether b, between a and c, is not a corner of the hull: U's hull turns right, L's left. */
bool hull_is_flat(int kind, const struct window_point *a, const struct window_point *b, const struct window_point *c);

void points_insert(struct points *h, uint32_t at, struct window_point p);

/* Fast if points come in order of x, as they mostly do. */
void hull_insert(struct points *h, int kind, struct window_point p);

#endif
