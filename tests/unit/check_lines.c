/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/lines.h"

#include <string.h>

#include "unit.h"

enum { AROUND = 1000000 };

static struct calls_lines *lines;
static unsigned freed;

static void count_freed(gpointer data)
{
	ck_assert_str_eq(data, "data");
	freed++;
}

static void setup(void)
{
	lines = lines_create(AROUND, count_freed);
	freed = 0;
}

static void teardown(void)
{
	lines_destroy(lines);
}

static void add(uint64_t at_ns, const char *text)
{
	struct calls_line line = { .at_ns = at_ns, .text = (char *)text };

	lines_add(lines, &line);
}

static void check_text(unsigned i, const char *wanted)
{
	ck_assert_str_eq(lines_at(lines, i)->text, wanted);
}

START_TEST(in_the_order_of_their_times)
{
	add(30, "c");
	add(10, "a");
	add(20, "b");
	add(20, "b, behind");
	ck_assert_uint_eq(lines_count(lines), 4);
	check_text(0, "a");
	check_text(1, "b");
	check_text(2, "b, behind");
	check_text(3, "c");
	ck_assert_uint_eq(lines_before(lines, 10), 0);
	ck_assert_uint_eq(lines_before(lines, 20), 1);
	ck_assert_uint_eq(lines_before(lines, 21), 3);
	ck_assert_uint_eq(lines_before(lines, UINT64_MAX), 4);
}
END_TEST

/*
 * If there are many, the nearest stay, in whatever order they come; dropped ones are reported and not accepted again.
 */
START_TEST(the_nearest_stay)
{
	const unsigned each = 3 * LINES_MAX;
	uint64_t first_ns, last_ns;

	for (unsigned i = 0; i < each; i++) {
		add(AROUND - 10 * each + 10 * i, "before");
		add(AROUND + 10 * i, "after");
	}
	ck_assert_uint_ge(lines_count(lines), LINES_MAX);
	ck_assert_uint_lt(lines_count(lines), LINES_MAX + LINES_MAX / 10);
	first_ns = lines_at(lines, 0)->at_ns;
	last_ns = lines_at(lines, lines_count(lines) - 1)->at_ns;
	ck_assert_uint_ge(lines_before(lines, AROUND), LINES_MAX / 2);
	ck_assert_uint_ge(lines_count(lines) - lines_before(lines, AROUND), LINES_MAX / 2);
	/* all lines kept, without gaps */
	ck_assert_uint_eq((last_ns - first_ns) / 10 + 1, lines_count(lines));
	ck_assert_uint_eq(lines->dropped_before_ns, first_ns - 9);
	ck_assert_uint_eq(lines->dropped_after_ns, last_ns + 10);
	for (unsigned i = 0; i < lines_count(lines); i++)
		ck_assert_uint_eq(lines_at(lines, i)->at_ns, first_ns + 10 * i);
	add(first_ns - 10, "too early");
	add(last_ns + 10, "too late");
	ck_assert_uint_eq(lines_at(lines, 0)->at_ns, first_ns);
	ck_assert_uint_eq(lines_at(lines, lines_count(lines) - 1)->at_ns, last_ns);
}
END_TEST

START_TEST(nothing_dropped_of_few)
{
	add(1, "a");
	add(2 * AROUND, "b");
	ck_assert_uint_eq(lines->dropped_before_ns, 0);
	ck_assert_uint_eq(lines->dropped_after_ns, UINT64_MAX);
}
END_TEST

START_TEST(texts_are_bounded)
{
	struct calls_line line = { .at_ns = 1, .name = 2, .result = 2 * LINE_BYTES_MAX, .result_end = UINT32_MAX };
	GString *text = g_string_new("x");
	const struct calls_line *known;

	/* two bytes each, so that no limit falls between them by chance */
	while (text->len < 2 * LINE_BYTES_MAX)
		g_string_append(text, "ä");
	line.text = text->str;
	lines_add(lines, &line);
	known = lines_at(lines, 0);
	ck_assert_uint_le(strlen(known->text), LINE_BYTES_MAX);
	ck_assert_uint_ge(strlen(known->text), LINE_BYTES_MAX - 8);
	ck_assert(g_utf8_validate(known->text, -1, NULL));
	ck_assert(g_str_has_suffix(known->text, "ä…"));
	ck_assert_uint_eq(known->name, 2);
	ck_assert_uint_eq(known->result, strlen(known->text));
	ck_assert_uint_eq(known->result_end, strlen(known->text));
	g_string_truncate(text, LINE_BYTES_MAX - 1);
	line.text = text->str;
	line.at_ns = 2;
	lines_add(lines, &line);
	check_text(1, text->str);
	g_string_free(text, TRUE);
}
END_TEST

