/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From wait events to the graph: work items, and the threads that execute them. */
#include <malloc.h>

#include "waits_events.h"

static struct wait_event *work(struct test *t, uint64_t t_ns, unsigned cpu, enum wait_event_kind kind, int32_t number)
{
	struct wait_event *e = add(t, 0, t_ns, kind, cpu);

	e->work = number;
	if (kind == WAIT_EVENT_WORK_START)
		e->cause = strpool_intern_z("wb_workfn");
	return e;
}

/* The path of thread 7 through the time in which it is blocked; its sums are the path's. */
static char *path_text(const struct test *t, uint64_t begin_ns, uint64_t end_ns)
{
	const wait_row row = waits_find(t->w, 0, 7, UINT64_MAX);
	struct wait_totals totals, sums = { 0 };
	GString *s = g_string_new(NULL);
	struct wait_path path;

	wait_path_init(&path);
	waits_path(t->w, row, begin_ns, end_ns, &path);
	for (uint32_t i = 0; i < path.n; i++) {
		const struct wait_segment *segment = &path.segments[i];

		g_string_append_printf(s, "%s%d %c %s", i ? ", " : "", waits_who(t->w, segment->row).tid,
				       letters[segment->state], strpool_text(segment->cause.name));
		if (segment->link)
			g_string_append_printf(s, "%c%d", link_letters[segment->link],
					       waits_who(t->w, segment->from).tid);
		g_string_append_printf(s, " until %d", (int)segment->end_ns);
		wait_totals_add(&sums, row, segment);
	}
	waits_totals(t->w, row, begin_ns, end_ns, &totals);
	for (unsigned i = 0; i < WAIT_STATES; i++)
		ck_assert_uint_eq(totals.ns[i], sums.ns[i]);
	ck_assert_uint_eq(totals.own_ns, sums.own_ns);
	wait_path_release(&path);
	return g_string_free(s, FALSE);
}

/* Thread 7 waits for what kworker 9 does: queued at 20 by 7 or by 6, or in an interrupt, started at 40. */
static void check_work(unsigned queuer_cpu, bool in_interrupt, bool lost, const char *want_row, const char *want_path)
{
	struct wait_event *e;
	struct test t;
	char *got;

	begin(&t, 1);
	switched(&t, 0, 5, 0, 0, 0, 7);
	switched(&t, 0, 5, 1, 0, 0, 9);
	switched(&t, 0, 5, 2, 0, 0, 6);
	work(&t, 12, 1, WAIT_EVENT_WORK_START, NO_WORK);
	e = work(&t, 20, queuer_cpu, WAIT_EVENT_WORK_QUEUED, 3);
	if (in_interrupt)
		e->context = WAIT_CONTEXT_SOFTIRQ;
	if (lost)
		add(&t, 0, 21, WAIT_EVENT_INTERRUPT, 3);
	switched(&t, 0, 25, 0, 7, 2, 0);
	work(&t, 35, 1, WAIT_EVENT_WORK_END, NO_WORK);
	work(&t, 40, 1, WAIT_EVENT_WORK_START, 3);
	woken(&t, 0, 60, 1, 7);
	work(&t, 70, 1, WAIT_EVENT_WORK_END, NO_WORK);
	switched(&t, 0, 80, 0, 0, 0, 7);
	switched(&t, 0, 90, 1, 9, 0x402, 0);
	finish(&t, 1);
	check(&t, 0, 9, want_row);
	got = path_text(&t, 10, 80);
	ck_assert_str_eq(got, want_path);
	g_free(got);
	end(&t);
}

/* Thread 7 waits for what kworker 9 does when the interrupt of a disk, a packet or a timer has brought it work. */
static void check_brought(enum wait_state state, const char *want_path)
{
	struct test t;
	char *got;

	begin(&t, 1);
	switched(&t, 0, 5, 0, 0, 0, 7);
	switched(&t, 0, 5, 1, 9, 0x402, 0);
	switched(&t, 0, 25, 0, 7, 2, 0);
	woken_by_softirq(&t, 0, 40, 1, 9, 1, state);
	t.log[0].events[t.log[0].n_events - 1].cause = strpool_intern_z("vda");
	switched(&t, 0, 45, 1, 0, 0, 9);
	woken(&t, 0, 60, 1, 7);
	switched(&t, 0, 80, 0, 0, 0, 7);
	switched(&t, 0, 90, 1, 9, 0x402, 0);
	finish(&t, 1);
	check(&t, 0, 9, "5 i 40 P 45 R 90");
	got = path_text(&t, 10, 80);
	ck_assert_str_eq(got, want_path);
	g_free(got);
	end(&t);
}

