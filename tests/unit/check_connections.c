/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TCP connections from their packets: model/tcp.c and model/connections.c, and the table connections. */
#include <sys/socket.h>

#include "unit.h"

#include "event/packet.h"
#include "events.h"
#include "model/interval.h"
#include "model/tcp.h"
#include "view/rows.h"

enum { BEGIN = 1000, HTTP = 80, PORT = 40000, THREAD = 100 };
#define ALICE GUINT64_TO_BE(UINT64_C(0x0a00000100000000))
#define BOB GUINT64_TO_BE(UINT64_C(0x0a00000200000000))
#define CAROL GUINT64_TO_BE(UINT64_C(0x0a00000300000000))
enum { S = PACKET_SYN, A = PACKET_ACK, F = PACKET_FIN, R = PACKET_RST };
enum { IP_WORDS = 5, TCP_WORDS = 8, HEADERS = 4 * (IP_WORDS + TCP_WORDS) };

static uint64_t now;

static void begin(struct events *e)
{
	now = BEGIN;
	events_init(e);
	model_begin(e->m, BEGIN);
	events_class(e, "irq_softirq_entry");
}

/* A packet between two addresses, as the host sees it on that interface. */
static void packet_on(struct events *e, const char *netif, bool sent, uint64_t from, uint64_t sport, uint64_t to,
		      uint64_t dport, unsigned flags, uint32_t seq, uint32_t ack, uint64_t len)
{
	struct ev_net p = {
		.ip_version = 4,
		.protocol = 6,
		.saddr = { from },
		.daddr = { to },
		.sport = sport,
		.dport = dport,
		.seq = seq,
		.ack_seq = ack,
		.flags = flags,
		.tot_len = HEADERS + len,
		.len = HEADERS + len,
		.header_words = IP_WORDS << 8 | TCP_WORDS,
	};
	struct record r;

	record_init(&r, now += 10, 0, 0, sent ? EVENT_NET_QUEUE : EVENT_NET_RECEIVE);
	p.name = str(&r, netif);
	events_add(e, &r, &p, sizeof(p));
}

/* Alice, on our host, is the client. */
static void sends(struct events *e, unsigned flags, uint32_t seq, uint32_t ack, uint64_t len)
{
	packet_on(e, "eth0", true, ALICE, PORT, BOB, HTTP, flags, seq, ack, len);
}

static void receives(struct events *e, unsigned flags, uint32_t seq, uint32_t ack, uint64_t len)
{
	packet_on(e, "eth0", false, BOB, HTTP, ALICE, PORT, flags, seq, ack, len);
}

static unsigned rows(struct events *e)
{
	return e->m->state.tables[TABLE_CONNECTION].n_alive - e->m->state.tables[TABLE_CONNECTION].n_ended;
}

/* The open connection with that local end. */
static const struct connection_row *row_of(struct events *e, const char *local)
{
	const struct state_table *t = &e->m->state.tables[TABLE_CONNECTION];
	const struct connection_row *found = NULL;

	for (uint32_t i = NO_ROW; (i = state_next(t, i)) != NO_ROW;) {
		const struct connection_row *r = STATE_ROW(&e->m->state, CONNECTION, connection, i);

		if (t->flags[i] & ROW_ENDED || strcmp(strpool_text((strid)r->local), local) != 0)
			continue;
		ck_assert_msg(!found, "two rows of %s", local);
		found = r;
	}
	ck_assert_msg(found, "no row of %s", local);
	return found;
}

static const char alice[] = "10.0.0.1:40000", bob[] = "10.0.0.2:80";

static uint64_t open_client(struct events *e)
{
	uint64_t syn;

	sends(e, S, 1000, 0, 0);
	syn = now;
	receives(e, S | A, 5000, 1001, 0);
	sends(e, A, 1001, 5001, 0);
	return syn;
}

