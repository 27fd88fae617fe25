/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "event/fields.h"
#include "event/payload.h"

/*
 * A shape as bytes:
 *
 *   name of the class, then the four parts, each a field with its contents:
 *   u8 kind, u8 base, u8 bits, u8 is_signed, u16 length of the name, u16 labels, u32 count │ name │
 *   labels: i64 first, i64 last, u16 length │ name
 *
 * in this machine's byte order.
 */
struct shape_head {
	uint8_t kind, base, bits, is_signed;
	uint16_t name_len, n_labels;
	uint32_t count;
};

struct label_head {
	int64_t first, last;
	uint16_t name_len;
} __attribute__((packed));

enum { NAME_MAX_BYTES = 1024, LABELS_MAX = UINT16_MAX };

/* ---- writing ---- */

static uint16_t name_length(const char *name)
{
	return (uint16_t)strnlen(name, NAME_MAX_BYTES);
}

static void put(GByteArray *out, const void *bytes, size_t len)
{
	g_byte_array_append(out, bytes, (guint)len);
}

void shape_put_name(GByteArray *out, const char *name)
{
	const uint16_t len = name_length(name);

	put(out, &len, sizeof(len));
	put(out, name, len);
}

void shape_put_field(GByteArray *out, const struct shape_field *f)
{
	const struct shape_head head = {
		.kind = f->kind,
		.base = f->base,
		.bits = f->bits,
		.is_signed = f->is_signed,
		.name_len = name_length(f->name),
		.n_labels = (uint16_t)MIN(f->n_labels, (uint32_t)LABELS_MAX),
		.count = f->count,
	};

	put(out, &head, sizeof(head));
	put(out, f->name, head.name_len);
}

void shape_put_label(GByteArray *out, const struct shape_label *label)
{
	const struct label_head head = { label->first, label->last, name_length(label->name) };

	put(out, &head, sizeof(head));
	put(out, label->name, head.name_len);
}

/* ---- reading ---- */

/* Texts are collected with their NULs; until all are known, names hold offsets into the collection. */
struct shape_parser {
	const uint8_t *at, *end;
	GArray *fields, *labels; /* struct shape_field, struct shape_label */
	GByteArray *text;
	unsigned depth;
};

static bool take(struct shape_parser *p, void *to, size_t len)
{
	if (len > (size_t)(p->end - p->at))
		return false;
	memcpy(to, p->at, len);
	p->at += len;
	return true;
}

static bool take_name(struct shape_parser *p, uint16_t len, const char **name)
{
	if (len > p->end - p->at)
		return false;
	*name = GUINT_TO_POINTER(p->text->len);
	put(p->text, p->at, strnlen((const char *)p->at, len));
	put(p->text, "", 1);
	p->at += len;
	return true;
}

static bool take_label(struct shape_parser *p)
{
	struct shape_label label;
	struct label_head head;

	if (!take(p, &head, sizeof(head)) || !take_name(p, head.name_len, &label.name))
		return false;
	label.first = head.first;
	label.last = head.last;
	g_array_append_val(p->labels, label);
	return true;
}

static bool is_sensible(const struct shape_head *h, bool is_part)
{
	switch (h->kind) {
	case SHAPE_UINT:
	case SHAPE_INT:
	case SHAPE_ENUM:
	case SHAPE_BOOL:
		return h->bits >= 1 && h->bits <= 64;
	default:
		return h->kind < SHAPE_END && (h->kind != SHAPE_NONE || is_part);
	}
}

static bool is_base(uint8_t base)
{
	return base == 2 || base == 8 || base == 10 || base == 16;
}

static bool take_field(struct shape_parser *p);

static bool take_inner(struct shape_parser *p, uint32_t n)
{
	if (++p->depth >= FIELDS_DEPTH_MAX)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!take_field(p))
			return false;
	p->depth--;
	return true;
}

