/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Synchronisation of clocks whose true difference is known: src/clock/sync.h. */
#include <glib.h>

#include "clock_hosts.h"
#include "ingest/clocks.h"
#include "unit.h"

START_TEST(test_two_hosts)
{
	const struct clock_options options = { 0 };
	struct clock_sync *s = clock_sync_create(&options);
	struct clock web = add_clock(s, "web", 5000000000, 40e-6), client = add_clock(s, "client", -777, 0);
	struct clock_host_info w, c;
	const struct clock_match *matches[10];

	talk(s, &client, &web, 0, 10, 200000);
	ck_assert_uint_eq(clock_sync_matches(s, matches, 10), 10);
	ck_assert_uint_eq(matches[9]->from, web.host);
	ck_assert_uint_gt(matches[9]->sent_ns, matches[0]->sent_ns);
	clock_sync_finish(s);
	w = clock_sync_info(s, web.host);
	c = clock_sync_info(s, client.host);
	ck_assert_int_eq(c.state, CLOCK_REFERENCE); /* a tie: the lowest name wins */
	ck_assert_int_eq(w.state, CLOCK_ACCURATE);
	ck_assert_int_eq(w.ref, (int)client.host);
	ck_assert_uint_eq(w.matched, 200);
	ck_assert_uint_eq(w.used, 200);
	ck_assert_uint_eq(w.negative, 0);
	ck_assert_double_lt(fabs(w.drift_ppm - 40), 1);
	ck_assert(w.has_bound && c.has_bound);
	ck_assert_uint_eq(c.bound_ns, 0);
	ck_assert_uint_ge(w.bound_ns, 200000);
	ck_assert_uint_le(w.bound_ns, 230000);
	for (unsigned n = 0; n <= 10; n++)
		ck_assert_double_lt(error_ns(s, &client, &web, BASE_NS + n * SECOND_NS), 10000);
	ck_assert(w.has_latency_to && w.has_latency_from);
	ck_assert_double_lt(fabs((double)w.latency_to_min_ns - 200000), 10000);
	ck_assert_double_lt(fabs((double)w.latency_from_median_ns - 200000), 10000);
	ck_assert_int_le(llabs(clock_sync_offset(s, web.host, read_clock(&web, BASE_NS)) + 5000000777), 10000);
	ck_assert_uint_eq(clock_map_epoch(clock_sync_map(s, web.host)), 1);
	clock_sync_destroy(s);
}
END_TEST

/* All events of one host come before the other's. */
START_TEST(test_hosts_one_after_the_other)
{
	const struct clock_options options = { 0 };
	struct clock_sync *s = clock_sync_create(&options);
	struct clock a = add_clock(s, "a", 0, 0), b = add_clock(s, "b", 1000000, 20e-6);

	for (int host = 0; host < 2; host++) {
		for (uint32_t n = 0; n < 5000; n++) {
			struct clock_packet p = tcp_packet(n * 20, 7, 10, n + 1);
			struct clock_packet q = turned(tcp_packet(7, n * 20, 1, n + 1));
			uint64_t t = BASE_NS + n * 4000000;

			if (host == 0) {
				clock_sync_packet(s, a.host, read_clock(&a, t), true, &p);
				clock_sync_packet(s, a.host, read_clock(&a, t + 2100000), false, &q);
			} else {
				clock_sync_packet(s, b.host, read_clock(&b, t + 100000), false, &p);
				clock_sync_packet(s, b.host, read_clock(&b, t + 2000000), true, &q);
			}
		}
	}
	clock_sync_finish(s);
	ck_assert_int_eq(clock_sync_info(s, b.host).state, CLOCK_ACCURATE);
	ck_assert_uint_eq(clock_sync_info(s, b.host).matched, 10000);
	ck_assert_double_lt(error_ns(s, &a, &b, BASE_NS + 10 * SECOND_NS), 5000);
	clock_sync_destroy(s);
}
END_TEST

