/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lag of live hosts with clocks that drift, are set or stop, and of readers that are too slow. */
#include "unit.h"

#include "base/nstime.h"
#include "ingest/lag.h"

#define BASE_NS (1700000000 * NS_PER_S)
#define DELAY_NS (50 * NS_PER_MS)

struct run {
	struct host_lag lag;
	uint64_t host_ns, now_ns; /* the time of the last record read, and ours */
	uint64_t lag_ns;
};

/* A host whose clock is ahead of ours by off_s. */
static struct run begin(int64_t off_s)
{
	struct run r = { .host_ns = BASE_NS + (uint64_t)off_s * NS_PER_S, .now_ns = BASE_NS + DELAY_NS };

	lag_forget(&r.lag);
	return r;
}

/* What was recorded in host_ns of the host's time is read in now_ns of ours, in n steps of the same size. */
static void read_on(struct run *r, uint64_t host_ns, uint64_t now_ns, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		r->host_ns += host_ns / n;
		r->now_ns += now_ns / n;
		r->lag_ns = lag_measure(&r->lag, r->host_ns, r->now_ns);
	}
}

static void expect_lag(const struct run *r, double from_s, double to_s)
{
	ck_assert_double_ge((double)r->lag_ns / NS_PER_S, from_s);
	ck_assert_double_le((double)r->lag_ns / NS_PER_S, to_s);
}

static const int64_t OFFSETS_S[] = { 0, -1, 1, -17, 17, 3600, -1699999999 };

/* A week of a clock that is too slow or too fast by 50 ppm, which makes 30 s. */
START_TEST(test_drift)
{
	for (unsigned i = 0; i < sizeof(OFFSETS_S) / sizeof(OFFSETS_S[0]); i++) {
		for (int faster = 0; faster < 2; faster++) {
			struct run r = begin(OFFSETS_S[i]);

			for (unsigned minute = 0; minute < 7 * 24 * 60; minute++) {
				read_on(&r, 60 * (NS_PER_S + 50000) - faster * 60 * UINT64_C(100000), 60 * NS_PER_S,
					60);
				expect_lag(&r, 0, 2.1);
			}
			expect_lag(&r, 0, 0.1);
		}
	}
}
END_TEST

/* A reader that gets only 95 seconds of the host's time read in 100. */
START_TEST(test_slow_reader)
{
	for (unsigned i = 0; i < sizeof(OFFSETS_S) / sizeof(OFFSETS_S[0]); i++) {
		struct run r = begin(OFFSETS_S[i]);

		read_on(&r, NS_PER_S, NS_PER_S, 20);
		read_on(&r, 3600 * NS_PER_S * 95 / 100, 3600 * NS_PER_S, 36000);
		expect_lag(&r, 176, 181.1);
	}
}
END_TEST

/* Data that comes late is followed by faster data until all of it is there. */
START_TEST(test_late_data)
{
	for (unsigned i = 0; i < sizeof(OFFSETS_S) / sizeof(OFFSETS_S[0]); i++) {
		struct run r = begin(OFFSETS_S[i]);

		read_on(&r, 60 * NS_PER_S, 60 * NS_PER_S, 600);
		r.now_ns += 30 * NS_PER_S;
		for (double left_s = 29; left_s > 0; left_s--) {
			read_on(&r, 2 * NS_PER_S, NS_PER_S, 10);
			expect_lag(&r, left_s - 1.1, left_s + 1.1);
		}
		read_on(&r, 2 * NS_PER_S, NS_PER_S, 10);
		expect_lag(&r, 0, 1.1);
	}
}
END_TEST

/* The host was suspended, which stops its clock; or ours was set. It takes some seconds until this is known. */
START_TEST(test_jumps)
{
	static const int64_t jumps_s[] = { 8 * 3600, 30, -60, 3 };

	for (unsigned i = 0; i < sizeof(OFFSETS_S) / sizeof(OFFSETS_S[0]); i++) {
		struct run r = begin(OFFSETS_S[i]);

		for (unsigned n = 0; n < sizeof(jumps_s) / sizeof(jumps_s[0]); n++) {
			read_on(&r, 60 * NS_PER_S, 60 * NS_PER_S, 600);
			expect_lag(&r, 0, 2.1);
			r.now_ns += (uint64_t)jumps_s[n] * NS_PER_S;
			read_on(&r, NS_PER_S, NS_PER_S, 10);
			if (jumps_s[n] > 4)
				expect_lag(&r, (double)jumps_s[n] - 2.1, (double)jumps_s[n] + 2.1);
			read_on(&r, 10 * NS_PER_S, 10 * NS_PER_S, 100);
			expect_lag(&r, 0, 2.1);
		}
	}
}
END_TEST

/* The same if data comes every 5 seconds. */
START_TEST(test_jump_of_a_quiet_host)
{
	struct run r = begin(0);

	for (unsigned n = 0; n < 100; n++) {
		if (n == 50)
			r.now_ns += 3600 * NS_PER_S;
		read_on(&r, NS_PER_S, 5 * NS_PER_S, 1);
		read_on(&r, 4 * NS_PER_S, 0, 1);
	}
	expect_lag(&r, 0, 0.1);
}
END_TEST

UNIT_MAIN("lag", test_drift, test_slow_reader, test_late_data, test_jumps, test_jump_of_a_quiet_host)
