/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_FEED_CUT_H
#define LT_FEED_CUT_H

#include "ctf/packet.h"

/*
 * Cuts the packets of a stream at event boundaries, as if the tracer had been
 * told at those instants to hand over what it has. Each piece is a packet with the
 * header and the context of the recorded one, times, sizes and counters its own:
 *
 *   recorded   [b0 . . . . . . . . . . . . e0]      [b1 . . e1]     events_discarded d0, d1
 *   pieces     [b0 . . t1][t1 . t2][t3 . . e0]      [b1 . . e1]
 *   seq        0         1         2                3               + what was missing in the recording
 *   discarded  d(-1)     d(-1)     d0               d1
 *   silent               t2 → t3: nothing happened, t3 is the begin of the next piece
 *
 * What a recorded packet lost is told by its last piece (a tracer loses events
 * when its buffer is full, that is, behind the last one). The first packet's
 * counter says what was lost before the stream began: all its pieces have it.
 *
 * A packet whose events cannot all be stepped over, or whose layout would
 * change if its events moved, is handed on as one piece.
 */
struct cut_piece {
	uint8_t *data; /* the cutter's, until its next call */
	size_t size;   /* bytes */
	uint64_t content_bits;
	uint64_t begin, end; /* clock cycles */
	uint64_t discarded, seq;
	unsigned events; /* 0 for a packet that was not stepped over */
};

struct cutter {
	const struct layout *layout;

	/* Of the stream so far. */
	uint64_t told;      /* everything up to here has been told, cycles */
	uint64_t discarded; /* counter of the last recorded packet */
	uint64_t seq;       /* of the next piece */
	uint64_t recorded_seq;
	bool has_packet; /* a packet came before */

	/* The packet being cut: borrowed bytes. */
	const uint8_t *data;
	size_t size;
	struct packet_head head;
	uint64_t content_bits;
	GArray *marks; /* where each event begins; empty if whole */
	guint next;    /* the first mark not handed out */
	bool begun;    /* a piece of it was handed out */
	bool whole;
	GByteArray *out;
};

enum cut_outcome {
	CUT_PIECE,  /* *piece is the next */
	CUT_SILENT, /* nothing more before the limit */
	CUT_HELD,   /* there is something before the limit, but no cut is possible yet */
	CUT_DONE,   /* the packet is used up */
};

void cutter_init(struct cutter *c, const struct layout *l);
void cutter_release(struct cutter *c);

/*
 * Begins with the recorded packet data[0..size[, borrowed until CUT_DONE. If size is
 * less than the packet's own size, it is what is left of it: LT_END then means that only
 * the events that are whole will come. LT_AGAIN: it will come as one piece, the reason
 * stands in the error chain. LT_ERROR: not even its head could be read; nothing comes.
 */
enum lt_status cutter_begin(struct cutter *c, const uint8_t *data, size_t size);

/* What the packet has up to limit (cycles); UINT64_MAX: everything. */
enum cut_outcome cutter_take(struct cutter *c, uint64_t limit, struct cut_piece *piece);

/* The stream was said to be silent up to here: the next piece begins there. */
void cutter_set_told(struct cutter *c, uint64_t told);

/* Time of the packet's first event, false: it has none, or is whole. */
bool cutter_first_event(const struct cutter *c, uint64_t *clock);

/* Time of what comes next: an event, or the packet's end. */
uint64_t cutter_next_clock(const struct cutter *c);

#endif
