/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_HISTORY_HISTORY_H
#define LT_HISTORY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "model/interval.h"
#include "model/state.h"

/*
 * The past of every host, in a bounded number of bytes: one track per host,
 * each a row of frames that touch. A frame holds what changed in the rows of
 * the host's tables since the frame before (deltas in few bytes, rows and cells named by
 * gaps and masks: codec.h); before every HISTORY_KEY_FRAMES at most stands a
 * key: all rows of that time.
 *
 *   track ──▶ chunk: key | frame, frame, …   chunk: key | frame, frame, …
 *             oldest ─────────────────────────────────────────────▶ newest
 *
 * When the bytes run out the oldest chunks are thinned (frames merged to 10, 60, 600
 * and 3600 times the frame length), at last dropped, a bit with every frame appended. Each of the five kinds keeps
 * a share of the room, so the near past stays fine while the far past lasts long. Edges
 * of stored frames are the only times a state can be rebuilt for; between any two of them every figure
 * is what it was, however they were thinned. Main thread only.
 */
struct history;

enum { HISTORY_KEY_FRAMES = 60 };

/*
 * limit_bytes: bound of everything it keeps; default of the program 256 MiB. It
 * is exceeded only where the present state of the hosts and one chunk of each do not fit.
 */
struct history *history_create(size_t limit_bytes);
void history_destroy(struct history *h);

/* A new track, numbered 0, 1, …. */
unsigned history_add_track(struct history *h);
unsigned history_track_count(const struct history *h);

/*
 * The frames' grid: their edges are at origin_ns + n * frame_ns. Thinned frames
 * end at multiples of 10, 60, 600 and 3600 of it, the same in all tracks, whenever each began.
 * Without this call the first frame appended tells the grid.
 */
void history_set_grid(struct history *h, uint64_t origin_ns, uint64_t frame_ns);

/* What the timeline strip shows of a frame without rebuilding it. */
struct frame_summary {
	uint64_t begin_ns, end_ns;
	uint32_t busy_permille; /* busy / online time over all CPUs */
	bool lost;              /* events or packets were lost in it */
	bool gap;               /* nothing is known of it (detached, broken off) */
};

/*
 * Appends the frame [begin_ns, end_ns[ from what is dirty in s. begin_ns is the
 * end of the track's last frame (a later one leaves a gap, kept as a frame
 * with .gap). s is not changed: the caller reaps it and begins the next frame
 * afterwards, and clears the extremes of the dirty rows (state_extremes_clear_dirty():
 * they count per frame). Rows that are new and ended in the same frame and whose counters
 * are all 0 are left out.
 */
void history_append(struct history *h, unsigned track, const struct host_state *s, uint64_t begin_ns, uint64_t end_ns);

/* The track's first and last edge; false: nothing in it yet. */
bool history_range(const struct history *h, unsigned track, uint64_t *begin_ns, uint64_t *end_ns);

/* The latest edge <= t_ns, or the first edge if there is none. 0: empty track. */
uint64_t history_edge_floor(const struct history *h, unsigned track, uint64_t t_ns);

/* The earliest edge >= t_ns, or the last edge if there is none. */
uint64_t history_edge_ceil(const struct history *h, unsigned track, uint64_t t_ns);

/* The frames that overlap [begin_ns, end_ns[, oldest first; returns how many (at most max were written). */
unsigned history_summaries(const struct history *h, unsigned track, uint64_t begin_ns, uint64_t end_ns,
			   struct frame_summary *out, unsigned max);

/*
 * An interval of the past and the state at its end: the rows that live on. Those
 * that ended in it are in the interval only.
 */
struct history_load {
	struct host_state end;
	struct interval interval;
};

void history_load_init(struct history_load *load);
void history_load_release(struct history_load *load);

/*
 * Rebuilds [begin_ns, end_ns[ of a track. Both are snapped down to stored edges
 * (begin to one before end; where end_ns is inside the first frame, that frame is taken);
 * the interval tells what it became. tables_mask: the tables wanted, the others are
 * empty. LT_END: the track has nothing there, load is unchanged. LT_ERROR: the history was
 * read from a file (history/store.h) and is damaged there; the load is of no use. The load may be
 * used again for any track; nothing in it points into the history.
 */
enum lt_status history_load(const struct history *h, unsigned track, uint64_t begin_ns, uint64_t end_ns,
			    uint32_t tables_mask, struct history_load *load);

/* Bytes in use, the bound, frames stored. */
size_t history_bytes(const struct history *h);
size_t history_limit(const struct history *h);
unsigned history_frames(const struct history *h, unsigned track);

#endif
