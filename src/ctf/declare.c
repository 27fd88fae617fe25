/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/declare_internal.h"

#include <string.h>

#include "base/error.h"

/* In the name of a type: "unsigned long long int". */
enum { WORDS_MAX = 8 };

/* "';'", or the end and what that means; to be freed. */
static char *place_of(const struct tsdl_token *token)
{
	char *text = tsdl_text(token);
	char *place =
		token->kind == TSDL_END ? g_strdup("the end: it may be truncated") : g_strdup_printf("'%.40s'", text);

	g_free(text);
	return place;
}

enum lt_status declare_fail(const struct declare *d, const char *what)
{
	char *place = place_of(d->at);

	error_set("metadata: line %u: %s at %s", d->at->line, what, place);
	g_free(place);
	return LT_ERROR;
}

bool declare_accept(struct declare *d, const char *mark)
{
	if (!tsdl_is(d->at, mark))
		return false;
	d->at++;
	return true;
}

enum lt_status declare_expect(struct declare *d, const char *mark)
{
	char *what;

	if (declare_accept(d, mark))
		return LT_OK;
	what = g_strdup_printf("'%s' expected", mark);
	declare_fail(d, what);
	g_free(what);
	return LT_ERROR;
}

enum lt_status declare_path(struct declare *d, char **path)
{
	GString *text;

	if (d->at->kind == TSDL_WORD && !tsdl_is(d->at + 1, ".")) {
		*path = tsdl_text(d->at++);
		return LT_OK;
	}
	text = g_string_new(NULL);
	do {
		if (d->at->kind != TSDL_WORD) {
			g_string_free(text, TRUE);
			return declare_fail(d, "a name expected");
		}
		if (text->len)
			g_string_append_c(text, '.');
		g_string_append_len(text, d->at->text, (gssize)d->at->len);
		d->at++;
	} while (declare_accept(d, "."));
	*path = g_string_free(text, FALSE);
	return LT_OK;
}

/* Removes the underscore that tracers prepend to names that could be keywords, and to most others. */
static void make_plain(char *name)
{
	if (*name == '_')
		memmove(name, name + 1, strlen(name));
}

enum lt_status declare_make(struct declare *d, enum type_kind kind, struct type **out)
{
	if (d->types->len >= TYPES_MAX)
		return declare_fail(d, "too many types");
	*out = type_create(kind);
	g_ptr_array_add(d->types, *out);
	return LT_OK;
}

/* A short declaration can copy a long text of an earlier one. NULL: no text. */
static enum lt_status count_copy(struct declare *d, const char *text)
{
	d->n_copied += text ? strlen(text) : 0;
	return d->n_copied > COPIES_MAX ? declare_fail(d, "too many long names") : LT_OK;
}

/* Limited, because a short declaration can create many fields. */
static enum lt_status add_field(struct declare *d, struct type *t, const char *name, struct type *type)
{
	if (t->fields->len >= TYPE_FIELDS_MAX || d->n_fields >= TYPES_MAX)
		return declare_fail(d, "too many fields");
	if (count_copy(d, name))
		return LT_ERROR;
	d->n_fields++;
	type_add_field(t, name, type);
	return LT_OK;
}

static void set_name(struct declare *d, const char *keyword, const char *name, struct type *t)
{
	g_hash_table_replace(d->names, g_strconcat(keyword, name, NULL), t);
}

static struct type *find_name(const struct declare *d, const char *keyword, const char *name)
{
	char *key = g_strconcat(keyword, name, NULL);
	struct type *t = g_hash_table_lookup(d->names, key);

	g_free(key);
	return t;
}

/* Parses the path of a sequence's length or a variant's tag: "_len", "stream.event.header.id". */
static enum lt_status parse_reference(struct declare *d, struct type *t)
{
	static const char *const parts[PARTS] = {
		"trace.packet.header.",  "stream.packet.context.", "stream.event.header.",
		"stream.event.context.", "event.context.",         "event.fields.",
	};
	const char *rest;
	char *text;

	if (declare_path(d, &text))
		return LT_ERROR;
	rest = text;
	t->from = FROM_NEAR;
	for (unsigned i = 0; i < PARTS && t->from == FROM_NEAR; i++) {
		if (!g_str_has_prefix(text, parts[i]))
			continue;
		t->from = i;
		rest = text + strlen(parts[i]);
	}
	t->path = g_strsplit(rest, ".", -1);
	for (char **name = t->path; *name; name++)
		make_plain(*name);
	g_free(text);
	return LT_OK;
}

static enum lt_status parse_string(struct declare *d, struct type **out)
{
	if (declare_make(d, TYPE_STRING, out))
		return LT_ERROR;
	if (!declare_accept(d, "{"))
		return LT_OK;
	while (!tsdl_is(d->at, "}") && d->at->kind != TSDL_END)
		d->at++;
	return declare_expect(d, "}");
}

