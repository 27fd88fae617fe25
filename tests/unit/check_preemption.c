/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preemption: model/preemption.c on hand-built events, and on many random ones against counting each ns. */
#include "unit.h"

#include "base/nstime.h"
#include "events.h"
#include "model/interval.h"
#include "view/rows.h"

enum { BEGIN = 1000, SLEEP = 1, PREEMPTED = 0x100 };
enum { A = 5, B = 6, C = 7, D = 8 };
enum { UNKNOWN = -1, IDLE = 0, OTHER = -2 }; /* special values in place of a TID */

static void begin(struct events *e)
{
	events_init(e);
	model_begin(e->m, BEGIN);
	events_switch(e, BEGIN, 0, 0, 0, A, "a");
	events_switch(e, BEGIN, 1, 0, 0, D, "d");
}

static void wake(struct events *e, uint64_t t, unsigned cpu, int64_t by, int64_t tid, int64_t target)
{
	EVENT(e, t, cpu, by, SCHED_WAKING, wakeup, .tid = tid, .target_cpu = target);
}

/* Of a thread that had a sched_waking. */
static void woken(struct events *e, uint64_t t, unsigned cpu, int64_t by, int64_t tid, int64_t target)
{
	EVENT(e, t, cpu, by, SCHED_WAKEUP, wakeup, .tid = tid, .target_cpu = target);
}

static void migrate(struct events *e, uint64_t t, unsigned cpu, int64_t by, int64_t tid, int64_t from, int64_t to)
{
	EVENT(e, t, cpu, by, SCHED_MIGRATE, task, .tid = tid, .orig_cpu = from, .dest_cpu = to);
}

/* The rows of the two threads, added: there may be several. */
static struct preemption_row of(struct events *e, int64_t tid, int64_t by)
{
	const struct state_table *t = &e->m->state.tables[TABLE_PREEMPTION];
	struct preemption_row sum = { .by_tid = 99 };

	for (uint32_t i = NO_ROW; (i = state_next(t, i)) != NO_ROW;) {
		const struct preemption_row *r = STATE_ROW(&e->m->state, PREEMPTION, preemption, i);

		if (r->thread_uid != events_thread(e, tid)->uid)
			continue;
		if (by == UNKNOWN ? r->by_uid != BY_UNKNOWN
		    : by == IDLE  ? r->by_uid != BY_IDLE
		    : by == OTHER ? r->by_uid != BY_OTHER
				  : (int64_t)r->by_tid != by)
			continue;
		sum.by_tid = r->by_tid;
		sum.by_comm = r->by_comm;
		sum.count += r->count;
		sum.total_ns += r->total_ns;
		sum.max_ns = MAX(sum.max_ns, r->max_ns);
	}
	return sum;
}

#define assert_ran(e, tid, by, n, ns, most)                   \
	do {                                                  \
		struct preemption_row found = of(e, tid, by); \
                                                              \
		ck_assert_uint_eq(found.count, n);            \
		ck_assert_uint_eq(found.total_ns, ns);        \
		ck_assert_uint_eq(found.max_ns, most);        \
	} while (0)

static uint64_t sum_of(struct events *e, int64_t tid)
{
	const struct state_table *t = &e->m->state.tables[TABLE_PREEMPTION];
	uint64_t sum = 0;

	for (uint32_t i = NO_ROW; (i = state_next(t, i)) != NO_ROW;)
		if (STATE_ROW(&e->m->state, PREEMPTION, preemption, i)->thread_uid == events_thread(e, tid)->uid)
			sum += STATE_ROW(&e->m->state, PREEMPTION, preemption, i)->total_ns;
	return sum;
}

static void assert_sum(struct events *e, int64_t tid)
{
	ck_assert_uint_eq(sum_of(e, tid), events_thread(e, tid)->ready_ns);
}