START_TEST(test_work_from_an_interrupt)
{
	check_brought(WAIT_BLOCK_DEVICE,
		      "7 R  until 25, 7 D vda until 40, 9 P  until 45, 9 R  until 60, 7 P <9 until 80");
	check_brought(WAIT_NETWORK, "7 R  until 25, 7 N vda until 40, 9 P  until 45, 9 R  until 60, 7 P <9 until 80");
	check_brought(WAIT_TIMER, "7 R  until 25, 7 T vda until 40, 9 P  until 45, 9 R  until 60, 7 P <9 until 80");
	/* a reset key, say: nothing that 7 waited for */
	check_brought(WAIT_USER_INPUT, "7 R  until 25, 7 B  until 40, 9 P  until 45, 9 R  until 60, 7 P <9 until 80");
	check_brought(WAIT_BLOCKED, "7 R  until 25, 7 B  until 40, 9 P  until 45, 9 R  until 60, 7 P <9 until 80");
}
END_TEST

/* A disk's interrupt brings kworker 8 work, and that wakes kworker 9: until it came, thread 7 waited for the disk. */
START_TEST(test_work_from_a_kworker)
{
	struct test t;
	char *got;

	begin(&t, 1);
	switched(&t, 0, 5, 0, 0, 0, 7);
	switched(&t, 0, 5, 1, 9, 0x402, 0);
	switched(&t, 0, 5, 2, 8, 0x402, 0);
	switched(&t, 0, 25, 0, 7, 2, 0);
	woken_by_softirq(&t, 0, 40, 2, 8, 4, WAIT_BLOCK_DEVICE);
	switched(&t, 0, 42, 2, 0, 0, 8);
	woken(&t, 0, 45, 2, 9);
	switched(&t, 0, 48, 1, 0, 0, 9);
	woken(&t, 0, 60, 1, 7);
	switched(&t, 0, 80, 0, 0, 0, 7);
	switched(&t, 0, 90, 1, 9, 0x402, 0);
	finish(&t, 1);
	got = path_text(&t, 10, 80);
	ck_assert_str_eq(got, "7 R  until 25, 7 D  until 40, 8 P  until 42, 8 R  until 45, 9 P <8 until 48, "
			      "9 R  until 60, 7 P <9 until 80");
	g_free(got);
	end(&t);
}
END_TEST

/* A kworker that was busy when the work was queued works for whoever queued it. */
START_TEST(test_work)
{
	check_work(0, false, false, "5 i 12 R 35 i=7@20 40 R 70 R 90",
		   "7 R  until 25, 9 R wb_workfn=7 until 35, 9 R  until 40, 9 R wb_workfn until 60, 7 P <9 until 80");
	check_work(2, false, false, "5 i 12 R 35 i=6@20 40 R 70 R 90",
		   "7 R  until 25, 9 R wb_workfn=6 until 35, 9 R  until 40, 9 R wb_workfn until 60, 7 P <9 until 80");
	check_work(0, true, false, "5 i 12 R 35 i 40 R 70 R 90",
		   "7 R  until 25, 9 R wb_workfn until 35, 9 R  until 40, 9 R wb_workfn until 60, 7 P <9 until 80");
	/* when it was queued is not known: what the kworker did before does not explain it */
	check_work(0, false, true, "5 i 12 R 35 i 40 R 70 R 90",
		   "7 R  until 25, 7 B  until 40, 9 R wb_workfn until 60, 7 P <9 until 80");
}
END_TEST

/* The item waits for a kworker that is only created then: so does the thread, for what the kworker's creator does. */
static void check_created(bool created_seen, bool in_interrupt, const char *want_path)
{
	struct wait_event *e;
	struct test t;
	char *got;

	begin(&t, 1);
	switched(&t, 0, 5, 0, 0, 0, 7);
	switched(&t, 0, 5, 2, 0, 0, 2);
	if (!in_interrupt)
		work(&t, 20, 0, WAIT_EVENT_WORK_QUEUED, 3);
	switched(&t, 0, 25, 0, 7, 2, 0);
	if (in_interrupt) {
		e = work(&t, 26, 0, WAIT_EVENT_WORK_QUEUED, 3);
		e->context = e->below = WAIT_CONTEXT_SOFTIRQ;
		e->state = WAIT_NETWORK;
	}
	switched(&t, 0, 27, 2, 2, 0, 0); /* preempted */
	switched(&t, 0, 29, 2, 0, 0, 2);
	if (created_seen) {
		add(&t, 0, 30, WAIT_EVENT_FORK, 2)->tid = 9;
		woken(&t, 0, 32, 2, 9)->new_task = true;
	}
	switched(&t, 0, 36, 1, 0, 0, 9);
	work(&t, 40, 1, WAIT_EVENT_WORK_START, 3);
	woken(&t, 0, 60, 1, 7);
	work(&t, 70, 1, WAIT_EVENT_WORK_END, NO_WORK);
	switched(&t, 0, 80, 0, 0, 0, 7);
	switched(&t, 0, 90, 1, 9, 0x402, 0);
	finish(&t, 1);
	got = path_text(&t, 10, 80);
	ck_assert_str_eq(got, want_path);
	g_free(got);
	end(&t);
}