START_TEST(test_client)
{
	const struct connection_row *r;
	struct events e;
	uint64_t syn;

	begin(&e);
	syn = open_client(&e);
	r = row_of(&e, alice);
	ck_assert_str_eq(strpool_text((strid)r->peer), bob);
	ck_assert_uint_eq(r->side, SIDE_CONNECTED);
	ck_assert_uint_eq(r->begin_ns, syn);
	ck_assert_uint_eq(r->handshake_ns, 10);
	ck_assert_uint_eq(r->opening, (uint64_t)1000 << 32 | 5000);
	ck_assert_uint_eq(r->first_byte_ns, 0);
	sends(&e, A, 1001, 5001, 100);
	receives(&e, A, 5001, 1101, 3000);
	ck_assert_uint_eq(r->first_byte_ns, now - syn);
	receives(&e, A, 8001, 1101, 500);
	ck_assert_uint_eq(r->sent_bytes, 100);
	ck_assert_uint_eq(r->received_bytes, 3500);
	/* closed once both ends have closed and acknowledged it */
	sends(&e, F | A, 1101, 8501, 0);
	receives(&e, A, 8501, 1102, 0);
	ck_assert_uint_eq(r->end_ns, 0);
	receives(&e, F | A, 8501, 1102, 0);
	ck_assert_uint_eq(r->end_ns, 0);
	sends(&e, A, 1102, 8502, 0);
	ck_assert_uint_eq(r->end_ns, now);
	ck_assert_uint_eq(r->reset, 0);
	ck_assert_uint_eq(r->sent_packets, 5);
	ck_assert_uint_eq(r->received_packets, 5);
	ck_assert_uint_eq(r->retransmits, 0);
	ck_assert_uint_eq(rows(&e), 1);
	events_release(&e);
}
END_TEST

START_TEST(test_server)
{
	const struct connection_row *r;
	struct events e;
	uint64_t syn;

	begin(&e);
	packet_on(&e, "eth0", false, BOB, PORT, ALICE, HTTP, S, 77, 0, 0);
	syn = now;
	packet_on(&e, "eth0", true, ALICE, HTTP, BOB, PORT, S | A, 99, 78, 0);
	r = row_of(&e, "10.0.0.1:80");
	ck_assert_uint_eq(r->side, SIDE_ACCEPTED);
	ck_assert_uint_eq(r->handshake_ns, 0);
	packet_on(&e, "eth0", false, BOB, PORT, ALICE, HTTP, A, 78, 100, 0);
	ck_assert_uint_eq(r->handshake_ns, now - syn);
	ck_assert_uint_eq(r->opening, (uint64_t)77 << 32 | 99);
	packet_on(&e, "eth0", false, BOB, PORT, ALICE, HTTP, A | R, 78, 100, 0);
	ck_assert_uint_eq(r->end_ns, now);
	ck_assert_uint_eq(r->reset, 1);
	events_release(&e);
}
END_TEST

/*
 * Retransmissions count as packets, not as bytes; SYN and FIN, too. A keep-alive probe is not a retransmission.
 */
START_TEST(test_retransmissions)
{
	const struct connection_row *r;
	struct events e;

	begin(&e);
	sends(&e, S, UINT32_MAX - 50, 0, 0);
	sends(&e, S, UINT32_MAX - 50, 0, 0);
	r = row_of(&e, alice);
	ck_assert_uint_eq(r->retransmits, 1);
	ck_assert_uint_eq(r->begin_ns, BEGIN + 10);
	receives(&e, S | A, 5000, UINT32_MAX - 49, 0);
	ck_assert_uint_eq(r->handshake_ns, 20);
	/* sequence numbers wrap around */
	sends(&e, A, UINT32_MAX - 49, 5001, 100);
	sends(&e, A, 50, 5001, 100);
	sends(&e, A, 50, 5001, 100);
	ck_assert_uint_eq(r->retransmits, 2);
	ck_assert_uint_eq(r->sent_bytes, 200);
	/* half of it is new */
	sends(&e, A, 100, 5001, 100);
	ck_assert_uint_eq(r->retransmits, 3);
	ck_assert_uint_eq(r->sent_bytes, 250);
	sends(&e, A, 199, 5001, 0);
	ck_assert_uint_eq(r->retransmits, 3);
	sends(&e, F | A, 200, 5001, 0);
	sends(&e, F | A, 200, 5001, 0);
	ck_assert_uint_eq(r->retransmits, 4);
	ck_assert_uint_eq(r->sent_bytes, 250);
	ck_assert_uint_eq(r->sent_packets, 9);
	events_release(&e);
}
END_TEST

