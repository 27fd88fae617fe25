/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Matching of packets sent and received: src/clock/match.h. */
#include <glib.h>

#include "clock.h"
#include "unit.h"

enum { A, B, C, SENT = true, RECEIVED = false };

static GArray *found; /* struct match */

static void keep(void *data, const struct match *match)
{
	ck_assert_ptr_eq(data, &found);
	g_array_append_val(found, *match);
}

static struct matcher *start_with(const struct match_options *options)
{
	found = g_array_new(false, false, sizeof(struct match));
	return matcher_create(options, keep, &found);
}

static struct matcher *start(void)
{
	return start_with(NULL);
}

static void stop(struct matcher *m)
{
	matcher_destroy(m);
	g_array_free(found, true);
}

static void feed(struct matcher *m, unsigned host, uint64_t ts_ns, bool sent, struct clock_packet p)
{
	const uint64_t cookie[2] = { ts_ns * 2, host };

	ck_assert(matcher_feed(m, host, ts_ns, sent, &p, cookie));
}

static const struct match *nth(unsigned n)
{
	ck_assert_uint_lt(n, found->len);
	return &g_array_index(found, struct match, n);
}

static void assert_match(unsigned n, unsigned from, uint64_t sent_ns, unsigned to, uint64_t received_ns)
{
	const struct match *m = nth(n);

	ck_assert_uint_eq(m->from.host, from);
	ck_assert_uint_eq(m->from.ts_ns, sent_ns);
	ck_assert_uint_eq(m->from.cookie[0], sent_ns * 2);
	ck_assert_uint_eq(m->from.cookie[1], from);
	ck_assert_uint_eq(m->to.host, to);
	ck_assert_uint_eq(m->to.ts_ns, received_ns);
	ck_assert_uint_eq(m->to.cookie[0], received_ns * 2);
}

static void assert_certain(unsigned n, uint64_t sent_ns, uint64_t received_ns)
{
	ck_assert(nth(n)->certain);
	ck_assert_uint_eq(nth(n)->certain_sent_ns, sent_ns);
	ck_assert_uint_eq(nth(n)->certain_received_ns, received_ns);
}

START_TEST(test_pairs_in_any_order)
{
	struct matcher *m = start();
	struct clock_packet there = tcp_packet(100, 7, 50, 1), back = turned(tcp_packet(7, 150, 0, 9));

	/* B's events come first. */
	feed(m, B, 20, RECEIVED, there);
	feed(m, B, 21, SENT, back);
	ck_assert_uint_eq(found->len, 0);
	ck_assert_uint_eq(matcher_waiting(m, B, RECEIVED), 1);
	ck_assert_uint_eq(matcher_waiting(m, B, SENT), 1);
	feed(m, A, 5010, SENT, there);
	feed(m, A, 5030, RECEIVED, back);
	ck_assert_uint_eq(found->len, 2);
	assert_match(0, A, 5010, B, 20);
	assert_certain(0, 5010, 20);
	assert_match(1, B, 21, A, 5030);
	assert_certain(1, 21, 5030);
	ck_assert(!nth(0)->ambiguous && !nth(0)->part);
	ck_assert_uint_eq(matcher_waiting(m, B, RECEIVED), 0);
	stop(m);
}
END_TEST

START_TEST(test_flags_that_move)
{
	struct matcher *m = start();
	struct clock_packet sent = tcp_packet(100, 7, 50, 1), received = sent, other;

	sent.flags |= TCP_PSH;
	received.flags |= TCP_ECE;
	feed(m, A, 1, SENT, sent);
	feed(m, B, 2, RECEIVED, received);
	ck_assert_uint_eq(found->len, 1);
	ck_assert(!nth(0)->part); /* matched as a whole, not by its bytes */
	assert_certain(0, 1, 2);
	/* A bare acknowledgement has the sequence number of the data after it; the flags SYN and FIN must agree. */
	feed(m, A, 3, SENT, tcp_packet(200, 7, 0, 2));
	feed(m, B, 4, RECEIVED, tcp_packet(200, 7, 30, 2));
	other = tcp_packet(300, 7, 0, 3);
	feed(m, A, 5, SENT, other);
	other.flags |= TCP_SYN;
	feed(m, B, 6, RECEIVED, other);
	ck_assert_uint_eq(found->len, 1);
	stop(m);
}
END_TEST

