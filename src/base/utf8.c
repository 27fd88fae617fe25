/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/utf8.h"

#include <stdbool.h>

#define NOT_UTF8 ((gunichar)-1)

/* The symbols of the interface and their ASCII replacements. */
static const struct {
	gunichar ch;
	char ascii;
} likenesses[] = {
	{ 0x00d7, 'x' }, /* × */
	{ 0x2212, '-' }, /* − */
	{ 0x2026, '~' }, /* … */
	{ 0x00b7, '.' }, /* · */
	{ 0x2500, '-' }, /* ─ */
	{ 0x2502, '|' }, /* │ */
	{ 0x250c, '+' }, /* ┌ */
	{ 0x2510, '+' }, /* ┐ */
	{ 0x2514, '+' }, /* └ */
	{ 0x2518, '+' }, /* ┘ */
	{ 0x251c, '|' }, /* ├ */
	{ 0x2581, '.' }, /* ▁ */
	{ 0x2582, ':' }, /* ▂ */
	{ 0x2583, '-' }, /* ▃ */
	{ 0x2584, '=' }, /* ▄ */
	{ 0x2585, '+' }, /* ▅ */
	{ 0x2586, '*' }, /* ▆ */
	{ 0x2587, '%' }, /* ▇ */
	{ 0x2588, '#' }, /* █ */
	{ 0x258f, '|' }, /* ▏ */
	{ 0x258e, '|' }, /* ▎ */
	{ 0x258d, '|' }, /* ▍ */
	{ 0x258c, '#' }, /* ▌ */
	{ 0x258b, '#' }, /* ▋ */
	{ 0x258a, '#' }, /* ▊ */
	{ 0x2589, '#' }, /* ▉ */
	{ 0x25b2, '^' }, /* ▲ */
	{ 0x25bc, 'v' }, /* ▼ */
	{ 0x25b6, '>' }, /* ▶ */
	{ 0x25cf, '*' }, /* ● */
	{ 0x2190, '<' }, /* ← */
	{ 0x2192, '>' }, /* → */
	{ 0x2191, '>' }, /* ↑ */
	{ 0x2193, '<' }, /* ↓ */
	{ 0x00b5, 'u' }, /* µ */
	{ 0x00b1, '~' }, /* ± */
	{ 0x2013, '-' }, /* – */
};

char utf8_ascii(gunichar ch)
{
	if (ch < 0x7f)
		return (char)ch;
	for (unsigned i = 0; i < G_N_ELEMENTS(likenesses); i++)
		if (likenesses[i].ch == ch)
			return likenesses[i].ascii;
	return '?';
}

unsigned utf8_char_width(gunichar ch)
{
	if (ch < 0x80) /* nearly all characters */
		return 1;
	if (ch != NOT_UTF8 && g_unichar_iszerowidth(ch))
		return 0;
	return ch != NOT_UTF8 && g_unichar_iswide(ch) ? 2 : 1;
}

gunichar utf8_next(const char **p)
{
	gunichar ch = (unsigned char)**p;

	if (ch < 0x80) {
		(*p)++;
		return ch;
	}
	ch = g_utf8_get_char_validated(*p, -1);
	if (ch == (gunichar)-1 || ch == (gunichar)-2) {
		(*p)++;
		return NOT_UTF8;
	}
	*p = g_utf8_next_char(*p);
	return ch;
}

unsigned utf8_width(const char *text)
{
	unsigned width = 0;

	while (*text)
		width += utf8_char_width(utf8_next(&text));
	return width;
}

/* Whether the word after a blank fits into a line of its own. */
static bool word_fits(const char *blank, unsigned width)
{
	const char *at = blank + 1;
	unsigned used = 0;

	while (*at && *at != ' ' && used <= width)
		used += utf8_char_width(utf8_next(&at));
	return used <= width;
}

size_t utf8_wrap(const char *text, unsigned width)
{
	const char *end = text, *blank = NULL, *comma = NULL;
	unsigned used = 0;

	while (*end) {
		const char *next = end;

		if (*end == ' ' && end > text) {
			blank = end;
			comma = NULL;
		}
		used += utf8_char_width(utf8_next(&next));
		if (used > width && end > text) {
			if (comma && !(blank && word_fits(blank, width)))
				return (size_t)(comma - text);
			return (size_t)((blank ? blank : end) - text);
		}
		if (*end == ',')
			comma = next;
		end = next;
	}
	return (size_t)(end - text);
}
