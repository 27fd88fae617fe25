/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is reported: the error chain and the log. */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "unit.h"

START_TEST(test_error_chain)
{
	error_set("cannot read '%s'", "metadata");
	ck_assert_int_eq(error_wrap("opening trace '%s'", "web3"), LT_ERROR);
	ck_assert_str_eq(error_text(), "opening trace 'web3': cannot read 'metadata'");
	ck_assert_int_eq(error_add("%d others are read", 2), LT_ERROR);
	ck_assert_str_eq(error_text(), "opening trace 'web3': cannot read 'metadata'; 2 others are read");
	error_clear();
	error_wrap("alone");
	ck_assert_str_eq(error_text(), "alone");
	ck_assert_int_eq(error_join(g_strdup("one"), LT_ERROR), LT_ERROR);
	ck_assert_str_eq(error_text(), "one; alone");
	ck_assert_int_eq(error_join(g_strdup("one"), LT_OK), LT_ERROR);
	ck_assert_str_eq(error_text(), "one");
	ck_assert_int_eq(error_join(NULL, LT_OK), LT_OK);
	error_clear();
	ck_assert_str_eq(error_text(), "");
}
END_TEST

START_TEST(test_log)
{
	char *written = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&written, &size);
	unsigned many;

	log_mute_stderr();
	log_set_file(file, "log");
	log_warning("host '%s' is gone\x1b", "web");
	log_warning("host '%s' is gone\x1b", "web");
	log_info("other");
	log_set_file(NULL, NULL);
	fclose(file);
	ck_assert_uint_eq(log_count(), 2);
	ck_assert_str_eq(log_get(0)->text, "host 'web' is gone\\x1b");
	ck_assert_uint_eq(log_get(0)->repeated, 2);
	ck_assert_int_eq(log_get(1)->level, LOG_LEVEL_INFO);
	ck_assert_ptr_nonnull(strstr(written, "warning: host 'web' is gone\\x1b\n"));
	ck_assert_ptr_null(strchr(written, '\x1b'));
	free(written);

	for (int i = 0; i < 2000; i++)
		log_info("message %d", i);
	many = log_count();
	ck_assert_uint_gt(many, 100);
	ck_assert_uint_lt(many, 2000);
	ck_assert_str_eq(log_get(many - 1)->text, "message 1999");
}
END_TEST

/* What was said when a source was first read is not said again, neither to the screen nor to the file. */
START_TEST(test_log_skip_known)
{
	char *written = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&written, &size);

	log_mute_stderr();
	log_warning("web: the file ends");
	log_warning("db: the file ends");
	log_set_file(file, "log");
	log_skip_known(true);
	log_warning("web: the file ends");
	log_warning("db: the file ends");
	log_error("db: the file ends");
	log_skip_known(false);
	log_warning("web: the file ends");
	log_set_file(NULL, NULL);
	fclose(file);
	ck_assert_uint_eq(log_count(), 4);
	ck_assert_int_eq(log_get(2)->level, LOG_LEVEL_ERROR);
	ck_assert_ptr_null(strstr(written, "warning: db"));
	ck_assert_ptr_nonnull(strstr(written, "error: db"));
	ck_assert_ptr_nonnull(strstr(written, "warning: web"));
	free(written);
}
END_TEST

/* Messages that are not printed because they are going to come again: then they count as new, and are printed. */
START_TEST(test_log_unmute_without)
{
	char *written = NULL;
	FILE *before = stderr;
	size_t size = 0;

	stderr = open_memstream(&written, &size);
	log_mute_stderr();
	log_warning("gone");
	log_unmute_without();
	log_warning("gone");
	log_warning("gone");
	log_info("nothing");
	log_mute_stderr();
	log_warning("held back");
	log_unmute_stderr();
	fclose(stderr);
	stderr = before;
	ck_assert_str_eq(written, "lttngtop: warning: gone\nlttngtop: warning: held back\n");
	free(written);
}
END_TEST

/* That the file cannot be written is said once, after the message that it lacks. */
START_TEST(test_log_full)
{
	FILE *file = fopen("/dev/full", "a");
	unsigned before = log_count();

	ck_assert_ptr_nonnull(file);
	log_mute_stderr();
	log_set_file(file, "full.log");
	log_warning("first");
	log_warning("second");
	log_set_file(NULL, NULL);
	fclose(file);
	ck_assert_uint_eq(log_count(), before + 3);
	ck_assert_str_eq(log_get(before)->text, "first");
	ck_assert_str_eq(log_get(before + 1)->text, "cannot write log file 'full.log': No space left on device");
	ck_assert_int_eq(log_get(before + 1)->level, LOG_LEVEL_ERROR);
	ck_assert_str_eq(log_get(before + 2)->text, "second");
}
END_TEST

UNIT_MAIN("log", test_error_chain, test_log, test_log_skip_known, test_log_unmute_without, test_log_full)
