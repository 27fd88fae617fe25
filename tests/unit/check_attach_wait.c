/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which part of the wait graph the lines of attach need. */
#include "unit.h"

#include "attach/wait.h"

/* Only a call that waited needs it: other lines have no entry, whose time 0 would keep all of the graph. */
START_TEST(test_needs)
{
	struct attach_record r = { .kind = ATTACH_EXIT, .ref_ns = 9, .entry_ref_ns = 5, .has_entry = true };

	ck_assert_uint_eq(attach_wait_needs(&r), UINT64_MAX);
	r.waited = true;
	ck_assert_uint_eq(attach_wait_needs(&r), 5);
	r = (struct attach_record){ .kind = ATTACH_SIGNAL, .ref_ns = 9 };
	ck_assert_uint_eq(attach_wait_needs(&r), UINT64_MAX);
	r.kind = ATTACH_ENTRY;
	ck_assert_uint_eq(attach_wait_needs(&r), UINT64_MAX);
}
END_TEST

UNIT_MAIN("attach_wait", test_needs)
