/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The logs of all workers for relayds: who gets which, and how much memory each may take. */
#include "unit.h"

#include <stddef.h>
#include <unistd.h>

#include "source/recall.h"
#include "source/recall_pool.h"

enum { ALL = 8 << 20, MOST = 4 };

static uint64_t limit_of(int log)
{
	uint64_t limit;

	ck_assert_int_eq(
		pread(recall_pool_reading_fd(log), &limit, sizeof(limit), offsetof(struct recall_shared, limit)),
		sizeof(limit));
	return limit;
}

/*
 * A log of its own for each worker; the memory is shared by those that there are, however many there might be. What a
 * worker has left is there for the next one, the preferred log first.
 */
START_TEST(test_logs)
{
	int logs[MOST];

	ck_assert_int_eq(recall_pool_take(-1, MOST), -1);
	recall_pool_set_bytes(ALL);
	for (unsigned i = 0; i < MOST; i++) {
		logs[i] = recall_pool_take(-1, MOST);
		ck_assert_int_ge(logs[i], 0);
		for (unsigned k = 0; k <= i; k++) {
			ck_assert_uint_eq(limit_of(logs[k]), ALL / (i + 1));
			ck_assert(k == i || logs[k] != logs[i]);
		}
	}
	ck_assert_int_eq(recall_pool_take(-1, MOST), -1);
	recall_pool_leave(logs[1]);
	recall_pool_leave(logs[2]);
	recall_pool_leave(-1);
	ck_assert_int_eq(recall_pool_take(logs[2], MOST), logs[2]);
	/* another worker has the preferred log */
	ck_assert_int_eq(recall_pool_take(logs[2], MOST), logs[1]);
	ck_assert_uint_eq(limit_of(logs[1]), ALL / MOST);
	/* readers cannot write */
	ck_assert_int_eq(pwrite(recall_pool_reading_fd(logs[0]), logs, 1, 0), -1);
	ck_assert_int_eq(pwrite(recall_pool_writing_fd(logs[0]), logs, 1, offsetof(struct recall_shared, head)), 1);
	ck_assert_int_eq(recall_pool_writing_fd(-1), -1);
	ck_assert_int_eq(recall_pool_reading_fd(-1), -1);
}
END_TEST

START_TEST(test_homes)
{
	ck_assert_int_eq(recall_pool_home(7), -1);
	recall_pool_set_home(7, -1);
	ck_assert_int_eq(recall_pool_home(7), -1);
	recall_pool_set_home(7, 0);
	recall_pool_set_home(8, 3);
	ck_assert_int_eq(recall_pool_home(7), 0);
	ck_assert_int_eq(recall_pool_home(8), 3);
	recall_pool_set_home(7, 2);
	ck_assert_int_eq(recall_pool_home(7), 2);
	recall_pool_forget_home(7);
	recall_pool_forget_home(9);
	ck_assert_int_eq(recall_pool_home(7), -1);
	ck_assert_int_eq(recall_pool_home(8), 3);
}
END_TEST

UNIT_MAIN("recall_pool", test_logs, test_homes)