START_TEST(test_preempted)
{
	struct preemption_row r;
	struct events e;

	begin(&e);
	events_switch(&e, 1200, 0, A, PREEMPTED, B, "b");
	events_switch(&e, 1500, 0, B, SLEEP, A, "a");
	assert_ran(&e, A, B, 1, 300, 300);
	r = of(&e, A, B);
	ck_assert_str_eq(strpool_text((strid)r.by_comm), "b");
	assert_sum(&e, A);
	/* again, in two parts of one wait, with another thread in between */
	events_switch(&e, 1600, 0, A, PREEMPTED, B, "b");
	events_switch(&e, 1700, 0, B, PREEMPTED, C, "c");
	events_switch(&e, 1750, 0, C, SLEEP, B, "b");
	events_switch(&e, 1900, 0, B, SLEEP, A, "a");
	assert_ran(&e, A, B, 2, 300 + 250, 300);
	assert_ran(&e, A, C, 1, 50, 50);
	assert_ran(&e, B, C, 1, 50, 50);
	assert_sum(&e, A);
	assert_sum(&e, B);
	events_release(&e);
}
END_TEST

START_TEST(test_woken_on_a_busy_cpu)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1200, 0, A, SLEEP, B, "b");
	wake(&e, 1300, 1, D, A, 0);
	wake(&e, 1310, 1, D, A, 0); /* ready already */
	events_switch(&e, 1400, 0, B, SLEEP, C, "c");
	events_switch(&e, 1450, 0, C, SLEEP, A, "a");
	assert_ran(&e, A, B, 1, 100, 100);
	assert_ran(&e, A, C, 1, 50, 50);
	assert_ran(&e, A, D, 0, 0, 0);
	assert_sum(&e, A);
	events_release(&e);
}
END_TEST

START_TEST(test_idle_and_unknown)
{
	struct preemption_row r;
	struct events e;

	begin(&e);
	events_switch(&e, 1200, 0, A, SLEEP, 0, "swapper/0");
	wake(&e, 1300, 1, D, A, 0);
	events_switch(&e, 1320, 0, 0, 0, A, "a");
	assert_ran(&e, A, IDLE, 1, 20, 20);
	r = of(&e, A, IDLE);
	ck_assert_int_eq((int64_t)r.by_tid, 0);
	ck_assert_str_eq(strpool_text((strid)r.by_comm), "idle");
	/* the state dump has a ready thread, on an unknown CPU */
	EVENT(&e, 1400, 1, D, DUMP_PROCESS, dump_process, .tid = B, .pid = B, .status = 2);
	events_switch(&e, 1450, 1, D, SLEEP, B, "b");
	assert_ran(&e, B, UNKNOWN, 1, 50, 50);
	r = of(&e, B, UNKNOWN);
	ck_assert_int_eq((int64_t)r.by_tid, -1);
	ck_assert_uint_eq(r.by_comm, STRID_NONE);
	/* a CPU without any event so far */
	events_switch(&e, 1500, 1, B, SLEEP, 0, "swapper/1");
	wake(&e, 1600, 0, A, B, 3);
	migrate(&e, 1650, 1, 0, B, 3, 1);
	events_switch(&e, 1670, 1, 0, 0, B, "b");
	assert_ran(&e, B, UNKNOWN, 2, 100, 50);
	assert_ran(&e, B, IDLE, 1, 20, 20);
	assert_sum(&e, B);
	events_release(&e);
}
END_TEST

START_TEST(test_moved)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, A, SLEEP, B, "b");
	/* it waits on CPU 0, then CPU 1 takes it */
	wake(&e, 1200, 1, D, A, 0);
	woken(&e, 1205, 1, D, A, 0);
	migrate(&e, 1250, 1, D, A, 0, 1);
	events_switch(&e, 1300, 1, D, PREEMPTED, A, "a");
	assert_ran(&e, A, B, 1, 50, 50);
	assert_ran(&e, A, D, 1, 50, 50);
	/* the waker chooses another CPU than its last one: it has waited for no other */
	events_switch(&e, 1400, 1, A, SLEEP, D, "d");
	wake(&e, 1500, 1, D, A, 1);
	migrate(&e, 1510, 1, D, A, 1, 0);
	woken(&e, 1520, 0, B, A, 0);
	events_switch(&e, 1540, 0, B, PREEMPTED, A, "a");
	assert_ran(&e, A, B, 2, 50 + 40, 50);
	assert_ran(&e, A, D, 1, 50, 50);
	assert_sum(&e, A);
	events_release(&e);
}
END_TEST

