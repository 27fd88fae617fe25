/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/packet.h"

#include <string.h>

#include "base/error.h"

static void take(struct packet_head *head, const struct walk *w, const struct type_field *f, uint64_t value)
{
	if (f->role == PACKET_NO_FIELD)
		return;
	head->values[f->role] = value;
	head->places[f->role] =
		(struct packet_place){ .at = w->at - f->type->size, .size = f->type->size, .order = f->type->order };
}

enum {
	UUID_BYTES = 16,
	HEAD_STEPS_MAX = 1 << 13, /* LTTng's heads need a dozen; where packets are searched for, many are tried */
};

static bool is_uuid(const struct type_field *f)
{
	const struct type *t = f->type;

	return f->role == PACKET_UUID && t->kind == TYPE_ARRAY && t->length == UUID_BYTES &&
	       t->element->kind == TYPE_INTEGER && t->element->size == 8 && t->element->align % 8 == 0;
}

/* Call it after walk_type() has stepped over the bytes. */
static void take_uuid(struct packet_head *head, const struct walk *w)
{
	head->places[PACKET_UUID] = (struct packet_place){ .at = w->at - 8 * UUID_BYTES, .size = 8 * UUID_BYTES };
}

/* LTTng's kernel tracer 2.14 to 2.16 writes zeros as the UUID in the empty packets at the end of snapshots. */
static bool is_of_another_trace(const struct layout *l, const struct walk *w, const struct packet_head *head)
{
	static const uint8_t none[UUID_BYTES];
	const uint8_t *uuid;

	if (!l->has_uuid || !packet_has(head, PACKET_UUID))
		return false;
	uuid = w->data + head->places[PACKET_UUID].at / 8;
	return memcmp(uuid, l->uuid, UUID_BYTES) != 0 && memcmp(uuid, none, UUID_BYTES) != 0;
}

static bool read_struct(struct packet_head *head, struct walk *w, const struct type *t)
{
	uint64_t value;

	if (!t)
		return true;
	if (t->kind != TYPE_STRUCT)
		return walk_type(w, t);
	w->at = type_align(w->at, t->align);
	if (w->at > w->end)
		return false;
	for (guint i = 0; i < t->fields->len; i++) {
		const struct type_field *f = type_field(t, i);

		if (f->type->kind != TYPE_INTEGER && f->type->kind != TYPE_ENUM) {
			if (!read_struct(head, w, f->type))
				return false;
			if (is_uuid(f))
				take_uuid(head, w);
			continue;
		}
		if (!walk_integer(w, f->type, &value))
			return false;
		if (f->slot != SLOT_NONE)
			w->slots[f->slot] = value;
		take(head, w, f, value);
	}
	return true;
}

static enum lt_status refuse_part(const struct walk *w, const char *part)
{
	return walk_is_endless(w) ? error_set("%s", walk_failure(w)) : error_set("the packet's %s is cut off", part);
}

/* The limit does not depend on the bytes that are there: a head must not be valid with fewer or more of them only. */
enum lt_status packet_walk_head(const struct layout *l, struct walk *w, struct packet_head *head)
{
	memset(head, 0, sizeof(*head));
	w->most_steps = HEAD_STEPS_MAX;
	if (!read_struct(head, w, l->packet_header))
		return refuse_part(w, "header");
	if (packet_has(head, PACKET_MAGIC_NUMBER) && head->values[PACKET_MAGIC_NUMBER] != PACKET_MAGIC)
		return error_set("wrong magic number");
	if (is_of_another_trace(l, w, head))
		return error_set("the packet belongs to another trace");
	/* Without an id, it belongs to the only stream. */
	if (!packet_has(head, PACKET_STREAM_ID) && l->streams->len == 1)
		head->stream = g_ptr_array_index(l->streams, 0);
	else
		head->stream = layout_find_stream(l, head->values[PACKET_STREAM_ID]);
	if (!head->stream) {
		error_set("the packet's stream is unknown");
		return LT_AGAIN;
	}
	if (!read_struct(head, w, head->stream->packet_context))
		return refuse_part(w, "context");
	w->most_steps = 0;
	head->events_at = w->at;
	return LT_OK;
}

enum lt_status packet_read_head(const struct layout *l, const uint8_t *data, size_t len, struct packet_head *head)
{
	enum lt_status status;
	struct walk w;

	walk_init(&w, l, data, 8 * (uint64_t)len);
	status = packet_walk_head(l, &w, head);
	walk_release(&w);
	return status;
}

void packet_set(const struct packet_head *head, uint8_t *data, enum packet_field field, uint64_t value)
{
	const struct packet_place *p = &head->places[field];

	if (p->size)
		bits_write(data, p->at, p->size, p->order, value);
}

uint64_t packet_bytes(const struct packet_head *head, uint64_t rest)
{
	uint64_t bytes = rest;

	if (packet_has(head, PACKET_PACKET_SIZE))
		bytes = head->values[PACKET_PACKET_SIZE] / 8;
	else if (packet_has(head, PACKET_CONTENT_SIZE))
		bytes = (head->values[PACKET_CONTENT_SIZE] + 7) / 8;
	if (8 * (__int128)bytes < head->events_at)
		return 0;
	if (packet_has(head, PACKET_CONTENT_SIZE) && (head->values[PACKET_CONTENT_SIZE] > 8 * (__int128)bytes ||
						      head->values[PACKET_CONTENT_SIZE] < head->events_at))
		return 0;
	return bytes;
}
