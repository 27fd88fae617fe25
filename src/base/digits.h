/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_DIGITS_H
#define LT_BASE_DIGITS_H

#include <glib.h>
#include <stdint.h>

/* Numbers as text, for lines of which there may be millions: g_string_append_printf() takes ten times as long. */

/* Appends a number in decimal with at least this many digits, at most 20. */
void digits_append(GString *out, uint64_t number, unsigned least);

void digits_append_signed(GString *out, int64_t number);

/* Appends "0x1f". */
void digits_append_hex(GString *out, uint64_t number);

#endif
