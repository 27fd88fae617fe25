/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/action.h"

#include <glib.h>

#include "ui/keys.h"

static const struct action actions[ACTIONS] = {
#define ACTION(id, function, argument, keys, where, group, label, help) \
	{ #id, do_##function, argument, keys, where, group, label, help },
#include "ui/actions.def"
#undef ACTION
};

const struct action *action_get(unsigned id)
{
	return &actions[id];
}

const struct action *action_find(int key)
{
	for (unsigned i = 0; i < ACTIONS; i++) {
		const char *keys = actions[i].keys;
		int k;

		while ((k = key_next(&keys)) != UI_KEY_NONE)
			if (k == key)
				return &actions[i];
	}
	return NULL;
}

const char *action_keys(const struct action *a, bool ascii, char *buffer, unsigned size)
{
	const char *keys = a->keys;
	char name[16];
	int k;

	buffer[0] = '\0';
	while ((k = key_next(&keys)) != UI_KEY_NONE) {
		if (buffer[0])
			g_strlcat(buffer, " ", size);
		g_strlcat(buffer, key_text(k, ascii, name, sizeof(name)), size);
	}
	return buffer;
}

int action_function_key(const struct action *a)
{
	const char *keys = a->keys;
	int k;

	while ((k = key_next(&keys)) != UI_KEY_NONE)
		if (k >= UI_KEY_F1 && k <= UI_KEY_F12)
			return k - UI_KEY_F1 + 1;
	return 0;
}

const char *action_group_title(enum action_group group)
{
	static const char *const titles[ACTION_GROUPS] = {
		[GROUP_TIME] = "Time",
		[GROUP_LIST] = "List",
		[GROUP_FIND] = "Find and choose",
		[GROUP_ORDER] = "Order and form",
		[GROUP_PANES] = "Panes",
		[GROUP_GENERAL] = "General",
	};

	return titles[group];
}
