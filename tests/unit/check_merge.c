/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several sources as one stream: order, equal times, ends, sources that have nothing yet or are not waited for. */
#include "merge/merge.h"

#include <glib.h>
#include <string.h>

#include "unit.h"

enum { SOURCES = 3, BATCH = 8, STEPS = 100 };

/*
 * What a source will deliver: times, "10/2" on CPU 2, "w" a record that only says which fields follow. "|": the next
 * records come later. ".": there is nothing yet, until the merge has said that it waits. "!": it breaks off. Else it
 * ends after the last one.
 */
struct source {
	const char *script; /* NULL: it must not be asked */
	struct event records[BATCH];
};

static struct source sources[SOURCES];
static unsigned n_sources;
static struct merge *m;
static GString *seen;
static bool in_runs; /* take the records up to until_ns at once, instead of each alone */

/* In place of the one in source/. */
enum lt_status source_take(struct source *s, const struct event **ev, const struct event **end)
{
	unsigned n = 0;

	ck_assert_msg(s->script != NULL, "asked after its end");
	*ev = s->records; /* anything, unless it returns LT_OK */
	s->script += strspn(s->script, " |");
	if (!*s->script || *s->script == '!')
		return *s->script ? LT_ERROR : LT_END;
	if (*s->script == '.')
		return LT_AGAIN;
	for (; *s->script && !strchr("|.!", *s->script); s->script += strspn(s->script, " ")) {
		struct event *to = &s->records[n];
		char *rest = (char *)s->script + 1;

		ck_assert_uint_lt(n++, BATCH);
		*to = (struct event){ .size = sizeof(*to), .kind = EVENT_WANTED };
		if (*s->script != 'w') {
			to->kind = EVENT_OTHER;
			to->ts_ns = g_ascii_strtoull(s->script, &rest, 10);
		}
		if (*rest == '/')
			to->cpu = (uint16_t)g_ascii_strtoull(rest + 1, &rest, 10);
		s->script = rest;
	}
	*end = s->records + n;
	return LT_OK;
}

static void take_run(const struct merge_run *run)
{
	const struct event *ev = run->ev;

	do {
		g_string_append_printf(seen, "%c", 'a' + (int)run->number);
		if (ev->kind == EVENT_WANTED)
			g_string_append(seen, "w ");
		else
			g_string_append_printf(seen, "%" G_GUINT64_FORMAT " ", ev->ts_ns);
		ev = event_next(ev);
	} while (in_runs && ev != run->end && ev->ts_ns < run->until_ns);
	merge_pop(m, ev);
}

static void wait_for_sources(void)
{
	g_string_append(seen, "wait ");
	for (unsigned i = 0; i < n_sources; i++)
		if (sources[i].script && *sources[i].script == '.')
			sources[i].script++;
}

/* false: all have ended. */
static bool step(void)
{
	struct merge_run run = { 0 };
	const enum lt_status status = merge_peek(m, &run);

	switch (status) {
	case LT_OK:
		take_run(&run);
		return true;
	case LT_AGAIN:
		wait_for_sources();
		return true;
	default:
		if (run.number == MERGE_NONE) {
			ck_assert_int_eq(status, LT_END);
			return false;
		}
		ck_assert_uint_lt(run.number, n_sources);
		sources[run.number].script = NULL;
		g_string_append_printf(seen, "%s%c ", status == LT_END ? "end:" : "broken:", 'a' + (int)run.number);
		return true;
	}
}

static void add(const char *script)
{
	sources[n_sources].script = script;
	ck_assert_uint_eq(merge_add(m, &sources[n_sources]), n_sources);
	n_sources++;
}

static void begin(bool runs, const char *a, const char *b, const char *c)
{
	const char *const scripts[] = { a, b, c };

	in_runs = runs;
	n_sources = 0;
	m = merge_create();
	seen = g_string_new(NULL);
	for (unsigned i = 0; i < G_N_ELEMENTS(scripts) && scripts[i]; i++)
		add(scripts[i]);
}

/* After a number of steps; wanted: what came in them. */
static void expect_steps(unsigned steps, const char *wanted)
{
	while (steps--)
		ck_assert(step());
	ck_assert_str_eq(g_strchomp(seen->str), wanted);
	g_string_truncate(seen, 0);
}

