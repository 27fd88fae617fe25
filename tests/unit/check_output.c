/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "unit.h"

/* What arrives of these writes, each followed by a flush; free it. */
static char *written(bool for_program, const char *const *writes)
{
	char *text = calloc(1, 4096);
	int ends[2];
	FILE *file;

	ck_assert_int_eq(pipe(ends), 0);
	file = output_open(ends[1], for_program);
	ck_assert_ptr_nonnull(file);
	for (; *writes; writes++) {
		fputs(*writes, file);
		fflush(file);
	}
	ck_assert_int_eq(fclose(file), 0);
	ck_assert(read(ends[0], text, 4095) >= 0);
	close(ends[0]);
	return text;
}

#define CHECK(for_program, wanted, ...)                                                       \
	do {                                                                                  \
		char *got = written(for_program, (const char *const[]){ __VA_ARGS__, NULL }); \
		ck_assert_str_eq(got, wanted);                                                \
		free(got);                                                                    \
	} while (0)

START_TEST(ascii)
{
	setlocale(LC_CTYPE, "C");
	CHECK(false, "a ??? ue~\n\033[K", "a 雛é µe\xcc\x81…\n\033[K");
	CHECK(true, "雛é", "雛é");
	/* one byte after the other */
	CHECK(false, "???u.", "\xe9", "\x9b", "\x9b", "\xc3", "\xa9\xc2", "\xb5.");
	/* no character: never begun, cut, too long */
	CHECK(false, "???31m??\n????", "\xff", "\xe9\x9b",
	      "\x9b"
	      "31m\xf0\x9f\n\xf8\x88\x80\x80");
	CHECK(false, "??b", "\xe9", "\x9b", "b");
}
END_TEST

START_TEST(utf8)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	CHECK(false, "雛é\xff", "雛é\xff");
	setlocale(LC_CTYPE, "C");
}
END_TEST

START_TEST(failures)
{
	FILE *file = output_open(open("/dev/full", O_WRONLY | O_CLOEXEC), false);

	ck_assert_int_gt(fputs("full", file), 0);
	ck_assert_int_eq(fflush(file), EOF);
	ck_assert_int_eq(errno, ENOSPC);
	fclose(file);
	ck_assert_ptr_null(output_open(-1, false));
}
END_TEST

UNIT_MAIN("output", ascii, utf8, failures)
