/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_INTERVAL_H
#define LT_MODEL_INTERVAL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/map64.h"
#include "model/state.h"

/*
 * What happened to one host in [begin_ns, end_ns[: every row that existed at some time in it, with its cells at the
 * start and at the end. Built in the same way from a running model (reports cut it exactly between two events) and from
 * a history (screens), and read by one set of columns (view/).
 *
 *   interval_begin(iv, state, begin)         copies the state: the a side
 *   … the state changes; state_reap(state, interval_retire, iv) …
 *   interval_end(iv, state, end)             the b side: the state's own cells
 */
struct interval_row {
	const uint64_t *a; /* cells at begin_ns; NULL: the row was created inside the interval */
	const uint64_t *b; /* cells at end_ns, or when the row ended */
};

struct interval_table {
	struct interval_row *rows; /* ended rows first, in the order in which they ended */
	uint32_t n_rows;
	GArray *ended;       /* internal: struct ended_row */
	struct map64 by_uid; /* internal */
};

struct interval {
	uint64_t begin_ns, end_ns;
	uint32_t tables_mask; /* 1 << enum table_id: the tables kept */
	struct interval_table tables[TABLES];
	struct host_state a; /* internal */
};

void interval_init(struct interval *iv);
void interval_release(struct interval *iv);

/*
 * Starts an interval at begin_ns with the state s of that time, which has been reaped: rows that ended earlier are not
 * in the interval. Also clears the extremes of s (CELL_MIN, CELL_MAX), which count from here on. tables_mask: the
 * tables wanted.
 */
void interval_begin(struct interval *iv, struct host_state *s, uint64_t begin_ns, uint32_t tables_mask);

/* A state_retire_fn; data is the interval. */
void interval_retire(void *iv, enum table_id table, uint32_t row, const uint64_t *cells);

/*
 * Ends it. The rows of s are borrowed, not copied: read the interval before s changes. May be called again with a later
 * end.
 */
void interval_end(struct interval *iv, const struct host_state *s, uint64_t end_ns);

/*
 * The figure of a cell in the interval: b - a for a counter or accrual, the last value for a gauge. A counter that went
 * backwards (it never should) gives 0.
 */
uint64_t interval_value(const struct interval *iv, enum table_id table, const struct interval_row *row, unsigned cell);

/* Its length without the time in which the host was not recorded. Needs TABLE_HOST. */
uint64_t interval_recorded_ns(const struct interval *iv);

/* The 128-bit sum whose low half is cell. */
unsigned __int128 interval_square(const struct interval *iv, enum table_id table, const struct interval_row *row,
				  unsigned cell);

/* The row with that uid, NULL if there is none. */
const struct interval_row *interval_find(const struct interval *iv, enum table_id table, uint64_t uid);

/* Whether any counter or accrual of the row is not 0 in the interval. */
bool interval_row_active(const struct interval *iv, enum table_id table, const struct interval_row *row);

/* How many rows of a table have ended in it so far; the bytes of those of all tables, with more for each. */
uint32_t interval_ended(const struct interval *iv, enum table_id table);
size_t interval_ended_bytes(const struct interval *iv, size_t more);

/*
 * Removes ended rows for which fn returns true, starting with the one that ended first. fn gets the row's place and its
 * cells at the start (NULL: created inside) and at its end.
 */
typedef bool interval_take_fn(void *data, uint32_t i, const uint64_t *a, const uint64_t *b);
void interval_take_ended(struct interval *iv, enum table_id table, interval_take_fn *fn, void *data);

/* Marks the paths and short-lived names of the string pool that it holds (strpool_keep()). */
void interval_keep_paths(const struct interval *iv);

/* INTERVAL_VALUE(iv, THREAD, thread, row, cpu_ns) */
#define INTERVAL_VALUE(iv, TABLE, type, row, member) interval_value(iv, TABLE_##TABLE, row, CELL(type, member))

/* The b side as the table's structure. */
#define INTERVAL_ROW(type, row) ((const struct type##_row *)(const void *)(row)->b)

#endif