static bool take_field(struct shape_parser *p)
{
	const guint index = p->fields->len;
	struct shape_field f = { .label = p->labels->len, .word = -1 };
	struct shape_head head;

	if (index >= SHAPE_FIELDS_MAX || !take(p, &head, sizeof(head)) || !is_sensible(&head, !p->depth) ||
	    !take_name(p, head.name_len, &f.name))
		return false;
	f.kind = head.kind;
	f.base = is_base(head.base) ? head.base : 10;
	f.bits = head.bits;
	f.is_signed = head.kind == SHAPE_INT || (head.kind == SHAPE_ENUM && head.is_signed);
	f.count = head.count;
	f.n_labels = head.n_labels;
	g_array_append_val(p->fields, f);
	for (uint32_t i = 0; i < head.n_labels; i++)
		if (!take_label(p))
			return false;
	if ((f.kind == SHAPE_STRUCT || f.kind == SHAPE_VARIANT) && !take_inner(p, f.count))
		return false;
	if ((f.kind == SHAPE_ARRAY || f.kind == SHAPE_SEQUENCE) && !take_inner(p, 1))
		return false;
	g_array_index(p->fields, struct shape_field, index).next = p->fields->len;
	return true;
}

static bool is_one_word(const struct shape_field *f)
{
	return f->kind >= SHAPE_UINT && f->kind <= SHAPE_FLOAT;
}

/* Sets the places of the direct members up to and including the first one of unknown length. */
static void place_members(struct shape *s, uint32_t part)
{
	uint32_t field = part + 1;
	int32_t word = 0;

	for (uint32_t i = 0; i < s->fields[part].count; i++, field = s->fields[field].next) {
		s->fields[field].word = word++;
		if (!is_one_word(&s->fields[field]))
			return;
	}
}

static struct shape *finish(struct shape_parser *p, const char *name, const uint32_t *parts)
{
	struct shape *s = g_new0(struct shape, 1);

	s->n_fields = p->fields->len;
	s->fields = (struct shape_field *)(void *)g_array_free(p->fields, FALSE);
	memcpy(s->parts, parts, sizeof(s->parts));
	for (guint i = 0; i < p->labels->len; i++) {
		struct shape_label *label = &g_array_index(p->labels, struct shape_label, i);

		label->name = (const char *)p->text->data + GPOINTER_TO_UINT(label->name);
	}
	s->labels = (struct shape_label *)(void *)g_array_free(p->labels, FALSE);
	for (unsigned i = 0; i < s->n_fields; i++)
		s->fields[i].name = (const char *)p->text->data + GPOINTER_TO_UINT(s->fields[i].name);
	s->name = (const char *)p->text->data + GPOINTER_TO_UINT(name);
	for (unsigned i = 0; i < FIELDS_PARTS; i++)
		if (s->fields[parts[i]].kind == SHAPE_STRUCT)
			place_members(s, parts[i]);
	s->text = (char *)g_byte_array_free(p->text, FALSE);
	return s;
}

struct shape *shape_parse(const void *bytes, size_t len)
{
	struct shape_parser p = {
		.at = bytes,
		.end = (const uint8_t *)bytes + len,
		.fields = g_array_new(FALSE, TRUE, sizeof(struct shape_field)),
		.labels = g_array_new(FALSE, TRUE, sizeof(struct shape_label)),
		.text = g_byte_array_new(),
	};
	uint32_t parts[FIELDS_PARTS];
	uint16_t name_len;
	const char *name;
	bool fine;

	fine = take(&p, &name_len, sizeof(name_len)) && take_name(&p, name_len, &name);
	for (unsigned i = 0; fine && i < FIELDS_PARTS; i++) {
		parts[i] = p.fields->len;
		fine = take_field(&p);
		if (fine) {
			const uint8_t kind = g_array_index(p.fields, struct shape_field, parts[i]).kind;

			fine = kind == SHAPE_STRUCT || kind == SHAPE_NONE;
		}
	}
	if (fine && p.at == p.end)
		return finish(&p, name, parts);
	g_array_free(p.fields, TRUE);
	g_array_free(p.labels, TRUE);
	g_byte_array_free(p.text, TRUE);
	return NULL;
}

