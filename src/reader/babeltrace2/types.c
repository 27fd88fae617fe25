/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/babeltrace2/internal.h"

static struct type *make(struct lib_knowledge *k, const bt_field_class *fc, enum type_kind kind)
{
	struct type *t = type_create(kind);

	g_ptr_array_add(k->types, t);
	g_hash_table_insert(k->of_classes, (gpointer)fc, t);
	return t;
}

static bool is_a(const bt_field_class *fc, bt_field_class_type type)
{
	return bt_field_class_type_is(bt_field_class_get_type(fc), type);
}

/* ---- integers and their labels ---- */

static void add_label(struct type *t, const char *name, int64_t first, int64_t last)
{
	const struct type_label label = { .name = g_strdup(name), .first = first, .last = last };

	g_array_append_val(t->labels, label);
}

static void add_unsigned_labels(struct type *t, const bt_field_class *fc, uint64_t i)
{
	const bt_field_class_enumeration_unsigned_mapping *m =
		bt_field_class_enumeration_unsigned_borrow_mapping_by_index_const(fc, i);
	const char *name = bt_field_class_enumeration_mapping_get_label(
		bt_field_class_enumeration_unsigned_mapping_as_mapping_const(m));
	const bt_integer_range_set_unsigned *set = bt_field_class_enumeration_unsigned_mapping_borrow_ranges_const(m);
	const uint64_t n = bt_integer_range_set_get_range_count(bt_integer_range_set_unsigned_as_range_set_const(set));

	for (uint64_t k = 0; k < n; k++) {
		const bt_integer_range_unsigned *r = bt_integer_range_set_unsigned_borrow_range_by_index_const(set, k);

		add_label(t, name, (int64_t)bt_integer_range_unsigned_get_lower(r),
			  (int64_t)bt_integer_range_unsigned_get_upper(r));
	}
}

static void add_signed_labels(struct type *t, const bt_field_class *fc, uint64_t i)
{
	const bt_field_class_enumeration_signed_mapping *m =
		bt_field_class_enumeration_signed_borrow_mapping_by_index_const(fc, i);
	const char *name = bt_field_class_enumeration_mapping_get_label(
		bt_field_class_enumeration_signed_mapping_as_mapping_const(m));
	const bt_integer_range_set_signed *set = bt_field_class_enumeration_signed_mapping_borrow_ranges_const(m);
	const uint64_t n = bt_integer_range_set_get_range_count(bt_integer_range_set_signed_as_range_set_const(set));

	for (uint64_t k = 0; k < n; k++) {
		const bt_integer_range_signed *r = bt_integer_range_set_signed_borrow_range_by_index_const(set, k);

		add_label(t, name, bt_integer_range_signed_get_lower(r), bt_integer_range_signed_get_upper(r));
	}
}

static uint8_t base_of(const bt_field_class *fc)
{
	switch (bt_field_class_integer_get_preferred_display_base(fc)) {
	case BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_BINARY:
		return 2;
	case BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_OCTAL:
		return 8;
	case BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL:
		return 16;
	default:
		return 10;
	}
}

static struct type *make_integer(struct lib_knowledge *k, const bt_field_class *fc)
{
	const bool is_enum = is_a(fc, BT_FIELD_CLASS_TYPE_ENUMERATION);
	struct type *t = make(k, fc, is_enum ? TYPE_ENUM : TYPE_INTEGER);

	t->size = (unsigned)bt_field_class_integer_get_field_value_range(fc);
	t->is_signed = is_a(fc, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	t->base = base_of(fc);
	for (uint64_t i = 0; is_enum && i < bt_field_class_enumeration_get_mapping_count(fc); i++) {
		if (t->is_signed)
			add_signed_labels(t, fc, i);
		else
			add_unsigned_labels(t, fc, i);
	}
	return t;
}

/* A single bit, or a number of bits shown without interpretation. */
static struct type *make_bits(struct lib_knowledge *k, const bt_field_class *fc)
{
	struct type *t = make(k, fc, TYPE_INTEGER);

