/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UNIT_CALL_FIELDS_H
#define LT_UNIT_CALL_FIELDS_H

/*
 * An event of a system call, built field by field, for the tests of attach/decode.h. setup() starts it, put_*() add
 * fields, finish() makes it ready to be decoded.
 */
#include "unit.h"

#include "attach/calls.h"
#include "attach/decode.h"
#include "event/fields.h"
#include "event/payload.h"
#include "reader/values.h"

static GByteArray *fields; /* the payload's */
static unsigned n_fields;
static struct event *record;
static uint32_t payload_begin;
static struct shape *shape;
static GString *out;

static inline void setup(void)
{
	calls_init();
	fields = g_byte_array_new();
	n_fields = 0;
	shape = NULL;
	record = g_malloc0(EVENT_SIZE_MAX);
	record->kind = EVENT_FIELDS;
	record->n_words = sizeof(struct ev_fields) / 8;
	record->size = sizeof(*record) + sizeof(struct ev_fields);
	payload_begin = record->size;
	out = g_string_new(NULL);
}

static inline void teardown(void)
{
	g_byte_array_free(fields, TRUE);
	g_free(record);
	shape_free(shape);
	g_string_free(out, TRUE);
}

static inline void declare(enum shape_kind kind, const char *name, unsigned bits, uint32_t count)
{
	const struct shape_field f = {
		.name = name,
		.kind = kind,
		.base = 10,
		.bits = (uint8_t)bits,
		.is_signed = kind == SHAPE_INT,
		.count = count,
	};

	shape_put_field(fields, &f);
}

static inline void put_int(const char *name, int64_t value, unsigned bits)
{
	declare(SHAPE_INT, name, bits, 0);
	n_fields++;
	values_word(record, (uint64_t)value);
}

static inline void put_uint(const char *name, uint64_t value, unsigned bits)
{
	declare(SHAPE_UINT, name, bits, 0);
	n_fields++;
	values_word(record, value);
}

static inline void put_text(const char *name, const char *text, size_t len)
{
	declare(SHAPE_TEXT, name, 0, 0);
	n_fields++;
	values_text(record, text, len);
}

static inline void put_list(const char *name, unsigned bits, const uint64_t *values, uint32_t n)
{
	uint32_t kept;

	declare(SHAPE_SEQUENCE, name, 0, 0);
	declare(SHAPE_UINT, "", bits, 0);
	n_fields++;
	values_array(record, n, &kept);
	for (uint32_t i = 0; i < kept; i++)
		values_word(record, values[i]);
}

/* struct pollfd as lttng-modules records it: fd, raw_events, and bits. */
static inline void put_pollfds(const char *name, uint32_t n, const int *fds, const uint64_t *events)
{
	uint32_t kept;

	declare(SHAPE_SEQUENCE, name, 0, 0);
	declare(SHAPE_STRUCT, "", 0, 3);
	declare(SHAPE_INT, "fd", 32, 0);
	declare(SHAPE_UINT, "raw_events", 16, 0);
	declare(SHAPE_STRUCT, "events", 0, 1);
	declare(SHAPE_UINT, "POLLIN", 1, 0);
	n_fields++;
	values_array(record, n, &kept);
	for (uint32_t i = 0; i < kept; i++) {
		values_word(record, (uint64_t)(int64_t)fds[i]);
		values_word(record, events[i]);
		values_word(record, events[i] & 1);
	}
}

static inline struct decode finish(void)
{
	GByteArray *bytes = g_byte_array_new();
	const struct shape_field none = { .name = "", .kind = SHAPE_NONE };
	const struct shape_field payload = { .name = "", .kind = SHAPE_STRUCT, .count = n_fields };

	shape_put_name(bytes, "syscall_entry_made");
	for (unsigned i = 0; i < 3; i++)
		shape_put_field(bytes, &none);
	shape_put_field(bytes, &payload);
	g_byte_array_append(bytes, fields->data, fields->len);
	shape = shape_parse(bytes->data, bytes->len);
	g_byte_array_free(bytes, TRUE);
	ck_assert_ptr_nonnull(shape);
	values_end_part(record, FIELDS_PAYLOAD, payload_begin);
	ck_assert_ptr_null(event_check(record, EVENT_SIZE_MAX));
	ck_assert_ptr_null(fields_check(shape, record));
	return (struct decode){ .out = out, .shape = shape, .ev = record };
}

#endif