/*
 * Without sched_migrate_task, a woken thread is taken to have waited on the CPU where it runs next, a preempted one
 * where it was.
 */
START_TEST(test_moved_unseen)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, A, SLEEP, B, "b");
	wake(&e, 1200, 1, D, A, 0);
	events_switch(&e, 1300, 1, D, PREEMPTED, A, "a");
	assert_ran(&e, A, D, 1, 100, 100);
	events_switch(&e, 1400, 0, B, SLEEP, D, "d");
	assert_ran(&e, D, A, 1, 100, 100);
	assert_sum(&e, A);
	assert_sum(&e, D);
	events_release(&e);
}
END_TEST

/* Its sched_wakeup comes from the CPU to which it was moved, or on which it stays: then its waker has no more say. */
START_TEST(test_woken_by_two)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, A, SLEEP, B, "b");
	wake(&e, 1200, 1, D, A, 0);
	woken(&e, 1210, 0, B, A, 0);
	migrate(&e, 1260, 1, D, A, 0, 1);
	events_switch(&e, 1300, 1, D, PREEMPTED, A, "a");
	assert_ran(&e, A, B, 1, 60, 60);
	assert_ran(&e, A, D, 1, 40, 40);
	/* it runs and is moved unseen: at the second sched_wakeup it is on CPU 0 */
	events_switch(&e, 1400, 1, A, SLEEP, D, "d");
	wake(&e, 1500, 0, B, A, 1);
	woken(&e, 1510, 1, D, A, 1);
	woken(&e, 1550, 0, B, A, 0);
	events_switch(&e, 1560, 0, B, PREEMPTED, A, "a");
	assert_ran(&e, A, D, 2, 40 + 50, 50);
	assert_ran(&e, A, B, 2, 60 + 10, 60);
	assert_sum(&e, A);
	events_release(&e);
}
END_TEST

/* An interval ends before a thread runs on a CPU to which no event has moved it, though moves are recorded. */
START_TEST(test_edge_before_an_unseen_move)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, A, SLEEP, B, "b");
	wake(&e, 1200, 1, D, A, 0);
	migrate(&e, 1220, 1, D, A, 0, 1);
	woken(&e, 1240, 1, D, A, 1);
	events_switch(&e, 1300, 1, D, PREEMPTED, A, "a");
	assert_ran(&e, A, D, 1, 100, 100);
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t t = 2000 + 1000 * i;

		events_switch(&e, t, 1, A, SLEEP, D, "d");
		wake(&e, t + 100, 0, B, A, 1);
		woken(&e, t + 110, 0, B, A, 1);
		if (i)
			model_cut(e.m, t + 150);
		events_switch(&e, t + 200, 0, B, PREEMPTED, A, "a");
		events_switch(&e, t + 300, 0, A, SLEEP, B, "b");
		events_switch(&e, t + 400, 1, D, PREEMPTED, A, "a");
		assert_ran(&e, A, D, 2 + i, 100 + 100 * (i + 1), 100);
	}
	assert_sum(&e, A);
	events_release(&e);
}
END_TEST

