/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/bind.h"

#include <string.h>

#include "base/error.h"
#include "base/keyhash.h"
#include "ctf/resolve.h"

enum { HEADER_DEPTH_MAX = 8 };

/* ---- CTF 1.8 identifies the fields of headers and contexts by name ---- */

static void set_roles(struct type *t)
{
	for (guint i = 0; t && t->kind == TYPE_STRUCT && i < t->fields->len; i++)
		type_field(t, i)->role = role_of_name(type_field(t, i)->name);
}

/* What is needed to bind a layout. */
struct binder {
	struct layout *l;
	uint64_t *work;    /* steps done so far; when there are too many, resolve_part() says so */
	GHashTable *times; /* integer type → its copy that is a time */
};

/* Whether to look at the fields of that type: types that are used several times can make a huge tree. */
static bool may_enter(const struct binder *b, const struct type *t, unsigned depth)
{
	return t && t->fields && depth < HEADER_DEPTH_MAX && (*b->work += t->fields->len) < RESOLVE_WORK_MAX;
}

static void set_event_id(const struct binder *b, struct type *t, unsigned depth)
{
	const guint n = may_enter(b, t, depth) ? t->fields->len : 0;

	for (guint i = 0; i < n; i++) {
		struct type_field *f = type_field(t, i);

		if (strcmp(f->name, "id") == 0)
			f->slot = SLOT_EVENT_ID;
		set_event_id(b, f->type, depth + 1);
	}
}

/* CTF 2 has no role for the CPU. */
static void set_cpu(struct type *t)
{
	for (guint i = 0; t && i < t->fields->len; i++)
		if (role_of_name(type_field(t, i)->name) == PACKET_CPU_ID)
			type_field(t, i)->role = PACKET_CPU_ID;
}

/* The type may be used elsewhere, so it is copied. */
static struct type *time_like(const struct binder *b, struct type *t)
{
	struct type *copy = g_hash_table_lookup(b->times, t);

	if (copy)
		return copy;
	copy = type_copy_integer(t);
	copy->is_clock = true;
	g_ptr_array_add(b->l->types, copy);
	g_hash_table_insert(b->times, t, copy);
	return copy;
}

/* A field with that name is a time even if it is not mapped to a clock: older tracers relied on it. */
static void set_clock(const struct binder *b, struct type *t, const char *name, unsigned depth)
{
	const guint n = may_enter(b, t, depth) ? t->fields->len : 0;

	for (guint i = 0; i < n; i++) {
		struct type_field *f = type_field(t, i);

		set_clock(b, f->type, name, depth + 1);
		if ((f->type->kind == TYPE_INTEGER || f->type->kind == TYPE_ENUM) && !f->type->is_clock &&
		    strcmp(f->name, name) == 0)
			f->type = time_like(b, f->type);
	}
}

/* ---- the whole layout ---- */

static void measure(const struct layout *l, struct layout_stream *s, struct type *type)
{
	if (!type)
		return;
	type_measure(type, l->order);
	if (s)
		s->align = MAX(s->align, type->max_align);
}

static void set_stream(struct resolve *r, const struct layout_stream *s)
{
	r->parts[PART_PACKET_CONTEXT] = s->packet_context;
	r->parts[PART_EVENT_HEADER] = s->event_header;
	r->parts[PART_STREAM_CONTEXT] = s->event_context;
}

static enum lt_status bind_stream(const struct resolve *base, const struct binder *b, struct layout_stream *s)
{
	struct resolve r = *base;

	if (b->l->format == LAYOUT_CTF_1_8) {
		set_roles(s->packet_context);
		set_clock(b, s->packet_context, "timestamp_begin", 0);
		set_clock(b, s->packet_context, "timestamp_end", 0);
		set_clock(b, s->event_header, "timestamp", 0);
		set_event_id(b, s->event_header, 0);
	} else {
		set_cpu(s->packet_context);
	}
	set_stream(&r, s);
	for (unsigned i = 0; i < PART_EVENT_CONTEXT; i++)
		if (resolve_part(&r, i))
			return error_wrap("metadata: stream %" G_GUINT64_FORMAT, s->id);
	return LT_OK;
}

