/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From wait events to the graph: packets, from host to host. */
#include "waits_events.h"

/* One of equal datagrams without an IPv4 ID, sent by the task and received in a softirq. */
static void datagram(struct test *t, unsigned host, uint64_t t_ns, bool sent)
{
	struct wait_log *log = &t->log[host];

	packet(t, host, t_ns, 0, sent, !sent, false, 0);
	log->packets[log->n_packets - 1].protocol = 17;
}

/* Two hosts: thread 7 of the first runs from 10, thread 9 of the second waits from 11. */
static void begin_waiting(struct test *t)
{
	begin(t, 2);
	switched(t, 0, 10, 0, 0, 0, 7);
	switched(t, 1, 11, 0, 9, 1, 0);
}

START_TEST(test_packet_wakes_on_another_host)
{
	struct test t;

	begin_waiting(&t);
	packet(&t, 0, 20, 0, true, false, false, 1);
	add(&t, 1, 30, WAIT_EVENT_NET_SOFTIRQ, 0)->vec = 3;
	packet(&t, 1, 31, 0, false, true, false, 1);
	woken_by_softirq(&t, 1, 32, 0, 9, 3, WAIT_NETWORK);
	finish(&t, 2);
	check(&t, 0, 7, "10 R 20");
	check(&t, 1, 9, "11 N~7@20 32");
	check_row(&t, row_of_cpu(&t, 1, -1, 0), "30 R 31");
	ck_assert_uint_eq(waits_info(t.w).links, 1);
	end(&t);
}
END_TEST

/* An idle task neither sends nor receives: these are interrupts that were not recorded. */
START_TEST(test_packets_on_an_idle_cpu)
{
	struct test t;

	begin_waiting(&t);
	packet(&t, 0, 20, 0, true, false, false, 1);
	switched(&t, 0, 25, 0, 7, 1, 0);
	packet(&t, 0, 28, 0, true, false, false, 2); /* the rest, when the window opens */
	packet(&t, 1, 30, 0, false, false, false, 1);
	packet(&t, 1, 31, 0, false, true, false, 2);
	woken_by_softirq(&t, 1, 32, 0, 9, 3, WAIT_NETWORK);
	packet(&t, 1, 33, 0, true, false, true, 1); /* nothing was sent on this flow before */
	packet(&t, 0, 40, 0, false, true, true, 1);
	woken_by_softirq(&t, 0, 41, 0, 7, 3, WAIT_NETWORK);
	finish(&t, 2);
	check(&t, 1, 9, "11 N~7@20 32");
	check(&t, 0, 7, "10 R 20 R 25 N 41");
	check_row(&t, row_of_cpu(&t, 0, 0, 0), "10 P 25");
	check_row(&t, row_of_cpu(&t, 1, 0, 0), "11");
	check_row(&t, row_of_cpu(&t, 1, -1, 0), "~7@20 30 R 31");
	ck_assert_uint_eq(waits_info(t.w).links, 2);
	end(&t);
}
END_TEST

/* The packet wakes all threads woken while it is received, even after the softirq has answered it, but none later. */
START_TEST(test_packet_that_wakes_several)
{
	struct test t;

	begin(&t, 2);
	switched(&t, 0, 10, 0, 0, 0, 7);
	switched(&t, 1, 11, 0, 9, 1, 8);
	switched(&t, 1, 12, 0, 8, 1, 6);
	switched(&t, 1, 13, 0, 6, 1, 0);
	packet(&t, 0, 20, 0, true, false, false, 1);
	add(&t, 1, 30, WAIT_EVENT_NET_SOFTIRQ, 0)->vec = 3;
	packet(&t, 1, 31, 0, false, true, false, 1);
	packet(&t, 1, 32, 0, true, true, true, 2);
	woken_by_softirq(&t, 1, 33, 0, 9, 3, WAIT_NETWORK);
	woken_by_softirq(&t, 1, 34, 0, 8, 3, WAIT_NETWORK);
	add(&t, 1, 40, WAIT_EVENT_NET_SOFTIRQ, 0)->vec = 3;
	woken_by_softirq(&t, 1, 41, 0, 6, 3, WAIT_NETWORK);
	finish(&t, 2);
	check(&t, 1, 9, "11 N~7@20 33");
	check(&t, 1, 8, "11 R 12 N~7@20 34");
	check(&t, 1, 6, "12 R 13 N 41");
	end(&t);
}
END_TEST

