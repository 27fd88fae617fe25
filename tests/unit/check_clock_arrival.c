/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks of live hosts, judged by when their events arrive: src/clock/arrival.h. */
#include <glib.h>

#include "clock/arrival.h"
#include "clock_hosts.h"
#include "unit.h"

static void arrive_together(struct clock_sync *s, double from_s, double to_s, const struct clock *const *all)
{
	for (double t = from_s; t < to_s; t += 0.1)
		for (unsigned i = 0; all[i]; i++)
			arrive(s, all[i], t, t + 0.05, 50000000, 1);
}

/* Hosts that are read at the same time, each up to 50 ms ago. */
#define ARRIVE(s, from_s, to_s, ...) \
	arrive_together(s, from_s, to_s, (const struct clock *const[]){ __VA_ARGS__, NULL })

START_TEST(test_by_arrival)
{
	const struct clock_options options = { 0 };
	struct clock_sync *s = clock_sync_create(&options);
	struct clock slow = add_clock(s, "slow", -22000000000, 0), right = add_clock(s, "right", 300000000, 0);
	struct clock near = add_clock(s, "near", -100000000, 0), later;

	ARRIVE(s, 0, 3, &near, &right, &slow);
	ck_assert_uint_eq(clock_map_epoch(clock_sync_map(s, slow.host)), 0);
	ARRIVE(s, 3, 6, &near, &right, &slow);
	/* clocks that agree as well as arrival can show are left alone */
	ck_assert_uint_eq(clock_map_epoch(clock_sync_map(s, right.host)), 0);
	ck_assert_uint_eq(clock_map_epoch(clock_sync_map(s, near.host)), 0);
	ck_assert_int_eq(clock_sync_offset(s, right.host, BASE_NS), 0);
	ck_assert_int_eq(clock_sync_info(s, right.host).ref, -1);
	ck_assert_uint_eq(clock_map_epoch(clock_sync_map(s, slow.host)), 1);
	ck_assert_double_lt(fabs((double)clock_sync_offset(s, slow.host, BASE_NS) - 21.9e9), 0.3e9);
	ck_assert(clock_sync_info(s, slow.host).by_arrival);
	ck_assert_int_eq(clock_sync_info(s, slow.host).ref, (int)near.host);
	ck_assert_int_eq(clock_sync_info(s, slow.host).state, CLOCK_ABSENT);
	/* another host with the same clock */
	later.host = clock_sync_add_host(s, "container", "slow");
	clock_sync_update(s);
	ck_assert_int_eq(clock_sync_offset(s, later.host, BASE_NS), clock_sync_offset(s, slow.host, BASE_NS));
	/* packets are more accurate; the common time does not change */
	talk(s, &near, &slow, 10, 15, 200000);
	clock_sync_update(s);
	ck_assert_int_eq(clock_sync_info(s, near.host).state, CLOCK_REFERENCE);
	ck_assert_double_lt(error_ns(s, &near, &slow, BASE_NS + 15 * SECOND_NS), 200000);
	ck_assert(!clock_sync_info(s, slow.host).by_arrival);
	ck_assert_int_eq(clock_sync_offset(s, near.host, BASE_NS), 0);
	clock_sync_destroy(s);
}
END_TEST

/* Hosts related by packets are shifted together: as a group, they adopt the time of the larger one. */
START_TEST(test_groups_by_arrival)
{
	const struct clock_options options = { 0 };
	struct clock_sync *s = clock_sync_create(&options);
	struct clock a = add_clock(s, "a", 0, 0), b = add_clock(s, "b", 7000000, 0), c = add_clock(s, "c", 1000000, 0);
	struct clock x = add_clock(s, "x", 3600 * 1000000000L, 0), y = add_clock(s, "y", 3601 * 1000000000L, 0);

	talk(s, &a, &b, 0, 5, 200000);
	talk(s, &c, &b, 0, 5, 200000);
	talk(s, &x, &y, 0, 5, 200000);
	ARRIVE(s, 0, 6, &a, &b, &c, &x, &y);
	talk(s, &a, &b, 6, 7, 200000);
	talk(s, &x, &y, 6, 7, 200000);
	clock_sync_update(s);
	ck_assert_double_lt(error_ns(s, &a, &b, BASE_NS + 7 * SECOND_NS), 200000);
	ck_assert_double_lt(error_ns(s, &x, &y, BASE_NS + 7 * SECOND_NS), 200000);
	ck_assert_double_lt(error_ns(s, &a, &x, BASE_NS + 7 * SECOND_NS), 0.7e9);
	clock_sync_destroy(s);
}
END_TEST

