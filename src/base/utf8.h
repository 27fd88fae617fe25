/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_UTF8_H
#define LT_BASE_UTF8_H

#include <glib.h>
#include <stddef.h>

/* The width of text on a terminal. Each byte that is not UTF-8 counts as one column. */

/* 0 for a combining character, 2 for a wide one, else 1. */
unsigned utf8_char_width(gunichar ch);

/* Of the character: itself, a similar one for the symbols of the interface, such as "µ", or '?'. */
char utf8_ascii(gunichar ch);

unsigned utf8_width(const char *text);

/* The character at *p, which must not be the end of the text; -1 for a byte that is not UTF-8. Advances *p past it. */
gunichar utf8_next(const char **p);

/*
 * How many bytes of text fit into a line of width columns: all of them, or up to the last blank that fits. A word that
 * is too long for a line of its own is divided after the last comma that fits; failing both, as many characters as fit,
 * at least one.
 */
size_t utf8_wrap(const char *text, unsigned width);

#endif
