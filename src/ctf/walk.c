/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/walk.h"

#include <string.h>

void walk_init(struct walk *w, const struct layout *l, const uint8_t *data, uint64_t end)
{
	*w = (struct walk){ .data = data, .end = end, .slots = g_new0(uint64_t, l->n_slots) };
}

void walk_release(struct walk *w)
{
	g_free(w->slots);
}

enum { CASES_PER_STEP = 16 };

const char *walk_failure(const struct walk *w)
{
	return walk_is_endless(w) ? "too many empty fields" : "an event is larger than its packet";
}

static bool align(struct walk *w, uint64_t to)
{
	w->at = type_align(w->at, to);
	return w->at <= w->end;
}

static bool skip(struct walk *w, uint64_t bits)
{
	if (bits > w->end - w->at)
		return false;
	w->at += bits;
	return true;
}

/*
 * A time of fewer than 64 bits holds the low bits. The high bits are those of the previous time, plus one if the low
 * bits decreased: tracers write a full time if more has passed.
 */
static void update_clock(struct walk *w, uint64_t value, unsigned size)
{
	uint64_t mask;

	if (size == 64) {
		w->clock = value;
		return;
	}
	mask = (UINT64_C(1) << size) - 1;
	if (value < (w->clock & mask))
		w->clock += mask + 1;
	w->clock = (w->clock & ~mask) | value;
}

bool walk_integer(struct walk *w, const struct type *t, uint64_t *value)
{
	uint64_t from;

	if (!align(w, t->align))
		return false;
	from = w->at;
	if (!skip(w, t->size))
		return false;
	*value = bits_read(w->data, from, t->size, t->order);
	if (t->is_clock)
		update_clock(w, *value, t->size);
	if (t->is_signed && t->size < 64 && *value >> (t->size - 1))
		*value |= ~UINT64_C(0) << t->size;
	return true;
}

static bool walk_field(struct walk *w, const struct type_field *f)
{
	uint64_t value;

	if (f->type->kind != TYPE_INTEGER && f->type->kind != TYPE_ENUM)
		return walk_type(w, f->type);
	if (!walk_integer(w, f->type, &value))
		return false;
	if (f->slot != SLOT_NONE)
		w->slots[f->slot] = value;
	return true;
}

static bool walk_string(struct walk *w)
{
	const uint8_t *from, *nul;

	if (!align(w, 8))
		return false;
	from = w->data + w->at / 8;
	nul = memchr(from, 0, (w->end - w->at) / 8);
	return nul && skip(w, 8 * (uint64_t)(nul + 1 - from));
}

const struct type_case *walk_choose(struct walk *w, const struct type *variant)
{
	const uint64_t tag = w->slots[variant->slot];

	if (!walk_take_steps(w, 1 + variant->cases->len / CASES_PER_STEP))
		return NULL;
	for (guint i = 0; i < variant->cases->len; i++) {
		const struct type_case *c = &g_array_index(variant->cases, struct type_case, i);

		if (variant->tag_is_signed ? (int64_t)tag >= c->first && (int64_t)tag <= c->last
					   : tag >= (uint64_t)c->first && tag <= (uint64_t)c->last)
			return c;
	}
	return NULL;
}

static bool walk_variant(struct walk *w, const struct type *t)
{
	const struct type_case *c = walk_choose(w, t);

	return c && walk_field(w, type_field(t, c->field));
}

static bool walk_elements(struct walk *w, const struct type *t, uint64_t n)
{
	const struct type *e = t->element;
	uint64_t stride;

	if (!align(w, t->align) || !n)
		return w->at <= w->end;
	/* Elements may have no bits, and there may be any number of them. */
	if (e->is_fixed) {
		stride = type_align(e->fixed_bits, e->align);
		return (!stride || n - 1 <= (w->end - w->at) / stride) && skip(w, stride * (n - 1)) &&
		       skip(w, e->fixed_bits);
	}
	while (n--) {
		const uint64_t from = w->at;

		if (!walk_type(w, e))
			return false;
		/* The remaining elements have no bits either. */
		if (w->at == from)
			break;
	}
	return true;
}

bool walk_type(struct walk *w, const struct type *t)
{
	uint64_t value;

	if (!t)
		return true;
	if (t->is_fixed)
		return align(w, t->align) && skip(w, t->fixed_bits);
	if (!walk_take_steps(w, t->kind == TYPE_STRUCT ? 1 + t->fields->len : 1))
		return false;
	switch (t->kind) {
	case TYPE_INTEGER:
	case TYPE_ENUM:
		return walk_integer(w, t, &value);
	case TYPE_FLOAT:
		return align(w, t->align) && skip(w, t->size);
	case TYPE_STRING:
		return walk_string(w);
	case TYPE_STRUCT:
		if (!align(w, t->align))
			return false;
		for (guint i = 0; i < t->fields->len; i++)
			if (!walk_field(w, type_field(t, i)))
				return false;
		return true;
	case TYPE_VARIANT:
		return walk_variant(w, t);
	case TYPE_ARRAY:
		return walk_elements(w, t, t->length);
	case TYPE_SEQUENCE:
		return walk_elements(w, t, w->slots[t->slot]);
	}
	g_assert_not_reached();
}

uint64_t walk_event_begin(const struct walk *w, const struct layout_stream *s)
{
	return type_align(w->at, s->event_header ? s->event_header->align : 8);
}

bool walk_event(struct walk *w, const struct layout_stream *s, const struct layout_event **event)
{
	const uint64_t from = w->at;

	w->slots[SLOT_EVENT_ID] = 0;
	if (!walk_type(w, s->event_header))
		return false;
	*event = layout_find_event(s, w->slots[SLOT_EVENT_ID]);
	return *event && (*event)->is_known && walk_type(w, s->event_context) && walk_type(w, (*event)->context) &&
	       walk_type(w, (*event)->fields) && w->at > from;
}