/* ---- enumerations ---- */

static enum lt_status parse_label(struct declare *d, struct type *t, int64_t *next)
{
	struct type_label label = { .first = *next };

	if (d->at->kind != TSDL_WORD && d->at->kind != TSDL_STRING)
		return declare_fail(d, "a label expected");
	label.name = tsdl_text(d->at++);
	if (declare_accept(d, "=")) {
		if (d->at->kind != TSDL_NUMBER)
			goto no_number;
		label.first = (d->at++)->number;
	}
	label.last = label.first;
	if (declare_accept(d, "...")) {
		if (d->at->kind != TSDL_NUMBER)
			goto no_number;
		label.last = (d->at++)->number;
	}
	*next = (int64_t)((uint64_t)label.last + 1);
	g_array_append_val(t->labels, label);
	return LT_OK;
no_number:
	g_free(label.name);
	return declare_fail(d, "a number expected");
}

static enum lt_status parse_enum(struct declare *d, struct type **out)
{
	struct type *t = NULL, *base = find_name(d, "", "int");
	char *name = d->at->kind == TSDL_WORD ? tsdl_text(d->at++) : NULL;
	enum lt_status status;
	int64_t next = 0;

	if (name && !tsdl_is(d->at, ":") && !tsdl_is(d->at, "{")) {
		*out = find_name(d, "enum ", name);
		g_free(name);
		return *out ? LT_OK : declare_fail(d, "an unknown enum");
	}
	status = declare_make(d, TYPE_ENUM, &t);
	if (!status && name)
		set_name(d, "enum ", name, t);
	g_free(name);
	if (status)
		return status;
	if (declare_accept(d, ":") && declare_type(d, &base))
		return LT_ERROR;
	if (!base || base->kind != TYPE_INTEGER)
		return declare_fail(d, "an enum that is not an integer");
	type_set_integer(t, base);
	if (count_copy(d, t->clock_name) || declare_expect(d, "{"))
		return LT_ERROR;
	while (!declare_accept(d, "}")) {
		if (parse_label(d, t, &next))
			return LT_ERROR;
		if (!declare_accept(d, ",") && !tsdl_is(d->at, "}"))
			return declare_fail(d, "',' expected");
	}
	*out = t;
	return LT_OK;
}

/* ---- structures and variants ---- */

/* NAME, NAME[3], NAME[length] …: the declarator of a field. */
static enum lt_status parse_declarator(struct declare *d, struct type *type, char **name, struct type **out)
{
	struct type *outer = NULL, *inner = NULL;

	if (d->at->kind != TSDL_WORD)
		return declare_fail(d, "the name of a field expected");
	*name = tsdl_text(d->at++);
	make_plain(*name);
	for (unsigned n = 0; declare_accept(d, "["); n++) {
		struct type *t = NULL;

		if (n >= TYPE_DEPTH_MAX)
			return declare_fail(d, "arrays nested too deeply");
		if (declare_make(d, d->at->kind == TSDL_NUMBER ? TYPE_ARRAY : TYPE_SEQUENCE, &t))
			return LT_ERROR;
		if (t->kind == TYPE_ARRAY)
			t->length = (uint64_t)(d->at++)->number;
		else if (parse_reference(d, t))
			return LT_ERROR;
		if (declare_expect(d, "]"))
			return LT_ERROR;
		t->element = type;
		t->align = type->align;
		t->is_text = type->kind == TYPE_INTEGER && type->is_text && type->size == 8 && type->align == 8;
		if (inner) {
			inner->element = t;
			inner->is_text = false;
		} else {
			outer = t;
		}
		inner = t;
	}
	*out = outer ? outer : type;
	return LT_OK;
}

static enum lt_status parse_field(struct declare *d, struct type *into)
{
	struct type *type = NULL, *whole = NULL;

	if (declare_type(d, &type))
		return LT_ERROR;
	do {
		char *name = NULL;
		enum lt_status status = parse_declarator(d, type, &name, &whole);

		if (!status)
			status = add_field(d, into, name, whole);
		g_free(name);
		if (status)
			return status;
	} while (declare_accept(d, ","));
	return declare_expect(d, ";");
}

static enum lt_status parse_fields(struct declare *d, struct type *t)
{
	while (!declare_accept(d, "}"))
		if (declare_is_alias(d) ? declare_alias(d) : parse_field(d, t))
			return LT_ERROR;
	return LT_OK;
}

static enum lt_status parse_struct(struct declare *d, struct type **out)
{
	char *name = d->at->kind == TSDL_WORD && !tsdl_is(d->at, "align") ? tsdl_text(d->at++) : NULL;
	enum lt_status status = LT_OK;

