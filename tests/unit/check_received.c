/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of the packets that a CPU has received wakes a thread: model/received.c, by the places in the log. */
#include <sys/socket.h>

#include "unit.h"

#include "events.h"
#include "model/model.h"
#include "model/waitlog.h"

enum { TCP = 6, HEADERS = 40, NET_RX = 3, NOBODY = WAIT_NO_PLACE };

struct fixture {
	struct events e;
	struct wait_log log;
	uint64_t now;
};

static void begin(struct fixture *f)
{
	events_init(&f->e);
	wait_log_init(&f->log);
	model_set_wait_log(f->e.m, &f->log);
	f->now = 10;
	events_switch(&f->e, f->now, 0, 1, 1, 5, "five");
}

static void end(struct fixture *f)
{
	model_set_wait_log(f->e.m, NULL);
	wait_log_release(&f->log);
	events_release(&f->e);
}

static void softirq(struct fixture *f, bool enter)
{
	f->now += 10;
	if (enter)
		EVENT(&f->e, f->now, 0, 5, SOFTIRQ_ENTRY, softirq, .vec = NET_RX);
	else
		EVENT(&f->e, f->now, 0, 5, SOFTIRQ_EXIT, softirq, .vec = NET_RX);
}

static unsigned last_place(const struct fixture *f, enum wait_event_kind kind)
{
	const struct wait_event *e = &f->log.events[f->log.n_events - 1];

	ck_assert_int_eq(e->kind, kind);
	return e->place;
}

/* Returns the place of a packet of the connection from that port, with so many bytes of data. */
static unsigned receive(struct fixture *f, unsigned port, unsigned bytes)
{
	f->now += 10;
	EVENT(&f->e, f->now, 0, 5, NET_RECEIVE, net, .name = str(&rec, "eth0"), .len = 60, .ip_version = 4,
	      .protocol = TCP, .saddr = { 1, 0 }, .daddr = { 2, 0 }, .sport = port, .dport = 80, .flags = 0x10,
	      .tot_len = HEADERS + bytes, .header_words = 5 << 8 | 5);
	return last_place(f, WAIT_EVENT_RECEIVE);
}

static void answer(struct fixture *f, unsigned port)
{
	f->now += 10;
	EVENT(&f->e, f->now, 0, 5, NET_QUEUE, net, .name = str(&rec, "eth0"), .len = 60, .ip_version = 4,
	      .protocol = TCP, .saddr = { 2, 0 }, .daddr = { 1, 0 }, .sport = 80, .dport = port, .flags = 0x10,
	      .tot_len = HEADERS, .header_words = 5 << 8 | 5);
}

/* Returns the place of the packet that wakes the thread. */
static unsigned wake(struct fixture *f, int64_t tid)
{
	f->now += 10;
	EVENT(&f->e, f->now, 0, 5, SCHED_WAKING, wakeup, .tid = tid);
	return last_place(f, WAIT_EVENT_WAKE);
}

/* Several are received before the first is delivered: each wakes its thread, in order, and the last one the others. */
START_TEST(test_together)
{
	struct fixture f;

	begin(&f);
	softirq(&f, true);
	ck_assert_uint_eq(receive(&f, 1001, 100), 0);
	ck_assert_uint_eq(receive(&f, 1002, 100), 1);
	answer(&f, 1001);
	ck_assert_uint_eq(wake(&f, 9), 0);
	ck_assert_uint_eq(wake(&f, 8), 1);
	ck_assert_uint_eq(wake(&f, 7), 1);
	/* all of these are delivered */
	ck_assert_uint_eq(receive(&f, 1003, 100), 0);
	ck_assert_uint_eq(wake(&f, 6), 0);
	end(&f);
}
END_TEST

/* Each is delivered before the next one: it has woken a thread, or has been answered. */
START_TEST(test_one_after_the_other)
{
	struct fixture f;

	begin(&f);
	softirq(&f, true);
	ck_assert_uint_eq(receive(&f, 1001, 100), 0);
	ck_assert_uint_eq(wake(&f, 9), 0);
	ck_assert_uint_eq(receive(&f, 1002, 100), 0);
	answer(&f, 1002);
	ck_assert_uint_eq(receive(&f, 1003, 100), 0);
	ck_assert_uint_eq(wake(&f, 8), 0);
	ck_assert_uint_eq(wake(&f, 7), 0);
	softirq(&f, false);
	/* the softirq that it wakes in must be the one that received it */
	ck_assert_uint_eq(receive(&f, 1004, 100), 0);
	softirq(&f, true);
	ck_assert_uint_eq(wake(&f, 6), NOBODY);
	softirq(&f, false);
	/* outside softirqs, it is not known when they are delivered */
	ck_assert_uint_eq(receive(&f, 1005, 100), 0);
	ck_assert_uint_eq(receive(&f, 1006, 100), 0);
	end(&f);
}
END_TEST

/* A connection has one place; what only acknowledges is the less likely one. */
START_TEST(test_of_one_connection)
{
	struct fixture f;

	begin(&f);
	softirq(&f, true);
	ck_assert_uint_eq(receive(&f, 1001, 0), 0);
	ck_assert_uint_eq(receive(&f, 1002, 100), 1);
	ck_assert_uint_eq(receive(&f, 1001, 0), 0);
	ck_assert_uint_eq(wake(&f, 9), 1);
	ck_assert_uint_eq(receive(&f, 1001, 0), 0);
	ck_assert_uint_eq(receive(&f, 1002, 100), 1);
	ck_assert_uint_eq(receive(&f, 1001, 100), 0);
	ck_assert_uint_eq(wake(&f, 9), 0);
	softirq(&f, false);
	softirq(&f, true);
	ck_assert_uint_eq(receive(&f, 1001, 0), 0);
	ck_assert_uint_eq(wake(&f, 9), 0);
	end(&f);
}
END_TEST

