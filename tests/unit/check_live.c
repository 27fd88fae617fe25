/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A live session as records, from a relayd in the same thread. */
#include "relay.h"

#include "reader/native/live_internal.h"

enum { SMALL = 256 * 1024, MANY = 20000 };

/* One stream: a packet with many events, then one with an event whose class is in the second piece of metadata. */

static const char *const metadata[] = {
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; } := uint8_t;\n"
	"trace { major = 1; minor = 8; byte_order = le; };\n"
	"env { hostname = \"web\"; domain = \"kernel\"; };\n"
	"clock { name = c; freq = 1000000000; offset = 0; };\n"
	"typealias integer { size = 64; align = 8; map = clock.c.value; } := time_t;\n"
	"stream { packet.context := struct { time_t timestamp_begin; time_t timestamp_end; uint8_t cpu_id; };\n"
	"  event.header := struct { uint8_t id; time_t timestamp; }; };\n"
	"event { name = \"first\"; id = 0; };\n",
	"event { name = \"second\"; id = 1; };\n",
};

static GByteArray *packets[2];

static void append_time(GByteArray *to, uint64_t time)
{
	time = GUINT64_TO_LE(time);
	g_byte_array_append(to, (const guint8 *)&time, sizeof(time));
}

static GByteArray *make_packet(uint64_t begin, uint64_t n, guint8 id)
{
	static const guint8 cpu = 0;
	GByteArray *packet = g_byte_array_new();

	append_time(packet, begin);
	append_time(packet, begin + n);
	g_byte_array_append(packet, &cpu, 1);
	for (uint64_t i = 0; i < n; i++) {
		g_byte_array_append(packet, &id, 1);
		append_time(packet, begin + i);
	}
	return packet;
}

static void answer_pieces(struct relay *r, const uint8_t *payload)
{
	const bool has_more = !r->metadata_sent || (r->metadata_sent == 1 && r->asked[WIRE_NEXT_INDEX] > 1);
	const char *piece = has_more ? metadata[r->metadata_sent++] : "";
	const struct wire_metadata w = { GUINT64_TO_BE(strlen(piece)),
					 GUINT32_TO_BE(has_more ? WIRE_METADATA_OK : WIRE_METADATA_NONE) };

	(void)payload;
	put(r, &w, sizeof(w));
	put(r, piece, strlen(piece));
}

static void answer_made_index(struct relay *r, const uint8_t *payload)
{
	const unsigned i = r->asked[WIRE_PACKET];

	(void)payload;
	r->flags = WIRE_FLAG_METADATA;
	if (i < G_N_ELEMENTS(packets)) {
		put_index(r, WIRE_INDEX_OK, 8 * packets[i]->len, 8 * packets[i]->len, 0);
	} else {
		r->n_hups++;
		put_index(r, WIRE_INDEX_HUP, 0, 0, 0);
	}
}

static void answer_made_packet(struct relay *r, const uint8_t *payload)
{
	const GByteArray *packet = packets[r->asked[WIRE_PACKET] - 1];
	const struct wire_packet w = { GUINT32_TO_BE(WIRE_PACKET_OK), GUINT32_TO_BE(packet->len), 0 };

	(void)payload;
	put(r, &w, sizeof(w));
	put(r, packet->data, packet->len);
}

static enum lt_status step(struct native_live *l, struct relay *r)
{
	enum failed_cause cause;
	const enum lt_status status = native_live_step(l, &cause);

	ck_assert_msg(status != LT_ERROR, "%s", error_text());
	relay_step(r);
	return status;
}

/* Consumes what is in the ring; counts the events. */
static unsigned consume(struct ring_consumer *c)
{
	const struct event *ev;
	const char *wrong;
	unsigned n = 0;

	for (; ring_peek(c, &ev, &wrong) == LT_OK; ring_next(c)) {
		ck_assert_msg(ev->kind != EVENT_NOTE, "%.*s", (int)event_payload(ev, ev_note)->text.len,
			      event_text(ev, event_payload(ev, ev_note)->text));
		n += ev->kind == EVENT_OTHER;
	}
	return n;
}

