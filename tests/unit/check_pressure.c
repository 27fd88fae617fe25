/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pressure of a host and of a container, worked out by hand: "some" and "full" as in the kernel's psi.rst. */
#include "unit.h"

#include "events.h"

enum { BEGIN = 1000, END = 2000, UNINTERRUPTIBLE = 2, NS1 = 4026532318u, VDA = 254 << 20 };

static struct events e;

static void setup(void)
{
	events_init(&e);
	model_begin(e.m, BEGIN);
}

static void teardown(void)
{
	events_release(&e);
}

static void dump_process(int64_t tid, const char *name)
{
	struct ev_dump_process p = { .tid = tid, .pid = tid, .ppid = 1 };
	struct record r;

	record_init(&r, BEGIN, 0, 1, EVENT_DUMP_PROCESS);
	g_strlcpy(p.name, name, sizeof(p.name));
	events_add(&e, &r, &p, sizeof(p));
}

static void enter_container(uint64_t t, int64_t tid)
{
	EVENT(&e, t, 0, 1, DUMP_PID_NS, dump_ns, .tid = tid, .vtid = tid, .vpid = tid, .ns_level = 1, .ns_inum = NS1);
}

static void wake(uint64_t t, int64_t tid)
{
	EVENT(&e, t, 0, 0, SCHED_WAKING, wakeup, .tid = tid);
}

/* The row of the host (container 0) or of a container; NULL: nothing ever waited there. */
static const struct pressure_row *pressure(uint64_t container)
{
	const struct state_table *t = &e.m->state.tables[TABLE_PRESSURE];

	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;)
		if (STATE_ROW(&e.m->state, PRESSURE, pressure, row)->container == container)
			return STATE_ROW(&e.m->state, PRESSURE, pressure, row);
	return NULL;
}

#define ASSERT_PRESSURE(of, cpu_some, cpu_full, io_some, io_full)                                       \
	do {                                                                                            \
		const struct pressure_row *found = pressure(of);                                        \
                                                                                                        \
		ck_assert_ptr_nonnull(found);                                                           \
		ck_assert_uint_eq(EVENTS_VALUE(PRESSURE, pressure, found, cpu_some_ns, END), cpu_some); \
		ck_assert_uint_eq(EVENTS_VALUE(PRESSURE, pressure, found, cpu_full_ns, END), cpu_full); \
		ck_assert_uint_eq(EVENTS_VALUE(PRESSURE, pressure, found, io_some_ns, END), io_some);   \
		ck_assert_uint_eq(EVENTS_VALUE(PRESSURE, pressure, found, io_full_ns, END), io_full);   \
	} while (0)

/*
 * Threads 7 and 8 of a container and 9 of the host take turns on one CPU:
 *
 *	 1100       1200       1400       1450       1600
 *	  9 runs     9 runs     7 runs     8 runs     idle
 *	             7 ready    8 ready
 *	             8 ready from 1300
 */
START_TEST(test_cpu)
{
	uint64_t container;

	dump_process(7, "seven");
	enter_container(BEGIN, 7);
	dump_process(8, "eight");
	enter_container(BEGIN, 8);
	container = events_thread(&e, 7)->container;
	events_switch(&e, 1100, 0, 0, 0, 9, "nine");
	wake(1200, 7);
	wake(1300, 8);
	events_switch(&e, 1400, 0, 9, 1, 7, "seven");
	events_switch(&e, 1450, 0, 7, 1, 8, "eight");
	events_switch(&e, 1600, 0, 8, 1, 0, "swapper/0");
	ASSERT_PRESSURE(0, 250, 0, 0, 0);
	ASSERT_PRESSURE(container, 250, 200, 0, 0);
}
END_TEST

/* A thread that is ready when it enters a container counts there from then on. */
START_TEST(test_enters_while_ready)
{
	dump_process(7, "seven");
	events_switch(&e, 1100, 0, 0, 0, 9, "nine");
	wake(1200, 7);
	enter_container(1300, 7);
	events_switch(&e, 1500, 0, 9, 1, 7, "seven");
	ASSERT_PRESSURE(0, 300, 0, 0, 0);
	ASSERT_PRESSURE(events_thread(&e, 7)->container, 200, 200, 0, 0);
}
END_TEST

