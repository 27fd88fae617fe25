/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory that is followed: one spec, or one for each host that has recordings below it. */
#include "unit.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "base/error.h"
#include "source/source.h"

static char *directory;

static void setup(void)
{
	directory = g_dir_make_tmp("growing-XXXXXX", NULL);
	ck_assert_ptr_nonnull(directory);
}

static void teardown(void)
{
	g_free(directory);
}

/* Writes the start of a host's metadata to a trace's directory below. */
static void add_trace(const char *where, const char *hostname)
{
	char *path = g_build_filename(directory, where, NULL), *file = g_build_filename(path, "metadata", NULL);
	char *text = g_strdup_printf("/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\n"
				     "env { hostname = \"%s\"; };\n",
				     hostname);

	ck_assert_int_eq(g_mkdir_with_parents(path, 0755), 0);
	ck_assert(g_file_set_contents(file, text, -1, NULL));
	g_free(text);
	g_free(file);
	g_free(path);
}

/* Compares the directories of the specs, without the one above, joined by spaces. */
static void expect(const char *wanted)
{
	GPtrArray *specs = g_ptr_array_new_with_free_func((GDestroyNotify)source_spec_free);
	GString *found = g_string_new(NULL);

	ck_assert_int_eq(source_growing_specs(directory, specs), LT_OK);
	for (guint i = 0; i < specs->len; i++) {
		const struct source_spec *spec = g_ptr_array_index(specs, i);

		ck_assert(spec->is_growing);
		ck_assert_uint_eq(spec->paths->len, 1);
		ck_assert(g_str_has_prefix(spec->name, directory));
		g_string_append_printf(found, "%s%s", i ? " " : "", spec->name + strlen(directory));
	}
	ck_assert_str_eq(found->str, wanted);
	g_string_free(found, TRUE);
	g_ptr_array_free(specs, TRUE);
}

START_TEST(test_one_host)
{
	expect("");
	add_trace("web/auto-1/kernel", "web");
	expect("");
	add_trace("web/auto-2/kernel", "web");
	add_trace("web/auto-2/ust/uid/0/64-bit", "web");
	expect("");
}
END_TEST

START_TEST(test_several)
{
	add_trace("web/auto-1/kernel", "web");
	add_trace("web/auto-2/kernel", "web");
	add_trace("web-2/auto-1/kernel", "web-2");
	add_trace("db/auto-1/kernel", "db");
	expect("/db /web-2 /web");
}
END_TEST

/* As deep as needed, and no deeper. */
START_TEST(test_deeper)
{
	add_trace("lab/db/auto-1/kernel", "db");
	add_trace("lab/web/auto-1/kernel", "web");
	expect("/lab/db /lab/web");
	add_trace("one/auto-1/kernel", "one");
	add_trace("one/auto-2/kernel", "one");
	expect("/lab/db /lab/web /one");
}
END_TEST

/* A trace with others below it cannot be divided. */
START_TEST(test_trace_itself)
{
	add_trace("", "web");
	add_trace("below", "db");
	expect("");
}
END_TEST

START_TEST(test_missing)
{
	GPtrArray *specs = g_ptr_array_new();

	ck_assert_int_eq(source_growing_specs("/nonexistent/growing", specs), LT_ERROR);
	ck_assert_str_eq(error_text(), "cannot open '/nonexistent/growing': No such file or directory");
	ck_assert_uint_eq(specs->len, 0);
	g_ptr_array_free(specs, TRUE);
}
END_TEST

UNIT_MAIN_AROUND("growing", setup, teardown, test_one_host, test_several, test_deeper, test_trace_itself, test_missing)
