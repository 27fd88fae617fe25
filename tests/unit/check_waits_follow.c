/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "graphs.h"
#include "unit.h"

/*
 * In each test, graph 0 is kept completely and graph 1 is bounded: both must give the same answers for the time that
 * graph 1 keeps.
 */
enum { WHOLE, BOUNDED };

struct compared {
	struct wait_path whole, bounded;
	uint64_t windows, segments;
};

static void compared_init(struct compared *c)
{
	memset(c, 0, sizeof(*c));
	wait_path_init(&c->whole);
	wait_path_init(&c->bounded);
}

static void compared_release(struct compared *c)
{
	wait_path_release(&c->whole);
	wait_path_release(&c->bounded);
}

/*
 * A packet older than the wait may be older than everything kept: its sender's number may belong to another row by
 * then.
 */
static bool same_from(const struct sim *s, const struct wait_segment *p, const struct wait_segment *q)
{
	return sim_who(s, WHOLE, p->from) == sim_who(s, BOUNDED, q->from) || (q->wire && q->from == WAIT_NO_ROW);
}

static void check_same(const struct sim *s, struct compared *c, const char *what)
{
	const struct wait_path *a = &c->whole, *b = &c->bounded;

	ck_assert_msg(a->n == b->n && a->open == b->open, "%s: %u, %u segments", what, a->n, b->n);
	if (!a->n)
		return;
	ck_assert_uint_eq(a->begin_ns, b->begin_ns);
	ck_assert_uint_eq(a->end_ns, b->end_ns);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct wait_segment *p = &a->segments[i], *q = &b->segments[i];

		ck_assert_msg(p->begin_ns == q->begin_ns && p->end_ns == q->end_ns && p->state == q->state &&
				      p->fill == q->fill && p->wire == q->wire && p->link == q->link &&
				      sim_who(s, WHOLE, p->row) == sim_who(s, BOUNDED, q->row) && same_from(s, p, q) &&
				      p->cause.name == q->cause.name,
			      "%s: %u: %ju-%ju state %d row %d from %d, %ju-%ju state %d row %d from %d", what, i,
			      (uintmax_t)p->begin_ns, (uintmax_t)p->end_ns, p->state, sim_who(s, WHOLE, p->row),
			      sim_who(s, WHOLE, p->from), (uintmax_t)q->begin_ns, (uintmax_t)q->end_ns, q->state,
			      sim_who(s, BOUNDED, q->row), sim_who(s, BOUNDED, q->from));
		ck_assert(!q->cut);
	}
	c->windows++;
	c->segments += a->n;
}

/* A window within the time that the bounded graph keeps, and that is final. */
static void random_window(struct sim *s, uint64_t *begin_ns, uint64_t *end_ns)
{
	uint64_t final_ns = s->now_ns - 1, horizon_ns = graph_info(s->graphs[BOUNDED]).horizon_ns;

	*begin_ns = horizon_ns + (uint64_t)sim_pick(s, (int)(final_ns - horizon_ns) + 1);
	*end_ns = *begin_ns + (uint64_t)sim_pick(s, (int)(final_ns - *begin_ns) + 1);
}

/* A living row that has not changed in the bounded graph. */
static int living_row(struct sim *s)
{
	int row;

	do
		row = sim_pick(s, s->n_rows);
	while (s->rows[row].state == SIM_GONE);
	return row;
}