START_TEST(test_states)
{
	const struct clock_options options = { 0 };
	struct clock_sync *s = clock_sync_create(&options);
	struct clock a = add_clock(s, "a", 0, 0), b = add_clock(s, "b", 1000000, 0);
	struct clock c = add_clock(s, "c", 0, 0), d = add_clock(s, "d", 0, 0), e = add_clock(s, "e", 5, 0);

	(void)e;
	/* b → a only: no line. c, d: all packets of one direction come before those of the other. */
	for (unsigned n = 0; n < 50; n++)
		send(s, &b, &a, BASE_NS + n * SECOND_NS / 10, 1000);
	for (unsigned n = 0; n < 50; n++)
		send(s, &c, &d, BASE_NS + n * SECOND_NS / 10, 1000);
	for (unsigned n = 50; n < 100; n++)
		send(s, &d, &c, BASE_NS + n * SECOND_NS / 10, 1000);
	clock_sync_finish(s);
	ck_assert_int_eq(clock_sync_info(s, a.host).state, CLOCK_INCOMPLETE);
	ck_assert_int_eq(clock_sync_info(s, b.host).state, CLOCK_INCOMPLETE);
	ck_assert_int_eq(clock_sync_info(s, b.host).ref, -1);
	ck_assert(!clock_sync_info(s, b.host).has_bound);
	ck_assert_int_eq(clock_sync_info(s, c.host).state, CLOCK_REFERENCE);
	ck_assert_int_eq(clock_sync_info(s, d.host).state, CLOCK_APPROXIMATE);
	ck_assert_int_eq(clock_sync_info(s, e.host).state, CLOCK_ABSENT);
	ck_assert_int_eq(clock_sync_info(s, e.host).ref, -1);
	ck_assert_uint_eq(clock_to_ref(clock_sync_map(s, b.host), 12345), 12345);
	ck_assert_str_eq(clock_state_name(CLOCK_APPROXIMATE), "approximate");
	/* Until the last message, the slope is only known to be within rho. */
	ck_assert_uint_ge(clock_sync_info(s, d.host).bound_ns, 200000);
	clock_sync_destroy(s);
}
END_TEST

START_TEST(test_one_host_alone)
{
	const struct clock_options options = { 0 };
	struct clock_sync *s = clock_sync_create(&options);
	struct clock a = add_clock(s, "a", 0, 0);

	clock_sync_finish(s);
	ck_assert_int_eq(clock_sync_info(s, a.host).state, CLOCK_REFERENCE);
	ck_assert_int_eq(clock_sync_info(s, a.host).ref, 0);
	clock_sync_destroy(s);
}
END_TEST

START_TEST(test_a_chain_of_hosts)
{
	const struct clock_options chosen = { .ref = "d" };

	for (int with_ref = 0; with_ref < 2; with_ref++) {
		const struct clock_options none = { 0 };
		struct clock_sync *s = clock_sync_create(with_ref ? &chosen : &none);
		struct clock d = add_clock(s, "d", 9000000000, 10e-6), a = add_clock(s, "a", 0, -30e-6);
		struct clock c = add_clock(s, "c", -4000000000, 0), b = add_clock(s, "b", 123, 5e-6);
		const struct clock *all[] = { &a, &b, &c, &d };
		double sum = 0;

		talk(s, &a, &b, 0, 20, 100000);
		talk(s, &b, &c, 0, 20, 300000);
		talk(s, &c, &d, 0, 20, 150000);
		clock_sync_finish(s);
		for (unsigned n = 0; n < 4; n++) {
			struct clock_host_info info = clock_sync_info(s, all[n]->host);

			/* b: 450 us to d, 100 to a; c: 150 and 400, so c is the centre. */
			ck_assert_int_eq(info.ref, (int)(with_ref ? d.host : c.host));
			ck_assert(info.has_bound);
			for (unsigned t = 0; t <= 20; t += 5)
				ck_assert_double_lt(error_ns(s, all[n], &c, BASE_NS + t * SECOND_NS), 15000);
			sum += (double)info.bound_ns;
		}
		/* 150 + 300 + (300 + 100); from d: 150 + 450 + 550 */
		ck_assert_double_ge(sum, with_ref ? 1150e3 : 850e3);
		ck_assert_double_le(sum, with_ref ? 1300e3 : 1000e3);
		clock_sync_destroy(s);
	}
}
END_TEST