START_TEST(test_layouts)
{
	struct matcher *m = start();
	struct clock_packet p = tcp_packet(100, 7, -1, 0), old = p;

	old.layout = CLOCK_PACKET_SOCK_LOCAL;
	old.ip_version = 0;
	memset(old.saddr, 0, sizeof(old.saddr));
	memset(old.daddr, 0, sizeof(old.daddr));
	feed(m, A, 1, SENT, old);
	feed(m, B, 2, RECEIVED, p);
	ck_assert_uint_eq(found->len, 0);
	feed(m, B, 3, RECEIVED, old);
	ck_assert_uint_eq(found->len, 1);
	assert_match(0, A, 1, B, 3);
	assert_certain(0, 1, 3);
	p.protocol = 1;
	ck_assert(!matcher_feed(m, A, 4, SENT, &p, NULL));
	ck_assert_uint_eq(matcher_kept(m, A), 1);
	stop(m);
}
END_TEST

START_TEST(test_flows_with_equal_numbers)
{
	struct matcher *m = start();
	struct clock_packet one = tcp6_packet(100, 7, 50), two = one;

	two.sport++;
	feed(m, A, 1, SENT, one);
	feed(m, A, 2, SENT, two);
	feed(m, B, 3, RECEIVED, two);
	feed(m, B, 4, RECEIVED, one);
	ck_assert_uint_eq(found->len, 2);
	assert_match(0, A, 2, B, 3);
	assert_match(1, A, 1, B, 4);
	assert_certain(0, 2, 3);
	assert_certain(1, 1, 4);
	stop(m);
}
END_TEST

START_TEST(test_address_translation)
{
	struct matcher *m = start();
	struct clock_packet inside = tcp_packet(100, 7, 50, 77), outside = inside, inside6, outside6, other6;

	outside.saddr[0] = 0x63;
	outside.sport = 1024;
	feed(m, A, 1, SENT, inside);
	feed(m, B, 2, RECEIVED, outside);
	ck_assert_uint_eq(found->len, 1);
	assert_certain(0, 1, 2);
	/* Without IPv4 IDs, a match needs a unique candidate; good enough for a link, but not for the clocks. */
	inside6 = tcp6_packet(500, 7, 50);
	outside6 = inside6;
	outside6.sport = 1024;
	feed(m, A, 3, SENT, inside6);
	feed(m, B, 4, RECEIVED, outside6);
	ck_assert_uint_eq(found->len, 2);
	ck_assert(!nth(1)->certain);
	inside6 = tcp6_packet(600, 7, 50);
	other6 = inside6;
	other6.sport++;
	outside6 = inside6;
	outside6.sport = 1024;
	feed(m, A, 5, SENT, inside6);
	feed(m, A, 6, SENT, other6);
	feed(m, B, 7, RECEIVED, outside6);
	ck_assert_uint_eq(found->len, 2);
	/* Another ID and other addresses: another packet. */
	feed(m, A, 8, SENT, tcp_packet(700, 7, 50, 5));
	outside = tcp_packet(700, 7, 50, 6);
	outside.sport = 1024;
	feed(m, B, 9, RECEIVED, outside);
	ck_assert_uint_eq(found->len, 2);
	stop(m);
}
END_TEST

START_TEST(test_retransmission_with_ids)
{
	struct matcher *m = start();

	/* The first one is lost; the ID shows which one arrived. */
	feed(m, A, 1, SENT, tcp_packet(100, 7, 50, 10));
	feed(m, A, 200, SENT, tcp_packet(100, 7, 50, 11));
	feed(m, B, 201, RECEIVED, tcp_packet(100, 7, 50, 11));
	ck_assert_uint_eq(found->len, 1);
	assert_match(0, A, 200, B, 201);
	assert_certain(0, 200, 201);
	ck_assert(!nth(0)->ambiguous);
	ck_assert_uint_eq(matcher_waiting(m, A, SENT), 1);
	stop(m);
}
END_TEST

