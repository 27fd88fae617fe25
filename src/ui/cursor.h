/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_CURSOR_H
#define LT_UI_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Where in time the screen is. LIVE and REPLAY are the same thing: an end of
 * the shown interval that moves over what is known.
 *
 *   begin      interval                  shown           known
 *     |-----------|-----------|-----------[===========[----|···········|
 *                                                    end             hint
 *
 * The shown interval always ends on the grid begin + k × interval, or at the end
 * of the record, so whatever the speed, the same intervals are shown. Three ways it moves:
 * by hand; driven by the wall clock (playing); or sticking to the end of what is
 * known. Times of the trace are ns since the epoch, the wall clock is any
 * monotonic ns. Pure logic: no clock, no screen.
 */
enum cursor_mode { CURSOR_PAUSED, CURSOR_PLAYING, CURSOR_STICKING };

struct cursor {
	bool live;         /* the sources go on for ever */
	bool complete;     /* known_ns is the end of the record */
	uint64_t begin_ns; /* the grid's origin: begin of the record */
	uint64_t kept_ns;  /* what lies before is no longer in the history; begin_ns: nothing was dropped */
	uint64_t known_ns; /* all before this is in the history; begin_ns: nothing yet */
	uint64_t frame_ns; /* shortest interval, interval_ns is a multiple */
	uint64_t interval_ns;
	double speed;
	enum cursor_mode mode;
	bool moved;               /* it is where it is because somebody put it there, or stopped it there */
	bool sized;               /* and its length is by somebody's wish */
	uint64_t end_ns;          /* of the shown interval: on the grid, or known_ns once complete */
	uint64_t marked_begin_ns; /* of an interval chosen by hand, 0: the grid's */
	uint64_t wanted_ns;       /* a jump past known_ns that is still to be made, 0 none */
	double position_ns;       /* playing: since begin_ns, end_ns follows it */
	uint64_t tick_ns;         /* wall clock at which position_ns was right, 0: not yet */
};

void cursor_init(struct cursor *c, uint64_t begin_ns, uint64_t frame_ns, uint64_t interval_ns, bool live);

/* What the sources have given so far; complete: and it is all. Returns whether the shown interval changed. */
bool cursor_known(struct cursor *c, uint64_t known_ns, bool complete);

/* The history has dropped what lies before kept_ns. Returns whether the shown interval changed. */
bool cursor_kept(struct cursor *c, uint64_t kept_ns);

/* What a cursor moves on. */
struct cursor_grid {
	uint64_t begin_ns, frame_ns, interval_ns;
	uint64_t known_ns;
	bool complete;
};

/*
 * All times are others, as the clocks they go by have been corrected: the grid is another one, and what was shown is
 * [from_ns, to_ns[ now. The cursor stays there, a chosen interval as it is; at the start it stays at the start, at a
 * record's end at the end. What of that is not known yet is waited for (recordings), or left out (live).
 */
void cursor_rebase(struct cursor *c, const struct cursor_grid *grid, uint64_t from_ns, uint64_t to_ns);

/* Whether it is where it is to be, and need not wait for more to be known. */
bool cursor_has_arrived(const struct cursor *c);

/* The wall clock went on. Returns whether the shown interval or the mode changed. */
bool cursor_tick(struct cursor *c, uint64_t wall_ns);

/* Wall-clock ns until cursor_tick() can change something, UINT64_MAX: never by itself. */
uint64_t cursor_due(const struct cursor *c);

/* The shown interval. Empty (equal) while nothing is known. */
void cursor_interval(const struct cursor *c, uint64_t *begin_ns, uint64_t *end_ns);

/* Whole intervals forward or back; back pauses. */
void cursor_step(struct cursor *c, int steps);

/* Shows the interval that t_ns lies in. */
void cursor_jump(struct cursor *c, uint64_t t_ns);

/* To the oldest interval that is kept. */
void cursor_start(struct cursor *c);

/* To the end, and sticking to it: live again; of a record: until it is complete. */
void cursor_end(struct cursor *c);

/* Pause, go on. From a live source's end going on means sticking; at a record's end it starts anew. */
void cursor_pause(struct cursor *c, bool pause);

/* One step through the speeds 0.1, 0.2, 0.5, 1, 2, 5 … 1000; 0: 1. */
void cursor_speed(struct cursor *c, int direction);

/* One step through the lengths 1, 2, 5, 10 … frames; the interval goes on ending about where it did. */
void cursor_length(struct cursor *c, int direction);

/* An interval of any two times, until the cursor moves. */
void cursor_choose(struct cursor *c, uint64_t begin_ns, uint64_t end_ns);

/* The interval nearest to wanted_ns: a multiple of the frame. */
uint64_t cursor_interval_for(uint64_t frame_ns, uint64_t wanted_ns);

/*
 * The least nice frame length (10, 20, 50, 100, 200, 500 ms, 1 s) that cuts a
 * record of span_ns into at most 600 frames.
 */
uint64_t cursor_frame_for(uint64_t span_ns);

#endif