/* A ready thread is woken: it has moved and slept unseen. What it waited before was for the CPU known until then. */
START_TEST(test_woken_elsewhere)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, A, PREEMPTED, B, "b");
	wake(&e, 1400, 0, B, A, 1);
	events_switch(&e, 1450, 1, D, PREEMPTED, A, "a");
	assert_ran(&e, A, B, 1, 300, 300);
	assert_ran(&e, A, D, 1, 50, 50);
	assert_sum(&e, A);
	/* it ran on CPU 1 unseen, and moves again before it is woken */
	events_switch(&e, 1500, 1, A, PREEMPTED, D, "d");
	wake(&e, 1600, 1, D, A, 1);
	migrate(&e, 1610, 1, D, A, 1, 0);
	woken(&e, 1620, 1, D, A, 0);
	events_switch(&e, 1640, 0, B, PREEMPTED, A, "a");
	assert_ran(&e, A, B, 2, 300 + 40, 300);
	assert_ran(&e, A, D, 2, 50 + 100, 100);
	assert_sum(&e, A);
	/* a wake-up that does not say where it waits changes nothing */
	events_switch(&e, 1700, 0, A, PREEMPTED, B, "b");
	e.present = ~(1u << WAKEUP_TARGET_CPU);
	wake(&e, 1750, 0, B, A, 1);
	e.present = ~0u;
	events_switch(&e, 1790, 0, B, PREEMPTED, A, "a");
	assert_ran(&e, A, B, 3, 300 + 40 + 90, 300);
	assert_sum(&e, A);
	events_release(&e);
}
END_TEST

/* After lost events a ready thread may be waiting for any CPU; until then it waited for its own. */
START_TEST(test_lost_events)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1100, 0, A, PREEMPTED, B, "b");
	events_lose(&e, 1200, 1, 0);
	events_switch(&e, 1450, 1, D, SLEEP, A, "a");
	assert_ran(&e, A, B, 1, 100, 100);
	assert_ran(&e, A, UNKNOWN, 1, 250, 250);
	assert_sum(&e, A);
	/* woken before the loss */
	events_switch(&e, 1500, 1, A, SLEEP, C, "c");
	wake(&e, 1600, 1, C, A, 1);
	events_lose(&e, 1620, 1, 0);
	events_switch(&e, 1650, 0, B, PREEMPTED, A, "a");
	assert_ran(&e, A, C, 1, 20, 20);
	assert_ran(&e, A, UNKNOWN, 2, 250 + 30, 250);
	assert_sum(&e, A);
	/* a wake-up after it says where it waits */
	events_switch(&e, 1700, 0, A, PREEMPTED, B, "b");
	events_lose(&e, 1750, 1, 0);
	wake(&e, 1800, 0, B, A, 1);
	events_switch(&e, 1860, 1, C, PREEMPTED, A, "a");
	assert_ran(&e, A, B, 2, 100 + 50, 100);
	assert_ran(&e, A, UNKNOWN, 3, 280 + 50, 250);
	assert_ran(&e, A, C, 2, 20 + 60, 60);
	assert_sum(&e, A);
	events_release(&e);
}
END_TEST

static void end_frame(struct events *e)
{
	state_reap(&e->m->state, NULL, NULL);
	state_frame_begin(&e->m->state);
}

/* A pair that was forgotten comes back: it must not be counted in the row that it had, which is gone. */
START_TEST(test_row_has_gone)
{
	const uint64_t later = 20 * NS_PER_S;
	struct events e;

	begin(&e);
	events_switch(&e, 1200, 0, A, PREEMPTED, B, "b");
	events_switch(&e, 1500, 0, B, SLEEP, A, "a");
	assert_ran(&e, A, B, 1, 300, 300);
	end_frame(&e);
	events_switch(&e, later, 1, D, PREEMPTED, C, "c");
	events_switch(&e, later + 10, 1, C, SLEEP, D, "d"); /* makes room for its pair */
	end_frame(&e);
	assert_ran(&e, A, B, 0, 0, 0);
	events_switch(&e, later + 100, 0, A, PREEMPTED, B, "b");
	events_switch(&e, later + 150, 0, B, SLEEP, A, "a");
	assert_ran(&e, A, B, 1, 50, 50);
	events_release(&e);
}
END_TEST

