/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Synchronised clocks as bytes and back: src/clock/store.h. */
#include <glib.h>
#include <string.h>

#include "clock.h"
#include "clock/store.h"
#include "unit.h"

#define BASE_NS UINT64_C(1700000000000000000)
#define SECOND_NS UINT64_C(1000000000)

enum { HOSTS = 4 };

/* a talks to b, b to c; d's offset to a is set by hand. Their clocks differ and drift. */
static struct clock_sync *compared(void)
{
	static const struct {
		unsigned from, to;
	} ways[] = { { 0, 1 }, { 1, 0 }, { 1, 2 }, { 2, 1 } };
	const struct clock_options options = { 0 };
	struct clock_sync *s = clock_sync_create(&options);
	uint64_t random = 9;
	uint32_t seq = 0;

	for (unsigned i = 0; i < HOSTS; i++)
		clock_sync_add_host(s, (const char[]){ (char)('a' + i), '\0' }, "uuid");
	clock_sync_set_offset(s, 3, 123456);
	for (uint64_t t = 0; t < 30 * SECOND_NS; t += SECOND_NS / 8)
		for (unsigned w = 0; w < G_N_ELEMENTS(ways); w++) {
			uint64_t sent_ns = t + w * 1000000, received_ns = sent_ns + 90000;
			struct clock_packet p = tcp_packet(seq, 7, 10, (uint16_t)(seq % 60000 + 1));

			seq += 10;
			received_ns += (uint64_t)(random_unit(&random) * 200000);
			sent_ns += ways[w].from * (5 * SECOND_NS + sent_ns / 100000);
			received_ns += ways[w].to * (5 * SECOND_NS + received_ns / 100000);
			clock_sync_packet(s, ways[w].from, BASE_NS + sent_ns, true, &p);
			clock_sync_packet(s, ways[w].to, BASE_NS + received_ns, false, &p);
		}
	clock_sync_finish(s);
	return s;
}

static struct clock_sync *unpack(const GByteArray *bytes, size_t len)
{
	const struct clock_options options = { 0 };
	struct clock_sync *s = clock_sync_create(&options);
	uint8_t *copy = memcpy(g_malloc(MAX(len, 1)), bytes->data, len);
	struct unpack in = { copy, copy + len, false };
	bool ok = clock_sync_unpack(s, &in);

	g_free(copy);
	if (ok)
		return s;
	clock_sync_destroy(s);
	return NULL;
}

/* Calls every query. Returns a number, so that a compiler cannot leave any of them out. */
static uint64_t ask(const struct clock_sync *s, unsigned host, uint64_t t_ns)
{
	const struct clock_match *matches[16];
	uint64_t bound_ns = 0;

	clock_sync_bound(s, host, t_ns, &bound_ns);
	return bound_ns + clock_to_ref(clock_sync_map(s, host), t_ns) + clock_from_ref(clock_sync_map(s, host), t_ns) +
	       (uint64_t)clock_sync_offset(s, host, t_ns) + clock_sync_info(s, host).matched +
	       clock_sync_matches(s, matches, G_N_ELEMENTS(matches));
}

static void assert_same_host(const struct clock_sync *s, const struct clock_sync *again, unsigned host)
{
	const struct clock_host_info a = clock_sync_info(s, host), b = clock_sync_info(again, host);

	ck_assert_int_eq(a.state, b.state);
	ck_assert_int_eq(a.obstacle, b.obstacle);
	ck_assert_int_eq(a.ref, b.ref);
	ck_assert_uint_eq(a.matched, b.matched);
	ck_assert_uint_eq(a.used, b.used);
	ck_assert_uint_eq(a.negative, b.negative);
	ck_assert(a.drift_ppm == b.drift_ppm);
	ck_assert_uint_eq(a.bound_ns, b.bound_ns);
	ck_assert_int_eq(a.has_latency_to, b.has_latency_to);
	ck_assert_int_eq(a.has_latency_from, b.has_latency_from);
	ck_assert_int_eq(a.latency_to_min_ns, b.latency_to_min_ns);
	ck_assert_int_eq(a.latency_from_median_ns, b.latency_from_median_ns);
	ck_assert_uint_eq(a.last_match_ns, b.last_match_ns);
	ck_assert_uint_eq(clock_map_epoch(clock_sync_map(s, host)), clock_map_epoch(clock_sync_map(again, host)));
	for (uint64_t t_ns = BASE_NS - 5 * SECOND_NS; t_ns < BASE_NS + 60 * SECOND_NS; t_ns += SECOND_NS / 3)
		ck_assert_uint_eq(ask(s, host, t_ns), ask(again, host, t_ns));
}

START_TEST(test_same)
{
	struct clock_sync *s = compared(), *again;
	GByteArray *bytes = g_byte_array_new();
	const struct clock_match *a[64], *b[64];

	clock_sync_pack(s, bytes);
	again = unpack(bytes, bytes->len);
	ck_assert_ptr_nonnull(again);
	ck_assert_int_eq(clock_sync_info(s, 0).state, CLOCK_ACCURATE);
	for (unsigned host = 0; host < HOSTS; host++)
		assert_same_host(s, again, host);
	ck_assert_uint_eq(clock_sync_matches(s, a, 64), 64);
	ck_assert_uint_eq(clock_sync_matches(again, b, 64), 64);
	for (unsigned i = 0; i < 64; i++) {
		ck_assert_uint_eq(a[i]->from, b[i]->from);
		ck_assert_uint_eq(a[i]->to, b[i]->to);
		ck_assert_uint_eq(a[i]->sent_ns, b[i]->sent_ns);
		ck_assert_uint_eq(a[i]->received_ns, b[i]->received_ns);
		ck_assert_int_eq(a[i]->ambiguous, b[i]->ambiguous);
	}
	clock_sync_destroy(again);
	clock_sync_destroy(s);
	g_byte_array_unref(bytes);
}
END_TEST

/* Damaged bytes are refused, or read as some other valid clocks. */
START_TEST(test_damaged)
{
	struct clock_sync *s = compared(), *again;
	GByteArray *bytes = g_byte_array_new();
	uint64_t random = 77;
	unsigned refused = 0;

	clock_sync_pack(s, bytes);
	clock_sync_destroy(s);
	for (size_t len = 0; len < bytes->len; len += 1 + len / 50)
		ck_assert_ptr_null(unpack(bytes, len));
	for (unsigned round = 0; round < 4000; round++) {
		/* damages the head more often than the many points and matches */
		size_t range = round % 2 ? bytes->len : 2000;
		size_t at = (size_t)(random_unit(&random) * (double)range);
		uint8_t was = bytes->data[at];

		bytes->data[at] = (uint8_t)(random_unit(&random) * 256);
		again = unpack(bytes, bytes->len);
		refused += !again;
		for (unsigned host = 0; again && host < clock_sync_host_count(again); host++)
			for (uint64_t t_ns = 0; t_ns < 4 * BASE_NS; t_ns += BASE_NS / 2)
				ask(again, host, t_ns);
		clock_sync_destroy(again);
		bytes->data[at] = was;
	}
	ck_assert_uint_gt(refused, 200);
	g_byte_array_unref(bytes);
}
END_TEST

UNIT_MAIN("clock_store", test_same, test_damaged)
