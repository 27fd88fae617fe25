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
 * The past of every host, in a bounded number of bytes: one track per host, each a sequence of adjacent frames. A frame
 * holds the changes in the rows of the host's tables since the previous frame (compact deltas: codec.h). A key, which
 * has all rows of that time, precedes at most HISTORY_KEY_FRAMES frames.
 *
 *   track ──▶ chunk: key | frame, frame, …   chunk: key | frame, frame, …
 *             oldest ─────────────────────────────────────────────▶ newest
 *
 * When the memory is used up, the oldest chunks are thinned (their frames merged to 10, 60, 600 and 3600 times the
 * frame length) and finally dropped, a little with each frame appended. Each of the five lengths has a share of the
 * memory, so that the recent past stays detailed while the distant past is kept long. A state can be rebuilt only at
 * the edges of stored frames; between any two edges all figures are exact, whatever was thinned. Main thread only.
 */
struct history;

enum { HISTORY_KEY_FRAMES = 60 };

/*
 * limit_bytes bounds all memory in use; the program's default is 256 MiB. It is exceeded only if the current state of
 * the hosts and one chunk of each do not fit.
 */
struct history *history_create(size_t limit_bytes);
void history_destroy(struct history *h);

/* Adds a track; tracks are numbered 0, 1, …. */
unsigned history_add_track(struct history *h);
unsigned history_track_count(const struct history *h);

/*
 * Sets the grid of frames: their edges are at origin_ns + n * frame_ns. Thinned frames end at multiples of 10, 60, 600
 * and 3600 frames, in all tracks alike, whenever each began. Without this call the first frame appended defines the
 * grid.
 */
void history_set_grid(struct history *h, uint64_t origin_ns, uint64_t frame_ns);

/* The track's clock is ahead of the grid's by ahead_ns (negative: behind), from its next chunk on. */
void history_set_ahead(struct history *h, unsigned track, int64_t ahead_ns);

/* The data of a frame that the timeline strip shows, available without rebuilding the frame. */
struct frame_summary {
	uint64_t begin_ns, end_ns;
	uint32_t busy_permille; /* busy / online time over all CPUs */
	bool lost;              /* events or packets were lost in this frame, or in a longer time that includes it */
	bool gap;               /* unknown time (detached, broken off) */
	bool still;             /* nothing changed in it */
};

/*
 * Appends the frame [begin_ns, end_ns[ from the dirty rows of s. begin_ns is the end of the track's last frame (a later
 * one leaves a gap, stored as a frame with .gap). A frame that ends no later than the track does is skipped; the next
 * one includes its changes. s is not changed: the caller then reaps it, begins the next frame, and clears the extremes
 * of the dirty rows (state_extremes_clear_dirty(): they count per frame). Rows that began and ended in the same frame
 * with all counters 0 are left out.
 */
void history_append(struct history *h, unsigned track, const struct host_state *s, uint64_t begin_ns, uint64_t end_ns);

/* The same for a gap in which s changed: intervals that start at its end start with that state. */
void history_append_gap(struct history *h, unsigned track, const struct host_state *s, uint64_t begin_ns,
			uint64_t end_ns);

/* No more frames come: the memory for the next one is freed, and in time even the track's last frames are dropped. */
void history_end_track(struct history *h, unsigned track);

/* The track's first and last edge; false: it is empty. */
bool history_range(const struct history *h, unsigned track, uint64_t *begin_ns, uint64_t *end_ns);

/* The latest edge <= t_ns, or the first edge if there is none. 0: empty track. */
uint64_t history_edge_floor(const struct history *h, unsigned track, uint64_t t_ns);

/* The earliest edge >= t_ns, or the last edge if there is none. */
uint64_t history_edge_ceil(const struct history *h, unsigned track, uint64_t t_ns);

/* The frames that overlap [begin_ns, end_ns[, oldest first. Returns the number written, at most max. */
unsigned history_summaries(const struct history *h, unsigned track, uint64_t begin_ns, uint64_t end_ns,
			   struct frame_summary *out, unsigned max);

/* An interval of the past and the state at its end. Rows that ended in the interval are in .interval only. */
struct history_load {
	struct host_state end;
	struct interval interval;
};

void history_load_init(struct history_load *load);
void history_load_release(struct history_load *load);

/* Frees what was loaded, for a host that may never be loaded again. */
void history_load_clear(struct history_load *load);

/*
 * Rebuilds [begin_ns, end_ns[ of a track. Both are rounded down to stored edges (begin to one before end; if end_ns is
 * inside the first frame, that frame is used); the interval has the resulting times. tables_mask: the tables to load;
 * the others are empty. LT_END: the track has nothing there, load is unchanged. LT_ERROR: the history was read from a
 * file (history/store.h) and is damaged there; the contents of load are undefined. load may be reused for any track; it
 * has no pointers into the history.
 */
enum lt_status history_load(const struct history *h, unsigned track, uint64_t begin_ns, uint64_t end_ns,
			    uint32_t tables_mask, struct history_load *load);

/* Bytes in use, the limit, and the number of stored frames. */
size_t history_bytes(const struct history *h);
size_t history_limit(const struct history *h);
unsigned history_frames(const struct history *h, unsigned track);

#endif
