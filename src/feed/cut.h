/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_FEED_CUT_H
#define LT_FEED_CUT_H

#include "ctf/packet.h"

/*
 * Cuts the packets of a stream at event boundaries, as if the tracer had been asked to flush its buffer at those
 * instants. Each piece is a packet with the header and context of the recorded one, but with its own times, sizes and
 * counters:
 *
 *   recorded   [b0 . . . . . . . . . . . . e0]      [b1 . . e1]     events_discarded d0, d1
 *   pieces     [b0 . . t1][t1 . t2][t3 . . e0]      [b1 . . e1]
 *   seq        0         1         2                3               + gaps in the recording's own numbers
 *   discarded  d(-1)     d(-1)     d0               d1
 *   silent               t2 → t3: nothing happened, t3 is the start of the next piece
 *
 * Events lost in a recorded packet are reported by its last piece, because a tracer loses events when its buffer is
 * full, that is, after the last one. The first packet's counter covers losses before the stream started: all its pieces
 * have it.
 *
 * A packet whose events cannot all be stepped over, or are more than a tracer could write, or whose layout would change
 * if its events moved, is passed on whole.
 */
struct cut_piece {
	uint8_t *data; /* owned by the cutter, valid until its next call */
	size_t size;   /* in bytes */
	uint64_t content_bits;
	uint64_t begin, end; /* in clock cycles */
	uint64_t discarded, seq;
	unsigned events; /* 0 if the packet was not stepped through */
};

struct cutter {
	const struct layout *layout;

	/* State of the stream. */
	uint64_t told;      /* time up to which the stream has been announced, in cycles */
	uint64_t discarded; /* the last recorded packet's counter */
	uint64_t seq;       /* of the next piece */
	uint64_t recorded_seq;
	bool has_packet;      /* there was a packet before */
	uint64_t steps_spent; /* see walk_spent() */

	/* The packet being cut; its bytes are borrowed. */
	const uint8_t *data;
	size_t size;
	struct packet_head head;
	uint64_t content_bits;
	GArray *marks;  /* start of each event; empty if the packet is passed on whole */
	GArray *chosen; /* guint: marks of the chosen events */
	guint next;     /* first mark, or chosen event, that has not been handed out */
	bool begun;     /* a piece of it has been handed out */
	bool whole;
	GByteArray *out;
};

enum cut_outcome {
	CUT_PIECE,  /* *piece is the next piece */
	CUT_SILENT, /* nothing happens before the limit */
	CUT_HELD,   /* there are events before the limit, but it cannot be cut yet */
	CUT_DONE,   /* the packet is finished */
};

void cutter_init(struct cutter *c, const struct layout *l);
void cutter_release(struct cutter *c);

/*
 * Starts with a recorded packet, data[0..size[, borrowed until CUT_DONE. If size is less than the packet's own size,
 * the rest is missing. LT_END: only the events that are complete will come, as if the packet ended with them. LT_AGAIN:
 * it will come as one piece, for the reason in the error chain. LT_ERROR: not even its header could be read; nothing
 * will come. In .head an end of 0, which is unknown, has become the time of the latest event.
 */
enum lt_status cutter_begin(struct cutter *c, const uint8_t *data, size_t size);

/* Moves the packet's end to its latest event, if that is later, but at most to limit. */
void cutter_extend(struct cutter *c, uint64_t limit);

/* Takes what the packet has up to limit (cycles); UINT64_MAX: everything. */
enum cut_outcome cutter_take(struct cutter *c, uint64_t limit, struct cut_piece *piece);

/*
 * Instead of cutter_take(): chooses the event at bit `at` of the packet, or after padding there; in the order of the
 * packet. false: there is none.
 */
bool cutter_choose(struct cutter *c, uint64_t at);

/*
 * Takes the chosen events, and only them. An event may have just the low bits of its time, which continue the time of
 * the event before it; one that would get another time after events have been left out starts a new piece:
 *
 *   recorded   [b0 . X . . . X X . . . . . . . . . . . . X . e0]
 *   pieces     [b0 X X X t1]                            [X e0]
 *
 * Times, in cycles, are kept within [from, limit]. CUT_HELD, at the packet's first piece: some cannot be moved; the
 * packet can be taken as a whole.
 */
enum cut_outcome cutter_take_chosen(struct cutter *c, uint64_t from, uint64_t limit, struct cut_piece *piece);

/* Takes the packet without its events, for the time that it covers and what it lost. false: that is impossible. */
bool cutter_take_empty(struct cutter *c, uint64_t from, uint64_t limit, struct cut_piece *piece);

/*
 * After the pieces of a truncated packet, whose bytes these are: a piece without events at this time, with such a
 * number that one packet is missing before it. false: that is impossible.
 */
bool cutter_take_after_loss(struct cutter *c, const uint8_t *data, uint64_t at, struct cut_piece *piece);

/* Leaves a packet out that has these counters. The next piece reports its losses. */
void cutter_skip(struct cutter *c, uint64_t seq, uint64_t discarded);

/* Records that the stream was announced as silent up to here: the next piece starts there. */
void cutter_set_silent_until(struct cutter *c, uint64_t told);

/*
 * The time of a packet's first event, without starting with the packet. LT_END: it has none. LT_ERROR: it cannot be
 * read or stepped over.
 */
enum lt_status cutter_first_event(struct cutter *c, const uint8_t *data, size_t size, uint64_t *clock);

/* The time of what comes next: an event or the packet's end. */
uint64_t cutter_next_clock(const struct cutter *c);

#endif
