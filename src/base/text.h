/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_TEXT_H
#define LT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Longest text kept of a string from a trace, in bytes without the NUL: Linux's PATH_MAX. */
enum { TEXT_MAX = 4095 };

/*
 * Copies src[0..len[ (up to its first NUL) into dst as printable UTF-8: control characters, DEL, C1 controls,
 * bidirectional overrides and bytes that are not UTF-8 become \xNN. Truncated to size - 1 bytes, at a character
 * boundary. Returns the length of the result. All text from other machines passes through this function.
 */
size_t text_sanitise(char *dst, size_t size, const char *src, size_t len);

/* The same of all of src, however long it becomes; free with g_free(). */
char *text_sanitised(const char *src);

/*
 * The length of the text in a NUL-padded array such as a task's comm[16]. If only the last byte is NUL, the kernel may
 * have cut the text inside a character: the beginning of one, valid so far, does not count.
 */
size_t text_padded_len(const char *src, size_t size);

/*
 * Whether the whole of s matches the pattern: '*' stands for any characters, '?' for one, "[a-z]" for one of a set,
 * "[!a-z]" or "[^a-z]" for one outside it. Characters are those of UTF-8, in every locale. A '\' makes the '*', '?',
 * '[', ']' or '\' after it an ordinary character, and is one before any other, so that the \xNN of a sanitised name
 * matches itself. The time is at most in proportion to the product of both lengths.
 */
bool text_glob(const char *pattern, const char *s);

/* Whether text contains part, whatever the case of their ASCII letters: in every locale, also where I is not i's. */
bool text_contains(const char *text, const char *part);

#endif