START_TEST(test_duplicates_without_ids)
{
	struct matcher *m = start();
	struct clock_packet p = tcp6_packet(100, 7, 0);

	for (unsigned n = 0; n < 3; n++)
		feed(m, A, 10 + n, SENT, p);
	for (unsigned n = 0; n < 3; n++)
		feed(m, B, 20 + n, RECEIVED, p);
	ck_assert_uint_eq(found->len, 3);
	for (unsigned n = 0; n < 3; n++) {
		assert_match(n, A, 10 + n, B, 20 + n);
		ck_assert(nth(n)->ambiguous);
		ck_assert(!nth(n)->certain);
	}
	stop(m);

	/* The receiver's events come first: only the first match is certain. */
	m = start();
	for (unsigned n = 0; n < 3; n++)
		feed(m, B, 20 + n, RECEIVED, p);
	for (unsigned n = 0; n < 3; n++)
		feed(m, A, 10 + n, SENT, p);
	ck_assert_uint_eq(found->len, 3);
	assert_certain(0, 10, 20);
	ck_assert(!nth(1)->certain && !nth(2)->certain);
	stop(m);
}
END_TEST

START_TEST(test_hops_of_one_host)
{
	struct matcher *m = start();
	struct clock_packet p = tcp_packet(1001, 5001, 12, 1);

	/* veth, bridge, network card; then the other host. */
	feed(m, A, 15, SENT, p);
	feed(m, A, 20, RECEIVED, p);
	feed(m, A, 25, RECEIVED, p);
	feed(m, A, 30, SENT, p);
	feed(m, B, 50, RECEIVED, p);
	ck_assert_uint_eq(found->len, 2);
	assert_match(0, A, 15, A, 20);
	ck_assert(!nth(0)->certain);
	assert_match(1, A, 30, B, 50);
	ck_assert(nth(1)->ambiguous);
	assert_certain(1, 15, 50); /* the first send is certain, whichever hop the other host's event came from */
	stop(m);
}
END_TEST

START_TEST(test_effect_before_cause)
{
	struct matcher *m = start();
	struct clock_packet p = tcp_packet(1001, 5001, 12, 1);

	feed(m, A, 10, RECEIVED, p);
	feed(m, A, 20, SENT, p);
	ck_assert_uint_eq(found->len, 0);
	/* Forwarded: what A received came from B, what B received from A. */
	feed(m, B, 5, SENT, p);
	ck_assert_uint_eq(found->len, 1);
	assert_match(0, B, 5, A, 10);
	assert_certain(0, 5, 10);
	/* B had sent it itself, so A's send is not the cause. */
	feed(m, B, 30, RECEIVED, p);
	ck_assert_uint_eq(found->len, 2);
	assert_match(1, A, 20, B, 30);
	ck_assert(!nth(1)->certain);
	stop(m);

	/* A forwards what it received: its send may not be the one that the receiver saw. */
	m = start();
	feed(m, A, 10, RECEIVED, p);
	feed(m, A, 20, SENT, p);
	feed(m, C, 30, RECEIVED, p);
	ck_assert_uint_eq(found->len, 1);
	assert_match(0, A, 20, C, 30);
	ck_assert(!nth(0)->certain);
	stop(m);
}
END_TEST

START_TEST(test_split)
{
	struct matcher *m = start();
	struct clock_packet big = tcp_packet(1000, 7, 3063, 40), end;

	big.flags |= TCP_PSH | TCP_FIN;
	feed(m, A, 10, SENT, big);
	feed(m, B, 20, RECEIVED, tcp_packet(1000, 7, 1500, 40));
	feed(m, B, 21, RECEIVED, tcp_packet(2500, 7, 1500, 41));
	end = tcp_packet(4000, 7, 63, 42);
	end.flags = big.flags;
	feed(m, B, 22, RECEIVED, end);
	feed(m, B, 23, RECEIVED, tcp_packet(4063, 7, 100, 43)); /* after the merged packet */
	ck_assert_uint_eq(found->len, 3);
	for (unsigned n = 0; n < 3; n++) {
		assert_match(n, A, 10, B, 20 + n);
		ck_assert(nth(n)->part);
		assert_certain(n, 10, 20 + n);
	}
	stop(m);
}
END_TEST

START_TEST(test_split_receiver_first)
{
	struct matcher *m = start();

	feed(m, B, 20, RECEIVED, tcp_packet(UINT32_MAX - 999, 7, 1500, 40)); /* numbers wrap around */
	feed(m, B, 21, RECEIVED, tcp_packet(500, 7, 1500, 41));
	feed(m, A, 10, SENT, tcp_packet(UINT32_MAX - 999, 7, 3000, 40));
	ck_assert_uint_eq(found->len, 2);
	assert_match(0, A, 10, B, 20);
	ck_assert(!nth(0)->part); /* the keys are the same */
	assert_match(1, A, 10, B, 21);
	ck_assert(nth(1)->part);
	assert_certain(1, 10, 21);
	stop(m);
}
END_TEST

