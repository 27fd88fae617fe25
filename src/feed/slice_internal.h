/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_FEED_SLICE_INTERNAL_H
#define LT_FEED_SLICE_INTERNAL_H

#include <stdio.h>

#include "feed/slice.h"

/*
 *   slice.c          an interval with all its events
 *   slice_chosen.c   an interval with chosen events
 */

/* A stream being written. */
struct slice_stream {
	const struct recording *r;
	uint64_t begin, end;  /* in cycles; end is UINT64_MAX if there is none */
	uint64_t lost_before; /* highest counter of lost events before the slice */
	uint64_t lost;        /* of the slice so far */
	char *path;
	FILE *file; /* NULL: not open */
	bool is_made;
	bool is_truncated; /* the packet being written */
	struct cutter cutter;
	struct slice_sum *sum;
};

/* The first cycle whose time is at or after ns; UINT64_MAX: there is none. */
uint64_t slice_cycle(const struct layout *l, uint64_t ns);

/*
 * Sets .lost_before; the number of the first packet that may have events in the interval or after it. Old tracers write
 * events after a packet's end, up to the start of the next one: that packet may end before the interval.
 */
guint slice_begin_stream(struct slice_stream *s, const struct recorded_stream *stream);

/* Starts with the packet; its bytes, to be freed once it is done. NULL: it is skipped, which has been said. */
uint8_t *slice_read_packet(struct slice_stream *s, const struct recorded_packet *p);

/*
 * After the packet's events in the interval: if it is truncated, reports that, also in the slice. data: as returned by
 * slice_read_packet().
 */
enum lt_status slice_write_loss(struct slice_stream *s, const struct recorded_packet *p, const uint8_t *data);

/* Opens the file if it is not open. */
enum lt_status slice_write_piece(struct slice_stream *s, const struct cut_piece *piece);

/* Returns the status, or LT_ERROR if what was written could not be stored. */
enum lt_status slice_close_file(struct slice_stream *s, enum lt_status status);

enum lt_status slice_write_metadata(const struct recording *r, const char *directory, int64_t shift_ns);

#endif
