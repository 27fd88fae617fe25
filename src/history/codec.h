/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_HISTORY_CODEC_H
#define LT_HISTORY_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/bytes.h"
#include "model/state.h"

/*
 * Encodes the difference between two states of a host as bytes, and decodes it.
 *
 *   frame:  per table: number, lengths | sizes | rows | extremes of these rows
 *   row:    gap to the previous row, NEW, ENDED | number of a mask | uid if NEW | the cells of the mask
 *
 * A cell is stored as the change from its previous value (from zero in a new row): counters and accruals as their
 * growth, gauges as the signed difference, times as the distance from the previous time in the row, or from the frame's
 * start. Extremes (CELL_MIN, CELL_MAX, CELL_MAX_AT) count from the start of their frame. They are stored as absolute
 * values in a section of their own, because most frames are read only to get past them; reading merges them into the
 * row. A distribution with a single value stores only that value and its time.
 *
 * The numbers in rows are in the format of sized.h, with their sizes before them; the head of a table and the extremes
 * are varints. There are few masks of changed cells: each is stored once and referred to by its number.
 */
struct codec;

struct codec *codec_create(void);
void codec_destroy(struct codec *c);
size_t codec_bytes(const struct codec *c);

/* Frees the memory that large frames needed. */
void codec_trim(struct codec *c);

/* One life of a row in a frame: its cells at the end of the frame, or at its own end. */
struct change {
	uint32_t row;
	bool ended;
	const uint64_t *cells;
};

/*
 * The changes of a frame, ordered by row within each table. If a row number was reused, the life that ended precedes
 * the next one. Lives that began and ended inside the frame may have any number.
 */
struct changes {
	struct change *list[TABLES];
	uint32_t n[TABLES], capacity[TABLES];
};

void changes_add(struct changes *ch, enum table_id table, uint32_t row, bool ended, const uint64_t *cells);
void changes_clear(struct changes *ch);
void changes_release(struct changes *ch);

/*
 * Appends the frame that starts at begin_ns and leads from the state base to the state after the changes; base becomes
 * that state, with empty extremes. Changes without effect are left out, and from merged frames also the lives that
 * began and ended in them without counting anything, such as of files that were only opened: over hours, too many.
 */
void codec_put_frame(struct codec *c, struct bytes *out, uint64_t begin_ns, struct host_state *base,
		     const struct changes *ch, bool merged);

/* Appends a frame that leads from an empty state to s. */
void codec_put_key(struct codec *c, struct bytes *out, uint64_t t_ns, const struct host_state *s);

/*
 * Applies the tables of tables_mask of a frame to s; the rows it changes become dirty. Rows that end in it are passed
 * to retire and removed; those that also began in it have the number STATE_NO_ROW. Without retire, only the state after
 * the frame is computed and extremes are not updated. begin_ns must be the value used when the frame was put. *bytes
 * receives the size of the tables read. False: the data was not written by this codec; s is then undefined. The data
 * must be in a struct bytes or, if it may be damaged, be followed by CODEC_PAD readable bytes.
 */
bool codec_get_frame(const struct codec *c, const uint8_t *data, size_t len, uint64_t begin_ns, uint32_t tables_mask,
		     struct host_state *s, state_retire_fn *retire, void *retire_data, size_t *bytes);

enum { CODEC_PAD = 2048 };

#endif
