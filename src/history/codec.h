/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_HISTORY_CODEC_H
#define LT_HISTORY_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/bytes.h"
#include "model/state.h"

/*
 * How the difference between two states of a host becomes bytes and back.
 *
 *   frame:  per table: number, lengths | sizes | rows | extremes of these rows
 *   row:    gap to the row before, NEW, ENDED | number of a mask | uid if NEW | the cells of the mask
 *
 * A cell holds what it takes to get it from its value before (a new row: from
 * zero): counters and accruals the growth, gauges the signed difference, times the
 * distance to the time before them in the row or to the frame's begin. Extremes
 * (CELL_MIN, CELL_MAX, CELL_MAX_AT) count from the begin of their frame and stand
 * as they are, apart, because most frames are only read to get past them; reading merges
 * them into the row. A distribution of one value holds that value and its time only.
 *
 * The numbers of rows are in sized.h's form, whose sizes stand before them; the head of a table and the extremes are
 * varints. The masks of changed cells are few: each is kept once, named by its number.
 */
struct codec;

struct codec *codec_create(void);
void codec_destroy(struct codec *c);
size_t codec_bytes(const struct codec *c);

/* Gives back what putting large frames took. */
void codec_trim(struct codec *c);

/* A life of a row in a frame: what it is at the frame's end or at its own. */
struct change {
	uint32_t row;
	bool ended;
	const uint64_t *cells;
};

/*
 * The changes of a frame, per table in the order of their rows; where a row's
 * number was used anew, the life that ended stands before the one that follows.
 * Lives that began and ended inside the frame may have any number.
 */
struct changes {
	struct change *list[TABLES];
	uint32_t n[TABLES], capacity[TABLES];
};

void changes_add(struct changes *ch, enum table_id table, uint32_t row, bool ended, const uint64_t *cells);
void changes_clear(struct changes *ch);
void changes_release(struct changes *ch);

/*
 * Appends the frame that begins at begin_ns and leads from the state base to
 * what the changes say; base becomes that, with empty extremes. Changes that
 * change nothing, and lives that began and ended in the frame and never
 * counted anything, are left out.
 */
void codec_put_frame(struct codec *c, struct bytes *out, uint64_t begin_ns, struct host_state *base,
		     const struct changes *ch);

/* Appends a frame that leads from nothing to the state s. */
void codec_put_key(struct codec *c, struct bytes *out, uint64_t t_ns, const struct host_state *s);

/*
 * Applies a frame to s, only the tables of tables_mask; the rows it changes
 * become dirty. Rows that end in it are handed to retire and removed; those that
 * also began in it have the number STATE_NO_ROW. Without retire only the state after
 * the frame is wanted: the extremes stay as they are. begin_ns as it was when the
 * frame was put. The data lies in a struct bytes; *bytes: those of these tables. False: it is not what this codec put,
 * s is anything then; data that may be so are followed by CODEC_PAD bytes that can be read.
 */
bool codec_get_frame(const struct codec *c, const uint8_t *data, size_t len, uint64_t begin_ns, uint32_t tables_mask,
		     struct host_state *s, state_retire_fn *retire, void *retire_data, size_t *bytes);

enum { CODEC_PAD = 2048 };

#endif
