/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/fields.h"

#include <string.h>

#include "event/payload.h"

enum { WORD = 8, NO_FIELD = UINT32_MAX };

/* ---- the cursor ---- */

static void enter_part(struct fields_cursor *c)
{
	const struct event_str s = event_payload(c->ev, ev_fields)->parts[c->part];

	c->at = event_text(c->ev, s);
	c->end = c->at + (s.len & ~(uint32_t)(WORD - 1));
	if (!s.len)
		c->at = c->end = (const char *)c->ev;
}

void fields_begin(struct fields_cursor *c, const struct shape *shape, const struct event *ev)
{
	c->shape = shape;
	c->ev = ev;
	c->at = c->end = NULL;
	c->wrong = NULL;
	c->cut = false;
	c->part = 0;
	c->depth = 0;
	c->only = NO_FIELD;
	c->steps = 0;
	c->given = false;
}

/* Ends all containers: no more values are returned. For the end of the values, and for malformed ones. */
static void stop(struct fields_cursor *c, const char *wrong)
{
	c->wrong = c->wrong ? c->wrong : wrong;
	c->cut = true;
	c->at = c->end;
	for (unsigned i = 0; i < c->depth; i++)
		c->stack[i].left = 0;
}

static bool take_word(struct fields_cursor *c, uint64_t *word)
{
	if (c->end - c->at < WORD) {
		stop(c, NULL);
		return false;
	}
	memcpy(word, c->at, WORD);
	c->at += WORD;
	return true;
}

static void push(struct fields_cursor *c, uint32_t field, uint32_t child, uint32_t left)
{
	c->stack[c->depth].field = field;
	c->stack[c->depth].child = child;
	c->stack[c->depth].left = left;
	c->stack[c->depth].index = 0;
	c->depth++;
}

static bool take_text(struct fields_cursor *c, struct field_value *v)
{
	uint64_t word, room;

	if (!take_word(c, &word))
		return false;
	v->len = (uint32_t)word;
	v->count = word >> 32;
	v->cut = v->count > v->len;
	v->text = c->at;
	room = ((uint64_t)v->len + WORD - 1) & ~(uint64_t)(WORD - 1);
	if (v->count < v->len || room > (uint64_t)(c->end - c->at)) {
		stop(c, "a text that is longer than its record");
		return false;
	}
	c->at += room;
	return true;
}

static bool take_elements(struct fields_cursor *c, struct field_value *v)
{
	uint64_t word, total;

	if (!take_word(c, &word))
		return false;
	v->count = (uint32_t)word;
	total = word >> 32;
	v->cut = total > v->count;
	if (v->count > total || v->count > FIELDS_ELEMENTS_MAX) {
		stop(c, "an array of an impossible length");
		return false;
	}
	push(c, v->field, v->field + 1, (uint32_t)v->count);
	return true;
}

static bool take_option(struct fields_cursor *c, struct field_value *v)
{
	const struct shape_field *fields = c->shape->fields;
	uint32_t option = v->field + 1;

	if (!take_word(c, &v->count))
		return false;
	if (v->count >= fields[v->field].count) {
		stop(c, "an option that is not declared");
		return false;
	}
	for (uint64_t i = 0; i < v->count; i++)
		option = fields[option].next;
	push(c, v->field, option, 1);
	return true;
}

/* A cursor over a single direct member starts at depth 1. */
static uint8_t depth_of(const struct fields_cursor *c)
{
	return (uint8_t)(c->depth + (c->only != NO_FIELD));
}

/* false: there are no more values. */
static bool take_value(struct fields_cursor *c, uint32_t field, struct field_value *v)
{
	const struct shape_field *f = &c->shape->fields[field];

	v->name = f->name;
	v->kind = f->kind;
	v->base = f->base;
	v->bits = f->bits;
	v->is_signed = f->is_signed;
	v->cut = false;
	v->part = c->part;
	v->depth = depth_of(c);
	v->of = SHAPE_NONE;
	v->field = field;
	v->count = 0;
	v->len = 0;
	switch ((enum shape_kind)f->kind) {
	case SHAPE_UINT:
	case SHAPE_INT:
	case SHAPE_ENUM:
	case SHAPE_BOOL:
	case SHAPE_FLOAT:
		return take_word(c, &v->u);
	case SHAPE_TEXT:
		return take_text(c, v);
	case SHAPE_STRUCT:
		v->count = f->count;
		push(c, field, field + 1, f->count);
		return true;
	case SHAPE_VARIANT:
		return take_option(c, v);
	case SHAPE_ARRAY:
	case SHAPE_SEQUENCE:
		return take_elements(c, v);
	case SHAPE_NONE:
	case SHAPE_END:
		break;
	}
	return true;
}

static void end_container(struct fields_cursor *c, struct field_value *v)
{
	const uint32_t field = c->stack[--c->depth].field;

	memset(v, 0, sizeof(*v));
	v->name = c->shape->fields[field].name;
	v->kind = SHAPE_END;
	v->of = c->shape->fields[field].kind;
	v->part = c->part;
	v->depth = depth_of(c);
	v->field = field;
}

/* Moves to the next part that the class has; false: there is none. */
static bool next_part(struct fields_cursor *c, struct field_value *v)
{
	for (; c->part < FIELDS_PARTS; c->part++) {
		const uint32_t field = c->shape->parts[c->part];

		if (c->shape->fields[field].kind != SHAPE_STRUCT)
			continue;
		enter_part(c);
		v->index = 0;
		return take_value(c, field, v);
	}
	return false;
}

