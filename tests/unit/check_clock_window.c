/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bounds of the difference between two clocks, maps, and trees of hosts: src/clock/{window,map_build,tree}.h. */
#include <glib.h>

#include "clock.h"
#include "clock/map_build.h"
#include "clock/tree.h"
#include "clock/window.h"
#include "unit.h"

#define BASE_NS UINT64_C(1700000000123456789)
#define SECOND_NS INT64_C(1000000000)

enum { RHO_PPB = 100000 };

/* ---- window ---- */

struct message {
	bool from_a;
	int64_t x, d; /* x: relative to BASE_NS */
};

/* The bounds from every pair of messages, without hull or buckets. false: no line fits. */
static bool bounds_of_all(const struct message *m, unsigned n, int64_t at, double *lo, double *hi)
{
	double least = -RHO_PPB * 1e-9, greatest = RHO_PPB * 1e-9, slopes[4096];
	unsigned n_slopes = 2;

	for (unsigned i = 0; i < n; i++) {
		for (unsigned j = 0; j < n; j++) {
			double slope = (double)(m[i].d - m[j].d) / (double)(m[i].x - m[j].x);

			if (!m[i].from_a && m[j].from_a && m[i].x > m[j].x)
				least = MAX(least, slope);
			if (!m[i].from_a && m[j].from_a && m[i].x < m[j].x)
				greatest = MIN(greatest, slope);
		}
	}
	if (least > greatest)
		return false;
	for (unsigned i = 0; i < n; i++) {
		for (unsigned j = 0; j < i; j++) {
			double slope = (double)(m[i].d - m[j].d) / (double)(m[i].x - m[j].x);

			if (m[i].from_a == m[j].from_a && slope > least && slope < greatest) {
				ck_assert_uint_lt(n_slopes, G_N_ELEMENTS(slopes));
				slopes[n_slopes++] = slope;
			}
		}
	}
	slopes[0] = least;
	slopes[1] = greatest;
	*lo = INFINITY;
	*hi = -INFINITY;
	for (unsigned s = 0; s < n_slopes; s++) {
		double above = INFINITY, below = -INFINITY;

		for (unsigned i = 0; i < n; i++) {
			double c = (double)m[i].d - slopes[s] * (double)(m[i].x - at);

			if (m[i].from_a)
				above = MIN(above, c);
			else
				below = MAX(below, c);
		}
		*hi = MAX(*hi, above);
		*lo = MIN(*lo, below);
	}
	return true;
}

START_TEST(test_window_against_all_pairs)
{
	uint64_t seed = 7;
	unsigned bound = 0, infeasible = 0;

	for (unsigned round = 0; round < 300; round++) {
		struct clock_window *w = clock_window_create(RHO_PPB, 0);
		struct message m[60];
		unsigned n = 4 + (unsigned)(random_unit(&seed) * 56);
		double skew = (random_unit(&seed) - 0.5) * 150e-6, lo, hi;
		/* Some rounds have a minimum latency below 0, so that no line fits. */
		double latency = round % 3 ? 50e3 : -5e3;
		struct clock_bound out;
		enum clock_window_result result;
		int64_t at;
		bool fits;

		m[0].from_a = false;
		for (unsigned i = 0; i < n; i++) {
			m[i].from_a = i ? i == 1 || random_unit(&seed) < 0.5 : false;
			m[i].x = (int64_t)(random_unit(&seed) * 10 * SECOND_NS);
			m[i].d = 123456789012 + (int64_t)(skew * (double)m[i].x);
			m[i].d += (int64_t)((m[i].from_a ? 1 : -1) * (latency + random_exponential(&seed, 100e3)));
			ck_assert(clock_window_add(w, m[i].from_a, BASE_NS + (uint64_t)m[i].x, m[i].d));
		}
		at = (int64_t)((random_unit(&seed) * 3 - 1) * 10 * SECOND_NS);
		fits = bounds_of_all(m, n, at, &lo, &hi);
		result = clock_window_solve(w, BASE_NS, BASE_NS + 10 * SECOND_NS, BASE_NS + (uint64_t)at, &out);
		ck_assert_int_eq(result, fits ? WINDOW_BOUND : WINDOW_INFEASIBLE);
		if (fits) {
			/* Rounded outwards; a double is accurate to about 1e-4 ns here. */
			ck_assert_double_le((double)out.lo_ns, lo + 0.01);
			ck_assert_double_gt((double)out.lo_ns, lo - 1.01);
			ck_assert_double_ge((double)out.hi_ns, hi - 0.01);
			ck_assert_double_lt((double)out.hi_ns, hi + 1.01);
			ck_assert_int_le(out.lo_ns, out.hi_ns);
			bound++;
		} else {
			infeasible++;
		}
		clock_window_destroy(w);
	}
	ck_assert_uint_ge(bound, 150);
	ck_assert_uint_ge(infeasible, 10);
}
END_TEST

