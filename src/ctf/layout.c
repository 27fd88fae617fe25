/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/layout.h"

#include <string.h>

#include "base/error.h"
#include "ctf/declare.h"
#include "ctf/resolve.h"

#define NS_PER_S INT64_C(1000000000)

/* ---- the blocks: NAME { key = value; key := type; typealias …; … }; ---- */

struct parse {
	struct declare d;
	struct layout *l;
	const char *text;
	void *block; /* the clock, stream, event the entries belong to */
};

/* One entry: value is NULL or type is. */
typedef enum lt_status entry_fn(struct parse *p, const char *key, const struct tsdl_token *value, struct type *type);

static size_t position(const struct parse *p, const struct tsdl_token *token)
{
	return (size_t)(token->text - p->text);
}

static enum lt_status parse_entry(struct parse *p, entry_fn *entry)
{
	struct declare *d = &p->d;
	enum lt_status status = LT_OK;
	struct type *type = NULL;
	const struct tsdl_token *value;
	char *key = NULL;

	if (declare_is_alias(d))
		return declare_alias(d);
	if (tsdl_is(d->at, "struct") || tsdl_is(d->at, "variant") || tsdl_is(d->at, "enum"))
		return declare_type(d, &type) ? LT_ERROR : declare_expect(d, ";");
	if (declare_path(d, &key))
		return LT_ERROR;
	if (declare_accept(d, ":=")) {
		status = declare_type(d, &type);
		if (!status)
			status = entry(p, key, NULL, type);
	} else {
		status = declare_expect(d, "=");
		value = d->at;
		if (!status)
			status = entry(p, key, value, NULL);
		while (!tsdl_is(d->at, ";") && !tsdl_is(d->at, "}") && d->at->kind != TSDL_END)
			d->at++;
	}
	g_free(key);
	return status ? status : declare_expect(d, ";");
}

static enum lt_status parse_block(struct parse *p, entry_fn *entry)
{
	if (declare_expect(&p->d, "{"))
		return LT_ERROR;
	while (!declare_accept(&p->d, "}"))
		if (parse_entry(p, entry))
			return LT_ERROR;
	declare_accept(&p->d, ";");
	return LT_OK;
}

/* Behind the block that begins here, whatever is in it. */
static void skip_block(struct declare *d)
{
	unsigned depth = 0;

	for (; d->at->kind != TSDL_END; d->at++) {
		if (tsdl_is(d->at, "{")) {
			depth++;
		} else if (tsdl_is(d->at, "}") && (!depth || !--depth)) {
			d->at++;
			break;
		}
	}
	declare_accept(d, ";");
}

static void parse_uuid(struct layout *l, const struct tsdl_token *value)
{
	unsigned n = 0;

	for (size_t i = 0; i < value->len && n < 32; i++) {
		int digit = g_ascii_xdigit_value(value->text[i]);

		if (digit < 0)
			continue;
		l->uuid[n / 2] = (uint8_t)(l->uuid[n / 2] << 4 | digit);
		n++;
	}
	l->has_uuid = n == 32;
}

static enum lt_status trace_entry(struct parse *p, const char *key, const struct tsdl_token *value, struct type *type)
{
	if (!strcmp(key, "byte_order") && value)
		p->l->order = tsdl_is(value, "le") ? BITS_LITTLE : BITS_BIG;
	else if (!strcmp(key, "uuid") && value)
		parse_uuid(p->l, value);
	else if (!strcmp(key, "packet.header") && type)
		p->l->packet_header = type;
	return LT_OK;
}

static enum lt_status env_entry(struct parse *p, const char *key, const struct tsdl_token *value, struct type *type)
{
	(void)type;
	if (!value || value->kind != TSDL_STRING)
		return LT_OK;
	g_hash_table_replace(p->l->env, g_strdup(key), tsdl_text(value));
	if (!strcmp(key, "hostname")) {
		p->l->hostname_at = position(p, value);
		p->l->hostname_len = value->len;
	}
	return LT_OK;
}

static enum lt_status clock_entry(struct parse *p, const char *key, const struct tsdl_token *value, struct type *type)
{
	struct layout_clock *clock = p->block;

