/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_BUCKETS_H
#define LT_MODEL_BUCKETS_H

#include <stdint.h>

#include "model/tables.h"

/*
 * How the values of a distribution are spread over buckets: log-linear, so that percentiles of any interval, of merged
 * rows and of the past come from counts that add up. Below 16 every value has a bucket of its own; above, each power of
 * two is cut into 8 equal ones:
 *
 *   bucket    0 … 15    16       17       …  23       24       …  495
 *   values    0 … 15    16–17    18–19       30–31    32–35       2^64 – 2^60 and up
 *
 * The middle of a bucket differs from every value in it by at most 1/16 of that value.
 *
 * 16 adjacent buckets, two powers of two, are a row of TABLE_BUCKET, created when a value falls into one of them: cells
 * that are 0 cost the history nothing, and a distribution usually has two or three such rows.
 */
enum {
	BUCKETS_IN_ROW = 16,
	BUCKETS = 496,
	BUCKET_ROWS = BUCKETS / BUCKETS_IN_ROW,
};

static inline unsigned bucket_of(uint64_t value)
{
	unsigned shift;

	if (value < 16)
		return (unsigned)value;
	shift = 60 - (unsigned)__builtin_clzll(value);
	return shift * 8 + (unsigned)(value >> shift);
}

/* The least value in the bucket, and the number of values in it. */
static inline uint64_t bucket_first(unsigned bucket)
{
	return bucket < 16 ? bucket : (uint64_t)(8 + bucket % 8) << (bucket / 8 - 1);
}

static inline uint64_t bucket_width(unsigned bucket)
{
	return bucket < 16 ? 1 : UINT64_C(1) << (bucket / 8 - 1);
}

/* The value that represents a bucket. */
static inline uint64_t bucket_middle(unsigned bucket)
{
	return bucket_first(bucket) + (bucket_width(bucket) - 1) / 2;
}

/* How a row of TABLE_BUCKET identifies its distribution: cell is the first of its cells in table. */
static inline uint64_t bucket_dist(enum table_id table, unsigned cell)
{
	return (uint64_t)table << 8 | cell;
}

static inline enum table_id bucket_dist_table(uint64_t dist)
{
	return (enum table_id)(dist >> 8);
}

static inline unsigned bucket_dist_cell(uint64_t dist)
{
	return dist & 255;
}

struct model;

/* Counts a value in a distribution of the row. */
void buckets_count(struct model *m, enum table_id table, uint32_t row, unsigned cell, uint64_t value);

/* The row of TABLE_BUCKET for those buckets of a distribution of the row; created if there is none. */
uint32_t buckets_row(struct model *m, enum table_id table, uint32_t row, unsigned cell, unsigned part);

/* The row ends: so do its buckets. */
void buckets_end(struct model *m, enum table_id table, uint32_t row);

void buckets_create(struct model *m);
void buckets_destroy(struct model *m);

#endif
