/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The history must return, for any interval, what the simulator recorded. */
#include "base/nstime.h"
#include "history/bytes.h"
#include "sim.h"

START_TEST(test_random_intervals)
{
	struct history *h = history_create(256 << 20);
	struct sim sim;

	sim_init(&sim, 1);
	ck_assert_uint_eq(history_add_track(h), 0);
	for (int i = 0; i < 150; i++)
		sim_frame(&sim, h, 0, SECOND);
	ck_assert_uint_eq(history_frames(h, 0), 150);
	assert_random_loads(&sim, h, 0, 150);
	sim_release(&sim);
	history_destroy(h);
}
END_TEST

/* Every interval between remaining edges has its figures, whatever was merged or dropped. */
START_TEST(test_thinned_intervals)
{
	static const size_t limits[] = { 94200 * TABLES, 81200 * TABLES };

	for (unsigned l = 0; l < G_N_ELEMENTS(limits); l++) {
		struct history *h = history_create(limits[l]);
		struct sim sim;
		unsigned n;

		sim_init(&sim, 77 + l);
		history_add_track(h);
		for (int i = 0; i < 700; i++) {
			sim_frame(&sim, h, 0, SECOND);
			ck_assert_uint_le(history_bytes(h), history_limit(h));
			if (i % 175 == 174)
				assert_random_loads(&sim, h, 0, 15);
		}
		n = history_frames(h, 0);
		ck_assert_uint_lt(n, 700);
		assert_every_frame(&sim, h, 0);
		sim_release(&sim);
		history_destroy(h);
	}
}
END_TEST

/* Less room than one state needs: it continues with the minimum. */
START_TEST(test_no_room)
{
	struct history *h = history_create(1000);
	struct sim sim[2];

	for (unsigned i = 0; i < 2; i++) {
		sim_init(&sim[i], 5 + i);
		history_add_track(h);
	}
	for (int i = 0; i < 100; i++) {
		for (unsigned k = 0; k < 2; k++) {
			sim_frame(&sim[k], h, k, SECOND);
			ck_assert_uint_ge(history_frames(h, k), 1);
			ck_assert_uint_le(history_frames(h, k), 2);
			assert_random_loads(&sim[k], h, k, 1);
		}
	}
	for (unsigned k = 0; k < 2; k++)
		sim_release(&sim[k]);
	history_destroy(h);
}
END_TEST

/*
 * Tracks that start at different times, on clocks of which one is 2.35 s ahead and one 10 ms, keep the same edges where
 * both are thinned, though they are 3 ms beside the grid; and the oldest data of all is dropped first.
 */
START_TEST(test_tracks_share_edges)
{
	struct history *h = history_create(1500 << 10);
	struct sim sim[3];
	const uint64_t ahead_ns[] = { 0, 2350 * NS_PER_MS, 10 * NS_PER_MS };
	const int64_t beside_ns[] = { 0, -3000000, 3000000 };
	uint64_t begin[3], end_ns;
	unsigned merged = 0;

	history_set_grid(h, ORIGIN_NS, SECOND);
	for (unsigned k = 0; k < 3; k++) {
		sim_init(&sim[k], 50 + k);
		sim[k].tables = 1u << TABLE_THREAD | 1u << TABLE_HOST;
		sim[k].now_ns += k * 7 * (uint64_t)SECOND + ahead_ns[k];
		history_set_ahead(h, history_add_track(h), (int64_t)ahead_ns[k] + beside_ns[k]);
	}
	for (int i = 0; i < 900; i++)
		for (unsigned k = 0; k < 3; k++)
			sim_frame(&sim[k], h, k, SECOND);
	ck_assert_uint_le(history_bytes(h), history_limit(h));
	for (unsigned k = 0; k < 3; k++) {
		struct frame_summary f[900];
		unsigned n;

		ck_assert(history_range(h, k, &begin[k], &end_ns));
		n = history_summaries(h, k, 0, UINT64_MAX, f, 900);
		ck_assert_uint_eq(n, history_frames(h, k));
		ck_assert_uint_lt(n, 890);
		for (unsigned i = 1; i + 1 < n; i++) {
			const uint64_t first_s = (f[i].begin_ns - ahead_ns[k] - ORIGIN_NS) / SECOND;
			const uint64_t len_s = (f[i].end_ns - f[i].begin_ns) / SECOND;

			ck_assert_uint_eq(f[i].begin_ns, f[i - 1].end_ns);
			/* what is left of a span whose first frames have too much data may be merged, too */
			ck_assert_uint_eq(first_s / 60, (first_s + len_s - 1) / 60);
			if (len_s == 10 || len_s == 60) {
				ck_assert_uint_eq(first_s % len_s, 0);
				merged++;
			}
		}
		assert_random_loads(&sim[k], h, k, 30);
	}
	ck_assert_uint_gt(merged, 8);
	for (unsigned k = 0; k < 3; k++)
		sim_release(&sim[k]);
	history_destroy(h);
}
END_TEST

