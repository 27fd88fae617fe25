/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/declare_internal.h"

#include <string.h>

/* Integers and floats: NAME { key = value; … } */

enum lt_status declare_align(struct declare *d, struct type *t, int64_t align)
{
	if (align < 1 || align > TYPE_ALIGN_MAX || align & (align - 1))
		return declare_fail(d, "an alignment that is not a power of 2, or too large,");
	t->align = MAX(t->align, (uint64_t)align);
	return LT_OK;
}

static bool is_true(const struct tsdl_token *value)
{
	return value->kind == TSDL_NUMBER ? value->number != 0 : tsdl_is(value, "true") || tsdl_is(value, "TRUE");
}

static bool is_text_encoding(const struct tsdl_token *value)
{
	return value->len && (value->kind == TSDL_WORD || value->kind == TSDL_STRING) && !tsdl_is(value, "none");
}

/* 0: a base that babeltrace2 refuses too. */
static uint8_t parse_base(const struct tsdl_token *value)
{
	static const struct {
		const char *name;
		uint8_t base;
	} names[] = {
		{ "decimal", 10 },     { "dec", 10 }, { "d", 10 }, { "i", 10 },     { "u", 10 },
		{ "hexadecimal", 16 }, { "hex", 16 }, { "x", 16 }, { "X", 16 },     { "p", 16 },
		{ "octal", 8 },        { "oct", 8 },  { "o", 8 },  { "binary", 2 }, { "b", 2 },
	};

	if (value->kind == TSDL_NUMBER)
		return value->number == 2 || value->number == 8 || value->number == 16 ? (uint8_t)value->number : 10;
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (tsdl_is(value, names[i].name))
			return names[i].base;
	return 0;
}

static enum lt_status set_attribute(struct declare *d, struct type *t, const struct tsdl_token *key,
				    const struct tsdl_token *value)
{
	if (tsdl_is(key, "size") || tsdl_is(key, "exp_dig") || tsdl_is(key, "mant_dig")) {
		if (value->kind != TSDL_NUMBER || value->number < 0 || value->number > TYPE_FLOAT_BITS_MAX)
			return declare_fail(d, "a wrong size");
		t->size += (unsigned)value->number;
	} else if (tsdl_is(key, "align")) {
		return declare_align(d, t, value->kind == TSDL_NUMBER ? value->number : 0);
	} else if (tsdl_is(key, "signed")) {
		t->is_signed = is_true(value);
	} else if (tsdl_is(key, "byte_order")) {
		t->is_native = tsdl_is(value, "native");
		t->order = tsdl_is(value, "le") ? BITS_LITTLE : BITS_BIG;
	} else if (tsdl_is(key, "map")) {
		/* clock.NAME.value */
		t->is_clock = tsdl_is(value, "clock") && tsdl_is(value + 1, ".") && value[2].kind == TSDL_WORD;
		if (t->is_clock) {
			g_free(t->clock_name);
			t->clock_name = tsdl_text(value + 2);
		}
	} else if (tsdl_is(key, "base")) {
		t->base = parse_base(value);
	} else if (tsdl_is(key, "encoding")) {
		t->is_text = is_text_encoding(value);
	}
	return LT_OK;
}

/*
 * Tracers describe an integer again in each of thousands of fields. t is the type that was made last; if there is one
 * like it, that is returned, and t destroyed.
 */
static struct type *share_number(struct declare *d, struct type *t)
{
	for (unsigned i = 0; i < MIN(d->n_numbers, NUMBER_TYPES); i++) {
		if (!type_is_same_number(d->numbers[i], t))
			continue;
		g_ptr_array_set_size(d->types, (gint)d->types->len - 1);
		return d->numbers[i];
	}
	d->numbers[d->n_numbers++ % NUMBER_TYPES] = t;
	return t;
}

/* t was declared by the tokens from this one to the last: statements that follow have it as one token. */
static void learn_phrase(struct declare *d, const struct tsdl_token *first, struct type *t)
{
	struct tsdl_phrases *known = &d->phrases;
	const size_t len = (size_t)(d->at[-1].text + d->at[-1].len - first->text);

	if (known->n == TSDL_PHRASES_MAX || memchr(first->text, '\n', len))
		return;
	for (unsigned i = 0; i < known->n; i++)
		if (known->all[i].len == len && memcmp(known->all[i].text, first->text, len) == 0)
			return;
	d->of_phrase[known->n] = t;
	known->all[known->n].text = first->text;
	known->all[known->n++].len = len;
}

enum lt_status declare_number(struct declare *d, enum type_kind kind, struct type **out)
{
	const struct tsdl_token *keyword = d->at - 1;
	struct type *t;
	bool has_align = false;

	if (declare_make(d, kind, &t) || declare_expect(d, "{"))
		return LT_ERROR;
	while (!declare_accept(d, "}")) {
		const struct tsdl_token *key = d->at, *value;

		if (key->kind != TSDL_WORD)
			return declare_fail(d, "a property expected");
		d->at++;
		if (declare_expect(d, "="))
			return LT_ERROR;
		value = d->at;
		while (!tsdl_is(d->at, ";") && !tsdl_is(d->at, "}") && d->at->kind != TSDL_END)
			d->at++;
		if (declare_expect(d, ";") || set_attribute(d, t, key, value))
			return LT_ERROR;
		has_align |= tsdl_is(key, "align");
	}
	if (!t->size || (kind == TYPE_INTEGER && t->size > 64))
		return declare_fail(d, "a number of an impossible size");
	if (!has_align && t->size % 8 == 0)
		t->align = 8;
	*out = share_number(d, t);
	learn_phrase(d, keyword, *out);
	return LT_OK;
}
