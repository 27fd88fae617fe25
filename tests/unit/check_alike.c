/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/alike.h"

#include <string.h>

#include "model/tables.h"
#include "unit.h"

/* The same thing has another uid in each model. */
START_TEST(finds_an_irq)
{
	struct irq_row row = { .uid = 7, .soft = 1, .nr = 3, .cpu = 1 },
		       other = { .uid = 9, .soft = 1, .nr = 3, .cpu = 1 };
	const struct alike one = alike_of(TABLE_IRQ, (const uint64_t *)&row, false);
	const struct alike all = alike_of(TABLE_IRQ, (const uint64_t *)&row, true);

	ck_assert(alike_matches(&one, (const uint64_t *)&other));
	other.count = 5;
	ck_assert(alike_matches(&one, (const uint64_t *)&other));
	other.cpu = 0;
	ck_assert(!alike_matches(&one, (const uint64_t *)&other));
	ck_assert(alike_matches(&all, (const uint64_t *)&other));
	other.nr = 4;
	ck_assert(!alike_matches(&all, (const uint64_t *)&other));
	other.nr = 3;
	other.soft = 0;
	ck_assert(!alike_matches(&all, (const uint64_t *)&other));
}
END_TEST

/* The thread's uid differs, too. */
START_TEST(finds_a_call_of_any_thread)
{
	struct syscall_row row = { .uid = 1, .thread_uid = 2, .name = 30 },
			   other = { .uid = 3, .thread_uid = 4, .name = 30 };
	const struct alike call = alike_of(TABLE_SYSCALL, (const uint64_t *)&row, true);

	ck_assert(alike_matches(&call, (const uint64_t *)&other));
	other.name = 31;
	ck_assert(!alike_matches(&call, (const uint64_t *)&other));
}
END_TEST

/* Of a file that was opened before what is read, the path is not known. */
START_TEST(finds_a_wait)
{
	struct blocking_row row = { .uid = 1, .thread_uid = 2, .state = 3, .syscall = 30, .fd = 5, .object = 40 };
	struct blocking_row other = { .uid = 6, .thread_uid = 7, .state = 3, .syscall = 30, .fd = 5, .object = 40 };
	struct alike wait = alike_of(TABLE_BLOCKING, (const uint64_t *)&row, true);

	ck_assert(alike_matches(&wait, (const uint64_t *)&other));
	other.object = 0;
	ck_assert(!alike_matches(&wait, (const uint64_t *)&other));
	wait.any_unknown = true;
	ck_assert(alike_matches(&wait, (const uint64_t *)&other));
	other.object = 41;
	ck_assert(!alike_matches(&wait, (const uint64_t *)&other));
	other.object = 0;
	other.fd = 6;
	ck_assert(!alike_matches(&wait, (const uint64_t *)&other));
	other.fd = 5;
	other.state = 4;
	ck_assert(!alike_matches(&wait, (const uint64_t *)&other));
}
END_TEST

/* Every distribution that is logged is of a row that its keys tell from others. */
START_TEST(has_room_for_all_keys)
{
	for (enum table_id t = 0; t < TABLES; t++) {
		unsigned keys = 0;

		for (unsigned i = 1; i < table_descs[t].n_cells; i++)
			keys += table_descs[t].cells[i].kind == CELL_KEY &&
				(table_descs[t].cells[i].type != TYPE_NONE ||
				 strcmp(table_descs[t].cells[i].name, "state") == 0);
		ck_assert_uint_le(keys, ALIKE_CELLS);
	}
}
END_TEST

UNIT_MAIN("alike", finds_an_irq, finds_a_call_of_any_thread, finds_a_wait, has_room_for_all_keys)
