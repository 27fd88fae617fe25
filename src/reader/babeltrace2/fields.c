/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/babeltrace2/internal.h"

#include <math.h>
#include <string.h>

#include "reader/emit.h"
#include "reader/values.h"

enum { COMM_BYTES = 16 };

/* Executes a plan on the library's fields. */

static void put(void *words, unsigned offset, uint64_t value)
{
	memcpy((char *)words + offset, &value, sizeof(value));
}

static uint64_t get(const void *words, unsigned offset)
{
	uint64_t value;

	memcpy(&value, (const char *)words + offset, sizeof(value));
	return value;
}

static uint64_t integer(const bt_field *f)
{
	const bt_field_class_type type = bt_field_get_class_type(f);

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_BOOL))
		return bt_field_bool_get_value(f) ? 1 : 0;
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_BIT_ARRAY))
		return bt_field_bit_array_get_value_as_integer(f);
	return bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)
		       ? (uint64_t)bt_field_integer_signed_get_value(f)
		       : bt_field_integer_unsigned_get_value(f);
}

static uint64_t element(const bt_field *array, uint64_t i)
{
	return integer(bt_field_array_borrow_element_field_by_index_const(array, i));
}

/* Reads an array of character codes up to its first 0, at most size bytes. */
static size_t array_text(const bt_field *array, char *text, size_t size)
{
	const uint64_t n = bt_field_array_get_length(array);
	size_t len;

	for (len = 0; len < n && len < size; len++) {
		text[len] = (char)element(array, len);
		if (!text[len])
			break;
	}
	return len;
}

/* For an empty string the library keeps the previous value; only the length is valid. */
static size_t string_length(const bt_field *field, size_t max)
{
	const uint64_t len = bt_field_string_get_length(field);

	return len < max ? len : max;
}

/* Clears the bytes after the text, which another context may have set. */
static void read_comm(const bt_field *field, char *to)
{
	memset(to, 0, COMM_BYTES);
	memcpy(to, bt_field_string_get_value(field), string_length(field, COMM_BYTES));
}

static void read_comm_array(const bt_field *field, char *to)
{
	memset(to, 0, COMM_BYTES);
	array_text(field, to, COMM_BYTES);
}

static void read_text_array(const struct plan_op *op, const bt_field *field, struct event *ev)
{
	char text[TEXT_MAX];

	emit_text(ev, op->offset, text, array_text(field, text, sizeof(text)));
}

/* false: the event has no address here, for example for a socket of another family. */
static bool read_address(const struct plan_op *op, const bt_field *array, void *words)
{
	const uint64_t n = bt_field_array_get_length(array);
	unsigned char bytes[16] = { 0 };
	size_t len = 0;

	/* there are members for IPv4 and IPv6, one of them empty */
	if (!n)
		return false;
	for (uint64_t i = 0; i < n && len < sizeof(bytes); i++) {
		const uint64_t value = element(array, i);

		if (op->wide && len < sizeof(bytes))
			bytes[len++] = value >> 8;
		bytes[len++] = value;
	}
	memcpy((char *)words + op->offset, bytes, sizeof(bytes));
	return true;
}

static bool read_integers(const struct plan_op *op, const bt_field *array, void *words)
{
	const uint64_t n = bt_field_array_get_length(array);

	for (unsigned i = 0; i < n && i < op->count; i++)
		put(words, op->offset + 8 * i, element(array, i));
	return n > 0;
}

static bool read_variant(const struct plan_op *op, const bt_field *field, void *words)
{
	const uint64_t selected = bt_field_variant_get_selected_option_index(field);
	const struct field_plan *option;

	if (selected >= op->n_options)
		return false;
	option = &op->options[selected];
	if (option->version)
		put(words, op->offset, option->version);
	if (option->n)
		lib_plan_read(option, bt_field_variant_borrow_selected_option_field_const(field), words, NULL);
	return option->n > 0;
}