/* Followed rows: expanded only once; old segments are dropped, and so is the graph below them. */
START_TEST(test_follow_is_resolve)
{
	struct compared c;

	compared_init(&c);
	for (uint32_t seed = 1; seed <= 40; seed++) {
		uint64_t retention_ns = 300 + seed * 97 % 4000;
		struct wait_graph *whole = graph_create(0, 0), *bounded = graph_create(retention_ns, 0);
		struct wait_follow *follow = follow_create(bounded, 0);
		struct sim *s = sim_create(seed, 4 + seed % 12, whole, bounded, NULL);
		int followed[6];

		s->no_exits = retention_ns < SIM_PACKET_NS;
		for (int i = 0; i < 6; i++)
			followed[i] = SIM_NOBODY;
		for (int i = 0; i < 3000; i++) {
			int k = sim_pick(s, 6);

			sim_step(s);
			if (!sim_pick(s, 3))
				sim_advance(s);
			if (!sim_pick(s, 200)) { /* another row, from the middle of its life */
				if (followed[k] != SIM_NOBODY)
					follow_remove(follow, s->rows[followed[k]].in[BOUNDED]);
				followed[k] = living_row(s);
				follow_add(follow, s->rows[followed[k]].in[BOUNDED]);
			}
			if (followed[k] != SIM_NOBODY && !sim_pick(s, 8)) {
				const struct sim_row *r = &s->rows[followed[k]];
				uint64_t begin_ns, end_ns;

				if (r->state == SIM_GONE || !follow_has(follow, r->in[BOUNDED]))
					continue;
				sim_advance(s);
				random_window(s, &begin_ns, &end_ns);
				wait_path_resolve(whole, r->in[WHOLE], begin_ns, end_ns, &c.whole);
				ck_assert(follow_path(follow, r->in[BOUNDED], begin_ns, end_ns, &c.bounded));
				check_same(s, &c, "followed");
			}
		}
		follow_destroy(follow);
		sim_destroy(s);
		graph_destroy(whole);
		graph_destroy(bounded);
	}
	ck_assert_uint_gt(c.windows, 3000);
	ck_assert_uint_gt(c.segments, 9000);
	compared_release(&c);
}
END_TEST

/* Any row, by walking the graph: dropping old vertices changes no answer within the retention. */
START_TEST(test_eviction)
{
	struct compared c;

	compared_init(&c);
	for (uint32_t seed = 1; seed <= 40; seed++) {
		uint64_t retention_ns = 300 + seed * 97 % 4000;
		struct wait_graph *whole = graph_create(0, 0), *bounded = graph_create(retention_ns, 0);
		struct sim *s = sim_create(seed, 4 + seed % 12, whole, bounded, NULL);

		s->no_exits = retention_ns < SIM_PACKET_NS;
		for (int i = 0; i < 3000; i++) {
			const struct sim_row *r;
			uint64_t begin_ns, end_ns;

			sim_step(s);
			if (sim_pick(s, 8))
				continue;
			sim_advance(s);
			r = &s->rows[living_row(s)];
			random_window(s, &begin_ns, &end_ns);
			wait_path_resolve(whole, r->in[WHOLE], begin_ns, end_ns, &c.whole);
			wait_path_resolve(bounded, r->in[BOUNDED], begin_ns, end_ns, &c.bounded);
			check_same(s, &c, "any row");
		}
		sim_advance(s);
		ck_assert_uint_lt(graph_info(bounded).vertices, graph_info(whole).vertices);
		ck_assert_uint_le(graph_info(bounded).retention_ns, retention_ns + 1);
		sim_destroy(s);
		graph_destroy(whole);
		graph_destroy(bounded);
	}
	ck_assert_uint_gt(c.windows, 5000);
	compared_release(&c);
}
END_TEST

/* The same with a limit on memory, which is never exceeded; vertices that it cuts are counted. */
START_TEST(test_memory)
{
	struct compared c;

	compared_init(&c);
	for (uint32_t seed = 1; seed <= 20; seed++) {
		size_t memory_bytes = 130000 + seed * 4000;
		struct wait_graph *whole = graph_create(0, 0), *bounded = graph_create(0, memory_bytes);
		struct sim *s = sim_create(seed, 4 + seed % 12, whole, bounded, NULL);

		s->no_exits = true;
		for (int i = 0; i < 12000; i++) {
			const struct sim_row *r;
			struct wait_totals totals;
			uint64_t begin_ns, end_ns;

			sim_step(s);
			if (!sim_pick(s, 5))
				sim_advance(s);
			ck_assert_uint_le(graph_info(bounded).bytes, memory_bytes);
			if (sim_pick(s, 50))
				continue;
			sim_advance(s);
			r = &s->rows[living_row(s)];
			/* sums take memory, too; some are discarded before the next ones are requested */
			if (seed % 2 && !sim_pick(s, 4))
				wait_totals_window(bounded, r->in[BOUNDED], 0, UINT64_MAX, &totals);
			ck_assert_uint_le(graph_info(bounded).bytes, memory_bytes);
			random_window(s, &begin_ns, &end_ns);
			wait_path_resolve(whole, r->in[WHOLE], begin_ns, end_ns, &c.whole);
			wait_path_resolve(bounded, r->in[BOUNDED], begin_ns, end_ns, &c.bounded);
			check_same(s, &c, "short memory");
		}
		ck_assert_uint_gt(graph_info(bounded).cut, 0);
		ck_assert_uint_eq(graph_info(bounded).cut + graph_info(bounded).vertices, graph_info(whole).vertices);
		sim_destroy(s);
		graph_destroy(whole);
		graph_destroy(bounded);
	}
	ck_assert_uint_gt(c.windows, 1000);
	compared_release(&c);
}
END_TEST