/* Thread 7 waits for its request, first queued, then with the driver; meanwhile 9 is ready and runs. */
START_TEST(test_io)
{
	events_switch(&e, 1090, 0, 0, 0, 7, "seven");
	EVENT(&e, 1100, 0, 7, BLOCK_INSERT, block_rq, .dev = VDA, .sector = 8, .nr_sector = 8, .rwbs = 4);
	events_switch(&e, 1200, 0, 7, UNINTERRUPTIBLE, 0, "swapper/0");
	wake(1300, 9);
	events_switch(&e, 1350, 0, 0, 0, 9, "nine");
	EVENT(&e, 1400, 0, 9, BLOCK_ISSUE, block_rq, .dev = VDA, .sector = 8, .nr_sector = 8, .rwbs = 4);
	events_switch(&e, 1500, 0, 9, 1, 0, "swapper/0");
	EVENT(&e, 1700, 0, 0, BLOCK_COMPLETE, block_rq, .dev = VDA, .sector = 8, .nr_sector = 8, .rwbs = 4);
	/* it still sleeps, but no longer for the disk */
	wake(1800, 7);
	events_switch(&e, 1800, 0, 0, 0, 7, "seven");
	ASSERT_PRESSURE(0, 50, 0, 500, 300);
}
END_TEST

/*
 * Thread 7 waits for its write, which is inserted only when a flush is done, and by another thread. At 1100 it gets
 * another request, which is merged with one of thread 9.
 */
START_TEST(test_io_before_insertion)
{
	e.m->declared[EVENT_BLOCK_MERGE] = 1;
	events_switch(&e, 1010, 0, 0, 0, 9, "nine");
	EVENT(&e, 1020, 0, 9, BLOCK_ISSUE, block_rq, .dev = VDA, .sector = 0, .nr_sector = 8, .rwbs = 4);
	EVENT(&e, 1030, 0, 9, BLOCK_COMPLETE, block_rq, .dev = VDA, .sector = 0, .nr_sector = 8, .rwbs = 4);
	events_switch(&e, 1090, 0, 9, 1, 7, "seven");
	EVENT(&e, 1100, 0, 7, BLOCK_GETRQ, block_rq, .dev = VDA, .sector = 64, .nr_sector = 8, .rwbs = 1);
	EVENT(&e, 1120, 0, 7, BLOCK_MERGE, block_rq, .dev = VDA, .sector = 64, .nr_sector = 8, .rwbs = 1);
	events_switch(&e, 1130, 0, 7, UNINTERRUPTIBLE, 0, "swapper/0");
	wake(1150, 7);
	events_switch(&e, 1150, 0, 0, 0, 7, "seven");
	EVENT(&e, 1160, 0, 7, BLOCK_GETRQ, block_rq, .dev = VDA, .sector = 8, .nr_sector = 8, .rwbs = 0x401);
	events_switch(&e, 1200, 0, 7, UNINTERRUPTIBLE, 5, "kworker/0:1H");
	EVENT(&e, 1500, 0, 5, BLOCK_INSERT, block_rq, .dev = VDA, .sector = 8, .nr_sector = 8, .rwbs = 0x401);
	EVENT(&e, 1600, 0, 5, BLOCK_ISSUE, block_rq, .dev = VDA, .sector = 8, .nr_sector = 8, .rwbs = 0x401);
	events_switch(&e, 1650, 0, 5, 1, 0, "swapper/0");
	EVENT(&e, 1700, 0, 0, BLOCK_COMPLETE, block_rq, .dev = VDA, .sector = 8, .nr_sector = 8, .rwbs = 0x401);
	wake(1800, 7);
	events_switch(&e, 1800, 0, 0, 0, 7, "seven");
	ASSERT_PRESSURE(0, 0, 0, 500, 50);
}
END_TEST