START_TEST(test_work_for_a_new_kworker)
{
	check_created(true, false,
		      "7 R  until 25, 2 R  until 27, 2 P  until 29, 2 R  until 32, 9 P +2 until 36, "
		      "9 R  until 40, 9 R wb_workfn until 60, 7 P <9 until 80");
	check_created(true, true,
		      "7 R  until 25, 7 N  until 26, 2 R  until 27, 2 P  until 29, 2 R  until 32, 9 P +2 until 36, "
		      "9 R  until 40, 9 R wb_workfn until 60, 7 P <9 until 80");
	/* it existed before, but nothing is known of it */
	check_created(false, false,
		      "7 R  until 25, 9 ? =7 until 36, 9 R  until 40, 9 R wb_workfn until 60, 7 P <9 until 80");
}
END_TEST

/* Meanwhile the kworker waits for a disk: so does the thread whose item it has not started. */
START_TEST(test_work_waits_for_another)
{
	struct test t;
	char *got;

	begin(&t, 1);
	switched(&t, 0, 5, 0, 0, 0, 7);
	switched(&t, 0, 5, 1, 0, 0, 9);
	work(&t, 12, 1, WAIT_EVENT_WORK_START, NO_WORK);
	switched(&t, 0, 15, 1, 9, 2, 0);
	work(&t, 20, 0, WAIT_EVENT_WORK_QUEUED, 3);
	switched(&t, 0, 21, 0, 7, 2, 0);
	woken_by_softirq(&t, 0, 50, 1, 9, 4, WAIT_BLOCK_DEVICE);
	switched(&t, 0, 55, 1, 0, 0, 9);
	work(&t, 57, 1, WAIT_EVENT_WORK_END, NO_WORK);
	work(&t, 58, 1, WAIT_EVENT_WORK_START, 3);
	woken(&t, 0, 60, 1, 7);
	work(&t, 70, 1, WAIT_EVENT_WORK_END, NO_WORK);
	switched(&t, 0, 80, 0, 0, 0, 7);
	switched(&t, 0, 90, 1, 9, 0x402, 0);
	finish(&t, 1);
	got = path_text(&t, 10, 80);
	ck_assert_str_eq(got, "7 R  until 21, 9 D =7 until 50, 9 P  until 55, 9 R wb_workfn until 57, 9 R  until 58, "
			      "9 R wb_workfn until 60, 7 P <9 until 80");
	g_free(got);
	end(&t);
}
END_TEST

/* An item is queued at 30, when a disk's request ends, a packet comes or a timer fires, and the kworker is busy. */
static void check_queued(enum wait_state state, const char *want_path)
{
	struct wait_event *e;
	struct test t;
	char *got;

	begin(&t, 1);
	switched(&t, 0, 5, 0, 0, 0, 7);
	switched(&t, 0, 5, 1, 0, 0, 9);
	work(&t, 12, 1, WAIT_EVENT_WORK_START, NO_WORK);
	switched(&t, 0, 15, 1, 9, 2, 0);
	switched(&t, 0, 20, 0, 7, 2, 0);
	e = work(&t, 30, 0, WAIT_EVENT_WORK_QUEUED, 3);
	e->context = e->below = WAIT_CONTEXT_SOFTIRQ;
	e->state = (uint8_t)state;
	e->cause = strpool_intern_z("eth0");
	woken_by_softirq(&t, 0, 50, 1, 9, 4, WAIT_BLOCK_DEVICE);
	switched(&t, 0, 55, 1, 0, 0, 9);
	work(&t, 57, 1, WAIT_EVENT_WORK_END, NO_WORK);
	work(&t, 58, 1, WAIT_EVENT_WORK_START, 3);
	woken(&t, 0, 60, 1, 7);
	work(&t, 70, 1, WAIT_EVENT_WORK_END, NO_WORK);
	switched(&t, 0, 80, 0, 0, 0, 7);
	switched(&t, 0, 90, 1, 9, 0x402, 0);
	finish(&t, 1);
	check(&t, 0, 9, "5 i 12 R 15 D 50 P 55 R 57 i 58 R 70 R 90");
	got = path_text(&t, 10, 80);
	ck_assert_str_eq(got, want_path);
	g_free(got);
	end(&t);
}