START_TEST(test_merged)
{
	struct matcher *m = start();

	for (unsigned n = 0; n < 4; n++)
		feed(m, A, 10 + n, SENT, tcp_packet(1000 + n * 1448, 7, 1448, 40 + n));
	feed(m, B, 30, RECEIVED, tcp_packet(1000, 7, 3 * 1448, 40));
	ck_assert_uint_eq(found->len, 3);
	for (unsigned n = 0; n < 3; n++) {
		assert_match(n, A, 10 + n, B, 30);
		ck_assert(nth(n)->part == (n > 0));
		assert_certain(n, 10 + n, 30);
	}
	/* No boundaries coincide: the first half of the last packet is in the one that follows. */
	feed(m, B, 31, RECEIVED, tcp_packet(1000 + 3 * 1448 + 700, 7, 900, 43));
	ck_assert_uint_eq(found->len, 4);
	assert_match(3, A, 13, B, 31);
	stop(m);
}
END_TEST

/* 64 KiB in one piece, but its last 100 bytes separately, in the piece that wakes the reader. */
START_TEST(test_large_merged)
{
	enum { SEGMENTS = 44, SEGMENT = 1448, LAST = 100 };
	struct clock_packet big = tcp_packet(5000, 7, SEGMENTS * SEGMENT + LAST, 1);

	for (int receiver_first = 0; receiver_first < 2; receiver_first++) {
		struct matcher *m = start();
		uint32_t seq = 5000;

		if (receiver_first)
			feed(m, B, 500, RECEIVED, big);
		for (unsigned n = 0; n < SEGMENTS; n++, seq += SEGMENT)
			feed(m, A, 10 + n, SENT, tcp_packet(seq, 7, SEGMENT, 1 + n));
		feed(m, A, 400, SENT, tcp_packet(seq, 7, LAST, 1 + SEGMENTS));
		if (!receiver_first)
			feed(m, B, 500, RECEIVED, big);
		ck_assert_uint_eq(found->len, SEGMENTS + 1);
		assert_match(SEGMENTS, A, 400, B, 500);
		assert_certain(SEGMENTS, 400, 500);
		stop(m);
	}
}
END_TEST

START_TEST(test_parts_sent_twice)
{
	struct matcher *m = start();

	feed(m, A, 10, SENT, tcp_packet(1000, 7, 3000, 40));
	feed(m, A, 300, SENT, tcp_packet(2000, 8, 2000, 50));
	feed(m, B, 20, RECEIVED, tcp_packet(2500, 7, 400, 41));
	ck_assert_uint_eq(found->len, 1);
	ck_assert(nth(0)->ambiguous);
	ck_assert(!nth(0)->certain);
	stop(m);
}
END_TEST

START_TEST(test_udp)
{
	struct matcher *m = start();
	struct clock_packet p6 = udp_packet(0, 30);

	feed(m, A, 1, SENT, udp_packet(7, 30));
	feed(m, B, 2, RECEIVED, udp_packet(7, 30));
	ck_assert_uint_eq(found->len, 1);
	assert_certain(0, 1, 2);
	feed(m, A, 3, SENT, udp_packet(8, 30));
	feed(m, B, 4, RECEIVED, udp_packet(8, 31));
	feed(m, B, 5, RECEIVED, turned(udp_packet(8, 30)));
	ck_assert_uint_eq(found->len, 1);
	/* The ID wraps around. */
	feed(m, A, 6, SENT, udp_packet(7, 30));
	feed(m, B, 7, RECEIVED, udp_packet(7, 30));
	ck_assert_uint_eq(found->len, 2);
	ck_assert(nth(1)->ambiguous);
	ck_assert(!nth(1)->certain);
	/* No IPv4 ID: only good for a link. */
	p6.ip_version = 6;
	feed(m, A, 8, SENT, p6);
	feed(m, B, 9, RECEIVED, p6);
	ck_assert_uint_eq(found->len, 3);
	ck_assert(!nth(2)->certain);
	stop(m);
}
END_TEST

