/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_CELLS_H
#define LT_MODEL_CELLS_H

#include <stdint.h>

/*
 * What a cell of a row is, and how its value in an interval ]a, b] comes from
 * the rows at its two ends. Every cell is 64 bits.
 */
enum cell_kind {
	CELL_KEY,     /* names the entity, never changes */
	CELL_GAUGE,   /* the value at b */
	CELL_STRING,  /* a gauge: strid */
	CELL_TIME,    /* a gauge: ns since the epoch, 0 unknown or not yet */
	CELL_COUNTER, /* cumulative: b - a */
	CELL_ACCRUAL, /* cumulative ns, and growing while the row is in certain states: see cell_value() */
	CELL_SQ_LO,   /* low half of a cumulative 128-bit sum; the high half is the next cell */
	CELL_SQ_HI,
	CELL_MIN,     /* least value seen since the interval began; UINT64_MAX none */
	CELL_MAX,     /* greatest value seen since the interval began */
	CELL_MAX_AT,  /* when the CELL_MAX before it was reached */
};

enum cell_unit { UNIT_NONE, UNIT_NS, UNIT_BYTES, UNIT_COUNT };

struct cell_desc {
	const char *name;
	const char *meaning;
	uint8_t kind; /* enum cell_kind */
	uint8_t unit; /* enum cell_unit */
	/* CELL_ACCRUAL: grows by one ns per ns while 1 << cells[state] is in mask, since cells[since] */
	uint8_t state;
	uint8_t since;
	uint32_t mask;
};

enum table_id {
	TABLE_HOST, /* one row */
	TABLE_CPU,
	TABLE_THREAD, /* before the tables whose rows belong to a thread */
	TABLE_FILE,
	TABLE_DISK,
	TABLE_NETIF,
	TABLE_IRQ,
	TABLE_SYSCALL,
	TABLE_SYSERR,
	TABLE_PERF,
	TABLE_BLOCKING,
	TABLE_RELATION,
	TABLE_CONTAINER,
	TABLE_VTID,
	TABLE_EVENT,
	TABLES
};

enum { CELLS_MAX = 64 };

struct table_desc {
	const char *name;
	const struct cell_desc *cells; /* cell 0 of every table is the row's uid */
	unsigned n_cells;              /* at most CELLS_MAX */
};

extern const struct table_desc table_descs[TABLES];

/*
 * Adds what a row has counted between its cells a at a_ns (NULL: since it was made) and its cells b, which
 * accrue nothing any more, to the cells of another row of its table: counters, accruals, sums; extremes are
 * those of both. Other cells stay.
 */
void cells_add(const struct table_desc *desc, uint64_t *cells, const uint64_t *a, uint64_t a_ns, const uint64_t *b);

/*
 * The value of a cell at time t_ns, no earlier than the row's last change: the
 * cell itself, for CELL_ACCRUAL with what has grown since.
 */
static inline uint64_t cell_value(const struct cell_desc *d, const uint64_t *cells, unsigned cell, uint64_t t_ns)
{
	uint64_t v = cells[cell];

	d += cell;
	if (d->kind == CELL_ACCRUAL && d->mask >> (cells[d->state] & 31) & 1 && t_ns > cells[d->since])
		v += t_ns - cells[d->since];
	return v;
}

#endif
