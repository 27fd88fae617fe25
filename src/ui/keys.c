/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/keys.h"

#include <glib.h>
#include <string.h>

/* Names of keys in actions.def, and as shown to users, also in ASCII. */
static const struct {
	int key;
	const char *name, *shown, *ascii;
} names[] = {
	{ UI_KEY_UP, "Up", "↑", "Up" },
	{ UI_KEY_DOWN, "Down", "↓", "Down" },
	{ UI_KEY_LEFT, "Left", "←", "Left" },
	{ UI_KEY_RIGHT, "Right", "→", "Right" },
	{ UI_KEY_CTRL_L, "C-L", "Ctrl-L", "Ctrl-L" },
	{ UI_KEY_CTRL_LEFT, "C-Left", "Ctrl-←", "Ctrl-Left" },
	{ UI_KEY_CTRL_RIGHT, "C-Right", "Ctrl-→", "Ctrl-Right" },
	{ UI_KEY_PAGE_UP, "PgUp", "PgUp", "PgUp" },
	{ UI_KEY_PAGE_DOWN, "PgDn", "PgDn", "PgDn" },
	{ UI_KEY_HOME, "Home", "Home", "Home" },
	{ UI_KEY_END, "End", "End", "End" },
	{ UI_KEY_TAB, "Tab", "Tab", "Tab" },
	{ UI_KEY_BACK_TAB, "S-Tab", "Shift-Tab", "Shift-Tab" },
	{ UI_KEY_ENTER, "Enter", "Enter", "Enter" },
	{ UI_KEY_BACKSPACE, "Backspace", "Backspace", "Backspace" },
	{ UI_KEY_DELETE, "Delete", "Delete", "Delete" },
	{ UI_KEY_ESC, "Esc", "Esc", "Esc" },
	{ ' ', "Space", "Space", "Space" },
};

static int key_parse(const char *name, size_t len)
{
	if (len > 1 && name[0] == 'F' && g_ascii_isdigit(name[1])) {
		int n = (int)g_ascii_strtoll(name + 1, NULL, 10);

		return n >= 1 && n <= 12 ? UI_KEY_F1 + n - 1 : UI_KEY_NONE;
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
		if (strlen(names[i].name) == len && !memcmp(names[i].name, name, len))
			return names[i].key;
	return len == 1 ? (unsigned char)name[0] : UI_KEY_NONE;
}

int key_next(const char **list)
{
	const char *name = *list + strspn(*list, " ");
	size_t len = strcspn(name, " ");

	*list = name + len;
	return len ? key_parse(name, len) : UI_KEY_NONE;
}

const char *key_text(int key, bool ascii, char *buffer, size_t size)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
		if (names[i].key == key) {
			g_strlcpy(buffer, ascii ? names[i].ascii : names[i].shown, size);
			return buffer;
		}
	if (key >= UI_KEY_F1 && key <= UI_KEY_F12)
		g_snprintf(buffer, size, "F%d", key - UI_KEY_F1 + 1);
	else if (size > 6)
		buffer[g_unichar_to_utf8((gunichar)key, buffer)] = '\0';
	return buffer;
}

bool key_is_text(int key)
{
	return key >= ' ' && key != 0x7f && key < UI_KEY_FOREIGN;
}
