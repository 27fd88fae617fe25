/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/cursor.h"

#include <glib.h>

#include "ui/internal.h"
#include "unit.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define BEGIN (UINT64_C(1700000000) * SECOND + 123456789)

static struct cursor recording(uint64_t known_ns, bool complete)
{
	struct cursor c;

	cursor_init(&c, BEGIN, 10 * MS, SECOND, false);
	cursor_known(&c, BEGIN + known_ns, complete);
	return c;
}

static void check_shown(const struct cursor *c, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t b, e;

	cursor_interval(c, &b, &e);
	ck_assert_uint_eq(b - BEGIN, begin_ns);
	ck_assert_uint_eq(e - BEGIN, end_ns);
}

START_TEST(nothing_known_shows_nothing)
{
	struct cursor c = recording(0, false);

	check_shown(&c, 0, 0);
	ck_assert(!cursor_tick(&c, 5 * SECOND));
	cursor_step(&c, 3);
	check_shown(&c, 0, 0);
	ck_assert_uint_eq(cursor_due(&c), UINT64_MAX);
}
END_TEST

START_TEST(first_interval_shows_as_soon_as_known)
{
	struct cursor c = recording(999 * MS, false);

	check_shown(&c, 0, 0);
	ck_assert(cursor_known(&c, BEGIN + SECOND, false));
	check_shown(&c, 0, SECOND);
}
END_TEST

START_TEST(short_record_is_one_interval)
{
	struct cursor c = recording(300 * MS, true);

	check_shown(&c, 0, 300 * MS);
	cursor_tick(&c, SECOND);
	ck_assert_int_eq(c.mode, CURSOR_PAUSED);
	cursor_step(&c, -1);
	check_shown(&c, 0, 300 * MS);
}
END_TEST

START_TEST(replay_follows_the_clock)
{
	struct cursor c = recording(10 * SECOND, false);

	ck_assert(!cursor_tick(&c, 100 * SECOND));
	ck_assert_uint_eq(cursor_due(&c), SECOND + 1);
	ck_assert(!cursor_tick(&c, 100 * SECOND + 999 * MS));
	check_shown(&c, 0, SECOND);
	ck_assert(cursor_tick(&c, 101 * SECOND + 1));
	check_shown(&c, SECOND, 2 * SECOND);
	c.speed = 2;
	ck_assert(cursor_tick(&c, 102 * SECOND + 1));
	check_shown(&c, 3 * SECOND, 4 * SECOND);
}
END_TEST

START_TEST(replay_waits_for_the_data)
{
	struct cursor c = recording(2500 * MS, false);

	cursor_tick(&c, SECOND);
	cursor_tick(&c, 60 * SECOND);
	check_shown(&c, SECOND, 2 * SECOND);
	ck_assert_uint_eq(cursor_due(&c), UINT64_MAX);
	cursor_known(&c, BEGIN + 10 * SECOND, false);
	cursor_tick(&c, 60 * SECOND + 500 * MS);
	check_shown(&c, SECOND, 2 * SECOND);
	cursor_tick(&c, 61 * SECOND);
	check_shown(&c, 2 * SECOND, 3 * SECOND);
}
END_TEST

START_TEST(replay_stops_at_the_end)
{
	struct cursor c = recording(3500 * MS, true);

	cursor_tick(&c, SECOND);
	cursor_tick(&c, 3 * SECOND);
	check_shown(&c, 2 * SECOND, 3 * SECOND);
	ck_assert_uint_eq(cursor_due(&c), 500 * MS + 1);
	ck_assert(cursor_tick(&c, 4 * SECOND));
	check_shown(&c, 3 * SECOND, 3500 * MS);
	ck_assert_int_eq(c.mode, CURSOR_PAUSED);
	cursor_pause(&c, false);
	check_shown(&c, 0, SECOND);
	ck_assert_int_eq(c.mode, CURSOR_PLAYING);
}
END_TEST

