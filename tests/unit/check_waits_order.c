/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From wait events to the graph: lost events, and the order of hosts and times. */
#include "waits_events.h"

/* ---- lost events ---- */

START_TEST(test_lost_events)
{
	struct wait_event *e;
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 7, 1, 8);
	switched(&t, 0, 10, 1, 5, 1, 6);
	woken(&t, 0, 40, 0, 3);
	add(&t, 0, 50, WAIT_EVENT_INTERRUPT, 0);
	e = woken(&t, 0, 60, 0, 7); /* by the thread that runs there now */
	e->from_tid = 9;
	woken(&t, 0, 65, 1, 5); /* this CPU lost no events */
	switched(&t, 0, 70, 0, 9, 1, 7);
	switched(&t, 0, 80, 1, 6, 1, 8);
	finish(&t, 1);
	check(&t, 0, 7, "10 ? 50 B<9@60 60 P 70"); /* certainly blocked since the end of the loss */
	check(&t, 0, 9, "60 R 70");
	check(&t, 0, 6, "10 R 80");
	check(&t, 0, 5, "10 ? 50 B<6@65 65");
	check(&t, 0, 8, "10 R 40 ? 50 P 80"); /* before the loss, it ran when it woke a thread */
	end(&t);
}
END_TEST

START_TEST(test_host_was_away)
{
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 7, 1, 8);
	add(&t, 0, 50, WAIT_EVENT_INTERRUPT, WAIT_ALL_CPUS);
	switched(&t, 0, 70, 0, 8, 1, 7);
	finish(&t, 1);
	check(&t, 0, 7, "10 ? 50 P 70");
	check(&t, 0, 8, "10 ? 50 R 70");
	end(&t);
}
END_TEST

/* Asserts the path of thread tid up to 100 as text, "10 R 20 ? 100"; its totals are the same. */
static void check_path(const struct test *t, int tid, const char *want)
{
	const wait_row row = waits_find(t->w, 0, tid, UINT64_MAX);
	struct wait_totals totals, sums = { 0 };
	GString *got = g_string_new(NULL);
	struct wait_path path;

	wait_path_init(&path);
	waits_path(t->w, row, 0, 100, &path);
	waits_totals(t->w, row, 0, 100, &totals);
	g_string_append_printf(got, "%" PRIu64, path.begin_ns);
	for (uint32_t i = 0; i < path.n; i++) {
		const struct wait_segment *s = &path.segments[i];

		ck_assert_uint_eq(s->row, row);
		g_string_append_printf(got, " %c %" PRIu64, letters[s->state], s->end_ns);
		wait_totals_add(&sums, row, s);
	}
	ck_assert_str_eq(got->str, want);
	ck_assert_mem_eq(&sums, &totals, sizeof(sums));
	g_string_free(got, TRUE);
	wait_path_release(&path);
}

/* What a thread did when events were lost is unknown until it is seen again, even if that is never. */
START_TEST(test_never_seen_again)
{
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 3, 1, 4);
	switched(&t, 0, 10, 1, 5, 1, 6);
	switched(&t, 0, 10, 2, 1, 1, 9);
	switched(&t, 0, 12, 0, 4, 0, 7);
	woken(&t, 0, 20, 0, 3); /* by 7, which still runs */
	add(&t, 0, 25, WAIT_EVENT_EXIT, 2)->tid = 9;
	add(&t, 0, 30, WAIT_EVENT_INTERRUPT, 0);
	add(&t, 0, 40, WAIT_EVENT_INTERRUPT, 0);
	woken(&t, 0, 60, 0, 1)->from_tid = 8; /* this one shows what it runs since then */
	add(&t, 0, 100, WAIT_EVENT_NET_SOFTIRQ, 1);
	finish(&t, 1);
	check_path(&t, 7, "12 R 20 ? 100");
	check_path(&t, 4, "10 R 12 ? 100");
	check_path(&t, 5, "10 ? 100");
	check_path(&t, 6, "10 R 100"); /* this CPU lost no events */
	check_path(&t, 9, "10 R 25");
	end(&t);
}
END_TEST

