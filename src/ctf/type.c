/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/type.h"

#include <string.h>

/* Larger than any packet; keeps sums of sizes from overflowing. */
#define BITS_MAX (UINT64_C(1) << 48)

static void release_field(gpointer field)
{
	g_free(((struct type_field *)field)->name);
}

static void release_label(gpointer label)
{
	g_free(((struct type_label *)label)->name);
}

struct type *type_create(enum type_kind kind)
{
	struct type *t = g_new0(struct type, 1);

	t->kind = kind;
	t->align = kind == TYPE_STRING ? 8 : 1;
	t->is_native = true;
	t->slot = SLOT_NONE;
	if (kind == TYPE_STRUCT || kind == TYPE_VARIANT) {
		t->fields = g_array_new(FALSE, TRUE, sizeof(struct type_field));
		g_array_set_clear_func(t->fields, release_field);
	}
	if (kind == TYPE_ENUM) {
		t->labels = g_array_new(FALSE, TRUE, sizeof(struct type_label));
		g_array_set_clear_func(t->labels, release_label);
	}
	if (kind == TYPE_VARIANT)
		t->cases = g_array_new(FALSE, TRUE, sizeof(struct type_case));
	return t;
}

void type_destroy(struct type *t)
{
	if (t->fields)
		g_array_free(t->fields, TRUE);
	if (t->labels)
		g_array_free(t->labels, TRUE);
	if (t->cases)
		g_array_free(t->cases, TRUE);
	g_strfreev(t->path);
	g_free(t->clock_name);
	g_free(t);
}

void type_set_integer(struct type *t, const struct type *from)
{
	t->align = from->align;
	t->size = from->size;
	t->is_signed = from->is_signed;
	t->is_native = from->is_native;
	t->is_clock = from->is_clock;
	t->base = from->base;
	t->order = from->order;
	t->clock_name = g_strdup(from->clock_name);
}

bool type_is_same_number(const struct type *a, const struct type *b)
{
	return a->kind == b->kind && a->align == b->align && a->size == b->size && a->is_signed == b->is_signed &&
	       a->is_native == b->is_native && a->is_clock == b->is_clock && a->base == b->base &&
	       a->is_text == b->is_text && a->order == b->order && g_strcmp0(a->clock_name, b->clock_name) == 0;
}

struct type *type_copy_integer(const struct type *t)
{
	struct type *copy = type_create(t->kind);

	type_set_integer(copy, t);
	copy->is_bool = t->is_bool;
	copy->is_text = t->is_text;
	for (guint i = 0; t->labels && i < t->labels->len; i++) {
		struct type_label label = g_array_index(t->labels, struct type_label, i);

		label.name = g_strdup(label.name);
		g_array_append_val(copy->labels, label);
	}
	return copy;
}

struct type_field *type_find_field(const struct type *t, const char *name, guint n)
{
	/* From the last one backwards: of two fields with the same name the nearer one is meant. */
	for (guint i = MIN(n, t->fields->len); i-- > 0;)
		if (!strcmp(type_field(t, i)->name, name))
			return type_field(t, i);
	return NULL;
}

static bool has_shown_field(struct type *t)
{
	if (!t->is_asked) {
		t->is_asked = true;
		t->has_shown = t->fields->len == 0;
		for (guint i = 0; i < t->fields->len && !t->has_shown; i++)
			t->has_shown = type_is_shown(type_field(t, i));
	}
	return t->has_shown;
}

bool type_is_shown(const struct type_field *f)
{
	struct type *t = f->type;

	if (f->slot != SLOT_NONE)
		return true;
	if (f->role != PACKET_NO_FIELD && f->role != PACKET_CPU_ID)
		return false;
	while (t->kind == TYPE_ARRAY || t->kind == TYPE_SEQUENCE)
		t = t->element;
	return t->kind == TYPE_STRUCT ? has_shown_field(t) : !t->is_clock;
}

void type_add_field(struct type *t, const char *name, struct type *type)
{
	struct type_field field = { .name = g_strdup(name), .type = type, .slot = SLOT_NONE, .role = PACKET_NO_FIELD };

	g_array_append_val(t->fields, field);
	if (t->kind == TYPE_STRUCT)
		t->align = MAX(t->align, type->align);
}

/*
 * A struct is fixed if all its fields are. Their offsets do not vary, because its alignment is the greatest of theirs.
 */
static void measure_struct(struct type *t)
{
	uint64_t at = 0;

	t->is_fixed = true;
	for (guint i = 0; i < t->fields->len; i++) {
		const struct type_field *f = type_field(t, i);

		if (!f->type->is_fixed || f->slot != SLOT_NONE || at > BITS_MAX) {
			t->is_fixed = false;
			return;
		}
		at = type_align(at, f->type->align) + f->type->fixed_bits;
	}
	t->fixed_bits = at;
}

static void measure_array(struct type *t)
{
	const struct type *e = t->element;
	uint64_t stride = type_align(e->fixed_bits, e->align);

	t->is_fixed = e->is_fixed && (!t->length || stride <= BITS_MAX / t->length);
	if (t->is_fixed && t->length)
		t->fixed_bits = stride * (t->length - 1) + e->fixed_bits;
}

static void measure_inner(struct type *t, struct type *inner, enum bits_order native)
{
	type_measure(inner, native);
	t->max_align = MAX(t->max_align, inner->max_align);
}

void type_measure(struct type *t, enum bits_order native)
{
	if (t->is_measured)
		return;
	t->is_measured = true;
	t->max_align = t->align;
	if (t->is_native)
		t->order = native;
	for (guint i = 0; t->fields && i < t->fields->len; i++)
		measure_inner(t, type_field(t, i)->type, native);
	if (t->element)
		measure_inner(t, t->element, native);
	switch (t->kind) {
	case TYPE_INTEGER:
	case TYPE_ENUM:
	case TYPE_FLOAT:
		t->is_fixed = !t->is_clock;
		t->fixed_bits = t->size;
		break;
	case TYPE_STRUCT:
		measure_struct(t);
		break;
	case TYPE_ARRAY:
		measure_array(t);
		break;
	case TYPE_STRING:
	case TYPE_VARIANT:
	case TYPE_SEQUENCE:
		break;
	}
}