/* Reordered packets: each byte counts once, whenever it comes. */
START_TEST(test_out_of_order)
{
	const struct connection_row *r;
	struct events e;

	begin(&e);
	open_client(&e);
	receives(&e, A, 5001, 1001, 100);
	receives(&e, A, 5201, 1001, 100);
	r = row_of(&e, alice);
	ck_assert_uint_eq(r->received_bytes, 200);
	receives(&e, A, 5101, 1001, 100);
	ck_assert_uint_eq(r->received_bytes, 300);
	receives(&e, A, 5101, 1001, 100);
	ck_assert_uint_eq(r->received_bytes, 300);
	ck_assert_uint_eq(r->received_packets, 5);
	events_release(&e);
}
END_TEST

/* In the middle of a connection, nothing is known about its start. */
START_TEST(test_older_than_record)
{
	const struct connection_row *r;
	struct events e;

	begin(&e);
	receives(&e, R, 1, 0, 0);
	ck_assert_uint_eq(rows(&e), 0);
	receives(&e, A, 5001, 1001, 100);
	r = row_of(&e, alice);
	ck_assert_uint_eq(r->begin_ns, 0);
	ck_assert_uint_eq(r->side, SIDE_UNKNOWN);
	ck_assert_uint_eq(r->first_byte_ns, 0);
	ck_assert_uint_eq(r->received_bytes, 100);
	/* another connection from the same port */
	sends(&e, S, 9000, 0, 0);
	ck_assert_uint_eq(rows(&e), 1);
	r = row_of(&e, alice);
	ck_assert_uint_eq(r->begin_ns, now);
	ck_assert_uint_eq(r->received_bytes, 0);
	events_release(&e);
}
END_TEST

/* Packets of one direction acknowledge data in the other: if none of it is in the trace, its figures are unknown. */
START_TEST(test_one_direction)
{
	enum { UNSEEN = CONNECTION_RECEIVED_UNSEEN | CONNECTION_SENT_UNSEEN };
	struct events e;

	begin(&e);
	receives(&e, A, 5001, 1001, 100);
	ck_assert_uint_eq(row_of(&e, alice)->flags & UNSEEN, CONNECTION_SENT_UNSEEN);
	sends(&e, A, 1001, 5101, 10);
	ck_assert_uint_eq(row_of(&e, alice)->flags & UNSEEN, 0);
	events_release(&e);
	begin(&e);
	sends(&e, A, 1001, 5001, 10);
	ck_assert_uint_eq(row_of(&e, alice)->flags & UNSEEN, CONNECTION_RECEIVED_UNSEEN);
	receives(&e, A, 5001, 1011, 100);
	ck_assert_uint_eq(row_of(&e, alice)->flags & UNSEEN, 0);
	events_release(&e);
}
END_TEST

/* A port is used again, even with the same initial sequence number: another row. */
START_TEST(test_port_used_again)
{
	struct events e;

	begin(&e);
	open_client(&e);
	receives(&e, R, 5001, 0, 0);
	ck_assert_uint_eq(rows(&e), 1);
	sends(&e, S, 1000, 0, 0);
	ck_assert_uint_eq(rows(&e), 1);
	ck_assert_uint_eq(row_of(&e, alice)->begin_ns, now);
	ck_assert_uint_eq(row_of(&e, alice)->end_ns, 0);
	events_release(&e);
}
END_TEST

