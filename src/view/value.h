/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_VALUE_H
#define LT_VIEW_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/* The value of a column in a row, not formatted. JSON, CSV, text, screens and sorting all start from it. */
enum value_kind {
	VALUE_NULL, /* unknown or not applicable */
	VALUE_BOOL,
	VALUE_INT,
	VALUE_UINT,
	VALUE_REAL, /* percentages and rates, on the screen only; drifts */
	VALUE_TEXT,
	VALUE_LIST,      /* texts: items[].name */
	VALUE_OBJECT,    /* counts by name: items[] */
	VALUE_HISTOGRAM, /* counts by measured value: non-empty buckets[], in order */
};

struct value_item {
	const char *name;
	int64_t count; /* below 0 only in a difference */
};

/* The number of values from .from up to, but excluding, .to. */
struct value_bucket {
	uint64_t from, to; /* to: UINT64_MAX is included */
	uint64_t count;
};

/* Texts, items and buckets are borrowed: from the string pool or from whoever produced the value. */
struct value {
	enum value_kind kind;
	union {
		bool flag;
		int64_t i;
		uint64_t u;
		double real;
		const char *text;
		struct {
			const struct value_item *items;
			unsigned n;
		} list;
		struct {
			const struct value_bucket *buckets;
			unsigned n;
		} histogram;
	};
};

/*
 * Less than, equal to or greater than 0, like strcmp(). Null comes first; numbers compare numerically whatever their
 * kind, texts byte by byte, lists and objects by their number of items.
 */
int value_compare(const struct value *a, const struct value *b);

/* Whether it is a number other than 0, true, or a list or object with items. */
bool value_nonzero(const struct value *v);

/* Whether it is a number greater than 0. */
bool value_positive(const struct value *v);

#endif