/* Up to the end of all; wanted: what came until then. */
static void finish(const char *wanted)
{
	for (unsigned i = 0; step(); i++)
		ck_assert_msg(i < STEPS, "it does not end: %s", seen->str);
	ck_assert_str_eq(g_strchomp(seen->str), wanted);
	g_string_free(seen, TRUE);
	merge_destroy(m);
}

/* The records of up to three sources, NULL: there is none. Whether they are taken one by one does not matter. */
static void check_merged(const char *a, const char *b, const char *c, const char *wanted)
{
	for (int runs = 0; runs < 2; runs++) {
		begin(runs, a, b, c);
		finish(wanted);
	}
}

START_TEST(test_order)
{
	check_merged(NULL, NULL, NULL, "");
	check_merged("10 20", NULL, NULL, "a10 a20 end:a");
	check_merged("10 40 50", "20 60", "30 70", "a10 b20 c30 a40 a50 end:a b60 end:b c70 end:c");
	check_merged("30 70", "20 60", "10 40 50", "c10 b20 a30 c40 c50 end:c b60 end:b a70 end:a");
	/* the earliest of the others is not the first of them */
	check_merged("10 20 30", "35 40", "25", "a10 a20 c25 end:c a30 end:a b35 b40 end:b");
	check_merged("10 20 30", "25", "35 40", "a10 a20 b25 end:b a30 end:a c35 c40 end:c");
	/* the earliest comes after one that was the earliest until then */
	check_merged("20", "10 30", NULL, "b10 a20 end:a b30 end:b");
	check_merged("20", "30", "10 25", "c10 a20 end:a c25 end:c b30 end:b");
	/* in pieces */
	check_merged("10 | 20 | 50", "30 | 40", NULL, "a10 a20 b30 b40 end:b a50 end:a");
	/* without a time: at once */
	check_merged("10 20", "0 0 15", NULL, "b0 b0 a10 b15 end:b a20 end:a");
	/* its own records do not overtake each other */
	check_merged("10 5 20", "7 12", NULL, "b7 a10 a5 b12 end:b a20 end:a");
}
END_TEST

/* The run says which of its records come before those of all others. */
START_TEST(test_until)
{
	struct merge_run run;

	begin(true, "10 20 30", "25 40", "35");
	ck_assert_int_eq(merge_peek(m, &run), LT_OK);
	ck_assert_uint_eq(run.until_ns, 25);
	ck_assert_ptr_eq(run.ev, sources[0].records);
	ck_assert_ptr_eq(run.end, sources[0].records + 3);
	finish("a10 a20 b25 a30 end:a c35 end:c b40 end:b");

	begin(true, "10 20", NULL, NULL);
	ck_assert_int_eq(merge_peek(m, &run), LT_OK);
	ck_assert_uint_eq(run.until_ns, UINT64_MAX);
	finish("a10 a20 end:a");

	/* one that is not waited for may deliver something at any time */
	begin(true, "10 20", ".", NULL);
	merge_leave_out(m, 1);
	ck_assert_int_eq(merge_peek(m, &run), LT_OK);
	ck_assert_uint_eq(run.until_ns, 0);
	finish("a10 a20 end:a wait end:b");
}
END_TEST

/* By CPU, however the CPUs are divided among the sources. */
START_TEST(test_equal_times)
{
	check_merged("10/1", "10/0", NULL, "b10 end:b a10 end:a");
	check_merged("10/0", "10/1", NULL, "a10 end:a b10 end:b");
	check_merged("10/2", "10/1", "10/0", "c10 end:c b10 end:b a10 end:a");
	check_merged("10/0 20/1", "20/0", NULL, "a10 b20 end:b a20 end:a");
	check_merged("10/0 20/0", "20/1", NULL, "a10 a20 end:a b20 end:b");
	/* only at equal times */
	check_merged("10/1", "20/0", NULL, "a10 end:a b20 end:b");
	/* of one CPU: in the order of the sources */
	check_merged("10", "10", "10", "a10 end:a b10 end:b c10 end:c");
}
END_TEST

START_TEST(test_nothing_yet)
{
	check_merged("10 20", ". 15", NULL, "wait a10 b15 end:b a20 end:a");
	check_merged("10 20", "5 . 15", NULL, "b5 wait a10 b15 end:b a20 end:a");
	check_merged("10 . 20", "15", NULL, "a10 wait b15 end:b a20 end:a");
	check_merged(". 20", ". 10", NULL, "wait b10 end:b a20 end:a");
	/* all are asked, also if one is known to have nothing */
	check_merged(". 20", "!", "10", "broken:b wait c10 end:c a20 end:a");
}
END_TEST