	t->is_bool = is_a(fc, BT_FIELD_CLASS_TYPE_BOOL);
	t->size = t->is_bool ? 1 : (unsigned)bt_field_class_bit_array_get_length(fc);
	t->base = t->is_bool ? 10 : 16;
	return t;
}

static struct type *make_float(struct lib_knowledge *k, const bt_field_class *fc)
{
	struct type *t = make(k, fc, TYPE_FLOAT);

	t->size = is_a(fc, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL) ? 32 : 64;
	return t;
}

/* ---- types with members ---- */

static struct type *make_structure(struct lib_knowledge *k, const bt_field_class *fc)
{
	struct type *t = make(k, fc, TYPE_STRUCT);

	for (uint64_t i = 0; i < bt_field_class_structure_get_member_count(fc); i++) {
		const bt_field_class_structure_member *m = bt_field_class_structure_borrow_member_by_index_const(fc, i);
		const bt_field_class *mfc = bt_field_class_structure_member_borrow_field_class_const(m);

		type_add_field(t, bt_field_class_structure_member_get_name(m), (struct type *)lib_type(k, mfc));
	}
	return t;
}

static struct type *make_variant(struct lib_knowledge *k, const bt_field_class *fc)
{
	struct type *t = make(k, fc, TYPE_VARIANT);

	for (uint64_t i = 0; i < bt_field_class_variant_get_option_count(fc); i++) {
		const bt_field_class_variant_option *o = bt_field_class_variant_borrow_option_by_index_const(fc, i);
		const bt_field_class *ofc = bt_field_class_variant_option_borrow_field_class_const(o);
		const char *name = bt_field_class_variant_option_get_name(o);

		type_add_field(t, name ? name : "", (struct type *)lib_type(k, ofc));
	}
	return t;
}

/* As in the native reader: a variant of the field and an empty structure. */
static struct type *make_option(struct lib_knowledge *k, const bt_field_class *fc)
{
	struct type *t = make(k, fc, TYPE_VARIANT), *nothing = type_create(TYPE_STRUCT);
	const bt_field_class *inner = bt_field_class_option_borrow_field_class_const(fc);

	g_ptr_array_add(k->types, nothing);
	type_add_field(t, "", (struct type *)lib_type(k, inner));
	type_add_field(t, "", nothing);
	return t;
}

static struct type *make_array(struct lib_knowledge *k, const bt_field_class *fc)
{
	const bool is_static = is_a(fc, BT_FIELD_CLASS_TYPE_STATIC_ARRAY);
	struct type *t = make(k, fc, is_static ? TYPE_ARRAY : TYPE_SEQUENCE);

	if (is_static)
		t->length = bt_field_class_array_static_get_length(fc);
	t->element = (struct type *)lib_type(k, bt_field_class_array_borrow_element_field_class_const(fc));
	return t;
}

const struct type *lib_type(struct lib_knowledge *k, const bt_field_class *fc)
{
	struct type *known = fc ? g_hash_table_lookup(k->of_classes, fc) : NULL;

	if (!fc || known)
		return known;
	if (is_a(fc, BT_FIELD_CLASS_TYPE_INTEGER))
		return make_integer(k, fc);
	if (is_a(fc, BT_FIELD_CLASS_TYPE_BOOL) || is_a(fc, BT_FIELD_CLASS_TYPE_BIT_ARRAY))
		return make_bits(k, fc);
	if (is_a(fc, BT_FIELD_CLASS_TYPE_STRING))
		return make(k, fc, TYPE_STRING);
	if (is_a(fc, BT_FIELD_CLASS_TYPE_STRUCTURE))
		return make_structure(k, fc);
	if (is_a(fc, BT_FIELD_CLASS_TYPE_VARIANT))
		return make_variant(k, fc);
	if (is_a(fc, BT_FIELD_CLASS_TYPE_OPTION))
		return make_option(k, fc);
	if (is_a(fc, BT_FIELD_CLASS_TYPE_ARRAY))
		return make_array(k, fc);
	return make_float(k, fc);
}
