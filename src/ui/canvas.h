/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_CANVAS_H
#define LT_UI_CANVAS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A grid of characters with styles: everything is drawn here, nothing writes
 * to the terminal itself (screen_show() copies the grid). Text is UTF-8; a
 * character may be two columns wide. Drawing outside the grid is clipped.
 *
 * In ASCII mode the symbols of the interface (bars, lines, arrows) become
 * their ASCII likenesses, any other character '?': callers always draw UTF-8.
 */
enum style {
	STYLE_NORMAL,
	STYLE_DIM, /* labels, units, what is zero */
	STYLE_BOLD,
	STYLE_HEAD,      /* head of a list */
	STYLE_HEAD_SORT, /* its sort column */
	STYLE_SELECTED,
	STYLE_MARKED,  /* highlighted rows */
	STYLE_MATCH,   /* found by the search */
	STYLE_NEW,     /* born in the interval */
	STYLE_GONE,    /* ended in the interval */
	STYLE_TRACING, /* there because the machine is traced */
	STYLE_KEY,     /* function bar: the key, and its label */
	STYLE_LABEL,
	STYLE_LIVE, /* state words */
	STYLE_REPLAY,
	STYLE_PAUSED,
	STYLE_LOST,
	STYLE_METER_LOW,
	STYLE_METER_MID,
	STYLE_METER_HIGH,
	STYLE_STRIP, /* timeline: busy, and the shown interval */
	STYLE_CURSOR,
	STYLE_CURSOR_BAR, /* screen.c: of its bars */
	STYLE_TITLE,
	STYLE_FRAME,        /* borders of boxes */
	STYLE_PATH_RUNNING, /* states of a critical path */
	STYLE_PATH_CPU,     /* on its way to run: preempted, interrupted */
	STYLE_PATH_DISK,
	STYLE_PATH_NETWORK,
	STYLE_PATH_TIMER,   /* timers and people */
	STYLE_PATH_BLOCKED, /* unexplained */
	STYLES
};

struct canvas_cell {
	gunichar ch; /* 0: right half of a wide character */
	uint8_t style;
};

struct canvas {
	int w, h;
	bool ascii;
	struct canvas_cell *cells;
};

struct canvas *canvas_create(int w, int h, bool ascii);
void canvas_destroy(struct canvas *c);

/* Another size; the content is cleared. */
void canvas_resize(struct canvas *c, int w, int h);
void canvas_clear(struct canvas *c);

static inline struct canvas_cell *canvas_at(const struct canvas *c, int x, int y)
{
	return &c->cells[y * c->w + x];
}

/* Draws text from (x, y), at most max columns (< 0: no bound). Returns the columns used. */
int canvas_text(struct canvas *c, int x, int y, enum style style, const char *text, int max);

/* The same, printf-like, no bound. */
int canvas_printf(struct canvas *c, int x, int y, enum style style, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Text that ends before column x + width; cut at its left if it is too long, which an ellipsis shows. */
void canvas_text_right(struct canvas *c, int x, int y, int width, enum style style, const char *text);

/* Text in width columns; cut at its right, which an ellipsis shows. */
void canvas_text_left(struct canvas *c, int x, int y, int width, enum style style, const char *text);

/* One character. */
void canvas_char(struct canvas *c, int x, int y, enum style style, gunichar ch);

/* From x to the right edge in at most rows rows, broken at blanks; and how many rows of that width it takes. */
void canvas_text_wrapped(struct canvas *c, int x, int y, int rows, enum style style, const char *text);
int canvas_wrapped_rows(const char *text, int width);

/* width times the same character. */
void canvas_fill(struct canvas *c, int x, int y, int width, enum style style, gunichar ch);

/* Changes the style of what is drawn already. */
void canvas_restyle(struct canvas *c, int x, int y, int width, enum style style);

/* An empty box with a border and a title. */
void canvas_box(struct canvas *c, int x, int y, int w, int h, const char *title);

/* A horizontal bar of width columns filled to permille. */
void canvas_bar(struct canvas *c, int x, int y, int width, enum style style, unsigned permille);

/* The character of a column filled to permille: a blank, "▁" … "█". */
gunichar canvas_column_glyph(unsigned permille);

/* Columns that text takes. */
int canvas_text_width(const char *text);

/* Row y as UTF-8 without trailing blanks; free with g_free(). */
char *canvas_row_text(const struct canvas *c, int y);

#endif
