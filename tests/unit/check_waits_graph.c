/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "graphs.h"
#include "unit.h"

static wait_row row_at(struct wait_graph *g, uint64_t t_ns)
{
	wait_row row = graph_row_add(g);

	graph_gap(g, row, t_ns);
	return row;
}

static uint32_t segments(const struct wait_graph *g, wait_row row, struct wait_path *path)
{
	wait_path_resolve(g, row, 0, UINT64_MAX, path);
	return path->n;
}

/* One vertex per row and time; time does not go back; links need a vertex and go forward. */
START_TEST(test_refusals)
{
	struct wait_graph *g = graph_create(0, 0);
	wait_row a = row_at(g, 10), b = row_at(g, 10), none = graph_row_add(g);
	struct wait_path path;
	uint64_t t_ns;

	wait_path_init(&path);
	ck_assert(graph_vertex(g, a, 20, WAIT_RUNNING, NULL));
	ck_assert(!graph_vertex(g, a, 20, WAIT_TIMER, NULL));
	ck_assert_uint_eq(graph_info(g).late, 0);
	ck_assert(!graph_vertex(g, a, 19, WAIT_TIMER, NULL));
	ck_assert_uint_eq(graph_info(g).late, 1);
	ck_assert_uint_eq(segments(g, a, &path), 1);
	ck_assert_uint_eq(path.segments[0].state, WAIT_RUNNING);
	ck_assert(graph_last(g, a, &t_ns));
	ck_assert_uint_eq(t_ns, 20);
	ck_assert(!graph_last(g, none, &t_ns));
	ck_assert_uint_eq(segments(g, none, &path), 0);
	ck_assert_uint_eq(segments(g, WAIT_NO_ROW, &path), 0);

	graph_vertex(g, b, 30, WAIT_BLOCKED, NULL);
	graph_link(g, a, 31, b, 30, WAIT_LINK_NETWORK); /* received before it was sent */
	graph_link(g, b, 30, b, 30, WAIT_LINK_WAKEUP);
	graph_link(g, a, 15, b, 29, WAIT_LINK_WAKEUP); /* no vertex there */
	graph_link(g, a, 15, none, 15, WAIT_LINK_WAKEUP);
	ck_assert_uint_eq(graph_info(g).late, 5);
	ck_assert_uint_eq(segments(g, b, &path), 1);
	ck_assert_uint_eq(graph_info(g).behind, 0);
	wait_path_release(&path);
	graph_destroy(g);
}
END_TEST

/* The earliest of several links is kept; a link may come after the row has continued. */
START_TEST(test_links)
{
	struct wait_graph *g = graph_create(0, 0);
	wait_row a = row_at(g, 10), b = row_at(g, 10), c = row_at(g, 10);
	struct wait_path path;

	wait_path_init(&path);
	graph_present(g, a, WAIT_RUNNING, NULL);
	graph_present(g, b, WAIT_RUNNING, NULL);
	graph_vertex(g, c, 30, WAIT_BLOCKED, NULL);
	graph_link(g, a, 28, c, 30, WAIT_LINK_NETWORK);
	graph_link(g, b, 29, c, 30, WAIT_LINK_NETWORK);
	ck_assert_uint_eq(segments(g, c, &path), 2);
	ck_assert_uint_eq(path.segments[0].row, a);
	graph_vertex(g, c, 40, WAIT_RUNNING, NULL);
	graph_link(g, b, 25, c, 30, WAIT_LINK_NETWORK);
	ck_assert_uint_eq(graph_info(g).behind, 1);
	ck_assert_uint_eq(segments(g, c, &path), 3);
	ck_assert_uint_eq(path.segments[0].row, b);
	ck_assert_uint_eq(path.segments[0].end_ns, 25);
	ck_assert(path.segments[1].wire);
	ck_assert_uint_eq(path.segments[1].from, b);
	wait_path_release(&path);
	graph_destroy(g);
}
END_TEST