static struct wait_totals sum_of(const struct wait_path *p, wait_row row)
{
	struct wait_totals sum = { 0 };

	for (uint32_t i = 0; i < p->n; i++)
		wait_totals_add(&sum, row, &p->segments[i]);
	return sum;
}

static uint64_t total_of(const struct wait_totals *t)
{
	uint64_t ns = t->wire_ns;

	for (int i = 0; i < WAIT_STATES; i++)
		ns += t->ns[i];
	return ns;
}

/*
 * Prefix sums are the sums of expanded paths, in the bounded graph as in the complete one. They may differ only where
 * a rule was applied that looks at more than one edge; each of these rules must occur.
 */
START_TEST(test_totals)
{
	enum { OLDER, REWINDS, GAPS, CORNERS };
	uint64_t equal = 0, different[CORNERS] = { 0 }, differing_ns = 0, all_ns = 0;
	struct wait_path path;

	wait_path_init(&path);
	for (uint32_t seed = 1; seed <= 60; seed++) {
		uint64_t retention_ns = seed % 3 ? 0 : 6000;
		struct wait_graph *whole = graph_create(0, 0), *bounded = graph_create(retention_ns, 0);
		struct sim *s = sim_create(seed, 4 + seed % 12, whole, bounded, NULL);

		for (int i = 0; i < 3000; i++) {
			struct wait_totals want, got;
			struct resolve_info before, after;
			uint64_t begin_ns, end_ns;
			wait_row row;

			sim_step(s);
			if (!sim_pick(s, 4))
				sim_advance(s);
			/* none are requested in the middle, until no sum is kept for the time of the next request */
			if (sim_pick(s, 10) || (i > 1000 && i < 2000))
				continue;
			sim_advance(s);
			random_window(s, &begin_ns, &end_ns);
			row = s->rows[living_row(s)].in[BOUNDED];
			before = resolve_info(bounded);
			wait_path_resolve(bounded, row, begin_ns, end_ns, &path);
			after = resolve_info(bounded);
			want = sum_of(&path, row);
			wait_totals_window(bounded, row, begin_ns, end_ns, &got);
			ck_assert_uint_eq(total_of(&want), path.end_ns - path.begin_ns);
			all_ns += total_of(&want);
			if (!memcmp(&want, &got, sizeof(want))) {
				equal++;
				continue;
			}
			for (int k = 0; k < WAIT_STATES; k++)
				differing_ns += want.ns[k] > got.ns[k] ? want.ns[k] - got.ns[k] : 0;
			if (after.older > before.older)
				different[OLDER]++;
			else if (after.rewinds > before.rewinds)
				different[REWINDS]++;
			else if (after.gaps > before.gaps)
				different[GAPS]++;
			else
				ck_abort_msg("seed %u step %d row %u window %ju-%ju: sums differ", seed, i, row,
					     (uintmax_t)begin_ns, (uintmax_t)end_ns);
		}
		sim_destroy(s);
		graph_destroy(whole);
		graph_destroy(bounded);
	}
	for (int k = 0; k < CORNERS; k++)
		ck_assert_msg(different[k] > 0, "corner %d was not met", k);
	ck_assert_uint_gt(equal, 10 * (different[OLDER] + different[REWINDS] + different[GAPS]));
	ck_assert_uint_lt(differing_ns, all_ns / 50);
	wait_path_release(&path);
}
END_TEST

