/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/digits.h"

enum { DIGITS_MAX = 20 }; /* UINT64_MAX in decimal */

static void append(GString *out, uint64_t number, unsigned base, unsigned least)
{
	char digits[DIGITS_MAX];
	unsigned at = DIGITS_MAX;

	do {
		digits[--at] = "0123456789abcdef"[number % base];
		number /= base;
	} while (at && (number || DIGITS_MAX - at < least));
	g_string_append_len(out, digits + at, DIGITS_MAX - at);
}

void digits_append(GString *out, uint64_t number, unsigned least)
{
	append(out, number, 10, least);
}

void digits_append_signed(GString *out, int64_t number)
{
	if (number < 0)
		g_string_append_c(out, '-');
	digits_append(out, number < 0 ? -(uint64_t)number : (uint64_t)number, 1);
}

void digits_append_hex(GString *out, uint64_t number)
{
	g_string_append_len(out, "0x", 2);
	append(out, number, 16, 1);
}