/* Requests and replies alternate; a retransmission does not start a new one. */
START_TEST(test_requests)
{
	const struct connection_row *r;
	struct events e;

	begin(&e);
	open_client(&e);
	r = row_of(&e, alice);
	receives(&e, A, 5001, 1001, 10); /* the server sends a greeting */
	sends(&e, A, 1001, 5011, 100);
	sends(&e, A, 1101, 5011, 100);
	receives(&e, A, 5011, 1201, 0);
	receives(&e, A, 5011, 1201, 50);
	sends(&e, A, 1101, 5061, 100);
	receives(&e, A, 5061, 1201, 50);
	sends(&e, A, 1201, 5111, 1);
	now += 1000;
	receives(&e, A, 5111, 1202, 1);
	ck_assert_uint_eq(r->request_ns, 10);
	ck_assert_uint_eq(r->answer.count, 2);
	ck_assert_uint_eq(r->answer.sum, 20 + 1010);
	ck_assert_uint_eq(r->answer.max, 1010);
	ck_assert_uint_eq(r->reply_ns, 20);
	events_release(&e);
}
END_TEST

/* A request of two packets and its reply, from the client's side, on a connection whose SYN was not seen. */
static const struct connection_row *asks(struct events *e, uint64_t port, uint64_t service)
{
	char local[32];

	snprintf(local, sizeof(local), "10.0.0.1:%u", (unsigned)port);
	packet_on(e, "eth0", true, ALICE, port, BOB, service, A, 1001, 5001, 100);
	packet_on(e, "eth0", true, ALICE, port, BOB, service, A, 1101, 5001, 100);
	packet_on(e, "eth0", false, BOB, service, ALICE, port, A, 5001, 1201, 50);
	packet_on(e, "eth0", true, ALICE, port, BOB, service, A, 1201, 5051, 100);
	return row_of(e, local);
}

/* Without a SYN, the ports show the server, or do not: then there are no requests. */
START_TEST(test_roles_by_ports)
{
	static const struct {
		uint64_t port, service;
		bool known;
	} cases[] = {
		{ 40000, 80, true },  { 40000, 5432, true }, { 882, 2049, true },     { 40000, 2049, true },
		{ 60000, 111, true }, { 5000, 8080, false }, { 40000, 50051, false }, { 50051, 40000, false },
		{ 700, 111, false },  { 700, 40000, false }, { 40000, 700, false },   { 80, 80, false },
		{ 8080, 80, false },  { 2049, 2049, false },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const struct connection_row *r;
		struct events e;

		begin(&e);
		r = asks(&e, cases[i].port, cases[i].service);
		ck_assert_uint_eq(r->side, SIDE_UNKNOWN);
		ck_assert_msg(!(r->flags & CONNECTION_ROLE_UNKNOWN) == cases[i].known, "case %zu", i);
		ck_assert_uint_eq(r->answer.count, cases[i].known);
		ck_assert_uint_eq(r->answer.sum, cases[i].known ? 10 : 0);
		ck_assert_uint_eq(r->request_ns, cases[i].known ? 10 : 0);
		ck_assert_uint_eq(r->reply_ns, 0);
		ck_assert_uint_eq(r->sent_bytes, 300);
		events_release(&e);
	}
}
END_TEST

/* A SYN that acknowledges another one comes from the server, whatever its port. */
START_TEST(test_role_by_second_syn)
{
	const struct connection_row *r;
	struct events e;

	for (int sent = 0; sent < 2; sent++) {
		begin(&e);
		packet_on(&e, "eth0", sent, sent ? ALICE : BOB, 40000, sent ? BOB : ALICE, 80, S | A, 5000, 1001, 0);
		packet_on(&e, "eth0", !sent, sent ? BOB : ALICE, 80, sent ? ALICE : BOB, 40000, A, 1001, 5001, 7);
		packet_on(&e, "eth0", sent, sent ? ALICE : BOB, 40000, sent ? BOB : ALICE, 80, A, 5001, 1008, 7);
		r = row_of(&e, sent ? "10.0.0.1:40000" : "10.0.0.1:80");
		ck_assert_uint_eq(r->side, SIDE_UNKNOWN);
		ck_assert_uint_eq(r->answer.count, 1);
		events_release(&e);
	}
}
END_TEST

