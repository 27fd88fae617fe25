/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UNIT_SIDECARS_H
#define LT_UNIT_SIDECARS_H

/* A directory for a side-car or a listing, and what a side-car says, for the tests of sidecar/write.h. */
#include "unit.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <jansson.h>
#include <pwd.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "sidecar/sidecar.h"
#include "sidecar/write.h"

static char *dir, *path, *listing;

static inline void setup(void)
{
	dir = g_dir_make_tmp("sidecar-XXXXXX", NULL);
	ck_assert_ptr_nonnull(dir);
	path = g_build_filename(dir, SIDECAR_NAME, NULL);
	listing = g_build_filename(dir, SIDECAR_LISTING, NULL);
}

static inline void teardown(void)
{
	g_unlink(path);
	g_unlink(listing);
	ck_assert_int_eq(g_rmdir(dir), 0); /* no other file was left there */
	g_free(path);
	g_free(listing);
	g_free(dir);
}

static inline json_t *read_json(void)
{
	json_t *root = json_load_file(path, 0, NULL);

	ck_assert_ptr_nonnull(root);
	return root;
}

/* The only process with that PID. */
static inline json_t *process_of(const json_t *root, int64_t pid)
{
	json_t *process, *found = NULL;
	size_t i;

	json_array_foreach(json_object_get(root, "processes"), i, process) {
		if (json_integer_value(json_object_get(process, "pid")) != pid)
			continue;
		ck_assert_ptr_null(found);
		found = process;
	}
	return found;
}

static inline const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	ck_assert_msg(text != NULL, "no '%s'", key);
	return text;
}

/* The start of this process, from its own /proc and the boot time in whole seconds. */
static inline int64_t start_s(void)
{
	char *stat = NULL, *text = NULL, *behind, **words;
	int64_t boot_s, ticks;

	ck_assert(g_file_get_contents("/proc/self/stat", &stat, NULL, NULL));
	behind = strrchr(stat, ')') + 2;
	words = g_strsplit(behind, " ", -1);
	ticks = g_ascii_strtoll(words[19], NULL, 10);
	ck_assert(g_file_get_contents("/proc/stat", &text, NULL, NULL));
	boot_s = g_ascii_strtoll(strstr(text, "\nbtime ") + 7, NULL, 10);
	g_strfreev(words);
	g_free(stat);
	g_free(text);
	return boot_s + ticks / sysconf(_SC_CLK_TCK);
}

/* The data about this very process, whoever collected it. */
static inline void check_own(const json_t *root)
{
	const json_t *own = process_of(root, getpid());
	char key[32], *exe = g_file_read_link("/proc/self/exe", NULL), *cmdline = NULL;
	const struct passwd *user = getpwuid(getuid());
	struct utsname uts;
	gsize len;

	ck_assert_int_eq(uname(&uts), 0);
	ck_assert_str_eq(text_of(root, "kernel"), uts.release);
	ck_assert_str_eq(text_of(root, "host"), uts.nodename);
	ck_assert_uint_eq(strlen(text_of(root, "boot_id")), 36);
	ck_assert_int_eq(json_integer_value(json_object_get(root, "schema")), SIDECAR_SCHEMA);
	ck_assert_ptr_nonnull(own);
	ck_assert_int_eq(json_integer_value(json_object_get(own, "uid")), getuid());
	ck_assert_str_eq(text_of(own, "exe"), exe);
	ck_assert(g_file_get_contents("/proc/self/cmdline", &cmdline, &len, NULL));
	for (gsize i = 0; i + 1 < len; i++)
		cmdline[i] = cmdline[i] ? cmdline[i] : ' ';
	ck_assert_str_eq(text_of(own, "cmdline"), cmdline);
	ck_assert_int_le(llabs(json_integer_value(json_object_get(own, "start_ns")) / 1000000000 - start_s()), 2);
	g_snprintf(key, sizeof(key), "%u", (unsigned)getuid());
	if (user)
		ck_assert_str_eq(text_of(json_object_get(root, "users"), key), user->pw_name);
	g_free(exe);
	g_free(cmdline);
}

#endif