static void bind_event(const struct resolve *base, struct layout *l, struct layout_event *e)
{
	struct resolve r = *base;
	struct layout_stream *s;

	if (!e->has_stream_id && l->streams->len == 1)
		e->stream_id = ((struct layout_stream *)g_ptr_array_index(l->streams, 0))->id;
	s = layout_find_stream(l, e->stream_id);
	if (!s) {
		e->is_known = false;
		return;
	}
	g_hash_table_insert(s->events, &e->id, e);
	set_stream(&r, s);
	r.parts[PART_EVENT_CONTEXT] = e->context;
	r.parts[PART_EVENT_FIELDS] = e->fields;
	if (e->is_known)
		e->is_known = !resolve_part(&r, PART_EVENT_CONTEXT) && !resolve_part(&r, PART_EVENT_FIELDS);
}

static void find_streams(struct layout *l)
{
	for (guint i = 0; i < l->streams->len; i++) {
		struct layout_stream *s = g_ptr_array_index(l->streams, i);

		if (!layout_find_stream(l, s->id))
			g_hash_table_insert(l->streams_by_id, &s->id, s);
	}
}

/* Finds the clocks that times refer to, in measured types only: these are the ones in use. */
static enum lt_status find_clocks(struct layout *l)
{
	GHashTable *names = g_hash_table_new(keyhash_text, g_str_equal), *used = g_hash_table_new(NULL, NULL);
	enum lt_status status = LT_OK;

	for (guint i = 0; i < l->clocks->len; i++) {
		struct layout_clock *c = g_ptr_array_index(l->clocks, i);

		if (c->name)
			g_hash_table_insert(names, c->name, c);
	}
	for (guint i = 0; i < l->types->len && !status; i++) {
		const struct type *t = g_ptr_array_index(l->types, i);
		struct layout_clock *c = NULL;

		if (!t->is_clock || !t->is_measured)
			continue;
		if (t->clock_name)
			c = g_hash_table_lookup(names, t->clock_name);
		else if (l->clocks->len == 1)
			c = g_ptr_array_index(l->clocks, 0);
		else if (!l->clocks->len)
			continue;
		if (!c)
			status = error_set("metadata: no clock '%s' is described", t->clock_name ? t->clock_name : "");
		else if (g_hash_table_add(used, c))
			l->clock = c;
	}
	l->n_clocks = g_hash_table_size(used);
	if (l->n_clocks > 1)
		l->clock = NULL;
	g_hash_table_destroy(used);
	g_hash_table_destroy(names);
	return status;
}

/*
 * Types are measured after all references are known, because a type with a value that others need cannot be skipped as
 * a whole.
 */
enum lt_status bind_layout(struct layout *l)
{
	uint64_t work = 0;
	const struct binder b = { .l = l, .work = &work, .times = g_hash_table_new(NULL, NULL) };
	enum lt_status status = LT_OK;
	const struct resolve base = { .parts = { [PART_PACKET_HEADER] = l->packet_header },
				      .has_names = l->format == LAYOUT_CTF_1_8,
				      .n_slots = &l->n_slots,
				      .work = &work };

	find_streams(l);
	if (l->format == LAYOUT_CTF_1_8)
		set_roles(l->packet_header);
	for (guint i = 0; i < l->streams->len && !status; i++)
		status = bind_stream(&base, &b, g_ptr_array_index(l->streams, i));
	g_hash_table_destroy(b.times);
	if (status)
		return status;
	for (guint i = 0; i < l->events->len; i++)
		bind_event(&base, l, g_ptr_array_index(l->events, i));
	measure(l, NULL, l->packet_header);
	for (guint i = 0; i < l->streams->len; i++) {
		struct layout_stream *s = g_ptr_array_index(l->streams, i);

		measure(l, NULL, s->packet_context);
		measure(l, s, s->event_header);
		measure(l, s, s->event_context);
	}
	for (guint i = 0; i < l->events->len; i++) {
		struct layout_event *e = g_ptr_array_index(l->events, i);

		if (!e->is_known) {
			l->n_unknown++;
			continue;
		}
		measure(l, layout_find_stream(l, e->stream_id), e->context);
		measure(l, layout_find_stream(l, e->stream_id), e->fields);
	}
	error_clear();
	return find_clocks(l);
}