START_TEST(test_window_far_points)
{
	struct clock_window *w = clock_window_create(RHO_PPB, 1000);
	struct clock_bound out;
	uint64_t first_ns, last_ns;

	ck_assert(!clock_window_span(w, &first_ns, &last_ns));
	ck_assert(clock_window_add(w, true, BASE_NS, 0));
	ck_assert_int_eq(clock_window_solve(w, 0, UINT64_MAX, BASE_NS, &out), WINDOW_EMPTY);
	ck_assert(!clock_window_add(w, false, BASE_NS, INT64_MIN));
	ck_assert(!clock_window_add(w, false, 0, 0));
	ck_assert(clock_window_add(w, false, BASE_NS + 4000000000, -100));
	ck_assert(clock_window_span(w, &first_ns, &last_ns));
	ck_assert_uint_eq(first_ns, BASE_NS);
	ck_assert_uint_eq(last_ns, BASE_NS + 4000000000);
	ck_assert_int_eq(clock_window_solve(w, 0, UINT64_MAX, BASE_NS, &out), WINDOW_BOUND);
	ck_assert(!out.both_ways);
	ck_assert_int_eq(out.hi_ns, 1);             /* rounded outwards */
	ck_assert_int_le(out.lo_ns, -100 - 400000); /* 4 s at 100 ppm */
	clock_window_trim(w, 1);
	ck_assert_int_eq(clock_window_solve(w, 0, UINT64_MAX, BASE_NS, &out), WINDOW_EMPTY);
	clock_window_destroy(w);
}
END_TEST

/* Products of the sums that hours of drift give do not fit into 64 bits. */
START_TEST(test_window_of_a_long_session)
{
	struct clock_window *w = clock_window_create(RHO_PPB, 0);
	const uint64_t late = BASE_NS + 36 * 3600 * (uint64_t)SECOND_NS;
	const int64_t apart = 36 * 3600 * (int64_t)100000; /* 100 ppm for all that time */
	struct clock_bound out;

	ck_assert(clock_window_add(w, true, BASE_NS, 0));
	ck_assert(clock_window_add(w, false, BASE_NS, 0));
	for (int i = 0; i <= 600; i++) {
		ck_assert(clock_window_add(w, true, late + (uint64_t)i * 100000000, apart + i * 1000 + 50));
		ck_assert(clock_window_add(w, false, late + (uint64_t)i * 100000000, apart + i * 1000 - 50));
	}
	ck_assert_int_eq(
		clock_window_solve(w, late, late + 60 * (uint64_t)SECOND_NS, late + 60 * (uint64_t)SECOND_NS, &out),
		WINDOW_BOUND);
	ck_assert_int_eq(out.lo_ns, apart + 600000 - 50);
	ck_assert_int_eq(out.hi_ns, apart + 600000 + 50);
	clock_window_destroy(w);
}
END_TEST

/* ---- maps ---- */

