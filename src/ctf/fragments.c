/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/fragments.h"

#include <string.h>

#include "base/error.h"
#include "base/keyhash.h"
#include "ctf/fieldclass.h"
#include "ctf/json.h"

struct fragments_parse {
	struct layout *l;
	struct fieldclass classes;
	bool has_preamble, has_trace;
};

/* The structure in that property, which may be missing. */
static enum lt_status get_struct(struct fragments_parse *p, const json_t *o, const char *key, bool has_roles,
				 struct type **out)
{
	const json_t *value = json_object_get(o, key);

	if (!value)
		return LT_OK;
	p->classes.has_roles = has_roles;
	p->classes.depth = 0;
	if (fieldclass_parse(&p->classes, value, out))
		return error_wrap("'%s'", key);
	return (*out)->kind == TYPE_STRUCT ? LT_OK : error_set("'%s' is not a structure", key);
}

static enum lt_status get_id(const json_t *o, const char *key, uint64_t *id)
{
	int64_t value = 0;

	if (json_get_integer(o, key, &value))
		return LT_ERROR;
	*id = (uint64_t)value;
	return LT_OK;
}

static enum lt_status parse_preamble(struct fragments_parse *p, const json_t *o)
{
	const json_t *uuid = NULL, *byte;
	int64_t version = 0;
	size_t i;

	if (json_get_integer(o, "version", &version) || json_get_array(o, "uuid", &uuid))
		return LT_ERROR;
	if (version != 2)
		return error_set("version %" G_GINT64_FORMAT " of CTF is not supported", version);
	p->has_preamble = true;
	if (!uuid)
		return LT_OK;
	json_array_foreach((json_t *)uuid, i, byte) {
		if (i >= sizeof(p->l->uuid) || !json_is_integer(byte) || json_integer_value(byte) < 0 ||
		    json_integer_value(byte) > UINT8_MAX)
			return error_set("'uuid' is not 16 bytes");
		p->l->uuid[i] = (uint8_t)json_integer_value(byte);
	}
	p->l->has_uuid = json_array_size(uuid) == sizeof(p->l->uuid);
	return p->l->has_uuid ? LT_OK : error_set("'uuid' is not 16 bytes");
}

static enum lt_status parse_alias(struct fragments_parse *p, const json_t *o)
{
	const char *name = NULL;

	if (json_require(o, "name") || json_get_text(o, "name", &name) || json_require(o, "field-class"))
		return LT_ERROR;
	g_hash_table_replace(p->classes.aliases, g_strdup(name), json_incref(json_object_get(o, "field-class")));
	return LT_OK;
}

static enum lt_status parse_environment(struct fragments_parse *p, const json_t *env)
{
	const json_t *value;
	const char *name;
	int64_t number;

	json_object_foreach((json_t *)env, name, value) {
		if (json_is_string(value)) {
			g_hash_table_replace(p->l->env, g_strdup(name), g_strdup(json_string_value(value)));
		} else if (json_is_integer(value)) {
			number = json_integer_value(value);
			g_hash_table_replace(p->l->env_integers, g_strdup(name), g_memdup2(&number, sizeof(number)));
		} else {
			return error_set("'%.40s' in 'environment' is neither a string nor an integer", name);
		}
	}
	return LT_OK;
}

static enum lt_status parse_trace(struct fragments_parse *p, const json_t *o)
{
	const json_t *env = NULL;

	if (p->has_trace)
		return error_set("defined twice");
	p->has_trace = true;
	if (json_get_object(o, "environment", &env) || parse_environment(p, env))
		return LT_ERROR;
	return get_struct(p, o, "packet-header-field-class", true, &p->l->packet_header);
}

static enum lt_status parse_offset(struct layout_clock *clock, const json_t *o)
{
	const json_t *offset = NULL;

	if (json_get_object(o, "offset-from-origin", &offset))
		return LT_ERROR;
	if (!offset)
		return LT_OK;
	if (json_get_integer(offset, "seconds", &clock->offset_s))
		return LT_ERROR;
	return json_get_integer(offset, "cycles", &clock->offset);
}

/* Data streams refer to the clock by its id. */
static enum lt_status parse_clock(struct fragments_parse *p, const json_t *o)
{
	struct layout_clock *clock = g_new0(struct layout_clock, 1);
	const char *id = "", *uid = NULL;
	uint64_t freq = 0;

