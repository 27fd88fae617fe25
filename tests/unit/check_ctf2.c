/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/error.h"
#include "ctf/packet.h"
#include "unit.h"

/* CTF 2 metadata: fragments and field classes; the layout must be the same as from CTF 1.8 for the same trace. */

/* Metadata is written with ' for ", one fragment per line; each gets its record separator. */
static char *fragments(const char *text)
{
	GString *out = g_string_new(NULL);

	for (const char *p = text; *p; p++) {
		if (p == text || p[-1] == '\n')
			g_string_append_c(out, 0x1e);
		g_string_append_c(out, *p == '\'' ? '"' : *p);
	}
	return g_string_free(out, FALSE);
}

/* Metadata is indented as it is nested. */
/* clang-format off */

#define PREAMBLE "{'type':'preamble','version':2}\n"
#define STREAM "{'type':'data-stream-class'}\n"
#define U8 "{'type':'fixed-length-unsigned-integer','length':8,'alignment':8,'byte-order':'little-endian'}"
#define MEMBER(name, class) "{'name':'" name "','field-class':" class "}"
#define STRUCT(members) "{'type':'structure','member-classes':[" members "]}"
#define PAYLOAD(class) "{'type':'event-record-class','name':'e','payload-field-class':" class "}\n"

static struct layout *parse(const char *text)
{
	char *metadata = fragments(text);
	struct layout *l;

	ck_assert_msg(layout_parse(metadata, &l) == LT_OK, "%s", error_text());
	g_free(metadata);
	return l;
}

/* ---- both front ends ---- */