/* A thread that the context of an event shows after a loss runs from there on, not only until it has a vertex. */
START_TEST(test_seen_by_its_context)
{
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 5, 1, 7);
	switched(&t, 0, 20, 0, 7, 0, 6);
	add(&t, 0, 30, WAIT_EVENT_INTERRUPT, 0);
	woken(&t, 0, 60, 0, 5)->from_tid = 7;
	add(&t, 0, 100, WAIT_EVENT_NET_SOFTIRQ, 1);
	finish(&t, 1);
	check_path(&t, 7, "10 R 20 ? 30 R 100");
	end(&t);
}
END_TEST

/* ---- the order of events ---- */

/* Hosts wait for each other up to the lowest watermark, in reference time. */
START_TEST(test_order_of_hosts)
{
	const struct waits_options options = { 0 };
	struct wait_event *e;
	struct test t = { 0 };

	t.w = waits_create(&options);
	t.map[1] = clock_map_create();
	clock_map_add(t.map[1], 1000, 15, 0.0); /* its clock is 985 ahead */
	for (unsigned h = 0; h < 2; h++) {
		wait_log_init(&t.log[h]);
		waits_add_host(t.w, t.map[h]);
	}
	switched(&t, 0, 10, 0, 7, 1, 8);
	switched(&t, 0, 30, 0, 8, 1, 7);
	e = add(&t, 1, 1003, WAIT_EVENT_RUNS, 0);
	e->tid = 3;
	e->since_ns = 1001;
	switched(&t, 1, 1005, 0, 3, 1, 4);
	take(&t, 0, 40);
	waits_run(t.w);
	ck_assert_uint_eq(waits_now(t.w), 0); /* it is not known how far the other host is */
	take(&t, 1, 1010);
	waits_run(t.w);
	ck_assert_uint_eq(waits_now(t.w), 25);
	ck_assert_uint_eq(waits_info(t.w).queued, 1);
	check(&t, 0, 7, "10");
	check(&t, 1, 3, "16 R 20");
	switched(&t, 1, 1006, 0, 4, 1, 3); /* not before its watermark */
	switched(&t, 1, 1040, 0, 4, 1, 3);
	take(&t, 1, UINT64_MAX);
	waits_run(t.w);
	ck_assert_uint_eq(waits_now(t.w), 40);
	ck_assert_uint_eq(waits_info(t.w).late, 1);
	check(&t, 1, 3, "16 R 20");
	finish(&t, 2);
	check(&t, 1, 3, "16 R 20 B 55");
	end(&t);
}
END_TEST

/* A host far behind does not make the others' events pile up; their graph continues without it. */
START_TEST(test_full_queue)
{
	enum { EVENTS = 100, KEPT = 10 };
	const struct waits_options options = { .memory_bytes = 1 << 20,
					       .queue_bytes = KEPT * sizeof(struct wait_event) };
	struct test t = { 0 };

	t.w = waits_create(&options);
	for (unsigned h = 0; h < 2; h++) {
		wait_log_init(&t.log[h]);
		waits_add_host(t.w, NULL);
	}
	take(&t, 1, 5);
	for (unsigned i = 0; i < EVENTS; i++) {
		switched(&t, 0, 10 + i, 0, i % 2 ? 8 : 7, 1, i % 2 ? 7 : 8);
		take(&t, 0, 11 + i);
		waits_run(t.w);
		ck_assert_uint_le(waits_info(t.w).queued, KEPT);
	}
	ck_assert_uint_eq(waits_info(t.w).queued, KEPT);
	ck_assert_uint_eq(waits_now(t.w), 10 + EVENTS - KEPT - 1);
	switched(&t, 1, 7, 0, 1, 1, 2);
	switched(&t, 1, 105, 0, 2, 1, 1); /* not too late */
	finish(&t, 2);
	ck_assert_uint_eq(waits_info(t.w).late, 1);
	ck_assert_uint_eq(waits_info(t.w).queued, 0);
	end(&t);
}
END_TEST

