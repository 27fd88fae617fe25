/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/digits.h"
#include "base/error.h"
#include "base/log.h"
#include "base/map64.h"
#include "base/similar.h"
#include "base/strpool.h"
#include "base/text.h"
#include "base/utf8.h"
#include "unit.h"

/* ---- similar ---- */

START_TEST(test_similar)
{
	static const char *const names[] = { "report", "record", "list", "feed", "critical-path", "critical-totals" };
	static const struct {
		const char *word, *hint;
	} cases[] = {
		{ "reprot", ": did you mean 'report'?" },
		{ "reprt", ": did you mean 'report'?" },
		{ "recrod", ": did you mean 'record'?" },
		{ "lsit", ": did you mean 'list'?" },
		{ "LIST", ": did you mean 'list'?" },
		{ "lis", ": did you mean 'list'?" },
		{ "lists", ": did you mean 'list'?" },
		{ "last", ": did you mean 'list'?" },
		{ "critical-pahts", ": did you mean 'critical-path'?" },
		{ "report", ": did you mean 'report'?" }, /* itself */
		{ "lost", ": did you mean 'list'?" },
		{ "lt", "" },
		{ "", "" },
		{ "salt", "" },
		{ "three-tier", "" },
		{ "food", "" },
		{ "a-name-that-is-longer-than-any-of-them-may-be", "" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct similar s = { .word = cases[i].word };

		for (size_t k = 0; k < G_N_ELEMENTS(names); k++)
			similar_offer(&s, names[k]);
		ck_assert_str_eq(similar_hint(&s, ""), cases[i].hint);
	}
}
END_TEST

/* ---- text ---- */

START_TEST(test_text_sanitise)
{
	static const struct {
		const char *what, *in, *out;
	} cases[] = {
		{ "plain", "nginx: worker", "nginx: worker" },
		{ "two, three and four bytes stay", "é…\xf0\x9f\x90\xa7", "é…\xf0\x9f\x90\xa7" },
		{ "escape sequence", "a\x1b[2Jb", "a\\x1b[2Jb" },
		{ "carriage return, bell, tab, newline", "\r\a\t\n", "\\x0d\\x07\\x09\\x0a" },
		{ "DEL", "\x7f", "\\x7f" },
		{ "not UTF-8", "\xff\xfe", "\\xff\\xfe" },
		{ "lone continuation byte", "\x80x", "\\x80x" },
		{ "truncated at the end", "ab\xe2\x82", "ab\\xe2\\x82" },
		{ "truncated in the middle", "\xe2\x82z", "\\xe2\\x82z" },
		{ "overlong slash", "\xc0\xaf", "\\xc0\\xaf" },
		{ "overlong NUL", "\xc0\x80", "\\xc0\\x80" },
		{ "overlong, three bytes", "\xe0\x80\xaf", "\\xe0\\x80\\xaf" },
		{ "surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80" },
		{ "past U+10FFFF", "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },
		{ "five bytes", "\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80" },
		{ "C1: CSI as one character",
		  "\xc2\x9b"
		  "2J",
		  "\\xc2\\x9b2J" },
		{ "bidirectional override U+202E", "a\xe2\x80\xaetxt", "a\\xe2\\x80\\xaetxt" },
		{ "bidirectional isolate U+2066", "\xe2\x81\xa6", "\\xe2\\x81\\xa6" },
		{ "bidirectional isolate U+2069", "\xe2\x81\xa9", "\\xe2\\x81\\xa9" },
		{ "zero width space U+200B", "\xe2\x80\x8b", "\\xe2\\x80\\x8b" },
		{ "line separator U+2028", "\xe2\x80\xa8", "\\xe2\\x80\\xa8" },
		{ "byte order mark", "\xef\xbb\xbf", "\\xef\\xbb\\xbf" },
		{ "noncharacter U+FFFF", "\xef\xbf\xbf", "\\xef\\xbf\\xbf" },
		{ "backslash stays", "a\\b", "a\\b" },
	};
	char out[64];

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		size_t n = text_sanitise(out, sizeof(out), cases[i].in, strlen(cases[i].in));

		ck_assert_msg(!strcmp(out, cases[i].out), "%s: '%s', not '%s'", cases[i].what, out, cases[i].out);
		ck_assert_uint_eq(n, strlen(out));
	}
	ck_assert_uint_eq(text_sanitise(out, sizeof(out), "ab\0cd", 5), 2);
	ck_assert_uint_eq(text_sanitise(out, sizeof(out), "", 0), 0);
}
END_TEST

START_TEST(test_text_cut)
{
	char out[6];

	ck_assert_uint_eq(text_sanitise(out, 0, "abc", 3), 0);
	ck_assert_uint_eq(text_sanitise(out, 1, "abc", 3), 0);
	ck_assert_str_eq(out, "");
	text_sanitise(out, 4, "abcdef", 6);
	ck_assert_str_eq(out, "abc");
	text_sanitise(out, 4, "ab€", 5); /* no half character */
	ck_assert_str_eq(out, "ab");
	text_sanitise(out, 6, "ab\n", 3); /* no half escape */
	ck_assert_str_eq(out, "ab");
	text_sanitise(out, 6, "a\n", 2);
	ck_assert_str_eq(out, "a\\x0a");
}
END_TEST

/* Arbitrary bytes: the result is UTF-8 without control characters, and fits. */
START_TEST(test_text_any_bytes)
{
	GRand *rand = g_rand_new_with_seed(1);
	char in[32], out[64];

	for (int round = 0; round < 20000; round++) {
		size_t size = (size_t)g_rand_int_range(rand, 1, sizeof(out) + 1);
		size_t n;

		for (size_t i = 0; i < sizeof(in); i++)
			in[i] = (char)g_rand_int_range(rand, 0, 256);
		n = text_sanitise(out, size, in, sizeof(in));
		ck_assert_uint_lt(n, size);
		ck_assert(g_utf8_validate(out, (gssize)n, NULL));
		for (const char *p = out; *p; p = g_utf8_next_char(p))
			ck_assert(g_unichar_isprint(g_utf8_get_char(p)));
	}
	g_rand_free(rand);
}
END_TEST

START_TEST(test_text_glob)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
	} cases[] = {
		{ "web*", "web3", true },
		{ "web", "web3", false },
		{ "web3", "web", false },
		{ "", "", true },
		{ "", "a", false },
		{ "*", "", true },
		{ "*", "a/.b", true },
		{ "?", "", false },
		{ "a*b*c", "axbxxbxc", true },
		{ "a*b*c", "axbxxbx", false },
		{ "*.*?", "a.", false },
		{ "**a**", "a", true },
		{ "Web", "web", false },
		/* characters, not bytes */
		{ "????", "日本語名", true },
		{ "????", "日本", false },
		{ "[本]*", "日本", false },
		{ "日[本]", "日本", true },
		{ "[!本]", "日", true },
		{ "[а-я]*", "мой", true },
		{ "[а-я]", "z", false },
		/* sets */
		{ "w[ea]b", "wab", true },
		{ "[a-c]", "b", true },
		{ "[a-c]", "d", false },
		{ "[!a-c]", "d", true },
		{ "[^a-c]", "b", false },
		{ "[!a]", "", false },
		{ "[]a]", "]", true },
		{ "[!]a]", "]", false },
		{ "[a-]", "-", true },
		{ "[z-a]", "m", false },
		{ "[\\]-a]", "^", true },
		{ "*[0-9]", "cpu7", true },
		{ "socket:[7]", "socket:7", true },
		/* no sets */
		{ "[a", "[a", true },
		{ "[[[", "[[[", true },
		{ "[]", "[]", true },
		{ "[!]", "[!]", true },
		{ "[a\\]", "[a]", true },
		/* quoted */
		{ "\\*", "*", true },
		{ "\\*", "a", false },
		{ "\\[a]", "[a]", true },
		{ "a\\?\\\\", "a?\\", true },
		/* a name as it is printed */
		{ "\\xff\\xfe", "\\xff\\xfe", true },
		{ "\\xff*", "\\xff\\xfe", true },
		{ "[\\x]ff", "\\ff", true },
		{ "a\\", "a\\", true },
		/* what is not UTF-8 */
		{ "?\xff?", "\xfe\xff\xe9", true },
		{ "\xff", "\xfe", false },
		{ "[\xff]", "\xff", true },
		{ "\xe9*", "雛", false },
		{ "?", "\xe9\x9b", false },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		ck_assert_msg(text_glob(cases[i].pattern, cases[i].text) == cases[i].matches, "'%s' and '%s'",
			      cases[i].pattern, cases[i].text);
}
END_TEST

