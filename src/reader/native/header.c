/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/native/header.h"

#include <string.h>

enum { CASES_MAX = 16 }; /* LTTng has two */

/*
 * Event headers as LTTng declares them, "compact" and "large":
 *
 *   enum : 5 or 16 bits { compact = 0 … max - 1, extended = max } id;
 *   variant <id> {
 *           struct { 27 or 32 bits timestamp } compact;
 *           struct { 32 bits id; 64 bits timestamp } extended;
 *   } v;
 *
 * The offsets are known only if no part is aligned more than the header itself. Headers in the other byte order are
 * walked.
 */

static bool is_unsigned(const struct type *t, unsigned size)
{
	return (t->kind == TYPE_INTEGER || t->kind == TYPE_ENUM) && t->size == size && !t->is_signed;
}

static bool is_time(const struct type *t, unsigned size)
{
	return is_unsigned(t, size) && t->is_clock;
}

static const struct type *option(const struct type *variant, uint64_t tag)
{
	for (guint i = 0; i < variant->cases->len; i++) {
		const struct type_case *c = &g_array_index(variant->cases, struct type_case, i);

		if (tag >= (uint64_t)c->first && tag <= (uint64_t)c->last)
			return c->type;
	}
	return NULL;
}

/* Finds the structures of the long form, for the greatest value of the tag, and of the short one, for all others. */
static bool find_forms(const struct type *id, const struct type *variant, const struct type **brief,
		       const struct type **extended)
{
	const uint64_t max = (UINT64_C(1) << id->size) - 1;

	*brief = option(variant, 0);
	*extended = option(variant, max);
	if (!*brief || !*extended || *brief == *extended || (*brief)->kind != TYPE_STRUCT ||
	    (*extended)->kind != TYPE_STRUCT || variant->cases->len > CASES_MAX)
		return false;
	for (uint64_t tag = 1; tag < max; tag++)
		if (option(variant, tag) != *brief)
			return false;
	return (*brief)->fields->len == 1 && (*extended)->fields->len == 2;
}

static bool recognise(struct native_group *g, const struct type *header)
{
	const struct type *id, *variant, *brief, *extended, *time, *long_id, *long_time;
	uint64_t at;

	if (!header || header->kind != TYPE_STRUCT || header->fields->len != 2)
		return false;
	id = type_field(header, 0)->type;
	variant = type_field(header, 1)->type;
	if ((!is_unsigned(id, COMPACT_ID) && !is_unsigned(id, LARGE_ID)) || variant->kind != TYPE_VARIANT ||
	    variant->slot != type_field(header, 0)->slot || type_field(header, 0)->slot != SLOT_EVENT_ID ||
	    variant->tag_is_signed || !find_forms(id, variant, &brief, &extended))
		return false;
	g->shape = id->size == COMPACT_ID ? HEADER_COMPACT : HEADER_LARGE;
	time = type_field(brief, 0)->type;
	long_id = type_field(extended, 0)->type;
	long_time = type_field(extended, 1)->type;
	if (!is_time(time, g->shape == HEADER_COMPACT ? COMPACT_TIME : LARGE_TIME) || id->order != BITS_HOST ||
	    !is_unsigned(long_id, LONG_ID) || type_field(extended, 0)->slot != SLOT_EVENT_ID ||
	    !is_time(long_time, LONG_TIME) || time->order != id->order || long_id->order != id->order ||
	    long_time->order != id->order || header->align < 8 || brief->align > header->align ||
	    extended->align > header->align)
		return false;
	at = type_align(type_align(id->size, brief->align), time->align);
	/* The compact one is a word of 32 bits, the large one two adjacent integers. */
	if (at != (g->shape == HEADER_COMPACT ? COMPACT_ID : type_align(LARGE_ID, time->align)))
		return false;
	g->header_align = header->align;
	g->short_bits = (uint32_t)(at + time->size);
	at = type_align(type_align(id->size, extended->align), long_id->align);
	g->long_id = (uint32_t)at;
	g->long_time = (uint32_t)type_align(at + LONG_ID, long_time->align);
	g->long_bits = g->long_time + LONG_TIME;
	return g->short_bits % 8 == 0 && g->long_id % 8 == 0 && g->long_time % 8 == 0;
}

void native_header_recognise(struct native_group *g)
{
	if (!recognise(g, g->stream->event_header))
		g->shape = HEADER_OTHER;
}

static bool walk_header(const struct native_group *g, struct walk *w, uint64_t *id)
{
	bool fits;

	w->slots[SLOT_EVENT_ID] = 0;
	fits = walk_type(w, g->stream->event_header);
	*id = w->slots[SLOT_EVENT_ID];
	return fits;
}

const char *native_read_header(struct native_trace *t, struct native_group *g, struct walk *w, struct native_class **c,
			       bool *fits)
{
	const struct layout_event *event;
	uint64_t id = 0;

	*fits = g->shape == HEADER_OTHER ? walk_header(g, w, &id) : native_read_known_header(g, w, &id);
	if (!*fits)
		return walk_failure(w);
	*c = id < g->n_ids ? g->by_id[id] : g_hash_table_lookup(g->by_great_id, &id);
	if (*c)
		return NULL;
	event = layout_find_event(g->stream, id);
	if (!event)
		return "an event that the metadata does not declare";
	if (!event->is_known)
		return "an event whose declaration was not understood";
	*c = native_trace_make_class(t, g, event);
	return NULL;
}