/* With any number of hosts, the one with the earliest event is next: none is late. */
START_TEST(test_order_of_many_hosts)
{
	enum { EVENTS = 500 };
	struct test t;
	uint64_t now = 10;

	begin(&t, HOSTS);
	/* the hosts take turns without a simple pattern; the last one runs out early */
	for (unsigned i = 0, turn = 1; i < EVENTS; i++, now++) {
		turn = turn * 1103515245 + 12345;
		switched(&t, (turn >> 16) % HOSTS % (i < EVENTS / 2 ? HOSTS : HOSTS - 1), now, 0, 7, 1, 8);
	}
	finish(&t, HOSTS);
	ck_assert_uint_eq(waits_info(t.w).queued, 0);
	ck_assert_uint_eq(waits_info(t.w).late, 0);
	end(&t);
}
END_TEST

/* The clocks become known: the graph built before is not in their time. */
START_TEST(test_clocks_begin_anew)
{
	struct test t;

	begin_mapped(&t, 1);
	switched(&t, 0, 1000, 0, 7, 1, 8);
	take(&t, 0, 2000);
	waits_run(t.w);
	check(&t, 0, 7, "1000");
	clock_map_begin_epoch(t.map[0]);
	clock_map_add(t.map[0], 2000, 500, 0.0);
	switched(&t, 0, 2010, 0, 8, 1, 7);
	switched(&t, 0, 2020, 0, 7, 1, 8);
	finish(&t, 1);
	ck_assert_uint_eq(waits_info(t.w).epoch, 1);
	check(&t, 0, 7, "510 R 520");
	end(&t);
}
END_TEST

/* A packet that came before that, whose time is not in theirs, wakes nobody after it. */
START_TEST(test_packet_before_clocks_begin_anew)
{
	struct test t;

	begin_mapped(&t, 2);
	switched(&t, 0, 10, 0, 0, 0, 7);
	switched(&t, 1, 11, 0, 9, 1, 0);
	packet(&t, 0, 20, 0, true, false, false, 1);
	packet(&t, 1, 31, 0, false, true, false, 1);
	take_all(&t, 2, 100);
	for (unsigned h = 0; h < 2; h++) {
		clock_map_begin_epoch(t.map[h]);
		clock_map_add(t.map[h], 100, 1000, 0.0);
	}
	woken_by_softirq(&t, 1, 110, 0, 9, 3, WAIT_NETWORK);
	switched(&t, 1, 120, 0, 0, 0, 9);
	switched(&t, 1, 130, 0, 9, 1, 0);
	woken_by_softirq(&t, 1, 140, 0, 9, 3, WAIT_NETWORK);
	finish(&t, 2);
	ck_assert_uint_eq(waits_info(t.w).epoch, 1);
	ck_assert_uint_eq(waits_info(t.w).links, 0);
	check(&t, 1, 9, "1010 P 1020 R 1030 N 1040");
	end(&t);
}
END_TEST

/* From a damaged record: 7 ends but is still there; and lost events across a change of the clocks. */
START_TEST(test_whose_row_is_not_there)
{
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 0, 0, 7);
	switched(&t, 0, 20, 0, 7, 0x10, 7);
	woken(&t, 0, 30, 0, 9);
	packet(&t, 0, 31, 0, true, false, false, 1);
	finish(&t, 1);
	check(&t, 0, 7, "10 R 20");
	check(&t, 0, 9, "30");
	end(&t);
}
END_TEST

START_TEST(test_times_of_other_clocks)
{
	struct test t;

	begin_mapped(&t, 1);
	switched(&t, 0, 1000, 0, 7, 1, 8);
	woken(&t, 0, 1500, 0, 3); /* 8 ran then, by the old clock */
	take(&t, 0, 2000);
	waits_run(t.w);
	clock_map_begin_epoch(t.map[0]);
	clock_map_add(t.map[0], 2000, 500, 0.0);
	switched(&t, 0, 2010, 0, 8, 1, 7);
	add(&t, 0, 2015, WAIT_EVENT_INTERRUPT, WAIT_ALL_CPUS);
	switched(&t, 0, 2020, 0, 7, 1, 8);
	finish(&t, 1);
	check(&t, 0, 8, "510 ? 515 P 520");
	end(&t);
}
END_TEST

