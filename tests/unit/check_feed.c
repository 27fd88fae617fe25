/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "feed/cut.h"
#include "feed/plan.h"
#include "feed/recording.h"
#include "ingest/ingest.h"
#include "play/feed_sync.h"
#include "unit.h"

/* ---- the bundled recordings ---- */

static const char *const recordings[] = { "kprobe", "three-tier", "hotplug" };

static char *recording_path(const char *name)
{
	const char *build = getenv("BUILD");

	return g_strdup_printf("%s/traces/%s", build ? build : "build", name);
}

/* Finds the traces below the recording's directory; NULL: it is not unpacked. */
static GPtrArray *find(const char *name)
{
	GPtrArray *specs = g_ptr_array_new_with_free_func((GDestroyNotify)(void *)source_spec_free);
	char *path = recording_path(name);
	bool found = g_file_test(path, G_FILE_TEST_IS_DIR) && source_find(path, specs, NULL) == LT_OK;

	g_free(path);
	if (found)
		return specs;
	g_ptr_array_free(specs, TRUE);
	return NULL;
}

/* The number of events according to babeltrace2; 0: it is not installed. */
static uint64_t count_of_babeltrace(const struct source_spec *spec)
{
	char *command = g_strdup_printf("babeltrace2 '%s' --component sink.utils.counter 2>/dev/null",
					(const char *)g_ptr_array_index(spec->paths, 0));
	FILE *out = popen(command, "r");
	uint64_t events = 0;
	char line[256];

	while (fgets(line, sizeof(line), out))
		if (strstr(line, "Event messages"))
			events = g_ascii_strtoull(line + strspn(line, " "), NULL, 10);
	pclose(out);
	g_free(command);
	return events;
}

static uint64_t count_events(const struct recording *r, const struct recorded_stream *s)
{
	uint64_t events = 0;
	struct cutter c;

	cutter_init(&c, r->layout);
	for (guint i = 0; i < s->packets->len; i++) {
		uint8_t *data = recording_read(recorded_packet(s, i));

		ck_assert_ptr_nonnull(data);
		ck_assert_msg(!cutter_begin(&c, data, recorded_packet(s, i)->size), "%s: %s", s->name, error_text());
		events += c.marks->len;
		g_free(data);
	}
	cutter_release(&c);
	return events;
}

START_TEST(test_all_events_are_found)
{
	for (size_t i = 0; i < G_N_ELEMENTS(recordings); i++) {
		GPtrArray *specs = find(recordings[i]);

		for (guint k = 0; specs && k < specs->len; k++) {
			const struct source_spec *spec = g_ptr_array_index(specs, k);
			uint64_t events = 0, wanted = count_of_babeltrace(spec);
			struct recording *r;

			ck_assert_msg(recording_open(spec, &r) == LT_OK, "%s", error_text());
			ck_assert_uint_eq(r->layout->n_unknown, 0);
			ck_assert_uint_eq(r->damaged, 0);
			for (guint n = 0; n < r->streams->len; n++)
				events += count_events(r, g_ptr_array_index(r->streams, n));
			ck_assert_uint_gt(events, 0);
			if (wanted)
				ck_assert_uint_eq(events, wanted);
			recording_close(r);
		}
		if (specs)
			g_ptr_array_free(specs, TRUE);
	}
}
END_TEST

/* ---- pieces ---- */

/* The sum of one stream's packets or pieces. */
struct sum {
	GByteArray *bytes;  /* of all events */
	GArray *times;      /* uint64_t: the time of each event */
	uint64_t discarded; /* summed differences of the counter */
	uint64_t last_discarded, last_end, last_seq;
	uint64_t lost_packets, packets;
};

static void sum_init(struct sum *s)
{
	*s = (struct sum){ .bytes = g_byte_array_new(), .times = g_array_new(FALSE, FALSE, sizeof(uint64_t)) };
}

static void sum_release(struct sum *s)
{
	g_byte_array_free(s->bytes, TRUE);
	g_array_free(s->times, TRUE);
}

