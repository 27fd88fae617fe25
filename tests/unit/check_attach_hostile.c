/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of system calls that no tracer writes: whatever they hold, the text is printable. */
#include "call_fields.h"

#include <glib.h>

static uint64_t seed;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static uint64_t hostile_number(void)
{
	static const uint64_t odd[] = {
		0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, UINT32_MAX, INT32_MAX, 1u << 31, 4096, 4095, 64, 65,
	};

	return next_random() % 3 ? odd[next_random() % G_N_ELEMENTS(odd)] : next_random();
}

/* A field of any type and value, with the name of an argument. */
static void put_hostile(const char *name)
{
	static const unsigned widths[] = { 1, 3, 8, 16, 32, 64 };
	const unsigned bits = widths[next_random() % G_N_ELEMENTS(widths)];
	uint64_t values[40];
	int fds[8];
	char bytes[64];

	for (unsigned i = 0; i < G_N_ELEMENTS(values); i++)
		values[i] = hostile_number();
	for (unsigned i = 0; i < G_N_ELEMENTS(fds); i++)
		fds[i] = (int)hostile_number();
	for (unsigned i = 0; i < G_N_ELEMENTS(bytes); i++)
		bytes[i] = (char)next_random();
	switch (next_random() % 6) {
	case 0:
		put_int(name, (int64_t)values[0], bits);
		break;
	case 1:
		put_uint(name, values[0], bits);
		break;
	case 2:
		put_text(name, bytes, next_random() % sizeof(bytes));
		break;
	case 3:
		put_list(name, bits, values, (uint32_t)(next_random() % G_N_ELEMENTS(values)));
		break;
	case 4:
		put_pollfds(name, (uint32_t)(next_random() % G_N_ELEMENTS(fds)), fds, values);
		break;
	default:
		declare(SHAPE_STRUCT, name, 0, 1);
		declare(SHAPE_FLOAT, "u64", 64, 0);
		n_fields++;
		values_word(record, values[0]);
		break;
	}
}

static void check_printable(const char *text, const char *call)
{
	ck_assert_msg(g_utf8_validate(text, -1, NULL), "%s: not UTF-8", call);
	for (const char *p = text; *p; p++)
		ck_assert_msg((unsigned char)*p >= ' ' && *p != 0x7f, "%s: a control character: %s", call, text);
}

START_TEST(test_hostile)
{
	static const char *const companions[] = {
		"family", "sport",    "dport", "v4addr",  "v6addr", "cmd", "level",
		"flags",  "overflow", "fds",   "readfds", "args",   "id",  "ret",
	};
	unsigned n;
	const struct call *calls = calls_all(&n);

	seed = 0x9e3779b97f4a7c15;
	for (unsigned round = 0; round < 20 * n; round++) {
		const struct call *call = &calls[round % n];
		struct decode d;

		teardown();
		setup();
		for (unsigned i = 0; i < call->n_args; i++)
			put_hostile(call->args[i].names[0]);
		for (unsigned i = 0; i < G_N_ELEMENTS(companions); i++)
			if (next_random() % 2)
				put_hostile(companions[i]);
		d = finish();
		for (unsigned i = 0; i < call->n_args; i++) {
			decode_arg(&d, &call->args[i]);
			decode_register(&d, &call->args[i], i);
		}
		for (uint32_t f = shape->parts[FIELDS_PAYLOAD] + 1, i = 0; i < n_fields; i++, f = shape->fields[f].next)
			decode_field(&d, f);
		decode_result(&d, call, (int64_t)hostile_number(), hostile_number());
		check_printable(out->str, call->name);
	}
}
END_TEST

/* A text is shown as far as it was recorded, also where each of its bytes takes four. */
START_TEST(test_text_in_no_encoding)
{
	enum { BYTES = 2000 };
	char text[BYTES];
	GString *expected = g_string_new("\"");
	struct decode d;

	g_string_truncate(out, 0);
	for (unsigned i = 0; i < BYTES; i++)
		g_string_append(expected, "\\xff");
	g_string_append(expected, "\"");
	memset(text, 0xff, sizeof(text));
	put_text("pathname", text, sizeof(text));
	d = finish();
	ck_assert_int_eq(decode_arg(&d, &calls_find("rmdir")->args[0]), DECODED_SHOWN);
	ck_assert(g_string_equal(out, expected));
	g_string_free(expected, TRUE);
}
END_TEST

UNIT_MAIN_AROUND("attach_hostile", setup, teardown, test_hostile, test_text_in_no_encoding)
