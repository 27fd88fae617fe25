/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_DIST_H
#define LT_VIEW_DIST_H

#include <stdint.h>

#include "model/interval.h"

/*
 * The distribution in the interval whose first cell is cell (CELL(thread, latency.count)). min is UINT64_MAX if count
 * is 0.
 */
struct dist view_dist(const struct interval *iv, enum table_id table, const struct interval_row *row, unsigned cell);

/* sum / count, rounded half up to an integer. count > 0. */
uint64_t view_dist_avg(const struct dist *d);

/*
 * The population's standard deviation, rounded half up to an integer. Exact: computed with 128-bit integers, without
 * floating point. count > 0.
 */
uint64_t view_dist_stdev(const struct dist *d);

#endif