static struct clock_packet fragment(unsigned offset)
{
	struct clock_packet p = udp_packet(7, 30);

	p.sport = p.dport = 0;
	p.seq = offset;
	return p;
}

/* Fragments of equal length, in the wrong order: they have the same ID. */
START_TEST(test_fragments)
{
	struct matcher *m = start();

	feed(m, A, 1, SENT, fragment(185));
	feed(m, A, 2, SENT, fragment(370));
	feed(m, B, 3, RECEIVED, fragment(370));
	feed(m, B, 4, RECEIVED, fragment(185));
	ck_assert_uint_eq(found->len, 2);
	assert_certain(0, 2, 3);
	assert_certain(1, 1, 4);
	stop(m);
}
END_TEST

/*
 * Datagrams of a flow that no ID tells apart, of equal length, one every 100 ms, in transit for 300 us. In order of
 * time: one that is lost, one whose send was not recorded, two in transit, and one that comes far too late.
 */
START_TEST(test_datagrams_without_ids)
{
	enum { US = 1000, MS = 1000 * US };
	const struct match_options in_order = { .transit_max_ns = UINT64_C(5000) * MS };
	struct clock_packet p = udp_packet(0, 30);
	struct matcher *m = start_with(&in_order);
	const uint64_t seconds = 1000 * MS;

	feed(m, A, 100 * MS, SENT, p);
	feed(m, B, 100 * MS + 300 * US, RECEIVED, p);
	feed(m, A, 200 * MS, SENT, p); /* lost */
	for (uint64_t n = 3; n < 6; n++) {
		feed(m, A, n * 100 * MS, SENT, p);
		feed(m, B, n * 100 * MS + 300 * US, RECEIVED, p);
	}
	ck_assert_uint_eq(found->len, 4);
	assert_match(0, A, 100 * MS, B, 100 * MS + 300 * US);
	for (unsigned n = 1; n < 4; n++)
		assert_match(n, A, (n + 2) * 100 * MS, B, (n + 2) * 100 * MS + 300 * US);
	/* B received what is not known to have been sent: neither a later nor an earlier datagram. */
	feed(m, B, 600 * MS, RECEIVED, p);
	feed(m, A, 700 * MS, SENT, p);
	ck_assert_uint_eq(found->len, 4);
	feed(m, B, 700 * MS + 300 * US, RECEIVED, p);
	ck_assert_uint_eq(found->len, 5);
	assert_match(4, A, 700 * MS, B, 700 * MS + 300 * US);
	/* Of two in transit, the later one may be taken for the earlier, but never for one before that. */
	feed(m, A, 800 * MS, SENT, p);
	feed(m, A, 800 * MS + 100 * US, SENT, p);
	feed(m, B, 800 * MS + 300 * US, RECEIVED, p);
	feed(m, B, 800 * MS + 400 * US, RECEIVED, p);
	ck_assert_uint_eq(found->len, 6);
	assert_match(5, A, 800 * MS + 100 * US, B, 800 * MS + 300 * US);
	/* Nothing is in transit for so long. */
	feed(m, A, seconds, SENT, p);
	feed(m, B, 7 * seconds, RECEIVED, p);
	ck_assert_uint_eq(found->len, 6);
	feed(m, A, 8 * seconds, SENT, tcp6_packet(1, 1, 0));
	feed(m, B, 14 * seconds, RECEIVED, tcp6_packet(1, 1, 0));
	ck_assert_uint_eq(found->len, 6);
	feed(m, A, 15 * seconds, SENT, tcp6_packet(2, 1, 0));
	feed(m, B, 15 * seconds + 300 * US, RECEIVED, tcp6_packet(2, 1, 0));
	ck_assert_uint_eq(found->len, 7);
	assert_match(6, A, 15 * seconds, B, 15 * seconds + 300 * US);
	stop(m);
	/* In any order, only one without a double can be known. */
	for (int last = A; last <= B; last++) {
		m = start();
		for (unsigned n = 0; n < 4; n++)
			feed(m, B - last, n * 100 * MS, last == B, p);
		for (unsigned n = 1; n < 4; n++)
			feed(m, last, n * 100 * MS, last == A, p);
		ck_assert_uint_eq(found->len, 0);
		p.payload_len++;
		feed(m, B - last, 400 * MS, last == B, p);
		feed(m, last, 400 * MS, last == A, p);
		ck_assert_uint_eq(found->len, 1);
		ck_assert(!nth(0)->certain);
		stop(m);
	}
}
END_TEST

