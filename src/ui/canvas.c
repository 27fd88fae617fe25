/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/canvas.h"

#include <string.h>

#include "base/utf8.h"

struct canvas *canvas_create(int w, int h, bool ascii)
{
	struct canvas *c = g_new0(struct canvas, 1);

	c->ascii = ascii;
	canvas_resize(c, w, h);
	return c;
}

void canvas_destroy(struct canvas *c)
{
	if (!c)
		return;
	g_free(c->cells);
	g_free(c);
}

void canvas_resize(struct canvas *c, int w, int h)
{
	c->w = MAX(w, 1);
	c->h = MAX(h, 1);
	g_free(c->cells);
	c->cells = g_new(struct canvas_cell, (size_t)c->w * (size_t)c->h);
	canvas_clear(c);
}

void canvas_clear(struct canvas *c)
{
	for (int i = 0; i < c->w * c->h; i++)
		c->cells[i] = (struct canvas_cell){ .ch = ' ', .style = STYLE_NORMAL };
}

static void set_char(struct canvas_cell *cell, gunichar ch)
{
	*cell = (struct canvas_cell){ .ch = ch, .style = cell->style };
}

/* When half of a wide character is overwritten, the other half becomes a blank. */
static void split_wide(struct canvas *c, int x, int y)
{
	struct canvas_cell *cell = canvas_at(c, x, y);

	if (!cell->ch && x > 0)
		set_char(canvas_at(c, x - 1, y), ' ');
	if (x + 1 < c->w && !canvas_at(c, x + 1, y)->ch)
		set_char(canvas_at(c, x + 1, y), ' ');
}

/* Returns the character's cell; NULL: it is outside the grid. */
static struct canvas_cell *put(struct canvas *c, int x, int y, enum style style, gunichar ch, int width)
{
	if (y < 0 || y >= c->h || x < 0 || x + width > c->w)
		return NULL;
	for (int i = 0; i < width; i++) {
		struct canvas_cell *cell = canvas_at(c, x + i, y);

		split_wide(c, x + i, y);
		cell->style = (uint8_t)style;
		set_char(cell, i ? 0 : ch);
	}
	return canvas_at(c, x, y);
}

/* What joins or selects the form of characters is left out: terminals disagree about the width of the result. */
static bool is_mark(gunichar ch)
{
	switch (g_unichar_type(ch)) {
	case G_UNICODE_NON_SPACING_MARK:
		return (ch < 0x180b || ch > 0x180f) && (ch < 0xfe00 || ch > 0xfe0f) && ch < 0xe0000;
	case G_UNICODE_OTHER_LETTER: /* vowels and finals of Korean syllables */
		return true;
	default:
		return false;
	}
}

static void add_mark(struct canvas_cell *cell, gunichar mark)
{
	for (int i = 0; i < CANVAS_MARKS; i++)
		if (!cell->marks[i]) {
			cell->marks[i] = mark;
			return;
		}
}

void canvas_char(struct canvas *c, int x, int y, enum style style, gunichar ch)
{
	if (c->ascii)
		ch = (gunichar)utf8_ascii(ch);
	put(c, x, y, style, ch, MAX((int)utf8_char_width(ch), 1));
}

int canvas_text(struct canvas *c, int x, int y, enum style style, const char *text, int max)
{
	struct canvas_cell *last = NULL;
	int used = 0;

	for (const char *p = text; *p;) {
		gunichar ch = utf8_next(&p);
		int width;

		if (ch == (gunichar)-1 || ch < 0x20 || ch == 0x7f)
			ch = '?';
		width = (int)utf8_char_width(ch);
		if (!width) {
			if (last && is_mark(ch))
				add_mark(last, ch);
			continue;
		}
		if (max >= 0 && used + width > max)
			break;
		if (c->ascii)
			canvas_fill(c, x + used, y, width, style, ch);
		else
			last = put(c, x + used, y, style, ch, width);
		used += width;
	}
	return used;
}

int canvas_printf(struct canvas *c, int x, int y, enum style style, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	g_vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return canvas_text(c, x, y, style, text, -1);
}

int canvas_text_width(const char *text)
{
	return (int)utf8_width(text);
}

void canvas_text_left(struct canvas *c, int x, int y, int width, enum style style, const char *text)
{
	if (width <= 0)
		return;
	if (canvas_text_width(text) <= width) {
		canvas_text(c, x, y, style, text, width);
		return;
	}
	canvas_text(c, x, y, style, text, width - 1);
	canvas_char(c, x + width - 1, y, style, 0x2026);
}

