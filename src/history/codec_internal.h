/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_HISTORY_CODEC_INTERNAL_H
#define LT_HISTORY_CODEC_INTERNAL_H

/*
 * What writing (codec_put.c) and reading (codec_get.c) share: the plan of each
 * table, made by codec.c, and the marks of the format.
 */

#include <glib.h>

#include "base/map64.h"
#include "history/codec.h"

enum { ROW_IS_NEW = 1, ROW_HAS_ENDED = 2, ROW_FLAG_BITS = 2 };

/* A mask that is in no dictionary follows itself; so many are kept per table. */
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
 * What to do with the cells of a table. The accruals of a state usually grow
 * together by what its time of change advances (cpu + ready + blocked of a
 * thread): the last one is then told by the others, bit 0 of the mask (the uid's, which
 * needs none) says so.
 */
struct codec_plan {
	uint8_t n_cells;
	uint8_t since;           /* the time the accruals below count from */
	uint8_t implied_by_rest; /* the last of those accruals, 0: none */
	uint64_t accruals;       /* bits of all of them */
	uint64_t figures;        /* bits of counters and accruals */
	uint64_t valid;          /* bits that a mask may have */
	uint8_t ops[CELLS_MAX];
	uint64_t empty[CELLS_MAX]; /* a new row */
};

#define IMPLIED_BY_REST UINT64_C(1)

struct codec {
	struct codec_plan plans[TABLES];
	struct map64 mask_numbers[TABLES];  /* mask -> place in masks[], + 1 */
	GArray *masks[TABLES];              /* uint64_t */
	uint32_t rows_max;                  /* of a table: those of frames that are read are below */
	struct bytes rows, sizes, extremes; /* of the table being put */
};

/* Room for any row: numbers of a frame and extremes, which are three at most of a distribution. */
enum { ROW_NUMBERS_MAX = CELLS_MAX + 4, ROW_EXTREMES_MAX = CELLS_MAX };

/*
 * The row before it in a table's rows, and what is like it in a new one: keys and gauges of new rows are written as
 * differences to those of the last new row, as what comes together belongs together.
 */
struct row_before {
	uint32_t row;
	uint64_t uid;
	uint64_t gauges[CELLS_MAX]; /* by cell */
};

/* How a distribution is written, beside how far its count grew. */
enum dist_form {
	DIST_FULL,
	DIST_ONE, /* one value: it is sum, min and max */
	DIST_NO_EXTREMES,
	DIST_FORM_BITS = 2,
};

static inline unsigned __int128 dist_square(const struct dist *d)
{
	return (unsigned __int128)d->sq_hi << 64 | d->sq_lo;
}

/* How far the accruals lag behind the time they count to. */
static inline uint64_t accrual_lag(const struct codec_plan *plan, const uint64_t *cells)
{
	uint64_t lag = cells[plan->since];

	for (uint64_t m = plan->accruals; m; m &= m - 1)
		lag -= cells[__builtin_ctzll(m)];
	return lag;
}

#endif