/* Events that pass faster than our time say nothing about a clock: a replay at another speed, a backlog being read. */
START_TEST(test_not_by_arrival)
{
	const struct clock_options options = { 0 };
	struct clock_sync *s = clock_sync_create(&options);
	struct clock a = add_clock(s, "a", 0, 0), b = add_clock(s, "b", 22000000000, 0);
	struct clock c = add_clock(s, "c", 3600 * 1000000000L, 0);

	for (double t = 0; t < 20; t += 0.1) {
		arrive(s, &a, t, t + 0.05, 50000000, 1);
		arrive(s, &b, t, t + 0.05, 50000000, 2);
		if (t < 6)
			arrive(s, &c, t, t + 0.05, 1000000000, 10);
	}
	ck_assert_uint_eq(clock_map_epoch(clock_sync_map(s, b.host)), 0);
	ck_assert_uint_eq(clock_map_epoch(clock_sync_map(s, c.host)), 0);
	c.offset_ns += 54 * 1000000000L;
	ARRIVE(s, 20, 34, &a, &c);
	ck_assert_double_lt(fabs((double)clock_sync_offset(s, c.host, BASE_NS) + 3654e9), 0.5e9);
	clock_sync_destroy(s);
}
END_TEST

/* Arrival does not change clocks set by hand, or any if that is not wanted. */
START_TEST(test_arrival_left_out)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct clock_options options = { .match_only = i };
		struct clock_sync *s = clock_sync_create(&options);
		struct clock a = add_clock(s, "a", 0, 0), b = add_clock(s, "b", 22000000000, 0);
		struct clock c = add_clock(s, "c", -22000000000, 0);

		if (!i)
			clock_sync_set_offset(s, b.host, -5000);
		ARRIVE(s, 0, 10, &a, &b, &c);
		ck_assert_int_eq(clock_sync_offset(s, a.host, BASE_NS), 0);
		ck_assert_int_eq(clock_sync_offset(s, b.host, BASE_NS), i ? 0 : -5000);
		ck_assert_int_eq(clock_sync_offset(s, c.host, BASE_NS), 0);
		clock_sync_destroy(s);
	}
}
END_TEST

/*
 * This machine's clock is set while a host is read, after another one has ended: that says nothing about either. A host
 * that comes later is moved to the time that all use, whether its own host is still there or not.
 */
static void expect_steps_ignored(int64_t step_ns, int64_t slow_ns)
{
	const struct clock_options options = { 0 };
	struct clock_sync *s = clock_sync_create(&options);
	const double step = (double)step_ns / 1e9;
	struct clock ended = add_clock(s, "ended", 0, 0), runs = add_clock(s, "runs", slow_ns, 0), later;
	int64_t offset_ns;

	ARRIVE(s, 40, 50, &ended, &runs);
	offset_ns = clock_sync_offset(s, runs.host, BASE_NS);
	ck_assert_double_lt(fabs((double)(offset_ns + slow_ns)), 0.3e9);
	arrive(s, &runs, 50, 53, 50000000, 1);
	arrive(s, &runs, 53 + step, 90 + step, 50000000 + (uint64_t)step_ns, 1);
	ck_assert_int_eq(clock_sync_offset(s, runs.host, BASE_NS), offset_ns);
	ck_assert_int_eq(clock_sync_offset(s, ended.host, BASE_NS), 0);
	later = add_clock(s, "later", 100 * 1000000000L, 0);
	for (double t = 90 + step; t < 100 + step; t += 0.1) {
		arrive(s, &runs, t, t + 0.05, 50000000 + (uint64_t)step_ns, 1);
		arrive(s, &later, t, t + 0.05, 50000000 + (uint64_t)step_ns, 1);
	}
	ck_assert_int_eq(clock_sync_offset(s, runs.host, BASE_NS), offset_ns);
	ck_assert_double_lt(fabs((double)clock_sync_offset(s, later.host, BASE_NS) + 100e9), 0.6e9);
	clock_sync_destroy(s);
}

START_TEST(test_arrival_after_step)
{
	expect_steps_ignored(20000000000, 0);
	expect_steps_ignored(-20000000000, 0);
	expect_steps_ignored(1000000000, 0);
	expect_steps_ignored(20000000000, -22000000000);
	expect_steps_ignored(-20000000000, -22000000000);
}
END_TEST