/* A packet without TCP or UDP headers, such as a ping, comes after one whose sender is known: it has none. */
START_TEST(test_packet_of_unknown_sender)
{
	struct test t;

	begin(&t, 2);
	switched(&t, 0, 10, 0, 0, 0, 7);
	switched(&t, 1, 11, 0, 9, 1, 8);
	switched(&t, 1, 12, 0, 8, 1, 0);
	packet(&t, 0, 20, 0, true, false, false, 1);
	add(&t, 1, 30, WAIT_EVENT_NET_SOFTIRQ, 0)->vec = 3;
	packet(&t, 1, 31, 0, false, true, false, 1);
	woken_by_softirq(&t, 1, 32, 0, 9, 3, WAIT_NETWORK);
	packet_without_headers(&t, 1, 33, 0);
	woken_by_softirq(&t, 1, 34, 0, 8, 3, WAIT_NETWORK);
	finish(&t, 2);
	check(&t, 1, 9, "11 N~7@20 32");
	check(&t, 1, 8, "11 R 12 N 34");
	check_row(&t, row_of_cpu(&t, 1, -1, 0), "30 R 31 R 33");
	end(&t);
}
END_TEST

/* A packet that has woken a thread is not a link to its receiver, though that row continues. */
START_TEST(test_packet_that_woke_is_forgotten)
{
	struct test t;

	begin_waiting(&t);
	packet(&t, 0, 20, 0, true, false, false, 1);
	packet(&t, 1, 31, 0, false, true, false, 1);
	woken_by_softirq(&t, 1, 32, 0, 9, 3, WAIT_NETWORK);
	packet(&t, 1, 33, 0, true, true, true, 50);
	finish(&t, 2);
	check(&t, 1, 9, "11 N~7@20 32");
	check_row(&t, row_of_cpu(&t, 1, -1, 0), "31 R 33");
	ck_assert_uint_eq(waits_info(t.w).links, 1);
	end(&t);
	/* and one that became a link to its receiver wakes no thread in the next softirq */
	begin_waiting(&t);
	packet(&t, 0, 20, 0, true, false, false, 1);
	packet(&t, 1, 31, 0, false, true, false, 1);
	packet(&t, 1, 33, 0, true, true, true, 50);
	add(&t, 1, 40, WAIT_EVENT_NET_SOFTIRQ, 0)->vec = 3;
	woken_by_softirq(&t, 1, 41, 0, 9, 3, WAIT_NETWORK);
	finish(&t, 2);
	check(&t, 1, 9, "11 N 41");
	check_row(&t, row_of_cpu(&t, 1, -1, 0), "~7@20 31 R 33 . 40");
	end(&t);
}
END_TEST

/* A packet that came before the wait wakes nobody in a later softirq, even if its receiver did nothing since. */
START_TEST(test_packet_of_an_earlier_softirq)
{
	struct test t;

	begin(&t, 2);
	switched(&t, 0, 10, 0, 0, 0, 7);
	switched(&t, 1, 11, 1, 0, 0, 9);
	packet(&t, 0, 20, 0, true, false, false, 1);
	add(&t, 1, 30, WAIT_EVENT_NET_SOFTIRQ, 0)->vec = 3;
	packet(&t, 1, 31, 0, false, true, false, 1);
	switched(&t, 1, 40, 1, 9, 1, 0);
	add(&t, 1, 50, WAIT_EVENT_NET_SOFTIRQ, 0)->vec = 3;
	woken_by_softirq(&t, 1, 51, 0, 9, 3, WAIT_NETWORK);
	finish(&t, 2);
	check(&t, 1, 9, "11 R 40 N 51");
	check_row(&t, row_of_cpu(&t, 1, -1, 0), "30 R~7@20 31 . 50");
	end(&t);
}
END_TEST