/* A connection within the host: one row for each end. */
START_TEST(test_loopback)
{
	const struct connection_row *client, *server;
	struct events e;

	begin(&e);
	for (int received = 0; received < 2; received++)
		packet_on(&e, "lo", !received, ALICE, PORT, ALICE, HTTP, S, 10, 0, 0);
	for (int received = 0; received < 2; received++)
		packet_on(&e, "lo", !received, ALICE, HTTP, ALICE, PORT, S | A, 20, 11, 0);
	for (int received = 0; received < 2; received++)
		packet_on(&e, "lo", !received, ALICE, PORT, ALICE, HTTP, A, 11, 21, 7);
	ck_assert_uint_eq(rows(&e), 2);
	client = row_of(&e, alice);
	server = row_of(&e, "10.0.0.1:80");
	ck_assert_uint_eq(client->sent_bytes, 7);
	ck_assert_uint_eq(client->received_packets, 1);
	ck_assert_uint_eq(server->received_bytes, 7);
	ck_assert_uint_eq(client->side, SIDE_CONNECTED);
	ck_assert_uint_eq(server->side, SIDE_ACCEPTED);
	ck_assert_uint_eq(client->opening, server->opening);
	ck_assert_uint_eq(client->flags | server->flags, CONNECTION_HERE);
	events_release(&e);
}
END_TEST

/* A process behind a veth pair and a bridge: each of its packets is seen three times, in both directions. */
START_TEST(test_several_interfaces)
{
	const struct connection_row *r;
	struct events e;

	begin(&e);
	for (int i = 0; i < 4; i++) {
		const unsigned flags = i ? A : S;
		const uint32_t seq = i ? 11 : 10, ack = i ? 21 : 0, len = i > 1 ? 5 : 0;

		packet_on(&e, "veth0", true, ALICE, PORT, BOB, HTTP, flags, seq, ack, len);
		packet_on(&e, "veth1", false, ALICE, PORT, BOB, HTTP, flags, seq, ack, len);
		packet_on(&e, "eth0", true, ALICE, PORT, BOB, HTTP, flags, seq, ack, len);
		if (i)
			continue;
		packet_on(&e, "eth0", false, BOB, HTTP, ALICE, PORT, S | A, 20, 11, 0);
		packet_on(&e, "veth1", true, BOB, HTTP, ALICE, PORT, S | A, 20, 11, 0);
		packet_on(&e, "veth0", false, BOB, HTTP, ALICE, PORT, S | A, 20, 11, 0);
	}
	r = row_of(&e, alice);
	ck_assert_uint_eq(r->sent_packets, 4);
	ck_assert_uint_eq(r->sent_bytes, 5);
	ck_assert_uint_eq(r->retransmits, 1); /* the last packet repeats the one before */
	ck_assert_uint_eq(r->received_packets, 1);
	ck_assert(r->flags & CONNECTION_HERE);
	ck_assert_uint_eq(row_of(&e, bob)->flags, CONNECTION_PASSING);
	events_release(&e);
}
END_TEST

/* A router: neither end is on this host. */
START_TEST(test_passing_on)
{
	struct events e;

	begin(&e);
	packet_on(&e, "eth0", false, ALICE, PORT, BOB, HTTP, S, 10, 0, 0);
	packet_on(&e, "eth1", true, ALICE, PORT, BOB, HTTP, S, 10, 0, 0);
	packet_on(&e, "eth1", false, BOB, HTTP, ALICE, PORT, S | A, 20, 11, 0);
	packet_on(&e, "eth0", true, BOB, HTTP, ALICE, PORT, S | A, 20, 11, 0);
	ck_assert_uint_eq(row_of(&e, alice)->flags, CONNECTION_PASSING);
	ck_assert_uint_eq(row_of(&e, bob)->flags, CONNECTION_PASSING);
	events_release(&e);
}
END_TEST

