/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pane of a critical path, live: which rows of the graph it has kept up to date. */
#include "ui/internal.h"
#include "waits_events.h"

enum { TID = 5, FIRST_NS = 15, LATER_NS = 35 };

static struct test t;
static struct ui_window window;
static struct ui ui;
static struct pane *pane;
static const unsigned screen_number = 0;

/* Two threads, the second of which gets the first one's TID. */
static void setup(void)
{
	const struct waits_options options = { 0 };
	struct ui_host_data host = { 0 };

	t.w = waits_create(&options);
	t.map[0] = clock_map_create();
	host.info.map = t.map[0];
	wait_log_init(&t.log[0]);
	waits_add_host(t.w, t.map[0]);
	switched(&t, 0, 10, 0, 0, 0, TID);
	switched(&t, 0, 20, 0, TID, 0x10, 0);
	switched(&t, 0, 30, 0, 0, 0, TID);
	switched(&t, 0, 40, 0, TID, 0, 0);
	ui.window = &window;
	ui.hosts = g_array_new(FALSE, FALSE, sizeof(host));
	g_array_append_val(ui.hosts, host);
	ui.history = history_create(1 << 20);
	history_add_track(ui.history);
	cursor_init(&ui.cursor, 0, 10, 10, true);
}

static void teardown(void)
{
	history_destroy(ui.history);
	g_array_free(ui.hosts, TRUE);
	g_free((unsigned *)window.graphs[UI_WAITS_RUNNING].info.hosts);
	end(&t);
}

/* Builds the graph up to there, and shows it. */
static void show(uint64_t until_ns)
{
	struct ui_waits waits = { .waits = t.w, .end_ns = UINT64_MAX, .hosts = &screen_number, .n_hosts = 1 };

	take_all(&t, 1, until_ns);
	waits.epoch = waits_info(t.w).epoch;
	ui_set_waits(&ui, UI_WAITS_RUNNING, &waits);
	ui.cursor.end_ns = until_ns;
	pane->type->body->update(&ui, pane);
}

static bool is_followed(wait_row row)
{
	return waits_graph(t.w)->rows[row].followed;
}

/* When the clocks change, the graph starts again: the one row that is shown then is followed, and no other. */
START_TEST(test_one_is_followed)
{
	const struct path_subject subject = { .tid = TID, .pid = -1, .alive_ns = FIRST_NS };
	wait_row first, later;

	pane = pane_path_create(&subject);
	show(100);
	first = waits_find(t.w, 0, TID, FIRST_NS);
	later = waits_find(t.w, 0, TID, LATER_NS);
	ck_assert_uint_ne(first, later);
	ck_assert(is_followed(first) && !is_followed(later));
	clock_map_begin_epoch(t.map[0]);
	clock_map_add(t.map[0], 100, 100, 0.0);
	show(200);
	ck_assert_uint_eq(waits_info(t.w).epoch, 1);
	ck_assert_int_eq(is_followed(first) + is_followed(later), 1);
	pane_destroy(pane);
	ck_assert(!is_followed(first) && !is_followed(later));
}
END_TEST

UNIT_MAIN_AROUND("pane_path", setup, teardown, test_one_is_followed)
