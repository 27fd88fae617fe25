/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/utf8.h"

#include <stdbool.h>

#define NOT_UTF8 ((gunichar)-1)

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
