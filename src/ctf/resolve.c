/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/resolve.h"

#include <string.h>

#include "base/error.h"

enum {
	DEPTH_MAX = 128,
	TARGETS_MAX = 64,
	CASE_WORK = 64, /* steps that a case of a variant counts for: it takes memory */
};

/* A structure that encloses the current type, and how many of its fields precede the type. */
struct resolve_frame {
	const struct type *type;
	guint before;
};

struct visit {
	const struct resolve *r;
	enum part part;
	struct resolve_frame frames[DEPTH_MAX];
	unsigned n_frames;
	unsigned depth;
	struct type_field *targets[TARGETS_MAX]; /* fields that a path leads to */
	unsigned n_targets;
};

/* ---- paths ---- */

static void add_target(struct visit *v, struct type_field *field)
{
	if (v->n_targets < TARGETS_MAX)
		v->targets[v->n_targets++] = field;
}

static struct type_field *find(struct visit *v, const struct type *t, const char *name, guint before)
{
	*v->r->work += t->fields->len;
	return type_find_field(t, name, before);
}

/* The same for the first of several names, which may lead into the current field. */
static struct type_field *find_step(struct visit *v, const struct type *t, char **names, guint before)
{
	return find(v, t, *names, names[1] && before < G_MAXUINT ? before + 1 : before);
}

/* In CTF 1.8 a path names each structure and each option of a variant on its way. */
static bool follow_names(struct visit *v, const struct type *t, guint before, char **names)
{
	struct type_field *field = NULL;

	for (; *names; names++) {
		field = t->fields ? find_step(v, t, names, before) : NULL;
		if (!field)
			return false;
		t = field->type;
		before = G_MAXUINT;
	}
	add_target(v, field);
	return true;
}

/* In CTF 2 a path names members of structures; it passes through all options of variants and the elements of arrays. */
static void follow_members(struct visit *v, const struct type *t, guint before, char **names)
{
	struct type_field *field;

	++*v->r->work;
	if (t->kind == TYPE_STRUCT) {
		field = find_step(v, t, names, before);
		if (field && names[1])
			follow_members(v, field->type, G_MAXUINT, names + 1);
		else if (field)
			add_target(v, field);
	} else if (t->kind == TYPE_VARIANT) {
		for (guint i = 0; i < t->fields->len && *v->r->work < RESOLVE_WORK_MAX; i++)
			follow_members(v, type_field(t, i)->type, G_MAXUINT, names);
	} else if (t->element) {
		follow_members(v, t->element, G_MAXUINT, names);
	}
}

/* Finds the nearest field with that path, in the enclosing structures, then in the earlier parts. */
static void find_near(struct visit *v, char **names)
{
	for (unsigned i = v->n_frames; i-- > 0;)
		if (follow_names(v, v->frames[i].type, v->frames[i].before, names))
			return;
	for (unsigned i = v->part; i-- > 0;)
		if (v->r->parts[i] && follow_names(v, v->r->parts[i], G_MAXUINT, names))
			return;
}

/* Starts from the enclosing structure; each empty name goes one structure outwards. */
static void find_here(struct visit *v, char **names)
{
	unsigned frames = v->n_frames;

	for (; *names && !**names && frames; names++)
		frames--;
	if (*names && frames)
		follow_members(v, v->frames[frames - 1].type, v->frames[frames - 1].before, names);
}

static void find_targets(struct visit *v, const struct type *t)
{
	const struct type *part = t->from <= v->part ? v->r->parts[t->from] : NULL;
	const guint before = t->from == v->part && v->n_frames ? v->frames[0].before : G_MAXUINT;

	v->n_targets = 0;
	if (!t->path || !*t->path)
		return;
	if (t->from == FROM_NEAR)
		find_near(v, t->path);
	else if (t->from == FROM_HERE)
		find_here(v, t->path);
	else if (part && v->r->has_names)
		follow_names(v, part, before, t->path);
	else if (part)
		follow_members(v, part, before, t->path);
}

