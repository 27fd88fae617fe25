/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The viewer's handling of a relayd's answers: the list, sessions, streams, metadata, packets, time. */
#include "relay.h"

#include "viewer/internal.h"

/* ---- the list ---- */

START_TEST(test_list)
{
	static const unsigned minors[] = { 4, 13, 15, 16, UINT32_MAX };
	struct relay r;

	for (unsigned i = 0; i < G_N_ELEMENTS(minors); i++) {
		for (unsigned chunk = 0; chunk < 2; chunk++) {
			relay_init(&r);
			r.minor = minors[i];
			r.chunk = chunk;
			expect(&r, NULL, LT_OK,
			       minors[i] < 15 ? "session:db/nightly/1000000/1/0 session:web/s1/20000/0/0 listed"
					      : "session:db/nightly/1000000/1/1 session:web/s1/20000/0/0 listed");
		}
	}
}
END_TEST

START_TEST(test_list_again)
{
	enum lt_status status;
	struct viewer_event event;
	struct relay r;

	relay_init(&r);
	g_string_free(run(&r, NULL, &status), TRUE);
	ck_assert_int_eq(viewer_next(r.viewer, &event), LT_AGAIN);
	r.answers[WIRE_LIST] = answer_empty_list;
	viewer_list_again(r.viewer);
	viewer_list_again(r.viewer);
	ck_assert_int_eq(next(&r, &event), LT_OK);
	ck_assert_int_eq(event.kind, VIEWER_LISTED);
	ck_assert_uint_eq(r.asked[WIRE_CONNECT], 1);
	ck_assert_uint_eq(r.asked[WIRE_LIST], 2);
	put32(&r, 1);
	ck_assert_int_eq(next_at_rest(&r, &event), LT_ERROR);
	ck_assert_ptr_nonnull(strstr(error_text(), "an answer to nothing"));
	relay_release(&r);
}
END_TEST

static void answer_long_names(struct relay *r, const uint8_t *payload)
{
	char *name = g_strnfill(4096, 'n');

	(void)payload;
	put32(r, 2);
	put_session(r, 1, name, name, 1, 0, 0);
	put_session(r, 2, "", "", 1, 0, 0);
	g_free(name);
}

START_TEST(test_list_long_names)
{
	char *name = g_strnfill(4096, 'n'), *old_host = g_strndup(name, 64), *old_name = g_strndup(name, 255);
	char *wanted = g_strdup_printf("session:%s/%s/1/0/0 session://1/0/0 listed", name, name);
	char *old = g_strdup_printf("session:%s/%s/1/0/0 session://1/0/0 listed", old_host, old_name);
	struct relay r;

	for (unsigned minor = 13; minor <= 15; minor += 2) {
		relay_init(&r);
		r.minor = minor;
		r.answers[WIRE_LIST] = answer_long_names;
		expect(&r, NULL, LT_OK, minor == 15 ? wanted : old);
	}
	g_free(name);
	g_free(old_host);
	g_free(old_name);
	g_free(wanted);
	g_free(old);
}
END_TEST

/* ---- a session ---- */

#define OPENED "attached:s1 stream3:ch_1 stream2:ch_0 stream1:metadata! metadata:first "

START_TEST(test_session)
{
	static const unsigned minors[] = { 4, 13, 15 };
	struct relay r;

	for (unsigned i = 0; i < 2 * G_N_ELEMENTS(minors); i++) {
		relay_init(&r);
		r.minor = minors[i / 2];
		r.chunk = i % 2 ? 997 : 0;
		r.from_start = i % 2;
		r.n_packets[2] = 2;
		r.n_packets[3] = 0;
		/* The last of the metadata is requested when nothing else is left to read. */
		expect(&r, session_name, LT_END, OPENED "gone3 packet2 packet2 gone2 metadata:second");
	}
}
END_TEST