static uint64_t value(const struct interval *iv, int64_t by, unsigned cell)
{
	const struct interval_table *t = &iv->tables[TABLE_PREEMPTION];

	for (uint32_t i = 0; i < t->n_rows; i++)
		if ((int64_t)INTERVAL_ROW(preemption, &t->rows[i])->by_tid == by)
			return interval_value(iv, TABLE_PREEMPTION, &t->rows[i], cell);
	return 0;
}

START_TEST(test_edge_inside_a_wait)
{
	struct interval first, second;
	struct events e;

	begin(&e);
	interval_init(&first);
	interval_init(&second);
	interval_begin(&first, &e.m->state, BEGIN, STATE_ALL_TABLES);
	events_switch(&e, 1200, 0, A, PREEMPTED, B, "b");
	model_cut(e.m, 1300);
	interval_end(&first, &e.m->state, 1300);
	ck_assert_uint_eq(value(&first, B, CELL(preemption, count)), 1);
	ck_assert_uint_eq(value(&first, B, CELL(preemption, total_ns)), 100);
	ck_assert_uint_eq(value(&first, B, CELL(preemption, max_ns)), 100);
	interval_begin(&second, &e.m->state, 1300, STATE_ALL_TABLES);
	model_cut(e.m, 1350); /* at the end of a frame */
	events_switch(&e, 1400, 0, B, PREEMPTED, C, "c");
	events_switch(&e, 1500, 0, C, SLEEP, A, "a");
	model_cut(e.m, 1600);
	interval_end(&second, &e.m->state, 1600);
	/* its run within this wait was already counted */
	ck_assert_uint_eq(value(&second, B, CELL(preemption, count)), 0);
	ck_assert_uint_eq(value(&second, B, CELL(preemption, total_ns)), 100);
	ck_assert_uint_eq(value(&second, B, CELL(preemption, max_ns)), 200);
	assert_ran(&e, A, B, 1, 200, 200);
	assert_ran(&e, A, C, 1, 100, 100);
	assert_ran(&e, B, C, 1, 100, 100);
	assert_sum(&e, A);
	interval_release(&first);
	interval_release(&second);
	events_release(&e);
}
END_TEST

START_TEST(test_who_ran_has_gone)
{
	struct preemption_row r;
	struct events e;

	begin(&e);
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t t = 2000 + 1000 * i;

		events_switch(&e, t, 0, A, PREEMPTED, B, "b");
		EVENT(&e, t + 100, 0, B, EXIT, task, .tid = B);
		events_switch(&e, t + 200, 0, B, 16, C, "c"); /* EXIT_DEAD */
		if (i == 0)
			model_cut(e.m, t + 300);
		end_frame(&e); /* the model does not know about the second one */
		events_switch(&e, t + 400, 0, C, SLEEP, A, "a");
		assert_ran(&e, A, B, 1, 200, 200);
		assert_sum(&e, A);
	}
	assert_ran(&e, A, C, 2, 400, 200);
	assert_ran(&e, A, OTHER, 1, 200, 200);
	r = of(&e, A, OTHER);
	ck_assert_int_eq((int64_t)r.by_tid, -1);
	ck_assert_str_eq(strpool_text((strid)r.by_comm), "other");
	events_release(&e);
}
END_TEST

/* More slices within a wait than a CPU remembers. */
START_TEST(test_long_wait)
{
	uint64_t t = 2000;
	struct events e;

	begin(&e);
	events_switch(&e, t, 0, A, PREEMPTED, B, "b");
	for (unsigned i = 0; i < 5000; i++) {
		events_switch(&e, t += 10, 0, B, SLEEP, C, "c");
		wake(&e, t, 1, D, B, 0);
		events_switch(&e, t += 20, 0, C, SLEEP, B, "b");
		wake(&e, t, 1, D, C, 0);
	}
	events_switch(&e, t += 10, 0, B, SLEEP, A, "a");
	assert_ran(&e, A, B, 1, 50010, 50010);
	assert_ran(&e, A, C, 1, 100000, 100000);
	assert_ran(&e, B, C, 5000, 100000, 20);
	assert_sum(&e, A);
	events_release(&e);
}
END_TEST