static uint64_t total(const struct history_load *load, unsigned table, unsigned cell)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < load->interval.tables[table].n_rows; i++)
		sum += interval_value(&load->interval, table, &load->interval.tables[table].rows[i], cell);
	return sum;
}

/* play = seek + play: the figures of an interval are the sums over its parts. */
START_TEST(test_parts_sum_up)
{
	struct history *h = history_create(256 << 20);
	struct history_load whole, part;
	struct sim sim;

	sim_init(&sim, 3);
	history_add_track(h);
	for (int i = 0; i < 130; i++)
		sim_frame(&sim, h, 0, SECOND);
	history_load_init(&whole);
	history_load_init(&part);
	ck_assert_int_eq(history_load(h, 0, sim_edge(&sim, 10), sim_edge(&sim, 125), STATE_ALL_TABLES, &whole), LT_OK);
	for (int i = 0; i < TABLES; i++) {
		for (unsigned k = 1; k < table_descs[i].n_cells; k++) {
			uint64_t sum = 0;

			if (table_descs[i].cells[k].kind != CELL_COUNTER)
				continue;
			for (unsigned edge = 10; edge < 125; edge += 23) {
				ck_assert_int_eq(history_load(h, 0, sim_edge(&sim, edge), sim_edge(&sim, edge + 23),
							      1u << i, &part),
						 LT_OK);
				sum += total(&part, i, k);
			}
			ck_assert_uint_eq(sum, total(&whole, i, k));
		}
	}
	history_load_release(&part);
	history_load_release(&whole);
	sim_release(&sim);
	history_destroy(h);
}
END_TEST

START_TEST(test_snapping)
{
	struct history *h = history_create(1 << 20);
	struct history_load load;
	struct sim sim;
	uint64_t begin_ns, end_ns;

	sim_init(&sim, 9);
	history_add_track(h);
	history_load_init(&load);
	ck_assert(!history_range(h, 0, &begin_ns, &end_ns));
	ck_assert_uint_eq(history_edge_floor(h, 0, 5), 0);
	ck_assert_uint_eq(history_edge_ceil(h, 0, 5), 0);
	ck_assert_int_eq(history_load(h, 0, 0, UINT64_MAX, 1, &load), LT_END);
	for (int i = 0; i < 5; i++)
		sim_frame(&sim, h, 0, SECOND);
	ck_assert(history_range(h, 0, &begin_ns, &end_ns));
	ck_assert_uint_eq(begin_ns, ORIGIN_NS);
	ck_assert_uint_eq(end_ns, ORIGIN_NS + 5 * (uint64_t)SECOND);
	ck_assert_uint_eq(history_edge_floor(h, 0, 5), begin_ns);
	ck_assert_uint_eq(history_edge_ceil(h, 0, UINT64_MAX), end_ns);
	ck_assert_uint_eq(history_edge_ceil(h, 0, begin_ns + 1), begin_ns + SECOND);
	ck_assert_uint_eq(history_edge_floor(h, 0, end_ns - 1), end_ns - SECOND);

	/* before and after the recording there is nothing */
	ck_assert_int_eq(history_load(h, 0, 0, begin_ns, 1, &load), LT_END);
	ck_assert_int_eq(history_load(h, 0, end_ns, UINT64_MAX, 1, &load), LT_END);
	/* inside a frame: the edge before it */
	ck_assert_int_eq(history_load(h, 0, begin_ns + SECOND + 5, begin_ns + SECOND + 6, 1, &load), LT_OK);
	ck_assert_uint_eq(load.interval.begin_ns, begin_ns);
	ck_assert_uint_eq(load.interval.end_ns, begin_ns + SECOND);
	/* inside the first frame: that frame */
	ck_assert_int_eq(history_load(h, 0, begin_ns, begin_ns + 6, 1, &load), LT_OK);
	ck_assert_uint_eq(load.interval.end_ns, begin_ns + SECOND);
	/* both rounded down, and cut at the ends of the recording */
	ck_assert_int_eq(history_load(h, 0, 0, begin_ns + 5 * (uint64_t)SECOND / 2, 1, &load), LT_OK);
	ck_assert_uint_eq(load.interval.begin_ns, begin_ns);
	ck_assert_uint_eq(load.interval.end_ns, begin_ns + 2 * (uint64_t)SECOND);
	/* only the tables requested */
	ck_assert_uint_eq(load.interval.tables[TABLE_THREAD].n_rows, 0);
	ck_assert_uint_eq(load.end.tables[TABLE_THREAD].n_alive, 0);
	history_load_release(&load);
	sim_release(&sim);
	history_destroy(h);
}
END_TEST

