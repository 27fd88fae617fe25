/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The generic event: shapes, values, the cursor over them, and malformed ones from hostile workers. */
#include "unit.h"

#include <stdbool.h>
#include <string.h>

#include "event/fields.h"
#include "event/payload.h"
#include "event/wanted.h"
#include "reader/values.h"

/* The record being built. */
static struct event *record;

static struct event *begin_values(void)
{
	if (!record)
		record = malloc(EVENT_SIZE_MAX);
	memset(record, 0, EVENT_SIZE_MAX);
	record->kind = EVENT_FIELDS;
	record->class_id = 7;
	record->n_words = sizeof(struct ev_fields) / 8;
	record->size = sizeof(*record) + sizeof(struct ev_fields);
	return record;
}

static void put(GByteArray *out, enum shape_kind kind, const char *name, uint32_t count)
{
	const struct shape_field f = { .name = name, .kind = kind, .base = 16, .bits = 32, .count = count };

	shape_put_field(out, &f);
}

static void put_enum(GByteArray *out, const char *name)
{
	static const struct shape_label labels[] = {
		{ "none", 0, 0 },
		{ "some", 1, 5 },
		{ "few", 1, 2 },
		{ "some", 9, 9 },
	};
	const struct shape_field f = { .name = name, .kind = SHAPE_ENUM, .bits = 8, .n_labels = 4 };

	shape_put_field(out, &f);
	for (unsigned i = 0; i < 4; i++)
		shape_put_label(out, &labels[i]);
}

/*
 * packet { cpu_id }, no context,
 * payload { a, text, e, s { x, y }, v <one | two { z }>, list[], pair[2] of { p }, last }
 */
static GByteArray *shape_bytes(void)
{
	GByteArray *out = g_byte_array_new();

	shape_put_name(out, "made_event");
	put(out, SHAPE_STRUCT, "", 1);
	put(out, SHAPE_UINT, "cpu_id", 0);
	put(out, SHAPE_NONE, "", 0);
	put(out, SHAPE_NONE, "", 0);
	put(out, SHAPE_STRUCT, "", 8);
	put(out, SHAPE_INT, "a", 0);
	put(out, SHAPE_TEXT, "text", 0);
	put_enum(out, "e");
	put(out, SHAPE_STRUCT, "s", 2);
	put(out, SHAPE_UINT, "x", 0);
	put(out, SHAPE_FLOAT, "y", 0);
	put(out, SHAPE_VARIANT, "v", 2);
	put(out, SHAPE_UINT, "one", 0);
	put(out, SHAPE_STRUCT, "two", 1);
	put(out, SHAPE_UINT, "z", 0);
	put(out, SHAPE_SEQUENCE, "list", 0);
	put(out, SHAPE_UINT, "", 0);
	put(out, SHAPE_ARRAY, "pair", 2);
	put(out, SHAPE_STRUCT, "", 1);
	put(out, SHAPE_UINT, "p", 0);
	put(out, SHAPE_INT, "last", 0);
	return out;
}

static struct shape *made_shape(void)
{
	GByteArray *bytes = shape_bytes();
	struct shape *s = shape_parse(bytes->data, bytes->len);

	ck_assert_ptr_nonnull(s);
	g_byte_array_free(bytes, TRUE);
	return s;
}

