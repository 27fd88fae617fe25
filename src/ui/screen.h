/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_SCREEN_H
#define LT_UI_SCREEN_H

#include <stdbool.h>

#include "base/status.h"
#include "ui/canvas.h"

/*
 * The terminal: the only place that knows curses. It shows a canvas, tells
 * keys and mouse, and leaves the terminal as it found it. One per process.
 */
struct screen_options {
	bool ascii; /* else by the locale */
	bool no_color;
	bool no_mouse;
};

/* LT_ERROR: no terminal, or one that cannot move its cursor. */
enum lt_status screen_open(const struct screen_options *options);

/* Restores the terminal. Harmless when it is not open. */
void screen_close(void);

/* Whether only ASCII may be shown. */
bool screen_is_ascii(void);
bool screen_has_color(void);

/* Changed by the user while the screen is up; has no effect on terminals without colours. */
void screen_set_color(bool on);

/* Asks the terminal for its size; the next screen_show() repaints all. */
void screen_resize(int *w, int *h);

/* Shows the canvas; sends only what differs from what is on the screen. */
void screen_show(const struct canvas *c);

/* Repaints everything at the next screen_show(). */
void screen_redraw(void);

/* A visible cursor at (x, y), x < 0: none. Takes effect with screen_show(). */
void screen_caret(int x, int y);

/* The next key that has come, UI_KEY_NONE: none. Never waits (but a moment after Esc). */
int screen_key(void);

/* Whether the terminal is gone: its input has ended. To be asked when it is readable and gave no key. */
bool screen_ended(void);

/* The event behind UI_KEY_MOUSE. */
struct screen_mouse {
	int x, y;
	int wheel;  /* -1 up, 1 down, 0: a click */
	bool twice; /* a double click */
};
bool screen_mouse(struct screen_mouse *m);

#endif