START_TEST(test_offsets_by_hand)
{
	const struct clock_options options = { 0 };
	struct clock_sync *s = clock_sync_create(&options);
	struct clock a = add_clock(s, "a", 0, 0), b = add_clock(s, "b", 0, 0), c = add_clock(s, "c", 1000000, 0);
	uint64_t bound_ns;

	clock_sync_set_offset(s, a.host, -5000);
	ck_assert_uint_eq(clock_to_ref(clock_sync_map(s, a.host), 105000), 100000);
	talk(s, &a, &b, 0, 5, 100000);
	talk(s, &a, &c, 0, 5, 100000);
	clock_sync_finish(s);
	/* a was the centre; with the offset set by hand, it follows b, which has the lowest name, and c follows a. */
	ck_assert_int_eq(clock_sync_info(s, b.host).state, CLOCK_REFERENCE);
	ck_assert_int_eq(clock_sync_info(s, a.host).ref, (int)b.host);
	ck_assert_int_eq(clock_sync_info(s, c.host).ref, (int)b.host);
	ck_assert_int_eq(clock_sync_info(s, a.host).state, CLOCK_APPROXIMATE);
	ck_assert(!clock_sync_info(s, a.host).has_bound);
	/* c's own packets are certain, but those of a decide nothing */
	ck_assert_int_eq(clock_sync_info(s, c.host).state, CLOCK_APPROXIMATE);
	ck_assert(!clock_sync_info(s, c.host).has_bound);
	ck_assert(!clock_sync_bound(s, c.host, BASE_NS, &bound_ns));
	ck_assert_int_eq(clock_sync_info_at(s, c.host, BASE_NS).state, CLOCK_APPROXIMATE);
	ck_assert_int_eq(clock_sync_info(s, b.host).obstacle, CLOCK_NO_OBSTACLE);
	ck_assert_int_eq(clock_sync_info(s, c.host).obstacle, CLOCK_BY_HAND);
	ck_assert_uint_eq(clock_to_ref(clock_sync_map(s, a.host), 105000), 100000);
	ck_assert_uint_eq(clock_from_ref(clock_sync_map(s, a.host), 100000), 105000);
	ck_assert_int_eq(clock_sync_offset(s, a.host, BASE_NS), -5000);
	ck_assert_double_lt(fabs((double)clock_sync_offset(s, c.host, BASE_NS) + 1005000), 5000);
	clock_sync_destroy(s);
}
END_TEST

START_TEST(test_ports_left_out)
{
	static const uint16_t ports[][2] = { { 5344, 80 }, { 40000, 5344 }, { 5344, 5345 } };

	for (unsigned i = 0; i < G_N_ELEMENTS(ports); i++) {
		const struct clock_options options = { .ignore_ports = ports[i], .n_ignore_ports = 2 };
		struct clock_sync *s = clock_sync_create(&options);
		struct clock a = add_clock(s, "a", 0, 0), b = add_clock(s, "b", 0, 0);

		talk(s, &a, &b, 0, 5, 100000);
		clock_sync_finish(s);
		ck_assert_uint_eq(clock_sync_info(s, b.host).matched, i == 2 ? 100 : 0);
		ck_assert_int_eq(clock_sync_info(s, b.host).obstacle, i == 2 ? CLOCK_NO_OBSTACLE : CLOCK_IGNORED);
		clock_sync_destroy(s);
	}
}
END_TEST

/* Little traffic before and after a jump: the window shrinks no more than necessary. */
START_TEST(test_clock_that_jumps_seldom_heard)
{
	const struct clock_options options = { 0 };
	struct clock_sync *s = clock_sync_create(&options);
	struct clock a = add_clock(s, "a", 0, 0), b = add_clock(s, "b", 0, 0);

	for (unsigned t = 0; t < 130; t++) {
		if (t == 100)
			b.offset_ns = 50000000;
		if (t % 3 == 0)
			send(s, &a, &b, BASE_NS + t * SECOND_NS, 100000);
		if (t % 3 == 1)
			send(s, &b, &a, BASE_NS + t * SECOND_NS, 100000);
		clock_sync_update(s);
	}
	ck_assert_int_eq(clock_sync_info(s, b.host).state, CLOCK_ACCURATE);
	ck_assert_double_lt(error_ns(s, &a, &b, BASE_NS + 130 * SECOND_NS), 50000);
	clock_sync_destroy(s);
}
END_TEST

