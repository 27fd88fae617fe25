/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filters that people may type: random expressions obey the rules of sets; anything that cannot be parsed is refused
 * with its position, and leaves the filter unchanged. FUZZ_SEED=N runs another seed, FUZZ_CASES=N more cases.
 */
#include "views.h"

#include <stdio.h>

#include "base/error.h"
#include "view/unknown.h"

enum { CASES = 1500, THREADS = 60, DEPTH_MAX = 4 };

static void some_threads(GRand *rand)
{
	static const char *const names[] = { "nginx", "postgres", "kworker/0:1", "a b", "(sd-pam)", "x|y" };

	begin();
	for (int i = 0; i < THREADS; i++) {
		struct thread_row *t = add_thread(i % 2, 1 + i / 2, 1 + i / 6, 0, names[i % G_N_ELEMENTS(names)]);

		t->switches = (uint64_t)g_rand_int_range(rand, 1, 5);
		t->cpu_ns = (uint64_t)g_rand_int_range(rand, 0, 10) * MS;
		t->state = (uint64_t)g_rand_int_range(rand, 0, THREAD_STATES);
	}
	end();
}

/* The number of rows of the table cpu that match the text. */
static unsigned count(const char *text)
{
	struct view_query q = query("cpu");
	struct view_filter filter;

	view_filter_init(&filter);
	ck_assert_msg(view_filter_parse(&filter, text, q.table) == LT_OK, "'%s': %s", text, error_text());
	q.filter = &filter;
	q.all = true;
	build(&q);
	view_filter_release(&filter);
	return rows.n;
}

/* ---- rules of sets ---- */

/* Terms that apply to every thread, so that each decides about every row. */
static void put_term(GString *text, GRand *rand)
{
	switch (g_rand_int_range(rand, 0, 8)) {
	case 0:
		g_string_append_printf(text, "tid:%d", g_rand_int_range(rand, 0, 35));
		break;
	case 1:
		g_string_append_printf(text, "pid:%d", g_rand_int_range(rand, 0, 12));
		break;
	case 2:
		g_string_append(text, "comm:\"a b\"");
		break;
	case 3:
		g_string_append(text, "comm:(sd-pam)");
		break;
	case 4:
		g_string_append_printf(text, "switches>=%d", g_rand_int_range(rand, 0, 6));
		break;
	case 5:
		g_string_append_printf(text, "cpu<%dms", g_rand_int_range(rand, 0, 11));
		break;
	case 6:
		g_string_append(text, g_rand_boolean(rand) ? "host:web" : "host:d*");
		break;
	default:
		g_string_append(text, g_rand_boolean(rand) ? "state:running" : "\"x|y\"");
	}
}

static void put_expression(GString *text, GRand *rand, unsigned depth)
{
	static const char *const joins[] = { " ", " | ", "|", "  " };
	const int n = g_rand_int_range(rand, 1, 4);

	for (int i = 0; i < n; i++) {
		if (i)
			g_string_append(text, joins[g_rand_int_range(rand, 0, G_N_ELEMENTS(joins))]);
		if (g_rand_int_range(rand, 0, 3) == 0)
			g_string_append(text, g_rand_boolean(rand) ? "!" : "! ");
		if (depth < DEPTH_MAX && g_rand_int_range(rand, 0, 3) == 0) {
			g_string_append_c(text, '(');
			put_expression(text, rand, depth + 1);
			g_string_append_c(text, ')');
		} else {
			put_term(text, rand);
		}
	}
}

static char *expression(GRand *rand)
{
	GString *text = g_string_new(NULL);

	put_expression(text, rand, 0);
	return g_string_free(text, FALSE);
}

static unsigned count_of(const char *format, const char *a, const char *b)
{
	GString *text = g_string_new(NULL);
	unsigned n;

	for (const char *p = format; *p; p++) {
		if (*p == 'A')
			g_string_append_printf(text, "(%s)", a);
		else if (*p == 'B')
			g_string_append_printf(text, "(%s)", b);
		else
			g_string_append_c(text, *p);
	}
	n = count(text->str);
	g_string_free(text, TRUE);
	return n;
}