	(void)type;
	if (!value)
		return LT_OK;
	if (!strcmp(key, "name")) {
		g_free(clock->name);
		clock->name = tsdl_text(value);
	}
	if (value->kind != TSDL_NUMBER)
		return LT_OK;
	if (!strcmp(key, "freq") && value->number > 0) {
		clock->freq = (uint64_t)value->number;
	} else if (!strcmp(key, "offset_s")) {
		clock->offset_s = value->number;
		clock->offset_s_at = position(p, value);
		clock->offset_s_len = value->len;
	} else if (!strcmp(key, "offset")) {
		clock->offset = value->number;
		clock->offset_at = position(p, value);
		clock->offset_len = value->len;
	}
	return LT_OK;
}

static enum lt_status stream_entry(struct parse *p, const char *key, const struct tsdl_token *value, struct type *type)
{
	struct layout_stream *s = p->block;

	if (!strcmp(key, "id") && value)
		s->id = (uint64_t)value->number;
	else if (!strcmp(key, "packet.context") && type)
		s->packet_context = type;
	else if (!strcmp(key, "event.header") && type)
		s->event_header = type;
	else if (!strcmp(key, "event.context") && type)
		s->event_context = type;
	return LT_OK;
}

static enum lt_status event_entry(struct parse *p, const char *key, const struct tsdl_token *value, struct type *type)
{
	struct layout_event *e = p->block;

	if (!strcmp(key, "id") && value) {
		e->id = (uint64_t)value->number;
	} else if (!strcmp(key, "stream_id") && value) {
		e->stream_id = (uint64_t)value->number;
	} else if (!strcmp(key, "name") && value) {
		g_free(e->name);
		e->name = tsdl_text(value);
	} else if (!strcmp(key, "context") && type) {
		e->context = type;
	} else if (!strcmp(key, "fields") && type) {
		e->fields = type;
	}
	return LT_OK;
}

static enum lt_status parse_env(struct parse *p)
{
	p->l->env_body = position(p, p->d.at) + 1;
	return parse_block(p, env_entry);
}

static enum lt_status parse_clock(struct parse *p)
{
	struct layout_clock *clock = g_new0(struct layout_clock, 1);

	clock->freq = NS_PER_S;
	clock->body = position(p, p->d.at) + 1;
	g_ptr_array_add(p->l->clocks, clock);
	p->block = clock;
	return parse_block(p, clock_entry);
}

static enum lt_status parse_stream(struct parse *p)
{
	struct layout_stream *s = g_new0(struct layout_stream, 1);

	s->events = g_hash_table_new(g_int64_hash, g_int64_equal);
	s->align = 8;
	g_ptr_array_add(p->l->streams, s);
	p->block = s;
	return parse_block(p, stream_entry);
}

/* What is wrong in one event is no reason to give up the others: its id and stream usually come first. */
static void parse_event(struct parse *p)
{
	struct layout_event *e = g_new0(struct layout_event, 1);
	const struct tsdl_token *begin = p->d.at;

	g_ptr_array_add(p->l->events, e);
	p->block = e;
	e->is_known = !parse_block(p, event_entry);
	if (!e->is_known) {
		p->d.at = begin;
		p->d.depth = 0;
		skip_block(&p->d);
	}
}

static enum lt_status parse_text(struct parse *p)
{
	struct declare *d = &p->d;
	enum lt_status status = LT_OK;

	while (!status && d->at->kind != TSDL_END) {
		if (declare_accept(d, ";"))
			continue;
		if (declare_accept(d, "trace"))
			status = parse_block(p, trace_entry);
		else if (declare_accept(d, "env"))
			status = parse_env(p);
		else if (declare_accept(d, "clock"))
			status = parse_clock(p);
		else if (declare_accept(d, "stream"))
			status = parse_stream(p);
		else if (declare_accept(d, "event"))
			parse_event(p);
		else if (declare_accept(d, "callsite"))
			skip_block(d);
		else
			status = parse_entry(p, env_entry);
	}
	return status;
}

/* ---- putting it together ---- */

static void measure(const struct layout *l, struct layout_stream *s, struct type *type)
{
	if (!type)
		return;
	type_measure(type, l->order);
	if (s)
		s->align = MAX(s->align, type->max_align);
}