/* Product time at most: within the limit of a test, which exponential time would exceed by far. */
START_TEST(test_text_glob_hostile)
{
	char *name = g_strnfill(TEXT_MAX, 'a'), *open = g_strnfill(TEXT_MAX, '[');
	char *many = g_strconcat("*", open, "b", NULL);
	const gint64 start_us = g_get_monotonic_time();

	ck_assert(!text_glob("*a*a*a*a*a*a*a*a*a*a*b", name));
	ck_assert(text_glob("*a*a*a*a*a*a*a*a*a*a*", name));
	ck_assert(!text_glob("*[a]*[a]*[a]*[a]*[!a]", name));
	ck_assert(!text_glob(many, open));
	ck_assert_int_lt(g_get_monotonic_time() - start_us, 10 * G_USEC_PER_SEC);
	g_free(many);
	g_free(open);
	g_free(name);
}
END_TEST

START_TEST(test_text_contains)
{
	const char *turkish = setlocale(LC_CTYPE, "tr_TR.UTF-8"); /* where tolower('I') is not 'i' */

	ck_assert(text_contains("lttng-consumerd", "CONSUMER"));
	ck_assert(text_contains("IRQ/9-acpi", "irq"));
	ck_assert(text_contains("a", ""));
	ck_assert(text_contains("", ""));
	ck_assert(text_contains("ärger", "är"));
	ck_assert(!text_contains("web", "web3"));
	ck_assert(!text_contains("", "a"));
	if (turkish)
		setlocale(LC_CTYPE, "C");
	else
		printf("skip test_text_contains in Turkish: tr_TR.UTF-8 is not installed\n");
}
END_TEST

