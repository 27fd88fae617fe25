/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/pack.h"
#include "base/strpool.h"
#include "cache/file.h"
#include "cache/sum.h"
#include "unit.h"

#define NAME_A "00000000000000000000000000000000000000000000000000000000000000aa"
#define NAME_B "00000000000000000000000000000000000000000000000000000000000000bb"

/* ---- values ---- */

START_TEST(test_values)
{
	GByteArray *out = g_byte_array_new();
	struct unpack in;
	char four[4] = "abc", *text;

	pack_u64(out, UINT64_MAX - 1);
	pack_text(out, NULL);
	pack_text(out, "");
	pack_text(out, "h\033[31mi");
	pack_bytes(out, "xyz", 4);
	in = (struct unpack){ out->data, out->data + out->len, false };
	ck_assert_uint_eq(unpack_u64(&in), UINT64_MAX - 1);
	ck_assert_ptr_null(unpack_text(&in));
	text = unpack_text(&in);
	ck_assert_str_eq(text, "");
	g_free(text);
	/* text from a file must be sanitised for the terminal */
	text = unpack_text(&in);
	ck_assert_str_eq(text, "h\\x1b[31mi");
	g_free(text);
	unpack_bytes(&in, four, 4);
	ck_assert_str_eq(four, "xyz");
	ck_assert(!in.failed && in.at == in.end);
	ck_assert_uint_eq(unpack_u64(&in), 0);
	ck_assert(in.failed);
	unpack_bytes(&in, four, 4);
	ck_assert_str_eq(four, "");
	g_byte_array_unref(out);
}
END_TEST

/* Impossible lengths and counts: nothing is allocated or read for them. */
START_TEST(test_values_out_of_bounds)
{
	const uint8_t huge[16] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	struct unpack in = { huge, huge + sizeof(huge), false };

	ck_assert_ptr_null(unpack_text(&in));
	ck_assert(in.failed);
	in = (struct unpack){ huge, huge + sizeof(huge), false };
	ck_assert_uint_eq(unpack_count(&in, 1), 0);
	ck_assert(in.failed);
	in = (struct unpack){ huge, huge + sizeof(huge), false };
	ck_assert_uint_eq(unpack_upto(&in, 7), 0);
	ck_assert(in.failed);
}
END_TEST

/* ---- strings ---- */

START_TEST(test_strings)
{
	GByteArray *out = g_byte_array_new();
	strid name = strpool_intern_z("idle"), other = strpool_intern_z("bash"), path, gone;
	struct unpack in;

	gone = strpool_intern_path("/a", 2);
	path = strpool_intern_path("/b", 2);
	strpool_pack(out);
	strpool_release();
	/* strings that every run interns first may be present already */
	ck_assert_uint_eq(strpool_intern_z("idle"), name);
	in = (struct unpack){ out->data, out->data + out->len, false };
	ck_assert(strpool_unpack(&in));
	ck_assert_str_eq(strpool_text(other), "bash");
	ck_assert_str_eq(strpool_text(path), "/b");
	ck_assert_str_eq(strpool_text(gone), "/a");
	ck_assert_uint_eq(strpool_intern_z("bash"), other);
	ck_assert_uint_eq(strpool_intern_path("/b", 2), path);
	ck_assert_uint_ne(strpool_intern_path("/c", 2), path);
	/* an invalid ID */
	ck_assert_str_eq(strpool_text(1000000), "…");
	strpool_release();
	/* refused if other strings have these IDs */
	strpool_intern_z("bash");
	in = (struct unpack){ out->data, out->data + out->len, false };
	ck_assert(!strpool_unpack(&in));
	strpool_release();
	g_byte_array_unref(out);
}
END_TEST

/* ---- files ---- */

static char *make_directory(void)
{
	char *directory = g_dir_make_tmp("cache-XXXXXX", NULL);

	ck_assert_ptr_nonnull(directory);
	return directory;
}

static void remove_directory(char *directory)
{
	GDir *dir = g_dir_open(directory, 0, NULL);
	const char *name;

	while ((name = g_dir_read_name(dir)) != NULL) {
		char *path = g_build_filename(directory, name, NULL);

		g_remove(path);
		g_free(path);
	}
	g_dir_close(dir);
	g_rmdir(directory);
	g_free(directory);
}

