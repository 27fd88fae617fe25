/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UNIT_H
#define LT_UNIT_H

#include <check.h>
#include <malloc.h>
#include <stdlib.h>

/*
 * Check writes down the place of every assertion that holds, to name it if the test crashes after it: most of the time
 * of a test that checks millions of figures. A debugger or a sanitizer names the place of the crash itself.
 */
#define _mark_point(file, line) ((void)0)

/* Bytes of memory in use by the program; 0 with a sanitizer. */
static inline size_t unit_allocated(void)
{
	const struct mallinfo2 now = mallinfo2();

	return now.uordblks + now.hblkhd;
}

/* Adds a test that runs for each _i from 0 to times - 1. */
static inline TCase *unit_add(Suite *suite, const TTest *test, int times)
{
	TCase *tc = tcase_create(test->name);

	tcase_set_timeout(tc, 300); /* also on a busy machine */
	tcase_add_loop_test(tc, test, 0, times);
	suite_add_tcase(suite, tc);
	return tc;
}

/* Runs the suite and releases it; returns the program's exit status. */
static inline int unit_end(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/*
 * A unit test program is a list of Check tests:
 *
 *	UNIT_MAIN("map64", test_put, test_delete)
 *	UNIT_MAIN_AROUND("view", setup, teardown, test_cpu, test_io)	setup() before each test, teardown() after it
 *
 * One whose tests run several times adds each with unit_add().
 */
static inline int unit_run(const char *name, SFun setup, SFun teardown, const TTest *const *tests, size_t n)
{
	Suite *suite = suite_create(name);

	for (size_t i = 0; i < n; i++) {
		TCase *tc = unit_add(suite, tests[i], 1);

		if (setup)
			tcase_add_checked_fixture(tc, setup, teardown);
	}
	return unit_end(suite);
}

#define UNIT_MAIN(name, ...) UNIT_MAIN_AROUND(name, NULL, NULL, __VA_ARGS__)
#define UNIT_MAIN_AROUND(name, setup, teardown, ...)                                                            \
	int main(void)                                                                                          \
	{                                                                                                       \
		const TTest *const unit_tests[] = { __VA_ARGS__ };                                              \
                                                                                                                \
		return unit_run(name, setup, teardown, unit_tests, sizeof(unit_tests) / sizeof(unit_tests[0])); \
	}

#endif