static enum lt_status bind_stream(struct layout *l, struct layout_stream *s)
{
	struct resolve r = {.parts = {l->packet_header, s->packet_context, s->event_header, s->event_context},
			    .n_slots = &l->n_slots};

	if (s->event_header)
		resolve_event_id(s->event_header);
	for (unsigned i = 0; i < RESOLVE_EVENT_CONTEXT; i++)
		if (resolve_part(&r, i))
			return error_wrap("metadata: stream %" G_GUINT64_FORMAT, s->id);
	return LT_OK;
}

static void bind_event(struct layout *l, struct layout_event *e)
{
	struct layout_stream *s = layout_find_stream(l, e->stream_id);
	struct resolve r = {.n_slots = &l->n_slots};

	if (!s) {
		e->is_known = false;
		return;
	}
	g_hash_table_insert(s->events, &e->id, e);
	r = (struct resolve){.parts = {l->packet_header, s->packet_context, s->event_header, s->event_context,
				       e->context, e->fields},
			     .n_slots = &l->n_slots};
	if (e->is_known)
		e->is_known = !resolve_part(&r, RESOLVE_EVENT_CONTEXT) && !resolve_part(&r, RESOLVE_EVENT_FIELDS);
}

/* The types are measured after all references are known: what somebody refers to cannot be stepped over as a whole. */
static enum lt_status bind(struct layout *l)
{
	for (guint i = 0; i < l->streams->len; i++)
		if (bind_stream(l, g_ptr_array_index(l->streams, i)))
			return LT_ERROR;
	for (guint i = 0; i < l->events->len; i++)
		bind_event(l, g_ptr_array_index(l->events, i));
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
	return l->streams->len ? LT_OK : error_set("metadata: no stream is described");
}

static void destroy_clock(gpointer data)
{
	g_free(((struct layout_clock *)data)->name);
	g_free(data);
}

static void destroy_stream(gpointer data)
{
	g_hash_table_destroy(((struct layout_stream *)data)->events);
	g_free(data);
}

static void destroy_event(gpointer data)
{
	g_free(((struct layout_event *)data)->name);
	g_free(data);
}

static void destroy_type(gpointer data)
{
	type_destroy(data);
}

enum lt_status layout_parse(const char *text, struct layout **out)
{
	struct layout *l;
	struct parse p = {.text = text};
	GArray *tokens;
	enum lt_status status;

	if (tsdl_split(text, &tokens))
		return LT_ERROR;
	l = g_new0(struct layout, 1);
	l->env = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	l->clocks = g_ptr_array_new_with_free_func(destroy_clock);
	l->streams = g_ptr_array_new_with_free_func(destroy_stream);
	l->events = g_ptr_array_new_with_free_func(destroy_event);
	l->types = g_ptr_array_new_with_free_func(destroy_type);
	l->n_slots = SLOT_EVENT_ID + 1;
	p.l = l;
	p.d = (struct declare){.at = (const struct tsdl_token *)(void *)tokens->data, .types = l->types};
	p.d.names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	status = parse_text(&p);
	if (!status)
		status = bind(l);
	g_hash_table_destroy(p.d.names);
	g_array_free(tokens, TRUE);
	if (status) {
		layout_destroy(l);
		return status;
	}
	*out = l;
	return LT_OK;
}

void layout_destroy(struct layout *l)
{
	if (!l)
		return;
	g_hash_table_destroy(l->env);
	g_ptr_array_free(l->clocks, TRUE);
	g_ptr_array_free(l->streams, TRUE);
	g_ptr_array_free(l->events, TRUE);
	g_ptr_array_free(l->types, TRUE);
	g_free(l);
}

struct layout_stream *layout_find_stream(const struct layout *l, uint64_t id)
{
	for (guint i = 0; i < l->streams->len; i++) {
		struct layout_stream *s = g_ptr_array_index(l->streams, i);

		if (s->id == id)
			return s;
	}
	return NULL;
}

const char *layout_env(const struct layout *l, const char *key)
{
	return g_hash_table_lookup(l->env, key);
}