void canvas_text_right(struct canvas *c, int x, int y, int width, enum style style, const char *text)
{
	int excess = canvas_text_width(text) - width;

	if (width <= 0)
		return;
	if (excess <= 0) {
		canvas_text(c, x - excess, y, style, text, width);
		return;
	}
	/* the end of a number or path is more informative than its start */
	for (excess++; excess > 0 && *text;)
		excess -= (int)utf8_char_width(utf8_next(&text));
	canvas_char(c, x, y, style, 0x2026);
	canvas_text(c, x + 1, y, style, text, width - 1);
}

int canvas_wrapped_rows(const char *text, int width)
{
	int rows = 0;

	for (; *text && width > 1; rows++) {
		text += utf8_wrap(text, (unsigned)width);
		text += strspn(text, " ");
	}
	return MAX(rows, 1);
}

void canvas_text_wrapped(struct canvas *c, int x, int y, int rows, enum style style, const char *text)
{
	int width = c->w - x - 1;

	for (int row = 0; row < rows && *text; row++) {
		const char *end = text + utf8_wrap(text, (unsigned)MAX(width, 1));
		char *part;

		if (row + 1 == rows) {
			canvas_text_left(c, x, y + row, width, style, text);
			return;
		}
		part = g_strndup(text, (gsize)(end - text));
		canvas_text(c, x, y + row, style, part, width);
		g_free(part);
		text = end + strspn(end, " ");
	}
}

bool canvas_is_text(const struct canvas *c, int x, int y)
{
	const gunichar ch = x >= 0 && x < c->w && y >= 0 && y < c->h ? c->cells[y * c->w + x].ch : ' ';

	return g_unichar_isgraph(ch) && (ch < 0x2500 || ch > 0x257f);
}

void canvas_fill(struct canvas *c, int x, int y, int width, enum style style, gunichar ch)
{
	for (int i = 0; i < width; i++)
		canvas_char(c, x + i, y, style, ch);
}

void canvas_restyle(struct canvas *c, int x, int y, int width, enum style style)
{
	if (y < 0 || y >= c->h)
		return;
	for (int i = MAX(x, 0); i < MIN(x + width, c->w); i++)
		canvas_at(c, i, y)->style = (uint8_t)style;
}

void canvas_box(struct canvas *c, int x, int y, int w, int h, const char *title)
{
	if (w < 2 || h < 2)
		return;
	canvas_fill(c, x + 1, y, w - 2, STYLE_FRAME, 0x2500);
	canvas_fill(c, x + 1, y + h - 1, w - 2, STYLE_FRAME, 0x2500);
	for (int i = 1; i < h - 1; i++) {
		canvas_char(c, x, y + i, STYLE_FRAME, 0x2502);
		canvas_fill(c, x + 1, y + i, w - 2, STYLE_NORMAL, ' ');
		canvas_char(c, x + w - 1, y + i, STYLE_FRAME, 0x2502);
	}
	canvas_char(c, x, y, STYLE_FRAME, 0x250c);
	canvas_char(c, x + w - 1, y, STYLE_FRAME, 0x2510);
	canvas_char(c, x, y + h - 1, STYLE_FRAME, 0x2514);
	canvas_char(c, x + w - 1, y + h - 1, STYLE_FRAME, 0x2518);
	if (title && w > 6) {
		int used = MIN(canvas_text_width(title), w - 6);

		canvas_text_left(c, x + 3, y, used, STYLE_TITLE, title);
		canvas_char(c, x + 2, y, STYLE_FRAME, ' ');
		canvas_char(c, x + 3 + used, y, STYLE_FRAME, ' ');
	}
}

void canvas_bar(struct canvas *c, int x, int y, int width, enum style style, unsigned permille)
{
	unsigned eighths = (unsigned)width * 8 * MIN(permille, 1000u) / 1000;

	/* anything above zero is visible */
	if (!eighths && permille)
		eighths = 1;
	for (int i = 0; i < width; i++) {
		unsigned part = MIN(eighths, 8u);

		eighths -= part;
		canvas_char(c, x + i, y, style, part ? 0x2590 - part : ' ');
	}
}

gunichar canvas_column_glyph(unsigned permille)
{
	if (!permille)
		return ' ';
	return 0x2581 + MIN(permille, 999u) * 8 / 1000;
}

char *canvas_row_text(const struct canvas *c, int y)
{
	GString *s = g_string_new(NULL);

	for (int x = 0; x < c->w; x++) {
		const struct canvas_cell *cell = canvas_at(c, x, y);

		if (cell->ch)
			g_string_append_unichar(s, cell->ch);
		for (int i = 0; i < CANVAS_MARKS && cell->marks[i]; i++)
			g_string_append_unichar(s, cell->marks[i]);
	}
	while (s->len && s->str[s->len - 1] == ' ')
		g_string_truncate(s, s->len - 1);
	return g_string_free(s, FALSE);
}