START_TEST(test_bound_in_number)
{
	struct match_options options = { .packets_per_host = 100 };
	struct matcher *m = start_with(&options);

	for (unsigned n = 0; n < 1000; n++) {
		feed(m, A, n, SENT, tcp_packet(n * 10, 7, 10, n));
		ck_assert_uint_le(matcher_kept(m, A), 100);
	}
	ck_assert_uint_eq(matcher_waiting(m, A, SENT), 100);
	for (unsigned n = 0; n < 1000; n++)
		feed(m, B, n, RECEIVED, tcp_packet(n * 10, 7, 10, n));
	ck_assert_uint_eq(found->len, 100);
	assert_match(0, A, 900, B, 900);
	ck_assert_uint_eq(matcher_waiting(m, A, SENT), 0);
	ck_assert_uint_eq(matcher_kept(m, A), 100);
	matcher_forget(m, A);
	ck_assert_uint_eq(matcher_kept(m, A), 0);
	ck_assert_uint_eq(matcher_kept(m, B), 100);
	matcher_forget(m, UINT32_MAX);
	ck_assert_uint_eq(matcher_kept(m, B), 0);
	ck_assert_uint_eq(matcher_waiting(m, B, RECEIVED), 0);
	stop(m);
}
END_TEST

/* No limit on memory is exceeded, by whichever hosts; a host that falls silent gives its share to the others. */
START_TEST(test_bound_in_memory)
{
	enum { LEAST = 17000, MOST = 4000000, PACKETS = 30000, HOSTS = 100 };

	for (size_t bytes = LEAST; bytes < MOST; bytes += bytes / 3) {
		struct match_options options = { .memory_bytes = bytes };
		struct matcher *m = start_with(&options);
		uint32_t kept;

		for (unsigned n = 0; n < PACKETS; n++)
			feed(m, A, n, SENT, tcp_packet(n * 10, 7, 10, n));
		kept = matcher_kept(m, A);
		ck_assert_uint_ge(kept, bytes / 300);
		for (unsigned n = 0; n < PACKETS; n++) {
			feed(m, B, n, SENT, tcp_packet(n * 10, 8, 10, n));
			feed(m, C, n, SENT, tcp_packet(n * 10, 9, 10, n));
		}
		ck_assert_uint_le(matcher_bytes(m), bytes + 1000);
		ck_assert_uint_eq(matcher_kept(m, A) + matcher_kept(m, B) + matcher_kept(m, C), kept);
		ck_assert_uint_ge(matcher_kept(m, A), kept / 3);
		ck_assert_uint_ge(matcher_kept(m, B), kept / 3);
		ck_assert_uint_ge(matcher_kept(m, C), kept / 3);
		for (unsigned n = 0; n < PACKETS; n++) /* more hosts than packets, at the lowest limit */
			feed(m, C + 1 + n % HOSTS, PACKETS + n, SENT, tcp_packet(n * 10, 9, 10, n));
		ck_assert_uint_le(matcher_bytes(m), bytes + HOSTS * 100);
		stop(m);
	}
}
END_TEST

/* A flow over a lossy, reordering network with offloads at both ends: no match may be wrong, few may be missing. */
START_TEST(test_noisy_flow)
{
	enum { SEGMENT = 1448, SEGMENTS = 4000 };
	uint64_t seed = 42, now_ns = 1000, arrived = 0;
	struct matcher *m = start();
	uint16_t id = 1;

	for (unsigned n = 0; n < SEGMENTS;) {
		unsigned count = 1 + (unsigned)(random_unit(&seed) * 8), from = n;

		count = MIN(count, SEGMENTS - n);
		now_ns += 100000;
		feed(m, A, now_ns, SENT, tcp_packet(n * SEGMENT, 7, count * SEGMENT, id));
		n += count;
		while (from < n) {
			unsigned merged = 1 + (unsigned)(random_unit(&seed) * 4);

			merged = MIN(merged, n - from);
			if (random_unit(&seed) < 0.02) { /* lost, and sent again */
				now_ns += 200000;
				feed(m, A, now_ns, SENT, tcp_packet(from * SEGMENT, 7, merged * SEGMENT, ++id + 20000));
			}
			now_ns += 1000;
			arrived++;
			feed(m, B, now_ns, RECEIVED, tcp_packet(from * SEGMENT, 7, merged * SEGMENT, id++));
			from += merged;
		}
	}
	for (unsigned i = 0; i < found->len; i++) {
		const struct match *match = nth(i);

		ck_assert_uint_eq(match->from.host, A);
		ck_assert_uint_lt(match->from.ts_ns, match->to.ts_ns);
		if (match->certain)
			ck_assert_uint_lt(match->certain_sent_ns, match->certain_received_ns);
	}
	ck_assert_uint_ge(found->len, arrived * 99 / 100);
	stop(m);
}
END_TEST