/* The session of a daemon's programs, none of which has emitted an event, and its kernel's. */
static void answer_two_of_a_name(struct relay *r, const uint8_t *payload)
{
	const bool is_over = r->n_hups > 0 && r->n_hups >= r->n_streams - 1;

	(void)payload;
	put32(r, is_over ? 2 : 3);
	put_session_of(r, 6, session_host, session_name, TIMER_US, 0, 0, 0);
	if (!is_over)
		put_session_of(r, 7, session_host, session_name, TIMER_US, 0, 3, 0);
	put_session_of(r, 8, session_host, session_name, TIMER_US, 0, 0, 0);
}

START_TEST(test_session_with_streams)
{
	struct relay r;

	relay_init(&r);
	r.answers[WIRE_LIST] = answer_two_of_a_name;
	r.n_packets[2] = 2;
	r.n_packets[3] = 0;
	expect(&r, session_name, LT_END, OPENED "gone3 packet2 packet2 gone2 metadata:second");
}
END_TEST

static void answer_equals(struct relay *r, const uint8_t *payload)
{
	const bool is_over = r->n_hups > 0 && r->n_hups >= r->n_streams - 1;

	(void)payload;
	put32(r, is_over ? 2 : 3);
	put_session_of(r, 6, session_host, session_name, TIMER_US, 0, 3, 0);
	if (!is_over)
		put_session_of(r, 7, session_host, session_name, TIMER_US, 1, 3, 0);
	put_session_of(r, 8, "other", session_name, TIMER_US, 0, 3, 0);
}

/* The one that is wanted, even if another viewer has it and another one is free, or none. */
START_TEST(test_session_of_equals)
{
	static const uint64_t others[] = { 8, 9 };
	struct relay r;

	relay_init(&r);
	r.answers[WIRE_LIST] = answer_equals;
	r.wanted = 7;
	r.n_packets[2] = 2;
	r.n_packets[3] = 0;
	expect(&r, session_name, LT_END, OPENED "gone3 packet2 packet2 gone2 metadata:second");
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
		relay_init(&r);
		r.answers[WIRE_LIST] = answer_equals;
		r.wanted = others[i];
		expect_failure(&r, VIEWER_NO_SESSION, "no such session");
	}
}
END_TEST

/* Byte by byte, for the small parts: packets would take too long. */
START_TEST(test_session_by_bytes)
{
	struct relay r;

	for (unsigned minor = 13; minor <= 15; minor += 2) {
		relay_init(&r);
		r.minor = minor;
		r.chunk = 1;
		r.n_streams = 2;
		r.n_packets[2] = 0;
		r.metadata_sent = 1; /* all of it, before the session ends */
		expect(&r, session_name, LT_END, "attached:s1 stream2:ch_0 stream1:metadata! metadata:second gone2");
	}
}
END_TEST

static void answer_flagged_index(struct relay *r, const uint8_t *payload)
{
	if (stream_of(payload) == 2 && r->n_packets[2] == 1)
		r->flags = WIRE_FLAG_METADATA | WIRE_FLAG_STREAMS;
	answer_index(r, payload);
}

START_TEST(test_metadata_comes_before_the_packet)
{
	struct relay r;

	relay_init(&r);
	r.n_streams = 2;
	r.n_late = 0;
	r.n_packets[2] = 2;
	r.answers[WIRE_NEXT_INDEX] = answer_flagged_index;
	expect(&r, session_name, LT_END,
	       "attached:s1 stream2:ch_0 stream1:metadata! metadata:first packet2 "
	       "metadata:second packet2 gone2");
}
END_TEST

/* As many requests later as a session has in weeks. */
static void answer_weeks_later(struct relay *r, const uint8_t *payload)
{
	if (stream_of(payload) == 2 && r->n_packets[2] == 2)
		r->viewer->serial += UINT32_C(1) << 31;
	answer_flagged_index(r, payload);
}

START_TEST(test_metadata_comes_after_weeks)
{
	struct relay r;

	relay_init(&r);
	r.n_streams = 2;
	r.n_packets[2] = 3;
	r.answers[WIRE_NEXT_INDEX] = answer_weeks_later;
	expect(&r, session_name, LT_END,
	       "attached:s1 stream2:ch_0 stream1:metadata! metadata:first packet2 packet2 "
	       "metadata:second packet2 gone2");
}
END_TEST