static void sum_add(struct sum *s, const struct layout *l, const uint8_t *data, size_t size)
{
	const struct layout_event *event;
	struct packet_head head;
	struct walk w;
	uint64_t at;

	ck_assert_int_eq(packet_read_head(l, data, size, &head), LT_OK);
	ck_assert_uint_eq(head.values[PACKET_PACKET_SIZE], 8 * (uint64_t)size);
	ck_assert_uint_le(head.values[PACKET_CONTENT_SIZE], 8 * (uint64_t)size);
	ck_assert_uint_le(head.values[PACKET_TIMESTAMP_BEGIN], head.values[PACKET_TIMESTAMP_END]);
	if (s->packets) {
		ck_assert_uint_ge(head.values[PACKET_TIMESTAMP_BEGIN], s->last_end);
		ck_assert_uint_gt(head.values[PACKET_SEQ_NUM], s->last_seq);
		s->lost_packets += head.values[PACKET_SEQ_NUM] - s->last_seq - 1;
		s->discarded += head.values[PACKET_EVENTS_DISCARDED] - s->last_discarded;
	}
	s->packets++;
	s->last_end = head.values[PACKET_TIMESTAMP_END];
	s->last_seq = head.values[PACKET_SEQ_NUM];
	s->last_discarded = head.values[PACKET_EVENTS_DISCARDED];
	walk_init(&w, l, data, head.values[PACKET_CONTENT_SIZE]);
	w.at = head.events_at;
	w.clock = head.values[PACKET_TIMESTAMP_BEGIN];
	while (w.at < w.end) {
		at = walk_event_begin(&w, head.stream);
		ck_assert(walk_event(&w, head.stream, &event));
		ck_assert_uint_le(w.clock, head.values[PACKET_TIMESTAMP_END]);
		g_byte_array_append(s->bytes, data + at / 8, (guint)(w.at / 8 - at / 8));
		g_array_append_val(s->times, w.clock);
	}
	walk_release(&w);
}

/* The stream in pieces, one per step of its clock; every second silence is announced, as by a beacon. */
static void sum_pieces(struct sum *s, const struct layout *l, const struct recorded_stream *stream, uint64_t step)
{
	uint64_t limit = recorded_packet(stream, 0)->begin;
	struct cut_piece piece;
	struct cutter c;

	cutter_init(&c, l);
	for (guint i = 0; i < stream->packets->len; i++) {
		uint8_t *data = recording_read(recorded_packet(stream, i));
		enum cut_outcome outcome = CUT_SILENT;

		ck_assert_int_eq(cutter_begin(&c, data, recorded_packet(stream, i)->size), LT_OK);
		while (outcome != CUT_DONE) {
			outcome = cutter_take(&c, limit, &piece);
			ck_assert_int_ne(outcome, CUT_HELD);
			if (outcome == CUT_PIECE) {
				ck_assert_uint_ge(limit, piece.end);
				sum_add(s, l, piece.data, piece.size);
			} else if (outcome == CUT_SILENT) {
				if (limit / step % 2)
					cutter_set_silent_until(&c, limit);
				limit += step;
			}
		}
		g_free(data);
	}
	cutter_release(&c);
}

static void sum_packets(struct sum *s, const struct layout *l, const struct recorded_stream *stream)
{
	for (guint i = 0; i < stream->packets->len; i++) {
		uint8_t *data = recording_read(recorded_packet(stream, i));

		sum_add(s, l, data, recorded_packet(stream, i)->size);
		g_free(data);
	}
}

static void check_pieces(const struct layout *l, const struct recorded_stream *stream, uint64_t step)
{
	struct sum whole, cut;

	sum_init(&whole);
	sum_init(&cut);
	sum_packets(&whole, l, stream);
	sum_pieces(&cut, l, stream, step);
	ck_assert_uint_ge(cut.packets, whole.packets);
	ck_assert_uint_eq(cut.bytes->len, whole.bytes->len);
	ck_assert(!memcmp(cut.bytes->data, whole.bytes->data, whole.bytes->len));
	ck_assert_uint_eq(cut.times->len, whole.times->len);
	ck_assert(!memcmp(cut.times->data, whole.times->data, whole.times->len * sizeof(uint64_t)));
	ck_assert_uint_eq(cut.discarded, whole.discarded);
	ck_assert_uint_eq(cut.lost_packets, whole.lost_packets);
	sum_release(&whole);
	sum_release(&cut);
}

