/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intervals in which a host was away have no data, whether its frames are on the grid or shifted against it. */
#include "unit.h"

#include <math.h>

#include "base/nstime.h"
#include "clock/map_build.h"
#include "ui/internal.h"

/* Frames in s, shifted by 0.3 s against the grid; it was away from 5.4 to 20.3. */
static const double frames[][2] = { { 0.3, 1.3 }, { 1.3, 2.3 }, { 2.3, 3.3 },   { 3.3, 4.3 },
				    { 4.3, 5.3 }, { 5.3, 5.4 }, { 20.3, 21.3 }, { 21.3, 22.3 } };

enum loaded { NOTHING, GAP, DATA };

static struct ui ui;
static struct ui_host_data host;
static struct history_load load;
static struct clock_map *map;

static uint64_t ns(double seconds)
{
	return (uint64_t)((int64_t)(1000 * NS_PER_S) + llround(seconds * 10) * 100 * (int64_t)NS_PER_MS);
}

/* The host's history. before_s: its frames of 1 s before those above. */
static void make_history(unsigned before_s)
{
	struct host_state s;

	state_init(&s);
	ui.history = history_create(1 << 20);
	history_add_track(ui.history);
	for (unsigned i = before_s; i > 0; i--)
		history_append(ui.history, 0, &s, ns(0.3) - i * NS_PER_S, ns(0.3) - (i - 1) * NS_PER_S);
	for (unsigned i = 0; i < G_N_ELEMENTS(frames); i++)
		history_append(ui.history, 0, &s, ns(frames[i][0]), ns(frames[i][1]));
	state_release(&s);
}

static void setup(void)
{
	make_history(0);
	ui.cursor.frame_ns = NS_PER_S;
	history_load_init(&load);
	map = clock_map_create();
	host.info.map = map;
}

static void teardown(void)
{
	clock_map_destroy(map);
	history_load_release(&load);
	history_destroy(ui.history);
}

static void expect(double begin, double end, enum loaded expected)
{
	bool gap;
	const bool loaded = data_load_host(&ui, &host, ns(begin), ns(end), 1, &load, &gap);

	ck_assert_int_eq(loaded ? DATA : gap ? GAP : NOTHING, expected);
}

static void expect_data(double begin, double end, double from, double to)
{
	expect(begin, end, DATA);
	ck_assert_uint_eq(load.interval.begin_ns, ns(from));
	ck_assert_uint_eq(load.interval.end_ns, ns(to));
}

START_TEST(test_present)
{
	expect_data(1, 2, 1.3, 2.3);
	expect_data(2, 5, 2.3, 5.3);
	expect_data(21, 22, 21.3, 22.3);
}
END_TEST

START_TEST(test_partly_away)
{
	expect_data(4, 7, 4.3, 5.4);
	expect_data(10, 22, 20.3, 22.3);
	expect_data(4, 22, 4.3, 22.3);
}
END_TEST

/* However many frames there are before the gap. */
START_TEST(test_long_interval)
{
	history_destroy(ui.history);
	make_history(200);
	expect_data(-100, 18, -99.7, 5.4);
	expect_data(-100, 22, -99.7, 22.3);
}
END_TEST

/* Near either end of the gap, and in the middle. */
START_TEST(test_away)
{
	expect(6, 7, GAP);
	expect(12, 13, GAP);
	expect(12, 14, GAP);
	expect(18, 19, GAP);
	expect(19, 20, GAP);
}
END_TEST

START_TEST(test_before_and_after)
{
	expect(0, 0.1, NOTHING);
	expect(23, 24, NOTHING);
}
END_TEST

static void expect_heading(double begin, double end)
{
	ui.loaded_tables = 0;
	ck_assert(data_load(&ui));
	ck_assert_uint_eq(ui.shown_begin_ns, ns(begin));
	ck_assert_uint_eq(ui.shown_end_ns, ns(end));
}

/* A frame in which something changes. */
static void append_change(struct host_state *s, double begin, double end)
{
	state_touch(s, TABLE_HOST, 0);
	STATE_ROW(s, HOST, host, 0)->disk_read_bytes++;
	history_append(ui.history, 0, s, ns(begin), ns(end));
	state_frame_begin(s);
}

/*
 * The heading of a second is that of a host's frames which are shifted, but not of a frame that is longer, unless
 * nothing changed in it, or the host is hidden.
 */
START_TEST(test_heading)
{
	static const struct pane_type type = { .title = "none" };
	struct pane pane = { .type = &type };
	struct ui_baseline baseline = { 0 };
	struct host_state s;

	ui.details = &pane;
	ui.baseline = &baseline;
	ui.view_hosts = g_array_new(FALSE, TRUE, sizeof(struct view_host));
	ui.hosts = g_array_new(FALSE, TRUE, sizeof(host));
	host.load = load;
	g_array_append_val(ui.hosts, host);
	cursor_init(&ui.cursor, ns(0), NS_PER_S, NS_PER_S, false);
	cursor_known(&ui.cursor, ns(5), true);
	cursor_jump(&ui.cursor, ns(2));
	expect_heading(2, 3);
	history_destroy(ui.history);
	ui.history = history_create(1 << 20);
	history_add_track(ui.history);
	state_init(&s);
	state_add(&s, TABLE_HOST);
	append_change(&s, 0.8, 1.8);
	append_change(&s, 1.8, 3.4); /* its clock was corrected */
	append_change(&s, 3.4, 4.4);
	append_change(&s, 4.4, 5.4);
	history_append(ui.history, 0, &s, ns(5.4), ns(9.4));
	state_release(&s);
	expect_heading(1.8, 3.4);
	cursor_known(&ui.cursor, ns(9), true);
	cursor_jump(&ui.cursor, ns(7));
	expect_heading(7, 8);
	cursor_jump(&ui.cursor, ns(2));
	ui_host(&ui, 0)->hidden = true;
	expect_heading(2, 3);
	load = ui_host(&ui, 0)->load;
	g_array_free(ui.hosts, TRUE);
	g_array_free(ui.view_hosts, TRUE);
	ui.details = NULL;
}
END_TEST

UNIT_MAIN_AROUND("absent", setup, teardown, test_present, test_partly_away, test_long_interval, test_away,
		 test_before_and_after, test_heading)