/* Too many threads take turns on a CPU to keep them apart: rows are limited, and no time is lost. */
START_TEST(test_crowd)
{
	enum { CROWD = 400, TURNS = 3, FIRST = 100 };
	const struct state_table *rows;
	uint64_t t = 2000;
	struct events e;

	begin(&e);
	rows = &e.m->state.tables[TABLE_PREEMPTION];
	for (unsigned i = 0; i < CROWD; i++)
		wake(&e, t++, 1, D, FIRST + i, 0);
	events_switch(&e, t++, 0, A, SLEEP, FIRST, "crowd");
	for (unsigned i = 1; i < TURNS * CROWD; i++)
		events_switch(&e, t += 10, 0, FIRST + (i - 1) % CROWD, PREEMPTED, FIRST + i % CROWD, "crowd");
	model_cut(e.m, t += 10);
	for (unsigned i = 0; i < CROWD; i++) {
		const struct thread_row *r = events_thread(&e, FIRST + i);

		ck_assert_uint_eq(sum_of(&e, FIRST + i), EVENTS_VALUE(THREAD, thread, r, ready_ns, t));
	}
	ck_assert_uint_gt(of(&e, FIRST + CROWD / 2, OTHER).total_ns, 0);
	ck_assert_uint_le(rows->n_alive - rows->n_ended, 8192);
	events_release(&e);
}
END_TEST

START_TEST(test_not_wanted)
{
	struct events e;

	events_init(&e);
	model_set_figures(e.m, MODEL_ALL_FIGURES & ~(1u << TABLE_PREEMPTION));
	model_begin(e.m, BEGIN);
	events_switch(&e, 1100, 0, 0, 0, A, "a");
	events_switch(&e, 1200, 0, A, PREEMPTED, B, "b");
	migrate(&e, 1300, 1, D, A, 0, 1);
	events_switch(&e, 1400, 0, B, SLEEP, A, "a");
	model_cut(e.m, 1500);
	ck_assert_uint_eq(events_thread(&e, A)->ready_ns, 200);
	ck_assert_uint_eq(e.m->state.tables[TABLE_PREEMPTION].n_alive, 0);
	events_release(&e);
}
END_TEST

/* ---- random events ---- */

enum { RANDOM_CPUS = 3, RANDOM_THREADS = 9, STEPS = 6000 };

struct random_thread {
	enum { SLEEPS, WAITS, RUNS } state;
	unsigned cpu;                     /* the CPU it runs on or waits for */
	uint64_t by[RANDOM_THREADS + 1];  /* ns, by TID of the running thread; 0: none */
	bool counted[RANDOM_THREADS + 1]; /* in this wait */
	uint64_t counts[RANDOM_THREADS + 1];
};

struct random_host {
	struct events e;
	unsigned cut; /* how often frames end */
	uint64_t rng, t;
	unsigned runs[RANDOM_CPUS]; /* TID */
	struct random_thread threads[RANDOM_THREADS + 1];
};

static unsigned any(struct random_host *h, unsigned below)
{
	h->rng ^= h->rng << 13;
	h->rng ^= h->rng >> 7;
	h->rng ^= h->rng << 17;
	return (unsigned)(h->rng % below);
}

/* Lets this many ns pass without events. */
static void pass(struct random_host *h, unsigned ns)
{
	h->t += ns;
	for (unsigned i = 1; i <= RANDOM_THREADS && ns; i++) {
		struct random_thread *t = &h->threads[i];
		unsigned by = h->runs[t->cpu];

		if (t->state != WAITS)
			continue;
		t->by[by] += ns;
		t->counts[by] += !t->counted[by];
		t->counted[by] = true;
	}
}

static void cut_any(struct random_host *h)
{
	if (any(h, h->cut) == 0)
		model_cut(h->e.m, h->t);
}