	if (declare_accept(d, "{")) {
		status = declare_make(d, TYPE_STRUCT, out);
		if (!status)
			status = parse_fields(d, *out);
		if (!status && declare_accept(d, "align")) {
			status = declare_expect(d, "(");
			if (!status)
				status = declare_align(d, *out, d->at->kind == TSDL_NUMBER ? d->at->number : 0);
			d->at += !status;
			if (!status)
				status = declare_expect(d, ")");
		}
		if (!status && name)
			set_name(d, "struct ", name, *out);
	} else {
		*out = name ? find_name(d, "struct ", name) : NULL;
		status = *out ? LT_OK : declare_fail(d, "an unknown struct");
	}
	g_free(name);
	return status;
}

/* Reuses the options of a variant with another tag. */
static enum lt_status copy_options(struct declare *d, struct type *t, const struct type *known)
{
	for (guint i = 0; i < known->fields->len; i++)
		if (add_field(d, t, type_field(known, i)->name, type_field(known, i)->type))
			return LT_ERROR;
	if (t->path)
		return LT_OK;
	t->from = known->from;
	t->path = g_strdupv(known->path);
	for (char **name = t->path; name && *name; name++)
		if (count_copy(d, *name))
			return LT_ERROR;
	return LT_OK;
}

static enum lt_status parse_variant(struct declare *d, struct type **out)
{
	char *name = d->at->kind == TSDL_WORD ? tsdl_text(d->at++) : NULL;
	struct type *tagged = NULL, *known;
	enum lt_status status = declare_make(d, TYPE_VARIANT, &tagged);

	*out = tagged;
	if (!status && declare_accept(d, "<")) {
		status = parse_reference(d, tagged);
		if (!status)
			status = declare_expect(d, ">");
	}
	if (!status && declare_accept(d, "{")) {
		status = parse_fields(d, tagged);
		if (!status && name)
			set_name(d, "variant ", name, tagged);
	} else if (!status) {
		known = name ? find_name(d, "variant ", name) : NULL;
		status = known ? copy_options(d, tagged, known) : declare_fail(d, "an unknown variant");
	}
	g_free(name);
	return status;
}

/* ---- names of types ---- */

/* The longest sequence of words that names a type. */
static enum lt_status parse_known(struct declare *d, struct type **out)
{
	GString *words = g_string_new(NULL);
	const struct tsdl_token *behind = NULL;

	while (declare_accept(d, "const"))
		;
	for (const struct tsdl_token *t = d->at; t->kind == TSDL_WORD && t < d->at + WORDS_MAX; t++) {
		struct type *found;

		if (words->len)
			g_string_append_c(words, ' ');
		g_string_append_len(words, t->text, (gssize)t->len);
		found = g_hash_table_lookup(d->names, words->str);
		if (found) {
			*out = found;
			behind = t + 1;
		}
	}
	g_string_free(words, TRUE);
	if (!behind)
		return declare_fail(d, "an unknown type");
	d->at = behind;
	return LT_OK;
}

enum lt_status declare_type(struct declare *d, struct type **out)
{
	enum lt_status status;

	if (d->depth >= TYPE_DEPTH_MAX)
		return declare_fail(d, "types nested too deeply");
	d->depth++;
	status = LT_OK;
	if (d->at->kind == TSDL_PHRASE)
		*out = d->of_phrase[(d->at++)->number];
	else if (declare_accept(d, "integer"))
		status = declare_number(d, TYPE_INTEGER, out);
	else if (declare_accept(d, "floating_point"))
		status = declare_number(d, TYPE_FLOAT, out);
	else if (declare_accept(d, "string"))
		status = parse_string(d, out);
	else if (declare_accept(d, "enum"))
		status = parse_enum(d, out);
	else if (declare_accept(d, "struct"))
		status = parse_struct(d, out);
	else if (declare_accept(d, "variant"))
		status = parse_variant(d, out);
	else
		status = parse_known(d, out);
	d->depth--;
	return status;
}

bool declare_is_alias(const struct declare *d)
{
	return tsdl_is(d->at, "typealias") || tsdl_is(d->at, "typedef");
}

enum lt_status declare_alias(struct declare *d)
{
	bool is_typedef = tsdl_is(d->at++, "typedef");
	GString *name = g_string_new(NULL);
	struct type *type = NULL;
	enum lt_status status = declare_type(d, &type);

	if (!status && !is_typedef)
		status = declare_expect(d, ":=");
	for (; !status && d->at->kind == TSDL_WORD; d->at++) {
		if (name->len)
			g_string_append_c(name, ' ');
		g_string_append_len(name, d->at->text, (gssize)d->at->len);
	}
	if (!status && !name->len)
		status = declare_fail(d, "the name of a type expected");
	if (!status)
		status = declare_expect(d, ";");
	if (!status)
		set_name(d, "", name->str, type);
	g_string_free(name, TRUE);
	return status;
}