START_TEST(test_map)
{
	struct clock_map *map = clock_map_create();
	uint64_t seed = 3, last = 0, ref = BASE_NS + 5000000000, host = BASE_NS;

	ck_assert_uint_eq(clock_to_ref(NULL, 77), 77);
	ck_assert_uint_eq(clock_from_ref(map, 77), 77);
	ck_assert_uint_eq(clock_map_epoch(map), 0);
	clock_map_begin_epoch(map);
	ck_assert_uint_eq(clock_map_epoch(map), 1);
	for (unsigned n = 0; n < 20000; n++) {
		clock_map_add(map, host, ref, 50e-6);
		ck_assert_uint_le(clock_map_knots(map), CLOCK_MAP_KNOTS);
		host += 1 + (uint64_t)(random_unit(&seed) * 2e9);
		ref = clock_to_ref(map, host) + (uint64_t)(random_unit(&seed) * 1e5);
	}
	for (double t = -5e9; t < (double)(host - BASE_NS) + 5e9; t += 1e8 * random_unit(&seed)) {
		uint64_t own = BASE_NS + (uint64_t)(int64_t)t, there = clock_to_ref(map, own);

		ck_assert_uint_ge(there, last);
		ck_assert_uint_le(there - clock_to_ref(map, own - 1), 2);
		ck_assert_uint_le(clock_from_ref(map, there) - own + 1, 2);
		ck_assert_uint_ge(clock_to_ref(map, clock_from_ref(map, there)), there);
		ck_assert_uint_lt(clock_to_ref(map, clock_from_ref(map, there) - 1), there);
		last = there;
	}
	clock_map_reset(map);
	ck_assert_uint_eq(clock_to_ref(map, 5), 5);
	ck_assert_uint_eq(clock_map_epoch(map), 2);
	clock_map_reset(map);
	ck_assert_uint_eq(clock_map_epoch(map), 2);
	clock_map_destroy(map);
}
END_TEST

START_TEST(test_map_keeps_what_was)
{
	struct clock_map *map = clock_map_create();
	uint64_t before[100];

	clock_map_begin_epoch(map);
	clock_map_add(map, 1000000, 2000000, 0);
	clock_map_add(map, 3000000, 4000500, 0);
	for (unsigned n = 0; n < 100; n++)
		before[n] = clock_to_ref(map, 1000000 + n * 10000);
	clock_map_cut(map, 2000000);
	clock_map_add(map, 4000000, 4500000, 0); /* a new line, far below: the map bends, by half at most */
	for (unsigned n = 0; n < 100; n++)
		ck_assert_uint_eq(clock_to_ref(map, 1000000 + n * 10000), before[n]);
	for (uint64_t t = 2000000; t < 5000000; t += 777)
		ck_assert_uint_ge(clock_to_ref(map, t + 777), clock_to_ref(map, t) + 777 / 2);
	/* A line that would step back. */
	clock_map_cut(map, 4500000);
	clock_map_add(map, 5500000, 1000000, 0);
	for (uint64_t t = 4000000; t < 7000000; t += 777)
		ck_assert_uint_gt(clock_to_ref(map, t + 777), clock_to_ref(map, t));
	clock_map_destroy(map);
}
END_TEST

/* ---- trees ---- */

START_TEST(test_map_before_1970)
{
	struct clock_map *map = clock_map_create();

	/* the reference had no date yet: what it does not count from 0 is its first time */
	clock_map_add(map, 1000, (uint64_t)-5000, 0);
	ck_assert_uint_eq(clock_to_ref(map, 2000), 0);
	ck_assert_uint_eq(clock_to_ref(map, 7000), 1000);
	ck_assert_uint_eq(clock_from_ref(map, 1000), 7000);
	clock_map_cut(map, 2000);
	ck_assert_uint_eq(clock_to_ref(map, 7000), 1000);
	clock_map_destroy(map);

	/* nor did the host */
	map = clock_map_create();
	clock_map_add(map, 1000, 9000, 0);
	ck_assert_uint_eq(clock_from_ref(map, 2000), 0);
	ck_assert_uint_eq(clock_from_ref(map, 8500), 500);
	clock_map_destroy(map);
}
END_TEST