/* Every interval shown at ×1000 is also shown at ×1, whatever the rhythm of the ticks. */
START_TEST(speed_does_not_change_intervals)
{
	GHashTable *slow = g_hash_table_new(g_int64_hash, g_int64_equal);
	struct cursor c = recording(20300 * MS, true);
	uint64_t seen[64], b, e;
	unsigned n = 0;

	for (uint64_t wall = SECOND; c.mode == CURSOR_PLAYING; wall += 7 * MS)
		if (cursor_tick(&c, wall) || !n) {
			cursor_interval(&c, &b, &seen[n]);
			g_hash_table_insert(slow, &seen[n], GUINT_TO_POINTER((unsigned)((b - BEGIN) / MS)));
			n++;
		}
	ck_assert_uint_eq(g_hash_table_size(slow), 21);
	c = recording(20300 * MS, true);
	c.speed = 1000;
	for (uint64_t wall = SECOND; c.mode == CURSOR_PLAYING; wall += 2 * MS) {
		cursor_tick(&c, wall);
		cursor_interval(&c, &b, &e);
		ck_assert(g_hash_table_contains(slow, &e));
		ck_assert_uint_eq(GPOINTER_TO_UINT(g_hash_table_lookup(slow, &e)), (b - BEGIN) / MS);
	}
	g_hash_table_destroy(slow);
}
END_TEST

START_TEST(steps_come_back)
{
	struct cursor c = recording(10500 * MS, true);

	cursor_end(&c);
	check_shown(&c, 10 * SECOND, 10500 * MS);
	cursor_step(&c, -1);
	check_shown(&c, 9 * SECOND, 10 * SECOND);
	cursor_step(&c, 1);
	check_shown(&c, 10 * SECOND, 10500 * MS);
	cursor_step(&c, 1);
	check_shown(&c, 10 * SECOND, 10500 * MS);
	cursor_step(&c, -10);
	check_shown(&c, 0, SECOND);
	cursor_step(&c, -1);
	check_shown(&c, 0, SECOND);
	cursor_step(&c, 10);
	check_shown(&c, 10 * SECOND, 10500 * MS);
}
END_TEST

START_TEST(back_pauses_forward_does_not)
{
	struct cursor c = recording(10 * SECOND, true);

	cursor_step(&c, 2);
	ck_assert_int_eq(c.mode, CURSOR_PLAYING);
	cursor_step(&c, -1);
	ck_assert_int_eq(c.mode, CURSOR_PAUSED);
	cursor_tick(&c, SECOND);
	cursor_tick(&c, 9 * SECOND);
	check_shown(&c, SECOND, 2 * SECOND);
}
END_TEST

START_TEST(jump_shows_the_interval_around)
{
	struct cursor c = recording(10 * SECOND, false);

	cursor_pause(&c, true);
	cursor_jump(&c, BEGIN + 4200 * MS);
	check_shown(&c, 4 * SECOND, 5 * SECOND);
	cursor_jump(&c, BEGIN + 4 * SECOND);
	check_shown(&c, 4 * SECOND, 5 * SECOND);
	cursor_jump(&c, 0);
	check_shown(&c, 0, SECOND);
	/* past the known end: as far as possible now, and the rest when it is known */
	cursor_jump(&c, BEGIN + 15500 * MS);
	check_shown(&c, 9 * SECOND, 10 * SECOND);
	cursor_known(&c, BEGIN + 30 * SECOND, false);
	check_shown(&c, 15 * SECOND, 16 * SECOND);
	cursor_known(&c, BEGIN + 40 * SECOND, true);
	check_shown(&c, 15 * SECOND, 16 * SECOND);
	ck_assert_int_eq(c.mode, CURSOR_PAUSED);
}
END_TEST

START_TEST(end_of_a_record_pauses)
{
	struct cursor c = recording(4 * SECOND, false);

	cursor_end(&c);
	ck_assert_int_eq(c.mode, CURSOR_STICKING);
	cursor_known(&c, BEGIN + 7200 * MS, true);
	check_shown(&c, 7 * SECOND, 7200 * MS);
	ck_assert_int_eq(c.mode, CURSOR_PAUSED);
}
END_TEST

