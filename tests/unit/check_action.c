/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/action.h"

#include <glib.h>
#include <string.h>

#include "ui/keys.h"
#include "ui/pane.h"
#include "unit.h"
#include "view/table.h"

START_TEST(every_key_has_a_name_and_one_action)
{
	GHashTable *seen = g_hash_table_new(NULL, NULL);

	for (unsigned i = 0; i < ACTIONS; i++) {
		const char *keys = action_get(i)->keys;
		unsigned n = 0;

		while (*(keys += strspn(keys, " "))) {
			int key = key_next(&keys);

			ck_assert_msg(key != UI_KEY_NONE, "%s: unknown key in '%s'", action_get(i)->id,
				      action_get(i)->keys);
			ck_assert_msg(g_hash_table_add(seen, GINT_TO_POINTER(key)), "%s: a key of '%s' is taken",
				      action_get(i)->id, action_get(i)->keys);
			ck_assert_ptr_eq(action_find(key), action_get(i));
			n++;
		}
		ck_assert_msg(n > 0, "%s has no key", action_get(i)->id);
	}
	g_hash_table_destroy(seen);
}
END_TEST

START_TEST(every_action_is_explained)
{
	for (unsigned i = 0; i < ACTIONS; i++) {
		const struct action *a = action_get(i);

		ck_assert_msg(a->help && a->help[0], "%s has no help", a->id);
		ck_assert_msg(a->help[strlen(a->help) - 1] != '.', "%s: help ends with a full stop", a->id);
		ck_assert_msg(a->where, "%s is valid nowhere", a->id);
		/* ten keys with their labels must fit into 80 columns */
		if (a->label) {
			ck_assert_msg(strlen(a->label) <= 6, "%s: long label", a->id);
			ck_assert_msg(action_function_key(a) > 0, "%s: label without function key", a->id);
		}
	}
	for (unsigned g = 0; g < ACTION_GROUPS; g++)
		ck_assert_ptr_nonnull(action_group_title((enum action_group)g));
}
END_TEST

/* The keys that users rely on, and what they do, by the action's name. */
START_TEST(promised_keys)
{
	static const struct {
		const char *keys, *id;
	} promised[] = {
		{ "F1 ?", "HELP" },
		{ "Tab", "PANE_NEXT" },
		{ "S-Tab", "PANE_PREVIOUS" },
		{ "1", "PANE_CPU" },
		{ "2", "PANE_IO" },
		{ "3", "PANE_PERF" },
		{ "4", "PANE_FILES" },
		{ "5", "PANE_SYSCALLS" },
		{ "6", "PANE_LATENCY" },
		{ "7", "PANE_DEVICES" },
		{ "9", "PANE_HOSTS" },
		{ "0", "PANE_EVENTS" },
		{ "F2 S", "SETUP" },
		{ "F3 /", "SEARCH" },
		{ "n", "SEARCH_NEXT" },
		{ "N", "SEARCH_PREVIOUS" },
		{ "F4 \\", "FILTER" },
		{ "F5 e", "TREE" },
		{ "t", "THREADS" },
		{ "v", "VIRTUAL" },
		{ "F6", "SORT" },
		{ "<", "SORT_LEFT" },
		{ ">", "SORT_RIGHT" },
		{ "I", "INVERT" },
		{ "Up k", "UP" },
		{ "Down j", "DOWN" },
		{ "PgUp", "PAGE_UP" },
		{ "PgDn", "PAGE_DOWN" },
		{ "Home", "FIRST" },
		{ "End", "LAST" },
		{ "Left F7", "BACK" },
		{ "Right F8", "FORWARD" },
		{ "{ C-Left", "BACK_TEN" },
		{ "} C-Right", "FORWARD_TEN" },
		{ "p F9", "PAUSE" },
		{ "b", "JUMP" },
		{ "(", "START" },
		{ ")", "END" },
		{ "m", "BOOKMARK" },
		{ "'", "BOOKMARK_GO" },
		{ "A", "MARK_BEGIN" },
		{ "B", "MARK_END" },
		{ "i", "SKIP_IDLE" },
		{ "[", "SLOWER" },
		{ "]", "FASTER" },
		{ "=", "SPEED_ONE" },
		{ "+", "LONGER" },
		{ "-", "SHORTER" },
		{ "Space", "HIGHLIGHT" },
		{ "f", "HIGHLIGHT_ONLY" },
		{ "U", "HIGHLIGHT_CLEAR" },
		{ "F", "FOLLOW" },
		{ "Enter", "OPEN" },
		{ "Backspace Esc", "CLOSE" },
		{ "c", "COLLAPSE" },
		{ "P", "PANE_MENU" },
		{ "H", "HOSTS_MENU" },
		{ "%", "PERCENT" },
		{ "L", "MESSAGES" },
		{ "F10 q", "QUIT" },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(promised); i++) {
		const char *keys = promised[i].keys;
		int key;

		while ((key = key_next(&keys)) != UI_KEY_NONE) {
			const struct action *a = action_find(key);

			ck_assert_msg(a && !strcmp(a->id, promised[i].id), "'%s' is not %s", promised[i].keys,
				      promised[i].id);
		}
	}
}
END_TEST

START_TEST(keys_for_people)
{
	char text[64];

	ck_assert_str_eq(action_keys(action_get(ACTION_BACK), false, text, sizeof(text)), "← F7");
	ck_assert_str_eq(action_keys(action_get(ACTION_BACK), true, text, sizeof(text)), "Left F7");
	ck_assert_str_eq(action_keys(action_get(ACTION_FORWARD_TEN), true, text, sizeof(text)), "} Ctrl-Right");
	ck_assert_str_eq(action_keys(action_get(ACTION_PANE_PREVIOUS), false, text, sizeof(text)), "Shift-Tab");
	ck_assert_str_eq(action_keys(action_get(ACTION_HIGHLIGHT), false, text, sizeof(text)), "Space");
	ck_assert_str_eq(key_text(0xe9, false, text, sizeof(text)), "é");
}
END_TEST

START_TEST(panes_show_tables_that_exist)
{
	for (unsigned i = 0; i < PANES; i++) {
		const struct pane_type *type = pane_type((enum pane_id)i);

		ck_assert_ptr_nonnull(type->title);
		for (unsigned k = 0; k < PANE_LISTS && type->tables[k]; k++) {
			const struct view_table *table = view_table_find(type->tables[k]);

			ck_assert_msg(table != NULL, "%s: no table '%s'", type->title, type->tables[k]);
			ck_assert_msg(type->empty[k] != NULL, "%s: says nothing when '%s' is empty", type->title,
				      table->name);
		}
	}
}
END_TEST

UNIT_MAIN("action", every_key_has_a_name_and_one_action, every_action_is_explained, promised_keys, keys_for_people,
	  panes_show_tables_that_exist)