/* A lock that goes round: a thread that waits for it waits for its predecessors and, further back, for itself. */
START_TEST(test_convoy)
{
	enum { ROWS = 4, TURNS = 400 };
	struct wait_graph *g = graph_create(0, 0);
	GRand *rand = g_rand_new_with_seed(1);
	wait_row rows[ROWS];
	uint64_t t_ns = 10, begin_ns, end_ns;
	struct wait_path path;

	for (int i = 0; i < ROWS; i++) {
		rows[i] = graph_row_add(g);
		graph_gap(g, rows[i], t_ns);
	}
	for (int i = 0; i < TURNS; i++) { /* it has the lock, passes it on, works, and asks for it again */
		wait_row has = rows[i % ROWS], next = rows[(i + 1) % ROWS];

		graph_vertex(g, has, t_ns += 3, WAIT_PREEMPTED, NULL);
		graph_vertex(g, next, t_ns += 20, WAIT_BLOCKED, NULL);
		graph_present(g, has, WAIT_RUNNING, NULL);
		graph_link(g, has, t_ns, next, t_ns, WAIT_LINK_WAKEUP);
		graph_vertex(g, has, t_ns + 2, i % 5 ? WAIT_RUNNING : WAIT_TIMER, NULL);
	}
	graph_advance(g, t_ns);
	wait_path_init(&path);
	for (int i = 0; i < 2000; i++) {
		wait_row row = rows[i % ROWS];
		struct wait_totals want, got;

		begin_ns = (uint64_t)g_rand_int_range(rand, 10, (int)t_ns);
		end_ns = MIN(begin_ns + 300, t_ns);
		wait_path_resolve(g, row, begin_ns, end_ns, &path);
		want = sum_of(&path, row);
		wait_totals_window(g, row, begin_ns, end_ns, &got);
		ck_assert_mem_eq(&want, &got, sizeof(want));
	}
	wait_path_release(&path);
	g_rand_free(rand);
	graph_destroy(g);
}
END_TEST

/* More segments than may be kept: the oldest remain only as totals, and nothing is lost. */
START_TEST(test_folded)
{
	struct wait_graph *whole = graph_create(0, 0), *bounded = graph_create(0, 0);
	struct wait_follow *follow = follow_create(bounded, 50);
	struct sim *s = sim_create(7, 6, whole, bounded, NULL);
	struct wait_follow_info info;
	struct compared c;
	struct wait_totals sum;
	int row = SIM_CPUS; /* the first thread */

	compared_init(&c);
	s->no_exits = true;
	follow_add(follow, s->rows[row].in[BOUNDED]);
	for (int i = 0; i < 8000; i++) {
		sim_step(s);
		sim_advance(s);
	}
	ck_assert(follow_info(follow, s->rows[row].in[BOUNDED], &info));
	ck_assert_uint_eq(info.segments, 50);
	ck_assert_uint_gt(info.since_ns, 2000);
	wait_path_resolve(whole, s->rows[row].in[WHOLE], 0, info.since_ns, &c.whole);
	sum = sum_of(&c.whole, s->rows[row].in[WHOLE]);
	ck_assert_mem_eq(&sum, &info.folded, sizeof(sum));
	wait_path_resolve(whole, s->rows[row].in[WHOLE], info.since_ns, info.final_ns, &c.whole);
	ck_assert(follow_path(follow, s->rows[row].in[BOUNDED], info.since_ns, info.final_ns, &c.bounded));
	check_same(s, &c, "kept");
	/* a window that starts earlier is answered from there on */
	ck_assert(follow_path(follow, s->rows[row].in[BOUNDED], 0, info.final_ns, &c.bounded));
	ck_assert_uint_eq(c.bounded.begin_ns, info.since_ns);
	ck_assert(c.bounded.segments[0].cut);
	ck_assert(!follow_path(follow, s->rows[row + 1].in[BOUNDED], 0, info.final_ns, &c.bounded));
	/* the graph is cleared */
	graph_clear(bounded);
	ck_assert(follow_info(follow, s->rows[row].in[BOUNDED], &info));
	ck_assert_uint_eq(info.segments, 0);
	graph_gap(bounded, s->rows[row].in[BOUNDED], 5);
	graph_vertex(bounded, s->rows[row].in[BOUNDED], 9, WAIT_TIMER, NULL);
	graph_advance(bounded, 9);
	ck_assert(follow_path(follow, s->rows[row].in[BOUNDED], 0, 100, &c.bounded));
	ck_assert_uint_eq(c.bounded.n, 1);
	ck_assert_uint_eq(c.bounded.segments[0].state, WAIT_TIMER);
	follow_destroy(follow);
	sim_destroy(s);
	compared_release(&c);
	graph_destroy(whole);
	graph_destroy(bounded);
}
END_TEST

UNIT_MAIN("waits_follow", test_follow_is_resolve, test_eviction, test_memory, test_totals, test_convoy, test_folded)
