/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/shape.h"

#include <stdlib.h>

#include "base/keyhash.h"
#include "event/fields.h"

struct shape_writer {
	GByteArray *out;
	size_t most;
	bool has_labels;
	unsigned n_fields, depth;
};

static bool put_type(struct shape_writer *w, const char *name, const struct type *t);

static uint8_t kind_of(const struct type *t)
{
	switch (t->kind) {
	case TYPE_INTEGER:
		return t->is_bool ? SHAPE_BOOL : t->is_signed ? SHAPE_INT : SHAPE_UINT;
	case TYPE_ENUM:
		return SHAPE_ENUM;
	case TYPE_FLOAT:
		return SHAPE_FLOAT;
	case TYPE_STRING:
		return SHAPE_TEXT;
	case TYPE_STRUCT:
		return SHAPE_STRUCT;
	case TYPE_VARIANT:
		return SHAPE_VARIANT;
	case TYPE_ARRAY:
		return t->is_text ? SHAPE_TEXT : SHAPE_ARRAY;
	case TYPE_SEQUENCE:
		return t->is_text ? SHAPE_TEXT : SHAPE_SEQUENCE;
	}
	g_assert_not_reached();
}

static bool is_in_shape(const struct type *t, guint i)
{
	return t->kind == TYPE_VARIANT || type_is_shown(type_field(t, i));
}

static uint32_t count_of(const struct type *t, uint8_t kind)
{
	uint32_t n = 0;

	if (kind == SHAPE_ARRAY)
		return (uint32_t)MIN(t->length, UINT32_MAX);
	for (guint i = 0; t->fields && i < t->fields->len; i++)
		n += is_in_shape(t, i);
	return n;
}

/* A label, and the index of the first label with the same name. */
struct ordered_label {
	const struct type_label *label;
	uint32_t first, own;
};

static int by_first(gconstpointer a, gconstpointer b)
{
	const struct ordered_label *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->own < y->own ? -1 : 1;
}

/* Puts all ranges of a label together, at the position of its first one. */
static void put_labels(struct shape_writer *w, const struct type *t, uint32_t n)
{
	struct ordered_label *labels = g_new(struct ordered_label, n + 1);
	GHashTable *firsts = g_hash_table_new(keyhash_text, g_str_equal);

	for (uint32_t i = 0; i < n; i++) {
		const struct type_label *l = &g_array_index(t->labels, struct type_label, i);

		labels[i] = (struct ordered_label){ .label = l, .first = i, .own = i };
		if (!g_hash_table_contains(firsts, l->name))
			g_hash_table_insert(firsts, l->name, GUINT_TO_POINTER(i));
		labels[i].first = GPOINTER_TO_UINT(g_hash_table_lookup(firsts, l->name));
	}
	qsort(labels, n, sizeof(*labels), by_first);
	for (uint32_t i = 0; i < n; i++) {
		const struct type_label *l = labels[i].label;
		const struct shape_label label = { .name = l->name, .first = l->first, .last = l->last };

		shape_put_label(w->out, &label);
	}
	g_hash_table_destroy(firsts);
	g_free(labels);
}

/* Nested as deeply as shape_parse() accepts. */
static bool put_inner(struct shape_writer *w, const struct type *t, uint8_t kind)
{
	const bool has_elements = kind == SHAPE_ARRAY || kind == SHAPE_SEQUENCE;

	if (kind < SHAPE_STRUCT)
		return true;
	if (++w->depth >= FIELDS_DEPTH_MAX || (has_elements && !put_type(w, "", t->element)))
		return false;
	for (guint i = 0; t->fields && i < t->fields->len; i++)
		if (is_in_shape(t, i) && !put_type(w, type_field(t, i)->name, type_field(t, i)->type))
			return false;
	w->depth--;
	return true;
}

static bool put_type(struct shape_writer *w, const char *name, const struct type *t)
{
	const uint8_t kind = kind_of(t);
	const struct shape_field field = {
		.name = name,
		.kind = kind,
		.base = t->base ? t->base : 10,
		.bits = (uint8_t)MIN(t->size, 255),
		.is_signed = t->is_signed,
		.count = count_of(t, kind),
		.n_labels = kind == SHAPE_ENUM && w->has_labels ? MIN(t->labels->len, UINT16_MAX) : 0,
	};

	if (++w->n_fields > SHAPE_FIELDS_MAX || w->out->len > w->most)
		return false;
	shape_put_field(w->out, &field);
	put_labels(w, t, field.n_labels);
	return put_inner(w, t, kind);
}

static bool put_part(struct shape_writer *w, const struct type *t)
{
	static const struct shape_field none = { .name = "", .kind = SHAPE_NONE };
	const struct type_field whole = { .type = (struct type *)t, .slot = SLOT_NONE, .role = PACKET_NO_FIELD };

	if (t && t->kind == TYPE_STRUCT && type_is_shown(&whole))
		return put_type(w, "", t);
	w->n_fields++;
	shape_put_field(w->out, &none);
	return true;
}

static GByteArray *try_write(const struct class_desc *desc, size_t most, bool has_labels)
{
	struct shape_writer w = { .out = g_byte_array_new(), .most = most, .has_labels = has_labels };

	shape_put_name(w.out, desc->name ? desc->name : "unnamed");
	if (put_part(&w, desc->packet) && put_part(&w, desc->common) && put_part(&w, desc->specific) &&
	    put_part(&w, desc->payload) && w.out->len <= most)
		return w.out;
	g_byte_array_free(w.out, TRUE);
	return NULL;
}

GByteArray *shape_write(const struct class_desc *desc, size_t most)
{
	GByteArray *bytes = try_write(desc, most, true);

	return bytes ? bytes : try_write(desc, most, false);
}
