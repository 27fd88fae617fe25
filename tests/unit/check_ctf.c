/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/error.h"
#include "ctf/identity.h"
#include "ctf/layout.h"
#include "ctf/packet.h"
#include "unit.h"

/* Parses CTF 1.8 metadata. */

static struct layout *parse(const char *text)
{
	struct layout *l;

	ck_assert_msg(layout_parse(text, &l) == LT_OK, "%s", error_text());
	return l;
}

/* Statements end with ';', which is optional after blocks; what one declares, later ones can use. */
START_TEST(test_statements)
{
	struct layout *l = parse(";;stream { id = 1; }\nenv { a = \"}; {\"; } callsite { x = { ; }; }\n"
				 "typealias integer { size = 8; } := odd; event { id = 1; stream_id = 1; name = \"x\"; "
				 "fields := struct { odd _y; }; };\nevent { id = 2; fields := ; { }; };\n"
				 "event { id = 3; stream_id = 1; name = \"z\"; }");

	ck_assert_str_eq(g_hash_table_lookup(l->env, "a"), "}; {");
	ck_assert_uint_eq(l->events->len, 3);
	for (guint i = 0; i < l->events->len; i++) {
		const struct layout_event *e = g_ptr_array_index(l->events, i);

		ck_assert_uint_eq(e->id, i + 1);
		ck_assert_int_eq(e->is_known, i != 1);
		ck_assert_str_eq(e->name ? e->name : "", i == 0 ? "x" : i == 2 ? "z" : "");
	}
	ck_assert_uint_eq(type_field(((struct layout_event *)g_ptr_array_index(l->events, 0))->fields, 0)->type->size,
			  8);
	layout_destroy(l);
}
END_TEST

/* Fields whose numbers are described alike share a type; a difference in any property makes another one. */
START_TEST(test_shared_numbers)
{
	static const char *const others[] = {
		"size = 16; align = 8; signed = 0; base = 10; encoding = none;",
		"size = 8; align = 16; signed = 0; base = 10; encoding = none;",
		"size = 8; align = 8; signed = 1; base = 10; encoding = none;",
		"size = 8; align = 8; signed = 0; base = 16; encoding = none;",
		"size = 8; align = 8; signed = 0; base = 10; encoding = UTF8;",
		"size = 8; align = 8; signed = 0; base = 10; encoding = none; byte_order = be;",
		"size = 8; align = 8; signed = 0; base = 10; encoding = none; map = clock.m.value;",
	};
	GString *text = g_string_new("clock { name = m; }; stream { id = 1; };\n");
	const struct type *first = NULL;
	struct layout *l;

	for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
		g_string_append_printf(
			text,
			"event { id = %zu; stream_id = 1; name = \"x\"; fields := struct {\n"
			"integer { size = 8; align = 8; signed = 0; base = 10; encoding = none; } a, b;\n"
			"integer { %s } c; integer { size = 8; align = 8; base = 10; } d; }; };\n",
			i, others[i]);
	l = parse(text->str);
	ck_assert_uint_eq(l->events->len, G_N_ELEMENTS(others));
	for (guint i = 0; i < l->events->len; i++) {
		const struct type *t = ((struct layout_event *)g_ptr_array_index(l->events, i))->fields;

		first = first ? first : type_field(t, 0)->type;
		ck_assert_ptr_eq(type_field(t, 0)->type, first);
		ck_assert_ptr_eq(type_field(t, 1)->type, first);
		ck_assert_ptr_ne(type_field(t, 2)->type, first);
		ck_assert_ptr_eq(type_field(t, 3)->type, first);
	}
	layout_destroy(l);
	g_string_free(text, TRUE);
}
END_TEST

/* Expects a refusal with this reason. */
static void refuse(const char *text, const char *reason)
{
	struct layout *l;

	ck_assert_int_eq(layout_parse(text, &l), LT_ERROR);
	ck_assert_msg(strstr(error_text(), reason) != NULL, "'%s' is not in '%s'", reason, error_text());
	error_clear();
}

#define INTEGERS                                                                     \
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"   \
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n" \
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"