START_TEST(test_pieces_are_the_packets)
{
	static const uint64_t steps[] = { 1000000, 33333333, 200000000, 100000000000 };
	GPtrArray *specs = find("kprobe");
	struct recording *r;

	if (!specs) {
		printf("skip test_pieces_are_the_packets: no recording kprobe\n");
		return;
	}
	ck_assert_int_eq(recording_open(g_ptr_array_index(specs, 0), &r), LT_OK);
	for (guint i = 0; i < r->streams->len; i++)
		for (size_t k = 0; k < G_N_ELEMENTS(steps); k++)
			check_pieces(r->layout, g_ptr_array_index(r->streams, i), steps[k]);
	recording_close(r);
	g_ptr_array_free(specs, TRUE);
}
END_TEST

/* ---- a trace built here ---- */

static const char small_metadata[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 32; align = 32; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 64; signed = false; } := unsigned long;\n"
	"typealias integer { size = 32; align = 32; signed = false; map = clock.monotonic.value; } := stamp_t;\n"
	"trace { major = 1; minor = 8; byte_order = be; uuid = \"00112233-4455-6677-8899-aabbccddeeff\";\n"
	"  packet.header := struct { uint32_t magic; uint32_t stream_id; }; };\n"
	"env { hostname = \"a \\\"host\\\"\"; tracer_major = 2; };\n"
	"clock { name = monotonic; freq = 1000; offset_s = 7; offset = 500; };\n"
	"struct payload { uint8_t n; enum : uint8_t { few = 0 ... 3, \"many\" = 4 ... 255 } _kind;\n"
	"  variant <_kind> { struct { uint8_t x[2]; } few; string many; } v;\n"
	"  floating_point { exp_dig = 8; mant_dig = 24; byte_order = native; align = 32; } f;\n"
	"  struct { uint8_t len; unsigned long list[len]; } in[2]; string tail; } align(8);\n"
	"stream { id = 1;\n"
	"  packet.context := struct { unsigned long timestamp_begin; unsigned long timestamp_end;\n"
	"    unsigned long content_size; unsigned long packet_size; unsigned long packet_seq_num;\n"
	"    unsigned long events_discarded; };\n"
	"  event.header := struct { uint32_t id; stamp_t timestamp; }; };\n"
	"event { name = \"good\"; id = 3; stream_id = 1; fields := struct payload; };\n"
	"event { name = \"bad\"; id = 4; stream_id = 1; fields := struct { nothing_known x; }; };\n"
	"event { name = \"lost\"; id = 5; stream_id = 1; fields := struct { uint8_t list[nowhere]; }; };\n";

static struct layout *small_layout(void)
{
	struct layout *l;

	ck_assert_msg(layout_parse(small_metadata, &l) == LT_OK, "%s", error_text());
	return l;
}

static void put(GByteArray *b, unsigned size, uint64_t value)
{
	while (b->len % size)
		g_byte_array_append(b, (const guint8 *)"", 1);
	for (unsigned i = size; i-- > 0;) {
		uint8_t byte = (uint8_t)(value >> 8 * i);

		g_byte_array_append(b, &byte, 1);
	}
}

/* An event "good" that is `many`, with lists of 1 and 0 elements and a tail of n characters. */
static void put_event_of(GByteArray *b, uint32_t time, unsigned n)
{
	put(b, 4, 3);
	put(b, 4, time);
	put(b, 1, 9);
	put(b, 1, 200);
	g_byte_array_append(b, (const guint8 *)"four", 5);
	put(b, 4, 0x3f800000);
	put(b, 1, 1);
	put(b, 8, 11);
	put(b, 1, 0);
	while (b->len % 8)
		put(b, 1, 0);
	g_byte_array_append(b, (const guint8 *)"0123456", n);
	put(b, 1, 0);
}

static void put_event(GByteArray *b, uint32_t time)
{
	put_event_of(b, time, 7);
}

static void put_head(GByteArray *b)
{
	put(b, 4, PACKET_MAGIC);
	put(b, 4, 1);
	put(b, 8, 100);
	put(b, 8, 900);
	put(b, 8, 0); /* sizes: filled in by end_packet() */
	put(b, 8, 0);
	put(b, 8, 6);
	put(b, 8, 2);
}