/* A clock jumps: the break in the line is detected, and the map continues with the data after it. */
START_TEST(test_clock_that_jumps)
{
	const struct clock_options options = { .window_ns = 4 * SECOND_NS };
	struct clock_sync *s = clock_sync_create(&options);
	struct clock a = add_clock(s, "a", 0, 0), b = add_clock(s, "b", 0, 0);
	uint64_t at_ns, bound_ns;
	bool failed = false;
	unsigned epoch;

	for (unsigned t = 0; t < 40; t++) {
		if (t == 20)
			b.offset_ns = 50000000;
		talk(s, &a, &b, t, t + 1, 100000);
		clock_sync_update(s);
		failed |= clock_sync_info(s, b.host).state == CLOCK_FAILED;
		at_ns = BASE_NS + t * SECOND_NS + SECOND_NS / 2;
		if (clock_sync_bound(s, b.host, read_clock(&b, at_ns), &bound_ns))
			ck_assert_double_le(error_ns(s, &a, &b, at_ns), (double)bound_ns + 2);
		else
			ck_assert_int_eq(clock_sync_info_at(s, b.host, read_clock(&b, at_ns)).state, CLOCK_FAILED);
		if (t == 18)
			epoch = clock_map_epoch(clock_sync_map(s, b.host));
	}
	ck_assert_uint_gt(clock_map_epoch(clock_sync_map(s, b.host)), epoch);
	ck_assert(failed || clock_sync_info(s, b.host).state == CLOCK_ACCURATE);
	ck_assert_double_lt(error_ns(s, &a, &b, BASE_NS + 40 * SECOND_NS), 20000);
	clock_sync_destroy(s);
}
END_TEST

/* Recorded: the map follows a jump, and where it is not known when exactly the clock jumped, there is no bound. */
START_TEST(test_recorded_clock_that_jumps)
{
	static const int64_t jumps_ns[] = { 50000000, -50000000, 500000000, -500000000 };
	enum { SECONDS = 20, JUMP_S = 10, PER_SECOND = 50 };

	for (size_t i = 0; i < G_N_ELEMENTS(jumps_ns); i++) {
		const struct clock_options options = { 0 };
		struct clock_sync *s = clock_sync_create(&options);
		struct clock a = add_clock(s, "a", 0, 0), b = add_clock(s, "b", 3000000, 20e-6);
		const struct clock before = b;
		unsigned unknown = 0;

		talk(s, &a, &b, 0, JUMP_S, 200000);
		b.offset_ns += jumps_ns[i];
		talk(s, &a, &b, JUMP_S, SECONDS, 200000);
		clock_sync_finish(s);
		for (unsigned n = 0; n < SECONDS * PER_SECOND; n++) {
			const uint64_t at_ns = BASE_NS + n * SECOND_NS / PER_SECOND;
			const struct clock *now = n < JUMP_S * PER_SECOND ? &before : &b;
			const uint64_t own_ns = read_clock(now, at_ns);
			uint64_t bound_ns;

			/* a clock that was set back shows these times twice */
			if (now == &b && own_ns <= read_clock(&before, BASE_NS + JUMP_S * SECOND_NS))
				continue;
			if (!clock_sync_bound(s, b.host, own_ns, &bound_ns)) {
				ck_assert_int_eq(clock_sync_info_at(s, b.host, own_ns).state, CLOCK_FAILED);
				unknown++;
				continue;
			}
			ck_assert_int_eq(clock_sync_info_at(s, b.host, own_ns).state, CLOCK_ACCURATE);
			ck_assert_double_le(error_ns(s, &a, now, at_ns), (double)bound_ns + 2);
			if (n < (JUMP_S - 1) * PER_SECOND || n > (JUMP_S + 2) * PER_SECOND)
				ck_assert_uint_lt(bound_ns, 250000);
		}
		ck_assert_uint_le(unknown, PER_SECOND * 7 / 10);
		ck_assert_int_eq(clock_sync_info(s, b.host).state, CLOCK_ACCURATE);
		ck_assert_double_lt(fabs(clock_sync_info(s, b.host).drift_ppm - 20), 5);
		clock_sync_destroy(s);
	}
}
END_TEST

