/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_SCREEN_H
#define LT_UI_SCREEN_H

#include <stdbool.h>

#include "base/status.h"
#include "ui/canvas.h"

/*
 * The terminal, and the only place that knows curses. Shows a canvas, returns keys and mouse events, and leaves the
 * terminal as it found it. One per process.
 */
struct screen_options {
	bool ascii; /* otherwise depends on the locale */
	bool no_color;
	bool no_mouse;
};

/* LT_ERROR: no terminal, or one that cannot move its cursor. */
enum lt_status screen_open(const struct screen_options *options);

/* Restores the terminal. Harmless if it is not open. */
void screen_close(void);

/* Whether only ASCII may be shown. */
bool screen_is_ascii(void);
bool screen_has_color(void);

/* To be called when the user changes it; has no effect on terminals without colours. */
void screen_set_color(bool on);

/* Gets the size of the terminal; the next screen_show() repaints everything. */
void screen_resize(int *w, int *h);

/* Shows the canvas; sends only differences to the terminal. */
void screen_show(const struct canvas *c);

/* Makes the next screen_show() repaint everything. */
void screen_redraw(void);

/* Shows the cursor at (x, y); x < 0: hides it. Takes effect with screen_show(). */
void screen_caret(int x, int y);

/* The next pending key; UI_KEY_NONE: none. Does not wait, except for a moment after Esc. */
int screen_key(void);

/* Whether the key that screen_key() returned last was pasted, not typed: it is a character. */
bool screen_is_pasting(void);

/* Whether the terminal's input has ended. To be called when it is readable but there is no key. */
bool screen_ended(void);

/* What the mouse did when screen_key() returned UI_KEY_MOUSE. */
struct screen_mouse {
	int x, y;
	int wheel;  /* -1 up, 1 down, 0: a click */
	bool twice; /* a double click */
};
struct screen_mouse screen_mouse(void);

#endif
