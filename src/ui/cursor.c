/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/cursor.h"

#include <glib.h>

#include "base/nstime.h"

/* Allowed speeds, and multiples for frames and intervals: 1, 2, 5, 10 … */
static const double speeds[] = { 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000 };

static const unsigned lengths[] = { 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000 };

uint64_t cursor_interval_for(uint64_t frame_ns, uint64_t wanted_ns)
{
	return MAX((wanted_ns + frame_ns / 2) / frame_ns, 1) * frame_ns;
}

void cursor_init(struct cursor *c, uint64_t begin_ns, uint64_t frame_ns, uint64_t interval_ns, bool live)
{
	*c = (struct cursor){
		.live = live,
		.begin_ns = begin_ns,
		.kept_ns = begin_ns,
		.known_ns = begin_ns,
		.frame_ns = frame_ns,
		.interval_ns = cursor_interval_for(frame_ns, interval_ns),
		.speed = 1,
		.mode = live ? CURSOR_STICKING : CURSOR_PLAYING,
		.end_ns = begin_ns,
	};
}

/* The last grid edge at or before t, but at least one interval after the start. */
static uint64_t grid_floor(const struct cursor *c, uint64_t t_ns)
{
	uint64_t k = t_ns > c->begin_ns ? (t_ns - c->begin_ns) / c->interval_ns : 0;

	return c->begin_ns + MAX(k, 1) * c->interval_ns;
}

/* Whether known_ns is the end, at least for now. */
static bool ends_there(const struct cursor *c)
{
	return c->complete || c->at_rest;
}

/* The latest allowed end of the shown interval; begin_ns: there is none yet. */
static uint64_t last_end(const struct cursor *c)
{
	if (ends_there(c))
		return c->known_ns;
	return c->known_ns >= c->begin_ns + c->interval_ns ? grid_floor(c, c->known_ns) : c->begin_ns;
}

/* The end of the interval that contains t. */
static uint64_t end_around(const struct cursor *c, uint64_t t_ns)
{
	const uint64_t at_ns = MIN(t_ns, UINT64_MAX - c->interval_ns);
	uint64_t k = at_ns > c->begin_ns ? (at_ns - c->begin_ns) / c->interval_ns : 0;

	return c->begin_ns + (k + 1) * c->interval_ns;
}

static bool show(struct cursor *c, uint64_t end_ns)
{
	uint64_t old = c->end_ns;

	c->end_ns = MIN(MAX(end_ns, end_around(c, c->kept_ns)), last_end(c));
	return c->end_ns != old;
}

/* Makes playing continue from what is shown. */
static void sync_position(struct cursor *c)
{
	c->position_ns = (double)(c->end_ns - c->begin_ns);
	c->tick_ns = 0;
}

bool cursor_known(struct cursor *c, uint64_t known_ns, bool complete)
{
	bool changed = complete && !c->complete;

	c->known_ns = MAX(known_ns, c->known_ns);
	c->complete = complete;
	if (c->wanted_ns) {
		changed |= show(c, c->wanted_ns);
		if (c->end_ns >= c->wanted_ns || complete)
			c->wanted_ns = 0;
		sync_position(c);
	} else if (c->mode == CURSOR_STICKING) {
		changed |= show(c, last_end(c));
		if (complete && !c->live)
			c->mode = CURSOR_PAUSED;
	} else if (c->end_ns <= c->begin_ns && last_end(c) > c->begin_ns) {
		changed |= show(c, grid_floor(c, 0));
		sync_position(c);
	}
	return changed;
}

bool cursor_kept(struct cursor *c, uint64_t kept_ns)
{
	uint64_t begin_ns, end_ns;

	c->kept_ns = MAX(c->kept_ns, kept_ns);
	cursor_interval(c, &begin_ns, &end_ns);
	if (end_ns <= c->begin_ns)
		return false;
	if (end_ns > c->kept_ns) {
		if (!c->marked_begin_ns || c->marked_begin_ns >= c->kept_ns)
			return false;
		c->marked_begin_ns = c->kept_ns;
		return true;
	}
	c->marked_begin_ns = 0;
	show(c, end_ns);
	sync_position(c);
	return true;
}

/* Moves the position with the wall clock, at the present speed. Returns whether it plays. */
static bool play_until(struct cursor *c, uint64_t now_ns)
{
	const uint64_t last = last_end(c);

	if (c->mode != CURSOR_PLAYING || c->wanted_ns || last <= c->begin_ns) {
		c->tick_ns = 0;
		return false;
	}
	if (c->tick_ns && now_ns > c->tick_ns)
		c->position_ns += (double)(now_ns - c->tick_ns) * c->speed;
	c->tick_ns = now_ns;
	/* the clock waits for data instead of running ahead */
	if (c->position_ns >= (double)(last - c->begin_ns) && !c->complete)
		c->position_ns = (double)(last - c->begin_ns);
	return true;
}