/* An impossible packet: it is counted and has a conspicuous latency; live, and in a recording. */
START_TEST(test_negative_latency)
{
	const struct clock_options options = { 0 };

	for (int recorded = 0; recorded < 2; recorded++) {
		struct clock_sync *s = clock_sync_create(&options);
		struct clock web = add_clock(s, "web", 5000000, 0), client = add_clock(s, "client", 0, 0);
		struct clock_host_info info;

		talk(s, &client, &web, 0, 5, 200000);
		if (!recorded)
			clock_sync_update(s);
		ck_assert_uint_eq(clock_sync_info(s, web.host).negative, 0);
		send(s, &web, &client, BASE_NS + 5 * SECOND_NS, (uint64_t)-3000000);
		talk(s, &client, &web, 6, 12, 200000);
		if (recorded)
			clock_sync_finish(s);
		else
			clock_sync_update(s);
		info = clock_sync_info(s, web.host);
		ck_assert_uint_eq(info.negative, 1);
		ck_assert(info.has_latency_to);
		ck_assert_int_lt(info.latency_to_min_ns, -2000000);
		ck_assert_int_gt(info.latency_from_min_ns, 180000);
		ck_assert_int_lt(info.latency_from_min_ns, 220000);
		clock_sync_destroy(s);
	}
}
END_TEST

/* A few seconds: too little to be sure of a jump, enough for the rest. */
START_TEST(test_short_recordings)
{
	enum { ONE_PACKET, JUMP, ONE_WAY_AFTERWARDS, KINDS };

	for (int kind = 0; kind < KINDS; kind++) {
		const struct clock_options options = { 0 };
		const uint64_t jump_s = kind == ONE_WAY_AFTERWARDS ? 30 : 3, end_s = jump_s + 4;
		struct clock_sync *s = clock_sync_create(&options);
		struct clock a = add_clock(s, "a", 0, 0), b = add_clock(s, "b", 5000000000, 0);
		const struct clock before = b;

		talk(s, &a, &b, 0, jump_s, 200000);
		if (kind == ONE_PACKET)
			send(s, &b, &a, BASE_NS + jump_s * SECOND_NS, (uint64_t)-3000000);
		else
			b.offset_ns -= 50000000;
		if (kind == ONE_WAY_AFTERWARDS)
			for (unsigned n = 1; n < 60; n++)
				send(s, &a, &b, BASE_NS + jump_s * SECOND_NS + n * SECOND_NS / 10, 200000);
		else
			talk(s, &a, &b, jump_s + 1, end_s, 200000);
		clock_sync_finish(s);
		ck_assert_int_ge(clock_sync_info(s, b.host).ref, 0);
		for (uint64_t t_ns = BASE_NS; t_ns < BASE_NS + (jump_s - 1) * SECOND_NS; t_ns += SECOND_NS / 10) {
			uint64_t bound_ns;

			if (clock_sync_bound(s, b.host, read_clock(&before, t_ns), &bound_ns))
				ck_assert_double_le(error_ns(s, &a, &before, t_ns), (double)bound_ns + 2);
			else
				ck_assert_int_eq(clock_sync_info_at(s, b.host, read_clock(&before, t_ns)).obstacle,
						 CLOCK_JUMPED);
			ck_assert_double_lt(error_ns(s, &a, &before, t_ns), 60e6);
		}
		clock_sync_destroy(s);
	}
}
END_TEST

START_TEST(test_clocks_that_are_none)
{
	const struct clock_options options = { 0 };
	struct clock_sync *s = clock_sync_create(&options);
	struct clock a = add_clock(s, "a", 0, 0), b = add_clock(s, "b", 0, 1e-2);

	talk(s, &a, &b, 0, 20, 10000);
	clock_sync_update(s);
	clock_sync_finish(s);
	ck_assert_int_eq(clock_sync_info(s, b.host).state, CLOCK_FAILED);
	ck_assert_int_eq(clock_sync_info(s, b.host).ref, -1);
	clock_sync_destroy(s);
}
END_TEST