/* Vertices older than the retention are dropped, and the path shows where it starts. */
START_TEST(test_retention)
{
	struct wait_graph *g = graph_create(100, 0);
	wait_row a = row_at(g, 10), sleeper = row_at(g, 10);
	struct wait_path path;
	size_t bytes = 0;

	wait_path_init(&path);
	graph_vertex(g, sleeper, 15, WAIT_RUNNING, NULL);
	for (uint64_t t_ns = 20; t_ns <= 100000; t_ns += 10) {
		graph_vertex(g, a, t_ns, t_ns / 10 % 2 ? WAIT_RUNNING : WAIT_PREEMPTED, NULL);
		graph_advance(g, t_ns);
		ck_assert_uint_le(graph_info(g).vertices, 13);
		if (t_ns == 1000)
			bytes = graph_info(g).bytes;
	}
	ck_assert_uint_le(graph_info(g).bytes, bytes + 70000); /* one more chunk of the queue, for a while */
	ck_assert_uint_eq(graph_info(g).horizon_ns, 99900);
	ck_assert_uint_eq(graph_info(g).retention_ns, 100);
	ck_assert_uint_eq(graph_info(g).cut, 0);
	wait_path_resolve(g, a, 0, UINT64_MAX, &path);
	ck_assert_uint_eq(path.begin_ns, 99900);
	ck_assert_uint_eq(path.end_ns, 100000);
	ck_assert_uint_eq(path.n, 10);
	ck_assert(path.segments[0].cut);
	/* a row that sleeps for longer than that */
	graph_present(g, sleeper, WAIT_BLOCKED, NULL);
	wait_path_resolve(g, sleeper, 0, 100000, &path);
	ck_assert_uint_eq(path.n, 1);
	ck_assert_uint_eq(path.segments[0].begin_ns, 99900);
	ck_assert(path.open);
	graph_vertex(g, sleeper, 100000, WAIT_BLOCKED, NULL);
	graph_link(g, a, 100000, sleeper, 100000, WAIT_LINK_WAKEUP);
	wait_path_resolve(g, sleeper, 99905, 100000, &path);
	ck_assert_uint_eq(path.n, 10);
	ck_assert_uint_eq(path.segments[0].row, a);
	ck_assert(!path.segments[0].cut);
	/* too old to be added */
	ck_assert(!graph_vertex(g, row_at(g, 200), 210, WAIT_RUNNING, NULL));
	ck_assert_uint_gt(graph_info(g).late, 0);
	wait_path_release(&path);
	graph_destroy(g);
}
END_TEST

/* What nobody asks for again is dropped at the next advance; later windows are as without that. */
START_TEST(test_forget)
{
	struct wait_graph *g = graph_create(0, 0);
	wait_row a = row_at(g, 10), sleeper = row_at(g, 10);
	struct wait_path path;

	wait_path_init(&path);
	for (uint64_t t_ns = 20; t_ns <= 1000; t_ns += 10)
		graph_vertex(g, a, t_ns, t_ns / 10 % 2 ? WAIT_RUNNING : WAIT_PREEMPTED, NULL);
	graph_vertex(g, sleeper, 1000, WAIT_BLOCKED, NULL);
	graph_link(g, a, 1000, sleeper, 1000, WAIT_LINK_WAKEUP);
	graph_forget(g, 945);
	ck_assert_uint_eq(graph_info(g).horizon_ns, 0);
	graph_advance(g, 1000);
	ck_assert_uint_eq(graph_info(g).horizon_ns, 945);
	ck_assert_uint_eq(graph_info(g).vertices, 7); /* 950, 960 … 1000, and the sleeper's */
	ck_assert_uint_eq(graph_info(g).cut, 0);
	wait_path_resolve(g, sleeper, 945, 1000, &path);
	ck_assert_uint_eq(path.begin_ns, 945);
	ck_assert_uint_eq(path.n, 6);
	ck_assert_uint_eq(path.segments[0].row, a);
	ck_assert_int_eq(path.segments[0].state, WAIT_RUNNING);
	ck_assert(!path.segments[0].cut);
	/* it cannot be taken back, and ends where the graph does */
	graph_forget(g, 100);
	graph_advance(g, 1000);
	ck_assert_uint_eq(graph_info(g).horizon_ns, 945);
	graph_forget(g, 5000);
	graph_advance(g, 1000);
	ck_assert_uint_eq(graph_info(g).horizon_ns, 1000);
	ck_assert_uint_eq(graph_info(g).vertices, 0);
	ck_assert(graph_vertex(g, a, 1010, WAIT_RUNNING, NULL));
	/* a cleared graph may be at any time */
	graph_clear(g);
	graph_gap(g, a, 10);
	ck_assert(graph_vertex(g, a, 20, WAIT_RUNNING, NULL));
	graph_advance(g, 20);
	ck_assert_uint_eq(graph_info(g).vertices, 2);
	wait_path_release(&path);
	graph_destroy(g);
}
END_TEST

