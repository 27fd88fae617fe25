/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/resolve.h"

#include <string.h>

#include "base/error.h"

/* More than any tracer's event has: metadata can be small and mean a tree without end. */
enum { DEPTH_MAX = 128, VISITS_MAX = 100000 };

/* A structure around the type looked at, and how many of its fields come before. */
struct frame {
	const struct type *type;
	guint before;
};

struct visit {
	const struct resolve *r;
	enum part part;
	struct frame frames[DEPTH_MAX];
	unsigned n_frames;
	unsigned depth, visits;
};

/* Follows the rest of a path into structures and variants. */
static struct type_field *follow(const struct type *t, guint before, char **names)
{
	struct type_field *field = NULL;

	for (; *names; names++) {
		if (!t->fields)
			return NULL;
		field = type_find_field(t, *names, before);
		if (!field)
			return NULL;
		t = field->type;
		before = G_MAXUINT;
	}
	return field;
}

static struct type_field *find_near(const struct visit *v, char **names)
{
	struct type_field *field = NULL;

	for (unsigned i = v->n_frames; i-- > 0 && !field;)
		field = follow(v->frames[i].type, v->frames[i].before, names);
	for (unsigned i = v->part; i-- > 0 && !field;)
		if (v->r->parts[i])
			field = follow(v->r->parts[i], G_MAXUINT, names);
	return field;
}

static struct type_field *find_field(const struct visit *v, const struct type *t)
{
	const struct type *part;

	if (!t->path || !*t->path)
		return NULL;
	if (t->from >= PARTS)
		return find_near(v, t->path);
	part = t->from <= v->part ? v->r->parts[t->from] : NULL;
	if (!part)
		return NULL;
	return follow(part, t->from == v->part && v->n_frames ? v->frames[0].before : G_MAXUINT, t->path);
}

static enum lt_status fail(const struct type *t, const char *what)
{
	char *path = t->path ? g_strjoinv(".", t->path) : g_strdup("");

	error_set("'%s' %s", path, what);
	g_free(path);
	return LT_ERROR;
}

/* The slot of the field a sequence or variant refers to. */
static enum lt_status connect(struct visit *v, struct type *t, const struct type **target)
{
	struct type_field *field = find_field(v, t);

	if (!field || (field->type->kind != TYPE_INTEGER && field->type->kind != TYPE_ENUM))
		return fail(t, "does not name a field with a number");
	if (field->slot == SLOT_NONE) {
		if (*v->r->n_slots >= SLOTS_MAX)
			return error_set("too many lengths and tags");
		field->slot = (int)(*v->r->n_slots)++;
	}
	if (t->slot != SLOT_NONE && t->slot != field->slot)
		return fail(t, "names different fields in different places");
	t->slot = field->slot;
	*target = field->type;
	return LT_OK;
}

/* Tracers put an underscore in front of labels that could be keywords, not always at both places. */
static const char *plain(const char *name)
{
	return *name == '_' ? name + 1 : name;
}

static guint find_option(const struct type *t, const char *label)
{
	const struct type_field *field = type_find_field(t, label, G_MAXUINT);

	if (!field)
		field = type_find_field(t, plain(label), G_MAXUINT);
	return field ? (guint)(field - type_field(t, 0)) : G_MAXUINT;
}

static void set_cases(struct type *t, const struct type *tag)
{
	t->tag_is_signed = tag->is_signed;
	g_array_set_size(t->cases, 0);
	for (guint i = 0; i < tag->labels->len; i++) {
		const struct type_label *label = &g_array_index(tag->labels, struct type_label, i);
		struct type_case c = {.first = label->first, .last = label->last};

		c.field = find_option(t, label->name);
		if (c.field == G_MAXUINT)
			continue;
		c.type = type_field(t, c.field)->type;
		g_array_append_val(t->cases, c);
	}
}

static enum lt_status visit(struct visit *v, struct type *t)
{
	enum lt_status status = LT_OK;
	const struct type *target = NULL;

	if (v->depth >= DEPTH_MAX || ++v->visits > VISITS_MAX)
		return error_set("a type that is nested too deeply or too large");
	v->depth++;
	if (t->kind == TYPE_VARIANT || t->kind == TYPE_SEQUENCE) {
		status = connect(v, t, &target);
		if (!status && t->kind == TYPE_VARIANT) {
			if (target->kind == TYPE_ENUM)
				set_cases(t, target);
			else
				status = fail(t, "is not an enum, but a tag");
		}
	}
	if (t->kind == TYPE_STRUCT)
		v->frames[v->n_frames++].type = t;
	for (guint i = 0; !status && t->fields && i < t->fields->len; i++) {
		if (t->kind == TYPE_STRUCT)
			v->frames[v->n_frames - 1].before = i;
		status = visit(v, type_field(t, i)->type);
	}
	if (t->kind == TYPE_STRUCT)
		v->n_frames--;
	if (!status && t->element)
		status = visit(v, t->element);
	v->depth--;
	return status;
}

enum lt_status resolve_part(const struct resolve *r, enum part part)
{
	struct visit v = {.r = r, .part = part};

	return r->parts[part] ? visit(&v, r->parts[part]) : LT_OK;
}

static void mark_event_id(struct type *t, unsigned depth)
{
	for (guint i = 0; t->fields && depth < DEPTH_MAX / 16 && i < t->fields->len; i++) {
		struct type_field *field = type_field(t, i);

		if (!strcmp(field->name, "id"))
			field->slot = SLOT_EVENT_ID;
		mark_event_id(field->type, depth + 1);
	}
}

void resolve_event_id(struct type *header)
{
	mark_event_id(header, 0);
}