static void answer_streams_once(struct relay *r, const uint8_t *payload)
{
	/* Not in answer to the first request, which has no flag. */
	if (r->asked[WIRE_NEXT_INDEX] > 0) {
		r->n_late = r->n_streams == 2;
		r->n_packets[3] = 1;
	}
	answer_new_streams(r, payload);
}

START_TEST(test_new_stream)
{
	struct relay r;

	relay_init(&r);
	r.n_streams = 2;
	r.n_packets[2] = 1;
	r.answers[WIRE_NEW_STREAMS] = answer_streams_once;
	r.answers[WIRE_NEXT_INDEX] = answer_flagged_index;
	expect(&r, session_name, LT_END,
	       "attached:s1 stream2:ch_0 stream1:metadata! metadata:first metadata:second "
	       "stream3:ch_1 packet2 gone2 packet3 gone3");
}
END_TEST

/* Streams that were announced before, as some relayds do it. */
static void answer_same_streams(struct relay *r, const uint8_t *payload)
{
	(void)payload;
	put32(r, r->n_hups == 0 ? WIRE_STREAMS_NEW : WIRE_STREAMS_NONE);
	put32(r, 2);
	for (unsigned i = 2; r->n_hups == 0 && i > 0; i--)
		put_stream(r, i);
}

START_TEST(test_same_streams)
{
	struct relay r;

	relay_init(&r);
	r.n_streams = 2;
	r.n_packets[2] = 1;
	r.answers[WIRE_NEW_STREAMS] = answer_same_streams;
	r.answers[WIRE_NEXT_INDEX] = answer_flagged_index;
	expect(&r, session_name, LT_END,
	       "attached:s1 stream2:ch_0 stream1:metadata! metadata:first metadata:second "
	       "packet2 gone2");
}
END_TEST

static void answer_streams_closed(struct relay *r, const uint8_t *payload)
{
	(void)payload;
	put32(r, (uint32_t)r->lie);
	put32(r, 77); /* has no meaning */
}

START_TEST(test_closed)
{
	struct relay r;

	for (unsigned status = WIRE_STREAMS_ERROR; status <= WIRE_STREAMS_CLOSED; status++) {
		relay_init(&r);
		r.n_streams = 2;
		r.lie = status;
		r.answers[WIRE_NEW_STREAMS] = answer_streams_closed;
		/* The streams are still read. */
		expect(&r, session_name, LT_END,
		       "attached:s1 stream2:ch_0 stream1:metadata! metadata:first "
		       "packet2 packet2 packet2 gone2");
		relay_init(&r);
		r.n_streams = 0;
		r.lie = status;
		r.answers[WIRE_NEW_STREAMS] = answer_streams_closed;
		expect(&r, session_name, LT_END, "attached:s1");
	}
}
END_TEST

static void answer_no_metadata(struct relay *r, const uint8_t *payload)
{
	const struct wire_metadata w = { 0, GUINT32_TO_BE(WIRE_METADATA_NONE) };

	if (r->asked[WIRE_METADATA] > 3)
		answer_metadata(r, payload);
	else
		put(r, &w, sizeof(w));
}

/* Nothing can be read before the metadata is there. */
START_TEST(test_metadata_is_late)
{
	struct relay r;

	relay_init(&r);
	r.n_streams = 2;
	r.answers[WIRE_METADATA] = answer_no_metadata;
	expect(&r, session_name, LT_END,
	       "attached:s1 stream2:ch_0 stream1:metadata! metadata:first "
	       "packet2 packet2 packet2 gone2 metadata:second");
}
END_TEST

static void answer_metadata_gone(struct relay *r, const uint8_t *payload)
{
	const struct wire_metadata w = { 0, GUINT32_TO_BE(WIRE_METADATA_ERROR) };

	if (r->metadata_sent == 0)
		answer_metadata(r, payload);
	else
		put(r, &w, sizeof(w));
}

