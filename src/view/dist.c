/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/dist.h"

typedef unsigned __int128 u128;

struct dist view_dist(const struct interval *iv, enum table_id table, const struct interval_row *row, unsigned cell)
{
	u128 sq = interval_square(iv, table, row, cell + 2);
	struct dist d = {
		.count = interval_value(iv, table, row, cell),
		.sum = interval_value(iv, table, row, cell + 1),
		.sq_lo = (uint64_t)sq,
		.sq_hi = (uint64_t)(sq >> 64),
		.min = row->b[cell + 4],
		.max = row->b[cell + 5],
		.max_at = row->b[cell + 6],
	};

	return d;
}

uint64_t view_dist_avg(const struct dist *d)
{
	uint64_t q = d->sum / d->count, r = d->sum % d->count;

	return q + (r >= d->count - r);
}

/*
 * With sum = q n + r, the sum of squared deviations is
 *
 *   sq - sum^2 / n  =  (sq - q^2 n - 2 q r) - r^2 / n  =  whole - r^2 / n
 *
 * where nothing exceeds 128 bits, since q^2 n <= sum^2 / n <= sq. The result is the greatest s with (s - 1/2)^2 <=
 * variance, that is (2s - 1)^2 n <= 4 whole - 4 r^2 / n; the left side is an integer, so 4 r^2 / n may be rounded up.
 */
uint64_t view_dist_stdev(const struct dist *d)
{
	u128 sq = (u128)d->sq_hi << 64 | d->sq_lo;
	uint64_t n = d->count, q = d->sum / n, r = d->sum % n, s = 0;
	u128 gone = (u128)q * q * n + 2 * (u128)q * r;
	u128 whole = sq > gone ? sq - gone : 0;
	u128 fraction = (4 * (u128)r * r + n - 1) / n, limit;

	if (4 * whole <= fraction)
		return 0;
	limit = (4 * whole - fraction) / n;
	for (uint64_t bit = UINT64_C(1) << 62; bit; bit >>= 1) {
		u128 odd = 2 * (u128)(s | bit) - 1;

		if (odd * odd <= limit)
			s |= bit;
	}
	return s;
}