/* Later events do not change the past. */
START_TEST(test_past_stays)
{
	struct history *h = history_create(256 << 20);
	struct history_load load;
	struct sim sim;

	sim_init(&sim, 21);
	history_add_track(h);
	history_load_init(&load);
	for (int i = 0; i < 90; i++) {
		sim_frame(&sim, h, 0, SECOND);
		assert_load(&sim, h, 0, MIN(i, 40), MIN(i, 40) + 1, &load);
	}
	for (unsigned i = 90; i-- > 0;)
		assert_load(&sim, h, 0, i, i + 1, &load);
	history_load_release(&load);
	sim_release(&sim);
	history_destroy(h);
}
END_TEST

/* Detached for some time, during which the model continues unseen. */
START_TEST(test_gap)
{
	struct history *h = history_create(256 << 20);
	struct frame_summary f[200];
	struct history_load load;
	struct sim sim;

	sim_init(&sim, 33);
	history_add_track(h);
	for (int i = 0; i < 30; i++)
		sim_frame(&sim, h, 0, SECOND);
	for (int i = 0; i < 10; i++) {
		sim_play(&sim, sim.now_ns + SECOND);
		sim_next_frame(&sim);
	}
	sim_play(&sim, sim.now_ns + SECOND);
	history_append(h, 0, &sim.state, sim.now_ns - SECOND, sim.now_ns);
	sim_record(&sim);
	sim_next_frame(&sim);
	for (int i = 0; i < 30; i++)
		sim_frame(&sim, h, 0, SECOND);
	ck_assert_uint_eq(history_frames(h, 0), 62);
	ck_assert_uint_eq(history_summaries(h, 0, 0, UINT64_MAX, f, 200), 62);
	for (unsigned i = 0; i < 62; i++) {
		ck_assert_int_eq(f[i].gap, i == 30);
		ck_assert_uint_eq(f[i].end_ns - f[i].begin_ns, i == 30 ? 10 * (uint64_t)SECOND : SECOND);
	}
	history_load_init(&load);
	for (unsigned i = 31; i < 61; i++)
		assert_load(&sim, h, 0, i, i + 1, &load);
	assert_load(&sim, h, 0, 31, 61, &load);
	history_load_release(&load);
	sim_release(&sim);
	history_destroy(h);
}
END_TEST

/*
 * In a long past, frames are long at first and get shorter, down to the length with which they were appended. Counts
 * them by length: 1, 10, 60, 600, 3600.
 */
static void count_lengths(const struct history *h, unsigned track, unsigned of[5])
{
	static const uint64_t lengths_s[] = { 1, 10, 60, 600, 3600 };
	unsigned n = history_frames(h, track);
	struct frame_summary *f = g_new(struct frame_summary, n);
	uint64_t last_s = 3600;

	ck_assert_uint_eq(history_summaries(h, track, 0, UINT64_MAX, f, n), n);
	/* the oldest may have been cut by dropping, and those between two lengths by the grid */
	for (unsigned i = 1; i < n; i++) {
		uint64_t length_s = (f[i].end_ns - f[i].begin_ns) / SECOND;

		ck_assert_uint_eq(f[i].begin_ns, f[i - 1].end_ns);
		ck_assert_uint_le(length_s, 3600);
		for (unsigned k = 0; k < G_N_ELEMENTS(lengths_s); k++) {
			if (length_s != lengths_s[k])
				continue;
			of[k]++;
			ck_assert_uint_le(length_s, last_s);
			last_s = length_s;
		}
	}
	g_free(f);
}