static guint32 wanted_seed(void)
{
	const char *text = g_getenv("FUZZ_SEED");

	return text ? (guint32)g_ascii_strtoull(text, NULL, 10) : 1;
}

static unsigned wanted_cases(unsigned share)
{
	const char *text = g_getenv("FUZZ_CASES");

	return (unsigned)(text ? g_ascii_strtoull(text, NULL, 10) : CASES) / share;
}

START_TEST(test_rules)
{
	GRand *rand = g_rand_new_with_seed(wanted_seed());
	unsigned some = 0;

	some_threads(rand);
	for (unsigned i = 0; i < wanted_cases(5); i++) {
		char *a = expression(rand), *b = expression(rand);
		const unsigned in_a = count_of("A", a, b), in_b = count_of("B", a, b), both = count_of("A B", a, b);

		ck_assert_msg(in_a + count_of("!A", a, b) == THREADS, "not: %s", a);
		ck_assert_msg(count_of("!!A", a, b) == in_a, "not not: %s", a);
		ck_assert_msg(in_a + in_b - both == count_of("A | B", a, b), "or: %s / %s", a, b);
		ck_assert_msg(count_of("!A !B", a, b) == count_of("!(A | B)", a, b), "neither: %s / %s", a, b);
		ck_assert_msg(count_of("A B | A !B", a, b) == in_a, "side by side binds closer: %s / %s", a, b);
		some += in_a > 0 && in_a < THREADS;
		g_free(a);
		g_free(b);
	}
	/* most have an effect */
	ck_assert_uint_gt(some, wanted_cases(5) / 4);
	g_rand_free(rand);
}
END_TEST

/* ---- arbitrary text ---- */

static const char *const pieces[] = {
	"host:",  "pid:",   "tree:", "user:",     "container:", "state:",     "call:", "file:", "peer:",
	"bogus:", "cpu_ns", "born",  "exited_ns", "dev",        "kind",       ">",     "<",     "=",
	"!=",     "<=",     ">=",    "5",         "-5",         "5ms",        "1e308", "1e999", "9223372036854775808",
	"8:0",    "+3s",    "-3s",   "@1.5",      "12:00:00",   "2026-11-20", "k",     "M",     "%",
	"*",      "[",      "]",     "?",         "/",          "(",          ")",     "|",     "!",
	"\"",     " ",      "\t",    "\xc3\xa4",  "\xff",       "yes",        "no",
};

static char *anything(GRand *rand)
{
	GString *text = g_string_new(NULL);
	const int n = g_rand_int_range(rand, 0, 14);

	for (int i = 0; i < n; i++) {
		if (g_rand_int_range(rand, 0, 20))
			g_string_append(text, pieces[g_rand_int_range(rand, 0, G_N_ELEMENTS(pieces))]);
		else
			g_string_append_c(text, (char)g_rand_int_range(rand, 1, 256));
	}
	return g_string_free(text, FALSE);
}

/* To any table: a filter stays when the pane changes. */
static void apply(const struct view_filter *filter)
{
	static const char *const tables[] = { "cpu", "files", "disks", "hosts", "relations", "syscalls", "blocking" };

	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
		struct view_query q = query(tables[i]);

		q.filter = filter;
		q.all = true;
		build(&q);
	}
}