/* Row numbers of dead threads are reused, but not while any of their vertices are kept, or while they are followed. */
START_TEST(test_row_numbers)
{
	enum { LIVES = 10000 };
	struct wait_graph *g = graph_create(1000, 0);
	struct wait_follow *f = follow_create(g, 0);
	uint64_t t_ns = 10;
	wait_row first = graph_row_add(g), greatest = 0;
	uint64_t freed_ns[LIVES] = { 0 };

	graph_gap(g, first, t_ns);
	follow_add(f, first);
	graph_row_free(g, first);
	for (int i = 0; i < LIVES; i++) {
		wait_row row = graph_row_add(g);

		ck_assert(row != first);
		ck_assert_uint_lt(row, LIVES);
		ck_assert(!freed_ns[row] || freed_ns[row] + 1000 <= t_ns);
		if (row > greatest)
			greatest = row;
		graph_gap(g, row, t_ns += 3);
		graph_vertex(g, row, t_ns += 3, WAIT_RUNNING, NULL);
		graph_row_free(g, row);
		graph_row_free(g, row); /* a second call has no effect */
		freed_ns[row] = t_ns;
		graph_advance(g, t_ns);
	}
	ck_assert_uint_lt(greatest, 500);
	follow_remove(f, first);
	for (int i = 0; i < LIVES && greatest != first; i++) {
		graph_advance(g, t_ns += 3);
		greatest = graph_row_add(g);
		graph_row_free(g, greatest);
	}
	ck_assert_uint_eq(greatest, first);
	follow_destroy(f);
	graph_destroy(g);
}
END_TEST

/* Each distinct cause is kept once, as long as an edge has it; causes beyond the limit are left out and counted. */
START_TEST(test_causes)
{
	enum { DIFFERENT = 300000, BOUND = 1 << 18 };
	struct wait_graph *g = graph_create(100, 0), *endless = graph_create(0, 0);
	wait_row a = row_at(g, 10), b = row_at(endless, 10);
	size_t bytes = 0;
	struct wait_path path;

	wait_path_init(&path);
	for (uint32_t i = 1; i <= DIFFERENT; i++) {
		struct wait_cause cause = { .name = i, .call = i / 2, .object = i / 3, .fd = (int32_t)i };

		graph_vertex(g, a, 10 + i, WAIT_BLOCKED, &cause);
		graph_advance(g, 10 + i);
		graph_vertex(endless, b, 10 + i, WAIT_BLOCKED, &cause);
		if (i == 1000)
			bytes = graph_info(g).bytes;
	}
	ck_assert_uint_eq(graph_info(g).uncaused, 0);
	ck_assert_uint_le(graph_info(g).bytes, bytes + 70000);
	ck_assert_uint_eq(segments(g, a, &path), 100);
	for (uint32_t i = 0; i < 100; i++) {
		ck_assert_uint_eq(path.segments[i].cause.name, DIFFERENT - 99 + i);
		ck_assert_int_eq(path.segments[i].cause.fd, (int32_t)(DIFFERENT - 99 + i));
		ck_assert_uint_eq(path.segments[i].cause.object, (DIFFERENT - 99 + i) / 3);
	}
	ck_assert_uint_eq(graph_info(endless).uncaused, DIFFERENT - (BOUND - 1));
	segments(endless, b, &path);
	ck_assert_uint_eq(path.n, BOUND); /* the last one for all vertices without a cause */
	ck_assert_uint_eq(path.segments[BOUND - 1].cause.name, STRID_NONE);
	ck_assert_int_eq(path.segments[BOUND - 1].cause.fd, -1);
	wait_path_release(&path);
	graph_destroy(g);
	graph_destroy(endless);
}
END_TEST