static const char tsdl[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"typealias integer { size = 64; align = 8; map = clock.monotonic.value; } := stamp_t;\n"
	"typealias integer { size = 27; align = 1; map = clock.monotonic.value; } := stamp27_t;\n"
	"typealias integer { size = 5; align = 1; } := uint5_t;\n"
	"trace { major = 1; minor = 8; byte_order = le; uuid = \"00112233-4455-6677-8899-aabbccddeeff\";\n"
	"  packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id;\n"
	"    uint64_t stream_instance_id; }; };\n"
	"env { hostname = \"a\\\"b\"; tracer_major = 2; big = 18446744073709551615; };\n"
	"clock { name = monotonic; uuid = \"u-u\"; freq = 1000; offset_s = -7; offset = 500; };\n"
	"stream { id = 3;\n"
	"  packet.context := struct { stamp_t timestamp_begin; stamp_t timestamp_end; uint64_t content_size;\n"
	"    uint64_t packet_size; uint64_t packet_seq_num; uint64_t events_discarded; uint32_t cpu_id; };\n"
	"  event.header := struct { enum : uint5_t { compact = 0 ... 30, extended = 31 } id;\n"
	"    variant <id> { struct { stamp27_t timestamp; } compact;\n"
	"      struct { uint32_t id; stamp_t timestamp; } extended; } v; } align(8);\n"
	"  event.context := struct { integer { size = 32; align = 8; signed = 1; } _tid;\n"
	"    integer { size = 8; align = 8; encoding = UTF8; } _procname[16]; };\n"
	"};\n"
	"event { name = \"sub:e\"; id = 7; stream_id = 3;\n"
	"  context := struct { uint8_t _where; };\n"
	"  fields := struct {\n"
	"    enum : integer { size = 16; align = 8; signed = 1; byte_order = be; }\n"
	"      { \"_x y\" = -5 ... -1, _z = 0, _z = 4 ... 5 } _kind;\n"
	"    struct { uint8_t _n; struct { uint32_t _a; string _s; } align(64) _list[_n]; } _in;\n"
	"    floating_point { exp_dig = 11; mant_dig = 53; align = 64; } _f;\n"
	"    uint8_t _blob[5]; uint32_t _len; integer { size = 8; align = 8; encoding = UTF8; } _text[_len];\n"
	"    integer { size = 3; align = 1; byte_order = be; } _bits[4];\n"
	"  }; };\n";

#define U(bits, align, more)                                                                          \
	"{'type':'fixed-length-unsigned-integer','length':" #bits ",'alignment':" #align              \
	",'byte-order':'little-endian'" more "}"
#define ROLE(name) ",'roles':['" name "']"
#define STAMP(bits, align) U(bits, align, ROLE("default-clock-timestamp"))

static const char json[] =
	"{'type':'preamble','version':2,'uuid':[0,17,34,51,68,85,102,119,136,153,170,187,204,221,238,255]}\n"
	"{'type':'field-class-alias','name':'u32','field-class':" U(32, 8, "") "}\n"
	"{'type':'field-class-alias','name':'same','field-class':'u32'}\n"
	"{'type':'trace-class','uid':'x','environment':{'hostname':'a\\'b','tracer_major':2,"
	"'big':18446744073709551615},'packet-header-field-class':" STRUCT(
		MEMBER("magic", U(32, 8, ROLE("packet-magic-number"))) ","
		MEMBER("uuid", "{'type':'static-length-blob','length':16,'roles':['metadata-stream-uuid']}") ","
		MEMBER("stream_id", U(32, 8, ROLE("data-stream-class-id"))) ","
		MEMBER("stream_instance_id", U(64, 8, ROLE("data-stream-id")))) "}\n"
	"{'type':'clock-class','id':'monotonic','name':'other','uid':'u-u','frequency':1000,"
	"'offset-from-origin':{'seconds':-7,'cycles':500}}\n"
	"{'type':'data-stream-class','id':3,'default-clock-class-id':'monotonic','packet-context-field-class':" STRUCT(
		MEMBER("timestamp_begin", STAMP(64, 8)) ","
		MEMBER("timestamp_end", U(64, 8, ROLE("packet-end-default-clock-timestamp"))) ","
		MEMBER("content_size", U(64, 8, ROLE("packet-content-length"))) ","
		MEMBER("packet_size", U(64, 8, ROLE("packet-total-length"))) ","
		MEMBER("packet_seq_num", U(64, 8, ROLE("packet-sequence-number"))) ","
		MEMBER("events_discarded", U(64, 8, ROLE("discarded-event-record-counter-snapshot"))) ","
		MEMBER("cpu_id", "'same'"))
	",'event-record-header-field-class':{'type':'structure','minimum-alignment':8,'member-classes':["
		MEMBER("id", U(5, 1, ROLE("event-record-class-id")
			       ",'mappings':{'compact':[[0,30]],'extended':[[31,31]]}")) ","
		MEMBER("v", "{'type':'variant','selector-field-location':"
			    "{'origin':'event-record-header','path':['id']},"
			    "'options':[{'name':'compact','selector-field-ranges':[[0,30]],'field-class':"
			    STRUCT(MEMBER("timestamp", STAMP(27, 1))) "},"
			    "{'name':'extended','selector-field-ranges':[[31,31]],'field-class':"
			    STRUCT(MEMBER("id", U(32, 8, ROLE("event-record-class-id"))) ","
				   MEMBER("timestamp", STAMP(64, 8))) "}]}") "]}"
	",'event-record-common-context-field-class':" STRUCT(
		MEMBER("tid", "{'type':'fixed-length-signed-integer','length':32,'alignment':8,"
			      "'byte-order':'little-endian','preferred-display-base':10}") ","
		MEMBER("procname", "{'type':'static-length-string','length':16}")) "}\n"
	"{'type':'event-record-class','name':'sub:e','id':7,'data-stream-class-id':3,"
	"'attributes':{'lttng.org,2009':{'log-level':'debug'}},'specific-context-field-class':" STRUCT(
		MEMBER("where", U8))
	",'payload-field-class':" STRUCT(
		MEMBER("kind", "{'type':'fixed-length-signed-integer','length':16,'alignment':8,"
			       "'byte-order':'big-endian',"
			       "'mappings':{'_x y':[[-5,-1]],'_z':[[0,0],[4,5]]}}") ","
		MEMBER("in", STRUCT(
			MEMBER("n", U8) ","
			MEMBER("list", "{'type':'dynamic-length-array','length-field-location':{'path':['n']},"
				       "'element-field-class':{'type':'structure','minimum-alignment':64,"
				       "'member-classes':["
				       MEMBER("a", "'u32'") "," MEMBER("s", "{'type':'null-terminated-string'}")
				       "]}}"))) ","
		MEMBER("f", "{'type':'fixed-length-floating-point-number','length':64,'alignment':64,"
			    "'byte-order':'little-endian'}") ","
		MEMBER("blob", "{'type':'static-length-blob','length':5,'media-type':'x/y'}") ","
		MEMBER("len", "'u32'") ","
		MEMBER("text", "{'type':'dynamic-length-string','length-field-location':"
			       "{'origin':'event-record-payload','path':['len']}}") ","
		MEMBER("bits", "{'type':'static-length-array','length':4,'element-field-class':"
			       "{'type':'fixed-length-bit-array','length':3,'byte-order':'big-endian'}}")) "}\n";

static void same_type(const char *where, const struct type *a, const struct type *b)
{
	ck_assert_msg(!a == !b, "%s: only one has it", where);
	if (!a)
		return;
	ck_assert_msg(a->kind == b->kind && a->align == b->align && a->size == b->size,
		      "%s: kind, alignment, size", where);
	ck_assert_msg(a->is_signed == b->is_signed && a->is_clock == b->is_clock && a->is_text == b->is_text,
		      "%s: what it means", where);
	if (a->kind == TYPE_INTEGER || a->kind == TYPE_ENUM || a->kind == TYPE_FLOAT)
		ck_assert_msg(a->size % 8 || a->size == 8 || a->order == b->order, "%s: byte order", where);
	ck_assert_msg(g_strcmp0(a->clock_name, b->clock_name) == 0, "%s: clock", where);
	ck_assert_msg(a->slot == b->slot && a->length == b->length, "%s: length", where);
	ck_assert_msg(a->is_fixed == b->is_fixed && a->fixed_bits == b->fixed_bits && a->max_align == b->max_align,
		      "%s: measures", where);
	ck_assert_uint_eq(a->labels ? a->labels->len : 0, b->labels ? b->labels->len : 0);
	for (guint i = 0; a->labels && i < a->labels->len; i++) {
		const struct type_label *x = &g_array_index(a->labels, struct type_label, i),
					*y = &g_array_index(b->labels, struct type_label, i);

		ck_assert_str_eq(x->name, y->name);
		ck_assert_msg(x->first == y->first && x->last == y->last, "%s: label '%s'", where, x->name);
	}
	ck_assert_uint_eq(a->cases ? a->cases->len : 0, b->cases ? b->cases->len : 0);
	for (guint i = 0; a->cases && i < a->cases->len; i++) {
		const struct type_case *x = &g_array_index(a->cases, struct type_case, i),
				       *y = &g_array_index(b->cases, struct type_case, i);

		ck_assert_msg(x->first == y->first && x->last == y->last && x->field == y->field,
			      "%s: case %u", where, i);
		ck_assert_ptr_eq(x->type, type_field(a, x->field)->type);
		ck_assert_ptr_eq(y->type, type_field(b, y->field)->type);
	}
	ck_assert_uint_eq(a->fields ? a->fields->len : 0, b->fields ? b->fields->len : 0);
	for (guint i = 0; a->fields && i < a->fields->len; i++) {
		const struct type_field *x = type_field(a, i), *y = type_field(b, i);

		ck_assert_str_eq(x->name, y->name);
		ck_assert_msg(x->slot == y->slot, "%s: slot of '%s': %d, %d", where, x->name, x->slot, y->slot);
		same_type(x->name, x->type, y->type);
	}
	same_type(where, a->element, b->element);
}

static void same_roles(const struct type *a, const struct type *b)
{
	for (guint i = 0; i < a->fields->len; i++)
		ck_assert_msg(type_field(a, i)->role == type_field(b, i)->role, "role of '%s'", type_field(a, i)->name);
}

START_TEST(test_front_ends_agree)
{
	struct layout *a, *b = parse(json);
	const struct layout_stream *s, *t;
	const struct layout_event *d, *e;
	int64_t m = 0, n = 1;

	ck_assert_msg(layout_parse(tsdl, &a) == LT_OK, "%s", error_text());
	ck_assert_int_eq(a->format, LAYOUT_CTF_1_8);
	ck_assert_int_eq(b->format, LAYOUT_CTF_2);
	ck_assert(a->has_uuid && b->has_uuid && !memcmp(a->uuid, b->uuid, sizeof(a->uuid)));
	ck_assert_str_eq(layout_env(a, "hostname"), layout_env(b, "hostname"));
	ck_assert(layout_env_integer(a, "big", &m) && layout_env_integer(b, "big", &n) && m == -1 && n == -1);
	ck_assert(layout_env_integer(b, "tracer_major", &n) && n == 2);
	ck_assert_uint_eq(a->n_clocks, 1);
	ck_assert_uint_eq(b->n_clocks, 1);
	ck_assert_str_eq(a->clock->uuid, b->clock->uuid);
	ck_assert_uint_eq(layout_to_ns(a, 12345), layout_to_ns(b, 12345));
	ck_assert_uint_eq(layout_to_ns(a, 12345), UINT64_C(5845000000));
	ck_assert_uint_eq(a->n_unknown, 0);
	ck_assert_uint_eq(b->n_unknown, 0);
	ck_assert_uint_eq(a->n_slots, b->n_slots);
	s = layout_find_stream(a, 3);
	t = layout_find_stream(b, 3);
	ck_assert_uint_eq(s->align, t->align);
	same_type("header", a->packet_header, b->packet_header);
	same_type("packet context", s->packet_context, t->packet_context);
	same_type("event header", s->event_header, t->event_header);
	same_type("event context", s->event_context, t->event_context);
	same_roles(a->packet_header, b->packet_header);
	same_roles(s->packet_context, t->packet_context);
	d = layout_find_event(s, 7);
	e = layout_find_event(t, 7);
	ck_assert_str_eq(d->name, e->name);
	same_type("context", d->context, e->context);
	same_type("fields", d->fields, e->fields);
	layout_destroy(a);
	layout_destroy(b);
}
END_TEST

/* Packets belong to the trace only if they have the UUID of its metadata. */
START_TEST(test_packet_of_another_trace)
{
	uint8_t data[256] = {0xc1, 0x1f, 0xfc, 0xc1};
	struct packet_head head;
	struct layout *l = NULL;

	for (unsigned i = 0; i < 16; i++)
		data[4 + i] = (uint8_t)(0x11 * i);
	data[20] = 3; /* the stream ID */
	if (_i)
		l = parse(json);
	else
		ck_assert_msg(layout_parse(tsdl, &l) == LT_OK, "%s", error_text());
	ck_assert_msg(packet_read_head(l, data, sizeof(data), &head) == LT_OK, "%s", error_text());
	ck_assert(packet_has(&head, PACKET_UUID));
	for (unsigned i = 4; i < 20; i++) {
		data[i] ^= 1;
		ck_assert_int_eq(packet_read_head(l, data, sizeof(data), &head), LT_ERROR);
		ck_assert_str_eq(error_text(), "the packet belongs to another trace");
		data[i] ^= 1;
	}
	/* Kernel tracers 2.14 to 2.16 omit it in the empty packets of snapshots. */
	memset(data + 4, 0, 16);
	ck_assert_int_eq(packet_read_head(l, data, sizeof(data), &head), LT_OK);
	/* Metadata without a UUID has nothing to compare with. */
	l->has_uuid = false;
	data[4] ^= 1;
	ck_assert_int_eq(packet_read_head(l, data, sizeof(data), &head), LT_OK);
	layout_destroy(l);
}
END_TEST

/* ---- other clock offsets, another hostname ---- */

static void check_edit(const char *text, int64_t shift_ns, const char *hostname, const char *wanted)
{
	char *metadata = fragments(text), *edited;
	struct layout *l, *k;

	ck_assert_msg(layout_parse(metadata, &l) == LT_OK, "%s", error_text());
	edited = layout_edit_text(l, metadata, shift_ns, hostname);
	ck_assert_msg(layout_parse(edited, &k) == LT_OK, "%s", error_text());
	ck_assert_uint_eq(layout_to_ns(k, 100000), layout_to_ns(l, 100000) + (uint64_t)shift_ns);
	ck_assert(!k->clock || (k->clock->offset >= 0 && k->clock->offset < (int64_t)k->clock->freq));
	ck_assert_int_eq(g_strcmp0(layout_env(k, "hostname"), wanted), 0);
	ck_assert_uint_eq(k->events->len, l->events->len);
	if (!shift_ns && !hostname)
		ck_assert_str_eq(edited, metadata);
	layout_destroy(l);
	layout_destroy(k);
	g_free(metadata);
	g_free(edited);
}

START_TEST(test_edit)
{
#define CLOCK(more) "{'type':'clock-class','id':'c','frequency':1000" more "}\n"
#define STAMPED                                                                                          \
	"{'type':'data-stream-class','default-clock-class-id':'c','event-record-header-field-class':"    \
	STRUCT(MEMBER("t", STAMP(64, 8))) "}\n"
	static const char *const clocks[] = {CLOCK(""), CLOCK(",'offset-from-origin':{'seconds':5,'cycles':999}"),
					     CLOCK(",'offset-from-origin':{'seconds':-1}")};
	static const char *const traces[] = {"", "{'type':'trace-class'}\n",
					     "{'type':'trace-class','environment':{'domain':'ust'}}\n",
					     "{'type':'trace-class','environment':{'hostname':'old','n':1}}\n"};

	for (size_t i = 0; i < G_N_ELEMENTS(clocks); i++) {
		for (size_t k = 0; k < G_N_ELEMENTS(traces); k++) {
			char *text = g_strconcat(PREAMBLE, traces[k], clocks[i], STAMPED, PAYLOAD(STRUCT("")), NULL);

			check_edit(text, 0, NULL, k == 3 ? "old" : NULL);
			check_edit(text, 7000000, NULL, k == 3 ? "old" : NULL);
			check_edit(text, INT64_C(1700000000123000000), "new", "new");
			check_edit(text, 0, "new", "new");
			g_free(text);
		}
	}
	check_edit(json, -3000000, "other", "other");
}
END_TEST

/* ---- decoding types that CTF 1.8 does not have ---- */

/* The end of a value in the first event's fields, in bits; 0: not within these bytes. */
static uint64_t end_of(const struct layout *l, const uint8_t *data, size_t len)
{
	const struct layout_event *e = g_ptr_array_index(l->events, 0);
	struct walk w;
	uint64_t end;

	ck_assert_msg(e->is_known, "the event is not understood");
	walk_init(&w, l, data, 8 * (uint64_t)len);
	end = walk_type(&w, e->fields) ? w.at : 0;
	walk_release(&w);
	return end;
}

#define HERE(name) "{'path':['" name "']}"

START_TEST(test_optional)
{
	static const uint8_t bytes[] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct layout *l = parse(PREAMBLE STREAM PAYLOAD(STRUCT(
		MEMBER("is", "{'type':'fixed-length-boolean','length':8,'byte-order':'big-endian'}") ","
		MEMBER("it", "{'type':'optional','selector-field-location':" HERE("is")
			     ",'field-class':" U(16, 8, "") "}"))));

	ck_assert_uint_eq(end_of(l, bytes, 8), 8);
	ck_assert_uint_eq(end_of(l, bytes + 1, 7), 24);
	ck_assert_uint_eq(end_of(l, bytes + 1, 2), 0);
	layout_destroy(l);

	l = parse(PREAMBLE STREAM PAYLOAD(STRUCT(
		MEMBER("n", "{'type':'fixed-length-signed-integer','length':8,'byte-order':'big-endian'}") ","
		MEMBER("it", "{'type':'optional','selector-field-location':" HERE("n")
			     ",'selector-field-ranges':[[-1,-1],[3,5]],'field-class':" U(16, 8, "") "}"))));
	ck_assert_uint_eq(end_of(l, (const uint8_t[]){0xff, 0, 0}, 3), 24);
	ck_assert_uint_eq(end_of(l, (const uint8_t[]){0xfe, 0, 0}, 3), 8);
	ck_assert_uint_eq(end_of(l, bytes + 2, 3), 8);
	ck_assert_uint_eq(end_of(l, bytes + 3, 3), 24);
	layout_destroy(l);
}
END_TEST

/* A tag inside an option selected by another tag: one of two fields with that path. */
START_TEST(test_path_through_variant)
{
#define INNER(bits)                                                                                              \
	STRUCT(MEMBER("pad", U(bits, 1, "")) "," MEMBER("len", U8) ","                                           \
	       MEMBER("list", "{'type':'dynamic-length-blob','length-field-location':"                           \
			      "{'origin':'event-record-payload','path':['v','len']}}"))
	struct layout *l = parse(PREAMBLE STREAM PAYLOAD(STRUCT(
		MEMBER("tag", U8) ","
		MEMBER("v", "{'type':'variant','selector-field-location':" HERE("tag") ",'options':["
			    "{'selector-field-ranges':[[0,0]],'field-class':" INNER(8) "},"
			    "{'selector-field-ranges':[[1,255]],'field-class':" INNER(24) "}]}") ","
		MEMBER("after", "{'type':'dynamic-length-string','length-field-location':"
				"{'origin':'event-record-payload','path':['v','len']}}"))));

	ck_assert_uint_eq(end_of(l, (const uint8_t[]){0, 9, 2, 1, 1, 2, 2, 0, 0}, 9), 8 * 7);
	ck_assert_uint_eq(end_of(l, (const uint8_t[]){1, 9, 9, 9, 1, 1, 2, 2, 0}, 9), 8 * 7);
	ck_assert_uint_eq(end_of(l, (const uint8_t[]){1, 9, 9, 9, 2, 1, 2, 2}, 8), 0);
	layout_destroy(l);
}
END_TEST

/* null refers to the enclosing structure; an alias used twice has separate lengths. */
START_TEST(test_paths_and_aliases)
{
	struct layout *l = parse(
		PREAMBLE STREAM
		"{'type':'field-class-alias','name':'list','field-class':{'type':'dynamic-length-blob',"
		"'length-field-location':" HERE("n") "}}\n"
		PAYLOAD(STRUCT(
			MEMBER("n", U8) "," MEMBER("a", "'list'") ","
			MEMBER("in", STRUCT(
				MEMBER("n", U8) "," MEMBER("b", "'list'") ","
				MEMBER("c", "{'type':'dynamic-length-blob','length-field-location':"
					    "{'path':[null,'n']}}")))
			)));

	ck_assert_uint_eq(end_of(l, (const uint8_t[]){1, 9, 3, 9, 9, 9, 9, 0, 0}, 9), 8 * 7);
	layout_destroy(l);
}
END_TEST

/* Many elements of zero bits cost nothing; an event of zero bits ends decoding. */
START_TEST(test_nothing)
{
	static const uint8_t data[] = {0xff, 0xff, 0xff, 0x7f, 1};
	struct layout *l = parse(PREAMBLE STREAM PAYLOAD(STRUCT(
		MEMBER("n", U(16, 8, "")) ","
		MEMBER("nothing", "{'type':'dynamic-length-array','length-field-location':" HERE("n")
				  ",'element-field-class':" STRUCT("") "}"))));
	const struct layout_event *e;
	struct walk w;

	ck_assert_uint_eq(end_of(l, (const uint8_t[]){3, 0, 0}, 3), 16);
	ck_assert_uint_eq(end_of(l, data, sizeof(data)), 16);
	layout_destroy(l);
	l = parse(PREAMBLE STREAM "{'type':'event-record-class'}\n");
	walk_init(&w, l, data, 8 * sizeof(data));
	ck_assert(!walk_event(&w, layout_find_stream(l, 0), &e));
	walk_release(&w);
	layout_destroy(l);
}
END_TEST

/* ---- refusals ---- */

static const struct {
	const char *text, *reason;
} refused[] = {
	{STREAM, "line 1: the first fragment, and only that, must be the preamble"},
	{PREAMBLE PREAMBLE, "line 2: the first fragment, and only that, must be the preamble"},
	{"{'type':'preamble','version':3}\n", "line 1: preamble: version 3 of CTF is not supported"},
	{"{'type':'preamble','version':2,'uuid':[1,2]}\n", "'uuid' is not 16 bytes"},
	{"{'type':'preamble','version':2,'uuid':[256]}\n", "'uuid' is not 16 bytes"},
	{PREAMBLE, "no stream is described"},
	{PREAMBLE "{'type':3}\n" STREAM, "line 2: 'type' is not a string"},
	{PREAMBLE "{}\n" STREAM, "line 2: 'type' is missing"},
	{PREAMBLE "{'type':'later'}\n" STREAM, "line 2: unknown fragment 'later'"},
	{PREAMBLE "{'type':'trace-class','extensions':{}}\n", "trace-class: extensions are not supported"},
	{PREAMBLE "{'type':'trace-class'}\n{'type':'trace-class'}\n", "line 3: trace-class: defined twice"},
	{PREAMBLE "{'type':'trace-class','environment':{'x':[]}}\n", "'x' in 'environment' is neither"},
	{PREAMBLE "{'type':'trace-class','environment':1}\n", "'environment' is not an object"},
	{PREAMBLE "{'type':'clock-class'}\n", "clock-class: 'frequency' is missing"},
	{PREAMBLE "{'type':'clock-class','frequency':0}\n", "'frequency' is 0"},
	{PREAMBLE "{'type':'clock-class','frequency':-1}\n", "'frequency' is not between 0 and"},
	{PREAMBLE "{'type':'clock-class','frequency':99999999999999999999}\n" STREAM, "line 2: too big integer"},
	{PREAMBLE "{'type':'clock-class','frequency':1,'offset-from-origin':3}\n",
	 "'offset-from-origin' is not an object"},
	{PREAMBLE "{'type':'data-stream-class','default-clock-class-id':'c','event-record-header-field-class':"
		  STRUCT(MEMBER("t", STAMP(64, 8))) "}\n", "no clock 'c' is described"},
	{PREAMBLE "{'type':'data-stream-class','packet-context-field-class':" U8 "}\n", "is not a structure"},
	{PREAMBLE "{'type':'data-stream-class','packet-context-field-class':'u8'}\n", "unknown field class alias 'u8'"},
	{PREAMBLE "{'type':'field-class-alias','name':'a','field-class':'a'}\n"
		  "{'type':'data-stream-class','packet-context-field-class':'a'}\n", "nested too deeply"},
	{PREAMBLE "[1]\n" STREAM, "line 2: not an object"},
	{PREAMBLE "{'type':'data-stream-class'\n" STREAM, "line 3: "},
};

START_TEST(test_refused)
{
	char *metadata = fragments(refused[_i].text);
	struct layout *l;

	ck_assert_int_eq(layout_parse(metadata, &l), LT_ERROR);
	ck_assert_msg(strstr(error_text(), refused[_i].reason) != NULL, "'%s' is not in '%s'", refused[_i].reason,
		      error_text());
	error_clear();
	g_free(metadata);
}
END_TEST

#define INTEGER(more) "{'type':'fixed-length-unsigned-integer'" more "}"
#define LE ",'byte-order':'little-endian'"

/* In a stream's context the reason is reported; in an event the same fault makes the event unknown. */
static const struct {
	const char *class, *reason;
} refused_classes[] = {
	{"3", "'f': a field class is neither an object nor the name of an alias"},
	{"{}", "'type' is missing"},
	{"{'type':'variable-length-unsigned-integer'}",
	 "field class 'variable-length-unsigned-integer' is not supported"},
	{"{'type':'structure','extensions':{}}", "extensions is not supported"},
	{INTEGER(LE), "'length' is missing"},
	{INTEGER(",'length':0" LE), "'length' is 0"},
	{INTEGER(",'length':65" LE), "'length' is not between 0 and 64"},
	{INTEGER(",'length':-1" LE), "'length' is not between 0 and 64"},
	{INTEGER(",'length':18446744073709551615" LE), "'length' is not between 0 and 64"},
	{INTEGER(",'length':'8'" LE), "'length' is not an integer"},
	{INTEGER(",'length':8"), "'byte-order' is missing"},
	{INTEGER(",'length':8,'byte-order':'middle'"), "unknown byte order 'middle'"},
	{INTEGER(",'length':8,'bit-order':'last-to-first'" LE), "bit order 'last-to-first' of a little-endian field"},
	{INTEGER(",'length':8,'alignment':3" LE), "'alignment' is not a power of 2"},
	{INTEGER(",'length':8,'alignment':0" LE), "'alignment' is not a power of 2"},
	{INTEGER(",'length':8,'alignment':4294967296" LE), "'alignment' is not between"},
	{INTEGER(",'length':8,'roles':['nothing']" LE), "unknown role 'nothing'"},
	{INTEGER(",'length':8,'roles':[1]" LE), "a role is not a string"},
	{INTEGER(",'length':8,'roles':['packet-total-length','packet-content-length']" LE), "several roles"},
	{INTEGER(",'length':8,'mappings':{'x':[[1]]}" LE), "mapping 'x': a range is not two integers"},
	{INTEGER(",'length':8,'mappings':{'x':1}" LE), "mapping 'x' is not an array"},
	{"{'type':'fixed-length-floating-point-number','length':8192" LE "}", "'length' is not between"},
	{"{'type':'null-terminated-string','encoding':'utf-16le'}", "only 'utf-8' is supported"},
	{"{'type':'static-length-string','length':1,'encoding':'ebcdic'}", "unknown encoding 'ebcdic'"},
	{"{'type':'static-length-blob'}", "'length' is missing"},
	{"{'type':'dynamic-length-blob'}", "'length-field-location' is missing"},
	{"{'type':'dynamic-length-blob','length-field-location':{}}", "'path' is missing"},
	{"{'type':'dynamic-length-blob','length-field-location':{'origin':'here','path':['x']}}",
	 "unknown origin 'here'"},
	{"{'type':'dynamic-length-blob','length-field-location':{'path':[1]}}", "neither a name nor null"},
	{"{'type':'dynamic-length-blob','length-field-location':" HERE("x") "}", "'x' does not name a field"},
	{"{'type':'dynamic-length-blob','length-field-location':{'path':[]}}", "does not name a field"},
	{"{'type':'dynamic-length-blob','length-field-location':{'path':[null,'n']}}", "does not name a field"},
	{"{'type':'dynamic-length-blob','length-field-location':" HERE("s") "}", "'s' does not name an integer"},
	{"{'type':'dynamic-length-blob','length-field-location':{'origin':'event-record-payload','path':['n']}}",
	 "'n' does not name a field"},
	{"{'type':'static-length-array','length':2}", "'element-field-class' is missing"},
	{"{'type':'static-length-array','length':2,'element-field-class':7}", "element: a field class is neither"},
	{"{'type':'structure','member-classes':[1]}", "a member is not an object"},
	{"{'type':'structure','member-classes':[{'field-class':" U8 "}]}", "a member has no name"},
	{"{'type':'structure','member-classes':[{'name':'x'}]}", "'x': 'field-class' is missing"},
	{"{'type':'variant','selector-field-location':" HERE("n") "}", "'options' is missing"},
	{"{'type':'variant','selector-field-location':" HERE("n") ",'options':[{'field-class':" U8 "}]}",
	 "option 0: 'selector-field-ranges' is missing"},
};

START_TEST(test_refused_classes)
{
	char *class = g_strdup_printf(STRUCT(MEMBER("n", U8) "," MEMBER("s", "{'type':'null-terminated-string'}") ","
					     MEMBER("f", "%s")), refused_classes[_i].class);
	char *stream = g_strdup_printf(PREAMBLE "{'type':'data-stream-class','packet-context-field-class':%s}\n",
				       class);
	char *event = g_strdup_printf(PREAMBLE STREAM "{'type':'event-record-class','id':1}\n"
				      "{'type':'event-record-class','id':2,'payload-field-class':%s}\n", class);
	char *metadata = fragments(stream);
	struct layout *l;

	ck_assert_int_eq(layout_parse(metadata, &l), LT_ERROR);
	ck_assert_msg(strstr(error_text(), refused_classes[_i].reason) != NULL, "'%s' is not in '%s'",
		      refused_classes[_i].reason, error_text());
	error_clear();
	if (!strstr(class, "roles") && !strstr(class, "event-record-payload")) {
		l = parse(event);
		ck_assert_uint_eq(l->n_unknown, 1);
		ck_assert(layout_find_event(layout_find_stream(l, 0), 1)->is_known);
		ck_assert(!layout_find_event(layout_find_stream(l, 0), 2)->is_known);
		layout_destroy(l);
	}
	g_free(metadata);
	g_free(class);
	g_free(stream);
	g_free(event);
}
END_TEST

/* A recording may end within its last fragment. */
START_TEST(test_cut_off)
{
	struct layout *l = parse(PREAMBLE STREAM "{'type':'event-record-class','id':1}\n{'type':'event-rec");

	ck_assert_uint_eq(l->n_unknown, 1);
	ck_assert_ptr_nonnull(layout_find_event(layout_find_stream(l, 0), 1));
	layout_destroy(l);
}
END_TEST

/* Forty aliases, each twice as large as the one before. */
START_TEST(test_aliases_that_grow)
{
	GString *text = g_string_new(PREAMBLE "{'type':'field-class-alias','name':'a0','field-class':" U8 "}\n");
	struct layout *l;
	char *metadata;

	for (unsigned i = 0; i < 40; i++)
		g_string_append_printf(text, "{'type':'field-class-alias','name':'a%u','field-class':"
				       STRUCT(MEMBER("x", "'a%u'") "," MEMBER("y", "'a%u'")) "}\n", i + 1, i, i);
	g_string_append(text, "{'type':'data-stream-class','packet-context-field-class':'a40'}\n");
	metadata = fragments(text->str);
	ck_assert_int_eq(layout_parse(metadata, &l), LT_ERROR);
	ck_assert_msg(strstr(error_text(), "too many field classes"), "%s",
		      error_text());
	g_free(metadata);
	g_string_free(text, TRUE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ctf2");

	unit_add(suite, test_front_ends_agree, 1);
	unit_add(suite, test_packet_of_another_trace, 2);
	unit_add(suite, test_edit, 1);
	unit_add(suite, test_optional, 1);
	unit_add(suite, test_path_through_variant, 1);
	unit_add(suite, test_paths_and_aliases, 1);
	unit_add(suite, test_nothing, 1);
	unit_add(suite, test_refused, G_N_ELEMENTS(refused));
	unit_add(suite, test_refused_classes, G_N_ELEMENTS(refused_classes));
	unit_add(suite, test_cut_off, 1);
	unit_add(suite, test_aliases_that_grow, 1);
	return unit_end(suite);
}