START_TEST(test_metadata_stream_ends)
{
	struct relay r;

	relay_init(&r);
	r.n_streams = 2;
	r.n_packets[2] = 1;
	r.answers[WIRE_METADATA] = answer_metadata_gone;
	expect(&r, session_name, LT_END,
	       "attached:s1 stream2:ch_0 stream1:metadata! metadata:first "
	       "packet2 gone2 gone1");
}
END_TEST

/* When a packet is first requested, something else must be read before it; the last packet is gone. */
static void answer_missing_packet(struct relay *r, const uint8_t *payload)
{
	const bool is_first = r->asked[WIRE_PACKET] == 1;
	const uint32_t flags = is_first ? WIRE_FLAG_METADATA : 0;
	const struct wire_packet w = { GUINT32_TO_BE((uint32_t)r->lie), 0, GUINT32_TO_BE(flags) };

	if (is_first || r->asked[WIRE_PACKET] == 3)
		put(r, &w, sizeof(w));
	else
		answer_packet(r, payload);
}

START_TEST(test_missing_packets)
{
	struct relay r;

	relay_init(&r);
	r.n_streams = 2;
	r.n_packets[2] = 2;
	r.minor = 4;
	r.lie = WIRE_PACKET_ERROR;
	r.answers[WIRE_PACKET] = answer_missing_packet;
	expect(&r, session_name, LT_END,
	       "attached:s1 stream2:ch_0 stream1:metadata! metadata:first "
	       "metadata:second packet2 gone2");
}
END_TEST

/* ---- time ---- */

/* A new beacon once per timer period, the old one in between, and no answer to every third request. */
static void answer_beacon(struct relay *r, const uint8_t *payload)
{
	const uint64_t beacon = (uint64_t)g_get_monotonic_time() / (uint64_t)r->lie;

	(void)payload;
	put_index(r, r->asked[WIRE_NEXT_INDEX] % 3 ? WIRE_INDEX_INACTIVE : WIRE_INDEX_RETRY, 0, 0, beacon);
}

/* Few requests per timer period, and each beacon once. */
START_TEST(test_beacons)
{
	struct viewer_event event;
	uint64_t last = 0;
	struct relay r;
	unsigned n = 0;

	relay_init(&r);
	r.n_streams = 2;
	r.lie = 100000;
	r.answers[WIRE_LIST] = answer_slow_session;
	r.answers[WIRE_NEXT_INDEX] = answer_beacon;
	relay_view(&r, session_name);
	while (n < 12) {
		ck_assert_int_eq(next(&r, &event), LT_OK);
		if (event.kind != VIEWER_BEACON)
			continue;
		ck_assert_uint_gt(event.until, last);
		last = event.until;
		n++;
	}
	/* About 3 are needed; polling every 10 ms would take 10. */
	ck_assert_msg(r.asked[WIRE_NEXT_INDEX] <= 6 * n, "%u requests", r.asked[WIRE_NEXT_INDEX]);
	relay_release(&r);
}
END_TEST

/* A small packet once per timer period. */
static void answer_light_packet(struct relay *r, const uint8_t *payload)
{
	const uint64_t period = (uint64_t)g_get_monotonic_time() / r->lie;

	(void)payload;
	if (period > r->lie2)
		put_index(r, WIRE_INDEX_OK, PACKET_BYTES * 8, 800, 200);
	else
		put_index(r, WIRE_INDEX_RETRY, 0, 0, 0);
	r->lie2 = period;
}

