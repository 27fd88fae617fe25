/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/identity.h"

#include <glib.h>
#include <string.h>

#include "base/error.h"
#include "ctf/json.h"
#include "ctf/metadata.h"
#include "ctf/tsdl.h"

/* Keeps the first text; frees all others. */
static void keep(char **into, char *text)
{
	if (*into)
		g_free(text);
	else
		*into = text;
}

/* ---- CTF 1.8 ---- */

static void take_value(struct identity *id, const struct tsdl_token *block, const struct tsdl_token *key,
		       const struct tsdl_token *value)
{
	if (tsdl_is(block, "trace") && tsdl_is(key, "uuid"))
		keep(&id->trace, tsdl_text(value));
	else if (tsdl_is(block, "env") && tsdl_is(key, "hostname"))
		keep(&id->hostname, tsdl_text(value));
	else if (tsdl_is(block, "clock") && tsdl_is(key, "uuid"))
		keep(&id->clock, tsdl_text(value));
}

/* KEY = "VALUE" directly inside blocks, up to the first stream or event. */
static void read_blocks(struct identity *id, const char *text)
{
	struct tsdl_token block = { .kind = TSDL_END }, key = block, before = block, token;
	struct tsdl_reader reader = { .at = text, .line = 1 };
	unsigned depth = 0;

	while (!tsdl_next(&reader, &token) && token.kind != TSDL_END) {
		if (tsdl_is(&token, "{")) {
			if (!depth++)
				block = before;
		} else if (tsdl_is(&token, "}")) {
			depth -= depth > 0;
		} else if (!depth && (tsdl_is(&token, "stream") || tsdl_is(&token, "event"))) {
			break;
		} else if (tsdl_is(&token, "=")) {
			key = before;
		} else if (depth == 1 && token.kind == TSDL_STRING && tsdl_is(&before, "=")) {
			take_value(id, &block, &key, &token);
		}
		before = token;
	}
}

/* ---- CTF 2 ---- */

static char *text_of(const json_t *o, const char *key)
{
	return g_strdup(json_string_value(json_object_get(o, key)));
}

/* The UUID of the metadata, which is the trace's if the trace has no uid. */
static char *uuid_of(const json_t *bytes)
{
	GString *text = g_string_new(NULL);
	const json_t *byte;
	size_t i;

	json_array_foreach((json_t *)bytes, i, byte)
		g_string_append_printf(text, "%02x", (unsigned)json_integer_value(byte) & 0xff);
	return g_string_free(text, !text->len);
}

static void read_fragment(struct identity *id, char **uuid, const struct json_fragment *f)
{
	json_t *o = json_read(f);
	const char *type = json_string_value(json_object_get(o, "type"));

	if (g_strcmp0(type, "preamble") == 0) {
		keep(uuid, uuid_of(json_object_get(o, "uuid")));
	} else if (g_strcmp0(type, "trace-class") == 0) {
		keep(&id->trace, text_of(o, "uid"));
		keep(&id->hostname, text_of(json_object_get(o, "environment"), "hostname"));
	} else if (g_strcmp0(type, "clock-class") == 0) {
		keep(&id->clock, text_of(o, "uid"));
	}
	json_decref(o);
}

static void read_fragments(struct identity *id, const char *text)
{
	struct json_fragment f;
	unsigned line = 1;
	char *uuid = NULL;

	while (json_next(&text, &line, &f) && !json_mentions(&f, "\"data-stream-class\""))
		if (json_mentions(&f, "\"preamble\"") || json_mentions(&f, "\"trace-class\"") ||
		    json_mentions(&f, "\"clock-class\""))
			read_fragment(id, &uuid, &f);
	keep(&id->trace, uuid);
}

void identity_read(struct identity *id, const char *text)
{
	*id = (struct identity){ .is_ctf2 = metadata_is_ctf2(text) };
	if (id->is_ctf2)
		read_fragments(id, text);
	else
		read_blocks(id, text);
	/* The end of a truncated text cannot be parsed, which is not an error. */
	error_clear();
}

void identity_read_trace(struct identity *id, const char *directory)
{
	enum { HEAD = 64 * 1024 }; /* trace, env and clock blocks come first */
	char *text = metadata_read(directory, HEAD);

	identity_read(id, text ? text : "");
	g_free(text);
}

void identity_release(struct identity *id)
{
	g_free(id->trace);
	g_free(id->hostname);
	g_free(id->clock);
}