START_TEST(live_sticks_until_moved)
{
	struct cursor c;

	cursor_init(&c, BEGIN, SECOND, SECOND, true);
	cursor_known(&c, BEGIN + 3 * SECOND, false);
	check_shown(&c, 2 * SECOND, 3 * SECOND);
	cursor_known(&c, BEGIN + 4 * SECOND, false);
	check_shown(&c, 3 * SECOND, 4 * SECOND);
	cursor_step(&c, -1);
	cursor_known(&c, BEGIN + 9 * SECOND, false);
	check_shown(&c, 2 * SECOND, 3 * SECOND);
	ck_assert_int_eq(c.mode, CURSOR_PAUSED);
	cursor_pause(&c, false);
	ck_assert_int_eq(c.mode, CURSOR_PLAYING);
	cursor_end(&c);
	ck_assert_int_eq(c.mode, CURSOR_STICKING);
	check_shown(&c, 8 * SECOND, 9 * SECOND);
}
END_TEST

START_TEST(dropped_past_is_not_shown)
{
	struct cursor c = recording(10 * SECOND, true);

	cursor_pause(&c, true);
	ck_assert(!cursor_kept(&c, BEGIN));
	ck_assert(cursor_kept(&c, BEGIN + 4500 * MS));
	check_shown(&c, 4 * SECOND, 5 * SECOND);
	ck_assert(!cursor_kept(&c, BEGIN + 4500 * MS));
	cursor_step(&c, -1);
	check_shown(&c, 4 * SECOND, 5 * SECOND);
	cursor_end(&c);
	cursor_jump(&c, BEGIN);
	check_shown(&c, 4 * SECOND, 5 * SECOND);
	cursor_step(&c, 1);
	cursor_start(&c);
	check_shown(&c, 4 * SECOND, 5 * SECOND);
}
END_TEST

START_TEST(length_stays_on_its_grid)
{
	struct cursor c = recording(10 * SECOND, true);

	cursor_jump(&c, BEGIN + 4200 * MS);
	cursor_length(&c, 1);
	ck_assert_uint_eq(c.interval_ns, 2 * SECOND);
	check_shown(&c, 4 * SECOND, 6 * SECOND);
	cursor_length(&c, 1);
	check_shown(&c, 0, 5 * SECOND);
	cursor_length(&c, -1);
	cursor_length(&c, -1);
	cursor_length(&c, -1);
	ck_assert_uint_eq(c.interval_ns, 500 * MS);
	check_shown(&c, 4500 * MS, 5 * SECOND);
	for (int i = 0; i < 20; i++)
		cursor_length(&c, -1);
	ck_assert_uint_eq(c.interval_ns, 10 * MS);
	for (int i = 0; i < 30; i++)
		cursor_length(&c, 1);
	check_shown(&c, 0, 10 * SECOND);
}
END_TEST

/* 200 ms do not divide 500 ms. */
START_TEST(length_comes_back)
{
	struct cursor c = recording(20 * SECOND, true);

	for (int at = 4; at < 7; at++) {
		cursor_jump(&c, BEGIN + (uint64_t)at * SECOND);
		for (int n = 1; n < 6; n++) {
			for (int i = 0; i < n; i++)
				cursor_length(&c, -1);
			for (int i = 0; i < n; i++)
				cursor_length(&c, 1);
			check_shown(&c, (uint64_t)at * SECOND, (uint64_t)(at + 1) * SECOND);
		}
	}
	/* after a step it is another instant */
	cursor_length(&c, -1);
	check_shown(&c, 6500 * MS, 7 * SECOND);
	cursor_step(&c, -1);
	cursor_length(&c, 1);
	check_shown(&c, 6 * SECOND, 7 * SECOND);
	cursor_step(&c, -1);
	check_shown(&c, 5 * SECOND, 6 * SECOND);
	cursor_length(&c, -1);
	cursor_length(&c, 1);
	check_shown(&c, 5 * SECOND, 6 * SECOND);
}
END_TEST