/* More declarations than are remembered, each in the same letters again, broken over lines, and cut off at the end. */
START_TEST(test_repeated_numbers)
{
	enum { SIZES = 64, TIMES = 3 };
	GString *text = g_string_new("stream { id = 1; };\n");
	struct layout *l;
	gsize whole;

	for (unsigned i = 0; i < SIZES * TIMES; i++)
		g_string_append_printf(
			text,
			"event { id = %u; name = \"x\"; fields := struct { integer { size = %u; signed = %d; } a;"
			" floating_point { exp_dig = 8; mant_dig = %u; } b;\n"
			" integer { size = %u;\n signed = 1; /* in two lines */ } c; }; };\n",
			i, 1 + i % SIZES, i % SIZES > 9, 24 + i % SIZES, 1 + i % SIZES);
	l = parse(text->str);
	ck_assert_uint_eq(l->n_unknown, 0);
	for (guint i = 0; i < l->events->len; i++) {
		const struct layout_event *e = g_ptr_array_index(l->events, i);
		const struct type *a = type_field(e->fields, 0)->type, *b = type_field(e->fields, 1)->type,
				  *c = type_field(e->fields, 2)->type;

		ck_assert(a->kind == TYPE_INTEGER && a->size == 1 + i % SIZES && a->is_signed == (i % SIZES > 9));
		ck_assert(b->kind == TYPE_FLOAT && b->size == 32 + i % SIZES);
		ck_assert(c->kind == TYPE_INTEGER && c->size == 1 + i % SIZES && c->is_signed);
	}
	layout_destroy(l);
	whole = text->len;
	g_string_append(text, "env { a = 1; };\nenv { b = 2; };\ntypealias nothing := c;\n");
	refuse(text->str, "line 580: an unknown type at 'nothing'");
	g_string_truncate(text, whole);
	g_string_append(text, "typealias integer { size = 1; signed = ");
	refuse(text->str, "line 578:");
	g_string_free(text, TRUE);
}
END_TEST

START_TEST(test_environment)
{
	struct layout *l = parse("env { hostname = \"a\\tb\\\\c\\\"d\\x41\\102\\0e\"; tracer_major = 2; vpid = -7; };\n"
				 "stream { };\n");
	int64_t value = 1;

	ck_assert_str_eq(layout_env(l, "hostname"), "a\tb\\c\"dABe");
	ck_assert_ptr_null(layout_env(l, "tracer_major"));
	ck_assert(layout_env_integer(l, "tracer_major", &value) && value == 2);
	ck_assert(layout_env_integer(l, "vpid", &value) && value == -7);
	ck_assert(!layout_env_integer(l, "hostname", &value) && value == -7);
	layout_destroy(l);
}
END_TEST

static const struct type_field *field_of(const struct type *t, const char *name)
{
	const struct type_field *f = type_find_field(t, name, G_MAXUINT);

	ck_assert_msg(f != NULL, "no field '%s'", name);
	return f;
}

START_TEST(test_names_and_texts)
{
	struct layout *l =
		parse(INTEGERS "stream { };\n"
			       "event { name = \"a:\\\"b\\\"\"; id = 0; fields := struct {\n"
			       "  integer { size = 8; align = 8; encoding = UTF8; } _comm[16];\n"
			       "  integer { size = 8; align = 8; encoding = none; } _bytes[16];\n"
			       "  integer { size = 16; align = 8; encoding = UTF8; } _wide[16];\n"
			       "  uint8_t __len; integer { size = 8; align = 8; encoding = ASCII; } _text[__len];\n"
			       "  uint8_t _list[ event.fields.__len ];\n"
			       "  integer { size = 8; align = 8; encoding = UTF8; } _lines[2][16];\n"
			       "}; };\n");
	const struct layout_event *e = layout_find_event(layout_find_stream(l, 0), 0);

	ck_assert_str_eq(e->name, "a:\"b\"");
	ck_assert(e->is_known);
	ck_assert(field_of(e->fields, "comm")->type->is_text);
	ck_assert(!field_of(e->fields, "bytes")->type->is_text);
	ck_assert(!field_of(e->fields, "wide")->type->is_text);
	ck_assert(field_of(e->fields, "text")->type->is_text);
	ck_assert(!field_of(e->fields, "lines")->type->is_text);
	ck_assert(field_of(e->fields, "lines")->type->element->is_text);
	ck_assert_int_ge(field_of(e->fields, "_len")->slot, 0);
	ck_assert_int_eq(field_of(e->fields, "list")->type->slot, field_of(e->fields, "_len")->slot);
	layout_destroy(l);
}
END_TEST