/* ---- strpool ---- */

START_TEST(test_strpool)
{
	static const char comm[8] = { 'k', 'w', 'o', 'r', 'k', 'e', 'r', '1' };
	strid a = strpool_intern_z("bash");

	ck_assert_uint_ne(a, STRID_NONE);
	ck_assert_uint_eq(strpool_intern("bash and more", 4), a);
	ck_assert_uint_eq(strpool_intern_padded("bash\0\0\0\0", 8), a);
	ck_assert_str_eq(strpool_text(a), "bash");
	ck_assert_str_eq(strpool_text(strpool_intern_padded(comm, sizeof(comm))), "kworker1");
	ck_assert_str_eq(strpool_text(strpool_intern_z("a\x1b")), "a\\x1b");
	ck_assert_uint_eq(strpool_intern_z(NULL), STRID_NONE);
	ck_assert_uint_eq(strpool_intern(NULL, 3), STRID_NONE);
	ck_assert_uint_eq(strpool_intern_z(""), STRID_NONE);
	ck_assert_uint_eq(strpool_intern("\0x", 2), STRID_NONE);
	ck_assert_str_eq(strpool_text(STRID_NONE), "");
	strpool_release();
}
END_TEST

/* The kernel cuts names after 15 bytes, whatever the character. */
START_TEST(test_strpool_padded_cut)
{
	static const struct {
		char comm[16];
		const char *wanted;
	} cases[] = {
		{ "abcdefghijklmn\xd0", "abcdefghijklmn" },
		{ "abcdefghijklm\xe2\x82", "abcdefghijklm" },
		{ "abcdefghijkl\xf0\x9f\x98", "abcdefghijkl" },
		{ "abcdefghijklmn\xed", "abcdefghijklmn" },
		{ "abcdefghijklmn\xe0", "abcdefghijklmn" },
		/* whole, too short to have been cut, or not the beginning of a character */
		{ "abcdefghijklm\xd0\xb9", "abcdefghijklm\xd0\xb9" },
		{ "abcdefghijklm\xd0", "abcdefghijklm\\xd0" },
		{ "abcdefghijklmn\x80", "abcdefghijklmn\\x80" },
		{ "abcdefghijklmn\xc0", "abcdefghijklmn\\xc0" },
		{ "abcdefghijklmn\xf8", "abcdefghijklmn\\xf8" },
		{ "abcdefghijklm\xe0\x80", "abcdefghijklm\\xe0\\x80" },
		{ "abcdefghijklm\xed\xa0", "abcdefghijklm\\xed\\xa0" },
		{ "abcdefghijklm\xff\xd0", "abcdefghijklm\\xff" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		ck_assert_str_eq(strpool_text(strpool_intern_padded(cases[i].comm, 16)), cases[i].wanted);
	strpool_release();
}
END_TEST

START_TEST(test_strpool_long)
{
	char *text = g_strnfill(3 * TEXT_MAX, 'x');
	strid id = strpool_intern_z(text);

	ck_assert_uint_eq(strlen(strpool_text(id)), TEXT_MAX);
	g_free(text);
	strpool_release();
}
END_TEST

START_TEST(test_strpool_limit)
{
	strid first, refused = STRID_NONE;
	char text[16];

	strpool_set_limit(1000, 2000);
	first = strpool_intern_z("first");
	for (int i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		refused = strpool_intern_z(text);
	}
	ck_assert_uint_eq(refused, STRID_NONE);
	ck_assert_uint_gt(strpool_full(), 50);
	ck_assert_uint_lt(strpool_bytes(), 1100);
	ck_assert_uint_eq(strpool_intern_z("first"), first);
	/* room used by names does not reduce that for paths */
	ck_assert_uint_ne(strpool_intern_path("/first", 6), STRID_NONE);
	strpool_release();
	strpool_set_limit(64 << 20, 256 << 20);
}
END_TEST

static strid name_of_thread(int i)
{
	char comm[16] = "";

	snprintf(comm, sizeof(comm), "thread-%u", (unsigned)i % 1000000);
	return i % 2 ? strpool_intern_padded(comm, sizeof(comm)) : strpool_intern_brief(comm, strlen(comm));
}

/* However many threads there are, new ones have names, and so have calls and events. */
START_TEST(test_strpool_brief)
{
	enum { THREADS = 20000, KEPT = 1000 };
	strid first = name_of_thread(0), kept = STRID_NONE, id = STRID_NONE;

	strpool_set_limit(8000, 1 << 16);
	for (int i = 1; i < THREADS; i++) {
		id = name_of_thread(i);
		ck_assert_uint_ne(id, STRID_NONE);
		ck_assert_uint_eq(name_of_thread(i), id);
		if (i == KEPT)
			kept = id;
		if (!strpool_round_due())
			continue;
		strpool_round_begin();
		strpool_keep(kept);
		strpool_round_end();
	}
	ck_assert_uint_eq(strpool_full(), 0);
	ck_assert_uint_gt(strpool_forgotten(), THREADS / 2);
	ck_assert_str_eq(strpool_text(first), "thread-0");
	ck_assert_str_eq(strpool_text(kept), "thread-1000");
	ck_assert_str_eq(strpool_text(id), "thread-19999");
	ck_assert_str_eq(strpool_text(strpool_intern_z("openat")), "openat");
	ck_assert_uint_eq(strpool_intern_padded("openat", 6), strpool_intern_z("openat"));
	strpool_release();
	strpool_set_limit(64 << 20, 256 << 20);
}
END_TEST

static strid path_of_number(int i)
{
	char text[32];

	return strpool_intern_path(text, (size_t)snprintf(text, sizeof(text), "/path/%06d", i));
}

START_TEST(test_strpool_paths)
{
	strid a = strpool_intern_path("/etc/passwd", 11), name = strpool_intern("/etc/passwd", 11);

	ck_assert_uint_ne(a, STRID_NONE);
	ck_assert_uint_ne(a, name);
	ck_assert_uint_eq(strpool_intern_path("/etc/passwd and more", 11), a);
	ck_assert_str_eq(strpool_text(a), "/etc/passwd");
	ck_assert_str_eq(strpool_text(name), "/etc/passwd");
	ck_assert_str_eq(strpool_text(strpool_intern_path("/a\x1b", 3)), "/a\\x1b");
	ck_assert_uint_eq(strpool_intern_path("", 0), STRID_NONE);
	strpool_release();
}
END_TEST

/* An endless run: strings in use stay, and the longest unused of the others are forgotten. */
START_TEST(test_strpool_forgets)
{
	enum { LIMIT = 1 << 16, PATHS = 20000 };
	strid kept, first, id = STRID_NONE;
	unsigned rounds = 0;

	strpool_set_limit(64 << 20, LIMIT);
	kept = strpool_intern_path("/kept", 5);
	first = path_of_number(0);
	for (int i = 1; i < PATHS; i++) {
		id = path_of_number(i);
		ck_assert_uint_ne(id, STRID_NONE);
		if (!strpool_round_due())
			continue;
		rounds++;
		strpool_round_begin();
		strpool_keep(kept);
		strpool_round_end();
		ck_assert_uint_le(strpool_bytes(), LIMIT);
		ck_assert_str_eq(strpool_text(kept), "/kept");
	}
	ck_assert_uint_eq(strpool_full(), 0);
	ck_assert_uint_gt(strpool_forgotten(), PATHS / 2);
	ck_assert_uint_lt(rounds, PATHS / 20);
	ck_assert_str_eq(strpool_text(id), "/path/019999");
	/* a number whose path was forgotten must not name another one */
	ck_assert_str_eq(strpool_text(first), "…");
	ck_assert_uint_ne(path_of_number(0), first);
	ck_assert_str_eq(strpool_text(first), "…");
	strpool_release();
	strpool_set_limit(64 << 20, 256 << 20);
}
END_TEST

/* All paths are in use: new ones get no name, and are counted. */
START_TEST(test_strpool_paths_full)
{
	enum { LIMIT = 1 << 16, PATHS = 2000 };
	static strid ids[PATHS];
	unsigned n = 0;

	strpool_set_limit(64 << 20, LIMIT);
	for (int i = 0; i < PATHS; i++) {
		ids[i] = path_of_number(i);
		n += ids[i] != STRID_NONE;
		if (!strpool_round_due())
			continue;
		strpool_round_begin();
		for (int k = 0; k <= i; k++)
			strpool_keep(ids[k]);
		strpool_round_end();
	}
	ck_assert_uint_gt(n, 200);
	ck_assert_uint_eq(strpool_full(), PATHS - n);
	ck_assert_uint_eq(strpool_forgotten(), 0);
	ck_assert_uint_le(strpool_bytes(), LIMIT);
	ck_assert_str_eq(strpool_text(ids[0]), "/path/000000");
	strpool_release();
	strpool_set_limit(64 << 20, 256 << 20);
}
END_TEST

/* map64: the same operations on a GHashTable give the same contents. */

START_TEST(test_map64)
{
	struct map64 map = { 0 };
	GHashTable *expected = g_hash_table_new(NULL, NULL);
	GRand *rand = g_rand_new_with_seed(2);

	ck_assert_uint_eq(map64_get(&map, 1), MAP64_NONE);
	ck_assert(!map64_del(&map, 1));
	for (int i = 0; i < 200000; i++) {
		/* Few distinct keys, some with equal low bits: clusters form and dissolve. */
		uint64_t key = (uint64_t)g_rand_int_range(rand, 0, 300) << g_rand_int_range(rand, 0, 2) * 20;
		uint32_t value = g_rand_int(rand) >> 1;

		if (g_rand_boolean(rand)) {
			map64_put(&map, key, value);
			g_hash_table_insert(expected, (gpointer)key, GUINT_TO_POINTER(value));
		} else {
			ck_assert_int_eq(map64_del(&map, key), g_hash_table_remove(expected, (gpointer)key));
		}
		ck_assert_uint_eq(map.count, g_hash_table_size(expected));
	}
	for (uint64_t n = 0; n < 600; n++) {
		uint64_t key = n / 2 << n % 2 * 20;
		gpointer value;
		bool known = g_hash_table_lookup_extended(expected, (gpointer)key, NULL, &value);

		ck_assert_uint_eq(map64_get(&map, key), known ? GPOINTER_TO_UINT(value) : MAP64_NONE);
	}
	map64_put(&map, UINT64_MAX, 7);
	ck_assert_uint_eq(map64_get(&map, UINT64_MAX), 7);
	map64_clear(&map);
	ck_assert_uint_eq(map64_get(&map, UINT64_MAX), MAP64_NONE);
	map64_release(&map);
	g_hash_table_destroy(expected);
	g_rand_free(rand);
}
END_TEST

/* The length of the longest run of slots in use: a look-up passes at most so many. */
static unsigned longest_run(const struct map64 *map)
{
	unsigned run = 0, longest = 0;

	for (uint64_t i = 0; i <= 2 * (uint64_t)map->mask; i++) {
		run = map->slots[i & map->mask].value == MAP64_NONE ? 0 : run + 1;
		longest = MAX(longest, run);
	}
	return longest;
}

/* Keys that a hash without a secret, such as a multiplication by a known number, puts next to each other. */
static uint64_t hostile_key(unsigned kind, uint64_t i)
{
	const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15), inverse = UINT64_C(0xf1de83e19937733d);
	uint64_t key = i << 20;

	switch (kind) {
	case 0: /* all bits but the highest of the product are the same */
		return i << 46;
	case 1: /* likewise, if the lower half is xored with the upper one first */
		return i << 46 | i << 14;
	case 2: /* products in sequence */
		return i * inverse;
	default: /* the low 20 bits of the hash are 0 if the product's upper bits are xored into them */
		ck_assert_uint_eq(factor * inverse, 1);
		key ^= key >> 29 ^ key >> 58;
		key *= inverse;
		return key ^ key >> 32;
	}
}

START_TEST(test_map64_hostile)
{
	for (unsigned kind = 0; kind < 4; kind++) {
		struct map64 map = { 0 };

		for (uint64_t i = 0; i < 20000; i++)
			map64_put(&map, hostile_key(kind, i), 0);
		ck_assert_uint_eq(map.count, 20000);
		ck_assert_msg(longest_run(&map) < 500, "kind %u: a run of %u", kind, longest_run(&map));
		map64_release(&map);
	}
}
END_TEST

/* ---- utf8 ---- */

START_TEST(test_utf8_width)
{
	ck_assert_uint_eq(utf8_width(""), 0);
	ck_assert_uint_eq(utf8_width("web"), 3);
	ck_assert_uint_eq(utf8_width("日本e\xcc\x81"), 5);
	ck_assert_uint_eq(utf8_width("a\xff\xe6\x97"), 4);
}
END_TEST

START_TEST(test_utf8_wrap)
{
	static const struct {
		const char *text, *first;
		unsigned width;
	} cases[] = {
		{ "", "", 10 },          { "one two", "one two", 7 },      { "one two", "one", 6 },
		{ "one two", "one", 3 }, { "one two", "on", 2 },           { "one,two", "one,", 6 },
		{ "one,two", "one", 3 }, { " onetwo", " on", 3 },          { "日本語", "日", 3 },
		{ "a one,two", "a", 7 }, { "a one,two", "a one,", 6 },     { "a one, two", "a one,", 7 },
		{ "日本語", "日", 1 },   { "e\xcc\x81x", "e\xcc\x81", 1 }, { "\xff\xff", "\xff", 1 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *first = g_strndup(cases[i].text, utf8_wrap(cases[i].text, cases[i].width));

		ck_assert_str_eq(first, cases[i].first);
		g_free(first);
	}
}
END_TEST

/* ---- numbers ---- */

START_TEST(test_digits)
{
	static const uint64_t numbers[] = { 0, 7, 10, 4096, INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX };
	GString *text = g_string_new(NULL);
	char want[128];

	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
		const uint64_t n = numbers[i];

		g_string_truncate(text, 0);
		digits_append(text, n, 1);
		g_string_append_c(text, ' ');
		digits_append(text, n, 6);
		g_string_append_c(text, ' ');
		digits_append(text, n, 20);
		g_string_append_c(text, ' ');
		digits_append_signed(text, (int64_t)n);
		g_string_append_c(text, ' ');
		digits_append_hex(text, n);
		snprintf(want, sizeof(want), "%" PRIu64 " %06" PRIu64 " %020" PRIu64 " %" PRId64 " 0x%" PRIx64, n, n, n,
			 (int64_t)n, n);
		ck_assert_str_eq(text->str, want);
	}
	g_string_free(text, TRUE);
}
END_TEST

UNIT_MAIN("base", test_utf8_width, test_utf8_wrap, test_similar, test_text_sanitise, test_text_cut, test_text_any_bytes,
	  test_text_glob, test_text_glob_hostile, test_text_contains, test_strpool, test_strpool_padded_cut,
	  test_strpool_long, test_strpool_limit, test_strpool_brief, test_strpool_paths, test_strpool_forgets,
	  test_strpool_paths_full, test_map64, test_map64_hostile, test_digits)
