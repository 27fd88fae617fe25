/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_CANVAS_H
#define LT_UI_CANVAS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A grid of styled characters. Everything is drawn here; only screen_show() writes to the terminal. Text is UTF-8; a
 * character may be two columns wide. Drawing outside the grid is clipped.
 *
 * In ASCII mode the symbols of the interface (bars, lines, arrows) are replaced by similar ASCII characters and any
 * other character by '?', one that is wide by two, so that widths are the same: callers always draw UTF-8.
 */
enum style {
	STYLE_NORMAL,
	STYLE_DIM, /* labels, units, zeros */
	STYLE_BOLD,
	STYLE_HEAD,      /* header of a list */
	STYLE_HEAD_SORT, /* sort column in the header */
	STYLE_SELECTED,
	STYLE_MARKED,  /* highlighted rows */
	STYLE_MATCH,   /* match of the search */
	STYLE_NEW,     /* born in the interval */
	STYLE_GONE,    /* ended in the interval */
	STYLE_TRACING, /* exists because the machine is traced */
	STYLE_KEY,     /* function bar: keys and labels */
	STYLE_LABEL,
	STYLE_LIVE, /* state words */
	STYLE_REPLAY,
	STYLE_PAUSED,
	STYLE_LOST,
	STYLE_METER_LOW,
	STYLE_METER_MID,
	STYLE_METER_HIGH,
	STYLE_STRIP, /* timeline: busy; shown interval */
	STYLE_CURSOR,
	STYLE_CURSOR_BAR, /* STYLE_CURSOR for bars, chosen by screen.c */
	STYLE_TITLE,
	STYLE_FRAME,        /* borders of boxes */
	STYLE_PATH_RUNNING, /* states of a critical path */
	STYLE_PATH_CPU,     /* could run: preempted, interrupted */
	STYLE_PATH_DISK,
	STYLE_PATH_NETWORK,
	STYLE_PATH_TIMER,   /* timers and user input */
	STYLE_PATH_BLOCKED, /* unexplained */
	STYLES
};

enum { CANVAS_MARKS = 2 }; /* more are left out */

struct canvas_cell {
	gunichar ch;                  /* 0: right half of a wide character */
	gunichar marks[CANVAS_MARKS]; /* drawn over or under ch, without a width of their own; 0: no more */
	uint8_t style;
};

struct canvas {
	int w, h;
	bool ascii;
	struct canvas_cell *cells;
};

struct canvas *canvas_create(int w, int h, bool ascii);
void canvas_destroy(struct canvas *c);

/* Changes the size; clears the content. */
void canvas_resize(struct canvas *c, int w, int h);
void canvas_clear(struct canvas *c);

static inline struct canvas_cell *canvas_at(const struct canvas *c, int x, int y)
{
	return &c->cells[y * c->w + x];
}

/* Draws text at (x, y), at most max columns (< 0: no limit). Returns the number of columns used. */
int canvas_text(struct canvas *c, int x, int y, enum style style, const char *text, int max);

/* The same with a format and no limit. */
int canvas_printf(struct canvas *c, int x, int y, enum style style, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Draws text that ends before column x + width; if too long it is cut on the left, with an ellipsis. */
void canvas_text_right(struct canvas *c, int x, int y, int width, enum style style, const char *text);

/* Draws text in width columns; if too long it is cut on the right, with an ellipsis. */
void canvas_text_left(struct canvas *c, int x, int y, int width, enum style style, const char *text);

/* Whether there is a letter, a digit or a sign, not a blank or a line. */
bool canvas_is_text(const struct canvas *c, int x, int y);

/* Draws one character. */
void canvas_char(struct canvas *c, int x, int y, enum style style, gunichar ch);

/* Draws text from x to the right edge, wrapped at blanks, in at most rows rows; and the number of rows it needs. */
void canvas_text_wrapped(struct canvas *c, int x, int y, int rows, enum style style, const char *text);
int canvas_wrapped_rows(const char *text, int width);

/* Draws the same character width times. */
void canvas_fill(struct canvas *c, int x, int y, int width, enum style style, gunichar ch);

/* Changes the style of a part that is already drawn. */
void canvas_restyle(struct canvas *c, int x, int y, int width, enum style style);

/* Draws an empty box with a border and a title. */
void canvas_box(struct canvas *c, int x, int y, int w, int h, const char *title);

/* Draws a horizontal bar of width columns, filled to permille. */
void canvas_bar(struct canvas *c, int x, int y, int width, enum style style, unsigned permille);

/* The character for a column filled to permille: a blank, "▁" … "█". */
gunichar canvas_column_glyph(unsigned permille);

/* The number of columns that text occupies. */
int canvas_text_width(const char *text);

/* Row y as UTF-8 without trailing blanks; free with g_free(). */
char *canvas_row_text(const struct canvas *c, int y);

#endif