static void end_packet(const struct layout *l, GByteArray *b)
{
	struct packet_head head;

	ck_assert_int_eq(packet_read_head(l, b->data, b->len, &head), LT_OK);
	packet_set(&head, b->data, PACKET_CONTENT_SIZE, 8 * (uint64_t)b->len);
	packet_set(&head, b->data, PACKET_PACKET_SIZE, 8 * (uint64_t)b->len);
}

START_TEST(test_layout)
{
	struct layout *l = small_layout();
	const struct layout_stream *s = layout_find_stream(l, 1);

	ck_assert_int_eq(l->order, BITS_BIG);
	ck_assert(l->has_uuid && l->uuid[0] == 0x00 && l->uuid[15] == 0xff);
	ck_assert_str_eq(layout_env(l, "hostname"), "a \"host\"");
	ck_assert_ptr_null(layout_env(l, "tracer_major"));
	ck_assert_uint_eq(l->n_unknown, 2);
	ck_assert(layout_find_event(s, 3)->is_known);
	ck_assert(!layout_find_event(s, 4)->is_known);
	ck_assert(!layout_find_event(s, 5)->is_known);
	ck_assert_uint_eq(s->align, 64);
	ck_assert_uint_eq(layout_to_ns(l, 250), UINT64_C(7750000000));
	ck_assert_uint_eq(layout_from_ns(l, UINT64_C(7750000000)), 250);
	layout_destroy(l);
}
END_TEST

/*
 * 5 bits of ID, 27 of time: if the low bits went down, the time is in the next 2^27; ID 31 is followed by the full ID
 * and time.
 */
START_TEST(test_compact_header)
{
	static const char metadata[] =
		"typealias integer { size = 5; align = 1; signed = false; } := uint5_t;\n"
		"typealias integer { size = 27; align = 1; signed = false; map = clock.c.value; } := uint27_t;\n"
		"trace { byte_order = le; };\nclock { name = c; };\n"
		"struct event_header_compact { enum : uint5_t { compact = 0 ... 30, extended = 31 } id;\n"
		"  variant <id> { struct { uint27_t timestamp; } compact;\n"
		"    struct { integer { size = 32; align = 8; signed = 0; } id;\n"
		"      integer { size = 64; align = 8; signed = 0; map = clock.c.value; } timestamp; } extended; } v;\n"
		"} align(8);\n"
		"stream { event.header := struct event_header_compact; };\n"
		"event { id = 3; fields := struct { integer { size = 8; align = 8; signed = 0; } x; }; };\n"
		"event { id = 40; fields := struct { string s; }; };\n";
	static const uint8_t data[] = {
		0x03, 0x02, 0, 0, 9,                                            /* ID 3, low bits 16 */
		31,   40,   0, 0, 0, 0x05, 0, 0, 0, 0, 0, 0, 0x80, 'o', 'k', 0, /* ID 40, 2^63 + 5 */
		0x83, 0,    0, 0, 9,                                            /* ID 3, low bits 4 */
	};
	static const struct {
		uint64_t id, clock, end;
	} events[] = {
		{ 3, (UINT64_C(5) << 27) + 16, 5 },
		{ 40, (UINT64_C(1) << 63) + 5, 21 },
		{ 3, (UINT64_C(1) << 63) + (1 << 27) + 4, 26 },
	};
	const struct layout_event *event;
	struct layout *l;
	struct walk w;

	ck_assert_msg(layout_parse(metadata, &l) == LT_OK, "%s", error_text());
	ck_assert_uint_eq(l->n_unknown, 0);
	walk_init(&w, l, data, 8 * sizeof(data));
	w.clock = (UINT64_C(4) << 27) + 17;
	for (size_t i = 0; i < G_N_ELEMENTS(events); i++) {
		ck_assert(walk_event(&w, layout_find_stream(l, 0), &event));
		ck_assert_uint_eq(event->id, events[i].id);
		ck_assert_uint_eq(w.clock, events[i].clock);
		ck_assert_uint_eq(w.at, 8 * events[i].end);
	}
	ck_assert(!walk_event(&w, layout_find_stream(l, 0), &event));
	walk_release(&w);
	layout_destroy(l);
}
END_TEST

