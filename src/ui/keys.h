/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_KEYS_H
#define LT_UI_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Keys as the program sees them: a character's code point, or one of the numbers below, which lie beyond Unicode. Only
 * screen_input.c knows what the terminal sends.
 */
enum ui_key {
	UI_KEY_NONE = 0,
	UI_KEY_TAB = '\t',
	UI_KEY_ENTER = '\n',
	UI_KEY_CTRL_L = 0x0c,
	UI_KEY_ESC = 0x1b,
	UI_KEY_FOREIGN = 0x10fffe, /* a byte of a character that the locale lacks */
	UI_KEY_UNKNOWN = 0x10ffff, /* one that has no name here; not a character */
	UI_KEY_FIRST = 0x110000,
	UI_KEY_F1 = UI_KEY_FIRST, /* F1 … F12 are consecutive */
	UI_KEY_F12 = UI_KEY_F1 + 11,
	UI_KEY_UP,
	UI_KEY_DOWN,
	UI_KEY_LEFT,
	UI_KEY_RIGHT,
	UI_KEY_CTRL_LEFT,
	UI_KEY_CTRL_RIGHT,
	UI_KEY_PAGE_UP,
	UI_KEY_PAGE_DOWN,
	UI_KEY_HOME,
	UI_KEY_END,
	UI_KEY_BACK_TAB,
	UI_KEY_BACKSPACE,
	UI_KEY_DELETE,
	UI_KEY_MOUSE, /* see screen_mouse() */
};

/*
 * The code of the next key in a list such as "F9 p" or "S-Tab Up"; 0 at its end. Advances *list. An unknown name gives
 * UI_KEY_NONE, too (check_action finds those).
 */
int key_next(const char **list);

/* The name of a key as shown to users: "F9", "Space", "←"; in ASCII "Left". */
const char *key_text(int key, bool ascii, char *buffer, size_t size);

/* Whether the key is a printable character. */
bool key_is_text(int key);

#endif