static uint64_t word_of(double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

static const struct event *made_values(const char *text, uint64_t n_list)
{
	struct event *ev = begin_values();
	uint32_t begin = ev->size, kept;

	values_word(ev, 3);
	values_end_part(ev, FIELDS_PACKET, begin);
	begin = ev->size;
	values_word(ev, (uint64_t)-5);
	values_text(ev, text, strlen(text));
	values_word(ev, 2);
	values_word(ev, 17);
	values_word(ev, word_of(0.5));
	values_word(ev, 1); /* v is two */
	values_word(ev, 99);
	values_array(ev, n_list, &kept);
	for (uint32_t i = 0; i < kept; i++)
		values_word(ev, 100 + i);
	values_array(ev, 2, &kept);
	values_word(ev, 1);
	values_word(ev, 2);
	values_word(ev, (uint64_t)-1);
	values_end_part(ev, FIELDS_PAYLOAD, begin);
	ck_assert_ptr_null(event_check(ev, EVENT_SIZE_MAX));
	return ev;
}

/* The cursor's output, as text. */
static char *told(const struct shape *s, const struct event *ev)
{
	GString *out = g_string_new(NULL);
	struct fields_cursor c;
	struct field_value v;

	fields_begin(&c, s, ev);
	while (fields_next(&c, &v)) {
		if (v.kind == SHAPE_END)
			g_string_append_printf(out, "}");
		else if (v.kind == SHAPE_TEXT)
			g_string_append_printf(out, " %s='%.*s'%s", v.name, (int)MIN(v.len, 8), v.text,
					       v.cut ? "+" : "");
		else if (v.kind == SHAPE_FLOAT)
			g_string_append_printf(out, " %s=%g", v.name, v.f);
		else if (v.kind < SHAPE_STRUCT)
			g_string_append_printf(out, " %s=%d", v.name, (int)v.i);
		else
			g_string_append_printf(out, " %s%d{%s", v.name, v.depth, v.cut ? "+" : "");
	}
	ck_assert_ptr_null(c.wrong);
	if (c.cut)
		g_string_append(out, " cut");
	return g_string_free(out, FALSE);
}

static void expect(const char *expected, char *found)
{
	ck_assert_str_eq(found, expected);
	g_free(found);
}

START_TEST(test_values_in_order)
{
	struct shape *s = made_shape();
	const struct event *ev = made_values("hello", 3);

	ck_assert_str_eq(s->name, "made_event");
	ck_assert_ptr_null(fields_check(s, ev));
	expect(" 0{ cpu_id=3} 0{ a=-5 text='hello' e=2 s1{ x=17 y=0.5} v1{ two2{ z=99}} list1{ =100 =101 =102}"
	       " pair1{ 2{ p=1} 2{ p=2}} last=-1}",
	       told(s, ev));
	shape_free(s);
}
END_TEST

START_TEST(test_single_fields)
{
	struct shape *s = made_shape();
	const struct event *ev = made_values("eight by", 1024);
	struct fields_cursor c;
	struct field_value v;

	ck_assert(fields_find(s, ev, "a", &v) && v.i == -5 && v.kind == SHAPE_INT && v.part == FIELDS_PAYLOAD);
	ck_assert(fields_find(s, ev, "text", &v) && v.len == 8 && memcmp(v.text, "eight by", 8) == 0 && !v.cut);
	ck_assert(fields_find(s, ev, "e", &v) && v.u == 2);
	ck_assert(fields_find(s, ev, "v", &v) && v.kind == SHAPE_VARIANT && v.count == 1);
	ck_assert(fields_find(s, ev, "list", &v) && v.count == 1024 && !v.cut);
	ck_assert(fields_find(s, ev, "last", &v) && v.i == -1);
	ck_assert(!fields_find(s, ev, "x", &v)); /* not a direct member */
	ck_assert(!fields_find(s, ev, "cpu_id", &v));
	ck_assert(fields_get(s, ev, (uint32_t)shape_find(s, FIELDS_PACKET, "cpu_id"), &v) && v.u == 3);
	ck_assert_int_eq(shape_find(s, FIELDS_COMMON, "tid"), -1);
	ck_assert(fields_begin_at(&c, s, ev, (uint32_t)shape_find(s, FIELDS_PAYLOAD, "pair")));
	ck_assert(fields_next(&c, &v) && v.kind == SHAPE_ARRAY && v.depth == 1);
	ck_assert(fields_next(&c, &v) && v.kind == SHAPE_STRUCT && v.depth == 2 && v.index == 0);
	ck_assert(fields_next(&c, &v) && v.u == 1 && fields_next(&c, &v) && v.kind == SHAPE_END);
	ck_assert(fields_next(&c, &v) && v.index == 1 && fields_next(&c, &v) && v.u == 2);
	ck_assert(fields_next(&c, &v) && fields_next(&c, &v) && v.of == SHAPE_ARRAY && !fields_next(&c, &v));
	shape_free(s);
}
END_TEST

START_TEST(test_labels)
{
	struct shape *s = made_shape();
	const struct event *ev = made_values("", 0);
	const char *names[4];
	struct field_value v;

	ck_assert(fields_find(s, ev, "e", &v));
	ck_assert_uint_eq(fields_labels(s, &v, names, 4), 2);
	ck_assert_str_eq(names[0], "some");
	ck_assert_str_eq(names[1], "few");
	v.u = 9;
	ck_assert_uint_eq(fields_labels(s, &v, names, 1), 1);
	v.u = 7;
	ck_assert_uint_eq(fields_labels(s, &v, NULL, 0), 0);
	shape_free(s);
}
END_TEST

/* The start of a long value is kept, and marked as cut. */
START_TEST(test_cut)
{
	char *text = g_strnfill(FIELDS_TEXT_MAX + 1, 'x');
	struct shape *s = made_shape();
	const struct event *ev = made_values(text, FIELDS_ELEMENTS_MAX + 5);
	struct field_value v;

	ck_assert_ptr_null(fields_check(s, ev));
	ck_assert(fields_find(s, ev, "text", &v) && v.cut && v.len == FIELDS_TEXT_MAX && v.count == v.len + 1);
	ck_assert(fields_find(s, ev, "list", &v) && v.cut && v.count == FIELDS_ELEMENTS_MAX);
	ck_assert(fields_find(s, ev, "last", &v) && v.i == -1);
	ck_assert(!event_payload(ev, ev_fields)->cut);
	shape_free(s);
	g_free(text);
}
END_TEST

/* An event with more bytes than are kept: containers are closed, and missing values are not invented. */
START_TEST(test_full)
{
	struct event *ev = begin_values();
	GByteArray *bytes = g_byte_array_new();
	struct field_value v;
	uint32_t begin = ev->size, kept;
	struct shape *s;
	char *text = g_strnfill(FIELDS_TEXT_MAX, 'x');

	shape_put_name(bytes, "large");
	for (unsigned i = 0; i < 3; i++)
		put(bytes, SHAPE_NONE, "", 0);
	put(bytes, SHAPE_STRUCT, "", 2);
	put(bytes, SHAPE_SEQUENCE, "texts", 0);
	put(bytes, SHAPE_TEXT, "", 0);
	put(bytes, SHAPE_UINT, "behind", 0);
	s = shape_parse(bytes->data, bytes->len);
	ck_assert_ptr_nonnull(s);
	values_array(ev, 10, &kept);
	while (values_text(ev, text, FIELDS_TEXT_MAX))
		;
	values_end_part(ev, FIELDS_PAYLOAD, begin);
	ck_assert(event_payload(ev, ev_fields)->cut);
	ck_assert_ptr_null(event_check(ev, EVENT_SIZE_MAX));
	ck_assert_ptr_null(fields_check(s, ev));
	expect(" 0{ texts1{ ='xxxxxxxx' ='xxxxxxxx' ='xxxxxxxx' ='xxxxxxxx'}} cut", told(s, ev));
	ck_assert(!fields_find(s, ev, "behind", &v));
	ck_assert(fields_find(s, ev, "texts", &v) && v.count == 10);
	values_of(ev)->cut = 0;
	ck_assert_str_eq(fields_check(s, ev), "fewer values than fields");
	shape_free(s);
	g_byte_array_free(bytes, TRUE);
	g_free(text);
}
END_TEST

START_TEST(test_nonsense_is_refused)
{
	struct shape *s = made_shape();
	struct event *ev = (struct event *)made_values("hello", 3);
	uint64_t *words = (uint64_t *)(void *)((char *)ev + values_of(ev)->parts[FIELDS_PAYLOAD].offset);

	words[1] = 5000 | UINT64_C(5000) << 32;
	ck_assert_str_eq(fields_check(s, ev), "a text that is longer than its record");
	words[1] = 5 | UINT64_C(4) << 32;
	ck_assert_ptr_nonnull(fields_check(s, ev));
	words[1] = 5 | UINT64_C(5) << 32;
	words[6] = 2; /* of two options, counted from 0 */
	ck_assert_str_eq(fields_check(s, ev), "an option that is not declared");
	words[6] = 1;
	words[8] = UINT32_MAX | UINT64_C(0xffffffff) << 32;
	ck_assert_str_eq(fields_check(s, ev), "an array of an impossible length");
	words[8] = 2 | UINT64_C(2) << 32;
	ck_assert_ptr_nonnull(fields_check(s, ev));
	words[8] = 3 | UINT64_C(3) << 32;
	ck_assert_ptr_null(fields_check(s, ev));
	values_of(ev)->parts[FIELDS_PAYLOAD].len -= 8;
	ck_assert_str_eq(fields_check(s, ev), "fewer values than fields");
	values_of(ev)->parts[FIELDS_PAYLOAD].len += 8;
	values_of(ev)->parts[FIELDS_PACKET].len += 8;
	ck_assert_str_eq(fields_check(s, ev), "more values than fields");
	shape_free(s);
}
END_TEST

/* Nested arrays of elements without size would take for ever: the rest of them is cut. */
START_TEST(test_nothing_many_times)
{
	struct event *ev = begin_values();
	GByteArray *bytes = g_byte_array_new();
	uint32_t begin = ev->size, kept;
	struct fields_cursor c;
	struct field_value v;
	struct shape *s;

	shape_put_name(bytes, "nothing");
	for (unsigned i = 0; i < 3; i++)
		put(bytes, SHAPE_NONE, "", 0);
	put(bytes, SHAPE_STRUCT, "", 1);
	put(bytes, SHAPE_SEQUENCE, "outer", 0);
	put(bytes, SHAPE_SEQUENCE, "", 0);
	put(bytes, SHAPE_STRUCT, "", 0);
	s = shape_parse(bytes->data, bytes->len);
	ck_assert_ptr_nonnull(s);
	for (unsigned i = 0; i <= FIELDS_ELEMENTS_MAX; i++)
		values_array(ev, FIELDS_ELEMENTS_MAX, &kept);
	values_end_part(ev, FIELDS_PAYLOAD, begin);
	ck_assert_ptr_null(fields_check(s, ev));
	fields_begin(&c, s, ev);
	while (fields_next(&c, &v))
		;
	ck_assert(c.cut && !c.wrong);
	shape_free(s);
	g_byte_array_free(bytes, TRUE);
}
END_TEST

static uint32_t seed = 1;

static uint32_t next_random(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

/* Reading stays within the record: sanitizers and valgrind would see it otherwise. */
START_TEST(test_damaged_values)
{
	struct shape *s = made_shape();
	unsigned fine = 0, wrong = 0;

	for (unsigned i = 0; i < 20000; i++) {
		const struct event *made = made_values("hello", 3);
		struct event *ev = malloc(made->size);
		struct fields_cursor c;
		struct field_value v;

		memcpy(ev, made, made->size);
		for (unsigned n = 1 + next_random() % 4; n > 0; n--) {
			const uint32_t at = sizeof(*ev) + next_random() % (ev->size - (uint32_t)sizeof(*ev));

			((uint8_t *)ev)[at] = (uint8_t)next_random();
		}
		if (!event_check(ev, ev->size)) {
			if (fields_check(s, ev))
				wrong++;
			else
				fine++;
			fields_begin(&c, s, ev);
			while (fields_next(&c, &v))
				if (v.kind == SHAPE_TEXT)
					for (uint32_t k = 0; k < v.len; k++)
						seed += (uint8_t)v.text[k];
			fields_find(s, ev, "last", &v);
		}
		free(ev);
	}
	ck_assert_uint_gt(fine, 100);
	ck_assert_uint_gt(wrong, 100);
	shape_free(s);
}
END_TEST

START_TEST(test_damaged_shapes)
{
	GByteArray *made = shape_bytes();
	const struct event *ev = made_values("hello", 3);
	unsigned fine = 0, refused = 0;

	for (unsigned i = 0; i < 20000; i++) {
		const size_t len = i % 3 ? made->len : next_random() % made->len;
		uint8_t *bytes = malloc(len + 1);
		struct shape *s;

		memcpy(bytes, made->data, len);
		for (unsigned n = next_random() % 4; n > 0 && len; n--)
			bytes[next_random() % len] = (uint8_t)next_random();
		s = shape_parse(bytes, len);
		free(bytes);
		if (s) {
			struct field_value v;

			fields_check(s, ev);
			fields_find(s, ev, "last", &v);
			fine++;
		} else {
			refused++;
		}
		shape_free(s);
	}
	ck_assert_uint_gt(fine, 100);
	ck_assert_uint_gt(refused, 100);
	g_byte_array_free(made, TRUE);
}
END_TEST

/* ---- the shapes of a source ---- */

static const char *take(struct shapes *s, uint16_t class_id, const void *bytes, size_t len, uint64_t at, uint64_t total)
{
	struct event *ev = begin_values();
	struct ev_shape *p = (struct ev_shape *)(void *)ev->words;

	ev->kind = EVENT_SHAPE;
	ev->class_id = class_id;
	ev->n_words = sizeof(*p) / 8;
	ev->size = sizeof(*ev) + sizeof(*p);
	*p = (struct ev_shape){ .part = { ev->size, (uint32_t)len }, .offset = at, .total = total };
	memcpy((char *)ev + ev->size, bytes, len);
	ev->size += (uint32_t)((len + 7) & ~(size_t)7);
	ck_assert_ptr_null(event_check(ev, EVENT_SIZE_MAX));
	return shapes_take(s, ev);
}

/* The number of a trace that ended is used for another: its classes are declared again, any number of times. */
START_TEST(test_shapes_of_a_trace_are_forgotten)
{
	GByteArray *bytes = shape_bytes();
	const unsigned traces = 3 * SHAPES_BYTES_MAX / bytes->len;
	const struct event ev = { .class_id = 7 }, other = { .trace = 1, .class_id = 7 };
	struct shapes s;

	shapes_init(&s);
	for (unsigned i = 0; i < traces; i++) {
		ck_assert_ptr_null(take(&s, 7, bytes->data, bytes->len, 0, bytes->len));
		ck_assert_ptr_null(take(&s, 8, bytes->data, 100, 0, bytes->len)); /* its end never comes */
		ck_assert_ptr_nonnull(shapes_find(&s, &ev));
		ck_assert_uint_eq(s.bytes, bytes->len + 100);
		shapes_forget_trace(&s, 1);
		ck_assert_ptr_nonnull(shapes_find(&s, &ev));
		ck_assert_ptr_null(shapes_find(&s, &other));
		shapes_forget_trace(&s, 0);
		ck_assert_ptr_null(shapes_find(&s, &ev));
		ck_assert_uint_eq(s.bytes, 0);
	}
	shapes_release(&s);
	g_byte_array_free(bytes, TRUE);
}
END_TEST

START_TEST(test_shapes_in_pieces)
{
	GByteArray *bytes = shape_bytes();
	struct shapes s;
	struct event ev = { .class_id = 7 };

	shapes_init(&s);
	ck_assert_ptr_null(take(&s, 7, bytes->data, 100, 0, bytes->len));
	ck_assert_ptr_null(shapes_find(&s, &ev));
	ck_assert_ptr_nonnull(take(&s, 8, bytes->data + 100, 10, 100, bytes->len)); /* the start is missing */
	ck_assert_ptr_nonnull(take(&s, 7, bytes->data + 100, 10, 110, bytes->len)); /* with a gap */
	ck_assert_ptr_null(take(&s, 7, bytes->data + 100, bytes->len - 100, 100, bytes->len));
	ck_assert_ptr_nonnull(shapes_find(&s, &ev));
	ck_assert_ptr_nonnull(take(&s, 7, bytes->data, bytes->len, 0, bytes->len)); /* a second time */
	ck_assert_ptr_nonnull(take(&s, 9, bytes->data, bytes->len - 1, 0, bytes->len - 1));
	ck_assert_ptr_nonnull(take(&s, 10, bytes->data, bytes->len, 0, SHAPE_BYTES_MAX + UINT64_C(1)));
	shapes_release(&s);
	g_byte_array_free(bytes, TRUE);
}
END_TEST

/* ---- wanted fields ---- */

START_TEST(test_wanted_as_text)
{
	struct fields_wanted w, back;
	const int32_t tid = 12, pid = 7;
	char *text;

	fields_wanted_init(&w);
	fields_wanted_init(&back);
	w.classes = WANTED_CALLS;
	g_array_append_val(w.tids, tid);
	g_array_append_val(w.pids, pid);
	g_ptr_array_add(w.names, g_strdup("a b:c*"));
	g_ptr_array_add(w.names, g_strdup(""));
	w.renames = w.ends = true;
	text = fields_wanted_text(&w);
	ck_assert_str_eq(text, "1 0 18446744073709551615 r e t12 p7 n6:a b:c* n0:");
	ck_assert(fields_wanted_parse(&back, text));
	ck_assert(back.classes == WANTED_CALLS && back.tids->len == 1 && back.pids->len == 1 && back.names->len == 2);
	ck_assert_str_eq(g_ptr_array_index(back.names, 0), "a b:c*");
	ck_assert(back.renames && back.ends);
	g_free(text);
	for (unsigned i = 0; i < FIELDS_WANTED_TEXT_MAX / 3; i++)
		g_array_append_val(w.tids, tid);
	text = fields_wanted_text(&w);
	ck_assert_str_eq(text, "1 0 18446744073709551615");
	g_free(text);
	fields_wanted_release(&w);
	fields_wanted_release(&back);
}
END_TEST

START_TEST(test_wanted_nonsense)
{
	static const char *const texts[] = {
		"",         "4 0 0",        "1",           "1 0",
		"x 0 0",    "1 0 0 ",       "1 0 0 t",     "1 0 0 t99999999999",
		"1 0 0 q1", "1 0 0 n5:abc", "1 0 0 n1abc", "1 0 99999999999999999999",
		"1 0 0t1",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		struct fields_wanted w;

		fields_wanted_init(&w);
		ck_assert_msg(!fields_wanted_parse(&w, texts[i]), "'%s' is taken", texts[i]);
		fields_wanted_release(&w);
	}
}
END_TEST

START_TEST(test_wanted_classes)
{
	struct fields_wanted w;

	fields_wanted_init(&w);
	ck_assert(!fields_wanted_class(&w, "syscall_entry_read"));
	w.classes = WANTED_CALLS;
	ck_assert(fields_wanted_class(&w, "syscall_entry_read") && fields_wanted_class(&w, "compat_syscall_exit_read"));
	ck_assert(!fields_wanted_class(&w, "sched_switch"));
	w.classes = WANTED_CALLS_AND_SCHED;
	ck_assert(fields_wanted_class(&w, "sched_switch") && fields_wanted_class(&w, "signal_generate"));
	ck_assert(fields_wanted_class(&w, "x86_exceptions_page_fault_user"));
	ck_assert(!fields_wanted_class(&w, "net_dev_queue"));
	w.classes = WANTED_ALL;
	ck_assert(fields_wanted_class(&w, "net_dev_queue"));
	ck_assert(fields_wanted_renames("syscall_entry_execve") && fields_wanted_renames("compat_syscall_entry_prctl"));
	ck_assert(fields_wanted_renames("syscall_exit_execve") && fields_wanted_renames("compat_syscall_exit_prctl"));
	ck_assert(!fields_wanted_renames("syscall_exit_arch_prctl") && !fields_wanted_renames("prctl"));
	ck_assert(fields_wanted_ends("signal_deliver") && fields_wanted_ends("compat_syscall_entry_exit_group"));
	ck_assert(!fields_wanted_ends("syscall_entry_exit") && !fields_wanted_ends("signal_generate"));
	fields_wanted_release(&w);
}
END_TEST

UNIT_MAIN("fields", test_values_in_order, test_single_fields, test_labels, test_cut, test_full,
	  test_nonsense_is_refused, test_nothing_many_times, test_damaged_values, test_damaged_shapes,
	  test_shapes_of_a_trace_are_forgotten, test_shapes_in_pieces, test_wanted_as_text, test_wanted_nonsense,
	  test_wanted_classes)
