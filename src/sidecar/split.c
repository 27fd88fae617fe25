/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A side-car as several small ones: each can be read by itself, and any of them may be lost. */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "sidecar/collect.h"
#include "sidecar/sidecar.h"

struct splitter {
	const json_t *root;
	json_t *part; /* the next one to be emitted */
	size_t bytes; /* upper limit of its length as text */
	bool any;     /* it has more than what all parts have */
	sidecar_part_fn *emit;
	void *data;
};

static size_t text_bytes(const json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	const size_t len = text ? strlen(text) : SIZE_MAX / 2;

	free(text);
	return len;
}

static void begin_part(struct splitter *s)
{
	json_t *host = json_object_get(s->root, "host");

	s->part = json_pack("{si}", "schema", SIDECAR_SCHEMA);
	if (host)
		json_object_set(s->part, "host", host);
	s->bytes = text_bytes(s->part);
	s->any = false;
}

static void end_part(struct splitter *s)
{
	char *text = s->any ? json_dumps(s->part, JSON_COMPACT) : NULL;

	if (text)
		s->emit(text, s->data);
	free(text);
	json_decref(s->part);
}

/* Adds to part[key], part[key][name] or the end of an array part[key]. Values too long for any part are left out. */
static void put(struct splitter *s, const char *key, const char *name, bool in_array, json_t *value)
{
	enum { AROUND = 16 }; /* quotes, colons, commas, brackets */
	const size_t bytes = text_bytes(value) + strlen(key) + (name ? 6 * strlen(name) : 0) + AROUND;
	json_t *inner;

	if (s->any && s->bytes + bytes > SIDECAR_PART_BYTES) {
		end_part(s);
		begin_part(s);
	}
	if (s->bytes + bytes > SIDECAR_PART_BYTES)
		return;
	s->bytes += bytes;
	s->any = true;
	if (!name && !in_array) {
		json_object_set(s->part, key, value);
		return;
	}
	inner = json_object_get(s->part, key);
	if (!inner) {
		inner = in_array ? json_array() : json_object();
		json_object_set_new(s->part, key, inner);
	}
	if (in_array)
		json_array_append(inner, value);
	else
		json_object_set(inner, name, value);
}

void sidecar_split(const json_t *root, sidecar_part_fn *emit, void *data)
{
	struct splitter s = { .root = root, .emit = emit, .data = data };
	json_t *value, *inner;
	const char *key, *name;
	size_t i;

	begin_part(&s);
	json_object_foreach((json_t *)root, key, value) {
		if (strcmp(key, "schema") == 0 || strcmp(key, "host") == 0)
			continue;
		if (json_is_array(value)) {
			json_array_foreach(value, i, inner)
				put(&s, key, NULL, true, inner);
		} else if (json_is_object(value) && strcmp(key, "clock") != 0) {
			json_object_foreach(value, name, inner)
				put(&s, key, name, false, inner);
		} else {
			put(&s, key, NULL, false, value);
		}
	}
	end_part(&s);
}