/* The owner is the last thread that sent on the connection outside interrupts. */
START_TEST(test_owner)
{
	struct events e;

	begin(&e);
	EVENT(&e, now += 10, 0, 1, FORK, new_task, .parent_tid = 1, .parent_pid = 1, .child_tid = THREAD,
	      .child_pid = THREAD, .child_comm = "wget");
	EVENT(&e, now += 10, 0, 0, SOFTIRQ_ENTRY, softirq, .vec = 3);
	sends(&e, A, 1, 1, 0);
	ck_assert_int_eq((int64_t)row_of(&e, alice)->pid, -1);
	EVENT(&e, now += 10, 0, 0, SOFTIRQ_EXIT, softirq, .vec = 3);
	events_switch(&e, now += 10, 0, 0, 0, THREAD, "wget");
	SYSCALL_ENTRY(&e, now += 10, 0, THREAD, "write", .fd = 3);
	EVENT(&e, now += 10, 0, THREAD, NET_QUEUE, net, .ip_version = 4, .protocol = 6, .saddr = { ALICE },
	      .daddr = { BOB }, .sport = PORT, .dport = HTTP, .seq = 1, .ack_seq = 1, .flags = A,
	      .tot_len = HEADERS + 3, .header_words = IP_WORDS << 8 | TCP_WORDS, .name = str(&rec, "eth0"));
	ck_assert_int_eq((int64_t)row_of(&e, alice)->pid, THREAD);
	ck_assert_str_eq(strpool_text((strid)row_of(&e, alice)->comm), "wget");
	events_release(&e);
}
END_TEST

/* A thread listens on fd 3, and a client's handshake reaches one of the host's addresses. */
static void arrives(struct events *e, uint64_t at)
{
	packet_on(e, "eth0", false, BOB, PORT, at, HTTP, S, 10, 0, 0);
	packet_on(e, "eth0", true, at, HTTP, BOB, PORT, S | A, 20, 11, 0);
	packet_on(e, "eth0", false, BOB, PORT, at, HTTP, A, 11, 21, 0);
}

static void accepts(struct events *e, int fd)
{
	SYSCALL_ENTRY(e, now += 10, 0, THREAD, "accept4", .fd = 3);
	SYSCALL_EXIT(e, now += 10, 0, THREAD, "accept4", .ret = fd, .family = AF_INET, .port = PORT, .addr = { BOB });
}

/* The process is known from accept() on, unless several connections may be the one that it returned. */
START_TEST(test_accepted)
{
	const struct connection_row *r;
	struct events e;

	begin(&e);
	EVENT(&e, now += 10, 0, 1, FORK, new_task, .parent_tid = 1, .parent_pid = 1, .child_tid = THREAD,
	      .child_pid = THREAD, .child_comm = "httpd");
	events_switch(&e, now += 10, 0, 0, 0, THREAD, "httpd");
	SYSCALL_ENTRY(&e, now += 10, 0, THREAD, "socket", .cmd = AF_INET);
	SYSCALL_EXIT(&e, now += 10, 0, THREAD, "socket", .ret = 3);
	arrives(&e, ALICE);
	r = row_of(&e, "10.0.0.1:80");
	ck_assert_int_eq((int64_t)r->pid, -1);
	accepts(&e, 4);
	ck_assert_int_eq((int64_t)r->pid, THREAD);
	ck_assert_str_eq(strpool_text((strid)r->comm), "httpd");
	/* the port is used again while nothing waits: the next one is known, too */
	packet_on(&e, "eth0", false, BOB, PORT, ALICE, HTTP, R, 11, 0, 0);
	arrives(&e, ALICE);
	ck_assert_int_eq((int64_t)row_of(&e, "10.0.0.1:80")->pid, -1);
	/* another one from that port, to another address of this host */
	arrives(&e, CAROL);
	accepts(&e, 5);
	ck_assert_int_eq((int64_t)row_of(&e, "10.0.0.1:80")->pid, -1);
	ck_assert_int_eq((int64_t)row_of(&e, "10.0.0.3:80")->pid, -1);
	/* what is sent shows which one it was */
	SYSCALL_ENTRY(&e, now += 10, 0, THREAD, "write", .fd = 5);
	EVENT(&e, now += 10, 0, THREAD, NET_QUEUE, net, .ip_version = 4, .protocol = 6, .saddr = { CAROL },
	      .daddr = { BOB }, .sport = HTTP, .dport = PORT, .seq = 21, .ack_seq = 11, .flags = A,
	      .tot_len = HEADERS + 3, .header_words = IP_WORDS << 8 | TCP_WORDS, .name = str(&rec, "eth0"));
	ck_assert_int_eq((int64_t)row_of(&e, "10.0.0.1:80")->pid, -1);
	ck_assert_int_eq((int64_t)row_of(&e, "10.0.0.3:80")->pid, THREAD);
	events_release(&e);
}
END_TEST