static bool next_value(struct fields_cursor *c, struct field_value *v)
{
	while (c->depth > 0) {
		const unsigned top = c->depth - 1u;
		const uint32_t field = c->stack[top].child;
		const uint8_t kind = c->shape->fields[c->stack[top].field].kind;

		if (!c->stack[top].left) {
			end_container(c, v);
			return true;
		}
		if (++c->steps > FIELDS_STEPS_MAX) {
			stop(c, NULL);
			continue;
		}
		c->stack[top].left--;
		v->index = c->stack[top].index++;
		if (kind == SHAPE_STRUCT)
			c->stack[top].child = c->shape->fields[field].next;
		if (take_value(c, field, v))
			return true;
	}
	return false;
}

bool fields_next(struct fields_cursor *c, struct field_value *v)
{
	if (c->depth > 0) {
		next_value(c, v);
		if (c->depth == 0 && c->only == NO_FIELD) {
			if (c->at != c->end && !c->cut)
				c->wrong = "more values than fields";
			c->part++;
		}
		return true;
	}
	if (c->only == NO_FIELD)
		return !c->wrong && next_part(c, v);
	if (c->given)
		return false;
	c->given = true;
	v->index = 0;
	return take_value(c, c->only, v);
}

const char *fields_check(const struct shape *shape, const struct event *ev)
{
	struct fields_cursor c;
	struct field_value v;

	fields_begin(&c, shape, ev);
	while (fields_next(&c, &v))
		;
	if (c.wrong)
		return c.wrong;
	if (!c.cut || event_payload(ev, ev_fields)->cut || c.steps > FIELDS_STEPS_MAX)
		return NULL;
	return "fewer values than fields";
}

/* 64-bit FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/ */
uint64_t fields_name_id(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return MAX(hash, 1);
}

/* ---- single fields ---- */

int shape_find(const struct shape *s, enum fields_part part, const char *name)
{
	const uint32_t root = s->parts[part];
	uint32_t field = root + 1;

	if (s->fields[root].kind != SHAPE_STRUCT)
		return -1;
	for (uint32_t i = 0; i < s->fields[root].count; i++, field = s->fields[field].next)
		if (strcmp(s->fields[field].name, name) == 0)
			return (int)field;
	return -1;
}

static uint8_t part_of(const struct shape *s, uint32_t field)
{
	uint8_t part = FIELDS_PARTS - 1;

	while (part > 0 && s->parts[part] > field)
		part--;
	return part;
}

/* Moves to the field, past the members before it, starting from the last one whose place is known. */
static bool seek(struct fields_cursor *c, uint32_t field)
{
	const struct shape *s = c->shape;
	uint32_t at = s->parts[c->part] + 1, last = at;
	struct field_value v;

	if (s->fields[field].word >= 0) {
		last = field;
	} else {
		for (; at < field && s->fields[at].word >= 0; at = s->fields[at].next)
			last = at;
	}
	if ((uint64_t)(c->end - c->at) < (uint64_t)s->fields[last].word * WORD) {
		stop(c, NULL);
		return false;
	}
	c->at += (uint64_t)s->fields[last].word * WORD;
	for (at = last; at < field && !c->cut; at = s->fields[at].next)
		if (take_value(c, at, &v))
			while (c->depth > 0)
				next_value(c, &v);
	return !c->cut;
}

bool fields_begin_at(struct fields_cursor *c, const struct shape *s, const struct event *ev, uint32_t field)
{
	fields_begin(c, s, ev);
	c->part = part_of(s, field);
	c->only = field;
	enter_part(c);
	return seek(c, field) && c->at < c->end;
}

bool fields_get(const struct shape *s, const struct event *ev, uint32_t field, struct field_value *v)
{
	struct fields_cursor c;

	return fields_begin_at(&c, s, ev, field) && fields_next(&c, v);
}

bool fields_find(const struct shape *s, const struct event *ev, const char *name, struct field_value *v)
{
	const int field = shape_find(s, FIELDS_PAYLOAD, name);

	return field >= 0 && fields_get(s, ev, (uint32_t)field, v);
}

/* ---- labels ---- */

static bool holds(const struct shape_label *l, const struct field_value *v)
{
	if (v->is_signed)
		return v->i >= l->first && v->i <= l->last;
	return v->u >= (uint64_t)l->first && v->u <= (uint64_t)l->last;
}

/* A label with several ranges is declared several times. */
static bool is_new(const struct shape *s, const struct shape_field *f, const struct field_value *v, uint32_t label)
{
	for (uint32_t i = f->label; i < label; i++)
		if (holds(&s->labels[i], v) && strcmp(s->labels[i].name, s->labels[label].name) == 0)
			return false;
	return true;
}

unsigned fields_labels(const struct shape *s, const struct field_value *v, const char **names, unsigned max)
{
	const struct shape_field *f = &s->fields[v->field];
	unsigned n = 0;

	for (uint32_t i = f->label; i < f->label + f->n_labels; i++) {
		if (!holds(&s->labels[i], v) || (n && !is_new(s, f, v, i)))
			continue;
		if (names && n < max)
			names[n] = s->labels[i].name;
		n++;
	}
	return n;
}