void shape_free(struct shape *s)
{
	if (!s)
		return;
	if (s->free_user)
		s->free_user(s->user);
	g_free(s->fields);
	g_free(s->labels);
	g_free(s->text);
	g_free(s);
}

/* ---- the shapes of a source ---- */

static void free_shape(gpointer shape)
{
	shape_free(shape);
}

static void free_bytes(gpointer bytes)
{
	g_byte_array_free(bytes, TRUE);
}

void shapes_init(struct shapes *s)
{
	*s = (struct shapes){
		.known = g_hash_table_new_full(NULL, NULL, NULL, free_shape),
		.growing = g_hash_table_new_full(NULL, NULL, NULL, free_bytes),
	};
}

void shapes_release(struct shapes *s)
{
	if (!s->known)
		return;
	g_hash_table_destroy(s->known);
	g_hash_table_destroy(s->growing);
	s->known = s->growing = NULL;
}

static gpointer key_of(const struct event *ev)
{
	return GUINT_TO_POINTER((guint)ev->trace << 16 | ev->class_id);
}

static GByteArray *bytes_of(struct shapes *s, const struct event *ev)
{
	GByteArray *bytes = g_hash_table_lookup(s->growing, key_of(ev));

	if (!bytes) {
		bytes = g_byte_array_new();
		g_hash_table_insert(s->growing, key_of(ev), bytes);
	}
	return bytes;
}

const char *shapes_take(struct shapes *s, const struct event *ev)
{
	const struct ev_shape *p = event_payload(ev, ev_shape);
	struct shape *shape;
	GByteArray *bytes;

	if (g_hash_table_contains(s->known, key_of(ev)))
		return "an event class declared twice";
	bytes = bytes_of(s, ev);
	if (p->offset != bytes->len || p->total > SHAPE_BYTES_MAX || p->offset + p->part.len > p->total || !p->part.len)
		return "a declaration of an event class in pieces that do not fit";
	s->bytes += p->part.len;
	if (s->bytes > SHAPES_BYTES_MAX)
		return "declarations of event classes of an impossible size";
	g_byte_array_append(bytes, (const guint8 *)event_text(ev, p->part), p->part.len);
	if (bytes->len < p->total)
		return NULL;
	shape = shape_parse(bytes->data, bytes->len);
	g_hash_table_remove(s->growing, key_of(ev));
	if (!shape)
		return "a declaration of an event class that makes no sense";
	shape->bytes = p->total;
	g_hash_table_insert(s->known, key_of(ev), shape);
	return NULL;
}

static bool is_of_trace(gconstpointer key, unsigned trace)
{
	return GPOINTER_TO_UINT(key) >> 16 == trace;
}

void shapes_forget_trace(struct shapes *s, unsigned trace)
{
	GHashTableIter iter;
	gpointer key, value;

	g_hash_table_iter_init(&iter, s->known);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		if (!is_of_trace(key, trace))
			continue;
		s->bytes -= ((struct shape *)value)->bytes;
		g_hash_table_iter_remove(&iter);
	}
	g_hash_table_iter_init(&iter, s->growing);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		if (!is_of_trace(key, trace))
			continue;
		s->bytes -= ((GByteArray *)value)->len;
		g_hash_table_iter_remove(&iter);
	}
}

void shapes_forget_users(struct shapes *s)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, s->known);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct shape *shape = value;

		if (shape->user && shape->free_user)
			shape->free_user(shape->user);
		shape->user = NULL;
	}
}

struct shape *shapes_find(const struct shapes *s, const struct event *ev)
{
	return g_hash_table_lookup(s->known, key_of(ev));
}