/*
 * Hours of two clocks the frequency of which wanders (temperature, at random) and is
 * slewed every 64 s, 20 messages a second with latencies from 60 us to some ms: the error stays
 * below 20 us and within the bound, live at every second and over the whole record. Live, the
 * map never steps back nor takes anything back.
 */
enum { HOURS = 3, PER_SECOND = 20 };

struct simulated {
	double offset_ns[HOURS * 3600 + 1]; /* b - a at each second of a's time */
};

static uint64_t other_time(const struct simulated *sim, double t_s)
{
	unsigned s = (unsigned)t_s;

	if (s >= HOURS * 3600)
		s = HOURS * 3600 - 1;
	return BASE_NS +
	       (uint64_t)(t_s * 1e9 + sim->offset_ns[s] + (t_s - s) * (sim->offset_ns[s + 1] - sim->offset_ns[s]));
}

static void make_clock(struct simulated *sim, uint64_t *seed)
{
	double offset_ns = 3e9, walk = 0, slew = 0;

	for (unsigned s = 0; s <= HOURS * 3600; s++) {
		sim->offset_ns[s] = offset_ns;
		walk += random_normal(seed) * 2e-10;
		if (s % 64 == 0)
			slew = random_normal(seed) * 0.3e-6;
		offset_ns += (12e-6 + walk + 0.15e-6 * sin(2 * 3.14159265358979 * s / 3000) + slew) * 1e9;
	}
}

static void simulate(uint64_t seed, bool live)
{
	const struct clock_options options = { 0 };
	struct clock_sync *s = clock_sync_create(&options);
	unsigned a = clock_sync_add_host(s, "a", "1"), b = clock_sync_add_host(s, "b", "2"), checked = 0;
	struct simulated *sim = g_new(struct simulated, 1);
	uint64_t last_ref = 0, seq = 0;
	double worst_ns = 0;

	make_clock(sim, &seed);
	for (unsigned second = 0; second < HOURS * 3600; second++) {
		uint64_t until_ns = other_time(sim, second + 1), half_ns = other_time(sim, second + 0.5);
		uint64_t at_half, ref_ns, later_ns;
		double error;

		for (unsigned k = 0; k < PER_SECOND; k++) {
			double t = second + (k + random_unit(&seed) * 0.5) / PER_SECOND;
			double latency = 60e-6 + random_exponential(&seed, 120e-6);
			struct clock_packet p = tcp_packet((uint32_t)seq * 10, 7, 10, seq % 60000 + 1);

			seq++;
			if (random_unit(&seed) < 0.05)
				latency += random_exponential(&seed, 3e-3);
			if (t + latency > second + 1)
				latency = second + 1 - t;
			if (k % 2) {
				clock_sync_packet(s, a, BASE_NS + (uint64_t)(t * 1e9), true, &p);
				clock_sync_packet(s, b, other_time(sim, t + latency), false, &p);
			} else {
				clock_sync_packet(s, b, other_time(sim, t), true, &p);
				clock_sync_packet(s, a, BASE_NS + (uint64_t)((t + latency) * 1e9), false, &p);
			}
		}
		if (!live)
			continue;
		clock_sync_time(s, a, BASE_NS + (second + 1) * SECOND_NS);
		clock_sync_time(s, b, until_ns);
		at_half = clock_to_ref(clock_sync_map(s, b), half_ns);
		clock_sync_update(s);
		if (second < 2)
			continue;
		ref_ns = clock_to_ref(clock_sync_map(s, b), half_ns);
		ck_assert_uint_eq(ref_ns, at_half);
		ck_assert_uint_gt(ref_ns, last_ref);
		last_ref = ref_ns = clock_to_ref(clock_sync_map(s, b), until_ns);
		/* It turns by rho at most, and follows a clock with a drift of 13 ppm. */
		later_ns = clock_to_ref(clock_sync_map(s, b), until_ns + 1000000) - ref_ns;
		ck_assert_uint_ge(later_ns, 1000000 - 120);
		ck_assert_uint_le(later_ns, 1000000 + 120);
		error = fabs((double)(int64_t)(ref_ns - BASE_NS - (second + 1) * SECOND_NS));
		ck_assert_double_le(error, (double)clock_sync_info(s, b).bound_ns + 1);
		if (second >= 60) {
			worst_ns = MAX(worst_ns, error);
			ck_assert_uint_le(clock_sync_info(s, b).bound_ns, 150000);
			ck_assert_int_eq(clock_sync_info(s, b).state, CLOCK_ACCURATE);
		}
		checked++;
	}
	if (live) {
		ck_assert_uint_eq(clock_map_epoch(clock_sync_map(s, b)), 1);
		ck_assert_uint_eq(checked, HOURS * 3600 - 2);
	} else {
		clock_sync_finish(s);
		ck_assert_int_eq(clock_sync_info(s, b).state, CLOCK_ACCURATE);
		ck_assert_uint_eq(clock_sync_info(s, b).negative, 0);
		for (unsigned second = 0; second <= HOURS * 3600; second++) {
			uint64_t own_ns = other_time(sim, second), bound_ns;
			uint64_t ref_ns = clock_to_ref(clock_sync_map(s, b), own_ns);
			double error = fabs((double)(int64_t)(ref_ns - BASE_NS - second * SECOND_NS));

			worst_ns = MAX(worst_ns, error);
			if (second % 5)
				continue;
			ck_assert(clock_sync_bound(s, b, own_ns, &bound_ns));
			ck_assert_double_le(error, (double)bound_ns);
			ck_assert_uint_le(bound_ns, 150000);
		}
	}
	ck_assert_double_le(worst_ns, 20000);
	g_free(sim);
	clock_sync_destroy(s);
}

