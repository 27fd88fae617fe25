/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/mouse_report.h"

#include <glib.h>

#include "unit.h"

struct report {
	const char *text;
	enum mouse_result result; /* after the last character */
	struct mouse_action action;
};

static void check_reports(enum mouse_form form, const struct report *reports, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct mouse_action action = { 0 };
		struct mouse_report r;
		const char *c = reports[i].text;

		mouse_report_begin(&r, form);
		for (; c[1]; c++)
			ck_assert_msg(mouse_report_add(&r, (unsigned char)*c, &action) == MOUSE_MORE, "%s",
				      reports[i].text);
		ck_assert_msg(mouse_report_add(&r, (unsigned char)*c, &action) == reports[i].result, "%s",
			      reports[i].text);
		ck_assert_int_eq(r.form == MOUSE_NONE, reports[i].result != MOUSE_MORE);
		if (reports[i].result != MOUSE_ACTED)
			continue;
		ck_assert_int_eq(action.x, reports[i].action.x);
		ck_assert_int_eq(action.y, reports[i].action.y);
		ck_assert_int_eq(action.wheel, reports[i].action.wheel);
	}
}

START_TEST(test_sgr)
{
	static const struct report reports[] = {
		{ "0;1;1M", MOUSE_ACTED, { 0, 0, 0 } },     { "0;300;120M", MOUSE_ACTED, { 299, 119, 0 } },
		{ "16;7;9M", MOUSE_ACTED, { 6, 8, 0 } }, /* with Ctrl */
		{ "64;2;3M", MOUSE_ACTED, { 1, 2, -1 } },   { "65;2;3M", MOUSE_ACTED, { 1, 2, 1 } },
		{ "0;1;1m", MOUSE_IGNORED, { 0, 0, 0 } },   { "65;2;3m", MOUSE_IGNORED, { 0, 0, 0 } },
		{ "1;2;3M", MOUSE_IGNORED, { 0, 0, 0 } },   { "2;2;3M", MOUSE_IGNORED, { 0, 0, 0 } },
		{ "32;2;3M", MOUSE_IGNORED, { 0, 0, 0 } },  { "35;2;3M", MOUSE_IGNORED, { 0, 0, 0 } },
		{ "66;2;3M", MOUSE_IGNORED, { 0, 0, 0 } },  { "67;2;3M", MOUSE_IGNORED, { 0, 0, 0 } },
		{ "128;2;3M", MOUSE_IGNORED, { 0, 0, 0 } }, { "0;0;3M", MOUSE_IGNORED, { 0, 0, 0 } },
		{ "0;2;0M", MOUSE_IGNORED, { 0, 0, 0 } },   { "0;1", MOUSE_MORE, { 0, 0, 0 } },
		{ "0;1;", MOUSE_MORE, { 0, 0, 0 } },        { "M", MOUSE_BROKEN, { 0, 0, 0 } },
		{ ";", MOUSE_BROKEN, { 0, 0, 0 } },         { "0M", MOUSE_BROKEN, { 0, 0, 0 } },
		{ "0;1;1;", MOUSE_BROKEN, { 0, 0, 0 } },    { "0;1;M", MOUSE_BROKEN, { 0, 0, 0 } },
		{ "-", MOUSE_BROKEN, { 0, 0, 0 } },         { "0;1;1\033", MOUSE_BROKEN, { 0, 0, 0 } },
		{ "0;99999", MOUSE_BROKEN, { 0, 0, 0 } },   { "0;1;1q", MOUSE_BROKEN, { 0, 0, 0 } },
	};

	check_reports(MOUSE_SGR, reports, G_N_ELEMENTS(reports));
}
END_TEST

START_TEST(test_x10)
{
	static const struct report reports[] = {
		{ " !!", MOUSE_ACTED, { 0, 0, 0 } },      { " \377*", MOUSE_ACTED, { 222, 9, 0 } },
		{ "`\"#", MOUSE_ACTED, { 1, 2, -1 } },    { "a\"#", MOUSE_ACTED, { 1, 2, 1 } },
		{ "#\"#", MOUSE_IGNORED, { 0, 0, 0 } },   { "!\"#", MOUSE_IGNORED, { 0, 0, 0 } },
		{ "@\"#", MOUSE_IGNORED, { 0, 0, 0 } },   { " !", MOUSE_MORE, { 0, 0, 0 } },
		{ " \"\033", MOUSE_BROKEN, { 0, 0, 0 } },
	};

	check_reports(MOUSE_X10, reports, G_N_ELEMENTS(reports));
}
END_TEST

UNIT_MAIN("mouse_report", test_sgr, test_x10)