START_TEST(test_tree)
{
	/*       5          1         1
	 *  0 ─────── 1 ─────── 2 ─────── 3    4 ── 5
	 *   ╲________╱ 9 left out                      */
	struct clock_edge edges[] = {
		{ 0, 2, 9, 0 }, { 0, 1, 5, 1 }, { 4, 5, 2, 2 }, { 2, 3, 1, 3 }, { 1, 2, 1, 4 },
	};
	const unsigned rank[] = { 5, 4, 3, 2, 1, 0 };
	unsigned tree[6], order[6], edge[6], n = clock_tree_span(6, edges, G_N_ELEMENTS(edges));

	ck_assert_uint_eq(n, 4);
	for (unsigned e = 0; e < n; e++)
		ck_assert_uint_ne(edges[e].id, 0);
	clock_tree_mark(6, edges, n, tree);
	ck_assert(tree[0] == 0 && tree[1] == 0 && tree[2] == 0 && tree[3] == 0 && tree[4] == 4 && tree[5] == 4);
	ck_assert_uint_eq(clock_tree_centre(6, edges, n, 3, rank), 1); /* 5 and 2 away; 2: 6 and 1 */
	ck_assert_uint_eq(clock_tree_centre(6, edges, n, 4, rank), 5); /* a tie: the lower rank */
	ck_assert_uint_eq(clock_tree_walk(6, edges, n, 1, order, edge), 4);
	ck_assert_uint_eq(order[0], 1);
	ck_assert_uint_eq(order[3], 3);
	ck_assert_uint_eq(edges[edge[3]].id, 3);
	ck_assert_uint_eq(edge[1], UINT_MAX);
}
END_TEST

/* ---- long recordings ---- */

enum { LONG_S = 4000, PER_S = 20, FEW_BUCKETS = 100, WANDER_PPB = 1000 };

/* What the difference is: it drifts, its drift wanders by half a ppm, and halfway it jumps. */
static double long_truth(double s, double jump_ns)
{
	return 1e9 + 20e3 * s + 80e3 * sin(2 * G_PI * s / 1000) + (s < LONG_S / 2 ? 0 : jump_ns);
}

/* Adds messages of a long recording to two windows, one of which is limited to few buckets. */
static void add_long(struct clock_window *fine, struct clock_window *coarse, double jump_ns)
{
	uint64_t seed = 11;

	for (unsigned i = 0; i < LONG_S * PER_S; i++) {
		const double s = (double)i / PER_S;
		const bool from_a = random_unit(&seed) < 0.5;
		const double latency_ns = 20e3 + random_exponential(&seed, 50e3);
		const int64_t d_ns = (int64_t)(long_truth(s, jump_ns) + (from_a ? latency_ns : -latency_ns));
		const uint64_t x_ns = BASE_NS + (uint64_t)i * (SECOND_NS / PER_S);

		ck_assert(clock_window_add(fine, from_a, x_ns, d_ns));
		ck_assert(clock_window_add(coarse, from_a, x_ns, d_ns));
		clock_window_coarsen(coarse, FEW_BUCKETS);
	}
}

/* The same window, by its bytes. Returns their number. */
static guint pack(const struct clock_window *w, struct clock_window **again)
{
	GByteArray *bytes = g_byte_array_new();
	struct unpack in;
	guint len;

	clock_window_pack(w, bytes);
	len = bytes->len;
	*again = clock_window_create(RHO_PPB, WANDER_PPB);
	in = (struct unpack){ .at = bytes->data, .end = bytes->data + len };
	clock_window_unpack(*again, &in);
	ck_assert(!in.failed);
	g_byte_array_free(bytes, TRUE);
	return len;
}