/* A length of which not enough is known yet would show nothing. */
START_TEST(length_beyond_what_is_known)
{
	struct cursor c;

	cursor_init(&c, BEGIN, SECOND, SECOND, true);
	cursor_known(&c, BEGIN + 6500 * MS, false);
	cursor_step(&c, -1);
	check_shown(&c, 4 * SECOND, 5 * SECOND);
	ck_assert(cursor_length(&c, 1));
	ck_assert(cursor_length(&c, 1));
	check_shown(&c, 0, 5 * SECOND);
	ck_assert(!cursor_length(&c, 1));
	check_shown(&c, 0, 5 * SECOND);
	ck_assert(cursor_length(&c, -1));
	check_shown(&c, 4 * SECOND, 6 * SECOND);
	/* where nothing more comes, the last interval may be short */
	c.at_rest = true;
	ck_assert(cursor_length(&c, 1));
	ck_assert(cursor_length(&c, 1));
	check_shown(&c, 0, 6500 * MS);
	/* nothing is shown, and nothing is lost */
	cursor_init(&c, BEGIN, SECOND, SECOND, true);
	ck_assert(cursor_length(&c, 1));
	ck_assert_uint_eq(c.interval_ns, 2 * SECOND);
}
END_TEST

/* The interval that is shown later is a whole one. */
START_TEST(length_during_a_jump)
{
	struct cursor c = recording(10 * SECOND, false);

	cursor_jump(&c, BEGIN + 15500 * MS);
	cursor_length(&c, 1);
	cursor_length(&c, 1);
	cursor_known(&c, BEGIN + 16 * SECOND, false);
	check_shown(&c, 10 * SECOND, 15 * SECOND);
	cursor_known(&c, BEGIN + 30 * SECOND, false);
	check_shown(&c, 15 * SECOND, 20 * SECOND);
}
END_TEST

START_TEST(jump_to_the_end_of_time)
{
	struct cursor c = recording(10 * SECOND, true);

	cursor_pause(&c, true);
	cursor_jump(&c, UINT64_MAX);
	check_shown(&c, 9 * SECOND, 10 * SECOND);
}
END_TEST

START_TEST(chosen_interval_lasts_until_moved)
{
	struct cursor c = recording(10 * SECOND, true);

	cursor_choose(&c, BEGIN + 1500 * MS, BEGIN + 3700 * MS);
	check_shown(&c, 1500 * MS, 3700 * MS);
	ck_assert_int_eq(c.mode, CURSOR_PAUSED);
	cursor_step(&c, 1);
	check_shown(&c, 3 * SECOND, 4 * SECOND);
	cursor_choose(&c, BEGIN + 1500 * MS, BEGIN + 3700 * MS);
	cursor_step(&c, -1);
	check_shown(&c, 0, SECOND);
	cursor_choose(&c, BEGIN + 3 * SECOND, BEGIN + 2 * SECOND);
	check_shown(&c, 0, SECOND);
}
END_TEST

/* What was dropped of it, or before it was chosen, has no figures. */
START_TEST(chosen_interval_is_what_is_kept_of_it)
{
	struct cursor c = recording(10 * SECOND, true);

	cursor_choose(&c, BEGIN + 1500 * MS, BEGIN + 5700 * MS);
	ck_assert(!cursor_kept(&c, BEGIN + SECOND));
	check_shown(&c, 1500 * MS, 5700 * MS);
	ck_assert(cursor_kept(&c, BEGIN + 3 * SECOND));
	check_shown(&c, 3 * SECOND, 5700 * MS);
	cursor_choose(&c, BEGIN + 1500 * MS, BEGIN + 5700 * MS);
	check_shown(&c, 3 * SECOND, 5700 * MS);
	ck_assert(cursor_kept(&c, BEGIN + 7 * SECOND));
	check_shown(&c, 7 * SECOND, 8 * SECOND);
}
END_TEST

START_TEST(destination_is_what_was_asked_for)
{
	struct cursor c = recording(2 * SECOND, false);

	ck_assert_uint_eq(cursor_destination(&c), 0);
	cursor_jump(&c, BEGIN + 7900 * MS);
	ck_assert_uint_eq(cursor_destination(&c), BEGIN + 7900 * MS);
	c.interval_ns = 100 * MS;
	c.wanted_ns = BEGIN + 7800 * MS;
	ck_assert_uint_eq(cursor_destination(&c), BEGIN + 7700 * MS);
	cursor_known(&c, BEGIN + 8 * SECOND, false);
	ck_assert_uint_eq(cursor_destination(&c), 0);
}
END_TEST