START_TEST(test_packet_roles)
{
	static const uint8_t data[] = { 0xc1, 0x1f, 0xfc, 0xc1, 5, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0 };
	struct layout *l =
		parse(INTEGERS
		      "trace { byte_order = le; packet.header := struct { uint32_t magic; uint8_t stream_id; }; };\n"
		      "stream { id = 5; packet.context := struct { uint64_t timestamp_begin; uint32_t cpu_id; }; };\n"
		      "event { id = 0; fields := struct { uint8_t cpu_id; }; };\n");
	struct packet_head head;

	ck_assert_int_eq(packet_read_head(l, data, sizeof(data), &head), LT_OK);
	ck_assert_uint_eq(head.stream->id, 5);
	ck_assert_uint_eq(head.values[PACKET_TIMESTAMP_BEGIN], 1);
	ck_assert(packet_has(&head, PACKET_CPU_ID) && head.values[PACKET_CPU_ID] == 3);
	ck_assert(!packet_has(&head, PACKET_TIMESTAMP_END));
	ck_assert_uint_eq(head.events_at, 8 * sizeof(data));
	for (size_t len = 0; len < sizeof(data); len++)
		ck_assert_int_eq(packet_read_head(l, data, len, &head), LT_ERROR);
	/* The event names no stream: it belongs to the only one there is. */
	ck_assert_ptr_nonnull(layout_find_event(layout_find_stream(l, 5), 0));
	layout_destroy(l);
}
END_TEST

START_TEST(test_packets_of_the_only_stream)
{
	static const uint8_t data[] = { 7, 0, 0, 0 };
	static const char one[] = INTEGERS "stream { id = 5; packet.context := struct { uint32_t cpu_id; }; };\n";
	struct layout *l = parse(one);
	struct packet_head head;
	char *two;

	ck_assert_int_eq(packet_read_head(l, data, sizeof(data), &head), LT_OK);
	ck_assert_uint_eq(head.stream->id, 5);
	ck_assert_uint_eq(head.values[PACKET_CPU_ID], 7);
	layout_destroy(l);
	two = g_strconcat(one, "stream { id = 6; };\n", NULL);
	l = parse(two);
	ck_assert_int_eq(packet_read_head(l, data, sizeof(data), &head), LT_AGAIN);
	layout_destroy(l);
	g_free(two);
}
END_TEST

#define STAMP(name, clock) "typealias integer { size = 64; align = 8; map = clock." clock ".value; } := " name ";\n"

START_TEST(test_clocks)
{
	/* clang-format off */
	static const char two[] =
		"clock { name = \"wall\"; freq = 1000; };\n"
		"clock { name = mono; uuid = \"fcf75d6e-8485-499a-99c9-6796b63b828f\"; freq = 500; offset = 7; };\n"
		STAMP("wall_t", "wall") STAMP("mono_t", "mono");
	/* clang-format on */
	char *text = g_strconcat(two, "stream { event.header := struct { mono_t timestamp; }; };\n", NULL);
	struct layout *l = parse(text);

	/* The clock in use counts, not the first. */
	ck_assert_uint_eq(l->n_clocks, 1);
	ck_assert_str_eq(l->clock->name, "mono");
	ck_assert_str_eq(l->clock->uuid, "fcf75d6e-8485-499a-99c9-6796b63b828f");
	ck_assert_uint_eq(layout_to_ns(l, 500), UINT64_C(1014000000));
	layout_destroy(l);
	g_free(text);

	text = g_strconcat(two,
			   "stream { packet.context := struct { wall_t timestamp_begin; };\n"
			   "event.header := struct { mono_t timestamp; }; };\n",
			   NULL);
	l = parse(text);
	ck_assert_uint_eq(l->n_clocks, 2);
	ck_assert_ptr_null(l->clock);
	layout_destroy(l);
	g_free(text);

	l = parse("stream { };\n");
	ck_assert_uint_eq(l->n_clocks, 0);
	ck_assert_ptr_null(l->clock);
	layout_destroy(l);
	refuse(STAMP("odd_t", "nowhere") "stream { event.header := struct { odd_t timestamp; }; };\n",
	       "no clock 'nowhere'");
}
END_TEST

/* No field is mapped to a clock; other fields of its type are not times. */
START_TEST(test_clock_by_name)
{
	struct layout *l = parse(INTEGERS "clock { name = c; };\n"
					  "stream { event.header := struct {\n"
					  "  uint8_t id; struct { uint64_t timestamp; uint64_t other; } v; }; };\n");
	const struct layout_stream *s = layout_find_stream(l, 0);
	const struct type *v = field_of(s->event_header, "v")->type;

	ck_assert(field_of(v, "timestamp")->type->is_clock);
	ck_assert(!field_of(v, "other")->type->is_clock);
	ck_assert_ptr_eq(l->clock, g_ptr_array_index(l->clocks, 0));
	ck_assert(!s->event_header->is_fixed);
	layout_destroy(l);
}
END_TEST