static enum clock_window_result solve_around(struct clock_window *w, unsigned s, struct clock_bound *out)
{
	const uint64_t x_ns = BASE_NS + s * (uint64_t)SECOND_NS, window_ns = 60 * (uint64_t)SECOND_NS;

	return clock_window_solve(w, x_ns - window_ns, x_ns + window_ns, x_ns, out);
}

/* Few buckets bound the difference less closely, but truly. */
START_TEST(test_window_coarse)
{
	struct clock_window *fine = clock_window_create(RHO_PPB, WANDER_PPB);
	struct clock_window *coarse = clock_window_create(RHO_PPB, WANDER_PPB);
	struct clock_window *fine_again, *coarse_again;
	struct clock_bound close, wide, again;

	add_long(fine, coarse, 0);
	ck_assert_uint_lt(pack(coarse, &coarse_again) * 4, pack(fine, &fine_again));
	for (unsigned s = 0; s < LONG_S; s += 7) {
		const double truth = long_truth(s, 0);

		ck_assert_int_eq(solve_around(fine, s, &close), WINDOW_BOUND);
		ck_assert_int_eq(solve_around(coarse, s, &wide), WINDOW_BOUND);
		ck_assert_double_le((double)close.lo_ns, truth);
		ck_assert_double_ge((double)close.hi_ns, truth);
		ck_assert_double_le((double)wide.lo_ns, truth);
		ck_assert_double_ge((double)wide.hi_ns, truth);
		ck_assert_int_eq(solve_around(coarse_again, s, &again), WINDOW_BOUND);
		ck_assert(again.lo_ns == wide.lo_ns && again.hi_ns == wide.hi_ns);
		/* a bucket is 64 s long by then, in which the wander makes up 64 us on each side */
		ck_assert_int_lt(wide.hi_ns - wide.lo_ns, close.hi_ns - close.lo_ns + 128000);
	}
	clock_window_destroy(fine_again);
	clock_window_destroy(coarse_again);
	clock_window_destroy(fine);
	clock_window_destroy(coarse);
}
END_TEST

/* A jump is found, and what is before and after it remains separate; no line fits in between. */
static void expect_jump(double jump_ns)
{
	struct clock_window *fine = clock_window_create(RHO_PPB, WANDER_PPB);
	struct clock_window *coarse = clock_window_create(RHO_PPB, WANDER_PPB);
	GArray *stretches;
	unsigned solved = 0;

	add_long(fine, coarse, jump_ns);
	stretches = clock_window_split(coarse);
	ck_assert_ptr_nonnull(stretches);
	ck_assert_uint_eq(stretches->len, 2);
	for (unsigned n = 0; n < 2; n++) {
		const struct clock_stretch *stretch = &g_array_index(stretches, struct clock_stretch, n);

		for (unsigned s = 0; s < LONG_S; s += 7) {
			const uint64_t x_ns = BASE_NS + s * (uint64_t)SECOND_NS;
			const double truth = long_truth(s, jump_ns);
			struct clock_bound out;

			if (x_ns < stretch->first_ns || x_ns > stretch->last_ns)
				continue;
			ck_assert_int_eq(solve_around(stretch->window, s, &out), WINDOW_BOUND);
			ck_assert_double_le((double)out.lo_ns, truth);
			ck_assert_double_ge((double)out.hi_ns, truth);
			solved++;
		}
	}
	ck_assert_uint_gt(solved, (LONG_S - 200) / 7);
	g_array_free(stretches, TRUE);
	clock_window_destroy(fine);
	clock_window_destroy(coarse);
}

START_TEST(test_window_coarse_jump)
{
	expect_jump(50e6);
	expect_jump(-3e6);
}
END_TEST

UNIT_MAIN("clock_window", test_window_against_all_pairs, test_window_far_points, test_window_of_a_long_session,
	  test_map, test_map_keeps_what_was, test_map_before_1970, test_tree, test_window_coarse,
	  test_window_coarse_jump)