/* Time that has passed at ×0.05 stays at ×0.05, although no interval ended meanwhile. */
START_TEST(another_speed_changes_no_past_time)
{
	struct cursor c = recording(20 * SECOND, true);

	c.speed = 0.05;
	cursor_tick(&c, SECOND);
	cursor_speed(&c, 0, 7 * SECOND);
	ck_assert(!cursor_tick(&c, 7 * SECOND));
	check_shown(&c, 0, SECOND);
	ck_assert_uint_eq(cursor_due(&c), 700 * MS + 1);
	ck_assert(cursor_tick(&c, 7 * SECOND + 701 * MS));
	check_shown(&c, SECOND, 2 * SECOND);
}
END_TEST

START_TEST(speeds_are_steps)
{
	struct cursor c = recording(SECOND, true);

	for (int i = 0; i < 40; i++)
		cursor_speed(&c, 1, 0);
	ck_assert(c.speed == 1000);
	cursor_speed(&c, -1, 0);
	ck_assert(c.speed == 500);
	cursor_speed(&c, 0, 0);
	ck_assert(c.speed == 1);
	cursor_speed(&c, -1, 0);
	ck_assert(c.speed == 0.5);
	c.speed = 3;
	cursor_speed(&c, 1, 0);
	ck_assert(c.speed == 5);
}
END_TEST

START_TEST(frame_length_fits_the_span)
{
	ck_assert_uint_eq(cursor_frame_for(0), 10 * MS);
	ck_assert_uint_eq(cursor_frame_for(6 * SECOND), 10 * MS);
	ck_assert_uint_eq(cursor_frame_for(6 * SECOND + 600), 20 * MS);
	ck_assert_uint_eq(cursor_frame_for(42 * SECOND), 100 * MS);
	ck_assert_uint_eq(cursor_frame_for(3600 * SECOND), SECOND);
}
END_TEST

/* A grid that starts this far after the old one, with this much known. */
static struct cursor_grid grid(uint64_t begin_ns, uint64_t known_ns, bool complete)
{
	return (struct cursor_grid){
		.begin_ns = BEGIN + begin_ns,
		.frame_ns = 10 * MS,
		.interval_ns = SECOND,
		.known_ns = BEGIN + known_ns,
		.complete = complete,
	};
}

static void rebase(struct cursor *c, struct cursor_grid to, uint64_t from_ns, uint64_t to_ns)
{
	cursor_rebase(c, &to, BEGIN + from_ns, BEGIN + to_ns);
}

/* The interval shown stays, on the grid with the new start, wherever it is now. */
START_TEST(other_clocks_other_grid)
{
	struct cursor c = recording(30 * SECOND, true);

	cursor_jump(&c, BEGIN + 12 * SECOND);
	cursor_pause(&c, true);
	rebase(&c, grid(2500 * MS, 20 * SECOND, true), 16700 * MS, 17700 * MS);
	check_shown(&c, 16500 * MS, 17500 * MS);
	ck_assert_int_eq(c.mode, CURSOR_PAUSED);
	ck_assert(c.moved);
	ck_assert(cursor_has_arrived(&c));
	/* a time that no longer exists: the nearest one that does */
	rebase(&c, grid(0, 10 * SECOND, true), 19 * SECOND, 20 * SECOND);
	check_shown(&c, 9 * SECOND, 10 * SECOND);
	rebase(&c, grid(11 * SECOND, 20 * SECOND, true), 2 * SECOND, 3 * SECOND);
	check_shown(&c, 19 * SECOND, 20 * SECOND); /* it was at the end */
}
END_TEST

START_TEST(other_clocks_start_and_end_stay)
{
	struct cursor c = recording(30 * SECOND, true);

	cursor_start(&c);
	rebase(&c, grid(5 * SECOND, 20 * SECOND, false), 15 * SECOND, 16 * SECOND);
	check_shown(&c, 5 * SECOND, 6 * SECOND);
	/* waits for the end */
	c = recording(30 * SECOND, true);
	cursor_end(&c);
	rebase(&c, grid(5 * SECOND, 20 * SECOND, false), 6 * SECOND, 7 * SECOND);
	ck_assert(!cursor_has_arrived(&c));
	cursor_known(&c, BEGIN + 25 * SECOND + 200 * MS, true);
	ck_assert(cursor_has_arrived(&c));
	check_shown(&c, 25 * SECOND, 25200 * MS);
	ck_assert_int_eq(c.mode, CURSOR_PAUSED);
}
END_TEST

