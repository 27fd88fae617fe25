/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which calls, and which threads, attach prints: -e, -P and -p. */
#include "unit.h"

#include <stdbool.h>
#include <string.h>

#include "attach/calls.h"
#include "attach/filter.h"
#include "attach/select.h"
#include "base/error.h"

static bool takes(struct attach_filter *f, const char *name)
{
	return attach_filter_call(f, name, calls_find(name));
}

START_TEST(test_filter)
{
	static const char *const wrong[] = {
		"trace=opne",           "%nothing", "trace=/(", "status=fine", "inject=all", "read=3", "size=3",
		"trace=a,,b",           "",         "status=",  "trace=402",   "0-3",        "0x1",    "-1",
		"99999999999999999999",
	};
	struct attach_filter f;

	attach_filter_init(&f);
	ck_assert(takes(&f, "read") && attach_filter_call(&f, "newer", NULL));
	ck_assert_int_eq(attach_filter_add(&f, "trace=read,stat,?newer,%network"), LT_OK);
	ck_assert(takes(&f, "read") && takes(&f, "newstat") && takes(&f, "connect") && !takes(&f, "write"));
	ck_assert(attach_filter_call(&f, "newer", NULL));
	ck_assert_int_eq(attach_filter_add(&f, "!file"), LT_OK);
	ck_assert(takes(&f, "read") && !takes(&f, "openat"));
	/* strace's numbers are the machine's; here they are x86-64's: 5 is fstat, 166 umount2, 1 write, 402 unused */
	ck_assert_int_eq(attach_filter_add(&f, "5,166,?402,?99999999999999999999"), LT_OK);
	ck_assert(takes(&f, "newfstat") && takes(&f, "umount") && !takes(&f, "newstat") && !takes(&f, "read"));
	ck_assert_int_eq(attach_filter_add(&f, "trace=!1"), LT_OK);
	ck_assert(takes(&f, "read") && !takes(&f, "write"));
	ck_assert_int_eq(attach_filter_add(&f, "/^(read|fstat)$"), LT_OK);
	ck_assert(takes(&f, "read") && takes(&f, "newfstat") && !takes(&f, "readv"));
	ck_assert_int_eq(attach_filter_add(&f, "/^open,/^clo,write"), LT_OK);
	ck_assert(takes(&f, "openat") && takes(&f, "close") && takes(&f, "write") && !takes(&f, "read"));
	ck_assert_int_eq(attach_filter_add(&f, "trace=none"), LT_OK);
	ck_assert(!takes(&f, "read"));
	ck_assert_int_eq(attach_filter_add(&f, "t=%%stat"), LT_OK);
	ck_assert(takes(&f, "newstat") && takes(&f, "newlstat") && takes(&f, "newfstat") && !takes(&f, "statfs"));
	ck_assert_int_eq(attach_filter_add(&f, "t=%%statfs"), LT_OK);
	ck_assert(takes(&f, "statfs") && takes(&f, "fstatfs") && takes(&f, "ustat") && !takes(&f, "newstat"));
	ck_assert_int_eq(attach_filter_add(&f, "t=%statfs,%fstatfs"), LT_OK);
	ck_assert(takes(&f, "statfs") && takes(&f, "fstatfs") && !takes(&f, "ustat"));
	ck_assert_int_eq(attach_filter_add(&f, "status=!failed"), LT_OK);
	ck_assert_uint_eq(f.statuses, (unsigned)CALL_ANY & ~(unsigned)CALL_FAILED);
	attach_filter_add_path(&f, "/etc/*");
	ck_assert(attach_filter_path(&f, "/etc/passwd") && !attach_filter_path(&f, "/usr"));
	for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++) {
		ck_assert_msg(attach_filter_add(&f, wrong[i]) == LT_ERROR, "'%s'", wrong[i]);
		error_clear();
	}
	attach_filter_release(&f);
}
END_TEST

/* All of strace's names of an expression get the same reason. */
START_TEST(test_refused)
{
	static const struct {
		const char *expression, *why;
	} cases[] = {
		{ "r=3", "contents of buffers" },
		{ "reads=3", "contents of buffers" },
		{ "w=all", "contents of buffers" },
		{ "a=none", "as recorded" },
		{ "v=all", "as recorded" },
		{ "x=read", "report dump" },
		{ "s=none", "signals cannot be selected" },
		{ "q=exit", "use -q" },
		{ "silent=all", "use -q" },
		{ "decode-fd=path", "use -y" },
		{ "decode-pids=comm", "use -Y" },
		{ "decode-pid=comm", "use -Y" },
		{ "trace=read@64", "omit '@64'" },
	};
	struct attach_filter f;

	attach_filter_init(&f);
	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		ck_assert_int_eq(attach_filter_add(&f, cases[i].expression), LT_ERROR);
		ck_assert_msg(strstr(error_text(), cases[i].why) != NULL, "'%s': %s", cases[i].expression,
			      error_text());
		error_clear();
	}
	attach_filter_release(&f);
}
END_TEST

START_TEST(test_select)
{
	static const char *const wrong[] = { "", "x", ":5", "web:", "0", "-1", "99999999999", "1,x", "," };
	struct attach_select s;

	attach_select_init(&s);
	ck_assert_int_eq(attach_select_add(&s, "web#2:812"), LT_OK);
	ck_assert_str_eq(g_array_index(s.targets, struct select_target, 0).host, "web#2");
	ck_assert_int_eq(g_array_index(s.targets, struct select_target, 0).tid, 812);
	ck_assert(attach_select_is_one(&s));
	for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++) {
		ck_assert_msg(attach_select_add(&s, wrong[i]) == LT_ERROR, "'%s'", wrong[i]);
		error_clear();
	}
	ck_assert_int_eq(attach_select_add(&s, "5,db:6 7"), LT_OK);
	ck_assert_uint_eq(s.targets->len, 4);
	ck_assert_str_eq(g_array_index(s.targets, struct select_target, 2).host, "db");
	ck_assert_int_eq(g_array_index(s.targets, struct select_target, 3).tid, 7);
	ck_assert(!attach_select_is_one(&s));
	g_array_set_size(s.targets, 1);
	s.children = true;
	ck_assert(!attach_select_is_one(&s));
	attach_select_release(&s);
}
END_TEST

UNIT_MAIN("attach choice", test_filter, test_refused, test_select)
