/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pane of accounts: its heading names the window that the rows below it are of. */
#include "ui/internal.h"
#include "waits_events.h"

#define SECOND UINT64_C(1000000000)
#define LATER (UINT64_MAX - 1) /* any rest is over by then */

static struct test t;
static struct ui_window window;
static struct ui ui;
static const unsigned screen_number = 0;

/* A thread that runs in the first half of each second. */
static void setup(void)
{
	const struct ui_host_data host = { 0 };

	begin(&t, 1);
	for (unsigned i = 1; i < 10; i++) {
		switched(&t, 0, i * SECOND, 0, 0, 0, 5);
		switched(&t, 0, i * SECOND + SECOND / 2, 0, 5, 1, 0);
	}
	take_all(&t, 1, 10 * SECOND);
	window = (struct ui_window){ .length_ns = SECOND };
	ui = (struct ui){ .options.utc = true, .window = &window };
	ui.hosts = g_array_new(FALSE, FALSE, sizeof(host));
	g_array_append_val(ui.hosts, host);
	cursor_init(&ui.cursor, SECOND, SECOND, SECOND, false);
	accounts_init(&ui);
	ui_set_waits(&ui, UI_WAITS_RUNNING,
		     &(struct ui_waits){
			     .waits = t.w,
			     .begin_ns = SECOND,
			     .end_ns = 10 * SECOND,
			     .hosts = &screen_number,
			     .n_hosts = 1,
		     });
}

static void teardown(void)
{
	accounts_release(&ui);
	g_array_free(ui.hosts, TRUE);
	g_free((unsigned *)window.graphs[UI_WAITS_RUNNING].info.hosts);
	end(&t);
}

/* The accounts of the second before end_ns, unless they are not due yet. */
static void work(uint64_t end_ns, uint64_t now_ns)
{
	ui.cursor.end_ns = end_ns;
	while (accounts_work(&ui, now_ns) == now_ns)
		;
}

static void expect(int width, const char *wanted)
{
	char *text;

	ui.canvas = canvas_create(width, 1, false);
	accounts_head(&ui, NULL, 0, 10);
	text = canvas_row_text(ui.canvas, 0);
	ck_assert_str_eq(text, wanted);
	g_free(text);
	canvas_destroy(ui.canvas);
}

/* While time moves, accounts are not computed for every window: those before stay, under their own heading. */
START_TEST(test_rest)
{
	work(3 * SECOND, LATER);
	expect(80, " window [00:00:02.000, 00:00:03.000[ 1.00s");
	work(4 * SECOND, 0);
	expect(80, " window [00:00:02.000, 00:00:03.000[ 1.00s");
	work(4 * SECOND, LATER);
	expect(80, " window [00:00:03.000, 00:00:04.000[ 1.00s");
}
END_TEST

UNIT_MAIN_AROUND("pane_accounts", setup, teardown, test_rest)