START_TEST(other_clocks_wait_for_the_place)
{
	struct cursor c = recording(30 * SECOND, true);
	uint64_t b, e;

	cursor_pause(&c, true);
	cursor_jump(&c, BEGIN + 12 * SECOND);
	rebase(&c, grid(5 * SECOND, 14 * SECOND, false), 14100 * MS, 15100 * MS);
	ck_assert(!cursor_has_arrived(&c));
	cursor_known(&c, BEGIN + 15 * SECOND, false);
	ck_assert(cursor_has_arrived(&c));
	check_shown(&c, 14 * SECOND, 15 * SECOND);
	/* a chosen interval moves with its data, to the nanosecond, as soon as all of it is known */
	cursor_choose(&c, BEGIN + 12 * SECOND, BEGIN + 14 * SECOND);
	c.complete = true;
	rebase(&c, grid(6 * SECOND, 14 * SECOND, false), 12300 * MS, 14300 * MS);
	ck_assert(!cursor_has_arrived(&c));
	cursor_choose(&c, BEGIN + 12 * SECOND, BEGIN + 14 * SECOND);
	rebase(&c, grid(6 * SECOND, 15 * SECOND, false), 12300 * MS, 14300 * MS);
	ck_assert(cursor_has_arrived(&c));
	cursor_interval(&c, &b, &e);
	ck_assert_uint_eq(b, BEGIN + 12300 * MS);
	ck_assert_uint_eq(e, BEGIN + 14300 * MS);
}
END_TEST

START_TEST(other_clocks_live)
{
	struct cursor c;

	/* stays at the end, whatever its time is now */
	cursor_init(&c, BEGIN, 10 * MS, SECOND, true);
	cursor_known(&c, BEGIN + 8 * SECOND, false);
	rebase(&c, grid(SECOND, 9100 * MS, false), 2 * SECOND, 3 * SECOND);
	check_shown(&c, 8 * SECOND, 9 * SECOND);
	ck_assert_int_eq(c.mode, CURSOR_STICKING);
	/* never waits for the future */
	cursor_jump(&c, BEGIN + 6 * SECOND);
	rebase(&c, grid(SECOND, 9100 * MS, false), 20 * SECOND, 21 * SECOND);
	check_shown(&c, 8 * SECOND, 9 * SECOND);
	ck_assert_uint_eq(c.wanted_ns, 0);
}
END_TEST

/* Where the cursor goes when the clocks change depends on how it got to its place. */
START_TEST(moved_by_hand)
{
	struct cursor c = recording(3 * SECOND, true);

	ck_assert(!c.moved);
	cursor_tick(&c, SECOND);
	cursor_tick(&c, 2 * SECOND);
	check_shown(&c, SECOND, 2 * SECOND);
	ck_assert(!c.moved);
	cursor_step(&c, 1);
	ck_assert(c.moved);
	c = recording(3 * SECOND, true);
	cursor_pause(&c, true);
	ck_assert(c.moved);
	c = recording(3 * SECOND, true);
	cursor_tick(&c, SECOND);
	cursor_tick(&c, 10 * SECOND); /* played to the end: it stays there */
	ck_assert_int_eq(c.mode, CURSOR_PAUSED);
	ck_assert(c.moved);
	ck_assert(!c.sized);
	cursor_length(&c, -1);
	ck_assert(c.sized);
}
END_TEST