/* What comes while the ring is full is decoded with the metadata that came before it. */
START_TEST(test_metadata_while_full)
{
	struct relay r;
	struct ring_consumer consumer;
	struct ring_producer producer;
	struct viewer_options options;
	struct native_live *l;
	unsigned n = 0;

	packets[0] = make_packet(1000, MANY, 0);
	packets[1] = make_packet(1000 + MANY, 1, 1);
	relay_init(&r);
	r.n_streams = 2;
	r.answers[WIRE_METADATA] = answer_pieces;
	r.answers[WIRE_NEXT_INDEX] = answer_made_index;
	r.answers[WIRE_PACKET] = answer_made_packet;
	ck_assert_int_eq(ring_create(&consumer, SMALL), LT_OK);
	ck_assert_int_eq(ring_producer_open(&producer,
					    (struct ring_fds){ dup(consumer.fds.memory), dup(consumer.producer_wake) }),
			 LT_OK);
	options = relay_options(&r, session_name);
	l = native_live_create(&options, 0, "net://web", NULL, &producer);
	while (r.asked[WIRE_PACKET] < G_N_ELEMENTS(packets))
		step(l, &r);
	/* It asks this again only when it has what was sent before. */
	for (unsigned asked = r.asked[WIRE_NEW_STREAMS]; r.asked[WIRE_NEW_STREAMS] < asked + 2;)
		step(l, &r);
	ck_assert(native_live_is_full(l));
	ck_assert_uint_eq(r.metadata_sent, G_N_ELEMENTS(metadata));
	while (step(l, &r) != LT_END)
		n += consume(&consumer);
	ck_assert_uint_eq(n + consume(&consumer), MANY + 1);
	native_live_destroy(l);
	ring_producer_release(&producer);
	ring_consumer_release(&consumer);
	relay_release(&r);
	for (size_t i = 0; i < G_N_ELEMENTS(packets); i++)
		g_byte_array_free(packets[i], TRUE);
}
END_TEST

/* ---- metadata that grows ---- */

static bool may_grow;

static void answer_growing(struct relay *r, const uint8_t *payload)
{
	const char *piece =
		!r->metadata_sent || (r->metadata_sent == 1 && may_grow) ? metadata[r->metadata_sent++] : "";
	const struct wire_metadata w = { GUINT64_TO_BE(strlen(piece)),
					 GUINT32_TO_BE(*piece ? WIRE_METADATA_OK : WIRE_METADATA_NONE) };

	(void)payload;
	put(r, &w, sizeof(w));
	put(r, piece, strlen(piece));
}

static void answer_growing_index(struct relay *r, const uint8_t *payload)
{
	if (r->asked[WIRE_PACKET] == 1 && !may_grow)
		put_index(r, WIRE_INDEX_RETRY, 0, 0, 0);
	else
		answer_made_index(r, payload);
}

/* Metadata that grows again soon after it was read is not read at once, and what needs it waits. */
START_TEST(test_metadata_rests)
{
	const int64_t late_us = g_get_monotonic_time() + 3600 * INT64_C(1000000);
	struct relay r;
	struct ring_consumer consumer;
	struct ring_producer producer;
	struct viewer_options options;
	struct native_live *l;
	struct live_trace *t;
	unsigned n = 0;

	may_grow = false;
	packets[0] = make_packet(1000, 10, 0);
	packets[1] = make_packet(2000, 5, 1);
	relay_init(&r);
	r.n_streams = 2;
	r.answers[WIRE_METADATA] = answer_growing;
	r.answers[WIRE_NEXT_INDEX] = answer_growing_index;
	r.answers[WIRE_PACKET] = answer_made_packet;
	ck_assert_int_eq(ring_create(&consumer, SMALL), LT_OK);
	ck_assert_int_eq(ring_producer_open(&producer,
					    (struct ring_fds){ dup(consumer.fds.memory), dup(consumer.producer_wake) }),
			 LT_OK);
	options = relay_options(&r, session_name);
	l = native_live_create(&options, 0, "net://web", NULL, &producer);
	for (; n < 10; n += consume(&consumer))
		step(l, &r);
	t = g_ptr_array_index(l->traces, 0);
	ck_assert_int_gt(t->rest_us, 0);
	ck_assert_int_lt(t->rest_us, late_us);

	t->rest_us = late_us;
	may_grow = true;
	while (r.asked[WIRE_PACKET] < G_N_ELEMENTS(packets))
		step(l, &r);
	/* it asks this again only when it has what was sent before */
	for (unsigned asked = r.asked[WIRE_NEW_STREAMS]; r.asked[WIRE_NEW_STREAMS] < asked + 2;)
		step(l, &r);
	ck_assert_uint_eq(r.metadata_sent, G_N_ELEMENTS(metadata));
	ck_assert(t->has_grown && native_live_is_full(l));
	ck_assert_uint_eq(consume(&consumer), 0);
	ck_assert_int_le(native_live_due_us(l), late_us);

	t->rest_us = g_get_monotonic_time();
	while (step(l, &r) != LT_END)
		n += consume(&consumer);
	ck_assert_uint_eq(n + consume(&consumer), 15);
	native_live_destroy(l);
	ring_producer_release(&producer);
	ring_consumer_release(&consumer);
	relay_release(&r);
	for (size_t i = 0; i < G_N_ELEMENTS(packets); i++)
		g_byte_array_free(packets[i], TRUE);
}
END_TEST