/* Frames of every length over a day: intervals between remaining edges keep their figures, whatever was merged. */
START_TEST(test_long_past)
{
	enum { FRAMES_MAX = 30000, ALL = (1 << 5) - 1 };
	struct history *h = history_create(510000);
	unsigned of[5] = { 0 }, seen = 0;
	struct sim sim;

	sim_init(&sim, 4711);
	sim.rows = 4;
	sim.tables = 1u << TABLE_THREAD | 1u << TABLE_DISK;
	history_add_track(h);
	for (int i = 0; i < FRAMES_MAX && seen != ALL; i++) {
		/* after the first rows, few come and go: lives within a frame are kept, and prevent merging */
		sim.churn = i < 3 ? 16 : i % 1000 == 999 ? 8 : 0;
		sim_frame(&sim, h, 0, SECOND);
		ck_assert_uint_le(history_bytes(h), history_limit(h));
		if (i % 1200 != 1199)
			continue;
		assert_random_loads(&sim, h, 0, 5);
		count_lengths(h, 0, of);
		for (unsigned k = 0; k < G_N_ELEMENTS(of); k++)
			seen |= (of[k] > 0) << k;
	}
	ck_assert_uint_eq(seen, ALL);
	assert_every_frame(&sim, h, 0);
	sim_release(&sim);
	history_destroy(h);
}
END_TEST

/* The number of keys within chunks. */
static unsigned inner_keys(const struct history *h, unsigned track)
{
	const struct track *t = history_track(h, track);
	unsigned n = 0;

	for (unsigned i = 0; i < t->chunks->len; i++)
		for (unsigned k = 1; k < track_chunk(t, i)->n_frames; k++)
			n += track_chunk(t, i)->frames[k].data_begin != track_chunk(t, i)->frames[k - 1].data_end;
	return n;
}

/* A chunk that must continue to the end of a longer frame has keys inside: reading starts at any of them. */
START_TEST(test_inner_keys)
{
	struct history *h = history_create(700000);
	unsigned seen = 0;
	struct sim sim;

	sim_init(&sim, 99);
	sim.tables = 1u << TABLE_THREAD | 1u << TABLE_IRQ;
	sim.rows = 60;
	history_add_track(h);
	for (int i = 0; i < 2400; i++) {
		sim.churn = i < 40 ? 32 : i % 100 == 99 ? 8 : 0;
		sim_frame(&sim, h, 0, SECOND);
		if (i % 300 != 299)
			continue;
		seen += inner_keys(h, 0);
		assert_random_loads(&sim, h, 0, 30);
	}
	ck_assert_uint_gt(seen, 0);
	assert_every_frame(&sim, h, 0);
	sim_release(&sim);
	history_destroy(h);
}
END_TEST

/* Short lives: kept with their counters, also when merged; those that counted nothing, until they are merged. */
START_TEST(test_brief_lives)
{
	struct history *h = history_create(900000);
	struct history_load load;
	struct host_state s;
	uint64_t t = ORIGIN_NS, begin_ns, end_ns;
	unsigned n = 0, of[5] = { 0 };

	state_init(&s);
	history_add_track(h);
	for (int i = 0; i < 8000; i++, t += SECOND) {
		for (int k = 0; k < 20; k++) {
			uint32_t row = state_add(&s, TABLE_THREAD);

			STATE_ROW(&s, THREAD, thread, row)->tid = 1000 + k;
			STATE_ROW(&s, THREAD, thread, row)->cpu_ns = k;
			state_end(&s, TABLE_THREAD, row);
		}
		history_append(h, 0, &s, t, t + SECOND);
		state_extremes_clear_dirty(&s);
		state_reap(&s, NULL, NULL);
		state_frame_begin(&s);
	}
	ck_assert_uint_le(history_bytes(h), 900000);
	ck_assert_uint_lt(history_frames(h, 0), 8000);
	ck_assert(history_range(h, 0, &begin_ns, &end_ns));
	count_lengths(h, 0, of);
	for (unsigned k = 0; k < 3; k++)
		ck_assert_uint_gt(of[k], 5);
	history_load_init(&load);
	ck_assert_int_eq(history_load(h, 0, begin_ns, end_ns, STATE_ALL_TABLES, &load), LT_OK);
	n = (end_ns - begin_ns) / SECOND;
	ck_assert_uint_eq(load.interval.tables[TABLE_THREAD].n_rows, 19 * n + of[0]);
	ck_assert_uint_eq(total(&load, TABLE_THREAD, CELL(thread, cpu_ns)), 190 * (uint64_t)n);
	ck_assert_uint_eq(load.end.tables[TABLE_THREAD].n_alive, 0);
	history_load_release(&load);
	state_release(&s);
	history_destroy(h);
}
END_TEST