bool cursor_tick(struct cursor *c, uint64_t now_ns)
{
	const uint64_t last = last_end(c);
	uint64_t end;
	bool changed;

	if (!play_until(c, now_ns))
		return false;
	end = c->position_ns >= (double)(last - c->begin_ns) ? last
							     : grid_floor(c, c->begin_ns + (uint64_t)c->position_ns);
	if (c->marked_begin_ns && end <= c->end_ns)
		return false;
	changed = show(c, end);
	if (changed)
		c->marked_begin_ns = 0;
	if (end == last && ends_there(c)) {
		c->mode = c->live ? CURSOR_STICKING : CURSOR_PAUSED;
		c->moved = changed = true;
	}
	return changed;
}

uint64_t cursor_due(const struct cursor *c)
{
	uint64_t last = last_end(c), next;
	double left;

	if (c->mode != CURSOR_PLAYING || c->wanted_ns || last <= c->begin_ns || (c->end_ns >= last && !ends_there(c)))
		return UINT64_MAX;
	next = MIN(grid_floor(c, c->end_ns) + (grid_floor(c, c->end_ns) <= c->end_ns ? c->interval_ns : 0), last);
	left = ((double)(next - c->begin_ns) - c->position_ns) / c->speed;
	return left > 0 ? (uint64_t)left + 1 : 0;
}

void cursor_interval(const struct cursor *c, uint64_t *begin_ns, uint64_t *end_ns)
{
	uint64_t length = c->end_ns - c->begin_ns;

	*end_ns = c->end_ns;
	if (c->marked_begin_ns)
		*begin_ns = c->marked_begin_ns;
	else if (!length)
		*begin_ns = c->end_ns;
	else
		*begin_ns = c->begin_ns + (length - 1) / c->interval_ns * c->interval_ns;
}

void cursor_step(struct cursor *c, int steps)
{
	uint64_t begin_ns, end_ns, back;

	cursor_interval(c, &begin_ns, &end_ns);
	if (end_ns <= c->begin_ns)
		return;
	c->moved = true;
	c->wanted_ns = 0;
	if (steps < 0) {
		c->mode = CURSOR_PAUSED;
		back = (uint64_t)-steps * c->interval_ns;
		/* from a short last interval back to its start */
		begin_ns = c->marked_begin_ns ? grid_floor(c, begin_ns) + c->interval_ns : begin_ns + c->interval_ns;
		c->marked_begin_ns = 0;
		show(c,
		     begin_ns > c->begin_ns + back + c->interval_ns ? begin_ns - back : c->begin_ns + c->interval_ns);
	} else {
		c->marked_begin_ns = 0;
		if (c->mode == CURSOR_STICKING && !c->live)
			c->mode = CURSOR_PAUSED;
		show(c, grid_floor(c, end_ns) + (uint64_t)steps * c->interval_ns);
	}
	sync_position(c);
}

void cursor_jump(struct cursor *c, uint64_t t_ns)
{
	uint64_t end = end_around(c, t_ns);

	c->moved = true;
	c->marked_begin_ns = 0;
	if (c->mode == CURSOR_STICKING)
		c->mode = CURSOR_PAUSED;
	c->wanted_ns = end > last_end(c) && !c->complete ? end : 0;
	c->asked_ns = t_ns;
	show(c, end);
	sync_position(c);
}

uint64_t cursor_destination(const struct cursor *c)
{
	const uint64_t begin_ns = c->wanted_ns - MIN(c->wanted_ns, c->interval_ns);

	/* with another length or clock, another interval may be wanted */
	return c->asked_ns >= begin_ns && c->asked_ns < c->wanted_ns ? c->asked_ns : begin_ns;
}

void cursor_start(struct cursor *c)
{
	c->moved = true;
	if (c->mode == CURSOR_STICKING)
		c->mode = CURSOR_PAUSED;
	c->wanted_ns = 0;
	c->marked_begin_ns = 0;
	show(c, end_around(c, c->kept_ns));
	sync_position(c);
}

void cursor_end(struct cursor *c)
{
	c->moved = true;
	c->wanted_ns = 0;
	c->marked_begin_ns = 0;
	c->mode = c->complete && !c->live ? CURSOR_PAUSED : CURSOR_STICKING;
	show(c, last_end(c));
	sync_position(c);
}

void cursor_pause(struct cursor *c, bool pause)
{
	if (pause) {
		c->moved = true;
		c->mode = CURSOR_PAUSED;
		c->wanted_ns = 0;
		return;
	}
	if (c->live && c->end_ns >= last_end(c)) {
		c->mode = CURSOR_STICKING;
	} else {
		c->mode = CURSOR_PLAYING;
		if (c->complete && c->end_ns >= c->known_ns)
			show(c, c->begin_ns + c->interval_ns);
	}
	c->marked_begin_ns = 0;
	sync_position(c);
}