START_TEST(test_anything)
{
	GRand *rand = g_rand_new_with_seed(wanted_seed());
	unsigned taken = 0, refused = 0;

	some_threads(rand);
	for (unsigned i = 0; i < wanted_cases(1); i++) {
		char *text = anything(rand);
		struct view_filter filter;
		long column = 0;

		view_filter_init(&filter);
		ck_assert_int_eq(view_filter_parse(&filter, "host:web", NULL), LT_OK);
		if (view_filter_parse(&filter, text, NULL) == LT_OK) {
			taken++;
			apply(&filter);
		} else {
			refused++;
			ck_assert_msg(sscanf(error_text(), "column %ld: ", &column) == 1, "%s: %s", text, error_text());
			ck_assert_msg(column >= 1 && column <= (long)strlen(text) + 1, "%s: %s", text, error_text());
			error_clear();
			ck_assert_uint_eq(filter.n_terms, 1);
			ck_assert_uint_eq(filter.root->parts->len, 1);
			ck_assert_uint_eq(filter.facts, 1u << VIEW_FACT_HOST);
		}
		view_filter_release(&filter);
		g_free(text);
	}
	ck_assert_uint_gt(taken, wanted_cases(1) / 20);
	ck_assert_uint_gt(refused, wanted_cases(1) / 20);
	g_rand_free(rand);
}
END_TEST

/* Words that join terms elsewhere are text where they cannot be meant to join any. */
START_TEST(test_text_like_operators)
{
	static const char *const texts[] = { "and",      "or",   "not",       "&",     "b | or",     "(b and) b",
					     "b or | x", "or b", "b order b", "b o b", "b \"or\" b", "android and" };

	begin();
	add_thread(0, 1, 1, 0, "android & not order b");
	end();
	for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++)
		ck_assert_msg(count(texts[i]) == 1, "%s", texts[i]);
	/* names with a colon that are not columns */
	ck_assert_uint_eq(count("npm_run:dev"), 0);
	ck_assert_uint_eq(count("comm==android*"), 1);
	ck_assert_uint_eq(count("tid==1"), 1);
	ck_assert_uint_eq(count("tid==2"), 0);
}
END_TEST

/* Text that means just itself, whatever it contains. */
START_TEST(test_text_of_names)
{
	static const char *const names[] = { "a*", "a?", "a[b]", "a\\b", "a b", "a|b", "(a)", "a" };
	GString *text = g_string_new(NULL);

	begin();
	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
		add_thread(0, 1 + (int)i, 1 + (int)i, 0, names[i]);
	end();
	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
		g_string_assign(text, "comm==");
		ck_assert_int_eq(filter_put_text(text, names[i], true), LT_OK);
		ck_assert_msg(count(text->str) == 1, "%s", text->str);
	}
	ck_assert_int_eq(filter_put_text(text, "", true), LT_ERROR);
	ck_assert_int_eq(filter_put_text(text, "a\"", true), LT_ERROR);
	g_string_free(text, TRUE);
}
END_TEST

/* A call's name that no row can have: neither known, nor in any trace that was read. */
START_TEST(test_unknown_calls)
{
	static const struct {
		const char *text, *unknown;
	} cases[] = {
		{ "call:read", NULL },
		{ "call:stat | call:newstat", NULL },
		{ "call:ia32_pread64", NULL },
		{ "call:raed", "unknown system call 'raed': did you mean 'read'?" },
		{ "comm:raed", NULL },
		{ "call:raed*", NULL },
		{ "comm:a | !(tid:1 call:opne) call:raed", "unknown system call 'opne': did you mean 'open'?" },
		{ "call:new_in_linux_9", "unknown system call 'new_in_linux_9'" },
		{ "call:new_in_linux_8", NULL },
	};
	struct view_filter filter;
	char *unknown;

	strpool_intern_z("new_in_linux_8");
	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		view_filter_init(&filter);
		ck_assert_int_eq(view_filter_parse(&filter, cases[i].text, NULL), LT_OK);
		unknown = view_unknown_call(&filter);
		ck_assert_pstr_eq(unknown, cases[i].unknown);
		g_free(unknown);
		view_filter_release(&filter);
	}
}
END_TEST

UNIT_MAIN_AROUND("view filter", setup, teardown, test_rules, test_anything, test_text_like_operators,
		 test_text_of_names, test_unknown_calls)