START_TEST(test_three_hours_live)
{
	for (uint64_t seed = 1; seed <= 3; seed++)
		simulate(seed * UINT64_C(0x9e3779b97f4a7c15), true);
}
END_TEST

START_TEST(test_three_hours_recorded)
{
	for (uint64_t seed = 1; seed <= 3; seed++)
		simulate(seed * UINT64_C(0x9e3779b97f4a7c15), false);
}
END_TEST

/* Few messages: the bound is wide but holds, for any drift within rho. */
START_TEST(test_little_traffic)
{
	uint64_t seed = 11;

	for (unsigned round = 0; round < 200; round++) {
		const struct clock_options options = { 0 };
		struct clock_sync *s = clock_sync_create(&options);
		struct clock a = add_clock(s, "a", 0, 0);
		int64_t offset_ns = (int64_t)(random_normal(&seed) * 1e9);
		struct clock b = add_clock(s, "b", offset_ns, (random_unit(&seed) - 0.5) * 190e-6);
		unsigned n = 2 + (unsigned)(random_unit(&seed) * 10);
		uint64_t t = BASE_NS;

		for (unsigned i = 0; i < n; i++) {
			uint64_t latency = (uint64_t)(60e3 + random_exponential(&seed, 1e6));

			t += (uint64_t)(random_exponential(&seed, 5e8)) + latency;
			if (i % 2)
				send(s, &a, &b, t, latency);
			else
				send(s, &b, &a, t, latency);
			t += latency;
		}
		if (round % 2) {
			clock_sync_update(s);
		} else {
			clock_sync_finish(s);
		}
		/* Also before the first packet and after the last. */
		for (uint64_t at = round % 2 ? t : BASE_NS - SECOND_NS; at < t + 2 * SECOND_NS; at += SECOND_NS / 7) {
			uint64_t bound_ns;

			ck_assert(clock_sync_bound(s, b.host, read_clock(&b, at), &bound_ns));
			ck_assert_double_le(error_ns(s, &a, &b, at), (double)bound_ns + 2);
		}
		clock_sync_destroy(s);
	}
}
END_TEST

/*
 * Two live groups of two hosts meet. Their references have equally many followers, so the one with the lowest name
 * stays, whichever came first.
 */
