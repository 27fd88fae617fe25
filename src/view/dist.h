/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_DIST_H
#define LT_VIEW_DIST_H

#include <stdint.h>

#include "model/interval.h"

/*
 * The distribution whose first cell is cell (CELL(thread, latency.count)) in the
 * interval. min is UINT64_MAX where count is 0.
 */
struct dist view_dist(const struct interval *iv, enum table_id table, const struct interval_row *row, unsigned cell);

/* Adds what b has to a: as if all values had gone into one. */
void view_dist_merge(struct dist *a, const struct dist *b);

/* sum / count, rounded to the nearest integer, halves up. count > 0. */
uint64_t view_dist_avg(const struct dist *d);

/*
 * The population's standard deviation, rounded to the nearest integer, halves up.
 * Exact: 128-bit integers decide, no floating point. count > 0.
 */
uint64_t view_dist_stdev(const struct dist *d);

#endif