START_TEST(test_clock_text)
{
	struct layout *l = small_layout(), *shifted;
	char *text = layout_edit_text(l, small_metadata, 5000000000, NULL), *bare;

	ck_assert_int_eq(layout_parse(text, &shifted), LT_OK);
	ck_assert_uint_eq(layout_to_ns(shifted, 250), UINT64_C(12750000000));
	ck_assert_str_eq(layout_env(shifted, "hostname"), layout_env(l, "hostname"));
	layout_destroy(shifted);
	g_free(text);
	layout_destroy(l);

	bare = g_strdup("clock { name = c; };\nstream { };\n");
	ck_assert_int_eq(layout_parse(bare, &l), LT_OK);
	text = layout_edit_text(l, bare, 42, NULL);
	ck_assert_int_eq(layout_parse(text, &shifted), LT_OK);
	ck_assert_uint_eq(layout_to_ns(shifted, 0), 42);
	layout_destroy(shifted);
	layout_destroy(l);
	g_free(text);
	g_free(bare);
}
END_TEST

/*
 * Another hostname: replaces the old one, or is added to an env without one, or with a new env; all else is unchanged.
 */
START_TEST(test_hostname_text)
{
	static const char *const others[] = { "env { domain = \"kernel\"; };\nstream { };\n", "stream { };\n" };
	struct layout *l = small_layout(), *edited;
	char *text = layout_edit_text(l, small_metadata, 0, "other.example");

	ck_assert_int_eq(layout_parse(text, &edited), LT_OK);
	ck_assert_str_eq(layout_env(edited, "hostname"), "other.example");
	ck_assert_uint_eq(layout_to_ns(edited, 250), layout_to_ns(l, 250));
	layout_destroy(edited);
	g_free(text);
	text = layout_edit_text(l, small_metadata, 0, NULL);
	ck_assert_str_eq(text, small_metadata);
	layout_destroy(l);
	g_free(text);
	for (unsigned i = 0; i < G_N_ELEMENTS(others); i++) {
		ck_assert_int_eq(layout_parse(others[i], &l), LT_OK);
		text = layout_edit_text(l, others[i], 0, "db");
		ck_assert_int_eq(layout_parse(text, &edited), LT_OK);
		ck_assert_str_eq(layout_env(edited, "hostname"), "db");
		ck_assert(!layout_env(edited, "domain") == !layout_env(l, "domain"));
		layout_destroy(edited);
		layout_destroy(l);
		g_free(text);
	}
}
END_TEST

/* Events have the length that their contents give, and cuts preserve every alignment. */
START_TEST(test_small_packet)
{
	struct layout *l = small_layout();
	GByteArray *b = g_byte_array_new();
	struct cut_piece piece;
	enum cut_outcome outcome = CUT_SILENT;
	unsigned events = 0, held = 0;
	struct sum whole, cut;
	struct cutter c;

	put_head(b);
	for (uint32_t i = 0; i < 8; i++)
		put_event_of(b, 100 + 100 * i, 7 - i % 3 * 3);
	end_packet(l, b);
	cutter_init(&c, l);
	sum_init(&whole);
	sum_init(&cut);
	sum_add(&whole, l, b->data, b->len);
	ck_assert_uint_eq(whole.times->len, 8);
	ck_assert_msg(cutter_begin(&c, b->data, b->len) == LT_OK, "%s", error_text());
	for (uint64_t limit = 50; limit < 1200; limit += 50) {
		while ((outcome = cutter_take(&c, limit, &piece)) == CUT_PIECE) {
			ck_assert_uint_ge(limit, piece.end);
			events += piece.events;
			sum_add(&cut, l, piece.data, piece.size);
		}
		held += outcome == CUT_HELD;
	}
	ck_assert_uint_eq(events, 8);
	ck_assert_uint_gt(cut.packets, 4);
	ck_assert_uint_gt(held, 0);
	ck_assert_uint_eq(cut.last_end, 900);
	ck_assert(!memcmp(cut.times->data, whole.times->data, 8 * sizeof(uint64_t)));
	sum_release(&whole);
	sum_release(&cut);
	cutter_release(&c);
	g_byte_array_free(b, TRUE);
	layout_destroy(l);
}
END_TEST