/* ---- streams that are silent ---- */

enum { STALL_MS = 200, SILENT_US = 2 * (STALL_MS * 1000 + TIMER_US), A = 2, B = 3 };

/* A session with the data streams A and B, which have what the test gives them. */
struct made {
	struct relay relay;
	struct ring_consumer consumer;
	struct ring_producer producer;
	struct native_live *live;
	unsigned events, backward;
	char *note;
	bool has_ended;
};

static GByteArray *made_next[4], *made_sent[4]; /* packets by stream */
static bool made_gone[4];

static void answer_next(struct relay *r, const uint8_t *payload)
{
	const unsigned stream = stream_of(payload);
	GByteArray *packet = made_next[stream];

	if (packet) {
		put_index(r, WIRE_INDEX_OK, 8 * packet->len, 8 * packet->len, 0);
		if (made_sent[stream])
			g_byte_array_free(made_sent[stream], TRUE);
		made_sent[stream] = packet;
		made_next[stream] = NULL;
		return;
	}
	r->n_hups += made_gone[stream];
	put_index(r, made_gone[stream] ? WIRE_INDEX_HUP : WIRE_INDEX_RETRY, 0, 0, 0);
}

static void answer_sent(struct relay *r, const uint8_t *payload)
{
	const GByteArray *packet = made_sent[stream_of(payload)];
	const struct wire_packet w = { GUINT32_TO_BE(WIRE_PACKET_OK), GUINT32_TO_BE(packet->len), 0 };

	put(r, &w, sizeof(w));
	put(r, packet->data, packet->len);
}

static void answer_all_metadata(struct relay *r, const uint8_t *payload)
{
	const char *text = r->metadata_sent++ ? "" : metadata[0];
	const struct wire_metadata w = { GUINT64_TO_BE(strlen(text)),
					 GUINT32_TO_BE(*text ? WIRE_METADATA_OK : WIRE_METADATA_NONE) };

	(void)payload;
	put(r, &w, sizeof(w));
	put(r, text, strlen(text));
}

static void made_init(struct made *m)
{
	struct viewer_options options;

	*m = (struct made){ 0 };
	memset(made_gone, 0, sizeof(made_gone));
	relay_init(&m->relay);
	m->relay.answers[WIRE_METADATA] = answer_all_metadata;
	m->relay.answers[WIRE_NEXT_INDEX] = answer_next;
	m->relay.answers[WIRE_PACKET] = answer_sent;
	ck_assert_int_eq(ring_create(&m->consumer, SMALL), LT_OK);
	ck_assert_int_eq(ring_producer_open(&m->producer, (struct ring_fds){ dup(m->consumer.fds.memory),
									     dup(m->consumer.producer_wake) }),
			 LT_OK);
	options = relay_options(&m->relay, session_name);
	m->live = native_live_create(&options, STALL_MS, "net://web", NULL, &m->producer);
}