	g_ptr_array_add(p->l->clocks, clock);
	if (json_get_text(o, "id", &id) || json_get_text(o, "uid", &uid) || json_require(o, "frequency") ||
	    json_get_count(o, "frequency", INT64_MAX, &freq) || parse_offset(clock, o))
		return LT_ERROR;
	if (!freq)
		return error_set("'frequency' is 0");
	clock->name = g_strdup(id);
	clock->uuid = g_strdup(uid);
	clock->freq = freq;
	return LT_OK;
}

static enum lt_status parse_stream(struct fragments_parse *p, const json_t *o)
{
	struct layout_stream *s = layout_add_stream(p->l);
	enum lt_status status;

	if (get_id(o, "id", &s->id) || json_get_text(o, "default-clock-class-id", &p->classes.clock_name))
		return LT_ERROR;
	status = get_struct(p, o, "packet-context-field-class", true, &s->packet_context);
	if (!status)
		status = get_struct(p, o, "event-record-header-field-class", true, &s->event_header);
	if (!status)
		status = get_struct(p, o, "event-record-common-context-field-class", false, &s->event_context);
	p->classes.clock_name = NULL;
	return status;
}

static enum lt_status fill_event(struct fragments_parse *p, struct layout_event *e, const json_t *o)
{
	const char *name = "";

	if (get_id(o, "id", &e->id) || get_id(o, "data-stream-class-id", &e->stream_id) ||
	    json_get_text(o, "name", &name))
		return LT_ERROR;
	e->name = g_strdup(name);
	if (get_struct(p, o, "specific-context-field-class", false, &e->context))
		return LT_ERROR;
	return get_struct(p, o, "payload-field-class", false, &e->fields);
}

/* A malformed event does not prevent the use of the others. */
static enum lt_status parse_event(struct fragments_parse *p, const json_t *o)
{
	struct layout_event *e = g_new0(struct layout_event, 1);

	e->has_stream_id = true;
	g_ptr_array_add(p->l->events, e);
	e->is_known = !fill_event(p, e, o);
	return LT_OK;
}

static enum lt_status parse_fragment(struct fragments_parse *p, const json_t *o)
{
	static const struct {
		const char *type;
		enum lt_status (*parse)(struct fragments_parse *p, const json_t *o);
	} types[] = {
		{ "event-record-class", parse_event }, { "field-class-alias", parse_alias },
		{ "trace-class", parse_trace },        { "clock-class", parse_clock },
		{ "data-stream-class", parse_stream }, { "preamble", parse_preamble },
	};
	const char *type = NULL;

	if (json_require(o, "type") || json_get_text(o, "type", &type))
		return LT_ERROR;
	if (p->has_preamble == (strcmp(type, "preamble") == 0))
		return error_set("the first fragment, and only that, must be the preamble");
	for (size_t i = 0; i < G_N_ELEMENTS(types); i++) {
		if (strcmp(type, types[i].type) != 0)
			continue;
		if (json_object_get(o, "extensions"))
			return error_set("%s: extensions are not supported", type);
		return types[i].parse(p, o) ? error_wrap("%s", type) : LT_OK;
	}
	return error_set("unknown fragment '%.40s'", type);
}

/* The last fragment of a truncated recording may be truncated; its event is then unknown. */
static enum lt_status read_fragment(struct fragments_parse *p, const struct json_fragment *f, bool is_last)
{
	enum lt_status status;
	json_t *o;

	if (strspn(f->text, " \t\r\n") >= f->len)
		return LT_OK;
	o = json_read(f);
	if (!o && is_last && p->has_preamble) {
		p->l->n_unknown++;
		return LT_OK;
	}
	if (!o)
		return LT_ERROR;
	status = parse_fragment(p, o);
	json_decref(o);
	return status ? error_wrap("metadata: line %u", f->line) : LT_OK;
}

static void release_json(gpointer value)
{
	json_decref(value);
}

enum lt_status fragments_parse(const char *text, struct layout *l)
{
	struct fragments_parse p = { .l = l, .classes = { .types = l->types } };
	enum lt_status status = LT_OK;
	struct json_fragment f;
	unsigned line = 1;

	p.classes.aliases = g_hash_table_new_full(keyhash_text, g_str_equal, g_free, release_json);
	while (!status && json_next(&text, &line, &f))
		status = read_fragment(&p, &f, !*text);
	g_hash_table_destroy(p.classes.aliases);
	l->format = LAYOUT_CTF_2;
	l->order = p.classes.order;
	if (!status && !p.has_preamble)
		return error_set("metadata: no preamble");
	return status;
}
