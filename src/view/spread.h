/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_SPREAD_H
#define LT_VIEW_SPREAD_H

#include <stdint.h>

#include "model/buckets.h"
#include "view/rows.h"

/*
 * The distribution of a row's values in the interval, from the model's buckets; also for merged rows. Needs
 * TABLE_BUCKET in the interval: view_query.spread.
 */
struct view_spread {
	uint64_t total; /* number of values in all buckets */
	uint64_t counts[BUCKETS];
};

/* The distribution whose first cell is cell, CELL(irq, raise.count). Borrowed until the next call or build. */
const struct view_spread *view_spread(const struct view_rows *r, const struct view_row *row, unsigned cell);

/* What a column of percentiles is of: 500 for FORM_P50. */
unsigned view_permille(enum column_form form);

/*
 * The value that permille / 1000 of all values do not exceed, accurate to 1/16 (bucket_middle()) and limited to the
 * distribution's own least and greatest values. total > 0.
 */
uint64_t view_spread_percentile(const struct view_spread *s, unsigned permille, uint64_t least, uint64_t greatest);

#endif