void cursor_speed(struct cursor *c, int direction, uint64_t now_ns)
{
	unsigned i = 0;

	play_until(c, now_ns);
	if (!direction) {
		c->speed = 1;
		return;
	}
	if (direction > 0) {
		while (i + 1 < G_N_ELEMENTS(speeds) && speeds[i] <= c->speed)
			i++;
	} else {
		i = G_N_ELEMENTS(speeds) - 1;
		while (i > 0 && speeds[i] >= c->speed)
			i--;
	}
	c->speed = speeds[i];
}

bool cursor_length(struct cursor *c, int direction)
{
	const uint64_t frames = c->interval_ns / c->frame_ns, span_ns = c->known_ns - c->begin_ns;
	uint64_t begin_ns, end_ns;
	unsigned i = 0;

	cursor_interval(c, &begin_ns, &end_ns);
	if (direction > 0) {
		while (i + 1 < G_N_ELEMENTS(lengths) && lengths[i] <= frames)
			i++;
		/* an interval longer than the whole trace would show nothing more */
		if (ends_there(c) && lengths[i] * c->frame_ns >= 2 * span_ns)
			return true;
		/* until it is known, nothing would be shown */
		if (!ends_there(c) && end_ns > begin_ns && lengths[i] * c->frame_ns > span_ns)
			return false;
	} else {
		i = G_N_ELEMENTS(lengths) - 1;
		while (i > 0 && lengths[i] >= frames)
			i--;
	}
	c->sized = true;
	c->interval_ns = lengths[i] * c->frame_ns;
	c->marked_begin_ns = 0;
	if (end_ns > begin_ns) {
		/* not the new interval's: lengths do not divide each other, and it would move with each of them */
		if (c->sized_end_ns != end_ns)
			c->sized_at_ns = end_ns - 1;
		show(c, end_around(c, c->sized_at_ns));
		c->sized_end_ns = c->end_ns;
	}
	if (c->wanted_ns)
		c->wanted_ns = end_around(c, c->wanted_ns - 1);
	sync_position(c);
	return true;
}

void cursor_choose(struct cursor *c, uint64_t begin_ns, uint64_t end_ns)
{
	c->moved = true;
	c->mode = CURSOR_PAUSED;
	c->wanted_ns = 0;
	begin_ns = MAX(begin_ns, c->kept_ns);
	end_ns = MIN(end_ns, c->known_ns);
	if (begin_ns >= end_ns)
		return;
	c->marked_begin_ns = begin_ns;
	c->end_ns = end_ns;
	sync_position(c);
}

void cursor_rebase(struct cursor *c, const struct cursor_grid *grid, uint64_t from_ns, uint64_t to_ns)
{
	const struct cursor old = *c;
	const bool shown = old.end_ns > old.begin_ns;
	const bool moved = old.moved;

	c->begin_ns = c->kept_ns = c->end_ns = grid->begin_ns;
	c->frame_ns = grid->frame_ns;
	c->interval_ns = grid->interval_ns;
	c->known_ns = MAX(grid->known_ns, grid->begin_ns);
	c->complete = grid->complete;
	c->marked_begin_ns = c->wanted_ns = 0;
	if (c->mode == CURSOR_STICKING)
		show(c, last_end(c));
	else if (!c->live && old.complete && shown && old.end_ns >= old.known_ns)
		cursor_end(c);
	else if (old.marked_begin_ns && (c->live || c->complete || to_ns <= c->known_ns))
		cursor_choose(c, from_ns, to_ns);
	else if (old.marked_begin_ns)
		c->wanted_ns = to_ns;
	else if (old.wanted_ns)
		cursor_jump(c, grid->begin_ns + (old.wanted_ns - old.begin_ns) - 1);
	else if (shown && old.kept_ns <= old.begin_ns && old.end_ns <= old.begin_ns + old.interval_ns)
		cursor_start(c);
	else if (shown && c->live)
		show(c, end_around(c, from_ns + (to_ns - from_ns) / 2));
	else if (shown)
		cursor_jump(c, from_ns + (to_ns - from_ns) / 2);
	c->moved = moved;
	sync_position(c);
}

bool cursor_has_arrived(const struct cursor *c)
{
	return c->complete || (c->end_ns > c->begin_ns && !c->wanted_ns && c->mode != CURSOR_STICKING);
}

uint64_t cursor_frame_for(uint64_t span_ns)
{
	static const unsigned nice_ms[] = { 10, 20, 50, 100, 200, 500, 1000 };
	unsigned i = 0;

	while (i + 1 < G_N_ELEMENTS(nice_ms) && nice_ms[i] * NS_PER_MS < (span_ns + 599) / 600)
		i++;
	return nice_ms[i] * NS_PER_MS;
}
