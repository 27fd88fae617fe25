/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/value.h"

#include <string.h>

enum { CLASS_NULL, CLASS_NUMBER, CLASS_TEXT, CLASS_ITEMS };

static int value_class(const struct value *v)
{
	switch (v->kind) {
	case VALUE_NULL:
		return CLASS_NULL;
	case VALUE_TEXT:
		return CLASS_TEXT;
	case VALUE_LIST:
	case VALUE_OBJECT:
	case VALUE_HISTOGRAM:
		return CLASS_ITEMS;
	default:
		return CLASS_NUMBER;
	}
}

static double value_real(const struct value *v)
{
	switch (v->kind) {
	case VALUE_BOOL:
		return v->flag;
	case VALUE_INT:
		return (double)v->i;
	case VALUE_UINT:
		return (double)v->u;
	default:
		return v->real;
	}
}

static unsigned item_count(const struct value *v)
{
	return v->kind == VALUE_HISTOGRAM ? v->histogram.n : v->list.n;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_numbers(const struct value *a, const struct value *b)
{
	if (a->kind == VALUE_UINT && b->kind == VALUE_UINT)
		return COMPARE(a->u, b->u);
	if (a->kind == VALUE_INT && b->kind == VALUE_INT)
		return COMPARE(a->i, b->i);
	/* doubles cannot represent all of them */
	if (a->kind == VALUE_INT && b->kind == VALUE_UINT)
		return a->i < 0 ? -1 : COMPARE((uint64_t)a->i, b->u);
	if (a->kind == VALUE_UINT && b->kind == VALUE_INT)
		return b->i < 0 ? 1 : COMPARE(a->u, (uint64_t)b->i);
	return COMPARE(value_real(a), value_real(b));
}

int value_compare(const struct value *a, const struct value *b)
{
	int class = value_class(a), other = value_class(b);

	if (class != other)
		return COMPARE(class, other);
	switch (class) {
	case CLASS_NUMBER:
		return compare_numbers(a, b);
	case CLASS_TEXT:
		return strcmp(a->text, b->text);
	case CLASS_ITEMS:
		return COMPARE(item_count(a), item_count(b));
	default:
		return 0;
	}
}

bool value_nonzero(const struct value *v)
{
	switch (value_class(v)) {
	case CLASS_NUMBER:
		return v->kind == VALUE_UINT || v->kind == VALUE_INT ? v->u != 0 : value_real(v) != 0;
	case CLASS_ITEMS:
		return item_count(v) != 0;
	default:
		return false;
	}
}

bool value_positive(const struct value *v)
{
	return value_class(v) == CLASS_NUMBER && value_real(v) > 0;
}