/* Even if there are few. */
START_TEST(all_texts_are_bounded)
{
	char text[1000 + 1];

	memset(text, 'x', 1000);
	text[1000] = '\0';
	lines->bytes_max = 100 * 1001;
	for (unsigned i = 0; i < 1000; i++) {
		add(AROUND - 1000 + i, text);
		ck_assert_uint_le(lines_count(lines), 100);
		ck_assert_uint_eq(lines->bytes, lines_count(lines) * 1001);
		ck_assert_uint_eq(lines_at(lines, lines_count(lines) - 1)->at_ns, AROUND - 1000 + i);
	}
	ck_assert_uint_gt(lines_count(lines), 50);
	ck_assert_uint_eq(lines->dropped_before_ns, lines_at(lines, 0)->at_ns);
	/* one stays, however long it is */
	lines->bytes_max = 10;
	add(AROUND, "another one");
	ck_assert_uint_eq(lines_count(lines), 1);
	ck_assert_str_eq(lines_at(lines, 0)->text, "another one");
}
END_TEST

START_TEST(text_is_made_later)
{
	struct calls_line line = { .at_ns = 5, .tid = 7, .data = (char *)"data" };
	const struct calls_line text = {
		.text = (char *)"read(3) = -1",
		.name = 4,
		.result = 10,
		.result_end = 12,
		.failed = true,
	};

	lines_add(lines, &line);
	ck_assert_ptr_null(lines_at(lines, 0)->text);
	lines_set_text(lines, 0, &text);
	check_text(0, "read(3) = -1");
	ck_assert_uint_eq(lines_at(lines, 0)->at_ns, 5);
	ck_assert_int_eq(lines_at(lines, 0)->tid, 7);
	ck_assert(lines_at(lines, 0)->failed && lines_at(lines, 0)->result == 10);
	ck_assert_uint_eq(freed, 1);
	/* texts dropped, texts refused, and texts that remain at the end */
	for (unsigned i = 0; i < LINES_MAX; i++) {
		line.at_ns = AROUND - 1 - i;
		lines_add(lines, &line);
	}
	lines_destroy(lines);
	ck_assert_uint_eq(freed, 1 + LINES_MAX);
	lines = lines_create(AROUND, NULL);
}
END_TEST

START_TEST(searched)
{
	add(10, "openat(\"/etc/passwd\")");
	add(20, "read(3)");
	add(30, "openat(\"/etc/GROUP\")");
	ck_assert_int_eq(lines_search(lines, 0, false, "openat"), 0);
	ck_assert_int_eq(lines_search(lines, 1, false, "openat"), 2);
	ck_assert_int_eq(lines_search(lines, 3, false, "read"), 1);
	ck_assert_int_eq(lines_search(lines, 1, true, "openat"), 0);
	ck_assert_int_eq(lines_search(lines, 1, true, "group"), 2);
	ck_assert_int_eq(lines_search(lines, 0, false, "write"), -1);
	ck_assert_int_eq(line_find(lines_at(lines, 2), "group"), 13);
	ck_assert_int_eq(line_find(lines_at(lines, 1), "group"), -1);
}
END_TEST

START_TEST(nothing_to_search)
{
	ck_assert_int_eq(lines_search(lines, 0, false, "a"), -1);
	ck_assert_int_eq(lines_search(lines, 0, true, "a"), -1);
	ck_assert_uint_eq(lines_before(lines, 5), 0);
}
END_TEST

/* What was read again precedes what came by itself, and has the whole of calls that this has only the end of. */
START_TEST(joined)
{
	struct calls_lines *later = lines_create(UINT64_MAX, NULL), *all = lines_create(UINT64_MAX, NULL);
	const struct calls_line rest = { .at_ns = 35, .text = (char *)"<... poll resumed>", .is_rest = true };
	const struct calls_line late_rest = { .at_ns = 60, .text = (char *)"<... wait4 resumed>", .is_rest = true };
	struct calls_line line = { .at_ns = 40, .text = (char *)"close(3)" };

	add(10, "open(1)");
	add(20, "poll(2)");
	add(30, "close(3)");
	lines_add(later, &rest);
	lines_add(later, &line);
	lines_add(later, &late_rest);
	line.at_ns = 29;
	lines_add(later, &line);
	lines->dropped_before_ns = 5;
	lines_join(all, lines, later, 30, 50);
	ck_assert_uint_eq(lines_count(all), 4);
	ck_assert_uint_eq(lines_at(all, 0)->at_ns, 10);
	ck_assert_uint_eq(lines_at(all, 1)->at_ns, 20);
	ck_assert_uint_eq(lines_at(all, 2)->at_ns, 40);
	ck_assert_uint_eq(lines_at(all, 3)->at_ns, 60);
	ck_assert_uint_eq(lines_before(all, 30), 2);
	ck_assert_uint_eq(all->dropped_before_ns, 5);
	/* only later ones: nothing has the whole call */
	lines_join(all, NULL, later, 30, 50);
	ck_assert_uint_eq(lines_count(all), 3);
	ck_assert(lines_at(all, 0)->is_rest);
	ck_assert_uint_eq(all->dropped_before_ns, 0);
	lines_join(all, lines, NULL, UINT64_MAX, 0);
	ck_assert_uint_eq(lines_count(all), 3);
	lines_clear(all);
	ck_assert_uint_eq(lines_count(all), 0);
	lines_destroy(all);
	lines_destroy(later);
}
END_TEST

UNIT_MAIN_AROUND("lines", setup, teardown, in_the_order_of_their_times, the_nearest_stay, nothing_dropped_of_few,
		 texts_are_bounded, all_texts_are_bounded, text_is_made_later, searched, nothing_to_search, joined)
