/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events as text: their times. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nstime.h"
#include "event/fields.h"
#include "event/payload.h"
#include "out/dump.h"
#include "reader/values.h"

/* An event class "made" without fields. */
static struct shape *made(void)
{
	const struct shape_field none = { .name = "", .kind = SHAPE_NONE };
	GByteArray *bytes = g_byte_array_new();
	struct shape *shape;

	shape_put_name(bytes, "made");
	for (unsigned i = 0; i < 4; i++)
		shape_put_field(bytes, &none);
	shape = shape_parse(bytes->data, bytes->len);
	g_byte_array_free(bytes, TRUE);
	ck_assert_ptr_nonnull(shape);
	return shape;
}

/* Clocks that are estimated anew may place an event before the one that was written last. */
START_TEST(test_time_goes_back)
{
	static const uint64_t times[] = { 5 * NS_PER_S, 5 * NS_PER_S + 10, 5 * NS_PER_S + 10, 3 * NS_PER_S + 9 };
	static const char wanted[] = "[00:00:05.000000000] (+?.?????????" /* not a trigraph */
				     ") web made: \n"
				     "[00:00:05.000000010] (+0.000000010) web made: \n"
				     "[00:00:05.000000010] (+0.000000000) web made: \n"
				     "[00:00:03.000000009] (-2.000000001) web made: \n";
	struct event *ev = g_malloc0(EVENT_SIZE_MAX);
	struct dump_event e = { .fields = ev, .shape = made(), .host = "web" };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct dump *d = dump_create(out, DUMP_TEXT, true);

	ev->kind = EVENT_FIELDS;
	ev->n_words = sizeof(struct ev_fields) / 8;
	ev->size = sizeof(*ev) + sizeof(struct ev_fields);
	ck_assert_ptr_null(fields_check(e.shape, ev));
	for (size_t i = 0; i < G_N_ELEMENTS(times); i++) {
		e.ns = times[i];
		dump_event(d, &e);
	}
	dump_destroy(d);
	fclose(out);
	ck_assert_str_eq(text, wanted);
	free(text);
	shape_free((struct shape *)(uintptr_t)e.shape);
	g_free(ev);
}
END_TEST

UNIT_MAIN("dump text", test_time_goes_back)