START_TEST(test_summaries)
{
	struct history *h = history_create(1 << 20);
	struct frame_summary f[8];
	struct host_state s;
	uint64_t t = ORIGIN_NS;
	uint32_t cpu[2], host;

	state_init(&s);
	history_add_track(h);
	host = state_add(&s, TABLE_HOST);
	for (int k = 0; k < 2; k++) {
		cpu[k] = state_add(&s, TABLE_CPU);
		STATE_ROW(&s, CPU, cpu, cpu[k])->state = k ? CPU_BUSY : CPU_IDLE;
		STATE_ROW(&s, CPU, cpu, cpu[k])->since_ns = t;
	}
	for (int i = 0; i < 3; i++, t += SECOND) {
		if (i == 1) {
			STATE_ROW(&s, HOST, host, host)->lost_events += 5;
			state_touch(&s, TABLE_HOST, host);
		}
		if (i == 2) {
			/* the idle CPU goes offline in the middle */
			struct cpu_row *c = STATE_ROW(&s, CPU, cpu, cpu[0]);

			c->idle_ns += 2 * (uint64_t)SECOND + SECOND / 2;
			c->online_ns += 2 * (uint64_t)SECOND + SECOND / 2;
			c->since_ns = t + SECOND / 2;
			c->state = CPU_OFFLINE;
			state_touch(&s, TABLE_CPU, cpu[0]);
		}
		history_append(h, 0, &s, t, t + SECOND);
		state_extremes_clear_dirty(&s);
		state_reap(&s, NULL, NULL);
		state_frame_begin(&s);
	}
	ck_assert_uint_eq(history_summaries(h, 0, ORIGIN_NS, t, f, 8), 3);
	ck_assert_uint_eq(f[0].busy_permille, 500);
	ck_assert_uint_eq(f[1].busy_permille, 500);
	ck_assert_uint_eq(f[2].busy_permille, 667);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(f[i].lost, i == 1);
		ck_assert(!f[i].gap);
	}
	ck_assert_uint_eq(history_summaries(h, 0, ORIGIN_NS, t, f, 2), 2);
	ck_assert_uint_eq(history_summaries(h, 0, ORIGIN_NS + SECOND, ORIGIN_NS + SECOND + 1, f, 8), 1);
	ck_assert_uint_eq(f[0].begin_ns, ORIGIN_NS + SECOND);
	ck_assert_uint_eq(history_summaries(h, 0, t, t + SECOND, f, 8), 0);
	state_release(&s);
	history_destroy(h);
}
END_TEST

/* A track that has ended keeps only its frames, and these only while there is room. */
START_TEST(test_ended_track)
{
	static const size_t limits[] = { 256 << 20, 1000 };

	for (unsigned l = 0; l < G_N_ELEMENTS(limits); l++) {
		struct history *h = history_create(limits[l]);
		struct sim sim[2];
		size_t bytes;

		for (unsigned k = 0; k < 2; k++) {
			sim_init(&sim[k], 91 + k);
			history_add_track(h);
		}
		for (int i = 0; i < 40; i++)
			sim_frame(&sim[0], h, 0, SECOND);
		bytes = history_bytes(h);
		history_end_track(h, 0);
		ck_assert_uint_lt(history_bytes(h), bytes - sim[0].state.bytes);
		assert_random_loads(&sim[0], h, 0, 10);
		for (int i = 0; i < 40; i++)
			sim_frame(&sim[1], h, 1, SECOND);
		ck_assert_uint_eq(history_frames(h, 0), l ? 0 : 40);
		assert_random_loads(&sim[1], h, 1, 10);
		for (unsigned k = 0; k < 2; k++)
			sim_release(&sim[k]);
		history_destroy(h);
	}
}
END_TEST

/* A buffer keeps its bytes as it grows and shrinks past the size from which on it is mapped. */
START_TEST(test_large_bytes)
{
	enum { PIECE = 1000, PIECES = 1000 };
	struct bytes b = { 0 };
	uint8_t piece[PIECE];

	for (unsigned i = 0; i < PIECES; i++) {
		memset(piece, (int)(i % 251), PIECE);
		bytes_append(&b, piece, PIECE);
		ck_assert_uint_ge(b.capacity, b.len);
	}
	for (unsigned n = PIECES; n; n /= 2) {
		b.len = n * PIECE;
		bytes_fit(&b);
		ck_assert_uint_lt(b.capacity, (n + 1) * PIECE);
		for (unsigned i = 0; i < n; i++) {
			memset(piece, (int)(i % 251), PIECE);
			ck_assert_mem_eq(b.data + i * PIECE, piece, PIECE);
		}
	}
	bytes_release(&b);
	ck_assert_ptr_null(b.data);
}
END_TEST

UNIT_MAIN("history", test_random_intervals, test_thinned_intervals, test_no_room, test_tracks_share_edges,
	  test_parts_sum_up, test_snapping, test_past_stays, test_gap, test_long_past, test_inner_keys,
	  test_brief_lives, test_summaries, test_ended_track, test_large_bytes)
