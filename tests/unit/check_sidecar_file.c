/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The side-car as a file: it is replaced as a whole, nothing else is left beside it, and a copy's times are shifted. */
#include "unit.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <jansson.h>
#include <unistd.h>

#include "base/error.h"
#include "sidecar/sidecar.h"
#include "sidecar/write.h"

static char *dir, *path;

static void setup(void)
{
	dir = g_dir_make_tmp("sidecar-XXXXXX", NULL);
	ck_assert_ptr_nonnull(dir);
	path = g_build_filename(dir, SIDECAR_NAME, NULL);
}

static void teardown(void)
{
	g_remove(path);
	ck_assert_int_eq(g_rmdir(dir), 0); /* no other file was left there */
	g_free(path);
	g_free(dir);
}

/* A process with this number was killed while it wrote the file. */
START_TEST(test_left_by_another)
{
	char *left = g_strdup_printf("%s.%d", path, (int)getpid());

	ck_assert(g_file_set_contents(left, "{", -1, NULL));
	ck_assert_int_eq(sidecar_update(dir, NULL), LT_OK);
	ck_assert_int_eq(g_access(path, F_OK), 0);
	g_free(left);
}
END_TEST

START_TEST(test_directory_of_its_name)
{
	ck_assert_int_eq(g_mkdir(path, 0700), 0);
	ck_assert_int_eq(sidecar_update(dir, NULL), LT_ERROR);
	ck_assert_ptr_nonnull(strstr(error_text(), "Is a directory"));
}
END_TEST

/* A process' start in the copy of a side-car in which it has this one. */
static int64_t start_in_copy(int64_t start_ns, int64_t shift_ns)
{
	json_t *root = json_pack("{s:[{s:i,s:I}]}", "processes", "pid", 7, "start_ns", (json_int_t)start_ns);
	char *original = g_build_filename(dir, "original", NULL);

	ck_assert_int_eq(json_dump_file(root, original, 0), 0);
	json_decref(root);
	ck_assert_msg(sidecar_copy(original, dir, shift_ns) == LT_OK, "%s", error_text());
	root = json_load_file(path, 0, NULL);
	start_ns =
		json_integer_value(json_object_get(json_array_get(json_object_get(root, "processes"), 0), "start_ns"));
	json_decref(root);
	g_unlink(original);
	g_unlink(path);
	g_free(original);
	return start_ns;
}

/* A start before 1970 is at its begin; one that would be after all times stays. */
START_TEST(test_copy)
{
	ck_assert_int_eq(start_in_copy(1000, 500), 1500);
	ck_assert_int_eq(start_in_copy(1000, -500), 500);
	ck_assert_int_eq(start_in_copy(1000, -5000), 0);
	ck_assert_int_eq(start_in_copy(INT64_MAX - 10, 500), INT64_MAX - 10);
}
END_TEST

UNIT_MAIN_AROUND("sidecar_file", setup, teardown, test_left_by_another, test_directory_of_its_name, test_copy)