START_TEST(test_packet_not_understood)
{
	struct layout *l = small_layout();
	GByteArray *b = g_byte_array_new();
	struct cut_piece piece;
	struct cutter c;

	put_head(b);
	put_event(b, 200);
	put(b, 4, 4);
	put(b, 4, 300);
	end_packet(l, b);
	cutter_init(&c, l);
	ck_assert_int_eq(cutter_begin(&c, b->data, b->len), LT_AGAIN);
	ck_assert_str_eq(error_text(), "event 1 at byte 104 cannot be decoded");
	ck_assert_int_eq(cutter_take(&c, 500, &piece), CUT_HELD);
	ck_assert_int_eq(cutter_take(&c, 900, &piece), CUT_PIECE);
	ck_assert_uint_eq(piece.size, b->len);
	ck_assert(!memcmp(piece.data, b->data, b->len));
	ck_assert_int_eq(cutter_take(&c, 900, &piece), CUT_DONE);
	cutter_release(&c);
	g_byte_array_free(b, TRUE);
	layout_destroy(l);
}
END_TEST

/* A file that ends within a packet: the complete events remain. */
START_TEST(test_packet_cut_off)
{
	struct layout *l = small_layout();
	GByteArray *b = g_byte_array_new();
	struct cut_piece piece;
	struct cutter c;
	size_t one;

	put_head(b);
	put_event(b, 200);
	one = b->len;
	put_event(b, 300);
	end_packet(l, b);
	cutter_init(&c, l);
	ck_assert_int_eq(cutter_begin(&c, b->data, b->len - 1), LT_END);
	ck_assert_int_eq(cutter_take(&c, UINT64_MAX, &piece), CUT_PIECE);
	ck_assert_uint_eq(piece.events, 1);
	ck_assert_uint_eq(piece.size, one);
	ck_assert_int_eq(cutter_begin(&c, b->data, 20), LT_ERROR);
	ck_assert_int_eq(cutter_take(&c, UINT64_MAX, &piece), CUT_DONE);
	cutter_release(&c);
	g_byte_array_free(b, TRUE);
	layout_destroy(l);
}
END_TEST

/* ---- robustness ---- */

/* Whether the metadata is taken; if not, it is said why. */
static bool is_taken(const char *text)
{
	struct layout *l;

	error_clear();
	if (layout_parse(text, &l) == LT_OK) {
		layout_destroy(l);
		return true;
	}
	ck_assert_str_ne(error_text(), "");
	return false;
}

START_TEST(test_damaged_metadata)
{
	const size_t len = strlen(small_metadata);
	unsigned refused = 0;

	ck_assert(is_taken(small_metadata));
	for (size_t i = 0; i < len; i++) {
		char *text = g_strndup(small_metadata, i);

		refused += !is_taken(text);
		g_free(text);
		text = g_strdup(small_metadata);
		for (unsigned k = 0; k < 6; k++) {
			text[i] = "{};<0\""[k];
			refused += !is_taken(text);
		}
		g_free(text);
	}
	ck_assert_uint_gt(refused, len);
}
END_TEST

/* A few lines that describe more fields than the limit on atoms. */
START_TEST(test_endless_types)
{
	GString *text = g_string_new("struct s0 { string a; };\n");
	struct layout *l;

	for (unsigned i = 1; i < 200; i++)
		g_string_append_printf(text, "struct s%u { struct s%u a; struct s%u b; };\n", i, i - 1, i - 1);
	g_string_append(text, "stream { }; event { name = \"e\"; id = 0; fields := struct s199; };\n");
	ck_assert_int_eq(layout_parse(text->str, &l), LT_OK);
	ck_assert_uint_eq(l->n_unknown, 1);
	layout_destroy(l);
	g_string_free(text, TRUE);
}
END_TEST

START_TEST(test_damaged_packets)
{
	struct layout *l = small_layout();
	GByteArray *b = g_byte_array_new();
	struct cut_piece piece;
	struct cutter c;

	put_head(b);
	for (uint32_t i = 0; i < 3; i++)
		put_event(b, 200 + i);
	end_packet(l, b);
	cutter_init(&c, l);
	for (size_t i = 0; i < b->len; i++) {
		for (unsigned k = 0; k < 3; k++) {
			uint8_t *data = g_memdup2(b->data, b->len);

			data[i] ^= (uint8_t) "\xff\x01\x80"[k];
			if (cutter_begin(&c, data, b->len) != LT_ERROR)
				for (uint64_t limit = 0; limit < 1000; limit += 100)
					while (cutter_take(&c, limit, &piece) == CUT_PIECE)
						ck_assert_uint_le(piece.size, b->len);
			g_free(data);
		}
	}
	cutter_release(&c);
	g_byte_array_free(b, TRUE);
	layout_destroy(l);
}
END_TEST