/* Events that were queued before the clocks were known are built by the final maps, as if these had always been so. */
START_TEST(test_queued_before_clocks_are_known)
{
	struct test t;

	begin_mapped(&t, 2);
	switched(&t, 0, 110, 0, 7, 1, 8);
	switched(&t, 0, 130, 0, 8, 1, 7);
	take(&t, 0, 140);
	switched(&t, 1, 1020, 0, 3, 1, 4); /* comes last now, and first by the final maps */
	switched(&t, 1, 1050, 0, 4, 1, 3);
	take(&t, 1, 1060);
	clock_map_begin_epoch(t.map[1]);
	clock_map_add(t.map[1], 1000, 100, 0.0);
	clock_map_begin_epoch(t.map[0]);
	clock_map_add(t.map[0], 100, 200, 0.0);
	waits_run(t.w);
	ck_assert_uint_eq(waits_now(t.w), 160);
	ck_assert_uint_eq(waits_info(t.w).queued, 2);
	take(&t, 0, UINT64_MAX);
	take(&t, 1, UINT64_MAX);
	waits_run(t.w);
	ck_assert_uint_eq(waits_info(t.w).late, 0);
	ck_assert_uint_eq(waits_info(t.w).epoch, 0); /* nothing had to be cleared */
	check(&t, 0, 7, "210 B 230");
	check(&t, 1, 3, "120 B 150");
	end(&t);
}
END_TEST

/* The end of the reading does not wait for a host that has had no events for a while. */
START_TEST(test_finish)
{
	struct test t;

	begin(&t, 2);
	switched(&t, 0, 10, 0, 7, 1, 8);
	switched(&t, 0, 30, 0, 8, 1, 7);
	switched(&t, 1, 15, 0, 3, 1, 4);
	take(&t, 0, 40);
	take(&t, 1, 20);
	waits_run(t.w);
	check(&t, 0, 7, "10");
	waits_finish(t.w);
	check(&t, 0, 7, "10 B 30");
	ck_assert_uint_eq(waits_info(t.w).queued, 0);
	end(&t);
}
END_TEST

/* Many events and packets pass through the queues, in batches. */
START_TEST(test_queues_grow)
{
	struct test t;
	uint64_t now = 10;

	begin(&t, 2);
	switched(&t, 1, 5, 0, 9, 1, 0);
	for (unsigned round = 0; round < 50; round++) {
		for (unsigned i = 0; i < 100; i++, now += 10) {
			switched(&t, 0, now, 0, 0, 0, 7);
			packet(&t, 0, now + 1, 0, true, false, false, (uint32_t)now);
			switched(&t, 0, now + 2, 0, 7, 1, 0);
			packet(&t, 1, now + 3, 0, false, true, false, (uint32_t)now);
		}
		take(&t, 0, round % 3 ? now - 500 : now);
		take(&t, 1, round % 2 ? now - 700 : now);
		waits_run(t.w);
	}
	finish(&t, 2);
	ck_assert_uint_eq(waits_info(t.w).queued, 0);
	ck_assert_uint_eq(waits_info(t.w).late, 0);
	ck_assert_uint_eq(waits_info(t.w).links, 4999); /* the last one is still pending */
	end(&t);
}
END_TEST

UNIT_MAIN("waits_order", test_lost_events, test_host_was_away, test_never_seen_again, test_seen_by_its_context,
	  test_order_of_hosts, test_full_queue, test_order_of_many_hosts, test_clocks_begin_anew,
	  test_packet_before_clocks_begin_anew, test_whose_row_is_not_there, test_times_of_other_clocks,
	  test_queued_before_clocks_are_known, test_finish, test_queues_grow)