/* Large structures from little metadata of untrusted origin. */
START_TEST(test_bounds)
{
	GString *text = g_string_new(INTEGERS "struct s0 { uint8_t x; };\n");

	for (unsigned i = 0; i < 200; i++)
		g_string_append_printf(text, "struct s%u { struct s%u x; };\n", i + 1, i);
	g_string_append(text, "stream { packet.context := struct s200; };\n");
	refuse(text->str, "stream 0: types nested too deeply");

	g_string_assign(text, INTEGERS "struct s0 { uint8_t x; };\n");
	for (unsigned i = 0; i < 60; i++)
		g_string_append_printf(text, "struct s%u { struct s%u x; struct s%u y; };\n", i + 1, i, i);
	g_string_append(text, "stream { packet.context := struct s60; };\n");
	refuse(text->str, "stream 0: the types are too large");

	g_string_assign(text, INTEGERS "stream { packet.context := struct { uint8_t x");
	for (unsigned i = 0; i < 100; i++)
		g_string_append(text, "[1]");
	g_string_append(text, "; }; };\n");
	refuse(text->str, "line 4: arrays nested too deeply");

	g_string_assign(text, INTEGERS "stream { packet.context := struct { ");
	for (unsigned i = 0; i < 5000; i++)
		g_string_append_printf(text, "uint8_t x%u;", i);
	g_string_append(text, "}; };\n");
	refuse(text->str, "line 4: too many fields");

	g_string_assign(text, INTEGERS "enum k : uint8_t { a };\nvariant v { ");
	for (unsigned i = 0; i < 4000; i++)
		g_string_append_printf(text, "uint8_t x%u;", i);
	g_string_append(text, "};\nstream { packet.context := struct { enum k t; ");
	for (unsigned i = 0; i < 1000; i++)
		g_string_append_printf(text, "variant v <t> v%u;", i);
	g_string_append(text, "}; };\n");
	refuse(text->str, "line 6: too many fields");
	g_string_free(text, TRUE);
}
END_TEST

/* Impossible packet sizes are rejected, and do not wrap around. */
START_TEST(test_huge)
{
	static const char *const fields[] = {
		"uint8_t x[9223372036854775807];",
		"uint8_t x[18446744073709551615]; uint8_t y[2];",
		"struct { uint8_t z; } align(1048576) x[4611686018427387904];",
		"struct { uint64_t z[4294967296]; } x[4294967296];",
	};
	static const uint8_t data[64];

	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
		char *text = g_strdup_printf(INTEGERS "stream { };\nevent { fields := struct { %s }; };\n", fields[i]);
		struct layout *l = parse(text);
		const struct layout_event *e;
		struct walk w;

		walk_init(&w, l, data, 8 * sizeof(data));
		ck_assert_msg(!walk_event(&w, layout_find_stream(l, 0), &e), "%s", fields[i]);
		walk_release(&w);
		layout_destroy(l);
		g_free(text);
	}
}
END_TEST

static const struct {
	const char *text, *reason;
} refused[] = {
	{ "", "the file is empty; if its session runs, use 'lttng stop'" },
	{ "stream { id = 1; }\n stream { id = ; };\n\n stream { x ",
	  "line 4: '=' expected at the end: it may be truncated" },
	{ "env { a = \"b; };\n", "line 1: unterminated string" },
	{ "env { a = 99999999999999999999; };\n", "line 1: number does not fit in 64 bits" },
	{ "\nenv { a = #; };\n", "line 2: unexpected character 0x23" },
	{ "env { a = 1; };\nstream\n;\nstream { };\n", "line 3: '{' expected at ';'" },
	{ "env \"\" { };\n", "line 1: '{' expected at ''" },
	{ "stream { };\nenv { a = 1; }; };\n", "line 2: a name expected at '}'" },
	{ "stream { }\nenv { a = \n", "line 3: ';' expected at the end: it may be truncated" },
	{ "stream { event.header := integer { size = 65; align = 8; }; };", "a number of an impossible size" },
	{ "stream { event.header := integer { size = 8; align = 3; }; };", "an alignment that is not a power of 2" },
	{ "stream { event.header := integer { size = 8; align = 2097152; }; };", "an alignment that is not a power" },
	{ "stream { event.header := struct x; };", "an unknown struct at ';'" },
	{ "stream { event.header := enum x; };", "an unknown enum" },
	{ "stream { event.header := variant x; };", "an unknown variant" },
	{ "stream { event.header := what; };", "an unknown type at 'what'" },
	{ "stream { event.header := enum : string { a }; };", "an enum that is not an integer" },
	{ INTEGERS "stream { event.header := struct { uint8_t x[n]; }; };", "stream 0: 'n' does not name a field" },
	{ INTEGERS "stream { event.header := struct { string n; uint8_t x[n]; }; };", "'n' does not name an integer" },
	{ INTEGERS "stream { event.header := struct { uint8_t n; variant <n> { uint8_t a; } v; }; };",
	  "'n' is not an enum, but a tag" },
};