/*
 * Kernels before 5.9 do not say that a request is merged into another as it is inserted: one that may be is not waited
 * for (rwbs 1). A write that goes to the medium at once (0x201) never is.
 */
START_TEST(test_io_before_insertion_without_merges)
{
	events_switch(&e, 1010, 0, 0, 0, 9, "nine");
	EVENT(&e, 1020, 0, 9, BLOCK_ISSUE, block_rq, .dev = VDA, .sector = 0, .nr_sector = 8, .rwbs = 4);
	EVENT(&e, 1030, 0, 9, BLOCK_COMPLETE, block_rq, .dev = VDA, .sector = 0, .nr_sector = 8, .rwbs = 4);
	events_switch(&e, 1090, 0, 9, 1, 7, "seven");
	EVENT(&e, 1100, 0, 7, BLOCK_GETRQ, block_rq, .dev = VDA, .sector = 64, .nr_sector = 8, .rwbs = 1);
	events_switch(&e, 1200, 0, 7, UNINTERRUPTIBLE, 0, "swapper/0");
	wake(1400, 7);
	events_switch(&e, 1400, 0, 0, 0, 7, "seven");
	EVENT(&e, 1450, 0, 7, BLOCK_GETRQ, block_rq, .dev = VDA, .sector = 8, .nr_sector = 8, .rwbs = 0x201);
	events_switch(&e, 1500, 0, 7, UNINTERRUPTIBLE, 0, "swapper/0");
	ASSERT_PRESSURE(0, 0, 0, 500, 500);
}
END_TEST

/* Thread 7 is woken at 1200; at 1300 events are lost. */
static void lose_while_ready(void)
{
	events_switch(&e, 1100, 0, 0, 0, 9, "nine");
	wake(1200, 7);
	events_lose(&e, 1300, 5, 1290);
}

/* Whether a thread is still ready after lost events is unknown: it does not count until it is seen again. */
START_TEST(test_loss)
{
	lose_while_ready();
	ASSERT_PRESSURE(0, 100, 0, 0, 0);
	events_switch(&e, 1500, 0, 9, 1, 7, "seven");
	events_switch(&e, 1600, 0, 7, 0, 9, "nine");
	events_switch(&e, 1700, 0, 9, 1, 7, "seven");
	ASSERT_PRESSURE(0, 200, 0, 0, 0);
}
END_TEST

/* Whether its request is still with the disk is unknown, too; the disk's next event shows that it is not. */
START_TEST(test_loss_while_a_request_is_out)
{
	events_switch(&e, 1090, 0, 0, 0, 7, "seven");
	EVENT(&e, 1100, 0, 7, BLOCK_ISSUE, block_rq, .dev = VDA, .sector = 8, .nr_sector = 8, .rwbs = 4);
	events_switch(&e, 1200, 0, 7, UNINTERRUPTIBLE, 0, "swapper/0");
	events_lose(&e, 1300, 5, 1290);
	ASSERT_PRESSURE(0, 0, 0, 100, 100);
	events_switch(&e, 1400, 0, 0, 0, 7, "seven");
	events_switch(&e, 1500, 0, 7, UNINTERRUPTIBLE, 0, "swapper/0");
	EVENT(&e, 1600, 0, 0, BLOCK_COMPLETE, block_rq, .dev = VDA, .sector = 16, .nr_sector = 8, .rwbs = 4);
	ck_assert_uint_le(EVENTS_VALUE(PRESSURE, pressure, pressure(0), io_some_ns, END), 200);
}
END_TEST

/* A wake-up tells that it had blocked: it is ready from then on. */
START_TEST(test_woken_after_loss)
{
	lose_while_ready();
	wake(1500, 7);
	events_switch(&e, 1600, 0, 9, 1, 7, "seven");
	ASSERT_PRESSURE(0, 200, 0, 0, 0);
}
END_TEST

UNIT_MAIN_AROUND("pressure", setup, teardown, test_cpu, test_enters_while_ready, test_io, test_io_before_insertion,
		 test_io_before_insertion_without_merges, test_loss, test_loss_while_a_request_is_out,
		 test_woken_after_loss)
