/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/blocks.h"

#include <string.h>

#include "base/keyhash.h"
#include "base/nstime.h"
#include "ctf/declare.h"

struct blocks_parse {
	struct declare d;
	struct layout *l;
	const char *text;
	void *block; /* the clock, stream or event that the entries belong to */
};

/* Handles an entry: either value or type is NULL. */
typedef enum lt_status entry_fn(struct blocks_parse *p, const char *key, const struct tsdl_token *value,
				struct type *type);

static size_t position(const struct blocks_parse *p, const struct tsdl_token *token)
{
	return (size_t)(token->text - p->text);
}

static enum lt_status parse_entry(struct blocks_parse *p, entry_fn *entry)
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

static enum lt_status parse_block(struct blocks_parse *p, entry_fn *entry)
{
	if (declare_expect(&p->d, "{"))
		return LT_ERROR;
	while (!declare_accept(&p->d, "}"))
		if (parse_entry(p, entry))
			return LT_ERROR;
	declare_accept(&p->d, ";");
	return LT_OK;
}

/* Skips the block that starts here, whatever its contents. */
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

static enum lt_status trace_entry(struct blocks_parse *p, const char *key, const struct tsdl_token *value,
				  struct type *type)
{
	if (!strcmp(key, "byte_order") && value)
		p->l->order = tsdl_is(value, "le") ? BITS_LITTLE : BITS_BIG;
	else if (!strcmp(key, "uuid") && value)
		parse_uuid(p->l, value);
	else if (!strcmp(key, "packet.header") && type)
		p->l->packet_header = type;
	return LT_OK;
}

static enum lt_status env_entry(struct blocks_parse *p, const char *key, const struct tsdl_token *value,
				struct type *type)
{
	(void)type;
	if (value && value->kind == TSDL_NUMBER)
		g_hash_table_replace(p->l->env_integers, g_strdup(key),
				     g_memdup2(&value->number, sizeof(value->number)));
	if (!value || value->kind != TSDL_STRING)
		return LT_OK;
	g_hash_table_replace(p->l->env, g_strdup(key), tsdl_text(value));
	if (!strcmp(key, "hostname")) {
		p->l->hostname_at = position(p, value);
		p->l->hostname_len = value->len;
	}
	return LT_OK;
}

static enum lt_status clock_entry(struct blocks_parse *p, const char *key, const struct tsdl_token *value,
				  struct type *type)
{
	struct layout_clock *clock = p->block;

	(void)type;
	if (!value)
		return LT_OK;
	if (!strcmp(key, "name")) {
		g_free(clock->name);
		clock->name = tsdl_text(value);
	} else if (!strcmp(key, "uuid")) {
		g_free(clock->uuid);
		clock->uuid = tsdl_text(value);
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

static enum lt_status stream_entry(struct blocks_parse *p, const char *key, const struct tsdl_token *value,
				   struct type *type)
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

static enum lt_status event_entry(struct blocks_parse *p, const char *key, const struct tsdl_token *value,
				  struct type *type)
{
	struct layout_event *e = p->block;

	if (!strcmp(key, "id") && value) {
		e->id = (uint64_t)value->number;
	} else if (!strcmp(key, "stream_id") && value) {
		e->stream_id = (uint64_t)value->number;
		e->has_stream_id = true;
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

static enum lt_status parse_env(struct blocks_parse *p)
{
	p->l->env_body = position(p, p->d.at) + 1;
	return parse_block(p, env_entry);
}

static enum lt_status parse_clock(struct blocks_parse *p)
{
	struct layout_clock *clock = g_new0(struct layout_clock, 1);

	clock->freq = NS_PER_S;
	clock->body = position(p, p->d.at) + 1;
	g_ptr_array_add(p->l->clocks, clock);
	p->block = clock;
	return parse_block(p, clock_entry);
}

static enum lt_status parse_stream(struct blocks_parse *p)
{
	p->block = layout_add_stream(p->l);
	return parse_block(p, stream_entry);
}

/* A malformed event does not prevent the use of the others: its id and stream usually come first. */
static void parse_event(struct blocks_parse *p)
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

static enum lt_status parse_statement(struct blocks_parse *p)
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

enum lt_status blocks_parse(const char *text, struct layout *l)
{
	struct blocks_parse p = { .text = text, .l = l, .d = { .types = l->types } };
	struct tsdl_statement statement = { 0 };
	struct tsdl_reader reader = { .at = text, .line = 1, .phrases = &p.d.phrases };
	enum lt_status status;

	p.d.names = g_hash_table_new_full(keyhash_text, g_str_equal, g_free, NULL);
	while ((status = tsdl_read_statement(&reader, &statement)) == LT_OK) {
		p.d.at = statement.tokens;
		status = parse_statement(&p);
		if (status)
			break;
	}
	g_hash_table_destroy(p.d.names);
	tsdl_statement_release(&statement);
	return status == LT_END ? LT_OK : status;
}