START_TEST(test_work_queued_in_an_interrupt)
{
	check_queued(WAIT_NETWORK,
		     "7 R  until 20, 7 N eth0 until 30, 9 D  until 50, 9 P  until 55, 9 R wb_workfn until 57, "
		     "9 R  until 58, 9 R wb_workfn until 60, 7 P <9 until 80");
	check_queued(WAIT_TIMER,
		     "7 R  until 20, 7 T eth0 until 30, 9 D  until 50, 9 P  until 55, 9 R wb_workfn until 57, "
		     "9 R  until 58, 9 R wb_workfn until 60, 7 P <9 until 80");
	/* a reset key, say */
	check_queued(WAIT_USER_INPUT,
		     "7 R  until 20, 7 B  until 30, 9 D  until 50, 9 P  until 55, 9 R wb_workfn until 57, "
		     "9 R  until 58, 9 R wb_workfn until 60, 7 P <9 until 80");
}
END_TEST

/* A kworker that was woken in an interrupt for an item whose queueing was not seen; item 4 was. */
START_TEST(test_work_queued_unseen)
{
	struct test t;

	mallopt(M_PERTURB, 0x5a); /* what is not set is not 0 */
	begin(&t, 1);
	switched(&t, 0, 5, 0, 0, 0, 7);
	switched(&t, 0, 6, 1, 9, 0x402, 0);
	work(&t, 20, 0, WAIT_EVENT_WORK_QUEUED, 4);
	woken_by_softirq(&t, 0, 21, 0, 9, 1, WAIT_BLOCKED);
	switched(&t, 0, 30, 1, 0, 0, 9);
	work(&t, 31, 1, WAIT_EVENT_WORK_START, 3);
	work(&t, 40, 1, WAIT_EVENT_WORK_END, NO_WORK);
	switched(&t, 0, 60, 1, 9, 0x402, 0);
	finish(&t, 1);
	mallopt(M_PERTURB, 0);
	check(&t, 0, 9, "6 i 21 P 30 R 31 R 40 R 60");
	end(&t);
}
END_TEST

/* A kworker that was woken for the work: the wake-up is more exact. */
START_TEST(test_woken_for_work)
{
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 5, 0, 0, 0, 7);
	switched(&t, 0, 6, 1, 9, 0x402, 0);
	work(&t, 20, 0, WAIT_EVENT_WORK_QUEUED, 3);
	woken(&t, 0, 21, 0, 9);
	work(&t, 22, 0, WAIT_EVENT_WORK_QUEUED, 4);
	switched(&t, 0, 30, 1, 0, 0, 9);
	work(&t, 31, 1, WAIT_EVENT_WORK_START, 3);
	work(&t, 40, 1, WAIT_EVENT_WORK_END, NO_WORK);
	work(&t, 41, 1, WAIT_EVENT_WORK_START, 4);
	work(&t, 50, 1, WAIT_EVENT_WORK_END, NO_WORK);
	switched(&t, 0, 60, 1, 9, 0x402, 0);
	finish(&t, 1);
	check(&t, 0, 9, "6 i<7@21 21 P 30 R 31 R 40 i=7@22 41 R 50 R 60");
	end(&t);
}
END_TEST

/* Since Linux 6.9 some items are executed in softirqs: the thread below does nothing for whoever queued them. */
START_TEST(test_work_in_a_softirq)
{
	struct test t;
	char *got;

	begin(&t, 1);
	switched(&t, 0, 5, 0, 7, 1, 0);
	switched(&t, 0, 5, 1, 0, 0, 9);
	work(&t, 12, 1, WAIT_EVENT_WORK_START, NO_WORK);
	work(&t, 20, 2, WAIT_EVENT_WORK_QUEUED, 3);
	work(&t, 40, 1, WAIT_EVENT_WORK_START, 3)->context = WAIT_CONTEXT_SOFTIRQ;
	work(&t, 50, 1, WAIT_EVENT_WORK_END, NO_WORK)->context = WAIT_CONTEXT_SOFTIRQ;
	woken(&t, 0, 60, 1, 7);
	switched(&t, 0, 80, 0, 0, 0, 7);
	switched(&t, 0, 90, 1, 9, 1, 0);
	finish(&t, 1);
	check(&t, 0, 9, "5 i 12 R 90"); /* its own item, which does not end in the softirq */
	got = path_text(&t, 12, 80);
	ck_assert_str_eq(got, "9 R wb_workfn until 60, 7 P <9 until 80");
	g_free(got);
	end(&t);
}
END_TEST

UNIT_MAIN("waits_work", test_work, test_work_waits_for_another, test_work_for_a_new_kworker,
	  test_work_from_an_interrupt, test_work_from_a_kworker, test_work_queued_in_an_interrupt,
	  test_work_queued_unseen, test_woken_for_work, test_work_in_a_softirq)