/* A host's clock is set forward, and it is read for that long. Then comes another host, whose clock is right. */
static void expect_set_forward(double at_s, double gap_s, double for_s)
{
	const struct clock_options options = { 0 };
	struct clock_sync *s = clock_sync_create(&options);
	const double again_s = at_s + gap_s, end_s = again_s + for_s;
	struct clock set = add_clock(s, "set", 0, 0), later;

	arrive(s, &set, 0, at_s, 50000000, 1);
	set.offset_ns += 3600 * 1000000000L;
	arrive(s, &set, again_s, end_s, 50000000, 1);
	later = add_clock(s, "later", 0, 0);
	arrive(s, &later, end_s + 1, end_s + 11, 50000000, 1);
	ck_assert_msg(error_ns(s, &set, &later, BASE_NS + 50 * SECOND_NS) < 0.7e9,
		      "set at %.1f s, read from %.1f s to %.1f s", at_s, again_s, end_s);
	clock_sync_destroy(s);
}

/* What arrived before the step takes no part: afterwards, the clock is known as soon as that of a new host would be. */
START_TEST(test_set_forward)
{
	for (double for_s = 3.6; for_s < 10; for_s += 0.3) {
		expect_set_forward(20, 0, for_s);
		expect_set_forward(20, 2, for_s);
		expect_set_forward(20.25, 0.1, for_s);
	}
	expect_set_forward(5, 1, 3.6);
}
END_TEST

/* Seconds in which everything comes late are not steps: the delay stays known. */
START_TEST(test_late_second)
{
	struct clock_arrival a = { 0 };
	int64_t delay_ns;
	uint64_t spread_ns;

	for (uint64_t n = 0; n < 30; n++) {
		const uint64_t late_ns = n % 6 == 5 ? 3 * SECOND_NS : n ? 0 : SECOND_NS;
		const uint64_t now_ns = BASE_NS + n * SECOND_NS;

		clock_arrival_note(&a, now_ns - 50000000 - late_ns, now_ns);
		ck_assert_int_eq(clock_arrival_delay(&a, &delay_ns, &spread_ns), n >= 3);
		if (n >= 3)
			ck_assert_int_eq(delay_ns, 50000000);
	}
}
END_TEST

/* The session of the reference has ended, but a host that follows it is heard: others are moved by that one's delay. */
START_TEST(test_reference_has_ended)
{
	const struct clock_options options = { 0 };
	struct clock_sync *s = clock_sync_create(&options);
	struct clock ended = add_clock(s, "ended", 0, 0), follows = add_clock(s, "follows", 3600000000000, 0), later;

	ARRIVE(s, 0, 10, &ended, &follows);
	talk(s, &ended, &follows, 10, 20, 200000);
	clock_sync_update(s);
	ck_assert_int_eq(clock_sync_offset(s, ended.host, BASE_NS), 0);
	arrive(s, &follows, 20, 40, 50000000, 1);
	later = add_clock(s, "later", 22000000000, 0);
	ARRIVE(s, 40, 50, &follows, &later);
	ck_assert_double_lt(error_ns(s, &follows, &later, BASE_NS + 50 * SECOND_NS), 0.7e9);
	clock_sync_destroy(s);
}
END_TEST

/* Times from a broken or hostile worker: any number may come. */
START_TEST(test_arrival_of_any_time)
{
	static const uint64_t off[] = { UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1, UINT64_C(3) << 61,
					UINT64_C(5) << 61, 1 };

	for (size_t i = 0; i < G_N_ELEMENTS(off); i++) {
		const struct clock_options options = { 0 };
		struct clock_sync *s = clock_sync_create(&options);
		struct clock a = add_clock(s, "a", 0, 0), b = add_clock(s, "b", 0, 0), c = add_clock(s, "c", 0, 0);

		for (uint64_t now_ns = BASE_NS; now_ns < BASE_NS + 30 * SECOND_NS; now_ns += SECOND_NS / 10) {
			const bool turned = now_ns > BASE_NS + 15 * SECOND_NS;

			clock_sync_arrival(s, a.host, now_ns - 1000, now_ns);
			clock_sync_arrival(s, b.host, turned ? now_ns - off[i] : now_ns + off[i], now_ns);
			clock_sync_arrival(s, c.host, turned ? now_ns + off[i] / 2 : now_ns - off[i] / 2, now_ns);
			clock_sync_update(s);
		}
		ck_assert_int_eq(clock_sync_offset(s, a.host, BASE_NS), 0);
		clock_sync_destroy(s);
	}
}
END_TEST

UNIT_MAIN("clock_arrival", test_by_arrival, test_groups_by_arrival, test_not_by_arrival, test_arrival_left_out,
	  test_arrival_after_step, test_set_forward, test_late_second, test_reference_has_ended,
	  test_arrival_of_any_time)