/* After clearing, the rows are the same, but not their past or the time. */
START_TEST(test_clear)
{
	struct wait_graph *g = graph_create(1000, 0);
	wait_row a = row_at(g, 5000), dead = row_at(g, 5000);
	struct wait_path path;

	wait_path_init(&path);
	graph_vertex(g, a, 6000, WAIT_BLOCKED, NULL);
	graph_row_free(g, dead);
	graph_advance(g, 7000);
	graph_clear(g);
	ck_assert_uint_eq(graph_info(g).vertices, 0);
	ck_assert_uint_eq(graph_info(g).horizon_ns, 0);
	ck_assert_uint_eq(segments(g, a, &path), 0);
	ck_assert_uint_eq(graph_row_add(g), dead);
	graph_gap(g, a, 100);
	graph_vertex(g, a, 200, WAIT_IPI, NULL);
	graph_advance(g, 200);
	ck_assert_uint_eq(segments(g, a, &path), 1);
	ck_assert_uint_eq(path.segments[0].state, WAIT_IPI);
	wait_path_release(&path);
	graph_destroy(g);
}
END_TEST

/* The sum over a wait is the sum over the threads that ended it; the row's own time is separate. */
START_TEST(test_sums)
{
	struct wait_graph *g = graph_create(0, 0);
	struct wait_totals t;
	wait_row client, server, disk_user, made;

	client = row_at(g, 10);
	server = row_at(g, 0);
	disk_user = row_at(g, 0);
	graph_vertex(g, disk_user, 30, WAIT_RUNNING, NULL);
	graph_vertex(g, server, 35, WAIT_RUNNING, NULL);
	graph_vertex(g, client, 40, WAIT_RUNNING, NULL);
	graph_vertex(g, disk_user, 60, WAIT_BLOCK_DEVICE, NULL);
	graph_present(g, disk_user, WAIT_RUNNING, NULL);
	graph_vertex(g, server, 70, WAIT_BLOCKED, NULL);
	graph_link(g, disk_user, 70, server, 70, WAIT_LINK_WAKEUP);
	graph_vertex(g, server, 72, WAIT_PREEMPTED, NULL);
	graph_present(g, server, WAIT_RUNNING, NULL);
	graph_vertex(g, client, 90, WAIT_NETWORK, NULL);
	graph_link(g, server, 80, client, 90, WAIT_LINK_NETWORK);
	graph_present(g, client, WAIT_PREEMPTED, NULL);
	graph_advance(g, 100);
	wait_totals_window(g, client, 0, 100, &t);
	ck_assert_uint_eq(t.ns[WAIT_RUNNING], 30 + 10 + 8); /* itself, the user of the disk 60-70, the server 72-80 */
	ck_assert_uint_eq(t.ns[WAIT_BLOCK_DEVICE], 20);
	ck_assert_uint_eq(t.ns[WAIT_PREEMPTED], 2 + 10);
	ck_assert_uint_eq(t.wire_ns, 10);
	ck_assert_uint_eq(t.ns[WAIT_NETWORK] + t.ns[WAIT_BLOCKED] + t.ns[WAIT_UNKNOWN], 0);
	ck_assert_uint_eq(t.own_ns, 40);
	wait_totals_window(g, client, 50, 85, &t);
	ck_assert_uint_eq(t.ns[WAIT_BLOCK_DEVICE], 10);
	ck_assert_uint_eq(t.ns[WAIT_RUNNING], 18);
	ck_assert_uint_eq(t.ns[WAIT_PREEMPTED], 2);
	ck_assert_uint_eq(t.wire_ns, 5);
	ck_assert_uint_eq(t.own_ns, 0);
	/* before a thread existed, its time is its creator's */
	graph_vertex(g, client, 110, WAIT_PREEMPTED, NULL);
	made = graph_row_add(g);
	graph_vertex(g, made, 130, WAIT_PREEMPTED, NULL);
	graph_link(g, server, 130, made, 130, WAIT_LINK_FORK);
	graph_present(g, made, WAIT_RUNNING, NULL);
	graph_vertex(g, client, 150, WAIT_BLOCKED, NULL);
	graph_link(g, made, 150, client, 150, WAIT_LINK_WAKEUP);
	graph_advance(g, 150);
	wait_totals_window(g, client, 110, 150, &t);
	ck_assert_uint_eq(t.ns[WAIT_RUNNING], 40);
	ck_assert_uint_eq(t.own_ns, 0);
	graph_destroy(g);
}
END_TEST

UNIT_MAIN("waits_graph", test_refusals, test_links, test_retention, test_forget, test_row_numbers, test_causes,
	  test_clear, test_sums)