static enum lt_status fail(const struct type *t, const char *what)
{
	char *path = t->path ? g_strjoinv(".", t->path) : g_strdup("");

	error_set("'%.80s' %s", path, what);
	g_free(path);
	return LT_ERROR;
}

/* Makes the type and all fields that its path leads to use one slot. */
static enum lt_status share_slot(struct visit *v, struct type *t)
{
	int slot = t->slot;

	for (unsigned i = 0; i < v->n_targets && slot == SLOT_NONE; i++)
		slot = v->targets[i]->slot;
	if (slot == SLOT_NONE) {
		if (*v->r->n_slots >= SLOTS_MAX)
			return error_set("too many lengths and tags");
		slot = (int)(*v->r->n_slots)++;
	}
	for (unsigned i = 0; i < v->n_targets; i++) {
		if (v->targets[i]->slot != SLOT_NONE && v->targets[i]->slot != slot)
			return fail(t, "names different fields in different places");
		v->targets[i]->slot = slot;
	}
	t->slot = slot;
	return LT_OK;
}

/* Finds the slot of the field that a sequence or variant refers to. */
static enum lt_status connect(struct visit *v, struct type *t, const struct type **target)
{
	find_targets(v, t);
	if (!v->n_targets)
		return fail(t, "does not name a field that is known before");
	*target = v->targets[0]->type;
	for (unsigned i = 0; i < v->n_targets; i++) {
		const struct type *found = v->targets[i]->type;

		if (found->kind != TYPE_INTEGER && found->kind != TYPE_ENUM)
			return fail(t, "does not name an integer");
		if (found->is_signed != (*target)->is_signed)
			return fail(t, "names integers with and without sign");
	}
	return share_slot(v, t);
}

/* ---- variants ---- */

/* Tracers prepend an underscore to labels that could be keywords, but not always in both places. */
static const char *plain(const char *name)
{
	return *name == '_' ? name + 1 : name;
}

static guint find_option(struct visit *v, const struct type *t, const char *label)
{
	const struct type_field *field = find(v, t, label, G_MAXUINT);

	if (!field)
		field = find(v, t, plain(label), G_MAXUINT);
	return field ? (guint)(field - type_field(t, 0)) : G_MAXUINT;
}

static void set_cases(struct visit *v, struct type *t, const struct type *tag)
{
	g_array_set_size(t->cases, 0);
	for (guint i = 0; i < tag->labels->len && *v->r->work < RESOLVE_WORK_MAX; i++) {
		const struct type_label *label = &g_array_index(tag->labels, struct type_label, i);
		struct type_case c = { .first = label->first, .last = label->last };

		c.field = find_option(v, t, label->name);
		if (c.field == G_MAXUINT)
			continue;
		c.type = type_field(t, c.field)->type;
		*v->r->work += CASE_WORK;
		g_array_append_val(t->cases, c);
	}
}

static enum lt_status connect_variant(struct visit *v, struct type *t)
{
	const struct type *tag;

	if (connect(v, t, &tag))
		return LT_ERROR;
	t->tag_is_signed = tag->is_signed;
	if (t->has_ranges)
		return LT_OK;
	if (tag->kind != TYPE_ENUM)
		return fail(t, "is not an enum, but a tag");
	set_cases(v, t, tag);
	return LT_OK;
}

static enum lt_status visit(struct visit *v, struct type *t)
{
	enum lt_status status = LT_OK;
	const struct type *length;

	if (v->depth >= DEPTH_MAX)
		return error_set("types nested too deeply");
	if (++*v->r->work >= RESOLVE_WORK_MAX)
		return error_set("the types are too large");
	v->depth++;
	if (t->kind == TYPE_SEQUENCE)
		status = connect(v, t, &length);
	else if (t->kind == TYPE_VARIANT)
		status = connect_variant(v, t);
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
	struct visit v = { .r = r, .part = part };

	return r->parts[part] ? visit(&v, r->parts[part]) : LT_OK;
}
