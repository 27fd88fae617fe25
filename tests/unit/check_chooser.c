/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/chooser.h"

#include <glib.h>

#include "ui/keys.h"
#include "unit.h"

enum { ROWS = 12 };

static struct chooser_row rows[ROWS];
static struct chooser chooser;
static struct canvas *canvas;

static void setup(void)
{
	for (int i = 0; i < ROWS; i++)
		rows[i] = (struct chooser_row){ .host = i % 2 ? "db" : "web", .session = "nightly", .state = "free" };
	rows[1].session = "a name as long as a name of a session can be, and some more";
	chooser = (struct chooser){ .title = "Live sessions", .rows = rows, .n = ROWS };
	canvas = canvas_create(72, 10, false);
}

static void teardown(void)
{
	canvas_destroy(canvas);
}

static void check_row(int y, const char *wanted)
{
	char *text = canvas_row_text(canvas, y);

	ck_assert_str_eq(text, wanted);
	g_free(text);
}

START_TEST(drawn)
{
	rows[1].marked = true;
	chooser_draw(&chooser, canvas);
	check_row(0, " Live sessions");
	check_row(1, "");
	check_row(2, "     HOST  SESSION                                   STATE");
	check_row(3, " [ ] web   nightly                                   free");
	check_row(4, " [x] db    a name as long as a name of a session c…  free");
	check_row(8, " 1/12");
	check_row(9, "SpaceMark  aAll  EnterOpen  qQuit");
	ck_assert_int_eq(canvas_at(canvas, 0, 3)->style, STYLE_SELECTED);
	ck_assert_int_eq(canvas_at(canvas, 71, 3)->style, STYLE_SELECTED);
	ck_assert_int_eq(canvas_at(canvas, 1, 4)->style, STYLE_NORMAL);
}
END_TEST

START_TEST(bar_stays_on_the_screen)
{
	chooser_draw(&chooser, canvas);
	ck_assert_int_eq(chooser_key(&chooser, UI_KEY_UP), CHOOSER_STAYS);
	ck_assert_int_eq(chooser.selected, 0);
	chooser_key(&chooser, UI_KEY_END);
	chooser_draw(&chooser, canvas);
	ck_assert_int_eq(chooser.selected, ROWS - 1);
	ck_assert_int_eq(canvas_at(canvas, 0, 7)->style, STYLE_SELECTED);
	check_row(8, " 12/12");
	chooser_key(&chooser, UI_KEY_DOWN);
	ck_assert_int_eq(chooser.selected, ROWS - 1);
	chooser_key(&chooser, UI_KEY_PAGE_UP);
	ck_assert_int_eq(chooser.selected, ROWS - 5);
	chooser_key(&chooser, UI_KEY_HOME);
	chooser_draw(&chooser, canvas);
	ck_assert_int_eq(canvas_at(canvas, 0, 3)->style, STYLE_SELECTED);
	/* they all fit: no scrolling */
	canvas_resize(canvas, 72, 40);
	chooser_key(&chooser, UI_KEY_END);
	chooser_draw(&chooser, canvas);
	check_row(3, " [ ] web   nightly                                   free");
	/* with hardly any room, only the row under the bar is shown */
	canvas_resize(canvas, 10, 4);
	chooser_draw(&chooser, canvas);
	ck_assert_int_eq(chooser.top, ROWS - 1);
}
END_TEST

static int count_marked(void)
{
	int n = 0;

	for (int i = 0; i < ROWS; i++)
		n += rows[i].marked;
	return n;
}

START_TEST(marked_rows_are_taken)
{
	chooser_key(&chooser, 'j');
	chooser_key(&chooser, ' ');
	chooser_key(&chooser, ' ');
	ck_assert_int_eq(chooser.selected, 3);
	ck_assert(rows[1].marked && rows[2].marked && count_marked() == 2);
	chooser_key(&chooser, 'k');
	chooser_key(&chooser, ' ');
	ck_assert_int_eq(chooser_key(&chooser, UI_KEY_ENTER), CHOOSER_TAKES);
	ck_assert(rows[1].marked && count_marked() == 1);
	chooser_key(&chooser, 'a');
	ck_assert_int_eq(count_marked(), ROWS);
	chooser_key(&chooser, 'a');
	ck_assert_int_eq(count_marked(), 0);
	/* none chosen: takes the one under the bar */
	ck_assert_int_eq(chooser_key(&chooser, UI_KEY_ENTER), CHOOSER_TAKES);
	ck_assert(rows[3].marked && count_marked() == 1);
}
END_TEST

START_TEST(ways_out)
{
	ck_assert_int_eq(chooser_key(&chooser, 'q'), CHOOSER_LEAVES);
	ck_assert_int_eq(chooser_key(&chooser, UI_KEY_ESC), CHOOSER_LEAVES);
	ck_assert_int_eq(chooser_key(&chooser, UI_KEY_F1 + 9), CHOOSER_LEAVES);
	ck_assert_int_eq(chooser_key(&chooser, 'x'), CHOOSER_STAYS);
	ck_assert_int_eq(count_marked(), 0);
}
END_TEST

UNIT_MAIN_AROUND("chooser", setup, teardown, drawn, bar_stays_on_the_screen, marked_rows_are_taken, ways_out)
