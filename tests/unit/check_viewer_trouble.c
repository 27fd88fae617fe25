/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A relayd that refuses, lies, hangs up or does not answer. */
#include "relay.h"

/* ---- refusals and lies ---- */

static void answer_status(struct relay *r, const uint8_t *payload)
{
	(void)payload;
	put32(r, (uint32_t)r->lie);
	put32(r, (uint32_t)r->lie2);
}

static void refused(enum wire_command command, uint32_t status, uint32_t count, enum viewer_cause cause,
		    const char *part)
{
	struct relay r;

	relay_init(&r);
	r.answers[command] = answer_status;
	r.lie = status;
	r.lie2 = count;
	expect_failure(&r, cause, part);
}

START_TEST(test_refusals)
{
	struct relay r;

	refused(WIRE_CREATE, 2, 0, VIEWER_PROTOCOL, "the relayd takes no viewer: status 2");
	refused(WIRE_ATTACH, WIRE_ATTACH_TAKEN, 0, VIEWER_TAKEN, "taken by another viewer");
	refused(WIRE_ATTACH, WIRE_ATTACH_UNKNOWN, 9, VIEWER_NO_SESSION, "the session is gone");
	refused(WIRE_ATTACH, WIRE_ATTACH_NOT_LIVE, 0, VIEWER_NO_SESSION, "not a live session");
	refused(WIRE_ATTACH, WIRE_ATTACH_SEEK, 0, VIEWER_PROTOCOL, "status 5");
	refused(WIRE_ATTACH, 0, 0, VIEWER_PROTOCOL, "status 0");
	refused(WIRE_ATTACH, 1, UINT32_MAX, VIEWER_PROTOCOL, "4294967295 streams");
	refused(WIRE_NEW_STREAMS, 1, 65535, VIEWER_PROTOCOL, "65535 streams");
	refused(WIRE_NEW_STREAMS, 0, 0, VIEWER_PROTOCOL, "status 0 of new streams");
	refused(WIRE_NEW_STREAMS, 5, 0, VIEWER_PROTOCOL, "status 5 of new streams");
	refused(WIRE_LIST, UINT32_MAX, 0, VIEWER_PROTOCOL, "4294967295 sessions");
	relay_init(&r);
	r.answers[WIRE_LIST] = answer_empty_list;
	expect_failure(&r, VIEWER_NO_SESSION, "no such session");
	relay_init(&r);
	r.answers[WIRE_LIST] = answer_slow_session;
	expect_failure(&r, VIEWER_NO_SESSION, "not a live session: created without '--live'");
}
END_TEST

static void answer_wrong_name(struct relay *r, const uint8_t *payload)
{
	const struct wire_session_new w = { .host_len = GUINT32_TO_BE((uint32_t)r->lie),
					    .name_len = GUINT32_TO_BE((uint32_t)r->lie2) };

	(void)payload;
	put32(r, 1);
	put(r, &w, sizeof(w));
}

START_TEST(test_wrong_names)
{
	static const uint32_t lengths[][2] = { { UINT32_MAX, 1 }, { 1, UINT32_MAX }, { 4097, 0 }, { 0, 4097 } };
	struct relay r;

	for (unsigned i = 0; i < G_N_ELEMENTS(lengths); i++) {
		relay_init(&r);
		r.minor = 15;
		r.answers[WIRE_LIST] = answer_wrong_name;
		r.lie = lengths[i][0];
		r.lie2 = lengths[i][1];
		expect_failure(&r, VIEWER_PROTOCOL, "a name of");
	}
}
END_TEST

static void answer_other_protocol(struct relay *r, const uint8_t *payload)
{
	const struct wire_connect w = { 1, GUINT32_TO_BE((uint32_t)r->lie), GUINT32_TO_BE((uint32_t)r->lie2), 0 };

	(void)payload;
	put(r, &w, sizeof(w));
}

START_TEST(test_other_protocol)
{
	static const uint32_t versions[][2] = { { 1, 15 }, { 3, 0 }, { 0, 0 }, { 2, 3 }, { UINT32_MAX, UINT32_MAX } };
	struct relay r;

	for (unsigned i = 0; i < G_N_ELEMENTS(versions); i++) {
		relay_init(&r);
		r.answers[WIRE_CONNECT] = answer_other_protocol;
		r.lie = versions[i][0];
		r.lie2 = versions[i][1];
		expect_failure(&r, VIEWER_UNREACHABLE, "not a port for viewers");
	}
}
END_TEST

static void answer_wrong_metadata(struct relay *r, const uint8_t *payload)
{
	const struct wire_metadata w = { GUINT64_TO_BE(r->lie), GUINT32_TO_BE((uint32_t)r->lie2) };

	(void)payload;
	put(r, &w, sizeof(w));
}

static void answer_wrong_index(struct relay *r, const uint8_t *payload)
{
	(void)payload;
	put_index(r, WIRE_INDEX_OK, r->lie, r->lie2, 200);
}

static void answer_wrong_status(struct relay *r, const uint8_t *payload)
{
	(void)payload;
	put_index(r, (uint32_t)r->lie, 8, 8, 200);
}

