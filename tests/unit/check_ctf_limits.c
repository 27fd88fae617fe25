/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "ctf/index.h"
#include "ctf/layout.h"
#include "ctf/walk.h"
#include "unit.h"

/* Little metadata, of untrusted origin, that describes what would take much memory or time. */

#define INTEGERS                                                                   \
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n" \
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"

/* Expects a refusal with this reason. */
static void refuse(const char *text, const char *reason)
{
	struct layout *l;

	ck_assert_int_eq(layout_parse(text, &l), LT_ERROR);
	ck_assert_msg(strstr(error_text(), reason) != NULL, "'%s' is not in '%s'", reason, error_text());
	error_clear();
}

/* A header's fields are looked for by their names, an "id", a time: seven levels, each 64 times as large. */
START_TEST(test_wide_headers)
{
	static const char *const parts[] = { "event.header", "packet.context" };
	GString *text = g_string_new(NULL);

	for (size_t part = 0; part < G_N_ELEMENTS(parts); part++) {
		g_string_assign(text, INTEGERS "struct s0 { uint8_t x; };\n");
		for (unsigned i = 0; i < 7; i++) {
			g_string_append_printf(text, "struct s%u { ", i + 1);
			for (unsigned n = 0; n < 64; n++)
				g_string_append_printf(text, "struct s%u f%u; ", i, n);
			g_string_append(text, "};\n");
		}
		g_string_append_printf(text, "stream { %s := struct { uint8_t id; struct s7 big; }; };\n", parts[part]);
		refuse(text->str, "stream 0: the types are too large");
	}
	g_string_free(text, TRUE);
}
END_TEST

/* Types that name each other are as deep as their number: without a stream, nothing else counts how deep they are. */
START_TEST(test_deep_header)
{
	enum { DEEP = 200000 };
	GString *text = g_string_new(INTEGERS "typealias uint8_t := t0;\n");

	for (unsigned i = 0; i < DEEP; i++)
		g_string_append_printf(text, "typealias struct { t%u a; } := t%u;\n", i, i + 1);
	g_string_append_printf(text, "trace { packet.header := struct { t%u a; }; };\n", DEEP);
	refuse(text->str, "no stream is described");
	g_string_append(text, "stream { };\n");
	refuse(text->str, "types nested too deeply");
	g_string_free(text, TRUE);
}
END_TEST

/* Fields that become times share the copy of an enum with many labels. */
START_TEST(test_many_times)
{
	enum { MANY = 2000 };
	GString *text = g_string_new(INTEGERS "enum e : uint32_t { ");
	const size_t before = unit_allocated();
	const struct type *first, *last;
	struct layout *l;
	size_t most;

	for (unsigned i = 0; i < MANY; i++)
		g_string_append_printf(text, "a%u, ", i);
	g_string_append(text, "};\nstream { event.header := struct { uint8_t id; ");
	for (unsigned i = 0; i < MANY; i++)
		g_string_append(text, "enum e timestamp; ");
	g_string_append(text, "}; };\n");
	most = unit_allocated() ? before + 64 * text->len : SIZE_MAX;
	ck_assert_int_eq(layout_parse(text->str, &l), LT_OK);
	ck_assert_uint_lt(unit_allocated(), most);
	first = type_field(layout_find_stream(l, 0)->event_header, 1)->type;
	last = type_field(layout_find_stream(l, 0)->event_header, MANY)->type;
	ck_assert(first->is_clock && last->is_clock);
	ck_assert_uint_eq(first->labels->len, MANY);
	layout_destroy(l);
	g_string_free(text, TRUE);
}
END_TEST

/* Short declarations that each copy what a longer one gave once. */
START_TEST(test_copies)
{
	enum { LONG = 1 << 20 };
	char *name = g_strnfill(LONG, 'n');
	GString *text = g_string_new(INTEGERS "enum k : uint8_t { a };\n");

	g_string_append_printf(text, "variant v { uint8_t %s; };\nstream { packet.context := struct { enum k t; ",
			       name);
	for (unsigned i = 0; i < 100; i++)
		g_string_append_printf(text, "variant v <t> v%u;", i);
	g_string_append(text, "}; };\n");
	refuse(text->str, "too many long names");

	g_string_printf(text, "typealias integer { size = 8; map = clock.%s.value; } := t;\n", name);
	for (unsigned i = 0; i < 100; i++)
		g_string_append_printf(text, "enum e%u : t { a };\n", i);
	refuse(text->str, "too many long names");

	g_string_assign(text, "stream { packet.context := struct { ");
	for (unsigned i = 0; i <= TYPES_MAX; i++)
		g_string_append(text, "string a; ");
	g_string_append(text, "}; };\n");
	refuse(text->str, "too many fields");
	g_string_assign(text, "");
	for (unsigned i = 0; i <= TYPES_MAX; i++)
		g_string_append(text, "typealias string := s;\n");
	refuse(text->str, "too many types");

	/* a case for each label in each variant */
	g_string_assign(text, INTEGERS "enum k : uint8_t { ");
	for (unsigned i = 0; i < 4000; i++)
		g_string_append(text, "a, ");
	g_string_append(text, "};\nstream { packet.context := struct { enum k t; ");
	for (unsigned i = 0; i < 1000; i++)
		g_string_append_printf(text, "variant <t> { uint8_t a; } v%u;", i);
	g_string_append(text, "}; };\n");
	refuse(text->str, "stream 0: the types are too large");
	g_free(name);
	g_string_free(text, TRUE);
}
END_TEST