START_TEST(test_end)
{
	check_merged("", "10 20", NULL, "end:a b10 b20 end:b");
	check_merged("10 20", "", "", "end:b end:c a10 a20 end:a");
	check_merged("10 !", "20", NULL, "a10 broken:a b20 end:b");
	check_merged("10 20", "5 15 !", NULL, "b5 a10 b15 broken:b a20 end:a");
	check_merged("10 . !", "20", NULL, "a10 wait broken:a b20 end:b");
}
END_TEST

/* One that comes later may have the next record. */
START_TEST(test_added)
{
	begin(false, "10 30", "40", NULL);
	expect_steps(1, "a10");
	add("20 50");
	finish("c20 a30 end:a b40 end:b c50 end:c");
}
END_TEST

START_TEST(test_replaced)
{
	begin(false, "10 30", "5", NULL);
	expect_steps(3, "b5 end:b a10");
	sources[1].script = "20 50";
	merge_replace(m, 1, &sources[1]);
	finish("b20 a30 end:a b50 end:b");

	/* its unread records are gone, and it is not asked any more */
	begin(false, "10 30", "20", NULL);
	expect_steps(1, "a10");
	sources[1].script = NULL;
	merge_replace(m, 1, NULL);
	ck_assert(merge_hears(m, 1));
	finish("a30 end:a");
}
END_TEST

/* Sources that have ended need no place for ever. */
START_TEST(test_removed)
{
	begin(false, "10 30", "5", NULL);
	expect_steps(3, "b5 end:b a10");
	merge_remove(m, 1);
	sources[1].script = "20 50";
	ck_assert_uint_eq(merge_add(m, &sources[1]), 1);
	finish("b20 a30 end:a b50 end:b");
}
END_TEST

/* The others go on; it comes in again as soon as it delivers something, and is waited for again. */
START_TEST(test_left_out)
{
	begin(false, "10 20 30 40 50", ".", NULL);
	merge_leave_out(m, 1);
	expect_steps(2, "a10 a20");
	sources[1].script = "15 25 .35";
	expect_steps(6, "b15 b25 wait a30 b35 end:b");
	finish("a40 a50 end:a");

	/* also if it delivers at once */
	begin(false, "10 | 20 . 40", "30 50", NULL);
	expect_steps(1, "a10");
	merge_leave_out(m, 0);
	finish("a20 wait b30 a40 end:a b50 end:b");

	/* that it will send other fields is nothing yet */
	begin(false, "10 20 30", ".", NULL);
	merge_leave_out(m, 1);
	expect_steps(1, "a10");
	sources[1].script = "w . 25";
	expect_steps(3, "bw a20 a30");
	finish("end:a wait b25 end:b");

	/* the others are waited for */
	begin(false, ". 30", "..", "20");
	merge_leave_out(m, 1);
	finish("wait c20 end:c a30 end:a wait end:b");

	/* if all are, the first to deliver something */
	begin(false, ". 10", ". 20", NULL);
	merge_leave_out(m, 0);
	merge_leave_out(m, 1);
	finish("wait a10 end:a b20 end:b");
}
END_TEST

START_TEST(test_hears)
{
	begin(false, "10 | 20", ". w | w 30 .", NULL);
	ck_assert(!merge_hears(m, 0));
	ck_assert(!merge_hears(m, 1));
	expect_steps(1, "wait");
	/* it has records left */
	ck_assert(merge_hears(m, 0));
	ck_assert(merge_hears(m, 0));
	expect_steps(3, "bw bw a10");
	ck_assert(!merge_hears(m, 0));
	/* it had some since the last question */
	expect_steps(1, "a20");
	ck_assert(merge_hears(m, 0));
	ck_assert(!merge_hears(m, 0));
	/* it has ended */
	expect_steps(3, "end:a b30 wait");
	ck_assert(merge_hears(m, 0));
	ck_assert(merge_hears(m, 0));
	ck_assert(merge_hears(m, 1));
	ck_assert(!merge_hears(m, 1));
	finish("end:b");

	/* only "w" */
	begin(false, ". w", NULL, NULL);
	expect_steps(2, "wait aw");
	ck_assert(!merge_hears(m, 0));
	finish("end:a");
}
END_TEST

UNIT_MAIN("merge", test_order, test_until, test_equal_times, test_nothing_yet, test_end, test_added, test_replaced,
	  test_removed, test_left_out, test_hears)