START_TEST(test_bits)
{
	uint8_t data[32], expected[32];

	for (unsigned order = BITS_LITTLE; order <= BITS_BIG; order++) {
		for (unsigned at = 0; at < 70; at++) {
			for (unsigned size = 1; size <= 64; size++) {
				const uint64_t value = UINT64_C(0xa5c3f00d12345678) >> (64 - size);

				memset(data, 0x5a, sizeof(data));
				bits_write(data, at, size, order, value);
				ck_assert_uint_eq(bits_read(data, at, size, order), value);
				memset(expected, 0x5a, sizeof(expected));
				bits_write(data, at, size, order, bits_read(expected, at, size, order));
				ck_assert(!memcmp(data, expected, sizeof(data)));
			}
		}
	}
	ck_assert_uint_eq(bits_read((const uint8_t *)"\x12\x34\x56\x78", 8, 16, BITS_LITTLE), 0x5634);
	ck_assert_uint_eq(bits_read((const uint8_t *)"\x12\x34\x56\x78", 4, 16, BITS_BIG), 0x2345);
}
END_TEST

START_TEST(test_names)
{
	ck_assert(feed_plan_is_name("web-1.example", true));
	ck_assert(!feed_plan_is_name("", true));
	ck_assert(!feed_plan_is_name("a/b", false));
	ck_assert(!feed_plan_is_name("..", false));
	ck_assert(!feed_plan_is_name("a b", false));
	ck_assert(!feed_plan_is_name("0123456789012345678901234567890123456789012345678901234567890123", true));
}
END_TEST

/* The same recording twice gives two sessions with different names. */
START_TEST(test_plan)
{
	GPtrArray *specs = find("kprobe"), *more = find("kprobe");
	const struct fed_session *a, *b;
	struct feed_plan p;

	if (!specs || !more) {
		printf("skip test_plan: no recording kprobe\n");
		return;
	}
	g_ptr_array_add(specs, g_ptr_array_index(more, 0));
	ck_assert_int_eq(feed_plan_make(&p, specs, NULL, NULL), LT_OK);
	ck_assert_uint_eq(p.sessions->len, 2);
	a = g_ptr_array_index(p.sessions, 0);
	b = g_ptr_array_index(p.sessions, 1);
	ck_assert_str_eq(a->hostname, "client");
	ck_assert_str_eq(a->name, "kprobe");
	ck_assert_str_eq(b->name, "kprobe-2");
	ck_assert_uint_lt(fed_session_begin_ns(a), fed_session_end_ns(a));
	feed_plan_release(&p);
	g_ptr_array_free(specs, TRUE);
	g_ptr_array_set_free_func(more, NULL);
	g_ptr_array_free(more, TRUE);
}
END_TEST

/* The text in which a host's sources are listed may be ambiguous, but no source is missed. */
START_TEST(test_sources_of_a_host)
{
	static struct {
		char source[24];
		const char *path;
		bool comes;
	} cases[] = {
		{ "/a", "/a", true },
		{ "/a", "/a/kernel", true },
		{ "/a/kernel", "/a", false },
		{ "/a", "/ab", false },
		{ "/x, /a, /y", "/a/kernel", true },
		{ "/x, /a, /y", "/y", true },
		{ "/x, /a, /y", "/z", false },
		{ "/runs, old", "/runs, old/kernel", true },
		{ "/x, /a, b, c, /y", "/a, b, c", true },
		{ "/x, /a, b, c, /y", "/a, b, c, d", false },
		{ "", "/a", false },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		const struct ingest_host host = { .source = cases[i].source };

		ck_assert_msg(feed_comes_from(&host, cases[i].path) == cases[i].comes, "'%s' from '%s'", cases[i].path,
			      cases[i].source);
	}
}
END_TEST

UNIT_MAIN("feed", test_all_events_are_found, test_pieces_are_the_packets, test_layout, test_compact_header,
	  test_clock_text, test_hostname_text, test_small_packet, test_packet_not_understood, test_packet_cut_off,
	  test_damaged_metadata, test_endless_types, test_damaged_packets, test_bits, test_names, test_plan,
	  test_sources_of_a_host)