/*
 * Fields of a damaged trace: a packet with contradictory lengths is not a segment, and far sequence numbers are not
 * bytes.
 */
START_TEST(test_hostile)
{
	const uint64_t lengths[] = { 0, 1, HEADERS - 1, UINT32_MAX, UINT64_MAX, UINT64_C(1) << 63 };
	struct ev_net p = { .ip_version = 4, .protocol = 6, .header_words = IP_WORDS << 8 | TCP_WORDS };
	struct tcp_segment s;
	struct events e;

	for (unsigned i = 0; i < G_N_ELEMENTS(lengths); i++) {
		p.tot_len = lengths[i];
		ck_assert(!tcp_segment_of(&p, &s));
	}
	p.tot_len = HEADERS;
	ck_assert(tcp_segment_of(&p, &s));
	p.header_words = UINT64_MAX;
	ck_assert(!tcp_segment_of(&p, &s));
	p.ip_version = 7;
	ck_assert(!tcp_segment_of(&p, &s));
	begin(&e);
	srand(1);
	for (unsigned i = 0; i < 20000; i++)
		packet_on(&e, i % 3 ? "eth0" : "lo", rand() % 2, ALICE, PORT + (unsigned)rand() % 2, ALICE, HTTP,
			  (unsigned)rand() % 32, (uint32_t)rand() * 2u, (uint32_t)rand() * 2u,
			  (unsigned)rand() % 65000);
	for (uint32_t i = NO_ROW; (i = state_next(&e.m->state.tables[TABLE_CONNECTION], i)) != NO_ROW;) {
		const struct connection_row *r = STATE_ROW(&e.m->state, CONNECTION, connection, i);

		ck_assert_uint_le(r->sent_bytes, r->sent_packets * 65000);
		ck_assert_uint_le(r->received_bytes, r->received_packets * 65000);
		ck_assert_uint_le(r->retransmits, r->sent_packets);
	}
	events_release(&e);
}
END_TEST

/* A port scan: if there are too many rows, some are dropped; those used last stay. */
START_TEST(test_many)
{
	enum { MANY = 60000, MOST = 16384 };
	struct events e;

	begin(&e);
	open_client(&e);
	for (unsigned i = 0; i < MANY; i++) {
		packet_on(&e, "eth0", false, BOB + (uint64_t)(i << 24), 1 + i % 1000, ALICE, 1 + i / 1000, S, i, 0, 0);
		if (i % 100 == 0)
			sends(&e, A, 1001, 5001, 0);
		if (i % 1000 == 0) {
			state_reap(&e.m->state, NULL, NULL);
			state_frame_begin(&e.m->state);
		}
		ck_assert_uint_le(rows(&e), MOST);
	}
	ck_assert_uint_eq(row_of(&e, alice)->sent_packets, 2 + MANY / 100);
	events_release(&e);
}
END_TEST

/* Closed connections are dropped when others come. */
START_TEST(test_closed_go)
{
	struct events e;

	begin(&e);
	for (unsigned i = 0; i < 1000; i++) {
		packet_on(&e, "eth0", false, BOB, 1 + i, ALICE, HTTP, S, i, 0, 0);
		packet_on(&e, "eth0", true, ALICE, HTTP, BOB, 1 + i, R | A, 0, i + 1, 0);
		now += 100000000;
		state_reap(&e.m->state, NULL, NULL);
		state_frame_begin(&e.m->state);
	}
	ck_assert_uint_le(rows(&e), 40);
	events_release(&e);
}
END_TEST

UNIT_MAIN("connections", test_client, test_server, test_retransmissions, test_out_of_order, test_older_than_record,
	  test_one_direction, test_port_used_again, test_requests, test_roles_by_ports, test_role_by_second_syn,
	  test_loopback, test_several_interfaces, test_passing_on, test_owner, test_accepted, test_hostile, test_many,
	  test_closed_go)