START_TEST(test_live_references_tie)
{
	const struct clock_options options = { 0 };
	struct clock_sync *s = clock_sync_create(&options);
	struct clock d = add_clock(s, "d", 3000000000, 0), c = add_clock(s, "c", 2000000000, 0);
	struct clock b = add_clock(s, "b", 1000000000, 0), a = add_clock(s, "a", 0, 0);
	const struct clock *all[] = { &a, &b, &c, &d };

	talk(s, &c, &d, 0, 5, 200000);
	talk(s, &a, &b, 0, 5, 200000);
	clock_sync_update(s);
	ck_assert_int_eq(clock_sync_info(s, d.host).ref, (int)c.host);
	ck_assert_int_eq(clock_sync_info(s, b.host).ref, (int)a.host);
	talk(s, &b, &d, 5, 10, 200000);
	clock_sync_update(s);
	for (unsigned i = 0; i < G_N_ELEMENTS(all); i++)
		ck_assert_int_eq(clock_sync_info(s, all[i]->host).ref, (int)a.host);
	clock_sync_destroy(s);
}
END_TEST

static void count_match(void *data, const struct clock_match *match)
{
	(void)match;
	++*(uint64_t *)data;
}

/*
 * Hours of three live hosts that all exchange packets, some of which are lost or go elsewhere: memory does not grow,
 * and the others are still matched. Two more hosts end early: one at once, and one that has a backlog.
 */
static void check_live_memory(enum clocks_use use)
{
	enum { SECONDS = 4 * 3600, PACKETS = 12, LOST = 3, EARLY = 2 * 3600 };
	const struct clock_options options = { 0 };
	struct clocks *clocks = clocks_create(&options, use);
	struct clock_sync *s = clocks_sync(clocks);
	const struct clock all[] = { add_clock(s, "a", 0, 0), add_clock(s, "b", 22000000000, 0),
				     add_clock(s, "c", 5000, 0) };
	const struct clock brief = add_clock(s, "brief", 0, 0), behind = add_clock(s, "behind", 0, 0);
	uint64_t matched = 0;
	size_t early = 0;

	clock_sync_on_match(s, count_match, &matched);
	for (uint32_t second = 0; second < SECONDS; second++) {
		for (uint32_t k = 0; k < PACKETS; k++) {
			const uint64_t ns = BASE_NS + second * SECOND_NS + k * (SECOND_NS / PACKETS);
			const struct clock_packet p = tcp_packet(10 * (second * PACKETS + k), 7, 10, k + 1);
			const struct clock *from = &all[k % 3], *to = &all[(k + 1 + k / 3 % 2) % 3];

			clocks_packet(clocks, from->host, read_clock(from, ns), true, &p);
			if (k % 5)
				clocks_packet(clocks, to->host, read_clock(to, ns + 200000), false, &p);
		}
		for (unsigned i = 0; i < G_N_ELEMENTS(all); i++) {
			const uint64_t now_ns = BASE_NS + (second + 1) * SECOND_NS;

			clocks_arrival(clocks, all[i].host, read_clock(&all[i], now_ns - 50000000), now_ns);
			clocks_update(clocks);
		}
		if (second < 2)
			arrive(s, &brief, second, second + 1, 50000000, 1);
		if (second < 10)
			arrive(s, &behind, second, second + 1, 3600 * SECOND_NS, 10);
		if (second == EARLY)
			early = unit_allocated();
	}
	ck_assert_uint_le(unit_allocated(), early + 64 * 1024);
	ck_assert_uint_eq(matched, SECONDS * (PACKETS - LOST));
	clocks_destroy(clocks);
}

START_TEST(test_live_memory)
{
	check_live_memory(CLOCKS_MOVE);
}
END_TEST

START_TEST(test_live_memory_without_maps)
{
	check_live_memory(CLOCKS_RAW);
}
END_TEST

UNIT_MAIN("clock_sync", test_two_hosts, test_hosts_one_after_the_other, test_states, test_one_host_alone,
	  test_a_chain_of_hosts, test_offsets_by_hand, test_ports_left_out, test_clock_that_jumps,
	  test_clock_that_jumps_seldom_heard, test_recorded_clock_that_jumps, test_short_recordings,
	  test_negative_latency, test_clocks_that_are_none, test_three_hours_live, test_three_hours_recorded,
	  test_little_traffic, test_live_references_tie, test_live_memory, test_live_memory_without_maps)