/* Two packets are received before the first is delivered: each thread waited for the packet that its wake-up names. */
START_TEST(test_packets_received_together)
{
	struct test t;

	begin(&t, 3);
	switched(&t, 0, 10, 0, 0, 0, 7);
	switched(&t, 2, 10, 0, 0, 0, 6);
	switched(&t, 1, 11, 0, 9, 1, 8);
	switched(&t, 1, 12, 0, 8, 1, 0);
	packet(&t, 0, 20, 0, true, false, false, 1);
	packet(&t, 2, 25, 0, true, false, false, 200);
	add(&t, 1, 30, WAIT_EVENT_NET_SOFTIRQ, 0)->vec = 3;
	packet(&t, 1, 31, 0, false, true, false, 1);
	packet(&t, 1, 32, 0, false, true, false, 200);
	t.log[1].events[t.log[1].n_events - 1].place = 1;
	woken_by_softirq(&t, 1, 33, 0, 9, 3, WAIT_NETWORK);
	woken_by_softirq(&t, 1, 34, 0, 8, 3, WAIT_NETWORK)->place = 1;
	finish(&t, 3);
	check(&t, 1, 9, "11 N~7@20 33");
	check(&t, 1, 8, "11 R 12 N~6@25 34");
	end(&t);
}
END_TEST

/* Two packets in one ns share a vertex: the link from the earlier one stays, the later one goes to the woken thread. */
START_TEST(test_two_packets_in_one_ns)
{
	struct test t;

	begin(&t, 2);
	switched(&t, 0, 10, 0, 0, 0, 7);
	switched(&t, 0, 11, 1, 0, 0, 8);
	switched(&t, 1, 12, 0, 9, 1, 0);
	packet(&t, 0, 20, 0, true, false, false, 1);
	packet(&t, 0, 25, 1, true, false, false, 200);
	packet(&t, 1, 31, 0, false, true, false, 1);
	packet(&t, 1, 31, 0, false, true, false, 200);
	woken_by_softirq(&t, 1, 32, 0, 9, 3, WAIT_NETWORK);
	finish(&t, 2);
	check(&t, 1, 9, "12 N~8@25 32");
	check_row(&t, row_of_cpu(&t, 1, -1, 0), "~7@20 31");
	ck_assert_uint_eq(waits_info(t.w).links, 2);
	end(&t);
	/* in either order, and with no thread woken: both links end at the receiver's vertex */
	for (unsigned i = 0; i < 2; i++) {
		begin(&t, 2);
		switched(&t, 0, 10, 0, 0, 0, 7);
		switched(&t, 0, 11, 1, 0, 0, 8);
		packet(&t, 0, 20, 0, true, false, false, 1);
		packet(&t, 0, 25, 1, true, false, false, 200);
		packet(&t, 1, 31, 0, false, true, false, i ? 200 : 1);
		packet(&t, 1, 31, 0, false, true, false, i ? 1 : 200);
		packet(&t, 1, 33, 0, true, true, true, 50);
		finish(&t, 2);
		check_row(&t, row_of_cpu(&t, 1, -1, 0), "~7@20 31 R 33");
		end(&t);
	}
}
END_TEST

/* A packet that wakes no thread is a link to its receiver, once that row continues. */
START_TEST(test_packet_that_wakes_nobody)
{
	struct test t;

	begin(&t, 2);
	switched(&t, 0, 10, 0, 0, 0, 7);
	switched(&t, 1, 11, 0, 0, 0, 9);
	packet(&t, 0, 20, 0, true, false, false, 1);
	packet(&t, 1, 31, 0, false, false, false, 1);
	switched(&t, 1, 40, 0, 9, 1, 0);
	finish(&t, 2);
	check(&t, 1, 9, "11 R~7@20 31 R 40");
	end(&t);
}
END_TEST

