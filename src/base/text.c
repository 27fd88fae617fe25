/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text.h"

#include <fnmatch.h>
#include <glib.h>
#include <string.h>

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

bool text_glob(const char *pattern, const char *s)
{
	return fnmatch(pattern, s, 0) == 0;
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