static bool read_one(const struct plan_op *op, const bt_field *field, void *words, struct event *ev)
{
	switch ((enum read_op)op->op) {
	case READ_SIGNED:
	case READ_UNSIGNED:
		put(words, op->offset, integer(field));
		return true;
	case READ_COMM:
		read_comm(field, (char *)words + op->offset);
		return true;
	case READ_COMM_ARRAY:
		read_comm_array(field, (char *)words + op->offset);
		return true;
	case READ_TEXT:
		emit_text(ev, op->offset, bt_field_string_get_value(field), string_length(field, TEXT_MAX));
		return true;
	case READ_TEXT_ARRAY:
		read_text_array(op, field, ev);
		return true;
	case READ_INTS:
		return read_integers(op, field, words);
	case READ_ADDRESS:
		return read_address(op, field, words);
	case READ_ADDRESS_WORD:
		put(words, op->offset, GUINT32_TO_BE(bt_field_integer_unsigned_get_value(field)));
		return true;
	case READ_IHL:
		put(words, op->offset, get(words, op->offset) | bt_field_integer_unsigned_get_value(field) << 8);
		return true;
	case READ_OR:
		put(words, op->offset, get(words, op->offset) | bt_field_integer_unsigned_get_value(field));
		return true;
	case READ_VARIANT:
		return read_variant(op, field, words);
	}
	return false;
}

uint32_t lib_plan_read(const struct field_plan *plan, const bt_field *structure, void *words, struct event *ev)
{
	uint32_t present = 0;

	for (unsigned i = 0; i < plan->n; i++) {
		const struct plan_op *op = &plan->ops[i];
		const bt_field *field = bt_field_structure_borrow_member_field_by_index_const(structure, op->member);

		if (read_one(op, field, words, ev) && op->bit != PLAN_NO_BIT)
			present |= UINT32_C(1) << op->bit;
	}
	return present;
}

/* ---- all values ---- */

static bool append_members(struct event *ev, const bt_field *f)
{
	const uint64_t n = bt_field_class_structure_get_member_count(bt_field_borrow_class_const(f));

	for (uint64_t i = 0; i < n; i++)
		if (!lib_append_values(ev, bt_field_structure_borrow_member_field_by_index_const(f, i)))
			return false;
	return true;
}

static bool append_elements(struct event *ev, const bt_field *f)
{
	uint32_t kept;

	if (!values_array(ev, bt_field_array_get_length(f), &kept))
		return false;
	for (uint32_t i = 0; i < kept; i++)
		if (!lib_append_values(ev, bt_field_array_borrow_element_field_by_index_const(f, i)))
			return false;
	return true;
}

static bool append_option(struct event *ev, const bt_field *f)
{
	const bt_field *inner = bt_field_option_borrow_field_const(f);

	return values_word(ev, !inner) && (!inner || lib_append_values(ev, inner));
}

static bool append_float(struct event *ev, const bt_field *f)
{
	const bt_field_class_type type = bt_field_get_class_type(f);
	double value = NAN;
	uint64_t word;

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL))
		value = (double)bt_field_real_single_precision_get_value(f);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL))
		value = bt_field_real_double_precision_get_value(f);
	memcpy(&word, &value, sizeof(word));
	return values_word(ev, word);
}

bool lib_append_values(struct event *ev, const bt_field *f)
{
	const bt_field_class_type type = bt_field_get_class_type(f);

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_STRING))
		return values_text(ev, bt_field_string_get_value(f), bt_field_string_get_length(f));
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_STRUCTURE))
		return append_members(ev, f);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		return append_elements(ev, f);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		return values_word(ev, bt_field_variant_get_selected_option_index(f)) &&
		       lib_append_values(ev, bt_field_variant_borrow_selected_option_field_const(f));
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION))
		return append_option(ev, f);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_INTEGER) ||
	    bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_BOOL) ||
	    bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_BIT_ARRAY))
		return values_word(ev, integer(f));
	return append_float(ev, f);
}