START_TEST(test_refused)
{
	refuse(refused[_i].text, refused[_i].reason);
}
END_TEST

/* The clock of growing metadata is known before a stream is, if there is only one. */
START_TEST(test_growing)
{
	static const char clock[] = "clock { name = c; freq = 500000000; offset = 7; };\n";
	char *clocks = g_strconcat(clock, "clock { name = d; };\n", NULL);
	struct layout *l;

	ck_assert_msg(layout_parse_growing(clock, &l) == LT_OK, "%s", error_text());
	ck_assert_uint_eq(l->streams->len, 0);
	ck_assert_uint_eq(layout_to_ns(l, 10), 34);
	layout_destroy(l);
	ck_assert_int_eq(layout_parse_growing("", &l), LT_ERROR);
	ck_assert_int_eq(layout_parse_growing(clocks, &l), LT_ERROR);
	error_clear();
	refuse(clock, "no stream is described");
	g_free(clocks);
}
END_TEST

static void check_identity(const char *text, const char *trace, const char *hostname, const char *clock)
{
	struct identity id;

	identity_read(&id, text);
	ck_assert_msg(g_strcmp0(id.trace, trace) == 0, "trace '%s' of: %s", id.trace, text);
	ck_assert_msg(g_strcmp0(id.hostname, hostname) == 0, "host '%s' of: %s", id.hostname, text);
	ck_assert_msg(g_strcmp0(id.clock, clock) == 0, "clock '%s' of: %s", id.clock, text);
	identity_release(&id);
}

START_TEST(test_identity)
{
	static const char blocks[] =
		"/* CTF 1.8 */ struct clock { integer { size = 8; uuid = \"no\"; } uuid; };\n"
		"trace { major = 1; packet.header := struct { integer { x = \"no\"; } y; }; uuid = \"t\"; };\n"
		"env { trace = \"no\"; hostname = \"a\\\"} b\"; clock = \"{\"; }; clock { name = m; uuid = \"c\"; };\n"
		"stream { };\n";
	static const char fragments[] =
		"\x1e{\"type\":\"preamble\",\"uuid\":[0,171,255]}"
		"\x1e{\"type\":\"field-class-alias\",\"uid\":\"no\"}"
		"\x1e{\"type\":\"trace-class\",\"environment\":{\"hostname\":\"a\\\"b\"}}\n"
		"\x1e{\"type\":\"clock-class\",\"uid\":\"c\"}\x1e{\"type\":\"data-stream-class\"}";
	char *text;

	check_identity(blocks, "t", "a\"} b", "c");
	check_identity("event { }; trace { uuid = \"t\"; };", NULL, NULL, NULL);
	check_identity("", NULL, NULL, NULL);
	check_identity(fragments, "00abff", "a\"b", "c");
	check_identity("\x1e{\"type\":\"preamble\",\"uuid\":[1]}"
		       "\x1e{\"type\":\"trace-class\",\"uid\":\"t\"}",
		       "t", NULL, NULL);
	/* Cut off at any byte: only the bytes that exist are read. */
	for (size_t i = 0; i < 2 * sizeof(blocks); i++) {
		struct identity id;

		text = i < sizeof(blocks) ? g_strndup(blocks, i) : g_strndup(fragments, i - sizeof(blocks));
		identity_read(&id, text);
		ck_assert(!id.trace || !strcmp(id.trace, i < sizeof(blocks) ? "t" : "00abff"));
		ck_assert(!id.hostname || !strcmp(id.hostname, i < sizeof(blocks) ? "a\"} b" : "a\"b"));
		ck_assert(!id.clock || !strcmp(id.clock, "c"));
		identity_release(&id);
		g_free(text);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ctf");

	unit_add(suite, test_statements, 1);
	unit_add(suite, test_shared_numbers, 1);
	unit_add(suite, test_repeated_numbers, 1);
	unit_add(suite, test_environment, 1);
	unit_add(suite, test_names_and_texts, 1);
	unit_add(suite, test_packet_roles, 1);
	unit_add(suite, test_packets_of_the_only_stream, 1);
	unit_add(suite, test_clocks, 1);
	unit_add(suite, test_clock_by_name, 1);
	unit_add(suite, test_bounds, 1);
	unit_add(suite, test_huge, 1);
	unit_add(suite, test_refused, G_N_ELEMENTS(refused));
	unit_add(suite, test_growing, 1);
	unit_add(suite, test_identity, 1);
	return unit_end(suite);
}