/* ---- CTF 2 ---- */

#define NUMBER "{'type':'fixed-length-unsigned-integer','length':8,'byte-order':'little-endian',"
#define STRING "{'type':'null-terminated-string'}"

/* Field classes that hold much, as text: a name of 1 MiB, or as many bytes of elements, between the two parts. */
static const struct {
	const char *before, *after, *element; /* NULL: a name */
} large[] = {
	{ NUMBER "'mappings':{'", "':[[0,1]]}}", NULL },
	{ NUMBER "'mappings':{'a':[", "]}}", "[0,1]" },
	{ "{'type':'structure','member-classes':[{'name':'", "','field-class':" STRING "}]}", NULL },
	{ "{'type':'dynamic-length-blob','length-field-location':{'path':['", "']}}", NULL },
	{ "{'type':'dynamic-length-blob','length-field-location':{'path':[", "]}}", "null" },
	{ "{'type':'optional','selector-field-location':{'path':['a']},'selector-field-ranges':[",
	  "],'field-class':" STRING "}", "[0,1]" },
};

static void append_large(GString *text, unsigned i)
{
	enum { LONG = 1 << 20 };
	const char *element = large[i].element ? large[i].element : "n";
	const gsize end = text->len + LONG;

	g_string_append(text, large[i].before);
	g_string_append(text, element);
	while (text->len < end)
		g_string_append_printf(text, "%s%s", large[i].element ? "," : "", element);
	g_string_append(text, large[i].after);
}

/* An alias for it is used very often. */
static void check_alias(unsigned i)
{
	enum { USES = 4000 };
	GString *text = g_string_new("\x1e{'type':'preamble','version':2}\n\x1e{'type':'field-class-alias','name':'L',"
				     "'field-class':");

	append_large(text, i);
	g_string_append(text, "}\n\x1e{'type':'data-stream-class','packet-context-field-class':"
			      "{'type':'structure','member-classes':[");
	for (unsigned n = 0; n < USES; n++)
		g_string_append_printf(text, "%s{'name':'m%u','field-class':'L'}", n ? "," : "", n);
	g_string_append(text, "]}}\n");
	g_strdelimit(text->str, "'", '"');
	refuse(text->str, "too many names, mappings and ranges");
	g_string_free(text, TRUE);
}

START_TEST(test_aliases)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(large); i++)
		check_alias(i);
}
END_TEST

/* Walks past an event of so many sequences without elements, in a packet of 64 bytes. Returns what it failed with. */
static const char *walk_empty(unsigned inner, unsigned outer)
{
	static const uint8_t packet[64];
	GString *text = g_string_new(INTEGERS "stream { event.header := struct { uint8_t id; };\n"
					      "packet.context := struct { uint8_t len; }; };\nstruct s { ");
	const struct layout_event *event;
	const char *failure = NULL;
	struct layout *l;
	struct walk w;

	for (unsigned i = 0; i < inner; i++)
		g_string_append(text, "uint8_t a[stream.packet.context.len]; ");
	g_string_append(text, "};\nevent { id = 0; fields := struct { ");
	for (unsigned i = 0; i < outer; i++)
		g_string_append(text, "struct s a; ");
	g_string_append(text, "}; };\n");
	ck_assert_int_eq(layout_parse(text->str, &l), LT_OK);
	walk_init(&w, l, packet, 8 * sizeof(packet));
	ck_assert(walk_type(&w, layout_find_stream(l, 0)->packet_context));
	if (!walk_event(&w, layout_find_stream(l, 0), &event))
		failure = walk_failure(&w);
	walk_release(&w);
	layout_destroy(l);
	g_string_free(text, TRUE);
	return failure;
}

/* A few bits must not take millions of steps: there may be as many such events as there are bits. */
START_TEST(test_empty_fields)
{
	ck_assert_ptr_null(walk_empty(1000, 100));
	ck_assert_str_eq(walk_empty(2000, 500), "too many empty fields");
}
END_TEST

/* An index with holes instead of entries; its data file is empty. */
START_TEST(test_large_index)
{
	const uint32_t head[] = { GUINT32_TO_BE(0xc1f1dcc1), GUINT32_TO_BE(1), GUINT32_TO_BE(0),
				  GUINT32_TO_BE(sizeof(struct index_packet)) };
	const uint64_t last[] = { 0, 0, 0, 0, GUINT64_TO_BE(7), 0, GUINT64_TO_BE(1) };
	const uint64_t entries = UINT64_C(1) << 34;
	const int fd = memfd_create("index", MFD_CLOEXEC);
	struct index_missing missing;

	ck_assert_int_eq(pwrite(fd, head, sizeof(head), 0), sizeof(head));
	ck_assert_int_eq(pwrite(fd, last, sizeof(last), (off_t)(sizeof(head) + (entries - 1) * sizeof(last))),
			 sizeof(last));
	ck_assert(index_find_missing(fd, 0, &missing));
	ck_assert_uint_eq(missing.listed, entries);
	ck_assert_uint_eq(missing.packets, entries);
	ck_assert_uint_eq(missing.end, 7);
	ck_assert_uint_eq(missing.stream_class, 0);
	ck_assert(!index_find_missing(fd, 1, &missing));
	close(fd);
}
END_TEST

UNIT_MAIN("ctf_limits", test_wide_headers, test_deep_header, test_many_times, test_copies, test_aliases,
	  test_empty_fields, test_large_index)