/* Its waker chooses the CPU for which it waits, which may be one that completes the wake-up. */
static void wake_any(struct random_host *h, unsigned tid, unsigned by, unsigned cpu)
{
	const unsigned last = any(h, RANDOM_CPUS), completes = any(h, 2) ? by : cpu;

	wake(&h->e, h->t, by, h->runs[by], tid, last);
	pass(h, any(h, 5));
	if (last != cpu)
		migrate(&h->e, h->t, by, h->runs[by], tid, last, cpu);
	pass(h, any(h, 5));
	cut_any(h);
	woken(&h->e, h->t, completes, h->runs[completes], tid, cpu);
}

static void switch_any(struct random_host *h)
{
	unsigned cpu = any(h, RANDOM_CPUS), next = any(h, RANDOM_THREADS + 1), prev = h->runs[cpu];
	const bool sleeps = any(h, 3) == 0;

	if (prev == next || (next && (h->threads[next].state != WAITS || h->threads[next].cpu != cpu)))
		return;
	events_switch(&h->e, h->t, cpu, prev, prev && sleeps ? SLEEP : 0, next, next ? "t" : "swapper");
	if (prev) {
		h->threads[prev].state = sleeps ? SLEEPS : WAITS;
		memset(h->threads[prev].counted, 0, sizeof(h->threads[prev].counted));
	}
	h->threads[next].state = RUNS;
	h->runs[cpu] = next;
}

static void wake_or_move_any(struct random_host *h)
{
	unsigned tid = 1 + any(h, RANDOM_THREADS), cpu = any(h, RANDOM_CPUS), at = any(h, RANDOM_CPUS);
	struct random_thread *t = &h->threads[tid];

	if (t->state == RUNS)
		return;
	if (t->state == SLEEPS) {
		t->state = WAITS;
		t->cpu = cpu;
		memset(t->counted, 0, sizeof(t->counted));
		wake_any(h, tid, at, cpu);
	} else {
		migrate(&h->e, h->t, at, h->runs[at], tid, t->cpu, cpu);
		t->cpu = cpu;
	}
}

static void assert_as_counted(struct random_host *h)
{
	for (unsigned i = 1; i <= RANDOM_THREADS; i++) {
		for (unsigned k = 0; k <= RANDOM_THREADS; k++) {
			ck_assert_uint_eq(of(&h->e, i, k).total_ns, h->threads[i].by[k]);
			ck_assert_uint_eq(of(&h->e, i, k).count, h->threads[i].counts[k]);
		}
		ck_assert_uint_eq(of(&h->e, i, UNKNOWN).total_ns, 0);
		ck_assert_uint_eq(of(&h->e, i, OTHER).total_ns, 0);
	}
}

static void play(uint64_t seed, unsigned cut)
{
	struct random_host h = { .cut = cut, .rng = seed, .t = BEGIN };

	events_init(&h.e);
	model_begin(h.e.m, BEGIN);
	for (unsigned i = 0; i < RANDOM_CPUS; i++)
		events_switch(&h.e, BEGIN, i, RANDOM_THREADS + 1 + i, SLEEP, 0, "swapper");
	for (unsigned i = 0; i < STEPS; i++) {
		pass(&h, any(&h, 4) ? any(&h, 5) : any(&h, 500));
		if (any(&h, 3))
			switch_any(&h);
		else
			wake_or_move_any(&h);
		cut_any(&h);
	}
	model_cut(h.e.m, h.t);
	assert_as_counted(&h);
	events_release(&h.e);
}

START_TEST(test_at_random)
{
	for (uint64_t seed = 1; seed <= 4; seed++)
		play(seed * 7919, seed % 2 ? 20 : 1000000);
}
END_TEST

UNIT_MAIN("preemption", test_preempted, test_woken_on_a_busy_cpu, test_idle_and_unknown, test_moved, test_moved_unseen,
	  test_woken_by_two, test_woken_elsewhere, test_lost_events, test_row_has_gone, test_edge_inside_a_wait,
	  test_edge_before_an_unseen_move, test_who_ran_has_gone, test_long_wait, test_crowd, test_not_wanted,
	  test_at_random)
