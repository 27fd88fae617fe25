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

/*
 * A unit test program is a list of Check tests:
 *
 *	UNIT_MAIN("map64", test_put, test_delete)
 *	UNIT_MAIN_AROUND("view", setup, teardown, test_cpu, test_io)	setup() before each test, teardown() after it
 */
static inline int unit_run(const char *name, SFun setup, SFun teardown, const TTest *const *tests, size_t n)
{
	Suite *suite = suite_create(name);
	SRunner *runner;
	int failed;

	for (size_t i = 0; i < n; i++) {
		TCase *tc = tcase_create(tests[i]->name);

		tcase_set_timeout(tc, 300); /* also on a busy machine */
		if (setup)
			tcase_add_checked_fixture(tc, setup, teardown);
		tcase_add_test(tc, tests[i]);
		suite_add_tcase(suite, tc);
	}
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
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