static void made_step(struct made *m)
{
	const struct event *ev;
	const char *wrong;

	m->has_ended |= step(m->live, &m->relay) == LT_END;
	for (; ring_peek(&m->consumer, &ev, &wrong) == LT_OK; ring_next(&m->consumer)) {
		m->events += ev->kind == EVENT_OTHER;
		m->backward += ev->kind == EVENT_BACKWARD;
		if (ev->kind != EVENT_NOTE)
			continue;
		ck_assert_msg(!m->note, "%s; then %.*s", m->note, (int)event_payload(ev, ev_note)->text.len,
			      event_text(ev, event_payload(ev, ev_note)->text));
		m->note = g_strndup(event_text(ev, event_payload(ev, ev_note)->text),
				    event_payload(ev, ev_note)->text.len);
	}
}

/* Lets each stream have a packet of n events from there on, and waits until they are requested. */
static void made_give(struct made *m, unsigned stream, uint64_t begin, uint64_t n)
{
	made_next[stream] = make_packet(begin, n, 0);
	while (made_next[stream])
		made_step(m);
}

static void made_release(struct made *m)
{
	for (made_gone[A] = made_gone[B] = true; !m->has_ended;)
		made_step(m);
	native_live_destroy(m->live);
	ring_producer_release(&m->producer);
	ring_consumer_release(&m->consumer);
	relay_release(&m->relay);
	for (unsigned i = 0; i < G_N_ELEMENTS(made_sent); i++) {
		if (made_sent[i])
			g_byte_array_free(made_sent[i], TRUE);
		made_sent[i] = NULL;
	}
	g_free(m->note);
}

/* A stream that never has anything does not hide the others; what it has later counts as a step back in time. */
START_TEST(test_silent_stream)
{
	struct made m;
	uint64_t ns = 1000;

	made_init(&m);
	while (m.events < 30) {
		made_give(&m, A, ns, 10);
		ns += 10;
	}
	ck_assert_str_eq(m.note, "ch_1: silent: skipped until data arrives again");
	ck_assert_uint_eq(m.backward, 0);
	made_give(&m, B, 1005, 5);
	made_give(&m, A, ns, 10);
	made_release(&m);
	ck_assert_uint_eq(m.events, ns + 10 - 1000 + 5);
	ck_assert_uint_eq(m.backward, 1);
}
END_TEST

/* The streams have events of the same time, A some more; then nothing comes for long. */
static void made_pause(struct made *m, unsigned more)
{
	int64_t until_us;

	made_init(m);
	made_give(m, A, 1000, 10 + more);
	made_give(m, B, 1000, 10);
	while (m->events < 20)
		made_step(m);
	until_us = g_get_monotonic_time() + 4 * SILENT_US;
	while (g_get_monotonic_time() < until_us)
		made_step(m);
}

/* If all streams pause, for however long, those that continue last are waited for. */
START_TEST(test_pause_of_all_streams)
{
	struct made m;

	made_pause(&m, 0);
	made_give(&m, A, 3000, 10);
	made_give(&m, B, 2000, 10);
	made_release(&m);
	ck_assert_uint_eq(m.events, 40);
	ck_assert_uint_eq(m.backward, 0);
	ck_assert_ptr_null(m.note);
}
END_TEST

/* Also if events of one have been waiting for another since before the pause, whichever continues first. */
START_TEST(test_pause_while_events_wait)
{
	for (unsigned first = A; first <= B; first++) {
		struct made m;

		made_pause(&m, 10);
		ck_assert_msg(!m.note, "%s", m.note);
		made_give(&m, first, first == A ? 3000 : 1010, 10);
		made_give(&m, A + B - first, first == A ? 1010 : 3000, 10);
		made_release(&m);
		ck_assert_uint_eq(m.events, 50);
		ck_assert_uint_eq(m.backward, 0);
		ck_assert_ptr_null(m.note);
	}
}
END_TEST

/* The last events of a stream that has ended do not wait for one that is silent for ever. */
START_TEST(test_end_while_events_wait)
{
	struct made m;

	made_pause(&m, 10);
	made_gone[A] = true;
	while (m.events < 30)
		made_step(&m);
	made_release(&m);
	ck_assert_uint_eq(m.events, 30);
	ck_assert_uint_eq(m.backward, 0);
}
END_TEST

UNIT_MAIN("live", test_metadata_while_full, test_metadata_rests, test_silent_stream, test_pause_of_all_streams,
	  test_pause_while_events_wait, test_end_while_events_wait)