static void answer_wrong_packet(struct relay *r, const uint8_t *payload)
{
	const struct wire_packet w = { GUINT32_TO_BE((uint32_t)r->lie), GUINT32_TO_BE((uint32_t)r->lie2), 0 };

	(void)payload;
	put(r, &w, sizeof(w));
}

static void lied(enum wire_command command, answer_fn *answer, uint64_t lie, uint64_t lie2, const char *part)
{
	struct relay r;

	relay_init(&r);
	r.answers[command] = answer;
	r.lie = lie;
	r.lie2 = lie2;
	expect_failure(&r, VIEWER_PROTOCOL, part);
}

START_TEST(test_lies)
{
	lied(WIRE_METADATA, answer_wrong_metadata, UINT64_MAX, 1, "bytes of metadata");
	lied(WIRE_METADATA, answer_wrong_metadata, (64 << 20) + 1, 1, "67108865 bytes of metadata");
	lied(WIRE_METADATA, answer_wrong_metadata, 5, 2, "status 2 of metadata");
	lied(WIRE_METADATA, answer_wrong_metadata, 0, 0, "status 0 of metadata");
	lied(WIRE_METADATA, answer_wrong_metadata, 0, 4, "status 4 of metadata");
	lied(WIRE_NEXT_INDEX, answer_wrong_index, 0, 0, "a packet of 0 bits");
	lied(WIRE_NEXT_INDEX, answer_wrong_index, 9, 0, "a packet of 9 bits");
	lied(WIRE_NEXT_INDEX, answer_wrong_index, 64, 65, "a packet of 64 bits, 65 used");
	lied(WIRE_NEXT_INDEX, answer_wrong_index, UINT64_MAX - 7, 0, "is too large");
	lied(WIRE_NEXT_INDEX, answer_wrong_index, (UINT64_C(67108864) + 1) * 8, 0, "is too large, 67108864 is");
	lied(WIRE_NEXT_INDEX, answer_wrong_status, 0, 0, "status 0 of an index");
	lied(WIRE_NEXT_INDEX, answer_wrong_status, 7, 0, "status 7 of an index");
	lied(WIRE_PACKET, answer_wrong_packet, WIRE_PACKET_OK, 39999, "39999 bytes instead of a packet of 40000");
	lied(WIRE_PACKET, answer_wrong_packet, WIRE_PACKET_OK, UINT32_MAX, "instead of a packet of 40000");
	lied(WIRE_PACKET, answer_wrong_packet, WIRE_PACKET_OK, 0, "0 bytes instead of a packet of 40000");
	lied(WIRE_PACKET, answer_wrong_packet, WIRE_PACKET_ERROR, 1, "1 bytes instead");
	lied(WIRE_PACKET, answer_wrong_packet, 0, 0, "status 0 of a packet");
	lied(WIRE_PACKET, answer_wrong_packet, 5, 0, "status 5 of a packet");
}
END_TEST

/* ---- it hangs up, or does not answer ---- */

/* After any number of bytes. */
START_TEST(test_hangs_up)
{
	/* of the connect answer; the list; the session; the attach answer and its streams; an index; a packet */
	static const size_t steps[] = { 0,   1,   19,  20,   21,    24,    100,   702,   703,   706,
					707, 714, 715, 5000, 13827, 13828, 13840, 13850, 14000, 30000 };
	struct relay r;

	for (unsigned i = 0; i < G_N_ELEMENTS(steps); i++) {
		relay_init(&r);
		r.left = steps[i];
		if (steps[i] < 20)
			expect_failure(&r, VIEWER_UNREACHABLE,
				       "not a port for viewers of an lttng-relayd (default 5344)");
		else
			expect_failure(&r, VIEWER_GONE, "the relayd went away");
	}
}
END_TEST

START_TEST(test_is_silent)
{
	struct relay r;

	for (unsigned command = WIRE_CONNECT; command < WIRE_DETACH; command++) {
		relay_init(&r);
		r.is_silent = true;
		r.answers[command] = NULL;
		expect_failure(&r, command == WIRE_CONNECT ? VIEWER_UNREACHABLE : VIEWER_GONE,
			       "the relayd does not answer for 0.3 s");
	}
}
END_TEST

/* The viewer is stopped for longer than its timeout after each event; what arrives meanwhile was not too late. */
START_TEST(test_is_stopped)
{
	struct viewer_event event = { 0 };
	struct relay r;
	enum lt_status status;
	unsigned packets = 0;

	relay_init(&r);
	r.is_silent = true;
	r.chunk = 4500; /* a stream of a list, and part of the next one */
	relay_view(&r, session_name);
	while ((status = next(&r, &event)) == LT_OK) {
		packets += event.kind == VIEWER_PACKET;
		g_free(describe(&event));
		relay_step(&r);
		g_usleep(310000);
	}
	ck_assert_msg(status == LT_END, "%s", error_text());
	ck_assert_uint_eq(packets, 4);
	relay_release(&r);
}
END_TEST

UNIT_MAIN("viewer trouble", test_refusals, test_wrong_names, test_other_protocol, test_lies, test_hangs_up,
	  test_is_silent, test_is_stopped)
