/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_STATE_H
#define LT_MODEL_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/tables.h"

/*
 * The state of one host: its tables, each a set of rows of 64-bit cells. The model writes one, the history rebuilds
 * others from its frames; views and reports read both alike.
 *
 *   table ──▶ chunks[0] ──▶ row 0 | row 1 | … | row 255      a row never moves
 *             chunks[1] ──▶ row 256 …
 *             flags[row]    ALIVE, NEW, DIRTY, ENDED
 *             dirty[]       rows changed since state_frame_begin()
 *             ended[]       rows that end with this frame; still readable
 *
 * A row number is reused after state_reap(); cell 0, its uid, never is (0 is not a row). Main thread only.
 */
enum row_flag {
	ROW_ALIVE = 1 << 0,
	ROW_NEW = 1 << 1,   /* created since state_frame_begin() */
	ROW_DIRTY = 1 << 2, /* changed since state_frame_begin() */
	ROW_ENDED = 1 << 3, /* state_reap() will free it */
};

enum { STATE_CHUNK_ROWS = 256 };

struct state_table {
	const struct table_desc *desc;
	uint64_t minima; /* bits of the CELL_MIN cells */
	uint64_t **chunks;
	uint8_t *flags;
	uint32_t n_rows; /* all row numbers in use or free are below this */
	uint32_t n_alive;
	uint32_t *free, n_free;
	uint32_t *dirty, n_dirty;
	uint32_t *ended, n_ended;
	uint32_t capacity; /* of flags, free, dirty, ended */
	bool placed;       /* rows come from state_add_at(), whose caller numbers them */
	uint64_t last_uid;
};

struct host_state {
	struct state_table tables[TABLES];
	size_t bytes; /* of the cells of rows that state_add() created and that were not freed since */
};

void state_init(struct host_state *s);
void state_release(struct host_state *s);

/* Borrows the cells of a row that is alive. */
static inline uint64_t *state_cells(const struct state_table *t, uint32_t row)
{
	return t->chunks[row / STATE_CHUNK_ROWS] + (size_t)(row % STATE_CHUNK_ROWS) * t->desc->n_cells;
}

/* Faster, if the size of a row is a constant. */
static inline void *state_row(const struct state_table *t, uint32_t row, size_t row_cells)
{
	return t->chunks[row / STATE_CHUNK_ROWS] + (size_t)(row % STATE_CHUNK_ROWS) * row_cells;
}

/* The same as the table's structure: STATE_ROW(s, THREAD, thread, row)->tid. */
#define STATE_ROW(s, TABLE, type, row) \
	((struct type##_row *)state_row(&(s)->tables[TABLE_##TABLE], row, sizeof(struct type##_row) / sizeof(uint64_t)))

/* Creates a row: zero except for a fresh uid and empty CELL_MINs; ALIVE, NEW, DIRTY. */
uint32_t state_add(struct host_state *s, enum table_id table);

/*
 * The same with a given number and uid (when a history is rebuilt). The row must be free; state_add() must not be used
 * on the same table.
 */
void state_add_at(struct host_state *s, enum table_id table, uint32_t row, uint64_t uid);

/* Frees a row that state_add_at() created, at once and not seen by state_reap(). */
void state_remove_at(struct host_state *s, enum table_id table, uint32_t row);

void state_mark(struct state_table *t, uint32_t row);

/* To be called before or after a row's cells change. */
static inline void state_touch(struct host_state *s, enum table_id table, uint32_t row)
{
	if (!(s->tables[table].flags[row] & ROW_DIRTY))
		state_mark(&s->tables[table], row);
}

static inline bool state_alive(const struct state_table *t, uint32_t row)
{
	return row < t->n_rows && t->flags[row] & ROW_ALIVE;
}

/*
 * The row ends with this frame: it stays readable until state_reap(). Idempotent. It must be in a state in which none
 * of its accruals grow.
 */
void state_end(struct host_state *s, enum table_id table, uint32_t row);

/* Called with each ended row before it is freed, tables in their order. */
typedef void state_retire_fn(void *data, enum table_id table, uint32_t row, const uint64_t *cells);

/* Frees the ended rows; retire may be NULL. */
void state_reap(struct host_state *s, state_retire_fn *retire, void *data);

/*
 * Frees those rows of a table that were created and have ended since the frame began, each after a call of fold, which
 * may add rows. Readers that only look at the ends of frames never see them.
 */
typedef void state_fold_fn(void *data, enum table_id table, const uint64_t *cells);
void state_reap_new(struct host_state *s, enum table_id table, state_fold_fn *fold, void *data);

/* Starts a frame: nothing is new or dirty. Ended rows must have been reaped. */
void state_frame_begin(struct host_state *s);

/* CELL_MIN and CELL_MAX of every row alive start over: an interval starts. */
void state_extremes_clear(struct host_state *s);

/* The same for the dirty rows only; that is enough if it is done at the end of each frame. */
void state_extremes_clear_dirty(struct host_state *s);

/*
 * Makes the tables of tables_mask (1 << enum table_id) in dst equal to those of src (rows, numbers, uids; nothing
 * dirty) and empties the others. dst is initialised; src has been reaped.
 */
void state_copy(struct host_state *dst, const struct host_state *src, uint32_t tables_mask);

/* The same for one table; the others of dst stay as they are. */
void state_copy_table(struct host_state *dst, const struct host_state *src, enum table_id table);

/* Empties every table, keeps the memory. */
void state_clear(struct host_state *s);

/* The memory that the tables take, in bytes. */
size_t state_bytes(const struct host_state *s);

#define STATE_ALL_TABLES ((1u << TABLES) - 1)

/* Iterates: for (row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;) */
#define STATE_NO_ROW UINT32_MAX
uint32_t state_next(const struct state_table *t, uint32_t row);

#endif