/* A softirq sends on behalf of the task that last sent on the flow. */
START_TEST(test_softirq_sends_for_the_task)
{
	struct test t;

	begin_waiting(&t);
	packet(&t, 0, 20, 0, true, false, false, 1);
	add(&t, 0, 50, WAIT_EVENT_NET_SOFTIRQ, 0)->vec = 3;
	packet(&t, 0, 51, 0, true, true, false, 101);
	packet(&t, 1, 60, 0, false, true, false, 101);
	woken_by_softirq(&t, 1, 61, 0, 9, 3, WAIT_NETWORK);
	finish(&t, 2);
	check(&t, 1, 9, "11 N~7@20 61");
	end(&t);
}
END_TEST

/* Thread 7 sends segments from 20 on, 9 receives the first one; then a softirq of 7's host sends the one with seq. */
static void softirq_sends(struct test *t, unsigned segments, uint64_t sent_ns, uint32_t seq, int stopped)
{
	begin_waiting(t);
	for (unsigned i = 0; i < segments; i++)
		packet(t, 0, 20 + i, 0, true, false, false, 1 + 100 * i);
	add(t, 1, 30, WAIT_EVENT_NET_SOFTIRQ, 0)->vec = 3;
	packet(t, 1, 31, 0, false, true, false, 1);
	woken_by_softirq(t, 1, 32, 0, 9, 3, WAIT_NETWORK);
	switched(t, 1, 33, 0, 0, 0, 9);
	switched(t, 1, 40, 0, 9, stopped, 0);
	add(t, 0, sent_ns, WAIT_EVENT_NET_SOFTIRQ, 0)->vec = 3;
	packet(t, 0, sent_ns, 0, true, true, false, seq);
	packet(t, 1, 60, 0, false, true, false, seq);
	/* what is sent again has another ID */
	for (unsigned i = 0; i <= segments; i++)
		t->log[0].packets[i].id = (uint16_t)(1 + i);
	t->log[1].packets[0].id = 1;
	t->log[1].packets[1].id = (uint16_t)(1 + segments);
	woken_by_softirq(t, 1, 61, 0, 9, 3, WAIT_NETWORK);
	finish(t, 2);
}

/*
 * The task may have written the data later: who ran since the task last sent on the flow waited for the packet only
 * while that was in transit, and not while it ran.
 */
START_TEST(test_softirq_sends_what_was_written_later)
{
	enum { BLOCKED = 1, IDLE = 0x402 };
	struct test t;

	softirq_sends(&t, 1, 51, 101, BLOCKED);
	check(&t, 1, 9, "11 N~7@20 32 P 33 R 40 N^7@51 61");
	ck_assert_uint_eq(waits_info(t.w).links, 2);
	end(&t);
	softirq_sends(&t, 1, 38, 101, BLOCKED);
	check(&t, 1, 9, "11 N~7@20 32 P 33 R 40 N^7@40 61");
	end(&t);
	/* what is sent again was written when the task sent it */
	softirq_sends(&t, 3, 51, 101, BLOCKED);
	check(&t, 1, 9, "11 N~7@20 32 P 33 R 40 N~7@22 61");
	end(&t);
	/* who had no work before the packet came did not wait for it */
	softirq_sends(&t, 1, 51, 101, IDLE);
	check(&t, 1, 9, "11 N~7@20 32 P 33 R 40 i 61");
	end(&t);
}
END_TEST

/* The second of three equal datagrams without an ID is lost: the third one is not taken for it. */
START_TEST(test_datagram_that_is_lost)
{
	struct test t;

	begin_waiting(&t);
	for (unsigned n = 1; n <= 3; n++) {
		datagram(&t, 0, 100 * n, true);
		if (n == 2)
			continue;
		add(&t, 1, 100 * n + 8, WAIT_EVENT_NET_SOFTIRQ, 0)->vec = 3;
		datagram(&t, 1, 100 * n + 9, false);
		woken_by_softirq(&t, 1, 100 * n + 10, 0, 9, 3, WAIT_NETWORK);
		switched(&t, 1, 100 * n + 11, 0, 0, 0, 9);
		switched(&t, 1, 100 * n + 12, 0, 9, 1, 0);
	}
	finish(&t, 2);
	check(&t, 1, 9, "11 N~7@100 110 P 111 R 112 N~7@300 310 P 311 R 312");
	end(&t);
}
END_TEST

