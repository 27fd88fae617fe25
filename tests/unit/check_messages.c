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

/* Before each of the bytes that a character may have there. */
START_TEST(cut_at_a_character)
{
	static const char *const chars[] = { "x", "é", "€", "🔥" };
	struct ui ui = { .dirty = false };

	for (unsigned i = 0; i < G_N_ELEMENTS(chars); i++)
		for (int before = 0; before < 4; before++) {
			GString *text = g_string_new(NULL);
			const char *end;

			g_string_append_printf(text, "%.*s", before, "abc");
			while (text->len < 2 * sizeof(ui.message))
				g_string_append(text, chars[i]);
			ui_say(&ui, "%s", text->str);
			ck_assert(g_utf8_validate(ui.message, -1, &end));
			ck_assert_uint_gt(strlen(ui.message), sizeof(ui.message) - 8);
			ck_assert(g_str_has_suffix(ui.message, "…"));
			ck_assert(strncmp(text->str, ui.message, strlen(ui.message) - strlen("…")) == 0);
			/* what fits is shown whole */
			g_string_truncate(text, (gsize)before);
			while (text->len + strlen(chars[i]) < sizeof(ui.message))
				g_string_append(text, chars[i]);
			ui_say(&ui, "%s", text->str);
			ck_assert_str_eq(ui.message, text->str);
			g_string_free(text, TRUE);
		}
}
END_TEST

UNIT_MAIN("messages", shown_before_there_is_a_history, warned_whatever_the_clock_says, cut_at_a_character)
