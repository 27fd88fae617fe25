/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"
#include "base/nstime.h"
#include "ui/internal.h"
#include "ui/overlay.h"
#include "unit.h"

/* Keys work as soon as the screen is there, while recordings are still being opened. */
START_TEST(shown_before_there_is_a_history)
{
	struct ui ui = { .hosts = g_array_new(FALSE, TRUE, sizeof(struct ui_host_data)) };

	messages_show(&ui);
	ck_assert(ui.overlay && ui.reading_messages);
	overlay_destroy(ui.overlay);
	g_array_unref(ui.hosts);
}
END_TEST

/* As if the clock had been set back since it was written. */
static void make_newer(unsigned message)
{
	((struct log_message *)log_get(message))->wall_ns += 3600 * NS_PER_S;
}

START_TEST(warned_whatever_the_clock_says)
{
	struct ui ui = { .hosts = g_array_new(FALSE, TRUE, sizeof(struct ui_host_data)) };

	log_warning("first");
	make_newer(0);
	ui_show_warnings(&ui);
	ck_assert_str_eq(ui.message, "first");
	log_warning("second");
	ui_show_warnings(&ui);
	ck_assert_str_eq(ui.message, "second");
	log_warning("third");
	log_warning("third");
	log_warning("fourth");
	ui_show_warnings(&ui);
	ck_assert_str_eq(ui.message, "2 warnings, which L shows; the last: fourth");
	ui_say(&ui, "something else");
	ui_show_warnings(&ui);
	ck_assert_str_eq(ui.message, "something else");
	log_warning("fourth");
	ui_show_warnings(&ui);
	ck_assert_str_eq(ui.message, "fourth");
	g_array_unref(ui.hosts);
}
END_TEST

UNIT_MAIN("messages", shown_before_there_is_a_history, warned_whatever_the_clock_says)