/* What is received more than 5 s after a packet was sent is not that packet. */
START_TEST(test_packet_that_is_too_old)
{
	const uint64_t second_ns = 1000000000;
	struct test t;

	begin(&t, 2);
	switched(&t, 0, 10, 0, 0, 0, 7);
	switched(&t, 1, 11, 0, 0, 0, 9);
	packet(&t, 0, 20, 0, true, false, false, 1);
	packet(&t, 0, 21, 0, true, false, false, 1001);
	packet(&t, 1, second_ns, 0, false, false, false, 1);
	packet(&t, 1, 5 * second_ns + 22, 0, false, false, false, 1001);
	switched(&t, 1, 5 * second_ns + 23, 0, 9, 1, 0);
	finish(&t, 2);
	check(&t, 1, 9, "11 R~7@20 1000000000 R 5000000022 R 5000000023");
	end(&t);
}
END_TEST

/* The role of a thread that is woken by a packet between these ports. */
static enum wait_role role_of_woken(unsigned sport, unsigned dport)
{
	const struct wait_graph *g;
	const struct graph_row *r;
	enum wait_role role;
	struct test t;

	begin_waiting(&t);
	packet(&t, 0, 20, 0, true, false, false, 1);
	packet(&t, 1, 31, 0, false, true, false, 1);
	for (unsigned h = 0; h < 2; h++) {
		t.log[h].packets[0].sport = (uint16_t)sport;
		t.log[h].packets[0].dport = (uint16_t)dport;
	}
	woken_by_softirq(&t, 1, 32, 0, 9, 3, WAIT_NETWORK);
	finish(&t, 2);
	check(&t, 1, 9, "11 N~7@20 32");
	g = waits_graph(t.w);
	r = &g->rows[waits_find(t.w, 1, 9, UINT64_MAX)];
	role = (enum wait_role)causes_get(&g->causes, row_vertex(r, r->end - 1)->cause)->role;
	end(&t);
	return role;
}

/* Without the packet that opened the connection, the client is the end with the higher port, if there is one. */
START_TEST(test_role_by_ports)
{
	ck_assert_int_eq(role_of_woken(1000, 80), WAIT_ROLE_SERVER);
	ck_assert_int_eq(role_of_woken(80, 1000), WAIT_ROLE_CLIENT);
	ck_assert_int_eq(role_of_woken(123, 123), WAIT_ROLE_NONE);
}
END_TEST

/* Packets that nobody receives, from all hosts: they have their share of the memory, and the graph the rest. */
START_TEST(test_packets_without_receivers)
{
	enum { MEMORY_BYTES = 1 << 20, PACKETS = 20000, TURN = 1000 };
	struct waits_info info;
	struct test t;

	begin_with(&t, HOSTS, MEMORY_BYTES);
	for (unsigned h = 0; h < HOSTS; h++)
		switched(&t, h, 10, 0, 0, 0, 7);
	for (unsigned n = 0; n < PACKETS; n++) {
		for (unsigned h = 0; h < HOSTS; h++)
			packet(&t, h, 1000 + n, 0, true, false, false, h * PACKETS + n);
		if (n % TURN == 0)
			take_all(&t, HOSTS, 1000 + n);
	}
	info = waits_info(t.w);
	ck_assert_uint_ge(info.packet_bytes, MEMORY_BYTES / 16);
	ck_assert_uint_le(info.packet_bytes, MEMORY_BYTES / 8);
	ck_assert_uint_le(info.packet_bytes + info.graph.bytes, MEMORY_BYTES);
	end(&t);
}
END_TEST

UNIT_MAIN("waits_packets", test_packet_wakes_on_another_host, test_packets_on_an_idle_cpu,
	  test_packet_that_wakes_several, test_packet_of_unknown_sender, test_packet_that_woke_is_forgotten,
	  test_packet_of_an_earlier_softirq, test_packets_received_together, test_two_packets_in_one_ns,
	  test_packet_that_wakes_nobody, test_softirq_sends_for_the_task, test_softirq_sends_what_was_written_later,
	  test_packets_without_receivers, test_datagram_that_is_lost, test_packet_that_is_too_old, test_role_by_ports)
