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

static struct type *make_integer(struct lib_knowledge *k, const bt_field_class *fc)
{
	struct type *t = make(k, fc, TYPE_INTEGER);

	t->size = (unsigned)bt_field_class_integer_get_field_value_range(fc);
	t->is_signed = is_a(fc, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	return t;
}

static struct type *make_structure(struct lib_knowledge *k, const bt_field_class *fc)
{
	struct type *t = make(k, fc, TYPE_STRUCT);

	for (uint64_t i = 0; i < bt_field_class_structure_get_member_count(fc); i++) {
		const bt_field_class_structure_member *m =
			bt_field_class_structure_borrow_member_by_index_const(fc, i);
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

static struct type *make_array(struct lib_knowledge *k, const bt_field_class *fc)
{
	struct type *t = make(k, fc, TYPE_SEQUENCE);

	t->element = (struct type *)lib_type(k, bt_field_class_array_borrow_element_field_class_const(fc));
	return t;
}

const struct type *lib_type(struct lib_knowledge *k, const bt_field_class *fc)
{
	struct type *known = fc ? g_hash_table_lookup(k->of_classes, fc) : NULL, *t;

	if (!fc || known)
		return known;
	if (is_a(fc, BT_FIELD_CLASS_TYPE_INTEGER))
		return make_integer(k, fc);
	if (is_a(fc, BT_FIELD_CLASS_TYPE_BOOL)) {
		t = make(k, fc, TYPE_INTEGER);
		t->size = 1;
		return t;
	}
	if (is_a(fc, BT_FIELD_CLASS_TYPE_STRING))
		return make(k, fc, TYPE_STRING);
	if (is_a(fc, BT_FIELD_CLASS_TYPE_STRUCTURE))
		return make_structure(k, fc);
	if (is_a(fc, BT_FIELD_CLASS_TYPE_VARIANT))
		return make_variant(k, fc);
	if (is_a(fc, BT_FIELD_CLASS_TYPE_ARRAY))
		return make_array(k, fc);
	return make(k, fc, TYPE_FLOAT);
}
