/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_HISTORY_CODEC_INTERNAL_H
#define LT_HISTORY_CODEC_INTERNAL_H

/*
 * Shared by writing (codec_put.c) and reading (codec_get.c): the plan of each table, made by codec.c, and the constants
 * of the format.
 */

#include <glib.h>

#include "base/map64.h"
#include "history/codec.h"

enum { ROW_IS_NEW = 1, ROW_HAS_ENDED = 2, ROW_FLAG_BITS = 2 };

/* A mask that is not in the dictionary is written inline; a table's dictionary has at most MASKS_MAX masks. */
enum { MASK_FOLLOWS = 0, MASKS_MAX = 1 << 12 };

/* How a cell is written. */
enum op {
	OP_NOTHING, /* inside a distribution */
	OP_GAUGE,
	OP_TIME,
	OP_GROWTH,
	OP_DIST, /* the first cell of a struct dist */
	OP_MIN,
	OP_MAX,
};

enum {
	DIST_CELLS = sizeof(struct dist) / sizeof(uint64_t),
	DIST_MIN = offsetof(struct dist, min) / sizeof(uint64_t), /* its extremes: min, max, max_at */
};

/*
 * How to process the cells of a table. The accruals of a state usually grow, together, by as much as its time of change
 * advances (cpu + ready + blocked of a thread). The last one then follows from the others and is not written; bit 0 of
 * the mask says so (it is the uid's bit, which is not needed).
 */
struct codec_plan {
	uint8_t n_cells;
	uint8_t since;           /* cell with the time up to which the accruals below are counted */
	uint8_t implied_by_rest; /* the last of those accruals, 0: there is no such accrual */
	uint64_t accruals;       /* bits of all of them */
	uint64_t figures;        /* bits of counters and accruals */
	uint64_t valid;          /* bits that a mask may have */
	uint8_t ops[CELLS_MAX];
	uint64_t empty[CELLS_MAX]; /* a new row */
};

#define IMPLIED_BY_REST UINT64_C(1)

struct codec {
	struct codec_plan plans[TABLES];
	struct map64 mask_numbers[TABLES];  /* mask -> index in masks[], + 1 */
	GArray *masks[TABLES];              /* uint64_t */
	uint32_t rows_max;                  /* limit of row numbers in frames that are read */
	struct bytes rows, sizes, extremes; /* of the table being put */
};

/* Enough for any row: its numbers, and its extremes, of which a distribution has at most three. */
enum { ROW_NUMBERS_MAX = CELLS_MAX + 4, ROW_EXTREMES_MAX = CELLS_MAX };

/*
 * The previous row of a table and the values of the previous new row: keys and gauges of a new row are written as
 * differences from these, as rows that are created together are similar.
 */
struct row_before {
	uint32_t row;
	uint64_t uid;
	uint64_t gauges[CELLS_MAX]; /* by cell */
};

/* How a distribution is written, apart from the growth of its count. */
enum dist_form {
	DIST_FULL,
	DIST_ONE, /* a single value, which is sum, min and max */
	DIST_NO_EXTREMES,
	DIST_FORM_BITS = 2,
};

static inline unsigned __int128 dist_square(const struct dist *d)
{
	return (unsigned __int128)d->sq_hi << 64 | d->sq_lo;
}

/* How far the sum of the accruals lags behind the time up to which they are counted. */
static inline uint64_t accrual_lag(const struct codec_plan *plan, const uint64_t *cells)
{
	uint64_t lag = cells[plan->since];

	for (uint64_t m = plan->accruals; m; m &= m - 1)
		lag -= cells[__builtin_ctzll(m)];
	return lag;
}

#endif