static void write_file(const char *directory, const char *name, bool end)
{
	GByteArray *head = g_byte_array_new();
	struct cache_file *f;

	pack_text(head, "head");
	ck_assert_int_eq(cache_file_create(directory, name, head, 7, &f), LT_OK);
	ck_assert_int_eq(cache_file_write(f, "abc", 3), LT_OK);
	ck_assert_int_eq(cache_file_write(f, "defg", 4), LT_OK);
	if (end)
		ck_assert_int_eq(cache_file_end(f), LT_OK);
	cache_file_close(f);
	g_byte_array_unref(head);
}

static bool read_file(const char *directory, const char *name)
{
	struct cache_file *f;
	GByteArray *head;
	char part[4];
	bool ok;

	if (cache_file_open(directory, name, &head, &f) != LT_OK)
		return false;
	ok = cache_file_parts_bytes(f) == 7 && cache_file_read(f, part, 3) && cache_file_read(f, part, 4) &&
	     cache_file_check(f);
	if (ok)
		ck_assert_int_eq(memcmp(part, "defg", 4), 0);
	g_byte_array_unref(head);
	cache_file_close(f);
	return ok;
}

START_TEST(test_file)
{
	char *directory = make_directory();

	ck_assert(!read_file(directory, NAME_A));
	write_file(directory, NAME_A, false);
	ck_assert(!read_file(directory, NAME_A));
	ck_assert_int_eq(g_rmdir(directory), 0);
	write_file(directory, NAME_A, true);
	ck_assert(read_file(directory, NAME_A));
	ck_assert(!read_file(directory, NAME_B));
	remove_directory(directory);
}
END_TEST

/* If any byte is changed or missing, or there is one too many, the file counts as absent. */
START_TEST(test_damaged_file)
{
	char *directory = make_directory(), *path = g_build_filename(directory, NAME_A, NULL), *good;
	gsize len;

	write_file(directory, NAME_A, true);
	ck_assert(g_file_get_contents(path, &good, &len, NULL));
	for (gsize i = 0; i < len; i++) {
		good[i] ^= 4;
		ck_assert(g_file_set_contents(path, good, (gssize)len, NULL));
		ck_assert(!read_file(directory, NAME_A));
		good[i] ^= 4;
		ck_assert(g_file_set_contents(path, good, (gssize)i, NULL));
		ck_assert(!read_file(directory, NAME_A));
	}
	good = g_realloc(good, len + 1);
	ck_assert(g_file_set_contents(path, good, (gssize)len + 1, NULL));
	ck_assert(!read_file(directory, NAME_A));
	ck_assert(g_file_set_contents(path, good, (gssize)len, NULL));
	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert(read_file(directory, NAME_A));
	ck_assert_int_eq(chmod(path, 0622), 0);
	ck_assert(!read_file(directory, NAME_A));
	g_free(good);
	g_free(path);
	remove_directory(directory);
}
END_TEST

/* Exchanged words, within a lane, between lanes or in the rest, give another checksum. */
START_TEST(test_sum)
{
	uint64_t words[13];
	const uint64_t sum =
		(memset(words, 0, sizeof(words)), words[3] = 1, words[12] = 2, cache_sum(0, words, sizeof(words)));

	for (unsigned i = 0; i < 13; i++)
		for (unsigned k = 0; k < i; k++) {
			uint64_t a = words[i], b = words[k];

			if (a == b)
				continue;
			words[i] = b;
			words[k] = a;
			ck_assert_uint_ne(cache_sum(0, words, sizeof(words)), sum);
			words[i] = a;
			words[k] = b;
		}
	ck_assert_uint_eq(cache_sum(0, words, sizeof(words)), sum);
	ck_assert_uint_ne(cache_sum(0, words, sizeof(words) - 1), sum);
	ck_assert_uint_ne(cache_sum(cache_sum(0, words, 32), words + 4, sizeof(words) - 32), sum);
}
END_TEST

UNIT_MAIN("cache", test_values, test_values_out_of_bounds, test_strings, test_file, test_damaged_file, test_sum)
