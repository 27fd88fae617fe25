/* SPDX-License-Identifier: GPL-2.0-or-later */
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

UNIT_MAIN("messages", shown_before_there_is_a_history)
