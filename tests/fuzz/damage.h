/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FUZZ_DAMAGE_H
#define FUZZ_DAMAGE_H

#include <glib.h>
#include <stdint.h>
#include <string.h>

/*
 * Damage to metadata and to data files, for programs that read many cases in one process. The same state gives
 * the same damage.
 */
static uint64_t state;

static inline uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static inline size_t below(size_t n)
{
	return n ? any() % n : 0;
}

/* What follows is the case of that number and nothing else. */
static inline void damage_seed(uint64_t seed)
{
	state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	for (unsigned i = 0; i < 8; i++)
		any();
}

/* ---- text ---- */

/* The numbers among them stand in a row. */
enum { NUMBERS_FROM = 16, NUMBERS = 14 };

static const char *const damage_words[] = {
	"{",
	"}",
	"[",
	"]",
	"<",
	">",
	";",
	":",
	":=",
	"...",
	"\"",
	"\\",
	"'",
	"\x1e",
	"\n",
	"/*",
	"0",
	"-1",
	"1",
	"31",
	"64",
	"65",
	"4096",
	"1048576",
	"2147483648",
	"9223372036854775807",
	"9223372036854775808",
	"18446744073709551615",
	"99999999999999999999",
	"1e9",
	"null",
	"true",
	"{}",
	"[]",
	"align(",
	"struct {",
	"variant <",
	"enum : ",
	"string",
	"integer { size = 64; align = 1; }",
	"floating_point {",
	"typealias ",
	"clock.",
	".value",
	"id",
	"v",
	"timestamp",
	"event.fields.",
	"stream.event.header.id",
	"\"field-class\":",
	"\"type\":\"structure\"",
	"\"member-classes\":[",
	"\"length\":",
	"\"alignment\":",
	"\"roles\":[\"event-record-class-id\"]",
	"\"default-clock-timestamp\"",
	"\"path\":[null]",
	"\"origin\":\"event-record-payload\"",
	"\"selector-field-ranges\":[[0,1]]",
	"\"type\":\"optional\"",
	"\"field-class\":\"u64-ts\"",
	"\"minimum-alignment\":",
};

/* Where one word ends and another begins: damage there is understood more often. */
static inline size_t at_word(const GString *text)
{
	size_t at = below(text->len);

	while (at < text->len && !strchr(" ,:;{}[]\"\n", text->str[at]))
		at++;
	return at;
}

static inline void damage_text(GString *text)
{
	const size_t at = any() % 3 ? at_word(text) : below(text->len), left = text->len - at;
	const size_t wanted = below(any() % 4 ? 16 : 400), n = MIN(left, wanted);
	char *piece;

	switch (any() % 8) {
	case 0:
		if (left)
			text->str[at] ^= (char)(1u << any() % 8);
		break;
	case 1:
		g_string_erase(text, (gssize)at, (gssize)n);
		break;
	case 2:
		if (any() % 8 == 0)
			g_string_truncate(text, at);
		break;
	case 3: /* a piece once more, elsewhere */
		piece = g_strndup(text->str + at, n);
		g_string_insert(text, (gssize)at_word(text), piece);
		g_free(piece);
		break;
	case 4: /* another number */
		for (size_t i = at; i < text->len; i++) {
			size_t digits = strspn(text->str + i, "0123456789");

			if (!digits)
				continue;
			g_string_erase(text, (gssize)i, (gssize)digits);
			g_string_insert(text, (gssize)i, damage_words[NUMBERS_FROM + below(NUMBERS)]);
			break;
		}
		break;
	default:
		g_string_insert(text, (gssize)at, damage_words[below(G_N_ELEMENTS(damage_words))]);
		break;
	}
	/* As all metadata a text, which ends at its NUL. */
	g_string_truncate(text, strlen(text->str));
}

/* ---- bytes ---- */

/* What sizes, counts and ids are damaged to, and what lies around. */
static inline uint64_t odd_number(void)
{
	static const uint64_t odd[] = { 0,          1,
					7,          8,
					31,         63,
					64,         65,
					255,        4095,
					65535,      UINT64_C(1) << 31,
					UINT32_MAX, UINT64_C(1) << 48,
					INT64_MAX,  UINT64_MAX };

	return any() % 2 ? odd[below(G_N_ELEMENTS(odd))] : any() >> below(64);
}

static inline void damage_bytes(GByteArray *data)
{
	const guint at = (guint)below(data->len), left = data->len - at;
	const guint wanted = (guint)below(any() % 4 ? 16 : 512), n = MIN(left, wanted);
	guint to = (guint)below(any() % 2 ? 128 : data->len);
	uint64_t value;

	switch (any() % 8) {
	case 0:
	case 1:
		if (left)
			data->data[at] ^= (guint8)(1u << any() % 8);
		break;
	case 2: /* a packet's head is where most harm is done */
	case 3:
	case 4:
		value = odd_number();
		if (data->len >= 8)
			memcpy(data->data + MIN(to, data->len - 8), &value, 1u << any() % 4);
		break;
	case 5:
		if (n)
			g_byte_array_remove_range(data, at, n);
		break;
	case 6: /* a piece over another one */
		if (n)
			memmove(data->data + MIN(to, data->len - n), data->data + at, n);
		break;
	default:
		if (any() % 4 == 0)
			g_byte_array_set_size(data, at);
		break;
	}
}

#endif
