/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_SPREAD_H
#define LT_VIEW_SPREAD_H

#include <stdint.h>

#include "model/buckets.h"
#include "view/rows.h"

/*
 * How the values of a row's distribution are spread in the interval, from the buckets of the model: also of
 * rows that were merged. Only where the interval has TABLE_BUCKET: view_query.spread.
 */
struct view_spread {
	uint64_t total; /* values in all of them */
	uint64_t counts[BUCKETS];
};

/*
 * The distribution whose first cell is cell, CELL(irq, raise.count). Borrowed: until the next call, or until the
 * rows are built again.
 */
const struct view_spread *view_spread(const struct view_rows *r, const struct view_row *row, unsigned cell);

/*
 * The least value that permille / 1000 of all values do not exceed, at most 1/16 of it wrong (bucket_middle());
 * least and greatest are those of the distribution, which it does not leave. total > 0.
 */
uint64_t view_spread_percentile(const struct view_spread *s, unsigned permille, uint64_t least, uint64_t greatest);

#endif