/* Live sources that have ended: a delayed replay comes to the end and stays there, as live mode does. */
START_TEST(live_replay_played_out)
{
	struct cursor c;

	cursor_init(&c, BEGIN, 10 * MS, SECOND, true);
	cursor_known(&c, BEGIN + 5 * SECOND, false);
	cursor_step(&c, -2);
	cursor_pause(&c, false);
	ck_assert_int_eq(c.mode, CURSOR_PLAYING);
	cursor_tick(&c, SECOND);
	cursor_tick(&c, 9 * SECOND);
	check_shown(&c, 4 * SECOND, 5 * SECOND);
	ck_assert_int_eq(c.mode, CURSOR_PLAYING); /* more data may come */
	cursor_known(&c, BEGIN + 5 * SECOND + 300 * MS, true);
	cursor_tick(&c, 10 * SECOND);
	cursor_tick(&c, 11 * SECOND);
	check_shown(&c, 5 * SECOND, 5300 * MS);
	ck_assert_int_eq(c.mode, CURSOR_STICKING);
	ck_assert_uint_eq(cursor_due(&c), UINT64_MAX);
}
END_TEST

/* The same when they may come back: at the end it is live again. */
START_TEST(live_replay_comes_to_rest)
{
	struct cursor c;

	for (unsigned late = 0; late < 2; late++) {
		cursor_init(&c, BEGIN, 10 * MS, SECOND, true);
		cursor_known(&c, BEGIN + 5 * SECOND, false);
		cursor_step(&c, -2);
		cursor_pause(&c, false);
		c.at_rest = !late;
		cursor_tick(&c, SECOND);
		cursor_tick(&c, 9 * SECOND);
		check_shown(&c, 4 * SECOND, 5 * SECOND);
		if (late) {
			ck_assert_int_eq(c.mode, CURSOR_PLAYING);
			c.at_rest = true;
			ck_assert_uint_eq(cursor_due(&c), 0);
			cursor_tick(&c, 10 * SECOND);
		}
		ck_assert_int_eq(c.mode, CURSOR_STICKING);
		ck_assert_uint_eq(cursor_due(&c), UINT64_MAX);
	}
}
END_TEST

/* Seconds from the start of ten seconds from 22:13:20 on to the time that is meant. */
static int64_t seconds_to(const char *text)
{
	const struct ui ui = { .options = { .utc = true } };
	const uint64_t begin_ns = BEGIN / SECOND * SECOND;
	struct timetext time;

	ck_assert_int_eq(timetext_parse(text, &time), LT_OK);
	return ((int64_t)time_nearest(&ui, &time, begin_ns, begin_ns + 10 * SECOND) - (int64_t)begin_ns) /
	       (int64_t)SECOND;
}

/* A time of day at which nothing was recorded is on the day on which it is nearer. */
START_TEST(time_of_day_is_the_nearest)
{
	enum { HOUR = 3600, DAY = 24 * HOUR, FIRST = 22 * HOUR + 13 * 60 + 20 };

	ck_assert_int_eq(seconds_to("22:13:25"), 5);
	ck_assert_int_eq(seconds_to("22:13:10"), -10);
	ck_assert_int_eq(seconds_to("22:13:40"), 20);
	ck_assert_int_eq(seconds_to("11:00:00"), 11 * HOUR - FIRST);
	ck_assert_int_eq(seconds_to("10:00:00"), DAY + 10 * HOUR - FIRST);
}
END_TEST

UNIT_MAIN("cursor", nothing_known_shows_nothing, first_interval_shows_as_soon_as_known, short_record_is_one_interval,
	  replay_follows_the_clock, replay_waits_for_the_data, replay_stops_at_the_end, speed_does_not_change_intervals,
	  steps_come_back, back_pauses_forward_does_not, jump_shows_the_interval_around, end_of_a_record_pauses,
	  live_sticks_until_moved, dropped_past_is_not_shown, length_stays_on_its_grid, length_comes_back,
	  length_beyond_what_is_known, length_during_a_jump, jump_to_the_end_of_time, chosen_interval_lasts_until_moved,
	  chosen_interval_is_what_is_kept_of_it, speeds_are_steps, another_speed_changes_no_past_time,
	  destination_is_what_was_asked_for, frame_length_fits_the_span, other_clocks_other_grid,
	  other_clocks_start_and_end_stay, other_clocks_wait_for_the_place, other_clocks_live, moved_by_hand,
	  live_replay_played_out, live_replay_comes_to_rest, time_of_day_is_the_nearest)