/* Of those of one connection, any that has data makes it likely. */
START_TEST(test_data_before_an_acknowledgement)
{
	struct fixture f;

	begin(&f);
	softirq(&f, true);
	ck_assert_uint_eq(receive(&f, 1001, 0), 0);
	ck_assert_uint_eq(receive(&f, 1002, 100), 1);
	ck_assert_uint_eq(receive(&f, 1002, 0), 1);
	ck_assert_uint_eq(wake(&f, 9), 1);
	end(&f);
}
END_TEST

/* A later packet has woken its thread: an earlier one still wakes the thread that reads from its connection. */
START_TEST(test_of_a_reader)
{
	struct fixture f;

	begin(&f);
	events_switch(&f.e, f.now += 10, 0, 5, 0, 9, "nine");
	SYSCALL_ENTRY(&f.e, f.now += 10, 0, 9, "socket", .cmd = AF_INET);
	SYSCALL_EXIT(&f.e, f.now += 10, 0, 9, "socket", .ret = 3);
	SYSCALL_ENTRY(&f.e, f.now += 10, 0, 9, "connect", .fd = 3, .family = AF_INET, .port = 1001, .addr = { 1, 0 });
	SYSCALL_EXIT(&f.e, f.now += 10, 0, 9, "connect", .ret = 0);
	SYSCALL_ENTRY(&f.e, f.now += 10, 0, 9, "read", .fd = 3);
	events_switch(&f.e, f.now += 10, 0, 9, 1, 5, "five");
	softirq(&f, true);
	ck_assert_uint_eq(receive(&f, 1001, 0), 0);
	ck_assert_uint_eq(receive(&f, 1002, 100), 1);
	ck_assert_uint_eq(wake(&f, 8), 1);
	ck_assert_uint_eq(wake(&f, 9), 0);
	end(&f);
}
END_TEST

/* accept() waits for a connection that no process has yet. */
START_TEST(test_of_an_accepting_thread)
{
	struct fixture f;

	begin(&f);
	SYSCALL_ENTRY(&f.e, f.now += 10, 0, 5, "socket", .cmd = AF_INET);
	SYSCALL_EXIT(&f.e, f.now += 10, 0, 5, "socket", .ret = 3);
	SYSCALL_ENTRY(&f.e, f.now += 10, 0, 5, "connect", .fd = 3, .family = AF_INET, .port = 1001, .addr = { 1, 0 });
	answer(&f, 1001);
	SYSCALL_EXIT(&f.e, f.now += 10, 0, 5, "connect", .ret = 0);
	events_switch(&f.e, f.now += 10, 0, 5, 0, 9, "nine");
	SYSCALL_ENTRY(&f.e, f.now += 10, 0, 9, "accept4", .fd = 3);
	events_switch(&f.e, f.now += 10, 0, 9, 1, 5, "five");
	softirq(&f, true);
	ck_assert_uint_eq(receive(&f, 1001, 100), 0);
	ck_assert_uint_eq(receive(&f, 1002, 0), 1);
	ck_assert_uint_eq(wake(&f, 9), 1);
	end(&f);
}
END_TEST

/* More than there are places: the earlier ones are forgotten. */
START_TEST(test_many)
{
	struct fixture f;

	begin(&f);
	softirq(&f, true);
	for (unsigned i = 0; i < 3 * WAIT_PLACES; i++)
		ck_assert_uint_eq(receive(&f, 1001 + i, 100), i % WAIT_PLACES);
	ck_assert_uint_eq(wake(&f, 9), 0);
	end(&f);
}
END_TEST

/* inet_sock_local_in comes when a packet is delivered, and has no addresses. */
START_TEST(test_local)
{
	struct fixture f;

	begin(&f);
	softirq(&f, true);
	receive(&f, 1001, 100);
	receive(&f, 1002, 100);
	f.now += 10;
	EVENT(&f.e, f.now, 0, 5, SOCK_RECEIVE, net, .flags = 0x10);
	ck_assert_uint_eq(last_place(&f, WAIT_EVENT_RECEIVE), WAIT_PLACE_LOCAL);
	ck_assert_uint_eq(wake(&f, 9), WAIT_PLACE_LOCAL);
	ck_assert_uint_eq(receive(&f, 1003, 100), 0);
	ck_assert_uint_eq(wake(&f, 8), 0);
	end(&f);
}
END_TEST

/* Nothing is logged of a packet whose CPU is unknown: what was logged last stays as it is. */
START_TEST(test_on_an_unknown_cpu)
{
	struct fixture f;

	begin(&f);
	softirq(&f, true);
	receive(&f, 1001, 100);
	ck_assert_uint_eq(wake(&f, 9), 0);
	f.now += 10;
	EVENT(&f.e, f.now, EVENT_NO_CPU, EVENT_NO_TID, NET_RECEIVE, net, .name = str(&rec, "eth0"), .len = 60);
	ck_assert_uint_eq(last_place(&f, WAIT_EVENT_WAKE), 0);
	end(&f);
}
END_TEST

UNIT_MAIN("received", test_together, test_one_after_the_other, test_of_one_connection, test_many, test_local,
	  test_on_an_unknown_cpu, test_data_before_an_acknowledgement, test_of_a_reader, test_of_an_accepting_thread)
