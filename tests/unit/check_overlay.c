/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/internal.h"
#include "ui/keys.h"
#include "ui/overlay.h"
#include "unit.h"

static void chosen(struct ui *ui, int value, bool keep)
{
	(void)ui;
	ck_abort_msg("%d was chosen%s", value, keep ? " and kept" : "");
}

/* A menu that has nothing yet, such as that of hosts before any is known, and is filled later. */
START_TEST(keys_before_there_are_items)
{
	static const int keys[] = { UI_KEY_DOWN, UI_KEY_UP, UI_KEY_PAGE_DOWN, UI_KEY_END, UI_KEY_HOME, 'j', 'k' };
	struct ui ui = { 0 };

	for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++) {
		struct overlay *o = overlay_menu("Hosts", chosen);

		ck_assert_int_eq(overlay_key(o, &ui, keys[i]), OVERLAY_STAYS);
		ck_assert_int_eq(overlay_selected(o), 0);
		overlay_item(o, 7, -1, "web");
		overlay_item(o, 8, -1, "db");
		ck_assert_int_eq(overlay_selected(o), 7);
		overlay_destroy(o);
	}
}
END_TEST

UNIT_MAIN("overlay", keys_before_there_are_items)
