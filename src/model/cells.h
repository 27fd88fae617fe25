/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_CELLS_H
#define LT_MODEL_CELLS_H

#include <stdint.h>

/*
 * What a cell of a row is, and how its value in an interval ]a, b] follows from the rows at its two ends. Every cell
 * has 64 bits.
 */
enum cell_kind {
	CELL_KEY,     /* names the entity, never changes */
	CELL_GAUGE,   /* the value at b */
	CELL_COUNTER, /* cumulative: b - a */
	CELL_ACCRUAL, /* cumulative ns, and growing while the row is in certain states: see cell_value() */
	CELL_SQ_LO,   /* low half of a cumulative 128-bit sum; the high half is the next cell */
	CELL_SQ_HI,
	CELL_MIN,    /* least value seen since the interval started; UINT64_MAX: none */
	CELL_MAX,    /* greatest value seen since the interval started */
	CELL_MAX_AT, /* when the preceding CELL_MAX was reached */
};

/* How to read the 64 bits of a cell. If they mean "unknown" the value is null. */
enum cell_type {
	TYPE_NONE,   /* not to be shown as it is: a uid, bits, an enum */
	TYPE_ID,     /* a number that names something */
	TYPE_SIGNED, /* the same, int64_t; below 0: unknown */
	TYPE_INODE,  /* the same; 0: unknown */
	TYPE_DEVICE, /* the kernel's number of a device */
	TYPE_TEXT,   /* strid; STRID_NONE: unknown, or there is none */
	TYPE_FLAG,   /* whether it is not 0 */
	TYPE_COUNT,
	TYPE_BYTES,
	TYPE_NS,    /* a duration */
	TYPE_LAPSE, /* the same for something that happens once; 0: unknown, or not yet */
	TYPE_TIME,  /* ns since the epoch by the clock of the row's host; 0: unknown, or not yet */
	/* only in rows that are not the model's, see view/derived.h: */
	TYPE_HOST,     /* index among the hosts shown; CELL_UNKNOWN: not one of them */
	TYPE_ANY,      /* int64_t, a number that names something, may be below 0; CELL_UNKNOWN */
	TYPE_SPAN,     /* int64_t, ns, may be below 0; CELL_UNKNOWN */
	TYPE_REF_TIME, /* int64_t, ns since the epoch by the reference clock; below 0: unknown */
	TYPE_PPM,      /* double, parts per million; NaN: unknown */
	TYPES
};

#define CELL_UNKNOWN INT64_MIN

struct cell_desc {
	const char *name;
	const char *meaning; /* as in tables.h */
	uint8_t kind;        /* enum cell_kind */
	uint8_t type;        /* enum cell_type */
	/* CELL_ACCRUAL: grows by 1 ns per ns while 1 << cells[state] is in mask, since cells[since] */
	uint8_t state;
	uint8_t since;
	uint32_t mask;
};

enum table_id {
	TABLE_HOST, /* one row */
	TABLE_CPU,
	TABLE_THREAD, /* comes before the tables whose rows belong to a thread */
	TABLE_FILE,
	TABLE_DISK,
	TABLE_NETIF,
	TABLE_IRQ,
	TABLE_SYSCALL,
	TABLE_SYSERR,
	TABLE_PERF,
	TABLE_PAGES,
	TABLE_PRESSURE,
	TABLE_BLOCKING,
	TABLE_RELATION,
	TABLE_PREEMPTION,
	TABLE_CONNECTION,
	TABLE_CONTAINER,
	TABLE_VTID,
	TABLE_EVENT,
	TABLE_BUCKET,
	TABLE_INSTANCE,
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
 * Adds what a row counted between its cells a, at a_ns (NULL: since it was created), and its cells b, whose accruals no
 * longer grow, to the cells of another row of its table: counters, accruals and sums are added, extremes are those of
 * both. Other cells stay.
 */
void cells_add(const struct table_desc *desc, uint64_t *cells, const uint64_t *a, uint64_t a_ns, const uint64_t *b);

/*
 * The value of a cell at time t_ns, which is not before the row's last change: the cell itself, for CELL_ACCRUAL plus
 * its growth since then.
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
