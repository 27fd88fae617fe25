/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_CURSOR_H
#define LT_UI_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Where in time the screen is. LIVE and REPLAY are the same thing: the end of the shown interval moves over the known
 * range.
 *
 *   begin      interval                  shown           known
 *     |-----------|-----------|-----------[===========[----|···········|
 *                                                    end             hint
 *
 * The shown interval always ends on the grid begin + k × interval, or at the end of the trace, so that the same
 * intervals are shown at any speed. It moves in three ways: by hand; driven by the wall clock (playing); or by sticking
 * to the end of the known range. Trace times are ns since the epoch, the wall clock is any monotonic ns. Pure logic: no
 * clock, no screen.
 */
enum cursor_mode { CURSOR_PAUSED, CURSOR_PLAYING, CURSOR_STICKING };

struct cursor {
	bool live;         /* the sources never end */
	bool complete;     /* known_ns is the end of the trace */
	bool at_rest;      /* live: nothing comes at present, so what is known is shown to its end */
	uint64_t begin_ns; /* origin of the grid: start of the trace */
	uint64_t kept_ns;  /* anything earlier has been dropped from the history; begin_ns: nothing was dropped */
	uint64_t known_ns; /* the history is complete up to here; begin_ns: nothing yet */
	uint64_t frame_ns; /* shortest interval; interval_ns is a multiple of it */
	uint64_t interval_ns;
	double speed;
	enum cursor_mode mode;
	bool moved;           /* the user moved or stopped it */
	bool sized;           /* the user chose the length */
	uint64_t sized_at_ns; /* the instant that each length has shown since; valid while sized_end_ns is end_ns */
	uint64_t sized_end_ns;
	uint64_t end_ns;          /* of the shown interval: on the grid, or known_ns once complete */
	uint64_t marked_begin_ns; /* of a custom interval; 0: on the grid */
	uint64_t wanted_ns;       /* end of the interval of a pending jump past known_ns; 0: none */
	uint64_t asked_ns;        /* where the last jump was to go */
	double position_ns;       /* playing: offset from begin_ns, followed by end_ns */
	uint64_t tick_ns;         /* wall clock when position_ns was valid; 0: never yet */
};

void cursor_init(struct cursor *c, uint64_t begin_ns, uint64_t frame_ns, uint64_t interval_ns, bool live);

/* Sets how far the sources have been read; complete: to their end. Returns whether the shown interval changed. */
bool cursor_known(struct cursor *c, uint64_t known_ns, bool complete);

/* To be called when the history has dropped everything before kept_ns. Returns whether the shown interval changed. */
bool cursor_kept(struct cursor *c, uint64_t kept_ns);

/* What a cursor moves on. */
struct cursor_grid {
	uint64_t begin_ns, frame_ns, interval_ns;
	uint64_t known_ns;
	bool complete;
};

/*
 * To be called when the clocks have been corrected: all times and the grid change, and the shown interval becomes
 * [from_ns, to_ns[. The cursor stays there and keeps a custom interval; at the start or the end of the trace it stays
 * at the start or end. For recordings it waits until that range is known; for live sources the unknown part is left
 * out.
 */
void cursor_rebase(struct cursor *c, const struct cursor_grid *grid, uint64_t from_ns, uint64_t to_ns);

/* Whether it is where it should be and need not wait for more data. */
bool cursor_has_arrived(const struct cursor *c);

/* Replays up to now_ns (monotonic_ns()). Returns whether the shown interval or the mode changed. */
bool cursor_tick(struct cursor *c, uint64_t now_ns);

/* Wall-clock ns until cursor_tick() can change anything; UINT64_MAX: never by itself. */
uint64_t cursor_due(const struct cursor *c);

/* The shown interval; empty (both equal) while nothing is known. */
void cursor_interval(const struct cursor *c, uint64_t *begin_ns, uint64_t *end_ns);

/* Moves by whole intervals; moving back pauses. */
void cursor_step(struct cursor *c, int steps);

/* Shows the interval that contains t_ns. */
void cursor_jump(struct cursor *c, uint64_t t_ns);

/* The time to which a pending jump goes; 0: none is pending. */
uint64_t cursor_destination(const struct cursor *c);

/* Goes to the oldest interval that is kept. */
void cursor_start(struct cursor *c);

/* Goes to the end and sticks to it: live again, or until the recording is complete. */
void cursor_end(struct cursor *c);

/* Pauses or continues. At the end, a live source sticks to the end again; a recording restarts from its start. */
void cursor_pause(struct cursor *c, bool pause);

/*
 * One step through the speeds 0.01, 0.02, 0.05, 0.1 … 1000; direction 0: speed 1. Time up to now_ns has passed at the
 * speed so far.
 */
void cursor_speed(struct cursor *c, int direction, uint64_t now_ns);

/*
 * One step through the lengths 1, 2, 5, 10 … frames; the interval's end stays about where it was. false: refused,
 * because not that much is known yet.
 */
bool cursor_length(struct cursor *c, int direction);

/* Shows an interval between any two times, or what is kept of it, until the cursor moves. */
void cursor_choose(struct cursor *c, uint64_t begin_ns, uint64_t end_ns);

/* The interval length closest to wanted_ns: a multiple of the frame. */
uint64_t cursor_interval_for(uint64_t frame_ns, uint64_t wanted_ns);

/* The shortest round frame length (10, 20, 50, 100, 200, 500 ms, 1 s) that divides span_ns into at most 600 frames. */
uint64_t cursor_frame_for(uint64_t span_ns);

#endif