START_TEST(test_headers_of_events)
{
	struct ev_net ev = {
		.ip_version = 4,
		.protocol = 6,
		.tot_len = 1500,
		.header_words = 5 << 8 | 8,
		.seq = 9,
		.ack_seq = 8,
		.flags = 0x18,
		.ip_id = 77,
		.sport = 1,
		.dport = 2,
		.saddr = { 3 },
		.daddr = { 4 },
	};
	struct clock_packet p;

	ck_assert(clock_packet_of_event(&ev, CLOCK_PACKET_NET_DEV, &p));
	ck_assert_int_eq(p.payload_len, 1500 - 20 - 32);
	ck_assert_uint_eq(p.id, 77);
	ck_assert_uint_eq(p.seq, 9);
	ev.ip_version = 6;
	ev.tot_len = 100; /* the IPv6 header is not included */
	ck_assert(clock_packet_of_event(&ev, CLOCK_PACKET_NET_DEV, &p));
	ck_assert_int_eq(p.payload_len, 100 - 32);
	ck_assert_uint_eq(p.id, 0);
	ev.tot_len = 0; /* too large for the field */
	ck_assert(clock_packet_of_event(&ev, CLOCK_PACKET_NET_DEV, &p));
	ck_assert_int_eq(p.payload_len, -1);
	ev.protocol = 17;
	ev.tot_len = 28;
	ck_assert(clock_packet_of_event(&ev, CLOCK_PACKET_NET_DEV, &p));
	ck_assert_int_eq(p.payload_len, 20);
	ev.ip_version = 4;
	ev.frag_off = 0x4000; /* not to be fragmented */
	ck_assert(clock_packet_of_event(&ev, CLOCK_PACKET_NET_DEV, &p));
	ck_assert_uint_eq(p.sport, 1);
	ev.frag_off = 0x2000 | 185; /* more fragments follow */
	ck_assert(clock_packet_of_event(&ev, CLOCK_PACKET_NET_DEV, &p));
	ck_assert_uint_eq(p.sport, 0);
	ck_assert_uint_eq(p.dport, 0);
	ck_assert_uint_eq(p.id, 77);
	ev.protocol = 6;
	ck_assert(!clock_packet_of_event(&ev, CLOCK_PACKET_NET_DEV, &p));
	ev.ip_version = 0;
	ck_assert(!clock_packet_of_event(&ev, CLOCK_PACKET_NET_DEV, &p));
	ck_assert(clock_packet_of_event(&ev, CLOCK_PACKET_SOCK_LOCAL, &p));
	ck_assert_uint_eq(p.protocol, 6);
	ck_assert_uint_eq(p.layout, CLOCK_PACKET_SOCK_LOCAL);
	ck_assert_int_eq(p.payload_len, -1);
	ev.flags = 0; /* no header */
	ck_assert(!clock_packet_of_event(&ev, CLOCK_PACKET_SOCK_LOCAL, &p));
	ev.ip_version = 4;
	ev.protocol = 1;
	ck_assert(!clock_packet_of_event(&ev, CLOCK_PACKET_NET_DEV, &p));
}
END_TEST

UNIT_MAIN("clock_match", test_pairs_in_any_order, test_flags_that_move, test_layouts, test_flows_with_equal_numbers,
	  test_address_translation, test_retransmission_with_ids, test_duplicates_without_ids, test_hops_of_one_host,
	  test_effect_before_cause, test_split, test_split_receiver_first, test_merged, test_large_merged,
	  test_parts_sent_twice, test_udp, test_fragments, test_datagrams_without_ids, test_bound_in_number,
	  test_bound_in_memory, test_noisy_flow, test_headers_of_events)