/* The time of the packets is found out, then a packet needs few requests. */
START_TEST(test_light_packets)
{
	enum { LEARNING = 6, PACKETS = 20 };
	struct viewer_event event;
	unsigned asked = 0, n = 0;
	struct relay r;

	relay_init(&r);
	r.n_streams = 2;
	r.lie = 100000;
	r.answers[WIRE_LIST] = answer_slow_session;
	r.answers[WIRE_NEXT_INDEX] = answer_light_packet;
	relay_view(&r, session_name);
	while (n < LEARNING + PACKETS) {
		ck_assert_int_eq(next(&r, &event), LT_OK);
		if (event.kind != VIEWER_PACKET)
			continue;
		viewer_packet_free(event.packet);
		if (++n == LEARNING)
			asked = r.asked[WIRE_NEXT_INDEX];
	}
	/* About 2 are needed: the last one without a packet, and that with one. */
	ck_assert_msg(r.asked[WIRE_NEXT_INDEX] - asked <= 3 * PACKETS, "%u requests", r.asked[WIRE_NEXT_INDEX] - asked);
	relay_release(&r);
}
END_TEST

/* No more packets are fetched than are taken. */
START_TEST(test_packets_are_held)
{
	struct viewer_packet *held[3];
	struct viewer_event event;
	struct relay r;
	unsigned n = 0;

	relay_init(&r);
	r.n_streams = 2;
	r.n_packets[2] = 100;
	relay_view(&r, session_name);
	while (n < 2) {
		ck_assert_int_eq(next(&r, &event), LT_OK);
		if (event.kind == VIEWER_PACKET)
			held[n++] = event.packet;
	}
	for (unsigned i = 0; i < 20; i++) {
		ck_assert_int_eq(viewer_next(r.viewer, &event), LT_AGAIN);
		relay_step(&r);
	}
	ck_assert_uint_eq(r.asked[WIRE_PACKET], 2);
	viewer_packet_free(held[0]);
	ck_assert_int_eq(next(&r, &event), LT_OK);
	ck_assert_int_eq(event.kind, VIEWER_PACKET);
	held[0] = event.packet;
	ck_assert_uint_eq(r.asked[WIRE_PACKET], 3);
	viewer_packet_free(held[0]);
	viewer_packet_free(held[1]);
	relay_release(&r);
}
END_TEST

static void answer_list_until_attached(struct relay *r, const uint8_t *payload)
{
	(r->asked[WIRE_ATTACH] ? answer_empty_list : answer_list)(r, payload);
}

/* The session ends while its packets are not taken for longer than its timeout: they still come. */
START_TEST(test_ends_unread)
{
	enum { HELD_US = 2500000, PACKETS = 10 };
	struct viewer_packet *held[2];
	struct viewer_event event = { 0 };
	struct relay r;
	unsigned n = 0;
	int64_t until_us;

	relay_init(&r);
	r.n_streams = 2;
	r.n_packets[2] = PACKETS;
	r.lie = WIRE_STREAMS_CLOSED;
	r.answers[WIRE_NEW_STREAMS] = answer_streams_closed;
	r.answers[WIRE_LIST] = answer_list_until_attached;
	relay_view(&r, session_name);
	while (n < G_N_ELEMENTS(held)) {
		ck_assert_int_eq(next(&r, &event), LT_OK);
		if (event.kind == VIEWER_PACKET)
			held[n++] = event.packet;
	}
	until_us = g_get_monotonic_time() + HELD_US;
	while (g_get_monotonic_time() < until_us || r.asked[WIRE_LIST] < 2) {
		ck_assert_int_eq(viewer_next(r.viewer, &event), LT_AGAIN);
		relay_step(&r);
		g_usleep(1000);
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(held); i++)
		viewer_packet_free(held[i]);
	while (n < PACKETS) {
		ck_assert_int_eq(next(&r, &event), LT_OK);
		if (event.kind == VIEWER_PACKET) {
			viewer_packet_free(event.packet);
			n++;
		}
	}
	relay_release(&r);
}
END_TEST

UNIT_MAIN("viewer", test_list, test_list_again, test_list_long_names, test_session, test_session_with_streams,
	  test_session_of_equals, test_session_by_bytes, test_metadata_comes_before_the_packet,
	  test_metadata_comes_after_weeks, test_new_stream, test_same_streams, test_closed, test_metadata_is_late,
	  test_metadata_stream_ends, test_missing_packets, test_beacons, test_light_packets, test_packets_are_held,
	  test_ends_unread)
