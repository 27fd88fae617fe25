/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_UTF8_H
#define LT_BASE_UTF8_H

#include <glib.h>
#include <stddef.h>

/* How text lies in the columns of a terminal. Bytes that are not UTF-8 count as one column each. */

/* 0 for a combining character, 2 for a wide one, else 1. */
unsigned utf8_char_width(gunichar ch);

unsigned utf8_width(const char *text);

/* The character at *p, which is not the end of the text, -1 for a byte that is not UTF-8; moves *p behind it. */
gunichar utf8_next(const char **p);

/*
 * The bytes of the part of text that fits into width columns: up to a blank, or up to and with a comma, if there is
 * one, else as much as fits, and at least one character.
 */
size_t utf8_wrap(const char *text, unsigned width);

#endif
