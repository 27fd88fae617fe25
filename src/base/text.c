/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text.h"

#include <glib.h>
#include <string.h>

#include "base/utf8.h"

static inline bool is_printable_ascii(char c)
{
	return c >= 0x20 && c < 0x7f;
}

/*
 * Length in bytes of the printable character at src that is not ASCII; 0: it is not printable, and its first byte must
 * be escaped.
 */
static size_t printable_len(const char *src, size_t len)
{
	gunichar c;

	if ((unsigned char)src[0] < 0x80)
		return 0;
	/* Rejects overlong forms, surrogates and values above U+10FFFF; both error values are >= 2^31. */
	c = g_utf8_get_char_validated(src, (gssize)len);
	if (c > 0x10ffff || !g_unichar_isprint(c))
		return 0;
	switch (g_unichar_type(c)) {
	case G_UNICODE_LINE_SEPARATOR:
	case G_UNICODE_PARAGRAPH_SEPARATOR:
		return 0;
	default:
		return (size_t)g_unichar_to_utf8(c, NULL);
	}
}

size_t text_sanitise(char *dst, size_t size, const char *src, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	size_t used = 0;

	if (!size)
		return 0;
	for (size_t i = 0; i < len && src[i];) {
		size_t n;

		/* nearly all characters */
		if (is_printable_ascii(src[i])) {
			if (used + 1 >= size)
				break;
			dst[used++] = src[i++];
			continue;
		}
		n = printable_len(src + i, len - i);
		if (used + (n ? n : 4) >= size)
			break;
		if (n) {
			memcpy(dst + used, src + i, n);
			used += n;
			i += n;
		} else {
			unsigned char byte = (unsigned char)src[i++];

			dst[used++] = '\\';
			dst[used++] = 'x';
			dst[used++] = hex[byte >> 4];
			dst[used++] = hex[byte & 15];
		}
	}
	dst[used] = '\0';
	return used;
}

char *text_sanitised(const char *src)
{
	const size_t len = strlen(src), size = strlen("\\xNN") * len + 1;
	char *text = g_malloc(size);

	text_sanitise(text, size, src, len);
	return text;
}

/* Whether src[0..len[ is the beginning of a longer UTF-8 character: the lowest or the highest end makes it valid. */
static bool is_begun(const char *src, size_t len)
{
	const unsigned char lead = (unsigned char)src[0];
	const size_t whole = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
	char low[4], high[4];

	if (len >= whole)
		return false;
	memset(low, 0x80, sizeof(low));
	memset(high, 0xbf, sizeof(high));
	memcpy(low, src, len);
	memcpy(high, src, len);
	return g_utf8_validate(low, (gssize)whole, NULL) || g_utf8_validate(high, (gssize)whole, NULL);
}

size_t text_padded_len(const char *src, size_t size)
{
	const size_t len = strnlen(src, size);

	if (len + 1 != size)
		return len;
	for (size_t n = 1; n <= 3 && n <= len; n++)
		if (is_begun(src + len - n, n))
			return len - n;
	return len;
}

/* ---- patterns ---- */

/* The character at *p; a byte that is not UTF-8 is a character of its own. Advances *p past it. */
static gunichar next_char(const char **p)
{
	const unsigned char byte = (unsigned char)**p;
	const gunichar ch = utf8_next(p);

	return ch == (gunichar)-1 ? 0x110000u | byte : ch;
}

/* The same in a pattern, where it may be quoted. */
static gunichar next_quoted(const char **p)
{
	if (**p == '\\' && (*p)[1] && strchr("*?[]\\", (*p)[1]))
		++*p;
	return next_char(p);
}

/* Whether ch is in the set that starts behind the '[', at *p. Advances *p past its ']'; NULL: there is none. */
static bool is_in_set(const char **p, gunichar ch)
{
	const bool negated = **p == '!' || **p == '^';
	const char *const first = *p + negated, *at = first;
	bool found = false;

	while (*at && (*at != ']' || at == first)) {
		const gunichar low = next_quoted(&at);
		gunichar high = low;

		if (at[0] == '-' && at[1] && at[1] != ']') {
			at++;
			high = next_quoted(&at);
		}
		found |= low <= ch && ch <= high;
	}
	*p = *at ? at + 1 : NULL;
	return found != negated;
}

/*
 * Whether what the pattern has at *p for one character matches ch. Advances *p past it. *unclosed: the first '[' known
 * to have no ']', so that the rest of the pattern is not searched for it again; NULL: none is.
 */
static bool matches_one(const char **p, gunichar ch, const char **unclosed)
{
	if (**p == '?') {
		++*p;
		return true;
	}
	if (**p == '[' && !(*unclosed && *p >= *unclosed)) {
		const char *at = *p + 1;
		const bool found = is_in_set(&at, ch);

		if (at) {
			*p = at;
			return found;
		}
		*unclosed = *p;
	}
	return next_quoted(p) == ch;
}

/* Each '*' takes as few characters as possible: only the last one may have to take more. */
bool text_glob(const char *pattern, const char *s)
{
	const char *star = NULL, *star_end = NULL, *unclosed = NULL;

	while (*s) {
		const char *next = s;
		const gunichar ch = next_char(&next);

		if (*pattern == '*') {
			star = ++pattern;
			star_end = s;
		} else if (*pattern && matches_one(&pattern, ch, &unclosed)) {
			s = next;
		} else if (star) {
			next_char(&star_end);
			pattern = star;
			s = star_end;
		} else {
			return false;
		}
	}
	return !pattern[strspn(pattern, "*")];
}

bool text_contains(const char *text, const char *part)
{
	const size_t len = strlen(part);

	do {
		if (!g_ascii_strncasecmp(text, part, len))
			return true;
	} while (*text++);
	return false;
}
